"""Results on disk: append-only and keyed by content, so a run can resume, and regrade only changes.

``results/<lab>.jsonl`` holds one JSON object per line, of three kinds: *exercise* (a
:class:`~gradekit.results.records.Record`), *submission*, and *stored* (a gradebook has it).
A later line replaces an earlier one with the same key. Lines are written together and flushed to
the disk before the run continues. So a kill at any moment loses at most the submissions that are
being graded. The next open of the journal drops a line that was cut short. If the disk is full,
partly written lines are removed again.

Tested in tests/gradekit/results/test_journal.py.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Self, assert_never

from gradekit.errors import JournalError
from gradekit.results.folder import graded_journal_path
from gradekit.results.lock import take_lock, write_all
from gradekit.results.records import ExerciseResult, Record, State, SubmissionRecord

if TYPE_CHECKING:
    from gradekit.course import Course

# `lab grade` holds the lock for as long as it grades.
_READER_SECONDS = 10.0


@dataclass(frozen=True)
class GradebookRecord:
    """What a gradebook holds of one submission's result.

    Attributes:
        fingerprint: of all the written values.
        book: the gradebook's URL.
        row: the id that the gradebook gave to the submission.
        answers: digests of the free-text answers at that time.
    """

    student: str
    fingerprint: str
    book: str
    row: str
    answers: Mapping[str, str]


@dataclass(frozen=True)
class _Location:
    """Where an exercise's record is in the file, and the values that a run over a class needs."""

    offset: int
    earned: float | None
    mistakes: tuple[str, ...]
    sandbox: str


def read_journal(course: Course, lab: str) -> Journal:
    """The journal of a lab that has results, for a command that only reads them.

    Raises:
        CourseError: nothing was graded yet.
    """
    return Journal(graded_journal_path(course, lab), wait=_READER_SECONDS)


class Journal:
    """One lab's results. Use as a context manager; inside, this process alone writes them.

    Args:
        path: the ``.jsonl`` file; if it is missing, it is made with its folder.
        wait: seconds to wait for another process (None: without a limit).
        on_wait: called once with a message before waiting.

    Attributes:
        notes: damage that was found on opening, one sentence each.

    Raises:
        JournalLockedError: on entering, if another process holds it for longer than `wait`.
        JournalError: the file cannot be opened.
    """

    def __init__(
        self, path: Path, wait: float | None = 0, on_wait: Callable[[str], None] | None = None
    ) -> None:
        self.path = path
        self.notes: tuple[str, ...] = ()
        self._wait, self._on_wait = wait, on_wait
        self._lock: IO[str] | None = None
        self._file: IO[bytes] | None = None  # unbuffered, append only
        self._reader: IO[bytes] | None = None
        self._locations: dict[str, _Location] = {}
        self._latest: dict[tuple[str, str], dict[str, str]] = {}
        self._submissions: dict[str, SubmissionRecord] = {}
        self._stored: dict[tuple[str, str], GradebookRecord] = {}

    def __enter__(self) -> Self:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = take_lock(self.path.with_suffix(".lock"), self._wait, self._on_wait)
            self._file = self.path.open("ab", buffering=0)
            self._reader = self.path.open("rb")
            self._load()
            _sync_folder(self.path.parent)
        except OSError as error:
            self._close()
            raise JournalError(f"{self.path} cannot be opened: {error.strerror}") from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()

    def append(self, records: Iterable[Record | SubmissionRecord], durable: bool = True) -> None:
        """Write records; if this process is killed meanwhile, only the first of them may be there.

        Args:
            records: of exercises and submissions.
            durable: whether they are on the disk when this returns.

        Raises:
            JournalError: they cannot be written, or the journal is not open.
        """
        self._write([(_kind_of(record), record.to_json()) for record in records], durable)

    def append_graded(
        self,
        record: SubmissionRecord,
        results: Iterable[ExerciseResult],
        keys: Mapping[str, str],
    ) -> None:
        """Write the results of grading one submission, as :meth:`append` does.

        Args:
            record: the submission's; it is written last, so after an earlier kill the next run
                grades the submission again.
            results: of the exercises that were run.
            keys: the journal's keys of the submission's exercises, by name.
        """
        exercises = [
            Record(record.student, record.lab, record.digest, keys[result.exercise], result)
            for result in results
        ]
        self.append([*exercises, record])

    def mark_stored(self, stored: GradebookRecord) -> None:
        """Record that a gradebook holds a result. Not flushed: its loss costs only a rewrite."""
        values = {name: getattr(stored, name) for name in GradebookRecord.__dataclass_fields__}
        self._write([("stored", values)], durable=False)

    def withdraw(self, student: str) -> None:
        """Record that a student's submission counts no longer; results of exercises stay."""
        self._write([("withdrawn", {"student": student})], durable=True)

    def missing(self, keys: Mapping[str, str]) -> tuple[str, ...]:
        """The exercises in `keys` (name to key) without a record, or with a failure of ours."""
        return tuple(name for name, score in self.scores(keys).items() if score is None)

    def earned(self, key: str) -> float | None:
        """The points of a record; None if there is none, or if it is a failure of ours."""
        location = self._locations.get(key)
        return location.earned if location else None

    def scores(self, keys: Mapping[str, str]) -> dict[str, float | None]:
        """The points of each exercise in `keys` (name to key); see :meth:`earned`."""
        return {name: self.earned(key) for name, key in keys.items()}

    def mistakes(self, keys: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
        """The recognised mistakes of each exercise in `keys` that has any."""
        found = {name: self._locations.get(key) for name, key in keys.items()}
        return {name: at.mistakes for name, at in found.items() if at and at.mistakes}

    def sandboxes(self, keys: Mapping[str, str]) -> tuple[str, ...]:
        """The levels of isolation that the exercises in `keys` ran at, each once."""
        found = {at.sandbox for key in keys.values() if (at := self._locations.get(key))}
        return tuple(sorted(found - {""}))

    def record(self, key: str) -> Record | None:
        """The record with this key, read from the file."""
        location = self._locations.get(key)
        if location is None:
            return None
        assert self._reader is not None
        self._reader.seek(location.offset)
        return Record.from_json(json.loads(self._reader.readline()))

    def recorded(
        self, keys: Mapping[str, str], asked: Collection[str]
    ) -> dict[str, ExerciseResult]:
        """The recorded results of the exercises in `keys`, without those that will be `asked`."""
        found = {name: self.record(key) for name, key in keys.items() if name not in asked}
        return {name: record.result for name, record in found.items() if record is not None}

    def results(self, student: str, digest: str) -> dict[str, Record]:
        """The latest record of each exercise of one submission, with any key."""
        keys = self._latest.get((student, digest), {})
        found = {name: self.record(key) for name, key in keys.items()}
        return {name: record for name, record in found.items() if record is not None}

    def submission(self, student: str, digest: str | None = None) -> SubmissionRecord | None:
        """The student's latest recorded submission; with `digest`, only if it has that digest."""
        record = self._submissions.get(student)
        return record if record and digest in (None, record.digest) else None

    @property
    def submissions(self) -> tuple[SubmissionRecord, ...]:
        """Every student's latest recorded submission, by student."""
        return tuple(self._submissions[student] for student in sorted(self._submissions))

    def stored(self, student: str, book: str) -> GradebookRecord | None:
        """This student's result that was last written to the gradebook at URL `book`."""
        return self._stored.get((student, book))

    def _write(self, lines: list[tuple[str, dict[str, Any]]], durable: bool) -> None:
        if self._file is None:
            raise JournalError(f"{self.path} is not open; use `with Journal(…) as journal:`")
        handle = self._file.fileno()
        start = os.fstat(handle).st_size
        text, parts = b"", []
        for kind, values in lines:
            parts.append((start + len(text), kind, values))
            text += json.dumps({"kind": kind, **values}, ensure_ascii=True).encode() + b"\n"
        try:
            write_all(handle, text)
            if durable:
                os.fsync(handle)
        except OSError as error:
            # If this fails, too, the next open of the journal drops the partial line.
            with suppress(OSError):
                os.ftruncate(handle, start)
            self._file.close()
            self._file = None
            raise JournalError(
                f"{self.path} cannot be written ({error.strerror}); fix that, for example by "
                f"freeing space, and run the command again: recorded results stay and the rest "
                f"follow"
            ) from error
        for offset, kind, values in parts:
            self._index(offset, kind, values)

    def _load(self) -> None:
        assert self._file is not None
        assert self._reader is not None
        notes = []
        for number, (offset, line) in enumerate(_lines(self._reader), start=1):
            if not line.endswith(b"\n"):
                notes.append(f"{self.path}: the last line was cut short and is dropped")
                self._file.truncate(offset)
                break
            try:
                values = json.loads(line)
                self._index(offset, values.pop("kind"), values)
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                notes.append(f"{self.path}, line {number}: damaged and left out")
        self.notes = tuple(notes)

    def _index(self, offset: int, kind: str, values: dict[str, Any]) -> None:
        match kind:
            case "exercise":
                record = Record.from_json(values)  # all of it, because a damaged one must not count
                result = record.result
                self._locations[record.key] = _Location(
                    offset, result.earned, result.mistakes, result.sandbox
                )
                latest = self._latest.setdefault((record.student, record.digest), {})
                latest[record.exercise] = record.key
            case "submission":
                submission = SubmissionRecord.from_json(values)
                self._submissions[submission.student] = submission
            case "stored":
                stored = GradebookRecord(**values)
                self._stored[stored.student, stored.book] = stored
            case "withdrawn":
                student = values["student"]
                self._submissions.pop(student, None)
                for key in [key for key in self._stored if key[0] == student]:
                    del self._stored[key]
            case _:
                raise ValueError(f"there is no kind of record {kind!r}")

    def _close(self) -> None:
        for handle in (self._file, self._reader, self._lock):
            if handle is not None:
                handle.close()  # closing the lock file's only handle releases the lock
        self._file = self._reader = self._lock = None


def plan(
    journal: Journal,
    submissions: Iterable[tuple[str, str]],
    keys: Callable[[str, str], Mapping[str, str]],
) -> dict[str, tuple[str, ...]]:
    """The work that is left: for each student with any, the exercises without a record.

    Args:
        journal: an open journal.
        submissions: (student, digest) of the submissions in submitted/.
        keys: the journal's keys of one submission, by exercise.
    """
    todo = {}
    for student, digest in submissions:
        record = journal.submission(student, digest)
        match record.state if record else None:
            case State.THEIRS:
                continue
            case State.OURS | None:
                again = True
            case State.GRADED | State.LATE:
                again = False
            case unknown:
                assert_never(unknown)
        missing = journal.missing(keys(student, digest))
        if missing or again:
            todo[student] = missing
    return todo


def _kind_of(record: Record | SubmissionRecord) -> str:
    match record:
        case Record():
            return "exercise"
        case SubmissionRecord():
            return "submission"
        case unknown:
            assert_never(unknown)


def _lines(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    offset = 0
    for line in file:
        yield offset, line
        offset += len(line)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
