"""Archives and names that used to stop the collection of a whole class."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from gradekit.course import Course
from gradekit.submissions import archives
from gradekit.submissions.collect import collect_submissions
from gradekit.submissions.incoming import MOST_STUDENT_FILES
from gradekit.submissions.sources import MOST_REFUSED_IN_ZIPS
from tests.helpers.collected import bring, submitted_files, zipped
from tests.helpers.collected import course as course
from tests.helpers.submissions import LAB, NAME, as_bytes, done

NOTEBOOK = as_bytes(done())
GOOD = {f"bob/{NAME}.ipynb": NOTEBOOK}


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (".", "no name"),
        ("ada/" + "\U0001d160" * 50, "too long"),
        ("ada/timestamp.txt/x.ipynb", "taken"),
    ],
    ids=["a dot", "letters that grow", "a folder called timestamp.txt"],
)
def test_a_name_that_cannot_be_written_costs_only_itself(
    course: Course, name: str, why: str
) -> None:
    summary = bring(course, {name: b"x", **GOOD})
    assert [taken.student for taken in summary.collected] == ["bob"]
    assert why in summary.refused[0].reason


def test_a_path_of_thousands_of_letters_is_told_by_its_ends(course: Course) -> None:
    path = f"ada/{'deep/' * 1200}notes.txt"
    summary = bring(course, {path: b"x", **GOOD})
    assert summary.refused[0].file.endswith(path)
    (line,) = [line for line in summary.lines() if "…" in line]
    assert "notes.txt: " in line
    assert len(line) < 400


def test_a_folder_with_the_notebooks_name_does_not_stop_the_others(course: Course) -> None:
    files = {"ada/x.ipynb": NOTEBOOK, f"ada/{NAME}.ipynb/data.csv": b"1", **GOOD}
    summary = bring(course, files)
    assert [taken.student for taken in summary.collected] == ["ada", "bob"]
    assert set(submitted_files(course)["ada"]) == {"x.ipynb", f"{NAME}.ipynb/data.csv"}


@pytest.mark.filterwarnings("ignore:Duplicate name")  # Python's, when it writes such a zip
def test_of_two_files_with_one_name_the_last_is_taken(course: Course, tmp_path: Path) -> None:
    """As usual programs unpack it."""
    path = tmp_path / "class.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for text in ("1", "2"):
            archive.writestr(zipfile.ZipInfo("bob/data.csv", (2026, 11, 2, 9, 0, 0)), text)
        archive.writestr(f"bob/{NAME}.ipynb", NOTEBOOK)
    assert [taken.student for taken in collect_submissions(course, LAB, [path]).collected] == [
        "bob"
    ]
    assert submitted_files(course)["bob"]["data.csv"] == b"2"


def test_a_zip_without_files_is_told(course: Course, tmp_path: Path) -> None:
    path = tmp_path / "class.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.mkdir("bob")
    summary = collect_submissions(course, LAB, [path])
    assert [refused.reason for refused in summary.refused] == ["it contains no files"]


def test_a_pipe_in_the_place_of_a_zip_is_not_waited_for(course: Course, tmp_path: Path) -> None:
    path = tmp_path / "class.zip"
    os.mkfifo(path)
    summary = collect_submissions(course, LAB, [path])
    assert [refused.reason for refused in summary.refused] == ["it is not a file"]


@pytest.mark.parametrize("how", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_what_unpacks_at_one_go_is_refused(course: Course, tmp_path: Path, how: int) -> None:
    path = tmp_path / "class.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("ada/x.csv", b"x" * 1000, how)
        archive.writestr(f"bob/{NAME}.ipynb", NOTEBOOK)
    summary = collect_submissions(course, LAB, [path])
    assert [taken.student for taken in summary.collected] == ["bob"]
    assert "ordinary zip" in summary.refused[0].reason


def test_a_list_of_names_without_end_is_not_read(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "MOST_LIST_BYTES", 1000)
    summary = bring(course, {f"ada/{number}": b"" for number in range(100)})
    assert summary.collected == ()
    assert "list of names is too long" in summary.refused[0].reason


def test_an_entry_with_two_different_names_costs_only_itself(course: Course) -> None:
    raw = zipped({"ada/\N{LATIN SMALL LETTER E WITH ACUTE}.csv": b"x", **GOOD})
    spoilt = raw.replace(b"\xc3\xa9", b"\xff\xff", 1)
    assert spoilt != raw
    summary = bring(course, spoilt)
    assert [taken.student for taken in summary.collected] == ["bob"]
    assert "damaged" in summary.refused[0].reason


def test_only_so_many_bytes_are_unpacked_for_one_hand_in(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []
    entry_reader = archives._entry_reader

    def counted(source, entry, most):
        reader = entry_reader(source, entry, 50_000)
        return lambda: (read.append(entry.filename), reader())[1]

    monkeypatch.setattr(archives, "_entry_reader", counted)
    monkeypatch.setattr("gradekit.submissions.incoming.MOST_UNPACKED_BYTES", 150_000)
    summary = bring(course, {f"ada/{n}.csv": bytes(100_000) for n in range(9)} | GOOD)
    assert len([name for name in read if name.startswith("ada")]) == 3
    assert [taken.student for taken in summary.collected] == ["bob"]
    assert len(summary.refused) == 9


def test_the_number_of_files_of_one_hand_in_is_limited(course: Course) -> None:
    bring(course, {f"ada/{number}.csv": b"" for number in range(MOST_STUDENT_FILES + 5)})
    assert len(submitted_files(course)["ada"]) == MOST_STUDENT_FILES


def test_the_names_in_all_zips_of_one_hand_in_are_limited_together(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also those of damaged zips, whose lists were read, too. Other hand-ins are not affected."""
    monkeypatch.setattr(archives, "MOST_NAMES", 100)
    inner = zipped({f"{number}.csv": b"" for number in range(40)})
    damaged = inner[: -22 - 46] + bytes(46) + inner[-22:]
    lists = []
    listed = archives._listed

    def counted(*args):
        lists.append(args)
        return listed(*args)

    monkeypatch.setattr(archives, "_listed", counted)
    for data in (inner, damaged):
        lists.clear()
        nested = zipped({f"{number}.zip": data for number in range(20)})
        summary = bring(course, {"ada/x.zip": nested, "bob/x.zip": zipped(GOOD)})
        assert "bob" in {taken.student for taken in summary.taken}
        assert any("more than 100 names" in refused.reason for refused in summary.refused)
        assert len(lists) < 16


def test_of_refused_files_in_zips_the_first_are_listed(course: Course) -> None:
    many = zipped({f".{number}": b"" for number in range(MOST_REFUSED_IN_ZIPS + 30)})
    summary = bring(course, {"ada/x.zip": many, "ada/y.zip": many, **GOOD})
    assert [taken.student for taken in summary.taken] == ["bob"]
    assert len(summary.refused) == MOST_REFUSED_IN_ZIPS + 1
    unlisted = MOST_REFUSED_IN_ZIPS + 60
    assert summary.refused[-1].student == "ada"
    assert summary.refused[-1].reason == f"and {unlisted} more files in its zips were not taken"


def test_an_impossible_date_is_ignored(course: Course, tmp_path: Path) -> None:
    folder = tmp_path / "downloads" / "ada"
    folder.mkdir(parents=True)
    (folder / f"{NAME}.ipynb").write_bytes(NOTEBOOK)
    path = folder / f"{NAME}.ipynb"
    os.utime(path, (2**33, 2**33))
    if path.stat().st_mtime < 2**33:
        pytest.skip("the file system keeps no such time")
    assert [
        taken.student for taken in collect_submissions(course, LAB, [folder.parent]).collected
    ] == ["ada"]


def test_what_cannot_be_read_in_a_folder_costs_only_itself(course: Course, tmp_path: Path) -> None:
    """A path that is longer than Linux takes at once, as an archive or a clone may leave it."""
    whole = tmp_path / "in"
    (whole / "bob").mkdir(parents=True)
    (whole / "bob" / f"{NAME}.ipynb").write_bytes(NOTEBOOK)
    here = Path.cwd()
    os.chdir(whole)
    try:
        for _ in range(20):
            Path("x" * 250).mkdir()
            os.chdir("x" * 250)
    finally:
        os.chdir(here)
    summary = collect_submissions(course, LAB, [whole])
    assert [taken.student for taken in summary.taken] == ["bob"]
    assert any("cannot be read" in refused.reason for refused in summary.refused)


def test_a_file_that_may_not_be_looked_at_costs_only_itself(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a folder of mode 0444, which an archive may leave; root may look at everything."""
    whole = tmp_path / "in"
    for student in ("ada", "bob"):
        (whole / student).mkdir(parents=True)
        (whole / student / f"{NAME}.ipynb").write_bytes(NOTEBOOK)
    (whole / "ada" / "x.csv").write_text("1")
    look = Path.lstat

    def refuse(path: Path) -> os.stat_result:
        if path.name == "x.csv":
            raise PermissionError(13, "Permission denied", str(path))
        return look(path)

    monkeypatch.setattr(Path, "lstat", refuse)
    summary = collect_submissions(course, LAB, [whole])
    assert {taken.student for taken in summary.taken} == {"ada", "bob"}
    assert [one.reason for one in summary.refused] == ["it cannot be read (Permission denied)"]
