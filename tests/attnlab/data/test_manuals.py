"""Prose from Python itself: read from a small library, and in a slow test from the real one."""

from __future__ import annotations

import pytest

from attnlab.data.manuals import SHORT_LINE, load, texts
from attnlab.language_modeling import split_documents

LONG = "\n".join(f"Line {i} of a docstring that is long enough to be read." for i in range(5))


@pytest.fixture
def library(tmp_path):
    """A library of four files, one of them no Python, and a package that is not its own."""
    files = {
        "one.py": f'"""{LONG}"""\ndef f():\n    """Short."""\n',
        "pack/two.py": f'class C:\n    def f(self):\n        r"""{LONG}\n\nMore \\d."""\n',
        "pack/same.py": f'"""{LONG}"""',
        "broken.py": "def f(:",
        "site-packages/other.py": f'"""Other. {LONG}"""',
        "test/own.py": f'"""Test. {LONG}"""',
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_long_docstrings_are_read_once(library):
    docstrings = [text for text in texts(library) if "Line 0 of a" in text]
    assert [text.splitlines()[-1] for text in docstrings] == [LONG.splitlines()[-1], "More \\d."]


def test_the_manual_comes_along(library):
    assert any('The "break" statement' in text for text in texts(library))


def long_lines(text):
    return {line.strip() for line in text.splitlines() if len(line.strip()) > SHORT_LINE}


def test_no_long_line_stands_in_both_parts(library):
    train, validation = load(library)
    assert 0 < len(validation) / len(train) < 0.1
    assert long_lines(validation)
    assert not long_lines(validation) & long_lines(train)


def test_a_line_that_stands_in_both_parts_is_dropped_from_validation(library):
    docstrings = [text for text in texts(library) if "Line 0 of a" in text]

    def split(found, share):
        return [text for text in found if text != docstrings[1]], [docstrings[1]]

    train, validation = load(library, split)
    assert LONG in train
    assert validation == "More \\d."


def test_the_split_is_that_of_lab_9(library):
    assert load(library) == load(library, split_documents)


@pytest.mark.slow
def test_this_python_has_more_than_a_megabyte():
    train, validation = load()
    assert len(train) > 1_000_000
    assert len(validation) > 30_000
