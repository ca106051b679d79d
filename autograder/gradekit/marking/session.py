"""One TA's marking: what the page shows, and what happens when it saves or takes back a mark.

Nothing here knows about HTTP. Answers are named by keys; no student's id leaves this module.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from gradekit.course import Course
from gradekit.errors import MarkingError, ResultNotKeptError
from gradekit.feedback.plain_text import plain_prose
from gradekit.gradebook.address import address_of
from gradekit.gradebook.gradebook import Book
from gradekit.gradebook.manual_mark import ManualMark, MarkChangedError, give_mark
from gradekit.marking import history
from gradekit.marking.history import GivenMark
from gradekit.marking.pile import Answer, Question, Share, read_pile, text_now, with_mark

MOST_COMMENT = 5000
_MOST_BANK = 12  # comments that are offered again


class BadMarkError(MarkingError):
    """A mark that cannot be given; the message says why, for the TA."""


class OutdatedError(MarkingError):
    """The page shows something that has changed; the message says what.

    Attributes:
        now: the answer as it is now, for the page; None if only reloading helps.
    """

    def __init__(self, message: str, now: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.now = now


@dataclass(frozen=True)
class _Done:
    """A change that can be taken back."""

    question: str
    key: str
    before: ManualMark
    items_before: tuple[int, ...]


@dataclass
class Marking:
    """The marking of one lab by one TA.

    Attributes:
        share: the part of the pile that this TA marks.
        marker: the TA's name; empty if it was not given.
    """

    course: Course
    lab: str
    share: Share = field(default_factory=Share)
    marker: str = ""
    _questions: dict[str, Question] = field(default_factory=dict)
    _items: dict[tuple[str, str], tuple[int, ...]] = field(default_factory=dict)
    _done: list[_Done] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.reload()

    def reload(self) -> dict[str, Any]:
        """Read the pile again, with new hand-ins and marks that others gave; returns the state.

        Raises:
            LabError: as :func:`read_pile`.
        """
        pile = read_pile(self.course, self.lab, self.share)
        self._questions = {question.name: question for question in pile}
        known = history.latest(self.course, self.lab)
        self._items = {}
        for question in pile:
            for answer in question.answers:
                given = known.get((answer.student, question.name))
                if given and given.points == answer.mark.points:
                    self._items[question.name, answer.key] = given.items
        return self.state()

    def state(self) -> dict[str, Any]:
        """Everything that the page shows."""
        return {
            "lab": self.lab,
            "title": self.course.lab(self.lab).title,
            "marker": self.marker,
            "share": f"{self.share.number}/{self.share.of}" if self.share.of > 1 else "",
            "questions": [self._question(question) for question in self._questions.values()],
        }

    def save(self, request: Any) -> dict[str, Any]:
        """Save one mark; returns the answer as it is now, the progress, and a warning if need be.

        Args:
            request: from the page: question, answer, points, comment, items, `needs_manual_grade`,
                and `seen` with the points and the comment that the page had before.

        Raises:
            BadMarkError: the points or the comment are not allowed.
            OutdatedError: the text or the mark has changed since the page read it.
        """
        question, answer = self._find(request)
        points, comment = _points(request, question), _comment(request)
        items = _items(request, question)
        mark = ManualMark(points, comment, points is None or _needs_manual_grade(request))
        before = answer.mark, self._items.get((question.name, answer.key), ())
        self._check_seen(request, question.name, answer)
        if text_now(self.course, self.lab, question.name, answer.student) != answer.text:
            raise OutdatedError(
                "This answer has changed since the page was opened, so the mark was not saved. "
                "Reload the page to read the new text."
            )
        warning = self._write(question.name, answer, mark, items)
        self._done.append(_Done(question.name, answer.key, *before))
        return self._saved(question.name, answer.key) | {"warning": warning}

    def undo(self) -> dict[str, Any]:
        """Take back the last change of this session; returns the answer as it was before.

        Raises:
            BadMarkError: nothing is left to take back.
        """
        if not self._done:
            raise BadMarkError("There is nothing to undo.")
        last = self._done[-1]
        answer = self._answer(last.question, last.key)
        warning = self._write(last.question, answer, last.before, last.items_before)
        self._done.pop()
        return self._saved(last.question, last.key) | {"warning": warning}

    @property
    def progress(self) -> tuple[int, int]:
        """The answers of this share that are marked, and all of them."""
        answers = [a for question in self._questions.values() for a in question.answers]
        return sum(not answer.mark.needs_manual_grade for answer in answers), len(answers)

    def _write(
        self, question: str, answer: Answer, mark: ManualMark, items: tuple[int, ...]
    ) -> str:
        """Write a mark; returns what could not be kept beside it, in words."""
        try:
            with Book(address_of(self.course)) as book:
                give_mark(book, self.lab, answer.student, question, answer.mark, mark)
        except MarkChangedError as error:
            self._remember(question, answer.key, error.now, ())
            raise OutdatedError(
                f"{str(error).capitalize()}. Your mark was not saved; the page shows "
                "the other one now.",
                self._saved(question, answer.key),
            ) from error
        self._remember(question, answer.key, mark, items)
        given = GivenMark(answer.student, question, mark.points, mark.comment, items, self.marker)
        try:
            history.append(self.course, self.lab, given)
        except ResultNotKeptError as error:
            return f"{error}."
        return ""

    def _remember(self, question: str, key: str, mark: ManualMark, items: tuple[int, ...]) -> None:
        self._questions[question] = with_mark(self._questions[question], key, mark)
        self._items[question, key] = items

    def _find(self, request: Any) -> tuple[Question, Answer]:
        name, key = _text(request, "question"), _text(request, "answer")
        answer = self._answer(name, key)
        return self._questions[name], answer

    def _answer(self, question: str, key: str) -> Answer:
        answers = self._questions[question].answers if question in self._questions else ()
        for answer in answers:
            if answer.key == key:
                return answer
        raise BadMarkError("The page names an answer that is not in your share; reload the page.")

    def _check_seen(self, request: Any, question: str, answer: Answer) -> None:
        seen = request.get("seen") if isinstance(request, dict) else None
        if not isinstance(seen, dict) or (
            (seen.get("points"), seen.get("comment")) != (answer.mark.points, answer.mark.comment)
        ):
            raise OutdatedError(
                "This answer was marked in another window meanwhile. Your mark was not saved; the "
                "page shows the other one now.",
                self._saved(question, answer.key),
            )

    def _saved(self, question: str, key: str) -> dict[str, Any]:
        done, of = self.progress
        answer = self._answer(question, key)
        return {
            "question": question,
            "answer": self._shown(question, answer),
            "bank": self._bank(self._questions[question]),
            "done": done,
            "of": of,
        }

    def _question(self, question: Question) -> dict[str, Any]:
        return {
            "name": question.name,
            "title": question.title,
            "prompt": question.prompt,
            "points": question.points,
            "model": question.model.text,
            "scheme": [
                {"points": item.points, "text": item.text} for item in question.model.scheme
            ],
            "answers": [self._shown(question.name, answer) for answer in question.answers],
            "bank": self._bank(question),
        }

    def _shown(self, question: str, answer: Answer) -> dict[str, Any]:
        mark = answer.mark
        return {
            "key": answer.key,
            "text": plain_prose(answer.text),
            "points": mark.points,
            "comment": mark.comment,
            "needs_manual_grade": mark.needs_manual_grade,
            "items": list(self._items.get((question, answer.key), ())),
        }

    def _bank(self, question: Question) -> list[dict[str, Any]]:
        """The comments of this question that were given, most frequent first."""
        given = Counter(a.mark.comment for a in question.answers if a.mark.comment.strip())
        return [{"text": text, "count": number} for text, number in given.most_common(_MOST_BANK)]


def _text(request: Any, name: str) -> str:
    value = request.get(name) if isinstance(request, dict) else None
    if not isinstance(value, str):
        raise BadMarkError(f"The page sent no {name}; reload the page.")
    return value


def _points(request: Any, question: Question) -> float | None:
    value = request.get("points")
    if value is None:
        return None
    # NaN is not below this number, and a whole number of 400 digits has no float.
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e9:
        raise BadMarkError(f"Points are a number from 0 to {question.points:g}.")
    if not 0 <= value <= question.points:
        raise BadMarkError(
            f"{value:g} points cannot be given here; give from 0 to {question.points:g}."
        )
    return round(float(value), 2)


def _comment(request: Any) -> str:
    comment = _text(request, "comment")
    if len(comment) > MOST_COMMENT:
        raise BadMarkError(
            f"The comment has {len(comment)} characters; write at most {MOST_COMMENT}."
        )
    return plain_prose(comment).strip()


def _needs_manual_grade(request: Any) -> bool:
    """Whether an answer that changed since it was marked still waits, as after a mere comment."""
    return request.get("needs_manual_grade") is True


def _items(request: Any, question: Question) -> tuple[int, ...]:
    items = request.get("items")
    most = len(question.model.scheme)
    if not isinstance(items, list) or not all(type(i) is int and 0 <= i < most for i in items):
        raise BadMarkError("The page sent items that the mark scheme does not have; reload it.")
    return tuple(sorted(set(items)))
