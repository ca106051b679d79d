"""Whole numbers in words, in English and in French: any number of pairs, from a seed.

"ninety-nine thousand two hundred" becomes "quatre-vingt-dix-neuf mille deux cents". French counts
the tens from seventy on by twenties, and writes an s only where nothing follows. The number itself
decides whether it belongs to the train, validation or test split, so two splits never share a
number, whatever their seeds.

The words are those of Unicode's CLDR (rules "spellout-numbering"), for numbers from 1 to 999,999.
`tests/attnlab/data/test_numbers.py` compares them with the package unicode-rbnf, which reads CLDR's
own rules.
"""

from __future__ import annotations

import random
import zlib
from typing import NamedTuple

from attnlab.data.vocabulary import Words

MOST = 999_999

_ENGLISH = (
    "", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_ENGLISH_TENS = (
    "", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
)  # fmt: skip
_FRENCH = (
    "", "un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix", "onze",
    "douze", "treize", "quatorze", "quinze", "seize",
)  # fmt: skip
_FRENCH_TENS = ("", "", "vingt", "trente", "quarante", "cinquante", "soixante")
_SPLITS = ("test", "validation", "train")
_SHARES = {"test": 0.1, "validation": 0.1, "train": 0.8}


class Pair(NamedTuple):
    """One number twice: in English words and in French words."""

    english: str
    french: str


SOURCE = Words((*_ENGLISH[1:], *_ENGLISH_TENS[2:], "hundred", "thousand", "-"))
TARGET = Words(
    (*_FRENCH[1:], *_FRENCH_TENS[2:], "vingts", "cent", "cents", "mille", "et", "-")
)  # fmt: skip


def pairs(count: int, seed: int, split: str = "train") -> list[Pair]:
    """`count` pairs of different numbers of one split.

    Args:
        count: the number of pairs.
        seed: equal seeds make equal pairs, on every machine.
        split: "train", "validation" or "test". No number occurs in two of them.

    Raises:
        ValueError: `split` is another word; or the split does not have `count` numbers, or so few
            more that drawing them takes long.
    """
    if split not in _SPLITS:
        raise ValueError(f"no split {split!r}; there are {', '.join(_SPLITS)}")
    most = int(MOST * _SHARES[split] / 2)  # beyond, most draws are repeated
    if count > most:
        raise ValueError(f"{count} pairs of {split!r}; it has {most} at most")
    rng = random.Random(seed)  # noqa: S311 - not for secrets
    found: dict[int, None] = {}
    while len(found) < count:
        number = 1 + int(rng.random() * MOST)
        if split_of(number) == split:
            found[number] = None
    return [Pair(english(number), french(number)) for number in found]


def train() -> list[Pair]:
    """The lab's 6,000 pairs for training."""
    return pairs(6000, seed=1, split="train")


def validation() -> list[Pair]:
    """The lab's 500 pairs for evaluation; none of their numbers is in `train()`."""
    return pairs(500, seed=2, split="validation")


def split_of(number: int) -> str:
    """The split that a number belongs to: one in ten is "test", one in ten "validation"."""
    return _SPLITS[min(zlib.crc32(str(number).encode()) % 10, 2)]


def english(number: int) -> str:
    """A number from 1 to 999,999 in English words: 21,080 is "twenty-one thousand eighty"."""
    thousands, rest = divmod(_checked(number), 1000)
    words = [_english_below_thousand(thousands), "thousand"] if thousands else []
    return " ".join([*words, _english_below_thousand(rest)]).strip()


def french(number: int) -> str:
    """A number from 1 to 999,999 in French words: 21,080 is "vingt-et-un mille quatre-vingts"."""
    thousands, rest = divmod(_checked(number), 1000)
    words = [_french_below_thousand(thousands, last=False)] if thousands > 1 else []
    words += ["mille"] if thousands else []
    return " ".join([*words, _french_below_thousand(rest, last=True)]).strip()


def _english_below_thousand(number: int) -> str:
    hundreds, rest = divmod(number, 100)
    words = [_ENGLISH[hundreds], "hundred"] if hundreds else []
    if rest >= 20:
        words.append("-".join(filter(None, (_ENGLISH_TENS[rest // 10], _ENGLISH[rest % 10]))))
    elif rest:
        words.append(_ENGLISH[rest])
    return " ".join(words)


def _french_below_thousand(number: int, last: bool) -> str:
    """The words of a number below 1,000; `last`: nothing follows, so "cents" has its s."""
    hundreds, rest = divmod(number, 100)
    words = [_FRENCH[hundreds]] if hundreds > 1 else []
    if hundreds:
        words.append("cents" if hundreds > 1 and not rest and last else "cent")
    if rest:
        words.append(_french_below_hundred(rest, last))
    return " ".join(words)


def _french_below_hundred(number: int, last: bool) -> str:
    if number <= 16:
        return _FRENCH[number]
    if number < 20:
        return f"dix-{_FRENCH[number - 10]}"
    if number == 80:
        return "quatre-vingts" if last else "quatre-vingt"
    if number > 80:
        return f"quatre-vingt-{_french_below_hundred(number - 80, last)}"
    ten = min(number // 10, 6)  # 70 to 79 are sixty and ten to nineteen
    rest = number - 10 * ten
    if not rest:
        return _FRENCH_TENS[ten]
    joint = "-et-" if rest in (1, 11) else "-"
    return f"{_FRENCH_TENS[ten]}{joint}{_french_below_hundred(rest, last)}"


def _checked(number: int) -> int:
    if not 1 <= number <= MOST:
        raise ValueError(f"{number} is not from 1 to {MOST:,}")
    return number
