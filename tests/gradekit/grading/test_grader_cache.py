"""One process keeps one warm grader and one sandbox, made of the files as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import psutil
import pytest

from gradekit.course import load_course
from gradekit.errors import GraderError
from gradekit.grading import grader_cache
from gradekit.grading.grader_cache import GraderCache, process_cache
from gradekit.grading.task import GraderSpec
from tests.helpers import tiny_class
from tests.helpers.tiny_class import LAB, NAME


def running() -> set[int]:
    children = psutil.Process().children()
    return {child.pid for child in children if "gradekit.untrusted.forkserver" in child.cmdline()}


@pytest.fixture
def sandboxes() -> Callable[[], set[int]]:
    """Tells which sandboxes a test has started and not ended."""
    others = running()
    return lambda: running() - others


@pytest.fixture
def graders(sandboxes: Callable[[], set[int]]) -> Iterator[GraderCache]:
    graders = GraderCache()
    yield graders
    graders.close()
    assert not sandboxes()


@pytest.fixture
def spec(tmp_path: Path) -> GraderSpec:
    root = tmp_path / "course"
    root.mkdir()
    return GraderSpec(tiny_class.write_course(root), LAB, "auto", b"secret")


@pytest.fixture
def without_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    """A grader starts its sandbox for the lab's own solution first, which is left out here."""
    monkeypatch.setattr(grader_cache, "check_lab_solution", lambda grader: None)


def test_the_same_lab_finds_it_warm_and_another_replaces_it(
    spec: GraderSpec, graders: GraderCache, sandboxes: Callable[[], set[int]]
) -> None:
    grader = graders.get(spec)
    first = sandboxes()
    assert len(first) == 1
    again = GraderSpec(load_course(spec.course.root), LAB, "auto", b"secret")
    assert graders.get(again) is grader
    assert sandboxes() == first
    assert graders.get(GraderSpec(spec.course, LAB, "auto", b"another")) is not grader
    assert len(sandboxes()) == 1
    assert sandboxes() != first


def test_a_lab_whose_own_solution_fails_leaves_no_sandbox(
    spec: GraderSpec, graders: GraderCache, sandboxes: Callable[[], set[int]]
) -> None:
    solved = spec.course.root / "solutions" / LAB / f"{NAME}.ipynb"
    solved.write_bytes(tiny_class.notebook(spec.course.root, softmax=tiny_class.WRONG))
    for _ in range(2):
        with pytest.raises(GraderError, match="softmax earns"):
            graders.get(spec)
        assert not sandboxes()


@pytest.mark.usefixtures("without_sandbox")
def test_a_changed_exercise_file_makes_a_new_grader_only_where_that_is_asked(
    spec: GraderSpec, graders: GraderCache
) -> None:
    grader = graders.up_to_date(spec)
    assert graders.up_to_date(spec) is grader
    path = spec.course.exercises(LAB) / "softmax.py"
    path.write_text(path.read_text() + "\n# changed\n")
    assert graders.get(spec) is grader
    assert graders.up_to_date(spec) is not grader


@pytest.mark.usefixtures("without_sandbox")
def test_a_lent_grader_is_one_threads_alone(spec: GraderSpec, graders: GraderCache) -> None:
    waited: list[str] = []

    def second() -> None:
        with graders.lent(spec):
            waited.append("second")

    with graders.lent(spec):
        thread = Thread(target=second)
        thread.start()
        thread.join(timeout=0.2)
        waited.append("first")
    thread.join()
    assert waited == ["first", "second"]


def test_changed_references_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (reference := tmp_path / "softmax.py").write_text("one")
    monkeypatch.setattr(grader_cache, "_references", lambda: [reference])
    graders = GraderCache()
    graders.refuse_old_references()
    graders.refuse_old_references()
    reference.write_text("two")
    with pytest.raises(GraderError, match="attnlab has changed since this program was started"):
        graders.refuse_old_references()


def test_a_process_has_one_cache() -> None:
    assert process_cache() is process_cache()
