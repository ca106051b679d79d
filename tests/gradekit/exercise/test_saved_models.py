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
from gradekit.exercise.saved_layers import layers_and_others
from gradekit.exercise.saved_models import (
    bert_from_other_names,
    fill,
    gpt_from_other_names,
)

GPTS = [
    replace(TASKS["markov"].cfg, num_layers=number, vocab_size=size)
    for number, size in ((1, 8), (2, 50))
]
BERT = replace(CFG, d_model=32, d_ff=48, dropout=0.0)


def right_models(lab, whole, *exercises):
    """Every right model, and the reference around every right part of it, with its name."""
    found = load_lab(load_course(Path(__file__).parents[3]), lab)
    for version in (v for name in exercises for v in found[name].right_versions):
        if version.of == whole:
            yield version.name, version.function
        elif isinstance(version.function, type):
            yield version.name, in_one_namespace([found.reference[whole]], version.names)[whole]


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
    for name, kind in right_models("lab09", "GPT", "gpt"):
        theirs = kind(cfg)
        weights = saved(theirs, folder)
        ours = GPT(cfg)
        ours.head = nn.Linear(cfg.d_model, cfg.vocab_size, bias=False)
        fill(ours, weights, gpt_from_other_names)
        torch.testing.assert_close(ours(ids), theirs(ids), msg=lambda said, name=name: name + said)


def test_every_right_bert_is_read(folder):
    ids, segments = torch.randint(BERT.vocab_size, (2, 9)), torch.randint(2, (2, 9))
    for name, kind in right_models("lab10", "Bert", "bert"):
        theirs = kind(BERT).eval()
        ours = Bert(BERT).eval()
        fill(ours, saved(theirs, folder), bert_from_other_names)
        torch.testing.assert_close(
            ours(ids, segments), theirs(ids, segments),
            msg=lambda said, name=name: name + said, atol=1e-4, rtol=1e-4,
        )  # fmt: skip


def test_the_tenth_layer_comes_after_the_ninth():
    blocks = GPT(replace(GPTS[0], num_layers=11)).blocks
    state = {f"model.{name}": w for name, w in sorted(blocks.state_dict().items())}
    state |= {"table": torch.zeros(3, 2)}
    layers, others = layers_and_others(state, 11, 32, 128)
    assert list(others) == ["table"]
    for layer, block in zip(layers, blocks, strict=True):
        assert torch.equal(layer["residual2.norm.weight"], block.norm2.weight)
        assert torch.equal(layer["feed_forward.linear1.weight"], block.linear1.weight)


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
