"""Wrong versions of attention whose weights are not a softmax over the keys of scaled scores."""

from .mistakes_in_masking import EMPTIED, FILLED, RETURN, SOFTMAX
from .mistakes_in_products import NO_MASK
from .mistakes_in_softmax import EXPONENTIALS, wrong

SCALED = " / math.sqrt(q.shape[-1])"
MINUS_INFINITY = {FILLED: "scores.masked_fill(~mask, -torch.inf)", EMPTIED: "weights"}
MASKS = {"": {}, "_filled_with_infinity": MINUS_INFINITY, "_without_a_mask": NO_MASK}
UNCHANGED = (
    "You use the scores as weights without any change. What turns scores, which may be negative, "
    "into shares that sum to one?"
)
NOT_NORMALISED = (
    "Your weights are exponentials, but do not sum to one. What should each row be divided by?"
)
TWICE = (
    "Your weights go through softmax twice. The second time it takes shares for scores, and shares "
    "are close together: what happens to a weight of 1, and to a weight of 0?"
)
AND_NO_SCALE = "The scores are not scaled, either: what does the formula divide q kᵀ by?"
for name, weights, advice in (
    ("scores_as_weights", "scores", UNCHANGED),
    ("exponentials_as_weights", "scores.exp()", NOT_NORMALISED),
    ("largest_subtracted_alone", EXPONENTIALS, NOT_NORMALISED),
    ("softmax_twice", "torch.softmax(torch.softmax(scores, -1), -1)", TWICE),
    (
        "softmax_over_queries",
        "torch.softmax(scores, -2)",
        "Your softmax runs over the queries: for each key, the weights of all queries sum to one. "
        "Which axis of your scores belongs to the keys?",
    ),
):
    for mask, changes in MASKS.items():
        wrong.several(f"{name}{mask}", {SOFTMAX: weights, **changes}, advice)
        wrong.several(
            f"{name}_without_a_scale{mask}",
            {SCALED: "", SOFTMAX: weights, **changes},
            f"{advice} {AND_NO_SCALE}",
        )
for name, changes in (("", {}), ("_without_a_mask", NO_MASK)):
    wrong.several(
        f"scores_divided_by_their_sum{name}",
        {SOFTMAX: "scores / scores.sum(-1, keepdim=True)", **changes},
        "You divide the scores themselves by their sum. A score may be negative, and their sum may "
        "be 0: what does a softmax make of each score before it divides?",
    )
wrong(
    "softmax_of_the_weights",
    RETURN,
    f"weights = torch.softmax(weights, -1)\n    {RETURN}",
    TWICE,
)
for limit in (30, 50):
    wrong(
        f"scores_capped_at_{limit}",
        f"q @ k.mT{SCALED}",
        f"{limit} * torch.tanh(q @ k.mT{SCALED} / {limit})",
        "You cap the scores (`tanh`), so large ones come closer together. Does the formula change "
        "a score between the scale and the softmax?",
    )
