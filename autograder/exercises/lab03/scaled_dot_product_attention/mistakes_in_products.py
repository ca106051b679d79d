"""Wrong versions of attention whose shapes do not meet: products and axes the wrong way round."""

from .mistakes_in_masking import EMPTIED, FILL, FILLED, RETURN
from .mistakes_in_softmax import EXPONENTIALS, SOFTMAX, TOTAL, wrong

KEYS_FIRST = "k @ q.mT"
NO_MASK = {FILLED: "scores", EMPTIED: "weights"}
TURNED = {
    "": RETURN,
    "_and_weights_turned_for_outputs": "return weights.mT @ v, weights",
    "_and_weights_turned": "return weights.mT @ v, weights.mT",
}
for how, returned in TURNED.items():
    for axis, softmax in (("", SOFTMAX), ("_softmax_over_queries", "torch.softmax(scores, -2)")):
        for mask, changes in (("", {}), ("_without_a_mask", NO_MASK)):
            # Without a mask, these two are right, or as if the softmax alone were wrong.
            if mask and how == "_and_weights_turned":
                continue
            wrong.several(
                f"keys_before_queries{how}{axis}{mask}",
                {"q @ k.mT": KEYS_FIRST, SOFTMAX: softmax, RETURN: returned, **changes},
                "Your scores have a row for each key and a column for each query, as in k qᵀ. "
                "To whom does a row of the weights belong in the task, and from which side of a "
                "product do its rows come?",
            )
LOST_AXIS = (
    "A sum or a maximum over the keys has lost its last axis, so it no longer stands beside its "
    "own row. From which side do two shapes line up, and what keeps an axis at length 1?"
)
wrong.several(
    "divided_by_sums_without_their_axis",
    {FILLED: "scores", EMPTIED: f"{EMPTIED}\n        weights = weights / weights.sum(-1)"},
    LOST_AXIS,
)
for name, exponentials, total in (
    ("maximum", EXPONENTIALS.replace(", keepdim=True", ""), TOTAL),
    ("sum", EXPONENTIALS, "weights.sum(-1)"),
):
    for which, emptied in (("", EMPTIED), ("_without_a_mask", "weights")):
        wrong.several(
            f"{name}_without_its_axis{which}",
            {
                FILLED: FILLED if emptied == EMPTIED else "scores",
                SOFTMAX: exponentials,
                EMPTIED: emptied,
                RETURN: f"weights = weights / {total}\n    {RETURN}",
            },
            LOST_AXIS,
        )
wrong(
    "mask_with_an_axis_behind",
    FILL,
    f"mask = mask[..., None]\n        {FILL}",
    "What you make of the mask no longer fits the tensor that it meets: an axis was put in "
    "(`unsqueeze`, `[:, None]`), was lost (`any` without `keepdim`), or belongs to queries where "
    "keys are. Which shape does it have for a mask (Lq, Lk), and which is needed there?",
)
for name, emptied in (("", EMPTIED), ("_for_the_scores", "weights.masked_fill(~mask.mT, 0)")):
    wrong.several(
        f"mask_transposed{name}",
        {
            FILL: f"mask = mask.mT if mask.ndim > 1 else mask\n        {FILL}",
            EMPTIED: emptied,
        },
        "You exchange the last two axes of the mask (`.T`, `.mT`, `transpose`), so its rows belong "
        "to keys. What do a row and a column of a mask stand for in the task?",
    )
ENTRY_BY_ENTRY = (
    "You multiply queries and keys entry by entry (`*`), or add up the products along another axis "
    "than that of the features, so a query does not meet each key. Which shape must the table of "
    "scores have, and which product makes it?"
)
for name, product in (
    ("", "q * k"),
    ("_and_summed", "(q * k).sum(-1)"),
    ("_with_wrong_axes", "(q[..., :, None] * k[..., None, :]).sum(-1)"),
):
    for mask, changes in (("", {}), ("_without_a_mask", NO_MASK)):
        wrong.several(
            f"entry_by_entry{name}{mask}", {"q @ k.mT": f"({product})", **changes}, ENTRY_BY_ENTRY
        )
for mask, changes in (("", {}), ("_without_a_mask", NO_MASK)):
    wrong.several(
        f"queries_transposed{mask}",
        {"q @ k.mT": "q.mT @ k", **changes},
        "You exchange the axes of the queries: your product has a row and a column for each "
        "feature. Which axis of the two tables should the product add up over?",
    )
SAME_TABLE = (
    "Your scores are those of queries with queries, of keys with keys, or of queries with values. "
    "Which two tables meet in the formula?"
)
for name, product in (
    ("queries_with_queries", "q @ q.mT"),
    ("keys_with_keys", "k @ k.mT"),
    ("queries_with_values", "q @ v.mT"),
):
    wrong(name, "q @ k.mT", product, SAME_TABLE)
    wrong.several(f"{name}_without_a_mask", {"q @ k.mT": product, **NO_MASK}, SAME_TABLE)
