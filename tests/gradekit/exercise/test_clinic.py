"""A case of the bug clinic: one file gives a section of the notebook and two exercises."""

from __future__ import annotations

import ast
from types import SimpleNamespace

import pytest
import torch

from attnlab.checking.changed_lines import changed_lines
from attnlab.checking.verdict import judge_exercise
from demo.course_folder import REPOSITORY, copy_course
from gradekit.build.blanks import clear
from gradekit.build.cell_text import solved_text
from gradekit.build.model_answer import model_answer
from gradekit.build.solved import solved_notebook
from gradekit.build.unfinished import disagreements
from gradekit.course import load_course
from gradekit.errors import ExerciseError
from gradekit.exercise import Case
from gradekit.exercise.clinic import HANDED_OVER, Step, case_name, exercise_names
from gradekit.exercise.clinic_cells import with_cases
from gradekit.exercise.edits import definition_from, source_text
from gradekit.exercise.loader import load_lab
from gradekit.exercise.source import read_source
from gradekit.exercise.variants import Variants

LAB = "lab11"


@pytest.fixture(scope="module")
def lab():
    return load_lab(load_course(REPOSITORY), LAB)


def names_of_cases(lab):
    return [e.name.removeprefix("fix_") for e in lab.exercises if e.name.startswith("fix_")]


def verdict(lab, name, answers):
    """The verdict on answers in the place of the reference's."""
    variants, exercise = Variants(lab, b"a secret"), lab[name]
    names = {**lab.reference, **answers}
    seen = {check.name: variants.run(exercise, check, 0, names) for check in exercise.checks}
    known = [mistake.known for mistake in exercise.mistakes]
    return judge_exercise(variants.prepared_checks(exercise, 0), seen, known)


def broken(lab, name):
    fix = lab[exercise_names(name)[1]]
    (handed,) = (m for m in fix.mistakes if m.name == HANDED_OVER)
    return handed.function


def test_the_file_names_the_case(tmp_path):
    assert case_name(tmp_path / "case12_a_leak.py") == "a_leak"
    assert [case_name(tmp_path / f"{n}.py") for n in ("softmax", "case_leak", "case1")] == [""] * 3


def test_each_case_has_a_test_a_fix_and_a_sentence(lab):
    cases = names_of_cases(lab)
    assert [e.name for e in lab.exercises] == [n for case in cases for n in exercise_names(case)]
    assert [cell.name for cell in lab.source.of("free_text")][:-1] == [f"cause_{c}" for c in cases]
    steps = [lab.source.step(e.name).number for e in lab.exercises]
    assert steps == [f"11.{n + 1}" for n in range(len(steps))]


def test_the_symptom_comes_before_the_code_which_is_folded(lab):
    cells = lab.source.cells
    for case in names_of_cases(lab):
        at = next(n for n, cell in enumerate(cells) if cell.name == f"find_{case}")
        complaint, folded, symptom, step, written = cells[at - 4 : at + 1]
        assert complaint.text.startswith("## 11.")
        assert folded.metadata == {"jupyter": {"source_hidden": True}}
        assert "roken" in symptom.text
        assert not step.text.startswith("#")
        tree = ast.parse(folded.text)
        names = {n.name for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
        assert len(names) == 2
        assert written.role == "exercise"


def test_the_students_cell_holds_the_broken_code_and_never_the_right_one(lab):
    source = lab.source
    for case in names_of_cases(lab):
        fix = lab[f"fix_{case}"]
        (cell,) = (cell for cell in source.of("exercise") if cell.name == fix.name)
        solved = solved_text(source, cell)
        (right,) = fix.references
        assert source_text(right).strip() in solved
        blank = clear(solved)
        assert source_text(broken(lab, case)).strip() in blank
        telling = set(source_text(right).splitlines()) - set(blank.splitlines())
        assert 1 <= len(telling) <= 3
        everything = "\n".join(
            clear(solved_text(source, c)) if c.role == "exercise" else c.text for c in source.cells
        )
        assert not any(line.strip() in everything for line in telling)


def test_the_code_above_is_the_broken_code_under_a_name_of_its_own(lab):
    source = lab.source
    for case in names_of_cases(lab):
        (right,) = lab[f"fix_{case}"].references
        at = next(n for n, cell in enumerate(source.cells) if cell.name == f"find_{case}")
        folded = source.cells[at - 3].text
        space = {"__name__": "a_notebook"}
        exec(folded, space)
        prefix = "Broken" if right.__name__[0].isupper() else "broken_"
        assert f"{prefix}{right.__name__}" in space


def test_an_unchanged_cell_earns_nothing_and_is_told_so(lab):
    for case in names_of_cases(lab):
        fix = lab[f"fix_{case}"]
        (right,) = fix.references
        found = verdict(lab, fix.name, {right.__name__: broken(lab, case)})
        assert found.earned == 0
        assert found.mistakes == (HANDED_OVER,)


def test_a_rewritten_program_loses_the_points_for_its_size_alone(lab):
    for case in names_of_cases(lab):
        fix = lab[f"fix_{case}"]
        (right,) = fix.references
        assert len(fix.other_programs) >= 2
        for version in fix.other_programs:
            found = verdict(lab, fix.name, {right.__name__: version.function})
            assert [a.check.name for a in found.outcomes if not a.passed] == ["few_lines"]
            assert changed_lines(source_text(broken(lab, case)), source_text(version.function)) > 3


def test_every_other_fix_is_small(lab):
    for case in names_of_cases(lab):
        fix = lab[f"fix_{case}"]
        assert len(fix.right_versions) >= 2
        for version in fix.right_versions:
            count = changed_lines(source_text(broken(lab, case)), source_text(version.function))
            assert 1 <= count <= 3


def test_a_test_that_rejects_everything_earns_nothing_but_is_told_what(lab):
    for case in names_of_cases(lab):
        find = lab[f"find_{case}"]
        (name,) = find.names
        found = verdict(lab, find.name, {name: rejects_everything})
        assert found.earned == 0


def rejects_everything(impl):
    raise AssertionError("no")


def test_a_test_that_is_too_strict_hears_about_the_version_that_it_rejects(lab):
    def only_torchs(impl):
        assert impl.__mro__[1] is torch.optim.Optimizer
        p = torch.nn.Parameter(torch.zeros(1))
        optimiser = impl([p], lr=0.1)
        p.grad = torch.ones(1)
        optimiser.step()
        assert abs(p.item() + 0.1) < 1e-4

    found = verdict(lab, "find_slow_optimiser", {"test_adam": only_torchs})
    assert "among them one that is torch's own" in " ".join(found.advice)


# What the file of a case may get wrong.

STEP = Step(5, 1, "text", ("a question", "a plan"))


def twice(x):
    """Twice x."""
    y = x + x
    return y


def case_of(**changes):
    given = {
        "title": "Too small",
        "breaks": {"x + x": "x"},
        "most_lines": 1,
        "complaint": "It is small.",
        "finding": STEP,
        "fixing": STEP,
        "look": "Look.",
        "cause": "One x was missing.",
        "scheme": {"names the line": 3},
    }
    return Case(twice, **{**given, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"most_lines": 4}, "most_lines is 4; write 1 to 3"),
        ({"scheme": {"names the line": 2}}, "does not add up to 3 points"),
        ({"breaks": {"x - x": "x"}}, "holds 'x - x' 0 times"),
    ],
)
def test_a_case_that_contradicts_itself_is_refused(changes, message):
    with pytest.raises(ExerciseError, match=message):
        case_of(**changes)


def test_a_case_without_its_parts_is_refused():
    with pytest.raises(ExerciseError, match="needs a symptom, a slow version, a model test"):
        case_of().complete("small")


def test_the_checks_of_a_fix_have_all_its_points():
    case = case_of()

    def probe(lab, draw):
        """Is twice its input."""
        return lab.twice(draw.normal(2))

    case.symptom(twice)
    case.slow_version(twice)
    case.model_test(twice)
    case.fix.check(points=1)(probe)
    with pytest.raises(ExerciseError, match="have 4 points with the 3 of few_lines"):
        case.complete("small")


def test_names_of_the_code_and_of_the_test():
    case = case_of()
    assert (case.test_name, case.broken_name) == ("test_twice", "broken_twice")
    case.right = SimpleNamespace(__name__="CachedAttention")
    assert (case.test_name, case.broken_name) == ("test_cached_attention", "BrokenCachedAttention")


def test_a_lab_with_another_number_counts_from_its_own(lab):
    source = read_source(load_course(REPOSITORY).source(LAB))
    assert [cell.role for cell in source.cells].count("cases") == 1
    assert not with_cases(source, [], "lab12").of("exercise")


def test_a_version_made_from_text_has_its_text():
    made = definition_from("def twice(x):\n    return 2 * x\n", __name__)
    assert "return 2 * x" in source_text(made)


def test_a_case_may_be_moved_into_a_lab_of_its_own(tmp_path):
    """What docs/instructor.md says for a case a week."""
    root = copy_course(tmp_path / "course")
    table = (
        '[[lab]]\nid = "lab12"\ntitle = "Bug of the week"\npoints = 16\n'
        "release = 2026-11-30T08:00:00\ndue = 2026-12-04\n"
    )
    path = root / "course.toml"
    before, mark, after = path.read_text().partition("# A lab may have limits of its own")
    path.write_text(f"{before}{table}\n{mark}{after}")
    (root / "solutions/lab12_bug.py").write_text(
        '"""A bug."""\n\n# %% [markdown]\n# # {{title}}\n\n# %% [markdown] cases="all"\n'
    )
    name = "case2_slow_optimiser"
    (root / "autograder/exercises/lab12").mkdir()
    (root / f"autograder/exercises/{LAB}/{name}").rename(
        root / f"autograder/exercises/lab12/{name}"
    )
    course = load_course(root)
    moved, left = load_lab(course, "lab12"), load_lab(course, LAB)
    assert [e.name for e in moved.exercises] == ["find_slow_optimiser", "fix_slow_optimiser"]
    assert [moved.source.step(e.name).number for e in moved.exercises] == ["12.1", "12.2"]
    assert list(disagreements(course, moved)) == []
    (said,) = disagreements(course, left)
    assert "lab11 adds up to 84 points, not 100" in said
    notebook = solved_notebook(course, moved)
    assert "lab12" in str(notebook.metadata)


def test_each_sentence_has_a_model_answer_and_a_mark_scheme(lab):
    for cell in lab.source.of("free_text"):
        answer = model_answer(cell.text, cell.name, cell.points)
        assert answer.text
        assert sum(item.points for item in answer.scheme) == cell.points
