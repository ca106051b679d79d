"""Which advice belongs to which recognised mistake."""

from __future__ import annotations

import pytest

from gradekit.report.misconceptions import Misconception, _with_advice
from gradekit.results.records import ExerciseResult

ONE_OF = "At least one of these: (1) A. (2) B."
GENERAL = "“Keeps the shape”: expected shape (2,), got (3,)."


@pytest.mark.parametrize(
    ("mistakes", "advice", "found"),
    [
        ((), (GENERAL,), []),
        (("a",), ("About a.", GENERAL), [(("a",), "About a.")]),
        (("a", "b"), (ONE_OF, GENERAL), [(("a", "b"), ONE_OF)]),
        (("a", "b"), ("Of a.", "Of b.", GENERAL), [(("a",), "Of a."), (("b",), "Of b.")]),
        (("a",), (), [(("a",), "")]),
    ],
)  # fmt: skip
def test_one_mistake_one_of_several_and_two_at_once(
    mistakes: tuple[str, ...], advice: tuple[str, ...], found: list[object]
) -> None:
    result = ExerciseResult("softmax", "Softmax", (), advice, mistakes)
    assert list(_with_advice(result)) == found


def test_a_name_in_words() -> None:
    found = Misconception("softmax", "1.1", ("no_max", "always_the_last"), "", ("ada",), 1.0)
    assert found.name == "no max or always the last"
