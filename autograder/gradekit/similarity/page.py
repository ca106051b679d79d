"""The pairs as one page, with the two answers side by side; it needs no network and no script.

Every word of a student's is escaped. The page says what agrees and what to look at, and never why.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gradekit.course import Course
from gradekit.feedback.html import template, write_report_page
from gradekit.similarity.compare import Agreement, Pair, Similarity, shared_spans
from gradekit.similarity.words import by_chance, groups_in_words
from gradekit.wording import counted

FOLDER = "reports"
MOST_PAIRS = 40
MOST_TEXT = 12_000  # characters of one answer
_LINE_ENDS = re.compile(r"(\n\s*)")
_TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Piece:
    """A part of a text, and whether both hand-ins have it."""

    text: str
    shared: bool


@dataclass(frozen=True)
class StepView:
    """One step of a pair: what agrees, and the two texts in pieces."""

    title: str
    agreement: Agreement
    first: tuple[Piece, ...]
    second: tuple[Piece, ...]


@dataclass(frozen=True)
class PairView:
    """One pair on the page."""

    pair: Pair
    steps: tuple[StepView, ...]


def write_page(course: Course, found: Similarity, out: Path | None = None) -> Path:
    """Write the page, in the place of an earlier one.

    Args:
        out: the file; by default ``reports/<lab>-similar.html``.

    Raises:
        ReportError: the file cannot be written.
    """
    path = out or course.root / FOLDER / f"{found.texts.lab}-similar.html"
    return write_report_page(path, render(course, found))


def render(course: Course, found: Similarity) -> str:
    """The page as HTML, in one file."""
    lab = found.texts.lab
    return template("similar.html.j2", _TEMPLATES).render(
        course=course.values.course.name,
        lab=lab,
        title=course.lab(lab).title,
        found=found,
        pairs=[pair_view(found, pair) for pair in found.pairs[:MOST_PAIRS]],
        groups=groups_in_words(found),
        by_chance=by_chance,
        counted=counted,
    )


def pair_view(found: Similarity, pair: Pair) -> PairView:
    """A pair with its texts, the strongest agreement first."""
    spans = shared_spans(pair)
    return PairView(
        pair,
        tuple(
            StepView(
                found.texts.steps[agreement.step],
                agreement,
                tuple(_pieces(pair.first.text(agreement.step), spans[agreement.step][0])),
                tuple(_pieces(pair.second.text(agreement.step), spans[agreement.step][1])),
            )
            for agreement in pair.agreements
        ),
    )


def _pieces(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[Piece]:
    """The text cut at the ends of its shared parts; a long one ends with a remark."""
    shown, position = text[:MOST_TEXT], 0
    for start, stop in spans:
        yield Piece(shown[position:start], False)
        # The indentation of a line is nothing that two students share.
        for number, part in enumerate(_LINE_ENDS.split(shown[start:stop])):
            yield Piece(part, number % 2 == 0)
        position = stop
    yield Piece(shown[position:], False)
    if len(text) > len(shown):
        yield Piece(f"\n[{len(text) - len(shown)} more characters are not shown]", False)
