"""``lab report``: everything that the page, the terminal and the JSON say about a class.

Tested in tests/gradekit/report/test_report.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from statistics import mean, median
from typing import Any

from gradekit.course import Course
from gradekit.export.scores import Score, ScoreState
from gradekit.report.class_results import ClassResults, read_class
from gradekit.report.excerpts import Excerpt, Excerpts
from gradekit.report.items import StepItem, hardest_first, steps_of
from gradekit.report.misconceptions import Misconception, misconceptions_of
from gradekit.report.questions import Question, questions_of
from gradekit.roster.students import Student

BINS = 10  # of the histogram of scores


@dataclass(frozen=True)
class Group:
    """The scores of some students: a section, or the whole class.

    Attributes:
        students: how many there are.
        handed_in: how many of them handed in.
        scored: how many have a score.
        mean, median: of the scores, after lateness; None if there is none.
    """

    name: str
    students: int
    handed_in: int
    scored: int
    mean: float | None
    median: float | None


@dataclass(frozen=True)
class Report:
    """One lab's report.

    Attributes:
        points: of the lab.
        score_states: how many students are in each state; a state of none is left out.
        late: how many handed in late, whatever their state.
        bins: how many scores are in each tenth of the points; the last one includes full points.
        steps: in the order of the notebook.
        excerpts: by misconception, code of students who have it.
        by_state: everyone by state, for the page with names.
        names: by a student's id.
        not_in_gradebook: hand-ins with results that the gradebook does not have.
    """

    course: str
    lab: str
    title: str
    made_at: datetime
    points: float
    whole: Group
    sections: tuple[Group, ...]
    score_states: Mapping[str, int]
    late: int
    bins: tuple[int, ...]
    steps: tuple[StepItem, ...]
    misconceptions: tuple[Misconception, ...]
    excerpts: Mapping[Misconception, tuple[Excerpt, ...]]
    questions: tuple[Question, ...]
    by_state: Mapping[str, tuple[Student, ...]]
    names: Mapping[str, str]
    not_in_gradebook: int

    @property
    def hardest(self) -> tuple[StepItem, ...]:
        """The graded steps, the hardest first."""
        return hardest_first(self.steps)

    def to_json(self, with_names: bool = False) -> dict[str, Any]:
        """The report for programs.

        Args:
            with_names: also the ids of the students who are in each state, and who have each
                misconception.
        """
        values = {
            "course": self.course, "lab": self.lab, "title": self.title,
            "made_at": self.made_at.isoformat(timespec="seconds"), "points": self.points,
            "students": asdict(self.whole), "sections": [asdict(group) for group in self.sections],
            "states": dict(self.score_states), "late": self.late,
            "not_in_gradebook": self.not_in_gradebook, "histogram": list(self.bins),
            "steps": [_step_json(step) for step in self.steps],
            "hardest": [step.name for step in self.hardest],
            "misconceptions": [
                self._misconception_json(found, with_names) for found in self.misconceptions
            ],
            "questions": [
                {**asdict(question), "mean": question.mean} for question in self.questions
            ],
        }  # fmt: skip
        if with_names:
            values["who"] = {
                state: [student.id for student in students]
                for state, students in self.by_state.items()
            }
        return values

    def _misconception_json(self, found: Misconception, with_names: bool) -> dict[str, Any]:
        who = {"who": list(found.students)} if with_names else {}
        return {
            "step": found.step, "title": found.title, "mistakes": list(found.mistakes),
            "students": len(found.students), "advice": found.advice, "lost": found.lost,
            "code": [asdict(excerpt) for excerpt in self.excerpts.get(found, ())], **who,
        }  # fmt: skip


def make_report(course: Course, lab: str, now: datetime) -> Report:
    """The report of a lab.

    Raises:
        CourseError: as :func:`gradekit.report.class_results.read_class`.
    """
    return report_of(read_class(course, lab), now)


def report_of(results: ClassResults, now: datetime) -> Report:
    """The report of a class."""
    course, everyone = results.course, results.everyone
    scores = [hand_in.score for hand_in in everyone]
    misconceptions, excerpts = misconceptions_of(results), Excerpts(results)
    return Report(
        course=course.values.course.name,
        lab=results.lab,
        title=course.lab(results.lab).title,
        made_at=now.astimezone(course.timezone),
        points=sum(cell.points for cell in (*results.steps, *results.questions)),
        whole=_group("all", scores),
        sections=_sections(scores),
        score_states=_score_states(scores),
        late=sum(bool(score.late) for score in scores),
        bins=_bins(scores),
        steps=steps_of(results),
        misconceptions=misconceptions,
        excerpts={found: excerpts.of(found) for found in misconceptions},
        questions=questions_of(results),
        by_state=_by_state(scores),
        names={score.student.id: score.student.name for score in scores},
        not_in_gradebook=sum(
            hand_in.record is not None and hand_in.score.state is ScoreState.NOT_GRADED
            for hand_in in everyone
        ),
    )


def _step_json(step: StepItem) -> dict[str, Any]:
    checks = [
        {**asdict(check), "share": round(check.share, 4), "remark": check.remark}
        for check in step.checks
    ]
    share = None if step.share is None else round(step.share, 4)
    return {**asdict(step), "share": share, "checks": checks}


def _group(name: str, scores: Sequence[Score]) -> Group:
    known = [score.score for score in scores if score.score is not None]
    return Group(
        name,
        len(scores),
        sum(score.state is not ScoreState.MISSING for score in scores),
        len(known),
        round(mean(known), 2) if known else None,
        round(median(known), 2) if known else None,
    )


def _sections(scores: Sequence[Score]) -> tuple[Group, ...]:
    """Each section of students.csv in the order of the file, if there is more than one."""
    by_section: dict[str, list[Score]] = {}
    for score in scores:
        by_section.setdefault(score.student.section, []).append(score)
    if len(by_section) < 2:
        return ()
    return tuple(_group(name or "none", found) for name, found in by_section.items())


def _score_states(scores: Sequence[Score]) -> dict[str, int]:
    counts = Counter(score.state for score in scores)
    return {str(state): counts[state] for state in ScoreState if counts[state]}


def _by_state(scores: Sequence[Score]) -> dict[str, tuple[Student, ...]]:
    return {
        str(state): found
        for state in ScoreState
        if (found := tuple(s.student for s in scores if s.state is state))
    }


def _bins(scores: Sequence[Score]) -> tuple[int, ...]:
    bins = [0] * BINS
    for score in scores:
        if score.score is not None and score.of:
            bins[min(BINS - 1, int(BINS * score.score / score.of))] += 1
    return tuple(bins)
