"""Other right versions of `smooth_targets` and its loss; mistakes edit the first of each."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from attnlab.losses import smooth_targets

from . import exercise


@exercise.also_right(of="smooth_targets")
def filled(y, V, eps, style, pad=None):
    if style not in ("deck", "torch", "pad"):
        raise ValueError(f"no such style: {style}")
    if style == "pad" and pad is None:
        raise ValueError("which symbol is padding?")
    if style == "deck":
        others, right = V - 1, 1 - eps
    elif style == "torch":
        others, right = V, 1 - eps + eps / V
    else:
        others, right = V - 2, 1 - eps
    if V < 2 or others < 1:
        raise ValueError("no other symbols")
    targets = torch.full((len(y), V), eps / others)
    if style == "pad":
        targets[:, pad] = 0.0
    targets.scatter_(1, y.unsqueeze(1), right)
    if pad is not None:
        targets[y == pad] = 0.0
    return targets


@exercise.also_right(of="smooth_targets")
def mixed_with_one_hot(y, V, eps, style, pad=None):
    rest = {"deck": V - 1, "torch": V, "pad": V - 2}.get(style)
    if rest is None or (style == "pad" and pad is None) or V < 2 or rest < 1:
        raise ValueError("style")
    right = F.one_hot(y, V).to(torch.get_default_dtype())
    share = torch.ones(V) if style == "torch" else 1 - right
    if style == "pad":
        share = share * (torch.arange(V) != pad)
    targets = (1 - eps) * right + eps / rest * share
    return targets if pad is None else targets * (y != pad)[:, None]


@exercise.also_right(of="smooth_targets")
def normalised_rows(y, V, eps, style, pad=None):
    if style not in ["deck", "torch", "pad"] or V == 1:
        raise ValueError
    if style == "pad" and (pad is None or V == 2):
        raise ValueError
    noise = torch.ones(len(y), V)
    if style != "torch":
        noise[torch.arange(len(y)), y] = 0
    if style == "pad":
        noise[:, pad] = 0
    noise = noise / noise.sum(dim=1, keepdim=True)
    targets = eps * noise
    targets[torch.arange(len(y)), y] += 1 - eps
    if pad is not None:
        targets = targets.masked_fill(y.eq(pad).unsqueeze(-1), 0)
    return targets


@exercise.also_right(of="smooth_targets")
def one_row_after_another(y, V, eps, style, pad=None):
    if style not in ("deck", "torch", "pad") or V < 2:
        raise ValueError("bad style or V")
    if style == "pad" and (pad is None or V < 3):
        raise ValueError("bad pad")
    out = torch.zeros(len(y), V)
    for row, symbol in enumerate(y.tolist()):
        if pad is not None and symbol == pad:
            continue
        for v in range(V):
            if style == "torch":
                out[row, v] = eps / V + (1 - eps) * (v == symbol)
            elif v == symbol:
                out[row, v] = 1 - eps
            elif style == "deck":
                out[row, v] = eps / (V - 1)
            elif v != pad:
                out[row, v] = eps / (V - 2)
    return out


@exercise.also_right(of="label_smoothing_loss")
def spelled_out(logits, y, eps, style, pad=None):
    N, V = logits.shape
    targets = smooth_targets(y, V, eps, style, pad)
    log_p = torch.log_softmax(logits, dim=-1)
    losses = -(targets * log_p).sum(dim=-1)
    counts = torch.full((N,), True) if pad is None else y != pad
    return losses.sum() / counts.sum().clamp(min=1)


@exercise.also_right(of="label_smoothing_loss")
def torchs_loss_of_distributions(logits, y, eps, style, pad=None):
    q = smooth_targets(y, logits.size(-1), eps, style, pad).type_as(logits)
    total = F.cross_entropy(logits, q, reduction="sum")
    tokens = y.numel() if pad is None else y.ne(pad).sum()
    return total / max(tokens, 1)


@exercise.also_right(of="label_smoothing_loss")
def divergence_and_entropy(logits, y, eps, style, pad=None):
    q = smooth_targets(y, logits.shape[1], eps, style, pad).to(logits)
    log_p = nn.LogSoftmax(dim=1)(logits)
    divergence = nn.KLDivLoss(reduction="sum")(log_p, q)
    entropy = torch.special.entr(q).sum()
    count = int((y != pad).sum()) if pad is not None else len(y)
    return (divergence + entropy) / count if count else 0 * logits.sum()


@exercise.also_right(of="label_smoothing_loss")
def without_the_table(logits, y, eps, style, pad=None):
    V = logits.size(1)
    if style not in ("deck", "torch", "pad") or V < 2 or (style == "pad" and V < 3):
        raise ValueError("style or V")
    if style == "pad" and pad is None:
        raise ValueError("pad")
    log_p = logits - logits.logsumexp(-1, keepdim=True)
    right = -log_p.gather(1, y[:, None])[:, 0]
    everything = -log_p.sum(1)
    if style == "torch":
        losses = (1 - eps) * right + eps / V * everything
    elif style == "deck":
        losses = (1 - eps) * right + eps / (V - 1) * (everything - right)
    else:
        losses = (1 - eps) * right + eps / (V - 2) * (everything - right + log_p[:, pad])
    if pad is not None:
        losses = losses[y != pad]
    return losses.mean() if len(losses) else losses.sum()
