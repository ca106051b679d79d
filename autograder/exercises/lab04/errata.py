"""errata: three slides about heads, and what counting says."""

from __future__ import annotations

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

exercise.wrong(
    "key_dim_2_believed",
    "N4: the second part is again the number for the printed shapes. What does `mha_param_shapes` "
    "return for heads of 5?",
    N4=(418, 418, "the slide is right about it"),
)
exercise.wrong(
    "biases_left_at_2",
    "N4: you changed the weights of queries, keys and values, but not their biases. Which axes "
    "come out of such a projection?",
    N4=(418, 994, "the weights are three wide now"),
)
exercise.wrong(
    "output_left_at_2",
    "N4: you left the last projection unchanged. What is its input when the heads are 5 wide?",
    N4=(418, 877, "queries, keys and values grow"),
)
exercise.wrong(
    "no_biases",
    "N4: that counts only the weights. The slide prints a second shape for every projection of "
    "Keras' layer: what is it?",
    N4=(418, 960, "four matrices of larger heads"),
)
exercise.wrong(
    "last_bias_left_out",
    "N4: one shape of the list is missing from your second part. The slide prints eight shapes: "
    "what is the last one?",
    N4=(418, 1005, "the old shapes were not updated"),
)
exercise.wrong(
    "one_head_of_5",
    "N4: that is one head of 5. How many heads does the slide's layer have?",
    N4=(418, 351, "the heads are wider than before"),
)
exercise.wrong(
    "one_input_projection",
    "N4: that counts one projection before the heads, and the last one. What else is projected, "
    "apart from the queries?",
    N4=(214, 526, "the old shapes were not updated"),
)
exercise.wrong(
    "slide_with_one_head",
    "N4: the first part is a layer with one head, as on an earlier slide. How many heads does the "
    "layer in the question have?",
    N4=(150, 1021, "the old shapes were not updated"),
)
exercise.wrong(
    "heads_as_wide_as_the_model",
    "G4: each of your heads has matrices of 512 × 512. How many features come out of one head's "
    "matrix?",
    G4=(17 * 512**2, 25 * 512**2, "keys need their own matrix"),
)
exercise.wrong(
    "two_matrices_believed",
    "G4: one matrix is missing: keys and values share one, as on the slide, or the last projection "
    "was left out. Which letter appears twice in G's three formulas?",
    G4=(786432, 786432, "two matrices for each head suffice"),
)
exercise.wrong(
    "with_biases",
    "G4: you also count biases. Does the layer in the question have any?",
    G4=(786432, 1050624, "keys need their own matrix"),
)
exercise.wrong(
    "one_head_counted",
    "G4: you count one head. How many are there, and how many of them have their own matrices?",
    G4=(786432, 3 * 512 * 64 + 512 * 512, "keys need their own matrix"),
)
exercise.wrong(
    "one_head_in_two_matrices",
    "G4: you count one head. How many are there, and how many of them have their own matrices?",
    G4=(2 * 512 * 64 + 512 * 512, 1048576, "keys need their own matrix"),
)
# Before the hand-in, only the first numbers are checked: whatever the second one is, these two say
# the same of a first number that happens to be the right second one.
for name, second in (("as_it_should_be", 1048576), ("as_the_right_one", 786432)):
    exercise.wrong(
        f"slide_counted_{name}",
        "G4: the first part should be the number for the slide's own formulas. Which letter "
        "appears twice in them, and how many matrices are left?",
        G4=(1048576, second, "keys need their own matrix"),
    )
exercise.wrong(
    "last_projection_left_out",
    "G4: the first part counts only the matrices of the heads. Which matrix follows the heads?",
    G4=(2 * 512 * 512, 1048576, "keys need their own matrix"),
)
exercise.wrong(
    "slide_without_biases",
    "N4: the first part counts only the weights. The slide prints a second shape for every "
    "projection of Keras' layer: what is it?",
    N4=(384, 1021, "the old shapes were not updated"),
)
exercise.wrong(
    "each_head_whole",
    "GT: a score is a product of a query and a key of one head. How many features do they have?",
    GT=(40960000, 40960000, "the slide is right about it"),
)
exercise.wrong(
    "values_weighed_too",
    "GT: you count two products, scores and the weighing of the values. Which of them does the "
    "question ask about?",
    GT=(2 * 40960000, 2 * 5120000, "a head has only 64 features"),
)
exercise.wrong(
    "one_head_of_the_layer",
    "GT: the second part is the number for one head. How many heads are there?",
    GT=(40960000, 640000, "a head has only 64 features"),
)
exercise.wrong(
    "words_not_squared",
    "GT: every word is compared with every word. How many scores has a head for 100 words?",
    GT=(40960000, 51200, "a head has only 64 features"),
)
for name, second in (("on_the_slide", 5120000), ("on_the_slide_alone", 40960000)):
    exercise.wrong(
        f"one_head_{name}",
        "GT: the first part is T²d once. The slide gives this number to each head: how many are "
        "there?",
        GT=(5120000, second, "the slide is right about it"),
    )
exercise.wrong(
    "everything_times_5_halves",
    "N4: you multiply all numbers of the slide by 5/2. Is key_dim an axis of every shape there?",
    N4=(418, 1045, "all shapes grow by 5/2"),
)
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
