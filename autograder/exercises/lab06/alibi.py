"""alibi_bias: scores that fall with the distance, by another slope in each head."""

from __future__ import annotations

import torch

from attnlab.checking.dtypes import under_default_dtype
from attnlab.checking.judges import Close
from attnlab.checking.observation import dtype_of
from attnlab.positions import alibi_bias
from gradekit.exercise import Exercise

exercise = Exercise(alibi_bias)


@exercise.check(points=0, judge=Close(atol=1e-6))
def eight_heads(lab, draw):
    """With eight heads, the slopes are 1/2, 1/4, … 1/256."""
    length = int(draw.integers(4, 8))
    return lab.alibi_bias(8, length)


@exercise.check(points=0, judge=Close(atol=1e-6))
def with_a_cache(lab, draw):
    """With more keys than queries, the last query is at the position of the last key."""
    return {f"Lq={Lq}, Lk={Lk}": lab.alibi_bias(4, Lq, Lk) for Lq, Lk in ((2, 5), (1, 7), (3, 3))}


@exercise.check(points=0, judge=Close(atol=1e-6))
def other_sizes(lab, draw):
    """Is right for any number of heads, one included, and for fewer keys; in the default dtype."""
    seen = {f"{heads} heads": lab.alibi_bias(heads, 4, 6) for heads in (1, 2, 3, 6)}
    wide = under_default_dtype(torch.float64, lab.alibi_bias, 2, 3, 5)
    return {
        **seen,
        "fewer keys": lab.alibi_bias(2, 5, 3),
        "dtype": dtype_of(lab.alibi_bias(2, 3)),
        "dtype, if the default is float64": dtype_of(wide),
    }


exercise.promises(
    {
        "numbers to add to scores, lower for keys further away": "eight_heads",
        "has the slope 2^(-8 (i + 1) / h)": "eight_heads other_sizes",
        "its bias is minus the slope times the distance": "eight_heads",
        "the last query is at the position of the last key": "with_a_cache",
        "Keys that come later have a bias by their distance, too": "eight_heads other_sizes",
        "num_heads: h, the number of heads.": "other_sizes",
        "Lq: the number of queries.": "with_a_cache",
        "as many as queries if None": "eight_heads",
        "(h, Lq, Lk), of torch's default dtype.": "other_sizes with_a_cache",
    },
)


@exercise.also_right
def head_by_head(num_heads, Lq, Lk=None):
    Lk = Lq if Lk is None else Lk
    query, key = torch.arange(Lq)[:, None] + Lk - Lq, torch.arange(Lk)[None]
    distance = (query - key).abs().to(torch.get_default_dtype())
    slopes = [2 ** (-8 * (i + 1) / num_heads) for i in range(num_heads)]
    return torch.stack([-slope * distance for slope in slopes])


@exercise.also_right
def entry_by_entry(num_heads, Lq, Lk=None):
    Lk = Lk if Lk is not None else Lq
    ratio = 2 ** (-8 / num_heads)
    table = [
        [[-(ratio ** (i + 1)) * abs(q + Lk - Lq - k) for k in range(Lk)] for q in range(Lq)]
        for i in range(num_heads)
    ]
    return torch.tensor(table)


wrong = exercise.edits(head_by_head)

wrong(
    "a_bonus",
    "-slope * distance",
    "slope * distance",
    "Your numbers are positive, so keys further away get higher scores. Which way should the "
    "scores go?",
)
wrong(
    "top_left",
    " + Lk - Lq",
    "",
    "Your first query is at position 0 even with a cache. At the position of which key is the last "
    "query?",
)
wrong(
    "first_slope_is_one",
    "(i + 1) / num_heads",
    "i / num_heads",
    "Your first head's slope is 1. What is it for eight heads, according to the task?",
)
wrong(
    "same_slope",
    "-8 * (i + 1) / num_heads",
    "-8 * 1 / num_heads",
    "All your heads have the same slope. What differs from head to head?",
)
wrong(
    "eight_heads_always",
    "-8 * (i + 1) / num_heads",
    "-(i + 1)",
    "Your slopes are those of eight heads, whatever the number of heads is. Where is h in the "
    "exponent?",
)
wrong(
    "later_keys_at_no_distance",
    "(query - key).abs()",
    "(query - key).clamp(min=0)",
    "Keys that come later have no bias. According to the task, what hides them, and what is their "
    "bias?",
)
wrong(
    "distance_signed",
    "(query - key).abs()",
    "(query - key)",
    "Keys that come later get a bonus. A distance has no sign: which function drops it?",
)
wrong(
    "multiplied_once",
    "torch.stack([-slope * distance for slope in slopes])",
    "torch.stack([-slope * distance for slope in slopes]).exp()",
    "You return factors from 0 to 1. What does the task ask for: numbers to multiply by, or to "
    "add?",
)
