"""The picture of the three attentions shows the weights of the layers and why some are 0."""

from __future__ import annotations

from collections.abc import Callable

import matplotlib.pyplot as plt
import pytest
import torch
from torch import nn

from attnlab.encoder_decoder import DecoderLayer, EncoderLayer
from attnlab.plots.canvas import Described, Drawn
from attnlab.plots.three_attentions import three_attentions
from tests.helpers.figures import assert_fits_a_page, assert_named, unwritten

pytestmark = pytest.mark.usefixtures("no_windows")

SOURCE, TARGET = ["elle", "mange", "pad"], ["start", "she", "eats", "now"]
Make = Callable[[], nn.Module]


def figure(
    encoder: Make = lambda: EncoderLayer(16, 4, 8), decoder: Make = lambda: DecoderLayer(16, 4, 8)
) -> Drawn:
    return three_attentions(encoder, decoder, SOURCE, TARGET)


def test_it_can_be_drawn_names_its_axes_and_has_a_description() -> None:
    drawn = figure()
    assert_named(drawn)
    assert_fits_a_page(drawn)


def test_the_tables_are_weights_and_zero_where_a_mask_forbids() -> None:
    encoder, decoder, cross = figure().data.values()
    assert (encoder.shape, decoder.shape, cross.shape) == ((3, 3), (4, 4), (4, 3))
    for table in (encoder, decoder, cross):
        torch.testing.assert_close(table.sum(-1), torch.ones(len(table)))
    assert not encoder[:, 2].any()
    assert not cross[:, 2].any()
    assert torch.equal(decoder > 0, torch.ones(4, 4).tril().bool())


def test_the_pointer_says_who_asks_and_which_mask_forbids() -> None:
    drawn = figure()
    shown = drawn.axes[0].figure
    assert isinstance(shown, Described)
    tips = list(shown.tips.values())
    assert len(tips) == 9 + 16 + 12
    assert tips[2] == "“elle” asks, “pad” answers: 0.000, hidden: padding"
    assert tips[9 + 1] == "“start” asks, “she” answers: 0.000, hidden: a later word"
    assert tips[9 + 16].startswith("“start” asks, “elle” answers: 0.")


def test_a_step_that_is_not_written_is_named() -> None:
    assert "`unwritten`" in figure(decoder=unwritten).missing
    assert plt.get_fignums() == []


def test_layers_with_another_attention_get_a_sentence() -> None:
    class Other(nn.Module):
        def forward(self, x: torch.Tensor, *_: object, **__: object) -> torch.Tensor:
            return x

    assert "MultiHeadAttention" in figure(encoder=Other).missing
