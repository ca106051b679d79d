"""A case of the bug clinic: right code, the edits that break it, and all that a lab makes of it.

    case = Case(
        Attention, title="Too good to be true", breaks={"~ahead": "ahead"}, most_lines=1, …
    )

    @case.symptom
    def losses(Attention): …

    @case.fix.check(points=2)
    def no_leak(lab, draw):
        \"\"\"A later word changes no earlier output.\"\"\"

One file holds one case; a long one is a folder, with other fixes in ``fixes.py`` and other tests in
``tests.py``. It makes two exercises: in ``find_…``, students write a test that the
broken code fails; in ``fix_…``, they change the code, in as few lines as they can. The notebook's
section comes from the same file (:mod:`.clinic_cells`).
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from attnlab.checking.changed_lines import CHANGED, FewChanges
from attnlab.checking.judges import Close
from gradekit.errors import ExerciseError
from gradekit.exercise.definition import Exercise, Function, Version
from gradekit.exercise.edits import Edits, definition_from, source_text
from gradekit.exercise.write_a_test import WriteATest

# Points: the test on the code above, and on versions that only grading has; the size of the fix,
# half of its points, because the slow version in the bundle is right and no fix.
VISIBLE_TEST, HIDDEN_TEST, FEW_LINES = 3, 4, 3
FIX, SENTENCE = 6, 3
MOST_LINES = 3
# The known mistake of a student who changes nothing.
HANDED_OVER = "as_handed_over"
# What a case's folder may hold besides __init__.py, in the order in which it is imported.
CASE_PARTS = ("fixes", "tests")
_MODULE = re.compile(r"case\d+_([a-z0-9_]+)")


def module_name(path: Path) -> str:
    """The name of an exercise's module: that of its file, or of its folder."""
    return path.parent.name if path.name == "__init__.py" else path.stem


def case_name(path: Path) -> str:
    """``leak`` of a case's file ``case1_leak.py`` or folder; empty for other exercises."""
    found = _MODULE.fullmatch(module_name(path))
    return found[1] if found else ""


def exercise_names(name: str) -> tuple[str, str]:
    """The names of a case's two exercises."""
    return f"find_{name}", f"fix_{name}"


@dataclass(frozen=True)
class Step:
    """What the heading of one of a case's two steps says, and its text.

    Attributes:
        text: Markdown, below the heading.
        hints: a question and a plan.
    """

    minutes: int
    difficulty: int
    text: str
    hints: tuple[str, str]


@dataclass
class Case:
    """One broken model; filled by its decorators while its file is imported.

    Args:
        right: the right code: a function or class of the case's file.
        title: of the case.
        breaks: the edits that break it: each right text, which the code holds once, and the wrong
            one.
        most_lines: changed lines that a fix may have, 3 at most.
        complaint: what somebody reports, before any code is shown; Markdown.
        finding, fixing: what the notebook says about the two steps.
        look: what to look at when the symptom is shown again.
        cause: the model answer of the question for one sentence.
        scheme: the mark scheme: by what an answer says, its points.

    Attributes:
        name: set by the loader from the file's name.
        shows, slow, test: set by the decorators.
        find, fix: the two exercises.
    """

    right: Function
    title: str
    breaks: Mapping[str, str]
    most_lines: int
    complaint: str
    finding: Step
    fixing: Step
    look: str
    cause: str
    scheme: Mapping[str, int]
    name: str = ""
    shows: Function | None = None
    slow: Function | None = None
    test: Function | None = None
    find: WriteATest = field(init=False)
    fix: Exercise = field(init=False)

    def __post_init__(self) -> None:
        if not 1 <= self.most_lines <= MOST_LINES:
            raise ExerciseError(f"most_lines is {self.most_lines}; write 1 to {MOST_LINES}")
        if sum(self.scheme.values()) != SENTENCE:
            raise ExerciseError(f"the mark scheme does not add up to {SENTENCE} points")
        self.fix = Exercise(self.right)
        self.find = WriteATest(answers=[self.test_name])
        wrong = self.fix.edits(self.right)
        wrong.several(
            HANDED_OVER,
            self.breaks,
            "The code still does what it did when it was handed to you. Which of your changes "
            "should have made a difference, and to which line does the failing test lead you?",
        )
        self.fix.given = source_text(self.fix.mistakes[0].function)

    @property
    def code_name(self) -> str:
        """What the code defines."""
        return self.right.__name__

    @property
    def test_name(self) -> str:
        """What students call their test."""
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", self.code_name).lower()
        return f"test_{words}"

    @property
    def broken_name(self) -> str:
        """What the notebook calls the code as it was handed over."""
        return f"{'Broken' if self.code_name[0].isupper() else 'broken_'}{self.code_name}"

    @property
    def broken_text(self) -> str:
        """The code as it is handed over."""
        return self.fix.given

    def symptom(self, function: Function) -> Function:
        """Make the decorated function the one that shows the symptom of a version of the code."""
        self.shows = function
        return function

    def slow_version(self, version: Function) -> Function:
        """Make the decorated version one that is clearly right, without the code's own lines.

        The bundle has it: ``check`` tries the student's test on it.
        """
        self.slow = version
        return version

    def model_test(self, function: Function) -> Function:
        """Make the decorated test the model answer."""
        self.test = function
        return function

    def other_program(self, about: str) -> Callable[[Function], Function]:
        """Make the decorated version one that a student's test must accept, and no small fix.

        Args:
            about: what a student whose test rejects it may know: "a right version that …".
        """

        def add(version: Function) -> Function:
            self._add_program(version, about)
            return version

        return add

    def other_fix(self, name: str, changes: Mapping[str, str]) -> None:
        """Another right fix: edits of the broken code."""
        self._edits(
            lambda label, made, _: self.fix.add_right_version(
                Version(label, made, self.code_name, about="is fixed in another way")
            )
        ).several(name, changes, "")

    def wrong_fix(self, name: str, changes: Mapping[str, str], advice: str) -> None:
        """A fix that does not fix, or breaks something else: edits of the broken code."""
        self._edits(
            lambda label, made, words: self.fix.add_mistake(
                Version(label, made, self.code_name, words)
            )
        ).several(name, changes, advice)

    def complete(self, name: str) -> None:
        """Add the checks that every case has; the loader calls it after the import.

        Raises:
            ExerciseError: the file lacks a part.
        """
        self.name = name
        if self.shows is None or self.slow is None or self.test is None or not self.fix.checks:
            raise ExerciseError(
                "a case needs a symptom, a slow version, a model test and checks of the fix"
            )
        self._add_program(self.slow, "takes the long way")
        self._add_few_lines()
        self._add_tries()

    def _edits(self, register: Callable[[str, Any, str], None]) -> Edits:
        return Edits(self.fix.mistakes[0].function, register)

    def _add_program(self, version: Function, about: str) -> None:
        advice = (
            "Your code is right, but it is another program: the task is the smallest change of "
            "the one that you were given. Which of its lines does your failing test lead to?"
        )
        # A class has a name of its own; the version is handed in under the code's name.
        self.fix.other_programs.append(
            Version(version.__name__, version, self.code_name, about=about)
        )
        self.fix.add_mistake(Version(version.__name__, version, self.code_name, advice))

    def _add_few_lines(self) -> None:
        """The check of the fix's size: what the first check sees, and the changed lines."""
        first = self.fix.checks[0].probe.__name__
        text = f"""\
def few_lines(lab, draw):
    from attnlab.checking.changed_lines import changed_lines, definition_text
    seen = {first}(lab, draw)
    count = changed_lines({self.broken_text!r}, definition_text(lab.{self.code_name}))
    return {{"the first check": seen, {CHANGED!r}: count}}
"""
        lines = "1 line" if self.most_lines == 1 else f"{self.most_lines} lines"
        title = f"The first check passes, and at most {lines} of the code changed."
        near = self.fix.checks[0].judge
        if not isinstance(near, Close):
            raise ExerciseError("the first check of the fix must have the judge Close")
        judge = FewChanges(
            near.atol, near.rtol, near.words, self.broken_text, self.code_name, self.most_lines
        )
        self.fix.check(FEW_LINES, judge=judge)(self._probe(text, title))
        if self.fix.points != FIX:
            raise ExerciseError(
                f"the checks of the fix have {self.fix.points} points with the {FEW_LINES} of "
                f"few_lines; they should have {FIX}"
            )

    def _add_tries(self) -> None:
        """The checks of the student's test: on the code above, and on right versions."""
        assert self.slow is not None
        broken = re.sub(rf"\b{self.code_name}\b", self.broken_name, self.broken_text)
        text = f"""\
def code_above(lab, draw):
{textwrap.indent(broken, "    ")}
    {self.broken_name}.__name__ = {self.code_name!r}
    long_way = draw.accepted(lab.{self.test_name}, {self.slow.__name__})
    if long_way is not True and long_way.type == "NotImplementedError":
        raise NotImplementedError
    return {{
        "rejects the code above": draw.rejects(lab.{self.test_name}, {self.broken_name}),
        "accepts a slow version that is right": long_way,
    }}
"""
        title = "Your test fails on the code above, and passes on a slow version that is right."
        self.find.check(VISIBLE_TEST)(self._probe(text, title))
        text = f"def right_versions(lab, draw):\n    return draw.accepts(lab.{self.test_name})\n"
        title = "Your test passes on other right versions, too, and fails on the broken code."
        fix = exercise_names(self.name)[1]
        check = self.find.check(HIDDEN_TEST, hidden=True, versions_of=fix, versions=[HANDED_OVER])
        check(self._probe(text, title))

    def _probe(self, text: str, title: str) -> Function:
        probe: Function = definition_from(text, self.right.__module__)
        probe.__doc__ = title
        return probe
