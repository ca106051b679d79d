"""GPT-1's rows, and the vectors that are read from them."""

from __future__ import annotations

import pytest
import torch

from attnlab.gpt import GPT, GPTConfig
from attnlab.gpt_inputs import (
    Marks,
    choice_probabilities,
    choice_rows,
    fill_up,
    last_valid,
    similarity_logits,
    similarity_rows,
)

MARKS = Marks(7, 8, 9)


def test_rows_hold_their_texts_between_the_marks() -> None:
    assert similarity_rows([1, 2], [3], MARKS) == [[7, 1, 2, 8, 3, 9], [7, 3, 8, 1, 2, 9]]
    assert choice_rows([1], [[2], [3, 4]], MARKS) == [[7, 1, 8, 2, 9], [7, 1, 8, 3, 4, 9]]


def test_the_last_vector_of_a_model_does_not_depend_on_what_fills_up() -> None:
    torch.manual_seed(0)
    model = GPT(GPTConfig(10, context=8, d_model=8, num_heads=2, num_layers=1))
    rows = choice_rows([1, 0], [[2], [0, 4, 5]], MARKS)
    found = []
    for pad in (0, 6):
        ids, valid = fill_up(rows, pad)
        assert valid.sum(1).tolist() == [6, 8], "token 0 of a text is none that fills up"
        logits, _ = model(ids, valid=valid)
        found.append(last_valid(logits, valid))
    torch.testing.assert_close(found[0], found[1])
    alone, _ = model(torch.tensor([rows[0]]))
    torch.testing.assert_close(found[0][0], alone[0, -1])


def test_a_row_without_a_valid_place_is_refused() -> None:
    with pytest.raises(ValueError, match="no valid token"):
        last_valid(torch.zeros(2, 3, 4), torch.tensor([[True] * 3, [False] * 3]))


def test_a_pair_has_no_order_and_choices_share_one() -> None:
    torch.manual_seed(0)
    vectors = torch.randn(3, 2, 5)
    layer, score = torch.nn.Linear(5, 4), torch.nn.Linear(5, 1)
    torch.testing.assert_close(
        similarity_logits(vectors, layer), similarity_logits(vectors.flip(1), layer)
    )
    torch.testing.assert_close(choice_probabilities(vectors, score).sum(1), torch.ones(3))
