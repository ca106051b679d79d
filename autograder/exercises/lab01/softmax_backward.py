"""softmax_backward: from the gradient at the probabilities to that at the scores."""

from __future__ import annotations

import torch

from attnlab.checking.peak_memory import LargestTensor
from attnlab.softmax import softmax, softmax_backward
from gradekit.exercise import Exercise

exercise = Exercise(softmax_backward, uses=[softmax], forbids=["torch.Tensor.backward"])


def distribution(draw, *shape):
    """Random probabilities along the last axis, laid out with gaps in memory."""
    weights = draw.normal(*shape).exp()
    return draw.strided(weights / weights.sum(-1, keepdim=True))


@exercise.check(points=1)
def shape_and_dtype(lab, draw):
    """Gives back the shape and the dtype of the probabilities."""
    p, grad_p = distribution(draw, 2, 3, 5), draw.normal(2, 3, 5)
    out = lab.softmax_backward(p.float(), grad_p.float())
    return {
        "shape": list(lab.softmax_backward(p, grad_p).shape),
        "dtype of float32": str(out.dtype).removeprefix("torch."),
    }


@exercise.check(points=3)
def values(lab, draw):
    """Agrees with autograd on one, two and three dimensions."""
    return {
        f"shape {shape}": lab.softmax_backward(distribution(draw, *shape), draw.normal(*shape))
        for shape in ((7,), (3, 5), (2, 3, 5))
    }


@exercise.check(points=2, hidden=True)
def memory(lab, draw):
    """Makes no tensor of V × V numbers on the way."""
    p, grad_p = distribution(draw, 2, 600), draw.normal(2, 600)
    with LargestTensor() as largest:
        out = lab.softmax_backward(p, grad_p)
    return {
        "gradient": out,
        "no tensor is much larger than the input": largest.bytes <= 24 * p.nelement() * 8,
    }


@exercise.check(points=1, hidden=True)
def certain_and_impossible(lab, draw):
    """Is right where some probabilities are 0 or 1."""
    p = torch.tensor([[0.0, 1.0, 0.0, 0.0], [0.25, 0.0, 0.75, 0.0], [0.5, 0.125, 0.125, 0.25]])
    return lab.softmax_backward(p.double(), 1e3 * draw.normal(3, 4))


@exercise.check(points=1, hidden=True)
def equal_gradients_and_inputs(lab, draw):
    """Gives 0 where all entries of a row have the same gradient; inputs stay as they were."""
    p, level, grad_p = distribution(draw, 3, 7), draw.normal(3, 1), draw.normal(3, 7)
    lab.softmax_backward(p, grad_p)
    return {
        "equal gradients": lab.softmax_backward(p, level.expand(3, 7)),
        "inputs as they were": draw.untouched(),
    }


@exercise.mistake(
    "You multiply each gradient by its own probability and stop there. But raising one score "
    "lowers all the other probabilities of its row: which term says so?"
)
def product_only(p, grad_p):
    return p * grad_p


@exercise.mistake(
    "You subtract the plain mean of the row's gradients. In the Jacobian each of them comes with "
    "a weight: with which?"
)
def unweighted_mean(p, grad_p):
    return p * (grad_p - grad_p.mean(-1, keepdim=True))


@exercise.mistake(
    "You subtract the plain sum of the row's gradients. In the Jacobian each of them comes with a "
    "weight: with which?"
)
def unweighted_sum(p, grad_p):
    return p * (grad_p - grad_p.sum(-1, keepdim=True))


@exercise.mistake(
    "The row's term is subtracted with the same size from every entry. Look at ∂p[j]/∂x[i] for i "
    "≠ j again: there are two probabilities in it. What became of the second?"
)
def second_factor_missing(p, grad_p):
    return p * grad_p - (p * grad_p).sum(-1, keepdim=True)


@exercise.mistake(
    "The sum runs over the first axis, so that rows change each other's gradients. Along which "
    "axis do the probabilities sum to one?"
)
def sum_over_batch(p, grad_p):
    return p * (grad_p - (p * grad_p).sum(0, keepdim=True))


@exercise.mistake(
    "One sum was taken over the whole tensor, so that rows change each other's gradients. Along "
    "which axis do the probabilities sum to one?"
)
def sum_over_everything(p, grad_p):
    return p * (grad_p - (p * grad_p).sum())


@exercise.mistake(
    "The numbers are right, but a tensor of V × V numbers is made on the way: 20 GB for each "
    "token at V = 50,000. Write the product of the Jacobian and a vector as a sum, and simplify "
    "it on paper: what is left?"
)
def full_jacobian(p, grad_p):
    jacobian = torch.diag_embed(p) - p.unsqueeze(-1) * p.unsqueeze(-2)
    return (jacobian @ grad_p.unsqueeze(-1)).squeeze(-1)


@exercise.mistake(
    "The sum over the row lost its axis, so subtracting it lines it up with another axis. What "
    "are the shapes on the two sides of your minus sign?"
)
def keepdim_missing(p, grad_p):
    return p * (grad_p - (p * grad_p).sum(-1))


@exercise.mistake(
    "The roles of `p` and `grad_p` are swapped in your last product: which of the two does every "
    "entry of the Jacobian start with?"
)
def roles_swapped(p, grad_p):
    return grad_p * (p - (p * grad_p).sum(-1, keepdim=True))


@exercise.mistake(
    "The indices of your Jacobian are mixed up: it should be symmetric, ∂p[j]/∂x[i] = "
    "∂p[i]/∂x[j]. Write both for i ≠ j; do you find one factor p[i] and one p[j] in each?"
)
def indices_transposed(p, grad_p):
    return p * grad_p - (p * p * grad_p).sum(-1, keepdim=True)


@exercise.mistake(
    "This is the backward step of log_softmax. The gradient that you are given belongs to p "
    "itself: which factor does the logarithm bring in?"
)
def backward_of_log_softmax(p, grad_p):
    return grad_p - p * grad_p.sum(-1, keepdim=True)


@exercise.mistake(
    "Your gradient points the other way: check the sign of ∂p[i]/∂x[i]. Does raising a score "
    "raise its own probability?"
)
def sign_turned(p, grad_p):
    return p * ((p * grad_p).sum(-1, keepdim=True) - grad_p)


@exercise.mistake(
    "The row's term is added; a higher score takes probability away from the others. Which sign "
    "does that give for i ≠ j?"
)
def term_added(p, grad_p):
    return p * (grad_p + (p * grad_p).sum(-1, keepdim=True))


@exercise.mistake(
    "Only the diagonal of the Jacobian is there, p(1 - p), as if each entry were a sigmoid of its "
    "own. What do the entries off the diagonal do?"
)
def diagonal_only(p, grad_p):
    return p * (1 - p) * grad_p


@exercise.mistake(
    "You take `p` for scores and apply softmax to it again. `p` is what softmax has returned "
    "already."
)
def softmax_again(p, grad_p):
    p = torch.softmax(p, -1)
    return p * (grad_p - (p * grad_p).sum(-1, keepdim=True))


@exercise.mistake(
    "Your code writes into one of the tensors that it was given, and autograd may still need "
    "them. What does the same and makes a new tensor?"
)
def in_place(p, grad_p):
    grad_p -= (p * grad_p).sum(-1, keepdim=True)
    return p * grad_p


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
