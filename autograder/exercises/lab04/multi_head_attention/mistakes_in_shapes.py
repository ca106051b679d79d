"""Known mistakes that stop a line: what is split, multiplied or projected has another shape."""

from __future__ import annotations

from .mistakes_in_arguments import wrong  # that module and two more have other known mistakes

LAYERS = {
    f"self.{layer} = nn.Linear(d_model, num_heads * self.{size}, bias)": (
        f"self.{layer} = nn.Linear(d_model, self.{size}, bias)"
    )
    for layer, size in (("q_proj", "d_k"), ("k_proj", "d_k"), ("v_proj", "d_v"))
}
LAST_LAYER = {"nn.Linear(num_heads * self.d_v, d_model": "nn.Linear(self.d_v, d_model"}
VIEW = {
    "(split_heads(x, self.num_heads) for x in projected)": (
        "(\n            x.reshape(len(x), -1, self.num_heads, size).transpose(1, 2)\n"
        "            for x, size in zip(projected, (self.d_k, self.d_k, self.d_v), strict=True)\n"
        "        )"
    )
}
WIDTH_OF_ONE_HEAD = (
    "Your layers of queries, keys and values return the features of one head, and these are then "
    "split into h heads. Each layer makes features for one head; how many must leave it for all?"
)
for name, changes in (
    ("LayersOfOneHead", {}),
    ("LayersOfOneHeadAndTheLast", LAST_LAYER),
    ("LayersOfOneHeadInAView", VIEW),
    ("LayersOfOneHeadAndTheLastInAView", VIEW | LAST_LAYER),
):
    wrong.several(name, LAYERS | changes, WIDTH_OF_ONE_HEAD)
ONE_LAYER_TOO_NARROW = (
    "One or two of your layers make the features of one head, or of less, and their result is then "
    "split into h heads. According to the task's table, how many features leave each layer?"
)
PLAIN = list(LAYERS.items())
for name, changes in (
    ("Queries", PLAIN[:1]),
    ("Keys", PLAIN[1:2]),
    ("Values", PLAIN[2:]),
    ("QueriesAndKeys", PLAIN[:2]),
):
    wrong.several(f"LayerOfOneHeadFor{name}", dict(changes), ONE_LAYER_TOO_NARROW)
wrong.several(
    "LayersDividedOnceMore",
    {
        old: old.replace(f"num_heads * self.{size}", f"self.{size} // num_heads")
        for (old, _), size in zip(PLAIN, ("d_k", "d_k", "d_v"), strict=True)
    },
    ONE_LAYER_TOO_NARROW,
)
wrong.several(
    "LastLayerOfOneHead",
    LAST_LAYER,
    "The heads stand side by side, but your last layer takes in the features of one head. "
    "According to the task's table, how wide is the input of that layer?",
)
wrong(
    "SplitTwice",
    "split_heads(x, self.num_heads)",
    "split_heads(split_heads(x, self.num_heads), self.num_heads)",
    "You split features that are already split into heads. What is the shape of the tensor that "
    "you give to `split_heads`, and which shape does that function expect?",
)
OTHER_AXES_OF_K = (
    "The product of queries and keys stops or has other axes than (B, h, Lq, Lk). Print the shapes "
    "of both factors: are they (B, h, L, d_k) each, and which two axes of k change places?"
)
for name, keys in (
    ("KeysNotTransposed", "keys"),
    ("AllAxesOfKeysReversed", "keys.permute(3, 2, 1, 0)"),
    ("HeadsAndKeysSwapped", "keys.transpose(1, 2)"),
    ("HeadsAndFeaturesSwapped", "keys.transpose(1, 3)"),
):
    wrong(name, "keys.mT", keys, OTHER_AXES_OF_K)
OTHER_AXES_OF_Q = (
    "The product of queries and keys stops or has other axes than (B, h, Lq, Lk). Print the shapes "
    "of both factors: which axes of q should be the heads and the queries?"
)
OTHER_AXES_OF_V = (
    "The product of weights and values stops or has other axes than (B, h, Lq, d_v). Print the "
    "shapes of both factors: which two axes of v should be the heads and the words?"
)
for name, axes in (
    ("WordsFirst", ".transpose(1, 2)"),
    ("AllAxesReversed", ".permute(3, 2, 1, 0)"),
    ("FeaturesFirst", ".permute(0, 3, 1, 2)"),
    ("HeadsBeforeTheBatch", ".transpose(0, 1)"),
    ("Transposed", ".mT"),
):
    wrong(f"Queries{name}", "queries @", f"queries{axes} @", OTHER_AXES_OF_Q)
    wrong(f"Values{name}", "@ values", f"@ values{axes}", OTHER_AXES_OF_V)
for name, axes in (
    ("WordsFirst", ".transpose(1, 2)"),
    ("FeaturesFirst", ".permute(0, 3, 1, 2)"),
    ("HeadsBeforeTheBatch", ".transpose(0, 1)"),
):
    wrong(f"Keys{name}", "keys.mT", f"keys{axes}.mT", OTHER_AXES_OF_K)
wrong("ValuesNeverSplit", "@ values", "@ values.transpose(1, 2).flatten(2)", OTHER_AXES_OF_V)
NOT_MERGED = (
    "Your last layer gets the heads' outputs before they are side by side. Print the shape of what "
    "goes into that layer: which axis should hold the features of all heads of one word?"
)
for name, merged in (
    ("NeverMerged", "found"),
    ("MergedButForTheLastStep", "found.transpose(1, 2)"),
    ("WordsFlattened", "found.flatten(2)"),
    ("HeadsFlattenedIntoWords", "found.flatten(1, 2)"),
):
    wrong(name, "merge_heads(found)", merged, NOT_MERGED)
