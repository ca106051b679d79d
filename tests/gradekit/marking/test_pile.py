"""The pile: anonymous, in a fixed order, in shares that do not overlap."""

from __future__ import annotations

import re

import pytest

from gradekit.course import Course
from gradekit.errors import CourseError
from gradekit.marking.pile import Question, Share, read_pile, text_now
from gradekit.results.folder import results_folder
from tests.gradekit.marking.conftest import TEXTS
from tests.helpers.marked_class import grade, write_course
from tests.helpers.submissions import LAB


def pile(course: Course, share: Share | None = None) -> Question:
    (question,) = read_pile(course, LAB, share or Share())
    return question


def students(question: Question) -> list[str]:
    return [answer.student for answer in question.answers]


def test_everyone_who_wrote_something_is_in_it(course: Course) -> None:
    question = pile(course)
    assert sorted(students(question)) == [student for student, text in TEXTS.items() if text]
    assert {a.student: a.text for a in question.answers} == {
        student: text for student, text in TEXTS.items() if text
    }
    assert all(
        answer.mark.needs_manual_grade and answer.mark.points is None for answer in question.answers
    )


def test_the_question_has_its_model_answer_and_mark_scheme(course: Course) -> None:
    question = pile(course)
    assert question.title == "In your own words"
    assert question.prompt.endswith("Why is the maximum subtracted?")
    assert question.model.text == "The exponentials stay finite: the largest is 1."
    assert [item.points for item in question.model.scheme] == [3, 1]


def test_the_order_is_fixed_and_not_that_of_names(course: Course) -> None:
    order = students(pile(course))
    assert order == students(pile(course)) != sorted(order)
    grade(course, {f"new{number}": f"Another answer, {number}." for number in range(9)})
    assert [name for name in students(pile(course)) if not name.startswith("new")] == order


def test_equal_answers_follow_each_other(course: Course) -> None:
    order = students(pile(course))
    assert abs(order.index("ada") - order.index("eve")) == 1


def test_shares_are_all_of_the_pile_and_stay_when_others_hand_in(course: Course) -> None:
    grade(course, {f"s{number}": f"An answer, {number}." for number in range(60)})
    shares = [set(students(pile(course, Share(number, 3)))) for number in (1, 2, 3)]
    assert sorted(name for share in shares for name in share) == sorted(students(pile(course)))
    assert min(map(len, shares)) > 10
    grade(course, {f"t{number}": f"One more, {number}." for number in range(20)})
    assert all(old <= set(students(pile(course, Share(n, 3)))) for n, old in enumerate(shares, 1))


def test_keys_do_not_tell_who_it_is(course: Course) -> None:
    keys = [answer.key for answer in pile(course).answers]
    assert len(set(keys)) == len(keys)
    assert all(re.fullmatch(r"[0-9a-f]{24}", key) for key in keys)
    (results_folder(course) / "secret").unlink()  # a digest of a name alone would be the same again
    assert not {answer.key for answer in pile(course).answers} & set(keys)


def test_the_text_of_now_is_read_from_the_graded_notebook(course: Course) -> None:
    grade(course, {"bob": "Somebody does."})
    assert text_now(course, LAB, "explain", "bob") == "Somebody does."


@pytest.mark.parametrize("text", ["0/3", "4/3", "half", "1/0", "1 of 3", "1/9999"])
def test_what_is_not_a_share_is_an_error(text: str) -> None:
    with pytest.raises(CourseError, match="is not a share; three TAs write 1/3"):
        Share.parse(text)


def test_without_results_it_says_what_to_do(tmp_path, course: Course) -> None:
    fresh = write_course(tmp_path / "fresh")
    with pytest.raises(CourseError, match="lab01 has no results yet; `lab grade lab01` makes them"):
        read_pile(fresh, LAB, Share())
