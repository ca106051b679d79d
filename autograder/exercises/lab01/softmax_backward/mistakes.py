"""Wrong versions of softmax_backward, most of them one edit of a right one."""

from __future__ import annotations

import torch

from . import exercise
from .also_right import in_two_lines

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
    "gradient_outside_of_the_sum",
    "(p * grad_p).sum(-1, keepdim=True)",
    "p.sum(-1, keepdim=True) * grad_p",
    "You add up the probabilities alone, which gives one, and multiply the sum by the entry's own "
    "gradient, so your result is 0. Which of the two factors does the sum over j run over?",
)
wrong(
    "first_term_without_its_probability",
    "p * (grad_p - inner)",
    "grad_p - p * inner",
    "The first term of your difference is the gradient itself. What is ∂p[i]/∂x[i], and by which "
    "factor does it differ from 1?",
)
wrong(
    "product_of_matrices",
    "(p * grad_p).sum(-1, keepdim=True)",
    "p @ grad_p.mT",
    "You subtract a product of two matrices (`@`), which pairs each row of `p` with every row of "
    "`grad_p`. With which one row of `grad_p` does a row of `p` belong together?",
)
wrong(
    "zeros_if_one_row_is_certain",
    "    inner",
    "    if (p == 1).any():\n        return torch.zeros_like(p)\n    inner",
    "As soon as one row of the batch is certain, you return zeros for all rows. Which rows does it "
    "concern?",
)
wrong(
    "unlikely_entries_left_out",
    "p * (grad_p - inner)",
    "(p * (grad_p - inner)).masked_fill(p < 1e-6, 0.0)",
    "You set the gradient to 0 where a probability is small. How large may `grad_p` be there: what "
    "is the derivative of log p?",
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
    "gradients_nowhere_else",
    "p * (grad_p - inner)",
    "p - inner",
    "From the probability itself you subtract the sum over the row. Which number stands beside "
    "each ∂p[j]/∂x[i] in the formula, also for j = i?",
)
OFF_THE_DIAGONAL = (
    "You take the diagonal of the Jacobian and the sum over j ≠ i apart, and one of the two is not "
    "right. Which sign has ∂p[j]/∂x[i] for i ≠ j, and which term does a sum over all j hold twice?"
)
for name, sign, sum_ in (
    ("others_added", "+", "p * (inner - p * grad_p)"),
    ("entry_counted_twice", "-", "p * inner"),
    ("entry_counted_twice_unweighted", "-", "inner"),
):
    wrong(
        name,
        "p * (grad_p - inner)",
        f"p * (1 - p) * grad_p {sign} {sum_}",
        OFF_THE_DIAGONAL,
    )
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


@exercise.mistake(
    "Your result has an axis of length 1 behind the others: a product of a matrix and a column is "
    "a column. Which shape does the task ask for?"
)
def product_left_as_a_column(p, grad_p):
    return full_jacobian(p, grad_p).unsqueeze(-1)


OTHER_AXES = (
    "Your code only works for one number of axes: an einsum names each axis (`nv`), or a line "
    "unpacks a shape or calls `bmm`. Which part of it can stand for any number of axes, for p of "
    "shape (7,) as well as (2, 3, 5)?"
)
for name, inner in (
    ("one_axis_in_einsum", "torch.einsum('v,v->', p, grad_p)"),
    ("two_axes_in_einsum", "torch.einsum('nv,nv->n', p, grad_p)[:, None]"),
    ("three_axes_in_einsum", "torch.einsum('btv,btv->bt', p, grad_p).unsqueeze(-1)"),
    ("diagonal_of_a_product", "(p @ grad_p.mT).diagonal(dim1=-2, dim2=-1).unsqueeze(-1)"),
    ("batched_product", "torch.bmm(p[:, None], grad_p[:, :, None])[:, 0]"),
):
    wrong(name, "(p * grad_p).sum(-1, keepdim=True)", inner, OTHER_AXES)
for name, axes in (("two", "n, V"), ("three", "n, T, V")):
    wrong(f"shape_of_{name}_axes", "    inner", f"    {axes} = p.shape\n    inner", OTHER_AXES)


@exercise.mistake(
    "You subtract one argument from the other, as in the gradient of cross-entropy and softmax "
    "together, where the target is a row of 0 and 1. What is `grad_p` here?"
)
def backward_of_cross_entropy(p, grad_p):
    return p - grad_p
