"""The proof that an exercise's checks work, on a tiny exercise whose checks can be spoiled."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gradekit.course import Course
from gradekit.errors import CourseError
from gradekit.verify.verify import ExerciseProof, MistakeProof, MutantProof, to_json
from gradekit.verify.view import show_proofs, verify_labs
from tests.helpers import tiny_class
from tests.helpers.tiny_class import LAB

CAUGHT = MistakeProof("wrong_axis", 2.0, "another_axis", advised=True, same_as=None)
PROOF = ExerciseProof(
    name="softmax",
    points=5,
    reference=5,
    blank=0,
    mistakes=(CAUGHT,),
    also_right=(("by_hand", 5, ""),),
    mutants=MutantProof(made=9, caught=8, equivalent=1, survived=(), unused_marks=()),
    seconds=0.5,
)


def test_a_proof_without_surprises_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(PROOF.surprises()) == []
    show_proofs(LAB, [PROOF])
    assert "every mistake caught, no right answer rejected" in capsys.readouterr().out
    assert to_json(LAB, [PROOF])["exercises"][0]["mutants"]["caught"] == 8


@pytest.mark.parametrize(
    ("changed", "surprise"),
    [
        (replace(PROOF, reference=4), "the reference earns 4 of 5"),
        (replace(PROOF, blank=1), "the blank notebook earns 1"),
        (replace(PROOF, mistakes=(replace(CAUGHT, lost=0),)), "wrong_axis loses nothing"),
        (replace(PROOF, mistakes=(replace(CAUGHT, same_as="x"),)), "give the same results"),
        (replace(PROOF, mistakes=(replace(CAUGHT, advised=False),)), "not get its own advice"),
        (replace(PROOF, also_right=(("by_hand", 3, "Why?"),)), "by_hand earns 3 of 5: Why?"),
        (replace(PROOF, mutants=MutantProof(1, 0, 0, ("`a`",), ())), "mutant survives: `a`"),
        (replace(PROOF, mutants=MutantProof(1, 1, 0, (), ("`b`",))), "marked equivalent"),
    ],
)
def test_each_surprise_is_one_sentence(changed: ExerciseProof, surprise: str) -> None:
    (sentence,) = changed.surprises()
    assert surprise in sentence


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return tiny_class.write_course(tmp_path)


def test_a_lab_is_proved_by_running_it(course: Course) -> None:
    found = verify_labs(course, [LAB], [], with_mutants=False, jobs=1, quiet=True)
    softmax, guess = found[LAB]
    assert (softmax.reference, softmax.blank) == (5, 0)
    assert [(m.lost, m.caught_by, m.advised) for m in softmax.mistakes] == [
        (2.0, "another_axis", True)
    ]
    assert (guess.reference, guess.blank) == (1, 0)


def test_an_exercise_that_a_lab_does_not_have_is_one_sentence(course: Course) -> None:
    with pytest.raises(CourseError, match="lab01 has no exercise 'sofmax'; it has softmax, guess"):
        verify_labs(course, [LAB], ["sofmax"], with_mutants=False, quiet=True)
