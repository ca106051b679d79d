"""Known mistakes in the arguments: which sizes are refused, their order, and the attributes."""

from __future__ import annotations

from .mistakes_in_dropout import wrong  # that module has more known mistakes

wrong(
    "LeftoverFeaturesDropped",
    "        if None in (d_k, d_v) and d_model % num_heads:\n"
    '            raise ValueError("the features cannot be divided evenly")\n',
    "",
    "If h does not divide d_model and d_k is not given, features are lost without a message. What "
    "should happen instead?",
)
wrong(
    "GivenSizesRefused",
    "None in (d_k, d_v) and ",
    "",
    "You refuse sizes that h does not divide even if d_k and d_v are given. When must something be "
    "divided?",
)
wrong(
    "SizesAsserted",
    "if None in (d_k, d_v) and d_model % num_heads:\n"
    '            raise ValueError("the features cannot be divided evenly")',
    "assert None not in (d_k, d_v) or d_model % num_heads == 0",
    "An `assert` raises AssertionError, and vanishes when Python runs with -O. Wrong arguments are "
    "reported with another error: which one does the task name?",
)
OTHER_TEXT = (
    "An input layer of yours gets another text than the task's table says: queries or values are "
    "not made of the argument of that name. Self-attention does not show this. Which argument goes "
    "through which layer?"
)
for name, q, v in (
    ("QueriesMadeOfValues", "v", "v"),
    ("ValuesMadeOfQueries", "q", "q"),
    ("QueriesAndValuesExchanged", "v", "q"),
):
    changes = {"self.q_proj(q)": f"self.q_proj({q})", "self.v_proj(v)": f"self.v_proj({v})"}
    wrong.several(name, {old: new for old, new in changes.items() if old != new}, OTHER_TEXT)
REFUSED_IN_PART = (
    "If h does not divide d_model, your layer is refused for some of the sizes that are left out, "
    "and built for others. What is computed if d_k alone is None, and what if d_v alone is?"
)
for name, condition in (
    ("RefusedIfBothAreLeftOut", "d_k is None and d_v is None"),
    ("RefusedForKeysOnly", "d_k is None"),
    ("RefusedForValuesOnly", "d_v is None"),
):
    wrong(name, "None in (d_k, d_v)", condition, REFUSED_IN_PART)
wrong(
    "DropoutBeforeBias",
    "bias=True, dropout=0.0",
    "dropout=0.0, bias=True",
    "If all arguments are given without their names, your layer takes bias for dropout, as torch's "
    "own does. In which order does the task list them?",
)
wrong(
    "ValuesSizeFirst",
    "d_k=None, d_v=None",
    "d_v=None, d_k=None",
    "If d_k and d_v are given without their names, your layer takes one for the other. In which "
    "order does the task list its arguments?",
)
wrong(
    "NeedWeightsBeforeMask",
    "mask=None, need_weights=False",
    "need_weights=False, mask=None",
    "Your `forward` does not take the mask as its fourth argument. In which order does the task "
    "list the arguments of `forward`?",
)
wrong.several(
    "ArgumentsAsAttributes",
    {
        "self.dropout = nn.Dropout(dropout)": (
            "self.dropout = nn.Dropout(dropout)\n"
            "        self.size, self.d_k, self.d_v = self.d_k, d_k, d_v"
        ),
        "math.sqrt(self.d_k)": "math.sqrt(self.size)",
    },
    "Your attributes d_k and d_v hold the arguments as they came, so they are None if none was "
    "given. Which numbers does your layer use then?",
)
