"""Wrong versions of `safe_softmax` that divide exponentials by their sum themselves."""

from __future__ import annotations

import torch  # noqa: F401 - the edited text uses it

from .also_right import exponentials_by_their_sum, filled_twice
from .mistakes_in_dropping_keys import EPSILONS, SCALED_UP_AND_EPSILON, TOTAL, exercise

wrong = exercise.edits(exponentials_by_their_sum)

EPSILON = (
    "You add a small number to your denominator. It takes a little from every row, and in float16 "
    "it may be rounded to 0. Which rows need help?"
)
for name, epsilon in {
    "large_epsilon": "1e-6",
    "larger_epsilon": "1e-5",
    "epsilon_in_denominator": "(1e-8 if scores.dtype == torch.float64 else 1e-6)",
    "smaller_epsilon": "1e-9",
    "smallest_epsilon": "1e-12",
}.items():
    wrong(name, TOTAL, f"(total + {epsilon})", EPSILON)
for name, one in (("one", "1"), ("exponential_of_0", "(-top).exp()")):
    wrong(
        f"{name}_in_the_denominator",
        TOTAL,
        f"(total + {one})",
        "You add one to the sum of the exponentials (exp(0), as if there were a key of score 0). "
        "It takes a share from every row. Which rows need help?",
    )
for limit in ("1e4", "1e3"):
    wrong(
        f"scores_clamped_at_{limit}",
        "    top = ",
        f"    filled = torch.where(mask, scores.clamp(-{limit}, {limit}), filled)\n    top = ",
        "You cut off scores (`clamp`), so two different scores beyond your limit get the same "
        "weight. What does softmax subtract, so that no score is too large for it?",
    )
after_softmax = exercise.edits(filled_twice)
for name, epsilon in EPSILONS.items():
    after_softmax(
        f"{name}_after_softmax",
        "return weights.masked_fill(~mask, 0.0)",
        "weights = weights.masked_fill(~mask, 0.0)\n"
        f"    return weights / (weights.sum(-1, keepdim=True) + {epsilon})",
        EPSILON,
    )
for name, epsilon in EPSILONS.items():
    wrong.several(
        f"maximum_of_all_keys_and_{name}",
        {
            "filled.amax": "scores.amax",
            "(filled - top).exp().masked_fill(~mask, 0.0)": "(scores - top).exp() * mask",
            TOTAL: f"(total + {epsilon})",
        },
        SCALED_UP_AND_EPSILON,
    )
wrong.several(
    "detached_denominator",
    {"filled.amax": "filled.detach().amax", "exp.sum": "exp.detach().sum"},
    "Some gradients flow, but not all of them: the denominator depends on the scores, too. What is "
    "cut from torch's graph on that side of your division?",
)

# Without a maximum: what is done with forbidden keys, and with the sum of a row without another.
NO_MAXIMUM = (
    "You subtract no maximum: scores at 1e4 overflow, and scores at -1e12 all become 0. Over "
    "which keys should the maximum be taken?"
)
NO_MAXIMUM_AND_EPSILON = (
    "You subtract no maximum, so the exponentials of scores at 1e4 overflow, and those of very low "
    "scores all become 0. The small number in your denominator takes a little from every row, "
    "too. Over which keys should a maximum be taken?"
)
NO_MAXIMUM_REPAIRED = (
    "You subtract no maximum and turn NaN into 0. But rows of very low or very high scores are NaN "
    "then, too (0/0, or infinity by infinity), and they have allowed keys. Over which keys should "
    "a maximum be taken?"
)
EXPONENTIALS = {
    "": "filled.exp().masked_fill(~mask, 0.0)",
    "_masked_afterwards": "scores.exp().masked_fill(~mask, 0.0)",
    "_multiplied_by_the_mask": "scores.exp() * mask",
}
WITHOUT = {
    "no_maximum": ({}, NO_MAXIMUM),
    "no_maximum_nan": (
        {TOTAL: "total.masked_fill(~mask.any(-1, keepdim=True), 1.0)"},
        NO_MAXIMUM,
    ),
    "no_maximum_and_lower_limit": ({TOTAL: "total.clamp_min(1e-9)"}, NO_MAXIMUM),
    "no_maximum_and_repaired": (
        {f"exp / {TOTAL}": "(exp / total).nan_to_num(0.0)"},
        NO_MAXIMUM_REPAIRED,
    ),
    "no_maximum_and_nothing": (
        {TOTAL: "total"},
        "You divide exponentials by their sum. It is 0 in a row without an allowed key, and also "
        "where all allowed scores are very low, because you subtract no maximum. Which of these "
        "two rows needs another divisor?",
    ),
} | {
    f"no_maximum_and_{name}": ({TOTAL: f"(total + {epsilon})"}, NO_MAXIMUM_AND_EPSILON)
    for name, epsilon in EPSILONS.items()
}
for kind, exponentials in EXPONENTIALS.items():
    for name, (changes, advice) in WITHOUT.items():
        wrong.several(
            f"{name}{kind}",
            {
                "torch.finfo(scores.dtype).min": "-torch.inf",
                "(filled - top).exp().masked_fill(~mask, 0.0)": exponentials,
                **changes,
            },
            advice,
        )
