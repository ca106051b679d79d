"""BERT's pretraining: its batches, the loss of a batch, and the two scores that a run reports.

:mod:`attnlab.pretraining` hides the words and makes the pairs; a
:class:`attnlab.training.Trainer` does the rest (:mod:`attnlab.models.topics_bert`).

Source: BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding (Devlin et
al. 2019), section 3.1 and appendix A.2; lectures G, N.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attnlab.data.topics import CLS, MASK, PAD, SEP, VOCABULARY
from attnlab.pretraining import IGNORED, make_nsp, mask_tokens
from attnlab.softmax import cross_entropy

SPECIAL_IDS = (PAD, CLS, SEP, MASK)


class PretrainingBatch(NamedTuple):
    """Some pairs of sentences with hidden words.

    Attributes:
        ids: (B, T), int64, what the model reads.
        segments: (B, T), int64, 0 for the first sentence and 1 for the second.
        valid: (B, T), boolean, False at the filling.
        labels: (B, T), int64, the word that was there if the token was chosen, else -100.
        follows: (B,), int64, 1 if the second sentence follows the first, else 0.
    """

    ids: Tensor
    segments: Tensor
    valid: Tensor
    labels: Tensor
    follows: Tensor


class PretrainingLoss(NamedTuple):
    """The loss of a batch in its two parts; training minimises their sum.

    Attributes:
        mlm: the mean over all chosen tokens; no dimensions.
        nsp: the mean over all pairs; no dimensions.
    """

    mlm: Tensor
    nsp: Tensor


class PretrainingScores(NamedTuple):
    """How good a model is on some batches.

    Attributes:
        mlm: the mean loss over all tokens that [MASK] hides, in nats.
        nsp: the share of pairs that it judges correctly, from 0 to 1.
    """

    mlm: float
    nsp: float


def pretraining_batches(
    documents: Sequence[Sequence[Tensor]], size: int, generator: torch.Generator
) -> list[PretrainingBatch]:
    """Make the batches of one epoch: new pairs (`make_nsp`), in which new words are hidden.

    `mask_tokens` hides words with its usual p. The vocabulary is that of `attnlab.data.topics`, and
    so are its special tokens: `SPECIAL_IDS`.

    Args:
        documents: as for `make_nsp`.
        size: rows of each batch; the last batch may have fewer.
        generator: the only source of randomness. The next call with it makes other batches.

    Returns:
        The batches. Each pair that `make_nsp` has made is in one of them, as one row.
    """
    # blank: pairs, hidden words, batches
    ids, segments, follows = make_nsp(documents, generator)
    special = torch.tensor(SPECIAL_IDS)
    seen, labels = mask_tokens(ids, special, len(VOCABULARY), MASK, generator=generator)
    whole = PretrainingBatch(seen, segments, ids != PAD, labels, follows)
    parts = [tensor.split(size) for tensor in whole]
    return [PretrainingBatch(*rows) for rows in zip(*parts, strict=True)]
    # end blank


def pretraining_loss(model: nn.Module, batch: PretrainingBatch) -> PretrainingLoss:
    """The surprise at the chosen tokens, and at whether the second sentence follows.

    The model is called once. Its mode, training or evaluation, stays unchanged.

    Args:
        model: called as ``model(batch.ids, batch.segments, batch.valid)``; returns `mlm_logits`,
            (B, T, V), and `nsp_logits`, (B, 2), in which column 1 is for "it follows".
        batch: a `PretrainingBatch`.

    Returns:
        A `PretrainingLoss`. `mlm` is the mean of -log p(label) over all tokens of the batch whose
        label is not -100, or 0 if there is none; `nsp` is the mean of -log p(`follows`) over all
        pairs. Both are in nats, and gradients flow back.

    Source: Devlin et al. 2019, appendix A.2: training minimises the sum of the two means.
    """
    # blank: one call, two means
    out = model(batch.ids, batch.segments, batch.valid)
    mlm = cross_entropy(out.mlm_logits.flatten(0, 1), batch.labels.flatten(), ignore_index=IGNORED)
    return PretrainingLoss(mlm, cross_entropy(out.nsp_logits, batch.follows))
    # end blank


def pretraining_scores(model: nn.Module, batches: Iterable[PretrainingBatch]) -> PretrainingScores:
    """Measure a model on batches that it was not trained on.

    The model is in evaluation mode while it reads, and afterwards in the mode in which it was
    before. No gradients are computed.

    Args:
        model: as for `pretraining_loss`; called once for each batch.
        batches: at least one; they may have different numbers of rows.

    Returns:
        `mlm`: the mean of -log p(label) over all places of all batches at which the model reads
        [MASK]; a chosen token that it can see does not count. `nsp`: the share of all pairs for
        which the larger of the two logits is that of `follows`. Both are Python floats.
    """
    # blank: evaluation mode, sums over all batches, two divisions, the old mode
    was_training = model.training
    model.eval()
    losses, right = [], []
    with torch.no_grad():
        for batch in batches:
            out = model(batch.ids, batch.segments, batch.valid)
            hidden = batch.ids == MASK  # (B, T)
            log_p = out.mlm_logits[hidden].log_softmax(-1)  # (number of [MASK], V)
            losses.append(-log_p.gather(-1, batch.labels[hidden][:, None]))
            right.append(out.nsp_logits.argmax(-1) == batch.follows)  # (B,)
    model.train(was_training)
    return PretrainingScores(
        torch.cat(losses).mean().item(), torch.cat(right).double().mean().item()
    )
    # end blank
