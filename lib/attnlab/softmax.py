"""From scores to probabilities to a loss, without overflow.

Scores (logits) are any real numbers. Softmax turns them into a distribution, and cross-entropy
measures how well the distribution predicts. Everything here stays on the scores' own scale, so
scores in the thousands are safe.
"""

from __future__ import annotations

import torch
from torch import Tensor


def softmax(x: Tensor, dim: int = -1) -> Tensor:
    """Turn scores into probabilities along one axis: exp(x_i) / Σ_j exp(x_j).

    Args:
        x: scores of any shape. A score of -inf gets probability 0. (No slice along `dim` is -inf
            throughout, and no score is +inf or NaN.)
        dim: the axis along which the probabilities sum to 1; may be negative.

    Returns:
        Probabilities, same shape as `x`, that sum to 1 except for rounding (nothing is added to the
        denominator). Scores in the tens of thousands are safe. The dtype is that of `x`; an
        integer `x` gives the same result as the same numbers as floats, in a floating dtype.
        Gradients flow back to `x`, and `x` itself stays unchanged.

    Source: lectures W (softmax recap), N (step 3), C.
    """
    exp = (x - x.amax(dim, keepdim=True)).exp()
    return exp / exp.sum(dim, keepdim=True)


def logsumexp(x: Tensor, dim: int = -1) -> Tensor:
    """Natural logarithm of Σ_j exp(x_j) along one axis, without overflow or underflow.

    Args:
        x: scores of any shape, floating point; -inf is allowed, +inf does not occur.
        dim: the axis to sum over; may be negative.

    Returns:
        The shape of `x` without the axis `dim`, in the dtype of `x`. If all scores of a slice are
        -inf, the result is -inf (the logarithm of an empty sum), not NaN.
    """
    top = x.amax(dim, keepdim=True).clamp(min=torch.finfo(x.dtype).min)
    return (x - top).exp().sum(dim).log() + top.squeeze(dim)


def log_softmax(x: Tensor, dim: int = -1) -> Tensor:
    """Natural logarithm of softmax along one axis, exact even if the probability itself is 0.

    Args:
        x: scores of any shape, floating point; -inf is allowed, +inf does not occur. (No slice
            along `dim` is -inf throughout.)
        dim: the axis whose probabilities sum to 1; may be negative.

    Returns:
        Log-probabilities, shape and dtype of `x`. A score 5000 below the others has a
        log-probability of about -5000, not -inf. Gradients flow back to `x`.
    """
    return x - logsumexp(x, dim).unsqueeze(dim)


def cross_entropy(
    logits: Tensor,
    target: Tensor,
    ignore_index: int | None = None,
    reduction: str = "mean",
) -> Tensor:
    """How surprised the distribution softmax(logits) is by the right answers, in nats.

    Args:
        logits: (N, V), a row of finite scores for each of N tokens.
        target: (N,), int64, the right column of each row: 0 … V-1, or `ignore_index`.
        ignore_index: rows whose target is this number do not count, either in the sum, in the
            number of tokens or in the gradient. It may be outside 0 … V-1 (-100 is common) or
            inside (the id of a padding token). None: every row counts.
        reduction: "none": the loss of each row, (N,), and 0 for an ignored row;
            "sum": their sum; "mean": their sum divided by the number of rows that count, and 0 if
            no row counts.

    Returns:
        The loss -log softmax(logits)[target], in the dtype of `logits`; a tensor without
        dimensions unless `reduction` is "none". Logits in the tens of thousands are safe.

    Source: lectures W (log-loss), G (language model), C (training).
    """
    counts = torch.ones_like(target).bool() if ignore_index is None else target != ignore_index
    column = target * counts  # (N,), 0 if ignored: a column that exists
    losses = -log_softmax(logits).gather(1, column[:, None])[:, 0]  # (N,)
    losses = losses.where(counts, 0.0)
    if reduction == "none":
        return losses
    if reduction == "sum":
        return losses.sum()
    return losses.sum() / counts.sum().clamp(min=1)


def softmax_backward(p: Tensor, grad_p: Tensor) -> Tensor:
    """The backward step of softmax along the last axis: from the gradient at p to that at x.

    Args:
        p: (..., V), what softmax(x) returned.
        grad_p: (..., V), the gradient of a loss with respect to `p`.

    Returns:
        (..., V), the gradient of the same loss with respect to `x`: at every position,
        grad_x[i] = Σ_j grad_p[j] · ∂p[j]/∂x[i]. The function never makes a tensor of V × V
        numbers: a vocabulary of 50,000 words would need 20 GB for each token.
    """
    inner = (grad_p * p).sum(-1, keepdim=True)  # (..., 1)
    return p * (grad_p - inner)


def temperature(logits: Tensor, T: float) -> Tensor:  # noqa: N803 - the field's letter
    """Softmax along the last axis at temperature T: sharp if T is small, flat if T is large.

    Args:
        logits: (..., V), finite scores. No row has its largest score twice.
        T: 0 or more. At 1 the result is plain softmax; towards infinity, all entries get the same
            probability; at 0, the largest score gets probability 1 and the others 0.

    Returns:
        Probabilities, shape and dtype of `logits`.
    """
    if T == 0:
        winner = logits.argmax(-1, keepdim=True)  # (..., 1)
        return torch.zeros_like(logits).scatter(-1, winner, 1.0)
    return softmax(logits / T)


def entropy(p: Tensor) -> Tensor:
    """The entropy -Σ_i p_i log p_i of each distribution along the last axis, in nats.

    Args:
        p: (..., V), probabilities. An entry of 0 contributes 0.

    Returns:
        (...), in the dtype of `p`: 0 if one entry is 1, log V if all V entries are equal. The
        result is exact: no small number is added to avoid log 0.
    """
    return -torch.xlogy(p, p).sum(-1)
