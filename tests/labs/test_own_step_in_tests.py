"""A test that a student writes earns by what it rejects, whatever the student's own step does."""

import pytest

from demo.classroom import material_of
from demo.course_folder import SMALL_LIMITS, copy_course
from gradekit.course import load_course
from gradekit.grading.grader import LabGrader
from gradekit.grading.lab_solution import saved_files
from gradekit.grading.task import GraderSpec
from gradekit.submissions.folder import SubmittedFiles
from gradekit.submissions.submission import read_submission

LAB, STEP, TEST = "lab05", "causal_mask", "test_causal_mask"

# Nothing is known here of what a mask should be: it compares with the step.
COMPARES = """\
def test_causal_mask(impl):
    for Lq, Lk in ((4, 4), (8, 8), (2, 7), (5, 3)):
        mask, own = impl(Lq, Lk), causal_mask(Lq, Lk)
        assert torch.equal(mask, own) and mask.dtype == own.dtype
    assert torch.equal(impl(6), causal_mask(6)) and impl(2, device="meta").is_meta
"""
# Nothing is known here, either: it looks in its callers for whatever the checks run on.
LOOK = """\
(impl):
    frame = sys._getframe(1)
    while "causal_mask" not in frame.f_locals.get("asked", ()):
        frame = frame.f_back
    causal_mask = frame.f_locals["asked"]["causal_mask"]
"""
FINDS = "import sys\n" + COMPARES.replace("(impl):\n", LOOK, 1)
WRONG = """\
def causal_mask(Lq, Lk=None, device=None):
    return torch.ones(Lq, Lk or Lq, dtype=torch.bool, device=device).triu()
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return load_course(copy_course(tmp_path_factory.mktemp("tests") / "course", SMALL_LIMITS))


@pytest.fixture(scope="module")
def material(course):
    return material_of(course, LAB)


@pytest.fixture(scope="module")
def grader(course):
    with LabGrader(GraderSpec(course, LAB, "auto", b"a secret")) as grader:
        yield grader


@pytest.fixture
def earned(grader, material):
    def earn(step=None, test=None):
        """What the test earns in the solved lab with another step, another test, or both."""
        notebook = material.solved
        for name, source in ((STEP, step), (TEST, test)):
            if source is not None:
                notebook = notebook.with_source(notebook.answer_at(name), source)
        files = {f"{grader.released.name}.ipynb": notebook.bytes(), **saved_files(grader)}
        submitted = SubmittedFiles("ada", LAB, files, dict.fromkeys(files, 0.0), (), "d", None)
        graded = grader.grade(read_submission(submitted, grader.released))
        results = {result.exercise: result for result in graded.results}
        return [check.earned for check in results[TEST].checks]

    return earn


@pytest.fixture
def blank(material):
    return material.released.source(material.released.answer_at(STEP))


def test_a_wrong_step_costs_its_test_nothing(earned, blank):
    assert earned() == earned(step=blank) == earned(step=WRONG) == [4, 0.5, 1, 0.5]


def test_a_test_that_compares_is_as_good_as_the_step(earned, blank):
    assert sum(earned(test=COMPARES)) > 5
    # The half point is for its code: a failed comparison would leave it as an error.
    assert earned(step=blank, test=COMPARES) == [0, 0.5, 0, 0]
    assert sum(earned(step=WRONG, test=COMPARES)) < 1.5


def test_a_test_finds_no_right_step_next_to_the_versions(earned, blank):
    by_versions, _, openly, _ = earned(step=blank, test=FINDS)
    assert openly == 1, "it found the reference of the checks whose versions everybody may read"
    assert by_versions == 0
