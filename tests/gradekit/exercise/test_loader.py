"""A lab's exercises are found, put in the source's order, and refused if they contradict it."""

from dataclasses import replace

import pytest

from attnlab.optimizers import Adam
from gradekit.errors import CourseError, ExerciseError
from gradekit.exercise import Exercise, loader
from gradekit.exercise.loader import CourseLabs, load_lab
from tests.helpers.small_course import EXERCISES, library_on_path, write_small_course

LAB = "lab01"


@pytest.fixture
def course(tmp_path):
    written = write_small_course(tmp_path)
    with library_on_path(tmp_path):
        yield written


def edit(path, before, after):
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


def as_folder(course, name, **parts):
    """Turn an exercise's file into a folder with other files in it."""
    path = course.exercises(LAB) / f"{name}.py"
    folder = path.with_suffix("")
    folder.mkdir()
    path.rename(folder / "__init__.py")
    for part, text in parts.items():
        (folder / f"{part}.py").write_text(text)
    return folder


def test_exercises_come_in_the_order_of_the_source(course):
    names = [exercise.name for exercise in load_lab(course, LAB).exercises]
    assert names == ["double", "total", "guess"]


def test_a_lab_trains_if_it_saves_weights_or_builds_an_optimiser(course):
    lab = load_lab(course, LAB)
    assert not lab.trains
    assert replace(lab, exercises=(*lab.exercises, Exercise(Adam))).trains
    saves = Exercise(answers=["model"], saves=["model.safetensors"])
    assert replace(lab, exercises=(saves,)).trains


def test_a_check_without_a_file_is_named_with_its_cell(course):
    edit(course.source(LAB), '"double"', '"duoble"')
    with pytest.raises(CourseError, match=r"cell \d+ checks 'duoble', but .* has no duoble.py"):
        load_lab(course, LAB)


def test_a_file_that_no_cell_checks_is_named(course):
    (course.exercises(LAB) / "orphan.py").write_text('"""Nobody asks for it."""')
    with pytest.raises(CourseError, match=r'orphan.py: no cell of .* is check\("orphan"\)'):
        load_lab(course, LAB)


def test_an_exercise_may_only_use_what_earlier_ones_build(course):
    path = course.exercises(LAB) / "double.py"
    edit(path, "import double", "import double, total")
    edit(path, "Exercise(double)", "Exercise(double, uses=[total])")
    with pytest.raises(ExerciseError, match="uses total, which is asked about only later"):
        load_lab(course, LAB)


def test_an_answer_that_the_solution_cell_does_not_define_is_named(course):
    edit(course.exercises(LAB) / "guess.py", '["guess"]', '["gess"]')
    with pytest.raises(ExerciseError, match="asks for gess, which the cell"):
        load_lab(course, LAB)


def test_a_check_needs_a_docstring_for_people(course):
    edit(course.exercises(LAB) / "double.py", '    """Doubles every entry."""\n', "")
    with pytest.raises(ExerciseError, match="numbers has no docstring"):
        load_lab(course, LAB)


def test_a_folder_is_an_exercise_with_its_mistakes_and_right_versions(course):
    right = "from . import exercise\n\n@exercise.also_right\ndef added(x):\n    return x + x\n"
    wrong = (
        "from . import exercise, helped\nfrom .also_right import added\n"
        'wrong = exercise.edits(added)\nwrong("minus", "x + x", "x - x", "Is that twice?")\n'
        '@exercise.mistake("That is three times.")\ndef thrice(x):\n    return helped(x)\n'
    )
    folder = as_folder(course, "double", also_right=right, mistakes=wrong, measure="1 / 0\n")
    with (folder / "__init__.py").open("a") as file:
        file.write("\n\ndef helped(x):\n    return 3 * x\n")
    (folder / "more.txt").touch()
    exercise = load_lab(course, LAB)["double"]
    assert [mistake.name for mistake in exercise.mistakes] == ["squares", "minus", "thrice"]
    assert [version.name for version in exercise.right_versions] == ["added"]
    names = [path.name for path in exercise.files]
    assert names == ["__init__.py", "also_right.py", "mistakes.py"], "no measuring script"
    assert exercise.mistakes[2].function(2) == 6


def test_a_file_that_no_other_imports_is_named(course):
    as_folder(course, "double", mistakes="", mistakes_in_signs='"""Forgotten."""\n')
    with pytest.raises(ExerciseError, match=r"double/mistakes_in_signs.py: no other file of its"):
        load_lab(course, LAB)


def test_a_folder_without_its_exercise_is_named(course):
    folder = as_folder(course, "double")
    (folder / "__init__.py").write_text('"""Nothing yet."""\n')
    with pytest.raises(ExerciseError, match=r"double/__init__.py, line 1: no `exercise = Exercise"):
        load_lab(course, LAB)


def test_what_an_exercise_imports_from_its_own_files_travels_as_text(course):
    as_folder(course, "double", also_right="", shared="def three():\n    return 3\n")
    folder = course.exercises(LAB) / "double"
    edit(folder / "__init__.py", "draw.normal(2, 3)", "draw.normal(2, three())")
    edit(folder / "__init__.py", "import torch\n", "import torch\nfrom .shared import three\n")
    (check, _) = load_lab(course, LAB)["double"].checks
    assert "def three" in check.source
    assert "import three" not in check.source


def test_labs_are_loaded_once_for_one_command(course, monkeypatch):
    loaded = []
    monkeypatch.setattr(loader, "load_lab", lambda *given: loaded.append(given) or load_lab(*given))
    labs = CourseLabs(course)
    assert labs[LAB] is labs[LAB]
    assert loaded == [(course, LAB)]


def test_a_labs_references_are_found_without_its_mistakes(course):
    folder = as_folder(course, "double", mistakes="1 / 0")
    labs = CourseLabs(course)
    names = [reference.__name__ for reference in labs.references(LAB)]
    assert sorted(names) == ["double", "total"]
    with pytest.raises(ExerciseError, match="division by zero"):
        labs[LAB]
    (folder / "mistakes.py").write_text("")
    loaded = CourseLabs(course)
    assert [step.name for step in loaded[LAB].exercises] == ["double", "total", "guess"]
    assert set(loaded.references(LAB)) == set(labs.references(LAB))


def test_a_changed_file_is_read_again_by_the_next_command(course):
    assert load_lab(course, LAB)["double"].points == 5
    edit(course.exercises(LAB) / "double.py", "points=3", "points=4")
    assert EXERCISES["double"].count("points=3") == 1
    assert load_lab(course, LAB)["double"].points == 6


def test_an_exercise_has_one_name_in_every_file_of_its_folder(course):
    right = "from . import exercise as step\n\n@step.also_right\ndef added(x):\n    return x + x\n"
    wrong = (
        "from . import exercise\nfrom .also_right import added\n"
        'wrong = exercise.edits(added)\nwrong("minus", "x + x", "x - x", "Is that twice?")\n'
    )
    as_folder(course, "double", also_right=right, mistakes=wrong)
    with pytest.raises(
        ExerciseError, match=r"double/also_right.py, line 1: rename step to `exercise`"
    ):
        load_lab(course, LAB)
