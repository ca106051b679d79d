"""The variants of a lab's hidden inputs: what the untrusted side is asked, what the judge expects.

Questions and expected answers come from one place and one seed, so they cannot disagree. The
untrusted side gets a :class:`~gradekit.untrusted.messages.Probe`: text and a seed. The judge gets a
:class:`~attnlab.checking.verdict.PreparedCheck`: the observations of the reference and of the known
mistakes, made here by running the same probe on them.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import random
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any

from attnlab.checking.definitions import kind_of
from attnlab.checking.draw import Draw, seed_everything
from attnlab.checking.judges import Judge, Kills
from attnlab.checking.lab import Lab, asked_names, observe
from attnlab.checking.observation import as_received
from attnlab.checking.verdict import PreparedCheck
from attnlab.checking.visible import NotRunHere, VisibleCheck, VisibleExercise
from gradekit.errors import ExerciseError
from gradekit.exercise.definition import Check, Exercise, Version
from gradekit.exercise.loader import LabExercises
from gradekit.exercise.one_namespace import in_one_namespace
from gradekit.exercise.standalone import anonymous_version, standalone_source, standalone_sources
from gradekit.exercise.trained import ScoreBands
from gradekit.untrusted.messages import Probe

_ASKED = re.compile(r"\blab\.(\w+)")  # a name that a probe asks of the notebook
# Hidden inputs differ between students, but there are only this many variants, so the reference and
# the known mistakes answer each variant once per worker and not once per student.
VARIANTS = 4
# The variant in a student's bundle. Its expected numbers are public, so no submission is
# graded with it: a notebook that only repeats them would pass.
BUNDLE = -1
_MOST_PROMISES = 2


class Variants:
    """The checks of one lab, in several variants.

    Args:
        lab: the lab's exercises.
        secret: makes hidden inputs unguessable; any bytes that students do not know.

    Attributes:
        observations: what has been observed so far.
    """

    def __init__(self, lab: LabExercises, secret: bytes = b"") -> None:
        self.lab = lab
        self._secret = secret
        self.observations: dict[str, Any] = {}
        self._sources: dict[Any, str] = {}
        self._checks: dict[tuple[str, int], list[PreparedCheck]] = {}

    def number(self, digest: str) -> int:
        """The variant for the submission with this digest."""
        return _hash(self._secret, digest) % VARIANTS

    def probes(self, exercise: Exercise, number: int) -> list[Probe]:
        """The probes of `exercise` in variant `number`, for the untrusted side."""
        return [self._probe(exercise, check, number) for check in exercise.checks]

    def _probe(self, exercise: Exercise, check: Check, number: int) -> Probe:
        replaced = () if check.chained else exercise.uses
        # Next to versions, a reference of the tested step would say which of them are right.
        tested = () if check.chained or check.versions_of else exercise.tested
        of = self.lab[check.versions_of].references if check.versions_of else ()
        return Probe(
            exercise=exercise.name,
            check=check.name,
            source=self._source(check.probe),
            seed=self._seed(exercise, check, number),
            forbids=exercise.forbids,
            uses=self._sources_of((*replaced, *tested)),
            replaces=tuple(f.__name__ for f in replaced),
            tested=tuple(f.__name__ for f in tested),
            versions=tuple(
                self._anonymous_source(version)
                for version, _ in self._versions(exercise, check, number)
            ),
            of=tuple(f.__name__ for f in of),
        )

    def prepared_checks(self, exercise: Exercise, number: int) -> list[PreparedCheck]:
        """The checks of `exercise` in variant `number`, for the judge."""
        key = exercise.name, number
        if key not in self._checks:
            self._checks[key] = [
                self._prepared(exercise, check, number) for check in exercise.checks
            ]
        return self._checks[key]

    def observe(
        self, exercise: Exercise, check: Check, number: int, version: Version | None
    ) -> Any:
        """What `check` observes of the reference, or of `version` instead."""
        seed = self._seed(exercise, check, number)
        key = f"{exercise.name} {check.name} {seed} {version.name if version else ''}"
        if key not in self.observations:
            names = self.names_with(exercise, version.names) if version else self.lab.reference
            self.observations[key] = self.run(exercise, check, number, names)
        return self.observations[key]

    def names_with(self, exercise: Exercise, replaced: Mapping[str, Any]) -> dict[str, Any]:
        """The lab's names with other versions of some of an exercise's, which the others use."""
        return {**self.lab.reference, **in_one_namespace(exercise.references, replaced)}

    def run(
        self,
        exercise: Exercise,
        check: Check,
        number: int,
        names: Mapping[str, Any],
        forbids: tuple[str, ...] = (),
    ) -> Any:
        """What `check` observes of `names` in this process, as if it had come from the sandbox."""
        versions = [v.function for v, _ in self._versions(exercise, check, number)]
        seed = self._seed(exercise, check, number)
        seed_everything(seed)  # as on the untrusted side
        draw = Draw(seed, versions)
        with contextlib.redirect_stdout(io.StringIO()):  # some wrong versions print
            seen = observe(check.probe, Lab(names), draw, forbids)
        return as_received(seen)

    def visible(self, exercise: Exercise) -> VisibleExercise:
        """The part of `exercise` that is in a student's bundle."""
        return VisibleExercise(
            name=exercise.name,
            title=exercise.title,
            points=exercise.points,
            hidden_points=sum(check.points for check in exercise.checks if check.hidden),
            checks=tuple(
                VisibleCheck(
                    prepared=self._prepared(exercise, check, BUNDLE),
                    source=self._source(check.probe),
                    seed=self._seed(exercise, check, BUNDLE),
                )
                for check in exercise.checks
                if not check.hidden
            ),
            mistakes=tuple(mistake.known for mistake in exercise.mistakes),
            forbids=exercise.forbids,
            not_run_here=tuple(
                NotRunHere(check.title, check.chained) for check in exercise.checks if check.hidden
            ),
            names=exercise.names,
            uses=tuple(function.__name__ for function in exercise.uses),
            step=self.lab.source.step(exercise.name),
            kinds=tuple(kind_of(self.lab.reference[name]) for name in exercise.names),
        )

    def _prepared(self, exercise: Exercise, check: Check, number: int) -> PreparedCheck:
        # A test is judged by the versions that it is tried on. Running the reference's own test on
        # them would take the longest of all, and its result is not used.
        reference = None if check.versions_of else self.observe(exercise, check, number, None)
        return PreparedCheck(
            name=check.name,
            title=check.title,
            points=check.points,
            hidden=check.hidden,
            judge=self._judge(exercise, check, number),
            expected=reference,
            mistakes=_LazyMapping(
                {
                    mistake.name: partial(self._observe_mistake, exercise, check, number, mistake)
                    for mistake in exercise.mistakes
                }
            ),
            own_steps=self._own_steps(exercise, check),
            about=_about(exercise, check),
            question=check.question,
            broken_promises=self._broken_promises(check),
        )

    def _broken_promises(self, check: Check) -> Mapping[str, str]:
        """By each wrong version that a student's test is tried on: a promise that it breaks."""
        if check.versions_of is None:
            return {}
        other = self.lab[check.versions_of]
        return _LazyMapping(
            {
                mistake.name: partial(self._broken_promise, other, mistake)
                for mistake in other.mistakes
            }
        )

    def _broken_promise(self, exercise: Exercise, mistake: Version) -> str:
        """The title of the check that a known mistake fails; empty if it fails more than two.

        Of two, it is the later one, because the checks become more special. A mistake that fails
        many checks breaks no single promise.
        """
        failed = []
        for check in exercise.checks:
            expected = self.observe(exercise, check, BUNDLE, None)
            seen = self._observe_mistake(exercise, check, BUNDLE, mistake)
            if self._judge(exercise, check, BUNDLE).compare(expected, seen):
                failed.append(check.title)
            if len(failed) > _MOST_PROMISES:
                return ""
        return failed[-1] if failed else ""

    def _own_steps(self, exercise: Exercise, check: Check) -> tuple[str, ...]:
        """The student's other steps that a chained check asks; none if it is not chained."""
        if not check.chained:
            return ()
        asked = dict.fromkeys(_ASKED.findall(self._source(check.probe)))
        others = {*self.lab.reference} - {*exercise.names}
        steps = tuple(name for name in asked if name in others)
        return steps or tuple(function.__name__ for function in exercise.uses)

    def _observe_mistake(
        self, exercise: Exercise, check: Check, number: int, mistake: Version
    ) -> Any:
        """What `check` observes of a known mistake, without warnings: they cannot be fixed here."""
        with warnings.catch_warnings(action="ignore"):
            if check.versions_of is None:
                return self.observe(exercise, check, number, mistake)
            # A wrong test is tried on every version, which takes long. Variants differ only in the
            # order of the versions, so it is tried once for all of them.
            seen = self.observe(exercise, check, BUNDLE, mistake)
        if not isinstance(seen, list):
            return seen
        tried = [version.function for version, _ in self._versions(exercise, check, BUNDLE)]
        answers = dict(zip(tried, seen, strict=True))
        return [answers[version.function] for version, _ in self._versions(exercise, check, number)]

    def _seed(self, exercise: Exercise, check: Check, number: int) -> int:
        parts = [exercise.lab, exercise.name, check.name]
        if number == BUNDLE:
            return _hash(b"", *parts)
        return _hash(self._secret, *parts, str(number))

    def _judge(self, exercise: Exercise, check: Check, number: int) -> Judge:
        versions = self._versions(exercise, check, number)
        if isinstance(check.judge, ScoreBands):
            # The same hidden data in each variant, so that the reference is evaluated once.
            return check.judge.with_seed(
                _hash(self._secret, "data", exercise.lab, exercise.name, check.name)
            )
        if not versions:
            return check.judge
        about = ((version.name, version.about) for version, right in versions if right)
        return Kills(
            tuple((version.name, right) for version, right in versions),
            tuple((name, words) for name, words in about if words),
        )

    def _versions(
        self, exercise: Exercise, check: Check, number: int
    ) -> list[tuple[Version, bool]]:
        """Versions for a student's test, in this variant's order, each with whether it is right."""
        if check.versions_of is None:
            return []
        other = self.lab[check.versions_of]
        names = {mistake.name for mistake in other.mistakes}
        for name in check.versions:
            if name not in names:
                raise ExerciseError(
                    f"{exercise.name}.py: {check.name} names {name!r}, but "
                    f"{check.versions_of}.py has no such mistake"
                )
        wrong = [m for m in other.mistakes if not check.versions or m.name in check.versions]
        right = [
            *(Version("the reference", reference, None) for reference in other.references),
            *other.right_versions,
            *other.other_programs,
        ]
        mixed = [(version, False) for version in wrong] + [(version, True) for version in right]
        # Not the probe's seed, which is sent and would reveal the original order.
        order = _hash(self._secret, "order", exercise.lab, exercise.name, check.name, str(number))
        random.Random(order).shuffle(mixed)  # noqa: S311 - an order
        return mixed

    def _anonymous_source(self, version: Version) -> str:
        function = version.function
        return self._cached(
            ("version", function),
            lambda: anonymous_version(self._source(function), function.__name__),
        )

    def _source(self, function: Any) -> str:
        return self._cached(function, lambda: standalone_source(function))

    def _sources_of(self, functions: tuple[Any, ...]) -> str:
        return self._cached(functions, lambda: standalone_sources(functions) if functions else "")

    def _cached(self, key: Any, make: Any) -> str:
        if key not in self._sources:
            self._sources[key] = make()
        return self._sources[key]

    @cached_property
    def visible_exercises(self) -> list[VisibleExercise]:
        """All exercises as a student's bundle holds them."""
        return [self.visible(exercise) for exercise in self.lab.exercises]


def _about(exercise: Exercise, check: Check) -> str:
    """The only one of the exercise's several functions that a check asks; empty otherwise."""
    asked = asked_names(check.source) & set(exercise.names)
    return next(iter(asked)) if len(exercise.names) > 1 and len(asked) == 1 else ""


class _LazyMapping(Mapping[str, Any]):
    """Values that are computed on first use: right answers are judged without known mistakes."""

    def __init__(self, makers: Mapping[str, Callable[[], Any]]) -> None:
        self._makers = makers

    def __getitem__(self, name: str) -> Any:
        return self._makers[name]()

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


def _hash(secret: bytes, *parts: str) -> int:
    """A number below 2**31 that depends on all of the arguments."""
    digest = hashlib.blake2b("\0".join(parts).encode(), key=secret[:64], digest_size=4)
    return int.from_bytes(digest.digest(), "little") >> 1
