"""What authors get wrong, and the one sentence that each of them reads: file, line, what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradekit.build.solved import solved_notebook
from gradekit.build.unfinished import disagreements
from gradekit.course import Course, load_course
from gradekit.errors import LabError
from gradekit.exercise.authoring_errors import file_name, line_of
from gradekit.exercise.loader import LabExercises, load_lab
from gradekit.exercise.variants import Variants
from gradekit.verify.verify import verify_exercise
from tests.helpers.small_course import library_on_path, write_small_course

LAB = "lab01"
DOUBLE = "autograder/exercises/lab01/double.py"
GUESS = "autograder/exercises/lab01/guess.py"
SOURCE = "solutions/lab01_small.py"
STEPS = "lib/smallnet/steps.py"


@pytest.fixture
def course(tmp_path: Path) -> Iterator[Course]:
    with library_on_path(tmp_path):
        yield write_small_course(tmp_path)


def change(course: Course, file: str, before: str, after: str) -> None:
    path = course.root / file
    text = path.read_text("utf-8")
    assert text.count(before) >= 1
    path.write_text(text.replace(before, after, 1), "utf-8")


def sentence_of(course: Course) -> str:
    """What any verb that reads the lab says."""
    with pytest.raises(LabError) as caught:
        solved_notebook(course, load_lab(course, LAB))
    message = str(caught.value)
    assert "\n" not in message
    return message


# Told by every verb that reads the exercises, `lab build` and `lab verify` included.
UNREADABLE = [
    (DOUBLE, '@exercise.mistake("Is that a square?")', "@exercise.mistake",
     r"double\.py, line 21: .*above squares has no advice; write @exercise\.mistake\(\"…\"\)"),
    (DOUBLE, "Is that a square?", " ",
     r"double\.py, line 21: mistake squares has no advice; write what helps the student"),
    (DOUBLE, "points=3", "",
     r"double\.py, line 9: a check needs its points; write @exercise\.check\(points=2\)"),
    (DOUBLE, "exercise.check(points=3)", "exercise.check",
     r"double\.py, line 9: a check needs its points; write @exercise\.check\(points=2\)"),
    (DOUBLE, "points=3", "points=0",
     r"double\.py, line 9: check numbers has points=0 in a graded exercise; give it points"),
    (DOUBLE, "points=3", "points=-1", r"double\.py, line 9: points=-1 is not .*; write 0 or more"),
    (DOUBLE, "points=3", "point=3",
     r"double\.py, line 9: Exercise\.check\(\) has no argument point; did you mean points\?"),
    (DOUBLE, "secret_shape", "numbers",
     r"double\.py, line 15: a second check is called numbers \(the first is at .*double\.py, line 9"
     r"\); rename one"),
    (DOUBLE, '@exercise.mistake("Is that', '@exercise.mistake("A")\ndef squares(x):\n    return x\n'
     '\n\n@exercise.mistake("Is that',
     r"double\.py, line 26: a second mistake is called squares"),
    (DOUBLE, "import torch\n", "import torch\nx = (1,\n",
     r"double\.py, line 3: this is not Python \(.*\); correct the line"),
    (DOUBLE, "import torch\n", "import torhc\n",
     r"double\.py, line 2: there is no module torhc; correct the import or install it"),
    (DOUBLE, "steps import double", "steps import doubel",
     r"double\.py, line 3: smallnet\.steps has no doubel; did you mean double\?"),
    (DOUBLE, "exercise = Exercise(double)", "exercise = Exercise(dobule)",
     r"double\.py, line 6: name 'dobule' is not defined; did you forget to import dobule\?"),
    (DOUBLE, "Exercise(double)", "Exercise(double, forbid=[])",
     r"double\.py, line 6: Exercise.*\(\) has no argument forbid; did you mean forbids\?"),
    (DOUBLE, "exercise = Exercise(double)", "exercise = Exercise(double)\n1 / 0",
     r"double\.py, line 7: ZeroDivisionError \(division by zero\); correct the line"),
    (DOUBLE, "    return lab.double(draw.normal(2, 3))", "    return lab.double(torhc.ones(2))",
     r"double\.py, line 9: check numbers uses torhc, which the file does not have; import it"),
    (DOUBLE, '    """Doubles every entry."""\n', "",
     r"double\.py, line 9: check numbers has no docstring for people to read"),
    (DOUBLE, "exercise = ", "exercices = ",
     r"double\.py, line 6: rename exercices to `exercise`; this variable must have that name"),
    (GUESS, "exercise = Exercise", "steps = Exercise",
     r"guess\.py, line 4: rename steps to `exercise`"),
    (DOUBLE, "def squares", "def squared(x):\n    return x * x\n\n\nstep = exercise\n"
     "@step.also_right\ndef added(x):\n    return x + x\n\n\nwrong = step.edits(added)\n"
     'wrong("no", "+", "-", "No.")\n\n\n@step.mistake("Is that right?")\ndef squares',
     r"double\.py, line 26: rename step to `exercise`"),
    (SOURCE, 'exercise="double"', 'exercise="duoble"',
     r"lab01_small\.py, line 19: cell 5 checks 'double', but no cell above it is marked"),
    (SOURCE, 'exercise="double"', 'exercize="double"',
     r"lab01_small\.py, line 16: cell 4 has the mark 'exercize', which .*; it knows exercise"),
    (SOURCE, 'check("total")', 'check("totl")',
     r"lab01_small\.py, line 31: cell 9 checks 'totl', but no cell above"),
    (SOURCE, " points=4", "", r"lab01_small\.py, line 43: cell 12: .* needs its points, such as"),
    (SOURCE, "import double\n", "import doubel\n",
     r"lab01_small\.py, line 16: cell 4 imports doubel, but .*double\.py grades double; name the"),
    (SOURCE, "print(double(torch.ones(2)))", "print(double(torch.ones(2))",
     r"lab01_small\.py, line 23: this is not Python \(.*\); correct the line"),
    (SOURCE, 'exercise="double"', 'exercise="double" renamed_from="total"',
     r"lab01_small\.py, line 16: cell 4 is renamed from 'total', a name that the lab still has"),
    (SOURCE, '# %% tags=["setup"]', '# %% renamed_from="setup"',
     r"lab01_small\.py, line 6: cell 2 has renamed_from, but no exercise or question; remove"),
    (SOURCE, "guess = 8", "guess = 4 * twoo",
     r"small\.py, line 37: NameError \(name 'twoo' is not .*\); correct the solution of guess"),
    (SOURCE, "guess = 8", "guess = 4 *",
     r"small\.py, line 37: SyntaxError \(.*\); correct the solution of guess"),
    (SOURCE, "{{points}}", "{{point}}",
     r"lab01_small\.py, line 2: cell 1 asks for \{\{point\}\}; there are .*\{\{points\}\}"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "before", "after", "sentence"), UNREADABLE)
def test_what_cannot_be_read_is_told_by_every_verb(
    course: Course, file: str, before: str, after: str, sentence: str
) -> None:
    change(course, file, before, after)
    assert re.search(sentence, sentence_of(course)), sentence_of(course)


# Told by `lab verify LAB EXERCISE`.
UNPROVEN = [
    (STEPS, "    return FACTOR * x", "    return FACTORS * x",
     r"raises an error in numbers \(.*double\.py, line 9\), NameError: .*; correct double in "
     r"smallnet/steps\.py, line 15 or the check"),
    (DOUBLE, '@exercise.mistake("Is that a square?")\ndef squares(x):\n    return x * x\n', "",
     r"^autograder/exercises/lab01/double\.py: no known mistake; add one with @exercise\.mistake"),
    (DOUBLE, "x * x", "x + x",
     r"^autograder/exercises/lab01/double\.py, line 21: mistake squares loses nothing; add"),
    (DOUBLE, '"""Doubles every entry."""', '"""Doubles. FILL IN: what it asks."""',
     r"^autograder/exercises/lab01/double\.py, line 11: fill in what it asks"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "before", "after", "sentence"), UNPROVEN)
def test_what_proves_nothing_is_told_by_verify(
    course: Course, file: str, before: str, after: str, sentence: str
) -> None:
    change(course, file, before, after)
    lab = load_lab(course, LAB)
    proof = verify_exercise(Variants(lab), lab["double"], with_mutants=False)
    assert [line for line in proof.surprises() if re.search(sentence, line)], [*proof.surprises()]


def test_the_notebook_knows_the_name_before(course: Course) -> None:
    change(course, SOURCE, 'exercise="double"', 'exercise="double" renamed_from="twice"')
    change(course, SOURCE, 'free_text="explain"', 'free_text="explain" renamed_from="why"')
    cells = {cell.id: cell for cell in solved_notebook(course, load_lab(course, LAB)).cells}
    names = {"double": "twice", "check_double": "check_twice", "explain": "why"}
    for name, before in names.items():
        assert cells[name].metadata["attnlab"]["renamed_from"] == before
    assert "attnlab" not in cells["check_total"].metadata


def told(course: Course) -> list[str]:
    course = load_course(course.root)
    lab: LabExercises = load_lab(course, LAB)
    return list(disagreements(course, lab))


def test_a_lab_is_checked_against_its_points(course: Course) -> None:
    (sentence,) = told(course)
    assert sentence == (
        "solutions/lab01_small.py: lab01 adds up to 11.5 points, not 100; change points of its "
        "checks, or write points = 11.5 in its [[lab]] table in course.toml"
    )
    change(course, "course.toml", 'title = "Doubling"', 'title = "Doubling"\npoints = 11.5')
    assert told(course) == []


def test_points_in_the_text_are_checked_against_those_of_the_checks(course: Course) -> None:
    change(course, "course.toml", 'title = "Doubling"', 'title = "Doubling"\npoints = 11.5')
    change(course, SOURCE, "# Write it.", "# *6 points, 20 minutes*")
    assert told(course) == [
        "solutions/lab01_small.py, line 16: cell 4: the text above double says 6 points, and its "
        "checks add up to 5; correct the text"
    ]


def test_a_lab_without_a_source_is_told(course: Course) -> None:
    (course.root / SOURCE).unlink()
    assert sentence_of(course) == "solutions/: lab01 needs one source lab01_….py, found none"


def test_files_are_named_from_the_course_on() -> None:
    path = Path("/home/me/course/autograder/exercises/lab01/total/mistakes.py")
    assert file_name(path) == "autograder/exercises/lab01/total/mistakes.py"
    assert file_name(Path("/tmp/x.py")) == "x.py"
    assert line_of(load_course).startswith("course/load.py, line ")
    assert line_of(len) == ""
