"""How well a text is predicted, in bits per byte: of models, of tables of pairs, of gzip.

A loss per token depends on the tokens: with longer ones there are fewer, and each is harder. Bits
per byte can be compared between tokenisers, and with programs that compress files.

Source: lectures G, N (perplexity).
"""

from __future__ import annotations

import gzip
import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from attnlab.tokenizer import Pair, encode


def compression_curve(
    text: str, merges: Sequence[Pair], sizes: Sequence[int]
) -> list[tuple[float, float]]:
    """How well a text is compressed by the first merges alone: by none, by a hundred, by all.

    Args:
        text: any text that holds a word. A word is what `text.split()` returns, with the comma or
            bracket that stands next to it.
        merges: from `train_bpe`.
        sizes: numbers of merges, in any order. For a size of 100, the text is encoded with the
            first 100 merges alone, and with the usual pattern.

    Returns:
        For each size, two numbers: tokens per word, and bytes (of the text in UTF-8) per token.
    """
    # blank: encode the text once for each size
    words, num_bytes = len(text.split()), len(text.encode())
    curve = []
    for size in sizes:
        tokens = len(encode(text, merges[:size]))
        curve.append((tokens / words, num_bytes / tokens))
    return curve
    # end blank


def gzip_bits_per_byte(text: str) -> float:
    """The size of a text compressed by gzip, in bits per byte of the text."""
    data = text.encode()
    return 8 * len(gzip.compress(data, 9, mtime=0)) / len(data)


def bigram_loss(train: Sequence[int], ids: Sequence[int], vocab_size: int) -> float:
    """The loss of a table of pairs: how often each token followed each other one in training.

    A pair that was rare in training gets a part of its probability from the frequency of its second
    token: (count(a, b) + p(b)) / (count(a) + 1), where p(b) has one count more for each token.

    Args:
        train: the tokens that are counted.
        ids: the tokens that are predicted, each from the one before it; at least two.
        vocab_size: the number of tokens.

    Returns:
        The mean loss of a token in nats, over all but the first.
    """
    pairs, firsts = Counter(pairwise(train)), Counter(train[:-1])
    singles, total = Counter(train), len(train) + vocab_size
    nats = 0.0
    for first, second in pairwise(ids):
        alone = (singles[second] + 1) / total
        nats -= math.log((pairs[first, second] + alone) / (firsts[first] + 1))
    return nats / (len(ids) - 1)
