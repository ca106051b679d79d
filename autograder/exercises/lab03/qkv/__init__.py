"""qkv: a query, a key and a value for every word."""

from __future__ import annotations

import torch

from attnlab.attention import qkv
from attnlab.checking.observation import dtype_of
from gradekit.exercise import Exercise

exercise = Exercise(
    qkv,
    forbids=[
        "torch.nn.functional.scaled_dot_product_attention",
        "torch.nn.functional.multi_head_attention_forward",
    ],
)


def matrices(draw, d_model=7, d_k=4, d_v=11):
    """Three matrices, none of them square."""
    return draw.normal(d_model, d_k), draw.normal(d_model, d_k), draw.normal(d_model, d_v)


@exercise.check(points=1.5)
def shape_and_dtype(lab, draw):
    """Returns three tensors of the right shapes, in the dtype of the inputs."""
    X, weights = draw.normal(2, draw.integers(8, 16).item(), 7), matrices(draw)
    q, k, v = lab.qkv(X, *weights)
    return {
        "shape of q": list(q.shape),
        "shape of k": list(k.shape),
        "shape of v": list(v.shape),
        "dtypes of float32": [
            dtype_of(out) for out in lab.qkv(X.float(), *(W.float() for W in weights))
        ],
    }


@exercise.check(points=2)
def one_sentence(lab, draw):
    """Returns the right queries, keys and values for one sentence."""
    q, k, v = lab.qkv(draw.normal(5, 7), *matrices(draw))
    return {"q": q, "k": k, "v": v}


@exercise.check(points=1.5)
def a_batch(lab, draw):
    """Returns the right queries, keys and values for a batch of two sentences."""
    q, k, v = lab.qkv(draw.strided(draw.normal(2, 5, 7)), *matrices(draw))
    return {"q": q, "k": k, "v": v}


@exercise.check(points=0.5)
def way_back(lab, draw):
    """Gradients reach the words and the matrices, and all four stay unchanged."""
    given = dict(zip(("X", "W_q", "W_k", "W_v"), (draw.normal(5, 7), *matrices(draw)), strict=True))
    before = {name: x.clone() for name, x in given.items()}
    lab.qkv(*given.values())
    unchanged = {f"{name} unchanged": torch.equal(x, before[name]) for name, x in given.items()}
    sums = draw.gradients(
        lambda *leaves: sum(part.sum() for part in lab.qkv(*leaves)), *before.values()
    )
    if not isinstance(sums, list):
        return sums
    return {**unchanged, **{f"gradient of {n}": g for n, g in zip(given, sums, strict=True)}}


@exercise.check(points=2, hidden=True)
def other_sizes(lab, draw):
    """Is right for any sizes (one word, square matrices), any batch axes and memory layout."""

    def ask(batch, T, d_model, d_k, d_v):
        return list(lab.qkv(draw.normal(*batch, T, d_model), *matrices(draw, d_model, d_k, d_v)))

    views = [draw.strided(W) for W in matrices(draw, 5, 8, 6)]
    return {
        "views": list(lab.qkv(draw.strided(draw.normal(2, 4, 5)), *views)),
        "sizes": draw.each_size(ask, batch=(2,), T=5, d_model=7, d_k=4, d_v=11),
    }


@exercise.check(points=1.5, hidden=True)
def nothing_is_added(lab, draw):
    """A word of zeros has zeros as query, key and value; doubling a word doubles all three."""
    X, weights = draw.normal(2, 5, 7), matrices(draw)
    padded = X * torch.tensor([1.0, 0.0, 2.0, 0.0, 1.0], dtype=torch.float64)[:, None]
    return list(lab.qkv(padded, *weights))


@exercise.check(points=1, hidden=True)
def gradients_and_inputs(lab, draw):
    """Lets gradients flow back to the words and all three matrices, and leaves them unchanged."""
    X, weights = draw.normal(2, 5, 7), matrices(draw)
    lab.qkv(X, *weights)
    return {
        "q": draw.gradients(lambda *args: next(iter(lab.qkv(*args))), X, *weights)[:2],
        "k": draw.gradients(lambda *args: [*lab.qkv(*args)][1], X, *weights)[::2],
        "v": draw.gradients(lambda *args: [*lab.qkv(*args)][2], X, *weights)[::3],
        "inputs unchanged": draw.untouched(),
    }
