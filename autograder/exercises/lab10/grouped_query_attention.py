"""grouped_query_attention: several heads of queries share one head of keys and values."""

from __future__ import annotations

import torch

from attnlab.attention import scaled_dot_product_attention
from attnlab.grouped_queries import grouped_query_attention
from gradekit.exercise import Exercise

exercise = Exercise(grouped_query_attention, uses=[scaled_dot_product_attention])


def drawn(draw, B, h, g, Lq=3, Lk=5, d_k=4, d_v=7):
    return draw.normal(B, h, Lq, d_k), draw.normal(B, g, Lk, d_k), draw.normal(B, g, Lk, d_v)


@exercise.check(points=0)
def neighbours_share(lab, draw):
    """Heads that follow each other share a head of keys and values, whatever their numbers."""
    return {
        f"{h} heads, {g} of keys": lab.grouped_query_attention(*drawn(draw, 2, h, g))
        for h, g in ((6, 2), (6, 3), (6, 6), (6, 1), (1, 1))
    }


@exercise.check(points=0)
def with_a_mask(lab, draw):
    """A mask acts as in lab 3, for all heads or for each of its own; empty rows give zeros."""
    q, k, v = drawn(draw, 2, 4, 2)
    shapes = {"of one table": (3, 5), "of each row": (2, 1, 1, 5), "of each head": (2, 4, 3, 5)}
    seen = {
        name: lab.grouped_query_attention(q, k, v, draw.uniform(*shape) < 0.6)
        for name, shape in shapes.items()
    }
    nothing = torch.zeros(3, 5, dtype=torch.bool)
    return {**seen, "nothing allowed": lab.grouped_query_attention(q, k, v, nothing)}


@exercise.check(points=0)
def gradients(lab, draw):
    """Gradients flow back to all three, which stay as they are."""
    found = draw.gradients(lab.grouped_query_attention, *drawn(draw, 2, 4, 2))
    return {"gradients": found, "as they were": draw.untouched()}


@exercise.check(points=0)
def unequal_groups(lab, draw):
    """ValueError: the heads cannot be divided equally, or there are fewer of queries."""
    return {
        f"{h} heads, {g} of keys": draw.raises(lab.grouped_query_attention, *drawn(draw, 2, h, g))
        for h, g in ((4, 3), (5, 2), (2, 4))
    }


exercise.promises(
    {
        "Attend with h heads of queries to g heads of keys and values.": "neighbours_share",
        "Each head of keys and values serves h / g heads of queries that follow each other: the "
        "first of them serves the heads 0 … h/g - 1, and so on.": "neighbours_share",
        "With g = h this is multi-head attention, with g = 1 all heads share one": (
            "neighbours_share"
        ),
        "q: (B, h, Lq, d_k); stays unchanged, as the others do.": "gradients",
        "it broadcasts to (B, h, Lq, Lk)": "with_a_mask",
        "(B, h, Lq, d_v), as `scaled_dot_product_attention` gives for each head.": (
            "neighbours_share with_a_mask"
        ),
        "Gradients flow back to `q`, `k` and `v`.": "gradients",
        "ValueError: g does not divide h.": "unequal_groups",
    },
    explained=["k: (B, g, Lk, d_k).", "v: (B, g, Lk, d_v)."],
)


@exercise.also_right
def head_by_head(q, k, v, mask=None):
    h, g = q.shape[1], k.shape[1]
    if h % g != 0:
        raise ValueError("heads cannot be shared")
    out = []
    full = None if mask is None else mask.expand(len(q), h, q.shape[2], k.shape[2])
    for i in range(h):
        own = None if full is None else full[:, i]
        shared = i // (h // g)
        out.append(scaled_dot_product_attention(q[:, i], k[:, shared], v[:, shared], own)[0])
    return torch.stack(out, dim=1)


@exercise.also_right
def an_axis_for_the_group(q, k, v, mask=None):
    (B, h, Lq, _), (_, g, Lk, _) = q.shape, k.shape
    if h % g:
        raise ValueError(f"{g} does not divide {h}")
    q = q.reshape(B, g, h // g, Lq, -1)
    if mask is not None:
        mask = mask.expand(B, h, Lq, Lk).reshape(B, g, h // g, Lq, Lk)
    out, _ = scaled_dot_product_attention(q, k[:, :, None], v[:, :, None], mask)
    return out.reshape(B, h, Lq, -1)


@exercise.also_right
def repeated_for_each_head(q, k, v, mask=None):
    if q.shape[1] % k.shape[1]:
        raise ValueError("g does not divide h")
    times = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(times, dim=1), v.repeat_interleave(times, dim=1)
    return scaled_dot_product_attention(q, k, v, mask)[0]


wrong = exercise.edits(head_by_head)
repeated = exercise.edits(repeated_for_each_head)

wrong(
    "every_g_th_head",
    "i // (h // g)",
    "i % g",
    "Your heads take turns: heads 0 and 1 use different keys. Which heads share, according to the "
    "task?",
)
wrong(
    "first_head_of_keys_only",
    "i // (h // g)",
    "0",
    "All your heads use the first head of keys. What are the others for?",
)
wrong(
    "groups_in_reverse",
    "i // (h // g)",
    "g - 1 - i // (h // g)",
    "Your groups come in reverse order. Which heads does the first head of keys serve?",
)
repeated(
    "values_tiled",
    "v.repeat_interleave(times, dim=1)",
    "v.repeat(1, times, 1, 1)",
    "Your keys and values are repeated in different orders, so a head's weights meet the values of "
    "another group. What does `repeat` do, and what `repeat_interleave`?",
)
repeated(
    "mask_left_out",
    "v, mask)",
    "v)",
    "Your mask has no effect. Who needs it?",
)
repeated(
    "weights_returned",
    "mask)[0]",
    "mask)[1]",
    "You return the weights. What does the task ask for?",
)
repeated(
    "mean_of_the_queries",
    "    times = q.shape[1] // k.shape[1]\n",
    "    times = q.shape[1] // k.shape[1]\n"
    "    q = q.unflatten(1, (-1, times)).mean(2).repeat_interleave(times, dim=1)\n",
    "All queries of a group become one, so its heads are all the same. What do they share, and "
    "what not?",
)
repeated(
    "unequal_groups_allowed",
    '    if q.shape[1] % k.shape[1]:\n        raise ValueError("g does not divide h")\n'
    "    times = q.shape[1] // k.shape[1]\n",
    "    times = -(-q.shape[1] // k.shape[1])\n"
    "    k, v = (x.repeat_interleave(times, dim=1)[:, : q.shape[1]] for x in (k, v))\n"
    "    times = 1\n",
    "If the heads cannot be divided equally, one group is smaller than the others, and nobody "
    "notices. What does the task ask for?",
)
