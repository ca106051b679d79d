"""Two-pattern retrieval: a shelf of lettered boxes, and a question about two of them at once.

Each of eight boxes on a shelf has a letter on its lid and a digit inside; no two lids are the same.
A question names two of the letters, and its answer is the digit in the first box and the digit in
the second, in this order: "What is in C, and what in F?" A model must look at two places at the
same time, and must not mix up the two digits.

The shelf itself decides whether it belongs to the train, validation or test split, so two splits
never share a shelf, whatever their seeds.
"""

from __future__ import annotations

import random
from typing import NamedTuple

import torch
from torch import Tensor

LETTERS = "ABCDEFGHIJKL"
DIGITS = 10
BOXES = 8

_SPLITS = {"train": (0, 1), "validation": (2,), "test": (3,)}  # quarters of all shelves
_PRIME = 1009
_BYTES = 4  # random bytes for each entry that is sorted into an order: ties are very rare


class Questions(NamedTuple):
    """Some shelves with a question about each, as tensors of int64.

    Attributes:
        letters: (B, 8), the letters on the lids, 0 for A … 11 for L.
        digits: (B, 8), the digit in each box.
        asked: (B, 2), the letters in the question, first and second.
        places: (B, 2), the positions of these two boxes on the shelf.
        answers: (B, 2), the digits in them.
    """

    letters: Tensor
    digits: Tensor
    asked: Tensor
    places: Tensor
    answers: Tensor


def questions(split: str, count: int, seed: int = 0) -> Questions:
    """Draw shelves with a question about each. No shelf can be in two splits.

    Args:
        split: "train", "validation" or "test".
        count: the number of questions, 1 or more.
        seed: equal seeds give equal bytes, on every machine.

    Raises:
        ValueError: `split` is another word, or `count` is less than 1.
    """
    if split not in _SPLITS:
        raise ValueError(f"no split {split!r}; there are {', '.join(_SPLITS)}")
    if count < 1:
        raise ValueError(f"{count} questions: ask for 1 or more")
    chance = random.Random(f"retrieval {split} {seed}")  # noqa: S311 - not for secrets
    kept: list[Questions] = []
    while sum(len(drawn.letters) for drawn in kept) < count:
        drawn = _draw(1024, chance)
        quarter = _quarter(drawn.letters, drawn.digits)
        inside = torch.isin(quarter, torch.tensor(_SPLITS[split]))
        kept.append(Questions(*(column[inside] for column in drawn)))
    return Questions(*(torch.cat(column)[:count] for column in zip(*kept, strict=True)))


def batches(some: Questions, size: int, seed: int) -> list[Questions]:
    """All questions once, in a random order, in batches of `size`; the remainder is not used.

    Args:
        some: the questions.
        size: the number of questions in each batch.
        seed: equal seeds give the same order, on every machine.
    """
    count = len(some.letters)
    order = _order(1, count, random.Random(f"order {seed}"))[0]  # noqa: S311
    return [
        Questions(*(column[rows] for column in some))
        for rows in order[: count - count % size].split(size)
    ]


def as_text(some: Questions, row: int) -> str:
    """One question with its shelf and its answer, as a line of text."""
    lids = [LETTERS[letter] for letter in some.letters[row]]
    shelf = "  ".join(f"{lid}:{digit}" for lid, digit in zip(lids, some.digits[row], strict=True))
    first, second = (LETTERS[letter] for letter in some.asked[row])
    answer = " and ".join(str(int(digit)) for digit in some.answers[row])
    return f"{shelf}   What is in {first}, and what in {second}?   {answer}"


def _draw(count: int, chance: random.Random) -> Questions:
    letters = _order(count, len(LETTERS), chance)[:, :BOXES]
    places = _order(count, BOXES, chance)[:, :2]
    digits = _numbers(count, BOXES, chance) * DIGITS >> 8 * _BYTES
    return Questions(letters, digits, letters.gather(1, places), places, digits.gather(1, places))


def _order(rows: int, length: int, chance: random.Random) -> Tensor:
    """(rows, length): the numbers 0 … length-1 in a random order in each row."""
    return _numbers(rows, length, chance).argsort(dim=1, stable=True)


def _numbers(rows: int, length: int, chance: random.Random) -> Tensor:
    """(rows, length): random whole numbers below 256 ** _BYTES, from little-endian bytes."""
    drawn = torch.frombuffer(bytearray(chance.randbytes(rows * length * _BYTES)), dtype=torch.uint8)
    weight = 256 ** torch.arange(_BYTES)
    return (drawn.reshape(rows, length, _BYTES).long() * weight).sum(-1)


def _quarter(letters: Tensor, digits: Tensor) -> Tensor:
    """(B,): the quarter, 0 to 3, of all possible shelves that each one belongs to."""
    contents = letters * DIGITS + digits  # (B, 8), below 120
    weight = torch.tensor([pow(211, power, _PRIME) for power in range(BOXES)])
    return (contents * weight).sum(1) % _PRIME % 4
