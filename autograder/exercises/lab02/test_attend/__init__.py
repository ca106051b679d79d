"""test_attend: a test that accepts right versions of attend and rejects wrong ones."""

from __future__ import annotations

import torch

from attnlab.seq2seq import attend
from gradekit.exercise import write_a_test

# Without versions that are wrong only for scores or batches that no test needs to try.
VERSIONS = [
    "softmax_over_batch",
    "tokens_filled_with_infinity",
    "masked_after_softmax",
    "scaled_up_afterwards",
    "filled_with_zero",
    "filled_with_some_number",
    "penalty_added",
    "mask_ignored",
    "mask_the_other_way",
    "hidden_masked_only",
    "context_by_scores",
    "scores_returned",
    "context_alone",
    "weights_first",
    "summed_over_features",
    "mean_instead_of_sum",
    "row_axis_kept",
    "nan_for_padding_alone",
    "equal_for_padding_alone",
    "scores_assigned_to",
    "weights_detached",
    "mask_required",
    "always_float32",
    "hard_attention",
    "log_probabilities_returned",
]

ORDINARY = "none, or any other"
exercise = write_a_test(
    "test_attend",
    of=attend,
    points=4,
    title="Rejects the wrong versions of attend that students write, and accepts the right ones.",
    versions=VERSIONS,
)


@exercise.check(points=1.5)
def openly_wrong(lab, draw):
    """Accepts your own attend, whatever its last digits; rejects it once it is obviously wrong."""

    def last_digits(scores, hidden, mask=None):
        return tuple(part * (1 + 2**-50) for part in lab.attend(scores, hidden, mask))

    def plain_mean(scores, hidden, mask=None):
        return lab.attend(torch.zeros_like(scores), hidden, mask)

    def padding_counts(scores, hidden, mask=None):
        return lab.attend(scores, hidden)

    def other_sentence(scores, hidden, mask=None):
        context, weights = lab.attend(scores, hidden, mask)
        return context.flip(0), weights

    return {
        "accepts your own": draw.accepted(lab.test_attend, lab.attend),
        "your own passes with other last digits": draw.raises(lab.test_attend, last_digits) is None,
        "rejects a plain mean": draw.rejects(lab.test_attend, plain_mean),
        "rejects attention to padding": draw.rejects(lab.test_attend, padding_counts),
        "rejects the context of another sentence": draw.rejects(lab.test_attend, other_sentence),
    }


@exercise.check(points=0.5)
def order_of_the_results(lab, draw):
    """Takes context and weights in the order of the task: rejects the other order alone."""
    tried = []  # for each call: what is special about its batch

    def own(scores, hidden, mask=None):
        if not (scores.isfinite().all() and hidden.isfinite().all()):
            tried.append("one with a number that is not finite")
        elif mask is not None and bool((mask == 0).all(-1).any()):
            tried.append("one with a sentence that is all padding")
        else:
            tried.append(ORDINARY)
        return lab.attend(scores, hidden, mask)

    def swapped(scores, hidden, mask=None):
        context, weights = lab.attend(scores, hidden, mask)
        return weights, context

    error = draw.raises(lab.test_attend, own)
    rejects = draw.rejects(lab.test_attend, swapped)
    if error is None or rejects is not True:
        tried.clear()
    return {
        "rejects the other order": rejects,
        "the last batch before your own is rejected": [ORDINARY, *tried][-1],
        "accepts your own": True if error is None else error,
    }
