"""The picture of leaks shows every dependence, and distinguishes models that leak alike."""

from __future__ import annotations

from xml.etree import ElementTree

import matplotlib.pyplot as plt
import pytest
import torch
from torch import Tensor

from attnlab.causality import leaks
from attnlab.models import leaky
from attnlab.plots.canvas import Described, Drawn
from attnlab.plots.leaks import leak_matrices
from tests.helpers.figures import assert_fits_a_page, assert_named, unwritten


def one_ahead(ids: Tensor) -> Tensor:
    return ids.roll(-1, 1)[..., None].double()


def the_first(ids: Tensor) -> Tensor:
    return ids[:, :1].expand_as(ids)[..., None].double()


MODELS = {"ahead": one_ahead, "first": the_first}

pytestmark = pytest.mark.usefixtures("no_windows")


def page(drawn: Drawn) -> ElementTree.Element:
    """The HTML of a figure, parsed."""
    figure = drawn.axes[0].figure
    assert isinstance(figure, Described)
    return ElementTree.fromstring(figure._repr_mimebundle_()["text/html"])


def test_a_figure_can_be_drawn_names_its_axes_and_has_a_description() -> None:
    drawn = leak_matrices(leaks, MODELS, 4, 3)
    assert_named(drawn)
    assert drawn.axes[0].get_ylabel()
    assert_fits_a_page(drawn)


def test_later_and_earlier_tokens_are_shown() -> None:
    drawn = leak_matrices(leaks, MODELS, 4, 3)
    # The last output wraps round to the first token.
    assert drawn.data["ahead"].nonzero().tolist() == [[0, 1], [1, 2], [2, 3], [3, 0]]
    assert drawn.data["first"].nonzero().tolist() == [[1, 0], [2, 0], [3, 0]]
    titles = [axes.get_title(loc="left") for axes in drawn.axes]
    assert titles == ["ahead: 3 leaks", "first: no leaks"]


def test_models_with_equally_many_leaks_are_told_apart_by_what_they_see_of_the_past() -> None:
    data = leak_matrices(leaks, leaky.models(), 8, leaky.VOCAB, leaky.PAD).data
    ahead = torch.ones(8, 8, dtype=torch.bool).triu(1)
    assert torch.equal(data["D"] & ahead, data["E"] & ahead)
    assert data["D"][ahead.T].all()
    assert not data["E"][ahead.T].any()


def test_each_cell_says_what_it_means_and_nothing_is_a_script() -> None:
    svg = page(leak_matrices(leaks, MODELS, 4, 3)).find(".//{*}svg")
    assert svg is not None
    assert svg.get("role") == "img"
    says = [title.text for title in svg.iter("title")]
    assert len(says) == 2 * 4 * 4
    assert says.count("a leak: output 1 depends on token 2, which comes later") == 1
    assert says.count("allowed: output 3 depends on token 0, which comes earlier") == 2
    assert says.count("output 1 does not depend on token 2, which comes later") == 1
    assert says.count("output 0 and its own token: always allowed, not tested") == 2


def test_a_probe_that_is_not_written_is_named() -> None:
    assert "`unwritten`" in leak_matrices(unwritten, MODELS, 4, 3).missing
    assert plt.get_fignums() == []
