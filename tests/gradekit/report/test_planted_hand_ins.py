"""Real hand-ins of lab 1 with known mistakes, graded in the sandbox: the report counts each."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from demo.answers import answered, put_in, right_answer
from demo.classroom import LAB, material_of
from demo.incoming import write_submitted
from demo.material import Material
from demo.notebook import Notebook
from demo.submission import DemoSubmission
from gradekit.course import Course, load_course
from tests.helpers.graded import lab

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.needs("sandbox")]

PLANTED = {
    ("cross_entropy", "double_softmax"): 5,
    ("softmax", "no_max_subtraction"): 3,
    ("temperature", "LEFT OUT"): 2,
    ("log_softmax", "LEFT OUT"): 1,
}


@pytest.fixture(scope="module")
def course(shared_course: Course, tmp_path_factory: pytest.TempPathFactory) -> Course:
    root = tmp_path_factory.mktemp("planted") / "course"
    course = load_course(shutil.copytree(shared_course.root, root))
    write_submitted(hand_ins(material_of(course)), course.root, LAB)
    done = lab(course, "grade", LAB)
    assert done.returncode == 0, done.stderr
    return course


def hand_ins(material: Material) -> Iterator[DemoSubmission]:
    """One hand-in for each planted mistake, and one that is all right."""
    yield material.submission("right", "all right", material.right)
    for (exercise, mistake), count in PLANTED.items():
        for number in range(count):
            name = f"{exercise}-{mistake}-{number}".replace(" ", "-")
            yield material.submission(name, mistake, planted(material, exercise, mistake))


def planted(material: Material, exercise: str, mistake: str) -> Notebook:
    if mistake == "LEFT OUT":
        text = material.released.source(material.released.answer_at(exercise))
        return answered(material.right, {exercise: text})
    wrong = next(m for m in material.lab[exercise].mistakes if m.name == mistake)
    text = put_in(right_answer(material.solved, exercise), material.lab[exercise], wrong)
    return answered(material.right, {exercise: text})


def test_each_mistake_is_named_with_its_count_its_advice_and_its_code(course: Course) -> None:
    report = json.loads(lab(course, "report", LAB, "--json").stdout)
    material = material_of(course)
    found = {(m["step"], *m["mistakes"]): m for m in report["misconceptions"]}
    wrong = {place: count for place, count in PLANTED.items() if place[1] != "LEFT OUT"}
    assert {place: m["students"] for place, m in found.items()} == wrong
    for (exercise, mistake), one in found.items():
        known = next(m for m in material.lab[exercise].mistakes if m.name == mistake)
        assert one["advice"] == known.advice
        (code,) = one["code"]
        assert code["students"] == one["students"]
        assert f"def {exercise}(" in code["code"]
    assert report["hardest"][:2] == ["cross_entropy", "temperature"]
    left_out = {step["name"]: step["left_out"] for step in report["steps"] if step["left_out"]}
    assert left_out == {"temperature": 2, "log_softmax": 1}


def test_the_page_is_written(course: Course) -> None:
    lab(course, "report", LAB)
    page = Path(course.root / "reports" / f"{LAB}.html").read_text("utf-8")
    assert "double softmax" in page
    assert "5 students" in page
    assert "cross_entropy-double_softmax" not in page
