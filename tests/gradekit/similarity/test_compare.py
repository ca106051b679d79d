"""Copies are above the line, and hand-ins of students who work alone are not."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import pytest

from gradekit.similarity.compare import LEAST_SHARE, LINE, Similarity, compare, shared_spans
from gradekit.similarity.hand_ins import ClassTexts, HandInTexts
from tests.helpers.cpu_time import takes_less_than
from tests.helpers.similar_class import (
    Answers,
    Change,
    alone,
    copied,
    material_of_lab,
    one_line_changed,
    recommented,
    renamed,
    reordered,
    texts,
)

LAB = "lab01"
CHANGES: dict[str, tuple[Change, ...]] = {
    "as it was": (),
    "renamed": (renamed,),
    "recommented": (recommented,),
    "one line changed": (one_line_changed,),
    "reordered": (reordered,),
    "all at once": (renamed, reordered, recommented, one_line_changed),
}


@pytest.fixture(scope="module")
def class_alone() -> dict[str, Answers]:
    """Sixty students whose answers to lab 1 are all right, each worked out alone."""
    return {f"s{number:02}": alone(material_of_lab(LAB), number) for number in range(60)}


def pairs(found: Similarity) -> set[tuple[str, ...]]:
    return {tuple(sorted((p.first.student, p.second.student))) for p in found.pairs}


def test_nobody_who_worked_alone_is_above_the_line(class_alone: dict[str, Answers]) -> None:
    found = compare(texts(LAB, class_alone))
    assert found.pairs == found.groups == ()
    assert found.next_pairs[0].expected > LINE


@pytest.mark.slow
@pytest.mark.parametrize("lab", ["lab03", "lab04"])
def test_neither_in_other_labs(lab: str) -> None:
    material = material_of_lab(lab)
    students = {f"s{number:02}": alone(material, number) for number in range(25)}
    assert compare(texts(lab, students)).pairs == ()


def test_exactly_the_planted_copies_are_above_the_line(class_alone: dict[str, Answers]) -> None:
    originals = dict(zip(CHANGES, class_alone, strict=False))
    copies = {
        how: copied(class_alone[originals[how]], *changes) for how, changes in CHANGES.items()
    }
    found = compare(texts(LAB, class_alone | copies))
    assert pairs(found) == {tuple(sorted((how, originals[how]))) for how in CHANGES}


def test_copies_of_one_hand_in_are_one_group(class_alone: dict[str, Answers]) -> None:
    copies = {f"t{number}": copied(class_alone["s07"], renamed) for number in range(3)}
    found = compare(texts(LAB, class_alone | copies))
    assert [[one.student for one in group] for group in found.groups] == [["s07", "t0", "t1", "t2"]]
    assert len(found.pairs) == 6


def test_a_hand_in_of_an_earlier_class_is_found(class_alone: dict[str, Answers]) -> None:
    known = texts(LAB, class_alone)
    older = (
        HandInTexts("eve", "2025", copied(class_alone["s03"], renamed)),
        HandInTexts("s04", "2025", class_alone["s04"]),  # the same person again
        HandInTexts("max", "2025", alone(material_of_lab(LAB), 1000)),
        HandInTexts("tim", "2025", alone(material_of_lab(LAB), 1000)),  # old pairs are old matters
    )
    found = compare(
        ClassTexts(LAB, known.steps, (*known.hand_ins, *older), known.given, known.answers)
    )
    assert [(p.first.label, p.second.label) for p in found.pairs] == [("s03", "eve (2025)")]


def small(*codes: str, prose: tuple[str, ...] = ()) -> Similarity:
    """A class by its answers to one step in each of several cells."""
    hand_ins = [
        HandInTexts(
            f"s{number}", "", {f"step{i}": part for i, part in enumerate(code.split("\n\n"))}
        )
        for number, code in enumerate(codes)
    ]
    return compare(ClassTexts("lab01", {f"step{i}": "" for i in range(9)}, tuple(hand_ins), ()))


def steps(student: int) -> str:
    numbers = count(1000 * student)
    lines = (f"a = f({next(numbers)}) + g({next(numbers)}) * {next(numbers)}" for _ in range(24))
    return "\n\n".join("\n".join(four) for four in zip(*[lines] * 4, strict=True))


def test_what_half_of_the_class_has_says_nothing() -> None:
    common = "h(1) + h(2) + h(3) + h(4) + h(5)"
    apart = [steps(number) for number in range(8)]
    with_common = [f"{code}\n\n{common}" if n < 6 else code for n, code in enumerate(apart)]
    assert small(*apart).next_pairs == small(*with_common).next_pairs == ()


def test_what_two_of_the_class_have_counts() -> None:
    codes = [steps(number) for number in range(8)]
    codes[5] = codes[2]
    found = small(*codes)
    assert pairs(found) == {("s2", "s5")}
    (pair,) = found.pairs
    assert pair.share == 1
    assert all(a.same_text and a.rarest == 2 for a in pair.agreements)


def test_members_of_a_group_are_not_compared() -> None:
    codes = [steps(number) for number in range(8)]
    codes[5] = codes[4] = codes[2]
    known = small(*codes).texts
    grouped = tuple(
        replace(one, group="Red" if one.student in ("s2", "s5") else "") for one in known.hand_ins
    )
    found = compare(replace(known, hand_ins=grouped))
    assert pairs(found) == {("s2", "s4"), ("s4", "s5")}


def test_one_shared_step_alone_is_not_above_the_line() -> None:
    codes = [steps(number).split("\n\n") for number in range(8)]
    codes[5][0] = codes[2][0]
    found = small(*("\n\n".join(code) for code in codes))
    assert found.pairs == ()
    assert found.next_pairs[0].share < LEAST_SHARE


def test_only_the_shared_part_of_a_text_is_marked() -> None:
    codes = [steps(number) for number in range(8)]
    codes[5] = codes[2].replace("a = f(2000)", "begin(); a = f(2000)")
    (pair,) = small(*codes).pairs
    spans = shared_spans(pair)["step0"]
    text = pair.second.text("step0")
    marked = "".join(text[start:stop] for start, stop in spans[1])
    assert "begin" not in marked
    assert "f(2003) + g(2004) * 2005" in marked


def test_moved_code_is_found() -> None:
    codes = [steps(number).split("\n\n") for number in range(8)]
    codes[5] = ["", "\n".join(codes[2][::-1])]
    assert pairs(small(*("\n\n".join(code) for code in codes))) == {("s2", "s5")}


@pytest.mark.slow
def test_a_class_of_300_takes_less_than_20_seconds() -> None:
    students = {f"s{number}": alone(material_of_lab(LAB), number) for number in range(300)}
    students["t6"] = copied(students["s6"], renamed, recommented)
    known = texts(LAB, students)
    # Reading the notebooks of 300 takes another two seconds.
    assert takes_less_than(15, lambda: compare(known))
    assert pairs(compare(known)) == {("s6", "t6")}
