"""The report of a class in which known misconceptions were planted."""

from __future__ import annotations

import json
from datetime import datetime

import pytest

from gradekit.course import Course
from gradekit.errors import CourseError
from gradekit.gradebook.address import address_of
from gradekit.report.report import Report, make_report
from gradekit.report.summary import sentences
from gradekit.results.folder import journal_path
from gradekit.results.journal import Journal
from gradekit.results.records import State, SubmissionRecord
from tests.gradekit.report.conftest import NOW
from tests.helpers.gradebook import give_manual_mark
from tests.helpers.planted_class import LAB, PLANTED, QUESTION


def test_each_planted_misconception_is_named_with_its_count_and_its_advice(report: Report) -> None:
    found = [(m.step, m.mistakes, len(m.students), m.advice) for m in report.misconceptions]
    both = PLANTED[-1]
    single = [p for p in PLANTED if p.mistake and p is not both]
    expected = [(p.step, p.mistake, p.students, p.advice[0]) for p in single] + [
        (both.step, (name,), both.students, advice)
        for name, advice in zip(both.mistake, both.advice, strict=True)
    ]
    assert sorted(found) == sorted(expected)
    assert [count for *_, count, _ in found] == [63, 41, 17, 9, 8, 8]


def test_steps_are_ranked_as_planted(report: Report) -> None:
    first = [step.name for step in report.hardest[:4]]
    assert first == ["cross_entropy", "softmax", "temperature", "softmax_backward"]
    by_name = {step.name: step for step in report.steps}
    hard = by_name["cross_entropy"]
    assert hard.students == 298
    assert hard.mean == pytest.approx(14 * (298 - 63 - (9 + 12) / 2) / 298)
    assert (hard.full, hard.none, hard.left_out, hard.unexplained) == (298 - 84, 63, 0, 12)
    left = by_name["temperature"]
    assert (left.full, left.none, left.left_out, left.unexplained) == (268, 0, 30, 0)
    assert left.share == pytest.approx(268 / 298)
    shape, promises = hard.checks
    assert (shape.passed, promises.passed, shape.students) == (298 - 63, 298 - 84, 298)
    assert by_name["temperature"].checks[0].students == 268, "only of those who wrote it"
    assert by_name["log_softmax"].checks[0].remark == "everyone passes"


def test_states_lateness_sections_and_scores(report: Report) -> None:
    assert dict(report.score_states) == {"missing": 2, "not final": 298}
    assert report.late == 29
    assert report.not_in_gradebook == 0
    assert (report.whole.students, report.whole.handed_in, report.whole.scored) == (300, 298, 298)
    assert [(s.name, s.students, s.handed_in) for s in report.sections] == [
        ("Mon", 100, 100), ("Tue", 100, 99), ("Wed", 100, 99),
    ]  # fmt: skip
    assert sum(report.bins) == 298
    (question,) = report.questions
    assert (question.name, question.waiting, question.marks) == (QUESTION, 298, ())


def test_what_is_said_first(report: Report) -> None:
    assert sentences(report) == [
        "298 of 300 students handed in, 29 of them late.",
        f"The median score is {report.whole.median:g} of 100 points, the mean "
        f"{report.whole.mean:.1f} so far, because 298 students need manual grading.",
        "The hardest step is 1.3 Cross-entropy: on average 75 % of its points.",
        "6 different known mistakes were recognised. The most frequent: double softmax, in "
        "1.3 Cross-entropy (63 students).",
    ]


def test_json_names_nobody_unless_asked(report: Report) -> None:
    plain = json.dumps(report.to_json())
    assert "s000" not in plain
    assert "Given" not in plain
    named = report.to_json(with_names=True)
    first = named["misconceptions"][0]
    assert first["students"] == len(first["who"]) == 63
    assert named["who"]["missing"] == ["s298", "s299"]
    assert named["hardest"][0] == "cross_entropy"


def test_manual_marks_are_in_the_scores(small_class: Course) -> None:
    give_manual_mark(address_of(small_class), "s000", QUESTION, 3.0)
    report = make_report(small_class, LAB, NOW)
    (question,) = report.questions
    assert (question.marks, question.mean, question.waiting) == ((3.0,), 3.0, 1)
    assert dict(report.score_states) == {"missing": 2, "not final": 1, "graded": 1}
    assert report.whole.median == pytest.approx((99 + 96) / 2)
    assert report.misconceptions == ()
    assert "No known mistake was recognised." in sentences(report)


def test_broken_hand_ins_count_as_handed_in_and_in_no_step(small_class: Course) -> None:
    with Journal(journal_path(small_class, LAB)) as journal:
        for student, state in (("s000", State.THEIRS), ("s001", State.OURS)):
            journal.append([SubmissionRecord(student, LAB, "digest", state, "why")])
    report = make_report(small_class, LAB, NOW)
    assert dict(report.score_states) == {"missing": 2, "broken: theirs": 1, "broken: ours": 1}
    assert [step.students for step in report.steps] == [0] * len(report.steps)
    assert report.hardest == ()
    assert sentences(report)[0] == (
        "2 of 4 students handed in (1 could not be run, 1 failed in the grader)."
    )


def test_without_a_gradebook_the_results_are_there_and_the_scores_are_missed(
    small_class: Course,
) -> None:
    (small_class.root / "gradebook.db").unlink()
    report = make_report(small_class, LAB, NOW)
    assert report.not_in_gradebook == 2
    assert report.whole.median is None
    assert report.hardest[0].students == 2


def test_the_time_is_that_of_the_course(report: Report) -> None:
    assert report.made_at == NOW
    assert (
        report.made_at.utcoffset() == datetime.fromisoformat("2026-09-21T09:00+02:00").utcoffset()
    )


@pytest.mark.parametrize("content", [None, ""])
def test_a_lab_without_results_is_one_sentence(small_class: Course, content: str | None) -> None:
    path = journal_path(small_class, LAB)
    path.unlink()
    if content is not None:
        path.write_text(content)
    with pytest.raises(CourseError, match="lab01 has no results yet; `lab grade lab01` makes them"):
        make_report(small_class, LAB, NOW)
