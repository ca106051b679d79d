"""`lab collect`: folders, zips and course systems into submitted/."""

from __future__ import annotations

import io
import json
import os
import stat
import zipfile
from datetime import UTC
from pathlib import Path, PurePosixPath

import pytest

from gradekit.course import Course
from gradekit.errors import CollectError
from gradekit.submissions import archives
from gradekit.submissions.collect import collect_submissions
from gradekit.submissions.incoming import MOST_STUDENT_FILES
from gradekit.submissions.layouts import reader_of
from gradekit.submissions.layouts.folders import owner
from gradekit.submissions.layouts.listing import Entry, Listing
from gradekit.submissions.notebook import MOST_PARTS
from gradekit.submissions.notebook_lab import lab_of
from tests.helpers.collected import EARLY, LATE, bring, submitted_files, zipped
from tests.helpers.collected import course as course
from tests.helpers.fuzz import cost
from tests.helpers.submissions import LAB, NAME, as_bytes, done

NOTEBOOK = as_bytes(done())


def stamp(course: Course, student: str) -> str:
    return (course.root / "submitted" / student / LAB / "timestamp.txt").read_text()


ONE = {f"{NAME}.ipynb": NOTEBOOK}


@pytest.mark.parametrize(
    ("path", "student"),
    [
        (f"ada/{NAME}.ipynb", "ada"),
        (f"class/ada/{NAME}.ipynb", "ada"),
        (f"ada/{LAB}/{NAME}.ipynb", "ada"),
        (f"submitted/ada/{LAB}/{NAME}.ipynb", "ada"),
        (f"old course/submitted/ada/{LAB}/{NAME}.ipynb", "ada"),
        (f"ada+{LAB}+2026-09-20 21:59:00 UTC+x1/{NAME}.ipynb", "ada"),
        (f"inbound/ada+{LAB}+2026-09-20 21:59:00 UTC/{NAME}.ipynb", "ada"),
        (f"lovelaceada_123_4567_{NAME}.ipynb", "lovelaceada_123"),
        (f"lovelaceada_LATE_123_4567_{NAME}.ipynb", "lovelaceada_123"),
        (f"lovelaceada_123_4567_{NAME}-3.ipynb", "lovelaceada_123"),
        (f"Ada Lovelace_77_assignsubmission_file_/{NAME}.ipynb", "Ada_Lovelace"),
        (f"Ada Lovelace_77_assignsubmission_file/{NAME}.ipynb", "Ada_Lovelace"),
        (f"Zoë O'Neil_78_assignsubmission_file_/{NAME}.ipynb", "Zoë_O_Neil"),
        (f"李 雷_79_assignsubmission_file_/{NAME}.ipynb", "李_雷"),
        (f"ADA@uni.example/{NAME}.ipynb", "ADA@uni.example"),
    ],
)
def test_every_layout_says_whose_it_is(path: str, student: str, course: Course) -> None:
    summary = bring(course, {path: NOTEBOOK})
    assert submitted_files(course) == {student: ONE}
    assert [taken.student for taken in summary.collected] == [student]
    assert summary.refused == ()


@pytest.mark.parametrize(
    "inner",
    [
        f"submitted/ada/{LAB}",
        f"{LAB}/submitted/ada/{LAB}",
        f"ada+{LAB}+2030-01-01 00:00:00 UTC",
        "Ada_77_assignsubmission_file_",
    ],
)
def test_a_student_cannot_hand_in_for_another(inner: str, course: Course) -> None:
    eve = f"eve/{inner}/{NAME}.ipynb"
    alone = Listing((PurePosixPath(eve),), LAB, (LAB,), UTC)
    believed = reader_of(alone)(PurePosixPath(eve))
    assert isinstance(believed, Entry)
    assert believed.people[0].shown.lower().startswith("ada")
    bring(course, {f"ada/{NAME}.ipynb": NOTEBOOK, eve: b"{}", f"eve/{LAB}/ada_1_2_x.ipynb": b"{}"})
    assert submitted_files(course)["ada"] == ONE
    assert submitted_files(course).keys() == {"ada", "eve"}


@pytest.mark.parametrize(
    "name", ["ada.zip", "ada-lab01-handin.zip", "ada_lab01.zip", "ada lab01-handin (1).zip"]
)
def test_a_students_own_zip_is_named_after_them(name: str, course: Course) -> None:
    bring(course, {f"{NAME}.ipynb": NOTEBOOK, "w.safetensors": b"1"}, name)
    assert submitted_files(course) == {"ada": {**ONE, "w.safetensors": b"1"}}


def test_a_folder_of_zips_and_folders(course: Course, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    (folder / "bob").mkdir(parents=True)
    (folder / "bob" / f"{NAME}.ipynb").write_bytes(NOTEBOOK)
    (folder / "ada-lab01-handin.zip").write_bytes(zipped({f"{NAME}.ipynb": NOTEBOOK}))
    (folder / "notes.txt").write_text("mine")
    summary = collect_submissions(course, LAB, [folder])
    assert submitted_files(course) == {"ada": ONE, "bob": ONE}
    assert [one.file for one in summary.refused] == ["in/notes.txt"]
    assert "does not name the student" in summary.refused[0].reason


@pytest.mark.parametrize(
    "outer",
    ["Ada_77_assignsubmission_file_/lab01-handin.zip", "ada_77_9_lab01-handin.zip", "Ada_77/h.zip"],
)
def test_zips_inside_are_opened(outer: str, course: Course) -> None:
    inner = zipped({f"my work/{NAME}.ipynb": NOTEBOOK, "my work/data/a.csv": b"1"}, EARLY)
    bring(course, {outer: inner})
    (files,) = submitted_files(course).values()
    assert files == {**ONE, "data/a.csv": b"1"}


def test_a_zip_without_an_owner_is_refused(course: Course) -> None:
    summary = bring(course, {f"{NAME}.ipynb": NOTEBOOK}, "lab01-handin.zip")
    assert submitted_files(course) == {}
    assert "student's name" in summary.refused[0].reason


def test_of_two_new_students_whose_names_differ_in_large_letters_the_second_is_refused(
    course: Course,
) -> None:
    """Some disks, and students.csv, take both for one."""
    summary = bring(course, {f"kim/{NAME}.ipynb": NOTEBOOK, f"KIM/{NAME}.ipynb": NOTEBOOK})
    assert submitted_files(course) == {"kim": ONE}
    (one,) = summary.refused
    assert one.reason == "'kim' and 'KIM' would both become KIM; rename one"


def test_of_two_students_whose_names_become_one_the_second_is_refused(course: Course) -> None:
    other = as_bytes([*done(), *done()])
    summary = bring(course, {f"Jo Li/{NAME}.ipynb": NOTEBOOK, f"Jo_Li/{NAME}.ipynb": other})
    assert submitted_files(course) == {"Jo_Li": ONE}
    (one,) = summary.refused
    assert one.file == f"class.zip/Jo_Li/{NAME}.ipynb"
    assert one.reason == "'Jo Li' and 'Jo_Li' would both become Jo_Li; rename one"


def test_a_notebook_of_too_many_parts_is_not_opened_to_know_its_lab() -> None:
    raw = b'{"cells": [%s 0], "metadata": {"attnlab": {"lab": "lab02"}}}'
    labs = (LAB, "lab02")
    assert lab_of("x.ipynb", raw % (b"[]," * 10), labs) == "lab02"
    seconds, grown = cost(lambda: lab_of("x.ipynb", raw % (b"[]," * 6_000_000), labs))
    assert seconds < 5
    assert grown < 150
    assert lab_of("lab01.ipynb", raw % (b"[]," * MOST_PARTS), labs) == LAB


def test_other_labs_are_left_alone(course: Course) -> None:
    summary = bring(
        course,
        {
            f"ada/lab02/{NAME}.ipynb": NOTEBOOK,
            "bob+lab02+2026-09-20 21:59:00 UTC/x.ipynb": NOTEBOOK,
            f"{LAB}/{NAME}.ipynb": NOTEBOOK,
            f"cyd/{NAME}.ipynb": NOTEBOOK,
        },
    )
    assert list(submitted_files(course)) == ["cyd"]
    assert [one.reason for one in summary.refused][:2] == ["it is for lab02"] * 2


OTHER = json.dumps({"cells": [], "metadata": {"attnlab": {"lab": "lab02"}}}).encode()


def test_a_notebook_of_another_lab_is_no_hand_in(course: Course) -> None:
    """By its metadata, or else by its name; what is beside it is nobody's hand-in then."""
    summary = bring(
        course,
        {
            "ada/mine.ipynb": OTHER,
            "ada/dates.safetensors": b"weights",
            "bob/lab02_seq2seq.ipynb": b"{}",
            "cyd-lab02-handin.zip": zipped({"work.ipynb": b"{}"}),
            "dan/all.zip": zipped({"work.ipynb": OTHER}),
            "eve/lab01_softmax.ipynb": b"{}",
            "eve/lab02_seq2seq.ipynb": b"{}",
        },
    )
    assert list(submitted_files(course)) == ["eve"]
    assert "lab02_seq2seq.ipynb" not in submitted_files(course)["eve"]
    why = [one.reason for one in summary.refused]
    assert sorted(why) == ["it is a notebook of lab02"] * 4 + ["it is for lab02"]


def test_the_time_comes_from_whom_it_can_be_trusted(course: Course) -> None:
    line = b"2026-01-01 00:00:00 UTC"
    bring(
        course,
        {
            f"submitted/ada/{LAB}/{NAME}.ipynb": NOTEBOOK,
            f"submitted/ada/{LAB}/timestamp.txt": line,
            f"bob+{LAB}+2026-02-02 00:00:00 UTC/{NAME}.ipynb": NOTEBOOK,
            f"cyd_1_2_{NAME}.ipynb": NOTEBOOK,
            "cyd_1_3_timestamp.txt": line,
            f"Dan_4_assignsubmission_file_/{NAME}.ipynb": NOTEBOOK,
            "Dan_4_assignsubmission_file_/timestamp.txt": line,
            f"eve/{NAME}.ipynb": NOTEBOOK,
            "eve/timestamp.txt": line,
            f"fay/{LAB}/{NAME}.ipynb": NOTEBOOK,
            f"fay/{LAB}/timestamp.txt": line,
        },
    )
    assert stamp(course, "ada") == "2026-01-01 00:00:00.000000 UTC"
    assert stamp(course, "bob") == "2026-02-02 00:00:00.000000 UTC"
    # What a student packs tells no time, and Canvas and Moodle date files when they are downloaded.
    for student in ("cyd_1", "Dan", "eve", "fay"):
        assert not (course.root / "submitted" / student / LAB / "timestamp.txt").exists()


def test_newer_replaces_older_and_never_the_other_way_round(course: Course) -> None:
    old, new = as_bytes(done()), as_bytes([*done(), *done()])
    first = bring(course, zipped({f"ada/{NAME}.ipynb": old, "ada/extra.csv": b"1"}, EARLY))
    assert len(first.collected) == 1
    second = bring(course, zipped({f"ada/{NAME}.ipynb": new}, LATE))
    assert [taken.student for taken in second.replaced] == ["ada"]
    assert submitted_files(course) == {"ada": {f"{NAME}.ipynb": new}}
    third = bring(course, zipped({f"ada/{NAME}.ipynb": old}, EARLY))
    assert submitted_files(course) == {"ada": {f"{NAME}.ipynb": new}}
    assert "older than the hand-in that is there" in third.refused[0].reason
    again = bring(course, zipped({f"ada/{NAME}.ipynb": new}, LATE))
    assert again.unchanged == ("ada",)
    assert not list((course.root / "submitted" / "ada").glob(".collecting*"))


def test_of_several_hand_ins_the_newest_counts_with_a_note(course: Course) -> None:
    summary = bring(
        course,
        {
            f"ada+{LAB}+2026-09-02 00:00:00 UTC/{NAME}.ipynb": as_bytes([*done(), *done()]),
            f"ada+{LAB}+2026-09-03 00:00:00 UTC/{NAME}.ipynb": NOTEBOOK,
            f"ada+{LAB}+2026-09-01 00:00:00 UTC/{NAME}.ipynb": as_bytes([]),
        },
    )
    assert submitted_files(course) == {"ada": ONE}
    assert len(summary.notes) == 2
    assert all("more than once" in note for note in summary.notes)


def test_many_other_files_do_not_crowd_out_the_notebook(course: Course) -> None:
    others = {f"ada/data/{number}.csv": b"1" for number in range(MOST_STUDENT_FILES + 5)}
    summary = bring(course, {**others, f"ada/{NAME}.ipynb": NOTEBOOK})
    assert submitted_files(course)["ada"].keys() >= ONE.keys()
    assert len(summary.refused) == 5


def test_canvas_versions_of_one_file_are_one_file(course: Course) -> None:
    bring(
        course,
        {
            f"ada_1_10_{NAME}.ipynb": b"first",
            f"ada_1_12_{NAME}-2.ipynb": NOTEBOOK,
            f"ada_1_11_{NAME}-1.ipynb": b"second",
            "ada_1_13_weights-2.csv": b"1",
        },
    )
    assert submitted_files(course) == {"ada_1": {**ONE, "weights-2.csv": b"1"}}


def test_the_only_notebook_gets_the_name_that_nbgrader_looks_for(course: Course) -> None:
    summary = bring(course, {"ada/Mein Heft (3).ipynb": NOTEBOOK, "ada/data.csv": b"1"})
    assert submitted_files(course) == {"ada": {**ONE, "data.csv": b"1"}}
    assert "Mein Heft (3).ipynb was stored as" in summary.notes[0]


def test_two_notebooks_keep_their_names(course: Course) -> None:
    bring(course, {"ada/a.ipynb": NOTEBOOK, "ada/b.ipynb": NOTEBOOK})
    assert list(submitted_files(course)["ada"]) == ["a.ipynb", "b.ipynb"]


def escape_tree(course: Course) -> set[str]:
    """All that lies around the course, to see whether anything was written where it must not."""
    base = course.root.parent
    return {
        str(path.relative_to(base))
        for path in base.rglob("*")
        if "submitted" not in path.parts and path.suffix != ".zip"
    }


@pytest.mark.parametrize(
    "name",
    [
        "../../evil.ipynb",
        "ada/../../../evil.ipynb",
        "/etc/evil.ipynb",
        "C:/evil.ipynb",
        "..\\..\\evil.ipynb",
        "ada/" + "x" * 300 + ".ipynb",
        "/".join("abcdefghijklmn"),
    ],
)
def test_paths_that_lead_elsewhere_are_refused(name: str, course: Course) -> None:
    before = escape_tree(course)
    summary = bring(course, {name: NOTEBOOK, f"bob/{NAME}.ipynb": NOTEBOOK})
    assert escape_tree(course) == before
    assert submitted_files(course) == {"bob": ONE}
    assert len(summary.refused) == 1


def test_links_are_refused(course: Course, tmp_path: Path) -> None:
    link = zipfile.ZipInfo(f"ada/{NAME}.ipynb", LATE)  # type: ignore[arg-type]
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr(link, "/etc/passwd")
    assert "link" in bring(course, whole.getvalue()).refused[0].reason

    folder = tmp_path / "in"
    (folder / "bob").mkdir(parents=True)
    (folder / "bob" / f"{NAME}.ipynb").symlink_to("/etc/passwd")
    (folder / "cyd").symlink_to("/etc")
    os.mkfifo(folder / "bob" / "pipe")
    summary = collect_submissions(course, LAB, [folder])
    assert {one.file for one in summary.refused} == {
        f"in/bob/{NAME}.ipynb",
        "in/cyd",
        "in/bob/pipe",
    }
    assert submitted_files(course) == {}


def test_bombs_are_refused_while_they_unpack(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"ada/{NAME}.ipynb", b"0" * (archives.MOST_FILE_BYTES + 1))
        archive.writestr(f"bob/{NAME}.ipynb", NOTEBOOK)
    data = bomb.getvalue()
    assert len(data) < 2**20
    # The archive may also say that the file is small.
    size = (archives.MOST_FILE_BYTES + 1).to_bytes(4, "little")
    for packed in (data, data.replace(size, (5).to_bytes(4, "little"))):
        summary = bring(course, packed)
        assert list(submitted_files(course)) == ["bob"]
        assert f"ada/{NAME}.ipynb" in summary.refused[0].file
    monkeypatch.setattr(archives, "MOST_NAMES", 1)
    assert "2 names" in bring(course, data).refused[0].reason


def test_damaged_and_locked_archives_are_named(course: Course, tmp_path: Path) -> None:
    assert "not a zip" in bring(course, b"PK but no zip").refused[0].reason
    good = zipped({f"ada/{NAME}.ipynb": NOTEBOOK})
    flipped = bytearray(good)
    flipped[120] ^= 0xFF
    assert "damaged" in bring(course, bytes(flipped)).refused[0].reason
    locked = bytearray(good)
    locked[good.index(b"PK\x01\x02") + 8] |= 1
    assert "encrypted" in bring(course, bytes(locked)).refused[0].reason
    with pytest.raises(CollectError, match=r"none.zip: there is no such folder or zip"):
        collect_submissions(course, LAB, [tmp_path / "none.zip"])
    assert submitted_files(course) == {}


def test_a_bad_zip_inside_costs_only_itself(course: Course) -> None:
    summary = bring(
        course,
        {
            "Ada_7_assignsubmission_file_/h.zip": b"PK nothing",
            f"bob/{NAME}.ipynb": NOTEBOOK,
        },
    )
    assert submitted_files(course) == {"bob": ONE}
    assert "h.zip" in summary.refused[0].file


def test_files_that_cannot_lie_side_by_side_are_refused(course: Course) -> None:
    summary = bring(
        course,
        {
            f"ada/{NAME}.ipynb": NOTEBOOK,
            "ada/x": b"1",
            "ada/x/y": b"2",
            "ada/.profile": b"3",
        },
    )
    assert submitted_files(course) == {"ada": {**ONE, "x": b"1"}}
    assert len(summary.refused) == 2


def test_rubbish_of_operating_systems_is_left_out(course: Course) -> None:
    summary = bring(
        course,
        {
            f"ada/{NAME}.ipynb": NOTEBOOK,
            "__MACOSX/ada/._x.ipynb": b"",
            "ada/.DS_Store": b"",
            f"ada/.ipynb_checkpoints/{NAME}-checkpoint.ipynb": b"",
            "ada/empty/": b"",
        },
    )
    assert submitted_files(course) == {"ada": ONE}
    assert summary.refused == ()


def test_moodles_editor_text_is_not_a_hand_in(course: Course) -> None:
    summary = bring(course, {"Ada_7_assignsubmission_onlinetext_/onlinetext.html": b"hello"})
    assert "Moodle" in summary.refused[0].reason


def test_ten_thousand_refused_files_are_one_line(course: Course) -> None:
    many = {f"ada/.hidden/{n}": b"" for n in range(10_000)}
    few = {f"bob/.{n}": b"" for n in range(3)}
    summary = bring(course, {**many, **few, f"ada/{NAME}.ipynb": NOTEBOOK})
    assert len(summary.refused) == 10_003
    _, _, *lines = summary.lines()
    assert len(lines) == 4
    assert lines[0] == "class.zip/ada/.hidden/0 and 9999 more: it is a hidden file"


def test_odd_names_become_safe_ones(course: Course) -> None:
    bring(course, {"ada\n\x1b[31m/no\u0308tes\x07.csv": b"1", f"-rf ../{NAME}.ipynb": NOTEBOOK})
    assert submitted_files(course) == {"ada___31m": {"nötes_.csv": b"1"}, "rf": ONE}


def test_whose_zip_it_is() -> None:
    assert owner("lab01-handin", LAB) == ""
    assert owner("ada-lab01-handin", LAB) == "ada"
    assert owner("ada.lovelace", LAB) == "ada.lovelace"


def test_the_summary_reads_well(course: Course) -> None:
    lines = bring(course, {f"ada/{NAME}.ipynb": NOTEBOOK, "stray.txt": b""}).lines()
    assert lines[0].startswith("1 collected, 0 replaced by newer ones, 0 there already, 1 not")
    assert lines[1].startswith("class.zip: 1 hand-in; the time is unknown, so it counts as on time")
    assert lines[2].startswith("class.zip/stray.txt: its path does not name")


def test_a_full_disk_is_one_sentence_and_what_is_there_stays(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring(course, {f"ada/{NAME}.ipynb": b"{1}"})
    real = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        if "submitted" in path.parts:
            raise OSError(28, "No space left on device")
        return real(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    sentence = r"submitted/ada/lab01 cannot be written \(No space left on device\); correct that"
    with pytest.raises(CollectError, match=sentence):
        bring(course, {f"ada/{NAME}.ipynb": b"{2}"}, "later.zip")
    assert submitted_files(course)["ada"] == {f"{NAME}.ipynb": b"{1}"}
