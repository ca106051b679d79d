"""``lab grade``: new submissions go through the sandbox into the journal and the gradebook.

A run plans (which have no record?), grades those, and then brings the gradebook to the journal's
state. If it is killed at any moment, the next run continues there.
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
from typing import TYPE_CHECKING

from gradekit.course import Course
from gradekit.errors import CollectError, ResultNotKeptError
from gradekit.feedback.shown_state import shown_state
from gradekit.files import remove_stale
from gradekit.gradebook.address import address_of
from gradekit.gradebook.marks import Marks
from gradekit.gradebook.reading import read_marks
from gradekit.gradebook.update import GradebookUpdate
from gradekit.grading import pool
from gradekit.grading.changes import (
    Result,
    ScoreChange,
    changes,
    manual_marks_to_review,
    results_now,
)
from gradekit.grading.remote import grade_task, keys_of
from gradekit.grading.result_keys import ResultKeys, load_keys, save_keys, state_of
from gradekit.grading.summary import GradingSummary, Row
from gradekit.grading.task import GradedSubmission, GraderSpec, GradingTask
from gradekit.results.folder import (
    course_secret,
    failures_path,
    journal_path,
    keys_path,
    results_folder,
)
from gradekit.results.journal import Journal, plan
from gradekit.results.records import State, SubmissionRecord, points_that_count
from gradekit.roster.students import load_roster
from gradekit.sandbox.levels import AUTO, check_request, choose
from gradekit.submissions.folder import SubmittedFiles, find_submissions, folders_not_utf8
from gradekit.submissions.slip_days import lateness_now

if TYPE_CHECKING:
    from gradekit.grading.progress import ProgressReporter
    from gradekit.submissions.released import Released


@dataclass(frozen=True)
class Settings:
    """The choices of the user who grades.

    Attributes:
        jobs: worker processes; 0 for one per core.
        level: bubblewrap, landlock, none; or auto, the strongest that there is.
        again: regrade submissions that have a record.
        students: only these; None for all.
        cluster: the address of a Dask scheduler whose workers grade; None for this machine.
    """

    jobs: int = 0
    level: str = AUTO
    again: bool = False
    students: list[str] | None = None
    cluster: str | None = None


def grade_lab(
    course: Course, lab: str, settings: Settings, progress: ProgressReporter
) -> GradingSummary:
    """Grade the submissions of `lab` that have no record yet, and update the gradebook.

    Raises:
        RosterError: students.csv is wrong.
        CourseError: the lab is not built, a setting is not known, or an extension is for somebody
            who is not in the course.
        CollectError: a student who was asked for has not handed in.
        SandboxUnavailableError: this machine cannot confine student code.
    """
    start = time.perf_counter()
    # A wrong extension or line of students.csv is told now, and not after the grading.
    course.last_due(lab)
    roster = [student.id for student in load_roster(course.root)]
    check_request(settings.level)
    level = settings.level
    if settings.cluster is None:
        chosen = choose(level)
        progress.say(chosen.line)
        level = chosen.level
    spec = GraderSpec(course, lab, level, course_secret(results_folder(course)))
    with Journal(journal_path(course, lab), wait=None, on_wait=progress.say) as journal:
        for note in journal.notes:
            progress.say(note)
        remove_stale()
        submissions = _find(course, lab, settings.students, progress)
        run = _Run(spec, settings, progress, journal, _keys(spec))
        graded = run.grade(submissions)
        submissions, changed = run.split_by_record(submissions)
        for student in changed:
            progress.say(
                f"{student}: the hand-in was changed or taken away while the class was graded; run "
                f"`lab grade {lab}` once more"
            )
        run.update_gradebook(submissions)
        marks = read_marks(address_of(course), lab)
        moved = {change.student: change for change in run.changes(graded)}
        rows = tuple(
            replace(run.row(submitted, marks), change=moved.get(submitted.student))
            for submitted in submissions
        )
        look_at = run.manual_marks_to_review(marks, graded)
    there = {*changed, *(row.student for row in rows)}
    wanted = roster if settings.students is None else []
    missing = tuple(student for student in wanted if student not in there)
    seconds = time.perf_counter() - start
    return GradingSummary(lab, rows, len(graded), seconds, missing, look_at)


def _keys(spec: GraderSpec) -> ResultKeys:
    """The keys of the lab's results: saved by the last run, or computed by a worker."""
    path, state = keys_path(spec.course, spec.lab), state_of(spec.course, spec.lab, spec.secret)
    keys = load_keys(path, state)
    if keys is None:
        keys = pool.call(keys_of, spec)
        save_keys(path, state, keys)
    return keys


def _find(
    course: Course, lab: str, students: Sequence[str] | None, progress: ProgressReporter
) -> list[SubmittedFiles]:
    """The submissions in ``submitted/`` now, without their bytes: a thousand fit in memory."""
    for name in folders_not_utf8(course.root):
        progress.say(f"submitted/{name} was left out: its name is not UTF-8; rename it")
    found = [
        replace(submitted, files={}, modified={})
        for submitted in find_submissions(course.root, lab, students)
    ]
    if absent := set(students or ()) - {submitted.student for submitted in found}:
        raise CollectError(
            f"there is no hand-in of {', '.join(sorted(absent))} for {lab} in submitted/; "
            "`lab collect` brings hand-ins there"
        )
    return found


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
        self._keys_of = cache(keys.of)  # each submission's are needed three times
        self._before: Mapping[str, Result] = {}

    def grade(self, submissions: Sequence[SubmittedFiles]) -> tuple[str, ...]:
        """Grade submissions without a record; returns the students."""
        todo = self._todo(submissions)
        if regraded := self._why_regraded(submissions, todo):
            self._progress.say(regraded)
        self._progress.begin(len(todo))
        if not todo:
            return ()
        if any(self._journal.submission(student) for student in todo):
            self._before = results_now(self._journal, todo, self._notebook)
        with self._results(self._tasks(todo), len(todo)) as results:
            for task, result in results:
                self._record(task, result)
                self._progress.advance(task.submitted.student)
        return tuple(todo)

    def split_by_record(
        self, submissions: Sequence[SubmittedFiles]
    ) -> tuple[list[SubmittedFiles], list[str]]:
        """The submissions that have a record now, and the students whose files have changed since.

        The files are read once more for grading, and what is there then is graded and recorded.
        """
        found = {s.student for s in submissions if self._journal.submission(s.student, s.digest)}
        changed = [s.student for s in submissions if s.student not in found]
        return [s for s in submissions if s.student in found], changed

    def changes(self, graded: Iterable[str]) -> tuple[ScoreChange, ...]:
        """Those of the graded students who had a result before, and have other points now."""
        if not self._before:
            return ()
        return changes(self._before, results_now(self._journal, graded, self._notebook))

    def manual_marks_to_review(
        self, marks: Mapping[str, Marks], graded: Sequence[str]
    ) -> tuple[str, ...]:
        """A sentence for each manual mark that was given for another result."""
        return manual_marks_to_review(marks, self._notebook, graded) if graded else ()

    def row(self, submitted: SubmittedFiles, marks: Mapping[str, Marks]) -> Row:
        """The student's line, from the journal and the gradebook."""
        record = self._journal.submission(submitted.student, submitted.digest)
        assert record is not None
        late = lateness_now(self._course, self._lab, submitted.student, submitted.submitted_at)
        keys = self._keys_of(submitted.student, submitted.digest)
        scores = points_that_count(record.state, self._journal.scores(keys))
        known = [score for score in scores.values() if score is not None]
        mark = marks.get(submitted.student) if known else None
        raw = mark.points if mark else 0.0
        return Row(
            student=submitted.student,
            state=shown_state(record, late),
            exercises=scores,
            earned=round(sum(known), 2) if known else None,
            points=self._points,
            advice=self._journal.mistakes(keys),
            reason=" ".join(filter(None, [record.reason, *record.notes, late.sentence])),
            seconds=record.seconds,
            sandboxes=self._journal.sandboxes(keys),
            score=round(max(0.0, raw - late.penalty(raw)), 2) if mark else None,
            final=mark is not None and mark.is_complete,
        )

    def update_gradebook(self, submissions: Iterable[SubmittedFiles]) -> None:
        """Bring the gradebook to the journal's state; does nothing if it is there already."""
        update = GradebookUpdate(self._course, self._lab, self._journal, address_of(self._course))
        entries = [
            update.entry(submitted, self._keys_of(submitted.student, submitted.digest))
            for submitted in submissions
        ]
        missing = update.missing([entry for entry in entries if entry is not None])
        if missing:
            update.write(missing, self._notebook)

    @cached_property
    def _notebook(self) -> Released:
        """The lab's released notebook: read only if something is graded."""
        from gradekit.submissions.released import Released  # imports nbformat

        return Released.read(self._released)

    @cached_property
    def _released(self) -> Path:
        """The lab's released notebook: searched for once, and only if something is graded."""
        return self._course.released(self._lab)

    def _todo(self, submissions: Iterable[SubmittedFiles]) -> dict[str, tuple[str, ...]]:
        """For each student with anything to grade, the exercises to ask about."""
        pairs = [(submitted.student, submitted.digest) for submitted in submissions]
        if not self._settings.again:
            return plan(self._journal, pairs, self._keys_of)
        return {student: tuple(self._keys_of(student, digest)) for student, digest in pairs}

    def _why_regraded(
        self, submissions: Sequence[SubmittedFiles], todo: Mapping[str, tuple[str, ...]]
    ) -> str:
        """Why submissions that were graded before are graded again; empty if none of them is."""
        if self._settings.again:  # the user knows
            return ""
        before = [submitted for submitted in submissions if self._was_graded(submitted)]
        changed = [
            submitted
            for submitted in before
            if self._has_other_keys(submitted, todo.get(submitted.student, ()))
        ]
        if not changed:
            return ""
        of_all = f" of {len(submissions)}" if len(before) < len(submissions) else ""
        hand_ins = "hand-in" if len(submissions) == 1 else "hand-ins"
        were, are = ("was" if len(before) == 1 else "were"), ("is" if len(changed) == 1 else "are")
        return (
            f"{len(before)}{of_all} {hand_ins} {were} graded before; an exercise or the grader has "
            f"changed since, so {len(changed)} {are} graded again."
        )

    def _was_graded(self, submitted: SubmittedFiles) -> bool:
        record = self._journal.submission(submitted.student, submitted.digest)
        return record is not None and record.state is State.GRADED

    def _has_other_keys(self, submitted: SubmittedFiles, asked: Iterable[str]) -> bool:
        """Whether the journal has no record at all under the keys of the exercises `asked`."""
        keys = self._keys_of(submitted.student, submitted.digest)
        return any(self._journal.record(keys[exercise]) is None for exercise in asked)

    def _tasks(self, todo: Mapping[str, tuple[str, ...]]) -> Iterator[GradingTask]:
        for submitted in find_submissions(self._course.root, self._lab, list(todo)):
            asked = todo[submitted.student]
            recorded = self._journal.recorded(
                self._keys_of(submitted.student, submitted.digest), asked
            )
            yield GradingTask(self._spec, submitted, asked, recorded)

    @contextmanager
    def _results(
        self, tasks: Iterator[GradingTask], count: int
    ) -> Iterator[Iterator[tuple[GradingTask, GradedSubmission | Exception]]]:
        """The tasks with their results as they finish, on this machine or on a cluster."""
        address = self._settings.cluster
        if address is None:
            jobs = min(self._settings.jobs or pool.cores(), count)
            yield pool.run(grade_task, tasks, jobs)
            return
        from gradekit.grading.cluster import connected  # imports Dask, which only this needs

        with connected(address, self._spec) as cluster:
            for line in cluster.sandboxes:
                self._progress.say(line)
            yield pool.run(cluster.function, tasks, cluster.workers, cluster.pool)

    def _record(self, task: GradingTask, result: GradedSubmission | Exception) -> None:
        """Write one result: first the notebook that people look at, then the record."""
        submitted = task.submitted
        if isinstance(result, Exception):
            self._record_failure(submitted, result)
            return
        from gradekit.feedback.graded_notebook import write_graded_notebook

        # The record last: if the run is killed in between, the next run does both again.
        with self._disk_errors(submitted):
            write_graded_notebook(
                self._course.root, submitted, self._released.stem, result.notebook
            )
        keys = self._keys_of(submitted.student, submitted.digest)
        self._journal.append_graded(result.record, result.results, keys)

    def _record_failure(self, submitted: SubmittedFiles, error: Exception) -> None:
        log = failures_path(self._course, self._lab)
        with self._disk_errors(submitted):
            note_failure(log, submitted, error)
        reason = f"{type(error).__name__}: {error} (the traceback is in {log.name})"
        failed = SubmissionRecord(
            submitted.student, self._lab, submitted.digest, State.OURS, reason
        )
        self._journal.append([failed])

    @contextmanager
    def _disk_errors(self, submitted: SubmittedFiles) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise ResultNotKeptError(
                f"{self._lab}: the result of {submitted.student} cannot be written to "
                f"{error.filename or self._course.root} ({error.strerror}); fix that, for example "
                f"by freeing space, and run the command again: recorded results stay and the rest "
                f"follow"
            ) from error


def note_failure(log: Path, submitted: SubmittedFiles, error: Exception) -> None:
    """Add a failure of the grader, with its traceback, to the end of `log`."""
    when = datetime.now().astimezone().isoformat(timespec="seconds")
    story = "".join(traceback.format_exception(error))
    with log.open("a", encoding="utf-8") as file:
        file.write(
            f"{when} {submitted.lab} {submitted.student!r} {submitted.digest[:12]}\n{story}\n"
        )
