"""Known mistakes in which layers there are, how wide they are, and how they are kept."""

from __future__ import annotations

from .mistakes_in_shapes import wrong  # that module and three more have other known mistakes

PROJECTED = "self.q_proj(q), self.k_proj(k), self.v_proj(v)"


def input_layers(new):
    """The changes that make each of the first three layers `new`, for heads of `size` features."""
    return {
        f"self.{layer} = nn.Linear(d_model, num_heads * self.{size}, bias)": (
            f"self.{layer} = {new.replace('size', f'self.{size}')}"
        )
        for layer, size in (("q_proj", "d_k"), ("k_proj", "d_k"), ("v_proj", "d_v"))
    }


NOT_REGISTERED = (
    "torch does not find some of your layers: they are in a plain Python list or dict, or are made "
    "in `forward`. No optimiser will train them, and no file will contain them. Where, and in "
    "which container, does a module register its layers?"
)
wrong.several(
    "HeadsInAPlainList",
    {
        **input_layers("[nn.Linear(d_model, size, bias) for _ in range(num_heads)]"),
        PROJECTED: "(self.q_proj, q), (self.k_proj, k), (self.v_proj, v)",
        "split_heads(x, self.num_heads) for": (
            "torch.stack([head(x) for head in heads], 1) for heads,"
        ),
    },
    NOT_REGISTERED,
)
for layers in ("qk", "qkv", "qkvo", "kv", "q", "k", "v", "o"):
    lines = {
        "q": "self.q_proj = nn.Linear(d_model, num_heads * self.d_k, bias)",
        "k": "self.k_proj = nn.Linear(d_model, num_heads * self.d_k, bias)",
        "v": "self.v_proj = nn.Linear(d_model, num_heads * self.d_v, bias)",
        "o": "self.out_proj = nn.Linear(num_heads * self.d_v, d_model, bias)",
    }
    used = {
        "q": "self.q_proj(q)",
        "k": "self.k_proj(k)",
        "v": "self.v_proj(v)",
        "o": "self.out_proj(m",
    }
    changes = {}
    for letter in layers:
        name, _, layer = lines[letter].partition(" = ")
        changes[lines[letter]] = f"{name}_list = [{layer}]"
        changes[used[letter]] = used[letter].replace(f"{name}(", f"{name}_list[0](")
    wrong.several(f"InAPlainList_{layers}", changes, NOT_REGISTERED)
NOT_A_LAYER = (
    "You call a tuple or a list as if it were a layer. A comma at the end of an assignment makes a "
    "tuple, and square brackets make a list. Look at the line that sets the name in front of the "
    "parentheses: what does it make?"
)
LAYERS = {
    "q": "self.q_proj = nn.Linear(d_model, num_heads * self.d_k, bias)",
    "k": "self.k_proj = nn.Linear(d_model, num_heads * self.d_k, bias)",
    "v": "self.v_proj = nn.Linear(d_model, num_heads * self.d_v, bias)",
    "o": "self.out_proj = nn.Linear(num_heads * self.d_v, d_model, bias)",
    "d": "self.dropout = nn.Dropout(dropout)",
}
for letters in ("q", "k", "v", "o", "d", "qk", "kv", "qkv", "qkvo"):
    lines = [LAYERS[letter] for letter in letters]
    wrong.several(f"CommaBehind_{letters}", {line: f"{line}," for line in lines}, NOT_A_LAYER)
for letter in "qkvo":
    name, _, layer = LAYERS[letter].partition(" = ")
    wrong(f"ListCalled_{letter}", LAYERS[letter], f"{name} = [{layer}]", NOT_A_LAYER)
wrong(
    "CommaBehindTheOutput",
    "self.out_proj(merge_heads(found))",
    "(self.out_proj(merge_heads(found)),)",
    "Your output is a tuple with one tensor in it. A comma at the end of a line makes a tuple: "
    "which line ends with one?",
)
NUMBER_IN_A_TUPLE = (
    "One of your attributes holds a tuple instead of a number: a comma at the end of an assignment "
    "makes one. Which line of your `__init__` ends with a comma?"
)
for name, line in (
    ("num_heads", "self.num_heads = num_heads"),
    ("d_k", "self.d_k = d_model // num_heads if d_k is None else d_k"),
    ("d_v", "self.d_v = d_model // num_heads if d_v is None else d_v"),
):
    wrong(f"CommaBehind_{name}", f"        {line}\n", f"        {line},\n", NUMBER_IN_A_TUPLE)
DROPOUT_FOR_BIAS = (
    "A layer of yours takes the argument `dropout` for `bias`, so it has a bias only if something "
    "is dropped. What is the third argument of `nn.Linear`?"
)
for letters in ("q", "k", "v", "o", "qkv", "qkvo"):
    lines = [LAYERS[letter] for letter in letters]
    changes = {line: line.replace("bias)", "dropout)") for line in lines}
    wrong.several(f"DropoutForBias_{letters}", changes, DROPOUT_FOR_BIAS)
wrong(
    "BiasForDropout",
    "nn.Dropout(dropout)",
    "nn.Dropout(bias)",
    "With a bias, your layer drops all weights while training, whatever `dropout` is. Which "
    "argument goes to `nn.Dropout`?",
)
GIVEN_ALONE = (
    "If only one of d_k and d_v is given, your layer does not use that number, or gives the other "
    "one the same size. What does the task use for each of them if it is None?"
)
for name, lost in (
    ("BothChosenIfOneIsNone", "if None in (d_k, d_v):\n            d_k = d_v = None"),
    ("BothChosenIfKeysAre", "if d_k is None:\n            d_v = None"),
    ("BothChosenIfValuesAre", "if d_v is None:\n            d_k = None"),
    ("SizeOfKeysTakenFromValues", "d_k = d_v if d_k is None else d_k"),
    ("OneSizeForBoth", "d_k = d_v = d_k or d_v"),
):
    wrong(name, "super().__init__()", f"super().__init__()\n        {lost}", GIVEN_ALONE)
CHOSEN_TOGETHER = (
    "Your layer calculates with a None if one of d_k and d_v is given and the other is not. What "
    "does the task say about each of them?"
)
wrong.several(
    "ChosenOnlyTogether",
    {
        "if d_k is None else d_k": "if d_k is None and d_v is None else d_k",
        "if d_v is None else d_v": "if d_k is None and d_v is None else d_v",
    },
    CHOSEN_TOGETHER,
)
wrong(
    "LastLayerAsWideAsTheModel",
    "nn.Linear(num_heads * self.d_v, d_model, bias)",
    "nn.Linear(d_model, d_model, bias)",
    "Your last layer takes d_model features. Are the heads' outputs, side by side, always that "
    "wide, even if d_v is given?",
)
wrong.several(
    "AllLayersAsWideAsTheModel",
    {
        **input_layers("nn.Linear(d_model, d_model, bias)"),
        "nn.Linear(num_heads * self.d_v, d_model, bias)": "nn.Linear(d_model, d_model, bias)",
    },
    "All your layers are d_model wide on both sides, whatever d_k and d_v are. According to the "
    "task's table, which numbers make the width of each layer?",
)
wrong.several(
    "InputLayersAsWideAsTheModel",
    input_layers("nn.Linear(d_model, d_model, bias)"),
    "Your layers of queries, keys and values return d_model features, whatever d_k and d_v are. "
    "According to the task's table, which numbers make the width of each layer?",
)
NOT_A_TENSOR = (
    "A line of yours takes a value for a tensor that is not one, but a tuple, a list or None (a "
    "comma at the end of a line makes a tuple, too). If it comes from lab 3's attention: how many "
    "things does that return, and which does the line need?"
)
for name, new in (
    ("Merged", "merge_heads((found, weights))"),
    ("Transposed", "merge_heads((found, weights).transpose(1, 2))"),
    ("Measured", "merge_heads((found, weights).shape)"),
    ("Sized", "merge_heads((found, weights).size())"),
    ("Permuted", "merge_heads((found, weights).permute(0, 2, 1, 3))"),
    ("Projected", "(found, weights)"),
    ("Dropped", "merge_heads(self.dropout((found, weights)))"),
    ("Multiplied", "merge_heads((found, weights) @ values)"),
):
    wrong(f"Pair{name}", "merge_heads(found)", new, NOT_A_TENSOR)
wrong(
    "DropoutIsANumber",
    "self.dropout = nn.Dropout(dropout)",
    "self.dropout = dropout",
    "You call a number as if it were a layer. What does the name in front of the parentheses hold?",
)
wrong(
    "SizeForNumberOfHeads",
    "split_heads(x, self.num_heads)",
    "split_heads(x, x.shape[-1] // self.num_heads)",
    "Your layer has as many heads as a head should have features. What does the second argument of "
    "`split_heads` count?",
)
FEWER_LAYERS = (
    "Your module has fewer layers than the task's table: two of your names mean one and the same "
    "`nn.Linear` (as after `self.k_proj = self.q_proj`), or a name has none. How many layers does "
    "your `__init__` make?"
)
KEYS = "self.k_proj = nn.Linear(d_model, num_heads * self.d_k, bias)"
VALUES = "self.v_proj = nn.Linear(d_model, num_heads * self.d_v, bias)"
for name, changes in (
    ("OneLayerWithTwoNames", {KEYS: "self.k_proj = self.q_proj"}),
    (
        "OneLayerWithThreeNames",
        {
            KEYS: "self.k_proj = self.q_proj",
            VALUES: VALUES.replace(
                "nn.Linear", "self.q_proj if self.d_k == self.d_v else nn.Linear"
            ),
        },
    ),
    (
        "OneLayerForAllThree",
        {KEYS: "self.k_proj = self.q_proj", VALUES: "self.v_proj = self.q_proj"},
    ),
    (
        "OneLayerForAllThreeIfTheyFit",
        {
            made: made.replace("nn.Linear", "self.q_proj if self.d_k == self.d_v else nn.Linear")
            for made in (KEYS, VALUES)
        },
    ),
    ("NoLayerForKeys", {f"        {KEYS}\n": "", "self.k_proj(k)": "self.q_proj(k)"}),
):
    wrong.several(name, changes, FEWER_LAYERS)
for letter in "qkvo":
    wrong(f"NoLayer_{letter}", f"        {LAYERS[letter]}\n", "", FEWER_LAYERS)
