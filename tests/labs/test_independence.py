"""A wrong step costs the next one nothing, except the one check that is there to chain them."""

import ast

import pytest

from demo.classroom import material_of
from demo.course_folder import REPOSITORY, SMALL_LIMITS, copy_course
from gradekit.course import load_course
from gradekit.exercise.source import read_source
from gradekit.grading.grader import LabGrader
from gradekit.grading.own_solution import saved_files
from gradekit.grading.task import GraderSpec
from gradekit.submissions.folder import SubmittedFiles
from gradekit.submissions.submission import read_submission

# One lab shows it in the usual run.
SLOW = {"lab02", "lab03", "lab04", "lab05"}
STEPS = [
    pytest.param(path.name[:5], check.name, marks=pytest.mark.slow if path.name[:5] in SLOW else ())
    for path in sorted((REPOSITORY / "solutions").glob("lab*_*.py"))
    for check in read_source(path).of("check")
    if not path.name.startswith("lab00")
]


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return load_course(copy_course(tmp_path_factory.mktemp("steps") / "course", SMALL_LIMITS))


@pytest.fixture(scope="module")
def room(course, lab):
    return material_of(course, lab)


@pytest.fixture(scope="module")
def grader(course, lab):
    with LabGrader(GraderSpec(course, lab, "bubblewrap", b"a secret")) as grader:
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


@pytest.mark.parametrize("lab", load_course(REPOSITORY).labs)
def test_no_step_needs_another_to_be_defined(lab):
    """Annotations, defaults, bases and decorators are evaluated where a cell runs."""
    course = load_course(REPOSITORY)
    room = material_of(course, lab)
    for exercise in room.lab.exercises:
        others = {n for e in room.lab.exercises if e is not exercise for n in e.names}
        tree = ast.parse(room.released.source(room.released.answer_at(exercise.name)))
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


@pytest.mark.parametrize(("lab", "broken"), STEPS, indirect=["lab"])
def test_only_the_broken_steps_points_are_lost(grader, room, broken):
    at = room.solved.answer_at(broken)
    blank = room.released.source(room.released.answer_at(broken))
    chained = {
        (exercise.name, check.name)
        for exercise in grader.exercises.exercises
        for check in exercise.checks
        if check.chained
    }
    assert chained, "the lab has a chained check"
    found = results(grader, room.solved.with_source(at, blank))
    assert found[broken].earned < found[broken].points
    for name, result in found.items():
        if name != broken:
            failed = {(name, check.name) for check in result.checks if not check.passed}
            assert failed <= chained
