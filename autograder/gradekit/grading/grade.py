"""``lab grade``: what is new in ``submitted/`` through the sandbox into journal and gradebook.

A run plans (what has no record?), grades that, and then brings the gradebook to what the journal
says. Killed at any moment, the next run goes on where it ended.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from gradekit.course import Course
from gradekit.errors import CourseError, ResultNotKeptError
from gradekit.files import remove_stale
from gradekit.gradebook.address import address_of, rows_in
from gradekit.gradebook.entry import Entry, entry_of, unstored
from gradekit.grading import pool
from gradekit.grading.remote import grade_task, keys_of
from gradekit.grading.result_keys import ResultKeys, load_keys, save_keys, state_of
from gradekit.grading.task import GradedSubmission, GraderSpec, GradingTask
from gradekit.late import lateness_of
from gradekit.results.folder import RESULTS, course_secret
from gradekit.results.journal import Journal, plan
from gradekit.results.records import Record, State, SubmissionRecord, counted
from gradekit.sandbox.sandbox import Level, check_level
from gradekit.submissions.folder import SubmittedFiles, find_submissions, folders_not_utf8
from gradekit.untrusted.imports import gc_disabled

if TYPE_CHECKING:
    from gradekit.grading.progress import ProgressReporter

LEVELS = get_args(Level)


@dataclass(frozen=True)
class Settings:
    """What the person who grades may choose.

    Attributes:
        jobs: worker processes; 0 for one a core.
        confinement: bubblewrap, landlock or none.
        again: grade anew what has a record.
        students: only these; None for all.
        cluster: the address of a Dask scheduler whose workers grade; None for this machine.
    """

    jobs: int = 0
    confinement: str = "bubblewrap"
    again: bool = False
    students: list[str] | None = None
    cluster: str | None = None


@dataclass(frozen=True)
class Row:
    """One student's line.

    Attributes:
        exercises: points by exercise; None where there is no result.
        earned: their sum, before lateness and without what people mark by hand; None where
            nothing was graded.
        points: what could be earned.
        advice: names of the known mistakes that were recognised, by exercise.
    """

    student: str
    state: State
    exercises: Mapping[str, float | None]
    earned: float | None
    points: float
    advice: Mapping[str, tuple[str, ...]]
    reason: str
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """The record that ``lab grade --json`` prints."""
        return {
            "student": self.student, "state": str(self.state), "points": dict(self.exercises),
            "earned": self.earned, "of": self.points,
            "advice": {name: list(keys) for name, keys in self.advice.items()},
            "reason": self.reason, "seconds": self.seconds,
        }  # fmt: skip


@dataclass(frozen=True)
class GradingSummary:
    """What a run came to.

    Attributes:
        graded: how many hand-ins were graded in this run.
    """

    lab: str
    rows: tuple[Row, ...]
    graded: int
    seconds: float

    @property
    def broken_ours(self) -> bool:
        """Whether anything of ours failed."""
        return any(row.state is State.OURS for row in self.rows)


def grade_lab(
    course: Course, lab: str, settings: Settings, progress: ProgressReporter
) -> GradingSummary:
    """Grade the hand-ins of `lab` that have no record yet, and update the gradebook.

    Raises:
        CourseError: the lab is not built, or a setting is not known.
        SandboxUnavailableError: this machine cannot confine student code.
    """
    start = time.perf_counter()
    if settings.confinement not in LEVELS:
        raise CourseError(f"--sandbox {settings.confinement}: choose one of {', '.join(LEVELS)}")
    results = course.root / RESULTS
    spec = GraderSpec(course, lab, settings.confinement, course_secret(results))
    with Journal(results / f"{lab}.jsonl", wait=None, on_wait=progress.say) as journal:
        for note in journal.notes:
            progress.say(note)
        remove_stale()
        submissions = _find(course, lab, settings.students, progress)
        run = _Run(spec, settings, progress, journal, _keys(spec, results))
        graded = run.grade(submissions)
        rows = tuple(run.row(submitted) for submitted in submissions)
        run.write_gradebook(submissions)
    return GradingSummary(lab, rows, graded, time.perf_counter() - start)


def _keys(spec: GraderSpec, results: Path) -> ResultKeys:
    """What the lab's results are filed under: as remembered, or as a worker finds out."""
    path, state = results / f"{spec.lab}.keys.json", state_of(spec.course, spec.lab, spec.secret)
    keys = load_keys(path, state)
    if keys is None:
        keys = pool.call(keys_of, spec)
        save_keys(path, state, keys)
    return keys


@dataclass(frozen=True)
class _Seen:
    """A hand-in without its bytes: a thousand of these fit anywhere."""

    student: str
    digest: str
    submitted: SubmittedFiles

    @classmethod
    def of(cls, submitted: SubmittedFiles) -> _Seen:
        return cls(submitted.student, submitted.digest, replace(submitted, files={}, modified={}))

    @property
    def key(self) -> tuple[str, str]:
        """What the journal files it under."""
        return self.student, self.digest


def _find(
    course: Course, lab: str, students: Sequence[str] | None, progress: ProgressReporter
) -> list[_Seen]:
    """What lies in ``submitted/`` now."""
    for name in folders_not_utf8(course.root):
        progress.say(f"submitted/{name} was left out: its name is not UTF-8; rename it")
    return [_Seen.of(submitted) for submitted in find_submissions(course.root, lab, students)]


class _Run:
    """One run over one lab."""

    def __init__(
        self,
        spec: GraderSpec,
        settings: Settings,
        progress: ProgressReporter,
        journal: Journal,
        keys: ResultKeys,
    ) -> None:
        self._spec, self._course, self._lab = spec, spec.course, spec.lab
        self._settings, self._progress, self._journal = settings, progress, journal
        self._points = keys.points
        self._keys_of = cache(keys.of)  # each hand-in's are asked for three times

    def grade(self, submissions: Iterable[_Seen]) -> int:
        """Grade what has no record; returns how many hand-ins that were."""
        todo = self._todo(submissions)
        self._progress.begin(len(todo))
        if not todo:
            return 0
        with self._results(self._tasks(todo), len(todo)) as results:
            for task, result in results:
                self._keep(task, result)
                self._progress.advance(task.submitted.student)
        return len(todo)

    @contextmanager
    def _results(
        self, tasks: Iterator[GradingTask], count: int
    ) -> Iterator[Iterator[tuple[GradingTask, GradedSubmission | Exception]]]:
        """The tasks with their results as they come in, from here or from a cluster."""
        address = self._settings.cluster
        if address is None:
            check_level(self._settings.confinement)  # say now, not in every worker, what is missing
            jobs = min(self._settings.jobs or pool.cores(), count)
            yield pool.run(grade_task, tasks, jobs)
            return
        from gradekit.grading.cluster import connected  # imports Dask, which only this needs

        with connected(address, self._course, self._lab) as cluster:
            yield pool.run(cluster.function, tasks, cluster.workers, cluster.pool)

    def row(self, seen: _Seen) -> Row:
        """The student's line, from the journal."""
        record = self._journal.submission(seen.student, seen.digest)
        assert record is not None
        state = record.state
        late = lateness_of(self._course, self._lab, seen.student, seen.submitted.submitted_at)
        if state is State.GRADED and late.is_late:
            state = State.LATE
        keys = self._keys_of(*seen.key)
        scores = counted(state, self._journal.scores(keys))
        known = [score for score in scores.values() if score is not None]
        return Row(
            student=seen.student,
            state=state,
            exercises=scores,
            earned=round(sum(known), 2) if known and state is not State.OURS else None,
            points=self._points,
            advice=self._journal.mistakes(keys),
            reason=" ".join(filter(None, [record.reason, *record.notes, late.sentence])),
            seconds=record.seconds,
        )

    def write_gradebook(self, submissions: Iterable[_Seen]) -> None:
        """Bring the gradebook to what the journal says; does nothing where it is there already."""
        address = address_of(self._course)
        entries = [entry for seen in submissions if (entry := self._entry(seen)) is not None]
        stored = {e.student: self._journal.stored(e.student, address.shown) for e in entries}
        new = unstored(entries, stored, rows_in(address))
        if not new:
            return
        with gc_disabled():
            from gradekit.gradebook.gradebook import (
                Book,  # imports nbgrader, which takes two seconds
            )
            from gradekit.submissions.released import Released

        with Book(address) as book:
            due = self._course.dates(self._lab).due
            book.register(self._lab, Released.read(self._released), due)
            for entry in new:
                before = stored[entry.student]
                row = book.write(entry, before.answers if before else None)
                self._journal.mark_stored(entry.stored(address, row))

    @cached_property
    def _released(self) -> Path:
        """The lab's released notebook: looked for once, and not by a run with nothing to do."""
        return self._course.released(self._lab)

    def _todo(self, submissions: Iterable[_Seen]) -> dict[str, tuple[str, ...]]:
        pairs = [seen.key for seen in submissions]
        if not self._settings.again:
            return plan(self._journal, pairs, self._keys_of)
        return {student: tuple(self._keys_of(student, digest)) for student, digest in pairs}

    def _tasks(self, todo: Mapping[str, tuple[str, ...]]) -> Iterator[GradingTask]:
        for submitted in find_submissions(self._course.root, self._lab, list(todo)):
            asked = todo[submitted.student]
            known = self._journal.known(self._keys_of(submitted.student, submitted.digest), asked)
            yield GradingTask(self._spec, submitted, asked, known)

    def _keep(self, task: GradingTask, result: GradedSubmission | Exception) -> None:
        """Put one result where people look, then on record."""
        from gradekit.feedback.graded_notebook import write_graded_notebook

        submitted = task.submitted
        if isinstance(result, Exception):
            with self._keeping(submitted):
                log = note_failure(
                    self._journal.path.with_suffix(".failures.log"), submitted, result
                )
            reason = f"{type(result).__name__}: {result} (the whole story is in {log.name})"
            failed = SubmissionRecord(
                submitted.student, self._lab, submitted.digest, State.OURS, reason
            )
            self._journal.append([failed])
            return
        keys = self._keys_of(submitted.student, submitted.digest)
        records = [
            Record(submitted.student, self._lab, submitted.digest, keys[fresh.exercise], fresh)
            for fresh in result.results
        ]
        # The record last: killed in between, the next run does both again.
        with self._keeping(submitted):
            write_graded_notebook(
                self._course.root, submitted, self._released.stem, result.notebook
            )
        self._journal.append([*records, result.record])

    @contextmanager
    def _keeping(self, submitted: SubmittedFiles) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise ResultNotKeptError(
                f"{self._lab}: what became of {submitted.student} cannot be written to "
                f"{error.filename or self._course.root} ({error.strerror}); mend that, as by "
                f"making room, and run the same again: what is on record stays, the rest follows"
            ) from error

    def _entry(self, seen: _Seen) -> Entry | None:
        record = self._journal.submission(seen.student, seen.digest)
        if record is None:
            return None
        scores = self._journal.scores(self._keys_of(*seen.key))
        return entry_of(self._course, record, seen.submitted.submitted_at, scores)


def note_failure(log: Path, submitted: SubmittedFiles, error: Exception) -> Path:
    """Add a failure of ours, with its traceback, to the end of `log`."""
    when = datetime.now().astimezone().isoformat(timespec="seconds")
    story = "".join(traceback.format_exception(error))
    with log.open("a", encoding="utf-8") as file:
        file.write(
            f"{when} {submitted.lab} {submitted.student!r} {submitted.digest[:12]}\n{story}\n"
        )
    return log
