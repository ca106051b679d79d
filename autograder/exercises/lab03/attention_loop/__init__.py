"""attention_loop: what one query gets, one key after another."""

from __future__ import annotations

import math

import torch

from attnlab.attention import attention_loop
from attnlab.checking.judges import Close
from attnlab.checking.observation import dtype_of
from gradekit.exercise import Exercise

exercise = Exercise(
    attention_loop,
    forbids=[
        "torch.nn.functional.scaled_dot_product_attention",
        "torch.nn.functional.multi_head_attention_forward",
    ],
)

# d_k is 4 or 16 in all checks but the example, so a root taken in float32 costs no digits.


@exercise.check(points=1.5)
def shape_and_dtype(lab, draw):
    """Returns one vector, as long as a value, in the dtype of the values."""
    q, K, V = draw.normal(4), draw.normal(5, 4), draw.normal(5, 11)
    return {
        "shape": list(lab.attention_loop(q, K, V).shape),
        "dtype of float32": dtype_of(lab.attention_loop(q.float(), K.float(), V.float())),
        "dtype of float64": dtype_of(lab.attention_loop(q, K, V)),
        "dtype of bfloat16": dtype_of(lab.attention_loop(q.bfloat16(), K.bfloat16(), V.bfloat16())),
    }


def dtype_that_holds(weights):
    """The dtype of 16 bits that holds these numbers, unless they are simple fractions; or float64.

    Weights that were computed in 16 bits fit into them, even if they became float64 afterwards.
    """
    if isinstance(weights, torch.Tensor) and not torch.equal((32 * weights).round(), 32 * weights):
        for dtype in (torch.bfloat16, torch.float16):
            if torch.equal(weights.to(dtype).to(weights.dtype), weights):
                return dtype_of(weights.to(dtype))
    return "float64"


@exercise.check(points=1.5, judge=Close(atol=1e-6, rtol=1e-6))
def hand_example(lab, draw):
    """Returns the weights of the example worked out by hand (its values are unit vectors)."""
    K = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], dtype=torch.float64)
    q = torch.tensor([2.0, -1.0], dtype=torch.float64)
    weights = lab.attention_loop(q, K, torch.eye(3, dtype=torch.float64))
    return {"the dtype that holds your weights": dtype_that_holds(weights), "weights": weights}


def first_value_alone(lab, q, K, V):
    """Whether only the first value comes back; if so, whether the last key was looked at."""
    result = lab.attention_loop(q, K, V)
    is_vector = isinstance(result, torch.Tensor) and result.shape == V[0].shape
    if not is_vector or not torch.allclose(result.to(V.dtype), V[0]):
        return "no"
    without_a_last_key = K.clone()
    without_a_last_key[-1] = math.nan
    looked_at = lab.attention_loop(q, without_a_last_key, V).isnan().any()
    return "yes, after all keys" if looked_at else "yes, before the last key"


@exercise.check(points=2)
def values(lab, draw):
    """Is right for queries, keys and values of any sizes."""
    q, K, V = draw.normal(4), draw.normal(5, 4), draw.normal(5, 11)
    better_and_better = K[(K @ q).argsort()]
    seen = {
        f"{keys} keys of {d_k} numbers, values of {d_v}": lab.attention_loop(
            draw.normal(d_k), draw.strided(draw.normal(keys, d_k)), draw.normal(keys, d_v)
        )
        for keys, d_k, d_v in ((5, 4, 11), (6, 16, 2), (1, 4, 3))
    }
    seen["each key fits better than the one before"] = lab.attention_loop(q, better_and_better, V)
    seen["the first value alone"] = first_value_alone(lab, q, K, V)
    return seen


@exercise.check(points=0.5)
def of_one_length(lab, draw):
    """Is right if query, keys and values have one length."""
    return lab.attention_loop(draw.normal(4), draw.normal(5, 4), draw.normal(5, 4))


def on_copies(lab, q, K, V):
    """The result for copies: a version that writes into its inputs fails `inputs_kept` alone."""
    return lab.attention_loop(q.clone(), K.clone(), V.clone())


@exercise.check(points=0.5)
def way_back(lab, draw):
    """Gradients reach query, keys and values."""
    given = draw.normal(4), draw.normal(5, 4), draw.normal(5, 11)
    found = draw.gradients(lambda *leaves: on_copies(lab, *leaves), *given)
    if not isinstance(found, list):
        return found
    return {f"gradient of {name}": grad for name, grad in zip("qKV", found, strict=True)}


@exercise.check(points=0.5)
def inputs_kept(lab, draw):
    """Leaves query, keys and values unchanged."""
    given = {"query": draw.normal(4), "keys": draw.normal(5, 4), "values": draw.normal(5, 11)}
    before = {name: x.clone() for name, x in given.items()}
    lab.attention_loop(*given.values())
    return {f"{name} unchanged": torch.equal(x, before[name]) for name, x in given.items()}


@exercise.check(points=0.5, hidden=True, judge=Close(atol=1e-6, rtol=1e-6))
def other_sizes(lab, draw):
    """Is right for one key, queries and values of one number, and for sizes that are equal."""

    def ask(Lk, d_k, d_v):
        return lab.attention_loop(draw.normal(d_k), draw.normal(Lk, d_k), draw.normal(Lk, d_v))

    return draw.each_size(ask, Lk=5, d_k=4, d_v=11)


@exercise.check(points=1.5, hidden=True)
def a_mean_of_values(lab, draw):
    """Returns a mean: equal values come back, and the order of the keys does not matter."""
    q, K, V, order = draw.normal(4), draw.normal(5, 4), draw.normal(5, 11), draw.permutation(5)
    K = K[(K @ q).argsort()]  # the last key fits best
    light, heavy = K.clone(), V.clone()
    light[0], heavy[0] = -40 * q / (q @ q), 1e9  # a weight of about 1e-9, and values to match
    return {
        "a key of little weight with enormous values": on_copies(lab, q, light, heavy),
        "equal values": on_copies(lab, q, K, V[:1].expand(5, 11).contiguous()),
        "keys and values in another order": on_copies(lab, q, K[order], V[order]),
        "equal keys": on_copies(lab, q, K[:1].expand(5, 4).contiguous(), V),
        "a query of zeros": lab.attention_loop(torch.zeros_like(q), K, V),
    }


@exercise.check(points=1)
def large_scores(lab, draw):
    """Is exact when the scores are in the thousands, above or below 0."""
    q, K, V = draw.uniform(4, low=1.0, high=2.0), draw.uniform(5, 4), draw.normal(5, 11)
    return {
        "high": lab.attention_loop(1e4 * q, K, V),
        "low": lab.attention_loop(-1e4 * q, K, V),
        "apart": lab.attention_loop(1e2 * draw.normal(4), 1e2 * draw.normal(5, 4), V),
    }


@exercise.check(points=0.5, hidden=True)
def gradients(lab, draw):
    """Lets the right gradients flow back, even if scores are far apart."""
    q, K, V = 10 * draw.normal(4), draw.normal(6, 4), draw.normal(6, 3)
    return {"gradients": draw.gradients(lambda *leaves: on_copies(lab, *leaves), q, K, V)}
