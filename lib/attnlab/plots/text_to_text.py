"""The first figure of lab 9: the way from a text to a new text, and who builds it."""

from __future__ import annotations

from attnlab.plots.boxes import arrow, labelled_box
from attnlab.plots.canvas import COLOURS, FAINT, Drawn, drawing, panels

# For each box: its text, the step that builds it, and what it is for.
_WRITING = (
    ("encode", "9.2", "cuts a text into tokens, and numbers them"),
    ("GPT", "9.4", "scores every token as the next one"),
    ("sample", "9.7", "chooses the next token by its scores"),
    ("decode", "9.2", "makes text of tokens again"),
)
_LEARNING = (
    ("merges", "9.1", "the vocabulary, learned from a text", 0.0),
    ("cache", "9.8", "what each token has computed is kept for the next ones", 1.5),
    ("training", "9.6", "first weights, updates, and an honest measure", 3.0),
    ("windows", "9.5", "short pieces of a long text", 4.5),
)
_STEP = 1.5  # from one box to the next


@drawing
def text_to_text() -> Drawn:
    """What writes a text, from left to right, and below it what is needed for that."""
    alt = "From a text to a new one, from left to right: " + ", ".join(
        f"{name} ({step})" for name, step, _ in _WRITING
    )
    alt += ", with a way back from sample to GPT. Below: " + ", ".join(
        f"{name} ({step})" for name, step, *_ in _LEARNING
    )
    last = _STEP * (len(_WRITING) - 1)
    with panels(1, 7.4, 2.1, f"{alt}.") as (axes,):
        for place, (name, step, purpose) in enumerate(_WRITING):
            labelled_box(axes, (_STEP * place, 1.0), name, step, purpose, colour=COLOURS[0])
            arrow(axes, (_STEP * place + 0.43, 1.0), (_STEP * (place + 1) - 0.43, 1.0))
        for name, step, purpose, x in _LEARNING:
            labelled_box(axes, (x, 0.0), name, step, purpose, colour=COLOURS[1])
        for text, x, align in (("text", -1.4, "left"), ("new text", last + 1.08, "left")):
            axes.text(x, 1.0, text, ha=align, va="center", style="italic", fontsize=9)
        arrow(axes, (-0.85, 1.0), (-0.43, 1.0))
        arrow(axes, (0.0, 0.33), (0.0, 0.67))  # merges to encode
        arrow(axes, (1.5, 0.33), (1.5, 0.67))  # cache to GPT
        arrow(axes, (2.75, 0.33), (1.8, 0.67))  # training to GPT
        arrow(axes, (4.07, 0.0), (3.43, 0.0))  # windows to training
        axes.annotate(
            "", (_STEP, 1.34), (2 * _STEP, 1.34),
            arrowprops={"arrowstyle": "->", "color": FAINT, "connectionstyle": "arc3,rad=0.3"},
        )  # fmt: skip
        axes.text(1.5 * _STEP, 1.72, "token by token", ha="center", fontsize=8, color=FAINT)
        axes.set(xlim=(-1.45, last + 1.9), ylim=(-0.4, 1.95))
        axes.set_axis_off()
    return Drawn((axes,), {})
