"""Questions about university towns, and short answers: a language of some fifty words.

Lecture W asks "Where is University of Waterloo?" and writes "It is at Waterloo", word by word. This
is a language in which a very small Transformer can learn that: four kinds of questions about 24
towns. A question with "Is" always names a wrong place, because one layer does not learn to compare.
`pairs` leaves lecture W's own question out, so a model that answers it has not seen it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from attnlab.data.vocabulary import Words

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
