"""errata: three numbers that follow from the slides, and the right ones."""

import math

import torch

from gradekit.exercise import Errata, Item

exercise = Errata(
    {
        "G11": Item(
            "the weight of the second place.",
            points=1,
            says=1.0,
            right=0.541045,
            reason="a softmax runs over all places",
            atol=5e-3,
            question="Over which scores does each of the two softmaxes run?",
        ),
        "S2": Item(
            "how many terms a softmax needs.",
            points=1,
            says=0,
            right=1,
            reason="nothing comes before the first word",
            atol=5e-3,
            question="Which words come before the first one, and when can weights sum to one?",
        ),
        "N5": Item(
            "how many tokens are generated.",
            points=1,
            says=1,
            right=5,
            reason="until, and not when, it stops",
            atol=5e-3,
            question="After which token does the loop go on, and after which does it end?",
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
for name, weights, advice in (
    (
        "score_for_weight",
        (0.964028, 0.964, 0.96),
        "G11: that is the score of the second place. What does your `attend` make of the three "
        "scores together?",
    ),
    (
        "weight_of_another_place",
        (0.206330, 0.206, 0.21, 0.252625, 0.253, 0.25),
        "G11: that is the weight of another place. Counting from 1, which place has the largest of "
        "the three scores?",
    ),
    (
        "score_by_the_sum",
        (0.826452, 0.826, 0.83),
        "G11: you divided the score by the sum of the scores. What should be applied to them?",
    ),
    (
        "exponential_for_weight",
        (2.622235, 2.622, 2.62),
        "G11: that is the exponential of the second score, not yet a weight, since it is above 1. "
        "What do the weights of all places sum to?",
    ),
    (
        "one_place_left_out",
        (0.723931, 0.724, 0.72, 0.681705, 0.682, 0.68),
        "G11: in your weight, the second place shares the one unit with a single other place. How "
        "many scores are there?",
    ),
):
    for number, weight in enumerate(weights):
        exercise.wrong(
            f"{name}_{number}" if number else name,
            advice,
            G11=(1.0, weight, "all the places share one unit"),
        )
for name, advice, on_the_slide in (
    (
        "exponential_on_the_slide",
        "G11: that is the exponential of the score alone. A softmax also divides: by the sum over "
        "which numbers, if there is only this one?",
        (2.622235, 2.622, 2.62),
    ),
    (
        "sigmoid_on_the_slide",
        "G11: that is a sigmoid of the score. A softmax divides an exponential by a sum of "
        "exponentials: which ones, if there is a single number?",
        (0.723931, 0.7239, 0.724, 0.72),
    ),
    (
        "score_on_the_slide",
        "G11: on the slide a softmax is applied to that score. What is the exponential of one "
        "number, divided by the sum of all exponentials there are?",
        (0.964028, 0.964, 0.96),
    ),
    (
        "third_on_the_slide",
        "G11: each place gets a third if one softmax takes three equal scores. On the slide it "
        "takes the second score alone: how many exponentials are in its sum?",
        (1 / 3, 0.333, 0.33),
    ),
    (
        "all_scores_on_the_slide",
        "G11: that is the weight by a softmax of all three scores. Taken literally, of how many "
        "numbers is the slide's softmax?",
        (0.541045, 0.541, 0.54),
    ),
):
    for number, weight in enumerate(on_the_slide):
        exercise.wrong(
            f"{name}_{number}" if number else name,
            advice,
            G11=(weight, 0.541045, "a softmax runs over all places"),
        )
exercise.wrong(
    "itself_counted",
    "S2: you count one term for the first word. With j' < j and j = 1, which words are there?",
    S2=(1, 1, "the first word sees itself"),
)
exercise.wrong(
    "no_terms_needed",
    "S2: a softmax of no numbers is no set of weights. To what should they sum?",
    S2=(0, 0, "the slide is right about it"),
)
exercise.wrong(
    "two_terms_needed",
    "S2: with two terms the weights can be shared, but fewer are enough. What is the softmax of a "
    "single number?",
    S2=(0, 2, "a softmax must compare two numbers"),
)
exercise.wrong(
    "loop_believed",
    "N5: according to the slide, a further round follows only if the stop token has come. After "
    "the first word it has not, so the slide's loop ends there. When should it go on?",
    N5=(1, 1, "the slide is right about it"),
)
exercise.wrong(
    "no_round_at_all",
    "N5: you let the slide's loop make no round. The question says that a first round is made: how "
    "many tokens does it generate?",
    N5=(0, 5, "until, and not when, it stops"),
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
for name, rounds in (
    ("two_rounds", 2),
    ("loop_up_to_the_last_word", 4),
    ("one_round_after_the_end", 6),
    ("loop_without_end", math.inf),
):
    exercise.wrong(
        name,
        "N5: you let the slide's loop go on after a token that is not the stop token. What must "
        "have been generated before the slide's loop makes a further round?",
        N5=(rounds, 5, "until, and not when, it stops"),
    )
exercise.wrong(
    "in_per_cent",
    "G11: your numbers count in per cent. A softmax gives shares of one unit: between which two "
    "numbers is a weight?",
    G11=(100.0, 54.1045, "a softmax runs over all places"),
)
exercise.wrong(
    "no_reasons",
    "A reason of fewer than four words says little, and none says nothing. What went wrong on the "
    "slide, in a short sentence?",
    **{name: (says, right, "wrong") for name, (says, right, _) in exercise.right.items()},
)

exercise.numbers_mixed_up("Which of them follows from the slide as it is written?")

exercise.also_right_with(
    "rounded_and_in_lists",
    G11=[1, 0.54, "softmax takes all the scores at once"],
    N5=[1.0, 5.0, "the loop ends before it began"],
)
exercise.also_right_with(
    "tensors",
    G11=(torch.tensor([1.0]), torch.tensor(0.541045), "one number alone gets 1"),
    S2=(torch.tensor(0), torch.tensor([1.0]), "an empty sum has no weights"),
)
