"""errata: three slides about heads, and what counting says."""

from __future__ import annotations

from itertools import combinations, product

import torch

from gradekit.exercise import Errata, Item

exercise = Errata(
    {
        "N4": Item(
            "how many numbers a layer with key_dim=5 holds.",
            points=1.5,
            says=418,
            right=1021,
            reason="the old shapes were not updated",
            atol=0.5,
            question="Which of the printed shapes depend on `key_dim`, biases included?",
        ),
        "G4": Item(
            "how many numbers are in the matrices of eight heads and of the last projection.",
            points=1,
            says=786432,
            right=1048576,
            reason="keys need their own matrix",
            atol=0.5,
            question=(
                "How many different matrices does each head have by the formulas, and "
                "how large is each of them?"
            ),
        ),
        "GT": Item(
            "how many multiplications the scores of eight heads need.",
            points=1,
            says=40960000,
            right=5120000,
            reason="a head has only 64 features",
            atol=0.5,
            question=(
                "How many features does one score of one head multiply, and how many "
                "scores are there?"
            ),
        ),
    },
    says_points=1.5,
    says_atol=0.5,
    reasons_points=1,
)

FIRSTS: dict[str, list[tuple[int, str]]] = {}


def wrong(name, item, advice, first=None, second=None):
    """Known mistakes in an item's two numbers: in the first, in the second, and in both."""
    says, right, why = exercise.right[item]
    if first is not None:
        FIRSTS.setdefault(item, []).append((first, advice))
        exercise.wrong(f"{name}_on_the_slide", advice, **{item: (first, right, why)})
    if second is not None:
        exercise.wrong(name, advice, **{item: (says, second, why)})
    if first is not None and second is not None:
        exercise.wrong(f"{name}_in_both", advice, **{item: (first, second, why)})


wrong(
    "key_dim_2_believed",
    "N4",
    "N4: the second part is again the number for the printed shapes. What does `mha_param_shapes` "
    "return for heads of 5?",
    second=418,
)
wrong(
    "biases_left_at_2",
    "N4",
    "N4: you changed the weights of queries, keys and values, but not their biases. Which axes "
    "come out of such a projection?",
    second=994,
)
wrong(
    "output_left_at_2",
    "N4",
    "N4: you left the last projection unchanged. What is its input when the heads are 5 wide?",
    second=877,
)
wrong(
    "no_biases",
    "N4",
    "N4: you count only the weights. The slide prints a second shape for every projection of "
    "Keras' layer: what is it?",
    first=384,
    second=960,
)
wrong(
    "last_bias_left_out",
    "N4",
    "N4: one shape of the list is missing from your sum. The slide prints eight shapes: what is "
    "the last one?",
    first=402,
    second=1005,
)
wrong(
    "last_projection_left_out",
    "N4",
    "N4: you count the projections before the heads. The slide prints eight shapes: which two come "
    "after those of queries, keys and values?",
    first=306,
    second=765,
)
wrong(
    "layer_with_one_head",
    "N4",
    "N4: you count a layer with one head, as on an earlier slide. How many heads does the layer in "
    "the question have?",
    first=150,
    second=351,
)
wrong(
    "one_input_projection",
    "N4",
    "N4: you count one projection before the heads, and the last one. What else is projected, "
    "apart from the queries?",
    first=214,
    second=526,
)
wrong(
    "heads_as_wide_as_the_model",
    "G4",
    "G4: each of your heads has matrices of 512 × 512. How many features come out of one head's "
    "matrix?",
    first=17 * 512**2,
    second=25 * 512**2,
)
wrong(
    "two_matrices_believed",
    "G4",
    "G4: one matrix is missing: keys and values share one, as on the slide, or the last projection "
    "was left out. Which letter appears twice in G's three formulas?",
    second=786432,
)
wrong(
    "with_biases",
    "G4",
    "G4: you also count biases. Does the layer in the question have any?",
    first=786432 + 3 * 512,
    second=1048576 + 4 * 512,
)
PART = 512 * 64  # the numbers in one matrix of one head
for name, first, second in (
    ("one_matrix", PART, None),
    ("matrices", 2 * PART, 3 * PART),
    ("matrices_and_a_part_of_the_last", 3 * PART, 4 * PART),
    ("matrices_and_the_last", 2 * PART + 512**2, 3 * PART + 512**2),
    ("four_matrices", 4 * PART, None),
    ("three_matrices_and_the_last", 3 * PART + 512**2, None),
    ("two_matrices", None, 2 * PART),
    ("two_matrices_and_the_last", None, 2 * PART + 512**2),
):
    wrong(
        f"one_head_in_{name}",
        "G4",
        "G4: you count one head. How many are there, and how many of them have their own matrices?",
        first,
        second,
    )
wrong(
    "last_projection_of_one_head",
    "G4",
    "G4: your last projection is as small as a matrix of one head. How many features come into it, "
    "and how many come out?",
    first=16 * PART + PART,
    second=24 * PART + PART,
)
# Before the hand-in, only the first numbers are checked: whatever the second one is, these two say
# the same of a first number that happens to be the right second one.
SLIDE_COUNTED = (
    "G4: the first part should be the number for the slide's own formulas. Which letter appears "
    "twice in them, and how many matrices are left?"
)
FIRSTS["G4"].append((1048576, SLIDE_COUNTED))
for name, second in (("as_it_should_be", 1048576), ("as_the_right_one", 786432)):
    exercise.wrong(
        f"slide_counted_{name}",
        SLIDE_COUNTED,
        G4=(1048576, second, "keys need their own matrix"),
    )
HEADS_ALONE = "G4: you count only the matrices of the heads. Which matrix follows the heads?"
wrong("matrices_of_heads_alone", "G4", HEADS_ALONE, first=2 * 512 * 512)
exercise.wrong(
    "matrices_of_heads_alone_in_both",
    HEADS_ALONE,
    G4=(2 * 512 * 512, 3 * 512 * 512, "keys need their own matrix"),
)
wrong(
    "each_head_whole",
    "GT",
    "GT: a score is a product of a query and a key of one head. How many features do they have?",
    second=40960000,
)
wrong(
    "values_weighed_too",
    "GT",
    "GT: you count two products, scores and the weighing of the values. Which of them does the "
    "question ask about?",
    first=2 * 40960000,
    second=2 * 5120000,
)
wrong(
    "one_head_of_the_layer",
    "GT",
    "GT: you count the multiplications of one head of 64 features. How many heads are there?",
    first=640000,
    second=640000,
)
wrong(
    "words_not_squared",
    "GT",
    "GT: every word is compared with every word. How many scores has a head for 100 words?",
    first=409600,
    second=51200,
)
ONE_HEAD_ON_THE_SLIDE = (
    "GT: the first part is T²d once. The slide gives this number to each head: how many are there?"
)
FIRSTS["GT"].append((5120000, ONE_HEAD_ON_THE_SLIDE))
for name, second in (("on_the_slide", 5120000), ("on_the_slide_alone", 40960000)):
    exercise.wrong(
        f"one_head_{name}",
        ONE_HEAD_ON_THE_SLIDE,
        GT=(5120000, second, "the slide is right about it"),
    )
wrong(
    "everything_times_5_halves",
    "N4",
    "N4: you multiply all numbers of the slide by 5/2. Is key_dim an axis of every shape there?",
    second=1045,
)
# The first numbers of all items are checked together, so two wrong ones are one mistake there.
for one, other in combinations(exercise.right, 2):
    for (number, advice), (second, more) in product(FIRSTS[one], FIRSTS[other]):
        given = {
            item: (first, *exercise.right[item][1:])
            for item, first in ((one, number), (other, second))
        }
        if any(first != right for first, right, _ in given.values()):  # else they are mixed up
            exercise.wrong(f"{one}_{number}_{other}_{second}", f"{advice} {more}", **given)
exercise.wrong(
    "no_reasons",
    "An item's third part, the reason, is missing or shorter than four words. What is wrong on the "
    "slide, in a short sentence?",
    **{name: (says, right, "wrong") for name, (says, right, _) in exercise.right.items()},
)

exercise.numbers_mixed_up("The slide's comes first, then the right one: which is on the slide?")

exercise.also_right_with(
    "tensors_and_lists",
    N4=[torch.tensor(418), torch.tensor(1021.0), "nobody changed the shapes below the call"],
    G4=[torch.tensor([786432]), 4 * 512**2, "values and keys would be one"],
)
exercise.also_right_with(
    "floats",
    N4=(418.0, 1021.0, "this is the output of key_dim=2"),
    GT=(torch.tensor(4.096e7), 5.12e6, "all heads together cost T times T times d"),
)
