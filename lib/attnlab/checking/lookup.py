"""Finds the file that holds an exercise's visible checks, or says why there is none.

Also tested in ``tests/attnlab/notebook/test_check.py``, through ``check()``.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from attnlab.checking.visible import FILE_NAME, ChecksFileError, VisibleExercise, VisibleLab, read


@dataclass(frozen=True)
class Found:
    """An exercise, and the lab that it is part of."""

    lab: VisibleLab
    exercise: VisibleExercise


def find_lab(folders: Sequence[Path], given: str | None = None) -> VisibleLab | str:
    """The nearest lab, or one sentence that says why there is none. Arguments: as below."""
    paths = [Path(given)] if given else _candidates(folders)
    if not paths:
        return _no_file(folders)
    return _read(paths[0])


def find_exercise(name: str, folders: Sequence[Path], given: str | None = None) -> Found | str:
    """The visible checks of exercise `name`, or one sentence that says why there are none.

    Args:
        name: the exercise.
        folders: where a checks file may be, nearest first.
        given: the only file to use, instead of those in `folders`.
    """
    if not isinstance(name, str):
        return 'check() needs the name of an exercise as text: check("softmax").'
    paths = [Path(given)] if given else _candidates(folders)
    labs: list[VisibleLab] = []
    for path in paths:
        lab = _read(path)
        if isinstance(lab, str):
            return lab
        exercise = lab.exercise(name)
        if exercise is not None:
            return Found(lab, exercise)
        labs.append(lab)
    if not labs:
        return _no_file(folders)
    nearest = labs[:1] if paths[0].parent in folders else labs
    return _unknown(name, [exercise.name for lab in nearest for exercise in lab.exercises])


def _read(path: Path) -> VisibleLab | str:
    try:
        return read(path)
    except ChecksFileError as error:
        return f"{error}."
    except OSError:
        return f"The checks file {path} cannot be read: does it exist, and may you read it?"


def _no_file(folders: Sequence[Path]) -> str:
    if not folders:
        return (
            "The folder that this notebook runs in has been deleted: restart the kernel in the "
            "folder of the lab."
        )
    return (
        f"There is no {FILE_NAME} next to this notebook (searched {folders[0]}): copy it there "
        "from the lab's bundle, where it is next to the notebook."
    )


def _candidates(folders: Sequence[Path]) -> list[Path]:
    """All existing checks files: those in `folders`, then (in a checkout) those of every lab."""
    root = _checkout()
    in_checkout = sorted(root.glob(f"labs/*/{FILE_NAME}")) if root is not None else []
    # Several labs have exercises of one name (errata); the lab that a folder is called after wins.
    names = {folder.name for folder in folders}
    in_checkout.sort(key=lambda path: path.parent.name not in names)
    nearby = [folder / FILE_NAME for folder in folders]
    return list(dict.fromkeys(path for path in (*nearby, *in_checkout) if path.is_file()))


def _checkout() -> Path | None:
    """The course's folder, or None if this file is not part of a checkout."""
    root = Path(__file__).resolve().parents[3]
    return root if (root / "course.toml").is_file() else None


def _unknown(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    if near:
        return f'There is no exercise "{name}" here; did you mean {_either(near)}?'
    return f'There is no exercise "{name}" here; this lab has {", ".join(known) or "none"}.'


def _either(names: Sequence[str]) -> str:
    quoted = [f'"{name}"' for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def working_folder() -> Path | None:
    """The folder that this process is in; None if it has been deleted."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return None
