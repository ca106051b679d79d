"""A thing that takes seconds to make, made once for all processes of a test run."""

from __future__ import annotations

import fcntl
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

Thing = TypeVar("Thing")


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], Thing]) -> Thing:
    """What `make` returns for an empty folder, in the first process that asks; the others wait.

    Each process gets a copy of the value. They share the folder, so nobody may change it.

    Args:
        name: of the folder, in the run's own.
    """
    own = factory.getbasetemp()
    # pytest-xdist gives each of its processes a folder in the run's.
    place = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / name
    place.mkdir(exist_ok=True)
    value = place / "value.pickle"
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not value.exists():
            (place / "folder").mkdir()
            value.write_bytes(pickle.dumps(make(place / "folder")))
        thing: Thing = pickle.loads(value.read_bytes())
        return thing
