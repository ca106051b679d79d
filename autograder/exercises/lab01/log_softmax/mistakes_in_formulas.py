"""Wrong formulas of logsumexp and log_softmax: a term in the wrong place, another operation."""

from __future__ import annotations

from . import exercise
from .also_right import maximum_apart, shifted_first

wrong_logsumexp = exercise.edits(maximum_apart, of="logsumexp")
wrong_log_softmax = exercise.edits(shifted_first, of="log_softmax")
SHIFTED_BACK = "(x - top).exp().sum(dim).log() + top.squeeze(dim)"
for name, joined in (
    ("added_before_the_logarithm", "((x - top).exp().sum(dim) + top.squeeze(dim)).log()"),
    ("multiplied", "(x - top).exp().sum(dim).log() * top.squeeze(dim)"),
):
    wrong_logsumexp(
        f"maximum_{name}",
        SHIFTED_BACK,
        joined,
        "You bring the maximum back in the wrong place, or by the wrong operation. If each score "
        "is smaller by m, what is the sum of the exponentials multiplied by, and what does the "
        "logarithm make of a product?",
    )
LOG_OF_THE_QUOTIENT = "shifted - shifted.exp().sum(dim, keepdim=True).log()"
wrong_log_softmax(
    "shifted_score_divided_by_the_logarithm",
    LOG_OF_THE_QUOTIENT,
    "shifted / shifted.exp().sum(dim, keepdim=True).log()",
    "You divide the score by the logarithm of the sum. What does the logarithm make of a quotient?",
)
wrong_log_softmax(
    "sum_of_probabilities",
    LOG_OF_THE_QUOTIENT,
    "x - (shifted.exp() / shifted.exp().sum(dim, keepdim=True)).sum(dim, keepdim=True).log()",
    "You add up probabilities under the logarithm: their sum is 1 and its logarithm 0, so the "
    "scores come back as they were. Which numbers does the formula of softmax add up?",
)
wrong_log_softmax(
    "exponential_divided_by_the_logsumexp",
    LOG_OF_THE_QUOTIENT,
    "x.exp() / (shifted.exp().sum(dim, keepdim=True).log() + x.amax(dim, keepdim=True))",
    "You divide the exponential of a score by a logsumexp, which is a logarithm already. What is "
    "the logarithm of a quotient, and what is left of the logarithm of an exponential?",
)
wrong_log_softmax(
    "sum_subtracted_from_the_exponential",
    LOG_OF_THE_QUOTIENT,
    "shifted.exp() - shifted.exp().sum(dim, keepdim=True)",
    "You subtract a sum of exponentials from an exponential, without any logarithm. What is the "
    "logarithm of a quotient, and what is left of the logarithm of an exponential?",
)
wrong_log_softmax(
    "one_sum_for_everything",
    LOG_OF_THE_QUOTIENT,
    "shifted - shifted.exp().sum().log()",
    "You take one sum over the whole tensor, so slices change each other's results. Along which "
    "axis do the probabilities sum to 1?",
)
wrong_log_softmax(
    "only_the_maximum_subtracted",
    LOG_OF_THE_QUOTIENT,
    "shifted",
    "You subtract the largest score and nothing else, so the results are not logarithms of "
    "probabilities: what do their exponentials sum to?",
)
wrong_log_softmax(
    "sum_of_scores_subtracted",
    LOG_OF_THE_QUOTIENT,
    "shifted - shifted.sum(dim, keepdim=True)",
    "You subtract the sum of the scores themselves. The sum of which numbers is below the line in "
    "the formula of softmax, and what is its logarithm?",
)
wrong_log_softmax(
    "maximum_subtracted_in_the_sum_alone",
    LOG_OF_THE_QUOTIENT,
    "x - shifted.exp().sum(dim, keepdim=True).log()",
    "In log_softmax, the sum holds scores below the maximum, but the score in front of it is not "
    "shifted. By how much must both be shifted, so that the shift cancels?",
)
