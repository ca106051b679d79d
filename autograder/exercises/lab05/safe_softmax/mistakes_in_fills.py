"""Wrong versions of `safe_softmax` that fill other places or numbers, or take no softmax."""

from .also_right import filled_twice
from .mistakes_in_dropping_keys import exercise

wrong = exercise.edits(filled_twice)

wrong(
    "scores_as_weights",
    "torch.softmax(scores.masked_fill(~mask, low).masked_fill(empty, 0.0), -1)",
    "scores.masked_fill(~mask, low).masked_fill(empty, 0.0)",
    "You use the scores as weights, without any change. What turns scores, which may be negative, "
    "into shares that sum to one?",
)
for name, low in (("infinity", "math.inf"), ("number", "torch.finfo(scores.dtype).max")):
    wrong(
        f"forbidden_filled_with_the_highest_{name}",
        "-math.inf",
        low,
        "You write the highest number at forbidden keys, so they get all the weight, or NaN. "
        "Which number has an exponential of 0?",
    )
wrong.several(
    "rows_without_keys_filled_alone",
    {".masked_fill(~mask, low)": "", "(~mask, 0.0)": "(empty, 0.0)"},
    "Your code changes only the rows without keys, so forbidden keys of other rows take a share. "
    "What does the mask do to a single score?",
)
