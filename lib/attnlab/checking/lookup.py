"""Finds an exercise's visible checks: which file holds them, and what to say where none does."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from attnlab.checking.visible import FILE_NAME, ChecksFileError, VisibleExercise, VisibleLab, read


def find_exercise(
    name: str, folders: Sequence[Path], given: str | None = None
) -> VisibleExercise | str:
    """The visible checks of exercise `name`, or one sentence on why there are none.

    Args:
        name: the exercise.
        folders: where a checks file may lie, nearest first.
        given: the file to use, whatever else there is.
    """
    if not isinstance(name, str):
        return 'check wants the name of an exercise as text: check("softmax").'
    paths = [Path(given)] if given else _candidates(folders)
    labs: list[VisibleLab] = []
    for path in paths:
        try:
            lab = read(path)
        except ChecksFileError as error:
            return f"{error}."
        except OSError:
            return f"The file of checks, {path}, cannot be read: does it exist, may you read it?"
        exercise = lab.exercise(name)
        if exercise is not None:
            return exercise
        labs.append(lab)
    if not labs:
        return (
            f"There is no {FILE_NAME} beside this notebook (looked in {folders[0]}): "
            "copy it there from the lab's bundle, it came with the notebook."
        )
    nearest = labs[:1] if paths[0].parent in folders else labs
    return _unknown(name, [exercise.name for lab in nearest for exercise in lab.exercises])


def _candidates(folders: Sequence[Path]) -> list[Path]:
    """The checks files there are: in `folders`, then, in a checkout, those of every lab."""
    root = _checkout()
    in_checkout = sorted(root.glob(f"labs/*/{FILE_NAME}")) if root is not None else []
    nearby = [folder / FILE_NAME for folder in folders]
    return list(dict.fromkeys(path for path in (*nearby, *in_checkout) if path.is_file()))


def _checkout() -> Path | None:
    """The course's folder, where this file is part of one."""
    root = Path(__file__).resolve().parents[3]
    return root if (root / "course.toml").is_file() else None


def _unknown(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    if near:
        return f'There is no exercise "{name}" here; did you mean {_either(near)}?'
    return f'There is no exercise "{name}" here; there are {", ".join(known) or "none"}.'


def _either(names: Sequence[str]) -> str:
    quoted = [f'"{name}"' for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"
