"""Characters that steer a terminal, or turn round the text of a page."""

from __future__ import annotations

import pytest

from gradekit.feedback.plain_text import plain_line, plain_prose


@pytest.mark.parametrize("char", ["\x1b", "\0", "\x9b", "\u202e", "\u2066", "\ud800"])
def test_controls_are_replaced_everywhere(char: str) -> None:
    assert plain_line(f"a{char}b") == plain_prose(f"a{char}b") == "a�b"


@pytest.mark.parametrize("char", ["\n", "\t", "\u200d", "\u200f", "\u00ad"])
def test_line_ends_and_joiners_stay_on_a_page_and_not_in_a_line(char: str) -> None:
    assert plain_prose(f"a{char}b") == f"a{char}b"
    assert plain_line(f"a{char}b") == "a�b"


def test_ordinary_text_stays() -> None:
    text = "Größe ≠ 3 · 数 · 👍 · A\u0301"
    assert plain_line(text) == plain_prose(text) == text
