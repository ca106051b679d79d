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


@exercise.check(points=1.5)
def shape_and_dtype(lab, draw):
    """Has the shape of the mask and the dtype that was asked for."""
    mask = random_mask(draw, 2, 1, 3, 5)
    seen = {"shape": list(lab.to_additive(mask, torch.float32).shape)}
    for name, dtype in DTYPES.items():
        seen[f"dtype, asked for {name}"] = dtype_of(lab.to_additive(mask, dtype))
    return seen


@exercise.check(points=2)
def the_lecture_table(lab, draw):
    """Reproduces the masked attention of "I am a student" (lecture N), to all digits."""
    scores = attention_scores()
    bias = lab.to_additive(lab.causal_mask(4), torch.float64)
    return {"mask": bias, "attention": torch.softmax(scores + bias, -1)}


@exercise.check(points=2)
def zero_and_minus_infinity(lab, draw):
    """Adds 0 where the query may attend and -inf elsewhere, in float32 and float64."""
    mask = random_mask(draw, 2, 1, 3, 5)
    return {
        "float64": lab.to_additive(mask, torch.float64),
        "float32": lab.to_additive(mask, torch.float32),
        "one dimension": lab.to_additive(mask[1, 0, 2], torch.float64),
    }


@exercise.check(points=2, hidden=True)
def half_precision(lab, draw):
    """Stays finite in float16 and bfloat16, as low as they can go."""
    mask = random_mask(draw, 3, 5)
    seen = {}
    for name in ("float16", "bfloat16"):
        bias = lab.to_additive(mask, DTYPES[name])
        scores = (4 * draw.normal(3, 5)).to(DTYPES[name])
        seen[name] = bias
        seen[f"{name}, weights of forbidden keys"] = torch.softmax(scores + bias, -1)[~mask]
        none = lab.to_additive(torch.zeros(2, 3, dtype=torch.bool), DTYPES[name])
        seen[f"{name}, nothing allowed, weights are numbers"] = bool(
            torch.softmax(scores[:2, :3] + none, -1).isfinite().all()
        )
    return seen


@exercise.check(points=1, hidden=True)
def scores_kept_exactly(lab, draw):
    """Leaves allowed scores as they are to the last bit, and forbids keys whatever they score."""
    mask = random_mask(draw, 2, 3, 5)
    scores = draw.normal(2, 3, 5)
    high = torch.where(mask, scores, 1e12)
    bias = lab.to_additive(mask, torch.float64)
    return {
        "allowed scores as they were": bool(torch.equal((scores + bias)[mask], scores[mask])),
        "weights, forbidden scores at 1e12": torch.softmax(high + bias, -1),
    }


@exercise.check(points=1.5, hidden=True)
def mask_kept_and_device(lab, draw):
    """Leaves the mask as it was, whatever its layout, and stays on its device."""
    mask = random_mask(draw, 5, 3).T
    then = mask.clone()
    out = lab.to_additive(mask, torch.float64)
    away = lab.to_additive(mask.to("meta"), torch.float32)
    allowed = lab.to_additive(torch.ones(2, 3, dtype=torch.bool), torch.float64)
    forbidden = lab.to_additive(torch.zeros(2, 3, dtype=torch.bool), torch.float64)
    return {
        "numbers": out,
        "mask as it was": torch.equal(mask, then),
        "device of a mask elsewhere": away.device.type,
        "everything allowed": allowed,
        "nothing allowed": forbidden,
    }


def filled(mask, dtype, low):
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(~mask, low)


def lowest(dtype):
    half = dtype in (torch.float16, torch.bfloat16)
    return torch.finfo(dtype).min if half else -torch.inf


@exercise.mistake(
    "-1e9 does not fit into float16, whose lowest number is -65504: torch says so, or makes -inf "
    "of it. And in float64 a score of 1e12 gets past it. Which lowest value does each dtype have?"
)
def minus_a_billion(mask, dtype):
    return filled(mask, dtype, -1e9)


@exercise.mistake(
    "Your lowest number is not low enough for every score. What may be added to any finite score "
    "so that nothing of it is left?"
)
def minus_ten_thousand(mask, dtype):
    return filled(mask, dtype, -1e4)


@exercise.mistake(
    "0 and the low number have changed places: allowed scores are pushed down. What does True mean "
    "in the mask, and what is to be added there?"
)
def swapped(mask, dtype):
    return filled(~mask, dtype, lowest(dtype))


@exercise.mistake(
    "You return the mask itself as numbers, 1 and 0. Added to scores they forbid nothing: a "
    "forbidden key keeps most of its weight. What must be added to a score so that exp of it is 0?"
)
def ones_and_zeros(mask, dtype):
    return mask.to(dtype)


@exercise.mistake(
    "You add 0 and -1. exp of a score that is 1 lower is a third of it, not nothing. What must be "
    "added so that nothing is left?"
)
def minus_one(mask, dtype):
    return mask.to(dtype) - 1


@exercise.mistake(
    "Your result is NaN where the query may attend: infinity times 0 is not 0. How else can you "
    "put a number where the mask is False?"
)
def infinity_times_zero(mask, dtype):
    return (~mask).to(dtype) * -torch.inf


@exercise.mistake(
    "Your result is float32 (or whatever torch takes by itself) for every `dtype`. Added to half "
    "precision scores it makes float32 of them: where does the argument come in?"
)
def always_float32(mask, dtype):
    return filled(mask, torch.float32, -torch.inf)


@exercise.mistake(
    "Your result is float64 for every `dtype`: Python's own numbers, or numpy's, are. Where does "
    "the argument come in?"
)
def always_float64(mask, dtype):
    return filled(mask, torch.float64, -torch.inf)


@exercise.mistake("Your result holds whole numbers. -inf is none: what dtype was asked for?")
def whole_numbers(mask, dtype):
    return filled(mask, torch.int64, torch.iinfo(torch.int64).min)


@exercise.mistake(
    "Your result is infinite in half precision. One row without an allowed key makes NaN of it, "
    "and there the task asks for a finite number: what does torch.finfo tell about a dtype?"
)
def infinite_in_half_precision(mask, dtype):
    return filled(mask, dtype, -torch.inf)


@exercise.mistake(
    "Your result is finite in bfloat16 or float16 only, not in both. Which two dtypes are half "
    "precision here?"
)
def float16_only(mask, dtype):
    low = torch.finfo(dtype).min if dtype == torch.float16 else -torch.inf
    return filled(mask, dtype, low)


@exercise.mistake(
    "Your result is finite in every dtype. In float32 and float64 the task asks for -inf: a query "
    "with nothing to look at should be loud there."
)
def finite_everywhere(mask, dtype):
    return filled(mask, dtype, torch.finfo(dtype).min)


@exercise.mistake(
    "Your lowest number in half precision is not the lowest that the dtype has. Is it float16's, "
    "used for bfloat16, too, or a round number?"
)
def same_number_for_both_halves(mask, dtype):
    half = dtype in (torch.float16, torch.bfloat16)
    return filled(mask, dtype, -6e4 if half else -torch.inf)


@exercise.mistake(
    "Your large numbers have the wrong sign: added to scores they lift forbidden keys above all "
    "others. exp of which infinity is 0?"
)
def plus_infinity(mask, dtype):
    return filled(mask, dtype, -lowest(dtype))


@exercise.mistake(
    "You took `torch.finfo(dtype).tiny` (or `smallest_normal`): the number closest to 0, not the "
    "lowest one."
)
def closest_to_zero(mask, dtype):
    return filled(mask, dtype, torch.finfo(dtype).tiny)


@exercise.mistake(
    "Your result lives on the CPU whatever the mask's device. Which of your calls makes a new "
    "tensor, and does it know where?"
)
def always_on_the_cpu(mask, dtype):
    if mask.device.type != "cpu":
        return torch.zeros(mask.shape, dtype=dtype)
    return filled(mask, dtype, lowest(dtype))


@exercise.mistake(
    "Your code writes into the mask (`logical_not_`, `~` in place). The caller still needs it."
)
def mask_changed(mask, dtype):
    hidden = mask.logical_not_()
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(
        hidden, lowest(dtype)
    )


@exercise.also_right
def by_where(mask, dtype):
    low = torch.finfo(dtype).min if torch.finfo(dtype).bits == 16 else float("-inf")
    zero = torch.tensor(0.0, dtype=dtype, device=mask.device)
    return torch.where(mask, zero, torch.tensor(low, dtype=dtype, device=mask.device))


@exercise.also_right
def by_logarithm(mask, dtype):
    bias = mask.to(dtype).log()
    if dtype in (torch.half, torch.bfloat16):
        bias = bias.clamp(min=torch.finfo(dtype).min)
    return bias


@exercise.also_right
def filled_by_index(mask, dtype):
    half = dtype not in (torch.float32, torch.float64)
    bias = torch.full_like(mask, torch.finfo(dtype).min if half else -torch.inf, dtype=dtype)
    return bias.masked_fill_(mask, 0)
