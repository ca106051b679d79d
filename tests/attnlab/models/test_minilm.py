"""Real weights in `Bert`: a small file of the same form, and the package where it is installed."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from safetensors.torch import save_file

from attnlab.bert import Bert, BertConfig
from attnlab.models import minilm
from attnlab.models.minilm import WeightsError
from attnlab.notebook.check import GRADING_VARIABLE

CFG = BertConfig(9, d_model=8, num_heads=2, d_ff=12, num_layers=2, max_len=7)
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "bank", "##s", "river", "money"]


@pytest.fixture
def bert():
    torch.manual_seed(0)
    return Bert(CFG).eval()


@pytest.fixture
def weights(bert):
    """The model's weights by the names that the package's file has."""
    own = bert.state_dict()
    found = {"embeddings.position_ids": torch.arange(7)[None]}
    for theirs, ours in minilm.NAMES.items():
        for i in range(2 if "{i}" in theirs else 1):
            for end in ("weight", "bias"):
                name = f"{ours.format(i=i)}.{end}"
                if name in own:
                    found[f"{theirs.format(i=i)}.{end}"] = own[name].clone()
    return found


@pytest.fixture
def place(tmp_path, weights):
    save_file(weights, tmp_path / "model.safetensors")
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS) + "\n", "utf-8")
    return tmp_path


def test_a_file_of_weights_makes_the_same_model(bert, place) -> None:
    torch.manual_seed(1)
    found = minilm.load(Bert, place, CFG)
    assert found is not None
    assert not found.model.training
    ids = torch.tensor([[2, 4, 5, 3]])
    torch.testing.assert_close(found.model(ids).hidden, bert(ids).hidden)
    # The heads are not in the file.
    assert not torch.equal(found.model(ids).nsp_logits, bert(ids).nsp_logits)


def test_a_sentences_vector_is_the_mean_of_its_pieces(bert, place) -> None:
    found = minilm.load(Bert, place, CFG)
    assert found is not None
    vectors = minilm.sentence_vectors(found, ["the banks", "River"])
    hidden = bert(torch.tensor([[2, 4, 5, 6, 3]])).hidden[0].mean(0)
    torch.testing.assert_close(vectors[0], (hidden / hidden.norm()).detach())
    assert vectors.shape == (2, 8)


def test_files_of_another_model_are_refused_in_one_sentence(place, weights) -> None:
    with pytest.raises(WeightsError, match=r"no weight encoder\.layer\.2\.attention"):
        minilm.load(Bert, place, dataclasses.replace(CFG, num_layers=3))
    with pytest.raises(WeightsError, match=r"no place for encoder\.layer\.1\."):
        minilm.load(Bert, place, dataclasses.replace(CFG, num_layers=1))
    with pytest.raises(WeightsError, match="does not fit the weights"):
        minilm.load(Bert, place, dataclasses.replace(CFG, d_ff=13))
    (place / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(WeightsError, match="cannot be read"):
        minilm.load(Bert, place, CFG)


def test_without_the_package_the_notebook_gets_a_plain_word(monkeypatch, capsys) -> None:
    monkeypatch.setattr(minilm, "PACKAGE", "attention-labs-no-such-package")
    assert minilm.folder() is None
    assert minilm.load(Bert) is None
    assert minilm.load_and_say(Bert) is None
    assert "is not installed" in capsys.readouterr().out


def test_the_notebook_says_what_was_loaded_or_why_not(monkeypatch, capsys, place) -> None:
    monkeypatch.setattr(minilm, "folder", lambda: place)
    monkeypatch.setattr(minilm.load, "__defaults__", (None, CFG))
    assert minilm.load_and_say(Bert) is not None
    assert "0.00 million weights are in your model" in capsys.readouterr().out

    def unwritten(cfg):
        raise NotImplementedError

    assert minilm.load_and_say(unwritten) is None
    assert "is not written" in capsys.readouterr().out
    (place / "vocab.txt").unlink()
    assert minilm.load_and_say(Bert) is None
    assert "Nothing loaded" in capsys.readouterr().out
    monkeypatch.setenv(GRADING_VARIABLE, "1")
    assert minilm.load_and_say(Bert) is None
    assert "while grading" in capsys.readouterr().out


@pytest.mark.skipif(minilm.folder() is None, reason=f"needs MiniLM's weights: {minilm.INSTALL}")
def test_real_weights_give_the_published_similarities() -> None:
    from attnlab.plots.real_bert import PUBLISHED

    real = minilm.load(Bert)
    assert real is not None
    first, others = PUBLISHED
    vectors = minilm.sentence_vectors(real, [first, *others])
    published = torch.tensor(list(others.values()))
    torch.testing.assert_close(vectors[1:] @ vectors[0], published, rtol=0, atol=1e-6)
