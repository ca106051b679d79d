"""Mistakes as edits: the changed text runs and travels; an edit that does not fit is refused."""

import pytest
import torch

from gradekit.errors import ExerciseError
from gradekit.exercise import SEVERAL, Exercise
from gradekit.exercise.edits import definition_from, is_made_from_text, source_text
from gradekit.exercise.standalone import standalone_source

FACTOR = 2


def twice(x):
    return FACTOR * x


exercise = Exercise(twice)


@exercise.also_right
def added(x):
    total = x + x
    return total


@exercise.also_right
class Doubler:
    def __init__(self, factor=FACTOR):
        self.factor = factor

    def __call__(self, x):
        return self.factor * x


@pytest.fixture
def fresh():
    made = Exercise(twice)
    made.also_right(added)
    return made


def test_a_mistake_is_the_right_text_but_for_one_change(fresh):
    fresh.edits(added)("times_itself", "x + x", "x * x", "Is 3 + 3 the same as 3 * 3?")
    (mistake,) = fresh.mistakes
    assert (mistake.name, mistake.advice) == ("times_itself", "Is 3 + 3 the same as 3 * 3?")
    assert mistake.names["twice"](3) == 9
    assert added(3) == 6, "the right version stays as it is"


def test_several_changes_make_one_mistake(fresh):
    wrong = fresh.edits(added)
    wrong.several("halves", {"x + x": "x / 2", "return total": "return -total"}, "Which way?")
    assert fresh.mistakes[0].function(3) == -1.5


def test_the_reference_itself_can_be_edited(fresh):
    fresh.edits(twice)("thrice", "FACTOR", "(FACTOR + 1)", "How often?")
    assert fresh.mistakes[0].function(5) == 15, "names of its module are there"


def test_only_what_is_proven_right_can_be_edited(fresh):
    def unproven(x):
        return x

    with pytest.raises(ExerciseError, match=r"write @exercise.also_right above unproven"):
        fresh.edits(unproven)


@pytest.mark.parametrize(("old", "count"), [("x * x", 0), ("total", 2)])
def test_an_edit_that_fits_nowhere_or_twice_is_refused(fresh, old, count):
    with pytest.raises(ExerciseError, match=rf"mistake odd: added holds .* {count} times"):
        fresh.edits(added)("odd", old, "y", "…")


def test_a_changed_text_that_is_not_python_is_refused(fresh):
    with pytest.raises(
        ExerciseError, match=r"mistake odd: the changed text is not Python .*line 2"
    ):
        fresh.edits(added)("odd", "x + x", "x +", "…")


def test_an_edit_with_a_name_that_its_file_lacks_is_refused(fresh):
    wrong = fresh.edits(added)
    with pytest.raises(ExerciseError, match="mistake root: the changed text uses math, which"):
        wrong("root", "x + x", "[math.sqrt(y) for y in (x, x)]", "Which root?")
    wrong("known", "x + x", "[torch.sqrt(FACTOR * y) for y in sorted(x)]", "Which root?")
    assert [mistake.name for mistake in fresh.mistakes] == ["known"]


def test_a_version_may_be_several_functions_of_which_one_calls_the_other():
    def chain():
        def twice(x):
            return x + x

        def added(x):
            return twice(x)

        return {"twice": twice, "added": added}

    made = Exercise(twice, added)
    made.also_right(of=SEVERAL)(chain)
    assert made.right_versions[0].names["added"](3) == 6
    wrong = made.edits(chain, of=SEVERAL)
    wrong("times_itself", "x + x", "x * x", "Is 3 + 3 the same as 3 * 3?")
    (mistake,) = made.mistakes
    assert {name: one(3) for name, one in mistake.names.items()} == {"twice": 9, "added": 9}
    assert mistake.known.of == ""
    with pytest.raises(ExerciseError, match=r"chain: say which function it replaces with of="):
        made.edits(chain)("odd", "x + x", "x", "…")


def test_an_edit_travels_as_text_with_what_it_needs(fresh):
    fresh.edits(twice)("negative", "FACTOR * x", "-FACTOR * x", "Which sign?")
    text = standalone_source(fresh.mistakes[0].function)
    assert "FACTOR = 2" in text
    names: dict[str, object] = {}
    exec(text, names)
    assert names["twice"](4) == -8


def test_decorators_of_the_exercise_are_not_part_of_the_text():
    assert source_text(added).startswith("def added(x):")
    assert source_text(Doubler).startswith("class Doubler:")


def test_a_class_made_from_text_is_not_its_base():
    text = source_text(Doubler).replace("self.factor * x", "self.factor + x")
    made = definition_from(text, __name__)
    assert made()(3) == 5
    assert is_made_from_text(made)
    assert not is_made_from_text(Doubler)
    assert not is_made_from_text(type("Inherited", (made,), {}))


def test_tensors_go_through_an_edit(fresh):
    fresh.edits(added)("detached", "x + x", "(x + x).detach()", "Where does the graph end?")
    x = torch.ones(2, requires_grad=True)
    assert not fresh.mistakes[0].function(x).requires_grad
