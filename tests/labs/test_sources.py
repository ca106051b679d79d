"""Every lab as its authors wrote it: a script that runs, text that keeps to the form."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
from pathlib import Path

import pytest

from attnlab.notebook.check import GRADING_VARIABLE
from gradekit.build.model_answer import model_answer
from gradekit.build.solved import solved_notebook
from gradekit.exercise import Errata, Predictions
from gradekit.exercise.loader import LabExercises, load_lab
from gradekit.exercise.source import Source, SourceCell
from tests.helpers import warm_python
from tests.helpers.our_labs import CLINIC, COURSE, LABS, OUR_LABS

pytestmark = pytest.mark.starts_first

GRADED = [lab for lab in OUR_LABS if lab != "lab00"]
WEEKLY = [lab for lab in GRADED if lab != CLINIC]
SCREEN = 45  # lines of prose, unfolded, between two things that a student does

# Labs with a figure or a training that takes seconds: whole in the long run; in every run without
# it and the checks, as grading runs them.
LONG = {"lab02", "lab07", "lab08", "lab09", "lab10", CLINIC}
RUNS = [
    *(pytest.param(lab, "", marks=pytest.mark.slow if lab in LONG else ()) for lab in OUR_LABS),
    *((lab, "1") for lab in sorted(LONG)),
]

# What the script of a lab says where its last cells have looked at the right answers.
SAYS = {
    "lab02": [r"(99|100)[.\d]*% of 500 new dates are right"],
    "lab03": [r"scaled_dot_product_attention passes your test", r"masked_afterwards is rejected"],
    "lab04": [r"MultiHeadAttention passes your test"],
    "lab06": [r"LayerNorm passes your test", r"StdPlusEps is rejected"],
    "lab05": [r"\(impossible\)[\s\S]*\(impossible\)"],
    "lab07": [r"DecoderLayer passes your test"],
    CLINIC: [
        r"writes: +2\.[\s\S]*writes: +1\.4",
        r"beside a sentence of 30 words, [1-9][\s\S]*30 words, 0\.0 %",
        r"batches of +1: +[1-8]\d\.\d %[\s\S]*batches of +1: +(99|100)",
        r"two devices[\s\S]*on cuda:0, Counts\(to_gpu=0",
    ],
    "lab10": [
        r"mask_tokens passes your test",
        r"hides_special_tokens is rejected",
        r"no_label_if_kept is rejected",
    ],
    "lab08": [r"Adam passes your test", r"Uphill is rejected", r"OwnEps is rejected"],
    "lab09": [
        r"sample passes your test",
        r"one_draw_for_all is rejected",
    ],
}


@pytest.fixture(scope="module")
def labs() -> dict[str, LabExercises]:
    return {lab: LABS[lab] for lab in OUR_LABS}


@pytest.fixture(scope="module")
def sources(labs: dict[str, LabExercises]) -> dict[str, Source]:
    return {lab: labs[lab].source for lab in OUR_LABS}


@pytest.mark.parametrize(("lab", "grading"), RUNS)
def test_the_source_runs_as_a_script_without_a_display(
    lab: str, grading: str, labs: dict[str, LabExercises], tmp_path: Path
) -> None:
    exercises, script = labs[lab].exercises, COURSE.source(lab)
    if lab == CLINIC:  # its cases are in files of their own
        script = tmp_path / script.name
        code = (cell.text for cell in labs[lab].source.cells if not cell.is_markdown)
        script.write_text("\n\n\n".join(code), "utf-8")
        shutil.copytree(COURSE.released(lab).parent, tmp_path / lab)
    for exercise in exercises:
        for path in exercise.saved_paths:  # so that nothing is trained here
            (tmp_path / path.name).write_bytes(path.read_bytes())
    environment = {key: value for key, value in os.environ.items() if key != "DISPLAY"}
    environment |= {
        "OMP_NUM_THREADS": "1",
        "PYTHONWARNINGS": "error",
        GRADING_VARIABLE: grading,
    }
    done = warm_python.run(str(script), cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    for exercise in exercises:
        assert all(f"Loaded {name}" in done.stdout for name in exercise.saves)
    for words in SAYS.get(lab, ()):
        assert re.search(words, done.stdout), words


@pytest.mark.parametrize("lab", GRADED)
def test_exercises_and_a_question_are_worth_100_points_together(
    lab: str, labs: dict[str, LabExercises], sources: dict[str, Source]
) -> None:
    exercises = labs[lab].exercises
    questions = sources[lab].of("free_text")
    assert labs[lab].points + sum(question.points for question in questions) == 100
    visible = sum(c.points for e in exercises for c in e.checks if not c.hidden)
    assert 0.4 < visible / labs[lab].points < 0.6
    chained = sum(check.chained for e in exercises for check in e.checks)
    tests = sum(any(c.versions_of for c in e.checks) for e in exercises)
    if lab == CLINIC:
        assert (chained, tests, len(questions)) == (0, len(exercises) / 2, tests + 1)
    else:
        assert (chained, tests, len(questions)) == (1, 1, 1)


@pytest.mark.parametrize("lab", GRADED)
def test_each_question_has_a_model_answer_and_a_mark_scheme(
    lab: str, sources: dict[str, Source]
) -> None:
    for question in sources[lab].of("free_text"):
        model = model_answer(question.text, f"{lab}, {question.name}", question.points)
        assert len(model.text.split()) >= 20
        assert len(model.scheme) >= 2


@pytest.mark.parametrize("lab", OUR_LABS)
def test_points_in_the_text_are_those_of_the_checks(
    lab: str, labs: dict[str, LabExercises], sources: dict[str, Source]
) -> None:
    points = 0
    for cell in sources[lab].cells:
        if found := re.search(r"^\*(\d+) points?,", cell.text, re.MULTILINE):
            points = int(found[1])
        elif cell.role == "exercise":
            assert points == labs[lab][cell.name].points, cell.name


@pytest.mark.parametrize("lab", OUR_LABS)
def test_every_step_says_its_minutes_difficulty_and_importance(
    lab: str, sources: dict[str, Source]
) -> None:
    header = re.compile(
        r"^## \d+\.\d+ .+\n\*\d+ points?, \d+ minutes, "
        r"difficulty [1-5] of 5, importance [1-5] of 5\*$",
        re.MULTILINE,
    )
    texts = "\n".join(cell.text for cell in sources[lab].cells if cell.role == "prose")
    assert len(header.findall(texts)) == len(sources[lab].of("exercise"))
    for cell in sources[lab].of("exercise"):
        step = sources[lab].step(cell.name)
        assert step.number.startswith(f"{int(lab[3:])}."), cell.name
        assert step.minutes >= 5, cell.name


@pytest.mark.parametrize("lab", OUR_LABS)
def test_a_lab_says_what_it_needs_and_ends_with_the_table_and_the_hand_in(
    lab: str, sources: dict[str, Source]
) -> None:
    cells = sources[lab].cells
    assert "| you need |" in cells[0].text
    assert [cell.text for cell in cells if not cell.is_markdown][-2:] == ["check()", "submit()"]


@pytest.mark.parametrize("lab", WEEKLY)
def test_a_course_may_leave_out_the_errata(lab: str, labs: dict[str, LabExercises]) -> None:
    about = COURSE.values.course.model_copy(update={"errata": False})
    without = COURSE.model_copy(
        update={"values": COURSE.values.model_copy(update={"course": about})}
    )
    found = load_lab(without, lab)
    assert [e.name for e in found.exercises] == [
        e.name for e in labs[lab].exercises if e.name != "errata"
    ]
    assert found.points == labs[lab].points - labs[lab]["errata"].points
    notebook = solved_notebook(without, found)
    ids = [cell.id for cell in notebook.cells]
    assert "errata" not in ids
    assert {"predictions", "explain", "where-you-stand-4"} <= set(ids)
    assert "errata" not in notebook.metadata.attnlab["steps"]
    assert not any("Errata hunt" in cell.source for cell in notebook.cells)


@pytest.mark.parametrize("lab", OUR_LABS)
def test_a_blank_notebook_raises_nothing_at_the_top_of_a_cell(lab: str) -> None:
    notebook = json.loads(COURSE.released(lab).read_text("utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            body = ast.parse("".join(cell["source"])).body
            assert not any(isinstance(statement, ast.Raise) for statement in body), cell["id"]


@pytest.mark.parametrize("lab", OUR_LABS)
def test_every_function_has_its_why_predict_hints_check_and_look(
    lab: str, sources: dict[str, Source]
) -> None:
    cells = sources[lab].cells
    for place, cell in enumerate(cells):
        if cell.role == "exercise" and cell.text.startswith("from attnlab"):
            before, after = cells[place - 1], cells[place + 1 : place + 6]
            if "from attnlab.data" in cell.text:
                continue  # an answer of the lab's own
            assert "**Predict.**" in before.text, cell.name
            hints = re.findall(r"<summary>Hint (\d): ([a-z ]+)</summary>", before.text)
            assert hints == [("1", "a question"), ("2", "a plan"), ("3", "nearly code")], cell.name
            assert any(later.role == "check" for later in after), cell.name
            assert any("\n**Look.**" in f"\n{later.text}" for later in after), cell.name


@pytest.mark.parametrize("lab", OUR_LABS)
def test_at_most_a_screen_between_two_things_to_do(lab: str, sources: dict[str, Source]) -> None:
    for cell in sources[lab].cells:
        if cell.is_markdown:
            assert len(shown(cell).splitlines()) <= SCREEN, cell.text[:60]


@pytest.mark.parametrize("lab", OUR_LABS)
def test_no_table_is_in_a_list(lab: str, sources: dict[str, Source]) -> None:
    for cell in sources[lab].of("prose"):  # nbconvert writes such a table as one line of bars
        assert not re.search(r"^ +\|", cell.text, re.MULTILINE), cell.text


@pytest.mark.parametrize("lab", GRADED)
def test_each_mistake_has_advice_and_each_function_two_other_right_answers(
    lab: str, labs: dict[str, LabExercises]
) -> None:
    for exercise in labs[lab].exercises:
        assert all(len(mistake.advice.split()) >= 6 for mistake in exercise.mistakes)
        for name in exercise.names:
            others = [v for v in exercise.right_versions if v.of == name or exercise.answers]
            assert len(others) >= 2, f"{exercise.name}: {name}"


@pytest.mark.parametrize("lab", WEEKLY)
def test_a_wrong_number_of_a_prediction_or_an_erratum_is_followed_by_a_question(
    lab: str, labs: dict[str, LabExercises]
) -> None:
    for exercise in labs[lab].exercises:
        if isinstance(exercise, Predictions | Errata):
            assert all(item.question.endswith("?") for item in exercise.items.values())


def shown(cell: SourceCell) -> str:
    """A cell's text as a reader sees it at first: hints folded, no model answer."""
    text = re.sub(r"</summary>.*?</details>", "", cell.text, flags=re.DOTALL)
    return re.sub(r"<!-- BEGIN SOLUTION.*?END SOLUTION -->", "", text, flags=re.DOTALL)
