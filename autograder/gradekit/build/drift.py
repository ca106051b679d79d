"""How two folders of generated files differ. In checks files, a number may be rounded differently.

Tested in tests/gradekit/build/test_build.py.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from attnlab.checking import visible
from attnlab.checking.observation import ObservationError, unpack

# How far apart two numbers may be, as a share of the largest beside them: on one processor, and on
# any two, which add in other orders, where some answers are computed in float32.
ONE_PROCESSOR = 1e-12
ANY_PROCESSOR = 1e-5
# For a tensor of lower precision: this many steps of its format.
_STEPS = 16


def differences(
    made: Path, there: Path, ignored: Collection[str] = (), tolerance: float = ONE_PROCESSOR
) -> list[str]:
    """One line per file of `there` that is not as in `made`: its name, and what is wrong.

    Args:
        ignored: names of files to leave out.
        tolerance: for the numbers of checks files.
    """
    new, old = _files(made) - {*ignored}, _files(there) - {*ignored}
    lines = []
    for name in sorted(new | old):
        if name not in old:
            lines.append(f"{name} is missing")
        elif name not in new:
            lines.append(f"{name} has no source")
        elif not _same_file(made / name, there / name, tolerance):
            lines.append(f"{name} differs")
    return lines


def _files(folder: Path) -> set[str]:
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and ".ipynb_checkpoints" not in path.parts
    }


def _same_file(made: Path, there: Path, tolerance: float) -> bool:
    new, old = made.read_bytes(), there.read_bytes()
    if new == old:
        return True
    if made.name != visible.FILE_NAME:
        return False
    try:
        return same_values(_each_answer(new), _each_answer(old), tolerance)
    except (ObservationError, KeyError, TypeError, ValueError):
        return False


def _each_answer(content: bytes) -> Any:
    """A checks file's tree with an answer for each known mistake.

    The file has equal answers once, but the last bits decide which answers are equal.
    """
    tree = unpack(content, visible.LIMITS)
    for exercise in tree["exercises"]:
        for check in exercise["checks"]:
            groups = [(check.pop("as_expected"), check["expected"]), *check["mistakes"]]
            answers = {name: seen for names, seen in groups for name in names}
            check["mistakes"] = {name: answers[name] for name in sorted(answers)}
    return tree


def same_values(new: Any, old: Any, tolerance: float = ONE_PROCESSOR) -> bool:
    """Whether two trees agree: texts exactly, numbers up to rounding."""
    if isinstance(new, Tensor) and isinstance(old, Tensor):
        return _same_tensor(new, old, tolerance)
    if type(new) is not type(old):
        return False
    if isinstance(new, float):
        numbers = torch.tensor([new, old], dtype=torch.float64)
        return _same_tensor(numbers[:1], numbers[1:], tolerance)
    if isinstance(new, Mapping):
        return list(new) == list(old) and all(
            same_values(new[key], old[key], tolerance) for key in new
        )
    if isinstance(new, list):
        return len(new) == len(old) and all(
            same_values(*pair, tolerance) for pair in zip(new, old, strict=True)
        )
    return bool(new == old)


def _same_tensor(new: Tensor, old: Tensor, tolerance: float) -> bool:
    if new.dtype != old.dtype or new.shape != old.shape:
        return False
    if not new.is_floating_point():
        return torch.equal(new, old)
    relative = max(tolerance, _STEPS * torch.finfo(new.dtype).eps)
    new, old = new.to(torch.float64), old.to(torch.float64)
    finite = new[torch.isfinite(new)]
    scale = max(1.0, float(finite.abs().max())) if finite.numel() else 1.0
    return torch.allclose(new, old, rtol=0.0, atol=relative * scale, equal_nan=True)
