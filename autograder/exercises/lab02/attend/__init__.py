"""attend: turn scores into weights, and weights into one context vector for each sentence."""

from __future__ import annotations

import torch

from attnlab.checking.observation import count_of, dtype_of
from attnlab.seq2seq import attend
from gradekit.exercise import Exercise

FILL = "scores = scores.masked_fill(~mask, -math.inf).masked_fill(empty, 0)"
exercise = Exercise(
    attend,
    equivalent={
        "attend: `scores.masked_fill(~mask, -math.inf).masked_fill(empty, 0)` → "
        f"`scores.masked_fill(~mask, -math.inf)` in `{FILL}`": (
            "a row of padding is NaN for a moment, and masked afterwards, as its gradient is"
        ),
        f"attend: `0` → `1` in `{FILL}`": "any finite number will do in a row of padding",
    },
)


def mask_of(*lengths, width=5):
    """A mask (B, T) whose rows have these numbers of tokens at their left."""
    return torch.arange(width) < torch.tensor(lengths)[:, None]


def named(result):
    """Two results by their names; anything else as it is."""
    pair = isinstance(result, (tuple, list)) and len(result) == 2
    return dict(zip(("context", "weights"), result, strict=True)) if pair else result


@exercise.check(points=1)
def shapes_and_types(lab, draw):
    """Returns the context (B, d_hidden) and the weights (B, T), in the dtype of the scores."""
    scores, hidden = draw.normal(2, 5), draw.normal(2, 5, 7)
    context, weights = result = lab.attend(scores, hidden, mask_of(5, 3))
    low = lab.attend(scores.float(), hidden.float(), mask_of(5, 3))
    return {
        "result": count_of(result),
        "shape of context": list(context.shape),
        "shape of weights": list(weights.shape),
        "dtypes of float64": [dtype_of(context), dtype_of(weights)],
        "dtypes of float32": [dtype_of(out) for out in low],
    }


@exercise.check(points=1.5)
def without_padding(lab, draw):
    """Computes the weighted mean of all places: three by hand, then a batch."""
    by_hand = lab.attend(
        torch.tensor([[0.0, 0.964028, 0.202433]]).double(),
        torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]]).double(),
    )
    scores, hidden, part = 2 * draw.normal(3, 5), draw.normal(3, 5, 7), mask_of(2, 5, 3)
    return {
        "by hand": named(by_hand),
        "a batch": named(lab.attend(scores, hidden)),
        "not contiguous": named(lab.attend(draw.strided(scores), draw.strided(hidden))),
        "an all-true mask": named(lab.attend(scores, hidden, mask_of(5, 5, 5))),
        "no mask, but zeros": named(lab.attend(scores * part, hidden * part[..., None])),
    }


@exercise.check(points=1.5)
def with_padding(lab, draw):
    """Leaves padding out of the weights, which sum to one over the tokens, whatever the scores."""
    scores, hidden, mask = 2 * draw.normal(3, 5), draw.normal(3, 5, 7), mask_of(2, 5, 3)
    context, weights = lab.attend(scores, hidden, mask)
    seen = {"weights": weights, "context": context, "sums": weights.sum(1)}
    for size in (1e4, 1e12, 1e33):
        high, low = torch.where(mask, scores, size), torch.where(mask, scores - 3 * size, 0.0)
        seen[f"weights, scores of {size:g} at padding"] = lab.attend(high, hidden, mask)[1]
        seen[f"weights, scores of {-3 * size:g} at tokens"] = lab.attend(low, hidden, mask)[1]
    seen["weights, all scores 1000 higher"] = lab.attend(scores + 1000, hidden, mask)[1]
    one_low = scores - torch.tensor([[0.0], [2e4], [0.0]]).double()
    seen["weights, scores of -20000 in one sentence"] = lab.attend(one_low, hidden, mask)[1]
    return seen


@exercise.check(points=1)
def sentence_of_padding(lab, draw):
    """A sentence that is all padding gets weights and a context of 0; the others are unaffected."""
    scores, hidden, mask = draw.normal(3, 5), draw.normal(3, 5, 7), mask_of(3, 0, 5)
    seen = named(lab.attend(scores, hidden, mask))
    # Another check asks whether gradients flow at all, and whether inputs are overwritten.
    both = lambda s, h: torch.cat(lab.attend(1 * s, 1 * h, mask), 1)  # noqa: E731
    grads = [
        grad for grad in draw.gradients(both, scores, hidden) if isinstance(grad, torch.Tensor)
    ]
    strange = sum(int((~grad.isfinite()).sum()) for grad in grads)
    one_place = mask_of(1, 0, 1)[:, :1]
    return {
        "a batch with such a sentence": seen,
        "one place alone": named(lab.attend(scores[:, :1], hidden[:, :1], one_place)),
        "entries of the gradients that are not finite": strange,
    }


@exercise.check(points=1)
def gradients(lab, draw):
    """Gradients flow to scores and vectors, but not to padding; inputs are unchanged."""
    scores, hidden, mask = draw.normal(3, 5), draw.normal(3, 5, 7), mask_of(2, 4, 5)
    lab.attend(scores, hidden, mask)
    empty = mask_of(2, 0, 5)
    lab.attend(scores, hidden, empty)
    both = lambda s, h: torch.cat(lab.attend(s, h, mask), 1)  # noqa: E731
    flow = draw.gradients(both, scores, hidden)
    without = draw.gradients(lambda s, h: lab.attend(s, h)[0], scores, hidden)
    of = ("gradient of the scores", "gradient of `hidden`")
    return {
        **dict(zip(of, flow, strict=True)),
        "without a mask": dict(zip(of, without, strict=True)),
        "inputs as they were": (
            draw.untouched()
            and torch.equal(mask, mask_of(2, 4, 5))
            and torch.equal(empty, mask_of(2, 0, 5))
        ),
    }


@exercise.check(points=2, hidden=True)
def huge_padding(lab, draw):
    """Padding gets weight exactly 0 wherever it is, and never counts, whatever its vectors are."""
    scores, hidden, mask = draw.normal(3, 5), draw.normal(3, 5, 7), mask_of(2, 5, 3)
    filled = torch.where(mask[..., None], hidden, 1e6)
    huge = [torch.where(mask, scores, size) for size in (500.0, 1e4)]
    weights = lab.attend(huge[1], filled, mask)[1]
    holes = torch.tensor([[False, True, False, True, True]]).expand(3, 5)
    return {
        "huge scores and vectors at padding": [named(lab.attend(s, filled, mask)) for s in huge],
        "number of weights at padding other than 0": (weights[~mask] != 0).sum(),
        "padding in between": named(lab.attend(scores, hidden, holes)),
    }


@exercise.check(points=1, hidden=True)
def other_sizes(lab, draw):
    """Is right for one sentence, one place, one feature, and equal sizes."""

    def ask(B, T, d):
        mask = draw.uniform(B, T) < 0.7
        mask[:, 0] = True  # a sentence that is all padding is another check's question
        return named(lab.attend(draw.normal(B, T), draw.normal(B, T, d), mask))

    return draw.each_size(ask, B=2, T=5, d=7)


@exercise.check(points=1, hidden=True)
def places_in_another_order(lab, draw):
    """Neither the order of the places nor any other sentence changes a context."""
    scores, hidden, order = draw.normal(5, 5), draw.normal(5, 5, 7), draw.permutation(5)
    mask = mask_of(2, 5, 3, 4, 1)
    mixed = lab.attend(scores[:, order], hidden[:, order], mask[:, order])
    return {
        "mixed": named(mixed),
        "as many places as sentences": named(lab.attend(scores, hidden, mask)),
        "one sentence alone": named(lab.attend(scores[2:3], hidden[2:3], mask[2:3])),
    }
