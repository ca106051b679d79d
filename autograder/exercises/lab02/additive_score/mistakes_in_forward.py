"""Wrong additive scores whose `forward` makes layers, which `__init__` should make."""

from __future__ import annotations

import torch
from torch import nn

from . import exercise
from .also_right import Joined

NEW_LAYERS = (
    "Not all of your scores' weights are those that `__init__` made: perhaps `forward` makes a new "
    "layer, with new random weights, at every call. Which numbers would the optimizer improve?"
)
LATE_LAYERS = (
    "Some parameters of your module are there only after its first call: perhaps `forward` makes "
    "them. An optimizer is made before the first call: which numbers does it know?"
)
IN_INIT = {
    "W": "nn.Linear(d_state + d_hidden, d_score, bias=False)",
    "a": "nn.Linear(d_score, 1, bias=False)",
}
IN_FORWARD = {
    "W": "nn.Linear(state.shape[1] + hidden.shape[2], self.d, bias=False)",
    "a": "nn.Linear(self.d, 1, bias=False)",
}
USED = {"W": "self.W(torch.cat", "a": "self.a(inner)"}
BEGIN = "        inner ="

wrong = exercise.edits(Joined)


def forward_makes(parts, before, place, dtype):
    """The edits with which `forward` makes these parts, each a name.

    Args:
        parts: the names, in one text.
        before: whether `__init__` makes them, too.
        place: "local", "kept" (in `self`, at every call) or "late" (in `self`, at the first call).
        dtype: the end of the expression that makes a layer.
    """
    edits = {"super().__init__()": "super().__init__()\n        self.d = d_score"}
    lines = ""
    for part in parts:
        if not before:
            edits[f"        self.{part} = {IN_INIT[part]}\n"] = ""
        made = f"{IN_FORWARD[part]}{dtype}"
        if place == "local":
            edits[USED[part]] = USED[part].replace(f"self.{part}", made)
        else:
            unless = f'if not hasattr(self, "{part}"):\n            ' if place == "late" else ""
            lines += f"        {unless}self.{part} = {made}\n"
    return edits | ({BEGIN: lines + BEGIN} if lines else {})


for parts in ("W", "a", "Wa"):
    for kind, dtype in (("", ""), ("OfTheRightDtype", ".to(hidden.dtype)")):
        for place in ("local", "kept"):
            for before in (True, False):
                wrong.several(
                    f"{parts}{place.title()}InForward{'' if before else 'Alone'}{kind}",
                    forward_makes(parts, before, place, dtype),
                    NEW_LAYERS,
                )
        wrong.several(
            f"{parts}MadeAtTheFirstCall{kind}",
            forward_makes(parts, False, "late", dtype),
            LATE_LAYERS,
        )


@exercise.mistake(
    "Your module keeps a product of W from one call for the next, so after a step of the optimizer "
    "its scores are those of the old weights. What may a call keep, if weights change?"
)
class ProductKept(nn.Module):
    def __init__(self, d_state, d_hidden, d_score):
        super().__init__()
        self.W_s = nn.Linear(d_state, d_score, bias=False)
        self.W_h = nn.Linear(d_hidden, d_score, bias=False)
        self.a = nn.Linear(d_score, 1, bias=False)
        self.seen = self.product = None

    def forward(self, state, hidden):
        if self.seen is not hidden:
            self.seen, self.product = hidden, self.W_h(hidden)
        return self.a(torch.tanh(self.W_s(state)[:, None] + self.product)).squeeze(-1)
