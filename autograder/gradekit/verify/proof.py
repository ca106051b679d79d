"""The results of the proof of one exercise: a row of the table, its surprises, its JSON.

Tested in tests/gradekit/verify/test_verify.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gradekit.exercise.promises import Sentence
from gradekit.wording import did_you_mean

# The same code should earn the same, whichever variant of the hidden inputs it gets.
MOST_SPREAD = 1.0


@dataclass(frozen=True)
class MistakeProof:
    """The results of one written mistake.

    Attributes:
        lost: points lost, in the variant in which it lost least.
        most_lost: points lost, in the variant in which it lost most.
        caught_by: the checks that failed in some variant, in order.
        advised: whether the student who makes it reads its own advice.
        same_as: a mistake with other advice that no check distinguishes from it.
        place: the line that declares it.
    """

    name: str
    lost: float
    most_lost: float
    caught_by: tuple[str, ...]
    advised: bool
    same_as: str | None
    place: str = ""


@dataclass(frozen=True)
class MutantProof:
    """The results of the mutants of the reference.

    Attributes:
        equivalent: the number of survivors that the exercise marks as equivalent.
        survived: the labels of the other survivors.
        unused_marks: marked labels that no survivor has.
    """

    made: int
    caught: int
    equivalent: int
    survived: tuple[str, ...]
    unused_marks: tuple[str, ...]


@dataclass(frozen=True)
class PromisesProof:
    """The sentences of the task beside the checks that hold them.

    Attributes:
        declared: whether the exercise has a table of promises.
        sentences: those of the task's docstrings.
        wrong: what is wrong with the table, one sentence each.
    """

    declared: bool
    sentences: tuple[Sentence, ...]
    wrong: tuple[str, ...] = ()

    @property
    def held(self) -> int:
        """The number of sentences that a check holds or that promise nothing."""
        return sum(bool(one.checks) or one.explained for one in self.sentences)


@dataclass(frozen=True)
class ExerciseProof:
    """One exercise's row of the table.

    Attributes:
        also_right: for each other right version its name, the points that it earns, and why it
            does not earn more.
        reference_lost: the first check that the reference fails and why; empty if it fails none.
        raising: checks in which the reference raises an error by accident.
        never_failed: checks that no known mistake fails, each with its place.
        place: the exercise's file, for messages.
        left: what its author has still to write, one sentence each.
    """

    name: str
    points: float
    reference: float
    blank: float
    mistakes: tuple[MistakeProof, ...]
    also_right: tuple[tuple[str, float, str], ...]
    promises: PromisesProof
    raising: tuple[str, ...]
    never_failed: tuple[str, ...]
    mutants: MutantProof
    seconds: float
    place: str = ""
    left: tuple[str, ...] = ()
    reference_lost: str = ""

    def surprises(self) -> Iterator[str]:
        """Everything that is wrong, one sentence each."""
        if self.reference != self.points:
            earned = f"{self.reference:g} of {self.points:g}"
            yield f"the reference earns {earned}: {self.reference_lost}"
        if self.blank:
            yield f"the blank notebook earns {self.blank:g}"
        for raised in self.raising:
            yield f"the reference raises an error in {raised}"
        yield from self.left
        if not self.mistakes:
            yield (
                f"{self.place}: no known mistake; add one with @exercise.mistake, so that the "
                "checks are proven to catch something"
            )
        for check in self.never_failed if self.mistakes else ():
            yield f"no known mistake fails check {check}; add one that does"
        yield from self.promises.wrong
        for mistake in self.mistakes:
            if mistake.lost <= 0:
                yield (
                    f"{mistake.place}: mistake {mistake.name} loses nothing; add a check that it "
                    "fails, or remove it"
                )
            elif mistake.most_lost - mistake.lost > MOST_SPREAD:
                yield (
                    f"{mistake.place}: mistake {mistake.name} loses {mistake.lost:g} to "
                    f"{mistake.most_lost:g} "
                    "points, which depends on the variant of the inputs"
                )
            elif mistake.same_as:
                yield (
                    f"{mistake.place}: mistakes {mistake.name} and {mistake.same_as} give the same "
                    "results; give them the same advice, or add a check that differs"
                )
            elif not mistake.advised:
                yield f"{mistake.place}: mistake {mistake.name} does not get its own advice"
        for name, points, reason in self.also_right:
            if points != self.points:
                yield f"right answer {name} earns {points:g} of {self.points:g}: {reason}"
        for label in self.mutants.survived:
            yield f"mutant survives: {label}"
        for label in self.mutants.unused_marks:
            what = did_you_mean(label, self.mutants.survived) or "remove this entry"
            yield f"marked equivalent, but no such mutant survives: {label}; {what}"


def to_json(
    lab: str, proofs: list[ExerciseProof], disagreements: Sequence[str] = ()
) -> dict[str, Any]:
    """The table as ``lab verify --json`` prints it."""
    rows = [_row(proof) for proof in proofs]
    return {"lab": lab, "exercises": rows, "surprises": list(disagreements)}


def _row(proof: ExerciseProof) -> dict[str, Any]:
    return {
        "name": proof.name,
        "points": proof.points,
        "reference": proof.reference,
        "blank": proof.blank,
        "mistakes": [
            {
                "name": m.name,
                "lost": m.lost,
                "most_lost": m.most_lost,
                "advised": m.advised,
                "caught_by": list(m.caught_by),
            }
            for m in proof.mistakes
        ],
        "also_right": [{"name": name, "points": points} for name, points, _ in proof.also_right],
        "mutants": {
            "made": proof.mutants.made,
            "caught": proof.mutants.caught,
            "equivalent": proof.mutants.equivalent,
            "survived": list(proof.mutants.survived),
        },
        "promises": {
            "declared": proof.promises.declared,
            "sentences": [
                {"of": s.of, "text": s.text, "checks": list(s.checks), "explained": s.explained}
                for s in proof.promises.sentences
            ],
        },
        "never_failed": list(proof.never_failed),
        "surprises": list(proof.surprises()),
        "seconds": proof.seconds,
    }
