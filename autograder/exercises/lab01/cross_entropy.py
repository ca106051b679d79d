"""cross_entropy: how surprised a distribution is by the right answers."""

from __future__ import annotations

import math

import torch

from attnlab.checking.observation import dtype_of
from attnlab.softmax import cross_entropy, log_softmax, logsumexp, softmax
from gradekit.exercise import Exercise

exercise = Exercise(
    cross_entropy,
    uses=[softmax, logsumexp, log_softmax],
    forbids=[
        "torch.nn.functional.cross_entropy",
        "torch.nn.functional.nll_loss",
        "torch.nn.functional.gaussian_nll_loss",
        "torch.softmax",
        "torch.nn.functional.softmax",
        "torch.Tensor.softmax",
        "torch.special.softmax",
        "torch.log_softmax",
        "torch.nn.functional.log_softmax",
        "torch.Tensor.log_softmax",
        "torch.special.log_softmax",
    ],
)


def all_reductions(lab, logits, target, **options):
    return {
        "mean": lab.cross_entropy(logits, target, **options),
        "sum": lab.cross_entropy(logits, target, reduction="sum", **options),
        "none": lab.cross_entropy(logits, target, reduction="none", **options),
    }


@exercise.check(points=2)
def shapes_and_dtypes(lab, draw):
    """One number for "mean" and "sum", one a row for "none", in the dtype of the logits."""
    logits, target = draw.normal(5, 13), draw.integers(5, 12, 5)
    seen = all_reductions(lab, logits.float(), target, ignore_index=int(target[2]))
    return {
        "shapes": {name: list(torch.as_tensor(loss).shape) for name, loss in seen.items()},
        "dtypes of float32": {name: dtype_of(loss) for name, loss in seen.items()},
    }


@exercise.check(points=3)
def values(lab, draw):
    """Takes the loss of the right column, whichever columns are right, however often."""
    few, many = draw.normal(5, 13), draw.strided(draw.normal(17, 7))
    everything = draw.permutation(7).repeat(3)[:17]
    return {
        "5 rows, 13 columns": all_reductions(lab, few, draw.integers(0, 11, 5)),
        "17 rows, 7 columns": all_reductions(lab, many, everything),
        "always column 0": all_reductions(lab, many, torch.zeros(17, dtype=torch.int64)),
        "always the last column": all_reductions(lab, few, torch.full((5,), 12)),
        "one row": lab.cross_entropy(few[:1], draw.integers(0, 13, 1)),
        "default is the mean": lab.cross_entropy(few, draw.integers(0, 13, 5)),
    }


@exercise.check(points=2)
def uniform_logits(lab, draw):
    """Equal logits for V words cost log V, whatever the right answers are."""
    return {
        f"V = {columns}": lab.cross_entropy(
            torch.full((5, columns), 3.0, dtype=torch.float64), draw.integers(0, columns - 1, 5)
        )
        for columns in (2, int(draw.integers(5, 50)), 1000)
    }


@exercise.check(points=3, hidden=True)
def ignored_tokens(lab, draw):
    """Rows to ignore change nothing: not the sum, not the number of rows, wherever the id lies."""
    logits, target = draw.normal(11, 7), draw.integers(1, 7, 11)
    ignored = torch.tensor([0, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0], dtype=torch.bool)
    logits = torch.where(ignored[:, None], 1e4 * draw.normal(11, 7), logits)
    return {
        f"ignore_index={index}": all_reductions(
            lab, logits, target.masked_fill(ignored, index), ignore_index=index
        )
        for index in (-100, 0, -1, 500)
    } | {
        "an id that does not occur": lab.cross_entropy(logits, target, ignore_index=-100),
        "column 0 counts unless ignored": lab.cross_entropy(logits, target.masked_fill(ignored, 0)),
        "one row counts": lab.cross_entropy(
            logits, torch.full((11,), -100).index_fill(0, torch.tensor([5]), 2), ignore_index=-100
        ),
    }


@exercise.check(points=1, hidden=True)
def everything_ignored(lab, draw):
    """Where no row counts, the loss is 0 and not NaN."""
    logits = draw.normal(5, 13)
    return {
        "padding is -100": all_reductions(lab, logits, torch.full((5,), -100), ignore_index=-100),
        "padding is 3": all_reductions(lab, logits, torch.full((5,), 3), ignore_index=3),
    }


@exercise.check(points=1.5, hidden=True)
def far_off(lab, draw):
    """A right answer that is 20,000 below the best costs 20,000, neither infinity nor a floor."""
    logits = draw.normal(5, 13)
    target = 1 + draw.permutation(11)[:5]
    logits[torch.arange(5), target] -= torch.tensor([30.0, 60.0, 800.0, 2e3, 2e4]).double()
    return {
        "far below": all_reductions(lab, logits, target),
        "far below, all large": lab.cross_entropy(logits + 1e4, target),
        "far above": lab.cross_entropy(-logits, target, reduction="none"),
        "float32": lab.cross_entropy(logits.float(), target, reduction="none"),
    }


@exercise.check(points=1.5, hidden=True)
def gradient_and_input(lab, draw):
    """The gradient is (p - y) / n on the rows that count and 0 on the others; inputs stay."""
    logits, target = draw.normal(7, 5), draw.integers(1, 4, 7)
    some = draw.strided(target.masked_fill(torch.arange(7) % 3 == 0, -100))
    for index in (None, -100):
        lab.cross_entropy(logits, some if index else target, ignore_index=index)
    return {
        "all count": draw.gradients(lambda x: lab.cross_entropy(x, target), logits),
        "some ignored": draw.gradients(
            lambda x: lab.cross_entropy(x, some, ignore_index=-100), logits
        ),
        "sum": draw.gradients(lambda x: lab.cross_entropy(x, target, reduction="sum"), logits),
        "none": draw.gradients(
            lambda x: lab.cross_entropy(x, some, ignore_index=-100, reduction="none"), logits
        ),
        "inputs as they were": draw.untouched(),
    }


def row_losses(logits, target, counts=None):
    """The loss of each row, 0 where it does not count; a part that the wrong versions share."""
    counts = torch.ones_like(target, dtype=torch.bool) if counts is None else counts
    shifted = logits - logits.amax(-1, keepdim=True)
    log_p = shifted - shifted.exp().sum(-1, keepdim=True).log()
    return torch.where(counts, -log_p[torch.arange(len(target)), target * counts], 0.0)


def which_count(target, ignore_index):
    return torch.ones_like(target).bool() if ignore_index is None else target != ignore_index


def reduced(losses, counts, reduction):
    if reduction == "none":
        return losses
    total = losses.sum()
    return total if reduction == "sum" else total / counts.sum().clamp(min=1)


@exercise.mistake(
    "Softmax was applied twice: once to the logits, and again inside the logarithm. What does "
    "log_softmax expect, scores or probabilities?"
)
def double_softmax(logits, target, ignore_index=None, reduction="mean"):
    exp = (logits - logits.amax(-1, keepdim=True)).exp()
    counts = which_count(target, ignore_index)
    return reduced(row_losses(exp / exp.sum(-1, keepdim=True), target, counts), counts, reduction)


@exercise.mistake(
    'Your "mean" is a sum: it grows with the number of rows. By what is it to be divided?'
)
def sum_for_mean(logits, target, ignore_index=None, reduction="mean"):
    counts = which_count(target, ignore_index)
    losses = row_losses(logits, target, counts)
    return losses if reduction == "none" else losses.sum()


@exercise.mistake(
    'The argument `reduction` changes nothing: you return the mean each time. What are "sum" '
    'and "none" to give?'
)
def reduction_ignored(logits, target, ignore_index=None, reduction="mean"):
    counts = which_count(target, ignore_index)
    return reduced(row_losses(logits, target, counts), counts, "mean")


@exercise.mistake(
    "Ignored rows add nothing to your sum, but they still count in the number that you divide by, "
    "so padding makes the loss look better. How many rows count?"
)
def mean_over_padding_too(logits, target, ignore_index=None, reduction="mean"):
    losses = row_losses(logits, target, which_count(target, ignore_index))
    return losses.mean() if reduction == "mean" else reduced(losses, losses, reduction)


@exercise.mistake(
    "You take means of means: rows in a half with more padding weigh more than the others. Add up "
    "first; over which rows do you divide once, at the end?"
)
def mean_of_means(logits, target, ignore_index=None, reduction="mean"):
    counts = which_count(target, ignore_index)
    losses = row_losses(logits, target, counts)
    if reduction != "mean":
        return reduced(losses, counts, reduction)
    halves = zip(losses.tensor_split(2), counts.tensor_split(2), strict=True)
    return torch.stack([reduced(*half, "mean") for half in halves if len(half[0])]).mean()


@exercise.mistake(
    "`ignore_index` changes nothing in your loss. Which rows should it take out of the sum, and "
    "out of the number that you divide by?"
)
def ignore_index_ignored(logits, target, ignore_index=None, reduction="mean"):
    losses = row_losses(logits, target % logits.shape[-1])
    return reduced(losses, torch.ones(len(target)), reduction)


@exercise.mistake(
    "Your loss stops growing at about 20.7 (that is -log 1e-9): a clamp or a small number inside "
    "the logarithm hides how wrong a sure mistake is. Which function takes logits and needs "
    "neither?"
)
def clamped_probability(logits, target, ignore_index=None, reduction="mean"):
    counts = which_count(target, ignore_index)
    exp = (logits - logits.amax(-1, keepdim=True)).exp()
    p = exp / exp.sum(-1, keepdim=True)
    losses = -p[torch.arange(len(target)), target * counts].clamp(min=1e-9).log()
    return reduced(torch.where(counts, losses, 0.0), counts, reduction)


@exercise.mistake(
    "The logarithm of a probability that has become 0 is -inf, and the loss infinite. Which "
    "function goes from logits to log-probabilities without passing through the probabilities?"
)
def log_of_softmax(logits, target, ignore_index=None, reduction="mean"):
    counts = which_count(target, ignore_index)
    exp = (logits - logits.amax(-1, keepdim=True)).exp()
    p = exp / exp.sum(-1, keepdim=True)
    losses = -p[torch.arange(len(target)), target * counts].log()
    return reduced(torch.where(counts, losses, 0.0), counts, reduction)


@exercise.mistake(
    "Your loss is in bits (log base 2), too large by a factor of 1.44. What do equal logits for V "
    "words cost in your unit, and what should they?"
)
def in_bits(logits, target, ignore_index=None, reduction="mean"):
    counts = which_count(target, ignore_index)
    return reduced(row_losses(logits, target, counts) / math.log(2), counts, reduction)


@exercise.mistake(
    "The targets were used to pick rows, not columns: with 17 rows and 7 columns that goes "
    "unnoticed. Which axis of the log-probabilities do the target's numbers count along?"
)
def gather_along_rows(logits, target, ignore_index=None, reduction="mean"):
    counts = which_count(target, ignore_index)
    shifted = logits - logits.amax(-1, keepdim=True)
    log_p = shifted - shifted.exp().sum(-1, keepdim=True).log()
    losses = -log_p.gather(0, (target * counts)[:, None])[:, 0]
    return reduced(torch.where(counts, losses, 0.0), counts, reduction)


@exercise.mistake(
    "The probabilities were normalised down the batch, not along the words: rows now depend on "
    "each other. Which axis has one entry for each word of the vocabulary?"
)
def normalised_over_rows(logits, target, ignore_index=None, reduction="mean"):
    counts = which_count(target, ignore_index)
    shifted = logits - logits.amax(0, keepdim=True)
    log_p = shifted - shifted.exp().sum(0, keepdim=True).log()
    losses = -log_p[torch.arange(len(target)), target * counts]
    return reduced(torch.where(counts, losses, 0.0), counts, reduction)


@exercise.mistake(
    "You look the target up before you take the ignored rows out. -100 is no column: it raises an "
    "error for small V and quietly counts from the end for large V. What could stand in its place "
    "while you look up?"
)
def looked_up_before_masking(logits, target, ignore_index=None, reduction="mean"):
    counts = which_count(target, ignore_index)
    losses = row_losses(logits, target)
    return reduced(torch.where(counts, losses, 0.0), counts, reduction)


@exercise.mistake(
    "Your one-hot rows are as long as the largest target needs, not as long as a row of logits. "
    "Where else can you read the number of columns V?"
)
def one_hot_of_seen_targets(logits, target, ignore_index=None, reduction="mean"):
    counts = which_count(target, ignore_index)
    one_hot = torch.nn.functional.one_hot(target * counts)
    shifted = logits - logits.amax(-1, keepdim=True)
    log_p = shifted - shifted.exp().sum(-1, keepdim=True).log()
    return reduced(-(one_hot * log_p).sum(-1) * counts, counts, reduction)


@exercise.mistake(
    "Your loss has the wrong sign: a logarithm of a probability is never above 0, a surprise "
    "never below."
)
def sign_turned(logits, target, ignore_index=None, reduction="mean"):
    counts = which_count(target, ignore_index)
    return reduced(-row_losses(logits, target, counts), counts, reduction)


@exercise.mistake(
    "Where every row is ignored, you divide 0 by 0. What should a batch of padding cost, and how "
    "can the number you divide by be kept from 0?"
)
def nan_when_all_ignored(logits, target, ignore_index=None, reduction="mean"):
    counts = which_count(target, ignore_index)
    losses = row_losses(logits, target, counts)
    if reduction == "mean":
        return losses.sum() / counts.sum()
    return reduced(losses, counts, reduction)


@exercise.mistake(
    '"none" leaves the ignored rows out: the result is shorter than the target. Each row should '
    "keep its place; what stands where it is ignored?"
)
def none_drops_ignored_rows(logits, target, ignore_index=None, reduction="mean"):
    counts = which_count(target, ignore_index)
    losses = row_losses(logits, target, counts)
    return losses[counts] if reduction == "none" else reduced(losses, counts, reduction)


@exercise.mistake(
    "Rows whose target is 0 are left out although `ignore_index` is None. How does your code "
    'tell "no id is ignored" from "id 0 is ignored"?'
)
def zero_always_ignored(logits, target, ignore_index=None, reduction="mean"):
    counts = which_count(target, ignore_index or 0)
    return reduced(row_losses(logits, target, counts), counts, reduction)


@exercise.mistake(
    "`ignore_index=0` is taken for no `ignore_index` at all: in a condition, 0 and None look "
    "alike. Which comparison tells them apart?"
)
def zero_never_ignored(logits, target, ignore_index=None, reduction="mean"):
    counts = which_count(target, ignore_index if ignore_index else None)
    return reduced(row_losses(logits, target, counts), counts, reduction)


@exercise.mistake(
    "No gradient gets back to the logits: `.item()`, `.detach()`, `torch.tensor(…)` of Python "
    "numbers or numpy cuts torch's graph. Which line is it?"
)
def detached(logits, target, ignore_index=None, reduction="mean"):
    counts = which_count(target, ignore_index)
    return reduced(row_losses(logits.detach(), target, counts), counts, reduction)


@exercise.mistake(
    "Your code writes into the targets that it was given: after the first call no row is ignored "
    "any more. What makes a changed copy?"
)
def targets_changed(logits, target, ignore_index=None, reduction="mean"):
    counts = which_count(target, ignore_index)
    target[~counts] = 0
    return reduced(row_losses(logits, target, counts), counts, reduction)


@exercise.also_right
def by_one_hot(logits, target, ignore_index=None, reduction="mean"):
    V = logits.size(-1)
    keep = torch.ones(len(target), dtype=logits.dtype)
    if ignore_index is not None:
        keep = (target != ignore_index).to(logits.dtype)
    one_hot = (target[:, None] == torch.arange(V)).to(logits.dtype)
    m = logits.max(dim=-1, keepdim=True).values
    log_p = logits - m - torch.log(torch.exp(logits - m).sum(-1, keepdim=True))
    losses = -torch.einsum("nv,nv->n", one_hot, log_p) * keep
    if reduction == "none":
        return losses
    if reduction == "sum":
        return losses.sum()
    return losses.sum() / max(keep.sum(), 1)


@exercise.also_right
def row_by_row(logits, target, ignore_index=None, reduction="mean"):
    losses, n = [], 0
    for row, column in zip(logits, target.tolist(), strict=True):
        if column == ignore_index:
            losses.append(row.sum() * 0)
            continue
        n += 1
        losses.append(torch.logsumexp(row, 0) - row[column])
    if reduction == "none":
        return torch.stack(losses)
    total = sum(losses)
    if reduction == "sum":
        return total
    return total / n if n else torch.zeros((), dtype=logits.dtype)


@exercise.also_right
def rows_chosen_first(logits, target, ignore_index=None, reduction="mean"):
    rows = torch.arange(len(target))
    if ignore_index is not None:
        rows = rows[target != ignore_index]
    chosen = logits[rows]
    shifted = chosen - chosen.amax(-1, keepdim=True)
    log_p = shifted - shifted.exp().sum(-1, keepdim=True).log()
    losses = -log_p.gather(1, target[rows].unsqueeze(1)).squeeze(1)
    if reduction == "none":
        return torch.zeros(len(target), dtype=logits.dtype).index_put((rows,), losses)
    if reduction == "sum":
        return losses.sum()
    return losses.mean() if len(rows) else logits.sum() * 0
