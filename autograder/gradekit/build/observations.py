"""What the checks of a lab observed when it was last built, so that nothing is observed twice.

A build runs each visible check on the reference and on every known mistake: half a minute for some
labs. The results depend on files and packages alone. So they are kept in the course's
``build/observations/``, under a digest of all that they depend on: this lab's exercises, the
solutions in its source, both packages of this project, the installed packages, Python, and the
processor. If one byte of it changes, everything is observed again.

``lab build --check`` and ``lab verify`` do not use this: they prove, so they observe.
"""

from __future__ import annotations

import ast
import hashlib
import os
import platform
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import torch

from attnlab.checking.observation import ObservationError, PackLimits, pack, unpack
from gradekit.build.library_files import PACKAGE, kit_files, library_files
from gradekit.course import Course
from gradekit.exercise.loader import LabExercises
from gradekit.exercise.variants import Variants
from gradekit.files import write_whole

FOLDER = Path("build", "observations")
LIMITS = PackLimits(size=512 * 2**20, header=64 * 2**20, nodes=4_000_000, depth=24, text=200_000)
_OURS = frozenset({PACKAGE, "gradekit", "gradekit_exercises"})


@contextmanager
def observed_once(course: Course, exercises: LabExercises) -> Iterator[Variants]:
    """The lab's variants; what this block observes is there again when an unchanged lab is built.

    Where the course's folder cannot be written, nothing is kept, and the next build observes again.
    """
    variants, path = Variants(exercises), _path(course, exercises)
    if path is None:
        yield variants
        return
    with suppress(OSError, ObservationError):
        variants.observations.update(unpack(path.read_bytes(), LIMITS))
    known = len(variants.observations)
    yield variants
    if len(variants.observations) > known:
        with suppress(OSError, ObservationError):
            path.parent.mkdir(parents=True, exist_ok=True)
            for old in path.parent.glob(f"{exercises.lab}-*"):
                old.unlink()
            write_whole(path, pack(variants.observations, LIMITS))


def _path(course: Course, exercises: LabExercises) -> Path | None:
    """The file of the lab's observations; None if they may depend on something unlisted.

    That is a module of somebody else that is not installed, or a file that was changed after this
    process began: what it has imported may be the text before.
    """
    folder = course.exercises(exercises.lab)
    cells = [cell.text for cell in exercises.source.of("exercise")]
    files = sorted(
        path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    )
    texts = [path.read_text("utf-8") for path in files if path.suffix == ".py"]
    imported = {name for text in (*texts, *cells) for name in _imported(text)}
    if not all(map(_is_listed, imported - {path.stem for path in files})):
        return None
    if any(path.stat().st_mtime >= _process_began() for path in (*files, *_kit())):
        return None
    digest = hashlib.sha256()
    for part in (
        *_surroundings(),
        *(name.encode() for name in exercises.reference),
        *(cell.encode() for cell in cells),
        *(
            part
            for path in files
            for part in (path.relative_to(folder).as_posix().encode(), path.read_bytes())
        ),
    ):
        digest.update(len(part).to_bytes(8, "little") + part)
    return course.root / FOLDER / f"{exercises.lab}-{digest.hexdigest()[:32]}.safetensors"


@cache
def _surroundings() -> tuple[bytes, ...]:
    """What the observations of all labs depend on; it is the same for a whole command."""
    packages = sorted(path.name for folder in sys.path for path in Path(folder).glob("*.dist-info"))
    said = [*packages, sys.version, platform.machine(), torch.__config__.show()]
    said.append(torch.backends.cpu.get_cpu_capability())
    return (
        *(text.encode() for text in said),
        *(part for path in _kit() for part in (str(path).encode(), path.read_bytes())),
    )


@cache
def _kit() -> tuple[Path, ...]:
    """The files of both packages of this project."""
    return tuple(path for path, _ in (*library_files(), *kit_files()))


@cache
def _process_began() -> float:
    """When this process began, as a time of files; see proc(5) about the field ``starttime``."""
    ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    booted = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    return booted + ticks / os.sysconf("SC_CLK_TCK")


def _imported(text: str) -> Iterator[str]:
    """The first part of the name of each module that a text imports."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def _is_listed(module: str) -> bool:
    """Whether the digest changes with a module: it is ours, Python's, or an installed package."""
    if module in _OURS or module in sys.stdlib_module_names:
        return True
    spec = find_spec(module)
    return bool(
        spec and spec.origin and {"site-packages", "dist-packages"} & {*Path(spec.origin).parts}
    )
