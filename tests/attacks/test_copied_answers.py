"""A notebook repeats what it found: the bundle's numbers, its checks, the order of versions."""

from __future__ import annotations

from pathlib import Path

import pytest

from attnlab.checking import visible
from attnlab.checking.visible import FILE_NAME
from attnlab.softmax import softmax
from demo.classroom import LAB, material_of
from demo.notebook import code
from gradekit.exercise.variants import BUNDLE
from gradekit.grading.grader import LabGrader
from gradekit.grading.judge import judge
from gradekit.grading.task import GraderSpec
from gradekit.submissions.folder import SubmittedFiles
from gradekit.submissions.submission import read_submission

# The sandbox has no reader of this file, so the hand-in brings its own.
READER = Path(visible.__file__).read_text("utf-8")
# Answers each visible check as the file of checks expects it, and each other one as before. It
# distinguishes right versions from wrong ones: it undoes a shuffle whose seed is in the probe, and
# knows that the last RIGHT versions were the right ones before it.
REPEAT = """
import random
from pathlib import Path
import gradekit.untrusted.runner
from attnlab.checking.observation import pack

bundle, ask = read(Path("checks.safetensors")), gradekit.untrusted.runner.answer_probe

def repeat(probe, names, folder):
    for check in bundle.exercise(probe.exercise).checks:
        if check.prepared.name == probe.check:
            return pack(check.prepared.expected)
    if probe.versions:
        order = list(range(len(probe.versions)))
        random.Random(probe.seed).shuffle(order)
        return pack([place >= len(order) - RIGHT for place in order])
    return ask(probe, names, folder)

gradekit.untrusted.runner.answer_probe = repeat
"""


@pytest.fixture(scope="module")
def grader(shared_course):
    with LabGrader(GraderSpec(shared_course, LAB, "auto", b"a secret")) as grader:
        yield grader


@pytest.fixture(scope="module")
def passed(shared_course, grader):
    """The checks that the notebook of REPEAT passes, by exercise."""
    right = 1 + len(grader.exercises["softmax"].right_versions)  # the reference is one, too
    return passed_by(READER + REPEAT.replace("RIGHT", str(right)), shared_course, grader)


def passed_by(attack, course, grader):
    """The checks that a notebook with one more cell and the file of checks passes, by exercise."""
    notebook = material_of(course).released.appended(code(attack))
    checks = (course.root / "labs" / LAB / FILE_NAME).read_bytes()
    files = {f"{grader.released.name}.ipynb": notebook.bytes(), FILE_NAME: checks}
    submitted = SubmittedFiles("eve", LAB, files, dict.fromkeys(files, 0.0), (), "digest", None)
    graded = grader.grade(read_submission(submitted, grader.released))
    return {
        result.exercise: {check.name for check in result.checks if check.passed}
        for result in graded.results
    }


def test_the_bundles_numbers_would_pass_the_bundles_questions(grader):
    variants, exercise = grader.variants, grader.exercises["softmax"]
    visible = {check.name for check in exercise.checks if not check.hidden}
    verdict = judge(variants, BUNDLE, [exercise], {})["softmax"]
    assert not verdict.passed
    expected = {q.name: q.expected for q in variants.prepared_checks(exercise, BUNDLE)}
    shipped = {c.prepared.name: c.prepared.expected for c in variants.visible(exercise).checks}
    assert shipped.keys() == visible
    for name, numbers in shipped.items():
        judge_of = {q.name: q.judge for q in variants.prepared_checks(exercise, BUNDLE)}[name]
        assert judge_of.compare(expected[name], numbers) is None


def test_a_process_that_repeats_the_bundle_passes_what_is_the_same_for_everybody(passed):
    assert "sums_to_one" in passed["softmax"]


def test_the_bundles_numbers_are_wrong_when_graded(passed):
    assert "any_axis" not in passed["softmax"]
    assert "logsumexp_values" not in passed["log_softmax"]
    assert "values" not in passed["cross_entropy"] | passed["softmax_backward"]


def test_the_order_of_versions_is_not_revealed(passed):
    assert "wrong_versions" not in passed["test_softmax"]


def test_the_bundle_reveals_only_what_is_the_same_for_every_student(grader, passed):
    """Only visible checks pass whose right answer is the same for all inputs."""
    variants = grader.variants
    for exercise in grader.exercises.exercises:
        for check in exercise.checks:
            if check.name in passed[exercise.name] and not check.versions_of:
                here, elsewhere = (variants.observe(exercise, check, n, None) for n in (BUNDLE, 0))
                assert check.judge.compare(here, elsewhere) is None, check.name
                assert not check.hidden


BUNDLE_AS_A_TEST = """
def test_softmax(impl):
    from pathlib import Path
    from attnlab.checking.run_visible import run_visible
    from attnlab.checking.visible import read
    step = read(Path("checks.safetensors")).exercise("softmax")
    assert run_visible(step, {"softmax": impl}).passed
"""


def test_at_home_the_bundles_checks_are_a_test(shared_course, monkeypatch):
    monkeypatch.chdir(shared_course.root / "labs" / LAB)
    names = {}
    exec(BUNDLE_AS_A_TEST, names)
    names["test_softmax"](softmax)
    with pytest.raises(AssertionError):
        names["test_softmax"](lambda x, dim=-1: softmax(x, 0))


def test_the_sandbox_does_not_run_them(shared_course, grader):
    passed = passed_by(BUNDLE_AS_A_TEST, shared_course, grader)["test_softmax"]
    assert not {"wrong_versions", "openly_wrong", "right_in_every_dtype"} & passed
