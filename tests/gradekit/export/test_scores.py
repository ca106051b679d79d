"""Scores of a class: missing is not 0, open is not final, and nobody is left out."""

from __future__ import annotations

import pytest

from gradekit.course import load_course
from gradekit.errors import CourseError, JournalLockedError
from gradekit.export.scores import ScoreState, scores_of
from gradekit.results import journal
from gradekit.results.folder import journal_path
from gradekit.results.journal import Journal
from tests.helpers.submissions import LAB


@pytest.fixture
def rows(course):
    return {score.student.id: score for score in scores_of(course, LAB)}


def test_everyone_has_a_row_in_the_order_of_the_list(rows):
    assert list(rows) == ["ada", "bob", "cyd", "dan", "eve", "fay", "gil", "zed"]
    assert {name: str(score.state) for name, score in rows.items()} == {
        "ada": "graded",
        "bob": "missing",
        "cyd": "late",
        "dan": "not graded",
        "eve": "not final",
        "fay": "broken: theirs",
        "gil": "broken: ours",
        "zed": "graded",
    }


def test_points_penalty_and_score(rows):
    ada, cyd = rows["ada"], rows["cyd"]
    assert dict(ada.parts) == {"softmax": 8, "entropy": 4, "explain": 4}
    assert (ada.raw, ada.penalty, ada.score, ada.of) == (16, 0, 16, 16)
    # 10 points, a day and a half late: two days of 10 % each.
    assert (cyd.raw, cyd.penalty, cyd.score) == (10, 2, 8)
    assert cyd.late.startswith("Handed in 2 days late")


def test_nothing_known_is_not_zero(rows):
    for name in ("bob", "dan", "gil"):
        assert rows[name].score is None
    assert rows["fay"].score == 0
    assert rows["eve"].parts["explain"] is None
    assert rows["zed"].parts["explain"] == 0  # the cell was left empty


def test_what_is_final(rows):
    assert {name for name, score in rows.items() if score.is_final} == {
        "ada",
        "bob",
        "cyd",
        "fay",
        "zed",
    }


def test_a_new_extension_changes_the_penalty(course):
    text = (course.root / "course.toml").read_text().replace('"bob"', '"cyd"')
    (course.root / "course.toml").write_text(text)
    rows = {score.student.id: score for score in scores_of(load_course(course.root), LAB)}
    assert rows["cyd"].state is ScoreState.GRADED
    assert rows["cyd"].score == 10


def test_without_a_list_everyone_who_handed_in_has_a_row(course):
    (course.root / "students.csv").unlink()
    found = [score.student.id for score in scores_of(course, LAB)]
    assert found == ["ada", "cyd", "dan", "eve", "fay", "gil", "zed"]


def test_a_lab_without_results_is_one_sentence(tmp_path, course):
    (course.root / "results" / f"{LAB}.jsonl").unlink()
    with pytest.raises(CourseError, match="lab01 has no results yet; `lab grade lab01` makes them"):
        scores_of(course, LAB)


def test_while_the_lab_is_graded_a_sentence_says_so(course, monkeypatch):
    monkeypatch.setattr(journal, "_READER_SECONDS", 0.1)
    said = pytest.raises(JournalLockedError, match=r"is being written by process .*; wait")
    with Journal(journal_path(course, LAB)), said:
        scores_of(course, LAB)
