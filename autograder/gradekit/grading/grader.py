"""One lab's grader: sandbox and judge behind one call.

Tested in tests/gradekit/grading/test_grader_cache.py, test_result_keys.py and test_grade.py.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

import torch

import attnlab
from attnlab.checking.definitions import kind_of
from attnlab.checking.verdict import Verdict
from gradekit.build.student_library import write_student_library
from gradekit.course import Course
from gradekit.exercise.definition import Exercise
from gradekit.exercise.loader import CourseLabs, LabExercises
from gradekit.exercise.standalone import standalone_sources
from gradekit.exercise.trained import ScoreBands
from gradekit.exercise.variants import Variants
from gradekit.files import LockedTempFolder
from gradekit.grading.changed_names import changed_later
from gradekit.grading.judge import judge
from gradekit.grading.result_keys import ResultKeys
from gradekit.grading.task import GraderSpec
from gradekit.grading.undefined_names import stopped_definitions
from gradekit.late import answers_public_after_without_extensions
from gradekit.results.records import CheckResult, ExerciseResult, Graded, digest_of
from gradekit.sandbox.levels import AUTO, Level, choose, level_named
from gradekit.sandbox.limit_messages import NOT_RUN, about_cell
from gradekit.sandbox.result import SubmissionRun
from gradekit.sandbox.sandbox import Sandbox, SandboxFailedError
from gradekit.submissions.notebook import runnable_cells
from gradekit.submissions.released import Released
from gradekit.submissions.submission import Submission
from gradekit.untrusted.limits import MIB, ExerciseLimits, Limits
from gradekit.untrusted.messages import Cell, Probe

_MOST_LISTED = 3


@dataclass(frozen=True)
class Judged:
    """A submission after its run.

    Attributes:
        number: the variant of the checks that it was asked.
        verdicts: by exercise, in the lab's order.
    """

    number: int
    cells: Sequence[Cell]
    run: SubmissionRun
    verdicts: Mapping[str, Verdict]


class LabGrader:
    """Grades submissions of one lab. Use as a context manager; the sandbox starts on first use.

    Raises:
        CourseError, ExerciseError: the lab's files contradict each other.
    """

    def __init__(self, spec: GraderSpec) -> None:
        self.spec = spec
        self._labs = CourseLabs(spec.course)
        self.exercises: LabExercises = self._labs[spec.lab]
        self.released = released_notebook(spec.course, spec.lab, self.exercises)
        self.variants = Variants(self.exercises, spec.secret)
        self._cleanup = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._cleanup.close()

    @cached_property
    def level(self) -> Level:
        """The level of isolation that this machine gives.

        Raises:
            SandboxUnavailableError: it cannot confine code as asked.
        """
        asked = self.spec.level
        return choose().level if asked == AUTO else level_named(asked)

    @cached_property
    def sandbox(self) -> Sandbox:
        """The running sandbox.

        Raises:
            SandboxUnavailableError: this machine cannot confine code as asked.
        """
        folder = LockedTempFolder()
        self._cleanup.callback(folder.close)
        # Not by extensions: one that is given after the release must not change this lab's grading.
        write_student_library(
            self._labs, self.spec.lab, folder.path, answers_public_after_without_extensions
        )
        sandbox = Sandbox(
            folder.path,
            limits_of(self.spec),
            self.level,
            private=[self.spec.course.root],
            trains=self.exercises.trains,
        )
        return self._cleanup.enter_context(sandbox)

    def grade(self, submission: Submission, exercises: Sequence[str] | None = None) -> Graded:
        """Run the notebook, ask about `exercises` (None for all), and judge the answers."""
        try:
            judged = self.run_and_judge(submission, exercises)
        except SandboxFailedError as error:
            return Graded({}, (), broken=f"the sandbox failed: {error}")
        run, cells = judged.run, judged.cells
        return Graded(
            outputs={cell.id: cell.outputs for cell in run.cells},
            results=tuple(
                result_of(self.exercises[name], verdict, self.level)
                for name, verdict in judged.verdicts.items()
            ),
            seconds=round(run.cpu_seconds, 3),
            stopped=_stopped(run, cells),
            notes=changed_later(cells, run.cells),
        )

    def run_and_judge(
        self, submission: Submission, exercises: Sequence[str] | None = None
    ) -> Judged:
        """Run the notebook in the sandbox, and compare what it answers with the reference.

        Raises:
            SandboxFailedError: the sandbox ended, and that is not the submission's fault.
        """
        asked = [
            exercise
            for exercise in self.exercises.exercises
            if exercises is None or exercise.name in exercises
        ]
        number = self.variants.number(f"{submission.student}\0{submission.digest}")
        assert submission.notebook is not None, submission.broken
        cells = runnable_cells(submission.notebook)
        probes = [self._probes(exercise, number) for exercise in asked]
        run = self.sandbox.run(cells, probes, submission.files, number, self._graded_names)
        sources = [cell.source for cell in cells]
        stopped = stopped_definitions(cells, run.cells)
        verdicts = judge(self.variants, number, asked, run.observations, sources, stopped)
        return Judged(number, cells, run, verdicts)

    @cached_property
    def _graded_names(self) -> dict[str, dict[str, str]]:
        """By exercise, the names that students define and the kind of each."""
        right = self.exercises.reference
        return {
            exercise.name: {name: kind_of(right[name]) for name in exercise.names}
            for exercise in self.exercises.exercises
        }

    def _probes(self, exercise: Exercise, number: int) -> list[Probe]:
        probes = self.variants.probes(exercise, number)
        if exercise.name not in self.spec.course.exercise_limits(self.spec.lab):
            return probes
        own = exercise_limits_of(self.spec, exercise.name)
        return [replace(probe, limits=own) for probe in probes]

    @cached_property
    def keys(self) -> ResultKeys:
        """The keys of this lab's results: everything that they depend on."""
        surroundings = environment_digest(self.spec)
        versions = {
            exercise.name: (
                *(digest_of(path.read_bytes()) for path in self._files(exercise)),
                _reference_digest(exercise, self.spec.course),
                str(exercise_limits_of(self.spec, exercise.name)),
                surroundings,
            )
            for exercise in self.exercises.exercises
        }
        return ResultKeys(self.spec.lab, versions, self.exercises.points)

    def _files(self, exercise: Exercise) -> list[Path]:
        """The exercise files that an exercise's checks use."""
        others = {check.versions_of for check in exercise.checks if check.versions_of}
        asked = [exercise, *(self.exercises[name] for name in sorted(others))]
        return [path for one in asked for path in one.files]


def result_of(exercise: Exercise, verdict: Verdict, level: Level) -> ExerciseResult:
    """A verdict as the journal stores it: no inputs, no numbers of hidden checks."""
    return ExerciseResult(
        exercise=exercise.name,
        title=exercise.title,
        checks=tuple(
            CheckResult(
                name=outcome.check.name,
                title=outcome.check.title,
                hidden=outcome.check.hidden,
                earned=round(outcome.earned, 2),
                points=outcome.check.points,
                passed=outcome.passed,
            )
            for outcome in verdict.outcomes
        ),
        advice=verdict.advice,
        mistakes=verdict.mistakes,
        sandbox=level,
        names=exercise.names,
        uses=tuple(function.__name__ for function in exercise.uses),
    )


def released_notebook(course: Course, lab: str, exercises: LabExercises) -> Released:
    """The notebook that students of `lab` were given.

    Raises:
        CourseError: it has not been built.
    """
    names = {exercise.name: exercise.names for exercise in exercises.exercises}
    return Released.read(course.released(lab), names)


def limits_of(spec: GraderSpec) -> Limits:
    """The sandbox's limits as course.toml sets them."""
    values = spec.course.limits(spec.lab)
    return Limits(
        cell_seconds=values.cell_seconds,
        submission_seconds=values.submission_seconds,
        cpu_seconds=values.cpu_seconds or int(values.submission_seconds) + 1,
        exercise_seconds=values.exercise_seconds,
        memory_bytes=values.memory_mib * MIB,
        output_bytes=values.output_kib * 1024,
        cell_output_bytes=max(16, values.output_kib // 2) * 1024,
        answer_bytes=values.answer_mib * MIB,
        file_bytes=values.file_mib * MIB,
        scratch_bytes=values.scratch_mib * MIB,
        processes=values.processes,
    )


def exercise_limits_of(spec: GraderSpec, exercise: str) -> ExerciseLimits:
    """The limits of the probes of one exercise: its own, or by default the lab's."""
    limits = limits_of(spec).of_an_exercise
    own = spec.course.exercise_limits(spec.lab).get(exercise)
    if own is None:
        return limits
    return ExerciseLimits(
        seconds=float(own.exercise_seconds or limits.seconds),
        cpu_seconds=own.cpu_seconds or limits.cpu_seconds,
        memory_bytes=own.memory_mib * MIB if own.memory_mib else limits.memory_bytes,
        answer_bytes=own.answer_mib * MIB if own.answer_mib else limits.answer_bytes,
    )


def environment_digest(spec: GraderSpec) -> str:
    """A digest of everything that all results depend on: versions, limits, shared code, secret."""
    library = Path(attnlab.__file__).parent
    paths = [*library.glob("checking/*.py"), *library.glob("data/*.py")]
    shared = [path.read_bytes() for path in sorted(paths)]
    values = (platform.python_version(), torch.__version__, str(limits_of(spec)))
    return digest_of(*shared, *(value.encode() for value in values), spec.secret)


def _reference_digest(exercise: Exercise, course: Course) -> str:
    scores = [c.judge.score for c in exercise.checks if isinstance(c.judge, ScoreBands)]
    asked = [*exercise.references, *exercise.uses, *exercise.tested, *scores]
    # The reference of an exercise with answers is a cell of the lab's source.
    solved = course.source(exercise.lab).read_bytes() if exercise.answers else b""
    return digest_of(standalone_sources(asked).encode(), solved)


def _stopped(run: SubmissionRun, cells: Sequence[Cell]) -> str | None:
    """The first few cells that reached limits, in words for the student."""
    stopped = [
        about_cell(cell.source, ran.reason)
        for cell, ran in zip(cells, run.cells, strict=True)
        if ran.reason and ran.reason != NOT_RUN
    ]
    if len(stopped) > _MOST_LISTED:
        more = f"{len(stopped) - _MOST_LISTED} more cells reached limits."
        stopped = [*stopped[:_MOST_LISTED], more]
    if any(ran.reason == NOT_RUN for ran in run.cells):
        stopped.append("The cells after that were not run.")
    return " ".join(stopped) or None
