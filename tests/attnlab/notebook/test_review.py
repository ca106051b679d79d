"""The last cells of a lab print predictions next to answers, and try the student's test."""

import pytest
import torch

from attnlab.notebook.review import compare_predictions, try_versions


def right():
    return 1


def wrong():
    return 2


def unwritten():
    raise NotImplementedError


def test_a_version_passes_is_rejected_or_is_not_written(capsys):
    def test(version):
        assert version() == 1, "not one\nand more"

    try_versions(test, right, wrong, unwritten)
    assert capsys.readouterr().out.splitlines() == [
        "right passes your test",
        "wrong is rejected: not one",
        "unwritten: no verdict yet: `unwritten` is not written.",
    ]


def test_an_assert_without_a_message_gets_one(capsys):
    def test(version):
        raise AssertionError

    try_versions(test, right)
    assert capsys.readouterr().out == "right is rejected: the assert gives no reason\n"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (29, "29"),
        (1 / 3, "0.333"),
        (torch.tensor([-0.0001]), "0.0"),
        (torch.tensor([[0.25, 0.5]]), "[0.25, 0.5]"),
        ([1, 3], "[1, 3]"),
        ("nothing yet", "nothing yet"),
    ],
)
def test_an_answer_is_rounded(answer, said, capsys):
    compare_predictions({"P1": 7}, {"P1": lambda: answer})
    assert capsys.readouterr().out == f"P1: you say 7, your functions say {said}\n"


def test_an_open_step_is_not_an_error(capsys):
    compare_predictions({"P1": 7}, {"P1": unwritten})
    said = "P1: you say 7, your functions say nothing yet: `unwritten` is not written.\n"
    assert capsys.readouterr().out == said


@pytest.mark.parametrize("predictions", [{}, {"P1": None}, {"P2": 3}])
def test_no_answer_is_shown_before_there_is_a_prediction(predictions, capsys):
    compare_predictions(predictions, {"P1": lambda: 0.25})
    said = "P1: write your guess first, then run this cell again\n"
    assert capsys.readouterr().out == said


def test_predictions_that_are_no_dictionary_are_said_to_be_none(capsys):
    compare_predictions([1.0, 2.0], {"P1": right})
    assert capsys.readouterr().out.startswith("your predictions should be a dictionary")
