"""A new gradebook is complete or missing, even after a kill."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from gradekit.gradebook.address import Address, rows_in
from gradekit.gradebook.gradebook import Book
from tests.helpers.submissions import LAB

MAKER = """
import sys
import nbgrader.api
from gradekit.gradebook.address import Address
from gradekit.gradebook.gradebook import Book
print("ready", flush=True)
sys.stdin.readline()
with Book(Address(sys.argv[1], "course")):
    pass
"""


def test_after_a_kill_there_is_no_half_made_gradebook(tmp_path: Path) -> None:
    """nbgrader's own way leaves a file without its last tables; ours is whole or missing."""
    address = Address(f"sqlite:///{tmp_path / 'gradebook.db'}", "course")
    making = tmp_path / ".making-gradebook"
    line = [sys.executable, "-c", MAKER, address.url]
    maker = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert maker.stdout is not None
    assert maker.stdin is not None
    maker.stdout.readline()
    maker.stdin.write("go\n")
    maker.stdin.flush()
    while not list(making.glob("*.db")):
        assert maker.poll() is None, "it was too quick to be killed"
        time.sleep(0.001)
    maker.kill()
    maker.communicate()
    assert list(making.iterdir()), "it was killed half way"
    assert rows_in(address) == frozenset()
    with Book(address) as book:
        assert book.marks(LAB) == {}
    assert [path.name for path in tmp_path.iterdir()] == ["gradebook.db"]
    with sqlite3.connect(tmp_path / "gradebook.db") as made:
        assert made.execute("SELECT count(*) FROM alembic_version").fetchone() == (1,)
