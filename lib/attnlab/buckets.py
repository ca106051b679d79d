"""Batches of sentences of about equal length, in another order in every epoch."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import torch

from attnlab.devices import map_tensors

B = TypeVar("B")


def bucket_batches(lengths: Sequence[int], max_tokens: int, seed: int) -> list[list[int]]:
    """Sort sentences into batches of about equal length, so that little padding is needed.

    A batch is padded to its longest sentence, so it costs (number of sentences) · (longest length)
    tokens.

    Args:
        lengths: of each sentence, 1 or more, in a list or a tuple. They stay unchanged.
        max_tokens: the most that a batch may cost.
        seed: of the order, 0 or more. Equal seeds give equal batches. With another seed, batches
            come in another order, and other sentences of the same length are together. Long and
            short batches are mixed. The global random states stay as they are.

    Returns:
        A list with a list for each batch: the indices of its sentences. Every sentence is in
        exactly one batch, and no batch is empty. If there are a hundred batches or more of natural
        sentences, all of them shorter than a quarter of `max_tokens`, less than 15 % of all tokens
        are padding, and the average batch costs at least 70 % of `max_tokens`. If all sentences
        are equally long, at most one batch has room for another sentence.

    Raises:
        ValueError: a sentence alone is longer than `max_tokens`.

    Source: Attention Is All You Need, section 5.1; lecture C.
    """
    # blank: shuffle, sort by length, cut into batches, shuffle those
    if max(lengths, default=0) > max_tokens:
        raise ValueError(
            f"a sentence has {max(lengths)} tokens, and a batch at most {max_tokens}; "
            "allow more, or leave the sentence out"
        )
    generator = torch.Generator().manual_seed(seed)
    order: list[int] = torch.randperm(len(lengths), generator=generator).tolist()
    order.sort(key=lambda index: lengths[index])  # equal lengths keep their new order
    batches: list[list[int]] = []
    for index in order:
        # The newest sentence is the longest of its batch.
        if not batches or lengths[index] * (len(batches[-1]) + 1) > max_tokens:
            batches.append([])
        batches[-1].append(index)
    return [batches[place] for place in torch.randperm(len(batches), generator=generator).tolist()]
    # end blank


def padding_share(lengths: Sequence[int], batches: Sequence[Sequence[int]]) -> float:
    """Which share of all tokens is padding if each batch is padded to its longest sentence.

    Args:
        lengths: of each sentence.
        batches: indices of sentences; none of them empty.
    """
    spent = sum(len(batch) * max(lengths[index] for index in batch) for batch in batches)
    needed = sum(lengths[index] for batch in batches for index in batch)
    return 1 - needed / spent


@dataclass(frozen=True)
class Bucketed(Generic[B]):
    """Examples as batches of about equal length, in an order that only seed and epoch decide.

    So training can go on in the middle of an epoch, and several processes make the same batches
    without exchanging messages.

    Attributes:
        examples: all of them.
        lengths: the number of tokens of each example.
        collate: makes a batch of some examples: a structure of tensors with one row each.
        max_tokens: the most tokens of a batch, padding included.
        seed: of the order.
        bucket: cuts an epoch into batches.
    """

    examples: Sequence[Any]
    lengths: Sequence[int]
    collate: Callable[[list[Any]], B]
    max_tokens: int
    seed: int = 0
    bucket: Callable[[Sequence[int], int, int], list[list[int]]] = bucket_batches

    def epoch(self, number: int, start: int = 0) -> Iterator[B]:
        """The batches of an epoch.

        Args:
            number: of the epoch, from 0.
            start: how many batches to leave out at the beginning; they cost nothing.

        Raises:
            ValueError: an example alone is longer than `max_tokens`.
        """
        # torch's generator looks at 32 bits of a seed, so two numbers must be mixed into them.
        seed = zlib.crc32(f"{self.seed} {number}".encode())
        for batch in self.bucket(self.lengths, self.max_tokens, seed)[start:]:
            yield self.collate([self.examples[index] for index in batch])


def share(batch: B, part: int, parts: int) -> B:
    """One of several parts of a batch: its rows number `part`, `part + parts`, and so on.

    Every row is in one part. A part of a small batch may have no rows.

    Args:
        batch: a structure of tensors whose first dimension counts the rows.
        part: which one, from 0.
        parts: how many there are.
    """
    return map_tensors(batch, lambda tensor: tensor[part::parts])
