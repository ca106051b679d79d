"""A small class, and its hand-ins as each course system exports them.

Each builder follows the system's own code, named beside it: how it makes names, which dates it
writes, and which lists it adds.
"""

from __future__ import annotations

import csv
import io
import os
import re
import subprocess
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from html.entities import codepoint2name
from pathlib import Path
from zoneinfo import ZoneInfo

ZONE = ZoneInfo("Europe/Zurich")
DUE = datetime(2026, 9, 20, 23, 59, tzinfo=ZONE)
DOWNLOADED = datetime(2026, 9, 22, 9, 15, tzinfo=ZONE)
STUDENTS = """\
id,name,email,canvas_id,sis_id,moodle_name,github,section
ada,Ada Lovelace,ada@uni.example,1001,15-001,,ada-l,Mon
zoneil,Zoë O'Neil,zoe.oneil@uni.example,1002,15-002,,zoe_on,Mon
lei.li,李 雷,lei.li@uni.example,1003,15-003,,lilei,Mon
vdberg,Jan van der Berg,jan@uni.example,1004,15-004,,jan-van-der-berg,Tue
jmueller,Jürgen Müller-Lüth,jm@uni.example,1005,15-005,,jml,Tue
g_k,Grace King Hopper,g_k@uni.example,1006,15-006,"Hopper, Grace King",gkh,Tue
"""


@dataclass(frozen=True)
class Someone:
    """One student of the class as the systems know them, and when they handed in."""

    id: str
    first: str
    last: str
    email: str
    number: int
    sid: str
    github: str
    handed_in: datetime

    @property
    def full(self) -> str:
        return f"{self.first} {self.last}"

    @property
    def sortable(self) -> str:
        return f"{self.last}, {self.first}"

    @property
    def late(self) -> bool:
        return self.handed_in > DUE

    @property
    def files(self) -> dict[str, bytes]:
        text = b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5, "by": "%s"}'
        return {"lab01_softmax.ipynb": text.replace(b"%s", self.id.encode()), "w.csv": b"1"}


def _someone(login: str, first: str, last: str, number: int, github: str, hours: float) -> Someone:
    email = {"zoneil": "zoe.oneil", "vdberg": "jan", "jmueller": "jm"}.get(login, login)
    when = DUE + timedelta(hours=hours)
    when = when.replace(minute=number % 60, second=number % 25 * 2)
    return Someone(
        login, first, last, f"{email}@uni.example", number, f"15-{number - 1000:03}", github, when
    )


CLASS = (
    _someone("ada", "Ada", "Lovelace", 1001, "ada-l", -50),
    _someone("zoneil", "Zoë", "O'Neil", 1002, "zoe_on", -26.5),
    _someone("lei.li", "李", "雷", 1003, "lilei", 30),
    _someone("vdberg", "Jan", "van der Berg", 1004, "jan-van-der-berg", -3),
    _someone("jmueller", "Jürgen", "Müller-Lüth", 1005, "jml", -2),
    _someone("g_k", "Grace King", "Hopper", 1006, "gkh", -75),
)


UNIX, WINDOWS = 3, 0


def packed(
    files: Mapping[str, bytes], when: datetime | Mapping[str, datetime], made_on: int = UNIX
) -> bytes:
    """A zip; each entry has the date that the system gives it, in local time."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            date = when if isinstance(when, datetime) else when[name]
            entry = zipfile.ZipInfo(name, date.astimezone(ZONE).timetuple()[:6])
            entry.create_system = made_on
            archive.writestr(entry, data)
    return whole.getvalue()


def canvas(anonymous: bool = False) -> bytes:
    """github.com/instructure/canvas-lms, lib/content_zipper.rb: get_filename.

    The zipper hands rubyzip no time, so that each entry has the moment at which it was written:
    here two seconds after the one before.
    """
    files, dates = {}, {}
    for place, one in enumerate(CLASS):
        name = re.sub(r"_(\d+)_", r"\1", one.sortable).lower()
        who = [f"anon_{'x1Fq2'[place % 5]}{place}b"] if anonymous else [str(one.number)]
        parts = [*([] if anonymous else [name]), *(["LATE"] if one.late else []), *who]
        start = re.sub(r"[^\w]", "", "_".join(parts))
        for number, (file, data) in enumerate(one.files.items()):
            again = file.replace(".ipynb", "-1.ipynb") if one.id == "ada" else file
            path = f"{start}_{77000 + 10 * place + number}_{again}"
            files[path], dates[path] = data, DOWNLOADED + timedelta(seconds=2 * len(files))
    return packed(files, dates)


def _clean_filename(name: str) -> str:
    """Moodle's clean_filename: lib/moodlelib.php, clean_param(…, PARAM_FILE)."""
    return re.sub(r"[\x00-\x1f\x7f&<>\"`|':\\/]", "", name)


def moodle(week: int = 1, flat: bool = False, hidden: bool = False) -> bytes:
    """github.com/moodle/moodle, mod/assign/classes/downloader.php: get_student_prefix.

    The numbers are those of this week's assignment (assign::get_uniqueid_for_user).
    """
    files = {}
    for one in CLASS:
        name = ("Participant" if hidden else moodle_name(one)).replace("_", " ")
        start = _clean_filename(f"{name}_{moodle_number(one, week)}")
        for file, data in one.files.items():
            folder = _clean_filename(f"{start}_assignsubmission_file")
            files[f"{folder}_{file}" if flat else f"{folder}/{file}"] = data
    return packed(files, DOWNLOADED)


def moodle_name(one: Someone) -> str:
    return "Hopper, Grace King" if one.id == "g_k" else one.full


def moodle_number(one: Someone, week: int) -> int:
    return 7000 + 100 * week + one.number % 37


def moodle_worksheet(week: int = 1, hidden: bool = False) -> bytes:
    """mod/assign/gradingtable.php while it is downloaded: col_recordid, col_timesubmitted.

    userdate writes the time as strftimedaydatetime says, with no zero before day and hour.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    people = [] if hidden else ["Full name", "Email address"]
    writer.writerow(
        ["Identifier", *people, "Status", "Grade", "Maximum Grade", "Grade can be changed",
         "Last modified (submission)", "Last modified (grade)", "Feedback comments"]
    )  # fmt: skip
    for one in CLASS:
        when = one.handed_in.astimezone(ZONE)
        hour = f"{when.hour % 12 or 12}:{when:%M} {when:%p}"
        written = f"{when:%A}, {when.day} {when:%B} {when.year}, {hour}"
        known = [] if hidden else [moodle_name(one), one.email]
        number = f"Participant {moodle_number(one, week)}"
        writer.writerow([number, *known, "Submitted", "", "100.00", "Yes", written, "-", ""])
    absent = [] if hidden else ["Max Absent", "max@uni.example"]
    writer.writerow(
        ["Participant 7999", *absent, "No submission", "", "100.00", "Yes", "-", "-", ""]
    )
    return text.getvalue().encode("utf-8-sig")


def canvas_gradebook(points: float = 100, decimal: str = ".") -> bytes:
    """github.com/instructure/canvas-lms, lib/gradebook_exporter.rb: csv_data, with SIS ids.

    Two assignments and a sum; the second has hidden grades, so a row says "Manual Posting". Zoë is
    excused from the first, and it is not assigned to Jan. Numbers have two digits (format_numbers);
    where the sign is a comma, Canvas separates cells by semicolons.
    """
    text = io.StringIO()
    writer = csv.writer(text, delimiter=";" if decimal == "," else ",", lineterminator="\n")

    def number(value: float | None) -> str:
        return "" if value is None else f"{value:.2f}".replace(".", decimal)

    writer.writerow(
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Notes",
         "Lab01 Softmax (31337)", "Lab02 Sequences (31338)", "Current Score", "Final Score"]
    )  # fmt: skip
    writer.writerow([None] * 7 + ["Manual Posting", None, None])
    writer.writerow(
        ["    Points Possible", *[None] * 5, number(points), number(100),
         "(read only)", "(read only)"]
    )  # fmt: skip
    special = {"zoneil": "EX", "vdberg": "N/A", "ada": number(12.5)}
    for one in sorted(CLASS, key=lambda one: one.sortable):
        writer.writerow(
            [one.sortable, one.number, one.sid, one.email.partition("@")[0], "Course 1", None,
             special.get(one.id), None, number(0), number(0)]
        )  # fmt: skip
    writer.writerow(["Student, Test", "9999", "", "3f2a", "Course 1", None, None, None, None, None])
    return text.getvalue().encode("utf-8-sig" if decimal == "," else "utf-8")


def gradescope() -> bytes:
    """Gradescope's "Export Submissions", as github.com/b05902105 and others read it.

    Ruby writes submission_metadata.yml: symbols as keys, quoted numbers, times in UTC.
    """
    files, listed = {}, []
    for place, one in enumerate(CLASS):
        folder = f"submission_{3300 + place}"
        for file, data in one.files.items():
            files[f"assignment_91_export/{folder}/{file}"] = data
        when = one.handed_in.astimezone(UTC)
        listed.append(
            f"{folder}:\n  :submitters:\n  - :name: {one.full}\n    :sid: '{one.sid}'\n"
            f"    :email: {one.email}\n  :created_at: {when:%Y-%m-%d %H:%M:%S}.000000000 Z\n"
            "  :score: 0.0\n  :status: processed\n  :results: !ruby/hash:ActiveSupport::"
            "HashWithIndifferentAccess\n    tests: []\n  :history: []\n"
        )
    files["assignment_91_export/submission_metadata.yml"] = ("---\n" + "".join(listed)).encode()
    return packed(files, DOWNLOADED)


def blackboard() -> bytes:
    """Blackboard's "Assignment File Download", as github.com/kwurst/bb-file-cleanup reads it."""
    files = {}
    for one in CLASS:
        login = one.email.partition("@")[0]
        when = one.handed_in.astimezone(ZONE)
        start = f"Lab_1 Softmax_{login}_attempt_{when:%Y-%m-%d-%H-%M-%S}"
        files[f"{start}.txt"] = f"Name: {one.full} ({login})\nAssignment: Lab_1\n".encode()
        for file, data in one.files.items():
            files[f"{start}_{file}"] = data
    return packed(files, DOWNLOADED)


def brightspace() -> bytes:
    """D2L's download of an assignment; Ada's first hand-in is there, too. Colons are left out."""
    files = {"index.html": b"<html>"}

    def add(one: Someone, when: datetime, data: Mapping[str, bytes]) -> None:
        local = when.astimezone(ZONE)
        written = f"{local:%b} {local.day}, {local.year} {local.hour % 12 or 12}{local:%M %p}"
        for file, content in data.items():
            files[f"397063-2557369 - {one.full} - {written}/{file}"] = content

    add(CLASS[0], CLASS[0].handed_in - timedelta(days=1), {"lab01_softmax.ipynb": b"{}"})
    for one in CLASS:
        add(one, one.handed_in, one.files)
    return packed(files, DOWNLOADED)


def in_ascii(text: str) -> str:
    """ILIAS's ilUtil::getASCIIFilename.

    Two letters for an umlaut; of a letter that HTML 4 names, the first letter of the name; and of
    any other an underscore for each byte in UTF-8.
    """
    for mark, two in {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"}.items():
        text = text.replace(mark, two).replace(mark.upper(), two.capitalize())

    def one(letter: str) -> str:
        if letter.isascii():
            return letter
        named = codepoint2name.get(ord(letter))
        return named[0] if named else "_" * len(letter.encode())

    return "".join(map(one, text))


def ilias() -> bytes:
    """github.com/ILIAS-eLearning/ILIAS, class.ilExSubmission.php: downloadAllAssignmentFiles.

    Files keep the date of the upload, and a late one says so in its name.
    """
    files, dates = {"Lab_1/Lab_1.xlsx": b"PK"}, {"Lab_1/Lab_1.xlsx": DOWNLOADED}
    for one in CLASS:
        folder = in_ascii(f"{one.last}_{one.first}_{one.email.partition('@')[0]}_{one.number}")
        for file, data in one.files.items():
            name = f"Late Submission - {file}" if one.late else file
            path = f"Lab_1/Submissions/{folder}/{name}"
            files[path], dates[path] = data, one.handed_in
    return packed(files, dates)


def exchange() -> bytes:
    """nbgrader/exchange/default/submit.py: init_dest; the name holds the time in UTC."""
    files = {}
    for one in CLASS:
        when = f"{one.handed_in.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f} UTC"
        for file, data in {**one.files, "timestamp.txt": when.encode()}.items():
            files[f"inbound/{one.id}+lab01+{when}+c3R/{file}"] = data
    return packed(files, DOWNLOADED)


def classroom(folder: Path) -> Path:
    """``gh classroom clone student-repos`` (github.com/github/gh-classroom): real clones."""
    top = folder / "lab-01-submissions"
    for one in CLASS:
        clone = top / f"lab-01-{one.github}"
        clone.mkdir(parents=True)
        for file, data in one.files.items():
            (clone / file).write_bytes(data)
        (clone / ".gitignore").write_text("*.pyc\n")
        date = f"{one.handed_in:%Y-%m-%dT%H:%M:%S%z}"
        settings = {
            "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date, "GIT_CONFIG_GLOBAL": os.devnull,
            "PATH": os.environ["PATH"], "HOME": str(folder),
        }  # fmt: skip
        who = ["-c", f"user.name={one.first}", "-c", f"user.email={one.email}"]
        for command in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "Done"]):
            subprocess.run(["git", *command], cwd=clone, env=settings, check=True)
    return top


def handed_zips(folder: Path) -> Path:
    """A folder of zips that ``lab submit`` packed; each has the date of its upload."""
    folder = folder / "zips"
    folder.mkdir()
    for one in CLASS:
        path = folder / f"{one.id}-lab01-handin.zip"
        path.write_bytes(packed(one.files, one.handed_in - timedelta(hours=1)))
        seconds = one.handed_in.timestamp()
        os.utime(path, (seconds, seconds))
    return folder


def _minute(moment: datetime) -> datetime:
    return moment.replace(second=0, microsecond=0)


# By system: the export, and what it can tell about a hand-in's time.
EXPORTS: dict[str, tuple[Callable[[Path], bytes | Path], Callable[[Someone], datetime | None]]] = {
    "Canvas": (
        lambda _: canvas(),
        lambda one: DUE + timedelta(minutes=30, seconds=1) if one.late else None,
    ),
    "Moodle": (lambda _: moodle(), lambda _: None),
    "Moodle, flat": (lambda _: moodle(flat=True), lambda _: None),
    "Gradescope": (lambda _: gradescope(), lambda one: one.handed_in),
    "Blackboard": (lambda _: blackboard(), lambda one: one.handed_in),
    "Brightspace": (lambda _: brightspace(), lambda one: _minute(one.handed_in)),
    "ILIAS": (lambda _: ilias(), lambda one: one.handed_in),
    "GitHub Classroom": (classroom, lambda one: one.handed_in),
    "zips of lab submit": (handed_zips, lambda one: one.handed_in),
    "nbgrader's exchange": (lambda _: exchange(), lambda one: one.handed_in),
}
