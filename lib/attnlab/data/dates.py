"""Dates as people write them, and the same dates in ISO 8601: any number of them, from a seed.

"thursday, march 5th 1998" becomes "1998-03-05", and "march 1998" becomes "1998-03". No format is
ambiguous (05/03/98 does not occur). The date itself decides whether it belongs to the train,
validation or test split, so two splits never share a date, whatever their seeds.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from torch import Tensor

PAD, BOS, EOS = 0, 1, 2
FIRST_YEAR, LAST_YEAR = 1900, 2099

_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# {d} 5, {dd} 05, {th} 5th, {m} march, {mon} mar, {mm} 03, {w} thursday, {wd} thu, {y} 1998
_DAY_FORMATS = (
    "{d} {m} {y}", "{m} {d}, {y}", "{m} {th}, {y}", "{th} of {m} {y}", "the {th} of {m}, {y}",
    "{dd} {mon} {y}", "{mon} {d}, {y}", "{mon}. {d}, {y}", "{d}-{mon}-{y}", "{mon}/{dd}/{y}",
    "{w}, {d} {m} {y}", "{w} {m} {d} {y}", "{wd} {d} {mon} {y}", "{wd}, {mon} {th}, {y}",
    "{w} the {th} of {m} {y}", "{y}, {m} {d}", "{y} {mon} {dd}", "{m} {th} in the year {y}",
    "{y}/{mm}/{dd}", "{y}.{mm}.{dd}", "{y}{mm}{dd}",
)  # fmt: skip
_MONTH_FORMATS = ("{m} {y}", "{mon} {y}", "{m} of {y}", "{m}, {y}", "{y} {m}", "{mm}/{y}")
_MONTH_SHARE = 0.15
# No pair of `pairs` has one of these.
NEW_FORMATS = (
    "{m} the {th}, {y}", "{y}-{mon}-{dd}", "{w}, {th} {mon} {y}", "in {y} on the {th} of {m}",
    "{y}, {th} of {m}", "{dd}.{mon}.{y}", "the year {y}, {m} {d}", "{d} {m}, a {w}, {y}",
)  # fmt: skip
_SPLITS = ("test", "validation", "train")
_SHARES = {"test": 0.1, "validation": 0.1, "train": 0.8}


class Pair(NamedTuple):
    """One date twice: as a person writes it, and in ISO 8601."""

    human: str
    iso: str


class Batch(NamedTuple):
    """Some pairs as tensors, with shorter rows padded by PAD.

    Attributes:
        source: (B, S), int64, the symbols of the human dates.
        source_mask: (B, S), boolean, True where there is a symbol and False where there is PAD.
        target: (B, T), int64: each row is BOS, the symbols of the ISO date, EOS, and then PAD.
        target_mask: (B, T), boolean, True where `target` is not PAD.
    """

    source: Tensor
    source_mask: Tensor
    target: Tensor
    target_mask: Tensor


@dataclass(frozen=True)
class Symbols:
    """A vocabulary of characters; 0, 1 and 2 are PAD, BOS and EOS.

    Attributes:
        characters: the characters with the numbers 3, 4, 5 and so on.
    """

    characters: str

    def __len__(self) -> int:
        return 3 + len(self.characters)

    def encode(self, text: str, ends: bool = False) -> list[int]:
        """The numbers of a text's characters; with `ends`, between BOS and EOS.

        Raises:
            ValueError: the text contains a character that is not in the vocabulary.
        """
        unknown = set(text) - set(self.characters)
        if unknown:
            raise ValueError(f"{text!r} contains {sorted(unknown)}, not in this vocabulary")
        ids = [3 + self.characters.index(character) for character in text]
        return [BOS, *ids, EOS] if ends else ids

    def decode(self, ids: Sequence[int]) -> str:
        """The text of some numbers, up to the first EOS; BOS and PAD are skipped."""
        text = ""
        for number in map(int, ids):
            if number == EOS:
                break
            text += self.characters[number - 3] if number > EOS else ""
        return text


SOURCE = Symbols(" ,-./0123456789abcdefghijlmnoprstuvwy")
TARGET = Symbols("-0123456789")


def pairs(count: int, seed: int, split: str = "train") -> list[Pair]:
    """`count` different pairs of one split.

    Args:
        count: the number of pairs; tens of thousands are possible.
        seed: equal seeds make equal pairs, on every machine.
        split: "train", "validation" or "test". No ISO date occurs in two of them.

    Raises:
        ValueError: `split` is another word; or the split does not have `count` pairs, or so few
            more that drawing them takes long.
    """
    if split not in _SPLITS:
        raise ValueError(f"no split {split!r}; there are {', '.join(_SPLITS)}")
    days = 365 * (LAST_YEAR - FIRST_YEAR + 1)
    most = int(days * len(_DAY_FORMATS) * _SHARES[split] / 2)  # beyond, most draws are repeated
    if count > most:
        raise ValueError(f"{count} pairs of {split!r}; it has {most} at most")
    rng = random.Random(seed)  # noqa: S311 - not for secrets
    found: dict[Pair, None] = {}
    while len(found) < count:
        pair = _pair(rng)
        if split_of(pair.iso) == split:
            found[pair] = None
    return list(found)


def in_a_new_format(form: str, count: int, seed: int) -> list[Pair]:
    """`count` different pairs of the test split, all in one format that `pairs` never uses.

    Args:
        form: one of `NEW_FORMATS`.
        count: the number of pairs.
        seed: equal seeds make equal pairs, on every machine.
    """
    rng = random.Random(seed)  # noqa: S311 - not for secrets
    found: dict[Pair, None] = {}
    while len(found) < count:
        day = _day(rng)
        if split_of(day.isoformat()) == "test":
            found[Pair(_written(form, day), day.isoformat())] = None
    return list(found)


def train() -> list[Pair]:
    """The lab's 5,500 pairs for training."""
    return pairs(5500, seed=1, split="train")


def validation() -> list[Pair]:
    """The lab's 500 pairs for evaluation; none of their dates is in `train()`."""
    return pairs(500, seed=2, split="validation")


def split_of(iso: str) -> str:
    """The split that an ISO date belongs to: one in ten is "test", one in ten "validation"."""
    return _SPLITS[min(zlib.crc32(iso.encode()) % 10, 2)]


def batch_of(
    some: Sequence[Pair], pad_batch: Callable[..., tuple[Tensor, Tensor, Tensor]]
) -> Batch:
    """Pairs as one batch, padded by the function `pad_batch`."""
    source, _, source_mask = pad_batch([SOURCE.encode(pair.human) for pair in some], PAD)
    target, _, target_mask = pad_batch([TARGET.encode(pair.iso, ends=True) for pair in some], PAD)
    return Batch(source, source_mask, target, target_mask)


def batches(
    some: Sequence[Pair],
    pad_batch: Callable[..., tuple[Tensor, Tensor, Tensor]],
    size: int,
    seed: int,
) -> list[Batch]:
    """All pairs once, in a random order, in batches of `size` (the last may be smaller)."""
    order = list(some)
    rng = random.Random(seed)  # noqa: S311
    for last in range(len(order) - 1, 0, -1):
        pick = _below(rng, last + 1)
        order[last], order[pick] = order[pick], order[last]
    return [
        batch_of(order[start : start + size], pad_batch) for start in range(0, len(order), size)
    ]


def exact_match(written: Sequence[Sequence[int]], some: Sequence[Pair]) -> float:
    """The share of pairs whose ISO date a model wrote without a mistake, from 0 to 1.

    Args:
        written: for each pair the symbols that the model wrote.
        some: the pairs.
    """
    right = [TARGET.decode(ids) == pair.iso for ids, pair in zip(written, some, strict=True)]
    return sum(right) / len(right)


def _pair(rng: random.Random) -> Pair:
    day = _day(rng)
    if rng.random() < _MONTH_SHARE:
        return Pair(_written(_pick(rng, _MONTH_FORMATS), day), f"{day.year}-{day.month:02}")
    iso = f"{day.year}-{day.month:02}-{day.day:02}"
    return Pair(_written(_pick(rng, _DAY_FORMATS), day), iso)


def _day(rng: random.Random) -> date:
    first, after = date(FIRST_YEAR, 1, 1).toordinal(), date(LAST_YEAR + 1, 1, 1).toordinal()
    return date.fromordinal(first + _below(rng, after - first))


def _written(form: str, day: date) -> str:
    month, weekday = _MONTHS[day.month - 1], _WEEKDAYS[day.weekday()]
    return form.format(
        d=day.day, dd=f"{day.day:02}", th=_ordinal(day.day),
        m=month, mon=month[:3], mm=f"{day.month:02}",
        w=weekday, wd=weekday[:3], y=day.year,
    )  # fmt: skip


def _ordinal(number: int) -> str:
    endings = {1: "st", 2: "nd", 3: "rd"}
    ending = "th" if number in (11, 12, 13) else endings.get(number % 10, "th")
    return f"{number}{ending}"


def _pick(rng: random.Random, items: Sequence[str]) -> str:
    return items[_below(rng, len(items))]


def _below(rng: random.Random, stop: int) -> int:
    """A whole number below `stop`; Python promises that `random()` never changes."""
    return int(rng.random() * stop)
