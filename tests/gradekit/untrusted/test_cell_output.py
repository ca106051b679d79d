"""What a cell prints and shows is collected up to a budget."""

from __future__ import annotations

import pytest

from gradekit.untrusted.cell_output import Outputs, Stream, as_text


def test_consecutive_texts_of_one_stream_are_one_output():
    outputs = Outputs(1000, 1000)
    for name, text in (("stdout", "a"), ("stdout", "b"), ("stderr", "c"), ("stdout", "d")):
        outputs.stream(name, text)
    texts = [(entry["name"], entry["text"]) for entry in outputs.finish()]
    assert texts == [("stdout", "ab"), ("stderr", "c"), ("stdout", "d")]


def test_a_cell_is_cut_at_its_budget_and_says_so():
    outputs = Outputs(200, 1000)
    outputs.stream("stdout", "x" * 300)
    assert outputs.is_cut
    *_, last = outputs.finish()
    assert last["text"].startswith("[100 more bytes of output were cut: the limit is 200 for a")
    outputs.begin()
    assert not outputs.is_cut
    assert outputs.left == 200


def test_all_cells_together_have_a_budget():
    outputs = Outputs(200, 300)
    outputs.stream("stdout", "x" * 100)
    outputs.finish()
    outputs.begin()
    assert outputs.left == 300 - 100 - 64


def test_only_text_and_pictures_are_shown():
    outputs = Outputs(1000, 1000)
    outputs.show("display_data", {"text/html": "<b>", "text/plain": "b", "image/png": b"AA=="})
    outputs.show("display_data", {"text/html": "<b>"})
    (shown,) = outputs.finish()
    assert shown["data"] == {"text/plain": "b", "image/png": "AA=="}


def test_what_was_cleared_is_gone_but_spent():
    outputs = Outputs(1000, 1000)
    outputs.stream("stdout", "x" * 100)
    outputs.clear()
    assert outputs.left < 900
    assert outputs.finish() == []


def test_a_stream_takes_only_text():
    outputs = Outputs(1000, 1000)
    stream = Stream(outputs, "stdout", 1)
    print("hello", file=stream)
    with pytest.raises(TypeError, match="must be str, not bytes"):
        stream.write(b"hello")
    (entry,) = outputs.finish()
    assert entry["text"] == "hello\n"


def test_a_value_whose_text_raises_is_named_by_its_type():
    class Hostile:
        def __str__(self):
            raise RuntimeError

    assert as_text(Hostile()) == "<Hostile>"
