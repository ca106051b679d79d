"""Byte-pair encoding: learning merges from words, and turning text into tokens and back.

    words = count_pieces(text)                          # {b" low": 5, b" lower": 2, …}
    merges = train_bpe(words, 300)                      # [(b"e", b"s"), (b"es", b"t"), …]
    ids = encode("the lowest", merges)
    decode(ids, merges)                                 # "the lowest"

A token is a string of bytes. Its number: a single byte has its value, 0 to 255; the product of
merge i has 256 + i; special tokens follow. Text is first cut into pieces, roughly words with the
space before them, and no token reaches beyond a piece.

Source: Neural Machine Translation of Rare Words with Subword Units (Sennrich et al. 2016); Language
Models are Unsupervised Multitask Learners (Radford et al. 2019), section 2.2; lectures G, N.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import regex

if TYPE_CHECKING:
    import tiktoken

Pair = tuple[bytes, bytes]

# How GPT-2 cuts text: endings such as 's, a word with its space, digits, other signs, white space.
GPT2_PATTERN = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""


def count_pieces(text: str, pattern: str = GPT2_PATTERN) -> dict[bytes, int]:
    """Count the pieces of a text, in the order in which they first appear.

    Args:
        text: any text.
        pattern: what a piece is, as a regular expression of the package `regex`.

    Returns:
        For each different piece, as UTF-8: how often it stands in the text.
    """
    return {piece.encode(): count for piece, count in Counter(regex.findall(pattern, text)).items()}


def merge_pair(parts: list[bytes], pair: Pair) -> list[bytes]:
    """Join a pair wherever its two parts stand side by side, from the left and without overlap.

    So with the pair (a, a), `a a a` becomes `aa a`.

    Args:
        parts: the parts of a word, from left to right; the list stays unchanged. It may be empty.
        pair: the two parts to join; they may be equal.

    Returns:
        A new list: the parts after the merge. All other parts stay as they are.
    """
    # blank: walk through the parts
    joined: list[bytes] = []
    at = 0
    while at < len(parts):
        if parts[at : at + 2] == list(pair):
            joined.append(pair[0] + pair[1])
            at += 2
        else:
            joined.append(parts[at])
            at += 1
    return joined
    # end blank


def train_bpe(
    words: Mapping[bytes, int], n_merges: int, *, tie: Literal["first", "greatest"] = "first"
) -> list[Pair]:
    """Learn merges: again and again, join the pair of neighbours that is most frequent.

    At first each word is cut into its bytes. A pair is counted at every place where its two parts
    stand side by side in a word, and each place counts as often as the word occurs: `aaa` holds
    (a, a) twice. The most frequent pair is joined in all words, as `merge_pair` does. Then the
    pairs of the new parts are counted. No pair reaches from one word into the next.

    Args:
        words: how often each word occurs, at least once; the mapping stays unchanged. A word may be
            empty.
        n_merges: the number of merges. Fewer are made only if no word has two parts left.
        tie: which of several most frequent pairs is joined. "first": the one that you meet first
            when you read the words in the mapping's order, each from left to right, as they are cut
            at that moment. "greatest": the greatest as Python compares tuples of bytes.

    Returns:
        The merges in the order in which they were made, each a tuple of the two parts.

    Source: Sennrich et al. 2016, algorithm 1.
    """
    # blank: count pairs, choose one, join it everywhere; repeat
    cut = [([bytes([byte]) for byte in word], count) for word, count in words.items()]
    merges: list[Pair] = []
    while len(merges) < n_merges:
        counts: Counter[Pair] = Counter()
        for parts, count in cut:
            for pair in pairwise(parts):
                counts[pair] += count
        if not counts:
            break
        most = max(counts.values())
        candidates = [pair for pair, count in counts.items() if count == most]
        best = candidates[0] if tie == "first" else max(candidates)
        merges.append(best)
        cut = [(merge_pair(parts, best), count) for parts, count in cut]
    return merges
    # end blank


def tokens_of(piece: bytes, ranks: Mapping[Pair, int]) -> list[bytes]:
    """Cut one piece into tokens: merges are applied in the order in which they were learned.

    The piece is cut into bytes. Of all pairs of neighbours that are merges, the one with the lowest
    rank is joined wherever it stands, from the left and without overlap; then again, until no pair
    of neighbours is a merge.

    Args:
        piece: the bytes of a piece; it may be empty.
        ranks: for each merge, its place in the order of learning, from 0.

    Returns:
        The tokens, from left to right; together they are the piece.
    """
    # blank: join the pair that was learned earliest, until there is none
    parts = [bytes([byte]) for byte in piece]
    while pairs := [pair for pair in pairwise(parts) if pair in ranks]:
        parts = merge_pair(parts, min(pairs, key=ranks.__getitem__))
    return parts
    # end blank


def encode(
    text: str,
    merges: Sequence[Pair],
    pattern: str = GPT2_PATTERN,
    special: Sequence[str] = (),
) -> list[int]:
    """Turn text into token numbers.

    Special tokens are cut out first, wherever they stand, the longer first where two begin at one
    place. The rest is cut into pieces, and each piece into tokens; no token reaches from one piece
    into the next. The number of a byte is its value, that of the product of merge i is 256 + i, and
    special tokens follow. Text that looks like a special token and is not in `special` is ordinary
    text.

    Args:
        text: any text, which may be empty.
        merges: from `train_bpe`, or made by hand; they stay unchanged.
        pattern: what a piece is, for the package `regex`; a match is never empty.
        special: the special tokens; their numbers have the same order. None is empty.

    Returns:
        The numbers of the tokens. Nothing of the text is lost: `decode` gives it back.
    """
    # blank: cut at special tokens, then into pieces, then into tokens
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    numbers = {bytes([byte]): byte for byte in range(256)}
    numbers |= {first + second: 256 + rank for (first, second), rank in ranks.items()}
    specials = {token: 256 + len(merges) + i for i, token in enumerate(special)}
    cuts = "|".join(regex.escape(token) for token in sorted(special, key=len, reverse=True))
    ids: list[int] = []
    for part in regex.split(f"({cuts})", text) if cuts else [text]:
        if part in specials:
            ids.append(specials[part])
            continue
        for piece in regex.findall(pattern, part):
            ids.extend(numbers[token] for token in tokens_of(piece.encode(), ranks))
    return ids
    # end blank


def decode(ids: Sequence[int], merges: Sequence[Pair], special: Sequence[str] = ()) -> str:
    """Turn token numbers back into text.

    The bytes of all tokens are joined first, because one character may lie in several tokens.

    Args:
        ids: numbers of tokens.
        merges: as in `encode`.
        special: the special tokens, as in `encode`.

    Returns:
        The text. Bytes that are no UTF-8, such as half a character, become U+FFFD.

    Raises:
        ValueError: a number has no token.
    """
    # blank: look up each token's bytes, join them, decode
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [first + second for first, second in merges]
    tokens += [token.encode() for token in special]
    wrong = [number for number in ids if not 0 <= number < len(tokens)]
    if wrong:
        raise ValueError(f"{wrong[0]} is not a token: the numbers go from 0 to {len(tokens) - 1}")
    return b"".join(tokens[number] for number in ids).decode("utf-8", errors="replace")
    # end blank


def token_numbers(merges: Sequence[Pair]) -> dict[bytes, int]:
    """The number of each token but the special ones.

    Raises:
        ValueError: two merges have the same product, so a number would be missing.
    """
    numbers = {bytes([byte]): byte for byte in range(256)}
    for i, (first, second) in enumerate(merges):
        if first + second in numbers:
            raise ValueError(f"two merges make {first + second!r}")
        numbers[first + second] = 256 + i
    return numbers


def as_tiktoken(
    merges: Sequence[Pair], pattern: str = GPT2_PATTERN, special: Sequence[str] = ()
) -> tiktoken.Encoding:
    """The same tokeniser as an `Encoding` of the package tiktoken, which is fast.

    Args:
        merges: from `train_bpe`; trained on pieces of the same pattern.
        pattern: what a piece is.
        special: the special tokens.

    Returns:
        An encoding whose `encode(text, allowed_special="all")` gives what `encode` gives, unless
        one special token begins with another: tiktoken then takes either.
    """
    import tiktoken

    return tiktoken.Encoding(
        "trained",
        pat_str=pattern,
        mergeable_ranks=token_numbers(merges),
        special_tokens={token: 256 + len(merges) + i for i, token in enumerate(special)},
    )
