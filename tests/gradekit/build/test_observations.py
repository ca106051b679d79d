"""A lab that has not changed is not observed again, and one that has changed is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from attnlab.checking.observation import pack, unpack
from gradekit.build import observations
from gradekit.build.build import build_labs, find_drift
from gradekit.build.observations import FOLDER, LIMITS
from gradekit.course import Course
from gradekit.exercise.loader import CourseLabs
from gradekit.exercise.variants import Variants
from tests.helpers.small_course import library_on_path, write_small_course
from tests.helpers.tiny_class import LAB, NAME, write_course


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The checks that were run, in order."""
    names: list[str] = []
    run = Variants.run

    def noted(self: Variants, exercise: Any, check: Any, *others: Any) -> Any:
        names.append(check.name)
        return run(self, exercise, check, *others)

    monkeypatch.setattr(Variants, "run", noted)
    return names


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The only file of our packages; it and all others are older than this process."""
    file = tmp_path / "kit.py"
    file.write_text("EPS = 1e-6")
    monkeypatch.setattr(observations, "_kit", lambda: (file,))
    monkeypatch.setattr(observations, "_process_began", lambda: math.inf)
    observations._surroundings.cache_clear()
    yield file
    observations._surroundings.cache_clear()


@pytest.fixture
def course(tmp_path: Path, kit: Path, asked: list[str]) -> Course:
    """Built once; `asked` is empty again."""
    (tmp_path / "course").mkdir()
    course = write_course(tmp_path / "course")
    assert set(asked) == {"numbers"}
    asked.clear()
    return course


def build(course: Course) -> dict[str, bytes]:
    observations._surroundings.cache_clear()  # as in a new process
    return {str(path): path.read_bytes() for path in build_labs(CourseLabs(course), [LAB])}


def kept(course: Course) -> list[Path]:
    return sorted((course.root / FOLDER).glob("*"))


def test_an_unchanged_lab_is_not_observed_again(course: Course, asked: list[str]) -> None:
    before = {
        str(path): path.read_bytes() for path in (course.root / "labs").rglob("*") if path.is_file()
    }
    after = build(course)
    assert asked == []
    assert {path: after[path] for path in before} == before


def another_mistake(course: Course, kit: Path) -> None:
    path = course.exercises(LAB) / "softmax.py"
    path.write_text(path.read_text().replace("return softmax(x)", "return softmax(2 * x)"))


def another_file(course: Course, kit: Path) -> None:
    (course.exercises(LAB) / "weights.safetensors").write_bytes(b"anything")


def another_solution(course: Course, kit: Path) -> None:
    path = course.root / "solutions" / f"{NAME}.py"
    path.write_text(path.read_text().replace("guess = 4", "guess = 2 + 2"))


def another_kit(course: Course, kit: Path) -> None:
    kit.write_text("EPS = 1e-5")


def another_package(course: Course, kit: Path) -> None:
    (kit.parent / "torch-99.dist-info").mkdir()


@pytest.mark.parametrize(
    "change",
    [another_mistake, another_file, another_solution, another_kit, another_package],
)
def test_a_changed_lab_is_observed_again(
    change: Any, course: Course, kit: Path, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(kit.parent)
    build(course)
    asked.clear()
    change(course, kit)
    build(course)
    assert len(asked) == 2, "the reference and its mistake"
    assert len(kept(course)) == 1, "older observations are removed"


def test_other_prose_changes_no_observation(course: Course, asked: list[str]) -> None:
    path = course.root / "solutions" / f"{NAME}.py"
    path.write_text(path.read_text().replace("# # Softmax", "# # Softmax, again"))
    made = build(course)
    assert asked == []
    assert any(b"Softmax, again" in data for data in made.values())


def test_a_damaged_file_is_made_anew(course: Course, asked: list[str]) -> None:
    (file,) = kept(course)
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    build(course)
    assert len(asked) == 2
    assert file.read_bytes() == whole


def test_drift_is_found_whatever_was_kept(course: Course) -> None:
    (file,) = kept(course)
    numbers = unpack(file.read_bytes(), LIMITS)
    file.write_bytes(pack({key: value + 1 for key, value in numbers.items()}, LIMITS))
    build(course)  # believes the file
    assert find_drift(CourseLabs(course), [LAB]) == [f"labs/{LAB}/checks.safetensors differs"]


def test_nothing_is_kept_if_a_file_changed_after_its_import(
    course: Course, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observations, "_process_began", lambda: 0.0)
    build(course)
    assert len(asked) == 2
    monkeypatch.undo()
    began = observations._process_began()
    assert 0 < began < (course.exercises(LAB) / "guess.py").stat().st_mtime


@pytest.fixture
def small(tmp_path: Path, kit: Path) -> Iterator[Course]:
    root = tmp_path / "small"
    root.mkdir()
    course = write_small_course(root)
    with library_on_path(root):
        yield course


def test_nothing_is_kept_of_a_lab_that_imports_a_library_of_its_own(
    small: Course, asked: list[str]
) -> None:
    build_labs(CourseLabs(small), ["lab01"])
    assert asked
    assert kept(small) == []
