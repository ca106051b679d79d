"""What is compared: a student's own code and words, of this class and of earlier ones."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from gradekit.course import Course
from gradekit.errors import CollectError, CourseError
from gradekit.similarity.hand_ins import OTHER, read_class
from gradekit.submissions.stored import origin_path
from tests.helpers import submissions
from tests.helpers.submissions import LAB, as_bytes, code, done, hand_in


def test_a_hand_in_has_what_the_student_wrote_and_nothing_else(course: Course) -> None:
    own = code("def helper():\n    return 1")
    check = code('check("softmax")')
    cells = done(lambda cells: cells.extend([own, check]))
    hand_in(course.root, "ada", as_bytes(cells))
    texts = read_class(course, LAB)
    (ada,) = (one for one in texts.hand_ins if one.student == "ada")
    assert ada.code == {"softmax": submissions.ANSWER, OTHER: own["source"]}
    assert ada.prose == {"explain": "It keeps the exponentials finite."}
    assert ada.text("entropy") == ""
    assert texts.steps == {
        "softmax": "1.1 Softmax", "entropy": "1.2 Entropy",
        "explain": "In your own words", OTHER: OTHER,
    }  # fmt: skip
    assert texts.unread == ("bad",)


def test_whoever_handed_in_together_has_a_group(course: Course) -> None:
    origin = {"system": "Canvas", "source": "x.zip", "home": "", "group": "Team Red"}
    origin_path(course.root, "s03", LAB).write_text(json.dumps(origin))
    groups = {one.student: one.group for one in read_class(course, LAB).hand_ins}
    assert groups.pop("s03") == "Team Red"
    assert set(groups.values()) == {""}


def test_fewer_than_three_hand_ins_are_an_error(course: Course) -> None:
    for folder in (course.root / "submitted").glob("s*"):
        shutil.rmtree(folder)
    with pytest.raises(CourseError, match="lab01 has 1 readable hand-in in submitted/"):
        read_class(course, LAB)


def test_an_earlier_course_a_folder_and_a_zip_are_read(course: Course, tmp_path: Path) -> None:
    older = tmp_path / "2025"
    shutil.copytree(course.root / "submitted" / "s03", older / "submitted" / "eve")
    loose = tmp_path / "2024"
    (loose / "max").mkdir(parents=True)
    shutil.copy(older / "submitted" / "eve" / LAB / f"{submissions.NAME}.ipynb", loose / "max")
    packed = tmp_path / "2023.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.write(loose / "max" / f"{submissions.NAME}.ipynb", f"kim/{submissions.NAME}.ipynb")
    texts = read_class(course, LAB, [older, loose, packed])
    assert [one.label for one in texts.hand_ins if one.earlier] == [
        "eve (2025)", "max (2024)", "kim (2023.zip)",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["nowhere", "empty"])
def test_an_earlier_folder_without_hand_ins_is_an_error(
    course: Course, tmp_path: Path, name: str
) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(CollectError, match=name):
        read_class(course, LAB, [tmp_path / name])
