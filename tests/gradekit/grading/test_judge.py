"""The judge: answers of the untrusted side, compared with the reference's."""

from __future__ import annotations

import pytest

from attnlab.checking.observation import pack
from gradekit.course import load_course
from gradekit.exercise.loader import load_lab
from gradekit.exercise.variants import Variants
from gradekit.grading.judge import judge
from gradekit.sandbox.result import Stopped
from tests.helpers.small_course import PROJECT


@pytest.fixture(scope="module")
def variants() -> Variants:
    return Variants(load_lab(load_course(PROJECT), "lab01"), b"secret")


def test_the_references_own_answers_earn_all_points(variants: Variants) -> None:
    exercise = variants.lab["softmax"]
    seen = {
        (exercise.name, question.name): pack(question.expected)
        for question in variants.prepared_checks(exercise, 0)
    }
    verdict = judge(variants, 0, [exercise], seen)[exercise.name]
    assert verdict.earned == verdict.points == exercise.points


@pytest.mark.parametrize("answer", [None, Stopped("stopped after 20 s"), b"", b"no tensors"])
def test_an_answer_that_is_missing_or_cannot_be_read_earns_nothing(
    variants: Variants, answer: bytes | Stopped | None
) -> None:
    exercise = variants.lab["softmax"]
    seen = {} if answer is None else {(exercise.name, c.name): answer for c in exercise.checks}
    verdict = judge(variants, 0, [exercise], seen)[exercise.name]
    assert verdict.earned == 0
    assert verdict.advice
