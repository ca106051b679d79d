"""Exercises whose answers are written down and not computed: predictions and errata.

Both are declared: the items make the checks, and a wrong entry with its advice is one call.

    exercise = Predictions(
        {"P1": Prediction("The softmax of four equal scores.", points=1, right=0.25)},
        answered="Each of the questions has one number for its answer.",
    )
    exercise.wrong("winner_takes_all", "P1: the scores are equal, so no entry can win. …", P1=1.0)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import torch

from attnlab.checking.answers import (  # noqa: F401 - the probes' texts name them
    answers,
    forms,
    kinds,
    numbers,
    plain,
    right_number,
    second_and_third,
    slide_numbers,
)
from attnlab.checking.judges import Close, Judge
from gradekit.exercise.definition import Check, Exercise, Version
from gradekit.exercise.edits import definition_from


@dataclass(frozen=True)
class Prediction:
    """One question to answer before the code is run.

    Attributes:
        title: what is asked, as the feedback shows it, without the item's name.
        points: for the right answer; judged by a hidden check.
        right: the right answer, in the form in which it is asked.
        reason: one sentence that students read after the lab has closed.
        atol: how far a number may be off.
        question: what a student whose number is wrong is asked, if no known mistake explains it.
    """

    title: str
    points: float
    right: Any
    reason: str = ""
    atol: float = 1e-9
    question: str = ""


@dataclass(frozen=True)
class Item:
    """One place on a slide: the printed number, the right one, and the reason.

    Attributes:
        title: what the number is, as the feedback shows it, without the item's name.
        points: for the right number; judged by a hidden check.
        says: the number on the slide.
        right: the right number.
        reason: why, in at least four words.
        atol, rtol: how far a number may be off.
        question: what a student whose number is wrong is asked, if no known mistake explains it.
    """

    title: str
    points: float
    says: Any
    right: Any
    reason: str
    atol: float = 1e-9
    rtol: float = 1e-9
    question: str = ""


class _Answers(Exercise):
    """An exercise whose answer is one dict, by item."""

    def __init__(
        self, name: str, items: Mapping[str, Prediction | Item], right: Mapping[str, Any]
    ) -> None:
        super().__init__(answers=[name])
        self.right = dict(right)
        self._given: list[tuple[Version, Mapping[str, Any]]] = []  # the known mistakes
        self._questions = {item_name: item.question for item_name, item in items.items()}

    @property
    def files(self) -> tuple[Path, ...]:
        """The exercise's own file, and this one, which makes its checks."""
        return (*super().files, Path(__file__))

    def wrong(self, name: str, advice: str, **given: Any) -> None:
        """A known mistake: the right answers but for these entries.

        Args:
            name: names the mistake.
            advice: what helps the student who wrote it; never the answer.
            given: by item; numbers, texts, tensors, lists and tuples of them.
        """
        mistake = self._with(name, given, advice)
        self._given.append((mistake, given))
        self.add_mistake(mistake)

    def also_right_with(self, name: str, **given: Any) -> None:
        """The right answers with these entries instead, which must keep every point."""
        self.add_right_version(self._with(name, given))

    def _with(self, name: str, given: Mapping[str, Any], advice: str = "") -> Version:
        answer = {self.answers[0]: {**self.right, **given}}
        made = definition_from(f"def {name}():\n    return {_literal(answer)}\n", __name__)
        return Version(name, made, None, advice)

    def _add(
        self, name: str, title: str, points: float, seen: str, judge: Judge, hidden: bool = True
    ) -> None:
        """A check that sees the value of the expression `seen`."""
        probe = definition_from(f"def {name}(lab, draw):\n    return {seen}\n", __name__)
        question = self._questions.get(name, "")
        self.add_check(Check(name, title, points, hidden, judge, probe, question=question))


class Predictions(_Answers):
    """Predictions: a visible check of their form, and a hidden one for each.

    Args:
        items: by their names, such as P1.
        answered: the visible check's title: what forms the answers have.
        points: for answers of the right form.
    """

    def __init__(
        self, items: Mapping[str, Prediction], *, answered: str, points: float = 1
    ) -> None:
        right = {name: item.right for name, item in items.items()}
        super().__init__("predictions", items, right)
        self.items = dict(items)
        form = f"kinds(lab, *{tuple(items)!r})"
        self._add("all_answered", answered, points, form, Close(), hidden=False)
        for name, item in items.items():
            title = f"{name}: {item.title}"
            self._add(name, title, item.points, f"answers(lab, {name!r})", Close(item.atol))
        numeric = [name for name, item in items.items() if not isinstance(item.right, str)]
        if numeric:
            advice = f"{numeric[0]}: this is text. Write a number, without quotes or a unit."
            self.wrong("number_as_text", advice, **{numeric[0]: "text"})


class Errata(_Answers):
    """Errata: visible checks of what was read off the slides, and a hidden one for each item.

    Args:
        items: by their names, such as N1.
        says_points: for the slides' numbers, in one visible check; 0 if each item's hidden check
            judges both of its numbers.
        says_atol: how far these may be off.
        reasons_points: for second parts that are numbers and reasons of at least four words, in a
            visible check of their own; if `says_points` is 0, for items of the right form (two
            numbers and a reason).
    """

    def __init__(
        self,
        items: Mapping[str, Item],
        *,
        says_points: float,
        reasons_points: float,
        says_atol: float = 5e-3,
    ) -> None:
        right = {name: (item.says, item.right, item.reason) for name, item in items.items()}
        super().__init__("errata", items, right)
        self.items = dict(items)
        names = tuple(items)
        if says_points:
            self._add(
                "what_the_slides_say",
                "The first of each item's three parts is the number that the slide gives.",
                says_points,
                f"slide_numbers(lab, *{names!r})",
                Close(atol=says_atol),
                hidden=False,
            )
            self._add(
                "reasons",
                "The second part of each item is one number, and the third a reason, in at least "
                "four words.",
                reasons_points,
                f"second_and_third(lab, *{names!r})",
                Close(),
                hidden=False,
            )
        else:
            self._add(
                "three_parts",
                "Each item has two numbers and a reason, in at least four words.",
                reasons_points,
                f"forms(lab, *{names!r})",
                Close(),
                hidden=False,
            )
        self._wrong_form(names[0])
        judged = "right_number" if says_points else "numbers"
        for name, item in items.items():
            title, judge = f"{name}: {item.title}", Close(item.atol, item.rtol)
            self._add(name, title, item.points, f"{judged}(lab, {name!r})", judge)

    def _wrong_form(self, name: str) -> None:
        """Known mistakes: the second part of an item is text, or several numbers."""
        says, right, why = self.right[name]
        advice = f"{name}: your second number is text. Write a number, without quotes or a unit."
        self.wrong("second_as_text", advice, **{name: (says, "text", why)})
        advice = f"{name}: your second part is several numbers. Which one of them is asked for?"
        self.wrong("second_as_list", advice, **{name: (says, [right] * 3, why)})

    def numbers_mixed_up(self, question: str) -> None:
        """Known mistakes: the two numbers of some items swapped, or one number given twice.

        Call it after the other mistakes: one that gives the same numbers has advice of its own.

        Args:
            question: what is asked after "your first number belongs in second place".
        """
        differ = {name: item for name, item in self.right.items() if item[0] != item[1]}
        swapped = {name: (right, says, why) for name, (says, right, why) in differ.items()}
        for count in range(1, len(swapped) + 1):
            for names in combinations(swapped, count):
                given = {name: swapped[name] for name in names}
                self._wrong_if_new(f"{'_'.join(names)}_swapped", _swapped(names, question), given)
        for name, (says, right, why) in differ.items():
            # Before the hand-in only the first numbers are checked: then this one looks swapped.
            advice = self._advice_on({name: swapped[name]})
            self._wrong_if_new(f"{name}_second_twice", advice, {name: (right, right, why)})
            advice = (
                f"{name}: you give one number twice, but the question asks for two different "
                "ones. What is each of them?"
            )
            self._wrong_if_new(f"{name}_first_twice", advice, {name: (says, says, why)})

    def _wrong_if_new(self, name: str, advice: str, given: Mapping[str, Any]) -> None:
        if not self._advice_on(given):
            self.wrong(name, advice, **given)

    def _advice_on(self, given: Mapping[str, Any]) -> str:
        """The advice on a declared mistake with these numbers; empty if there is none."""
        asked = self._numbers(given)
        found = (one.advice for one, other in self._given if self._numbers(other) == asked)
        return next(found, "")

    def _numbers(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """By item, the two numbers of an answer with these entries."""
        items = {**self.right, **given}
        return {
            name: [plain(part) for part in item[:2]] if isinstance(item, (tuple, list)) else item
            for name, item in items.items()
        }


def _swapped(names: Sequence[str], question: str) -> str:
    """The advice on swapped numbers; also true of an item whose second number is given twice."""
    belong = "number belongs" if len(names) == 1 else "numbers belong"
    return f"{', '.join(names)}: your first {belong} in second place. {question}"


def _literal(value: Any) -> str:
    """Python that makes `value`; tensors and numbers that are not finite included."""
    match value:
        case torch.Tensor():
            return f"torch.tensor({_literal(value.tolist())}, dtype={value.dtype})"
        case float():
            return f"float({str(value)!r})" if value - value != 0 else repr(value)
        case dict():
            return "{" + ", ".join(f"{key!r}: {_literal(v)}" for key, v in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(_literal, value)) + "]"
        case tuple():
            return "(" + "".join(f"{_literal(part)}, " for part in value) + ")"
    return repr(value)
