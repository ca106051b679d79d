"""Exercises in which the student writes a test; it is tried on right and wrong versions.

    exercise = write_a_test("test_softmax", of=softmax, points=8, title="Rejects …, accepts …")

    @exercise.mistake("Your test looks at shapes alone. …")
    def shapes_only(impl):
        assert impl(torch.zeros(3)).shape == (3,)

Versions come from the exercise that builds what is tested: all of its known mistakes, or those in
`versions`, and every right version. A wrong test is written as the test itself.

The checks see a reference of the tested step, so that a wrong step costs its test nothing. The test
itself does not: one that compares with the tested step compares with the student's own. With a
reference there, one comparison would earn nearly everything, even with the step left blank. A test
that looks for it in its callers finds it, so the check with hidden versions has none and is asked
before any arrives (:func:`gradekit.sandbox.session.in_safe_order`).
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gradekit.exercise.definition import Exercise, Version
from gradekit.exercise.edits import definition_from, source_text

# The advice on tests in which a failed `assert` does not end the test; for exercise files.
TUPLES_ASSERTED = (
    "An `assert` in your test is followed by a tuple: `assert (condition, message)`. Is a tuple "
    "with two parts ever false?"
)
RESULTS_UNREAD = (
    "Nothing reads the result of a comparison in your test: it stands alone on its line (such as "
    "`torch.allclose(…)`), or its name is not read, or not before another result takes it. Which "
    "statement turns a False into an error?"
)
FAILURES_CAUGHT = (
    "Your test catches its own failures: an `except` around an `assert` stops the error inside the "
    "test. How does anyone learn that the `assert` has failed?"
)
# A question below a check of such a test that fails.
WHICH_LINE_DECIDES = (
    "Which line of your test decides this, with what does it compare, and how large a difference "
    "does it allow?"
)


class WriteATest(Exercise):
    """An exercise whose answer is a test; see :func:`write_a_test`."""

    @property
    def files(self) -> tuple[Path, ...]:
        """The exercise's own file, and this one, which makes a check of it."""
        return (*super().files, Path(__file__))

    def _version(self, function: Any, of: str | None = None, advice: str = "") -> Version:
        name = function.__name__
        body = textwrap.indent(source_text(function), "    ")
        text = f"def {name}_as_answer():\n{body}\n    return {{{self.answers[0]!r}: {name}}}\n"
        made = definition_from(text, function.__module__)
        return Version(name, made, None, advice)


def write_a_test(
    name: str,
    *,
    of: Callable[..., Any],
    points: float,
    title: str,
    exercise: str | None = None,
    versions: Sequence[str] = (),
    uses: Sequence[Callable[..., Any]] = (),
) -> WriteATest:
    """An exercise in which the student writes the test `name` of what an earlier step builds.

    Args:
        name: the test's name.
        of: the reference of the step that it tests.
        points: for the hidden check, in proportion to the wrong versions that the test rejects.
        title: of that check.
        exercise: the step's exercise, if it is not called like the reference.
        versions: the known mistakes to try; all if empty.
        uses: references of other earlier steps that the student's test may call.
    """
    made = WriteATest(answers=[name], uses=uses, tested=[of])
    text = f"def wrong_versions(lab, draw):\n    return draw.accepts(lab.{name})\n"
    probe = definition_from(text, __name__)
    probe.__doc__ = title
    check = made.check(points, hidden=True, versions_of=exercise or of.__name__, versions=versions)
    check(probe)
    return made
