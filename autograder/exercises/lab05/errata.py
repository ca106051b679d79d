"""errata: two slides about what a decoder may see, of which one is right."""

import torch

from gradekit.exercise import Errata, Item

exercise = Errata(
    {
        "W4": Item(
            "how much weight goes to the future, masked as on the slide and as it must be.",
            points=1.5,
            says=0.5,
            right=0.0,
            reason="a [Mask] token is still a key",
            atol=4e-3,
            question="How many keys are there, and which of them may a query look at?",
        ),
        "S2": Item(
            "how many pairs of output words a decoder may use.",
            points=1.5,
            says=10,
            right=10,
            reason="the word at j is not known yet",
            question=(
                "Which words are known when word j is computed, and how many pairs is "
                "that over all rows?"
            ),
        ),
    },
    says_points=0.5,
    says_atol=4e-3,
    reasons_points=0.5,
)

exercise.wrong(
    "slide_hides_the_future",
    "W4: you say that the slide's [Mask] keys get no weight. They are three of six keys with equal "
    "scores: what does softmax give them?",
    W4=(0.0, 0.0, "the slide is right about it"),
)
exercise.wrong(
    "slide_believed",
    "W4: that is the slide's number. May a query give any weight at all to a word that it must "
    "predict?",
    W4=(0.5, 0.5, "the slide is right about it"),
)
exercise.wrong(
    "one_mask_counted",
    "W4: that is the weight of one [Mask] key. How many of them are there?",
    W4=(1 / 6, 0.0, "a mask token is a key"),
)
exercise.wrong(
    "start_token_counted",
    "W4: on the slide, you share the weight among seven keys. How many keys does the item name?",
    W4=(3 / 7, 0.0, "a mask token is a key"),
)
exercise.wrong(
    "known_words_miscounted",
    "W4: your number fits other numbers of known words and of [Mask] keys than the item names. How "
    "many of each are there?",
    W4=(0.6, 0.0, "a mask token is a key"),
)
exercise.wrong(
    "known_words_and_masks_miscounted",
    "W4: your number fits other numbers of known words and of [Mask] keys than the item names. How "
    "many of each are there?",
    W4=(0.4, 0.0, "a mask token is a key"),
)
for name, keys in (("mask_keys", 3), ("all_keys", 6)):
    exercise.wrong(
        f"{name}_counted",
        "W4: you count keys. The item asks how much of a query's weight, which is 1 in all, the "
        "[Mask] keys get.",
        W4=(keys, 0.0, "a mask token is a key"),
    )
exercise.wrong(
    "masks_get_everything",
    "W4: with your number, the three [Mask] keys get the whole weight of a query. What do the "
    "three known words get?",
    W4=(1.0, 0.0, "a mask token is a key"),
)
exercise.wrong(
    "in_percent",
    "W4: your share is far above 1, or is it in percent? A query's whole weight is 1.",
    W4=(50, 0.0, "a mask token is a key"),
)
exercise.wrong(
    "share_of_a_known_word",
    "W4: your right number is what one of the three known words gets without the rest. How much "
    "may go to a word that comes later?",
    W4=(0.5, 1 / 3, "a mask token is a key"),
)
exercise.wrong(
    "past_counted",
    "W4: your right number belongs to the three words that are known. What must the future get?",
    W4=(0.5, 1.0, "a mask token is a key"),
)
exercise.wrong(
    "shares_swapped",
    "W4: your second number is the slide's, and it stands where the right one should be. How much "
    "weight may go to the future?",
    W4=(0.0, 0.5, "a mask token is a key"),
)
exercise.wrong(
    "diagonal_allowed",
    "S2: your right number counts j' = j or the start token, too. In 5.1, place i reads word i: "
    "which word does it predict, and which pairs (j, j') does the diagonal give?",
    S2=(10, 15, "an output sees itself, too"),
)
DIAGONAL_READ = (
    "S2: the slide's sum contains neither j' = j nor the start token. Count its terms for j = 1 "
    "first: how many are there?"
)
exercise.wrong(
    "diagonal_read",
    DIAGONAL_READ,
    S2=(15, 15, "the slide is right about it"),
)
exercise.wrong(
    "diagonal_turned_round",
    DIAGONAL_READ,
    S2=(15, 10, "word j is not known yet"),
)
for everything in (25, 20):
    exercise.wrong(
        f"everything_seen_{everything}",
        "S2: your right number counts pairs of later words, too. Which of them must not be used?",
        S2=(10, everything, "every output sees all outputs"),
    )
    exercise.wrong(
        f"every_pair_on_the_slide_{everything}",
        "S2: on the slide, you count pairs in which word j is computed from a later one, too. "
        "Which sign does the slide put between j' and j?",
        S2=(everything, 10, "only earlier words are known"),
    )
LAST_ROW = "S2: that is the number of pairs in the last row alone. How many rows are counted?"
exercise.wrong("last_row_alone", LAST_ROW, S2=(4, 4, "the slide is right about it"))
exercise.wrong("last_row_of_the_slide", LAST_ROW, S2=(4, 10, "all earlier words are known"))
exercise.wrong("last_row_of_the_right", LAST_ROW, S2=(10, 4, "all earlier words are known"))
exercise.wrong(
    "four_words",
    "S2: your number fits four output words. For which j does the slide's sum run, and how many "
    "terms has the last one?",
    S2=(6, 6, "the slide is right about it"),
)
TOO_SHORT = "A reason is missing or very short. Can you say in a sentence what the slide does?"
exercise.wrong(
    "no_reasons",
    TOO_SHORT,
    **{name: (says, right, "wrong") for name, (says, right, _) in exercise.right.items()},
)
for name, (says, right, _) in exercise.right.items():
    exercise.wrong(f"no_reason_for_{name}", TOO_SHORT, **{name: (says, right, "wrong")})

exercise.numbers_mixed_up("Which of them does the slide give?")

exercise.also_right_with(
    "rounded_and_in_lists",
    W4=[0.5, 0, "attention still has six keys"],
    S2=[10.0, 10.0, "the sum stops before word j"],
)
exercise.also_right_with(
    "tensors",
    W4=(torch.tensor(0.5), torch.tensor(0.0), "the scores must be masked instead"),
    S2=(torch.tensor(10), torch.tensor(10), "no word is computed from itself"),
)
