"""apply_rope: rotary positions, whose scores depend only on distances."""

from __future__ import annotations

import torch

from attnlab.checking.judges import Close
from attnlab.checking.observation import dtype_of
from attnlab.positions import apply_rope
from gradekit.exercise import Exercise

exercise = Exercise(
    apply_rope,
    equivalent={
        "apply_rope: `torch.arange(0, d, 2, dtype=torch.float64, device=x.device)` → "
        "`torch.arange(0, d, 2, dtype=torch.float64)` in "
        "`exponent = torch.arange(0, d, 2, dtype=torch.float64, device=x.device) / d`": (
            "differs only on another device, and the meta device costs a second to load"
        ),
    },
)


@exercise.check(points=0)
def only_distances_count(lab, draw):
    """Scores of turned queries and keys are the same wherever the pair stands, gaps included."""
    q, k = draw.normal(1, 6), draw.normal(1, 6)
    seen = {}
    for distance in (0, 3, -5):
        for start in (7, 40):
            at, away = torch.tensor([start]), torch.tensor([start + distance])
            score = lab.apply_rope(q, at) @ lab.apply_rope(k, away).mT
            seen[f"distance {distance}, query at {start}"] = score
    return seen


@exercise.check(points=0)
def gaps(lab, draw):
    """Turns each vector by its own position, and keeps its length."""
    x, positions = draw.normal(2, 3, 4, 6), torch.tensor([0, 1, 9, 300])
    out = lab.apply_rope(x, positions)
    return {"turned": out, "lengths": out.norm(dim=-1)}


@exercise.check(points=0)
def given_bases(lab, draw):
    """Uses the given base."""
    x = draw.normal(2, 5, 6)
    return {f"base {base}": lab.apply_rope(x, torch.arange(5), base) for base in (100.0, 10000.0)}


@exercise.check(points=0)
def dtype_and_precision(lab, draw):
    """Keeps the dtype, and is right far from the start; x is unchanged and gets its gradient."""
    x, far = draw.normal(2, 3, 8), torch.tensor([5000, 5001, 90000])
    rough = lab.apply_rope(x.float(), far)
    return {
        "dtype": dtype_of(rough),
        "float32": rough.double().round(decimals=4),
        "float64": lab.apply_rope(x, far),
        "gradient": draw.gradients(lambda y: lab.apply_rope(y, far), x),
        "x as it was": draw.untouched(),
    }


@exercise.check(points=0, judge=Close(atol=1e-8))
def other_sizes(lab, draw):
    """Is right for any number of axes, and for two features; odd d is a ValueError."""

    def ask(batch, T, half):
        return lab.apply_rope(draw.normal(*batch, T, 2 * half), draw.integers(0, 50, T))

    return {
        **draw.each_size(ask, batch=(2,), T=5, half=4),
        "d = 7": draw.raises(lab.apply_rope, draw.normal(2, 7), torch.arange(2)),
    }


exercise.promises(
    {
        "turn each pair of features by an angle that grows with the position": "gaps",
        "Pair i is features 2i and 2i + 1.": "gaps",
        "it turns by the angle p / base^(2i/d), from feature 2i towards feature 2i + 1": "gaps",
        "depends only on the distance between their positions": "only_distances_count",
        "with d even: queries or keys; stays unchanged": "dtype_and_precision other_sizes",
        "the positions of the T vectors; they may have gaps": "gaps only_distances_count",
        "base: as in `sinusoidal_pe`.": "given_bases",
        "in the dtype of `x`; the angles are computed in float64": ("dtype_and_precision"),
        "Gradients flow back to `x`.": "dtype_and_precision",
        "ValueError: d is odd.": "other_sizes",
    },
)


@exercise.also_right
def as_complex_numbers(x, positions, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError("d must be even")
    rates = base ** (-torch.arange(0, d, 2, dtype=torch.float64, device=x.device) / d)
    angles = torch.outer(positions.double(), rates)
    turns = torch.polar(torch.ones_like(angles), angles)
    pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * turns).flatten(-2).to(x.dtype)


@exercise.also_right
def pair_by_pair(x, positions, base=10000.0):
    if x.shape[-1] % 2:
        raise ValueError("d must be even")
    out = []
    for i in range(x.shape[-1] // 2):
        angle = positions.double() / base ** (2 * i / x.shape[-1])
        c, s = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        a, b = x[..., 2 * i], x[..., 2 * i + 1]
        out += [a * c - b * s, b * c + a * s]
    return torch.stack(out, -1)


wrong = exercise.edits(pair_by_pair)

wrong(
    "other_way_round",
    "[a * c - b * s, b * c + a * s]",
    "[a * c + b * s, b * c - a * s]",
    "Your pairs turn the other way. The scores are the same, but loaded weights would not fit. "
    "From which feature towards which do they turn?",
)
wrong.several(
    "half_split",
    {
        "x[..., 2 * i], x[..., 2 * i + 1]": "x[..., i], x[..., i + x.shape[-1] // 2]",
        "torch.stack(out, -1)": "torch.stack(out[0::2] + out[1::2], -1)",
    },
    "Your pairs are feature i and feature i + d/2, as in some libraries. Which two features are a "
    "pair in the task?",
)
wrong(
    "gaps_ignored",
    "positions.double()",
    "torch.arange(len(positions)).double()",
    "You count the vectors from 0 and do not use the given positions. What if some are missing?",
)
wrong(
    "two_forgotten",
    "(2 * i / x.shape[-1])",
    "(i / x.shape[-1])",
    "From the second pair on, your angles are too large. What is the exponent of pair i?",
)
wrong(
    "base_ignored",
    "/ base **",
    "/ 10000.0 **",
    "The argument `base` has no effect. Where is it in your angles?",
)
wrong(
    "one_rate",
    "2 * i / x.shape[-1]",
    "0.0",
    "All your pairs turn equally fast. What is the exponent of pair i?",
)
wrong(
    "angles_in_float32",
    "positions.double() /",
    "positions.float() /",
    "Your angles are float32: at position 90,000 only a few digits are left after whole turns. In "
    "which dtype does the task compute them?",
)
wrong(
    "not_a_rotation",
    "[a * c - b * s, b * c + a * s]",
    "[a * c + b * s, b * c + a * s]",
    "Your vectors change their length, so this is not a rotation. Which signs does a rotation "
    "have?",
)
wrong(
    "added",
    "[a * c - b * s, b * c + a * s]",
    "[a + s, b + c]",
    "You add sines and cosines, as in 6.1. What does RoPE do with a pair instead?",
)
wrong(
    "odd_accepted",
    "if x.shape[-1] % 2:",
    "if x.shape[-1] < 2:",
    "An odd number of features is not refused. What should happen?",
)
