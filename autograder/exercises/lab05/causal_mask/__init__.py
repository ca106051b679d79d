"""causal_mask: no query looks at a later key, with a cache of earlier keys or without."""

from __future__ import annotations

import torch

from attnlab.checking.observation import dtype_of
from attnlab.masks import causal_mask
from gradekit.exercise import Exercise

exercise = Exercise(causal_mask)


@exercise.check(points=1.5)
def shape_and_dtype(lab, draw):
    """Is a boolean tensor of shape (Lq, Lk), square if Lk is not given."""
    Lk = draw.integers(9, 16).item()
    square, cached, newest = lab.causal_mask(5), lab.causal_mask(3, Lk), lab.causal_mask(1, Lk)
    return {
        "shape, Lq=5": list(square.shape),
        f"shape, Lq=3, Lk={Lk}": list(cached.shape),
        "dtype": dtype_of(square),
        f"dtype, Lq=3, Lk={Lk}": dtype_of(cached),
        f"dtype, Lq=1, Lk={Lk}": dtype_of(newest),
        # A mask of ones and one of numbers to be added have the same dtype.
        "numbers below 0": bool((cached < 0).any()),
    }


@exercise.check(points=2)
def as_many_keys_as_queries(lab, draw):
    """Each query may attend to its own place and to all before it, at any length."""
    lengths = (*draw.integers(3, 10, 2).tolist(), 1, 2)
    return {f"Lq={T}": lab.causal_mask(T) for T in lengths}


@exercise.check(points=2)
def with_a_cache(lab, draw):
    """With more keys than queries, the last query stands at the last key."""
    more = draw.permutation(6).tolist()
    lengths = ((2, 9 + more[0]), (3, 9 + more[1]), (1, 9 + more[2]), (4, 5))
    return {f"Lq={Lq}, Lk={Lk}": lab.causal_mask(Lq, Lk) for Lq, Lk in lengths}


@exercise.check(points=0.5)
def fewer_keys(lab, draw):
    """With fewer keys than queries, the first queries stand before every key and see none."""
    return {f"Lq={Lq}, Lk={Lk}": lab.causal_mask(Lq, Lk) for Lq, Lk in ((5, 3), (7, 2))}


@exercise.check(points=0.5)
def no_keys(lab, draw):
    """Lk=0 means no keys: a boolean mask without columns."""
    masks = {f"Lq={Lq}, Lk=0": lab.causal_mask(Lq, 0) for Lq in (4, 6)}
    shapes = {f"shape, {name}": list(mask.shape) for name, mask in masks.items()}
    return shapes | {f"dtype, {name}": dtype_of(mask) for name, mask in masks.items()}


@exercise.check(points=0.5, hidden=True)
def fewer_keys_at_other_lengths(lab, draw):
    """With fewer keys than queries, it is right at other lengths, too."""
    lengths = ((4, 1), (6, 5), (9, 4))
    return {f"Lq={Lq}, Lk={Lk}": lab.causal_mask(Lq, Lk) for Lq, Lk in lengths}


@exercise.check(points=1, hidden=True)
def other_lengths(lab, draw):
    """Is right for long sequences, and for as many keys as queries if Lk is given."""
    seen = {f"Lq={Lq}, Lk={Lk}": lab.causal_mask(Lq, Lk) for Lq, Lk in ((6, 6), (2, 11), (1, 1))}
    for Lq, Lk in ((300, 300), (2, 1100)):
        long = lab.causal_mask(Lq, Lk)
        seen[f"Lq={Lq}, Lk={Lk}"] = {"shape": list(long.shape), "True": int((long > 0).sum())}
    return seen


@exercise.check(points=1, hidden=True)
def nothing_later_gets_through(lab, draw):
    """In attention with this mask, another last token changes the last output only."""
    v = draw.normal(2, 6, 3)
    changed = v.clone()
    changed[:, -1] += 1e6
    seen = {}
    for Lq in (6, 4):
        scores = draw.normal(2, Lq, 6).masked_fill(~lab.causal_mask(Lq, 6).bool(), -1e300)
        weights = torch.softmax(scores, -1)
        moved = (weights @ changed - weights @ v).abs().amax((0, 2)) > 0
        seen[f"outputs that move, Lq={Lq}"] = moved
    return seen


@exercise.check(points=0.5)
def on_a_device(lab, draw):
    """Is on the given device, and on the CPU if none is given and the CPU is the default."""
    devices = ("meta", torch.device("meta"), "cpu", None)
    seen = {}
    for device in devices:
        mask = lab.causal_mask(3, 5, device=device)
        seen[f"asked for {device!r}"] = {"device": mask.device.type, "shape": list(mask.shape)}
    return seen


@exercise.check(points=0.5, hidden=True)
def on_the_default_device(lab, draw):
    """Without `device`, it is on torch's default device, even if that is not the CPU."""
    with torch.device("meta"):
        masks = {"no device": lab.causal_mask(3, 5), "None": lab.causal_mask(3, device=None)}
    return {name: mask.device.type for name, mask in masks.items()}


exercise.promises(
    {
        "No query looks ahead: each may attend to its own position and to all before it.": (
            "as_many_keys_as_queries nothing_later_gets_through"
        ),
        "The last query has the position of the last key.": "with_a_cache other_lengths",
        "With more keys than queries": "with_a_cache other_lengths",
        "With fewer keys, the first Lq - Lk queries come before every key": (
            "fewer_keys fewer_keys_at_other_lengths"
        ),
        "Lq: number of queries.": "as_many_keys_as_queries other_lengths",
        "Lk: number of keys, which may be 0; None: the same as Lq.": (
            "as_many_keys_as_queries no_keys"
        ),
        "device: the device of the mask, as in torch.ones.": "on_a_device on_the_default_device",
        "(Lq, Lk), torch.bool: True where the query may attend to the key.": "shape_and_dtype",
    }
)
