"""Results on disk: append-only, keyed by content. Resume and regrade fall out of it.

``results/<lab>.jsonl`` holds one JSON object per line, of three kinds: *exercise* (a
:class:`~gradekit.results.records.Record`), *submission*, and *stored* (a gradebook has it).
A later line replaces an earlier one with the same key. Lines are written in one go and flushed to
the disk before anybody acts on them, so a kill at any moment loses at most the hand-ins in flight;
a line cut short by it is dropped when the journal is next opened. Where the disk is full, lines
that were written half are taken back.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from gradekit.errors import JournalError, JournalLockedError
from gradekit.results.records import ExerciseResult, Record, State, SubmissionRecord


@dataclass(frozen=True)
class Stored:
    """A gradebook holds a hand-in's result.

    Attributes:
        fingerprint: of all that was written.
        book: the gradebook's URL.
        row: the id that the gradebook gave to the submission.
        answers: digests of the free-text answers that the gradebook knew then.
    """

    student: str
    fingerprint: str
    book: str
    row: str
    answers: Mapping[str, str]


@dataclass(frozen=True)
class _Location:
    """Where an exercise's record stands, and what of it a run over a class asks for."""

    offset: int
    earned: float | None
    mistakes: tuple[str, ...]


class Journal:
    """One lab's results. Use as a context manager; inside, this process alone writes them.

    Args:
        path: the ``.jsonl`` file; made with its folder where missing.
        wait: seconds to wait for another process (None: as long as it takes).
        on_wait: called once with a sentence before waiting.

    Attributes:
        notes: what was found damaged on opening, one sentence each.

    Raises:
        JournalLockedError: on entering, when another process holds it for longer than `wait`.
        JournalError: the file cannot be opened.
    """

    def __init__(
        self, path: Path, wait: float | None = 0, on_wait: Callable[[str], None] | None = None
    ) -> None:
        self.path = path
        self.notes: tuple[str, ...] = ()
        self._wait, self._on_wait = wait, on_wait
        self._lock: IO[str] | None = None
        self._file: IO[bytes] | None = None  # unbuffered, and only added to
        self._reader: IO[bytes] | None = None
        self._locations: dict[str, _Location] = {}
        self._latest: dict[tuple[str, str], dict[str, str]] = {}
        self._submissions: dict[str, SubmissionRecord] = {}
        self._stored: dict[tuple[str, str], Stored] = {}

    def __enter__(self) -> Self:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = _take_lock(self.path.with_suffix(".lock"), self._wait, self._on_wait)
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
        """Write records, all or (on a kill in the midst) their first few; on disk on return."""
        self._write(
            [
                ("exercise" if isinstance(record, Record) else "submission", record.to_json())
                for record in records
            ],
            durable,
        )

    def append_graded(
        self,
        record: SubmissionRecord,
        results: Iterable[ExerciseResult],
        keys: Mapping[str, str],
    ) -> None:
        """Write what grading one submission gave, as :meth:`append` does.

        Args:
            record: the submission's; it is written last, so a kill before it means another try.
            results: of the exercises that were run.
            keys: the journal's keys of the submission's exercises, by name.
        """
        exercises = [
            Record(record.student, record.lab, record.digest, keys[result.exercise], result)
            for result in results
        ]
        self.append([*exercises, record])

    def mark_stored(self, stored: Stored) -> None:
        """Note that a gradebook holds a result. Not flushed: losing it costs one rewrite."""
        values = {name: getattr(stored, name) for name in Stored.__dataclass_fields__}
        self._write([("stored", values)], durable=False)

    def missing(self, keys: Mapping[str, str]) -> tuple[str, ...]:
        """The exercises in `keys` (name to key) that have no record, or one that we broke."""
        return tuple(name for name, score in self.scores(keys).items() if score is None)

    def earned(self, key: str) -> float | None:
        """The points of a record; None where there is none or we broke it."""
        place = self._locations.get(key)
        return place.earned if place else None

    def scores(self, keys: Mapping[str, str]) -> dict[str, float | None]:
        """The points of each exercise in `keys` (name to key), as :meth:`earned` has them."""
        return {name: self.earned(key) for name, key in keys.items()}

    def mistakes(self, keys: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
        """The known mistakes that were recognised, for each exercise in `keys` with any."""
        places = {
            name: self._locations[key] for name, key in keys.items() if key in self._locations
        }
        return {name: place.mistakes for name, place in places.items() if place.mistakes}

    def record(self, key: str) -> Record | None:
        """The record with this key, read from the file."""
        place = self._locations.get(key)
        if place is None:
            return None
        assert self._reader is not None
        self._reader.seek(place.offset)
        return Record.from_json(json.loads(self._reader.readline()))

    def known(self, keys: Mapping[str, str], asked: Collection[str]) -> dict[str, ExerciseResult]:
        """The results of the exercises in `keys` on record that are not `asked` for anew."""
        found = {name: self.record(key) for name, key in keys.items() if name not in asked}
        return {name: record.result for name, record in found.items() if record is not None}

    def results(self, student: str, digest: str) -> dict[str, Record]:
        """The latest record of each exercise of one hand-in, whatever its key."""
        keys = self._latest.get((student, digest), {})
        found = {name: self.record(key) for name, key in keys.items()}
        return {name: record for name, record in found.items() if record is not None}

    def submission(self, student: str, digest: str | None = None) -> SubmissionRecord | None:
        """The student's latest hand-in on record; with `digest`, only if it is that one."""
        record = self._submissions.get(student)
        return record if record and digest in (None, record.digest) else None

    @property
    def submissions(self) -> tuple[SubmissionRecord, ...]:
        """Every student's latest hand-in on record, by student."""
        return tuple(self._submissions[student] for student in sorted(self._submissions))

    def stored(self, student: str, book: str) -> Stored | None:
        """What the gradebook at URL `book` was last given for this student."""
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
            _write_all(handle, text)
            if durable:
                os.fsync(handle)
        except OSError as error:
            # If not even this works, the next to open the journal drops the half line.
            with suppress(OSError):
                os.ftruncate(handle, start)
            self._file.close()
            self._file = None
            raise JournalError(
                f"{self.path} cannot be written ({error.strerror}); mend that, as by making room, "
                f"and run the same again: what is on record stays, the rest follows"
            ) from error
        for place, kind, values in parts:
            self._learn(place, kind, values)

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
                self._learn(offset, values.pop("kind"), values)
            except (ValueError, KeyError, TypeError, AttributeError):
                notes.append(f"{self.path}, line {number}: damaged and left out")
        self.notes = tuple(notes)

    def _learn(self, offset: int, kind: str, values: dict[str, Any]) -> None:
        if kind == "exercise":
            record = Record.from_json(values)  # all of it, so that a damaged line is no result
            result = record.result
            self._locations[record.key] = _Location(offset, result.earned, result.mistakes)
            latest = self._latest.setdefault((record.student, record.digest), {})
            latest[record.exercise] = record.key
        elif kind == "submission":
            submitted = SubmissionRecord.from_json(values)
            self._submissions[submitted.student] = submitted
        elif kind == "stored":
            stored = Stored(**values)
            self._stored[stored.student, stored.book] = stored
        else:
            raise ValueError(kind)

    def _close(self) -> None:
        for handle in (self._file, self._reader, self._lock):
            if handle is not None:
                handle.close()  # closing the lock file's only handle gives the lock back
        self._file = self._reader = self._lock = None


def plan(
    journal: Journal,
    submissions: Iterable[tuple[str, str]],
    keys: Callable[[str, str], Mapping[str, str]],
) -> dict[str, tuple[str, ...]]:
    """What is left to do: for each student with anything missing, the exercises without a record.

    Args:
        journal: an open journal.
        handins: (student, digest) of what lies in submitted/.
        keys: the journal's keys of one hand-in, by exercise.
    """
    todo = {}
    for student, digest in submissions:
        known = journal.submission(student, digest)
        if known and known.state is State.THEIRS:
            continue
        missing = journal.missing(keys(student, digest))
        again = known is None or known.state is State.OURS
        if missing or again:
            todo[student] = missing
    return todo


def _take_lock(path: Path, wait: float | None, on_wait: Callable[[str], None] | None) -> IO[str]:
    handle = path.open("a+", encoding="utf-8")
    deadline = None if wait is None else time.monotonic() + wait
    told = False
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            sentence = _holder(path)
            if deadline is not None and time.monotonic() >= deadline:
                handle.close()
                raise JournalLockedError(
                    f"{sentence}; wait for it, or end it and try again"
                ) from None
            if on_wait and not told:
                on_wait(f"{sentence}; waiting")
                told = True
            time.sleep(0.1)
    since = datetime.now().astimezone().isoformat(timespec="seconds")
    who = json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": since})
    with suppress(OSError):  # it is only for those who wait, and the lock holds without it
        os.ftruncate(handle.fileno(), 0)
        _write_all(handle.fileno(), who.encode())
    return handle


def _holder(path: Path) -> str:
    journal = path.with_suffix(".jsonl")
    try:
        who = json.loads(path.read_text("utf-8"))
        return (
            f"{journal} is being written by process {who['pid']} on {who['host']} "
            f"since {who['since']}"
        )
    except (OSError, ValueError, KeyError, TypeError):
        return f"{journal} is being written by another process"


def _write_all(handle: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(handle, left) :]


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
