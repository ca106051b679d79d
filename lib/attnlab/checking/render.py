"""A verdict as text for a terminal and as HTML for a notebook.

The HTML has no script and no style sheet. Its inline styles use the page's own text colour, so it
is readable in light and dark themes of JupyterLab, VS Code and Colab. All text from a student's
code is escaped.
"""

from __future__ import annotations

import base64
import re
import textwrap
from dataclasses import dataclass
from html import escape

from torch import Tensor

from attnlab.checking.advice import is_blank
from attnlab.checking.picture import Picture, picture
from attnlab.checking.verdict import Answer, Verdict
from attnlab.checking.visible import VisibleCheck, VisibleExercise

PASS, FAIL, NOTE = "#16906a", "#d2571e", "#3a7fc4"
WIDTH = 88


@dataclass(frozen=True)
class Report:
    """A verdict on an exercise's visible checks, ready to be shown."""

    exercise: VisibleExercise
    verdict: Verdict

    @property
    def earned(self) -> float:
        """The visible points earned."""
        return self.verdict.earned

    def text(self, coloured: bool = False) -> str:
        """The report as plain text, with terminal colours if `coloured`."""
        paint = _ansi if coloured else _plain
        lines = [paint(self._headline, "1")]
        for answer in self.verdict.answers:
            sign, colour = ("✓", "32") if answer.passed else ("✗", "31")
            lines.append(f"  {paint(sign, colour)} {_sentence(answer)}  {_points(answer)}")
        for paragraph in self.verdict.advice:
            lines += [
                "",
                *textwrap.wrap(paragraph, WIDTH, initial_indent="  ", subsequent_indent="  "),
            ]
        return "\n".join([*lines, "", *textwrap.wrap(self._hidden, WIDTH)]).rstrip()

    def html(self) -> str:
        """The report as HTML without scripts."""
        rows = "".join(map(_row, self.verdict.answers))
        advice = "".join(map(_advice_box, self.verdict.advice))
        failed = self._first_failed
        shown = "" if failed is None else _evidence(failed) + _source(self._check(failed))
        shown = shown if self._written else ""
        hidden = _div("margin-top:8px;font-size:12px;opacity:.75", _rich(self._hidden))
        colour = PASS if self.verdict.passed else FAIL
        head = _div(
            "display:flex;font-weight:600;font-size:14px;margin-bottom:6px",
            _div("flex:1", _rich(self.exercise.title))
            + _div("flex:0 0 auto;padding-left:16px", self._earned),
        )
        return _card(colour, head + rows + advice + shown + (hidden if self._hidden else ""))

    @property
    def _headline(self) -> str:
        return f"{self.exercise.title} — {self._earned}"

    @property
    def _earned(self) -> str:
        earned, points = _number(self.earned), _number(self.verdict.points)
        return f"{earned} of {points} visible points"

    @property
    def _written(self) -> bool:
        """Whether the step is written, so that a failed check can be shown in detail."""
        failed = self._first_failed
        difference = failed.difference if failed is not None else None
        return difference is None or not (difference.kind == "missing" or is_blank(difference))

    @property
    def _hidden(self) -> str:
        hidden = self.exercise.hidden_points
        if not hidden:
            return ""
        noun = "point is" if hidden == 1 else "points are"
        rest = "on the rest of the task"
        return f"{_number(hidden)} more {noun} decided by hidden checks after you hand in, {rest}."

    @property
    def _first_failed(self) -> Answer | None:
        return next((answer for answer in self.verdict.answers if not answer.passed), None)

    def _check(self, answer: Answer) -> VisibleCheck:
        return next(c for c in self.exercise.checks if c.question.name == answer.question.name)


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
        return _card(NOTE, _rich(self.sentence))


def notice(sentence: str) -> Notice:
    """The output if there is nothing to check."""
    return Notice(sentence)


def _card(colour: str, content: str) -> str:
    return _div(
        f"border-left:4px solid {colour};padding:6px 12px 8px 14px;margin:4px 0;max-width:760px;"
        "font-family:system-ui,-apple-system,'Segoe UI',sans-serif;font-size:13px;"
        "line-height:1.45;color:inherit",
        content,
    )


def _row(answer: Answer) -> str:
    colour, sign, word = (PASS, "✓", "passed") if answer.passed else (FAIL, "✗", "failed")
    mark = (
        f'<span style="color:{colour};font-weight:700;flex:0 0 18px" role="img" '
        f'aria-label="{word}">{sign}</span>'
    )
    points = _div("flex:0 0 auto;opacity:.75;padding-left:12px", _points(answer))
    sentence = _div("flex:1", _rich(_sentence(answer)))
    return _div("display:flex;padding:1px 0", mark + sentence + points)


def _advice_box(text: str) -> str:
    return _div(
        "margin-top:8px;padding:7px 11px;border-radius:6px;background:rgba(210,120,40,.13)",
        _rich(text),
    )


def _evidence(answer: Answer) -> str:
    """The picture of the difference, or the two numbers."""
    difference = answer.difference
    assert difference is not None
    drawn = picture(difference)
    if drawn is not None:
        return _image(drawn)
    # Only tensors: a plain number may be a prediction, whose answer must not be revealed.
    if difference.kind in ("values", "nan") and all(
        isinstance(value, Tensor) and value.numel() == 1
        for value in (difference.expected, difference.seen)
    ):
        right, theirs = _two_numbers(float(difference.expected), float(difference.seen))
        return _div("margin-top:6px", f"expected {_code(right)}, yours {_code(theirs)}")
    return ""


def _two_numbers(right: float, theirs: float) -> tuple[str, str]:
    """Two different numbers as text, with just enough digits to show the difference."""
    if abs(right) < 1e-9 * abs(theirs):
        return "0", f"{theirs:.4g}"  # the digits of a rounding error mean nothing
    pairs = ((f"{right:.{digits}g}", f"{theirs:.{digits}g}") for digits in (4, 7, 10, 13, 16))
    return next((pair for pair in pairs if pair[0] != pair[1]), (f"{right!r}", f"{theirs!r}"))


def _image(drawn: Picture) -> str:
    data = base64.b64encode(drawn.png).decode()
    image = (
        f'<img alt="{escape(drawn.alt)}" width="{drawn.width}" src="data:image/png;base64,{data}" '
        'style="max-width:100%;box-sizing:border-box;background:#fff;border-radius:6px;padding:4px">'
    )
    caption = _div("font-size:12px;opacity:.75", escape(drawn.caption)) if drawn.caption else ""
    return _div("margin-top:10px", image + caption)


def _source(check: VisibleCheck) -> str:
    """The probe's text in a fold: how the check calls the code, and with which inputs."""
    hint = (
        f"<code>draw</code> makes the inputs: <code>from attnlab.checking.draw import Draw; "
        f"draw = Draw({check.seed})</code>"
    )
    source = escape(_only_function(check.source, check.question.name))
    return (
        '<details style="margin-top:8px;font-size:12px"><summary style="cursor:pointer;'
        'opacity:.85">What this check does</summary>'
        f'<pre style="margin:6px 0;padding:8px 10px;border-radius:6px;overflow-x:auto;'
        f'background:rgba(127,127,127,.13);color:inherit;font-size:12px">{source}</pre>'
        f"{_div('opacity:.85', hint)}</details>"
    )


def _only_function(source: str, name: str) -> str:
    at = source.find(f"def {name}(")
    return source[max(at, 0) :].strip()


def _sentence(answer: Answer) -> str:
    return answer.question.title


def _points(answer: Answer) -> str:
    return f"{_number(answer.earned)} / {_number(answer.question.points)}"


def _number(points: float) -> str:
    return f"{round(points, 2):g}"


def _rich(text: str) -> str:
    """Escaped text; words between backticks become code."""
    return re.sub(r"`([^`]+)`", lambda found: _code(found[1]), escape(text))


def _code(escaped: str) -> str:
    return (
        '<code style="background:rgba(127,127,127,.16);color:inherit;padding:0 4px;'
        f'border-radius:3px;font-size:.93em">{escaped}</code>'
    )


def _div(style: str, content: str) -> str:
    return f'<div style="{style}">{content}</div>'


def _plain(text: str, code: str) -> str:
    return text


def _ansi(text: str, code: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m"
