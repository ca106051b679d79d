"""The proof that an exercise's checks work, on a tiny exercise whose checks can be spoiled."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from gradekit.course import Course
from gradekit.errors import CourseError
from gradekit.exercise.promises import Sentence
from gradekit.verify.proof import (
    ExerciseProof,
    MistakeProof,
    MutantProof,
    PromisesProof,
    to_json,
)
from gradekit.verify.view import show_proofs, verify_labs
from tests.helpers import tiny_class
from tests.helpers.tiny_class import LAB

CAUGHT = MistakeProof("wrong_axis", 2.0, 2.5, ("another_axis",), advised=True, same_as=None)
PROOF = ExerciseProof(
    name="softmax",
    points=5,
    reference=5,
    blank=0,
    mistakes=(CAUGHT,),
    also_right=(("by_hand", 5, ""),),
    promises=PromisesProof(True, (Sentence("softmax", "Sums to 1.", ("rows",)),)),
    raising=(),
    never_failed=(),
    mutants=MutantProof(made=9, caught=8, equivalent=1, survived=(), unused_marks=()),
    seconds=0.5,
)


def test_a_proof_without_surprises_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(PROOF.surprises()) == []
    show_proofs(LAB, [PROOF])
    assert "every mistake caught, no right answer rejected" in capsys.readouterr().out
    (row,) = to_json(LAB, [PROOF])["exercises"]
    assert row["mutants"]["caught"] == 8
    assert row["mistakes"][0]["most_lost"] == 2.5
    assert row["promises"]["declared"]
    (sentence,) = row["promises"]["sentences"]
    assert (sentence["text"], sentence["checks"]) == ("Sums to 1.", ["rows"])


@pytest.mark.parametrize(
    ("changed", "surprise"),
    [
        (
            replace(PROOF, reference=4, reference_lost="rows: Expected 1, got 2."),
            "the reference earns 4 of 5: rows: Expected 1, got 2.",
        ),
        (replace(PROOF, mistakes=(replace(CAUGHT, most_lost=3.5),)), "loses 2 to 3.5 points"),
        (replace(PROOF, raising=("rows: ValueError: no",)), "raises an error in rows: ValueError"),
        (
            replace(PROOF, promises=PromisesProof(True, (), ("no check holds “x”",))),
            "no check holds",
        ),
        (replace(PROOF, blank=1), "the blank notebook earns 1"),
        (replace(PROOF, mistakes=(replace(CAUGHT, lost=0),)), "wrong_axis loses nothing"),
        (replace(PROOF, mistakes=(replace(CAUGHT, same_as="x"),)), "give the same results"),
        (replace(PROOF, mistakes=(replace(CAUGHT, advised=False),)), "not get its own advice"),
        (
            replace(PROOF, never_failed=("rows (x.py, line 9)",)),
            "no known mistake fails check rows",
        ),
        (replace(PROOF, also_right=(("by_hand", 3, "Why?"),)), "by_hand earns 3 of 5: Why?"),
        (replace(PROOF, mutants=MutantProof(1, 0, 0, ("`a`",), ())), "mutant survives: `a`"),
        (replace(PROOF, mutants=MutantProof(1, 1, 0, (), ("`b`",))), "`b`; remove this entry"),
    ],
)
def test_each_surprise_is_one_sentence(changed: ExerciseProof, surprise: str) -> None:
    (sentence,) = changed.surprises()
    assert surprise in sentence


LABEL = 'softmax: `x.amax(dim, keepdim=True)` → `x` in `shifted = x - x.amax(dim, "keepdim")`'


def test_a_marked_label_that_no_survivor_has_leads_to_the_nearest_one() -> None:
    mutants = MutantProof(3, 1, 0, ("softmax: `a` → `b`", LABEL), (LABEL.replace("→", "->"),))
    *_, sentence = replace(PROOF, mutants=mutants).surprises()
    assert sentence.endswith(f"did you mean {LABEL}?")


def test_a_surviving_mutant_has_a_line_to_paste(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    show_proofs(LAB, [replace(PROOF, mutants=MutantProof(1, 0, 0, (LABEL,), ()))])
    out = capsys.readouterr().out
    pasted = out[out.index("equivalent={") :].rstrip().rstrip(",").removeprefix("equivalent=")
    assert ast.literal_eval(pasted) == {LABEL: ""}
    show_proofs(LAB, [PROOF])
    assert "equivalent={" not in capsys.readouterr().out


def test_the_sentences_are_shown_beside_their_checks_if_asked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show_proofs(LAB, [PROOF])
    assert "Sums to 1." not in capsys.readouterr().out
    show_proofs(LAB, [PROOF], with_promises=True)
    (line,) = (one for one in capsys.readouterr().out.splitlines() if "Sums to 1." in one)
    assert "rows" in line


def test_the_table_fits_80_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    many = replace(PROOF, name="scaled_dot_product_attention", mistakes=(CAUGHT,) * 100)
    show_proofs(LAB, [replace(many, mutants=MutantProof(120, 111, 9, (), ()))])
    out = capsys.readouterr().out
    assert "…" not in out
    assert "100/100" in out
    assert "111/111" in out


def test_an_exercise_without_a_table_is_named_and_gets_one_to_fill_in(
    capsys: pytest.CaptureFixture[str],
) -> None:
    none = PromisesProof(False, (Sentence("softmax", "Sums to 1."),))
    show_proofs(LAB, [replace(PROOF, promises=none)], with_promises=True)
    out = capsys.readouterr().out
    assert "'Sums to 1.': \"\"," in out
    assert "No table of promises yet: softmax." in out


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return tiny_class.write_course(tmp_path)


def test_a_lab_is_proved_by_running_it(course: Course) -> None:
    found = verify_labs(course, [LAB], [], with_mutants=False, jobs=1, quiet=True)
    softmax, guess = found[LAB]
    assert (softmax.reference, softmax.blank) == (5, 0)
    assert [(m.lost, m.caught_by, m.advised) for m in softmax.mistakes] == [
        (2.0, ("another_axis",), True)
    ]
    (surprise,) = softmax.surprises()
    assert surprise.startswith("no known mistake fails check numbers (")
    assert (guess.reference, guess.blank) == (1, 0)


def test_the_check_that_the_reference_fails_is_named_with_its_reason(course: Course) -> None:
    path = course.exercises(LAB) / "softmax.py"
    text = path.read_text("utf-8")
    path.write_text(
        text.replace("Exercise(softmax)", 'Exercise(softmax, forbids=["torch.Tensor.exp"])'),
        "utf-8",
    )
    (proof,) = verify_labs(course, [LAB], ["softmax"], False, jobs=1, quiet=True)[LAB]
    assert next(proof.surprises()).startswith("the reference earns 0 of 5: numbers: ")
    assert "torch.Tensor.exp" in proof.reference_lost


def test_an_exercise_that_a_lab_does_not_have_is_one_sentence(course: Course) -> None:
    with pytest.raises(CourseError, match="lab01 has no exercise 'sofmax'; it has softmax, guess"):
        verify_labs(course, [LAB], ["sofmax"], with_mutants=False, quiet=True)


def test_an_exercise_without_points_is_proved_with_one_for_each_check(course: Course) -> None:
    path = course.exercises(LAB) / "softmax.py"
    text = path.read_text("utf-8")
    path.write_text(text.replace("points=3", "points=0").replace("points=2", "points=0"), "utf-8")
    found = verify_labs(course, [LAB], ["softmax"], with_mutants=False, jobs=1, quiet=True)
    (proof,) = found[LAB]
    assert (proof.points, proof.reference, proof.blank) == (2, 2, 0)
    (mistake,) = proof.mistakes
    assert mistake.lost == 1
    assert mistake.advised
