"""A class of any size over three labs, in two course systems: a rule says what each student does.

Results are recorded and not graded; everything else happens by commands.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from typer.testing import CliRunner, Result

from gradekit.cli import app
from gradekit.course import load_course
from tests.helpers.exports import DOWNLOADED, packed
from tests.helpers.recorded import Points, record_lab

LABS = ("lab01", "lab02", "lab03")
COURSE = """\
[course]
name = "A term"
timezone = "UTC"

[late]
grace_minutes = 30
percent_per_day = 10
last_day = 5
slip_days = 1

[term]
drop_lowest = 1
scale = { A = 85, B = 60, C = 35, F = 0 }

[[lab]]
id = "lab01"
title = "One"
release = 2026-09-01
due = 2026-09-08T18:00:00

[[lab]]
id = "lab02"
title = "Two"
release = 2026-09-08
due = 2026-09-15T18:00:00

[[lab]]
id = "lab03"
title = "Three"
weight = 200
release = 2026-09-15
due = 2026-09-22T18:00:00

[[extension]]
section = "B"
lab = "lab03"
days = 1
reason = "a room without power"
"""
ONE_EXTENSION = """
[[extension]]
student = "{}"
lab = "lab02"
days = 3
"""
DUE = {lab: datetime(2026, 9, 8 + 7 * week, 18, tzinfo=UTC) for week, lab in enumerate(LABS)}
_HOURS = (-3, -30, 5, -1, 30, 0.4, 55, 200)


@dataclass(frozen=True)
class Person:
    """Student number `n`, and what the rule says about each lab (`week` from 0)."""

    n: int

    @property
    def id(self) -> str:
        return f"s{self.n:03}"

    @property
    def name(self) -> str:
        return f"Ann{self.n:03} Lee"

    @property
    def section(self) -> str:
        return "AB"[self.n % 2]

    @property
    def is_in_canvas(self) -> bool:
        return self.n % 3 == 0

    @property
    def has_extension(self) -> bool:
        return self.n % 12 == 3

    def hands_in(self, week: int) -> bool:
        return (self.n + 2 * week) % 10 != 7

    def when(self, week: int) -> datetime:
        return DUE[LABS[week]] + timedelta(hours=_HOURS[(self.n + week) % 8])

    def points(self, week: int) -> Points:
        return Points(float((3 * self.n + week) % 9), float((self.n + week) % 5))

    def file(self, week: int) -> tuple[str, bytes]:
        """The name and the content; every eleventh copies, every seventh has a name of its own."""
        writer = self.n - 1 if self.n % 11 == 4 else self.n
        name = "my lab (final).ipynb" if self.n % 7 == 2 else f"{LABS[week]}_x.ipynb"
        text = b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5, "by": "%d-%d"}'
        return name, text % (writer, week)

    def extended(self, week: int) -> int:
        """Days that are added to the due date."""
        return max(3 * (self.has_extension and week == 1), self.section == "B" and week == 2)

    def days_late(self, week: int) -> int:
        due = DUE[LABS[week]] + timedelta(days=self.extended(week))
        late = self.when(week) - due
        return 0 if late <= timedelta(minutes=30) else math.ceil(late / timedelta(days=1))


def play_term(root: Path, size: int) -> list[Person]:
    """Import the roster, collect both downloads of each lab with their times, record results."""
    people = [Person(n) for n in range(size)]
    extra = "".join(ONE_EXTENSION.format(one.id) for one in people if one.has_extension)
    (root / "solutions").mkdir(parents=True)
    (root / "course.toml").write_text(COURSE + extra)
    rows = [
        f"{one.id},{one.name},{one.id}@uni.example,{5000 + one.n},{one.section}" for one in people
    ]
    (root / "list.csv").write_text("\n".join(["id,name,email,canvas_id,section", *rows]))
    for lab in LABS:
        (root / "solutions" / f"{lab}_x.py").touch()
    run(root, "roster", "import", str(root / "list.csv"))
    for week, lab in enumerate(LABS):
        there = [one for one in people if one.hands_in(week)]
        sources = _downloads(root, lab, week, there)
        times = root / f"{lab}-times.csv"
        lines = [f"{one.id},{one.when(week):%Y-%m-%d %H:%M}" for one in there]
        times.write_text("\n".join(["id,when", *lines]))
        done = run(root, "collect", lab, *map(str, sources), "--times", str(times))
        assert done.stdout.startswith(f"{len(there)} collected"), done.stdout
        record_lab(load_course(root), lab, {one.id: one.points(week) for one in there})
    return people


def _downloads(root: Path, lab: str, week: int, there: list[Person]) -> list[Path]:
    """A zip from Canvas and one from Moodle, as these systems name files."""
    canvas, moodle = {}, {}
    for one in there:
        name, data = one.file(week)
        if one.is_in_canvas:
            canvas[f"leeann{one.n:03}_{5000 + one.n}_{9000 + one.n}_{name}"] = data
        else:
            moodle[f"{one.name}_{7000 + 500 * week + one.n}_assignsubmission_file/{name}"] = data
    paths = [root / f"{lab}-canvas.zip", root / f"{lab}-moodle.zip"]
    for path, files in zip(paths, (canvas, moodle), strict=True):
        path.write_bytes(packed(files, DOWNLOADED))
    return paths


def run(root: Path, *arguments: str) -> Result:
    """A command of `lab`, which must succeed."""
    done = CliRunner().invoke(app, [*arguments, "--course", str(root)], env={"COLUMNS": "80"})
    assert done.exit_code == 0, (done.output, done.exception)
    return done
