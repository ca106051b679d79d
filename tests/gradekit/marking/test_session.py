"""Saving a mark, taking it back, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gradekit.course import Course
from gradekit.export.scores import scores_of
from gradekit.feedback.page import pages
from gradekit.gradebook.address import address_of
from gradekit.marking import history
from gradekit.marking.pile import Share
from gradekit.marking.session import MOST_COMMENT, BadMarkError, Marking, OutdatedError
from tests.gradekit.marking.conftest import TEXTS
from tests.helpers.gradebook import give_manual_mark
from tests.helpers.marked_class import grade
from tests.helpers.submissions import LAB


@pytest.fixture
def marking(course: Course) -> Marking:
    return Marking(course, LAB, Share(), "Kim")


def answers(marking: Marking) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = marking.state()["questions"][0]["answers"]
    return found


def of(marking: Marking, text: str) -> dict[str, Any]:
    return next(answer for answer in answers(marking) if answer["text"].startswith(text))


def request(answer: dict[str, Any], **change: Any) -> dict[str, Any]:
    mark = {name: answer[name] for name in ("points", "comment", "items")}
    return {"question": "explain", "answer": answer["key"], "seen": mark, **mark, **change}


def mark_of(course: Course, student: str) -> tuple[float | None, str]:
    (page,) = pages(course, LAB, student)
    (answer,) = page.answers
    return answer.earned, answer.comment


def test_no_name_leaves_the_session(marking: Marking) -> None:
    shown = json.dumps(marking.state())
    assert not any(f'"{student}"' in shown for student in TEXTS)


def test_a_mark_is_in_the_gradebook_on_the_page_and_in_the_export(
    course: Course, marking: Marking
) -> None:
    told = marking.save(request(of(marking, "Nobody"), points=1, items=[1], comment=" Why? "))
    assert (told["done"], told["of"]) == (1, 6)
    assert told["answer"] | {"key": ""} == {
        "key": "", "text": "Nobody knows.", "points": 1, "comment": "Why?",
        "needs_manual_grade": False, "items": [1],
    }  # fmt: skip
    assert mark_of(course, "bob") == (1, "Why?")
    score = next(score for score in scores_of(course, LAB) if score.student.id == "bob")
    assert (score.parts["explain"], score.score, score.is_final) == (1, 13, True)


def test_another_session_knows_the_mark_its_items_and_who_gave_it(
    course: Course, marking: Marking
) -> None:
    marking.save(request(of(marking, "Nobody"), points=3, items=[0], comment="So."))
    again = Marking(course, LAB)
    answer = of(again, "Nobody")
    assert (answer["points"], answer["items"], answer["comment"]) == (3, [0], "So.")
    assert again.state()["questions"][0]["bank"] == [{"text": "So.", "count": 1}]
    assert history.latest(course, LAB)["bob", "explain"].marker == "Kim"


def test_undo_takes_back_one_change_after_the_other(course: Course, marking: Marking) -> None:
    marking.save(request(of(marking, "Nobody"), points=1, items=[1]))
    marking.save(request(of(marking, "Nobody"), points=4, items=[0, 1], comment="Yes."))
    assert marking.undo()["answer"]["points"] == 1
    assert mark_of(course, "bob") == (1, "")
    told = marking.undo()
    assert (told["answer"]["points"], told["answer"]["needs_manual_grade"], told["done"]) == (
        None,
        True,
        0,
    )
    assert mark_of(course, "bob") == (None, "")
    with pytest.raises(BadMarkError, match="nothing to undo"):
        marking.undo()


def test_a_mark_stays_if_the_same_answer_is_graded_again(course: Course, marking: Marking) -> None:
    marking.save(request(of(marking, "Nobody"), points=2))
    grade(course, TEXTS)
    answer = of(Marking(course, LAB), "Nobody")
    assert (answer["points"], answer["needs_manual_grade"]) == (2, False)


def test_a_changed_answer_waits_for_a_mark_again(course: Course, marking: Marking) -> None:
    marking.save(request(of(marking, "Nobody"), points=2))
    grade(course, TEXTS | {"bob": "Somebody knows."})
    again = Marking(course, LAB)
    assert (of(again, "Somebody")["points"], of(again, "Somebody")["needs_manual_grade"]) == (
        2,
        True,
    )
    again.save(request(of(again, "Somebody"), comment="Who?", needs_manual_grade=True))
    assert (of(again, "Somebody")["points"], of(again, "Somebody")["needs_manual_grade"]) == (
        2,
        True,
    )
    again.save(request(of(again, "Somebody"), needs_manual_grade=False))
    assert (of(again, "Somebody")["points"], of(again, "Somebody")["needs_manual_grade"]) == (
        2,
        False,
    )


def test_a_text_that_changed_since_it_was_shown_gets_no_mark(
    course: Course, marking: Marking
) -> None:
    shown = of(marking, "Nobody")
    grade(course, TEXTS | {"bob": "Somebody knows."})
    with pytest.raises(OutdatedError, match="has changed since the page was opened"):
        marking.save(request(shown, points=2))
    assert mark_of(course, "bob") == (None, "")


def test_the_mark_of_another_ta_is_not_overwritten(course: Course, marking: Marking) -> None:
    shown = of(marking, "Nobody")
    give_manual_mark(address_of(course), "bob", "explain", 3)
    with pytest.raises(OutdatedError, match="3 points\\. Your mark was not saved") as caught:
        marking.save(request(shown, points=1))
    assert mark_of(course, "bob") == (3, "Well put.")
    assert caught.value.now is not None
    assert caught.value.now["answer"]["points"] == 3
    marking.save(request(of(marking, "Nobody"), points=1))
    assert mark_of(course, "bob") == (1, "Well put.")


def test_a_second_window_is_not_overwritten(marking: Marking) -> None:
    shown = of(marking, "Nobody")
    marking.save(request(shown, points=3))
    with pytest.raises(OutdatedError, match="in another window"):
        marking.save(request(shown, points=1))
    assert of(marking, "Nobody")["points"] == 3


def test_a_mark_counts_even_if_who_gave_it_cannot_be_kept(course: Course, marking: Marking) -> None:
    history.history_path(course, LAB).mkdir()
    told = marking.save(request(of(marking, "Nobody"), points=1))
    assert "the mark is in the gradebook" in told["warning"]
    assert mark_of(course, "bob") == (1, "")
    assert marking.undo()["answer"]["points"] is None


@pytest.mark.parametrize(
    "change",
    [
        {"points": 4.5},
        {"points": -1},
        {"points": float("nan")},
        {"points": float("inf")},
        {"points": 10**400},
        {"points": True},
        {"points": "3"},
        {"comment": None},
        {"comment": "x" * (MOST_COMMENT + 1)},
        {"items": [2]},
        {"items": [True]},
        {"items": "0"},
        {"answer": "another"},
        {"question": "softmax"},
        {"answer": ["a"]},
    ],
)
def test_what_cannot_be_a_mark_is_refused(
    course: Course, marking: Marking, change: dict[str, Any]
) -> None:
    with pytest.raises(BadMarkError):
        marking.save(request(of(marking, "Nobody"), points=1) | change)
    assert mark_of(course, "bob") == (None, "")


@pytest.mark.parametrize("request_", [None, [], "text", 3, {}])
def test_any_request_is_answered(marking: Marking, request_: Any) -> None:
    with pytest.raises(BadMarkError):
        marking.save(request_)
