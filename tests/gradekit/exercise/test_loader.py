"""A lab's exercises are found, put in the source's order, and refused where they contradict it."""

import pytest

from gradekit.errors import CourseError, ExerciseError
from gradekit.exercise.loader import load_lab

LAB = "lab01"


def edit(path, before, after):
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


def test_exercises_come_in_the_order_of_the_source(course_copy):
    names = [exercise.name for exercise in load_lab(course_copy, LAB).exercises]
    assert names[:3] == ["softmax", "log_softmax", "cross_entropy"]


def test_a_check_without_a_file_is_named_with_its_cell(course_copy):
    edit(course_copy.source(LAB), 'check("softmax")', 'check("softmaks")')
    with pytest.raises(CourseError, match=r"cell \d+ checks .softmaks., but .* no softmaks.py"):
        load_lab(course_copy, LAB)


def test_a_file_that_no_cell_checks_is_named(course_copy):
    (course_copy.exercises(LAB) / "orphan.py").write_text('"""Nobody asks for it."""')
    with pytest.raises(CourseError, match=r'orphan.py: no cell of .* is check\("orphan"\)'):
        load_lab(course_copy, LAB)


def test_an_exercise_may_only_use_what_earlier_ones_build(course_copy):
    path = course_copy.exercises(LAB) / "log_softmax.py"
    edit(path, "logsumexp, softmax\n", "logsumexp, cross_entropy\n")
    edit(path, "uses=[softmax]", "uses=[cross_entropy]")
    with pytest.raises(ExerciseError, match="uses cross_entropy, which is asked about only later"):
        load_lab(course_copy, LAB)


def test_an_answer_that_no_cell_defines_is_named(course_copy):
    edit(course_copy.exercises(LAB) / "errata.py", '["errata"]', '["erratum"]')
    with pytest.raises(ExerciseError, match="asks for erratum, which no cell"):
        load_lab(course_copy, LAB)


def test_a_check_needs_a_docstring_for_people(course_copy):
    path = course_copy.exercises(LAB) / "softmax.py"
    edit(path, '    """Gives probability 0 to a score of -inf."""\n', "")
    with pytest.raises(ExerciseError, match="minus_infinity has no docstring"):
        load_lab(course_copy, LAB)
