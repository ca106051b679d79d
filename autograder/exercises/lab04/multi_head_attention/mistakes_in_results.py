"""Known mistakes in what `forward` returns on which way, and in tensors that it writes into."""

from __future__ import annotations

from . import exercise
from .also_right import FusedLayer
from .mistakes_in_calls import wrong  # that module and seven more have other known mistakes

RETURN = "return (out, weights) if need_weights else out"
wrong(
    "NothingReturned",
    RETURN,
    "(out, weights) if need_weights else out",
    "Your `forward` returns None, whatever it is asked. Which line hands its result to the caller: "
    "is the `return` missing?",
)
NOT_ON_EVERY_WAY = (
    "Your `forward` returns None in some calls: a `return` stands in a branch (below an `if` or an "
    "`else`) that these calls do not reach. What does each call return: with `need_weights`, "
    "without it, with a mask and without one?"
)
for name, condition in (
    ("ReturnOnlyWithWeights", "need_weights"),
    ("ReturnOnlyWithoutWeights", "not need_weights"),
    ("ReturnOnlyWithMask", "mask is not None"),
    ("ReturnOnlyWithoutMask", "mask is None"),
    ("ReturnOnlyWhileTraining", "self.training"),
    ("ReturnOnlyAfterEval", "not self.training"),
):
    wrong(name, RETURN, f"if {condition}:\n            {RETURN}", NOT_ON_EVERY_WAY)
IN_PLACE = (
    "A line of your `forward` writes into a tensor that it must leave as it is: an input, which "
    "belongs to the caller, or a result that torch still needs for the gradients. Look for `/=`, "
    "`*=`, a method with `_` at its end, or an assignment to entries. Which operation makes a new "
    "tensor?"
)
PROJECTED = "        projected ="
ROOT = " / math.sqrt(self.d_k)"
for letter in "qkv":
    # Multiplied by 1, because a slip that changes numbers, too, has advice on these.
    wrong(f"WritesInto_{letter}", PROJECTED, f"        {letter} *= 1\n{PROJECTED}", IN_PLACE)
for name, line in (
    ("QueriesScaledInPlace", "q /= math.sqrt(self.d_k)"),
    ("QueriesScaledInPlaceByAMethod", "q.mul_(self.d_k**-0.5)"),
    ("KeysScaledInPlace", "k /= math.sqrt(self.d_k)"),
):
    changes = {PROJECTED: f"        {line}\n{PROJECTED}", ROOT: ""}
    wrong.several(name, changes, IN_PLACE)
wrong(
    "QueriesScaledInPlaceAndOnceMore",
    PROJECTED,
    f"        q /= math.sqrt(self.d_k)\n{PROJECTED}",
    IN_PLACE,
)
CLEARED = ".softmax(-1).masked_fill(~allowed, 0)"
for name, cleared in (
    ("WeightsMultipliedInPlace", "\n        weights *= allowed"),
    ("WeightsFilledInPlace", ".masked_fill_(~allowed, 0)"),
    (
        "MaskedWeightsMultipliedInPlace",
        "\n        if mask is not None:\n            weights *= mask",
    ),
):
    wrong(name, CLEARED, f".softmax(-1){cleared}", IN_PLACE)

wrong_if_fused = exercise.edits(FusedLayer)
wrong_if_fused.several(
    "PartScaledInPlace",
    {
        "        att = (q @": "        q *= 1.0 / math.sqrt(k.size(-1))\n        att = (q @",
        " * (1.0 / math.sqrt(k.size(-1)))": "",
    },
    "A line of yours writes into one part of a tensor that `split`, `chunk` or `unbind` has cut "
    "(such as `q /= …`), and torch refuses that. Which operation makes a new tensor?",
)
