"""Terminal output of ``lab show --inputs``, at 80 columns.

What a student's code returned or raised is in it, so every line of a value is escaped. Tested in
tests/gradekit/report/test_inputs_view.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.padding import Padding

from gradekit.grading.task import FailedCheck, Replayed, ShownCall
from gradekit.report.show import Shown
from gradekit.report.view import safe


def show_inputs(shown: Shown, replayed: Sequence[Replayed], console: Console | None = None) -> None:
    """Print the inputs of each check that failed, what was expected there, and what came out."""
    console = console or Console()
    console.print(
        "\n[bold]The hand-in was run again in the sandbox, on the inputs of its grading.[/]\n"
        "For staff: other students get the same inputs.",
        highlight=False,
    )
    for step in replayed:
        console.print(f"\n[bold]{safe(shown.step(step.step).title)}[/]", highlight=False)
        for sentence in _remarks(shown, step):
            _line(sentence, console, 2)
        for failed in step.failed:
            _check(failed, console)


def _remarks(shown: Shown, step: Replayed) -> Iterator[str]:
    if not step.failed:
        yield "All its checks passed in this run."
    result = next((part.result for part in shown.page.exercises if part.name == step.step), None)
    if result is not None and result.earned != step.earned:
        yield (
            f"This run gives {step.earned:g} points, and the recorded one gave {result.earned:g}: "
            "the exercise has changed since, or the code does not always do the same."
        )


def _check(failed: FailedCheck, console: Console) -> None:
    hidden = ", hidden" if failed.hidden else ""
    _line(f"✗ {failed.title}", console, 2)
    _line(f"({failed.name} in {failed.file}{hidden})", console, 4)
    if failed.case:
        _line(f"In the case “{failed.case}”:", console, 4)
    if failed.calls:
        _line("Inputs:", console, 4)
    for call in failed.calls:
        _call(call, console)
    if failed.more_calls:
        calls = "call" if failed.more_calls == 1 else "calls"
        _line(f"… and {failed.more_calls} more {calls} in this check", console, 6)
    place = f" at {failed.place}" if failed.place else ""
    _line(f"Expected{place}:", console, 4)
    _value(failed.expected, console)
    _line("Came out:", console, 4)
    _value(failed.seen, console)
    _line(failed.difference, console, 4)


def _call(call: ShownCall, console: Console) -> None:
    _line(f"{call.function}({', '.join(name for name, _ in call.arguments)})", console, 6)
    for name, text in call.arguments:
        first, *rest = text.splitlines() or [""]
        _line(f"{name} = {first}", console, 8)
        for line in rest:
            _line(line, console, 8)


def _value(text: str, console: Console) -> None:
    for line in text.splitlines():
        _line(line, console, 6)


def _line(text: str, console: Console, indent: int) -> None:
    console.print(Padding(safe(text), (0, 0, 0, indent), expand=False), highlight=False)
