"""Wrong additive scores whose `__init__` makes W or a in another way, or of another size."""

from __future__ import annotations

from . import exercise
from .also_right import Joined

W, A = "nn.Linear(d_state + d_hidden, d_score, bias=False)", "nn.Linear(d_score, 1, bias=False)"
IN_A_LIST = {
    f"self.W = {W}": f"self.layers = [{W}]",
    f"self.a = {A}": f"self.layers.append({A})",
    "self.W(": "self.layers[0](",
    "self.a(": "self.layers[1](",
}
W_APPLIED = "self.W(torch.cat([spread, hidden], -1))"

wrong = exercise.edits(Joined)


def plain(part):
    """The edits with which `part` is a plain tensor."""
    if part == "a":
        return {A: "torch.zeros(d_score)", "self.a(inner).squeeze(-1)": f"inner @ {like('a')}"}
    made = "torch.randn(d_state + d_hidden, d_score)"
    return {W: made, W_APPLIED: f"(torch.cat([spread, hidden], -1) @ {like('W')})"}


def like(part):
    """A plain tensor in the dtype of the input."""
    return f"self.{part}.to(hidden.dtype)"


NO_PARAMETERS = (
    "Your module has no parameters, so an optimizer has nothing to improve: perhaps W and a are "
    "plain tensors, or layers in a Python list. Which class makes a parameter of a tensor, and "
    "where does a module look for its layers?"
)
wrong.several("PlainTensors", {**plain("W"), **plain("a")}, NO_PARAMETERS)
wrong.several("LayersInAList", IN_A_LIST, NO_PARAMETERS)
wrong.several(
    "PlainW",
    plain("W"),
    "W is not among the parameters of your module, so an optimizer would never see it. Is it a "
    "plain tensor, or is it in a Python list? What does `parameters()` list?",
)
wrong.several(
    "PlainTensor",
    plain("a"),
    "The tensor a is not a parameter of your module, so an optimizer would never see it. What "
    "wraps a tensor so that `parameters()` will list it?",
)

OTHER_WIDTH = (
    "Your product fails: W takes vectors of another width than those that you give to it. What "
    "does W multiply in the formula, and how many numbers are that, if s has d_state and h has "
    "d_hidden?"
)
for name, width in (
    ("OfTheState", "d_state"),
    ("OfTheHiddenVectors", "d_hidden"),
    ("OfTheirProduct", "d_state * d_hidden"),
):
    wrong(
        f"W{name}",
        "nn.Linear(d_state + d_hidden,",
        f"nn.Linear({width},",
        OTHER_WIDTH,
    )
wrong(
    "AOfTheSameWidth",
    "nn.Linear(d_score, 1,",
    "nn.Linear(d_score, d_score,",
    "Your a makes several numbers for each place. How many numbers is the score of one place?",
)
