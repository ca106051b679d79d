"""Every figure draws the data that it returns, names its axes, and can be told apart in grey."""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Callable
from html import escape

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.colors import to_rgb

from attnlab import plots
from attnlab.attention import basic_self_attention
from attnlab.data.apples import attention_scores, toy_alignment
from attnlab.equivariance import equivariance_gap
from attnlab.plots import Drawn
from attnlab.plots.canvas import COLOURS, DASHES, Described
from attnlab.softmax import (
    cross_entropy,
    entropy,
    log_softmax,
    softmax,
    softmax_backward,
    temperature,
)

SCORES = torch.tensor([2.0, 1.0, 0.2, -1.0], dtype=torch.float64)
NAMES = ("apple", "pear", "plum", "stone")

FIGURES: dict[str, Callable[[], Drawn]] = {
    "softmax_bars": lambda: plots.softmax_bars(softmax, SCORES),
    "log_softmax_gap": lambda: plots.log_softmax_gap(softmax, log_softmax),
    "loss_against_scale": lambda: plots.loss_against_scale(cross_entropy, SCORES, NAMES),
    "softmax_jacobian": lambda: plots.softmax_jacobian(softmax_backward, softmax(SCORES)),
    "temperature_fan": lambda: plots.temperature_fan(temperature, SCORES, NAMES),
    "entropy_curve": lambda: plots.entropy_curve(temperature, entropy, SCORES),
    "apple_arrows": lambda: plots.apple_arrows(basic_self_attention),
    "equivariance_bars": lambda: plots.equivariance_bars(
        equivariance_gap,
        {"attention": basic_self_attention, "running sum": lambda X: X.cumsum(0)},
        torch.eye(2, dtype=torch.float64),
        torch.tensor([1, 0]),
    ),
    "number_tables": lambda: plots.number_tables(
        {"N": attention_scores(), "S": toy_alignment()}, ["abcd", "1234"], ["abcd", "123"]
    ),
    "lab00_preview": plots.lab00_preview,
    "lab01_preview": plots.lab01_preview,
    "tensor_cells": lambda: plots.tensor_cells(lambda: torch.arange(24).reshape(2, 3, 4)),
}
WITHOUT_AXES = ("lab00_preview", "number_tables")  # boxes and tables: names of rows and columns


pytestmark = pytest.mark.usefixtures("no_windows")


def test_no_figure_is_forgotten_here() -> None:
    assert set(FIGURES) == set(plots.__all__) - {"Drawn"}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_can_be_drawn_and_names_its_axes(name: str) -> None:
    drawn = FIGURES[name]()
    drawn.axes[0].figure.canvas.draw()
    assert all(torch.isfinite(values).any() for values in drawn.data.values())
    if name not in WITHOUT_AXES:
        assert all(axes.get_xlabel() and axes.get_title(loc="left") for axes in drawn.axes)
        # Bars that carry names need no name for their axis; panels may share the one at the left.
        assert drawn.axes[0].get_ylabel() or name == "equivariance_bars"


@pytest.mark.parametrize("name", FIGURES)
def test_a_notebook_shows_a_figure_with_words_for_those_who_do_not_see_it(name: str) -> None:
    figure = FIGURES[name]().axes[0].figure
    assert isinstance(figure, Described)
    bundle = figure._repr_mimebundle_()
    assert len(bundle["text/plain"].split()) >= 8
    assert f'alt="{escape(bundle["text/plain"])}"' in bundle["text/html"]
    png = base64.b64decode(bundle["image/png"])
    width, height = struct.unpack(">II", png[16:24])
    assert width <= 760, "as wide as a notebook's page"
    assert height <= 420, "at most half a screen"


def blank(*args: object) -> torch.Tensor:
    raise NotImplementedError


def test_a_step_that_is_still_blank_is_named_and_nothing_is_drawn() -> None:
    drawn = plots.softmax_bars(blank, SCORES)
    assert (drawn.axes, plt.get_fignums()) == ((), [])
    assert drawn.missing == "No picture yet: `blank` is still to be written."
    layers = {"attention": blank}
    assert (
        "`blank`"
        in plots.equivariance_bars(
            equivariance_gap, layers, torch.eye(2), torch.tensor([1, 0])
        ).missing
    )


def test_torchs_own_not_implemented_is_no_blank_step() -> None:
    def softmax_of_a_strange_dtype(x: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError("not for this dtype")

    with pytest.raises(NotImplementedError, match="this dtype"):
        plots.softmax_bars(softmax_of_a_strange_dtype, SCORES)


def test_a_tensor_with_other_axes_is_named_instead_of_drawn() -> None:
    assert "x is of shape (4,)" in plots.tensor_cells(lambda: SCORES).missing


def lines(drawn: Drawn) -> list[np.ndarray]:
    return [np.asarray(line.get_ydata()) for line in drawn.axes[0].get_lines()]


def test_the_bars_are_the_probabilities() -> None:
    drawn = FIGURES["softmax_bars"]()
    heights = [patch.get_height() for patch in drawn.axes[1].patches]
    assert heights == [*drawn.data["plain"].tolist(), *drawn.data["shifted"].tolist()]
    assert torch.allclose(drawn.data["plain"], drawn.data["shifted"])


def test_the_detour_through_probabilities_ends() -> None:
    drawn = FIGURES["log_softmax_gap"]()
    direct, detour = drawn.data["log_softmax"], drawn.data["log_of_softmax"]
    assert np.array_equal(lines(drawn)[0], direct.numpy())
    assert torch.isfinite(direct).all()
    last = drawn.data["gap"][torch.isfinite(detour)].max()
    assert 700 < float(last) < 750


def test_the_loss_starts_at_log_v_and_grows_for_wrong_answers() -> None:
    drawn = FIGURES["loss_against_scale"]()
    losses = drawn.data["losses"]
    assert np.array_equal(lines(drawn)[0], losses[0].numpy())
    assert losses[:, 0].tolist() == pytest.approx([math.log(4)] * 4)
    assert losses[0, -1] < 0.01
    assert losses[3, -1] > 20


def test_the_jacobian_is_autograds() -> None:
    drawn = FIGURES["softmax_jacobian"]()
    expected = torch.autograd.functional.jacobian(lambda x: torch.softmax(x, -1), SCORES)
    assert torch.allclose(drawn.data["jacobian"], expected, atol=1e-12)
    (image,) = drawn.axes[1].get_images()
    assert np.array_equal(np.asarray(image.get_array()), drawn.data["jacobian"].numpy())


def test_the_fan_opens_from_one_to_equal_shares() -> None:
    drawn = FIGURES["temperature_fan"]()
    p = drawn.data["probabilities"]
    assert np.array_equal(lines(drawn)[0], p[:, 0].numpy())
    assert float(p[0, 0]) > 0.999
    assert p[-1].tolist() == pytest.approx([0.25] * 4, abs=0.01)


def test_entropy_climbs_from_zero_to_log_v() -> None:
    drawn = FIGURES["entropy_curve"]()
    nats = drawn.data["entropy"]
    assert np.array_equal(lines(drawn)[0], nats.numpy())
    assert nats[0] == 0
    assert bool((nats.diff() >= 0).all())
    assert float(nats[-1]) == pytest.approx(math.log(4), abs=0.02)


def test_arrows_end_where_attention_moves_the_words() -> None:
    drawn = FIGURES["apple_arrows"]()
    ends = [note.xy for note in drawn.axes[0].texts if note.arrow_patch is not None]
    assert ends == [pytest.approx((1.0, 7.8)), pytest.approx((4.0, 7.2))]
    assert drawn.data["fruit"][4].tolist() == pytest.approx([4.0, 7.2])


def test_bars_and_tables_show_their_numbers() -> None:
    bars = FIGURES["equivariance_bars"]()
    assert [patch.get_width() for patch in bars.axes[0].patches] == [0.0, 1.0]
    tables = FIGURES["number_tables"]()
    assert {"0.70", "0.10", "Σ = 1.1"} <= {text.get_text() for text in tables.axes[0].texts}


def test_a_rounded_zero_has_no_sign() -> None:
    drawn = plots.number_tables({"t": torch.tensor([[-0.001, -0.5]])}, ["a"], ["bc"])
    assert [text.get_text() for text in drawn.axes[0].texts] == ["0.00", "−0.50", "Σ = −0.501"]


def test_colours_and_dashes_stay_apart() -> None:
    light = sorted(np.dot(to_rgb(colour), (0.3, 0.6, 0.1)) for colour in COLOURS)
    assert min(np.diff(light)) > 0.005
    assert len(set(DASHES)) == len(COLOURS)


def test_a_notebook_goes_on_showing_figures() -> None:
    """The first figure of a notebook switches interactive mode on; it must stay on."""
    original = plt.subplots

    def first_figure(*args: object, **kwargs: object) -> object:
        mpl.interactive(True)
        return original(*args, **kwargs)  # type: ignore[call-overload]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plt, "subplots", first_figure)
        plots.lab00_preview()
    try:
        assert mpl.is_interactive()
    finally:
        mpl.interactive(False)


def test_while_grading_a_figure_is_described_and_not_drawn(monkeypatch, capsys):
    scores = torch.tensor([2.0, 1.0, 0.2, -1.0], dtype=torch.float64)
    before = plt.get_fignums()
    monkeypatch.setenv("ATTNLAB_GRADING", "1")
    drawn = plots.softmax_bars(softmax, scores)
    assert plt.get_fignums() == before
    assert drawn.data
    assert "not drawn while grading" in capsys.readouterr().out
