"""errata: four numbers that follow from the slides, and the right ones."""

import torch

from gradekit.exercise import Errata, Item

exercise = Errata(
    {
        "G11": Item(
            "the weight of the second place.",
            points=0.75,
            says=1.0,
            right=0.541045,
            reason="a softmax runs over all places",
            atol=5e-3,
        ),
        "S1": Item(
            "the context if all vectors are the same.",
            points=0.75,
            says=4.0,
            right=6.0,
            reason="the weights must sum to one",
            atol=5e-3,
        ),
        "S2": Item(
            "how many output positions the third one looks at.",
            points=0.75,
            says=2,
            right=3,
            reason="a position may see itself, too",
            atol=5e-3,
        ),
        "N5": Item(
            "how many tokens are generated.",
            points=0.75,
            says=1,
            right=5,
            reason="until, and not when, it stops",
            atol=5e-3,
        ),
    },
    says_points=2,
    reasons_points=1,
)

exercise.wrong(
    "slide_believed",
    "G11: the softmax of a single number is 1, whatever the number is; the slide has this mistake. "
    "Which numbers share the one unit of weight?",
    G11=(1.0, 1.0, "the slide is right about it"),
)
exercise.wrong(
    "score_for_weight",
    "G11: that is the score of the second place. What does your `attend` make of the three "
    "scores together?",
    G11=(1.0, 0.964028, "the score itself is the weight"),
)
exercise.wrong(
    "weight_of_another_place",
    "G11: that is the weight of another place. Counting from 1, which place has the largest of the "
    "three scores?",
    G11=(1.0, 0.206330, "looked at the first place"),
)
exercise.wrong(
    "score_by_the_sum",
    "G11: you divided the score by the sum of the scores. What should be applied to them?",
    G11=(1.0, 0.826452, "divided by the sum of scores"),
)
exercise.wrong(
    "contexts_swapped",
    "S1: the first part is the context that the slide's weights give, the second is the context "
    "that a weighted mean gives. Are they swapped?",
    S1=(6.0, 4.0, "the weights must sum to one"),
)
exercise.wrong(
    "toy_table_believed",
    "S1: a weighted mean of equal vectors is that vector, however the weights are spread. What "
    "must the weights sum to for that?",
    S1=(4.0, 4.0, "two thirds of six is four"),
)
exercise.wrong(
    "sum_for_context",
    "S1: you give the sum of the weights. The question asks for the context: which number do they "
    "weight?",
    S1=(4.0, 1.0, "the weights must sum to one"),
)
exercise.wrong(
    "itself_left_out",
    "S2: with j' < j a position does not see itself. In lecture S's own convention, which word "
    "makes the query of position j, and is that word already known?",
    S2=(2, 2, "the slide is right about it"),
)
exercise.wrong(
    "future_seen",
    "S2: that is one too many, because it includes a word that has yet to be predicted. Up to "
    "which position may the third one look?",
    S2=(2, 4, "a position may see the next"),
)
exercise.wrong(
    "loop_believed",
    "N5: the slide says that a round is repeated when the stop token has come. After the first "
    "word it has not come, so the slide's loop ends there. When should it go on?",
    N5=(1, 1, "the slide is right about it"),
)
exercise.wrong(
    "stop_not_counted",
    "N5: the stop token is generated, too: the model must choose it. How many tokens are there "
    "with it?",
    N5=(1, 4, "until, and not when, it stops"),
)
exercise.wrong(
    "start_counted",
    "N5: [START] is put in by hand; the model does not generate it. How many tokens does the model "
    "generate?",
    N5=(1, 6, "until, and not when, it stops"),
)
exercise.wrong(
    "slide_read_kindly",
    "N5: read the slide as a computer would: after the first token, has the stop token been "
    "generated, and does the slide's loop repeat then?",
    N5=(5, 5, "until, and not when, it stops"),
)
exercise.wrong(
    "no_reasons",
    "A reason of one or two words says little. What went wrong on the slide, in a short sentence?",
    **{name: (says, right, "wrong") for name, (says, right, _) in exercise.right.items()},
)

exercise.also_right_with(
    "rounded_and_in_lists",
    G11=[1, 0.54, "softmax takes all the scores at once"],
    N5=[1.0, 5.0, "the loop ends before it began"],
)
exercise.also_right_with(
    "tensors",
    G11=(torch.tensor([1.0]), torch.tensor(0.541045), "one number alone gets 1"),
    S1=(torch.tensor(4.0), torch.tensor([6.0]), "a mean of sixes is six"),
)
