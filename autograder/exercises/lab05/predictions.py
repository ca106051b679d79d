"""predictions: say what a mask will do, then run it."""

import torch

from gradekit.exercise import Prediction, Predictions

exercise = Predictions(
    {
        "P1": Prediction(
            "how many entries of a mask with a cache are True.",
            points=0.6,
            right=15,
            reason=(
                "The three queries stand at the last three of six keys, so they see 4, "
                "5 and 6 keys."
            ),
            question="How many keys does each of the three queries see, at its own place?",
        ),
        "P2": Prediction(
            "how much weight the future still gets if masked scores are set to 0.",
            points=0.6,
            right=0.406,
            reason=(
                "A score of 0 is not forbidden: e⁰ = 1 for each of the two, against e^.1 "
                "+ e^.6 = 2.93 for the past, and 2/4.93 = .406."
            ),
            atol=0.011,
            question="What is the share of a score of 0, next to the other scores of the row?",
        ),
        "P3": Prediction(
            "what softmax makes of four scores of -1e9.",
            points=0.6,
            right=0.25,
            reason=(
                "Softmax sees only differences, and four equal scores have none: each gets 1/4."
            ),
            atol=5e-3,
            question="What does softmax look at: the scores, or their differences?",
        ),
        "P4": Prediction(
            "the lowest loss of a model that sees one symbol ahead.",
            points=0.6,
            right=0.0,
            reason="It sees the symbol that it should predict, so it only has to copy it.",
            atol=0.01,
            question="What does such a model know about the symbol that it should predict?",
        ),
        "P5": Prediction(
            "how many sums of a score and the lowest float16 are minus infinity.",
            points=0.6,
            right=1,
            reason=(
                "Near the lowest float16, -65504, the step is 32: adding 8 or -8 rounds "
                "back to -65504, and -65528 rounds to -∞."
            ),
            question="How far apart are neighbouring numbers of float16 near its lowest one?",
        ),
    },
    answered="The answer to each of the five questions is a number.",
)

exercise.wrong(
    "no_cache",
    "P1: your number fits a triangle in the top left corner, as if there were no cache, or the row "
    "of one query. At which keys do the three queries stand?",
    P1=6,
)
for keys in (4, 5):
    exercise.wrong(
        f"one_row_of_{keys}",
        "P1: your number fits the row of one query. How many queries are new?",
        P1=keys,
    )
exercise.wrong(
    "three_keys_each",
    "P1: your number fits three keys for every query. Does a new query see the cached keys, and "
    "which of the new ones?",
    P1=9,
)
exercise.wrong(
    "one_key_ahead",
    "P1: your number fits a triangle that is moved by one key. Which of the six keys is the first "
    "query's own?",
    P1=17,
)
for name, count in (("triangle", 21), ("square", 36)):
    exercise.wrong(
        f"whole_{name}",
        "P1: your number fits a mask with six queries. How many of the queries are new?",
        P1=count,
    )
exercise.wrong(
    "all_entries",
    "P1: that is the number of all entries of the mask. Which keys must the first query not see?",
    P1=18,
)
exercise.wrong(
    "without_the_diagonal",
    "P1: your number fits queries that do not see their own place, or that all see as many keys as "
    "the first one. Which keys does the second of the three see?",
    P1=12,
)
exercise.wrong(
    "hidden_ones_counted",
    "P1: that is how many entries are False. Which ones does the question ask about?",
    P1=3,
)
exercise.wrong(
    "zero_hides", "P2: that would be right for -inf. What is the exponential of 0?", P2=0.0
)
exercise.wrong(
    "scores_summed",
    "P2: that is the sum of the two scores. What makes weights of scores?",
    P2=0.3,
)
exercise.wrong(
    "half_of_it",
    "P2: half of the words are in the future, but their scores are lower than the other two. What "
    "are the four exponentials?",
    P2=0.5,
)
for digits in (1, 2, 3, 4):
    exercise.wrong(
        f"share_of_the_past_{digits}_digits",
        "P2: that is the weight of the past and the word itself. Which words does the question ask "
        "about?",
        P2=round(0.594098, digits),
    )
    exercise.wrong(
        f"nothing_masked_{digits}_digits",
        "P2: that is the weight of the two words if nothing is masked. Which two scores change "
        "before softmax, and to what?",
        P2=round(0.442824, digits + 1),
    )
for name, share in (("tenths", 40.6), ("hundredths", 40.59), ("whole", 41)):
    exercise.wrong(
        f"in_percent_{name}",
        "P2: your number is in percent, or larger than all weights together. What do the weights "
        "of a row sum to?",
        P2=share,
    )
exercise.wrong(
    "one_word_only",
    "P2: that is the weight of one word of the future. How many words does the question ask about?",
    P2=0.203,
)
exercise.wrong(
    "nothing_for_anybody",
    "P3: in a row of equal scores none is low and none is high, because softmax subtracts the "
    "largest first. What are four equal shares?",
    P3=0.0,
)
exercise.wrong(
    "not_a_number",
    "P3: -1e9 is a finite number, so no infinity is subtracted from another. What are four equal "
    "shares?",
    P3=float("nan"),
)
exercise.wrong(
    "everything_for_each",
    "P3: with your number, each of the four keys gets the whole weight of the row. What do the "
    "weights of a row sum to?",
    P3=1.0,
)
for name, share in (("two", 1 / 2), ("three", 1 / 3), ("five", 1 / 5)):
    exercise.wrong(
        f"one_of_{name}",
        "P3: your number fits another number of equal scores. How many scores has the row?",
        P3=share,
    )
for name, weight in (
    ("the_score", -1e9),
    ("infinity", float("inf")),
    ("minus_infinity", -float("inf")),
    ("in_percent", 25),
):
    exercise.wrong(
        f"no_weight_but_{name}",
        "P3: your number is below 0 or above 1. Between which two numbers is a weight, and what "
        "does softmax divide by?",
        P3=weight,
    )
exercise.wrong(
    "the_floor",
    "P4: that is the floor for models that see only the past. This one sees the symbol that it "
    "should predict: how surprised can it be?",
    P4=1.373,
)
for name, loss in (
    ("below_zero", -1.373),
    ("minus_one", -1.0),
    ("endlessly_low", -float("inf")),
):
    exercise.wrong(
        name,
        "P4: a mean of surprises cannot be negative. How large is the surprise at a symbol that "
        "was already seen?",
        P4=loss,
    )
exercise.wrong(
    "loss_of_the_past",
    "P4: your number is close to what the model of the past reaches. Which view has the model in "
    "the question, and what does it know of the next symbol?",
    P4=1.407,
)
for name, loss in (("last_symbol_alone", 1.93), ("guessing", 2.079)):
    exercise.wrong(
        name,
        "P4: a model that sees two symbols of the past reaches less than your number. What does "
        "this model see beyond the past?",
        P4=loss,
    )
for loss in (0.02, 0.04, 0.06, 0.08, 0.1):
    exercise.wrong(
        f"nearly_{str(loss).replace('.', '_')}",
        "P4: your number is small, but the question is how low the loss can get, however long the "
        "model trains. How surprised must a model be by a symbol that it sees?",
        P4=loss,
    )
for digits in (1, 2, 3):
    exercise.wrong(
        f"half_the_floor_{digits}_digits",
        "P4: you halve the floor, as if every other symbol were known. For how many of the symbols "
        "that it should predict has this model seen the answer?",
        P4=round(1.373126 / 2, digits),
    )

exercise.wrong(
    "lowest_stays_finite",
    "P5: −65504 is finite, but there is nothing below it in float16 except −∞. How far apart are "
    "two neighbours there, and which of the three sums is rounded away from −65504?",
    P5=0,
)
exercise.wrong(
    "every_negative_overflows",
    "P5: float16 has a spacing of 32 there, so a small step down is rounded back. Which of the two "
    "negative scores is a small step?",
    P5=2,
)
exercise.wrong(
    "all_sums_overflow",
    "P5: a score above 0 brings the sum up. Which of the three scores can push it below the lowest "
    "number?",
    P5=3,
)

exercise.also_right_with("rounded", P1=15.0, P2=0.4, P3=1 / 4, P4=0, P5=1.0)
exercise.also_right_with(
    "as_tensors",
    P1=torch.ones(3, 6).tril(3).sum(),
    P2=torch.softmax(torch.tensor([0.1, 0.6, 0.0, 0.0]), 0)[2:].sum(),
    P3=torch.softmax(torch.full((4,), -1e9), 0)[0],
    P4=torch.tensor([0.0004]),
)
