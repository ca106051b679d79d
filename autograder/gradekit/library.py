"""The files of the package attnlab as it is installed here; nothing of it is imported."""

from __future__ import annotations

import importlib.util
from pathlib import Path

PACKAGE = "attnlab"
_LEFT_OUT = ("__pycache__", ".ipynb_checkpoints")


def library_files() -> list[tuple[Path, Path]]:
    """Every file of the package, with its name inside; sorted."""
    spec = importlib.util.find_spec(PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    root = Path(spec.origin).resolve().parent
    return [
        (path, path.relative_to(root))
        for path in sorted(root.rglob("*"))
        if path.is_file() and not set(path.relative_to(root).parts) & set(_LEFT_OUT)
    ]
