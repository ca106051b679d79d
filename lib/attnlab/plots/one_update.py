"""The first figure of lab 8: what happens in one update of a training, and who builds it."""

from __future__ import annotations

from attnlab.plots.boxes import WIDTH, arrow, labelled_box
from attnlab.plots.canvas import COLOURS, FAINT, Drawn, drawing, panels

# For each box: its place, its text, the step that builds it, and what it is for.
_IN_EVERY_UPDATE = (
    ("batches", "8.4", "sentences of similar lengths, so that little is padding"),
    ("device", "8.8", "one move to the CPU or the GPU, and no waiting"),
    ("16 bits", "8.9", "products in bfloat16 or float16, with a scaled loss"),
    ("loss", "8.3", "targets that leave room for doubt"),
    ("gradients", "8.7", "added up over small batches"),
    ("limit", "8.6", "all gradients shortened together"),
    ("Adam", "8.1", "updates whose length does not depend on the gradients"),
)
_AROUND_IT = (
    ("learning rate", "8.2", "rises, then falls", 6.0),
    ("checkpoints", "8.5", "the mean of the last ones is better than each of them", 3.6),
    ("BLEU", "8.11", "how good the translations are", 1.2),
)


@drawing
def one_update() -> Drawn:
    """The parts of a training in the order in which they act, with the numbers of their steps."""
    boxes = [(float(place), 1.0, *texts) for place, texts in enumerate(_IN_EVERY_UPDATE)]
    boxes += [(place, 0.0, name, step, purpose) for name, step, purpose, place in _AROUND_IT]
    alt = "One update of a training, from left to right: " + ", ".join(
        f"{name} ({step})" for name, step, _ in _IN_EVERY_UPDATE
    )
    alt += ", and again. Around it: " + ", ".join(f"{n} ({s})" for n, s, *_ in _AROUND_IT) + "."
    with panels(1, 7.4, 1.9, alt) as (axes,):
        for x, y, name, step, purpose in boxes:
            labelled_box(
                axes, (x, y), name, step, purpose,
                colour=COLOURS[0] if y else COLOURS[1], width=WIDTH if y else 1.3,
            )  # fmt: skip
        for x in range(len(_IN_EVERY_UPDATE) - 1):
            arrow(axes, (x + 0.43, 1.0), (x + 0.57, 1.0))
        arrow(axes, (6, 0.34), (6, 0.66))
        arrow(axes, (5.6, 0.66), (4.3, 0.2))
        arrow(axes, (2.93, 0.0), (1.87, 0.0))
        axes.annotate(
            "", (0, 1.34), (6, 1.34),
            arrowprops={"arrowstyle": "->", "color": FAINT, "connectionstyle": "arc3,rad=0.06"},
        )  # fmt: skip
        axes.set(title="one update", xlim=(-0.5, 6.75), ylim=(-0.4, 1.75))
        axes.set_axis_off()
    return Drawn((axes,), {})
