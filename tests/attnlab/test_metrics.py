"""BLEU by its published numbers, and how much of a device is used."""

from __future__ import annotations

import math
import random

import pytest
import torch

from attnlab.metrics import corpus_bleu, mfu, peak_flops

THE = ["the", "the", "the", "the", "the", "the", "the"]
CATS = [["the", "cat", "is", "on", "the", "mat"], ["there", "is", "a", "cat", "on", "the", "mat"]]


def test_an_ngram_is_matched_as_often_as_in_the_reference_that_has_most() -> None:
    assert corpus_bleu([THE], [CATS], max_n=1) == pytest.approx(100 * 2 / 7)
    assert corpus_bleu([THE], [CATS]) == 0  # no smoothing


def test_short_hypotheses_pay_and_long_ones_do_not() -> None:
    reference = list("abcdefghijkl")
    assert corpus_bleu([reference[:9]], [[reference]]) == pytest.approx(100 * math.exp(1 - 12 / 9))
    assert corpus_bleu([reference], [[reference]]) == 100
    assert corpus_bleu([[*reference, "z"]], [[reference]], 1) == pytest.approx(100 * 12 / 13)


def test_of_two_references_equally_close_the_shorter_one_counts() -> None:
    hypothesis = list("abcde")
    for references in (["abcd", "abcdef"], ["abcdef", "abcd"]):
        assert corpus_bleu([hypothesis], [[list(r) for r in references]], 1) == 100
    longer = [list("abcdef"), list("abcdefghi")]
    assert corpus_bleu([hypothesis], [longer], 1) == pytest.approx(100 * math.exp(1 - 6 / 5))


def test_counts_are_added_over_the_corpus() -> None:
    hypotheses = [list("abcdef"), list("abxdefgh")]
    references = [[list("abcdef")], [list("abcdefgh")]]
    p = [13 / 14, 10 / 12, 7 / 10, 5 / 8]
    expected = 100 * math.prod(p) ** 0.25
    assert corpus_bleu(hypotheses, references) == pytest.approx(expected)
    alone = [corpus_bleu([h], [r]) for h, r in zip(hypotheses, references, strict=True)]
    assert abs(sum(alone) / 2 - expected) > 1


def test_empty_hypotheses_and_unequal_lists() -> None:
    assert corpus_bleu([[]], [[["a"]]]) == 0
    assert corpus_bleu([[], list("abcd")], [[["a"]], [list("abcd")]]) == pytest.approx(
        100 * math.exp(1 - 5 / 4)
    )
    with pytest.raises(ValueError, match="1 hypotheses, but references of 2"):
        corpus_bleu([["a"]], [[["a"]], [["b"]]])


def test_mfu_counts_six_operations_per_parameter_and_token() -> None:
    assert mfu(1000, 65e6, 9.5e12) == pytest.approx(6 * 65e9 / 9.5e12)


def test_the_peak_is_known_for_some_devices_only(monkeypatch) -> None:
    gpu = torch.device("cuda")
    assert peak_flops(torch.device("cpu"), torch.float32) is None
    names = {"NVIDIA A100-SXM4-80GB": 312e12, "NVIDIA H100 PCIe": 756e12, "A GPU of ours": None}
    for name, peak in names.items():
        monkeypatch.setattr(torch.cuda, "get_device_name", lambda device, name=name: name)
        assert peak_flops(gpu, torch.bfloat16) == peak
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "Tesla T4")
    assert peak_flops(gpu, torch.float32) == 8.1e12


@pytest.mark.parametrize("several", [1, 2, 3])
@pytest.mark.parametrize("max_n", [1, 2, 4])
def test_bleu_equals_sacrebleu(several: int, max_n: int) -> None:
    metrics = pytest.importorskip("sacrebleu.metrics", reason="sacrebleu is what papers report")
    draw = random.Random(10 * several + max_n)
    judge = metrics.BLEU(max_ngram_order=max_n, tokenize="none", smooth_method="none", force=True)
    for _ in range(20):
        hypotheses, references = [], []
        for _ in range(draw.randrange(1, 6)):
            own = [draw.choices("abcd", k=draw.randrange(1, 12)) for _ in range(several)]
            wrong = draw.choices("abcd", k=draw.randrange(3))
            hypotheses.append(own[0][draw.randrange(3) :] + wrong)
            references.append(own)
        texts = [" ".join(hypothesis) for hypothesis in hypotheses]
        columns = [[" ".join(own[n]) for own in references] for n in range(several)]
        expected = judge.corpus_score(texts, columns).score
        assert corpus_bleu(hypotheses, references, max_n) == pytest.approx(expected, abs=1e-9)
