"""A wrong step costs the next one nothing, except the one check that is there to chain them."""

import ast

import pytest

from demo.classroom import material_of
from demo.course_folder import SMALL_LIMITS, copy_course
from demo.notebook import Notebook
from gradekit.course import load_course
from gradekit.exercise.loader import exercise_files
from gradekit.grading.grader import LabGrader
from gradekit.grading.lab_solution import saved_files
from gradekit.grading.task import GraderSpec
from gradekit.submissions.folder import SubmittedFiles
from gradekit.submissions.submission import read_submission
from tests.helpers.our_labs import CLINIC, COURSE, LABS, OUR_LABS

# One lab shows it in the usual run.
SHOWN = "lab01"
STEPS = [
    pytest.param(lab, name, marks=pytest.mark.slow if lab != SHOWN else ())
    for lab in OUR_LABS
    for name in exercise_files(COURSE.exercises(lab))
    if lab != "lab00"
]


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return load_course(copy_course(tmp_path_factory.mktemp("steps") / "course", SMALL_LIMITS))


@pytest.fixture(scope="module")
def material(course, lab):
    return material_of(course, lab)


@pytest.fixture(scope="module")
def grader(course, lab):
    with LabGrader(GraderSpec(course, lab, "auto", b"a secret")) as grader:
        yield grader


@pytest.fixture(scope="module")
def lab(request):
    return request.param


def results(grader, notebook):
    files = {f"{grader.released.name}.ipynb": notebook.bytes(), **saved_files(grader)}
    submitted = SubmittedFiles(
        "ada", grader.spec.lab, files, dict.fromkeys(files, 0.0), (), "digest", None
    )
    graded = grader.grade(read_submission(submitted, grader.released))
    assert graded.broken is None
    return {result.exercise: result for result in graded.results}


@pytest.mark.parametrize("lab", OUR_LABS)
def test_no_step_needs_another_to_be_defined(lab):
    """Annotations, defaults, bases and decorators are evaluated where a cell runs."""
    released = Notebook.parse(COURSE.released(lab).read_bytes())
    exercises = LABS[lab].exercises
    for exercise in exercises:
        others = {n for e in exercises if e is not exercise for n in e.names}
        tree = ast.parse(released.source(released.answer_at(exercise.name)))
        needed = {
            name.id
            for part in ast.walk(tree)
            for evaluated in evaluated_at_definition(part)
            for name in ast.walk(evaluated)
            if isinstance(name, ast.Name)
        }
        assert not needed & others, exercise.name


def evaluated_at_definition(part):
    match part:
        case ast.FunctionDef():
            arguments = [*part.args.posonlyargs, *part.args.args, *part.args.kwonlyargs]
            hints = [argument.annotation for argument in arguments] + [part.returns]
            defaults = [*part.args.defaults, *part.args.kw_defaults]
            return [x for x in (*hints, *defaults, *part.decorator_list) if x is not None]
        case ast.ClassDef():
            return [*part.bases, *part.decorator_list]
    return []


@pytest.mark.parametrize(("lab", "broken"), STEPS, indirect=["lab"], scope="module")
def test_only_the_broken_steps_points_are_lost(grader, material, broken):
    at = material.solved.answer_at(broken)
    blank = material.released.source(material.released.answer_at(broken))
    chained = {
        (exercise.name, check.name)
        for exercise in grader.exercises.exercises
        for check in exercise.checks
        if check.chained
    }
    assert chained or grader.spec.lab == CLINIC, "the lab has a chained check"
    found = results(grader, material.solved.with_source(at, blank))
    assert not all(check.passed for check in found[broken].checks)
    for name, result in found.items():
        if name != broken:
            failed = {(name, check.name) for check in result.checks if not check.passed}
            assert failed <= chained
