"""A later cell changes a step's name: the step keeps its points, and the page names the cell."""

from __future__ import annotations

import json
from pathlib import Path

from gradekit.grading.changed_names import changed_later
from gradekit.grading.grader import LabGrader
from gradekit.grading.task import GraderSpec
from gradekit.results.records import digest_of
from gradekit.sandbox.result import CellRun, ChangedName
from gradekit.submissions.folder import SubmittedFiles
from gradekit.submissions.submission import read_submission
from gradekit.untrusted.messages import Cell
from tests.helpers import tiny_class
from tests.helpers.tiny_class import LAB

CELLS = [Cell("a", "x = 1"), Cell("b", "\nsoftmax = 3  # `now`"), Cell("c", "del torch")]


def test_each_cell_is_named_once_with_its_names() -> None:
    changes = (
        ChangedName("softmax", "softmax", 1),
        ChangedName("attention", "softmax", 1),
        ChangedName("attention", "torch", 2),
    )
    runs = [CellRun(cell.id, (), "ok") for cell in CELLS[:2]]
    first, second = changed_later(CELLS, [*runs, CellRun("c", (), "ok", "", changes)])
    assert first.startswith("The cell that begins `softmax = 3  # 'now'` changes `softmax`, which")
    assert second.startswith("The cell that begins `del torch` changes `torch`, which an earlier")
    assert changed_later(CELLS, runs) == ()


def test_only_the_first_cells_and_names_are_listed() -> None:
    cells = [Cell(str(n), f"c{n} = 0") for n in range(9)]
    changes = tuple(ChangedName("s", f"n{n}{m}", n) for n in range(9) for m in range(6))
    said = changed_later(cells, [CellRun("0", (), "ok", "", changes)])
    assert len(said) == 4
    assert "`n00`, `n01`, `n02`, `n03` and 2 more, which" in said[0]
    assert said[3] == "6 more cells do the same."


def graded_with(grader: LabGrader, *later: str) -> tuple[float, tuple[str, ...]]:
    """The points of the solved notebook with these cells at its end, and the notes."""
    content = json.loads(tiny_class.notebook(grader.spec.course.root))
    for number, source in enumerate(later):
        cell = {"cell_type": "code", "id": f"more-{number}", "metadata": {}, "source": source}
        content["cells"].append({**cell, "outputs": [], "execution_count": None})
    raw = json.dumps(content).encode()
    name = f"{tiny_class.NAME}.ipynb"
    submitted = SubmittedFiles("ada", LAB, {name: raw}, {name: 0.0}, (), digest_of(raw), None)
    graded = grader.grade(read_submission(submitted, grader.released))
    return sum(result.earned or 0.0 for result in graded.results), graded.notes


def test_a_later_cell_costs_nothing_and_is_named(tmp_path: Path) -> None:
    course = tiny_class.write_course(tmp_path / "tiny")
    with LabGrader(GraderSpec(course, LAB, "none", b"a secret")) as grader:
        assert graded_with(grader) == (6.0, ())
        for cell in ("softmax = softmax(torch.ones(2, 3))", "del softmax", "guess = 'four'"):
            earned, (note,) = graded_with(grader, "y = 1", cell)
            assert earned == 6.0
            assert note.startswith(f"The cell that begins `{cell}` changes `")
        wrong = "def softmax(x, dim=-1):\n    return x"
        assert graded_with(grader, wrong)[0] < 6.0  # the last definition counts
        assert graded_with(grader, wrong, "softmax = 3")[0] < 6.0
