"""cross_entropy: how surprised a distribution is by the right answers."""

from __future__ import annotations

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
    equivalent={
        "cross_entropy: `if reduction not in ('none', 'sum', 'mean'):` → `if False:`": (
            "the task has no fourth word"
        ),
        "cross_entropy: `if target.shape != logits.shape[:1]:` → `if False:`": (
            "the task has no other shapes"
        ),
    },
)


def all_reductions(lab, logits, target, **options):
    # A copy for each call: code that writes into its targets fails the checks that look at them.
    return {
        name: lab.cross_entropy(logits, target.clone(), reduction=name, **options)
        for name in ("mean", "sum", "none")
    }


@exercise.check(points=2)
def shapes_and_dtypes(lab, draw):
    """One number for "mean" and "sum", one per row for "none", in the dtype of the logits."""
    logits, target = draw.normal(5, 13), draw.integers(5, 12, 5)
    seen = all_reductions(lab, logits.float(), target, ignore_index=int(target[2]))
    low = all_reductions(lab, logits.half(), target, ignore_index=int(target[2]))
    return {
        "shapes": {name: list(torch.as_tensor(loss).shape) for name, loss in seen.items()},
        "dtypes of float32": {name: dtype_of(loss) for name, loss in seen.items()},
        "dtypes of float16": {name: dtype_of(loss) for name, loss in low.items()},
    }


@exercise.check(points=2)
def values(lab, draw):
    """Takes the loss of the right column, whichever columns are right, however often."""
    few, many = draw.normal(5, 13), draw.strided(draw.normal(17, 7))
    everything = draw.permutation(7).repeat(3)[:17]
    shares = draw.normal(5, 13).exp()
    return {
        "5 rows, 13 columns": all_reductions(lab, few, draw.integers(0, 11, 5)),
        "17 rows, 7 columns": all_reductions(lab, many, everything),
        "always column 0": all_reductions(lab, many, torch.zeros(17, dtype=torch.int64)),
        "always the last column": all_reductions(lab, few, torch.full((5,), 12)),
        "logits that could be probabilities": all_reductions(
            lab, shares / shares.sum(-1, keepdim=True), draw.integers(1, 12, 5)
        ),
    }


@exercise.check(points=0.5)
def defaults(lab, draw):
    """Gives the mean over all rows if nothing else is asked for."""
    # Three means: one alone may be the same in float32 by chance.
    return [lab.cross_entropy(draw.normal(n, 13), draw.integers(1, 12, n)) for n in (5, 3, 8)]


@exercise.check(points=0.5)
def any_size(lab, draw):
    """Is right for one token, for a vocabulary of one word, and for as many tokens as words."""

    def ask(N, V):
        columns = draw.integers(min(1, V - 1), max(1, V - 1), N)  # not at an end, if there are more
        return all_reductions(lab, draw.normal(N, V), columns)

    return draw.each_size(ask, N=5, V=7)


@exercise.check(points=1.5)
def uniform_logits(lab, draw):
    """Equal logits for V words cost log V, whatever the right answers are."""
    return {
        f"V = {columns}": lab.cross_entropy(
            torch.full((5, columns), 3.0, dtype=torch.float64),
            draw.integers(0, columns - 1, 5),
            reduction="mean",
        )
        for columns in (2, int(draw.integers(5, 50)), 1000)
    }


@exercise.check(points=1)
def padding_ignored(lab, draw):
    """Padding changes neither the sum nor the number that "mean" divides by; `target` stays."""
    # Three batches: one mean may be the same in float32 by chance. The last column is never right.
    seen = {}
    for rows in ([1, 4, 6], [0, 2], [3, 4, 5, 6]):
        logits, target = draw.normal(7, 5), draw.integers(1, 4, 7)
        target[torch.tensor(rows)] = -100
        seen[f"{len(rows)} rows of 7 ignored"] = all_reductions(
            lab, logits, target, ignore_index=-100
        )
    lab.cross_entropy(logits, target, ignore_index=-100)
    return seen | {"`target` after a call": target}


@exercise.check(points=0.5)
def zeros(lab, draw):
    """0 is a number like any other: as the id to ignore, as a target and as the loss of a row."""
    logits, target = draw.normal(7, 5), draw.integers(1, 4, 7)
    zeros, some = (target.index_fill(0, torch.tensor([1, 4, 6]), id) for id in (0, -100))
    one_more = some.index_fill(0, torch.tensor([2]), 0)
    sure = logits.index_put((torch.tensor([0]), target[:1]), torch.tensor(1e3).double())
    return {
        "ignore_index=0": all_reductions(lab, logits, zeros, ignore_index=0),
        "target 0, ignore_index=-100": all_reductions(lab, logits, one_more, ignore_index=-100),
        "a row whose loss is 0": all_reductions(lab, sure, some, ignore_index=-100),
    }


@exercise.check(points=2, hidden=True)
def ignored_tokens(lab, draw):
    """Rows to ignore count nowhere, whatever the id is and whatever their logits are."""
    logits, target = draw.normal(11, 7), draw.integers(1, 7, 11)
    ignored = torch.tensor([0, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0], dtype=torch.bool)
    # Rows that count have no such logits: their loss may be 0 by chance.
    plain, logits = logits, torch.where(ignored[:, None], 1e4 * draw.normal(11, 7), logits)
    return {
        f"ignore_index={index}": all_reductions(
            lab, logits, target.masked_fill(ignored, index), ignore_index=index
        )
        for index in (-100, 3, -1, 500)
    } | {
        "an id that does not occur": all_reductions(lab, plain, target, ignore_index=-100),
        "column 0 counts unless ignored": all_reductions(
            lab, plain, target.masked_fill(ignored, 0)
        ),
        "one row counts": all_reductions(
            lab,
            logits,
            torch.full((11,), -100).index_fill(0, torch.tensor([5]), 2),
            ignore_index=-100,
        ),
    }


def gradients_without_rows(lab, draw, logits, name):
    """The gradients if no row counts; 0 if there are none for other rows, which costs a check."""

    def ask(target):
        return draw.gradients(lambda x: lab.cross_entropy(x, target, -100, name), logits)

    usual = ask(torch.arange(5))
    flow = isinstance(usual, list) and isinstance(usual[0], torch.Tensor)
    return ask(torch.full((5,), -100)) if flow else [torch.zeros_like(logits)]


@exercise.check(points=1)
def everything_ignored(lab, draw):
    """If no row counts, loss and gradients are 0 and not NaN, in the dtype of the logits."""
    logits, padding = draw.normal(5, 13), torch.full((5,), -100)
    low = all_reductions(lab, logits.half(), padding, ignore_index=-100)
    return {
        "padding is -100": all_reductions(lab, logits, padding, ignore_index=-100),
        "padding is 3": all_reductions(lab, logits, torch.full((5,), 3), ignore_index=3),
        # A number of Python is a slip of every batch, which costs another check.
        "dtypes of float16": {
            name: dtype_of(loss) if isinstance(loss, torch.Tensor) else "float16"
            for name, loss in low.items()
        },
        "gradients": {
            name: gradients_without_rows(lab, draw, logits, name)
            for name in ("mean", "sum", "none")
        },
    }


@exercise.check(points=0.5, hidden=True)
def digits_kept(lab, draw):
    """A large number added to all logits costs no digits, in float32 either."""
    # Multiples of 1/64 are exact in float32, around 20,000, too.
    logits, target = draw.integers(-600, 600, 5, 13).double() / 64, draw.integers(1, 12, 5)
    # One right answer has a probability of about 7e-9, so a small number added to it always shows.
    logits[0, 0], logits[0, target[0]] = 600 / 64, -600 / 64
    return {
        f"logits around {offset:g}": all_reductions(lab, (logits + offset).float(), target)
        for offset in (2e4, -2e4)
    }


@exercise.check(points=1)
def far_off(lab, draw):
    """A right answer that is 20,000 below the best costs 20,000, without infinity or a limit."""

    def far_below(distances):
        logits, target = draw.normal(len(distances), 13), 1 + draw.permutation(11)[: len(distances)]
        logits[torch.arange(len(distances)), target] -= torch.tensor(distances).double()
        return logits, target

    # Two batches: the mean of one may be the same in float32 by chance.
    few, columns = far_below([60.0, 2e3, 2e4])
    logits, target = far_below([30.0, 60.0, 800.0, 2e3, 2e4])
    return {
        "far below": all_reductions(lab, few, columns),
        "far below, all large": all_reductions(lab, logits + 1e4, target),
        "far above": lab.cross_entropy(-logits, target, reduction="none"),
        "float32": lab.cross_entropy(logits.float(), target, reduction="none"),
    }


@exercise.check(points=1)
def gradients(lab, draw):
    """The gradient is (p - y) / n for rows that count, and 0 for others."""
    logits, target = draw.normal(7, 5), draw.integers(1, 4, 7)
    some = target.masked_fill(torch.arange(7) % 3 == 0, -100)
    return {
        "mean": draw.gradients(lambda x: lab.cross_entropy(x, target, reduction="mean"), logits),
        "sum": draw.gradients(lambda x: lab.cross_entropy(x, target, reduction="sum"), logits),
        "mean, some rows ignored": draw.gradients(
            lambda x: lab.cross_entropy(x, some.clone(), ignore_index=-100, reduction="mean"),
            logits,
        ),
        "none, some rows ignored": draw.gradients(
            lambda x: lab.cross_entropy(x, some.clone(), ignore_index=-100, reduction="none"),
            logits,
        ),
    }


@exercise.check(points=0.5, hidden=True)
def inputs_kept(lab, draw):
    """Leaves logits and targets unchanged, in any memory layout."""
    logits, target = draw.normal(7, 5), draw.integers(1, 4, 7)
    some = draw.strided(target.masked_fill(torch.arange(7) % 3 == 0, -100))
    losses = [
        lab.cross_entropy(logits, some if index else target, ignore_index=index)
        for index in (None, -100)
    ]
    # A function that returns nothing of use leaves its inputs unchanged, too.
    shapes = [list(torch.as_tensor(loss).shape) for loss in losses]
    return {"inputs unchanged": draw.untouched(), "shapes of the losses": shapes}


exercise.promises(
    {
        "How surprised the distribution softmax(logits) is by the right answers, in nats.": (
            "values uniform_logits"
        ),
        "It is torch's `cross_entropy` with two differences: there, rows with target -100": (
            "ignored_tokens everything_ignored"
        ),
        "logits: (N, V), a row of finite scores for each of N tokens": "any_size",
        "target: (N,), int64, the right column of each row: 0 … V-1, or `ignore_index`.": (
            "values ignored_tokens"
        ),
        "rows whose target is this number do not count, either in the sum, in the number of "
        "tokens or in the gradient": "padding_ignored ignored_tokens gradients",
        "It may be outside 0 … V-1 (-100 is common) or inside": "zeros ignored_tokens",
        "None: every row counts.": "ignored_tokens",
        "the loss of each row, (N,), and 0 for an ignored row": "ignored_tokens",
        "their sum divided by the number of rows that count, and 0 if no row counts": (
            "defaults values padding_ignored everything_ignored"
        ),
        "The loss -log softmax(logits)[target], in the dtype of `logits`; a tensor without "
        "dimensions": "shapes_and_dtypes values everything_ignored",
        "Logits in the tens of thousands are safe, and cost no digits.": "far_off digits_kept",
        "Gradients flow back to `logits`, and are 0 if no row counts; `logits` and `target` stay "
        "unchanged.": "gradients everything_ignored inputs_kept",
    },
)
