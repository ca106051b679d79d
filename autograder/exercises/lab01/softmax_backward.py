"""softmax_backward: from the gradient at the probabilities to the gradient at the scores."""

from __future__ import annotations

import torch

from attnlab.checking.observation import dtype_of
from attnlab.checking.peak_memory import LargestTensor
from attnlab.softmax import softmax, softmax_backward
from gradekit.exercise import Exercise

exercise = Exercise(
    softmax_backward,
    uses=[softmax],
    forbids=[
        "torch.Tensor.backward",
        "torch.autograd.grad",
        "torch._softmax_backward_data",
        "aten._softmax_backward_data",
    ],
)


def distribution(draw, *shape):
    """Random probabilities along the last axis, laid out with gaps in memory."""
    weights = draw.normal(*shape).exp()
    return draw.strided(weights / weights.sum(-1, keepdim=True))


@exercise.check(points=1)
def shape_and_dtype(lab, draw):
    """Returns the shape and the dtype of the probabilities."""
    p, grad_p = distribution(draw, 2, 3, 5), draw.normal(2, 3, 5)
    out = lab.softmax_backward(p.float(), grad_p.float())
    low = lab.softmax_backward(p.half(), grad_p.half())
    return {
        "shape": list(lab.softmax_backward(p, grad_p).shape),
        "dtype of float32": dtype_of(out),
        "dtype of float16": dtype_of(low),
    }


@exercise.check(points=2)
def values(lab, draw):
    """Agrees with autograd on one, two and three dimensions."""
    return {
        f"shape {shape}": lab.softmax_backward(distribution(draw, *shape), draw.normal(*shape))
        for shape in ((7,), (3, 5), (2, 3, 5))
    }


@exercise.check(points=1, hidden=True)
def other_shapes(lab, draw):
    """Is right for axes of length 1, for equal axes, and for more and fewer axes."""

    def ask(batch, V):
        return lab.softmax_backward(distribution(draw, *batch, V), draw.normal(*batch, V))

    return draw.each_size(ask, batch=(2, 3), V=5)


@exercise.check(points=1.5)
def memory(lab, draw):
    """Is right for long rows, and creates no tensor of V × V numbers on the way."""
    # No longer: two loops over V may be right, and take a second here.
    p, grad_p = distribution(draw, 2, 120), draw.normal(2, 120)
    with LargestTensor() as largest:
        out = lab.softmax_backward(p, grad_p)
    return {
        "gradient": out,
        "your largest tensor, as a multiple of the input (12 stands for 12 or less)": max(
            12, largest.bytes // (p.nelement() * 8)
        ),
    }


@exercise.check(points=1.5, hidden=True)
def certain_and_impossible(lab, draw):
    """Is right if some probabilities are 0 or 1."""
    p = torch.tensor([[0.0, 1.0, 0.0, 0.0], [0.25, 0.0, 0.75, 0.0], [0.5, 0.125, 0.125, 0.25]])
    return lab.softmax_backward(p.double(), 1e3 * draw.normal(3, 4))


@exercise.check(points=0.5, hidden=True)
def equal_gradients(lab, draw):
    """Returns 0 if all entries of a row have the same gradient."""
    p, level = distribution(draw, 3, 7), draw.normal(3, 1)
    return lab.softmax_backward(p, level.expand(3, 7))


@exercise.check(points=0.5)
def inputs_kept(lab, draw):
    """Leaves both inputs unchanged."""
    out = lab.softmax_backward(distribution(draw, 3, 7), draw.normal(3, 7))
    # A function that returns nothing of use leaves its inputs unchanged, too.
    return {"inputs as they were": draw.untouched(), "shape of the result": list(out.shape)}


exercise.promises(
    {
        "The backward step of softmax along the last axis": "values certain_and_impossible",
        "p: (..., V), what softmax(x) returned. grad_p: (..., V), the gradient of a loss": (
            "other_shapes"
        ),
        "(..., V), the gradient of the same loss with respect to `x`": "shape_and_dtype values",
        "The function never makes a tensor of V × V numbers": "memory",
        "`p` and `grad_p` stay unchanged.": "inputs_kept",
    },
)


@exercise.also_right
def in_two_lines(p, grad_p):
    inner = (p * grad_p).sum(-1, keepdim=True)
    return p * (grad_p - inner)


wrong = exercise.edits(in_two_lines)

wrong(
    "product_only",
    "(grad_p - inner)",
    "grad_p",
    "You only multiply each gradient by its own probability. But raising one score lowers all "
    "other probabilities of its row: which term expresses that?",
)
wrong(
    "first_factor_missing",
    "p * (grad_p - inner)",
    "grad_p - inner",
    "The probability of the entry itself is not a factor of your result. What should the gradient "
    "be at a score whose probability is 0?",
)
wrong(
    "mean_of_products",
    "(p * grad_p).sum(",
    "(p * grad_p).mean(",
    "You divide the sum of the products by their number. The probabilities are weights already: "
    "what do they sum to?",
)
wrong(
    "unweighted_mean",
    "(p * grad_p).sum(",
    "grad_p.mean(",
    "You subtract the plain mean of the row's gradients. In the Jacobian each of them has a "
    "weight: which one?",
)
wrong(
    "unweighted_sum",
    "(p * grad_p).sum(",
    "grad_p.sum(",
    "You subtract the plain sum of the row's gradients. In the Jacobian each of them has a weight: "
    "which one?",
)
for plain in ("sum", "mean"):
    wrong(
        f"own_probability_times_the_{plain}",
        "(p * grad_p).sum(-1, keepdim=True)",
        f"p * grad_p.{plain}(-1, keepdim=True)",
        "You subtract a plain sum or mean of the row's gradients, times the entry's own p[i]. In "
        "the sum over j, which probability belongs to grad_p[j]?",
    )
wrong(
    "divided_by_p",
    "p * (grad_p - inner)",
    "(grad_p - inner) / p",
    "You divide by the probability of the entry. Is it a factor or a divisor in ∂p[j]/∂x[i]?",
)
wrong(
    "sigmoid_and_sum",
    "p * (grad_p - inner)",
    "p * (1 - p) * (grad_p - inner)",
    "You use the diagonal, p(1 - p), and the sum over j as well, which already holds the term "
    "j = i. How often should that term count?",
)
wrong(
    "entry_left_out_of_the_sum",
    "(grad_p - inner)",
    "(grad_p - (inner - p * grad_p))",
    "The sum that you subtract leaves out the entry itself, so your ∂p[i]/∂x[i] is p[i]. What does "
    "the formula give for j = i?",
)
wrong(
    "off_the_diagonal_only",
    "(grad_p - inner)",
    "(p * grad_p - inner)",
    "You add up only the terms with j ≠ i, so an entry's own gradient does not reach its score. "
    "What does the formula give for j = i?",
)
wrong(
    "gradient_missing_in_the_sum",
    "(p * grad_p).sum(",
    "p.sum(",
    "The number that you subtract holds no gradients: it is the sum of a row of probabilities, "
    "always one. In the formula with both indices, what is each ∂p[j]/∂x[i] multiplied by?",
)
wrong(
    "second_factor_missing",
    "p * (grad_p - inner)",
    "p * grad_p - inner",
    "You subtract the same number from every entry of the row. ∂p[j]/∂x[i] for i ≠ j holds two "
    "probabilities: what happened to the second?",
)
wrong.several(
    "computed_in_float32",
    {
        "    inner": "    dtype = p.dtype\n    p, grad_p = p.float(), grad_p.float()\n    inner",
        "p * (grad_p - inner)": "(p * (grad_p - inner)).to(dtype)",
    },
    "Your numbers have only the seven digits of float32, although the result has the right dtype. "
    "Which call changes the dtype on the way?",
)
wrong(
    "sum_over_batch",
    "sum(-1",
    "sum(0",
    "Your sum runs over the first axis, so rows change each other's gradients. Along which axis do "
    "the probabilities sum to one?",
)
wrong(
    "sum_over_everything",
    "sum(-1, keepdim=True)",
    "sum()",
    "You take one sum over the whole tensor, so rows change each other's gradients. Along which "
    "axis do the probabilities sum to one?",
)
SECOND_AXIS = (
    "Your sum runs over axis 1. That is a row if there are two axes. Which axis is the last one of "
    "a p of shape (7,), and of a p of shape (2, 3, 5)?"
)
wrong("sum_over_the_second_axis", "sum(-1", "sum(1", SECOND_AXIS)
wrong("sum_over_the_second_axis_if_there_is_one", "sum(-1", "sum(min(1, p.ndim - 1)", SECOND_AXIS)
wrong(
    "probability_subtracted",
    "grad_p - inner",
    "grad_p - p",
    "From each gradient you subtract the probability of its entry. In the formula, what is summed "
    "over all j, and does your code compute a sum?",
)
wrong(
    "keepdim_missing",
    "sum(-1, keepdim=True)",
    "sum(-1)",
    "The sum over the row lost its axis, so the subtraction broadcasts along another axis. What "
    "are the shapes on the two sides of your minus sign?",
)
wrong(
    "squeezed",
    "p * (grad_p - inner)",
    "(p * (grad_p - inner)).squeeze()",
    "Your result loses the axes of length 1. Which shape should it have for p of shape (1, 7)?",
)
wrong(
    "roles_swapped",
    "p * (grad_p - inner)",
    "grad_p * (p - inner)",
    "You swapped `p` and `grad_p` in your last product. Which of the two is a factor of every "
    "entry of the Jacobian?",
)
wrong.several(
    "indices_transposed",
    {"(p * grad_p)": "(p * p * grad_p)", "p * (grad_p - inner)": "p * grad_p - inner"},
    "The indices of your Jacobian are mixed up: it should be symmetric, ∂p[j]/∂x[i] = "
    "∂p[i]/∂x[j]. Write both for i ≠ j; do you find one factor p[i] and one p[j] in each?",
)
wrong.several(
    "backward_of_log_softmax",
    {"(p * grad_p).sum": "grad_p.sum", "p * (grad_p - inner)": "grad_p - p * inner"},
    "You wrote the backward step of log_softmax. The gradient that you are given belongs to p "
    "itself: which factor does the logarithm add?",
)
wrong(
    "sign_turned",
    "grad_p - inner",
    "inner - grad_p",
    "Your gradient has the wrong sign, already in ∂p[i]/∂x[i]. Does raising a score raise its own "
    "probability?",
)
wrong(
    "term_added",
    "grad_p - inner",
    "grad_p + inner",
    "You add the row's term, but a higher score takes probability from the others. Which sign does "
    "∂p[j]/∂x[i] have for i ≠ j?",
)
wrong(
    "diagonal_only",
    "(grad_p - inner)",
    "(1 - p) * grad_p",
    "You use only the diagonal of the Jacobian, p(1 - p), as if each entry were a sigmoid of its "
    "own. What do the entries off the diagonal do?",
)
wrong(
    "softmax_again",
    "    inner =",
    "    p = torch.softmax(p, -1)\n    inner =",
    "You apply softmax to `p` as if it were scores. What did softmax already return?",
)
wrong(
    "in_place",
    "(grad_p - inner)",
    "grad_p.sub_(inner)",
    "Your code writes into one of the tensors that it was given, and autograd may still need it. "
    "What does the same and makes a new tensor?",
)


JACOBIAN = (
    "You create a tensor of V × V numbers on the way: 20 GB for each token at V = 50,000. If you "
    "write the product of the Jacobian and a vector as a sum and simplify it on paper, what is "
    "left?"
)


@exercise.mistake(JACOBIAN)
def jacobian_row_by_row(p, grad_p):
    rows, grads = p.reshape(-1, p.shape[-1]), grad_p.reshape(-1, p.shape[-1])
    pairs = zip(rows, grads, strict=True)
    done = [(torch.diag(row) - torch.outer(row, row)) @ grad for row, grad in pairs]
    return torch.stack(done).reshape(p.shape)


@exercise.mistake(JACOBIAN)
def full_jacobian(p, grad_p):
    jacobian = torch.diag_embed(p) - p.unsqueeze(-1) * p.unsqueeze(-2)
    return (jacobian @ grad_p.unsqueeze(-1)).squeeze(-1)


@exercise.mistake(
    "Your sum takes in everything behind the first axis. That is a row if there are two axes. What "
    "is p[0] if p has the shape (2, 3, 5)?"
)
def first_axis_one_by_one(p, grad_p):
    inner = torch.zeros(p.shape[0], 1, dtype=p.dtype)
    for i in range(p.shape[0]):
        inner[i] = (p[i] * grad_p[i]).sum()
    return p * (grad_p - inner)


OTHER_AXES = (
    "Your code only works for one number of axes: an einsum names each axis (`nv`), or a line "
    "unpacks a shape or calls `bmm`. Which part of it can stand for any number of axes, for p of "
    "shape (7,) as well as (2, 3, 5)?"
)
for name, inner in (
    ("one_axis_in_einsum", "torch.einsum('v,v->', p, grad_p)"),
    ("two_axes_in_einsum", "torch.einsum('nv,nv->n', p, grad_p)[:, None]"),
    ("three_axes_in_einsum", "torch.einsum('btv,btv->bt', p, grad_p).unsqueeze(-1)"),
    ("batched_product", "torch.bmm(p[:, None], grad_p[:, :, None])[:, 0]"),
):
    wrong(name, "(p * grad_p).sum(-1, keepdim=True)", inner, OTHER_AXES)
for name, axes in (("two", "n, V"), ("three", "n, T, V")):
    wrong(f"shape_of_{name}_axes", "    inner", f"    {axes} = p.shape\n    inner", OTHER_AXES)


@exercise.also_right
def two_terms(p, grad_p):
    product = p * grad_p
    return product - p * torch.sum(product, dim=-1, keepdim=True)


@exercise.also_right
def by_einsum(p, grad_p):
    inner = torch.einsum("...v,...v->...", p, grad_p)
    return torch.einsum("...v,...v->...v", p, grad_p - inner.unsqueeze(-1))


@exercise.also_right
def row_by_row(p, grad_p):
    rows, grads = p.reshape(-1, p.shape[-1]), grad_p.reshape(-1, p.shape[-1])
    done = [row * (grad - row @ grad) for row, grad in zip(rows, grads, strict=True)]
    return torch.stack(done).reshape(p.shape)


@exercise.also_right
def by_matmul(p, grad_p):
    inner = (p.unsqueeze(-2) @ grad_p.unsqueeze(-1)).squeeze(-1)
    return p * grad_p - inner * p


@exercise.mistake(
    "You subtract one argument from the other, as in the gradient of cross-entropy and softmax "
    "together, where the target is a row of 0 and 1. What is `grad_p` here?"
)
def backward_of_cross_entropy(p, grad_p):
    return p - grad_p
