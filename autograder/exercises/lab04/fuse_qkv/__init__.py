"""fuse_qkv and project_fused: one matrix product that does the work of three."""

from __future__ import annotations

import torch
from torch.overrides import TorchFunctionMode, resolve_name

from attnlab.checking.observation import dtype_of
from attnlab.multihead import fuse_qkv, project_fused
from gradekit.exercise import Exercise

exercise = Exercise(fuse_qkv, project_fused)

PRODUCTS = (
    "linear", "matmul", "__matmul__", "__rmatmul__", "mm", "bmm", "addmm", "baddbmm", "einsum",
    "dot", "mv", "tensordot", "inner", "chain_matmul", "bilinear",
)  # fmt: skip


class Products(TorchFunctionMode):
    """Counts calls of torch's matrix products."""

    def __init__(self):
        super().__init__()
        self.number = 0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        name = resolve_name(func) or ""
        self.number += name.rpartition(".")[2] in PRODUCTS
        return func(*args, **(kwargs or {}))


def drawn(draw):
    """Three weights with different numbers of rows, and their biases."""
    return [draw.normal(n, 7) for n in (4, 5, 6)], [draw.normal(n) for n in (4, 5, 6)]


@exercise.check(points=0.5)
def shapes_and_dtype(lab, draw):
    """Fuse: one weight and one bias with as many rows as all three; the dtype is kept."""
    weights, biases = ([draw.normal(*size).float() for _ in range(3)] for size in ((4, 7), (4,)))
    W, b = lab.fuse_qkv(*weights, *biases)
    return {
        "shape of the weight": list(W.shape),
        "shape of the bias": list(b.shape),
        "dtypes": [dtype_of(W), dtype_of(b)],
    }


@exercise.check(points=0.5)
def widths(lab, draw):
    """Project: q, k and v have as many features as `sizes` says, and all axes of the text."""
    # All axes are equally long, so a cut along another axis, or a product without the transpose,
    # stops nowhere. And no usual cut makes a part that is longer by one, or twice as long.
    x, W, b = draw.normal(18, 18, 18), draw.normal(18, 18), draw.normal(18)
    parts = lab.project_fused(x, W, b, (4, 9, 5))
    return {
        "how many features q, k and v have": [part.shape[-1] for part in parts],
        "shapes of q, k, v": [list(part.shape) for part in parts],
    }


@exercise.check(points=2)
def queries_keys_values(lab, draw):
    """Fuse: the queries' rows come first, then the keys', then the values'; biases likewise."""
    weights, biases = drawn(draw)
    fused = lab.fuse_qkv(*weights, *biases)
    alike = [draw.normal(4, 7) for _ in range(3)]
    return {
        "different numbers of rows": list(fused),
        "equal numbers of rows": list(lab.fuse_qkv(*alike, *(draw.normal(4) for _ in range(3)))),
        "not contiguous": lab.fuse_qkv(*map(draw.strided, weights))[0],
        "no biases": list(lab.fuse_qkv(*weights)),
    }


@exercise.check(points=2)
def same_as_three(lab, draw):
    """Project: the fused layer gives the same results as three layers."""
    W, b = draw.normal(15, 7), draw.normal(15)
    return {
        "with a bias": list(lab.project_fused(draw.normal(2, 3, 7), W, b, (4, 5, 6))),
        "without": list(lab.project_fused(draw.normal(2, 3, 7), W, None, (4, 5, 6))),
        "sizes in a list": list(lab.project_fused(draw.normal(2, 3, 7), W, b, [6, 6, 3])),
    }


@exercise.check(points=0.5)
def one_bias_missing(lab, draw):
    """Fuse: if the bias of the keys is missing, it counts as zeros, in the weights' dtype."""
    weights, (b_q, _, b_v) = drawn(draw)
    seen = {"the keys' is missing": list(lab.fuse_qkv(*weights, b_q, None, b_v))}
    for dtype in (torch.float32, torch.float16):
        given = [x.to(dtype) for x in (*weights, b_q)]
        seen[f"{dtype_of(given[0])}, dtype of the bias"] = dtype_of(lab.fuse_qkv(*given)[1])
    return seen


def reached(gradients):
    """Which numbers of an input get a gradient: 1 or 0. The order is another check's question."""
    if not isinstance(gradients, list):
        return gradients
    return [grad.abs().sign() if isinstance(grad, torch.Tensor) else grad for grad in gradients]


def projected_at_once(lab, sizes=(4, 5, 6)):
    """q, k and v side by side, as a function of the text, the fused weight and its bias."""
    return lambda x, W, b: torch.cat(lab.project_fused(x, W, b, sizes), -1)


@exercise.check(points=0.5)
def way_back(lab, draw):
    """Gradients reach all weights and biases in both functions, and the text."""
    weights, biases = drawn(draw)

    def fused(*given):
        W, b = lab.fuse_qkv(*given)
        return torch.cat([W.flatten(), b])

    x, W, b = draw.normal(3, 7), draw.normal(15, 7), draw.normal(15)
    return {
        "gradients of fuse_qkv": reached(draw.gradients(fused, *weights, *biases)),
        "gradients of project_fused": reached(draw.gradients(projected_at_once(lab), x, W, b)),
        "gradients at a bias of zeros": reached(
            draw.gradients(projected_at_once(lab), x, W, 0 * b)
        ),
    }


@exercise.check(points=1, hidden=True)
def some_biases(lab, draw):
    """Fuse: if only some biases are given, a missing one counts as zeros."""
    weights, (b_q, b_k, b_v) = drawn(draw)
    return {
        "the keys' is missing": list(lab.fuse_qkv(*weights, b_q, None, b_v)),
        "only the keys'": list(lab.fuse_qkv(*weights, None, b_k)),
        "only the values'": list(lab.fuse_qkv(*weights, b_v=b_v)),
    }


@exercise.check(points=1, hidden=True)
def any_axes(lab, draw):
    """Project: works for one text, for a batch, for any axes and sizes, in any memory layout."""
    W, b, sizes = draw.normal(15, 7), draw.normal(15), (4, 5, 6)

    def ask(batch, T, d):
        return list(lab.project_fused(draw.normal(*batch, T, d), draw.normal(15, d), b, sizes))

    return {
        "one text": list(lab.project_fused(draw.normal(3, 7), W, b, sizes)),
        "four axes": list(lab.project_fused(draw.normal(2, 3, 5, 7), W, b, sizes)),
        "a batch of one, one word": list(lab.project_fused(draw.normal(1, 1, 7), W, b, sizes)),
        "not contiguous": list(lab.project_fused(draw.strided(draw.normal(2, 3, 7)), W, b, sizes)),
        **draw.each_size(ask, batch=(2,), T=3, d=7),
    }


@exercise.check(points=1.5)
def one_product(lab, draw):
    """Project: uses one matrix product."""
    with Products() as products:
        lab.project_fused(draw.normal(2, 3, 7), draw.normal(15, 7), draw.normal(15), (4, 5, 6))
    return {"how many matrix products": products.number}


@exercise.check(points=0.5, hidden=True)
def gradients_and_input(lab, draw):
    """Gradients reach all weights, biases and inputs, and the inputs are unchanged."""
    weights, biases = drawn(draw)

    def all_of_it(x, *given):
        return projected_at_once(lab)(x, *lab.fuse_qkv(*given))

    W, b = lab.fuse_qkv(*weights, *biases)
    W.detach().zero_(), b.detach().zero_()
    return {
        "gradients": reached(draw.gradients(all_of_it, draw.normal(2, 3, 7), *weights, *biases)),
        "gradients of the projection": reached(
            draw.gradients(
                projected_at_once(lab), draw.normal(2, 3, 7), draw.normal(15, 7), draw.normal(15)
            )
        ),
        "inputs as they were": draw.untouched(),
    }
