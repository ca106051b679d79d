"""The small model of French numbers: its examples, its checkpoints and its loss."""

from __future__ import annotations

import torch

from attnlab.data import numbers
from attnlab.models import next_word


def test_each_word_comes_after_three_others() -> None:
    before, words = next_word.examples("validation", 20, seed=1)
    sentences = [numbers.TARGET.encode(pair.french, ends=True)
                 for pair in numbers.pairs(20, 1, "validation")]  # fmt: skip
    assert words.tolist() == [word for sentence in sentences for word in sentence[1:]]
    start, *rest = sentences[0]
    assert before[:3].tolist() == [[start] * 3, [start, start, rest[0]], [start, *rest[:2]]]


def test_checkpoints_are_copies_and_can_be_made_again() -> None:
    state = torch.get_rng_state()
    first, second = next_word.checkpoints(steps=2, every=2)
    assert torch.equal(first["0.weight"], next_word.fresh().state_dict()["0.weight"])
    assert not torch.equal(first["0.weight"], second["0.weight"])
    again = list(next_word.checkpoints(steps=2, every=2))[1]
    assert all(torch.equal(second[name], again[name]) for name in second)
    loss = next_word.validation_loss()
    assert loss(first) > loss(second)
    assert torch.equal(state, torch.get_rng_state())
