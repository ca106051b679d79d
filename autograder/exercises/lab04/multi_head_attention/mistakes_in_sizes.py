"""Known mistakes in d_k and d_v: which numbers the layers and the attributes hold."""

from __future__ import annotations

from .mistakes_in_layers import wrong  # that module and four more have other known mistakes

CHOSEN = {
    "keys": "d_model // num_heads if d_k is None else d_k",
    "values": "d_model // num_heads if d_v is None else d_v",
}
AS_WIDE_AS_THE_MODEL = (
    "If d_k or d_v is not given, a head of yours has d_model of these features. Which default does "
    "the docstring name, and how wide are all heads together then?"
)
IGNORED = (
    "The given d_k or d_v is not used: your heads have d_model / h features instead. Which number "
    "holds if one is given?"
)
for whose, names in (("Sizes", "keys values"), ("Keys", "keys"), ("Values", "values")):
    old = [CHOSEN[name] for name in names.split()]
    wrong.several(
        f"Given{whose}Ignored", {line: line.partition(" if ")[0] for line in old}, IGNORED
    )
    wrong.several(
        f"Default{whose}AsWideAsTheModel",
        {line: line.replace("d_model // num_heads", "d_model") for line in old},
        AS_WIDE_AS_THE_MODEL,
    )
DEFAULTS_AS_ATTRIBUTES = (
    "Your layers use the d_k and d_v that are given, but an attribute holds d_model / h even then. "
    "Which numbers should the attributes hold, according to the task?"
)
for whose, names in (("Sizes", "d_k d_v"), ("KeysSize", "d_k"), ("ValuesSize", "d_v")):
    held = "".join(f"\n        self.{name} = d_model // num_heads" for name in names.split())
    wrong.several(
        f"AttributesOfThe{whose}Default",
        {
            "self.dropout = nn.Dropout(dropout)": (
                f"self.dropout = nn.Dropout(dropout)\n        self.size = self.d_k{held}"
            ),
            "math.sqrt(self.d_k)": "math.sqrt(self.size)",
        },
        DEFAULTS_AS_ATTRIBUTES,
    )
