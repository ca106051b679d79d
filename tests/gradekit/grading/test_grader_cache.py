"""One process keeps one warm grader, and one sandbox."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from gradekit.course import load_course
from gradekit.errors import GraderError
from gradekit.grading.task import GraderSpec
from gradekit.grading.worker import drop_grader, grader_of
from tests.helpers import tiny_class
from tests.helpers.tiny_class import LAB, NAME


def running() -> set[int]:
    children = psutil.Process().children()
    return {child.pid for child in children if "gradekit.untrusted.forkserver" in child.cmdline()}


@pytest.fixture
def sandboxes() -> Callable[[], set[int]]:
    """Tells the sandboxes that a test has started and not ended."""
    drop_grader()
    others = running()
    return lambda: running() - others


@pytest.fixture
def spec(tmp_path: Path) -> GraderSpec:
    root = tmp_path / "course"
    root.mkdir()
    return GraderSpec(tiny_class.write_course(root), LAB, "bubblewrap", b"secret")


def test_the_same_lab_finds_it_warm_and_another_takes_its_place(
    spec: GraderSpec, sandboxes: Callable[[], set[int]]
) -> None:
    grader = grader_of(spec)
    first = sandboxes()
    assert len(first) == 1
    again = GraderSpec(load_course(spec.course.root), LAB, "bubblewrap", b"secret")
    assert grader_of(again) is grader
    assert sandboxes() == first
    assert grader_of(GraderSpec(spec.course, LAB, "bubblewrap", b"another")) is not grader
    assert len(sandboxes()) == 1
    assert sandboxes() != first
    drop_grader()
    assert not sandboxes()


def test_a_lab_whose_own_solution_fails_leaves_no_sandbox(
    spec: GraderSpec, sandboxes: Callable[[], set[int]]
) -> None:
    solved = spec.course.root / "solutions" / LAB / f"{NAME}.ipynb"
    solved.write_bytes(tiny_class.notebook(spec.course.root, softmax=tiny_class.WRONG))
    for _ in range(2):
        with pytest.raises(GraderError, match="softmax earns"):
            grader_of(spec)
        assert not sandboxes()
