"""Wrong versions of attend that remove padding after the softmax and scale up what is left."""

from __future__ import annotations

from . import exercise
from .also_right import lowest_then_zero

FILL = ".masked_fill(~mask, torch.finfo(scores.dtype).min)"
WEIGHTS = "    weights = filled.softmax(-1).masked_fill(~mask, 0.0)\n"
# Of a softmax, some epsilons are so small that the drawn numbers decide which checks see them.
EPSILONS_OF_A_SOFTMAX = ("1e-7", "1e-8", "1e-12")
EPSILONS = ("1e-7", "1e-8", "1e-9", "1e-12")

SCALED_UP = (
    "Padding counts in your softmax, or in the maximum that you subtract, and is removed only "
    "afterwards. On paper that is the same if the rest is scaled up; but if padding has a huge "
    "score, nothing is left to scale up. Can padding be removed before the exponentials?"
)
MAXIMUM_OF_ALL = (
    "You subtract one number from the scores of all sentences: the largest score of the whole "
    "batch. In a sentence whose scores are all much lower, every exponential is 0. Which scores "
    "does the softmax of one sentence depend on?"
)

wrong = exercise.edits(lowest_then_zero)

wrong.several(
    "scaled_up_afterwards",
    {
        FILL: "",
        "    context": "    weights = weights / weights.sum(-1, keepdim=True)\n    context",
    },
    SCALED_UP,
)
wrong.several(
    "multiplied_and_scaled_up_afterwards",
    {
        FILL: "",
        ".masked_fill(~mask, 0.0)": " * mask",
        "    context": "    weights = weights / weights.sum(-1, keepdim=True)\n    context",
    },
    SCALED_UP,
)
for number, epsilon in enumerate(EPSILONS_OF_A_SOFTMAX, start=1):
    wrong.several(
        f"scaled_up_with_epsilon_{number}",
        {
            FILL: "",
            "    context": "    total = weights.sum(-1, keepdim=True)\n"
            f"    weights = weights / (total + {epsilon})\n    context",
        },
        SCALED_UP,
    )
for number, epsilon in enumerate(EPSILONS, start=1):
    wrong(
        f"exponentials_masked_with_epsilon_{number}",
        WEIGHTS,
        "    exp = (scores - scores.amax(-1, keepdim=True)).exp() * mask\n"
        f"    weights = exp / (exp.sum(-1, keepdim=True) + {epsilon})\n",
        SCALED_UP,
    )
wrong(
    "maximum_of_all",
    WEIGHTS,
    "    exp = (filled - filled.max()).exp() * mask\n"
    "    weights = exp / exp.sum(-1, keepdim=True).clamp(min=1e-300)\n",
    MAXIMUM_OF_ALL,
)
wrong(
    "maximum_of_all_not_guarded",
    WEIGHTS,
    "    exp = (filled - filled.max()).exp() * mask\n"
    "    weights = (exp / exp.sum(-1, keepdim=True)).masked_fill(~mask, 0.0)\n",
    MAXIMUM_OF_ALL,
)
wrong.several(
    "scaled_up_where_something_is_left",
    {
        FILL: "",
        "    context": "    total = weights.sum(-1, keepdim=True)\n"
        "    weights = torch.where(total > 0, weights / total, 0.0)\n    context",
    },
    SCALED_UP,
)
