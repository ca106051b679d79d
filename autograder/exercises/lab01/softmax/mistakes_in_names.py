"""Wrong versions of softmax that divide another tensor than they should, or by another one."""

from __future__ import annotations

from . import exercise
from .also_right import in_three_lines

wrong = exercise.edits(in_three_lines)

RETURN = "return exp / exp.sum(dim, keepdim=True)"
SHIFTED = "    exp = (scores - scores.amax(dim, keepdim=True)).exp()"

ONE_NUMBER_A_SLICE = (
    "Your result has length 1 along `dim`: it holds one number for each slice. Which tensor should "
    "you divide, and does its name still stand for this tensor in your last line?"
)
wrong(
    "sum_under_the_name_of_the_exponentials",
    RETURN,
    f"exp = exp.sum(dim, keepdim=True)\n    {RETURN}",
    ONE_NUMBER_A_SLICE,
)
wrong("sum_returned", RETURN, "return exp.sum(dim, keepdim=True)", ONE_NUMBER_A_SLICE)
wrong(
    "maximum_under_the_name_of_the_scores",
    SHIFTED,
    f"    scores = scores.amax(dim, keepdim=True)\n{SHIFTED}",
    ONE_NUMBER_A_SLICE,
)
SCORES_DIVIDED = (
    "Above your division line are scores, not their exponentials, so your result has numbers below "
    "0. Which tensor does the name above the line stand for there?"
)
wrong("scores_divided", "return exp /", "return scores /", SCORES_DIVIDED)
wrong(
    "shifted_scores_divided",
    "return exp /",
    "return (scores - scores.amax(dim, keepdim=True)) /",
    SCORES_DIVIDED,
)
SCORES_ADDED_UP = (
    "You divide exponentials by a sum of scores, not by their own sum. Which tensor does the name "
    "below your division line stand for there?"
)
wrong("scores_added_up", "exp.sum(", "scores.sum(", SCORES_ADDED_UP)
wrong(
    "shifted_scores_added_up",
    "exp.sum(",
    "(scores - scores.amax(dim, keepdim=True)).sum(",
    SCORES_ADDED_UP,
)
wrong(
    "divided_by_itself",
    ".sum(dim, keepdim=True)",
    "",
    "You divide each number by itself, so all your numbers are 1. By which number should all "
    "entries of a slice be divided?",
)
EXPONENTIAL_TWICE = (
    "You take the exponential of numbers that are exponentials already, above your division line, "
    "below it or on both sides. How often does the formula take it?"
)
for name, above, below in (
    ("of_both_sides", ".exp()", ".exp()"),
    ("of_the_numerator", ".exp()", ""),
    ("of_the_denominator", "", ".exp()"),
):
    wrong(
        f"exponential_twice_{name}",
        RETURN,
        f"return exp{above} / exp{below}.sum(dim, keepdim=True)",
        EXPONENTIAL_TWICE,
    )
wrong(
    "upside_down",
    RETURN,
    "return exp.sum(dim, keepdim=True) / exp",
    "You divide the sum by the exponentials, so no number is below 1. Which of the two belongs "
    "above the division line?",
)
