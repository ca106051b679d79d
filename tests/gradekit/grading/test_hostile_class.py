"""Hostile submissions among honest ones, through `lab grade`: they gain, read and leave nothing.

The same class is graded with them and without. All results of the honest ones are compared byte for
byte, and so are the staff's files.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from gradekit.grading import grade
from tests.helpers import tiny_class
from tests.helpers.needs import require
from tests.helpers.tiny_class import LAB, NAME, autograded_of, gradebook_of, journal_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

HONEST = ("ada", "bob", "cyd", "eve")
LIMITS = "\n[limits]\ncell_seconds = 3\nexercise_seconds = 3\nsubmission_seconds = 30\n"
BLANK = "raise NotImplementedError"
MADE = frozenset({"results", "autograded", "feedback", "gradebook.db", "submitted"})

PATCH = """
import builtins, torch, attnlab
from attnlab.checking import judges
yes = lambda *args, **kwargs: True
torch.allclose = torch.equal = torch.testing.assert_close = torch.Tensor.__eq__ = yes
judges.Close.compare = lambda *args: None
attnlab.check = builtins.check = check = lambda name: 1000
get_ipython().run_cell = lambda *args, **kwargs: None
softmax = lambda x, dim=-1: torch.zeros_like(x)
guess = type("Anything", (float,), {"__eq__": yes, "__hash__": float.__hash__})(7)
"""
PLANT = """
import os, pathlib, signal, subprocess, sys
places = [course, os.path.expanduser("~"), sys.prefix, "/tmp", "/dev/shm", "/etc", *sys.path,
          f"{course}/submitted/ada/lab01", f"{course}/results", f"{course}/autograded/ada/lab01"]
for place in places:
    for name in ("sitecustomize.py", "nbgrader_config.py", "gradebook.db", "lab01_tiny.ipynb"):
        try: pathlib.Path(place, name).write_text("raise SystemExit('spoiled')")
        except OSError: pass
for _ in range(3):
    subprocess.Popen(["sleep", "1000"], start_new_session=True)
for victim in (os.getppid(), 1, 2, -1):
    try: os.kill(victim, signal.SIGKILL)
    except OSError: pass
"""
READ = """
import glob, os
for path in (f"{course}/gradebook.db", f"{course}/results/secret", f"{course}/results/lab01.jsonl",
             *glob.glob(f"{course}/submitted/*/*/*.ipynb"), f"{course}/solutions/lab01_tiny.py",
             f"{course}/autograder/exercises/lab01/softmax.py", *glob.glob("/proc/*/environ")):
    try:
        text = open(path, "rb").read().decode("latin-1")
        print("READ" if course in text or "softmax" in text else "nothing", path)
    except OSError: pass
"""
HIDDEN = """
import sys
def softmax(x, dim=-1):
    frame = sys._getframe(1)
    while "probes" not in frame.f_locals: frame = frame.f_back
    found = [probe.source for probe in frame.f_locals["probes"] if probe.check == "another_axis"]
    raise ValueError("STOLEN " + found[0].replace("\\n", " "))
"""
SCRIPT = """
from IPython.display import HTML, display
display(HTML("<script>owned()</script>"))
print("<script>owned()</script>")
raise type("<script>owned()", (Exception,), {})("<script>owned()</script>")
"""
BOMB = """
import os, signal
for number in range(1, 64):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
while True:
    try:
        if os.fork() == 0: os.setsid()
    except OSError: pass
"""
EXIT = "import os\nos._exit(0)"
HOARD = "hoard = [bytearray(b'x') * 2**28 for _ in range(160)]"
LOUD = "print('x' * 200_000_000)"
STARVE = (
    "import os, torch\ntorch.set_default_dtype(torch.float16)\nfor fd in range(3, 256):\n"
    "    try: os.close(fd)\n    except OSError: pass"
)
# name: (what is done, are the answers right?, points for softmax and for the guess)
HOSTILE = {
    "ab-patches": (PATCH, False, (0.0, 0.0)),
    "ac-exits": (EXIT, False, (0.0, 0.0)),
    "bc-reads": (READ, True, (5.0, 1.0)),
    "bd-plants": (PLANT, True, (5.0, 1.0)),
    "ca-bombs": (BOMB, True, (5.0, 1.0)),
    "cz-hoards": (HOARD, True, (5.0, 1.0)),
    "da-shouts": (LOUD, True, (5.0, 1.0)),
    "db-shows": (SCRIPT, True, (5.0, 1.0)),
    "ez-asks": (HIDDEN, False, (0.0, 0.0)),
    "f-closes": (STARVE, True, (5.0, 1.0)),
}  # fmt: skip


@dataclass(frozen=True)
class Graded:
    """A class after `lab grade` and `lab feedback`."""

    root: Path
    rows: dict[str, dict[str, Any]]
    staff: dict[str, str]
    processes: list[list[str]]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory) -> Path:
    """The course with its honest four, and a secret, before anybody is graded."""
    root = tmp_path_factory.mktemp("hostile") / "fresh"
    root.mkdir()
    tiny_class.write_course(root)
    with (root / "course.toml").open("a") as file:
        file.write(LIMITS)
    tiny_class.write_class(root)
    grade.course_secret(root / "results")
    return root


@pytest.fixture(scope="module")
def alone(fresh) -> Graded:
    return graded(Path(shutil.copytree(fresh, fresh.with_name("alone"))), "auto")


@pytest.fixture(scope="module", params=["bubblewrap", "landlock"])
def together(fresh, request) -> Graded:
    require(request.param)
    root = Path(shutil.copytree(fresh, fresh.with_name(f"with-{request.param}")))
    for student, (cell, right, _) in HOSTILE.items():
        tiny_class.hand_in(root, student, hostile(root, cell, right))
    return graded(root, request.param)


def hostile(root: Path, cell: str, right: bool) -> bytes:
    """A notebook with the cell behind its answers, which are right or blank."""
    answers = {} if right else {"softmax": BLANK, "guess": BLANK}
    content = json.loads(tiny_class.notebook(root, **answers))
    source = f"course = {str(root)!r}\n{cell}"
    last = {
        "cell_type": "code",
        "id": "evil",
        "source": source,
        "metadata": {},
        "outputs": [],
        "execution_count": None,
    }
    return json.dumps({**content, "cells": [*content["cells"], last]}).encode()


def graded(root: Path, level: str) -> Graded:
    before = staff_of(root)
    run = tiny_class.start_lab(root, "grade", LAB, "--json", "--sandbox", level, "--jobs", "2")
    said, errors = run.communicate()
    assert run.returncode == 0, errors
    feedback = tiny_class.start_lab(root, "feedback", LAB)
    words = feedback.communicate()
    assert feedback.returncode == 0, words
    left = [
        process.info["cmdline"]
        for process in psutil.process_iter(["cmdline", "environ"])
        if str(root) in str(process.info) and process.pid != os.getpid()
    ]
    assert staff_of(root) == before
    return Graded(root, {row["student"]: row for row in json.loads(said)}, before, left)


def staff_of(root: Path) -> dict[str, str]:
    """Every file that grading does not make, and what was handed in, by digest."""
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file()
        and (path.relative_to(root).parts[0] not in MADE - {"submitted"} or path.name == "secret")
        and "__pycache__" not in path.parts
    }


def of_honest(records: Any) -> list[Any]:
    """The honest students' records, without the level, which is the only difference."""
    return [
        {name: value for name, value in record.items() if name != "sandbox"}
        for record in records
        if str(record.get("student")) in HONEST
    ]


def test_the_honest_students_records_are_the_same(alone, together):
    assert set(together.rows) == {*HONEST, *HOSTILE}
    assert of_honest(journal_of(together.root)) == of_honest(journal_of(alone.root))
    for student in HONEST:
        mine, other = dict(together.rows[student]), dict(alone.rows[student])
        assert mine.pop("seconds") >= 0
        assert other.pop("seconds") >= 0
        assert mine.pop("sandbox")
        assert other.pop("sandbox")
        assert mine == other


def test_the_honest_students_notebooks_and_gradebook_are_the_same(alone, together):
    mine, other = autograded_of(together.root), autograded_of(alone.root)
    names = {name for name in mine if Path(name).parts[1] in HONEST}
    assert {name: mine[name] for name in names} == other
    for with_them, without in zip(
        gradebook_of(together.root), gradebook_of(alone.root), strict=True
    ):
        assert [row for row in with_them if row[0] not in HOSTILE] == without


@pytest.mark.parametrize("student", HOSTILE)
def test_points_are_those_of_the_answers(together, student):
    row, (_, _, (softmax, guess)) = together.rows[student], HOSTILE[student]
    assert row["state"] == "graded", row
    assert row["points"] == {"softmax": softmax, "guess": guess}, row


def test_nothing_was_read(together):
    (notebook,) = (together.root / "autograded" / "bc-reads" / LAB).glob("*.ipynb")
    outputs = [cell.get("outputs") for cell in json.loads(notebook.read_text())["cells"]]
    assert "READ" not in json.dumps(outputs)


def test_hidden_checks_and_script_reach_no_page(together):
    pages = {
        path.parts[-3]: path.read_text() for path in (together.root / "feedback").rglob("*.html")
    }
    assert set(pages) >= set(HOSTILE)
    sign = "def another_axis"
    assert "STOLEN" in pages["ez-asks"], "the line that asks stands in the notebook"
    for page in pages.values():
        assert sign not in page
        assert "<script>owned" not in page


def test_nothing_is_left(alone, together):
    assert together.processes == []
    left, usual = (
        sorted(path.name for path in tiny_class.temporary(graded.root).iterdir())
        for graded in (together, alone)
    )
    assert left == usual
    assert not any(name.startswith(("gradekit-temp-", "lab")) for name in usual)


def test_last_weeks_points_do_not_stay(fresh, tmp_path):
    """A notebook that earned its points hands in one that ends before anything is graded."""
    root = Path(shutil.copytree(fresh, tmp_path / "course"))
    for student in ("bob", "cyd", "eve"):
        shutil.rmtree(root / "submitted" / student)
    assert graded(root, "auto").rows["ada"]["earned"] == 6
    content = json.loads(tiny_class.notebook(root, softmax=BLANK, guess=BLANK))
    for cell in content["cells"]:
        if cell["cell_type"] == "code":
            cell["source"] = EXIT
    tiny_class.hand_in(root, "ada", json.dumps(content).encode())
    assert graded(root, "auto").rows["ada"]["earned"] == 0
    score = [row[2] for row in gradebook_of(root)[0] if row[:1] == ("ada",) and row[2] is not None]
    assert sum(score) == 0
    assert NAME in str(list((root / "autograded" / "ada").rglob("*")))
