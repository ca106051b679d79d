"""What all figures share: colours, blank steps, interactive mode, no drawing while grading."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.colors import to_rgb

from attnlab import plots
from attnlab.plots import canvas, heatmap, masks, scores, words
from attnlab.plots.canvas import COLOURS, DASHES, Described, cell_tips, panels, points
from attnlab.softmax import softmax
from tests.helpers.figures import assert_fits_a_page

pytestmark = pytest.mark.usefixtures("no_windows")

SCORES = torch.tensor([2.0, 1.0, 0.2, -1.0], dtype=torch.float64)


def test_every_topic_is_there_under_its_name() -> None:
    files = {path.stem for path in Path(plots.__file__).parent.glob("*.py")}
    topics = {name for name in plots.__all__ if isinstance(getattr(plots, name), ModuleType)}
    assert topics == files - {"__init__", "attention_calls", "boxes", "canvas", "svg"}


def test_a_not_implemented_error_of_torch_is_not_a_blank_step() -> None:
    def softmax_of_a_strange_dtype(x: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError("not for this dtype")

    with pytest.raises(NotImplementedError, match="this dtype"):
        scores.softmax_bars(softmax_of_a_strange_dtype, SCORES)


def test_a_figure_of_a_step_that_fails_its_checks_is_not_to_be_trusted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def negative(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
        return -softmax(x, dim)

    doubt = "not to be trusted yet: 1.1 does not pass its checks"
    monkeypatch.setattr(canvas, "failing_note", lambda *steps: doubt * (negative in steps))
    doubted = scores.softmax_bars(negative, SCORES)
    figure = doubted.axes[0].figure
    assert isinstance(figure, Described)
    assert [text.get_text() for text in figure.texts if doubt in text.get_text()] == [f"({doubt})"]
    assert doubt in figure.alt
    assert_fits_a_page(doubted)
    curve = masks.loss_curves({"past": torch.ones(130)}, (2.2, 1.7, 1.0), negative)
    assert_fits_a_page(curve)
    assert doubt in curve.axes[0].figure.alt
    trusted = scores.softmax_bars(softmax, SCORES).axes[0].figure
    assert not any(doubt in text.get_text() for text in trusted.texts)


def test_a_figure_that_another_one_draws_is_doubted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canvas, "failing_note", lambda *steps: "doubt" if steps else "")
    figure = heatmap.attention_map(lambda: torch.eye(2), ["a", "b"], ["a", "b"]).axes[0].figure
    assert isinstance(figure, Described)
    assert [text.get_text() for text in figure.texts] == ["(doubt)"]
    assert figure.alt.count("doubt") == 1


def test_a_result_that_a_cell_above_did_not_make_leaves_a_sentence() -> None:
    drawn = scores.softmax_bars(softmax, None)  # type: ignore[arg-type]
    assert (drawn.axes, plt.get_fignums()) == ((), [])
    assert drawn.missing == "No picture yet: a cell above has no result to draw."


def test_colours_and_dashes_differ_in_grey_print() -> None:
    light = sorted(np.dot(to_rgb(colour), (0.3, 0.6, 0.1)) for colour in COLOURS)
    assert min(np.diff(light)) > 0.005
    assert len(set(DASHES)) == len(COLOURS)


def test_a_notebook_shows_later_figures_too() -> None:
    """The first figure of a notebook switches interactive mode on; it must stay on."""
    original = plt.subplots

    def first_figure(*args: object, **kwargs: object) -> object:
        mpl.interactive(True)
        return original(*args, **kwargs)  # type: ignore[call-overload]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plt, "subplots", first_figure)
        words.lab00_preview()
    try:
        assert mpl.is_interactive()
    finally:
        mpl.interactive(False)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.int64, torch.bool])
def test_points_of_every_dtype(dtype: torch.dtype) -> None:
    values = torch.ones(2, dtype=dtype).requires_grad_(dtype.is_floating_point)
    assert points(values).tolist() == [1.0, 1.0]


def test_while_grading_a_figure_is_described_and_not_drawn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = plt.get_fignums()
    monkeypatch.setenv("ATTNLAB_GRADING", "1")
    drawn = scores.softmax_bars(softmax, SCORES)
    assert plt.get_fignums() == before
    assert drawn.data
    assert "not drawn while grading" in capsys.readouterr().out


def test_the_cells_of_a_table_have_tips_but_not_while_grading(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with panels(1, 2, 2, "A table.") as (axes,):
        cell_tips(axes, [["a", "b"]])
        figure = axes.figure
        assert isinstance(figure, Described)
        assert list(figure.tips.values()) == ["a", "b"]
        monkeypatch.setenv("ATTNLAB_GRADING", "1")
        cell_tips(axes, [["c", "d"]])
        assert list(figure.tips.values()) == ["a", "b"]


def test_a_figure_whose_drawing_stops_is_closed() -> None:
    def half_way() -> None:
        with panels(1, 3.0, 2.0, "Nothing.") as (axes,):
            axes.axhline(0)
            raise ValueError("half-way")

    before = plt.get_fignums()
    with pytest.raises(ValueError, match="half-way"):
        half_way()
    assert plt.get_fignums() == before


def test_a_figure_that_another_one_draws_names_the_functions_of_the_outer_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(canvas, "why_not", lambda error, *steps: f"{len(steps)} behind it")

    @canvas.drawing
    def inner(numbers: torch.Tensor) -> canvas.Drawn:
        raise ValueError("not as many as there should be")

    @canvas.drawing
    def outer(make: Callable[[], torch.Tensor], *functions: Callable[..., Any]) -> canvas.Drawn:
        return inner(make())

    assert outer(lambda: SCORES).missing == "No picture yet: 1 behind it"
    assert outer(lambda: SCORES, softmax).missing == "No picture yet: 2 behind it"
    assert inner(SCORES).missing == "No picture yet: 0 behind it"
