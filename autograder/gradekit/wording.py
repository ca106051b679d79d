"""Numbers, names and similar names in sentences for people, and lines that fit a terminal.

Tested in tests/gradekit/test_wording.py.
"""

from __future__ import annotations

import os
import re
import shutil
import textwrap
from collections.abc import Iterable
from difflib import get_close_matches

# A line break inside a paragraph.
_ONE_BREAK = re.compile(r"(?<!\n)\n(?!\n)")


def counted(number: int, noun: str) -> str:
    """A number with its noun, as in "1 pair" and "2 pairs"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def first_of(names: Iterable[str], most: int) -> str:
    """At most `most` of some names, and how many more there are, as in "ada, bob and 3 more"."""
    listed = list(names)
    more = f" and {len(listed) - most} more" if listed[most:] else ""
    return f"{', '.join(listed[:most])}{more}"


def without_middle(text: str, most: int) -> str:
    """A text of at most `most` characters: of a longer one, its two ends, as in "lab/…/x.ipynb"."""
    if len(text) <= most:
        return text
    end = most // 2
    return f"{text[: most - end - 1]}…{text[-end:]}"


def did_you_mean(name: str, known: Iterable[str], most: int = 1) -> str:
    """A question that names at most `most` similar names; empty if none is similar."""
    close = get_close_matches(name, list(known), n=most)
    return f"did you mean {' or '.join(close)}?" if close else ""


def without_breaks(text: str) -> str:
    """Each paragraph of a text in one line; empty lines between paragraphs stay."""
    return _ONE_BREAK.sub(" ", text)


def fitted(text: str, is_terminal: bool) -> str:
    """A sentence in lines that fit a terminal, broken between words; one line for programs.

    Args:
        is_terminal: whether a person reads it there; the variable COLUMNS says so, too.
    """
    if not (is_terminal or "COLUMNS" in os.environ):
        return text
    width = shutil.get_terminal_size().columns
    return textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False) or text
