"""Which hand-ins agree more than chance explains, judged by the class itself.

A fingerprint counts by its rarity: log(n / number of hand-ins that have it). It counts nothing if
more than half of the hand-ins have it, if the lab gives it, or if the lab's own answer has it and a
tenth of the class, too. The score of two hand-ins in a step is the sum over the fingerprints that
they share; their surprise is -log of the part of all pairs that score at least as much there.

What chance can do is taken from the class: if students work alone, then in which steps two of them
agree does not depend on where else they agree, so the surprises of such a pair add up like
independent draws, one from those of each step. The distribution of that sum is computed exactly (by
convolution of the steps' histograms), and a pair is above the line if fewer than 0.01 pairs of such
a class would be as surprising.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gradekit.similarity.fingerprints import CODE, PROSE, Fingerprint, all_runs, fingerprints
from gradekit.similarity.hand_ins import ClassTexts, HandInTexts
from gradekit.similarity.tokens import chosen_names, code_symbols, prose_symbols

LINE = 0.01  # pairs of a class that may be expected to reach the line by chance
# Two people may share a habit that shows in every step; it is a small part of what they write.
LEAST_SHARE = 1 / 3
_BINS = 4096
_MOST_LISTED = 10

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Agreement:
    """What two hand-ins share in one step.

    Attributes:
        values: the shared fingerprints.
        score: the sum of their rarities.
        same_text: the two texts are equal to the letter, comments included.
        rarest: how many hand-ins, these two included, have the rarest shared fingerprint.
    """

    step: str
    values: frozenset[int]
    score: float
    same_text: bool
    rarest: int


@dataclass(frozen=True)
class Pair:
    """Two hand-ins.

    Attributes:
        expected: how many pairs of the class would agree at least as much by chance.
        share: the shared part of what is the smaller hand-in's own, from 0 to 1.
        agreements: by step, strongest first.
    """

    first: HandInTexts
    second: HandInTexts
    score: float
    expected: float
    share: float
    agreements: tuple[Agreement, ...]

    @property
    def is_above_line(self) -> bool:
        """Whether a person should look at it."""
        return self.expected <= LINE and self.share >= LEAST_SHARE


@dataclass(frozen=True)
class Similarity:
    """The result for one lab.

    Attributes:
        pairs: above the line, the least expected first.
        next_pairs: the first few below the line.
        groups: hand-ins that are connected by pairs above the line, largest first.
    """

    texts: ClassTexts
    pairs: tuple[Pair, ...]
    next_pairs: tuple[Pair, ...]
    groups: tuple[tuple[HandInTexts, ...], ...]


def compare(texts: ClassTexts) -> Similarity:
    """Compare every two hand-ins of this class, and each of them with those of earlier ones."""
    prints = Prints(texts)
    first, second = _pairs(texts.hand_ins)
    scores = {step: prints.scores(step)[first, second] for step in prints.homes}
    totals = np.sum([np.zeros(len(first)), *scores.values()], axis=0)
    expected, surprise = _expected(scores, len(first))
    order = np.lexsort((-totals, -surprise))
    own = prints.own_weights()
    found = []
    for position in order[: int(np.sum(expected <= LINE)) + _MOST_LISTED]:
        i, j = int(first[position]), int(second[position])
        least = min(own[i], own[j])
        if totals[position] > 0:
            share = float(min(1.0, totals[position] / least)) if least else 0.0
            found.append(
                Pair(
                    texts.hand_ins[i],
                    texts.hand_ins[j],
                    round(float(totals[position]), 1),
                    float(expected[position]),
                    share,
                    prints.agreements(i, j),
                )
            )
    above = tuple(pair for pair in found if pair.is_above_line)
    below = tuple(pair for pair in found if not pair.is_above_line)[:_MOST_LISTED]
    return Similarity(texts, above, below, _groups(above))


class Prints:
    """The fingerprints of a class.

    Attributes:
        homes: by step, the fingerprints that count and that most hand-ins have in this step.
    """

    def __init__(self, texts: ClassTexts) -> None:
        self._texts = texts
        self._found = [prints_of(hand_in) for hand_in in texts.hand_ins]
        given, answers = _runs(texts.given), _runs(texts.answers)
        found = [{one.value for prints in f.values() for one in prints} for f in self._found]
        self._count = Counter(value for values in found for value in values)
        tenth = max(2, len(found) / 10)
        unavoidable = {value for value in answers if self._count[value] >= tenth}
        self._sets = [values - given - unavoidable for values in found]
        half = max(2, len(self._sets) / 2)
        self._rarity = {
            value: math.log(len(self._sets) / count)
            for value, count in self._count.items()
            if count <= half
        }
        self.homes = self._homes()

    def _homes(self) -> dict[str, list[int]]:
        """Each shared fingerprint in the step in which most hand-ins have it.

        So moving code from one cell to another hides nothing.
        """
        where: defaultdict[int, Counter[str]] = defaultdict(Counter)
        for found in self._found:
            for step, prints in found.items():
                for value in {print_.value for print_ in prints}:
                    if self._count[value] > 1 and value in self._rarity:
                        where[value][step] += 1
        homes: dict[str, list[int]] = {}
        for value, steps in where.items():
            homes.setdefault(steps.most_common(1)[0][0], []).append(value)
        return homes

    def scores(self, step: str) -> Numbers:
        """(n, n), the score of every two hand-ins in a step."""
        values = self.homes[step]
        column = {value: number for number, value in enumerate(values)}
        has = np.zeros((len(self._sets), len(values)), dtype=np.float32)
        for row, own in enumerate(self._sets):
            has[row, [column[value] for value in own & column.keys()]] = 1.0
        rarity = np.array([self._rarity[value] for value in values], dtype=np.float32)
        return np.asarray((has * rarity) @ has.T, dtype=np.float64)

    def own_weights(self) -> list[float]:
        """For each hand-in, the rarity of everything in it that counts."""
        return [sum(self._rarity.get(value, 0.0) for value in values) for values in self._sets]

    def agreements(self, i: int, j: int) -> tuple[Agreement, ...]:
        """What two hand-ins share, by step, strongest first."""
        both = self._sets[i] & self._sets[j] & self._rarity.keys()
        first, second = self._texts.hand_ins[i], self._texts.hand_ins[j]
        found = []
        for step, values in self.homes.items():
            shared = both.intersection(values)
            if shared:
                text = first.text(step).strip()
                found.append(
                    Agreement(
                        step,
                        frozenset(shared),
                        sum(self._rarity[value] for value in shared),
                        bool(text) and text == second.text(step).strip(),
                        min(self._count[value] for value in shared),
                    )
                )
        return tuple(sorted(found, key=lambda agreement: -agreement.score))


def prints_of(hand_in: HandInTexts) -> dict[str, list[Fingerprint]]:
    """The fingerprints of a hand-in by step and question."""
    names = chosen_names(hand_in.code.values())
    code = {
        step: fingerprints(code_symbols(text, names), CODE) for step, text in hand_in.code.items()
    }
    prose = {step: fingerprints(prose_symbols(text), PROSE) for step, text in hand_in.prose.items()}
    return code | prose


def shared_spans(pair: Pair) -> dict[str, tuple[list[tuple[int, int]], list[tuple[int, int]]]]:
    """By step, the characters of either text in fingerprints that both have and few others."""
    prints = prints_of(pair.first), prints_of(pair.second)
    both = {value for agreement in pair.agreements for value in agreement.values}
    return {
        agreement.step: (
            _spans(prints[0].get(agreement.step, []), both),
            _spans(prints[1].get(agreement.step, []), both),
        )
        for agreement in pair.agreements
    }


def _spans(prints: Sequence[Fingerprint], values: Collection[int]) -> list[tuple[int, int]]:
    """The covered characters, overlapping parts joined."""
    spans: list[tuple[int, int]] = []
    for one in prints:
        if one.value not in values:
            continue
        if spans and one.start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], one.stop))
        else:
            spans.append((one.start, one.stop))
    return spans


def _runs(cells: Sequence[str]) -> set[int]:
    """Hashes of all runs in some cells, as code and as prose."""
    names = chosen_names(cells)
    runs: set[int] = set()
    for text in cells:
        runs |= all_runs(code_symbols(text, names), CODE) | all_runs(prose_symbols(text), PROSE)
    return runs


def _pairs(hand_ins: Sequence[HandInTexts]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Every two of this class, and each of it with each earlier one who is somebody else."""
    ours = sum(not hand_in.earlier for hand_in in hand_ins)
    first, second = np.triu_indices(len(hand_ins), 1)
    kept = first < ours
    students = np.array([hand_in.student for hand_in in hand_ins])
    kept &= students[first] != students[second]
    groups = np.array([hand_in.group for hand_in in hand_ins])
    kept &= (groups[first] == "") | (groups[first] != groups[second])
    return first[kept], second[kept]


def _expected(scores: Mapping[str, Numbers], pairs: int) -> tuple[Numbers, Numbers]:
    """For each pair, how many pairs would be as surprising by chance; and its surprise.

    The surprise in one step is -log of the part of all pairs that score at least as much there.
    """
    surprises = [_surprise(values) for values in scores.values()]
    whole = sum(float(values.max(initial=0.0)) for values in surprises)
    total = np.zeros(pairs)
    if not whole:
        return np.full(pairs, float(pairs)), total
    binned = np.zeros(pairs, dtype=np.int64)
    by_chance = np.ones(1)
    for values in surprises:
        bins = np.rint(values * (_BINS / whole)).astype(np.int64)
        binned += bins
        total += values
        by_chance = np.convolve(by_chance, np.bincount(bins) / pairs)
    at_least = np.cumsum(by_chance[::-1])[::-1]
    return pairs * at_least[binned], total


def _surprise(values: Numbers) -> Numbers:
    ordered = np.sort(values)
    at_least = len(values) - np.searchsorted(ordered, values - 1e-6)
    return np.asarray(-np.log(at_least / len(values)))


def _groups(pairs: Sequence[Pair]) -> tuple[tuple[HandInTexts, ...], ...]:
    """Hand-ins that pairs connect, directly or through others."""
    group: dict[str, set[str]] = {}
    known: dict[str, HandInTexts] = {}
    for pair in pairs:
        known |= {one.label: one for one in (pair.first, pair.second)}
        joined = group.get(pair.first.label, {pair.first.label}) | group.get(
            pair.second.label, {pair.second.label}
        )
        group |= dict.fromkeys(joined, joined)
    distinct = {id(members): members for members in group.values()}.values()
    ordered = sorted((sorted(members) for members in distinct), key=lambda m: (-len(m), m))
    return tuple(tuple(known[label] for label in members) for members in ordered)
