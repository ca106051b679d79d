"""Wrong versions of attend whose mask works at tokens, or that take more than one softmax."""

from __future__ import annotations

from . import exercise
from .also_right import lowest_then_zero

LOWEST = "torch.finfo(scores.dtype).min"
FILL = f".masked_fill(~mask, {LOWEST})"
THEN_ZERO = ".masked_fill(~mask, 0.0)"
NO_MASK = "if mask is None:"
SOFTMAX = "filled.softmax(-1)"
# By the end of a name: whether the mask is also used the other way where none is given.
MODES = {"": "(mask & given)", "_without_a_mask_too": "mask"}
LOW = {"lowest": LOWEST, "infinity": "-torch.inf", "a_billion": "-1e9"}

INVERTED_BEFORE = (
    "Before the softmax you leave out the places where the mask is True, and afterwards those "
    "where it is False. What does True mean in `mask`?"
)
TOKENS_EMPTIED = (
    "You set the weights of tokens to 0 and keep those of padding. What does True mean in `mask`?"
)
OVER_BATCH_TOO = (
    "Your softmax runs over the batch, and your mask takes tokens away. Which axis of (B, T) "
    "shares one unit of weight, and what does True mean in `mask`?"
)
OVER_BATCH_AND_LATE = (
    "Your softmax runs over the batch, and the mask comes only after it. Which axis of (B, T) "
    "shares one unit of weight, and which step must use the mask?"
)
TWICE = (
    "You apply a softmax to weights that come from another softmax (perhaps in another line): this "
    "makes them more equal. Which numbers go into a softmax?"
)

wrong = exercise.edits(lowest_then_zero)


def masked(name, before, after, advice, softmax=SOFTMAX):
    """A mistake: what stands before the softmax, and after it."""
    given = {NO_MASK: f"given = mask is not None\n    {NO_MASK}"}
    changes = {FILL: before, THEN_ZERO: after, SOFTMAX: softmax}
    changes = {old: new for old, new in changes.items() if old != new}
    wrong.several(name, (given if "given" in before + after else {}) | changes, advice)


for end, places in MODES.items():
    emptied = f".masked_fill({places}, 0.0)"
    masked(f"tokens_emptied_after_softmax{end}", FILL, emptied, TOKENS_EMPTIED)
    masked(f"tokens_emptied_alone{end}", "", emptied, TOKENS_EMPTIED)
    over_batch = "filled.softmax(0)"
    masked(f"tokens_emptied_over_batch{end}", FILL, emptied, OVER_BATCH_TOO, over_batch)
    masked(f"tokens_emptied_alone_over_batch{end}", "", emptied, OVER_BATCH_TOO, over_batch)
    for kind, low in LOW.items():
        filled = f".masked_fill({places}, {low})"
        masked(f"tokens_filled_before_{kind}{end}", filled, THEN_ZERO, INVERTED_BEFORE)
        for then, after in (("", ""), ("_then_padding", THEN_ZERO), ("_and_emptied", emptied)):
            name = f"tokens_filled_over_batch_{kind}{then}{end}"
            masked(name, filled, after, OVER_BATCH_TOO, over_batch)
masked("masked_after_softmax_over_batch", "", THEN_ZERO, OVER_BATCH_AND_LATE, "filled.softmax(0)")

for then, after in (("", ""), ("_then_zero", THEN_ZERO)):
    for kind, low in LOW.items():
        fill = f".masked_fill(~mask, {low})"
        masked(f"softmax_twice_{kind}{then}", fill, after, TWICE, f"{SOFTMAX}.softmax(-1)")
        between = f"{SOFTMAX}{fill}.softmax(-1)"
        masked(f"softmax_filled_softmax_{kind}{then}", "", after, TWICE, between)
    between = f"({SOFTMAX} * mask).softmax(-1)"
    masked(f"softmax_multiplied_softmax{then}", "", after, TWICE, between)
