"""Every right model can be saved under its own names, and is the same model when it is read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn

from attnlab.bert import Bert
from attnlab.checking.lab import Lab
from attnlab.checking.weights import MissingWeightError
from attnlab.decoder_only import GPT
from attnlab.models.small_gpts import TASKS
from attnlab.models.topics_bert import CFG
from attnlab.notebook.saved import trained
from gradekit.course import load_course
from gradekit.exercise.loader import load_lab
from gradekit.exercise.one_namespace import in_one_namespace
from gradekit.exercise.saved_models import bert_from_other_names, fill, gpt_from_other_names

GPTS = [
    replace(TASKS["markov"].cfg, num_layers=number, vocab_size=size)
    for number, size in ((1, 8), (2, 50), (11, 8))
]
BERT = replace(CFG, d_model=32, d_ff=48, dropout=0.0)


def right_models(lab, exercise_name, whole):
    """Every right model around every right part of it, with its name."""
    exercise = load_lab(load_course(Path(__file__).parents[3]), lab)[exercise_name]
    models = [v.function for v in exercise.right_versions if v.of == whole]
    parts = [v for v in exercise.right_versions if isinstance(v.function, type) and v.of != whole]
    for model in (*models, *(r for r in exercise.references if r.__name__ == whole)):
        yield model.__name__, model
        for part in parts:
            made = in_one_namespace([model], {part.of: part.function})
            yield f"{part.name} in {model.__name__}", made[model.__name__]


def saved(model, folder):
    """What the judge gets of a model, each of whose numbers is another one."""
    for parameter in model.parameters():
        nn.init.normal_(parameter, 0, 0.5)
    trained("a.safetensors", lambda: model, lambda model: [0.0], again=True)
    return Lab({}, folder).saved_weights("a.safetensors")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    return tmp_path


@pytest.mark.parametrize("cfg", GPTS, ids=lambda cfg: f"{cfg.num_layers} blocks")
def test_every_right_gpt_is_read(cfg, folder):
    ids = torch.randint(cfg.vocab_size, (2, cfg.context))
    for name, kind in right_models("lab09", "gpt", "GPT"):
        theirs = kind(cfg)
        weights = saved(theirs, folder)
        ours = GPT(cfg)
        ours.head = nn.Linear(cfg.d_model, cfg.vocab_size, bias=False)
        fill(ours, weights, gpt_from_other_names)
        torch.testing.assert_close(ours(ids), theirs(ids), msg=lambda said, name=name: name + said)


def test_every_right_bert_is_read(folder):
    ids, segments = torch.randint(BERT.vocab_size, (2, 9)), torch.randint(2, (2, 9))
    valid = torch.arange(9) < torch.tensor([[5], [9]])
    for name, kind in right_models("lab10", "bert", "Bert"):
        theirs = kind(BERT).eval()
        weights = saved(theirs, folder)
        ours = Bert(BERT).eval()
        fill(ours, weights, bert_from_other_names)
        expected, found = theirs(ids, segments, valid), ours(ids, segments, valid)
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(
                one[valid] if one.ndim == 3 else one,
                other[valid] if other.ndim == 3 else other,
                msg=lambda said, name=name: name + said,
                atol=1e-4, rtol=1e-4,
            )  # fmt: skip


@pytest.mark.parametrize("left_out", ["blocks.0.norm1.weight", "positions.weight", "norm.bias"])
def test_a_file_without_one_of_the_weights_is_refused(left_out):
    weights = {f"gpt.{n}": w for n, w in GPT(GPTS[0]).state_dict().items() if n != left_out}
    with pytest.raises(MissingWeightError):
        fill(GPT(GPTS[0]), weights, gpt_from_other_names)


@pytest.mark.parametrize(
    "names",
    [
        ["a", "a.b"],
        ["a..b"],
        [""],
        ["forward"],
        [".".join("a" * 50)],
        [f"a{i}" for i in range(2000)],
    ],
    ids=["a module and a weight", "no name", "empty", "a method", "deep", "many"],
)
def test_names_that_no_model_has_are_refused(names):
    with pytest.raises(MissingWeightError):
        fill(GPT(GPTS[0]), {name: torch.zeros(3) for name in names}, gpt_from_other_names)


def test_a_weight_that_is_not_a_number_is_refused():
    weights = GPT(GPTS[0]).state_dict()
    weights["norm.bias"] = torch.full((32,), float("nan"))
    with pytest.raises(MissingWeightError, match="NaN"):
        fill(GPT(GPTS[0]), weights, gpt_from_other_names)
