"""A cell that looks at a step says why it has nothing to show, and stops nothing."""

import linecache
import sys
from types import SimpleNamespace

import pytest
import torch

from attnlab.notebook.review import compare_predictions, try_versions
from attnlab.notebook.saved import trained
from attnlab.notebook.unwritten import why_not
from attnlab.plots import scores

FILE = "/tmp/ipykernel_1/1.py"  # as ipykernel calls a cell


def in_a_cell(body):
    """The function `softmax` with this body, defined in a cell of a notebook."""
    text = f"def softmax(x, dim=-1):\n    {body}\n"
    linecache.cache[FILE] = (len(text), None, text.splitlines(keepends=True), FILE)
    names = {"torch": torch}
    exec(compile(text, FILE, "exec"), names)
    return names["softmax"]


def caught(function, *arguments):
    with pytest.raises(Exception) as info:  # noqa: PT011 - the test is about any
        function(*arguments)
    return info.value


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("raise NotImplementedError", "`softmax` is not written."),
        ("raise RuntimeError('my bug.')",
            "your code stopped with RuntimeError in the line `raise RuntimeError('my bug.')`: my "
            "bug. What does `check()` say?"),
        ("return torch.ones(2) @ torch.ones(3)",
            "your code stopped with RuntimeError in the line `return torch.ones(2) @ "
            "torch.ones(3)`: inconsistent tensor size, expected tensor [2] and src [3] to have the "
            "same number of elements, but got 2 and 3 elements respectively. What does `check()` "
            "say?"),
        ("raise NotImplementedError('no int')",
            "your code stopped with NotImplementedError in the line `raise "
            "NotImplementedError('no int')`: no int. What does `check()` say?"),
    ],
)  # fmt: skip
def test_what_stopped_a_function_of_a_notebook(body, sentence):
    assert why_not(caught(in_a_cell(body), None)) == sentence


def test_a_long_message_is_cut():
    assert len(why_not(caught(in_a_cell("raise ValueError(10_000 * 'x')"), None))) < 800


def test_an_error_of_ours_is_raised_again():
    error = caught(int, "ours")
    with pytest.raises(ValueError, match="ours"):
        why_not(error)


def test_the_end_of_the_memory_is_raised_again():
    error = caught(in_a_cell("raise MemoryError"), None)
    with pytest.raises(MemoryError):
        why_not(error)


def test_in_a_kernel_a_result_that_does_not_fit_is_no_error(monkeypatch):
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    said = "what your functions return does not fit here (ValueError: "
    assert why_not(caught(int, "of another shape")).startswith(said)


STOPS = in_a_cell("raise ValueError('a bug')")


def test_a_figure_of_a_function_that_stops_is_a_sentence():
    drawn = scores.softmax_bars(STOPS, torch.ones(4))
    assert drawn.missing.startswith("No picture yet: your code stopped with ValueError in the line")


def test_a_training_that_stops_is_a_sentence_and_saves_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    model, losses = trained("w.safetensors", lambda: torch.nn.Linear(1, 1), STOPS)
    assert (model, len(losses), list(tmp_path.iterdir())) == (None, 0, [])
    assert "Nothing to train yet: your code stopped with ValueError" in capsys.readouterr().out


def test_a_test_that_stops_gives_no_verdict(capsys):
    try_versions(STOPS, torch.softmax)
    said = capsys.readouterr().out
    assert said.startswith("softmax: no verdict yet: your code stopped with ValueError in the line")


def test_a_prediction_is_compared_with_a_function_that_stops(capsys):
    compare_predictions({"P1": 7}, {"P1": lambda: STOPS(None)})
    said = "P1: you say 7, your functions say nothing yet: your code stopped with ValueError in"
    assert capsys.readouterr().out.startswith(said)
