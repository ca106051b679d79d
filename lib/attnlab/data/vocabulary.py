"""A vocabulary of words: texts as numbers, and numbers as texts.

Tested in tests/attnlab/data/test_numbers.py and test_places.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from attnlab.data.dates import BOS, EOS, PAD


@dataclass(frozen=True)
class Words:
    """A vocabulary of words, with "-" as a word of its own; 0, 1 and 2 are PAD, BOS and EOS.

    Attributes:
        words: the words with the numbers 3, 4, 5 and so on.
    """

    words: tuple[str, ...]

    def __len__(self) -> int:
        return 3 + len(self.words)

    def encode(self, text: str, ends: bool = False) -> list[int]:
        """The numbers of a text's words; with `ends`, between BOS and EOS.

        Raises:
            ValueError: a word is not in the vocabulary.
        """
        found = split_words(text)
        unknown = [word for word in found if word not in self.words]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is not in this vocabulary of {len(self.words)} words")
        ids = [3 + self.words.index(word) for word in found]
        return [BOS, *ids, EOS] if ends else ids

    def name(self, number: int) -> str:
        """The word with a number, or the name of a special symbol."""
        special = {PAD: "PAD", BOS: "START", EOS: "END"}
        return special.get(number) or self.words[number - 3]

    def decode(self, numbers: Sequence[int]) -> str:
        """The text of some numbers, up to the first EOS; BOS and PAD are skipped."""
        found = []
        for number in map(int, numbers):
            if number == EOS:
                break
            if number > EOS:
                found.append(self.name(number))
        return " ".join(found).replace(" - ", "-")


def split_words(text: str) -> list[str]:
    """The words of a text; each "-" is a word."""
    return re.findall(r"[^\s-]+|-", text)
