"""What a Trainer gets for each language model: data, loss, sizes, and a measure."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from attnlab import gpt_training
from attnlab.data.manuals import Manuals
from attnlab.gpt import GPT, GPTConfig
from attnlab.gpt_training import (
    LanguageModelConfig,
    gpt_loss,
    manuals_task,
    markov_task,
    mean_loss,
    windows_of,
)
from attnlab.language_modeling import text_loss
from attnlab.models import small_gpts
from attnlab.models.small_gpts import Corpus
from attnlab.tokenizer import as_tiktoken
from attnlab.training import Trainer
from attnlab.training_config import TrainerConfig, TrainingError

CFG = TrainerConfig(steps=30, batch_tokens=256, log_every=10, lr=1e-2, device="cpu")
TINY = LanguageModelConfig(context=16, d_model=8, num_heads=2, num_layers=1)
TEXT = "Return the number of items in the list, or raise ValueError.\n" * 30
CPU = torch.device("cpu")


@pytest.fixture
def manuals(monkeypatch):
    """A few lines instead of all manuals, which take five seconds; their tokens as asked for."""

    def corpus(split=None, encoding=None):
        encoding = encoding or as_tiktoken(small_gpts.merges())
        ids = torch.tensor(encoding.encode(TEXT))
        return Corpus(ids, ids, Manuals(TEXT, TEXT))

    monkeypatch.setattr(small_gpts, "corpus", corpus)


def test_a_source_is_learned_but_not_beyond_its_entropy():
    task = markov_task(TINY, CFG)
    before = task.measure(task.model, CPU).values
    assert before["nats_per_token"] == pytest.approx(math.log(8), abs=0.1)
    assert before["entropy"] == pytest.approx(1.373, abs=5e-4)
    records = Trainer(task.model, task.loss, CFG).fit(task.data, task.validation)
    after = task.measure(task.model, CPU)
    assert 1.37 < after.values["nats_per_token"] < before["nats_per_token"] - 0.05
    assert after.values["nats_per_token"] == pytest.approx(records[-1].validation_loss, rel=1e-5)
    assert after.text.startswith(f"{after.values['nats_per_token']:.3f} nats per symbol; ")


def test_manuals_are_measured_in_bits_per_byte(manuals):
    task = manuals_task(TINY, CFG)
    found = task.measure(task.model, CPU)
    tokens = len(task.data.data)
    bits = found.values["nats_per_token"] * (tokens - 1) / len(TEXT) / math.log(2)
    assert found.values["bits_per_byte"] == pytest.approx(bits)
    assert found.values["nats_per_token"] == pytest.approx(math.log(768), abs=0.1)
    assert "bits per byte of new text; gzip needs 0." in found.text


def test_seeds_decide_weights_and_windows_and_the_global_state_stays(manuals):
    before = torch.get_rng_state()
    one, same = (manuals_task(TINY, CFG) for _ in range(2))
    other = manuals_task(TINY, replace(CFG, seed=1))
    assert torch.equal(before, torch.get_rng_state())
    assert torch.equal(one.model.tokens.weight, same.model.tokens.weight)
    assert not torch.equal(one.model.tokens.weight, other.model.tokens.weight)
    x, y = next(one.data.epoch(0))
    assert x.shape == y.shape == (16, 16)
    assert not torch.equal(x, next(other.data.epoch(0))[0])


@pytest.mark.parametrize("tokens", [2, 16, 17, 18, 33, 100])
def test_windows_predict_each_token_but_the_first_once(tokens):
    ids = torch.randint(13, (tokens,))
    batches = windows_of(ids, 16, 2)
    assert torch.equal(torch.cat([y.flatten() for _, y in batches]), ids[1:])
    assert torch.equal(torch.cat([x.flatten() for x, _ in batches]), ids[:-1])
    assert all(len(x) <= 2 and x.shape[1] <= 16 for x, _ in batches)


def test_the_mean_loss_is_that_of_the_lab():
    model = GPT(GPTConfig(13, context=8, d_model=8, num_heads=2, num_layers=1, dropout=0.5))
    ids = torch.randint(13, (45,))
    model.train()
    found = mean_loss(model, windows_of(ids, 8, 3), CPU)
    assert not model.training

    class Logits(torch.nn.Module):
        def forward(self, x):
            return model(x).logits

    assert found == pytest.approx(text_loss(Logits(), ids, 8), rel=1e-5)


def test_a_part_of_a_batch_without_rows_has_no_loss():
    model = GPT(GPTConfig(13, context=8, d_model=8, num_heads=2, num_layers=1))
    empty = torch.empty(0, 8, dtype=torch.int64)
    found = gpt_loss(model, (empty, empty))
    found.loss.backward()
    assert (found.loss.item(), found.count.item()) == (0, 0)


@pytest.mark.parametrize(
    ("size", "parameters"), [("gpt2", 124_439_808), ("gpt2-medium", 354_823_168)]
)
def test_a_named_size_is_that_of_the_paper(size, parameters):
    cfg = LanguageModelConfig(size=size).model(small_gpts.TASKS["manuals"].cfg, 768)
    with torch.device("meta"):  # shapes without numbers
        model = GPT(cfg)
        logits = model(torch.zeros(2, 1024, dtype=torch.int64)).logits
    assert sum(parameter.numel() for parameter in model.parameters()) == parameters
    assert logits.shape == (2, 1024, 50_257)


def test_sizes_are_the_named_ones_unless_given():
    small = small_gpts.TASKS["manuals"].cfg
    assert LanguageModelConfig().model(small, 768) == small
    assert LanguageModelConfig(num_layers=5, dropout=0.1).model(small, 50_257) == replace(
        small, vocab_size=50_257, num_layers=5, dropout=0.1
    )
    with pytest.raises(TrainingError, match="num_heads must be 1 or more, not 0"):
        LanguageModelConfig(num_heads=0)


def test_the_parameters_of_a_token_are_all_but_the_positions():
    task = markov_task(TINY, CFG)
    total = sum(parameter.numel() for parameter in task.model.parameters())
    assert task.params_per_token == total - 16 * 8


def test_windows_that_do_not_fit_are_refused(manuals):
    with pytest.raises(ValueError, match="a window has 512 tokens, and a batch at most 256"):
        manuals_task(replace(TINY, context=512), CFG)
    with pytest.raises(ValueError, match="the text only"):
        manuals_task(replace(TINY, context=99_999), replace(CFG, batch_tokens=99_999))


def test_gpt_2s_own_vocabulary(manuals, monkeypatch):
    monkeypatch.setattr(gpt_training.gpt2_vocabulary, "load", lambda: None)
    asked = replace(TINY, vocabulary="gpt2")
    with pytest.raises(TrainingError, match="GPT-2's vocabulary is not on this machine"):
        manuals_task(asked, CFG)
    merges = [*small_gpts.merges(), (b"Return the", b" number")]
    larger = as_tiktoken(merges[:600])
    monkeypatch.setattr(gpt_training.gpt2_vocabulary, "load", lambda: larger)
    assert manuals_task(asked, CFG).model.cfg.vocab_size == larger.n_vocab == 769
