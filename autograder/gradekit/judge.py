"""The trusted side's last word: what the untrusted process answered, judged against the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attnlab.checking.observation import MalformedObservation, Raised, unpack
from attnlab.checking.verdict import Verdict, judge_exercise
from gradekit.exercise import Exercise
from gradekit.paper import Paper
from gradekit.submission_run import Stopped

Observations = Mapping[tuple[str, str], bytes | Stopped]


def judge(
    paper: Paper, number: int, exercises: Sequence[Exercise], observations: Observations
) -> dict[str, Verdict]:
    """One verdict for each exercise.

    Args:
        paper: the lab's questions.
        number: which paper the hand-in sat.
        exercises: the ones that were asked about.
        observations: the untrusted side's answers by (exercise, check); a missing one earns
            nothing.
    """
    return {
        exercise.name: _judge_exercise(paper, number, exercise, observations)
        for exercise in exercises
    }


def _judge_exercise(
    paper: Paper, number: int, exercise: Exercise, observations: Observations
) -> Verdict:
    seen = {
        check.name: _open(observations.get((exercise.name, check.name)))
        for check in exercise.checks
    }
    verdict = judge_exercise(paper.questions(exercise, number, with_mistakes=False), seen, [])
    if verdict.passed:
        return verdict
    # Only now is it worth knowing what the known mistakes would have answered.
    known = [mistake.known for mistake in exercise.mistakes]
    return judge_exercise(paper.questions(exercise, number), seen, known)


def _open(answer: bytes | Stopped | None) -> Any:
    if answer is None:
        return Raised("Stopped", "no answer came back for this question")
    if isinstance(answer, Stopped):
        return Raised("Stopped", answer.reason)
    try:
        return unpack(answer)
    except MalformedObservation as error:
        return Raised("Stopped", f"the answer could not be read: {error}")
