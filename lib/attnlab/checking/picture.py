"""A small picture of two tensors that differ: expected, yours, and the difference.

The colours suit colour-blind readers (viridis for values, orange to purple for differences). The
background is always white, so the picture is readable on light and dark pages.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attnlab.checking.judges import Difference

MAX_SIDE = 24
MAX_NUMBERS = 80
CELL_WIDTH, PAGE_WIDTH = 0.32, 7.2  # inches; wide enough to show numbers at full size
SHARPNESS = 2  # pixels of the picture per pixel of the page
NOT_FINITE = "#bdbdbd"  # the colour of NaN and infinity


@dataclass(frozen=True)
class Picture:
    """A picture for a page.

    Attributes:
        png: the file's bytes.
        width: in pixels, as a page shows it.
        alt: a description in words.
        caption: the text below it; may be empty.
    """

    png: bytes
    width: int
    alt: str
    caption: str


@dataclass(frozen=True)
class _Panel:
    """One heat map: float64 values in two dimensions, and how to colour and write them."""

    title: str
    values: Tensor
    colours: str
    low: float
    high: float
    written: Callable[[float], str]


def picture(difference: Difference) -> Picture | None:
    """The picture of `difference`, or None if there is nothing to draw."""
    expected, seen = difference.expected, difference.seen
    if not (_drawable(expected) and _drawable(seen)):
        return None
    if difference.kind == "shape":
        return _two_shapes(expected, seen)
    if difference.kind in ("values", "nan", "shares") and expected.shape == seen.shape:
        return _same_shape(expected, seen, difference.wrong)
    return None


def _drawable(value: Any) -> bool:
    return isinstance(value, Tensor) and value.ndim > 0 and value.numel() > 1


def _real(tensor: Tensor) -> Tensor:
    return tensor.detach().to(torch.float64)


def _same_shape(expected: Tensor, seen: Tensor, wrong: Tensor | None) -> Picture:
    right, theirs = _real(expected), _real(seen)
    are_masks = expected.dtype == seen.dtype == torch.bool
    if wrong is None:
        wrong = ~torch.isclose(theirs, right, rtol=1e-9, atol=1e-9, equal_nan=True)
    shape = tuple(right.shape)
    first = [int(i) for i in wrong.nonzero()[0]] if bool(wrong.any()) else [0] * right.ndim
    slice_ = f"slice [{', '.join(map(str, first[:-2]))}] of a tensor of "
    cut, right, theirs, wrong = _window(first, right, theirs, wrong)
    # Entries that count as equal get no colour: rounding errors are not a difference.
    gap = torch.where(wrong, theirs - right, torch.zeros_like(right))
    low, high = _range(right, theirs)
    largest = max(float(_finite(gap).abs().max()) if _finite(gap).numel() else 0.0, 1e-12)
    panels = [
        _Panel("expected", right, "viridis", low, high, _writing(expected.dtype)),
        _Panel("yours", theirs, "viridis", low, high, _writing(seen.dtype)),
        _Panel(
            "different" if are_masks else "yours − expected",
            gap,
            "PuOr_r",
            -largest,
            largest,
            _crossed if are_masks else _writing(torch.promote_types(expected.dtype, seen.dtype)),
        ),
    ]
    # Entries that are not finite have no amount, and neither have True and False.
    amount = f", by up to {largest:.3g}" if largest > 1e-12 and not are_masks else ""
    caption = f"{slice_ if len(shape) > 2 else ''}shape {shape}{cut}"
    alt = (
        f"Heat maps of the expected tensor, yours and their difference ({caption}): here "
        f"{int(wrong.sum())} of {wrong.numel()} entries differ{amount}."
    )
    return _picture(panels, alt, caption)


def _two_shapes(right: Tensor, theirs: Tensor) -> Picture:
    low, high = _range(_real(right), _real(theirs))
    panels = []
    for name, tensor in (("expected", right), ("yours", theirs)):
        _, part = _window([0] * tensor.ndim, _real(tensor))
        title, written = f"{name} {tuple(tensor.shape)}", _writing(tensor.dtype)
        panels.append(_Panel(title, part, "viridis", low, high, written))
    shapes = f"expected shape {tuple(right.shape)}, yours {tuple(theirs.shape)}"
    caption = "the first slice of each" if max(right.ndim, theirs.ndim) > 2 else ""
    return _picture(panels, f"Heat maps of two tensors: {shapes}.", caption)


def _window(first: list[int], *tensors: Tensor) -> Any:
    """A description of the slice around index `first`, and this slice of each tensor.

    The description is empty if nothing was cut off.
    """
    rows, columns = [0, *first][-2:]
    row = max(0, min(rows, rows - MAX_SIDE // 2))
    column = max(0, min(columns, columns - MAX_SIDE // 2))
    parts = []
    for tensor in tensors:
        flat = tensor[tuple(first[:-2])] if tensor.ndim > 2 else tensor
        flat = flat.reshape(1, -1) if flat.ndim == 1 else flat
        parts.append(flat[row : row + MAX_SIDE, column : column + MAX_SIDE])
        whole = flat.shape == parts[-1].shape
    cut = "" if whole else f", from row {row} and column {column}"
    return cut, *parts


def _range(*tensors: Tensor) -> tuple[float, float]:
    values = torch.cat([_finite(tensor) for tensor in tensors])
    if not values.numel():
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _finite(tensor: Tensor) -> Tensor:
    return tensor[torch.isfinite(tensor)].flatten()


def _picture(panels: list[_Panel], alt: str, caption: str) -> Picture:
    png = _draw(panels)
    return Picture(png, int.from_bytes(png[16:20], "big") // SHARPNESS, alt, caption)


def _draw(panels: list[_Panel]) -> bytes:
    # Imported only if a picture is needed; not pyplot, because its figures are the student's.
    import matplotlib as mpl

    # The student's settings (a usetex without LaTeX, dots per inch, a hand-drawn look) stay out.
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mpl.rcdefaults()
        return _drawn_with_defaults(panels)


def _drawn_with_defaults(panels: list[_Panel]) -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = max(panel.values.shape[0] for panel in panels)
    columns = max(panel.values.shape[1] for panel in panels)
    numbers = all(panel.values.numel() <= MAX_NUMBERS for panel in panels) and columns <= 12
    cell = CELL_WIDTH if numbers else min(0.3, 2.1 / max(rows, columns))
    width = max(1.5, cell * columns + 0.12)
    height = max(0.34, (0.26 if numbers else cell) * rows) + 0.36
    stacked = width * len(panels) > PAGE_WIDTH
    size = (width, height * len(panels)) if stacked else (width * len(panels), height)
    figure = Figure(figsize=size, dpi=110 * SHARPNESS, facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    grid = (len(panels), 1) if stacked else (1, len(panels))
    for axes, panel in zip(figure.subplots(*grid, squeeze=False).flat, panels, strict=True):
        _heat_map(axes, panel, numbers)
        axes.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5))
    data = io.BytesIO()
    figure.savefig(data, format="png", metadata={"Software": None})
    return data.getvalue()


def _heat_map(axes: Any, panel: _Panel, numbers: bool) -> None:
    import matplotlib as mpl

    values = panel.values.numpy()
    colours = mpl.colormaps[panel.colours].with_extremes(bad=NOT_FINITE)
    masked = torch.where(torch.isfinite(panel.values), panel.values, torch.nan).numpy()
    image = axes.imshow(masked, cmap=colours, vmin=panel.low, vmax=panel.high, aspect="auto")
    axes.set_title(panel.title, fontsize=8.5, color="#222222", pad=4)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
    for row, column in ((r, c) for r in range(values.shape[0]) for c in range(values.shape[1])):
        text = _cell_text(float(values[row, column]), panel.written if numbers else None)
        if text:
            shade = image.cmap(image.norm(masked[row, column]))
            dark = 0.3 * shade[0] + 0.59 * shade[1] + 0.11 * shade[2] < 0.5
            axes.text(
                column, row, text, ha="center", va="center", fontsize=5.4 if "e−" in text else 6.6,
                color="white" if dark else "#111111",
            )  # fmt: skip


def _cell_text(value: float, written: Callable[[float], str] | None) -> str:
    """What is not finite is written in any table, everything else in small ones."""
    if not math.isfinite(value):
        return {"nan": "NaN", "inf": "∞", "-inf": "−∞"}[str(value)]
    return written(value).replace("-", "−") if written else ""


def _writing(dtype: torch.dtype) -> Callable[[float], str]:
    """How entries of this dtype are written."""
    if dtype == torch.bool:
        return lambda value: str(bool(value))
    return _number if dtype.is_floating_point or dtype.is_complex else _whole_number


def _crossed(value: float) -> str:
    """A cross where two masks differ."""
    return "✗" if value else ""


def _whole_number(value: float) -> str:
    return f"{value:.0f}" if abs(value) < 1e4 else _short_exponent(f"{value:.0e}")


def _short_exponent(text: str) -> str:
    """1e4 instead of 1e+04: wider numbers would run into each other."""
    number, _, exponent = text.partition("e")
    return f"{number}e{int(exponent)}" if exponent else text


def _number(value: float) -> str:
    """A number with two or three digits."""
    if value == 0:
        return "0"
    if 0.01 <= abs(value) < 100:
        return f"{value:.2f}"
    if abs(value) >= 1:
        return _whole_number(value)
    text = _short_exponent(f"{value:.1g}")
    return text.replace("0.", ".", 1) if abs(value) < 0.01 else text  # no wider than others
