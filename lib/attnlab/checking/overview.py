"""``check()`` without a name: where the student stands, all steps of the lab in one table."""

from __future__ import annotations

from dataclasses import dataclass

from attnlab.checking.html import FAIL, NOTE, NOTE_TINT, PART, PASS, box, card, div, number, rich
from attnlab.checking.progress import StepProgress

_SIGNS = {PASS: "✓", PART: "◐", FAIL: "✗", NOTE: "○"}


@dataclass(frozen=True)
class Overview:
    """All steps of a lab, ready to be shown.

    Attributes:
        steps: the steps, in order.
    """

    steps: tuple[StepProgress, ...]

    @property
    def earned(self) -> float:
        """The visible points earned in the whole lab."""
        return round(sum(progress.earned for progress in self.steps), 2)

    def text(self, coloured: bool = False) -> str:
        """The table as plain text; it needs no colours."""
        width = max(len(_label(progress)) for progress in self.steps)
        lines = [self._headline]
        for progress in self.steps:
            sign, said, left = _SIGNS[_colour(progress)], _said(progress), _left(progress)
            lines.append(f"  {sign} {_label(progress):<{width}}  {said:<11}  {left}".rstrip())
        return "\n".join([*lines, "", *self._changed, self._summary])

    def html(self) -> str:
        """The table as HTML without scripts; each step is a link to its cell."""
        head = div("font-weight:600;font-size:14px;margin-bottom:6px", rich(self._headline))
        rows = "".join(map(_row, self.steps))
        # JupyterLab's own `table-layout: fixed` would write the last two columns on one another.
        table = (
            '<table style="table-layout:auto;border-collapse:collapse;width:100%;margin:0;'
            f'color:inherit;background:transparent;font-size:13px">{rows}</table>'
        )
        changed = "".join(box(text, NOTE_TINT) for text in self._changed)
        last = div("margin-top:8px;font-size:12px;opacity:.85", rich(self._summary))
        return card(PASS if not self._open else NOTE, head + table + changed + last)

    @property
    def _open(self) -> list[StepProgress]:
        """The steps that are still to be done; those without points need not be."""
        return [s for s in self.steps if s.exercise.points and not s.done]

    @property
    def _changed(self) -> list[str]:
        """A sentence for each name that a cell changed after its definition; each one once."""
        return list(dict.fromkeys(text for progress in self.steps for text in progress.changed))

    @property
    def _headline(self) -> str:
        steps = sum(progress.exercise.points > 0 for progress in self.steps)
        done = steps - len(self._open)
        points = number(sum(s.exercise.visible_points for s in self.steps))
        return (
            f"Where you stand: {done} of {steps} steps, "
            f"{number(self.earned)} of {points} visible points"
        )

    @property
    def _summary(self) -> str:
        hidden = number(sum(progress.exercise.hidden_points for progress in self.steps))
        rest = f"{hidden} more points are decided after you hand in."
        minutes = sum(map(_minutes_left, self.steps))
        if not self._open:
            return f"All visible checks pass. {rest}"
        time = f" About {_duration(minutes)} left." if minutes else ""
        step = _label(self._open[0])
        return f"Next: {step}{'' if step.endswith('?') else '.'}{time} {rest}"


def _row(progress: StepProgress) -> str:
    colour = _colour(progress)
    cell = "padding:3px 8px 3px 0;border:0;text-align:left;vertical-align:baseline;color:inherit"
    sign = (
        f'<td style="{cell};width:18px;font-weight:700;color:{colour}" aria-hidden="true">'
        f"{_SIGNS[colour]}</td>"
    )
    # JupyterLab leads such a link to the cell of that id.
    name = rich(progress.exercise.name)
    style = "color:inherit;text-decoration:underline"
    link = f'<a href="#cell-id={name}" style="{style}">{rich(_label(progress))}</a>'
    right = f"{cell};text-align:right;white-space:nowrap"
    return (
        f'<tr style="background:transparent">{sign}<td style="{cell};width:100%">{link}</td>'
        f'<td style="{right}">{rich(_said(progress))}</td>'
        f'<td style="{right};opacity:.75;padding-right:0">{rich(_left(progress))}</td></tr>'
    )


def _label(progress: StepProgress) -> str:
    step = progress.exercise.step
    return f"{step.number} {step.title}".strip() or progress.exercise.name


def _colour(progress: StepProgress) -> str:
    if progress.done:
        return PASS
    if progress.verdict is None:
        return NOTE
    return PART if progress.earned else FAIL


def _said(progress: StepProgress) -> str:
    if progress.verdict is None:
        return "not written" if progress.exercise.points else "not graded"
    if not progress.exercise.points:
        return "passed" if progress.done else "not passed"
    return f"{number(progress.earned)} of {number(progress.exercise.visible_points)}"


def _left(progress: StepProgress) -> str:
    if progress.waits_for is not None:
        step = progress.waits_for.step.number or progress.waits_for.name
        return f"after {step}"
    minutes = _minutes_left(progress)
    return f"{minutes} min left" if minutes else ""


def _minutes_left(progress: StepProgress) -> int:
    """The minutes of a step that is not done, less the part that is, in steps of five."""
    points = progress.exercise.visible_points
    if progress.done or not points:
        return 0
    missing = 1 - progress.earned / points
    minutes = progress.exercise.step.minutes
    return max(5, 5 * round(minutes * missing / 5)) if minutes else 0


def _duration(minutes: int) -> str:
    hours, rest = divmod(minutes, 60)
    parts = [f"{hours} h" if hours else "", f"{rest} min" if rest else ""]
    return " ".join(part for part in parts if part)
