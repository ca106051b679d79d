"""Known mistakes in an attention of one's own: the product, its scale, and the softmax."""

from __future__ import annotations

from .mistakes_in_sizes import wrong  # that module and five more have other known mistakes

SCALE, SOFTMAX = " / math.sqrt(self.d_k)", "softmax(-1)"
FILLED = f"scores.masked_fill(~allowed, lowest).{SOFTMAX}"
for name, product in (("Queries", "queries @ queries.mT"), ("Keys", "keys @ keys.mT")):
    wrong(
        f"{name}With{name}",
        "queries @ keys.mT",
        product,
        "Your scores are those of queries with queries, or of keys with keys. Which two "
        "projections meet in the formula?",
    )
for name, scale in (
    ("TimesTheRoot", " * math.sqrt(self.d_k)"),
    ("TheSquare", " / self.d_k**2"),
    ("HeadsWithoutARoot", " / self.num_heads"),
):
    wrong(
        f"ScaledBy{name}",
        SCALE,
        scale,
        "Your scores are multiplied or divided by another number than the formula's. What does lab "
        "3 divide them by, and how long is the key of one head?",
    )
NO_SOFTMAX = (
    "Your weights are not a softmax of the scores: they are the scores, or their sigmoids, or are "
    "divided by their own sum. What turns a row of scores into shares that are never below 0?"
)
for name, weights in (
    ("ScoresAsWeights", "scores"),
    ("SigmoidAsWeights", "scores.sigmoid()"),
    ("ScoresByTheirSum", "scores / scores.sum(-1, keepdim=True)"),
):
    wrong(name, FILLED, weights, NO_SOFTMAX)
    wrong(
        f"{name}Filled",
        FILLED,
        weights.replace("scores", "scores.masked_fill(~allowed, lowest)"),
        NO_SOFTMAX,
    )
wrong(
    "SoftmaxOverSentences",
    SOFTMAX,
    "softmax(0)",
    "Your softmax runs over the sentences of the batch. In scores of shape (B, h, Lq, Lk), over "
    "which axis do the weights of one query sum to one?",
)
wrong.several(
    "ScaledAfterSoftmax",
    {SCALE: "", SOFTMAX: f"{SOFTMAX}.div(math.sqrt(self.d_k))"},
    "You divide the weights by the root, after the softmax, so they do not sum to one. What does "
    "the formula divide?",
)
