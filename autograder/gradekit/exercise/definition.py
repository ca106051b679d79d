"""What an exercise is: how to distinguish right and wrong answers. One module per exercise.

    from attnlab.softmax import softmax
    from gradekit.exercise import Exercise

    exercise = Exercise(softmax, forbids=["torch.softmax"])

    @exercise.check(points=4)
    def any_axis(lab, draw):
        \"\"\"Sums to one along the axis you ask for.\"\"\"
        return lab.softmax(draw.normal(3, 5, 7), dim=1)

A *check* is a probe: the judge runs it on the student's code and on the reference and compares. A
*mistake* is a wrong version with its advice; *also_right* is another right version. An exercise
whose answer is not a function of the library (a prediction, a test that the student writes) names
its ``answers``; their reference is the solution cell of the lab's source. Tested in
tests/gradekit/exercise/test_loader.py, test_variants.py and test_edits.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from attnlab.checking.judges import Close, Judge
from attnlab.checking.verdict import KnownMistake
from gradekit.errors import ExerciseError
from gradekit.exercise.authoring_errors import calling_line
from gradekit.exercise.edits import Edits
from gradekit.exercise.promises import Promises
from gradekit.exercise.standalone import standalone_source

Function = Callable[..., Any]
# What an exercise's folder may hold besides __init__.py, in the order in which it is imported.
PARTS = ("promises", "also_right", "mistakes")


@dataclass(frozen=True)
class Check:
    """One probe with its points.

    Attributes:
        versions_of: for a test that the student wrote, the exercise on whose versions it is tried.
        versions: the mistakes of that exercise to try; all if empty.
        chained: whether it runs on the student's own earlier steps instead of the references.
        place: the line of the exercise file that declares it, for messages.
        question: what a student with a wrong answer is asked, if no known mistake explains it.
    """

    name: str
    title: str
    points: float
    hidden: bool
    judge: Judge
    probe: Function
    versions_of: str | None = None
    versions: tuple[str, ...] = ()
    chained: bool = False
    place: str = ""
    question: str = ""

    @cached_property
    def source(self) -> str:
        """The probe's text with everything it needs, and nothing else of the exercise file."""
        return standalone_source(self.probe)


# In place of the name of a reference: a version of several functions that call each other.
SEVERAL = "several functions"


@dataclass(frozen=True)
class Version:
    """Another version of the exercise's answer, wrong (with advice) or right (without).

    Attributes:
        function: the version; for saved weights and for answers, a function that makes it.
        of: the reference or the file of weights that it replaces; None if it is several.
        saved: whether that is a file of weights.
        place: the line of the exercise file that declares it, for messages.
        about: of a right version, what a student whose test rejects it may know of it.
        names: the definitions that it replaces, by name.
    """

    name: str
    function: Function
    of: str | None
    advice: str = ""
    saved: bool = False
    place: str = ""
    about: str = ""

    @property
    def names(self) -> Mapping[str, Any]:
        """The definitions that this version changes."""
        if self.of is not None and self.saved:
            return {self.of: self.function()}
        if self.of is not None:
            return {self.of: self.function}
        return dict(self.function())

    @property
    def known(self) -> KnownMistake:
        """The part of a mistake that a verdict needs."""
        return KnownMistake(self.name, self.advice, self.of or "")


class Exercise:
    """One graded step; filled by its decorators while its file is imported.

    Args:
        references: the functions and classes of `attnlab` that are the right answer.
        answers: names that the lab's solution cell defines, if the library has no reference.
        forbids: torch functions, by full name, that the student must not call here.
        uses: references of earlier exercises that replace the student's own.
        tested: references that replace them in the checks alone, as the student's code runs on its
            own (see :mod:`.write_a_test`); a check with `versions_of` does not get them.
        saves: files of weights that the notebook saves; the reference's own lie beside this file.
        equivalent: mutants of the reference that no check can catch, each with the reason.

    Attributes:
        promised: the table of promises, or None if the exercise has none.
        given: the text of a program that students are given to change (:mod:`.clinic`), or empty.
        other_programs: right versions for a student's test that are not right answers, because
            they are not small changes of `given`.
        name, lab, title, path: set by the loader: the module's name, its lab's, its first line,
            and its file (of a folder, the ``__init__.py`` in it).
    """

    name: str
    lab: str
    title: str
    path: Path

    def __init__(
        self,
        *references: Function,
        answers: Sequence[str] = (),
        forbids: Sequence[str] = (),
        uses: Sequence[Function] = (),
        tested: Sequence[Function] = (),
        saves: Sequence[str] = (),
        equivalent: Mapping[str, str] | None = None,
    ) -> None:
        self.references = references
        self.answers = tuple(answers)
        self.forbids = tuple(forbids)
        self.uses = tuple(uses)
        self.tested = tuple(tested)
        self.saves = tuple(saves)
        self.equivalent = dict(equivalent or {})
        self.checks: list[Check] = []
        self.mistakes: list[Version] = []
        self.right_versions: list[Version] = []
        # As the file has them: the version made of a test that is right is another function.
        self._right = list(references)
        self.given = ""
        self.other_programs: list[Version] = []
        self.promised: Promises | None = None
        if bool(references) == bool(answers):
            raise ExerciseError("an exercise has either references (functions) or answers (names)")

    @property
    def names(self) -> tuple[str, ...]:
        """The names that the student defines."""
        return self.answers or tuple(reference.__name__ for reference in self.references)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of Python that the exercise is made of, measuring scripts left out."""
        if self.path.name != "__init__.py":
            return (self.path,)
        paths = sorted(self.path.parent.glob("*.py"))
        return tuple(path for path in paths if not path.name.startswith("measure"))

    @property
    def saved_paths(self) -> tuple[Path, ...]:
        """The reference's own files of weights, one for each name in `saves`."""
        return tuple(self.path.parent / name for name in self.saves)

    @property
    def points(self) -> float:
        """The points of all its checks."""
        return round(sum(check.points for check in self.checks), 2)

    def check(
        self,
        points: float | None = None,
        hidden: bool = False,
        judge: Judge | None = None,
        versions_of: str | None = None,
        versions: Sequence[str] = (),
        chained: bool = False,
        question: str = "",
    ) -> Callable[[Function], Function]:
        """Make the decorated probe a check of this exercise; its docstring is what people read.

        Args:
            points: for a pass. If all checks of an exercise have 0, the step is not graded: it is
                checked and shown, and it counts for nothing.
            hidden: whether it runs only in grading.
            judge: replaces equality with the reference's observation.
            versions_of, versions, chained, question: see :class:`Check`.
        """

        worth = _points(points)

        def add(probe: Function) -> Function:
            title = inspect.getdoc(probe)
            if not title:
                raise ExerciseError(f"check {probe.__name__} has no docstring for people to read")
            self.add_check(
                Check(
                    probe.__name__,
                    " ".join(title.split()),
                    worth,
                    hidden,
                    judge or Close(),
                    probe,
                    versions_of,
                    tuple(versions),
                    chained,
                    question=question,
                )
            )
            return probe

        return add

    def promises(self, checks: Mapping[str, str], explained: Sequence[str] = ()) -> None:
        """Say which checks hold each sentence of the task's docstring (:mod:`.promises`).

        Args:
            checks: the checks' names, divided by spaces, by a quoted part of the docstring.
            explained: quoted parts that promise nothing that a check could hold.
        """
        self.promised = Promises.of(checks, explained)

    def mistake(self, advice: str, of: str | None = None) -> Callable[[Function], Function]:
        """Make the decorated function a wrong version that students write.

        Args:
            advice: what helps the student who wrote it; never the answer.
            of: the reference it replaces, if the exercise has several; or a file that the
                exercise saves, and then the function takes no argument and returns the weights in
                it by name. For an exercise of answers, and with SEVERAL, the function takes no
                argument and returns the names with their wrong values.
        """

        if callable(advice):
            raise ExerciseError(
                f"@exercise.mistake above {getattr(advice, '__name__', 'a function')} has no "
                'advice; write @exercise.mistake("…") with what helps the student'
            )

        def add(function: Function) -> Function:
            self.add_mistake(self._version(function, of, advice))
            return function

        return add

    def also_right(
        self, function: Function | None = None, *, of: str | None = None, about: str = ""
    ) -> Any:
        """Make the decorated function another right version, which must keep every point.

        Args:
            function: the version.
            of: the reference that it replaces, if the exercise has several.
            about: what a student whose own test rejects it may know of it: "one that …".
        """
        if function is None:
            return lambda later: self.also_right(later, of=of, about=about)
        self.add_right_version(replace(self._version(function, of), about=about))
        self._right.append(function)
        return function

    def add_check(self, check: Check) -> None:
        """Add a check, unless another one has its name."""
        _refuse_second("check", check.name, self.checks)
        self.checks.append(replace(check, place=calling_line()))

    def add_mistake(self, mistake: Version) -> None:
        """Add a known mistake, which needs advice and a name of its own."""
        if not mistake.advice.strip():
            raise ExerciseError(
                f"mistake {mistake.name} has no advice; write what helps the student who made it"
            )
        _refuse_second("mistake", mistake.name, self.mistakes)
        self.mistakes.append(replace(mistake, place=calling_line()))

    def add_right_version(self, version: Version) -> None:
        """Add another right version, unless another one has its name."""
        _refuse_second("right version", version.name, self.right_versions)
        self.right_versions.append(replace(version, place=calling_line()))

    def edits(self, base: Function, of: str | None = None) -> Edits:
        """Known mistakes written as edits of `base`, a right version of this exercise.

        Args:
            base: a reference of this exercise, or a function registered as also right.
            of: the reference that the mistakes replace, if the exercise has several.

        Raises:
            ExerciseError: `base` is neither.
        """
        if not any(base is known for known in self._right):
            raise ExerciseError(
                f"edits({base.__name__}): write @exercise.also_right above {base.__name__}, so "
                "that it is proven right"
            )

        def register(name: str, made: Function, advice: str) -> None:
            self.add_mistake(replace(self._version(made, of, advice), name=name))

        return Edits(base, register)

    def _version(self, function: Function, of: str | None, advice: str = "") -> Version:
        if of == SEVERAL:
            of = None
        elif of is None and self.references:
            if len(self.references) > 1:
                raise ExerciseError(
                    f"{function.__name__}: say which function it replaces with of=…"
                )
            of = self.references[0].__name__
        elif (
            len(self.references) > 1 and advice and of not in self.saves and f"`{of}`" not in advice
        ):
            advice = f"`{of}`: {advice}"  # the cell holds several functions
        return Version(function.__name__, function, of, advice, of in self.saves)


def _points(points: Any) -> float:
    """The points of a check, as an exercise file gives them.

    Raises:
        ExerciseError: they are missing, or not a number that is 0 or more.
    """
    if points is None or callable(points):
        raise ExerciseError("a check needs its points; write @exercise.check(points=2)")
    if isinstance(points, bool) or not isinstance(points, int | float) or not 0 <= points < 1e6:
        raise ExerciseError(f"points={points!r} is not a number of points; write 0 or more")
    return points


def _refuse_second(kind: str, name: str, known: Sequence[Check] | Sequence[Version]) -> None:
    """Refuse a name that another check, mistake or right version of the exercise has."""
    for other in known:
        if other.name == name:
            first = f" (the first is at {other.place})" if other.place else ""
            raise ExerciseError(f"a second {kind} is called {name}{first}; rename one of them")
