"""The first figure of lab 10: a model is trained once on plain text, and used in many ways."""

from __future__ import annotations

from attnlab.plots.boxes import arrow, labelled_box
from attnlab.plots.canvas import COLOURS, Drawn, drawing, panels

# For each box: its text, the step that builds it, what it is for, and its place.
_ONCE = (
    ("hidden words", "10.1", "which word was here?", (1.5, 1.4)),
    ("pairs", "10.2", "do these two sentences belong together?", (1.5, 0.6)),
    ("model", "10.3", "reads a text in both directions", (3.2, 1.0)),
    ("pretraining", "10.4", "both questions, over and over, without a label", (4.9, 1.0)),
)
_USES = (
    ("five labels", "10.5", "a new head, and all weights trained a little", (7.0, 2.0)),
    ("other inputs", "10.6", "many tasks, each written as a row of tokens", (7.0, 1.0)),
    ("examples", "10.7", "the task is in the input, and no weight changes", (7.0, 0.0)),
)
_SIZE = ("size", "10.8", "what a larger model would reach", (4.9, 0.0))
_WIDE = 1.25


@drawing
def pretrain_once() -> Drawn:
    """From plain text to a pretrained model, and from there to three kinds of tasks."""
    alt = "Plain text goes, from left to right, through " + ", ".join(
        f"{name} ({step})" for name, step, *_ in _ONCE
    )
    alt += ". From there three arrows: " + ", ".join(f"{n} ({s})" for n, s, *_ in _USES)
    alt += ". Below: size (10.8)."
    with panels(1, 8.0, 2.3, alt) as (axes,):
        for boxes, colour in ((_ONCE, COLOURS[0]), (_USES, COLOURS[1]), ((_SIZE,), COLOURS[0])):
            for name, step, purpose, middle in boxes:
                labelled_box(axes, middle, name, step, purpose, colour=colour, width=_WIDE)
        for text, middle in (("text", (-0.1, 1.0)), ("pretrain once", (3.2, 2.0))):
            axes.text(*middle, text, ha="center", va="center", style="italic", fontsize=9)
        axes.text(7.0, 2.55, "use it many ways", ha="center", style="italic", fontsize=9)
        arrow(axes, (0.15, 1.05), (0.84, 1.35))
        arrow(axes, (0.15, 0.95), (0.84, 0.65))
        arrow(axes, (2.16, 1.35), (2.54, 1.1))
        arrow(axes, (2.16, 0.65), (2.54, 0.9))
        arrow(axes, (3.86, 1.0), (4.24, 1.0))
        for *_, (x, y) in _USES:
            arrow(axes, (5.56, 1.0), (x - 0.66, y))
        arrow(axes, (4.9, 0.34), (4.9, 0.66))
        axes.set(xlim=(-0.5, 7.8), ylim=(-0.4, 2.8))
        axes.set_axis_off()
    return Drawn((axes,), {})
