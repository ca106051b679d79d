"""Wrong versions of logsumexp and log_softmax that are another idea and not a slip."""

from __future__ import annotations

import torch

from attnlab.softmax import logsumexp

from . import exercise


@exercise.mistake(
    "A maximum, a sum or the result of logsumexp has one axis less than the scores, so a "
    "subtraction broadcasts along the wrong axis. Where must an axis of length 1 be added again?",
    of="log_softmax",
)
def axis_lost(x, dim=-1):
    return x - logsumexp(x, dim)


@exercise.mistake(
    "You add one score after another (`logaddexp`). The numbers are right, but a slice that begins "
    "with two scores of -inf gets NaN as its gradient. Could all scores of a slice be added at "
    "once, below their maximum?",
    of="logsumexp",
)
def one_score_at_a_time(x, dim=-1):
    total, *rest = x.unbind(dim)
    for score in rest:
        total = torch.logaddexp(total, score)
    return total


@exercise.mistake(
    "You subtract one number, the largest score of the whole tensor, before you subtract each "
    "slice's own logsumexp. In a slice far below it, numbers stay large, and float32 rounds them. "
    "Which maximum makes the numbers of each slice small?",
    of="log_softmax",
)
def one_maximum_and_a_safe_logsumexp(x, dim=-1):
    below = x - x.max()
    return below - logsumexp(below, dim).unsqueeze(dim)


@exercise.mistake(
    "From a slice you subtract its mean. If one score is -inf, the mean is -inf, too, and the "
    "slice becomes NaN. Which number of a slice is not -inf, whatever else is in it?",
    of="log_softmax",
)
def centred_by_the_mean(x, dim=-1):
    centred = x - x.mean(dim, keepdim=True)
    return centred - logsumexp(centred, dim).unsqueeze(dim)


CUT_OFF = (
    "You cut off low scores (`clamp`) after the shift, so log-probabilities below your limit are "
    "wrong. Once the largest score is subtracted, can any exponential still overflow?"
)


def cut_off_at(lowest):
    def log_softmax(x, dim=-1):
        below = (x - x.amax(dim, keepdim=True)).clamp(min=lowest)
        return below - below.exp().sum(dim, keepdim=True).log()

    log_softmax.__name__ = f"scores_cut_off_at_{-lowest}"
    return log_softmax


for lowest in (-50, -100, -700, -1000):
    exercise.mistake(CUT_OFF, of="log_softmax")(cut_off_at(lowest))


@exercise.mistake(
    "You subtract the maximum only if it is large. In float16 numbers end at 65,504: which scores "
    "have an exponential above that? What would be lost if every slice were shifted?",
    of="logsumexp",
)
def shifted_only_above_80(x, dim=-1):
    top = x.detach().amax(dim, keepdim=True)
    top = top.masked_fill(top.isinf() | (top.abs() < 80), 0)
    return (x - top).exp().sum(dim).log() + top.squeeze(dim)


@exercise.mistake(
    "You count the largest score of a slice once, even if two scores are equally large. How many "
    "exponentials does the sum have then?",
    of="logsumexp",
)
def equal_scores_counted_once(x, dim=-1):
    top, at = x.max(dim, keepdim=True)
    top = top.detach().clamp(min=torch.finfo(x.dtype).min)
    others = (x - top).exp().masked_fill(x == top, 0).sum(dim)
    largest = (x.gather(dim, at) - top).exp().squeeze(dim)
    return (largest + others).log() + top.squeeze(dim)


@exercise.mistake(
    "You take powers of 2 and logarithms of base 2 (`exp2`, `log2`) and leave the result as it is. "
    "Which base have the exponentials and the logarithm of the task?",
    of="logsumexp",
)
def powers_of_two(x, dim=-1):
    top = x.detach().amax(dim, keepdim=True).clamp(min=torch.finfo(x.dtype).min)
    return (x - top).exp2().sum(dim).log2() + top.squeeze(dim)
