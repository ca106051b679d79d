"""Known mistakes in the layers, their sizes and the heads, as edits of `FourLayers`."""

from __future__ import annotations

from .mistakes_in_layers import PROJECTED, input_layers
from .mistakes_in_results import wrong  # that module and eight more have other known mistakes

wrong(
    "NoOutputProjection",
    "self.out_proj(merge_heads(found))",
    "merge_heads(found)",
    "You return the heads' outputs as they are, side by side. Which of the four layers is never "
    "used?",
)
wrong(
    "NoLayerAtTheEnd",
    "nn.Linear(num_heads * self.d_v, d_model, bias)",
    "nn.Identity()",
    "Your layer has no weights behind the heads: their outputs stay as they are, side by side. "
    "Which of the four layers in the task's table is missing?",
)
wrong(
    "OutputProjectionTransposed",
    "self.out_proj(merge_heads(found))",
    "merge_heads(found) @ self.out_proj.weight "
    "+ (0 if self.out_proj.bias is None else self.out_proj.bias)",
    "A layer's weight is (out, in), and it is multiplied as x Wᵀ. Your last step applies it "
    "untransposed, which only fits (wrongly) if h · d_v is d_model. What does `nn.Linear` do when "
    "you call it?",
)
wrong(
    "QueriesAndKeysSwapped",
    "self.q_proj(q), self.k_proj(k)",
    "self.k_proj(q), self.q_proj(k)",
    "Queries and keys are swapped: queries go through the keys' layer and keys through the "
    "queries'. Where does the argument q go in your first line?",
)
ONE_LAYER_FOR_BOTH = (
    "Queries and keys go through one and the same layer. According to the task's table, which "
    "layer is meant for each of the two?"
)
for name, projected in (
    ("OneLayerForQueriesAndKeys", "self.q_proj(q), self.q_proj(k)"),
    ("KeysLayerForQueries", "self.k_proj(q), self.k_proj(k)"),
):
    wrong(name, "self.q_proj(q), self.k_proj(k)", projected, ONE_LAYER_FOR_BOTH)
wrong(
    "OneLayerForKeysAndValues",
    "self.v_proj(v)",
    "(self.k_proj if self.d_k == self.d_v else self.v_proj)(v)",
    "Keys and values go through one layer if their sizes allow it. Which layer is meant for the "
    "values?",
)
wrong(
    "KeysAndValuesSwapped",
    "self.k_proj(k), self.v_proj(v)",
    "self.k_proj(v), self.v_proj(k)",
    "Keys and values are swapped: you compare queries with the values' text and fetch from the "
    "keys' text. Self-attention does not show this. In which order do your arguments come?",
)
wrong(
    "LayersOfKeysAndValuesSwapped",
    "self.k_proj(k), self.v_proj(v)",
    "self.v_proj(k), self.k_proj(v)",
    "Keys go through the values' layer, and values through the keys' layer, or you exchange the "
    "two in a later call. Which layer is meant for each of the two?",
)
wrong(
    "ValuesMadeOfKeys",
    "self.v_proj(v)",
    "self.v_proj(k)",
    "Your values are made from the keys' text. This does not show as long as k and v are the same "
    "text. Where do you use the argument v?",
)
wrong(
    "AlwaysSelfAttention",
    "self.k_proj(k), self.v_proj(v)",
    "self.k_proj(q), self.v_proj(q)",
    "Keys and values are made from the queries' text, so the text always attends to itself. Where "
    "do you use the arguments k and v?",
)
# A name that has a new value by then is read once more, before or after the split into heads.
USED_AGAIN = (
    "One of your input layers gets something else than a text: what another layer has made, or "
    "what has been split into heads. What does that name hold in the line that calls the layer?"
)
SPLIT = "split_heads({}, self.num_heads)"
for name, layer, found in (
    ("QueriesUsedAgain", "self.k_proj(k)", "self.q_proj(q)"),
    ("SplitQueriesUsedAgain", "self.k_proj(k)", SPLIT.format("self.q_proj(q)")),
    ("KeysUsedAgain", "self.v_proj(v)", "self.k_proj(k)"),
    ("SplitKeysUsedAgain", "self.v_proj(v)", SPLIT.format("self.k_proj(k)")),
):
    wrong(name, layer, f"{layer[:-2]}{found})", USED_AGAIN)
for name, queries in (
    ("QueriesOfKeysUsedAgain", "self.q_proj(k)"),
    ("SplitQueriesOfKeysUsedAgain", SPLIT.format("self.q_proj(k)")),
):
    exchanged = {"self.q_proj(q)": "self.q_proj(k)", "self.k_proj(k)": f"self.k_proj({queries})"}
    wrong.several(name, exchanged, USED_AGAIN)
wrong(
    "KeysFromQueriesOfEqualLength",
    "self.k_proj(k)",
    "self.k_proj(q if q.shape == k.shape else k)",
    "If the two texts have the same length, you take them for one text and make the keys from the "
    "queries' text. Does an equal length say which text is looked at?",
)
wrong(
    "ValuesFromKeysOfEqualLength",
    "self.v_proj(v)",
    "self.v_proj(k if q.shape == k.shape else v)",
    "If the two texts have the same length, you make the values from the keys' text. Does an equal "
    "length say which text is fetched?",
)
wrong(
    "FittingValuesNotProjected",
    "self.v_proj(v)",
    "v if v.shape[-1] == self.num_heads * self.d_v else self.v_proj(v)",
    "Values that happen to be as wide as all heads together are used as they are, not projected. "
    "What is the third layer for?",
)
wrong(
    "KeepsItsFirstText",
    f"projected = {PROJECTED}",
    "if not hasattr(self, 'kept'):\n"
    "            self.kept = (k, v)\n"
    "        projected = self.q_proj(q), self.k_proj(self.kept[0]), self.v_proj(self.kept[1])",
    "Your layer remembers keys and values of an earlier call and uses them again. Apart from the "
    "parameters, what may one call pass on to the next?",
)
wrong(
    "NoInputProjections",
    PROJECTED,
    "(torch.cat([x, x], -1)[..., : self.num_heads * size] "
    "for x, size in ((q, self.d_k), (k, self.d_k), (v, self.d_v)))",
    "The inputs are used as they are: no layer makes queries, keys and values from them. What "
    "would let two heads look for different things?",
)
wrong.several(
    "OneProjectionForAllHeads",
    {
        **input_layers("nn.Linear(d_model, size, bias)"),
        "split_heads(x, self.num_heads)": "x[:, None].expand(-1, self.num_heads, -1, -1)",
    },
    "All heads share one small projection, so all of them compute the same. How many rows must a "
    "layer have, to have rows for every head?",
)
wrong.several(
    "OneHeadManyTimes",
    {
        **input_layers("nn.ModuleList([nn.Linear(d_model, size, bias)] * num_heads)"),
        PROJECTED: "(self.q_proj, q), (self.k_proj, k), (self.v_proj, v)",
        "split_heads(x, self.num_heads) for": (
            "torch.stack([head(x) for head in heads], 1) for heads,"
        ),
    },
    "Your list has an entry for each head, but all entries are one and the same layer, so all "
    "heads share its weights. How many layers does `[layer] * h` make?",
)
wrong.several(
    "ProjectedAfterTheSplit",
    {
        **input_layers("nn.Linear(d_model // num_heads, size, bias)"),
        PROJECTED: "(self.q_proj, q), (self.k_proj, k), (self.v_proj, v)",
        "split_heads(x, self.num_heads) for": "layer(split_heads(x, self.num_heads)) for layer,",
    },
    "You cut the inputs into heads and then project the pieces, so a head sees only its own piece "
    "of a word. What should each head be able to see?",
)
wrong.several(
    "HeadsAveraged",
    {
        "nn.Linear(num_heads * self.d_v, d_model": "nn.Linear(self.d_v, d_model",
        "merge_heads(found)": "found.mean(1)",
    },
    "You average the heads before the last layer, so it cannot distinguish them. According to the "
    "task's table, how wide is the input of that layer?",
)
wrong.several(
    "HeadsAdded",
    {
        "nn.Linear(num_heads * self.d_v, d_model": "nn.Linear(self.d_v, d_model",
        "merge_heads(found)": "found.sum(1)",
    },
    "You add the heads up before the last layer, so it cannot distinguish them. According to the "
    "task's table, how wide is the input of that layer?",
)
wrong(
    "SizeOfValuesTakenFromKeys",
    "super().__init__()",
    "super().__init__()\n        d_v = d_k if d_v is None else d_v",
    "If d_v is not given, yours is d_k. What does the task use for None?",
)
wrong(
    "OneLayerTooMany",
    "self.dropout = nn.Dropout(dropout)",
    "self.dropout = nn.Dropout(dropout)\n        self.unused = nn.Linear(d_model, d_model)",
    "You have parameters that the formula does not need: a layer too many, or one that is never "
    "used. Which four layers are in the task's table?",
)
wrong(
    "NoBiasByDefault",
    "bias=True",
    "bias=False",
    "If `bias` is not given, your layers have none. What is its default?",
)
wrong(
    "ValuesAsWideAsKeys",
    "self.d_v = d_model // num_heads if d_v is None else d_v",
    "self.d_v = self.d_k",
    "In your layers, values have the size of keys, d_k. Which size has its own argument?",
)
wrong(
    "SizeOfAllHeadsTogether",
    "        self.q_proj = ",
    "        self.d_k, self.d_v = max(1, self.d_k // num_heads), max(1, self.d_v // num_heads)\n"
    "        self.q_proj = ",
    "You take d_k for the width of all heads together: each layer has d_k rows, divided among the "
    "heads. According to the task, whose features does d_k count?",
)
wrong(
    "NoBiasAtTheEnd",
    "self.d_v, d_model, bias)",
    "self.d_v, d_model, bias=False)",
    "One of the four layers has no bias, or always has one. To which of them does the argument "
    "`bias` apply?",
)
wrong(
    "AlwaysBiasedAtTheEnd",
    "self.d_v, d_model, bias)",
    "self.d_v, d_model)",
    "One of the four layers has no bias, or always has one. To which of them does the argument "
    "`bias` apply?",
)
for whose, layer in zip(("Queries", "Keys", "Values"), input_layers("unused"), strict=True):
    for name, rest in (("NoBiasFor", "False)"), ("AlwaysBiasedFor", "True)")):
        wrong(
            f"{name}{whose}",
            layer,
            layer.replace("bias)", rest),
            "One of the four layers has no bias, or always has one. To which of them does the "
            "argument `bias` apply?",
        )
BIAS_AT_THE_END_ALONE = (
    "Only the last layer follows the argument `bias`: the layers of queries, keys and values never "
    "have one, or always. To how many of the four layers does the argument apply?"
)
for name, rest in (("NoBiasAtTheInputs", ", False"), ("AlwaysBiasedAtTheInputs", "")):
    layer = f"nn.Linear(d_model, num_heads * size{rest})"
    wrong.several(name, input_layers(layer), BIAS_AT_THE_END_ALONE)
wrong(
    "AlwaysBiased",
    "super().__init__()",
    "super().__init__()\n        bias = True",
    "Your layers have biases, even with bias=False. Where do you use that argument?",
)
wrong.several(
    "FusedHeadByHead",
    {
        **input_layers("None"),
        "self.dropout = nn.Dropout(dropout)": (
            "self.dropout = nn.Dropout(dropout)\n"
            "        self.qkv = nn.Linear(d_model, num_heads * (2 * self.d_k + self.d_v), bias)"
        ),
        PROJECTED: "self.qkv(q), self.qkv(k), self.qkv(v)",
        "split_heads(x, self.num_heads) for x in projected": (
            "split_heads(x, self.num_heads).split((self.d_k, self.d_k, self.d_v), -1)[i] "
            "for i, x in enumerate(projected)"
        ),
    },
    "Your fused layer keeps a head's query, key and value rows together, head after head. The task "
    "gives another order: all queries' rows, then all keys', then all values'. Which rows come "
    "first in yours?",
)
wrong(
    "BiasOnceForEachHead",
    "self.out_proj(merge_heads(found))",
    "sum(F.linear(head, piece, self.out_proj.bias) for head, piece "
    "in zip(found.unbind(1), self.out_proj.weight.split(self.d_v, -1)))",
    "Each head goes through its part of the last layer on its own, which is fine, but you add the "
    "bias once for each head. How often does the formula add it?",
)
wrong(
    "SplitWithoutTranspose",
    "split_heads(x, self.num_heads)",
    "x.reshape(len(x), self.num_heads, x.shape[1], -1)",
    "You cut the heads with a view alone, so each one gets some whole words instead of some "
    "features of every word. What else does your `split_heads` do?",
)
wrong(
    "HeadsInterleaved",
    "split_heads(x, self.num_heads)",
    "x.unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2)",
    "Your heads take features in turn (feature 1 to head 1), but the rows of a layer that belong "
    "to one head are next to each other. In which order do you cut?",
)
SIZES = {"queries": "d_k", "keys": "d_k", "values": "d_v"}
for parts in (
    *(("queries",), ("keys",), ("values",)),
    *(("queries", "keys"), ("queries", "values"), ("keys", "values")),
):
    cut, size = " and ".join(parts), f"(self.{', self.'.join(SIZES.values())})[i]"
    for name, heads, advice in (
        (
            "SplitWithoutTranspose",
            f"x.reshape(len(x), self.num_heads, x.shape[1], {size})",
            f"Your {cut} alone are cut with a view, so each head gets some whole words of them "
            "instead of some features of every word. What else does your `split_heads` do?",
        ),
        (
            "Interleaved",
            f"x.unflatten(-1, ({size}, self.num_heads)).permute(0, 3, 1, 2)",
            f"Heads take features of your {cut} in turn (feature 1 to head 1), but the rows of a "
            "layer that belong to one head are next to each other. In which order do you cut?",
        ),
    ):
        wrong(
            f"{''.join(map(str.title, parts))}{name}",
            "split_heads(x, self.num_heads) for x in projected",
            f"{heads} if i in {[*SIZES].index(parts[0]), [*SIZES].index(parts[-1])}\n"
            "            else split_heads(x, self.num_heads)\n"
            "            for i, x in enumerate(projected)",
            advice,
        )
wrong(
    "MergedWithoutTranspose",
    "merge_heads(found)",
    "found.reshape(len(found), found.shape[2], -1)",
    "You merge the heads' outputs with a view alone, so a word gets pieces of other words. What "
    "else does your `merge_heads` do?",
)
wrong(
    "MergedInTurn",
    "merge_heads(found)",
    "found.permute(0, 2, 3, 1).flatten(2)",
    "You merge the heads' outputs in turn: feature 0 of every head, then feature 1. In which order "
    "does `merge_heads` lay them out?",
)
NEVER_SPLIT = (
    "You never split the heads: one attention runs over all features at once. Which axis of your "
    "queries counts the heads?"
)
for name, root in (("NeverSplit", "self.d_k"), ("NeverSplitNorScaledByD", "queries.shape[-1]")):
    for end, returned in (
        ("", "weights"),
        ("WithAnAxisForHeads", "weights.unsqueeze(1)"),
        ("Repeated", "weights.unsqueeze(1).expand(-1, self.num_heads, -1, -1)"),
    ):
        changes = {
            "split_heads(x, self.num_heads)": "x",
            "merge_heads(found)": "found",
            "sqrt(self.d_k)": f"sqrt({root})",
            "(out, weights)": f"(out, {returned})",
        }
        changes = {old: new for old, new in changes.items() if old != new}
        wrong.several(f"{name}{end}", changes, NEVER_SPLIT)
wrong.several(
    "HeadsAttendToHeads",
    {
        "split_heads(x, self.num_heads)": "x.unflatten(-1, (self.num_heads, -1))",
        "merge_heads(found)": "found.flatten(2)",
    },
    "You leave the heads' axis behind time, (B, L, h, d), so the heads of one word attend to each "
    "other instead of words to words. Which axes does a matrix product work on?",
)
QUERIES_LENGTH = (
    "You use the length of the queries for the keys as well. How long are the keys in "
    "cross-attention, and where does your code fix that number?"
)
wrong(
    "QueryLengthForKeys",
    "split_heads(x, self.num_heads)",
    "x.reshape(len(x), q.shape[1], self.num_heads, -1).transpose(1, 2)",
    QUERIES_LENGTH,
)
wrong(
    "QueryLengthAndSizeFixed",
    "split_heads(x, self.num_heads)",
    "x.reshape(len(x), q.shape[1], self.num_heads, x.shape[-1] // self.num_heads).transpose(1, 2)",
    QUERIES_LENGTH,
)
wrong.several(
    "TimeFirst",
    {
        "projected = ": "q, k, v = (x.transpose(0, 1) for x in (q, k, v))\n        projected = ",
        "self.out_proj(merge_heads(found))": "self.out_proj(merge_heads(found)).transpose(0, 1)",
    },
    "Your code takes the first axis for time, as torch's own layers do by default, so sentences "
    "mix. Which axis comes first here?",
)
