"""The variants: questions and expected answers come from one place; only questions travel."""

import json
import random

import pytest

from attnlab.checking.observation import unpack
from demo.classroom import LAB
from gradekit.exercise.loader import load_lab
from gradekit.exercise.variants import VARIANTS, Variants
from gradekit.grading.judge import judge
from gradekit.sandbox.result import Stopped
from gradekit.untrusted.runner import answer_probe


@pytest.fixture(scope="module")
def variants(shared_course):
    return Variants(load_lab(shared_course, LAB), b"a secret")


def test_a_probe_answered_by_the_reference_earns_everything(variants):
    exercise = variants.lab["softmax"]
    answers = {
        (probe.exercise, probe.check): answer_probe(probe, dict(variants.lab.reference))
        for probe in variants.probes(exercise, 3)
    }
    verdict = judge(variants, 3, [exercise], answers)["softmax"]
    assert verdict.earned == exercise.points


def test_the_bundle_says_the_kind_of_each_name(variants):
    assert variants.visible(variants.lab["softmax"]).kinds == ("function",)


def test_inputs_differ_between_variants_and_secrets_and_from_the_bundles(variants):
    exercise = variants.lab["softmax"]
    other = Variants(variants.lab, b"another secret")
    in_bundle = {check.seed for check in variants.visible(exercise).checks}
    assert in_bundle == {check.seed for check in other.visible(exercise).checks}
    for probes in zip(
        variants.probes(exercise, 0),
        variants.probes(exercise, 1),
        other.probes(exercise, 0),
        strict=True,
    ):
        seeds = {probe.seed for probe in probes}
        assert len(seeds) == 3
        assert not seeds & in_bundle


def test_no_number_that_travels_puts_the_versions_back_in_order(variants):
    """They are shuffled; who knows the shuffle's seed knows which of them are right."""
    (probe,) = (
        probe for probe in variants.probes(variants.lab["test_softmax"], 0) if probe.versions
    )
    right = len(variants.lab["softmax"].right_versions) + 1
    order = list(range(len(probe.versions)))
    random.Random(probe.seed).shuffle(order)
    guess = [place >= len(order) - right for place in order]
    (question,) = (
        question
        for question in variants.prepared_checks(variants.lab["test_softmax"], 0)
        if question.name == probe.check
    )
    assert guess != [is_right for _, is_right in question.judge.versions]
    assert question.judge.credit(None, guess) < 0.5


def test_a_wrong_version_is_described_by_a_promise_that_it_breaks(variants):
    checks = variants.prepared_checks(variants.lab["test_softmax"], 0)
    (check,) = (check for check in checks if check.broken_promises)
    wrong = {name for name, right in check.judge.versions if not right}
    assert check.broken_promises.keys() >= wrong
    assert "far apart" in check.broken_promises["no_max_subtraction"]
    assert check.broken_promises["powers_of_two"] == ""  # it breaks nearly all of them


def test_the_number_of_variants_is_small_and_all_are_used(variants):
    assert {variants.number(f"digest {n}") for n in range(200)} == set(range(VARIANTS))


def test_nothing_that_travels_names_a_mistake_its_advice_or_a_reference(variants):
    """What is sent for an exercise is its probes, and references of earlier steps alone."""
    for exercise in variants.lab.exercises:
        text = json.dumps([probe.to_json() for probe in variants.probes(exercise, 0)])
        for mistake in exercise.mistakes:
            assert mistake.advice not in text
            assert f"def {mistake.name}" not in text
        own = {f"def {reference.__name__}(" for reference in exercise.references}
        assert not any(line in text for line in own)


def test_references_stand_in_only_for_earlier_steps(variants):
    earlier = set()
    for exercise in variants.lab.exercises:
        assert {function.__name__ for function in exercise.uses} <= earlier
        earlier |= {reference.__name__ for reference in exercise.references}


def test_a_chained_check_names_the_steps_that_it_asks(variants):
    """Also those that no other check of the exercise uses, and the exercise's own name never."""
    gap = variants.lab["equivariance_gap"]
    assert gap.uses == ()
    own = {question.name: question.own_steps for question in variants.prepared_checks(gap, 0)}
    assert own.pop("your_own_attention") == ("basic_self_attention", "softmax")
    assert set(own.values()) == {()}


def test_an_answer_that_is_no_observation_fails_its_check_alone(variants):
    exercise = variants.lab["softmax"]
    answers = {
        (probe.exercise, probe.check): answer_probe(probe, dict(variants.lab.reference))
        for probe in variants.probes(exercise, 0)
    }
    first, second = list(answers)[:2]
    answers[first] = b"\xff" * 100
    answers[second] = Stopped("stopped after 5 s: is there a loop without an end?")
    verdict = judge(variants, 0, [exercise], answers)["softmax"]
    assert [answer.passed for answer in verdict.outcomes[:2]] == [False, False]
    assert all(answer.passed for answer in verdict.outcomes[2:])


def test_observations_of_the_reference_survive_the_wire(variants):
    exercise = variants.lab["softmax"]
    (probe, *_) = variants.probes(exercise, 0)
    seen = unpack(answer_probe(probe, dict(variants.lab.reference)))
    assert (
        exercise.checks[0].judge.compare(variants.prepared_checks(exercise, 0)[0].expected, seen)
        is None
    )
