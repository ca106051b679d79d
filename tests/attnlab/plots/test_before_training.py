"""Figures about fresh models draw what they return, and name a step that is not written."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import pytest
import torch

from attnlab.encoder_decoder import Transformer, init_weights
from attnlab.models import fresh_transformer
from attnlab.parameter_count import count_params
from attnlab.plots import before_training
from attnlab.plots.canvas import Described, Drawn
from attnlab.transformer_config import TransformerConfig
from tests.helpers.figures import assert_fits_a_page, assert_named, unwritten

pytestmark = pytest.mark.usefixtures("no_windows")

SMALL = TransformerConfig(20, 20, d_model=8, num_heads=2, d_ff=12, dropout=0.0, max_len=9)
SOURCE, TARGET = ["the", "road", "pad"], ["START", "la", "route", "est"]
BASE = TransformerConfig.of_size("base", 37_000)


def fresh(**numbers: Any) -> Any:
    return fresh_transformer.fresh(Transformer, init_weights, **numbers)


def read() -> Drawn:
    return before_training.who_reads_what(lambda: Transformer(SMALL), SOURCE, TARGET)


def bars() -> Drawn:
    return before_training.parameter_bars(count_params, {"base": BASE, "small": SMALL})


def words() -> Drawn:
    models = {"tied": fresh, "own head": lambda: fresh(tie="none")}
    return before_training.read_and_written(
        {name: lambda make=make: fresh_transformer.written(make()) for name, make in models.items()}
    )


def losses() -> Drawn:
    models = {"tied": fresh, "own head": lambda: fresh(tie="none")}
    measured = {
        name: lambda make=make: fresh_transformer.first_loss(make())
        for name, make in models.items()
    }
    return before_training.first_losses(measured, fresh_transformer.SYMBOLS)


def variances() -> Drawn:
    return before_training.stream_variances(
        lambda norm: fresh_transformer.encoder_variances(fresh(norm=norm, layers=2))
    )


FIGURES: dict[str, Callable[[], Drawn]] = {
    "who_reads_what": read, "parameter_bars": bars, "read_and_written": words,
    "first_losses": losses, "stream_variances": variances,
}  # fmt: skip


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_can_be_drawn_names_its_axes_and_has_a_description(name: str) -> None:
    drawn = FIGURES[name]()
    assert_named(drawn)
    assert_fits_a_page(drawn)


def test_padding_moves_nothing_and_the_future_moves_no_earlier_logits() -> None:
    data = read().data
    assert data["a word of the source"].tolist() == [[True, True, False]] * 4
    assert data["a word of the target"].tolist() == torch.ones(4, 4).tril().bool().tolist()


def test_the_parts_of_a_bar_are_those_of_a_model() -> None:
    with torch.device("meta"):
        model = Transformer(BASE)
    counted = dict.fromkeys(before_training.PARTS, 0)
    for name, parameter in model.named_parameters():
        side, _, rest = name.partition(".")
        match side, rest.split(".")[1] if rest.count(".") else "":
            case "encoder" | "decoder", "feed_forward":
                counted[f"{side}: feed-forward"] += parameter.numel()
            case "encoder", "self_attention":
                counted["encoder: attention"] += parameter.numel()
            case "decoder", "self_attention" | "cross_attention" as part:
                counted[f"decoder: {part.replace('_', '-')}"] += parameter.numel()
            case "source_embedding", _:
                counted["table of symbols"] += parameter.numel()
    shown = dict(zip(before_training.PARTS, bars().data["base"].tolist(), strict=True))
    assert sum(shown.values()) == count_params(BASE)  # post-norm: nothing after the stacks
    for part, count in counted.items():
        assert shown[part] == pytest.approx(count, rel=0.005), part  # norms and one bias aside


def test_each_part_of_a_bar_answers_a_pointer() -> None:
    figure = bars().axes[0].figure
    assert isinstance(figure, Described)
    assert figure.tips["tip0"] == "base, table of symbols: 18,944,000 parameters, 30%"
    assert len(figure.tips) == 12


def test_a_tied_model_writes_its_own_input_and_its_loss_is_above_ln_v() -> None:
    data = words().data
    assert torch.equal(*data["tied"])
    assert (data["own head"][0] == data["own head"][1]).double().mean() < 0.2
    measured = losses().data
    assert abs(measured["own head"][0] - math.log(fresh_transformer.SYMBOLS)) < 0.1
    assert measured["tied"][0] > math.log(fresh_transformer.SYMBOLS) + 1


def test_a_step_that_is_not_written_is_named_and_nothing_is_drawn() -> None:
    blanks = (
        before_training.who_reads_what(unwritten, SOURCE, TARGET),
        before_training.parameter_bars(unwritten, {"base": BASE}),
        before_training.read_and_written({"tied": unwritten}),
        before_training.first_losses({"tied": unwritten}, 37),
        before_training.stream_variances(unwritten),
    )
    assert all("`unwritten`" in drawn.missing for drawn in blanks)
    assert plt.get_fignums() == []
