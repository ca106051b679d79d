"""Attention: every word takes a weighted mean of all words' values."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from attnlab.softmax import softmax


def basic_self_attention(
    X: Tensor,  # noqa: N803 - the lectures' letter
    mode: str = "softmax",
    similarity: Tensor | None = None,
) -> Tensor:
    """Move every word towards similar words; there are no parameters, only means.

    Word i becomes Σ_j weight(i, j) · X[j]. Row i of the weights is row i of the similarities,
    normalised over all words j, word i itself included.

    Args:
        X: (..., T, d), one vector for each of T words.
        mode: "softmax": normalise a row of similarities by softmax; "sum": divide it by its sum,
            as lecture N does. In this mode, a row of zeros gives the zero vector; every other row
            has a sum that is not 0, but may be negative.
        similarity: (T, T) or (..., T, T): entry (i, j) says how much word j matters to word i.
            None: the dot products of the words' vectors, X[i] · X[j], unchanged.

    Returns:
        (..., T, d), the moved vectors, in the dtype of `X`. Gradients flow back to `X` and to
        `similarity`, even from a row of zeros without NaN, and both stay unchanged.

    Source: lectures N (basic self-attention), S (encode(i) = Σ_j weight(i, j) value_j).
    """
    if mode not in ("softmax", "sum"):
        raise ValueError(f'mode is "softmax" or "sum", not {mode!r}')
    scores = X @ X.mT if similarity is None else similarity  # (..., T, T)
    if mode == "softmax":
        weights = softmax(scores)  # each row sums to 1
    else:
        total = scores.sum(-1, keepdim=True)  # (..., T, 1)
        weights = scores / total.where(total != 0, 1.0)  # 0 / 1, because 0 / 0 has no gradient
    return weights @ X


def qkv(
    X: Tensor,  # noqa: N803 - the lectures' letter
    W_q: Tensor,  # noqa: N803
    W_k: Tensor,  # noqa: N803
    W_v: Tensor,  # noqa: N803
) -> tuple[Tensor, Tensor, Tensor]:
    """Give every word its query, its key and its value: three matrix products, nothing else.

    A word is a row of X, and it is multiplied by the matrices from the right (lecture W writes XW;
    lecture N writes the same with columns, W x). There is no bias and no scale.

    Args:
        X: (..., T, d_model), one vector for each of T words.
        W_q: (d_model, d_k), the matrix for queries.
        W_k: (d_model, d_k), the matrix for keys.
        W_v: (d_model, d_v), the matrix for values.

    Returns:
        The queries (..., T, d_k), the keys (..., T, d_k) and the values (..., T, d_v), in this
        order and in the dtype of the inputs. Gradients flow back to all four inputs, and the
        inputs stay unchanged.

    Source: lectures N (step 1), W (learnable attention layer), S (query-key model).
    """
    return X @ W_q, X @ W_k, X @ W_v  # (..., T, d_k), (..., T, d_k), (..., T, d_v)


def attention_loop(
    q: Tensor,
    K: Tensor,  # noqa: N803 - the lectures' letter
    V: Tensor,  # noqa: N803
) -> Tensor:
    """The output of one query, computed key by key: Σ_j weight_j · value_j.

    weight_j is entry j of softmax over all keys of (q · K[j]) / √d_k.

    Args:
        q: (d_k,), one query.
        K: (Lk, d_k), the keys.
        V: (Lk, d_v), the values, one for each key.

    Returns:
        (d_v,), the weighted mean of the values, in the dtype of `V`. Scores in the thousands are
        safe; gradients flow back to all three inputs, and the inputs stay unchanged.

    Source: lecture S (encode(i) = Σ_j weight(i, j) × value_j); Attention Is All You Need, 3.2.1.
    """
    scores = torch.stack([(q * key).sum() for key in K]) / math.sqrt(len(q))  # (Lk,)
    out = torch.zeros_like(V[0])  # (d_v,)
    for j, weight in enumerate(softmax(scores)):
        out = out + weight * V[j]
    return out


def scaled_dot_product_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Each query takes the mean of all values, weighted by how well their keys match the query.

    The weights are softmax(q kᵀ / √d_k), one row for each query, one column for each key. A
    forbidden key has no effect: its weight is exactly 0, however large its score or its value
    (finite numbers), and the other weights are the same as without this key. A query that may
    attend to no key gets zeros, in its output and in its weights. (torch's function of this name
    returns the outputs alone, and calls the mask `attn_mask`.)

    Args:
        q: (..., Lq, d_k), queries.
        k: (..., Lk, d_k), keys; Lk may be 0.
        v: (..., Lk, d_v), values. All three have one floating dtype.
        mask: boolean, True where the query may attend to the key; (..., Lq, Lk) or any shape
            that broadcasts to it, such as (Lq, Lk) or (Lk,). None: every query may attend to
            every key.

    Returns:
        The outputs (..., Lq, d_v) and the weights (..., Lq, Lk), both in the dtype of `q`. The
        same inputs give the same result each time. Scores in the millions are safe (as far as the
        dtype holds them: float16 ends at 65,504). Gradients
        flow back to q, k and v and are finite, even if a query may attend to no key; the inputs
        stay unchanged.

    Source: Attention Is All You Need, section 3.2.1; lectures W, G, C.
    """
    # The root comes first: in float16, q kᵀ can overflow although q kᵀ / √d_k does not.
    scores = (q / math.sqrt(q.shape[-1])) @ k.mT  # (..., Lq, Lk)
    if mask is None:
        weights = softmax(scores)
    else:
        empty = ~mask.any(-1, keepdim=True)  # (..., Lq, 1), queries that may attend to no key
        scores = scores.masked_fill(~(mask | empty), -math.inf)  # no row of -inf
        weights = softmax(scores).masked_fill(empty, 0)  # (..., Lq, Lk)
    return weights @ v, weights  # (..., Lq, d_v), (..., Lq, Lk)


def attention_weights(q: Tensor, k: Tensor, mask: Tensor | None = None) -> Tensor:
    """The weights of `scaled_dot_product_attention` alone, for code that changes them before use.

    Args:
        q: (..., Lq, d_k), queries.
        k: (..., Lk, d_k), keys.
        mask: boolean, True where the query may attend to the key; broadcasts to (..., Lq, Lk).

    Returns:
        (..., Lq, Lk), in the dtype of `q`.
    """
    nothing = k[..., :0]  # values without features, whose mean costs nothing
    return scaled_dot_product_attention(q, k, nothing, mask)[1]


def score_variance(d: int, n: int, generator: torch.Generator, scaled: bool = False) -> Tensor:
    """How widely the scores q · k of random queries and keys are spread: their variance.

    Queries and keys consist of independent standard normal numbers.

    Args:
        d: the number of features of a query (and of a key).
        n: the number of pairs of a query and its own key; each pair gives one score.
        generator: the source of all random numbers: equal generators give equal results.
        scaled: whether each score is divided by √d, as attention does.

    Returns:
        The variance of the n scores: a tensor without dimensions, or a Python number. The squares
        may be those of distances from the scores' own mean, or from 0, the mean of all such scores;
        n or n - 1 stands below their sum.

    Source: Attention Is All You Need, section 3.2.1, footnote 4; lectures W, G, C.
    """
    q, k = torch.randn(2, n, d, generator=generator)  # (n, d) each
    scores = (q * k).sum(1)  # (n,)
    if scaled:
        scores = scores / math.sqrt(d)
    return scores.var()


def saturation(
    d: int, num_keys: int, n: int, generator: torch.Generator, scaled: bool = True
) -> Tensor:
    """How much of the attention goes to one key: the largest weight of a query, on average.

    Queries and keys consist of independent standard normal numbers. A query's weights are the
    softmax of its scores with `num_keys` keys. Near 1 the softmax is saturated: one key gets all
    the weight, and the gradients are almost 0.

    Args:
        d: the number of features of a query (and of a key).
        num_keys: the number of keys for each query; each query has its own keys.
        n: the number of queries in the mean.
        generator: the source of all random numbers: equal generators give equal results.
        scaled: whether each score is divided by √d, as attention does.

    Returns:
        The mean over n queries of the largest of their weights: a tensor without dimensions, or a
        Python number.

    Source: Attention Is All You Need, section 3.2.1; lectures W, G, C.
    """
    q = torch.randn(n, 1, d, generator=generator)
    k = torch.randn(n, num_keys, d, generator=generator)
    scores = (q * k).sum(-1)  # (n, num_keys)
    if scaled:
        scores = scores / math.sqrt(d)
    return softmax(scores).amax(1).mean()


def relevance_matrix(
    X: Tensor,  # noqa: N803 - the lectures' letter
    W_q: Tensor,  # noqa: N803
    W_k: Tensor,  # noqa: N803
) -> Tensor:
    """How relevant word j is to word i: query of i · key of j, unchanged.

    These are the scores of attention before the scale and before the softmax. If queries and keys
    have different matrices, "Korea" can matter more to "Korean" than "Korean" matters to "Korea".

    Args:
        X: (..., T, d_model), one vector for each of T words.
        W_q: (d_model, d_k), the matrix for queries, as in `qkv`.
        W_k: (d_model, d_k), the matrix for keys.

    Returns:
        (..., T, T), in the dtype of `X`: entry (i, j) is query i · key j. Not divided by √d_k, no
        softmax. Gradients flow back to all three inputs, and the inputs stay unchanged.

    Source: lecture S (content-based attention weights, query-key model).
    """
    return (X @ W_q) @ (X @ W_k).mT  # (..., T, T)


def count_multiplications(
    Lq: int,  # noqa: N803 - lengths as in the shapes (..., Lq, d_k)
    Lk: int,  # noqa: N803
    d_k: int,
    d_v: int,
) -> int:
    """The number of multiplications of two numbers in attention's two matrix products.

    The products are q kᵀ and weights v, as written in the formula. The projections, the scale, the
    softmax and all additions do not count.

    Args:
        Lq: the number of queries.
        Lk: the number of keys.
        d_k: the number of features of a query.
        d_v: the number of features of a value.

    Returns:
        The number of multiplications, a whole number, exact.

    Source: lectures G (each head takes O(T²d)), S (n² weights for n items).
    """
    return Lq * Lk * d_k + Lq * Lk * d_v


def weights_memory(
    Lq: int,  # noqa: N803 - lengths as in the shapes (..., Lq, d_k)
    Lk: int,  # noqa: N803
    dtype: torch.dtype,
) -> int:
    """The number of bytes of the weights of one attention.

    Args:
        Lq: the number of queries.
        Lk: the number of keys.
        dtype: the dtype of the weights, such as torch.float32.

    Returns:
        The number of bytes of the tensor of all weights, a whole number, exact.

    Source: lecture S (n² weights for n items).
    """
    return Lq * Lk * dtype.itemsize


def fit_exponent(sizes: Tensor, costs: Tensor) -> Tensor:
    """The p for which costs ≈ constant × sizes^p fits best.

    In a picture with logarithmic axes such a law is a straight line, and p is its slope. Best
    means: the line of least squares through all the points (log size, log cost).

    Args:
        sizes: (n,), floating point, numbers above 0, not all equal.
        costs: (n,), floating point, numbers above 0: the cost of each size.

    Returns:
        The slope of that line: a tensor without dimensions, or a Python number. Both inputs stay
        unchanged.
    """
    x, y = sizes.log(), costs.log()  # (n,) each
    x = x - x.mean()
    return x @ y / (x @ x)
