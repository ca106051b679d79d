"""Label smoothing, in three conventions."""

from __future__ import annotations

import torch
from torch import Tensor

from attnlab.softmax import log_softmax

STYLES = ("deck", "torch", "pad")


def smooth_targets(
    y: Tensor, V: int, eps: float, style: str, pad: int | None = None  # noqa: N803 - the field's letter
) -> Tensor:  # fmt: skip
    """For each target, a distribution over V symbols in which the right one has not quite all.

    The right symbol and each of the others get:

        "deck":   1 - eps              and  eps / (V - 1)     (lecture C)
        "torch":  1 - eps + eps / V    and  eps / V           (torch, and the paper's code)
        "pad":    1 - eps              and  eps / (V - 2)     (the Annotated Transformer), where
                  the symbol `pad` is not one of the others and gets 0

    Args:
        y: (N,), int64, the right symbols; N may be 0. They stay unchanged.
        V: the number of symbols.
        eps: how much is taken from the right symbol, 0 up to 1.
        style: the convention.
        pad: the symbol for padding. Rows of targets that are `pad` are 0 throughout, in every
            style. None: there is none, and "pad" is not possible.

    Returns:
        (N, V), in torch's default dtype. Each row sums to 1, but for those of padding.

    Raises:
        ValueError: `style` is another word, or "pad" without a `pad`; or there are no other
            symbols: V is 1, or V is 2 in the style "pad".

    Source: Szegedy et al. 2016, section 7; Attention Is All You Need, section 5.4; lecture C.
    """
    # blank: errors, the others' share, the right symbol's, and the rows of padding
    if style not in STYLES:
        known = ", ".join(STYLES)
        raise ValueError(f"the styles are {known}, not {style!r}")
    if style == "pad" and pad is None:
        raise ValueError('the style "pad" needs the symbol for padding: pass pad')
    others = V - 2 if style == "pad" else V - 1
    if others < 1:
        raise ValueError(f"of {V} symbols, no others are left in the style {style!r}")
    share = eps / V if style == "torch" else eps / others
    right = 1 - eps + share if style == "torch" else 1 - eps
    targets = torch.full((len(y), V), share, device=y.device)
    if style == "pad":
        targets[:, pad] = 0
    targets.scatter_(1, y[:, None], right)
    if pad is not None:
        targets[y == pad] = 0
    return targets
    # end blank


def label_smoothing_loss(
    logits: Tensor, y: Tensor, eps: float, style: str, pad: int | None = None
) -> Tensor:
    """The mean cross-entropy -Σ q log p of the smoothed targets q and p = softmax(logits).

    Args:
        logits: (N, V), finite, of any size; float32 or float64.
        y: (N,), int64, the right symbols.
        eps: how much is taken from the right symbol, 0 up to 1.
        style: the convention, as for `smooth_targets`.
        pad: the symbol for padding; targets that are `pad` do not count, either in the sum or in
            the number that it is divided by. None: all targets count.

    Returns:
        A tensor without dimensions, in the dtype of `logits`: 0 if no target counts. It is a
        cross-entropy, so its least value is the entropy of the targets and not 0. Gradients flow
        back to `logits`.

    Raises:
        ValueError: as for `smooth_targets`.
    """
    # blank: smoothed targets, the sum of all losses, and the mean over the targets that count
    targets = smooth_targets(y, logits.shape[1], eps, style, pad).to(logits.dtype)
    total = -(targets * log_softmax(logits)).sum()  # rows of padding add 0
    counts = torch.ones_like(y) if pad is None else y != pad
    return total / counts.sum().clamp(min=1)
    # end blank
