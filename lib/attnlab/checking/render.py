"""A verdict as text for a terminal and as HTML for a notebook.

All text from a student's code is escaped.
"""

from __future__ import annotations

import base64
import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from torch import Tensor

from attnlab.checking.advice import UNCHANGED, is_blank
from attnlab.checking.html import (
    ADVICE_TINT,
    FAIL,
    NOTE,
    NOTE_TINT,
    PASS,
    box,
    card,
    code,
    div,
    fold,
    mark,
    number,
    rich,
)
from attnlab.checking.judges import OWN_ACCEPTED
from attnlab.checking.observation import NONE_TYPE, Raised
from attnlab.checking.picture import Picture, picture
from attnlab.checking.progress import EarlierStep
from attnlab.checking.verdict import ONE_OF, CheckOutcome, Verdict

if TYPE_CHECKING:
    from attnlab.checking.visible import VisibleCheck, VisibleExercise

WIDTH = 88
PRINTED = "What your code printed while it was checked"
_PERHAPS_HERE = "This step may well be right. If it is not, this may be why: "
_SEEN = "What the checks of this step saw"
_NOTHING_YET = "Nothing is written here yet. The line with TODO says what belongs here."


@dataclass(frozen=True)
class Report:
    """A verdict on an exercise's visible checks, ready to be shown.

    Attributes:
        earlier: steps that this one runs on. Those that are not right yet are named first.
        blank: whether nothing of the step itself is written yet.
        printed: what the student's code printed while it was checked.
        changed: a sentence for each name of the step that a cell changed after its definition.
    """

    exercise: VisibleExercise
    verdict: Verdict
    earlier: tuple[EarlierStep, ...] = ()
    blank: bool = False
    printed: str = ""
    changed: tuple[str, ...] = ()

    @property
    def earned(self) -> float:
        """The visible points earned."""
        return self.verdict.earned

    def text(self, coloured: bool = False) -> str:
        """The report as plain text, with terminal colours if `coloured`."""
        paint = _ansi if coloured else _plain
        lines = [paint(self._headline, "1")]
        for sentence in self.changed:
            lines += _paragraph(sentence)
        for outcome in self.verdict.outcomes:
            sign, colour = ("✓", "32") if outcome.passed else ("✗", "31")
            line = f"  {paint(sign, colour)} {outcome.check.title}  {_points(outcome)}"
            lines.append(line.rstrip())
        between = (_SEEN + ":",) if self._first and self._in_general else ()
        for sentence in (*self._first, *self._specific, *between, *self._in_general):
            lines += ["", *_paragraph(sentence)]
        lines += ["", *textwrap.wrap(self._hidden, WIDTH)]
        lines += [f"  · {title}" for title in self._hidden_titles]
        if self.printed.strip():
            lines += ["", f"{PRINTED}:", textwrap.indent(self.printed.rstrip(), "  ")]
        return "\n".join(lines).rstrip()

    def html(self) -> str:
        """The report as HTML without scripts."""
        rows = "".join(map(_row, self.verdict.outcomes))
        changed = div("margin-bottom:8px", "".join(box(text, NOTE_TINT) for text in self.changed))
        first = "".join(box(text, NOTE_TINT) for text in self._first)
        specific = "".join(box(text, ADVICE_TINT) for text in self._specific)
        general = "".join(box(text, ADVICE_TINT) for text in self._in_general)
        quoted = self.verdict.quoted
        if general and quoted is not None and self._shows_evidence and not self.blank:
            general += _evidence(quoted) + _source(self._check(quoted))
        if self._first and general:
            general = fold(_SEEN, general)
        advice = specific + general
        hidden = self._hidden_html()
        colour = PASS if self.verdict.passed else FAIL
        head = div(
            "display:flex;flex-wrap:wrap;gap:0 16px;margin-bottom:6px;font-size:14px;"
            "font-weight:600",
            div("flex:1 1 200px;overflow-wrap:anywhere", rich(self.exercise.title))
            + div("flex:0 0 auto", self._earned),
        )
        return card(colour, head + changed + rows + first + advice + hidden + self._printed_html())

    @property
    def _headline(self) -> str:
        return f"{self.exercise.title} — {self._earned}"

    @property
    def _earned(self) -> str:
        if not self.exercise.points:
            return "all passed, not graded" if self.verdict.passed else "not graded"
        earned, points = number(self.earned), number(self.verdict.points)
        return f"{earned} of {points} visible points"

    @property
    def _stops_at_placeholder(self) -> bool:
        """Whether the first failed check met a placeholder, of this step or of an earlier one."""
        failed = self._first_failed
        return failed is not None and is_blank(failed.difference)

    @property
    def _shows_evidence(self) -> bool:
        """Whether the quoted check can be shown in detail: what it asked for is written."""
        quoted = self.verdict.quoted
        difference = quoted.difference if quoted is not None else None
        return difference is not None and not (
            difference.kind == "missing" or self._stops_at_placeholder
        )

    @property
    def _first(self) -> tuple[str, ...]:
        """What must be said before any advice: an earlier step is to be finished first."""
        if self.blank:
            return ()
        chained = any(hidden.chained for hidden in self.exercise.not_run_here)
        return tuple(_finish_first(step, chained) for step in self._unfinished)

    @property
    def _unfinished(self) -> tuple[EarlierStep, ...]:
        """The earlier steps that are not right yet."""
        return tuple(step for step in self.earlier if step.state != "passing")

    @property
    def _perhaps_earlier(self) -> tuple[str, ...]:
        """What must be said after advice in general: the fault may be one of an earlier step."""
        steps = [step for step in self.earlier if step.exercise.hidden_points]
        if not steps or self._unfinished or self.verdict.mistakes or self._is_fault_of_this_step:
            return ()
        return (_look_there_next(steps),)

    @property
    def _is_fault_of_this_step(self) -> bool:
        """Whether no earlier step that passes its checks can be the reason.

        A test rejects no right version, accepts the student's own one, or cannot compare what it
        computed; a line of this step stopped, although what earlier steps give has the right form;
        an input was changed; or this step returns nothing.
        """
        found = [outcome.difference for outcome in self.verdict.outcomes if outcome.difference]
        if self.exercise.is_a_test and not any(one.is_rejection for one in found):
            return True
        first = found[0]
        if isinstance(first.seen, Raised):
            if first.is_rejection:
                return first.path[-1] != OWN_ACCEPTED or _cannot_compare(first.seen)
            return bool(first.seen.source_line) or NONE_TYPE in first.seen.message
        if first.path and str(first.path[-1]).endswith(UNCHANGED):
            return True
        return (first.kind == "type" and first.seen is None) or first.seen == NONE_TYPE

    @property
    def _specific(self) -> tuple[str, ...]:
        """Advice on known mistakes, whose cause may also be an earlier step."""
        advice = self._advice
        if not self.verdict.mistakes or len(advice) < 2:
            return ()
        if not self._first:
            return advice[:-1]
        return tuple(_PERHAPS_HERE + sentence.removeprefix(ONE_OF) for sentence in advice[:-1])

    @property
    def _in_general(self) -> tuple[str, ...]:
        """Advice on what the checks saw."""
        return self._advice[len(self._specific) :] + self._perhaps_earlier

    @property
    def _advice(self) -> tuple[str, ...]:
        """The verdict's advice; none if the checks met an earlier step that is not written."""
        if self._first and (
            self._stops_at_placeholder or any(e.state == "blank" for e in self.earlier)
        ):
            return ()
        if self.blank and self._shows_evidence:
            return (_NOTHING_YET,)
        if self._first and self.exercise.is_a_test:  # right tests fail on a wrong version, too
            return self.verdict.advice[-1:]
        return self.verdict.advice

    @property
    def _hidden(self) -> str:
        hidden = self.exercise.hidden_points
        if not hidden:
            return ""
        noun = "point is" if hidden == 1 else "points are"
        by = "by checks that are not run here" if self.exercise.not_run_here else "by hidden checks"
        end = ":" if self.exercise.not_run_here else "."
        return f"{number(hidden)} more {noun} decided after you hand in, {by}{end}"

    @property
    def _hidden_titles(self) -> tuple[str, ...]:
        return tuple(
            f"{hidden.title}{' (It runs on your own earlier steps.)' if hidden.chained else ''}"
            for hidden in self.exercise.not_run_here
        )

    def _printed_html(self) -> str:
        return fold(PRINTED, _preformatted(self.printed)) if self.printed.strip() else ""

    def _hidden_html(self) -> str:
        """The titles of the hidden checks; in a fold while visible checks still fail."""
        if not self._hidden:
            return ""
        if not self._hidden_titles:
            return div("margin-top:8px;font-size:12px;opacity:.85", rich(self._hidden))
        items = "".join(f"<li>{rich(title)}</li>" for title in self._hidden_titles)
        titles = f'<ul style="margin:4px 0 0;padding-left:20px;opacity:.85">{items}</ul>'
        return fold(f"{self._hidden.rstrip(':')}.", titles, opened=self.verdict.passed)

    @property
    def _first_failed(self) -> CheckOutcome | None:
        return next((outcome for outcome in self.verdict.outcomes if not outcome.passed), None)

    def _check(self, outcome: CheckOutcome) -> VisibleCheck:
        return next(c for c in self.exercise.checks if c.prepared.name == outcome.check.name)


def _paragraph(sentence: str) -> list[str]:
    return textwrap.wrap(sentence, WIDTH, initial_indent="  ", subsequent_indent="  ")


@dataclass(frozen=True)
class Notice:
    """One sentence instead of a report."""

    sentence: str
    earned: float = 0.0

    def text(self, coloured: bool = False) -> str:
        """The sentence."""
        return self.sentence

    def html(self) -> str:
        """The sentence in a frame."""
        return card(NOTE, rich(self.sentence))


def notice(sentence: str) -> Notice:
    """The output if there is nothing to check."""
    return Notice(sentence)


def _row(outcome: CheckOutcome) -> str:
    points = div("flex:0 0 auto;opacity:.75;padding-left:12px", _points(outcome))
    sentence = div("flex:1", rich(outcome.check.title))
    return div("display:flex;padding:1px 0", mark(outcome.passed) + sentence + points)


def _finish_first(earlier: EarlierStep, chained: bool) -> str:
    """The sentence about an earlier step that should be finished first.

    Args:
        chained: whether a hidden check of this step runs on the student's own earlier steps.
    """
    match earlier.state:
        case "blank":
            said = f"This step calls {_names_of(earlier)}, not written yet: write that step first."
        case "failing":
            said = (
                f"This ran on your own {_names_of(earlier)}, and that step does not pass its "
                "checks yet: fix it first."
            )
        case _:
            raise ValueError(f"a step that is {earlier.state} needs no finishing")
    if not earlier.replaced:
        return said
    but = ", except in the check that runs on your own steps" if chained else ""
    return f"{said} Grading uses correct versions instead{but}."


def _look_there_next(passing: list[EarlierStep]) -> str:
    """The sentence about earlier steps of which only hidden checks may fail."""
    names = _listed([_names_of(step) for step in passing])
    one = sum(len(step.names) for step in passing) == 1
    passes, its = ("passes its", "its docstring") if one else ("pass their", "their docstrings")
    return (
        "Look in this step first. Only if you find no fault in it, compare your own "
        f"{names}, which {passes} visible checks, with every sentence of {its}."
    )


def _cannot_compare(raised: Raised) -> bool:
    """Whether an `assert` of a test stopped with another error, outside the version it was given.

    In all labs, a test calls that version `impl`.
    """
    line = raised.source_line
    asserts = line.startswith("assert") and "impl" not in line
    return asserts and raised.type != "AssertionError"


def _names_of(step: EarlierStep) -> str:
    names = _listed([f"`{name}`" for name in step.names])
    return f"{names} (step {step.exercise.step.number})" if step.exercise.step.number else names


def _listed(parts: Sequence[str]) -> str:
    """`a`, `a and b`, or `a, b and c`."""
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def _evidence(outcome: CheckOutcome) -> str:
    """The picture of the difference, or the two numbers."""
    difference = outcome.difference
    assert difference is not None
    try:
        drawn = picture(difference)
    except Exception:  # whatever is wrong with matplotlib here, the advice must be shown
        return div("margin-top:6px;font-size:12px;opacity:.75", "The picture cannot be drawn here.")
    if drawn is not None:
        return _image(drawn)
    # Only tensors: a plain number may be a prediction, whose answer must not be revealed.
    if difference.kind in ("values", "nan") and all(
        isinstance(value, Tensor) and value.numel() == 1
        for value in (difference.expected, difference.seen)
    ):
        right, theirs = _two_numbers(float(difference.expected), float(difference.seen))
        return div("margin-top:6px", f"expected {code(right)}, yours {code(theirs)}")
    return ""


def _two_numbers(right: float, theirs: float) -> tuple[str, str]:
    """Two different numbers as text, with just enough digits to show the difference."""
    if abs(right) < 1e-9 * abs(theirs) < math.inf:
        return "0", f"{theirs:.4g}"  # the digits of a rounding error mean nothing
    pairs = ((f"{right:.{digits}g}", f"{theirs:.{digits}g}") for digits in (4, 7, 10, 13, 16))
    return next((pair for pair in pairs if pair[0] != pair[1]), (f"{right!r}", f"{theirs!r}"))


def _image(drawn: Picture) -> str:
    data = base64.b64encode(drawn.png).decode()
    image = (
        f'<img alt="{escape(drawn.alt)}" width="{drawn.width}" src="data:image/png;base64,{data}" '
        'style="max-width:none;box-sizing:border-box;background:#fff;border-radius:6px;padding:4px">'
    )
    # On a narrow page the picture scrolls: if it were made smaller, its numbers could not be read.
    image = div("overflow-x:auto", image)
    caption = div("font-size:12px;opacity:.75", escape(drawn.caption)) if drawn.caption else ""
    return div("margin-top:10px", image + caption)


def _source(check: VisibleCheck) -> str:
    """The probe's text in a fold: how the check calls the code, and with which inputs."""
    hint = (
        f"<code>draw</code> makes the inputs: <code>from attnlab.checking.draw import Draw; "
        f"draw = Draw({check.seed})</code>"
    )
    source = _only_function(check.source, check.prepared.name)
    return fold("What this check does", _preformatted(source) + div("opacity:.85", hint))


def _preformatted(text: str) -> str:
    return (
        '<pre style="margin:6px 0;padding:8px 10px;border-radius:6px;overflow-x:auto;'
        f'background:rgba(127,127,127,.13);color:inherit;font-size:12px">{escape(text)}</pre>'
    )


def _only_function(source: str, name: str) -> str:
    at = source.find(f"def {name}(")
    return source[max(at, 0) :].strip()


def _points(outcome: CheckOutcome) -> str:
    if not outcome.check.points:
        return ""
    return f"{number(outcome.earned)} / {number(outcome.check.points)}"


def _plain(text: str, code: str) -> str:
    return text


def _ansi(text: str, code: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m"
