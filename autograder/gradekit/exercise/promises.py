"""The promises of a task: each sentence of its docstring beside the checks that hold it.

    exercise.promises(
        {
            "A score of -inf gets probability 0": "minus_infinity",
            "same shape as `x`": "shape_and_dtype any_axis",
        },
        explained=["scores of any shape"],
    )

A table quotes a part of the docstring, one sentence or several or a part of one, and names the
checks that fail if it is broken. What promises nothing (it defines a word, or limits what the
inputs can be) is quoted in `explained`. ``lab verify`` reports each sentence of which no entry
quotes a part, so a new promise without a check is seen.

Tested in tests/gradekit/exercise/test_promises.py.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

_HEADING = re.compile(r"(Args|Returns|Yields|Raises|Attributes|Example|Examples):")
_ENTRY = re.compile(r"\*{0,2}\w+(, \*{0,2}\w+)*: ")
# The end of a sentence, unless it is the dot of an abbreviation such as "e.g.".
_END = re.compile(r"(?<!\be\.g\.)(?<!\bi\.e\.)(?<=[.?!])\)?(?=\s+[^\sa-z])")


@dataclass(frozen=True)
class Promises:
    """An exercise's table of promises.

    Attributes:
        checks: the names of the checks that hold it, by the quoted part of the docstring.
        explained: quoted parts that promise nothing that a check could hold.
    """

    checks: Mapping[str, tuple[str, ...]]
    explained: tuple[str, ...] = ()

    @classmethod
    def of(cls, checks: Mapping[str, str], explained: Sequence[str] = ()) -> Promises:
        """The table with the checks' names divided at spaces, as an exercise writes them."""
        return cls({part: tuple(names.split()) for part, names in checks.items()}, tuple(explained))

    @property
    def quotes(self) -> tuple[str, ...]:
        """All quoted parts."""
        return (*self.checks, *self.explained)


@dataclass(frozen=True)
class Sentence:
    """One sentence of a docstring and what holds it.

    Attributes:
        of: the function, class or method that it is about.
        text: the sentence.
        checks: names of the checks that hold it.
        explained: whether the exercise says that part of it promises nothing.
    """

    of: str
    text: str
    checks: tuple[str, ...] = ()
    explained: bool = False


def task_sentences(references: Sequence[Callable[..., Any]]) -> list[Sentence]:
    """The sentences of the docstrings of `references`; of a class, also of its public methods."""
    return [
        Sentence(name, text)
        for reference in references
        for name, item in _documented(reference)
        for text in docstring_sentences(inspect.getdoc(item) or "")
    ]


def docstring_sentences(docstring: str) -> list[str]:
    """The sentences of a docstring, without headings and without its source."""
    found: list[str] = []
    for paragraph in _paragraphs(docstring):
        if not paragraph.startswith("Source:"):
            found += [part.strip() for part in _END.sub(r"\g<0>\n", paragraph).split("\n")]
    return found


def table(
    sentences: Sequence[Sentence], promises: Promises, checks: Collection[str]
) -> tuple[list[Sentence], list[str]]:
    """The sentences with the checks that hold them, and what is wrong with the table.

    Args:
        sentences: those of the task, from :func:`task_sentences`.
        promises: the exercise's table.
        checks: the names of the exercise's checks.
    """
    held, wrong = list(sentences), []
    for quote in promises.quotes:
        names = promises.checks.get(quote, ())
        wrong += [
            f"its promise “{quote}” names the check {name!r}, which does not exist"
            for name in names
            if name not in checks
        ]
        if quote in promises.checks and not names:
            wrong.append(f"its promise “{quote}” names no check")
        places = _places(_plain(quote), sentences)
        if not places:
            wrong.append(f"its promises quote “{quote}”, which the docstring does not hold once")
        for place in places:
            one = held[place]
            more = tuple(name for name in names if name not in one.checks)
            explained = one.explained or quote in promises.explained
            held[place] = replace(one, checks=(*one.checks, *more), explained=explained)
    wrong += [
        f"no check holds “{one.text}” (docstring of {one.of})"
        for one in held
        if not one.checks and not one.explained
    ]
    return held, wrong


def _places(quote: str, sentences: Sequence[Sentence]) -> list[int]:
    """Which sentences `quote` is a part of; none unless their text holds it exactly once."""
    text = " ".join(_plain(one.text) for one in sentences)
    if not quote or text.count(quote) != 1:
        return []
    start = text.index(quote)
    places, position = [], 0
    for place, one in enumerate(sentences):
        end = position + len(_plain(one.text))
        if position < start + len(quote) and start < end:
            places.append(place)
        position = end + 1
    return places


def _documented(reference: Any) -> Iterator[tuple[str, Any]]:
    yield reference.__name__, reference
    for name, member in vars(reference).items() if inspect.isclass(reference) else ():
        if inspect.isfunction(member) and member.__doc__ and not name.startswith("_"):
            yield f"{reference.__name__}.{name}", member


def _paragraphs(docstring: str) -> Iterator[str]:
    """Pieces in which sentences end: paragraphs, and the entries of a list of arguments."""
    lines: list[str] = []
    for line in [*docstring.splitlines(), ""]:
        text = line.strip()
        heading = _HEADING.fullmatch(text)
        starts = line.startswith("    ") and not line.startswith("     ") and _ENTRY.match(text)
        if lines and (not text or heading or starts):
            yield " ".join(lines)
            lines = []
        if text and not heading:
            lines.append(text)


def _plain(text: str) -> str:
    return " ".join(text.split())
