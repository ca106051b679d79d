"""A small class in files: two of six hand-ins agree, and one cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradekit.course import Course, load_course
from tests.helpers import submissions
from tests.helpers.late_course import COURSE
from tests.helpers.submissions import LAB, as_bytes, done, hand_in

EVIL = "</pre><script>PWN()</script>"


def own_code(number: int) -> str:
    """An answer that nobody else has."""
    lines = [
        f"    t{n} = x.narrow({n}, {number}, {n * number + 7}) * {number + n}" for n in range(6)
    ]
    return "\n".join(["def softmax(x, dim=-1):", *lines, "    return t5"])


def answers(code: str, text: str) -> bytes:
    def change(cells: submissions.Cells) -> None:
        cells[3]["source"] = code
        cells[7]["source"] = code.replace("softmax", "entropy").replace("narrow", "index_select")
        cells[9]["source"] = text

    return as_bytes(done(change))


@pytest.fixture
def course(tmp_path: Path) -> Course:
    root = tmp_path / "course"
    root.mkdir()
    (root / "course.toml").write_text(COURSE)
    submissions.released(root / "labs" / LAB)
    (root / "solutions").mkdir()
    (root / "solutions" / "lab01_softmax.py").write_text("")
    for number in range(12):
        words = " ".join(f"w{number}x{place}" for place in range(9))
        hand_in(root, f"s{number:02}", answers(own_code(number), words))
    words = " ".join(f"w4x{place}" for place in range(9))
    copy = own_code(4).replace("t5", "last").replace("return", f"# {EVIL}\n    return")
    hand_in(root, "zoe", answers(copy, f"{words} {EVIL}"))
    hand_in(root, "bad", b"not a notebook")
    return load_course(root)
