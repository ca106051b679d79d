"""to_additive: the mask as numbers that are added to the scores."""

from __future__ import annotations

import torch

from attnlab.checking.observation import dtype_of
from attnlab.data.apples import attention_scores
from attnlab.masks import causal_mask, to_additive
from gradekit.exercise import Exercise

exercise = Exercise(to_additive, uses=[causal_mask])

DTYPES = {
    "float64": torch.float64,
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}


def random_mask(draw, *shape):
    """True in about two places of three, with both values in each row."""
    mask = draw.uniform(*shape) > 0.35
    mask[..., 0], mask[..., 1] = True, False
    return mask


def ask(lab, mask, dtype):
    """The numbers for a copy of `mask`: a version that writes into it fails one check alone."""
    return lab.to_additive(mask.clone(), dtype)


def what_is_added(bias, mask):
    """In words, the numbers at the allowed keys; at all keys if the shape is another one."""
    allowed = (bias[mask] if bias.shape == mask.shape else bias).double()
    if (allowed.abs() <= 1e-9).all():
        added = "0"
    else:
        added = "minus infinity" if (allowed == -torch.inf).all() else "another number"
    return f"{added} is added to their scores"


def count(entries):
    return int(entries.sum())


@exercise.check(points=1.5, question="Which line uses the argument `dtype`?")
def shape_and_dtype(lab, draw):
    """Has the shape of the mask and the given dtype."""
    mask = random_mask(draw, 2, 1, 3, draw.integers(5, 13).item())
    # A tensor, whose shape has advice of its own: the question is about the dtype alone.
    seen = {"shape": torch.zeros(ask(lab, mask, torch.float32).shape)}
    for name, dtype in DTYPES.items():
        # Not a dtype's name alone: the usual question on it is whether a line names a dtype.
        seen[f"asked for {name}"] = f"the dtype is {dtype_of(ask(lab, mask, dtype))}"
    return seen


@exercise.check(points=2)
def the_lecture_table(lab, draw):
    """Reproduces the masked attention of "I am a student" (lecture N), to all digits."""
    scores, mask = attention_scores(), lab.causal_mask(4)
    bias = lab.to_additive(mask, torch.float64)
    return {
        # First: an infinity in the mask itself does not say that another one should be there.
        "the keys that a query may attend to": what_is_added(bias, mask),
        "mask": bias,
        "attention": torch.softmax(scores + bias, -1),
    }


@exercise.check(points=1)
def zero_and_minus_infinity(lab, draw):
    """Is 0 where the query may attend and -inf elsewhere, in float32 and float64."""
    mask = random_mask(draw, 2, 1, 3, 5)
    in_float32 = ask(lab, mask, torch.float32)
    return {
        "float64": ask(lab, mask, torch.float64),
        "float32": in_float32,
        # A number close to 0 is as good as 0 in a comparison, but its cause is another one.
        "float32, forbidden keys with exactly 0": count((in_float32 == 0) & ~mask),
        "one dimension": ask(lab, mask[1, 0, 2], torch.float64),
    }


@exercise.check(points=1.5)
def half_precision(lab, draw):
    """Is finite in float16 and bfloat16: the lowest number of the dtype."""
    mask = random_mask(draw, 3, 5)
    seen = {}
    for name in ("float16", "bfloat16"):
        bias = ask(lab, mask, DTYPES[name])
        scores = (4 * draw.normal(3, 5)).to(DTYPES[name])
        seen[name] = bias
        seen[f"{name}, weights of forbidden keys"] = torch.softmax(scores + bias, -1)[~mask]
    return seen


@exercise.check(points=1)
def rows_without_keys(lab, draw):
    """Forbids keys with one number in all rows, even in a row without an allowed key."""
    mask = random_mask(draw, 3, 5)
    mask[1] = False
    nothing = torch.zeros(2, 3, dtype=torch.bool)
    seen = {}
    for name, dtype in DTYPES.items():
        # What the other rows have at forbidden keys is the matter of other checks.
        low = ask(lab, torch.tensor([[True, False]]), dtype)[0, 1]
        for rows, row in (("one row", ask(lab, mask, dtype)[1]), ("all", ask(lab, nothing, dtype))):
            seen[f"{name}, {rows}: keys with the number of other forbidden ones"] = count(
                row == low
            )
            seen[f"{name}, {rows}: keys with 0"] = count((row == 0) & (row != low))
    return seen


@exercise.check(points=1, hidden=True)
def forbidden_rows_in_half_precision(lab, draw):
    """A row of forbidden keys is finite for scores above -16, and NaN below in float16 alone."""
    # The first key is allowed and left out: a version that treats rows without an allowed key in
    # another way fails the check of those rows alone.
    last_four = torch.arange(5) < 1
    seen = {}
    for name in ("float16", "bfloat16"):
        lowered = ask(lab, last_four, DTYPES[name])[1:]
        seen[f"{name}, below -1000"] = bool((lowered < -1000).all())
        for score in (100.0, -15.0, -16.0, -100.0):
            scores = torch.full((4,), score, dtype=DTYPES[name])
            weights = torch.softmax(scores + lowered, -1)
            seen[f"{name}, scores of {score:g}, NaN"] = bool(weights.isnan().any())
    return seen


@exercise.check(points=1, hidden=True)
def scores_kept_exactly(lab, draw):
    """Leaves allowed scores unchanged to the last bit, and forbids keys whatever their scores."""
    mask = random_mask(draw, 2, 3, 5)
    scores = draw.normal(2, 3, 5)
    high = torch.where(mask, scores, 1e12)
    bias = ask(lab, mask, torch.float64)
    return {
        "allowed scores unchanged": bool(torch.equal((scores + bias)[mask], scores[mask])),
        "weights, forbidden scores at 1e12": torch.softmax(high + bias, -1),
    }


@exercise.check(points=0.5)
def mask_kept(lab, draw):
    """Leaves the mask unchanged."""
    mask, nothing = random_mask(draw, 3, 5), torch.zeros(2, 3, dtype=torch.bool)
    before = mask.clone()
    lab.to_additive(mask, torch.float64)
    lab.to_additive(nothing, torch.float64)
    return {
        "mask unchanged": torch.equal(mask, before),
        "mask that allows nothing unchanged": not nothing.any(),
    }


@exercise.check(points=0.5, hidden=True)
def layout_and_device(lab, draw):
    """Takes a mask of any layout, and stays on its device."""
    mask = random_mask(draw, 3, 5).T.contiguous().T  # each row has an allowed key
    away = lab.to_additive(mask.to("meta"), torch.float32)
    return {
        "numbers": ask(lab, mask, torch.float64),
        "device of a mask elsewhere": away.device.type,
        "one entry": lab.to_additive(torch.tensor(True), torch.float64),
        "one key of two sentences": lab.to_additive(
            torch.ones(2, 1, 1, 1, dtype=torch.bool), torch.float32
        ),
        "everything allowed": lab.to_additive(torch.ones(2, 3, dtype=torch.bool), torch.float64),
    }


exercise.promises(
    {
        "The mask as numbers that are added to the scores before softmax.": "the_lecture_table",
        "mask: boolean, any shape, True = may attend.": (
            "zero_and_minus_infinity layout_and_device"
        ),
        "dtype: the dtype of the scores: float64, float32, bfloat16 or float16.": "shape_and_dtype",
        "The shape and device of `mask`, in `dtype`": "shape_and_dtype layout_and_device",
        "0 where the query may attend to the key; elsewhere -inf": (
            "zero_and_minus_infinity rows_without_keys scores_kept_exactly"
        ),
        "in half precision (float16, bfloat16) the lowest finite number of the dtype": (
            "half_precision forbidden_rows_in_half_precision"
        ),
        "Added to scores above -16, it stays finite in half precision, so there a row with "
        "forbidden keys alone does not become NaN. (In float16, -65,504 - 16 is -inf.)": (
            "forbidden_rows_in_half_precision"
        ),
        "`mask` stays unchanged.": "mask_kept",
    }
)
