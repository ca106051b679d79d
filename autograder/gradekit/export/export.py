"""``lab export``: which labs, whether they are final, and where the file is written.

Tested in tests/gradekit/export/test_export.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import assert_never

from gradekit.course import Course
from gradekit.errors import CourseError, ExportError
from gradekit.export.canvas import fill_canvas
from gradekit.export.csv_text import CsvText
from gradekit.export.filling import Filling
from gradekit.export.moodle import fill_moodle
from gradekit.export.scores import Score, ScoreState, scores_of
from gradekit.export.tables import to_csv, to_xlsx
from gradekit.files import write_whole
from gradekit.results.folder import graded_labs
from gradekit.submissions.layouts.moodle import SYSTEM as MOODLE
from gradekit.submissions.stored import read_origin
from gradekit.wording import counted

FOLDER = "exports"


class Format(StrEnum):
    """The kinds of files that scores are written to."""

    CSV = "csv"
    JSON = "json"
    XLSX = "xlsx"
    CANVAS = "canvas"
    MOODLE = "moodle"


def format_named(name: str) -> Format:
    """The kind of this name.

    Raises:
        ExportError: there is none.
    """
    try:
        return Format(name)
    except ValueError:
        raise ExportError(f"--to {name}: the kinds are {', '.join(Format)}") from None


@dataclass(frozen=True)
class Exported:
    """A file that was written.

    Attributes:
        lines: what is in it, and who needs attention; for the terminal.
    """

    path: Path
    lines: tuple[str, ...]


def final_scores(
    course: Course, labs: Sequence[str], *, partial: bool = False
) -> dict[str, list[Score]]:
    """The scores of these labs; of all that have results, if none is named.

    Raises:
        CourseError: a lab has no results, or none has.
        ExportError: something still needs manual grading, or waits for the grader, and `partial`
            is not set.
    """
    chosen = list(labs) or graded_labs(course)
    if not chosen:
        raise CourseError("no lab has results yet; `lab grade LAB` makes them")
    found = {lab: scores_of(course, lab) for lab in chosen}
    if not partial:
        for lab, scores in found.items():
            _insist_on_final(lab, scores)
    return found


def _insist_on_final(lab: str, scores: Sequence[Score]) -> None:
    waiting = {
        ScoreState.OPEN: "in need of manual grading",
        ScoreState.NOT_GRADED: f"not graded yet (`lab grade {lab}`)",
        ScoreState.OURS: f"failed in the grader (`lab grade {lab}` says why)",
    }
    said = [
        f"{count} {words}"
        for state, words in waiting.items()
        if (count := sum(score.state is state for score in scores))
    ]
    if said:
        raise ExportError(
            f"{lab} is not final: of {len(scores)} students, {', '.join(said)}; "
            "--partial exports what there is"
        )


def export(
    course: Course,
    found: Mapping[str, Sequence[Score]],
    kind: Format,
    *,
    template: Path | None = None,
    column: str | None = None,
    scale: bool = False,
    out: Path | None = None,
) -> list[Exported]:
    """Write the scores of labs.

    Args:
        found: by lab, from :func:`final_scores`.
        template: Canvas's gradebook or Moodle's worksheet, which is filled; it is not changed.
        column: the column of Canvas's gradebook.
        scale: convert scores to the points that the course system counts.
        out: the file; by default one in ``exports/``, named after the lab.

    Raises:
        ExportError: the template does not fit, is missing, or several labs are to go into one file.
    """
    match kind:
        case Format.CANVAS | Format.MOODLE:
            return [_into_template(course, found, kind, template, column, scale, out)]
        case Format.XLSX:
            path = out or course.root / FOLDER / f"{'-'.join(found)}.xlsx"
            return [_write(path, to_xlsx(found), [_count_line(lab, found[lab]) for lab in found])]
        case Format.CSV | Format.JSON:
            if out and len(found) > 1:
                raise ExportError(
                    f"{len(found)} labs make {len(found)} files; name one lab for --out"
                )
            return [
                _write(
                    out or course.root / FOLDER / f"{lab}.{kind}",
                    _text(scores, kind).encode(),
                    [_count_line(lab, scores)],
                )
                for lab, scores in found.items()
            ]
        case unknown:
            assert_never(unknown)


def _text(scores: Sequence[Score], kind: Format) -> str:
    if kind is Format.CSV:
        return to_csv(scores)
    return json.dumps([score.to_json() for score in scores], ensure_ascii=False, indent=1) + "\n"


def _into_template(
    course: Course,
    found: Mapping[str, Sequence[Score]],
    kind: Format,
    template: Path | None,
    column: str | None,
    scale: bool,
    out: Path | None,
) -> Exported:
    option = "--template gradebook.csv" if kind is Format.CANVAS else "--worksheet grading.csv"
    if template is None:
        raise ExportError(f"--to {kind} fills a file of {kind.capitalize()}'s: add {option}")
    if len(found) != 1:
        raise ExportError(f"--to {kind} fills one lab at a time: name the lab")
    [(lab, scores)] = found.items()
    origins = {s.student.id: read_origin(course.root, s.student.id, lab) for s in scores}
    # Of a group's hand-in, the number is the group's, and may be that of another student.
    numbers = {
        origin.key: name
        for name, origin in origins.items()
        if origin and origin.system == MOODLE and origin.key and not origin.group
    }
    filling = Filling(lab, course.lab(lab).title, scores, scale, numbers)
    text = CsvText.read(template)
    filled = (
        fill_canvas(text, filling, column) if kind is Format.CANVAS else fill_moodle(text, filling)
    )
    name = template.name if lab in template.name else f"{lab}-{template.name}"
    path = out or course.root / FOLDER / name
    if path.resolve() == template.resolve():
        raise ExportError(f"{path} is the template itself; choose another file for --out")
    line = f"{lab}: {counted(filled.students, 'score')} filled in"
    return _write(path, filled.data, [line, *filled.notes])


def _count_line(lab: str, scores: Sequence[Score]) -> str:
    missing = sum(score.state is ScoreState.MISSING for score in scores)
    return f"{lab}: {counted(len(scores), 'student')}, {missing} of them without a hand-in"


def _write(path: Path, data: bytes, lines: Sequence[str]) -> Exported:
    write_file(path, data)
    return Exported(path, tuple(lines))


def write_file(path: Path, data: bytes) -> None:
    """Write a file, and its folder if there is none.

    Raises:
        ExportError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)
    except OSError as error:
        raise ExportError(f"{path} cannot be written: {error.strerror}") from error
