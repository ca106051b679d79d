"""Imports of large packages without garbage collection.

Tested in tests/gradekit/untrusted/test_imports.py.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def gc_disabled() -> Iterator[None]:
    """Disable the garbage collector in this block.

    Imported objects stay alive, and scanning them takes a third of the time of an import.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
