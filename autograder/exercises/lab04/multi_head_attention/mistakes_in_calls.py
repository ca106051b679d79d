"""Known mistakes in a call of lab 3's attention: its arguments, and the use of its result."""

from __future__ import annotations

from .mistakes_in_the_formula import wrong  # that module and six more have other known mistakes

SCORES = "queries @ keys.mT"
WEIGHTS = "weights = scores.masked_fill(~allowed, lowest).softmax(-1).masked_fill(~allowed, 0)"
wrong(
    "KeysAskForQueries",
    SCORES,
    "keys @ queries.mT",
    "Your table of weights has a row for each key and a column for each query. Which text goes "
    "through each input layer, and in which order does attention take the two results?",
)
ONE_SENTENCES_WEIGHTS = (
    "You use one sentence's weights for all sentences: a line takes a tensor for a pair "
    "(`weights, _ = …`, or `[0]`), and so takes its first axis apart. What does the function that "
    "you call return, one tensor or two?"
)
for name, target, end in (
    ("BatchUnpacked", "weights, _", ""),
    ("BatchUnpackedFromTheEnd", "_, weights", ""),
    ("FirstSentencesWeights", "weights", "[0]"),
    ("LastSentencesWeights", "weights", "[-1]"),
):
    wrong(name, WEIGHTS, f"{WEIGHTS.replace('weights', target, 1)}{end}", ONE_SENTENCES_WEIGHTS)
wrong(
    "OutputTakenForWeights",
    WEIGHTS,
    f"{WEIGHTS} @ values",
    "You use the outputs of attention as its weights. If you call lab 3's "
    "`scaled_dot_product_attention`: which of its two results comes first?",
)
for name, weights in (
    ("SoftmaxOfTheWeights", f"{WEIGHTS}.softmax(-1)"),
    ("SoftmaxTwice", WEIGHTS.replace(".softmax(-1)", ".softmax(-1).softmax(-1)")),
):
    wrong(
        name,
        WEIGHTS,
        weights,
        "Your weights go through softmax twice. The second time it takes shares for scores. What "
        "does the function that you call return, scores or weights?",
    )
wrong(
    "WeightsTransposed",
    "self.dropout(weights)",
    "self.dropout(weights).mT",
    "You transpose the weights before they meet the values. What do a row and a column of the "
    "weights stand for, and over which of them does the sum of the values run?",
)
wrong(
    "CausalWithoutAMask",
    "torch.ones_like(scores, dtype=torch.bool) if mask",
    "torch.ones_like(scores, dtype=torch.bool).tril() if mask",
    "If no mask is given, your words only look back, as in a decoder. What does None mean in the "
    "task?",
)
for how, reduced in (("Added", "sum"), ("Averaged", "mean")):
    wrong(
        f"HeadsNotMergedBut{how}",
        "merge_heads(found)",
        f"found.{reduced}(1)",
        "You add up or average the heads' outputs. How do they stand in what the last layer gets, "
        "and how many features does it expect?",
    )
