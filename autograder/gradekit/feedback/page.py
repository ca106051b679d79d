"""One page per student: points, advice, comments, and what to do if something is broken.

A page shows checks by their titles, never an input or a number of a hidden one. It is one file that
needs no network, can be read on a phone and on paper, and escapes every word of a student's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gradekit.course import Course
from gradekit.errors import NotebookError, ResultNotKeptError
from gradekit.feedback.graded_notebook import AUTOGRADED
from gradekit.feedback.html import FEEDBACK, template
from gradekit.feedback.shown_state import shown_state
from gradekit.feedback.views import AnswerView, ExerciseView, Page
from gradekit.files import write_whole
from gradekit.gradebook.address import Address, address_of
from gradekit.gradebook.current import current_marks
from gradekit.gradebook.marks import Mark, Marks
from gradekit.late import Lateness
from gradekit.results.journal import read_journal
from gradekit.results.records import ExerciseResult, State, SubmissionRecord
from gradekit.submissions.notebook import open_notebook
from gradekit.submissions.released import Released, TargetCell, grade_id_of
from gradekit.submissions.slip_days import lateness_now, with_time_now

if TYPE_CHECKING:
    from gradekit.feedback.solutions import Solutions


def write_feedback(course: Course, lab: str, solutions: Solutions | None = None) -> list[Path]:
    """Write ``feedback/<student>/<lab>/<lab>.html`` for every student who was graded.

    Late penalties are recalculated first: manual marks given since then affect them, too.

    Args:
        solutions: the right answers, if the lab has closed and the pages should tell them.

    Returns:
        The pages, by student.

    Raises:
        CourseError: nothing was graded yet.
        ResultNotKeptError: a page cannot be written.
    """
    return [write_page(course, page, solutions) for page in pages(course, lab)]


def write_page(course: Course, page: Page, solutions: Solutions | None = None) -> Path:
    """Write one student's page, as :func:`write_feedback` does.

    Raises:
        ResultNotKeptError: it cannot be written.
    """
    lab = page.lab
    path = course.root / FEEDBACK / page.student / lab / f"{lab}.html"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, render(with_solutions(page, solutions) if solutions else page))
    except OSError as error:
        raise ResultNotKeptError(
            f"{lab}: the page of {page.student} cannot be written to {path} "
            f"({error.strerror}); fix that, for example by freeing space, and run "
            f"`lab feedback {lab}` again: it writes all pages, and older ones stay until then"
        ) from error
    return path


def pages(
    course: Course, lab: str, student: str | None = None, address: Address | None = None
) -> Iterator[Page]:
    """The pages of all students who were graded, or of one student, one at a time.

    Args:
        address: the gradebook; by default the course's own.

    Raises:
        CourseError: nothing was graded yet.
    """
    reader = read_journal(course, lab)
    released = Released.read(course.released(lab))
    with reader as journal:
        records = [
            with_time_now(course.root, r)
            for r in journal.submissions
            if student in (None, r.student)
        ]
        late = {r.student: lateness_now(course, lab, r.student, r.moment) for r in records}
        marks = current_marks(address or address_of(course), lab, late, released)
        for record in records:
            results = {
                name: found.result
                for name, found in journal.results(record.student, record.digest).items()
            }
            answers = released.with_new_names(record.answers)
            yield page_of(
                course,
                released,
                replace(record, answers=answers),
                released.with_new_names(results),
                marks.get(record.student),
                late[record.student],
                released.with_new_names(cells_of(course.root, released, record)),
            )


def page_of(
    course: Course,
    released: Released,
    record: SubmissionRecord,
    results: Mapping[str, ExerciseResult],
    marks: Marks | None,
    late: Lateness,
    cells: Mapping[str, str],
) -> Page:
    """One student's page.

    Args:
        results: by exercise, of this submission.
        marks: the gradebook's, or None if it does not know the student.
        cells: texts of the student's cells by their ids in the released notebook.
    """
    given = marks.marks if marks else {}
    comments = marks.comments if marks else {}
    exercises = tuple(
        _exercise(
            target,
            record,
            results.get(target.exercise),
            given.get(target.grade_id),
            cells,
            comments,
        )
        for target in released.tests
    )
    exercises = tuple(_with_replaced(view, exercises) for view in exercises)
    answers = tuple(
        _answer(target, record, given.get(target.grade_id), cells, comments)
        for target in released.answers
    )
    parts: tuple[ExerciseView | AnswerView, ...] = (*exercises, *answers)
    whole = sum(part.earned or 0.0 for part in parts)
    return Page(
        course.values.course.name,
        record.lab,
        course.lab(record.lab).title,
        record.student,
        shown_state(record, late),
        record.reason,
        record.notes,
        record.moment.astimezone(course.timezone) if record.moment else None,
        exercises,
        answers,
        late.penalty(whole),
        late.sentence,
    )


def with_solutions(page: Page, solutions: Solutions) -> Page:
    """The page with the right answer under each step and question."""
    exercises = tuple(
        replace(view, solution=solutions.exercises.get(view.name)) for view in page.exercises
    )
    answers = tuple(
        replace(view, solution=solutions.texts.get(view.name, "")) for view in page.answers
    )
    return replace(page, exercises=exercises, answers=answers)


def render(page: Page) -> str:
    """The page as HTML, in one file."""
    return template("feedback.html.j2").render(page=page, State=State)


def cells_of(root: Path, released: Released, record: SubmissionRecord) -> dict[str, str]:
    """The texts of the student's aligned cells by id, without the unchanged ones."""
    path = root / AUTOGRADED / record.student / record.lab / f"{released.name}.ipynb"
    try:
        notebook, _ = open_notebook(path.read_bytes())
    except (OSError, NotebookError):
        return {}
    known = {target.grade_id: target.cell.source for target in released.targets}
    texts = {name: cell.source for cell in notebook.cells if (name := grade_id_of(cell))}
    return {name: text for name, text in texts.items() if text != known.get(name)}


def _exercise(
    target: TargetCell,
    record: SubmissionRecord,
    result: ExerciseResult | None,
    mark: Mark | None,
    cells: Mapping[str, str],
    comments: Mapping[str, str],
) -> ExerciseView:
    earned = _judged_points(record, result)
    is_manual = mark is not None and (mark.manual is not None or bool(mark.extra))
    if mark is not None and is_manual:
        earned = (mark.manual if mark.manual is not None else earned or 0.0) + (mark.extra or 0.0)
    solution = target.exercise
    code = "" if record.state is State.THEIRS else cells.get(solution, "").strip()
    return ExerciseView(
        target.exercise,
        target.heading or target.exercise,
        target.points,
        earned,
        result if record.state is not State.OURS else None,
        code,
        comments.get(solution, ""),
        is_manual,
    )


def _with_replaced(view: ExerciseView, exercises: tuple[ExerciseView, ...]) -> ExerciseView:
    """The step, with a sentence on each earlier one that lost points and that concerns it.

    It does if the step's code calls it, or if the advice sends the student to it.
    """
    if view.result is None:
        return view
    advice = " ".join(view.result.advice)
    concerned = [
        name
        for name in view.result.uses
        if re.search(rf"\b{name}\b", view.code) or f"`{name}`" in advice
    ]
    sentences = [
        f"Your own {' and '.join(f'`{name}`' for name in names)} lost points in {earlier.title}. "
        "This step was graded with a correct version instead, except in a check of all your steps "
        "together."
        for earlier in exercises
        if earlier.result is not None
        and not all(check.passed for check in earlier.result.checks)
        and (names := [name for name in concerned if name in earlier.result.names])
    ]
    return replace(view, replaced=tuple(sentences))


def _judged_points(record: SubmissionRecord, result: ExerciseResult | None) -> float | None:
    match record.state:
        case State.GRADED:
            return result.earned if result else None
        case State.THEIRS:
            return 0.0
        case State.OURS:
            return None
        case state:
            raise ValueError(f"a record of {record.student} has the state {state!r}")


def _answer(
    target: TargetCell,
    record: SubmissionRecord,
    mark: Mark | None,
    cells: Mapping[str, str],
    comments: Mapping[str, str],
) -> AnswerView:
    text = target.own_text(cells.get(target.grade_id, ""))
    unwritten = record.state is not State.OURS and not record.answers.get(target.grade_id)
    earned = 0.0 if unwritten else None
    if mark is not None and (mark.manual is not None or mark.extra):
        earned = mark.score
    title = target.heading or "In your own words"
    comment = comments.get(target.grade_id, "")
    return AnswerView(title, target.points, earned, text, comment, target.grade_id)
