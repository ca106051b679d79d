"""What all figures promise, whatever they show."""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable
from html import escape

import pytest

from attnlab.plots.canvas import Described, Drawn


@pytest.fixture
def assert_fits_a_page() -> Callable[[Drawn], None]:
    """A notebook shows the figure with a description, and not larger than a page."""

    def assert_fits(drawn: Drawn) -> None:
        figure = drawn.axes[0].figure
        assert isinstance(figure, Described)
        bundle = figure._repr_mimebundle_()
        assert len(bundle["text/plain"].split()) >= 8
        assert "\n" not in bundle["text/plain"]
        assert f'alt="{escape(bundle["text/plain"])}"' in bundle["text/html"]
        width, height = struct.unpack(">II", base64.b64decode(bundle["image/png"])[16:24])
        assert width <= 760, "as wide as a notebook's page"
        assert height <= 420, "at most half a screen"

    return assert_fits
