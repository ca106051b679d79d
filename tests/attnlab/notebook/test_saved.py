"""A model is trained once; after that its weights come from the file next to the notebook."""

import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from attnlab.checking.task_names import TaskNames
from attnlab.notebook.saved import trained

NAME = "line.safetensors"


class Line(nn.Module):
    def __init__(self, width=1):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(width))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def train(model):
    with torch.no_grad():
        model.weight += 2
    return [1.5, 0.5]


def never(model):
    raise AssertionError("trained a second time")


def test_a_saved_model_is_not_trained_again(capsys):
    trained(NAME, Line, train)
    model, losses = trained(NAME, Line, never)
    assert model.weight.item() == 2
    assert losses.tolist() == [1.5, 0.5]
    assert not model.training
    assert "delete the file" in capsys.readouterr().out


def test_again_trains_a_saved_model_again():
    trained(NAME, Line, train)
    model, _ = trained(NAME, Line, lambda model: [*train(model), *train(model)], again=True)
    assert model.weight.item() == 4
    assert trained(NAME, Line, never)[0].weight.item() == 4


@pytest.mark.parametrize("content", [b"", b"not a file of weights", b"\xff" * 64])
def test_a_damaged_file_is_replaced(content, folder, capsys):
    (folder / NAME).write_bytes(content)
    assert trained(NAME, Line, train)[0].weight.item() == 2
    assert "trained again" in capsys.readouterr().out
    trained(NAME, Line, never)


def test_a_file_of_another_model_is_replaced(capsys):
    trained(NAME, lambda: Line(3), train)
    assert trained(NAME, Line, train)[0].weight.tolist() == [2]
    assert "does not fit" in capsys.readouterr().out


def test_a_step_that_is_not_written_is_named(capsys, folder):
    class Blank(Line):
        def forward(self):
            raise NotImplementedError

    assert trained(NAME, Blank, lambda model: [model()])[0] is None
    assert "Blank.forward" in capsys.readouterr().out
    assert not list(folder.iterdir())


def test_an_error_of_torch_is_not_taken_for_a_placeholder():
    def train(model):
        raise NotImplementedError("this operator is not there on this device")

    with pytest.raises(NotImplementedError, match="operator"):
        trained(NAME, Line, train)


def test_a_failure_in_training_leaves_the_older_file(folder):
    trained(NAME, Line, train)
    before = (folder / NAME).read_bytes()

    def train_badly(model):
        raise ValueError("a student's error")

    with pytest.raises(ValueError, match="student's"):
        trained(NAME, Line, train_badly, again=True)
    assert (folder / NAME).read_bytes() == before


def test_a_file_may_have_other_names_than_the_model():
    names = TaskNames({"slope": (1,)}, lambda model: {"slope": ["weight"]})
    trained(NAME, Line, train, names=names)
    assert load_file(NAME).keys() == {"slope"}
    assert trained(NAME, Line, never, names=names)[0].weight.item() == 2


def test_a_file_that_does_not_fit_leaves_nothing_behind():
    class Two(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.first, self.second = Line(), Line(width)

    def keep(model):
        return [0.0]

    def fill(model):
        nn.init.ones_(model.first.weight)
        return [0.0]

    trained(NAME, lambda: Two(1), fill)
    assert trained(NAME, lambda: Two(2), keep)[0].first.weight.item() == 0
