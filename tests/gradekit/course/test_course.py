from datetime import timedelta
from pathlib import Path

import pytest

from gradekit.course import CourseFile, find_root, load_course
from gradekit.errors import CourseError

GOOD = """\
[course]
name = "A course"
timezone = "Europe/Zurich"

[[lab]]
id = "lab01"
title = "One"
release = 2026-09-14T08:00:00
due = 2026-09-20T23:59:00

[[lab]]
id = "lab02"
title = "Two"
release = 2026-09-21T08:00:00
due = 2026-09-27T23:59:00

[[extension]]
student = "ada"
lab = "lab01"
due = 2026-09-23T23:59:00
"""


def course(folder: Path, text: str):
    (folder / "course.toml").write_text(text)
    return load_course(folder)


def test_dates_have_the_courses_time_zone(tmp_path):
    made = course(tmp_path, GOOD)
    assert made.labs == ("lab01", "lab02")
    assert made.lab("lab01").due.utcoffset() == timedelta(hours=2)


def test_a_lab_may_have_limits_of_its_own(tmp_path):
    line = "due = 2026-09-27T23:59:00"
    text = GOOD.replace(line, f"{line}\nlimits = {{ cell_seconds = 150 }}")
    made = course(tmp_path, text + "\n[limits]\ncell_seconds = 30\nprocesses = 9\n")
    assert made.limits("lab01").cell_seconds == 30
    assert made.limits("lab02").cell_seconds == 150
    assert made.limits("lab02").processes == 9


def test_an_extension_moves_one_students_date_only(tmp_path):
    made = course(tmp_path, GOOD)
    assert made.due("lab01", "ada") - made.due("lab01", "grace") == timedelta(days=3)
    assert made.due("lab02", "ada") == made.lab("lab02").due


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("due = 2026-09-27T23:59:00", "due = 2026-09-20T23:59:00", ["lab02", "before it is"]),
        ("due = 2026-09-27T23:59:00", 'due = "soon"', ["line 15", "lab.#2.due", "'soon'"]),
        ("Europe/Zurich", "Zurich", ["line 3", "Europe/Zurich"]),
        ('id = "lab02"', 'id = "lab01"', ["lab01", "twice"]),
        ('lab = "lab01"', 'lab = "lab09"', ["lab09"]),
        ("[[extension]]", "[[extention]]", ["line 17", "no extention; did you mean extension?"]),
        ('timezone = "E', 'time_zone = "E', ["line 3: [course] has no time_zone", "timezone?"]),
        ('name = "A course"', 'name = "A"\ngrace_minutes = 3', ["it belongs under [late]"]),
        ('name = "A course"', 'name = "A"\ncolour = 3', ["it has name, timezone, errata"]),
        ("due = 2026-09-27T23:59:00", "", ["line 11", "due is not set; add a line due = …"]),
        ("due = 2026-09-27T23:59:00", "due = 2026", ["line 15", "not a date; write it like"]),
        ("due = 2026-09-27T23:59:00", "due = 2026-09-31", ["not valid TOML", "line 15"]),
        ('lab = "lab01"\ndue', 'lab = "lab01"\ndays', ["line 20", "number"]),
        ('student = "ada"\n', "", ["line 17", "for whom it is; write one of student, students"]),
        ('lab = "lab01"\ndue', 'lab = "lab01"\nlabs = "all"\ndue', ["both lab and labs"]),
        ("due = 2026-09-23T23:59:00", "", ["until when it lasts; write one of due, days"]),
        ('title = "One"', "title = One", ["not valid TOML", "line 7"]),
        ('title = "Two"', 'title = "Two"\nlimits = {seconds = 3}', ["[lab] limits", "seconds"]),
        ('title = "Two"', 'title = "Two"\nlimits = {cell_seconds = 0}', ["should be more than 0"]),
        (
            'name = "A course"',
            'name = "A"\n[late]\nlast_day = "two"',
            ["a whole number (it is 'two')"],
        ),
        ('name = "A course"', 'name = "A"\n[late]\npercent_per_day = 110', ["at most 100 (it is"]),
        ('name = "A course"', 'name = "A"\n[late]\nslip_days = -1', ["should be at least 0"]),
    ],
)
def test_a_wrong_value_is_named_with_its_line(tmp_path, before, after, words):
    assert before in GOOD
    with pytest.raises(CourseError) as caught:
        course(tmp_path, GOOD.replace(before, after, 1))
    message = str(caught.value)
    assert "course.toml" in message
    assert "\n" not in message
    for word in words:
        assert word in message


def test_an_unknown_lab_is_named_with_those_there_are(tmp_path):
    with pytest.raises(CourseError, match=r"no lab 'lab07'; it has lab01, lab02"):
        course(tmp_path, GOOD).lab("lab07")


def test_a_release_begins_and_a_due_date_ends_its_day(tmp_path):
    text = GOOD.replace("2026-09-21T08:00:00", "2026-09-21").replace(
        "2026-09-27T23:59:00", "2026-09-27"
    )
    dates = course(tmp_path, text).lab("lab02")
    assert dates.release.isoformat() == "2026-09-21T00:00:00+02:00"
    assert dates.due.isoformat() == "2026-09-27T23:59:59+02:00"


def test_the_answers_may_be_known_for_a_lab_or_for_all(tmp_path):
    assert not course(tmp_path, GOOD).solutions_known("lab01")
    one = course(tmp_path, GOOD.replace('title = "One"', 'title = "One"\nsolutions = "known"'))
    assert [one.solutions_known(lab) for lab in one.labs] == [True, False]
    every = GOOD.replace("[course]", '[course]\nsolutions = "known"')
    every = every.replace('title = "Two"', 'title = "Two"\nsolutions = "withheld"')
    made = course(tmp_path, every)
    assert [made.solutions_known(lab) for lab in made.labs] == [True, False]


def test_every_key_of_course_toml_is_in_the_instructors_page():
    page = (Path(__file__).parents[3] / "docs" / "instructor.md").read_text("utf-8")
    tables = [CourseFile.model_fields[name].annotation for name in ("course", "late")]
    for table in tables:
        for key in table.model_fields:
            assert key in {"name", "timezone"} or f"`{key}" in page, key


def test_the_course_is_found_from_a_folder_below_it(tmp_path):
    (tmp_path / "course.toml").write_text(GOOD)
    below = tmp_path / "labs" / "lab01"
    below.mkdir(parents=True)
    assert find_root(below) == tmp_path


def test_the_repositorys_own_course_is_valid():
    root = Path(__file__).parents[3]
    assert load_course(root).labs[:2] == ("lab00", "lab01")
