"""What every figure of attnlab.plots promises, and a step that is not written."""

from __future__ import annotations

import base64
import struct
from html import escape
from typing import Any
from xml.etree import ElementTree

from attnlab.plots.canvas import Described, Drawn


def unwritten(*_: Any, **__: Any) -> Any:
    """A step as a student finds it."""
    raise NotImplementedError


def assert_named(drawn: Drawn) -> None:
    """Each panel has a title, and its horizontal axis a name."""
    assert not drawn.missing
    assert all(axes.get_xlabel() and axes.get_title(loc="left") for axes in drawn.axes)


def assert_fits_a_page(drawn: Drawn) -> None:
    """A notebook shows the figure with a description, and not larger than a page."""
    figure = drawn.axes[0].figure
    assert isinstance(figure, Described)
    bundle = figure._repr_mimebundle_()
    assert len(bundle["text/plain"].split()) >= 8
    assert "\n" not in bundle["text/plain"]
    assert f'aria-label="{escape(bundle["text/plain"])}"' in bundle["text/html"]
    ElementTree.fromstring(bundle["text/html"])  # well-formed
    assert "<script" not in bundle["text/html"]
    width, height = struct.unpack(">II", base64.b64decode(bundle["image/png"])[16:24])
    assert width <= 760, "as wide as a notebook's page"
    assert height <= 420, "at most half a screen"
