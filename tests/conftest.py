"""Courses to try things on: copies of the repository's own, in a temporary folder."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from demo.course_folder import SMALL_LIMITS, copy_course
from gradekit.course import Course, load_course
from gradekit.untrusted.imports import gc_disabled
from tests.helpers.needs import at_one_place, require, skipped_without_any_sandbox

# Small tensors, and two test processes on two cores: threads would only get in each other's way.
torch.set_num_threads(1)
# Sentences of `lab` are broken at the terminal's width; tests read whole ones.
os.environ.pop("COLUMNS", None)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Import all tests without garbage collection, and leave what they import out of it later."""
    with gc_disabled():
        result = yield
    gc.freeze()
    return result


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start the longest files first; else one process waits for the other at the end."""
    items.sort(key=lambda item: item.get_closest_marker("starts_first") is None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """Skip a test that is marked `needs` and whose need this machine lacks."""
    for mark in item.iter_markers("needs"):
        for need in mark.args:
            require(need)
    with skipped_without_any_sandbox():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """Skip a test that turns out to need a sandbox where this machine has none."""
    with skipped_without_any_sandbox():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> Iterator[None]:
    """Report all tests that need the same thing in one line."""
    report = yield
    at_one_place(report, call)
    return report


@pytest.fixture(autouse=True)
def plain_paths(monkeypatch):
    """nbgrader_config.py sets this for nbgrader's kernels; Python started by a test finds files."""
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)


@pytest.fixture
def course_copy(tmp_path: Path) -> Course:
    """A course with the repository's labs, solutions and exercises, to change as you like."""
    return load_course(copy_course(tmp_path / "course", SMALL_LIMITS))


@pytest.fixture(scope="session")
def shared_course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """The same for all tests of the session: read it, do not change it."""
    return load_course(copy_course(tmp_path_factory.mktemp("shared") / "course", SMALL_LIMITS))
