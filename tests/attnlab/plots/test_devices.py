"""The figure about devices counts what a loop really copies and waits for."""

from __future__ import annotations

import pytest
import torch

from attnlab.device_agnostic import PositionalAttention, train_on
from attnlab.plots import devices
from tests.helpers.figures import assert_fits_a_page, assert_named, unwritten

pytestmark = pytest.mark.usefixtures("no_windows")


def careless(device, model, loss, batches, make_optimizer) -> None:
    optimizer = make_optimizer(model.parameters())
    for batch in batches:
        model.to(device)
        found = loss(model, type(batch)(*(tensor.to(device) for tensor in batch)))
        found.backward()
        optimizer.step()
        optimizer.zero_grad()
        found.item()
        model.to("cpu")


def test_copies_and_waits_of_a_loop_before_and_after() -> None:
    drawn = devices.copies_and_waits(
        {"before": (PositionalAttention, careless), "after": (PositionalAttention, train_on)}
    )
    assert_named(drawn)
    assert_fits_a_page(drawn)
    # Three weights and the table go there and back; the gradients are cleared before.
    assert drawn.data["before"].tolist() == [6, 4, 5]
    assert drawn.data["after"].tolist() == [2, 0, 0]


def test_a_loop_that_fails_is_a_sentence_and_the_others_are_drawn() -> None:
    class LeftBehind(PositionalAttention):
        def __init__(self, d_model: int) -> None:
            super().__init__(d_model)
            self.place = torch.zeros(d_model)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return super().forward(x + self.place)

    drawn = devices.copies_and_waits(
        {"wrong": (LeftBehind, train_on), "right": (PositionalAttention, train_on)}
    )
    assert list(drawn.data) == ["right"]
    assert drawn.note.startswith("wrong: RuntimeError: Expected all tensors to be on the same")
    assert not devices.copies_and_waits({"wrong": (LeftBehind, train_on)}).axes


def test_without_a_loop_there_is_no_picture() -> None:
    drawn = devices.copies_and_waits({"yours": (PositionalAttention, unwritten)})
    assert drawn.missing == "No picture yet: `unwritten` is not written."
