"""Questions about university towns, and short answers: a language of some fifty words.

Lecture W asks "Where is University of Waterloo?" and writes "It is at Waterloo", word by word. This
is a language in which a very small Transformer can learn that: four kinds of questions about 24
towns. A question with "Is" always names a wrong place, because one layer does not learn to compare.
`pairs` leaves lecture W's own question out, so a model that answers it has not seen it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from attnlab.data.dates import BOS, EOS, PAD

COUNTRY_OF = {
    "Waterloo": "Canada", "Toronto": "Canada", "Oxford": "England", "Cambridge": "England",
    "Zurich": "Switzerland", "Geneva": "Switzerland", "Vienna": "Austria", "Graz": "Austria",
    "Oslo": "Norway", "Bergen": "Norway", "Lund": "Sweden", "Uppsala": "Sweden",
    "Bologna": "Italy", "Padua": "Italy", "Lisbon": "Portugal", "Coimbra": "Portugal",
    "Kyoto": "Japan", "Tokyo": "Japan", "Delhi": "India", "Mumbai": "India",
    "Cairo": "Egypt", "Nairobi": "Kenya", "Lima": "Peru", "Seoul": "Korea",
}  # fmt: skip
COUNTRIES = tuple(dict.fromkeys(COUNTRY_OF.values()))


class Pair(NamedTuple):
    """A question and its answer, words with a space between them."""

    question: str
    answer: str


LECTURE = Pair("Where is University of Waterloo ?", "It is at Waterloo")


@dataclass(frozen=True)
class Words:
    """A vocabulary of words; 0, 1 and 2 are PAD, BOS and EOS.

    Attributes:
        words: the words with the numbers 3, 4, 5 and so on.
    """

    words: tuple[str, ...]

    def __len__(self) -> int:
        return 3 + len(self.words)

    def encode(self, text: str) -> list[int]:
        """The numbers of a text's words.

        Raises:
            ValueError: a word is not in the vocabulary.
        """
        unknown = [word for word in text.split() if word not in self.words]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is not in this vocabulary of {len(self.words)} words")
        return [3 + self.words.index(word) for word in text.split()]

    def name(self, number: int) -> str:
        """The word with a number, or the name of a special symbol."""
        special = {PAD: "PAD", BOS: "START", EOS: "END"}
        return special.get(number) or self.words[number - 3]

    def decode(self, numbers: Sequence[int]) -> str:
        """The text of some numbers, up to the first EOS; BOS and PAD are skipped."""
        text = []
        for number in map(int, numbers):
            if number == EOS:
                break
            text += [self.name(number)] if number > EOS else []
        return " ".join(text)


_OTHERS = ("Where", "is", "University", "of", "?", "It", "at", "in", "Is", "No", "it")
WORDS = Words((*_OTHERS, *COUNTRY_OF, *COUNTRIES))


def pairs() -> list[Pair]:
    """All questions of the four kinds with their answers, except lecture W's own."""
    made = []
    for town, country in COUNTRY_OF.items():
        made += [
            Pair(f"Where is University of {town} ?", f"It is at {town}"),
            Pair(f"Where is {town} ?", f"It is in {country}"),
        ]
        made += [
            Pair(f"Is University of {town} at {other} ?", f"No it is at {town}")
            for other in COUNTRY_OF
            if other != town
        ]
        made += [
            Pair(f"Is {town} in {other} ?", f"No it is in {country}")
            for other in COUNTRIES
            if other != country
        ]
    made.remove(LECTURE)
    return made


def encoded(some: Sequence[Pair]) -> list[tuple[list[int], list[int]]]:
    """The pairs as numbers, as `attnlab.batching.make_batch` takes them."""
    return [(WORDS.encode(pair.question), WORDS.encode(pair.answer)) for pair in some]
