"""From a source to the notebooks: their format, the same bytes each time, drift, errors."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import torch

from attnlab.checking import visible
from attnlab.checking.observation import pack, unpack
from attnlab.notebook.file import text_digest
from gradekit.build import build
from gradekit.build.drift import ANY_PROCESSOR, differences, same_values
from gradekit.errors import CourseError
from gradekit.exercise.loader import CourseLabs
from tests.helpers.small_course import (
    EXERCISES,
    LIBRARY,
    SOURCE,
    library_on_path,
    write_small_course,
)

ROOT = Path(__file__).resolve().parents[3]
FILES = ["checks.safetensors", "lab01_small.ipynb"]


@pytest.fixture
def small(tmp_path):
    course = write_small_course(tmp_path)
    with library_on_path(tmp_path):
        yield course


def notebook(course, step: str) -> nbformat.NotebookNode:
    nb = nbformat.read(course.root / step / "lab01" / "lab01_small.ipynb", as_version=4)
    nbformat.validate(nb)
    return nb


def cell(nb, cell_id: str) -> nbformat.NotebookNode:
    (found,) = (cell for cell in nb.cells if cell.id == cell_id)
    return found


def contents(course) -> dict[str, bytes]:
    folders = [course.root / step / "lab01" for step in ("solutions", "labs")]
    return {
        str(path.relative_to(course.root)): path.read_bytes()
        for folder in folders
        for path in folder.iterdir()
    }


def test_the_solved_notebook_is_in_nbgraders_source_format(small):
    written = build.build_labs(CourseLabs(small), ["lab01"])
    assert [str(path.relative_to(small.root)) for path in written] == [
        f"{step}/lab01/{name}" for step in ("solutions", "labs") for name in FILES
    ]
    nb = notebook(small, "solutions")
    assert nb.metadata.attnlab == {
        "lab": "lab01",
        "generated": "by `lab build`; edit solutions/lab01_small.py instead",
        "due": "2026-09-20T23:59:00+02:00",
        "late": {"grace_minutes": 0, "percent_per_day": 10, "last_day": 5},
        "steps": {"double": "", "total": "", "guess": "", "explain": ""},
    }
    assert nb.metadata.kernelspec.name == "python3"
    assert cell(nb, "double").metadata.nbgrader == {
        "grade": False,
        "grade_id": "double",
        "locked": False,
        "schema_version": 3,
        "solution": True,
        "task": False,
    }
    grade = cell(nb, "check_double")
    assert grade.metadata.nbgrader == {
        "grade": True,
        "grade_id": "check_double",
        "locked": True,
        "points": 5,
        "schema_version": 3,
        "solution": False,
        "task": False,
    }
    assert grade.source.splitlines()[:2] == ['check("double")', "### BEGIN HIDDEN TESTS"]
    assert cell(nb, "check_total").metadata.nbgrader.points == 1.5
    free = cell(nb, "explain")
    assert free.cell_type == "markdown"
    assert free.metadata.nbgrader.points == 4
    assert free.metadata.nbgrader.grade
    assert free.metadata.nbgrader.solution
    assert all(not cell.get("outputs") for cell in nb.cells)


def test_prose_knows_the_due_date_title_and_points(small):
    build.build_labs(CourseLabs(small), ["lab01"])
    assert cell(notebook(small, "labs"), "start-1").source == (
        "# Doubling\nDue Sunday, 20 September 2026, 23:59 (Europe/Zurich), 11.5 points. "
        "A formula: $e^{{x}}$."
    )


def test_the_released_notebook_holds_no_answer(small):
    build.build_labs(CourseLabs(small), ["lab01"])
    nb = notebook(small, "labs")
    assert cell(nb, "double").source.endswith(
        'any shape."""\n    # TODO: write your code here\n    raise NotImplementedError'
    )
    assert cell(nb, "check_double").source == 'check("double")'
    assert cell(nb, "guess").source == "# How much is double(4)?", "Run All does not stop there"
    for name in ("double", "guess"):
        blank = cell(nb, name)
        assert blank.metadata.attnlab["blank"] == text_digest(blank.source)
    text = (small.root / "labs" / "lab01" / "lab01_small.ipynb").read_text()
    solved = (small.root / "solutions" / "lab01" / "lab01_small.ipynb").read_text()
    for word in ("SOLUTION", "HIDDEN", "gradekit", "FACTOR * x", "secret_sum =", "guess = 8"):
        assert word in solved
        assert word not in text
    assert cell(nb, "explain").source.startswith("Why is it more?\n\n*Write your answer here")


def test_checks_file_has_the_visible_checks_alone(small):
    build.build_labs(CourseLabs(small), ["lab01"])
    for step in ("solutions", "labs"):
        lab = visible.read(small.root / step / "lab01" / "checks.safetensors")
        (check,) = lab.exercise("double").checks
        assert check.prepared.name == "numbers"
        assert lab.exercise("double").hidden_points == 2
    data = (small.root / "labs" / "lab01" / "checks.safetensors").read_bytes()
    assert b"secret_shape" not in data
    assert b"only the grader knows" in data, "titles of hidden checks are no secret"


def test_a_build_is_the_same_each_time_and_leaves_nothing_behind(small):
    build.build_labs(CourseLabs(small), ["lab01"])
    first = contents(small)
    (small.root / "labs" / "lab01" / "old.ipynb").write_text("left over")
    build.build_labs(CourseLabs(small), ["lab01"])
    assert contents(small) == first
    assert not list(small.root.rglob("gradebook.db*"))


def test_a_build_in_another_process_makes_the_same_bytes(small):
    build.build_labs(CourseLabs(small), ["lab01"])
    first = contents(small)
    code = (
        "import sys; from pathlib import Path\nfrom gradekit.build.build import build_labs\n"
        "from gradekit.course import load_course\nfrom gradekit.exercise.loader import CourseLabs\n"
        "build_labs(CourseLabs(load_course(Path(sys.argv[1]))), ['lab01'])"
    )
    subprocess.run(
        [sys.executable, "-c", code, str(small.root)],
        check=True,
        env={"PYTHONPATH": str(small.root / "lib"), "PYTHONHASHSEED": "7"},
    )
    assert contents(small) == first


def test_an_edit_changes_the_ids_of_its_own_section_alone(small):
    build.build_labs(CourseLabs(small), ["lab01"])
    before = [cell.id for cell in notebook(small, "labs").cells]
    path = small.source("lab01")
    heading = "# %% [markdown]\n# ## "
    path.write_text(SOURCE.replace(f"{heading}2.", f"# %%\nprint(1)\n\n{heading}7."))
    build.build_labs(CourseLabs(small), ["lab01"])
    after = [cell.id for cell in notebook(small, "labs").cells]
    assert [cell_id for cell_id in after if cell_id != "twice-as-much-3"] == before


def test_prose_knows_the_minutes_of_its_steps(small):
    text = SOURCE.replace("# Write it.", "# *5 points, 25 minutes*\n# Write it.")
    text = text.replace("{{points}} points", "{{steps}} steps, {{minutes}} minutes")
    small.source("lab01").write_text(
        text.replace("# ## 2. The sum", "# ## 2. The sum\n# *40 minutes*")
    )
    build.build_labs(CourseLabs(small), ["lab01"])
    # The third step is in the section of the second.
    assert "three steps, 105 minutes" in cell(notebook(small, "labs"), "start-1").source


def test_drift_names_each_file_that_is_not_as_made(small):
    assert build.find_drift(CourseLabs(small), ["lab01"]) == [
        "solutions/lab01/lab01_small.ipynb is missing",
        "labs/lab01/checks.safetensors is missing",
        "labs/lab01/lab01_small.ipynb is missing",
    ]
    build.build_labs(CourseLabs(small), ["lab01"])
    assert build.find_drift(CourseLabs(small), ["lab01"]) == []
    before = contents(small)
    (small.root / "labs" / "lab01" / "stray.txt").write_text("?")
    path = small.source("lab01")
    path.write_text(SOURCE.replace("Write it.", "Write it now."))
    assert build.find_drift(CourseLabs(small), ["lab01"]) == [
        "solutions/lab01/lab01_small.ipynb differs",
        "labs/lab01/lab01_small.ipynb differs",
        "labs/lab01/stray.txt has no source",
    ]
    (small.root / "labs" / "lab01" / "stray.txt").unlink()
    assert contents(small) == before


def test_drift_sees_a_changed_check(small):
    build.build_labs(CourseLabs(small), ["lab01"])
    path = small.exercises("lab01") / "double.py"
    path.write_text(EXERCISES["double"].replace("Doubles every", "Doubles each"))
    assert build.find_drift(CourseLabs(small), ["lab01"]) == [
        "labs/lab01/checks.safetensors differs",
    ]


def test_a_file_whose_numbers_differ_in_their_last_bits_is_not_written_again(small):
    build.build_labs(CourseLabs(small), ["lab01"])
    path = small.root / "labs" / "lab01" / "checks.safetensors"
    made, elsewhere = path.read_bytes(), rounded_otherwise(path.read_bytes())
    assert made != elsewhere
    path.write_bytes(elsewhere)
    build.build_labs(CourseLabs(small), ["lab01"])
    assert path.read_bytes() == elsewhere
    exercise = small.exercises("lab01") / "double.py"
    exercise.write_text(EXERCISES["double"].replace("Doubles every", "Doubles each"))
    build.build_labs(CourseLabs(small), ["lab01"])
    assert path.read_bytes() not in (made, elsewhere)


def rounded_otherwise(checks: bytes) -> bytes:
    """The same file of checks as another processor would write it."""

    def nudged(value):
        match value:
            case torch.Tensor() if value.dtype == torch.float64:
                return value * (1 + 4e-16)
            case dict():
                return {key: nudged(item) for key, item in value.items()}
            case list():
                return [nudged(item) for item in value]
        return value

    return pack(nudged(unpack(checks, visible.LIMITS)), visible.LIMITS)


def test_the_solved_notebook_needs_no_checks_file_in_a_clone(small):
    build.build_labs(CourseLabs(small), ["lab01"])
    (small.root / "solutions" / "lab01" / "checks.safetensors").unlink()
    assert build.find_drift(CourseLabs(small), ["lab01"]) == []


def test_drift_forgives_the_last_bits_of_a_number_and_nothing_else():
    there = {"text": "a", "numbers": [torch.tensor([1.0, -2.0], dtype=torch.float64)], "n": 3.0}
    assert same_values(there, {**there, "n": 3.0 * (1 + 1e-15)})
    assert not same_values(there, {**there, "n": 3.0 * (1 + 1e-9)})
    assert same_values(there, {**there, "numbers": [there["numbers"][0] * (1 + 1e-15)]})
    assert not same_values(there, {**there, "numbers": [there["numbers"][0] * (1 + 1e-9)]})
    assert not same_values(there, {**there, "numbers": [there["numbers"][0].float()]})
    assert not same_values(there, {**there, "text": "b"})
    assert not same_values({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert same_values(there, {**there, "n": 3.0 * (1 + 1e-6)}, ANY_PROCESSOR)
    assert not same_values(there, {**there, "n": 3.0 * (1 + 1e-4)}, ANY_PROCESSOR)
    strange = torch.tensor([float("nan"), float("inf"), 1.0])
    assert same_values(strange, strange.clone())
    assert not same_values(strange, -strange)


@pytest.mark.parametrize(
    ("factor", "lines"), [(1 + 1e-15, []), (2, [f"{visible.FILE_NAME} differs"])]
)
def test_rounding_does_not_decide_which_answers_are_equal(tmp_path, factor, lines):
    """An answer that equals the expected one here is stored by itself on another processor."""
    content = Path(ROOT, "labs", "lab03", visible.FILE_NAME).read_bytes()
    tree = unpack(content, visible.LIMITS)
    check = next(
        c for e in tree["exercises"] for c in e["checks"] if isinstance(c["expected"], torch.Tensor)
    )
    name = check["as_expected"].pop()
    check["mistakes"].append([[name], check["expected"] * factor])
    for folder, checks in (("here", content), ("there", pack(tree, visible.LIMITS))):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / visible.FILE_NAME).write_bytes(checks)
    assert differences(tmp_path / "here", tmp_path / "there") == lines


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            "{{due}}",
            "{{dew}}",
            "line 2: cell 1 asks for {{dew}}; there are {{course}}, {{title}}, {{due}}, "
            "{{points}}, {{steps}}, {{minutes}}",
        ),
        (
            'free_text="explain"',
            'free_text="double"',
            "line 43: cell 12: another cell is also called 'double'; rename one",
        ),
        (
            "import total",
            "import total, double",
            "line 28: cell 8 imports total, double, but autograder/exercises/lab01/total.py grades "
            "total; name the same there",
        ),
    ],
)
def test_contradictions_are_one_sentence(small, old, new, sentence):
    small.source("lab01").write_text(SOURCE.replace(old, new))
    with pytest.raises(CourseError) as error:
        build.build_labs(CourseLabs(small), ["lab01"])
    assert str(error.value) == f"solutions/lab01_small.py, {sentence}"


def test_a_check_without_a_file_is_one_sentence(small):
    (small.exercises("lab01") / "total.py").unlink()
    with pytest.raises(CourseError) as error:
        build.build_labs(CourseLabs(small), ["lab01"])
    assert str(error.value) == (
        "solutions/lab01_small.py, line 31: cell 9 checks 'total', "
        "but autograder/exercises/lab01 has no total.py and no folder total/"
    )


def test_what_nbgrader_refuses_is_one_sentence(small):
    path = small.source("lab01")
    path.write_text(SOURCE.replace("print(double", "### BEGIN HIDDEN TESTS\nprint(double"))
    with pytest.raises(CourseError) as error:
        build.build_labs(CourseLabs(small), ["lab01"])
    assert str(error.value) == (
        "lab01: nbgrader's release step refuses the notebook: "
        "RuntimeError: No end hidden tests statement found"
    )
    assert not (small.root / "labs").exists()


def test_the_reference_is_the_only_copy(small):
    """A changed reference changes the notebook, and nothing else needs an edit."""
    build.build_labs(CourseLabs(small), ["lab01"])
    steps = small.root / "lib" / "smallnet" / "steps.py"
    steps.write_text(LIBRARY.replace("return FACTOR * x", "return x + x"))
    assert build.find_drift(CourseLabs(small), ["lab01"]) == [
        "solutions/lab01/lab01_small.ipynb differs",
        "labs/lab01/lab01_small.ipynb differs",
    ]
