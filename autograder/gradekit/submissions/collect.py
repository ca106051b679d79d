"""``lab collect``: submissions from folders, zips and course systems -> nbgrader's ``submitted/``.

A newer submission replaces an older one, never the other way round, and always as a whole. Every
refused file is listed with the reason; nothing that a student packed stops the others.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Literal

from gradekit.course import Course
from gradekit.errors import RefusedError
from gradekit.submissions.archives import (
    FoundFile,
    UnsafeName,
    folder_items,
    is_zip,
    read_file,
    zip_items,
)
from gradekit.submissions.folder import (
    SUBMITTED,
    TIMESTAMP,
    format_timestamp,
    is_notebook,
    parse_timestamp,
)
from gradekit.submissions.incoming import IncomingSubmission
from gradekit.submissions.lms_layouts import ParsedPath, common_top, parse_path
from gradekit.submissions.notebook_lab import lab_of

_MOST_LISTED = 5  # with one reason, of one hand-in


@dataclass(frozen=True)
class Taken:
    """One submission that is in ``submitted/`` now."""

    student: str
    when: datetime
    origin: str


@dataclass(frozen=True)
class Summary:
    """The result of one collection.

    Attributes:
        collected: submissions of students who had none.
        replaced: newer submissions of students who had one.
        unchanged: students whose submission was there already.
        refused: (what, why) for each refused file or submission.
        notes: decisions made for a student, one sentence each.
    """

    collected: tuple[Taken, ...] = ()
    replaced: tuple[Taken, ...] = ()
    unchanged: tuple[str, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """The summary as lines of text, most important first."""
        counts = (
            f"{len(self.collected)} collected, {len(self.replaced)} replaced by newer ones, "
            f"{len(self.unchanged)} there already, {len(self.refused)} not taken."
        )
        replaced = [
            f"{taken.student}: replaced by the one of {taken.when:%Y-%m-%d %H:%M}"
            for taken in self.replaced
        ]
        return [counts, *replaced, *self.notes, *_refused_lines(self.refused)]


def _refused_lines(refused: Iterable[tuple[str, str]]) -> list[str]:
    """One line for each refused file, or for all of one hand-in with the same reason."""
    groups: dict[tuple[str, str], list[str]] = {}
    for what, why in refused:
        # A source and a folder in it; or a student and an archive.
        hand_in = "/".join(PurePosixPath(what).parts[:2])
        groups.setdefault((hand_in, why), []).append(what)
    lines = []
    for (_, why), names in groups.items():
        more = len(names) - _MOST_LISTED
        shown = names if more <= 0 else [f"{names[0]} and {len(names) - 1} more"]
        lines += [f"{what}: {why}" for what in shown]
    return lines


def collect_submissions(course: Course, lab: str, sources: Sequence[Path]) -> Summary:
    """Bring the submissions for `lab` in `sources` (folders or zips) into ``submitted/``."""
    return _Collection(course, lab).run(sources)


class _Collection:
    def __init__(self, course: Course, lab: str) -> None:
        self._course, self._lab = course, lab
        self._expected = f"{course.source(lab).stem}.ipynb"
        self._refused: list[tuple[str, str]] = []
        self._notes: list[str] = []
        self._names: dict[str, str] = {}  # each student's name in the first path

    def run(self, sources: Sequence[Path]) -> Summary:
        collected, replaced, unchanged = [], [], []
        for found in self._newest(found for source in sources for found in self._open(source)):
            when = found.moment.astimezone(self._course.timezone)
            taken = Taken(found.student, when, found.origin)
            match self._put(found):
                case "new":
                    collected.append(taken)
                case "newer":
                    replaced.append(taken)
                case "same":
                    unchanged.append(found.student)
                case "older":
                    pass  # it is among the refused
                case outcome:
                    raise ValueError(f"{found.student} was put down as {outcome!r}")
        return Summary(
            tuple(collected),
            tuple(replaced),
            tuple(unchanged),
            tuple(self._refused),
            tuple(self._notes),
        )

    def _open(self, source: Path) -> list[IncomingSubmission]:
        """The submissions in one source; files are read here, one source at a time."""
        try:
            if source.is_dir():
                return self._group(partial(folder_items, source), source.name, source.name)
            if source.is_file():
                items = list(zip_items(source, self._course.timezone))
                files = [item for item in items if isinstance(item, FoundFile)]
                if any(len(item.path.parts) == 1 for item in files) and not self._name_students(
                    files
                ):
                    # The whole zip is one student's, and only its own name can tell whose.
                    whole = FoundFile(PurePosixPath(source.name), None, partial(read_file, source))
                    return self._group(lambda: [whole], source.parent.name, "")
                entries = partial(zip_items, source, self._course.timezone)
                return self._group(entries, source.name, source.stem)
            self._refused.append((str(source), "there is no such folder or zip"))
        except RefusedError as error:
            self._refused.append((str(source), str(error)))
        return []

    def _name_students(self, files: Iterable[FoundFile]) -> bool:
        listed = list(files)
        shared = common_top(item.path for item in listed)
        return any(isinstance(self._parsed(item.path, "", shared), ParsedPath) for item in listed)

    def _parsed(self, path: PurePosixPath, top: str, shared: int) -> ParsedPath | str:
        return parse_path(path, self._lab, self._course.labs, top, shared)

    def _group(
        self, items: Callable[[], Iterable[FoundFile | UnsafeName]], origin: str, top: str
    ) -> list[IncomingSubmission]:
        found: dict[tuple[str, str], IncomingSubmission] = {}
        shared = common_top(item.path for item in items() if isinstance(item, FoundFile))
        for item in items():
            if isinstance(item, UnsafeName):
                self._refused.append((f"{origin}/{item.name}", item.why))
                continue
            parsed = self._parsed(item.path, top, shared)
            if isinstance(parsed, str):
                self._refused.append((f"{origin}/{item.path}", parsed))
                continue
            name = self._names.setdefault(parsed.student, parsed.name)
            if name != parsed.name:
                why = f"{name!r} and {parsed.name!r} would both become {parsed.student}; rename one"
                self._refused.append((f"{origin}/{item.path}", why))
                continue
            key = (parsed.student, parsed.attempt)
            submitted = found.setdefault(key, IncomingSubmission(parsed.student, origin))
            submitted.when = submitted.when or parsed.when
            try:
                self._add(submitted, parsed, item)
            except RefusedError as error:
                self._refused.append((f"{origin}/{item.path}", str(error)))
        return [submitted for submitted in found.values() if submitted.is_of_this_lab]

    def _add(self, submitted: IncomingSubmission, parsed: ParsedPath, item: FoundFile) -> None:
        if parsed.path.name == TIMESTAMP:
            if parsed.by_staff and len(parsed.path.parts) == 1:
                text = submitted.read(item)[:200].decode("utf-8", "replace")
                submitted.when = parse_timestamp(text)
            return
        if not is_zip(parsed.path):
            data = submitted.read(item)
            self._take(submitted, str(parsed.path), data, parsed.version, item.when)
            return
        data = submitted.read(item)
        inner = zip_items(data, self._course.timezone)
        top = common_top(entry.path for entry in inner if isinstance(entry, FoundFile))
        for entry in zip_items(data, self._course.timezone):
            shown = f"{submitted.student}: {parsed.path}"
            if isinstance(entry, UnsafeName):
                self._refused.append((f"{shown}/{entry.name}", entry.why))
                continue
            path = PurePosixPath(*entry.path.parts[top:])
            if path.name == TIMESTAMP:
                continue  # a student's own time stamp does not count
            try:
                content, when = submitted.read(entry), item.when or entry.when
                self._take(submitted, str(path), content, parsed.version, when)
            except RefusedError as error:
                self._refused.append((f"{shown}/{path}", str(error)))

    def _take(
        self,
        submitted: IncomingSubmission,
        path: str,
        data: bytes,
        version: int,
        when: datetime | None,
    ) -> None:
        """Add a file to a submission, unless it is another lab's notebook. Raises RefusedError."""
        other = lab_of(path, data, self._course.labs) if is_notebook(path) else ""
        if other not in ("", self._lab):
            submitted.other_labs.add(other)
            raise RefusedError(f"it is a notebook of {other}")
        submitted.add(path, data, version, when)

    def _newest(self, found: Iterable[IncomingSubmission]) -> list[IncomingSubmission]:
        """The newest submission of each student, in the order of students."""
        best: dict[str, IncomingSubmission] = {}
        for submitted in found:
            known = best.setdefault(submitted.student, submitted)
            if known is submitted:
                continue
            first, second = sorted((known, submitted), key=lambda submitted: submitted.moment)
            best[submitted.student] = second
            when = second.moment.astimezone(self._course.timezone)
            self._notes.append(
                f"{submitted.student} handed in more than once; the newest, of "
                f"{when:%Y-%m-%d %H:%M} in {second.origin}, counts and not the one in "
                f"{first.origin}."
            )
        return [best[student] for student in sorted(best)]

    def _put(self, found: IncomingSubmission) -> Literal["new", "newer", "same", "older"]:
        """Write one submission: new, newer, same, or older (then it is refused)."""
        files = self._with_expected_name(found)
        target = self._course.root / SUBMITTED / found.student / self._lab
        exists = target.exists() or target.is_symlink()
        if exists:
            there = _moment_there(target)
            if _same(target, files):
                return "same"
            if there is not None and there > found.moment:
                self._refused.append(
                    (
                        f"{found.student} in {found.origin}",
                        f"it is older than the hand-in that is there ({there:%Y-%m-%d %H:%M} UTC)",
                    )
                )
                return "older"
        _replace(target, {**files, TIMESTAMP: format_timestamp(found.moment).encode()})
        return "newer" if exists else "new"

    def _with_expected_name(self, found: IncomingSubmission) -> Mapping[str, bytes]:
        """The files, with the only notebook under the name that nbgrader expects."""
        notebooks = [name for name in found.files if name.lower().endswith(".ipynb")]
        if len(notebooks) != 1 or notebooks == [self._expected] or self._expected in found.folders:
            return found.files
        self._notes.append(f"{found.student}: {notebooks[0]} was stored as {self._expected}.")
        return {
            self._expected if name == notebooks[0] else name: data
            for name, data in found.files.items()
        }


def _same(target: Path, files: Mapping[str, bytes]) -> bool:
    """Whether a folder contains exactly these files; its timestamp.txt does not matter."""
    there = {
        str(path.relative_to(target)): path
        for path in target.rglob("*")
        if path.is_file() and not path.is_symlink() and path != target / TIMESTAMP
    }
    return there.keys() == files.keys() and all(
        path.stat().st_size == len(files[name]) and path.read_bytes() == files[name]
        for name, path in there.items()
    )


def _moment_there(target: Path) -> datetime | None:
    try:
        text = (target / TIMESTAMP).read_text("utf-8", "replace")
    except OSError:
        return None
    return parse_timestamp(text)


def _replace(target: Path, files: Mapping[str, bytes]) -> None:
    """Replace `target` by a folder with `files`, in two renames."""
    target.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=".collecting-", dir=target.parent))
    try:
        fresh = work / "new"
        fresh.mkdir()
        for name, data in files.items():
            path = fresh / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        if target.exists() or target.is_symlink():
            os.replace(target, work / "old")
        os.replace(fresh, target)
    finally:
        shutil.rmtree(work, ignore_errors=True)
