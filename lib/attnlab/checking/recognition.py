"""Which known mistakes a student made, from the answers of their code.

Tested in ``test_verdict.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from attnlab.checking.advice import is_blank
from attnlab.checking.agreement import agrees, is_written
from attnlab.checking.judges import Close, Kills
from attnlab.checking.observation import Raised

if TYPE_CHECKING:
    from attnlab.checking.verdict import CheckOutcome, KnownMistake


def recognise(
    outcomes: Sequence[CheckOutcome], mistakes: Sequence[KnownMistake], most: int = 3
) -> list[KnownMistake]:
    """The known mistakes whose observations agree with the student's in the most checks.

    A mistake is a candidate if it fails in the same way as the student in at least a quarter of the
    failed checks, because two different mistakes may agree in one small case. A mistake is not a
    candidate if it fails as many of the checks that the student passed: code with that mistake
    would have failed them, too; nor if it agrees in answers that are true or false alone, and fails
    another failed check in another way. The candidates that agree in the most checks win. If
    several do, up to `most` with different advice are returned, and the advice says that it is one
    of them; if there are more, none of them is returned.

    Args:
        outcomes: the judged checks.
        mistakes: the exercise's known mistakes, in their order.
        most: the largest number of mistakes to return.
    """
    failed = [outcome for outcome in outcomes if _is_informative(outcome)]
    others = [outcome for outcome in outcomes if not _is_informative(outcome)]
    passed = [outcome for outcome in outcomes if outcome.passed]
    scores: dict[str, int] = {}
    for mistake in mistakes:
        failures = _agreements(mistake, failed)
        enough = failures and 4 * failures >= len(failed)
        candidate = (
            enough
            and _contradictions(mistake, passed) < failures
            and not _agrees_by_chance(mistake, failed, mistakes)
        )
        scores[mistake.name] = failures + _agreements(mistake, others) if candidate else 0
    best = max(scores.values(), default=0)
    if best == 0:
        return []
    winners = [mistake for mistake in mistakes if scores[mistake.name] == best]
    by_advice = {mistake.advice: mistake for mistake in reversed(winners)}
    return [m for m in winners if by_advice[m.advice] is m] if len(by_advice) <= most else []


def recognise_both(
    outcomes: Sequence[CheckOutcome], mistakes: Sequence[KnownMistake]
) -> list[KnownMistake]:
    """Two mistakes in two functions of one exercise that explain more than one mistake does.

    A check that asks both functions agrees with neither mistake as a whole, so its entries are
    compared one by one. Each of the two must explain a quarter of the failed entries, not by chance
    (as in :func:`recognise`), and no other mistake in the same function as many.

    Returns:
        Both, or nothing.
    """
    if len({mistake.of for mistake in mistakes}) < 2:
        return []
    failed = [outcome for outcome in outcomes if _is_informative(outcome)]
    entries = [entry for outcome in failed for entry in _entries(outcome, mistakes)]
    others = [outcome for outcome in outcomes if outcome.passed]
    explained = {
        mistake.name: frozenset(
            number for number, entry in enumerate(entries) if entry.agrees_with(mistake.name)
        )
        for mistake in mistakes
    }
    best: list[KnownMistake] = []
    for of in filter(None, dict.fromkeys(mistake.of for mistake in mistakes)):
        own = [mistake for mistake in mistakes if mistake.of == of]
        most = max(len(explained[mistake.name]) for mistake in own)
        if 4 * most < max(1, len(entries)):
            continue
        # Of those that explain equally many, the one that agrees in the most passed checks.
        passed = {m: _agreements(m, others) for m in own if len(explained[m.name]) == most}
        winners = [m for m in passed if passed[m] == max(passed.values())]
        if len({m.advice for m in winners}) == 1 and not _agrees_by_chance(
            winners[0], failed, mistakes
        ):
            best.append(winners[0])
    if len(best) != 2:
        return []
    one, other = (explained[mistake.name] for mistake in best)
    return best if len(one | other) > max(map(len, explained.values())) else []


def recognise_apart(
    outcomes: Sequence[CheckOutcome], mistakes: Sequence[KnownMistake]
) -> list[KnownMistake]:
    """Several mistakes that fail different checks and explain more of them than one mistake does.

    Predictions and errata are wrong item by item. A mistake counts if the student's answers agree
    with its own in every check that it fails, and if it passes all that the student passed. Of
    mistakes that fail the same check, the one that fails the most checks counts; if several with
    different advice do, none of them is returned. All together must explain half of the failures.
    """
    outcomes = [part for outcome in outcomes for part in _written_parts(outcome, mistakes)]
    failed = [outcome for outcome in outcomes if _is_informative(outcome)]
    by_checks: dict[frozenset[str], list[KnownMistake]] = {}
    for mistake in mistakes:
        checks = _wholly_explained(mistake, outcomes)
        # Items that students write down are independent; checks of one function are not.
        by_chance = mistake.of and checks and _agrees_by_chance(mistake, failed, mistakes)
        if checks and not by_chance:
            by_checks.setdefault(checks, []).append(mistake)
    found, explained = [], frozenset[str]()
    for checks in sorted(by_checks, key=len, reverse=True):
        if checks & explained:
            continue
        explained |= checks
        if len({mistake.advice for mistake in by_checks[checks]}) == 1:
            found.append((checks, by_checks[checks][0]))
    if len(found) < 2:
        return []
    named = sum(len(checks) for checks, _ in found)
    if 2 * named < len(failed) or named <= max(_agreements(m, failed) for m in mistakes):
        return []
    order = [outcome.check.name for outcome in failed]
    return [m for _, m in sorted(found, key=lambda pair: min(map(order.index, pair[0])))]


def unexplained(
    failed: Sequence[CheckOutcome], mistakes: Sequence[KnownMistake]
) -> list[CheckOutcome]:
    """The failed checks with a part in which none of these mistakes fails in the same way."""

    def explained(part: CheckOutcome) -> bool:
        return part.passed or any(_agreements(mistake, [part]) for mistake in mistakes)

    return [one for one in failed if not all(map(explained, _written_parts(one, mistakes)))]


def _written_parts(outcome: CheckOutcome, mistakes: Sequence[KnownMistake]) -> list[CheckOutcome]:
    """One outcome for each number that the student wrote down, where a check asks for several.

    Other outcomes stay whole: the entries of a check of code have one cause.
    """
    check, right, seen = outcome.check, outcome.check.expected, outcome.seen
    written = isinstance(right, dict) and is_written(check.judge, right)
    if not (written and _parts_of_one_form(right, seen)):
        return [outcome]
    known = _answers_of(mistakes, outcome)
    return [
        replace(
            outcome,
            check=replace(
                check,
                name=f"{check.name}: {key}",
                expected=right[key],
                mistakes=_part_of_each(known, right, key),
            ),
            seen=seen[key],
            difference=check.judge.compare(right[key], seen[key]),
        )
        for key in right
    ]


def _wholly_explained(mistake: KnownMistake, outcomes: Sequence[CheckOutcome]) -> frozenset[str]:
    """The checks that a mistake fails, if the student fails each in the same way; else none."""
    explained = set()
    for outcome in outcomes:
        check = outcome.check
        if mistake.name not in check.mistakes:
            continue
        mistaken = check.mistakes[mistake.name]
        alike = agrees(check.judge, check.expected, mistaken, outcome.seen, outcome.passed)
        if alike and not outcome.passed and _is_informative(outcome):
            explained.add(check.name)
        elif not alike and check.judge.compare(check.expected, mistaken) is not None:
            return frozenset()
    return frozenset(explained)


def recognise_in_part(
    outcomes: Sequence[CheckOutcome], mistakes: Sequence[KnownMistake]
) -> KnownMistake | None:
    """The one known mistake that explains most of what is wrong, number by number.

    A small mistake that is made in one of two modes, or in other words than a known one, never
    fails in a whole check as the known one does. Its failed numbers do: at least half of those for
    which both have an answer must be the known mistake's. A mistake is not a candidate if it fails
    more of the checks that the student passed than the student failed. Of mistakes that explain
    equally many numbers, the one that agrees in the most passed checks counts; there must be one.
    Answers that are true or false, or in which the mistake gives the number 0, agree by chance too
    often, and are left out.
    """
    failed = [outcome for outcome in outcomes if _is_informative(outcome)]
    passed = [outcome for outcome in outcomes if outcome.passed]
    entries = [entry for outcome in failed for entry in _entries(outcome, mistakes)]
    leaves = [leaf for entry in entries for leaf in _leaves(entry)]
    leaves = [leaf for leaf in leaves if not isinstance(leaf.expected, bool | str)]
    explained: dict[KnownMistake, int] = {}
    for mistake in mistakes:
        asked = [leaf for leaf in leaves if not leaf.says_little(mistake.name)]
        count = sum(leaf.agrees_with(mistake.name) for leaf in asked)
        enough = count and 2 * count >= len(asked)
        if enough and _contradictions(mistake, passed) <= len(failed):
            explained[mistake] = count
    best = [m for m, count in explained.items() if count == max(explained.values())]
    fitting = {m: _agreements(m, passed) for m in best}
    best = [m for m in best if fitting[m] == max(fitting.values())]
    return best[0] if len({mistake.advice for mistake in best}) == 1 else None


def recognise_test(
    outcomes: Sequence[CheckOutcome], mistakes: Sequence[KnownMistake]
) -> KnownMistake | None:
    """The known mistake that explains most of what a student's test does wrong.

    Few tests are wrong in one way only, so few accept exactly the versions that a known mistake
    accepts. A test that rejects right versions has the mistake of known tests that reject the same
    ones. Another one has the mistake of the known test that accepts the largest part of the wrong
    versions that it accepts, at least half of them, and no other. Of these, a mistake that fails
    a check which the student's test passed explains nothing. All that fit equally well must have
    the same advice.
    """
    best: dict[str, KnownMistake] = {}
    passed = [outcome for outcome in outcomes if outcome.passed]
    for outcome in outcomes:
        judge, known = outcome.check.judge, outcome.check.mistakes
        if not isinstance(judge, Kills) or (faults := judge.faults(outcome.seen)) is None:
            continue
        sizes: dict[KnownMistake, int] = {}
        for mistake in mistakes:
            theirs = judge.faults(known[mistake.name]) if mistake.name in known else None
            size = 0 if theirs is None else _explained(faults, theirs)
            if size and (faults[0] or not _contradictions(mistake, passed)):
                sizes[mistake] = size
        most = max(sizes.values(), default=0)
        best |= {m.advice: m for m, size in sizes.items() if size == most}
    return next(iter(best.values())) if len(best) == 1 else None


def _explained(
    faults: tuple[frozenset[str], frozenset[str]], known: tuple[frozenset[str], frozenset[str]]
) -> int:
    """How many of a test's faults a known wrong test explains; 0 if it is wrong in other ways."""
    rejected, accepted = faults
    known_rejected, known_accepted = known
    if rejected or known_rejected:
        return len(rejected) if rejected == known_rejected else 0
    fits = known_accepted <= accepted and 2 * len(known_accepted) >= len(accepted)
    return len(known_accepted) if fits else 0


@dataclass(frozen=True)
class _Entry:
    """A part of a failed answer that is wrong, and the same part of each mistake's answer."""

    judge: Close
    expected: Any
    seen: Any
    mistaken: Mapping[str, Any]

    def agrees_with(self, mistake: str) -> bool:
        """Whether this mistake fails here, in the same way."""
        return mistake in self.mistaken and agrees(
            self.judge, self.expected, self.mistaken[mistake], self.seen, passed=False
        )

    def says_little(self, mistake: str) -> bool:
        """Whether the student's code and this mistake end in some error here, or it gives a 0."""
        answer = self.mistaken.get(mistake)
        if isinstance(answer, Raised):
            return isinstance(self.seen, Raised)
        return isinstance(answer, int | float) and answer == 0


def _leaves(entry: _Entry) -> Iterator[_Entry]:
    """The wrong parts of an entry that have no parts themselves."""
    right, seen = entry.expected, entry.seen
    if not _parts_of_one_form(right, seen):
        if entry.judge.compare(right, seen) is not None:
            yield entry
        return
    for key in right if isinstance(right, dict) else range(len(right)):
        mistaken = _part_of_each(entry.mistaken, right, key)
        yield from _leaves(_Entry(entry.judge, right[key], seen[key], mistaken))


def _part_of_each(answers: Mapping[str, Any], right: Any, key: Any) -> dict[str, Any]:
    """This part of each mistake's answer, of those that have the parts of the right answer."""
    return {name: tree[key] for name, tree in answers.items() if _parts_of_one_form(right, tree)}


def _parts_of_one_form(right: Any, other: Any) -> bool:
    """Whether both have parts, and the same ones."""
    match right, other:
        case dict(), dict():
            return right.keys() == other.keys()
        case list(), list():
            return len(right) == len(other)
    return False


def _entries(outcome: CheckOutcome, mistakes: Sequence[KnownMistake]) -> Iterator[_Entry]:
    """The wrong entries of a failed outcome that is a dictionary; otherwise the whole of it."""
    judge, expected, seen = outcome.check.judge, outcome.check.expected, outcome.seen
    if not isinstance(judge, Close):
        return
    mistaken = _answers_of(mistakes, outcome)
    if not (
        isinstance(expected, dict) and isinstance(seen, dict) and expected.keys() == seen.keys()
    ):
        yield _Entry(judge, expected, seen, mistaken)
        return
    for key, right in expected.items():
        if judge.compare(right, seen[key]) is not None:
            same_key = {
                name: tree[key]
                for name, tree in mistaken.items()
                if isinstance(tree, dict) and key in tree
            }
            yield _Entry(judge, right, seen[key], same_key)


def _answers_of(mistakes: Sequence[KnownMistake], outcome: CheckOutcome) -> dict[str, Any]:
    """What a check saw of these mistakes, by name.

    The others' answers are not asked for, because some of them may have to be computed.
    """
    known = outcome.check.mistakes
    return {one.name: known[one.name] for one in mistakes if one.name in known}


def _agreements(mistake: KnownMistake, outcomes: Sequence[CheckOutcome]) -> int:
    """In how many of `outcomes` the mistake gives the same observation."""
    return sum(
        agrees(
            outcome.check.judge,
            outcome.check.expected,
            outcome.check.mistakes[mistake.name],
            outcome.seen,
            outcome.passed,
        )
        for outcome in outcomes
        if mistake.name in outcome.check.mistakes
    )


def _agrees_by_chance(
    mistake: KnownMistake, failed: Sequence[CheckOutcome], mistakes: Sequence[KnownMistake]
) -> bool:
    """Whether all agreement is in answers that are true or false, and other answers disagree.

    Only checks count in which some mistake in the same function fails: the other function of an
    exercise may have a mistake of its own. What a test accepts counts for nothing: a test that
    draws random numbers accepts one version more or less each time.
    """
    others = [
        outcome
        for outcome in failed
        if not isinstance(outcome.check.judge, Kills) and not _is_true_or_false(outcome)
    ]
    if _agreements(mistake, others):
        return False
    same = [one for one in mistakes if one.of == mistake.of]
    return any(_fails(one, outcome) for outcome in others for one in same)


def _fails(mistake: KnownMistake, outcome: CheckOutcome) -> bool:
    """Whether code with this mistake fails a check."""
    check = outcome.check
    if mistake.name not in check.mistakes:
        return False
    return check.judge.compare(check.expected, check.mistakes[mistake.name]) is not None


def _is_true_or_false(outcome: CheckOutcome) -> bool:
    """Whether all that is wrong in a failed check are answers that are true or false."""
    leaves = [leaf for entry in _entries(outcome, []) for leaf in _leaves(entry)]
    return bool(leaves) and all(isinstance(leaf.expected, bool) for leaf in leaves)


def _contradictions(mistake: KnownMistake, passed: Sequence[CheckOutcome]) -> int:
    """In how many of the checks that the student passed the mistake would have failed."""
    asked = sum(mistake.name in outcome.check.mistakes for outcome in passed)
    return asked - _agreements(mistake, passed)


def _is_informative(outcome: CheckOutcome) -> bool:
    """Whether this outcome fails in a way that points to a mistake; a blank body does not."""
    difference = outcome.difference
    if difference is None:
        return False
    if difference.is_rejection and difference.seen.type == "AssertionError":
        return False  # every test that rejects a right version by an `assert` raises it
    return difference.kind not in ("missing", "no answer") and not is_blank(difference)
