"""Submitted notebooks whose cells are found again, whatever an editor did to them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from nbformat import NotebookNode
from nbgrader.nbgraderformat import MetadataValidator
from nbgrader.utils import compute_checksum, is_locked

from gradekit.submissions.align import align, answer_digests, blank_exercises
from gradekit.submissions.notebook import open_notebook, runnable_cells
from gradekit.submissions.released import Released, TargetCell, grade_id_of
from tests.helpers import submissions
from tests.helpers.submissions import ANSWER, PLACEHOLDER, PROMPT, as_bytes, code, done, markdown

Cells = list[dict[str, Any]]
TEXT = "It keeps the exponentials finite."


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Released:
    return submissions.released(tmp_path_factory.mktemp("labs"))


def aligned(released: Released, cells: Cells) -> dict[str, NotebookNode]:
    """The aligned notebook's cells by id; what nbgrader requires is true of all of them."""
    notebook, _ = open_notebook(as_bytes(cells))
    before = copy.deepcopy(notebook)
    result = align(notebook, released)
    assert notebook == before
    MetadataValidator().validate_nb(result)
    found = {
        cell.metadata.nbgrader.grade_id: cell
        for cell in result.cells
        if "nbgrader" in cell.metadata
    }
    assert set(found) == {target.grade_id for target in released.targets}
    for target in released.targets:
        cell = found[target.grade_id]
        assert cell.metadata == target.cell.metadata
        assert cell.cell_type == target.cell.cell_type
        if is_locked(cell):
            assert compute_checksum(cell) == cell.metadata.nbgrader.checksum
    assert len({cell.id for cell in result.cells}) == len(result.cells)
    assert runs(result) == runs(notebook) or "# No cell" in str(runs(result))
    return found


def runs(notebook: NotebookNode) -> list[str]:
    return [cell.source for cell in runnable_cells(notebook)]


def test_a_target_of_an_unknown_kind_is_an_error(released: Released) -> None:
    notebook, _ = open_notebook(as_bytes(done()))
    odd = TargetCell("softmax", "lost", notebook.cells[0])  # type: ignore[arg-type]
    with_odd = Released(released.name, released.notebook)
    vars(with_odd)["targets"] = (odd,)
    with pytest.raises(ValueError, match="the cell softmax has the kind 'lost'"):
        align(notebook, with_odd)


def test_an_untouched_notebook_stays_as_it_is(released: Released) -> None:
    notebook, _ = open_notebook(as_bytes(submissions.released_cells()))
    result = align(notebook, released)
    assert [cell.source for cell in result.cells] == [c.source for c in released.notebook.cells]
    assert answer_digests(result, released) == {"explain": ""}


def lose_metadata(cells: Cells) -> None:
    for cell in cells:
        cell["metadata"] = {}


def delete_test(cells: Cells) -> None:
    del cells[4]


def delete_all_tests(cells: Cells) -> None:
    del cells[7], cells[4]


def change_test(cells: Cells) -> None:
    cells[4]["source"] = "8.0"


def change_test_and_lose_metadata(cells: Cells) -> None:
    change_test(cells)
    lose_metadata(cells)


def copy_test(cells: Cells) -> None:
    cells.insert(5, copy.deepcopy(cells[4]))
    cells.append(copy.deepcopy(cells[4]))


def copy_solution(cells: Cells) -> None:
    cells.insert(2, copy.deepcopy(submissions.released_cells()[3]))


def split_solution(cells: Cells) -> None:
    second = copy.deepcopy(cells[3])
    second["source"] = "print(softmax(torch.zeros(2)))"
    cells.insert(4, second)


def split_test(cells: Cells) -> None:
    second = copy.deepcopy(cells[4])
    cells[4]["source"] = "check("
    second["source"] = '"softmax")'
    cells.insert(5, second)


def retype_test(cells: Cells) -> None:
    cells[4] = {**cells[4], "cell_type": "markdown"}


def reorder(cells: Cells) -> None:
    cells[3], cells[6] = cells[6], cells[3]


def reverse(cells: Cells) -> None:
    cells.reverse()


def move_solution_into_test(cells: Cells) -> None:
    cells[4]["source"] = f'{ANSWER}\ncheck("softmax")'
    del cells[3]


def swap_ids(cells: Cells) -> None:
    cells[3]["metadata"], cells[6]["metadata"] = cells[6]["metadata"], cells[3]["metadata"]


def wild_metadata(cells: Cells) -> None:
    for cell in cells:
        cell["metadata"] = {"nbgrader": ["softmax"], "tags": "x", "jupyter": 3}


@pytest.mark.parametrize(
    "change",
    [
        lose_metadata,
        delete_test,
        delete_all_tests,
        change_test,
        change_test_and_lose_metadata,
        copy_test,
        copy_solution,
        split_solution,
        split_test,
        retype_test,
        reorder,
        reverse,
        move_solution_into_test,
        swap_ids,
        wild_metadata,
    ],
)
def test_every_seat_is_found_again(change: Callable[[Cells], None], released: Released) -> None:
    found = aligned(released, done(change))
    assert found["softmax"].source.startswith(ANSWER)
    assert found["check_softmax"].source == 'check("softmax")'
    assert found["check_entropy"].source == 'check("entropy")'
    assert found["explain"].source == TEXT


def test_an_empty_notebook_gets_every_seat_and_no_stub(released: Released) -> None:
    found = aligned(released, [])
    assert "softmax" in found["softmax"].source
    assert found["softmax"].source.startswith("# No cell")
    assert found["explain"].source == PLACEHOLDER


def test_a_name_bound_by_assignment_or_import_is_found(released: Released) -> None:
    def bind(cells: Cells) -> None:
        lose_metadata(cells)
        cells[3]["source"] = "softmax = lambda x, dim=-1: x"
        cells[6]["source"] = "from mine import helper, entropy"

    found = aligned(released, done(bind))
    assert found["softmax"].source.startswith("softmax = lambda")
    assert found["entropy"].source.startswith("from mine")


def test_the_last_definition_is_the_solution(released: Released) -> None:
    def again(cells: Cells) -> None:
        lose_metadata(cells)
        cells.append(code("def softmax(x, dim=-1):\n    return x  # second try"))

    assert "second try" in aligned(released, done(again))["softmax"].source


def answer(**changes: Any) -> Callable[[Cells], None]:
    def change(cells: Cells) -> None:
        cells[9].update(changes)

    return change


def below_its_seat(cells: Cells) -> None:
    cells[9]["source"] = PLACEHOLDER
    cells.append(markdown(TEXT))


def below_the_prompt(cells: Cells) -> None:
    lose_metadata(cells)
    cells[9] = markdown(TEXT)


def below_the_prompt_as_code(cells: Cells) -> None:
    lose_metadata(cells)
    cells[9] = code(TEXT)


def split_in_two(cells: Cells) -> None:
    one, two = copy.deepcopy(cells[9]), copy.deepcopy(cells[9])
    one["source"], two["source"] = "It keeps", "the exponentials finite."
    cells[9:] = [one, two]


def copied_with_one_written(cells: Cells) -> None:
    blank = copy.deepcopy(cells[9])
    blank["source"] = PLACEHOLDER
    cells.insert(9, blank)


def as_raw(cells: Cells) -> None:
    cells[9] = {**cells[9], "cell_type": "raw"}


@pytest.mark.parametrize(
    "change",
    [
        below_its_seat,
        below_the_prompt,
        below_the_prompt_as_code,
        split_in_two,
        copied_with_one_written,
        as_raw,
    ],
)
def test_the_free_text_is_found(change: Callable[[Cells], None], released: Released) -> None:
    notebook, _ = open_notebook(as_bytes(done(change)))
    result = align(notebook, released)
    (cell,) = (cell for cell in result.cells if grade_id_of(cell) == "explain")
    assert cell.source.replace("\n\n", " ") == TEXT
    assert cell.cell_type == "markdown"
    assert answer_digests(result, released)["explain"]
    MetadataValidator().validate_nb(result)


def test_code_under_the_question_is_not_an_answer(released: Released) -> None:
    def change(cells: Cells) -> None:
        cells[9]["source"] = PLACEHOLDER
        cells.append(code("print(1)"))

    found = aligned(released, done(change))
    assert found["explain"].source == PLACEHOLDER


def test_a_prompt_inside_the_answer_cell_is_enough(released: Released) -> None:
    cells = submissions.released_cells()
    cells[9]["source"] = f"{PROMPT}\n\n{PLACEHOLDER}"
    own = Released("lab", open_notebook(as_bytes([*cells[:8], cells[9]]))[0])
    handed_in = [*cells[:8], markdown(f"{PROMPT}\n\n{TEXT}")]
    lose_metadata(handed_in)
    result = align(open_notebook(as_bytes(handed_in))[0], own)
    assert result.cells[-1].source.endswith(TEXT)
    assert result.cells[-1].metadata.nbgrader.grade_id == "explain"


def test_the_digest_of_an_answer_follows_its_text(released: Released) -> None:
    def digest(text: str) -> str:
        notebook, _ = open_notebook(as_bytes(done(answer(source=text))))
        return answer_digests(align(notebook, released), released)["explain"]

    assert digest("one") == digest("one") != digest("two")
    assert digest(PLACEHOLDER) == digest(" \n") == ""


def test_steps_that_were_left_out(released: Released) -> None:
    def left_out(change: Callable[[Cells], Any] | None = None) -> tuple[str, ...]:
        notebook, _ = open_notebook(as_bytes(done(change)))
        return blank_exercises(align(notebook, released), released)

    assert left_out() == ("entropy",), "done() answers the first step alone"
    assert left_out(lambda cells: cells[6].update(source="def entropy(p):\n    return 0")) == ()
    assert left_out(lambda cells: cells[3].update(source="")) == ("softmax", "entropy")
    assert left_out(lambda cells: cells.pop(3)) == ("softmax", "entropy")
