"""Wrong versions of attend that fill with a wrong infinity, or in which infinity makes NaN."""

from __future__ import annotations

from . import exercise
from .also_right import lowest_then_zero

FILLED = "scores.masked_fill(~mask, torch.finfo(scores.dtype).min)"
THEN_ZERO = ".masked_fill(~mask, 0.0)"

wrong = exercise.edits(lowest_then_zero)

EMPTY = "~mask.any(-1, keepdim=True)"
for end, unmasked in (("", {"ones_like": "zeros_like"}), ("_without_a_mask_too", {})):
    for kind, zeros in (("", ""), ("_and_emptied", f".masked_fill({EMPTY}, 0.0)")):
        wrong.several(
            f"tokens_filled_with_infinity{end}{kind}",
            {**unmasked, FILLED: "scores.masked_fill(mask, -torch.inf)", THEN_ZERO: zeros},
            "You fill with -inf where the mask is True, but True means a token. The tokens are "
            "lost, and a sentence without padding is 0/0, NaN. Which operator inverts a mask?",
        )

for name, changes in (
    ("infinity_times_the_mask", {THEN_ZERO: ""}),
    ("infinity_times_the_mask_and_emptied", {}),
    ("infinity_times_the_mask_and_multiplied", {THEN_ZERO: " * mask"}),
):
    wrong.several(
        name,
        {FILLED: "scores + ~mask * -torch.inf", **changes},
        "With a mask, the weights of tokens are NaN, too: perhaps you multiply infinity by the "
        "mask, and 0 · inf is NaN. Which call writes a number at some places without a product?",
    )

for number, highest in (("infinity", "torch.inf"), ("number", "torch.finfo(scores.dtype).max")):
    for end, zeros in (("", ""), ("_and_emptied", THEN_ZERO)):
        wrong.several(
            f"padding_filled_with_the_highest_{number}{end}",
            {FILLED: f"scores.masked_fill(~mask, {highest})", THEN_ZERO: zeros},
            "You write the highest number at padding, so padding gets all the weight, or NaN. "
            "Which number has an exponential of 0?",
        )

ROW_OF_NAN = (
    "A sentence that is all padding is NaN in your code before you overwrite its numbers, and its "
    "gradient stays NaN. What must not enter the softmax for such a sentence?"
)
for name, log in (("", "mask.to(scores.dtype).log()"), ("_in_float32", "mask.float().log()")):
    filled = {FILLED: f"scores + {log}"}
    wrong.several(f"logarithm_of_the_mask_added{name}", filled, ROW_OF_NAN)
    wrong.several(
        f"logarithm_of_the_mask_added{name}_and_nan_replaced",
        {**filled, THEN_ZERO: ".nan_to_num(0.0)"},
        ROW_OF_NAN,
    )
    wrong.several(
        f"logarithm_of_the_mask_added{name}_and_results_replaced",
        {
            **filled,
            THEN_ZERO: "",
            "    return": f"    context = context.masked_fill({EMPTY}, 0.0)\n"
            f"    weights = weights.masked_fill({EMPTY}, 0.0)\n    return",
        },
        ROW_OF_NAN,
    )
