"""Wrong beam searches: logarithms of log-probabilities, their product, and those of -inf."""

from __future__ import annotations

from . import exercise
from .also_right import by_sorting, by_topk

wrong = exercise.edits(by_sorting)
wrong_topk = exercise.edits(by_topk)

POSSIBLE = "if more != -math.inf:"
ALL = "enumerate(log_p.tolist())"
BEST = "zip(*[x.tolist() for x in {}.topk(min(width, len(log_p)))][::-1], strict=True)"
# Other ways to leave out what is impossible, or none.
CONDITIONS = {
    "": {},
    "_of_larger_ones": {POSSIBLE: "if more > -math.inf:"},
    "_of_all": {POSSIBLE: "if True:"},
}

TAKEN_TWICE = (
    "You take the logarithm of the numbers that `step` returns, and some are NaN: the logarithm of "
    "a negative number. What are these numbers already?"
)
MULTIPLIED = (
    "You multiply log-probabilities. The probabilities of a sequence's symbols are multiplied; "
    "what does the logarithm make of a product?"
)
IMPOSSIBLE = (
    "Your beam holds impossible symbols, of log-probability -inf. When is a continuation not a "
    "candidate?"
)

for name, condition in CONDITIONS.items():
    wrong.several(
        f"log_taken_twice{name}",
        {"log_p.tolist()": "log_p.log().tolist()"} | condition,
        TAKEN_TWICE,
    )
    for start in ("1", "0"):
        wrong.several(
            f"logs_multiplied_from_{start}{name}",
            {
                "[([], 0.0, state)]": f"[([], {start}.0, state)]",
                "total + more, following": "total * more, following",
            }
            | condition,
            MULTIPLIED,
        )
wrong_topk("log_taken_twice_by_topk", "log_p.topk", "log_p.log().topk", TAKEN_TWICE)
for start, zeros in (("1", "torch.ones"), ("0", "torch.zeros")):
    wrong_topk.several(
        f"logs_multiplied_from_{start}_by_topk",
        {
            "torch.zeros(1,": f"{zeros}(1,",
            "totals.append(sums[i] + some)": "totals.append(sums[i] * some)",
            "values.append((sums[i] + some)": "values.append((sums[i] * some)",
        },
        MULTIPLIED,
    )
wrong("impossible_ones_kept", POSSIBLE, "if True:", IMPOSSIBLE)
for name, condition in CONDITIONS.items():
    wrong.several(
        f"log_taken_twice_of_the_best{name}",
        {ALL: BEST.format("log_p.log()")} | condition,
        TAKEN_TWICE,
    )
wrong.several(
    "impossible_ones_kept_of_the_best",
    {ALL: BEST.format("log_p"), POSSIBLE: "if True:"},
    IMPOSSIBLE,
)
wrong_topk(
    "impossible_ones_kept_by_topk",
    "        order = order[value[order].isfinite()]\n",
    "",
    IMPOSSIBLE,
)
wrong.several(
    "logarithm_of_a_product",
    {
        "return total / len": "return (math.log(total) if total > 0 else -math.inf) / len",
        "[([], 0.0, state)]": "[([], 1.0, state)]",
        "total + more, following": "total * math.exp(more), following",
    },
    "You keep the product of the probabilities and take its logarithm at the end. A long sequence "
    "has a product that underflows to 0. What can be added up on the way instead?",
)
