"""Inputs for BERT's pretraining: hidden tokens, and pairs of sentences.

Source: BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding (Devlin et
al. 2019), section 3.1; lectures G, N.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - torch's own abbreviation
from torch.nn.utils.rnn import pad_sequence

from attnlab.data.topics import CLS, PAD, SEP

IGNORED = -100  # the label of a place that the loss leaves out, as in torch's cross_entropy


def mask_tokens(
    ids: Tensor,
    special: Tensor,
    vocab_size: int,
    mask_id: int,
    p: float = 0.15,
    *,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """Hide some tokens, so that a model can learn to say which they were.

    Each token that is not special is chosen with probability `p`, independently of all others. A
    chosen token becomes `mask_id` with probability 0.8, a random ordinary token with probability
    0.1 (each has the same chance, the old one included), and else it stays.

    Args:
        ids: (B, T), int64, on the CPU; it stays unchanged.
        special: (N,), int64, in any order: the tokens that are never chosen, and that no random
            token is. [CLS], [SEP], the padding and `mask_id` are among them.
        vocab_size: V; the ordinary tokens are all numbers below it that are not special.
        mask_id: the token that hides another.
        p: the probability of being chosen, from 0 to 1.
        generator: the only source of randomness if it is given; otherwise torch's global one.

    Returns:
        The changed ids, (B, T), and the labels, (B, T), both int64: a label is the old token if the
        token was chosen, and -100 otherwise.

    Source: Devlin et al. 2019, section 3.1, task 1; the paper masks each row once, before training.
    """
    # blank: choose, remember, replace
    ordinary = torch.ones(vocab_size, dtype=torch.bool)
    ordinary[special] = False
    chosen = ordinary[ids] & (torch.rand(ids.shape, generator=generator) < p)  # (B, T)
    labels = ids.masked_fill(~chosen, IGNORED)
    words = ordinary.nonzero().flatten()  # (number of ordinary tokens,)
    drawn = torch.randint(len(words), ids.shape, generator=generator)
    what = torch.rand(ids.shape, generator=generator)
    x = torch.where(chosen & (what < 0.8), mask_id, ids)
    return torch.where(chosen & (what >= 0.9), words[drawn], x), labels
    # end blank


def make_nsp(
    documents: Sequence[Sequence[Tensor]], generator: torch.Generator
) -> tuple[Tensor, Tensor, Tensor]:
    """Pairs of sentences, for a model that says whether the second one follows the first.

    Each sentence that has one after it in its document is the first of one pair. In half of the
    pairs, chosen at random, the second sentence is the one after it, and the label is 1. In the
    other half it is a random sentence of another document, and the label is 0; any sentence of any
    other document can be drawn. The two halves differ by 1 pair at most. A pair is written as [CLS]
    first [SEP] second [SEP]. Pairs are in random order.

    Args:
        documents: each has its sentences in order, each int64 (its length,), 1 or longer. They
            stay unchanged.
        generator: the only source of randomness.

    Returns:
        The ids (N, T), padded on the right with [PAD] to the longest pair; the segments (N, T), 1
        for the second sentence and its [SEP], and 0 everywhere else; and the labels, (N,); all
        int64. `attnlab.data.topics` has the numbers PAD, CLS and SEP.

    Raises:
        ValueError: no document has two sentences, or no other document has one.
    """
    # blank: pairs, half of them with a stranger, each written as one row
    pairs = [
        (d, first, second)
        for d, document in enumerate(documents)
        for first, second in pairwise(document)
    ]
    sentences = [sentence for document in documents for sentence in document]
    lengths = [len(document) for document in documents]
    if not pairs or max(lengths) == len(sentences):
        raise ValueError("pairs need a document of two sentences, and another document")
    follows = torch.randperm(len(pairs), generator=generator) % 2  # (N,), as many 0 as 1
    rows, segments = [], []
    for n, place in enumerate(torch.randperm(len(pairs), generator=generator).tolist()):
        d, first, second = pairs[place]
        if not follows[n]:
            others = len(sentences) - lengths[d]
            drawn = int(torch.randint(others, (), generator=generator))
            before = sum(lengths[:d])  # the sentences of documents before this one
            second = sentences[drawn if drawn < before else drawn + lengths[d]]
        first = F.pad(F.pad(first, (1, 0), value=CLS), (0, 1), value=SEP)
        second = F.pad(second, (0, 1), value=SEP)
        rows.append(torch.cat((first, second)))
        segments.append(torch.cat((torch.zeros_like(first), torch.ones_like(second))))
    ids = pad_sequence(rows, batch_first=True, padding_value=PAD)
    return ids, pad_sequence(segments, batch_first=True), follows
    # end blank
