"""`lab roster`: everyone in at most 80 columns."""

from __future__ import annotations

import io
import re

from rich.console import Console

from gradekit.roster.students import Roster, Student
from gradekit.roster.view import show


def test_the_table_fits_and_leaves_out_what_nobody_has() -> None:
    long = Student("maximiliane.o@uni.example", "Maximiliane von Oberammergau-Garmisch [/]")
    roster = Roster((long, Student("ada", "Ada", "ada@uni.example", section="[Mon]")))
    text = io.StringIO()
    show(roster, Console(file=text, width=80))
    shown = text.getvalue()
    assert max(map(len, shown.splitlines())) <= 80
    assert re.search(r"ada +Ada +\[Mon\] +address", shown)
    assert "2 students; sections: [Mon] 1, none 1" in shown
