"""Wrong tests of softmax that ask for every promise but one or two."""

from __future__ import annotations

from . import exercise
from .also_right import every_promise

wrong = exercise.edits(every_promise)

wrong(
    "no_axis_of_one",
    "[]",
    "[shape_asked]",
    "Your test accepts a version that drops the axes of length 1. What does the task promise about "
    "the shape, and which of your inputs would show this?",
)


def asks_too_little(name, left_out, advice, instead=""):
    """Register a test that leaves out these parts, and one without an axis of length 1, too."""
    wrong(name, "[]", f"[{left_out}]{instead}", advice)
    wrong(f"{name}_nor_an_axis_of_one", "[]", f"[shape_asked, {left_out}]{instead}", advice)


HALF = (
    "Your test rejects right versions at float16 scores: it asks for more digits there than "
    "float16 keeps, or for another dtype. What does the task tell you to look at in float16?"
)
SINGLE = (
    "Your test rejects right versions at float32 scores: it asks for more digits there than the "
    "task does, or for another dtype. Which difference does the task allow in float32?"
)
for part, advice in (
    (
        "slices_of_minus_infinity_tried",
        "Your test asks for scores that the task of 1.1 excludes: a slice that is -inf throughout, "
        "+inf or NaN. Right versions need not agree there. Which scores may a test ask for?",
    ),
    ("half_numbers_compared", HALF),
    ("half_numbers_compared_with_float64", HALF),
    (
        "bfloat_numbers_compared",
        "Your test rejects right versions at bfloat16 scores: it asks for more digits there than "
        "bfloat16 keeps, or for another dtype. How many digits does bfloat16 keep?",
    ),
    ("single_numbers_compared", SINGLE),
    ("single_numbers_compared_with_float64", SINGLE),
    (
        "double_numbers_compared",
        "Your test rejects right versions whose float64 numbers differ in their last digits. Which "
        "difference does the task allow in float64?",
    ),
):
    wrong(part, "[]", f"[], {part}", advice)
asks_too_little(
    "no_whole_numbers",
    "whole_numbers_tried",
    "Your test accepts a version that returns whole numbers for whole numbers. What does the task "
    "promise for an integer `x`?",
)
asks_too_little(
    "half_precision_not_tried",
    "dtype_asked",
    "Your test accepts a version that gives float32 for scores of float16. What does the task say "
    "about the dtype of the result, and in which dtypes did you ask?",
    ", dtypes_of_many_digits_asked",
)
asks_too_little(
    "input_not_compared",
    "input_compared, gradient_compared",
    "Your test accepts a version that changes the tensor it is given. With what does your test "
    "compare the input after the call, and is that another tensor?",
    ", gradient_of_squares",
)
asks_too_little(
    "gradient_not_asked",
    "gradient_compared",
    "Your test accepts versions with the right numbers whose gradient is missing or wrong. Which "
    "line of your test asks for a gradient?",
)
asks_too_little(
    "neither_gradient_nor_input",
    "gradient_compared, input_compared",
    "Your test accepts versions with the right numbers: some write into their input, and some have "
    "a wrong gradient or none. What besides the result does the task make promises about?",
)
asks_too_little(
    "arrival_of_gradient_only",
    "gradient_compared",
    "Your test notices a gradient that is missing, but accepts one that is wrong. With what do you "
    "compare it, and can the gradient of a sum of probabilities be anything but 0?",
    ", arrival_of_a_gradient",
)
asks_too_little(
    "gradient_of_the_plain_sum_only",
    "gradient_compared",
    "Your test accepts a version with a wrong gradient. You compare the gradient of a sum of "
    "probabilities, or of something like it: which number is that for every softmax, and what "
    "could you sum instead?",
    ", gradient_of_the_plain_sum",
)
asks_too_little(
    "thousands_not_tried",
    "thousands_compared",
    "Your test accepts versions that give NaN for scores in the thousands: it has no such scores, "
    "or a comparison that NaN passes. Is `NaN > 1e-10` true or false?",
)
NOTHING_FOR_MINUS_INFINITY = (
    "Your test accepts a version that gives a score of -inf a share. Which number does the task "
    "promise there, and which line of your test would see another?"
)
asks_too_little("minus_infinity_not_tried", "minus_infinity_asked", NOTHING_FOR_MINUS_INFINITY)
asks_too_little(
    "minus_infinity_gives_no_nan",
    "minus_infinity_asked",
    NOTHING_FOR_MINUS_INFINITY,
    ", no_nan_from_minus_infinity",
)
ANOTHER_SHIFT = (
    "Your test rejects the plain formula for large scores, but accepts a version that subtracts "
    "another number than each slice's own maximum. Which slices of your input, and which scores in "
    "one slice, are thousands apart?"
)
for name, part in (
    ("all_scores_equally_high", "scores_all_higher"),
    ("only_slices_apart", "slices_apart"),
    ("only_scores_of_a_slice_apart", "scores_of_a_slice_apart"),
):
    asks_too_little(name, "thousands_compared", ANOTHER_SHIFT, f", {part}")
asks_too_little(
    "loose_comparison",
    "shares_compared, thousands_compared",
    "Your test accepts shares that are off by 1e-8. Which difference does the task allow in "
    "float64?",
    ", compared_loosely",
)
TOO_SMALL = "Numbers that are too small pass your test: which sign has the difference then?"
TOO_LARGE = "Numbers that are too large pass your test: which sign has the difference then?"
for name, part, advice in (
    ("too_small_is_accepted", "not_too_high", TOO_SMALL),
    ("too_large_is_accepted", "not_too_low", TOO_LARGE),
):
    asks_too_little(name, "shares_compared, thousands_compared", advice, f", {part}")
IN_ANOTHER_ORDER = (
    "Your test accepts the right numbers in reversed order. Perhaps it compares only their sums, "
    "or only the largest of them, or asks whether any number agrees, not whether all do. With what "
    "could you compare each number at its own index?"
)
asks_too_little(
    "a_distribution_is_enough",
    "shares_compared, thousands_compared, gradient_compared",
    IN_ANOTHER_ORDER,
    ", sums_asked, arrival_of_a_gradient",
)
EQUAL_SHARES = (
    "Your test accepts a version that gives every entry of a slice the same share, whatever its "
    "score. Perhaps it compares only sums or means, or all your scores are equal. With what could "
    "you compare each number?"
)
asks_too_little(
    "a_distribution_without_gradients",
    "shares_compared, thousands_compared, gradient_compared",
    EQUAL_SHARES,
    ", sums_asked",
)
asks_too_little(
    "properties_are_enough",
    "shares_compared, thousands_compared",
    "Your test accepts shares that are powers of another number than e: sums, order and shifts are "
    "right for these, too. With what could you compare the shares themselves?",
    ", sums_asked, order_asked",
)
WHOLE_NUMBERS = (
    "Your test rejects right versions that return {} for whole numbers: it asks for another dtype "
    "there, or for more digits. For whole numbers, a right version may return either floating "
    "dtype, float32 or float64. What must you do before you compare such a result with yours?"
)
for dtype, other in (("float32", "float64"), ("float64", "float32")):
    asks_too_little(
        f"whole_numbers_must_give_{dtype}",
        "whole_numbers_tried",
        WHOLE_NUMBERS.format(other),
        f", whole_numbers_give_{dtype}",
    )
