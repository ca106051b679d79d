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
        x: scores with any number of axes, at least one, and none of them empty. A score of -inf
            gets probability 0. (No slice along `dim` is -inf throughout, and no score is +inf or
            NaN. In float16, a slice has fewer than 65,504 entries, because that is the largest sum
            that it can hold.)
        dim: the axis along which the probabilities sum to 1; may be negative.

    Returns:
        Probabilities, same shape as `x`, that sum to 1 except for rounding (nothing is added to the
        denominator). Scores in the tens of thousands are safe. The dtype is that of `x`; an
        integer `x` (of 8 bits, too) gives the same result as the same numbers as floats, in a
        floating dtype. Gradients flow back to `x`, and `x` itself stays unchanged.

    Source: lectures W (softmax recap), N (step 3), C.
    """
    if not x.is_floating_point():
        x = x.to(torch.get_default_dtype())  # before the difference: small integers wrap around
    if x.numel() == 0:
        return x.clone()  # no maximum; attention over no keys needs this
    # The result does not depend on the number subtracted, so no gradient has to flow through it.
    exp = (x - x.amax(dim, keepdim=True).detach()).exp()
    return exp / exp.sum(dim, keepdim=True)


def logsumexp(x: Tensor, dim: int = -1) -> Tensor:
    """Natural logarithm of Σ_j exp(x_j) along one axis, without overflow or underflow.

    Args:
        x: scores with any number of axes, at least one, and none of them empty; floating point;
            -inf is allowed, +inf does not occur.
        dim: the axis to sum over; may be negative.

    Returns:
        The shape of `x` without the axis `dim`, in the dtype of `x`. If all scores of a slice are
        -inf, the result is -inf (the logarithm of an empty sum), not NaN. Scores in the tens of
        thousands are safe. Gradients flow back to `x`, and `x` itself stays unchanged.
    """
    top = x.amax(dim, keepdim=True).detach().clamp(min=torch.finfo(x.dtype).min)
    return (x - top).exp().sum(dim).log() + top.squeeze(dim)


def log_softmax(x: Tensor, dim: int = -1) -> Tensor:
    """Natural logarithm of softmax along one axis, exact even if the probability itself is 0.

    Args:
        x: scores with any number of axes, at least one, and none of them empty; floating point;
            -inf is allowed, +inf does not occur. (No slice along `dim` is -inf throughout.)
        dim: the axis whose probabilities sum to 1; may be negative.

    Returns:
        Log-probabilities, shape and dtype of `x`. A score 5000 below the others has a
        log-probability of about -5000, not -inf. A large number added to every score costs no
        digits: float32 scores around 20,000 are as exact as their differences around 0. Gradients
        flow back to `x`, and `x` itself stays unchanged.
    """
    # Not x - logsumexp(x): the difference of two numbers around 20,000 has lost its last digits.
    shifted = x - x.amax(dim, keepdim=True).detach()
    return shifted - shifted.exp().sum(dim, keepdim=True).log()


def cross_entropy(
    logits: Tensor,
    target: Tensor,
    ignore_index: int | None = None,
    reduction: str = "mean",
) -> Tensor:
    """How surprised the distribution softmax(logits) is by the right answers, in nats.

    It is torch's `cross_entropy` with two differences: there, rows with target -100 are ignored by
    default, and the mean over no rows is NaN.

    Args:
        logits: (N, V), a row of finite scores for each of N tokens; at least one token.
        target: (N,), int64, the right column of each row: 0 … V-1, or `ignore_index`.
        ignore_index: rows whose target is this number do not count, either in the sum, in the
            number of tokens or in the gradient. It may be outside 0 … V-1 (-100 is common) or
            inside (the id of a padding token). None: every row counts.
        reduction: "none": the loss of each row, (N,), and 0 for an ignored row;
            "sum": their sum; "mean": their sum divided by the number of rows that count, and 0 if
            no row counts.

    Returns:
        The loss -log softmax(logits)[target], in the dtype of `logits`; a tensor without
        dimensions unless `reduction` is "none". Logits in the tens of thousands are safe, and cost
        no digits. Gradients flow back to `logits`, and are 0 if no row counts; `logits` and
        `target` stay unchanged.

    Source: lectures W (log-loss), G (language model), C (training).
    """
    if reduction not in ("none", "sum", "mean"):
        raise ValueError(f'reduction is "none", "sum" or "mean", not {reduction!r}')
    if target.shape != logits.shape[:1]:  # gather would read fewer rows, or others
        raise ValueError(f"not (N, V) and (N,): {[*logits.shape]} and {[*target.shape]}")
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
        numbers: a vocabulary of 50,000 words would need 20 GB for each token. `p` and `grad_p`
        stay unchanged.
    """
    inner = (grad_p * p).sum(-1, keepdim=True)  # (..., 1)
    return p * (grad_p - inner)


def temperature(logits: Tensor, T: float) -> Tensor:  # noqa: N803 - the field's letter
    """Softmax along the last axis at temperature T: sharp if T is small, flat if T is large.

    Args:
        logits: (..., V), finite scores, floating point. No row has its largest score twice.
        T: 0 or more. At 1 the result is plain softmax; towards infinity, all entries get the same
            probability; at 0, the largest score gets probability 1 and the others 0. Every T above
            0 that the dtype can hold is safe, even if it cannot hold a score divided by T.

    Returns:
        Probabilities, shape and dtype of `logits`. Gradients flow back to `logits` if T is above
        0; `logits` stays unchanged.
    """
    if T == 0:
        winner = logits.argmax(-1, keepdim=True)  # (..., 1)
        return torch.zeros_like(logits).scatter(-1, winner, 1.0)
    below = logits - logits.amax(-1, keepdim=True).detach()  # 0 or less
    return softmax(below / T)  # no infinity: at worst, a loser is at -inf


def entropy(p: Tensor) -> Tensor:
    """The entropy -Σ_i p_i log p_i of each distribution along the last axis, in nats.

    Args:
        p: (..., V), probabilities. An entry of 0 contributes 0.

    Returns:
        (...), in the dtype of `p`: exactly 0 if one entry is 1, log V if all V entries are equal.
        The result is exact: no small number is added to avoid log 0. Gradients flow back to the
        entries above 0; `p` stays unchanged.
    """
    # The logarithm never sees a 0, so a masked softmax, which has zeros, gets finite gradients.
    safe = p.where(p > 0, 1.0)
    return 0.0 - (p * safe.log()).sum(-1)  # not -(...): the entropy of a sure thing is 0, not -0
