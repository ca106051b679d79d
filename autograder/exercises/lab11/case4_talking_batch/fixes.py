"""Other ways to fix it, and ways that do not."""

from __future__ import annotations

from . import case

case.other_fix("counted_from_the_front", {"softmax(dim=0)": "softmax(dim=2)"})
case.other_fix("by_the_function", {"scores.softmax(dim=0)": "nn.functional.softmax(scores, -1)"})
case.other_fix("by_its_logarithm", {"scores.softmax(dim=0)": "scores.log_softmax(dim=-1).exp()"})
case.other_fix("transposed_twice", {"scores.softmax(dim=0)": "scores.mT.softmax(1).mT"})

case.wrong_fix(
    "over_queries",
    {"softmax(dim=0)": "softmax(dim=1)"},
    "The sequences are alone now, but look at the sums: along which of the two T axes do the "
    "weights add up to 1, and whose weights should?",
)
case.wrong_fix(
    "over_the_heads",
    {
        "scores.softmax(dim=0)": (
            "scores.unflatten(0, (B, self.num_heads)).softmax(dim=1).flatten(0, 1)"
        )
    },
    "The sequences are alone now, but the heads of one sequence are not: what do the weights of "
    "one query, in one head, add up to?",
)
case.wrong_fix(
    "over_the_sequences",
    {
        "scores.softmax(dim=0)": (
            "scores.unflatten(0, (B, self.num_heads)).softmax(dim=0).flatten(0, 1)"
        )
    },
    "The heads no longer compete, but the sequences of the batch still do: along which axis should "
    "the weights of one query add up to 1?",
)
case.wrong_fix(
    "a_sigmoid",
    {"scores.softmax(dim=0)": "scores.sigmoid()"},
    "The sequences are alone now, and every weight is between 0 and 1. What do those of one query "
    "add up to?",
)
case.wrong_fix(
    "over_the_whole_table",
    {"scores.softmax(dim=0)": "scores.flatten(1).softmax(-1).view_as(scores)"},
    "The sequences are alone now, but all weights of a table add up to 1 together. What should "
    "those of one query add up to?",
)
case.wrong_fix(
    "divided_afterwards",
    {"scores.softmax(dim=0)": "nn.functional.normalize(scores.softmax(dim=0), p=1, dim=-1)"},
    "Each query's weights add up to 1 now, but the sequences still talk: what has the softmax "
    "before it already mixed?",
)
case.wrong_fix(
    "no_softmax",
    {"scores.softmax(dim=0)": "scores / scores.sum(-1, keepdim=True)"},
    "Each query's weights add up to 1 now, but a score may be negative. What does the docstring "
    "say about the sign of a weight?",
)
case.wrong_fix(
    "exponentials_by_hand",
    {"scores.softmax(dim=0)": "scores.exp() / scores.exp().sum(-1, keepdim=True)"},
    "The sequences are alone now and the sums are 1, but try inputs that are 60 times as large: "
    "what is the exponential of a large score?",
)
case.wrong_fix(
    "detached",
    {"scores.softmax(dim=0)": "scores.detach().softmax(dim=-1)"},
    "The numbers are right now, but does the layer still learn? Look at the gradients of queries "
    "and keys.",
)
