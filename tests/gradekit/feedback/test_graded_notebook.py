"""The graded notebook: aligned cells, the judge's outputs, nothing that can run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbgrader.nbgraderformat import MetadataValidator
from nbgrader.utils import determine_grade

from gradekit.feedback.graded_notebook import graded_notebook, write_graded_notebook
from gradekit.results.records import ExerciseResult, Graded
from gradekit.submissions.folder import find_submissions
from gradekit.submissions.notebook import runnable_cells
from gradekit.submissions.released import Released, grade_id_of
from gradekit.submissions.submission import Submission, read_submission
from tests.helpers import submissions
from tests.helpers.submissions import LAB, NAME, as_bytes, done, result

RESULTS = {
    "softmax": result("softmax", 5.5, 8, "Look at <b>dim</b>."),
    "entropy": result("entropy", 0, 4),
}


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Released:
    return submissions.released(tmp_path_factory.mktemp("labs"))


def submission(root: Path, released: Released, data: bytes) -> Submission:
    submissions.hand_in(root, "ada", data, "2026-09-20 21:59:00 UTC")
    (submitted,) = find_submissions(root, LAB)
    return read_submission(submitted, released)


def grades(notebook: nbformat.NotebookNode) -> dict[str, float | None]:
    """What nbgrader makes of the notebook."""
    MetadataValidator().validate_nb(notebook)
    nbformat.validate(notebook)
    return {
        str(grade_id_of(cell)): determine_grade(cell)[0]
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("grade")
    }


def test_nbgrader_comes_to_the_judges_points(tmp_path: Path, released: Released) -> None:
    given = submission(tmp_path, released, as_bytes(done()))
    warning = {"output_type": "stream", "name": "stderr", "text": "careful"}
    outputs = {cell.id: [warning] for cell in given.notebook.cells}
    notebook = graded_notebook(given, released, Graded(outputs, ()), RESULTS)
    assert grades(notebook) == {"check_softmax": 5.5, "check_entropy": 0, "explain": None}


def test_outputs_stand_under_the_cells_that_made_them(tmp_path: Path, released: Released) -> None:
    given = submission(tmp_path, released, as_bytes(done(lambda cells: cells.reverse())))
    outputs = {
        cell.id: [{"output_type": "stream", "name": "stdout", "text": cell.source}]
        for cell in runnable_cells(given.notebook)
    }
    notebook = graded_notebook(given, released, Graded(outputs, ()), RESULTS)
    shown = [cell for cell in notebook.cells if cell.get("outputs") and "check(" not in cell.source]
    assert len(shown) == 3
    assert all(cell.outputs[0].text == cell.source for cell in shown)


def test_the_face_is_escaped_and_names_no_inputs(tmp_path: Path, released: Released) -> None:
    given = submission(tmp_path, released, as_bytes(done()))
    notebook = graded_notebook(given, released, Graded({}, ()), RESULTS)
    (cell,) = (cell for cell in notebook.cells if grade_id_of(cell) == "check_softmax")
    face = cell.outputs[0].data["text/html"]
    assert "&lt;b&gt;dim&lt;/b&gt;" in face
    assert "Stays finite for large scores. (hidden)" in face
    assert "5.5 of 8 points" in face


def test_a_broken_hand_in_is_shown_as_such(tmp_path: Path, released: Released) -> None:
    given = submission(tmp_path, released, b"")
    notebook = graded_notebook(given, released, Graded({}, ()), {})
    assert "is empty (0 bytes)" in notebook.cells[0].source
    assert grades(notebook) == {"check_softmax": 0, "check_entropy": 0, "explain": 0}


def test_the_reason_for_a_stopped_run_is_shown(tmp_path: Path, released: Released) -> None:
    given = submission(tmp_path, released, as_bytes(done()))
    graded = Graded({}, (), stopped="The notebook was ended after 60 s.")
    notebook = graded_notebook(given, released, graded, RESULTS)
    assert "ended after 60 s" in notebook.cells[0].source


def test_where_we_failed_the_cell_says_so(tmp_path: Path, released: Released) -> None:
    given = submission(tmp_path, released, as_bytes(done()))
    results = {**RESULTS, "softmax": ExerciseResult("softmax", "", (), broken="The judge fell.")}
    notebook = graded_notebook(given, released, Graded({}, ()), results)
    (cell,) = (cell for cell in notebook.cells if grade_id_of(cell) == "check_softmax")
    assert "Not graded: The judge fell." in cell.outputs[0].data["text/html"]


def test_active_content_of_the_student_is_gone(tmp_path: Path, released: Released) -> None:
    def attack(cells: submissions.Cells) -> None:
        cells[9]["source"] = "<script>PWN()</script>"
        cells[0]["attachments"] = {"a.png": {"text/html": "PWN()"}}
        cells.append({"cell_type": "raw", "source": "<script>PWN()</script>", "metadata": {}})

    given = submission(tmp_path, released, as_bytes(done(attack), metadata={"title": "<PWN>"}))
    html = {"output_type": "display_data", "data": {"text/html": "<script>PWN()</script>"}}
    outputs = {cell.id: [html] for cell in given.notebook.cells}
    notebook = graded_notebook(given, released, Graded(outputs, ()), RESULTS)
    text = json.dumps(notebook)
    assert "<script" not in text
    assert text.count("PWN") == 2
    assert grades(notebook)["explain"] is None


def test_it_is_written_where_formgrader_expects_it(tmp_path: Path, released: Released) -> None:
    given = submission(tmp_path, released, as_bytes(done()))
    notebook = graded_notebook(given, released, Graded({}, ()), RESULTS)
    text = json.dumps(notebook)
    (submitted,) = find_submissions(tmp_path, LAB)
    path = write_graded_notebook(tmp_path, submitted, NAME, text)
    assert path == tmp_path / "autograded" / "ada" / LAB / f"{NAME}.ipynb"
    path.chmod(0o444)
    write_graded_notebook(tmp_path, submitted, NAME, text)
    again = nbformat.read(path, 4)
    assert [cell.source for cell in again.cells] == [cell.source for cell in notebook.cells]
    stamp = path.parent / "timestamp.txt"
    assert stamp.read_text() == "2026-09-20 21:59:00.000000 UTC"
    write_graded_notebook(tmp_path, replace(submitted, submitted_at=None), NAME, text)
    assert sorted(p.name for p in path.parent.iterdir()) == [path.name]
