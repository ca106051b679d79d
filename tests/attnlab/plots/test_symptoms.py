"""The bug clinic's curves, with the level that they are compared with."""

import torch

from attnlab.plots import symptoms


def test_lines_and_a_level():
    drawn = symptoms.curves(
        {"this": [3.0, 1.0], "that": torch.tensor([2.0, 0.5])}, "training", "step", "nats",
        level=("entropy", 1.373),
    )  # fmt: skip
    (axes,) = drawn.axes
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["this", "that", "entropy"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("step", "nats")
    assert drawn.data["this"].tolist() == [3.0, 1.0]
    assert "this ends at 1, that ends at 0.5" in axes.figure.alt
    assert "“entropy” is at 1.37" in axes.figure.alt
    assert -0.2 < axes.get_ylim()[0] < 0  # nearly 0, so that a line at 0 is seen


def test_two_figures_can_have_the_same_scale():
    tops = [
        symptoms.curves({"x": values}, "t", "step", "%", up_to=8.0).axes[0].get_ylim()[1]
        for values in ([0.0, 0.0], [0.0, 7.3], [0.0, 20.0])
    ]
    assert tops[0] == tops[1] == 8.0
    assert tops[2] > 20


def test_a_logarithmic_scale():
    drawn = symptoms.curves({"loss": [1.0, 1e-4]}, "training", "step", "error", log=True)
    assert drawn.axes[0].get_yscale() == "log"


def test_values_at_places_of_their_own():
    drawn = symptoms.curves({"right": [70.0, 99.0]}, "sizes", "batch", "%", at=[1, 64])
    assert drawn.axes[0].get_xscale() == "log"
    assert [tick.get_text() for tick in drawn.axes[0].get_xticklabels()] == ["1", "64"]
    assert drawn.axes[0].lines[0].get_xdata().tolist() == [1, 64]
