"""Exercises in which students write a test: right tests earn all points, wrong ones get advice."""

import torch

from attnlab.checking.verdict import judge_exercise
from gradekit.exercise import Exercise, write_a_test
from gradekit.exercise.loader import LabExercises
from gradekit.exercise.source import Source
from gradekit.exercise.standalone import standalone_source
from gradekit.exercise.variants import VARIANTS, Variants


def twice(x):
    return 2 * x


step = Exercise(twice)
step.lab, step.name, step.title = "lab01", "twice", "twice"


@step.check(points=1)
def numbers(lab, draw):
    """Doubles."""
    return lab.twice(draw.normal(2, 3))


@step.also_right(about="adds its argument to itself")
def added(x):
    return x + x


step.edits(twice)("thrice", "2 * x", "3 * x", "How often?")
step.edits(twice)("negative", "2 * x", "-2 * x", "Which sign?")

exercise = write_a_test("test_twice", of=twice, points=4, title="Rejects wrong versions of twice.")
exercise.lab, exercise.name, exercise.title = "lab01", "test_twice", "test_twice"


@exercise.mistake("Your test asks nothing. Is there an assert in it?")
def asks_nothing(impl):
    impl(torch.ones(2))


@exercise.mistake("Your test looks at sizes alone. Which sign has the answer?")
def sizes_alone(impl):
    assert abs(impl(torch.ones(2))).sum() == 4


@exercise.also_right
def numbers_compared(impl):
    torch.testing.assert_close(impl(torch.ones(2)), torch.full((2,), 2.0))


exercise.edits(numbers_compared)(
    "without_sign",
    "impl(torch.ones(2))",
    "impl(torch.ones(2)).abs()",
    "Your test looks at sizes alone. Which sign has the answer?",
)

REFERENCE = {"twice": twice, "test_twice": numbers_compared}
LAB = LabExercises("lab01", (step, exercise), REFERENCE, Source(__file__, ()))


def judged(answer, number=0, variants=None):
    variants = variants or Variants(LAB)
    (check,) = exercise.checks
    seen = {check.name: variants.run(exercise, check, number, {**REFERENCE, "test_twice": answer})}
    known = [mistake.known for mistake in exercise.mistakes]
    return judge_exercise(variants.prepared_checks(exercise, number), seen, known)


def test_a_right_test_earns_everything():
    (version,) = exercise.right_versions
    assert judged(version.names["test_twice"]).earned == 4


def test_a_test_earns_by_what_it_rejects():
    assert judged(exercise.mistakes[1].names["test_twice"]).earned == 2
    assert judged(exercise.mistakes[0].names["test_twice"]).earned == 0


def test_a_wrong_test_gets_its_advice():
    for mistake in exercise.mistakes:
        assert mistake.advice in judged(mistake.names["test_twice"]).advice


def test_a_test_that_is_too_strict_hears_what_the_version_does_that_it_rejects():
    class Doubled:
        """It can be multiplied and not added."""

        def __rmul__(self, times):
            return times

    def only_products(impl):
        assert impl(Doubled()) == 2

    found = judged(only_products)
    assert found.earned == 2
    assert "one that adds its argument to itself" in " ".join(found.advice)


def test_a_wrong_test_is_tried_once_for_all_variants():
    """Each variant has the versions in another order; the answers are put in that order."""
    variants = Variants(LAB)
    for mistake in exercise.mistakes:
        for number in range(VARIANTS):
            verdict = judged(mistake.names["test_twice"], number, variants)
            assert verdict.advice[0] == mistake.advice
    tried = [seen for seen in variants.observations if "wrong_versions" in seen]
    assert len(tried) == len(exercise.mistakes)


def test_the_check_is_hidden_and_travels_without_any_version():
    (check,) = exercise.checks
    assert (check.hidden, check.title) == (True, "Rejects wrong versions of twice.")
    assert "thrice" not in standalone_source(check.probe)


def test_a_wrong_test_travels_as_the_answer_that_a_notebook_holds():
    names: dict[str, object] = {}
    function = exercise.mistakes[0].function
    exec(standalone_source(function), names)
    assert set(names[function.__name__]()) == {"test_twice"}
