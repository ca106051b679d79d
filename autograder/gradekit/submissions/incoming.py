"""One submission while it is collected: its files so far, within limits.

Tested in tests/gradekit/submissions/test_archives.py and test_collect.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import PurePosixPath

from gradekit.errors import RefusedError
from gradekit.submissions import archives
from gradekit.submissions.archives import FoundFile
from gradekit.submissions.folder import TIMESTAMP, is_notebook
from gradekit.submissions.times import NO_TIME, HandInTime

MOST_STUDENT_BYTES = 128 * 2**20
MOST_STUDENT_FILES = 1000
# All unpacked bytes count, even those of refused files, because unpacking takes time.
MOST_UNPACKED_BYTES = 4 * MOST_STUDENT_BYTES
_NAME_BYTES = 2**10  # that Python takes for one name in a zip
_OLDEST = datetime(1981, 1, 1, tzinfo=UTC)


@dataclass
class IncomingSubmission:
    """One submission while it is collected.

    Attributes:
        name: of the student, from the roster or else from the source.
        origin: the source's name; `home` is the folder or the beginning of names in it.
        paths: where each file was in the source.
        time: when it was handed in.
        dated: whether the dates of its files may be that time.
        group: the group that handed it in together.
        changed: the newest date of its files, which tells newer from older if nothing else does.
        names: the number of names in its zips, whether they were taken or not.
        refused: the number of names in its zips that were not taken.
    """

    student: str
    origin: str
    name: str = ""
    system: str = ""
    home: str = ""
    key: str = ""
    group: str = ""
    dated: bool = True
    time: HandInTime = NO_TIME
    files: dict[str, bytes] = field(default_factory=dict)
    paths: dict[str, str] = field(default_factory=dict)
    versions: dict[str, tuple[int, datetime]] = field(default_factory=dict)
    changed: datetime = _OLDEST
    total: int = 0
    notebooks: int = 0
    unpacked: int = 0
    names: int = 0
    refused: int = 0
    folders: set[str] = field(default_factory=set)
    other_labs: set[str] = field(default_factory=set)

    @property
    def is_of_this_lab(self) -> bool:
        """Whether anything is left: data beside notebooks of other labs alone is not a hand-in."""
        return bool(self.files) and (not self.other_labs or any(map(is_notebook, self.files)))

    def read(self, item: FoundFile) -> bytes:
        """A file's bytes, unless too much was read for this submission. Raises RefusedError."""
        if self.unpacked > MOST_UNPACKED_BYTES:
            raise RefusedError(
                f"the hand-in unpacks to more than {MOST_UNPACKED_BYTES // 2**20} MiB"
            )
        try:
            data = item.read()
        except RefusedError as error:
            self.unpacked += error.cost
            raise
        self.unpacked += len(data)
        return data

    def count(self, names: int = 0) -> None:
        """Count the names in one of its zips, because reading them takes time. Raises RefusedError.

        They are limited for all zips of the hand-in together: a zip may hold many others.
        """
        self.names += names
        self.unpacked += names * _NAME_BYTES
        if self.names > archives.MOST_NAMES:
            raise RefusedError(
                f"the zips of the hand-in contain more than {archives.MOST_NAMES} names"
            )

    def add(
        self, path: str, data: bytes, version: int, when: datetime | None, source: str = ""
    ) -> None:
        """Add a file; of two with the same path, the later one stays. Raises RefusedError."""
        parts = PurePosixPath(path).parts
        if any(part.startswith(".") for part in parts):
            raise RefusedError("it is a hidden file")
        if not parts or parts[0] == TIMESTAMP:
            raise RefusedError("its name is taken")
        parents = {"/".join(parts[:depth]) for depth in range(1, len(parts))}
        if parents & self.files.keys() or path in self.folders:
            raise RefusedError("a file and a folder have the same name")
        if path not in self.files and self._count_for(path) >= MOST_STUDENT_FILES:
            raise RefusedError(f"the hand-in has more than {MOST_STUDENT_FILES} files")
        order = (version, when or _OLDEST)
        if path in self.versions and self.versions[path] > order:
            return
        total = self.total + len(data) - len(self.files.get(path, b""))
        if total > MOST_STUDENT_BYTES:
            raise RefusedError(f"the hand-in has more than {MOST_STUDENT_BYTES // 2**20} MiB")
        self.total = total
        self.notebooks += path not in self.files and is_notebook(path)
        self.folders |= parents
        self.files[path] = data
        self.paths[path] = source or path
        self.versions[path] = order
        self.changed = max(self.changed, order[1])

    def _count_for(self, path: str) -> int:
        """The number of files; notebooks are counted apart, so that data cannot crowd them out."""
        if len(self.files) < MOST_STUDENT_FILES:
            return len(self.files)
        return self.notebooks if is_notebook(path) else len(self.files) - self.notebooks

    @property
    def file_date(self) -> datetime | None:
        """The newest date of its files; None if they have none."""
        return self.changed if self.changed > _OLDEST else None

    @property
    def order(self) -> datetime:
        """What tells a newer hand-in from an older one of the same student."""
        return self.time.when or self.file_date or datetime.now(UTC)

    @property
    def main_file(self) -> str:
        """Where the notebook was in the source, or else the first file."""
        notebooks = [name for name in self.files if is_notebook(name)]
        return self.paths[min(notebooks or self.files)]
