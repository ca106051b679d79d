"""scaled_dot_product_attention: every query takes the mean of the values that it asks for."""

from __future__ import annotations

import math

import torch

from attnlab.attention import attention_loop, qkv, scaled_dot_product_attention
from attnlab.checking.judges import Close
from attnlab.checking.observation import dtype_of
from gradekit.exercise import Exercise

exercise = Exercise(
    scaled_dot_product_attention,
    uses=[qkv, attention_loop],
    forbids=[
        "torch.nn.functional.scaled_dot_product_attention",
        "torch.nn.functional.multi_head_attention_forward",
        "torch._native_multi_head_attention",
    ],
)


def inputs(draw, *sizes):
    """q, k, v with leading axes and lengths (…, Lq, Lk, d_k, d_v).

    d_k is 4 or 16 in all checks, so that a root taken in float32 costs no digits.
    """
    *lead, Lq, Lk, d_k, d_v = sizes
    return draw.normal(*lead, Lq, d_k), draw.normal(*lead, Lk, d_k), draw.normal(*lead, Lk, d_v)


def some_keys(draw, *shape):
    """A mask that lets every query attend to some keys, and to some not."""
    mask = draw.uniform(*shape) < 0.6
    for i in range(shape[-2]):
        mask[..., i, i % shape[-1]] = True
        mask[..., i, (i + 2) % shape[-1]] = False
    return mask


def first(result):
    """The outputs of a pair; what is no pair stays as it is."""
    return result[0] if isinstance(result, (tuple, list)) else result


def second(result):
    return result[1] if isinstance(result, (tuple, list)) else result


@exercise.check(points=3)
def shape_and_dtype(lab, draw):
    """Gives outputs and weights of the right shapes, in the dtype of the queries."""
    q, k, v = inputs(draw, 2, 3, 5, 4, 11)
    results = {
        "rank 2": lab.scaled_dot_product_attention(*inputs(draw, 5, 6, 4, 3)),
        "rank 3": lab.scaled_dot_product_attention(q, k, v),
        "rank 4": lab.scaled_dot_product_attention(*inputs(draw, 2, 3, 5, 6, 4, 7)),
        "rank 3 with a mask": lab.scaled_dot_product_attention(q, k, v, some_keys(draw, 3, 5)),
    }
    seen = {
        f"shapes, {name}": [list(part.shape) for part in result] for name, result in results.items()
    }
    for dtype in (torch.float32, torch.float16):
        result = lab.scaled_dot_product_attention(q.to(dtype), k.to(dtype), v.to(dtype))
        seen[f"dtypes of {str(dtype).removeprefix('torch.')}"] = [dtype_of(out) for out in result]
    return seen


@exercise.check(points=2, judge=Close(atol=1e-6, rtol=1e-6))
def hand_example(lab, draw):
    """Gives the outputs and the weights of the example by hand: one query, three keys."""
    k = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], dtype=torch.float64)
    q = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
    v = torch.tensor([[1.0, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]], dtype=torch.float64)
    return lab.scaled_dot_product_attention(q, k, v)


@exercise.check(points=4)
def values(lab, draw):
    """Is right for one sentence, for a batch, for heads in a batch, in any memory layout."""
    spread = [draw.strided(x) for x in inputs(draw, 2, 3, 5, 4, 11)]
    return {
        "one sentence": lab.scaled_dot_product_attention(*inputs(draw, 5, 6, 4, 3)),
        "more queries than keys": lab.scaled_dot_product_attention(*inputs(draw, 7, 3, 16, 5)),
        "a batch": lab.scaled_dot_product_attention(*inputs(draw, 2, 3, 5, 4, 11)),
        "heads": lab.scaled_dot_product_attention(*inputs(draw, 2, 3, 5, 6, 4, 7)),
        "not contiguous": lab.scaled_dot_product_attention(*spread),
        "q, k and v of one shape": lab.scaled_dot_product_attention(*inputs(draw, 2, 5, 5, 4, 4)),
    }


@exercise.check(points=3)
def masks(lab, draw):
    """Leaves out the keys that a mask forbids: one mask for all, or one for each sentence."""
    q, k, v = inputs(draw, 2, 3, 5, 4, 11)
    everything = torch.ones(3, 5, dtype=torch.bool)
    one_length = inputs(draw, 2, 6, 6, 4, 3)
    back = torch.ones(6, 6, dtype=torch.bool).tril()
    return {
        "one for all": lab.scaled_dot_product_attention(q, k, v, some_keys(draw, 3, 5)),
        "each its own": lab.scaled_dot_product_attention(q, k, v, mask=some_keys(draw, 2, 3, 5)),
        "nothing forbidden": lab.scaled_dot_product_attention(q, k, v, everything),
        "each word looks back": lab.scaled_dot_product_attention(*one_length, back),
    }


@exercise.check(points=2, hidden=True)
def a_mean_of_values(lab, draw):
    """Values that are all 1 give 1, and keys may change places if their values move along."""
    q, k, v = inputs(draw, 2, 3, 5, 4, 11)
    order = draw.permutation(5)
    alone = inputs(draw, 2, 1, 1, 4, 3)
    return {
        "values of 1": lab.scaled_dot_product_attention(q, k, torch.ones_like(v)),
        "as they are": lab.scaled_dot_product_attention(q, k, v),
        "keys and values in another order": lab.scaled_dot_product_attention(
            q, k[:, order], v[:, order]
        ),
        "one query and one key": lab.scaled_dot_product_attention(*alone),
    }


@exercise.check(points=2.5, hidden=True)
def forbidden_keys_have_no_influence(lab, draw):
    """Stays exact with scores in the millions; what stands in a forbidden key does not matter."""
    # Whole numbers and √4: scores are exact, in whatever order they are added up and scaled.
    q, k = draw.integers(-4, 5, 2, 3, 4).double(), draw.integers(-4, 5, 2, 5, 4).double()
    v, mask = draw.normal(2, 5, 11), some_keys(draw, 3, 5)
    mask[:, 1] = False
    mask[:, 3] = True
    loud_k, loud_v = k.clone(), v.clone()
    loud_k[:, 1] = 1e12 * q.sum(1)
    loud_v[:, 1] = 1e6
    low_q, low_k = q.abs() + 1, k.clone()
    low_k[:, [0, 2, 3, 4]] = -1e6
    result = lab.scaled_dot_product_attention(q, loud_k, loud_v, mask)
    return {
        "a loud key is forbidden": result,
        "forbidden weights are exactly 0": bool((second(result)[..., ~mask] == 0).all()),
        "scores in the millions": lab.scaled_dot_product_attention(1e5 * q, k, v, mask),
        "allowed scores are low": lab.scaled_dot_product_attention(low_q, low_k, loud_v, mask),
        "no mask, scores in the millions": lab.scaled_dot_product_attention(1e5 * q, k, v),
    }


@exercise.check(points=2, hidden=True)
def nothing_to_attend_to(lab, draw):
    """Gives zeros, outputs and weights, for a query that may attend to no key."""
    q, k, v = inputs(draw, 2, 3, 5, 4, 11)
    mask = some_keys(draw, 2, 3, 5)
    mask[0, 1] = False
    mask[1, 0] = False
    return {
        "some queries": lab.scaled_dot_product_attention(q, k, v, mask),
        "all queries": lab.scaled_dot_product_attention(q, k, v, torch.zeros_like(mask)),
    }


@exercise.check(points=2, hidden=True)
def gradients(lab, draw):
    """Lets the right gradients flow back, finite ones also for a query without keys."""
    q, k, v = inputs(draw, 2, 3, 5, 4, 11)
    mask = some_keys(draw, 2, 3, 5)
    empty = mask.clone()
    empty[0, 1] = False

    def outputs(given):
        return lambda q, k, v: first(lab.scaled_dot_product_attention(q, k, v, given))

    def weights(q, k):
        return second(lab.scaled_dot_product_attention(q, k, v))

    return {
        "outputs": draw.gradients(outputs(None), q, k, v),
        "outputs with a mask": draw.gradients(outputs(mask), q, k, v),
        "weights": draw.gradients(weights, q, k),
        "outputs with a query without keys": draw.gradients(outputs(empty), q, k, v),
    }


@exercise.check(points=1, hidden=True)
def masks_that_broadcast(lab, draw):
    """Takes masks of any shape that broadcasts to that of the weights."""
    q, k, v = inputs(draw, 2, 3, 5, 6, 4, 7)
    full = some_keys(draw, 2, 3, 5, 6)
    return {
        "(Lk,)": lab.scaled_dot_product_attention(q, k, v, full[0, 0, 0]),
        "(Lq, Lk)": lab.scaled_dot_product_attention(q, k, v, full[0, 0]),
        "(B, 1, 1, Lk)": lab.scaled_dot_product_attention(q, k, v, full[:, :1, :1]),
        "(B, 1, Lq, Lk)": lab.scaled_dot_product_attention(q, k, v, full[:, :1]),
        "(h, Lq, Lk)": lab.scaled_dot_product_attention(q, k, v, full[0]),
        "(B, h, Lq, Lk)": lab.scaled_dot_product_attention(q, k, v, full),
        "(Lq, 1)": lab.scaled_dot_product_attention(q, k, v, full[0, 0, :, :1]),
    }


@exercise.check(points=0.5, hidden=True)
def again_and_inputs(lab, draw):
    """Gives the same again for the same inputs, and leaves inputs and mask as they were."""
    q, k, v = inputs(draw, 2, 3, 5, 4, 11)
    mask = some_keys(draw, 2, 3, 5)
    before, keys_before = mask.clone(), k.clone()
    results = [first(lab.scaled_dot_product_attention(q, k, v, mask)) for _ in range(4)]
    return {
        "the same each time": all(torch.allclose(results[0], again) for again in results),
        "inputs as they were": draw.untouched(),
        "keys as they were": torch.equal(k, keys_before),
        "mask as it was": torch.equal(mask, before),
    }


@exercise.check(points=2, hidden=True, chained=True)
def from_words_to_outputs(lab, draw):
    """Works with your own qkv, from words to outputs, and agrees with your own loop."""
    X, W_q, W_k, W_v = draw.normal(2, 5, 7), *(draw.normal(7, d) for d in (4, 4, 11))
    q, k, v = lab.qkv(X, W_q, W_k, W_v)
    return {
        "all queries at once": lab.scaled_dot_product_attention(q, k, v),
        "no word sees the last": lab.scaled_dot_product_attention(
            q, k, v, torch.arange(5).expand(5, 5) < 4
        ),
        "one query, key after key": lab.attention_loop(q[1, 2], k[1], v[1]),
    }


def masked(scores, mask):
    return scores if mask is None else scores.masked_fill(~mask, torch.finfo(scores.dtype).min)


def finish(scores, v, mask, dim=-1):
    """What a right version does to scores; a part that the wrong versions share."""
    weights = torch.softmax(masked(scores, mask), dim)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0)
    return weights @ v, weights


def scores_of(q, k):
    return q @ k.mT / math.sqrt(q.shape[-1])


@exercise.mistake(
    "The scores are not scaled: with d_k numbers in a key they spread about √d_k wide, and the "
    "softmax turns hard. What stands below the fraction line in the formula?"
)
def no_scale(q, k, v, mask=None):
    return finish(q @ k.mT, v, mask)


@exercise.mistake(
    "The scores are multiplied by the scale instead of divided (`/ d_k ** -0.5` does the same). "
    "On which side of the fraction line does √d_k stand?"
)
def scale_multiplied(q, k, v, mask=None):
    return finish(q @ k.mT * math.sqrt(q.shape[-1]), v, mask)


@exercise.mistake(
    "You divide by d_k itself. A sum of d_k random products spreads how wide: d_k or less?"
)
def divided_by_d(q, k, v, mask=None):
    return finish(q @ k.mT / q.shape[-1], v, mask)


FIXED_SCALE = (
    "Your scale is a fixed number, or the size of the whole model. A score is a sum over the "
    "numbers of one key: how many terms does it have here?"
)


@exercise.mistake(FIXED_SCALE)
def scaled_by_d_model(q, k, v, mask=None):
    return finish(q @ k.mT / math.sqrt(512), v, mask)


@exercise.mistake(FIXED_SCALE)
def scaled_for_keys_of_4_numbers(q, k, v, mask=None):
    return finish(q @ k.mT / 2, v, mask)


@exercise.mistake(
    "Your scale comes from the length of a value. A score is made of a query and a key: whose "
    "length counts?"
)
def scaled_by_d_v(q, k, v, mask=None):
    return finish(q @ k.mT / math.sqrt(v.shape[-1]), v, mask)


@exercise.mistake(
    "Your scale comes from the number of keys. Which axis does q kᵀ sum over, and how long is it?"
)
def scaled_by_number_of_keys(q, k, v, mask=None):
    return finish(q @ k.mT / math.sqrt(k.shape[-2]), v, mask)


@exercise.mistake(
    "Your scale comes from the number of queries. Which axis does q kᵀ sum over, and how long is "
    "it?"
)
def scaled_by_number_of_queries(q, k, v, mask=None):
    return finish(q @ k.mT / math.sqrt(q.shape[-2]), v, mask)


@exercise.mistake(
    "Your scale comes from the first axis of the queries (`len(q)` or `q.size(0)`). Which axis "
    "does q kᵀ sum over?"
)
def scaled_by_first_axis(q, k, v, mask=None):
    return finish(q @ k.mT / math.sqrt(len(q)), v, mask)


@exercise.mistake(
    "The scale comes after the softmax, so your weights do not sum to one. What is to be divided, "
    "scores or weights?"
)
def scaled_after_softmax(q, k, v, mask=None):
    weights = finish(q @ k.mT, v, mask)[1] / math.sqrt(q.shape[-1])
    return weights @ v, weights


@exercise.mistake(
    "Your softmax runs down the columns: for each key, the weights of all queries sum to one. "
    "Which axis of the scores belongs to the keys?"
)
def softmax_over_queries(q, k, v, mask=None):
    return finish(scores_of(q, k), v, mask, dim=-2)


@exercise.mistake(
    "Your softmax counts its axis from the front, so what it runs over changes with the number of "
    "leading axes. How do you name the last axis, whatever the rank?"
)
def softmax_over_axis_1(q, k, v, mask=None):
    return finish(scores_of(q, k), v, mask, dim=1)


@exercise.mistake(
    "Your softmax runs over the first axis: with a batch, sentences share their weights. Which "
    "axis of the scores belongs to the keys?"
)
def softmax_over_axis_0(q, k, v, mask=None):
    return finish(scores_of(q, k), v, mask, dim=0)


@exercise.mistake(
    "One softmax was taken over all the scores together: only all rows at once sum to one. What "
    "shares one unit of weight?"
)
def softmax_over_everything(q, k, v, mask=None):
    scores = masked(scores_of(q, k), mask)
    weights = torch.softmax(scores.flatten(-2), -1).view(scores.shape)
    weights = weights if mask is None else weights.masked_fill(~mask, 0)
    return weights @ v, weights


@exercise.mistake(
    "The two sides of your product do not fit (or the keys are not transposed). Write the shapes "
    "of q and of k side by side: which two axes must meet so that each query meets each key?"
)
def keys_not_transposed(q, k, v, mask=None):
    return finish(q @ k / math.sqrt(q.shape[-1]), v, mask)


@exercise.mistake(
    "`.T` (or `transpose(0, 1)`) changes the right two axes only where there are just two. With a "
    "batch in front, which two axes of k are to change places?"
)
def first_axes_transposed(q, k, v, mask=None):
    reversed_axes = k.permute(*range(k.ndim)[::-1])
    return finish(q @ reversed_axes / math.sqrt(q.shape[-1]), v, mask)


@exercise.mistake(
    "Your code counts axes from the front (`transpose(1, 2)`), so it knows one rank only. How do "
    "you name the last two axes of one sentence, of a batch and of heads alike?"
)
def axes_of_a_batch(q, k, v, mask=None):
    return finish(q @ k.transpose(1, 2) / math.sqrt(q.shape[-1]), v, mask)


NAMED_AXES = (
    "Your code names the axes of a batch (`bqd,bkd->bqk`), so one sentence alone or heads in a "
    "batch do not fit. What stands in an einsum for any leading axes?"
)


@exercise.mistake(NAMED_AXES)
def einsum_of_a_batch(q, k, v, mask=None):
    return finish(torch.einsum("bqd,bkd->bqk", q, k) / math.sqrt(q.shape[-1]), v, mask)


@exercise.mistake(
    "Your code is made for heads in a batch alone: four axes (`bhqd,bhkd->bhqk`, "
    "`B, h, L, d = q.shape`). What of one sentence, which has two, and a batch, which has three?"
)
def einsum_of_heads(q, k, v, mask=None):
    return finish(torch.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(q.shape[-1]), v, mask)


@exercise.mistake(
    "Forbidden keys are taken out after the softmax: they have had their share of the row's unit "
    "by then, and the others sum to less than one. At which step can a key be left out of it?"
)
def mask_after_softmax(q, k, v, mask=None):
    weights = torch.softmax(scores_of(q, k), -1)
    weights = weights if mask is None else weights * mask
    return weights @ v, weights


@exercise.mistake(
    "You take the keys out after the softmax and divide once more. Where a forbidden score towers "
    "over the rest, the others are rounded to 0 before you get to them. What if they were left "
    "out before?"
)
def mask_after_softmax_renormalised(q, k, v, mask=None):
    weights = torch.softmax(scores_of(q, k), -1)
    if mask is not None:
        total = (weights * mask).sum(-1, keepdim=True)
        weights = weights * mask / torch.where(total == 0, 1.0, total)
    return weights @ v, weights


@exercise.mistake(
    "You fill with -inf where the mask is True, and True says: may attend. What is left are the "
    "forbidden keys. Which sign turns a boolean mask round?"
)
def allowed_filled_with_infinity(q, k, v, mask=None):
    scores = scores_of(q, k)
    weights = torch.softmax(scores if mask is None else scores.masked_fill(mask, -math.inf), -1)
    return weights @ v, weights


@exercise.mistake(
    "Your mask is turned round: queries attend to just those keys that they may not. What does "
    "True mean in the task, and at which entries does `masked_fill` write?"
)
def mask_inverted(q, k, v, mask=None):
    return finish(scores_of(q, k), v, None if mask is None else ~mask)


@exercise.mistake(
    "A forbidden score becomes 0. exp(0) is 1: a score of 0 is an ordinary score, higher than "
    "every negative one. Which score has no share at all?"
)
def fill_with_0(q, k, v, mask=None):
    scores = scores_of(q, k)
    weights = torch.softmax(scores if mask is None else scores.masked_fill(~mask, 0), -1)
    return weights @ v, weights


@exercise.mistake(
    "A forbidden score becomes a low number, but not low enough: some weight is left on it. How "
    "low must a score be to be lower than all others, whatever they are?"
)
def fill_with_minus_10(q, k, v, mask=None):
    scores = scores_of(q, k)
    weights = torch.softmax(scores if mask is None else scores.masked_fill(~mask, -10), -1)
    if mask is not None:
        weights = weights * mask.any(-1, keepdim=True)
    return weights @ v, weights


NOT_LOW_ENOUGH = (
    "A forbidden score becomes a low number, which looks right until the allowed scores are lower "
    "still. Which number is below every other of the dtype?"
)


@exercise.mistake(NOT_LOW_ENOUGH)
def fill_with_minus_10000(q, k, v, mask=None):
    scores = scores_of(q, k)
    weights = torch.softmax(scores if mask is None else scores.masked_fill(~mask, -1e4), -1)
    if mask is not None:
        weights = weights * mask.any(-1, keepdim=True)
    return weights @ v, weights


@exercise.mistake(NOT_LOW_ENOUGH)
def fill_with_minus_a_million(q, k, v, mask=None):
    scores = scores_of(q, k)
    weights = torch.softmax(scores if mask is None else scores.masked_fill(~mask, -1e6), -1)
    if mask is not None:
        weights = weights * mask.any(-1, keepdim=True)
    return weights @ v, weights


@exercise.mistake(
    "The mask is added to the scores as it is: True counts 1, False 0. Those tables of 0 and -inf "
    "that are added are another kind of mask; what must be done with a boolean one?"
)
def mask_added(q, k, v, mask=None):
    scores = scores_of(q, k)
    return finish(scores if mask is None else scores + mask, v, None)


@exercise.mistake(
    "You subtract a large number from forbidden scores. A score far above the others keeps its "
    "lead, and a row without any allowed key keeps its weights. What replaces a score, whatever "
    "it was?"
)
def large_number_subtracted(q, k, v, mask=None):
    scores = scores_of(q, k)
    return finish(scores if mask is None else scores - 1e5 * ~mask, v, None)


@exercise.mistake(
    "-inf times 0 is NaN, so every key that is allowed turns the row into NaN. Which function "
    "picks between two values instead of multiplying?"
)
def infinity_times_0(q, k, v, mask=None):
    scores = scores_of(q, k)
    return finish(scores if mask is None else scores + (~mask).double() * -torch.inf, v, None)


@exercise.mistake(
    "A row in which all scores are -inf has no softmax: 0/0 is NaN. What was a query that may "
    "attend to no key to get?"
)
def nan_without_keys(q, k, v, mask=None):
    scores = scores_of(q, k)
    weights = torch.softmax(scores if mask is None else scores.masked_fill(~mask, -torch.inf), -1)
    return weights @ v, weights


@exercise.mistake(
    "A query that may attend to no key attends to all of them alike: when every score is equally "
    "low, softmax shares evenly. What was such a query to get?"
)
def uniform_without_keys(q, k, v, mask=None):
    weights = torch.softmax(masked(scores_of(q, k), mask), -1)
    return weights @ v, weights


@exercise.mistake(
    "The outputs of a query without keys are zeros, but its weights are not. In which order do "
    "you mend the weights and use them?"
)
def outputs_mended_alone(q, k, v, mask=None):
    weights = torch.softmax(masked(scores_of(q, k), mask), -1)
    out = weights @ v
    return out if mask is None else out * mask.any(-1, keepdim=True), weights


@exercise.mistake(
    "`nan_to_num` mends the result of a query without keys, but not its gradient: on the way back "
    "0 times NaN is NaN, and it reaches all the keys. Can the NaN be avoided before the softmax?"
)
def nan_gradients(q, k, v, mask=None):
    scores = scores_of(q, k)
    if mask is not None:
        scores = scores + torch.zeros(mask.shape, dtype=q.dtype).masked_fill(~mask, -torch.inf)
    weights = torch.nan_to_num(torch.softmax(scores, -1))
    return weights @ v, weights


@exercise.mistake(
    "Your softmax by hand does not subtract the largest score of a row, so large scores overflow. "
    "What did lab 1's softmax do first?"
)
def softmax_without_maximum(q, k, v, mask=None):
    exp = scores_of(q, k).exp()
    exp = exp if mask is None else exp * mask
    total = exp.sum(-1, keepdim=True)
    weights = exp / torch.where(total == 0, 1.0, total)
    return weights @ v, weights


@exercise.mistake(
    "A small number in the denominator makes the weights of every row sum to a little less than "
    "one. Which rows need help, and can they have it without the others paying?"
)
def epsilon_in_denominator(q, k, v, mask=None):
    scores = masked(scores_of(q, k), mask)
    exp = (scores - scores.amax(-1, keepdim=True)).exp()
    exp = exp if mask is None else exp * mask
    weights = exp / (exp.sum(-1, keepdim=True) + 1e-6)
    return weights @ v, weights


@exercise.mistake(
    "Your sum over values runs as far as there are queries. For each query it runs over the keys: "
    "how many are those?"
)
def values_up_to_query_length(q, k, v, mask=None):
    _, weights = finish(scores_of(q, k), v, mask)
    length = min(q.shape[-2], k.shape[-2])
    return weights[..., :length] @ v[..., :length, :], weights


@exercise.mistake(
    "You mix the keys: your outputs are as long as a key. A key says whether to look, a value "
    "what there is to see. Which of them do the weights multiply?"
)
def keys_mixed(q, k, v, mask=None):
    return finish(scores_of(q, k), k, mask)


SAME_SHAPE = (
    "Where q, k and v have one shape, you take one of them for another. Does a shape say what a "
    "tensor is for?"
)


@exercise.mistake(SAME_SHAPE)
def queries_as_keys_of_one_shape(q, k, v, mask=None):
    return finish(scores_of(q, q if q.shape == k.shape else k), v, mask)


@exercise.mistake(SAME_SHAPE)
def keys_as_values_of_one_shape(q, k, v, mask=None):
    return finish(scores_of(q, k), k if k.shape == v.shape else v, mask)


@exercise.mistake(SAME_SHAPE)
def values_as_keys_of_one_shape(q, k, v, mask=None):
    return finish(scores_of(q, v if k.shape == v.shape else k), v, mask)


@exercise.mistake(
    "Your outputs have the queries added to them where the shapes allow it (a residual connection; "
    "that is a later lab). What does the formula end with?"
)
def queries_added(q, k, v, mask=None):
    out, weights = finish(scores_of(q, k), v, mask)
    return (out + q if out.shape == q.shape else out), weights


@exercise.mistake(
    "You return the scores where the weights were asked for: their rows do not sum to one. Which "
    "variable holds what came out of the softmax?"
)
def scores_returned(q, k, v, mask=None):
    scores = scores_of(q, k)
    return finish(scores, v, mask)[0], scores


@exercise.mistake(
    "Weights and outputs come back in each other's place. Which comes first in the task?"
)
def weights_first(q, k, v, mask=None):
    return finish(scores_of(q, k), v, mask)[::-1]


@exercise.mistake("One tensor came back. The task asks for two things: the outputs, and what else?")
def outputs_alone(q, k, v, mask=None):
    return finish(scores_of(q, k), v, mask)[0]


DROPOUT = (
    "Dropout is on by default: the same inputs give another result each time, and zeros among the "
    "weights. Is there dropout in the formula? (It is a matter of training; later labs.)"
)


@exercise.mistake(DROPOUT)
def dropout_by_default(q, k, v, mask=None):
    _, weights = finish(scores_of(q, k), v, mask)
    weights = torch.nn.functional.dropout(weights, 0.5)
    return weights @ v, weights


@exercise.mistake(DROPOUT)
def a_tenth_dropped(q, k, v, mask=None):
    _, weights = finish(scores_of(q, k), v, mask)
    weights = torch.nn.functional.dropout(weights, 0.1)
    return weights @ v, weights


@exercise.mistake(DROPOUT)
def a_tenth_dropped_from_the_outputs(q, k, v, mask=None):
    _, weights = finish(scores_of(q, k), v, mask)
    return torch.nn.functional.dropout(weights, 0.1) @ v, weights


@exercise.mistake(
    "Your queries never look at later keys, though nobody forbade it: a causal mask is built in. "
    "Where does the mask come from in this task?"
)
def always_causal(q, k, v, mask=None):
    causal = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril()
    return finish(scores_of(q, k), v, causal if mask is None else causal & mask)


@exercise.mistake(
    "Where there are as many queries as keys, nobody looks ahead, though nobody forbade it: a "
    "causal mask is built in. Where does the mask come from in this task?"
)
def causal_where_square(q, k, v, mask=None):
    if mask is None and q.shape[-2] == k.shape[-2]:
        mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril()
    return finish(scores_of(q, k), v, mask)


@exercise.mistake(
    "A mask with as many rows as columns is used on its side: words look ahead instead of back. "
    "Rows are queries, columns are keys; what turns the mask over?"
)
def square_mask_transposed(q, k, v, mask=None):
    if mask is not None and mask.ndim > 1 and mask.shape[-1] == mask.shape[-2]:
        mask = mask.mT
    return finish(scores_of(q, k), v, mask)


FIRST_OF_THE_MASK = (
    "Part of the mask is used for all: its first row, or the mask of the first sentence. Which "
    "axis of it did you index?"
)


@exercise.mistake(FIRST_OF_THE_MASK)
def first_row_of_the_mask(q, k, v, mask=None):
    if mask is not None and mask.ndim > 1:
        mask = mask[..., :1, :]
    return finish(scores_of(q, k), v, mask)


@exercise.mistake(FIRST_OF_THE_MASK)
def first_sentence_of_the_mask(q, k, v, mask=None):
    if mask is not None and mask.ndim > 2:
        mask = mask[:1]
    return finish(scores_of(q, k), v, mask)


@exercise.mistake(
    "The mask is not used: forbidden keys have weights like all others. At which step does it come "
    "in?"
)
def mask_ignored(q, k, v, mask=None):
    return finish(scores_of(q, k), v, None)


ANOTHER_AXIS = (
    "Your mask gets one axis more than it came with (`unsqueeze`), for heads that need not be "
    "there. Which shapes of mask broadcast to the scores by themselves?"
)


@exercise.mistake(ANOTHER_AXIS)
def mask_unsqueezed(q, k, v, mask=None):
    return finish(scores_of(q, k), v, None if mask is None else mask.unsqueeze(1))


@exercise.mistake(ANOTHER_AXIS)
def mask_unsqueezed_for_heads(q, k, v, mask=None):
    if mask is not None and mask.ndim == 3 and q.ndim == 4:
        mask = mask.unsqueeze(1)
    return finish(scores_of(q, k), v, mask)


@exercise.mistake(
    "You write into the scores by index (`scores[~mask] = …`). An index does not broadcast: the "
    "mask would need every axis of the scores, at full length. Which call lets it have fewer?"
)
def mask_as_index(q, k, v, mask=None):
    scores = scores_of(q, k)
    if mask is None:
        return finish(scores, v, None)
    scores[~mask] = -1e300
    weights = torch.softmax(scores, -1) * mask
    return weights @ v, weights


@exercise.mistake(
    "The result has only the precision of float32, also when float64 came in, or comes back in "
    "another dtype. Where does your code fix the dtype?"
)
def always_float32(q, k, v, mask=None):
    return finish(scores_of(q.float(), k.float()), v.float(), mask)


@exercise.mistake(
    "No gradient gets back to queries and keys (or none at all): a `.detach()`, `.data`, "
    "`no_grad` or a trip through numpy cuts torch's graph. Do the weights depend on q?"
)
def weights_detached(q, k, v, mask=None):
    weights = finish(scores_of(q, k), v, mask)[1].detach()
    return weights @ v, weights


@exercise.mistake(
    "Your code writes into the queries that it was given (`/=`, `mul_`), and the caller's are "
    "gone. What makes a new tensor?"
)
def queries_changed(q, k, v, mask=None):
    q /= math.sqrt(q.shape[-1])
    return finish(q @ k.mT, v, mask)


@exercise.mistake(
    "Your code writes into the keys that it was given (`/=`, `mul_`), and the caller's are gone. "
    "What makes a new tensor?"
)
def keys_changed(q, k, v, mask=None):
    k /= math.sqrt(k.shape[-1])
    return finish(q @ k.mT, v, mask)


@exercise.mistake(
    "Your code writes into the mask that it was given (`logical_not_`, `~` with `out=`): the next "
    "call gets it turned round. What makes a new tensor?"
)
def mask_changed(q, k, v, mask=None):
    scores = scores_of(q, k)
    if mask is None:
        return finish(scores, v, None)
    blocked = mask.logical_not_()
    weights = torch.softmax(scores.masked_fill(blocked, -1e300), -1).masked_fill(blocked, 0)
    return weights @ v, weights


@exercise.also_right
def by_einsum(q, k, v, mask=None):
    d_k = q.size(-1)
    scores = torch.einsum("...qd,...kd->...qk", q * d_k**-0.5, k)
    if mask is not None:
        scores = torch.where(mask, scores, torch.full_like(scores, -1e30))
    weights = torch.nn.functional.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights * mask
    return torch.einsum("...qk,...kv->...qv", weights, v), weights


@exercise.also_right
def query_by_query(q, k, v, mask=None):
    """Recurses over leading axes, loops over queries, and looks only at the keys allowed."""
    if mask is not None:
        mask = mask.expand(*q.shape[:-1], k.shape[-2])
    if q.ndim > 2:
        pairs = [
            query_by_query(q[b], k[b], v[b], None if mask is None else mask[b])
            for b in range(q.shape[0])
        ]
        return torch.stack([out for out, _ in pairs]), torch.stack([w for _, w in pairs])
    outs, rows = [], []
    for i, query in enumerate(q):
        allowed = torch.arange(len(k)) if mask is None else mask[i].nonzero()[:, 0]
        shares = torch.softmax((k[allowed] * query).sum(-1) / query.numel() ** 0.5, 0)
        rows.append(query.new_zeros(len(k)).index_put((allowed,), shares))
        outs.append((shares[:, None] * v[allowed]).sum(0))
    return torch.stack(outs), torch.stack(rows)


@exercise.also_right
def additive_bias(q, k, v, mask=None):
    """A table of 0 and -inf is added, as torch's documentation does; empty rows stay open."""
    Lq, Lk = q.size(-2), k.size(-2)
    bias, seeing = torch.zeros(Lq, Lk, dtype=q.dtype), torch.ones((), dtype=torch.bool)
    if mask is not None:
        seeing = mask.any(dim=-1, keepdim=True)
        bias = torch.zeros(mask.shape, dtype=q.dtype)
        bias = bias.masked_fill((mask | ~seeing).logical_not(), float("-inf"))
    weights = torch.softmax(q @ k.transpose(-2, -1) * (1 / math.sqrt(q.size(-1))) + bias, dim=-1)
    weights = torch.where(seeing, weights, 0.0)
    return weights @ v, weights


@exercise.also_right
def nan_to_num_after_masked_fill(q, k, v, mask=None):
    """Safe: on its way back through masked_fill the NaN of an empty row is replaced by 0."""
    att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
    if mask is not None:
        att = att.masked_fill(mask == 0, float("-inf"))
    att = torch.nan_to_num(torch.nn.functional.softmax(att, dim=-1))
    return att @ v, att


@exercise.also_right
def minus_a_billion(q, k, v, mask=None):
    """The root of d_k is a tensor of float32: right to seven digits at least."""
    d_k = torch.tensor(q.size(-1))
    scores = torch.matmul(q, k.transpose(-2, -1)) / torch.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == False, -1e9)  # noqa: E712 - as it is often written
    p_attn = scores.softmax(dim=-1)
    if mask is not None:
        p_attn = p_attn.masked_fill(mask == False, 0.0)  # noqa: E712
    return torch.matmul(p_attn, v), p_attn


@exercise.also_right
def by_batched_products(q, k, v, mask=None):
    """bmm on flattened leading axes, log-sum-exp instead of a softmax."""
    lead, Lq, Lk = q.shape[:-2], q.shape[-2], k.shape[-2]
    q3, k3, v3 = (x.reshape(-1, *x.shape[-2:]) for x in (q, k, v))
    nothing = torch.zeros(1, 1, 1, dtype=q.dtype)
    scores = torch.baddbmm(nothing, q3, k3.transpose(1, 2), beta=0, alpha=q.shape[-1] ** -0.5)
    if mask is None:
        weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
    else:
        mask3 = mask.expand(*lead, Lq, Lk).reshape(-1, Lq, Lk)
        low = scores.masked_fill(~mask3, torch.finfo(q.dtype).min / 2)
        weights = (low - low.logsumexp(-1, keepdim=True)).exp() * mask3
    return torch.bmm(weights, v3).reshape(*lead, Lq, -1), weights.reshape(*lead, Lq, Lk)


@exercise.also_right
def by_hand(q, k, v, mask=None):
    """No softmax of torch's: products by broadcasting, the maximum taken over allowed keys."""
    scores = (q[..., :, None, :] * k[..., None, :, :]).sum(-1) / q.shape[-1] ** 0.5
    if mask is None:
        mask = torch.ones((), dtype=torch.bool)
    top = scores.masked_fill(~mask, -torch.inf).amax(-1, keepdim=True).detach()
    top = top.masked_fill(top == -torch.inf, 0.0)
    exp = (scores - top).masked_fill(~mask, -torch.inf).exp()
    total = exp.sum(-1, keepdim=True)
    weights = exp / total.masked_fill(total == 0, 1.0)
    return (weights[..., None] * v[..., None, :, :]).sum(-2), weights


@exercise.also_right
def in_double_precision(q, k, v, mask=None):
    """Computes in float64 and casts back, a list instead of a tuple."""
    scores = (q.double() @ k.double().mT).div(q.shape[-1] ** 0.5)
    if mask is not None:
        blocked = mask.logical_not()
        scores = scores.masked_fill(blocked, torch.finfo(scores.dtype).min)
        weights = scores.softmax(-1).masked_fill(blocked, 0.0)
    else:
        weights = scores.softmax(-1)
    return [(weights @ v.double()).to(q.dtype), weights.to(q.dtype)]
