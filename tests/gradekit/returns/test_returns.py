"""`lab return`: every page reaches its student and nobody else, read as the systems read it."""

from __future__ import annotations

import email
import email.policy
import json
import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gradekit.cli import app
from gradekit.course import Course, load_course
from gradekit.errors import ReturnError
from gradekit.results.records import State
from gradekit.returns.returns import Way, return_pages, way_named
from gradekit.submissions.collect import Options, collect_submissions
from gradekit.submissions.stored import origin_path
from tests.helpers.collected import course_in
from tests.helpers.exports import (
    CLASS,
    DOWNLOADED,
    STUDENTS,
    canvas,
    ilias,
    moodle,
    moodle_name,
    moodle_number,
    moodle_worksheet,
    packed,
)
from tests.helpers.importers import canvas_reads, ilias_reads, moodle_reads, unpacked
from tests.helpers.recorded import Points, record_lab
from tests.helpers.submissions import LAB

NUMBERS = {moodle_number(one, 1): one.id for one in CLASS}
# As tests/helpers/exports.py counts them: ten numbers for each student, the notebook's first.
ATTACHMENTS = {
    (str(one.number), str(77000 + 10 * place + file)): one.id
    for place, one in enumerate(CLASS)
    for file in (0, 1)
}
EVERYONE = {one.id for one in CLASS}


def made(
    root: Path, data: bytes, points: dict[str, Points] | None = None, times: Path | None = None
) -> Course:
    """The class, collected from one zip, with results."""
    course = course_in(root, STUDENTS)
    (root.parent / "class.zip").write_bytes(data)
    options = Options(times=(times,) if times else ())
    collect_submissions(course, LAB, [root.parent / "class.zip"], options)
    record_lab(course, LAB, {one.id: Points() for one in CLASS} | (points or {}))
    return course


@pytest.fixture(scope="module")
def from_moodle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("moodle") / "course", moodle()).root


@pytest.fixture(scope="module")
def from_canvas(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("canvas") / "course", canvas()).root


@pytest.fixture
def course(from_moodle: Path, tmp_path: Path) -> Course:
    return load_course(Path(shutil.copytree(from_moodle, tmp_path / "course")))


@pytest.fixture
def canvas_course(from_canvas: Path, tmp_path: Path) -> Course:
    return load_course(Path(shutil.copytree(from_canvas, tmp_path / "canvas")))


def owner(html: bytes) -> str:
    """Whose page it is: the only student whose id is on it."""
    text = html.decode()
    named = {one for one in EVERYONE if re.search(rf"\b{re.escape(one)}\b", text)}
    assert len(named) == 1, named
    return named.pop()


def test_moodle_shows_every_page_to_its_student_alone(course: Course):
    done = return_pages(course, LAB, Way.MOODLE)
    data = done.file.read_bytes()
    read = moodle_reads(data, NUMBERS)
    assert set(read) == EVERYONE
    assert {
        student: {name: owner(page) for name, page in files.items()}
        for student, files in read.items()
    } == {student: {"lab01.html": student} for student in EVERYONE}
    # The names are those of the download, so that its own version of Moodle knows them.
    folders = {path.rpartition("/")[0] for path in unpacked(moodle())}
    assert {path.rpartition("/")[0] for path in unpacked(data)} == folders


def test_a_moodle_with_logins_before_names_gets_its_own_folders_back(tmp_path: Path):
    """With a login that students.csv does not have, it may be a group's name, and is held back."""
    logins = {moodle_name(one).replace("'", ""): one.email.partition("@")[0] for one in CLASS}
    logins["Ada Lovelace"] = "Team"
    files = {}
    for path, content in unpacked(moodle()).items():
        name, rest = path.split("_", 1)
        files[f"{logins[name]} {name}".replace("_", " ") + f"_{rest}"] = content
    (tmp_path / "grading.csv").write_bytes(moodle_worksheet())
    course = made(tmp_path / "course", packed(files, DOWNLOADED), times=tmp_path / "grading.csv")
    done = return_pages(course, LAB, Way.MOODLE)
    assert set(moodle_reads(done.file.read_bytes(), NUMBERS)) == EVERYONE - {"ada"}
    assert "'Team Ada Lovelace'" in done.held["ada"]


def test_an_older_moodle_gets_the_folders_of_one_group_back(tmp_path: Path):
    """The three students of section Mon, downloaded as the group of this name."""
    monday = {"Ada Lovelace", "Zoë ONeil", "李 雷"}
    files = {
        f"Mon-{path}": content
        for path, content in unpacked(moodle()).items()
        if path.partition("_")[0] in monday
    }
    course = made(tmp_path / "course", packed(files, DOWNLOADED))
    done = return_pages(course, LAB, Way.MOODLE)
    assert set(moodle_reads(done.file.read_bytes(), NUMBERS)) == {"ada", "zoneil", "lei.li"}


@pytest.mark.parametrize("ending", ["", "_"])
def test_older_moodles_write_an_underscore_more(tmp_path: Path, ending: str):
    files = {
        path.replace("_file/", f"_file{ending}/"): content
        for path, content in unpacked(moodle()).items()
    }
    made(tmp_path / "course", packed(files, DOWNLOADED))
    done = return_pages(load_course(tmp_path / "course"), LAB, Way.MOODLE)
    paths = list(unpacked(done.file.read_bytes()))
    assert all(path.endswith(f"_file{ending}/lab01.html") for path in paths)
    assert len(moodle_reads(done.file.read_bytes(), NUMBERS)) == len(CLASS)


def test_a_flat_download_gets_flat_names_back(tmp_path: Path):
    made(tmp_path / "course", moodle(flat=True))
    done = return_pages(load_course(tmp_path / "course"), LAB, Way.MOODLE)
    data = done.file.read_bytes()
    assert all(path.endswith("_assignsubmission_file_lab01.html") for path in unpacked(data))
    read = moodle_reads(data, NUMBERS)
    assert {student: owner(files["lab01.html"]) for student, files in read.items()} == {
        one: one for one in EVERYONE
    }


def test_canvas_shows_every_page_to_its_student_alone(canvas_course: Course):
    done = return_pages(canvas_course, LAB, Way.CANVAS)
    data = done.file.read_bytes()
    read = canvas_reads(data, ATTACHMENTS)
    assert {student: [owner(page) for page in pages] for student, pages in read.items()} == {
        one: [one] for one in EVERYONE
    }
    assert all(path.endswith("_lab01.html") for path in unpacked(data))


def test_ilias_shows_every_page_to_its_student_alone(tmp_path: Path):
    course = made(tmp_path / "course", ilias())
    members = {one.number: one.id for one in CLASS}
    read = ilias_reads(return_pages(course, LAB, Way.ILIAS).file.read_bytes(), members)
    assert {student: owner(files["lab01.html"]) for student, files in read.items()} == {
        one: one for one in EVERYONE
    }
    change_origin(course, "ada", home="Hopper_Grace King_g_k_1006", key="1006")
    change_origin(course, "vdberg", home="no folder of ILIAS's")
    held = return_pages(course, LAB, Way.ILIAS).held
    assert held == {
        "ada": "'Hopper_Grace King_g_k_1006' in ILIAS's download is that of g_k; correct "
        "students.csv",
        "vdberg": 'ILIAS would not know whose "no folder of ILIAS\'s" is',
    }


def test_a_hand_in_goes_back_to_where_it_came_from(canvas_course: Course):
    with pytest.raises(ReturnError) as refused:
        return_pages(canvas_course, LAB, Way.MOODLE)
    assert str(refused.value) == (
        "lab01: no page can go back through moodle: not returned because the hand-in came from "
        "Canvas: ada, g_k, jmueller, lei.li, vdberg and 1 more"
    )
    assert not (canvas_course.root / "exports").exists()


def change_origin(course: Course, student: str, **changes: object) -> None:
    path = origin_path(course.root, student, LAB)
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_two_students_with_one_path_get_no_page(course: Course):
    """Whoever owns that number would see both pages."""
    ada = json.loads(origin_path(course.root, "ada", LAB).read_text())
    number = ada["key"]
    home = f"Jan van der Berg_{number}_assignsubmission_file"
    change_origin(course, "vdberg", home=home, key=number)
    done = return_pages(course, LAB, Way.MOODLE)
    assert done.held == dict.fromkeys(["ada", "vdberg"], "several students would see it")
    assert set(moodle_reads(done.file.read_bytes(), NUMBERS)) == EVERYONE - {"ada", "vdberg"}


def test_a_page_of_a_group_is_not_shown_to_the_group(course: Course, canvas_course: Course):
    for one, way in ((course, Way.MOODLE), (canvas_course, Way.CANVAS)):
        change_origin(one, "ada", group="Team Red")
        done = return_pages(one, LAB, way)
        assert set(done.held) == {"ada"}
        assert f"{way.capitalize()} would show it to the whole group 'Team Red'" in done.lines()[1]


def test_a_group_that_nobody_told_of_is_noticed(canvas_course: Course):
    """Canvas writes the group's name and the number of one member, and shows files to all."""
    change_origin(canvas_course, "ada", files={"x.ipynb": "class.zip/teamred_1001_77000_x.ipynb"})
    done = return_pages(canvas_course, LAB, Way.CANVAS)
    assert set(done.held) == {"ada"}
    wrong = "the name 'teamred' in Canvas's download is not the name of the student"
    assert wrong in done.held["ada"]


def test_numbers_that_were_given_to_somebody_else_are_noticed(canvas_course: Course):
    swapped = STUDENTS.replace(",1001,", ",X,").replace(",1002,", ",1001,").replace(",X,", ",1002,")
    (canvas_course.root / "students.csv").write_text(swapped, "utf-8")
    done = return_pages(canvas_course, LAB, Way.CANVAS)
    assert done.held == {
        "ada": "the number in Canvas's download is that of zoneil; correct students.csv",
        "zoneil": "the number in Canvas's download is that of ada; correct students.csv",
    }
    assert set(canvas_reads(done.file.read_bytes(), ATTACHMENTS)) == EVERYONE - {"ada", "zoneil"}


def test_names_that_were_given_to_somebody_else_are_noticed(course: Course):
    swapped = STUDENTS.replace("Ada Lovelace", "X").replace("Jan van der Berg", "Ada Lovelace")
    swapped = swapped.replace(",X,", ",Jan van der Berg,")
    (course.root / "students.csv").write_text(swapped, "utf-8")
    held = return_pages(course, LAB, Way.MOODLE).held
    assert set(held) == {"ada", "vdberg"}
    assert held["ada"] == (
        "the name 'Ada Lovelace' in Moodle's download is that of vdberg; it may be a group's, so "
        "use mail or folders, or correct students.csv"
    )


def test_names_that_canvas_would_read_otherwise_are_held_back(canvas_course: Course):
    for name in ("7_1001_77000_x.ipynb", "no name of Canvas's.ipynb"):
        change_origin(canvas_course, "ada", files={"x.ipynb": f"class.zip/{name}"})
        held = return_pages(canvas_course, LAB, Way.CANVAS).held
        assert set(held) == {"ada"}
        assert "Canvas would" in held["ada"]


def test_what_is_not_final_is_held_back(tmp_path: Path):
    root = tmp_path / "course"
    points = {"ada": Points(text=None), "g_k": Points(state=State.OURS)}
    course = made(root, moodle(), points)
    shutil.copytree(root / "submitted" / "ada", root / "submitted" / "new")
    done = return_pages(course, LAB, Way.FOLDER)
    assert done.lines() == [
        "lab01: 4 pages for folders, one for each student",
        "not returned because a part needs manual grading (--partial returns it): ada",
        "not returned because the grader failed on it (--partial returns it): g_k",
        "not returned because it is not graded yet (`lab grade lab01` does that): new",
    ]
    told = return_pages(course, LAB, Way.FOLDER, partial=True)
    assert set(told.paths) == EVERYONE
    assert set(told.held) == {"new"}


def test_folders_hold_one_page_each_and_none_of_earlier_runs(course: Course):
    done = return_pages(course, LAB, Way.FOLDER)
    pages = {path.parent.name: owner(path.read_bytes()) for path in done.file.rglob("*.html")}
    assert pages == {one: one for one in EVERYONE}
    shutil.rmtree(course.root / "submitted" / "ada")
    (done.file / "gone").mkdir()
    (done.file / "gone" / "lab01.html").write_text("of a student who left")
    assert not (return_pages(course, LAB, Way.FOLDER).file / "gone").exists()


def test_a_mail_goes_to_its_student_alone(course: Course):
    wrong = STUDENTS.replace("ada@uni.example", "").replace("jan@uni", "jan; eve@uni")
    (course.root / "students.csv").write_text(wrong, "utf-8")
    done = return_pages(course, LAB, Way.MAIL)
    assert done.held == {
        "ada": "students.csv has no email address",
        "vdberg": "'jan; eve@uni.example' is not an email address; correct students.csv",
    }
    addresses = {one.id: one.email for one in CLASS}
    for path in sorted(done.file.iterdir()):
        message = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
        (page,) = message.iter_attachments()
        student = owner(page.get_content().encode())
        assert path.name == f"{student}.eml"
        assert [a.addr_spec for a in message["To"].addresses] == [addresses[student]]
        assert (message["Cc"], message["Bcc"], message["From"]) == (None, None, None)
        assert max(map(len, path.read_bytes().split(b"\r\n"))) <= 998
    assert len(list(done.file.iterdir())) == len(CLASS) - 2


# RFC 2047 writes letters as codes, ends of lines among them. And Python's email folds long names,
# and loses the quotation marks that keep the rest of them from being another recipient.
NAMES = [
    "=?utf-8?q?Ada=0D=0ABcc=3A_evil=40evil.example?=",
    "=?utf-8?b?QQ0KQmNjOiBlQGUuZQ==?=",
    f"{'A' * 60}, evil <evil@evil.example>, {'Lovelace ' * 5}".strip(),
]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_writes_no_header_and_adds_no_recipient(course: Course, name: str):
    listed = (course.root / "students.csv").read_text("utf-8")
    (course.root / "students.csv").write_text(listed.replace("Ada Lovelace", f'"{name}"'), "utf-8")
    done = return_pages(course, LAB, Way.MAIL)
    headers, _, _ = (done.file / "ada.eml").read_bytes().partition(b"\r\n\r\n")
    assert b"\r\nBcc" not in headers
    message = email.message_from_bytes(headers, policy=email.policy.default)
    assert [address.addr_spec for address in message["To"].addresses] == [CLASS[0].email]


def test_an_address_with_other_letters_is_written_as_it_is(course: Course):
    listed = (course.root / "students.csv").read_text("utf-8")
    other = listed.replace(CLASS[0].email, "jürgen@uni.example")
    (course.root / "students.csv").write_text(other, "utf-8")
    done = return_pages(course, LAB, Way.MAIL)
    assert (
        "\r\nTo: jürgen@uni.example\r\n".encode() in b"\r\n" + (done.file / "ada.eml").read_bytes()
    )


def test_the_same_pages_are_the_same_bytes(course: Course):
    for way in (Way.MOODLE, Way.MAIL):
        first = return_pages(course, LAB, way).file
        kept = {path: path.read_bytes() for path in [first, *first.rglob("*")] if path.is_file()}
        second = return_pages(course, LAB, way).file
        assert {
            path: path.read_bytes() for path in [second, *second.rglob("*")] if path.is_file()
        } == kept


def lab(course: Course, *arguments: str):
    return CliRunner().invoke(app, ["return", LAB, *arguments, "--course", str(course.root)])


def test_as_a_ta_types_it(course: Course):
    done = lab(course, "--as", "moodle", "--no-solutions")
    assert done.stdout == "lab01: 6 pages for Moodle\nwrote exports/lab01-pages-moodle.zip\n"
    found = json.loads(lab(course, "--as", "moodle", "--no-solutions", "--json").stdout)
    assert found["held"] == []
    assert found["returned"][0] == {
        "student": "ada",
        "path": f"Ada Lovelace_{moodle_number(CLASS[0], 1)}_assignsubmission_file/lab01.html",
    }
    assert (course.root / "feedback" / "ada" / LAB / "lab01.html").is_file()


def test_what_cannot_be_done_is_one_sentence(course: Course, tmp_path: Path):
    with pytest.raises(
        ReturnError, match="--as hub: the ways are moodle, canvas, ilias, exchange, mail, folder"
    ):
        way_named("hub")
    with pytest.raises(ReturnError, match="is not an empty folder; name a new one with --out"):
        return_pages(course, LAB, Way.FOLDER, out=course.root)
    (tmp_path / "file").write_text("")
    with pytest.raises(ReturnError, match="is there already; name a new file with --out"):
        return_pages(course, LAB, Way.MOODLE, out=tmp_path / "file")
    with pytest.raises(ReturnError, match="cannot be written: File exists"):
        return_pages(course, LAB, Way.MOODLE, out=tmp_path / "file" / "x.zip")
