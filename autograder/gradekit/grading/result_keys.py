"""The keys of a lab's results in the journal, saved between runs.

Computing them needs the lab's exercises, and so torch, which takes a second or two to import. They
depend on files and versions alone: if none of these has changed, the keys of the last run still
hold, and a run that has nothing to grade imports nothing.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from gradekit.build.library_files import kit_files, library_files
from gradekit.course import FILE_NAME, RELEASED, SOLVED, Course
from gradekit.files import write_whole
from gradekit.results.records import digest_of, make_key


@dataclass(frozen=True)
class ResultKeys:
    """The keys of one lab's results.

    Attributes:
        versions: for each exercise, in order, the digests of everything that its results depend on
            besides the submission.
        points: the points of the lab's code cells together.
    """

    lab: str
    versions: Mapping[str, tuple[str, ...]]
    points: float

    def of(self, student: str, digest: str) -> Mapping[str, str]:
        """The journal's key for each exercise: everything that its result depends on."""
        return {
            name: make_key(student, self.lab, digest, name, *versions)
            for name, versions in self.versions.items()
        }


def load_keys(path: Path, state: str) -> ResultKeys | None:
    """The keys that :func:`save_keys` wrote to `path` in the same state; None if there are none."""
    try:
        values = json.loads(path.read_bytes())
        if values.pop("state") != state:
            return None
        versions = {name: tuple(digests) for name, digests in values.pop("versions").items()}
        return ResultKeys(**values, versions=versions)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None  # never written, or only half of it: they are computed again


def save_keys(path: Path, state: str, keys: ResultKeys) -> None:
    """Write `keys` for :func:`load_keys`; does nothing if the disk is full."""
    with suppress(OSError):
        write_whole(path, json.dumps({"state": state, **asdict(keys)}))


def state_of(course: Course, lab: str, secret: bytes) -> str:
    """A digest of every file and version that a lab's keys depend on."""
    parts = [lab, platform.python_version(), version("torch")]
    for path in _files(course, lab):
        parts += [path.name, digest_of(path.read_bytes())]
    return digest_of(secret, *(part.encode("utf-8", "surrogatepass") for part in parts))


def _files(course: Course, lab: str) -> Iterator[Path]:
    yield course.root / FILE_NAME
    yield from sorted((course.root / RELEASED / lab).glob("*.ipynb"))
    yield from sorted((course.root / SOLVED).glob("*.py"))
    yield from sorted(course.exercises("").rglob("*.py"))
    yield from (path for path, _ in [*kit_files(), *library_files()])
