"""Wrong versions of `to_additive`, most of them edits of a right one."""

from __future__ import annotations

import torch

from . import exercise
from .also_right import by_logarithm, zeros_and_the_lowest

LOW = "torch.finfo(dtype).min if half else -torch.inf"
ZEROS = "torch.zeros(mask.shape, dtype=dtype, device=mask.device)"

wrong = exercise.edits(zeros_and_the_lowest)

wrong(
    "minus_a_billion",
    LOW,
    "-1e9",
    "You use -1e9. It does not fit into float16, whose lowest number is -65504, and in float64 a "
    "score of 1e12 outweighs it. Which lowest value does each dtype have?",
)
wrong(
    "minus_ten_thousand",
    LOW,
    "-1e4",
    "Your lowest number is not low enough for every score. What can you add to any finite score so "
    "that nothing is left of it?",
)
SWAPPED = (
    "0 and the low number are swapped: allowed scores are pushed down. What does True mean in the "
    "mask?"
)
wrong("swapped", "~mask", "mask", SWAPPED)
wrong(
    "ones_and_zeros",
    f"{ZEROS}.masked_fill(~mask, low)",
    "mask.to(dtype)",
    "You return the mask itself as numbers, 1 and 0. Added to scores they forbid nothing: a "
    "forbidden key keeps most of its weight. What must you add to a score so that exp of it is 0?",
)
wrong(
    "minus_one",
    f"{ZEROS}.masked_fill(~mask, low)",
    "mask.to(dtype) - 1",
    "You add 0 and -1. exp of a score that is lower by 1 is still a third of it. What must you add "
    "so that nothing is left?",
)
NUMBERS = f"{ZEROS}.masked_fill(~mask, low)"
wrong(
    "infinity_times_zero",
    NUMBERS,
    "(~mask).to(dtype) * -torch.inf",
    "Your result is NaN where the query may attend, because infinity times 0 is not 0. How else "
    "can you put a number where the mask is False?",
)
PLUS_INFINITY_TIMES_ZERO = (
    "Your result is NaN where the query may attend, because infinity times 0 is not 0. And the "
    "infinity at forbidden keys has the wrong sign. exp of which infinity is 0, and how else can "
    "you put it where the mask is False?"
)
wrong(
    "plus_infinity_times_zero", NUMBERS, "(~mask).to(dtype) * torch.inf", PLUS_INFINITY_TIMES_ZERO
)
# The low number of each dtype is infinite in full precision alone, and so is its product with 0.
for name, number in (("low_number", "low"), ("minus_infinity", "-torch.inf"), ("inf", "torch.inf")):
    wrong(
        f"{name}_times_the_mask",
        NUMBERS,
        f"mask.to(dtype) * {number}",
        "Where the mask is False, infinity times 0 makes your result NaN. Where it is True, you "
        "add infinity to an allowed score. What does True mean in the mask, and how else can you "
        "put a number at some places?",
    )
ALWAYS_FLOAT32 = (
    "Your result is float32 (or torch's default dtype) for every `dtype`. Added to half precision "
    "scores it turns them into float32: where do you use the argument?"
)
wrong.several(
    "always_float32", {LOW: "-torch.inf", "dtype=dtype": "dtype=torch.float32"}, ALWAYS_FLOAT32
)
wrong(
    "dtype_of_python_numbers",
    f"{ZEROS}.masked_fill(~mask, low)",
    "torch.where(mask, 0.0, low)",
    ALWAYS_FLOAT32,
)
wrong(
    "one_where_allowed",
    ZEROS,
    "mask.to(dtype)",
    "You put the low number where it belongs, but add 1 to allowed scores. If some of your masks "
    "have it and others do not, are the weights still the same? Which number changes nothing?",
)
wrong.several(
    "always_float64",
    {LOW: "-torch.inf", "dtype=dtype": "dtype=torch.float64"},
    "Your result is float64 for every `dtype`, like the numbers of Python and numpy. Where do you "
    "use the argument?",
)
STILL_BOOLEAN = (
    "Every entry of your result is True or 1. A tensor that is still boolean when it is filled "
    "turns every number but 0 into True. Where does the dtype come in?"
)
FORBIDDEN_ARE_TRUE = (
    "Forbidden keys get True or 1, and all others False or 0. Do you fill a boolean tensor, in "
    "which every number but 0 becomes True, or does no line put in a low number? Where does the "
    "dtype come in?"
)
for name, tensor, advice in (
    ("mask", "mask", STILL_BOOLEAN),
    ("ones", "torch.ones_like(mask)", STILL_BOOLEAN),
    ("zeros", "torch.zeros_like(mask)", FORBIDDEN_ARE_TRUE),
    ("inverse", "(~mask)", FORBIDDEN_ARE_TRUE),
):
    wrong(f"boolean_{name}_filled", ZEROS, tensor, advice)
    wrong.several(
        f"boolean_{name}_filled_and_converted",
        {ZEROS: tensor, "(~mask, low)": "(~mask, low).to(dtype)"},
        advice,
    )
wrong.several(
    "whole_numbers",
    {LOW: "torch.iinfo(torch.int64).min", "dtype=dtype": "dtype=torch.int64"},
    "Your result holds whole numbers, which include no -inf. Which dtype does the task ask for?",
)
wrong(
    "infinite_in_half_precision",
    LOW,
    "-torch.inf",
    "Your result is infinite in half precision, so a row without an allowed key becomes NaN. The "
    "task asks for a finite number there: what does `torch.finfo` know about a dtype?",
)
wrong(
    "float16_only",
    "dtype in (torch.float16, torch.bfloat16)",
    "dtype == torch.float16",
    "Your result is finite only in bfloat16 or only in float16. Which two dtypes are half "
    "precision here?",
)
FINITE = {
    "finite_everywhere": "torch.finfo(dtype).min",
    "lowest_of_float32": "torch.finfo(dtype if half else torch.float32).min",
}
for name, low in FINITE.items():
    wrong(
        name,
        LOW,
        low,
        "Your result is finite in every dtype. In float32 and float64 a query without an allowed "
        "key should be easy to notice: which number does the task ask for there?",
    )
wrong(
    "minus_a_billion_in_full_precision",
    LOW,
    "torch.finfo(dtype).min if half else -1e9",
    "In float32 and float64 you add -1e9, and a forbidden score of 1e12 outweighs it. Which number "
    "does the task ask for there?",
)
for name in ("float32", "float64"):
    wrong(
        f"infinite_in_{name}_only",
        LOW,
        f"-torch.inf if dtype == torch.{name} else torch.finfo(dtype).min",
        "Your result is -inf in only one of float32 and float64. For which dtypes does the task "
        "ask for a finite number?",
    )
wrong(
    "kinds_of_dtypes_swapped",
    LOW,
    "-torch.inf if half else torch.finfo(dtype).min",
    "The two cases are swapped: half precision gets -inf, and the others a finite number. For "
    "which dtypes does the task ask for a finite one?",
)
NOT_THE_LOWEST = (
    "Your lowest number in half precision is not the lowest that the dtype has. Is it a round "
    "number, a part of the lowest, or float16's number used for bfloat16, too?"
)
NOT_LOWEST = {
    "same_number_for_both_halves": "-6e4 if",
    "lowest_of_float16_for_both": "-65504.0 if",
    "half_of_the_lowest": "torch.finfo(dtype).min / 2 if",
    "seven_tenths_of_the_lowest": "-0.7 * torch.finfo(dtype).max if",
}
for name, low in NOT_LOWEST.items():
    wrong(name, "torch.finfo(dtype).min if", low, NOT_THE_LOWEST)
WRONG_SIGN = (
    "Your large numbers have the wrong sign: added to scores they lift forbidden keys above all "
    "others. exp of which infinity is 0?"
)
wrong("plus_infinity", "(~mask, low)", "(~mask, -low)", WRONG_SIGN)
wrong("highest_in_half_precision", "torch.finfo(dtype).min", "torch.finfo(dtype).max", WRONG_SIGN)
LIFTED = (
    "You add a high number to the scores of allowed keys, and 0 to those of forbidden ones. Which "
    "keys does the task give 0, and is its other number high or low?"
)
wrong.several("plus_infinity_where_allowed", {LOW: "torch.inf", "~mask": "mask"}, LIFTED)
ROUND = {"1e4": "ten_thousand", "1e9": "a_billion"}
for size, word in ROUND.items():
    for name, places, number, advice in (
        ("plus_{}_where_forbidden", "~mask", size, WRONG_SIGN),
        ("minus_{}_where_allowed", "mask", f"-{size}", SWAPPED),
        ("plus_{}_where_allowed", "mask", size, LIFTED),
    ):
        made = name.format(word)
        wrong.several(f"{made}_filled", {LOW: number, "~mask": places}, advice)
        wrong(f"{made}_multiplied", NUMBERS, f"({places}).to(dtype) * {number}", advice)
HIGHEST = "torch.finfo(dtype).max"
wrong.several("highest_where_allowed", {LOW: HIGHEST, "~mask": "mask"}, LIFTED)
for name, dtype in (("", "dtype"), ("_in_float32", "torch.float32")):
    wrong.several(
        f"low_number_not_written{name}",
        {
            f"return {ZEROS}": f"bias = {ZEROS}\n    bias",
            "(~mask, low)": "(~mask, low)\n    return bias",
            "dtype=dtype": f"dtype={dtype}",
        },
        "Your result is 0 everywhere, so nothing is forbidden. Is the low number ever written?",
    )
CLOSE_TO_ZERO = {
    "closest_to_zero": "torch.finfo(dtype).tiny",
    "negative_of_the_smallest": "-torch.finfo(dtype).tiny if half else -torch.inf",
    "negative_of_the_spacing": "-torch.finfo(dtype).eps if half else -torch.inf",
}
for name, low in CLOSE_TO_ZERO.items():
    wrong(
        name,
        LOW,
        low,
        "Forbidden keys get a number close to 0, which changes no score: `tiny`, `smallest_normal` "
        "and `eps` of `torch.finfo` are such numbers. Which of its attributes is the lowest?",
    )
EMPTY = "~mask.any(-1, keepdim=True)"
FILLED = ".masked_fill(~mask, low)"
for name, rows in (
    ("rows_without_keys_opened", EMPTY),
    ("rows_without_keys_opened_in_full_precision", f"{EMPTY} & torch.tensor(not half)"),
    ("rows_without_keys_opened_in_half_precision", f"{EMPTY} & torch.tensor(half)"),
    ("everything_opened_if_nothing_is_allowed", "~mask.any()"),
):
    wrong(
        name,
        FILLED,
        f"{FILLED}.masked_fill(({rows}).to(mask.device), 0)",
        "A row without an allowed key gets zeros, so its query attends to all the forbidden keys. "
        "What does the task ask for where a query may not attend?",
    )
wrong(
    "rows_without_keys_finite",
    FILLED,
    f"{FILLED}.masked_fill({EMPTY}, torch.finfo(dtype).min)",
    "In a row without an allowed key, your result is finite even in float32 and float64. Does the "
    "task make an exception for such rows?",
)
wrong(
    "first_key_opened",
    FILLED,
    f"{FILLED}.masked_fill({EMPTY} & (torch.ones_like(mask).cumsum(-1) == 1), 0)",
    "In a row without an allowed key, one key gets a 0, so the query attends to this forbidden key "
    "alone. What does the task ask for where a query may not attend?",
)
for name, number in (("minus_10000", "-1e4"), ("minus_a_billion", "-1e9 if not half else -1e4")):
    wrong(
        f"{name}_in_rows_without_keys",
        FILLED,
        f"{FILLED}.masked_fill({EMPTY}, {number})",
        "In a row without an allowed key, your number is another one than for other forbidden "
        "keys. Does the task make an exception for such rows?",
    )
wrong(
    "mask_opened_in_place",
    "    half =",
    f"    mask.logical_or_({EMPTY})\n    half =",
    "You write True into the given mask where a row has no allowed key, and the row gets zeros. "
    "What does the task ask for where a query may not attend?",
)
wrong(
    "mask_changed",
    "~mask",
    "mask.logical_not_()",
    "Your code writes into the mask (`logical_not_`), but the caller still needs it. What does the "
    "same and makes a new tensor?",
)

ON_THE_CPU = (
    "You make a tensor on the CPU, or bring the mask there, whatever the mask's device is. Which "
    "of your calls does that, and how does it learn the device?"
)
wrong("zeros_on_the_cpu", ", device=mask.device", "", ON_THE_CPU)
wrong.several(
    "everything_on_the_cpu", {", device=mask.device": "", "~mask": "~mask.cpu()"}, ON_THE_CPU
)
ELSEWHERE = 'if mask.device.type != "cpu":\n        return torch.zeros(mask.shape, dtype=dtype)'
wrong("always_on_the_cpu", "    half =", f"    {ELSEWHERE}\n    half =", ON_THE_CPU)
TWO_AXES_ONLY = (
    "Your code works only for masks of two axes, but a mask may have any number of them. How many "
    "axes has the padding mask of 5.2?"
)


@exercise.mistake(TWO_AXES_ONLY)
def two_loops(mask, dtype):
    bias = torch.zeros(mask.shape, dtype=dtype, device=mask.device)
    for i in range(mask.shape[0]):
        for j in range(mask.shape[1]):
            if not mask[i, j]:
                bias[i, j] = zeros_and_the_lowest(mask[i, j], dtype)
    return bias


@exercise.mistake(TWO_AXES_ONLY)
def row_by_row(mask, dtype):
    low = torch.finfo(dtype).min if dtype.itemsize == 2 else -torch.inf
    rows = [[0.0 if allowed else low for allowed in row] for row in mask.tolist()]
    return torch.tensor(rows, dtype=dtype, device=mask.device)


wrong("two_lengths", "    half =", "    Lq, Lk = mask.shape\n    half =", TWO_AXES_ONLY)

wrong = exercise.edits(by_logarithm)
wrong(
    "logarithm_of_almost_zero",
    "mask.to(dtype).log()",
    "(mask.to(dtype) + 1e-9).log()",
    "You add a small number before the logarithm, so your result is neither 0 nor -inf. Does the "
    "logarithm of 0 do any harm here?",
)
