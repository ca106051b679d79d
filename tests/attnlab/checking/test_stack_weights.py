"""Every right GPT and BERT has the task's names in its file, and is the same model when graded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from attnlab.attention import scaled_dot_product_attention
from attnlab.bert import Bert, MLMHead
from attnlab.checking.lab import Lab
from attnlab.checking.stack_weights import bert_names, classifier_names, gpt_names
from attnlab.checking.task_names import TaskNames
from attnlab.decoder_only import GPT
from attnlab.fine_tuning import Classifier
from attnlab.masks import causal_mask
from attnlab.models.small_gpts import TASKS
from attnlab.models.topics_bert import CFG
from attnlab.multihead import merge_heads
from attnlab.notebook.saved import trained
from gradekit.course import load_course
from gradekit.exercise.loader import load_lab
from gradekit.exercise.one_namespace import in_one_namespace
from gradekit.exercise.trained import fill

GPTS = [
    replace(TASKS["markov"].cfg, num_layers=number, vocab_size=size)
    for number, size in ((1, 8), (2, 50))
]
BERT = replace(CFG, d_model=32, d_ff=48, dropout=0.0)


def right_models(lab: str, whole: str, *exercises: str) -> Iterator[tuple[str, Any]]:
    """Every right model, and the reference around every right part of it, with its name."""
    found = load_lab(load_course(Path(__file__).parents[3]), lab)
    for version in (v for name in exercises for v in found[name].right_versions):
        if version.of == whole:
            yield version.name, version.function
        elif isinstance(version.function, type):
            yield version.name, in_one_namespace([found.reference[whole]], version.names)[whole]


def saved(model: nn.Module, names: TaskNames, folder: Path) -> dict[str, Tensor]:
    """What the judge gets of a model, each of whose numbers is another one."""
    for parameter in model.parameters():
        nn.init.normal_(parameter, 0, 0.5)
    trained("a.safetensors", lambda: model, lambda _: [0.0], again=True, names=names)
    weights: dict[str, Tensor] = Lab({}, folder).saved_weights("a.safetensors")
    return weights


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    return tmp_path


@pytest.mark.parametrize("cfg", GPTS, ids=lambda cfg: f"{cfg.num_layers} blocks")
def test_every_right_gpt_is_graded_by_its_file(cfg: Any, folder: Path) -> None:
    ids = torch.randint(cfg.vocab_size, (2, cfg.context))
    for name, kind in right_models("lab09", "GPT", "gpt"):
        theirs, ours = kind(cfg), GPT(cfg)
        ours.head = nn.Linear(cfg.d_model, cfg.vocab_size, bias=False)
        fill(ours, saved(theirs, gpt_names(cfg), folder))
        torch.testing.assert_close(ours(ids), theirs(ids), msg=lambda said, name=name: name + said)


def test_every_right_bert_is_graded_by_its_file(folder: Path) -> None:
    ids, segments = torch.randint(BERT.vocab_size, (2, 9)), torch.randint(2, (2, 9))
    for name, kind in right_models("lab10", "Bert", "bert"):
        theirs, ours = kind(BERT).eval(), Bert(BERT).eval()
        fill(ours, saved(theirs, bert_names(BERT), folder))
        torch.testing.assert_close(
            ours(ids, segments), theirs(ids, segments),
            msg=lambda said, name=name: name + said, atol=1e-4, rtol=1e-4,
        )  # fmt: skip


def test_every_right_classifier_of_every_right_bert_is_graded_by_its_file(folder: Path) -> None:
    ids, names = torch.randint(BERT.vocab_size, (2, 9)), classifier_names(BERT, 5)
    berts = [kind for _, kind in right_models("lab10", "Bert", "bert")]
    classifiers = [kind for _, kind in right_models("lab10", "Classifier", "fine_tune")]
    for number, bert in enumerate(berts):
        theirs = classifiers[number % len(classifiers)](bert(BERT), 32, 5).eval()
        ours = Classifier(Bert(BERT), 32, 5).eval()
        fill(ours, saved(theirs, names, folder))
        torch.testing.assert_close(ours(ids), theirs(ids), atol=1e-4, rtol=1e-4)


class Fused(nn.Module):
    """A block with one matrix for queries, keys and values, which is cut head by head."""

    def __init__(self, cfg: Any) -> None:
        super().__init__()
        d = cfg.d_model
        self.heads, self.qkv, self.proj = cfg.num_heads, nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.ln_1, self.ln_2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.fc1, self.fc2 = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x: Tensor) -> Tensor:
        fused = self.qkv(self.ln_1(x)).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        mask = causal_mask(x.shape[1])
        found, _ = scaled_dot_product_attention(*fused.chunk(3, -1), mask)
        x = x + self.proj(merge_heads(found))
        return x + self.fc2(nn.functional.gelu(self.fc1(self.ln_2(x)), approximate="tanh"))


class Wrapped(nn.Module):
    """A GPT inside of another module, so all names begin with "model."."""

    def __init__(self, cfg: Any) -> None:
        super().__init__()
        self.model = GPT(cfg)
        self.model.blocks = nn.ModuleList(Fused(cfg) for _ in range(cfg.num_layers))

    def forward(self, ids: Tensor) -> Tensor:
        out: Tensor = self.model(ids)
        return out


def test_rows_of_a_fused_matrix_have_the_task_s_order_in_the_file(folder: Path) -> None:
    cfg = replace(GPTS[1], num_layers=11)  # the tenth block comes after the ninth
    ids, ours, theirs = torch.randint(cfg.vocab_size, (2, 9)), GPT(cfg), Wrapped(cfg)
    fill(ours, saved(theirs, gpt_names(cfg), folder))
    torch.testing.assert_close(ours(ids), theirs(ids), atol=1e-3, rtol=1e-3)


def test_a_file_with_the_task_s_names_is_loaded_into_a_model_with_others(folder: Path) -> None:
    cfg = GPTS[1]
    ids, theirs, names = torch.randint(cfg.vocab_size, (2, 9)), Wrapped(cfg), gpt_names(cfg)
    weights = saved(theirs, names, folder)
    assert not weights.keys() & theirs.state_dict().keys()
    again = Wrapped(cfg)
    names.give(again, weights)
    torch.testing.assert_close(again(ids), theirs(ids))


def test_a_broken_tie_is_seen_in_the_file(folder: Path) -> None:
    class Untied(Bert):
        def __init__(self, cfg: Any) -> None:
            super().__init__(cfg)
            self.mlm_head = MLMHead(cfg, nn.Parameter(torch.empty(cfg.vocab_size, cfg.d_model)))
            self.words = self.tokens
            del self.tokens

    theirs = Untied(BERT)
    weights = saved(theirs, bert_names(BERT), folder)
    assert torch.equal(weights["tokens.weight"], theirs.words.weight)
    assert torch.equal(weights["mlm_head.output.weight"], theirs.mlm_head.output.weight)


def test_a_model_that_lacks_a_part_keeps_its_names(folder: Path) -> None:
    theirs = Wrapped(GPTS[1])
    theirs.model.positions = nn.Embedding(7, 32)
    assert saved(theirs, gpt_names(GPTS[1]), folder).keys() == theirs.state_dict().keys()
