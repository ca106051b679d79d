"""The figure of BLEU: its data."""

from __future__ import annotations

import torch

from attnlab import plots
from attnlab.metrics import corpus_bleu


def test_matches_come_from_the_students_scores() -> None:
    drawn = plots.bleu.matches_and_scores(corpus_bleu)
    counts = [drawn.data[name].tolist() for name in ("all", "in the reference", "matched")]
    assert counts[:2] == [[15, 14, 13, 12], [15, 12, 7, 5]]
    torch.testing.assert_close(drawn.data["matched"], torch.tensor([11.0, 9, 7, 5]).double())
    one, two, four = (drawn.data[f"max_n = {n}"] for n in (1, 2, 4))
    expected = 100 * (1 - torch.linspace(0, 1, 21).double())
    torch.testing.assert_close(one, expected, atol=2, rtol=0)
    assert one[0] == two[0] == four[0] == 100
    assert bool((four[1:-1] < two[1:-1]).all())
    assert 25 < four[8] < 35  # four words in ten are wrong


def test_no_picture_without_the_step() -> None:
    def blank(*args: object) -> None:
        raise NotImplementedError

    assert plots.bleu.matches_and_scores(blank).missing
