"""scaled_dot_product_attention: each query takes the mean of the values that it asks for."""

from __future__ import annotations

import torch

from attnlab.attention import attention_loop, qkv, scaled_dot_product_attention
from attnlab.checking.judges import Close
from attnlab.checking.observation import count_of, dtype_of
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

    d_k is 4 or 16 in all checks, so a root taken in float32 costs no digits.
    """
    *lead, Lq, Lk, d_k, d_v = sizes
    return draw.normal(*lead, Lq, d_k), draw.normal(*lead, Lk, d_k), draw.normal(*lead, Lk, d_v)


def some_keys(draw, *shape):
    """A mask in which every query may attend to some keys and not to others."""
    mask = draw.uniform(*shape) < 0.6
    for i in range(shape[-2]):
        mask[..., i, i % shape[-1]] = True
        mask[..., i, (i + 2) % shape[-1]] = False
    return mask


def attend(lab, q, k, v, *mask):
    """The result for copies: a version that writes into its inputs fails one check alone."""
    return lab.scaled_dot_product_attention(*(x.clone() for x in (q, k, v, *mask)))


def first(result):
    """The outputs of a pair; anything else is returned unchanged."""
    return result[0] if isinstance(result, (tuple, list)) else result


def second(result):
    """The weights of a pair; anything else is returned unchanged."""
    return result[1] if isinstance(result, (tuple, list)) else result


def named(result):
    """The two parts of a pair by their names; the weights are "missing" if it is not a pair."""
    pair = isinstance(result, (tuple, list)) and len(result) == 2
    outputs, weights = result if pair else (result, "missing")
    return {"outputs": outputs, "weights": weights}


@exercise.check(points=1.5)
def shape_and_dtype(lab, draw):
    """Returns outputs and weights of the right shapes, in the dtype of the queries."""
    Lk = draw.integers(5, 11).item()
    q, k, v = inputs(draw, 2, 3, Lk, 4, 11)
    results = {
        "rank 2": lab.scaled_dot_product_attention(*inputs(draw, 5, 6, 4, 9)),
        "rank 3": lab.scaled_dot_product_attention(q, k, v),
        "rank 4": lab.scaled_dot_product_attention(*inputs(draw, 2, 3, 5, 6, 4, 7)),
        "rank 3 with a mask": lab.scaled_dot_product_attention(q, k, v, some_keys(draw, 3, Lk)),
    }
    seen = {"result": count_of(results["rank 3"])}
    for name, result in results.items():
        seen[f"shapes, {name}"] = [list(part.shape) for part in result]
    for name in ("float32", "float16"):
        dtype = getattr(torch, name)
        result = lab.scaled_dot_product_attention(q.to(dtype), k.to(dtype), v.to(dtype))
        seen[f"dtypes of {name}"] = [dtype_of(out) for out in result]
    return seen


@exercise.check(points=0.5)
def masked_half(lab, draw):
    """A mask works in float16, too, whose numbers end at 65,504."""
    given = [x.half() for x in inputs(draw, 2, 3, 5, 4, 7)]
    mask = some_keys(draw, 2, 3, 5)
    result = attend(lab, *given, mask)
    # Scores of 60,000 and -20,000: less 65,504, the first is still above the others.
    q, k, v = (torch.tensor([x]).half().mT for x in ([200.0], [-100.0, 300, -100], [1.0, 1, 1]))
    far = attend(lab, q, k, v, torch.tensor([True, False, True]))
    return {
        "dtypes": [dtype_of(part) for part in result],
        "forbidden weights are exactly 0": bool((second(result)[~mask] == 0).all()),
        "a forbidden score of 60,000 beside two of -20,000": second(far),
    }


@exercise.check(points=1.5, judge=Close(atol=1e-6, rtol=1e-6))
def hand_example(lab, draw):
    """Returns the outputs and weights of the example worked out by hand: one query, three keys."""
    k = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], dtype=torch.float64)
    q = torch.tensor([[2.0, -1.0]], dtype=torch.float64)
    v = torch.tensor([[1.0, 2, 3, 4], [8, 7, 6, 5], [9, 11, 10, 12]], dtype=torch.float64)
    return named(lab.scaled_dot_product_attention(q, k, v))


@exercise.check(points=3.5)
def values(lab, draw):
    """Is right for one sentence, for a batch, for heads in a batch, in any memory layout."""
    spread = [draw.strided(x) for x in inputs(draw, 2, 3, 5, 4, 11)]
    given = {
        "one sentence": inputs(draw, 5, 6, 4, 3),
        "more queries than keys": inputs(draw, 7, 3, 16, 5),
        "a batch": inputs(draw, 2, 3, 5, 4, 11),
        "heads": inputs(draw, 2, 3, 5, 6, 4, 7),
        "not contiguous": spread,
        "q, k and v of one shape": inputs(draw, 2, 5, 5, 4, 4),
    }
    return {name: named(lab.scaled_dot_product_attention(*qkv)) for name, qkv in given.items()}


@exercise.check(points=2)
def masks(lab, draw):
    """Leaves out the keys that a mask forbids: one mask for all, or one for each sentence."""
    q, k, v = inputs(draw, 2, 3, 5, 4, 11)
    everything = torch.ones(3, 5, dtype=torch.bool)
    one_length = inputs(draw, 2, 6, 6, 4, 3)
    back = torch.ones(6, 6, dtype=torch.bool).tril()
    some = some_keys(draw, 3, 5)
    result = attend(lab, q, k, v, some)
    forbidden = second(result)[..., ~some]
    own = lab.scaled_dot_product_attention(
        *map(torch.clone, (q, k, v)), mask=some_keys(draw, 2, 3, 5)
    )
    return {
        "one for all": named(result),
        "forbidden weights are exactly 0": bool((forbidden == 0).all()),
        "each its own": named(own),
        "nothing forbidden": named(attend(lab, q, k, v, everything)),
        "each word looks back": named(attend(lab, *one_length, back)),
    }


@exercise.check(points=0.5)
def inputs_kept(lab, draw):
    """Leaves queries, keys, values and mask unchanged."""
    q, k, v = inputs(draw, 2, 3, 5, 4, 11)
    mask = some_keys(draw, 2, 3, 5)
    mask[..., 1], mask[..., 3] = False, True  # nobody needs the numbers of key 1
    some_empty = mask.clone()
    some_empty[0, 1] = False
    given = {"queries": q, "keys": k, "values": v, "mask": mask}
    given["mask with a row without keys"] = some_empty
    before = {name: x.clone() for name, x in given.items()}
    lab.scaled_dot_product_attention(q, k, v, mask)
    lab.scaled_dot_product_attention(q.clone(), k.clone(), v.clone(), some_empty)
    return {f"{name} unchanged": torch.equal(x, before[name]) for name, x in given.items()}


@exercise.check(points=1)
def a_forbidden_key_fits_best(lab, draw):
    """Leaves out a forbidden key even if it fits far better than the allowed ones."""
    q, k, v = inputs(draw, 2, 3, 5, 4, 11)
    mask = some_keys(draw, 3, 5)
    mask[:, 1] = False
    mask[:, 3] = True
    q = q.abs() + 1
    high, low = k.clone(), k.clone()
    high[:, 1] = 2000
    low[:, [0, 2, 3, 4]] = -1e6
    lower, higher, allowed = k.clone(), k.clone(), k.clone()
    lower[:, [0, 2, 3, 4]] = -500
    higher[:, 1] = 0.5
    allowed[:, [0, 2, 3, 4]] += 2000
    return {
        "a forbidden key fits very well": named(attend(lab, q, high, v, mask)),
        "all allowed keys fit very badly": named(attend(lab, q, low, v, mask)),
        "all allowed keys fit badly": named(attend(lab, q, lower, v, mask)),
        # Distinguishes exponentials that overflow from forbidden keys that drop out too late.
        "a forbidden key fits well": named(attend(lab, q, higher, v, mask)),
        "all allowed keys fit very well": named(attend(lab, q, allowed, v, mask)),
    }


@exercise.check(points=3)
def nothing_to_attend_to(lab, draw):
    """Returns zeros for a query that may attend to no key; no gradient is NaN."""
    q, k, v = inputs(draw, 2, 3, 5, 4, 11)
    mask = some_keys(draw, 2, 3, 5)
    mask[0, 1] = False
    mask[1, 0] = False

    def outputs(q, k, v):
        return first(attend(lab, q, k, v, mask))

    none = torch.zeros_like(mask)
    grads = draw.gradients(outputs, q, k, v)
    if isinstance(grads, list):
        grads = dict(zip(("queries", "keys", "values"), grads, strict=True))
    return {
        "some queries": named(attend(lab, q, k, v, mask)),
        "all queries": named(attend(lab, q, k, v, none)),
        "gradients": grads,
    }


@exercise.check(points=1.5, hidden=True)
def a_mean_of_values(lab, draw):
    """Values that are all 1 give 1; keys may be reordered if their values are, too."""
    q, k, v = inputs(draw, 2, 3, 5, 4, 11)
    order = draw.permutation(5)
    alone = inputs(draw, 2, 1, 1, 4, 3)
    shares = second(attend(lab, q, k, v, some_keys(draw, 3, 5))).sum(-1)
    return {
        "weights sum to 1 within 1e-12": bool(((shares - 1).abs() < 1e-12).all()),
        "values of 1": attend(lab, q, k, torch.ones_like(v)),
        "in their order": attend(lab, q, k, v),
        "keys and values in another order": attend(lab, q, k[:, order], v[:, order]),
        "one query and one key": attend(lab, *alone),
    }


@exercise.check(points=1.5, hidden=True)
def forbidden_keys_have_no_influence(lab, draw):
    """Is exact with scores in the millions; the numbers in a forbidden key do not matter."""
    # Whole numbers and √4: scores are exact, in whichever order they are added and scaled.
    q, k = draw.integers(-4, 5, 2, 3, 4).double(), draw.integers(-4, 5, 2, 5, 4).double()
    v, mask = draw.normal(2, 5, 11), some_keys(draw, 3, 5)
    mask[:, 1] = False
    mask[:, 3] = True
    loud_k, loud_v = k.clone(), v.clone()
    loud_k[:, 1] = 1e12 * q.sum(1)
    loud_v[:, 1] = 1e6
    low_q, low_k = q.abs() + 1, k.clone()
    low_k[:, [0, 2, 3, 4]] = -1e6
    higher_k = k.clone()
    higher_k[:, 1] = 100 * q.sum(1)
    result = attend(lab, q, loud_k, loud_v, mask)
    return {
        "a loud key is forbidden": result,
        "forbidden weights are exactly 0": bool((second(result)[..., ~mask] == 0).all()),
        "scores in the millions": attend(lab, 1e5 * q, k, v, mask),
        "allowed scores are low": attend(lab, low_q, low_k, loud_v, mask),
        "no mask, scores in the millions": attend(lab, 1e5 * q, k, v),
        # Distinguishes what is only added to a forbidden score from a key that drops out too late.
        "a forbidden score is higher": attend(lab, q, higher_k, v, mask),
    }


@exercise.check(points=2, hidden=True)
def gradients(lab, draw):
    """Lets the right gradients flow back to queries, keys and values."""
    q, k, v = inputs(draw, 2, 3, 5, 4, 11)
    mask = some_keys(draw, 2, 3, 5)

    def outputs(given):
        return lambda q, k, v: first(
            attend(lab, q, k, v) if given is None else attend(lab, q, k, v, given)
        )

    def weights(q, k):
        return second(attend(lab, q, k, v))

    return {
        "outputs": draw.gradients(outputs(None), q, k, v),
        "outputs with a mask": draw.gradients(outputs(mask), q, k, v),
        "weights": draw.gradients(weights, q, k),
    }


@exercise.check(points=1.5, hidden=True, judge=Close(atol=1e-6, rtol=1e-6))
def other_sizes(lab, draw):
    """Is right for one query, one key, one feature, equal sizes, and any number of batch axes."""

    def ask(batch, Lq, Lk, d_k, d_v):
        q, k, v = inputs(draw, *batch, Lq, Lk, d_k, d_v)
        # The first key is always allowed, the last one only if it is the first.
        row = (torch.arange(Lk) == 0) | (draw.uniform(Lk) < 0.5) & (torch.arange(Lk) < Lk - 1)
        return {
            "without a mask": attend(lab, q, k, v),
            "a mask (Lk,)": attend(lab, q, k, v, row),
        }

    return draw.each_size(ask, batch=(2, 6), Lq=3, Lk=5, d_k=4, d_v=7)


@exercise.check(points=0.5, hidden=True)
def no_keys_at_all(lab, draw):
    """With no keys (Lk = 0, or none allowed), every query gets zeros, in torch's graph."""
    out, weights = attend(lab, *inputs(draw, 2, 3, 0, 4, 5))
    no_key = torch.zeros(3, 0, dtype=torch.bool)
    none = torch.zeros(2, 3, 5, dtype=torch.bool)

    def outputs(q, k, v):
        return first(attend(lab, q, k, v, none))

    return {
        "outputs": out,
        "shape of weights": list(weights.shape),
        "outputs, with a mask": first(attend(lab, *inputs(draw, 2, 3, 0, 4, 5), no_key)),
        "gradients, none allowed": draw.gradients(outputs, *inputs(draw, 2, 3, 5, 4, 11)),
    }


@exercise.check(points=1, hidden=True)
def masks_that_broadcast(lab, draw):
    """Accepts masks of any shape that broadcasts to the shape of the weights."""
    q, k, v = inputs(draw, 2, 3, 5, 6, 4, 7)
    full = some_keys(draw, 2, 3, 5, 6)
    square = inputs(draw, 2, 5, 5, 4, 3)
    return {
        "(Lk,), as many queries as keys": attend(
            lab, *square, torch.tensor([True, False, True, True, False])
        ),
        "(Lk,)": attend(lab, q, k, v, full[0, 0, 0]),
        "(Lq, Lk)": attend(lab, q, k, v, full[0, 0]),
        "(B, 1, 1, Lk)": attend(lab, q, k, v, full[:, :1, :1]),
        "(B, 1, Lq, Lk)": attend(lab, q, k, v, full[:, :1]),
        "(h, Lq, Lk)": attend(lab, q, k, v, full[0]),
        "(B, h, Lq, Lk)": attend(lab, q, k, v, full),
        "(Lq, 1)": attend(lab, q, k, v, full[0, 0, :, :1]),
    }


@exercise.check(points=0.5, hidden=True)
def again(lab, draw):
    """Returns the same result for the same inputs."""
    q, k, v = inputs(draw, 2, 3, 5, 4, 11)
    mask = some_keys(draw, 2, 3, 5)
    results = [first(attend(lab, q, k, v, mask)) for _ in range(4)]
    return {
        "shape": list(results[0].shape),
        "the same each time": all(torch.allclose(results[0], again) for again in results),
    }


@exercise.check(points=2, hidden=True, chained=True)
def from_words_to_outputs(lab, draw):
    """Works with your own qkv (3.1), from words to outputs; not run if your qkv is wrong."""
    X, *matrices = draw.normal(2, 5, 7), *(draw.normal(7, d) for d in (4, 4, 11))
    made = list(lab.qkv(X, *matrices))  # a generator is right, too, and can be read only once
    own = "your own qkv (3.1) is right"
    seen = {own: are_products(made, X, matrices), "all": None, "no word sees the last": None}
    if seen[own]:
        last = torch.arange(5).expand(5, 5) < 4
        seen["all"] = lab.scaled_dot_product_attention(*made)
        seen["no word sees the last"] = lab.scaled_dot_product_attention(*made, last)
    return seen


def are_products(made, X, matrices):
    """Whether these are the three products of the words and the matrices."""
    right = [X @ W for W in matrices]
    return len(made) == 3 and all(
        isinstance(a, torch.Tensor) and a.shape == b.shape and torch.allclose(a, b)
        for a, b in zip(made, right, strict=True)
    )
