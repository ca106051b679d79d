"""smooth_targets and label_smoothing_loss: targets that leave room for doubt, three conventions."""

from __future__ import annotations

import torch

from attnlab.checking.judges import Close
from attnlab.checking.observation import dtype_of
from attnlab.losses import label_smoothing_loss, smooth_targets
from gradekit.exercise import Exercise

exercise = Exercise(
    smooth_targets,
    label_smoothing_loss,
    equivalent={
        "smooth_targets: `torch.full((len(y), V), share, device=y.device)` → "
        "`torch.full((len(y), V), share)` in "
        "`targets = torch.full((len(y), V), share, device=y.device)`": (
            "everything is on one device here"
        ),
        "label_smoothing_loss: `smooth_targets(y, logits.shape[1], eps, style, pad)"
        ".to(logits.dtype)` → `smooth_targets(y, logits.shape[1], eps, style, pad)` in "
        "`targets = smooth_targets(y, logits.shape[1], eps, style, pad).to(logits.dtype)`": (
            "float32 times float64 is float64"
        ),
        "smooth_targets: `', '.join(STYLES)` → `', '` in `known = ', '.join(STYLES)`": (
            "the words of an error are free"
        ),
    },
)

STYLES = ("deck", "torch", "pad")
# The targets are float32, so their share of a loss in float64 has no more digits.
SINGLE = Close(atol=1e-6, rtol=1e-6)


def some_eps(draw):
    """A share with two digits, so that it is easy to read."""
    return round(float(draw.uniform(1, low=0.05, high=0.35)), 2)


@exercise.check(points=2)
def shares(lab, draw):
    """Each row sums to 1, a row of padding to 0, and the shares are those of the style."""
    eps, y, seen = some_eps(draw), torch.tensor([1, 3, 0, 1, 4]), {}
    for style in STYLES:
        rows = lab.smooth_targets(y, 5, eps, style, pad=3)
        seen[f'"{style}", eps = {eps}'] = {"sums of the rows": rows.sum(-1), "rows": rows}
    return seen


@exercise.check(points=0.5)
def shape_and_dtype(lab, draw):
    """The targets are (N, V) in torch's default dtype; the loss is one number."""
    logits, y = draw.normal(4, 7, dtype=torch.float32), draw.integers(0, 7, 4)
    seen = {}
    for style in STYLES:
        rows = lab.smooth_targets(y, 7, 0.2, style, pad=6)
        loss = lab.label_smoothing_loss(logits, y, 0.2, style, pad=6)
        seen[style] = {
            "shape of the targets": list(rows.shape),
            "dtype of the targets": dtype_of(rows),
            "shape of the loss": list(loss.shape),
            "dtype of the loss": dtype_of(loss),
            "a tensor, even if all are padding": isinstance(
                lab.label_smoothing_loss(logits, torch.full_like(y, 6), 0.2, style, pad=6),
                torch.Tensor,
            ),
        }
    return seen


@exercise.check(points=1.5, judge=SINGLE)
def one_prediction(lab, draw):
    """The loss of one prediction, in each style."""
    logits, y = torch.tensor([[2.0, 1.0, 0.0, -1.0, 0.5]], dtype=torch.float64), torch.tensor([0])
    return {style: lab.label_smoothing_loss(logits, y, 0.1, style, pad=4) for style in STYLES}


@exercise.check(points=2, judge=SINGLE)
def floor(lab, draw):
    """The least loss is the entropy of the targets and not 0: more certainty costs more."""
    eps, y, seen = some_eps(draw), torch.tensor([2, 0]), {}
    more = 3 * torch.nn.functional.one_hot(y, 5)
    for style in STYLES:
        targets = lab.smooth_targets(y, 5, eps, style, pad=4).double()
        best = targets.clamp(min=1e-30).log()
        seen[f'"{style}", eps = {eps}'] = {
            "at its least, p = q": lab.label_smoothing_loss(best, y, eps, style, pad=4),
            "more certain": lab.label_smoothing_loss(best + more, y, eps, style, pad=4),
        }
    return seen


@exercise.check(points=1, hidden=True)
def padding_in_targets(lab, draw):
    """Rows of padding are 0 in every style, whatever the number of `pad`; `y` stays unchanged."""
    seen = {}
    for pad in (0, 5, 2):
        y = torch.cat((draw.integers(0, 6, 5), torch.tensor([pad, 1, pad])))
        before = y.clone()
        seen[f"pad={pad}"] = {
            style: lab.smooth_targets(y, 6, 0.3, style, pad=pad) for style in STYLES
        }
        seen[f"pad={pad}: y as it was"] = torch.equal(y, before)
    symbols = draw.integers(1, 6, 4)
    seen["no padding in y"] = [lab.smooth_targets(symbols, 6, 0.3, s, pad=0) for s in STYLES]
    seen["no pad"] = [lab.smooth_targets(symbols, 6, 0.3, s) for s in STYLES[:2]]
    return seen


@exercise.check(points=1.5, hidden=True, judge=SINGLE)
def padding_does_not_count(lab, draw):
    """The mean is over the targets that are not padding; without any, the loss is 0."""
    seen = {}
    for pad in (0, 6):
        y, logits = draw.integers(1, 6, 7).clone(), 2 * draw.normal(7, 7)
        y[torch.tensor([2, 5, 6])] = pad
        far = torch.cat((logits[:5], 1e4 * logits[5:]))
        for style in STYLES:
            seen[f'pad={pad}, "{style}"'] = {
                "three of seven are padding": lab.label_smoothing_loss(logits, y, 0.2, style, pad),
                "huge logits at padding": lab.label_smoothing_loss(far, y, 0.2, style, pad),
            }
            nothing = lab.label_smoothing_loss(logits[5:], y[5:], 0.2, style, pad)
            seen[f'pad={pad}, "{style}", all are padding'] = nothing
    return seen


@exercise.check(points=1.5, hidden=True, judge=SINGLE)
def other_sizes(lab, draw):
    """Is right for one target, for none, for few symbols, and for every eps from 0 to 1."""

    def ask(N, V=6, eps=0.25):
        y, logits = draw.integers(0, V - 1, N), draw.normal(N, V)
        return {
            style: [
                lab.smooth_targets(y, V, eps, style, pad),
                lab.label_smoothing_loss(logits, y, eps, style, pad),
            ]
            for style, pad in (("deck", None), ("torch", None), ("pad", V - 1))
        }

    two = lab.smooth_targets(draw.integers(0, 2, 3), 2, 0.25, "deck")
    return {
        **draw.each_size(ask, N=4, may_be_empty=["N"]),
        "as many targets as symbols": ask(6),
        "three symbols": ask(4, V=3),
        "two symbols": two,
        **{f"eps = {eps}": ask(4, eps=eps) for eps in (0, 0.0, 0.5, 1)},
    }


@exercise.check(points=1, hidden=True, judge=SINGLE)
def large_logits_and_gradients(lab, draw):
    """Logits of any size give a finite loss; gradients reach the logits; float64 stays."""
    y, logits, seen = draw.integers(0, 5, 4), draw.normal(4, 6), {}
    for style in STYLES:
        loss = lab.label_smoothing_loss(1e4 * logits, y, 0.1, style, pad=5)
        seen[style] = {
            "large": loss,
            "dtype": dtype_of(loss),
            "gradients": draw.gradients(
                lambda x, style=style: lab.label_smoothing_loss(x, y, 0.1, style, pad=5), logits
            ),
        }
    return {**seen, "inputs as they were": draw.untouched()}


@exercise.check(points=1, hidden=True)
def impossible(lab, draw):
    """ValueError: another style, "pad" without a `pad`, or no other symbols."""
    y, logits = torch.zeros(3, dtype=torch.int64), draw.normal(3, 5)
    smooth, loss = lab.smooth_targets, lab.label_smoothing_loss
    return {
        "another style": draw.raises(lambda: smooth(y, 5, 0.1, "paper", 4)),
        "with a capital": draw.raises(lambda: smooth(y, 5, 0.1, "Torch")),
        "no pad": draw.raises(lambda: smooth(y, 5, 0.1, "pad")),
        "one symbol": [draw.raises(lambda s=s: smooth(y, 1, 0.1, s)) for s in STYLES[:2]],
        "two symbols, one is pad": draw.raises(lambda: smooth(y, 2, 0.1, "pad", 1)),
        "loss, another style": draw.raises(lambda: loss(logits, y, 0.1, "paper", 4)),
        "loss, no pad": draw.raises(lambda: loss(logits, y, 0.1, "pad")),
        "loss, one symbol": draw.raises(lambda: loss(logits[:, :1], y, 0.1, "deck")),
    }
