"""qkv: a query, a key and a value for every word."""

from __future__ import annotations

import torch

from attnlab.attention import qkv
from attnlab.checking.observation import dtype_of
from gradekit.exercise import Exercise

exercise = Exercise(
    qkv,
    forbids=[
        "torch.nn.functional.scaled_dot_product_attention",
        "torch.nn.functional.multi_head_attention_forward",
    ],
)


def matrices(draw, d_model=7, d_k=4, d_v=11):
    """Three matrices, none of them square."""
    return draw.normal(d_model, d_k), draw.normal(d_model, d_k), draw.normal(d_model, d_v)


@exercise.check(points=1.5)
def shape_and_dtype(lab, draw):
    """Gives three tensors of the right shapes, in the dtype that they were made from."""
    X, weights = draw.normal(2, 5, 7), matrices(draw)
    q, k, v = lab.qkv(X, *weights)
    return {
        "shape of q": list(q.shape),
        "shape of k": list(k.shape),
        "shape of v": list(v.shape),
        "dtypes of float32": [
            dtype_of(out) for out in lab.qkv(X.float(), *(W.float() for W in weights))
        ],
    }


@exercise.check(points=2)
def one_sentence(lab, draw):
    """Gives the right queries, keys and values for one sentence."""
    q, k, v = lab.qkv(draw.normal(5, 7), *matrices(draw))
    return {"q": q, "k": k, "v": v}


@exercise.check(points=1.5)
def a_batch(lab, draw):
    """Gives the right queries, keys and values for a batch of two sentences."""
    q, k, v = lab.qkv(draw.strided(draw.normal(2, 5, 7)), *matrices(draw))
    return {"q": q, "k": k, "v": v}


@exercise.check(points=2, hidden=True)
def other_sizes(lab, draw):
    """Is right for other sizes, one word, two batch axes, and for matrices that are views."""
    X, tall, wide = draw.normal(2, 3, 4, 5), matrices(draw, 5, 2, 6), matrices(draw, 5, 8, 3)
    views = [draw.strided(W) for W in matrices(draw, 5, 8, 6)]
    square = matrices(draw, 5, 5, 5)
    seen = {
        name: list(lab.qkv(X, *weights))
        for name, weights in (("tall", tall), ("wide", wide), ("views", views), ("square", square))
    }
    return {**seen, "one word, a batch of one": list(lab.qkv(draw.normal(1, 1, 5), *tall))}


@exercise.check(points=1.5, hidden=True)
def nothing_is_added(lab, draw):
    """A word of zeros has zeros for query, key and value; a doubled word has them doubled."""
    X, weights = draw.normal(2, 5, 7), matrices(draw)
    padded = X * torch.tensor([1.0, 0.0, 2.0, 0.0, 1.0], dtype=torch.float64)[:, None]
    return list(lab.qkv(padded, *weights))


@exercise.check(points=1.5, hidden=True)
def gradients_and_inputs(lab, draw):
    """Lets gradients flow back to the words and to all three matrices; all stay as they were."""
    X, weights = draw.normal(2, 5, 7), matrices(draw)
    lab.qkv(X, *weights)
    return {
        "q": draw.gradients(lambda *args: next(iter(lab.qkv(*args))), X, *weights)[:2],
        "k": draw.gradients(lambda *args: [*lab.qkv(*args)][1], X, *weights)[::2],
        "v": draw.gradients(lambda *args: [*lab.qkv(*args)][2], X, *weights)[::3],
        "inputs as they were": draw.untouched(),
    }


@exercise.mistake(
    "Your product cannot be made of what it is given. A word is a row of X, d_model numbers long: "
    "on which side of it does a matrix of shape (d_model, d_k) fit, and is it to be transposed? "
    "Does your way to multiply take a batch, and float64? (A square matrix would hide the first; "
    "`nn.Linear` keeps its matrix the other way round.)"
)
def transposed(X, W_q, W_k, W_v):
    return X @ W_q.T, X @ W_k.T, X @ W_v.T


@exercise.mistake(
    "Your keys are your queries: both come from the same matrix. Which matrix makes the keys, and "
    "what would the scores be symmetric in if the two were one?"
)
def keys_from_w_q(X, W_q, W_k, W_v):
    return X @ W_q, X @ W_q, X @ W_v


@exercise.mistake(
    "Your queries are made with the matrix of the keys. Does each of the three products use a "
    "matrix of its own?"
)
def queries_from_w_k(X, W_q, W_k, W_v):
    return X @ W_k, X @ W_k, X @ W_v


@exercise.mistake(
    "Your values come from the matrix of the keys: look at their last axis. How many numbers does "
    "a value have?"
)
def values_from_w_k(X, W_q, W_k, W_v):
    return X @ W_q, X @ W_k, X @ W_k


@exercise.mistake(
    "All three come from one and the same matrix. What would a word then ask for, other than what "
    "it offers?"
)
def one_matrix(X, W_q, W_k, W_v):
    return X @ W_q, X @ W_q, X @ W_q


@exercise.mistake(
    "Your values are the words themselves, not projected. What is the third matrix for?"
)
def values_not_projected(X, W_q, W_k, W_v):
    return X @ W_q, X @ W_k, X


@exercise.mistake(
    "Queries and keys have changed places, in the products or in what you return. Their shapes "
    "are the same, so nothing complains: which order does the task name?"
)
def queries_and_keys_swapped(X, W_q, W_k, W_v):
    return X @ W_k, X @ W_q, X @ W_v


@exercise.mistake(
    "Keys and values come back in each other's place. Which order does the task name, and what "
    "does the caller unpack?"
)
def keys_and_values_swapped(X, W_q, W_k, W_v):
    return X @ W_q, X @ W_v, X @ W_k


@exercise.mistake(
    "A bias is added: a word of zeros no longer gives zeros. `nn.Linear` brings one along unless "
    "told otherwise. Is there one in the task?"
)
def bias_of_a_layer(X, W_q, W_k, W_v):
    def project(W):
        layer = torch.nn.Linear(*W.shape)
        return X @ W + layer.bias.to(X.dtype)

    return project(W_q), project(W_k), project(W_v)


@exercise.mistake(
    "A constant 1 is added to the words before the products, or to the results. Where does it "
    "come from? A word of zeros should give zeros."
)
def ones_added(X, W_q, W_k, W_v):
    return X @ W_q + 1, X @ W_k + 1, X @ W_v + 1


@exercise.mistake(
    "Your layers have random matrices of their own, and those that you were given are not used. "
    "How do three products with the given matrices look?"
)
def matrices_of_its_own(X, W_q, W_k, W_v):
    q, k, v = (torch.nn.Linear(*W.shape, bias=False) for W in (W_q, W_k, W_v))
    return q.to(X.dtype)(X), k.to(X.dtype)(X), v.to(X.dtype)(X)


@exercise.mistake(
    "Your queries are already scaled. The scale belongs to the scores, two steps further on: if "
    "it is in both places it counts twice."
)
def scaled_already(X, W_q, W_k, W_v):
    return X @ W_q / W_q.shape[-1] ** 0.5, X @ W_k, X @ W_v


@exercise.mistake(
    "The sentences of a batch ran together: your results have lost the batch axis. `@` works on "
    "the last two axes; does X need to be reshaped at all?"
)
def batch_flattened(X, W_q, W_k, W_v):
    rows = X.reshape(-1, X.shape[-1])
    return rows @ W_q, rows @ W_k, rows @ W_v


@exercise.mistake(
    "Batch and words have changed places. What does each axis of X mean, and which of them does a "
    "product with a matrix change?"
)
def batch_and_words_swapped(X, W_q, W_k, W_v):
    X = X.transpose(0, -2)
    return X @ W_q, X @ W_k, X @ W_v


ONE_RANK = (
    "Your code counts on a certain number of axes in front of the words (`mm`, `bmm`, "
    "`B, T, d = X.shape`, `btd,dk->btk`), so a sentence alone, a batch, or a batch of batches does "
    "not fit. Which product works on the last axis, whatever stands before it?"
)


@exercise.mistake(ONE_RANK)
def einsum_of_a_batch(X, W_q, W_k, W_v):
    return tuple(torch.einsum("btd,dk->btk", X, W) for W in (W_q, W_k, W_v))


@exercise.mistake(ONE_RANK)
def axes_of_a_batch(X, W_q, W_k, W_v):
    batch, time, _ = X.shape
    rows = X.reshape(batch * time, -1)
    return tuple((rows @ W).reshape(batch, time, -1) for W in (W_q, W_k, W_v))


@exercise.mistake(ONE_RANK)
def product_of_two_tables(X, W_q, W_k, W_v):
    return X.mm(W_q), X.mm(W_k), X.mm(W_v)


@exercise.mistake(
    "An axis of length 1 is gone: `squeeze()` drops every one that it finds, also a batch of one "
    "sentence or a sentence of one word. What is there to be squeezed?"
)
def squeezed(X, W_q, W_k, W_v):
    return (X @ W_q).squeeze(), (X @ W_k).squeeze(), (X @ W_v).squeeze()


@exercise.mistake(
    "You turn a matrix over where it happens to be square. Can its shape say which way round it "
    "is meant?"
)
def square_ones_transposed(X, W_q, W_k, W_v):
    return tuple(X @ (W.T if W.shape[0] == W.shape[1] else W) for W in (W_q, W_k, W_v))


@exercise.mistake(
    "The result is float64 whatever came in (`.double()`, numpy or a `dtype=` does that). From "
    "where can it take its dtype?"
)
def always_float64(X, W_q, W_k, W_v):
    return tuple(X.double() @ W.double() for W in (W_q, W_k, W_v))


@exercise.mistake(
    "The sentences of the batch come back in another order. Which line moves the first axis?"
)
def batch_reversed(X, W_q, W_k, W_v):
    X = X.flip(0) if X.ndim > 2 else X
    return X @ W_q, X @ W_k, X @ W_v


@exercise.mistake(
    "One tensor came back where three were asked for. How do you give back queries, keys and "
    "values so that the caller can write `q, k, v = qkv(…)`?"
)
def in_one_tensor(X, W_q, W_k, W_v):
    return X @ torch.cat([W_q, W_k, W_v], dim=-1)


@exercise.mistake(
    "Something is done to the results after the products (a softmax, a normalisation). The task "
    "asks for the products as they are; the softmax comes later, over scores."
)
def softmax_on_top(X, W_q, W_k, W_v):
    return torch.softmax(X @ W_q, -1), torch.softmax(X @ W_k, -1), X @ W_v


@exercise.mistake(
    "The numbers are right, but no gradient gets back: with `.data`, `.detach()`, `no_grad`, numpy "
    "or a fresh `nn.Parameter` the matrices could never be learned. Which line cuts the graph?"
)
def detached(X, W_q, W_k, W_v):
    return (X @ W_q).detach(), (X @ W_k).detach(), (X @ W_v).detach()


@exercise.mistake(
    "Gradients reach the words but not the matrices: copying a matrix into a layer's `.data` (or "
    "into a new `nn.Parameter`) makes another tensor of it. Which call uses the given one itself?"
)
def matrices_copied(X, W_q, W_k, W_v):
    return X @ W_q.detach(), X @ W_k.detach(), X @ W_v.detach()


@exercise.mistake(
    "Your results have only the precision of float32, also when float64 came in. Where does your "
    "code fix the dtype?"
)
def always_float32(X, W_q, W_k, W_v):
    X = X.float()
    return X @ W_q.float(), X @ W_k.float(), X @ W_v.float()


@exercise.mistake(
    "Your code writes into the words that it was given. What does the same and makes a new tensor?"
)
def words_changed(X, W_q, W_k, W_v):
    results = X @ W_q, X @ W_k, X @ W_v
    X.zero_()
    return results


@exercise.also_right
def one_after_the_other(X, W_q, W_k, W_v):
    return (torch.tensordot(X, W, dims=1) for W in (W_q, W_k, W_v))


@exercise.also_right
def by_einsum(X, W_q, W_k, W_v):
    q = torch.einsum("...td,dk->...tk", X, W_q)
    k = torch.einsum("...td,dk->...tk", X, W_k)
    v = torch.einsum("...td,dv->...tv", X, W_v)
    return q, k, v


@exercise.also_right
def by_linear(X, W_q, W_k, W_v):
    return [torch.nn.functional.linear(X, W.T) for W in (W_q, W_k, W_v)]


@exercise.also_right
def one_fused_product(X, W_q, W_k, W_v):
    sizes = [W_q.size(1), W_k.size(1), W_v.size(1)]
    return torch.matmul(X, torch.cat((W_q, W_k, W_v), dim=1)).split(sizes, dim=-1)


@exercise.also_right
def word_by_word(X, W_q, W_k, W_v):
    def project(W):
        columns = [(X * W[:, j]).sum(-1) for j in range(W.shape[1])]
        return torch.stack(columns, dim=-1)

    return project(W_q), project(W_k), project(W_v)


@exercise.also_right
def columns_as_in_lecture_n(X, W_q, W_k, W_v):
    q, k, v = ((W.t() @ X.transpose(-1, -2)).transpose(-1, -2) for W in (W_q, W_k, W_v))
    return q, k, v
