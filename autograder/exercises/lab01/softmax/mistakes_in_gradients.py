"""Wrong versions of softmax whose numbers are right, and whose gradient is missing or wrong."""

from __future__ import annotations

import torch

from . import exercise
from .also_right import in_three_lines

wrong = exercise.edits(in_three_lines)

wrong(
    "detached",
    "    exp =",
    "    scores = scores.detach()\n    exp =",
    "No gradient reaches the scores: a `.detach()`, `.data`, `no_grad`, `torch.tensor(…)` or a "
    "conversion to numpy or Python numbers cuts torch's graph. Which line is it?",
)
DENOMINATOR_CUT = (
    "Some of the gradient is missing: the denominator depends on the scores, too. What cuts that "
    "side of your division from torch's graph?"
)
wrong(
    "detached_denominator",
    "exp.sum(dim, keepdim=True)",
    "exp.sum(dim, keepdim=True).detach()",
    DENOMINATOR_CUT,
)
wrong(
    "detached_numerator",
    "exp / exp",
    "exp.detach() / exp",
    "Some of the gradient is missing: the numerator depends on the scores, too. What cuts that "
    "side of your division from torch's graph?",
)
wrong.several(
    "maximum_and_denominator_detached",
    {
        "scores.amax(dim, keepdim=True)": "scores.amax(dim, keepdim=True).detach()",
        "exp.sum(dim, keepdim=True)": "exp.sum(dim, keepdim=True).detach()",
    },
    DENOMINATOR_CUT,
)


@exercise.mistake(
    "The probabilities are right and their gradient is not: you wrote its formula yourself, and a "
    "factor is missing. Which of these probabilities does the gradient of one score depend on?"
)
def backward_by_hand_without_the_probability(x, dim=-1):
    class Shares(torch.autograd.Function):
        @staticmethod
        def forward(ctx, scores):
            exp = (scores - scores.amax(dim, keepdim=True)).exp()
            shares = exp / exp.sum(dim, keepdim=True)
            ctx.save_for_backward(shares)
            return shares

        @staticmethod
        def backward(ctx, grad):
            (shares,) = ctx.saved_tensors
            return grad - (grad * shares).sum(dim, keepdim=True)

    return Shares.apply(x if x.is_floating_point() else x.float())


wrong(
    "one_score_returns_new_ones",
    "    scores =",
    "    if x.shape[dim] == 1:\n        return torch.ones_like(x)\n    scores =",
    "If there is one score alone, you return new ones: whole numbers for whole numbers, and no "
    "gradient flows back. Does this case need a line of its own?",
)
