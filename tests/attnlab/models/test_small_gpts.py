"""The small GPTs of lab 9: their seeds, their shipped tokens and weights, what they write."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from attnlab.compression import gzip_bits_per_byte
from attnlab.data.manuals import Manuals
from attnlab.decoder_only import GPT, init_gpt
from attnlab.language_modeling import bits_per_byte, get_batch, lm_loss, text_loss
from attnlab.models import small_gpts
from attnlab.models.small_gpts import TASKS, Corpus, small_gpt, train_gpt
from attnlab.tokenizer import as_tiktoken, encode

TEXT = "Return the number of items in the list, or raise ValueError.\n" * 3


@pytest.fixture
def corpus():
    ids = torch.tensor(as_tiktoken(small_gpts.merges()).encode(TEXT))
    return Corpus(ids, ids, Manuals(TEXT, TEXT))


@pytest.fixture
def short(monkeypatch):
    """Twenty steps of training."""
    task = TASKS["markov"]
    monkeypatch.setitem(TASKS, "markov", replace(task, trainer=replace(task.trainer, steps=20)))


def test_equal_seeds_train_equal_models(short):
    data = small_gpts.markov_tokens("train", rows=2)
    runs = []
    for seed in (1, 1, 2):
        model = small_gpt("markov", GPT, init_gpt, seed)
        runs.append(train_gpt("markov", model, data, lm_loss, get_batch, seed))
    assert len(runs[0]) == 2
    assert runs[0] == runs[1] != runs[2]
    assert runs[0][1] < runs[0][0]


def test_the_source_is_the_course_s():
    ids = small_gpts.markov_tokens("hidden", rows=3)
    assert ids.shape == (6000,)
    assert small_gpts.source().entropy_rate == pytest.approx(1.373, abs=5e-4)


def test_merges_are_512_and_encode_as_the_lab_does():
    assert len(small_gpts.merges()) == small_gpts.NUM_MERGES
    assert as_tiktoken(small_gpts.merges()).encode(TEXT) == encode(TEXT, small_gpts.merges())


def test_the_shipped_model_predicts_english_better_than_gzip(corpus):
    model = small_gpts.pretrained()
    assert not model.training
    with torch.no_grad():
        logits = model(corpus.train[None, :60]).logits[0]
    loss = torch.nn.functional.cross_entropy(logits[:-1], corpus.train[1:60])
    plain = TEXT.splitlines()[0]
    assert bits_per_byte(float(loss), len(corpus.train) // 3, len(plain) + 1) < 3
    assert gzip_bits_per_byte(plain) > 3


def test_figures_of_a_model_and_of_pairs(corpus):
    model = small_gpt("manuals", GPT, init_gpt)
    bits = small_gpts.gpt_bits(corpus, model, text_loss, bits_per_byte)
    assert bits == pytest.approx(9.58 * len(corpus.train) / len(TEXT), rel=0.05)  # log2(768)
    assert small_gpts.pair_bits(corpus, bits_per_byte) < bits
    assert small_gpts.gzip_bits(corpus) == gzip_bits_per_byte(TEXT)


def test_without_texts_or_a_model_there_are_no_figures(corpus, capsys, monkeypatch):
    def split(*_):
        raise NotImplementedError

    monkeypatch.setattr("attnlab.data.manuals.load", lambda split: split([], 0.5))
    assert small_gpts.corpus_or_none(split) is None
    assert "No texts yet: `split` is not written." in capsys.readouterr().out
    assert small_gpts.gzip_bits(None) is small_gpts.pair_bits(None, bits_per_byte) is None
    assert small_gpts.gpt_bits(corpus, None, text_loss, bits_per_byte) is None
    model = small_gpt("manuals", GPT, init_gpt)
    assert small_gpts.gpt_bits(corpus, model, split, bits_per_byte) is None
    assert small_gpts.pair_bits(corpus, split) is None
    assert "no model" in small_gpts.written(None, "Return ")


def test_writing_goes_on_from_the_prompt_and_depends_on_the_seed():
    model = small_gpt("manuals", GPT, init_gpt).eval()
    texts = [small_gpts.written(model, "Return the ", 5, seed) for seed in (0, 0, 1)]
    assert all(text.startswith("Return the ") for text in texts)
    assert texts[0] == texts[1] != texts[2]


def test_the_shipped_model_writes_too():
    assert small_gpts.written(small_gpts.pretrained(), "Return the ", 3).startswith("Return the ")
