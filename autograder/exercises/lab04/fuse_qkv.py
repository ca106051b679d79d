"""fuse_qkv and project_fused: one matrix product that does the work of three."""

from __future__ import annotations

import torch
import torch.nn.functional as F
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
    """Counts the matrix products that torch is asked for."""

    def __init__(self):
        super().__init__()
        self.number = 0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        name = resolve_name(func) or ""
        self.number += name.rpartition(".")[2] in PRODUCTS
        return func(*args, **(kwargs or {}))


def drawn(draw):
    """Three weights of different height, and their biases."""
    return [draw.normal(n, 7) for n in (4, 5, 6)], [draw.normal(n) for n in (4, 5, 6)]


@exercise.check(points=1)
def shapes_and_dtype(lab, draw):
    """One weight and one bias, as high as the three together; the dtype is kept."""
    weights, biases = ([draw.normal(*size).float() for _ in range(3)] for size in ((4, 7), (4,)))
    W, b = lab.fuse_qkv(*weights, *biases)
    x, stack, offset = draw.normal(2, 3, 7), draw.normal(15, 7), draw.normal(15)
    parts = lab.project_fused(x.float(), stack.float(), offset.float(), (4, 5, 6))
    return {
        "shape of the weight": list(W.shape),
        "shape of the bias": list(b.shape),
        "dtypes": [dtype_of(W), dtype_of(b)],
        "shapes of q, k, v": [list(part.shape) for part in parts],
    }


@exercise.check(points=2)
def queries_keys_values(lab, draw):
    """Fuse: the queries' rows come first, then the keys', then the values'; biases likewise."""
    weights, biases = drawn(draw)
    fused = lab.fuse_qkv(*weights, *biases)
    alike = [draw.normal(4, 7) for _ in range(3)]
    return {
        "different heights": list(fused),
        "one height": list(lab.fuse_qkv(*alike, *(draw.normal(4) for _ in range(3)))),
        "not contiguous": lab.fuse_qkv(*map(draw.strided, weights))[0],
        "no biases": list(lab.fuse_qkv(*weights)),
    }


@exercise.check(points=2)
def same_as_three(lab, draw):
    """Project: the fused layer gives what three layers give."""
    W, b = draw.normal(15, 7), draw.normal(15)
    return {
        "with a bias": list(lab.project_fused(draw.normal(2, 3, 7), W, b, (4, 5, 6))),
        "without": list(lab.project_fused(draw.normal(2, 3, 7), W, None, (4, 5, 6))),
        "sizes in a list": list(lab.project_fused(draw.normal(2, 3, 7), W, b, [6, 6, 3])),
    }


@exercise.check(points=1.5, hidden=True)
def some_biases(lab, draw):
    """Fuse: a bias that is missing beside others counts as zeros."""
    weights, (b_q, b_k, b_v) = drawn(draw)
    return {
        "the keys' is missing": list(lab.fuse_qkv(*weights, b_q, None, b_v)),
        "only the keys'": list(lab.fuse_qkv(*weights, None, b_k)),
        "only the values'": list(lab.fuse_qkv(*weights, b_v=b_v)),
        "dtype": dtype_of(lab.fuse_qkv(*(w.float() for w in weights), b_q.float())[1]),
    }


@exercise.check(points=1, hidden=True)
def any_axes(lab, draw):
    """Project: works for one text, for a batch, for more axes, in any memory layout."""
    W, b, sizes = draw.normal(15, 7), draw.normal(15), (4, 5, 6)
    return {
        "one text": list(lab.project_fused(draw.normal(3, 7), W, b, sizes)),
        "four axes": list(lab.project_fused(draw.normal(2, 3, 5, 7), W, b, sizes)),
        "a batch of one, one word": list(lab.project_fused(draw.normal(1, 1, 7), W, b, sizes)),
        "not contiguous": list(lab.project_fused(draw.strided(draw.normal(2, 3, 7)), W, b, sizes)),
    }


@exercise.check(points=1.5, hidden=True)
def one_product(lab, draw):
    """Project: asks torch for one matrix product."""
    with Products() as products:
        lab.project_fused(draw.normal(2, 3, 7), draw.normal(15, 7), draw.normal(15), (4, 5, 6))
    return {"matrix products": products.number}


@exercise.check(points=1, hidden=True)
def gradients_and_input(lab, draw):
    """Gradients reach all weights, biases and inputs, and nothing that was given is changed."""
    weights, biases = drawn(draw)

    def all_of_it(x, *given):
        W, b = lab.fuse_qkv(*given)
        return torch.cat(lab.project_fused(x, W, b, (4, 5, 6)), -1)

    W, b = lab.fuse_qkv(*weights, *biases)
    W.zero_(), b.zero_()
    return {
        "gradients": draw.gradients(all_of_it, draw.normal(2, 3, 7), *weights, *biases),
        "inputs as they were": draw.untouched(),
    }


def stacked_biases(weights, biases, dim=0):
    """The right fused bias, a part that the wrong versions share."""
    if all(b is None for b in biases):
        return None
    pairs = zip(weights, biases, strict=True)
    return torch.cat([w.new_zeros(len(w)) if b is None else b for w, b in pairs])


@exercise.mistake(
    "The order is another one: keys or values stand before queries. Which rows does "
    "`project_fused` take for queries, and what is the order in the task?",
    of="fuse_qkv",
)
def keys_first(W_q, W_k, W_v, b_q=None, b_k=None, b_v=None):
    return fuse_qkv(W_k, W_q, W_v, b_k, b_q, b_v)


@exercise.mistake(
    "The order is another one: keys and values have changed places. What is the order in the task?",
    of="fuse_qkv",
)
def values_before_keys(W_q, W_k, W_v, b_q=None, b_k=None, b_v=None):
    return fuse_qkv(W_q, W_v, W_k, b_q, b_v, b_k)


@exercise.mistake(
    "Weights and biases are stacked in different orders, so queries get the keys' bias. Compare "
    "your two lines.",
    of="fuse_qkv",
)
def biases_in_another_order(W_q, W_k, W_v, b_q=None, b_k=None, b_v=None):
    W, _ = fuse_qkv(W_q, W_k, W_v)
    return W, stacked_biases((W_v, W_k, W_q), (b_v, b_k, b_q))


@exercise.mistake(
    "You put the weights next to each other instead of on top of each other. `nn.Linear` keeps its "
    "weight as (out, in): along which axis do three layers with one input grow?",
    of="fuse_qkv",
)
def stacked_along_the_inputs(W_q, W_k, W_v, b_q=None, b_k=None, b_v=None):
    return torch.cat((W_q, W_k, W_v), dim=1), stacked_biases((W_q, W_k, W_v), (b_q, b_k, b_v))


@exercise.mistake(
    "Your fused weight is the transpose: (in, out). Lab 3 had it that way; `nn.Linear`, and the "
    "task here, have rows for what comes out.",
    of="fuse_qkv",
)
def transposed(W_q, W_k, W_v, b_q=None, b_k=None, b_v=None):
    W, b = fuse_qkv(W_q, W_k, W_v, b_q, b_k, b_v)
    return W.mT, b


@exercise.mistake(
    "The rows take turns: one of the queries, one of the keys, one of the values (or head after "
    "head). Then no single cut gives the queries back. Which rows should stand together?",
    of="fuse_qkv",
)
def rows_take_turns(W_q, W_k, W_v, b_q=None, b_k=None, b_v=None):
    def in_turn(*parts):
        longest = max(map(len, parts))
        rows = [part[i] for i in range(longest) for part in parts if i < len(part)]
        return torch.stack(rows)

    if b_q is None and b_k is None and b_v is None:
        return in_turn(W_q, W_k, W_v), None
    parts = stacked_biases((W_q, W_k, W_v), (b_q, b_k, b_v))
    return in_turn(W_q, W_k, W_v), in_turn(*parts.split([len(W_q), len(W_k), len(W_v)]))


@exercise.mistake(
    "The three weights got a new axis instead of more rows. Which call joins along an axis that is "
    "there already?",
    of="fuse_qkv",
)
def new_axis(W_q, W_k, W_v, b_q=None, b_k=None, b_v=None):
    if b_q is None or b_k is None or b_v is None:
        return torch.stack((W_q, W_k, W_v)), None
    return torch.stack((W_q, W_k, W_v)), torch.stack((b_q, b_k, b_v))


@exercise.mistake(
    "The biases are forgotten: your second result is always None. Three layers add three of them.",
    of="fuse_qkv",
)
def biases_forgotten(W_q, W_k, W_v, b_q=None, b_k=None, b_v=None):
    return torch.cat((W_q, W_k, W_v)), None


@exercise.mistake(
    "Where one bias is missing, you give up all of them. What does adding no bias have the same "
    "effect as adding?",
    of="fuse_qkv",
)
def all_biases_or_none(W_q, W_k, W_v, b_q=None, b_k=None, b_v=None):
    if any(b is None for b in (b_q, b_k, b_v)):
        return torch.cat((W_q, W_k, W_v)), None
    return torch.cat((W_q, W_k, W_v)), torch.cat((b_q, b_k, b_v))


@exercise.mistake(
    "A missing bias is left out of the stack, so the next one moves up to its rows. Which length "
    "must the fused bias have?",
    of="fuse_qkv",
)
def missing_bias_skipped(W_q, W_k, W_v, b_q=None, b_k=None, b_v=None):
    there = [b for b in (b_q, b_k, b_v) if b is not None]
    return torch.cat((W_q, W_k, W_v)), torch.cat(there) if there else None


@exercise.mistake(
    "Your code takes it that there are biases: without any it stops. What is asked for where all "
    "three are None?",
    of="fuse_qkv",
)
def biases_expected(W_q, W_k, W_v, b_q=None, b_k=None, b_v=None):
    return torch.cat((W_q, W_k, W_v)), torch.cat((b_q, b_k, b_v))


@exercise.mistake(
    "Without biases you return zeros. The task asks for None: a layer without a bias should stay "
    "one.",
    of="fuse_qkv",
)
def zeros_for_none(W_q, W_k, W_v, b_q=None, b_k=None, b_v=None):
    W, b = fuse_qkv(W_q, W_k, W_v, b_q, b_k, b_v)
    return W, W.new_zeros(len(W)) if b is None else b


@exercise.mistake(
    "No gradient gets back to the three weights: `.detach()`, `.data`, or an `nn.Parameter` or "
    "`nn.Linear` made of them, starts a new graph. Which line is it?",
    of="fuse_qkv",
)
def new_parameters(W_q, W_k, W_v, b_q=None, b_k=None, b_v=None):
    W, b = fuse_qkv(W_q, W_k, W_v, b_q, b_k, b_v)
    return W.detach(), b if b is None else b.detach()


@exercise.mistake(
    "No gradient gets back to the three biases: `.detach()`, `.data`, or a new tensor that you "
    "copy numbers into, starts a new graph. Which line is it?",
    of="fuse_qkv",
)
def biases_detached(W_q, W_k, W_v, b_q=None, b_k=None, b_v=None):
    W, b = fuse_qkv(W_q, W_k, W_v, b_q, b_k, b_v)
    return W, b if b is None else b.detach()


@exercise.mistake(
    "The fused weight has only the precision of float32, also when float64 came in. Where does "
    "your code fix the dtype?",
    of="fuse_qkv",
)
def fused_in_float32(W_q, W_k, W_v, b_q=None, b_k=None, b_v=None):
    W, b = fuse_qkv(W_q, W_k, W_v, b_q, b_k, b_v)
    return W.float(), b


@exercise.mistake(
    "An axis of length 1 is gone: `squeeze` drops a batch of one, or a single word. What is there "
    "to be squeezed?",
    of="project_fused",
)
def squeezed(x, W, b, sizes):
    return tuple(part.squeeze() for part in project_fused(x, W, b, sizes))


@exercise.mistake(
    "Your zeros for a missing bias have torch's default dtype, and change that of the whole. Where "
    "could they take theirs from?",
    of="fuse_qkv",
)
def zeros_of_another_dtype(W_q, W_k, W_v, b_q=None, b_k=None, b_v=None):
    W = torch.cat((W_q, W_k, W_v))
    biases = (b_q, b_k, b_v)
    if biases == (None, None, None):
        return W, None
    pairs = zip((W_q, W_k, W_v), biases, strict=True)
    zeros = [torch.zeros(len(w), dtype=torch.float64) if b is None else b for w, b in pairs]
    return W, torch.cat(zeros)


@exercise.mistake(
    "You cut along the wrong axis: words instead of features. Which axis of the product has "
    "d_q + d_k + d_v entries?",
    of="project_fused",
)
def cut_along_the_words(x, W, b, sizes):
    return F.linear(x, W, b).tensor_split(3, dim=-2)


@exercise.mistake(
    "You cut into three equal parts (`chunk`). That holds as long as queries, keys and values are "
    "equally wide. What does `sizes` say?",
    of="project_fused",
)
def equal_parts(x, W, b, sizes):
    return F.linear(x, W, b).chunk(3, dim=-1)


@exercise.mistake(
    "You take every third feature. Which rows of the fused weight belong together?",
    of="project_fused",
)
def every_third(x, W, b, sizes):
    fused = F.linear(x, W, b)
    return fused[..., ::3], fused[..., 1::3], fused[..., 2::3]


@exercise.mistake(
    "The three parts come out as keys, queries, values. In which order are they returned?",
    of="project_fused",
)
def returned_in_another_order(x, W, b, sizes):
    q, k, v = project_fused(x, W, b, sizes)
    return k, q, v


@exercise.mistake(
    "The bias is not added. Where does b go in?",
    of="project_fused",
)
def bias_not_added(x, W, b, sizes):
    return project_fused(x, W, None, sizes)


@exercise.mistake(
    "Without a bias your code stops: None cannot be added. When is there nothing to add?",
    of="project_fused",
)
def bias_always_added(x, W, b, sizes):
    return (x @ W.mT + b).split(list(sizes), dim=-1)


@exercise.mistake(
    "That is three products again: the weight is cut and each part is multiplied by itself. Which "
    "can be done first, the product or the cut?",
    of="project_fused",
)
def three_products(x, W, b, sizes):
    weights = W.split(list(sizes))
    biases = [None] * 3 if b is None else b.split(list(sizes))
    return tuple(F.linear(x, w, c) for w, c in zip(weights, biases, strict=True))


@exercise.mistake(
    "W is multiplied untransposed. A weight of `nn.Linear` has a row for each feature that comes "
    "out: which product gives those?",
    of="project_fused",
)
def untransposed(x, W, b, sizes):
    return (x @ W + (0 if b is None else b)).split(list(sizes), dim=-1)


@exercise.mistake(
    "Axis 2 is not always the last one: a single text has two axes, and a batch of batches four. "
    "How do you name the last axis?",
    of="project_fused",
)
def third_axis(x, W, b, sizes):
    return F.linear(x, W, b).split(list(sizes), dim=2)


@exercise.also_right(of="fuse_qkv")
def by_vstack(W_q, W_k, W_v, b_q=None, b_k=None, b_v=None):
    W = torch.vstack([W_q, W_k, W_v])
    if b_q is None and b_k is None and b_v is None:
        return W, None
    b = torch.zeros(W.shape[0], dtype=W.dtype, device=W.device)
    start = 0
    for weight, bias in ((W_q, b_q), (W_k, b_k), (W_v, b_v)):
        end = start + weight.shape[0]
        if bias is not None:
            b[start:end] = bias
        start = end
    return [W, b]


@exercise.also_right(of="fuse_qkv")
def by_concatenate(W_q, W_k, W_v, b_q=None, b_k=None, b_v=None):
    given = [b_q, b_k, b_v]
    W = torch.concatenate((W_q, W_k, W_v), dim=0)
    if given.count(None) == 3:
        return W, None
    for i, weight in enumerate((W_q, W_k, W_v)):
        if given[i] is None:
            given[i] = torch.zeros_like(weight[:, 0])
    return W, torch.hstack(given)


@exercise.also_right(of="project_fused")
def by_slices(x, W, b, sizes):
    out = torch.matmul(x, W.T)
    if b is not None:
        out = out + b
    n_q, n_k, n_v = sizes
    return out[..., :n_q], out[..., n_q : n_q + n_k], out[..., n_q + n_k : n_q + n_k + n_v]


@exercise.also_right(of="project_fused")
def by_einsum(x, W, b, sizes):
    out = torch.einsum("...i,oi->...o", x, W)
    return torch.split(out if b is None else out + b, list(sizes), dim=-1)


@exercise.also_right(of="project_fused")
def by_a_layer(x, W, b, sizes):
    layer = torch.nn.Linear(W.shape[1], W.shape[0], bias=b is not None)
    state = {"weight": W} if b is None else {"weight": W, "bias": b}
    out = torch.func.functional_call(layer, state, (x,))
    return torch.tensor_split(out, (sizes[0], sizes[0] + sizes[1]), dim=-1)
