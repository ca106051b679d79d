"""How two folders of generated files differ. In checks files, a number's last bits may differ.

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

RELATIVE_TOLERANCE = 1e-12
# For a tensor of lower precision: this many steps of its format.
_STEPS = 16


def differences(made: Path, there: Path, ignored: Collection[str] = ()) -> list[str]:
    """One line per file of `there` that is not as in `made`: its name, and what is wrong.

    Args:
        ignored: names of files to leave out.
    """
    new, old = _files(made) - {*ignored}, _files(there) - {*ignored}
    lines = []
    for name in sorted(new | old):
        if name not in old:
            lines.append(f"{name} is missing")
        elif name not in new:
            lines.append(f"{name} has no source")
        elif not _same_file(made / name, there / name):
            lines.append(f"{name} differs")
    return lines


def _files(folder: Path) -> set[str]:
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and ".ipynb_checkpoints" not in path.parts
    }


def _same_file(made: Path, there: Path) -> bool:
    new, old = made.read_bytes(), there.read_bytes()
    if new == old:
        return True
    if made.name != visible.FILE_NAME:
        return False
    try:
        return same_values(unpack(new, visible.LIMITS), unpack(old, visible.LIMITS))
    except ObservationError:
        return False


def same_values(new: Any, old: Any) -> bool:
    """Whether two trees agree: texts exactly, numbers up to rounding."""
    if isinstance(new, Tensor) and isinstance(old, Tensor):
        return _same_tensor(new, old)
    if type(new) is not type(old):
        return False
    if isinstance(new, float):
        numbers = torch.tensor([new, old], dtype=torch.float64)
        return _same_tensor(numbers[:1], numbers[1:])
    if isinstance(new, Mapping):
        return list(new) == list(old) and all(same_values(new[key], old[key]) for key in new)
    if isinstance(new, list):
        return len(new) == len(old) and all(map(same_values, new, old))
    return bool(new == old)


def _same_tensor(new: Tensor, old: Tensor) -> bool:
    if new.dtype != old.dtype or new.shape != old.shape:
        return False
    if not new.is_floating_point():
        return torch.equal(new, old)
    relative = max(RELATIVE_TOLERANCE, _STEPS * torch.finfo(new.dtype).eps)
    new, old = new.to(torch.float64), old.to(torch.float64)
    finite = new[torch.isfinite(new)]
    scale = max(1.0, float(finite.abs().max())) if finite.numel() else 1.0
    return torch.allclose(new, old, rtol=0.0, atol=relative * scale, equal_nan=True)
