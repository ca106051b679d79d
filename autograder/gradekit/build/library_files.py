"""The files of our two packages as installed here; nothing is imported.

Tested in tests/gradekit/build/test_student_library.py.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

PACKAGE = "attnlab"
_LEFT_OUT = ("__pycache__", ".ipynb_checkpoints")


def library_files() -> list[tuple[Path, Path]]:
    """Every file of attnlab, with its name inside the package; sorted."""
    return _package_files(PACKAGE)


def kit_files() -> list[tuple[Path, Path]]:
    """Every file of gradekit, with its name inside the package; sorted."""
    return _package_files("gradekit")


def _package_files(package: str) -> list[tuple[Path, Path]]:
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    root = Path(spec.origin).resolve().parent
    return [
        (path, path.relative_to(root))
        for path in sorted(root.rglob("*"))
        if path.is_file() and not set(path.relative_to(root).parts) & set(_LEFT_OUT)
    ]
