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
    """Returns three tensors of the right shapes, in the dtype of the inputs."""
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
    """Returns the right queries, keys and values for one sentence."""
    q, k, v = lab.qkv(draw.normal(5, 7), *matrices(draw))
    return {"q": q, "k": k, "v": v}


@exercise.check(points=1.5)
def a_batch(lab, draw):
    """Returns the right queries, keys and values for a batch of two sentences."""
    q, k, v = lab.qkv(draw.strided(draw.normal(2, 5, 7)), *matrices(draw))
    return {"q": q, "k": k, "v": v}


@exercise.check(points=2, hidden=True)
def other_sizes(lab, draw):
    """Is right for any sizes (one word, square matrices), any batch axes and memory layout."""

    def ask(batch, T, d_model, d_k, d_v):
        return list(lab.qkv(draw.normal(*batch, T, d_model), *matrices(draw, d_model, d_k, d_v)))

    views = [draw.strided(W) for W in matrices(draw, 5, 8, 6)]
    return {
        "views": list(lab.qkv(draw.strided(draw.normal(2, 4, 5)), *views)),
        "sizes": draw.each_size(ask, batch=(2,), T=5, d_model=7, d_k=4, d_v=11),
    }


@exercise.check(points=1.5, hidden=True)
def nothing_is_added(lab, draw):
    """A word of zeros has zeros as query, key and value; doubling a word doubles all three."""
    X, weights = draw.normal(2, 5, 7), matrices(draw)
    padded = X * torch.tensor([1.0, 0.0, 2.0, 0.0, 1.0], dtype=torch.float64)[:, None]
    return list(lab.qkv(padded, *weights))


@exercise.check(points=1.5, hidden=True)
def gradients_and_inputs(lab, draw):
    """Lets gradients flow back to the words and all three matrices, and leaves them unchanged."""
    X, weights = draw.normal(2, 5, 7), matrices(draw)
    lab.qkv(X, *weights)
    return {
        "q": draw.gradients(lambda *args: next(iter(lab.qkv(*args))), X, *weights)[:2],
        "k": draw.gradients(lambda *args: [*lab.qkv(*args)][1], X, *weights)[::2],
        "v": draw.gradients(lambda *args: [*lab.qkv(*args)][2], X, *weights)[::3],
        "inputs unchanged": draw.untouched(),
    }


exercise.promises(
    {
        "Give every word its query, its key and its value": "one_sentence a_batch other_sizes",
        "A word is a row of X, and it is multiplied by the matrices from the right": "one_sentence",
        "There is no bias and no scale.": "nothing_is_added one_sentence",
        "(..., T, d_model), one vector for each of T words": "a_batch other_sizes",
        "W_q: (d_model, d_k), the matrix for queries.": "one_sentence other_sizes",
        "W_k: (d_model, d_k), the matrix for keys.": "one_sentence other_sizes",
        "W_v: (d_model, d_v), the matrix for values.": "one_sentence other_sizes",
        "The queries (..., T, d_k), the keys (..., T, d_k) and the values (..., T, d_v), in this "
        "order": "shape_and_dtype one_sentence",
        "in the dtype of the inputs": "shape_and_dtype",
        "Gradients flow back to all four inputs, and the inputs stay unchanged.": (
            "gradients_and_inputs"
        ),
    }
)


@exercise.also_right
def three_products(X, W_q, W_k, W_v):
    q = X @ W_q  # (..., T, d_k)
    k = X @ W_k  # (..., T, d_k)
    v = X @ W_v  # (..., T, d_v)
    return q, k, v


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


wrong = exercise.edits(three_products)

FIRST, RETURN = "q = X", "return q, k, v"

WRONG_SIDE = (
    "Your product does not fit its inputs. A word is a row of X, d_model numbers long: on which "
    "side of it does a matrix of shape (d_model, d_k) fit, and should it be transposed? Does your "
    "way to multiply accept a batch, and float64? (A square matrix would hide the first; "
    "`nn.Linear` stores its matrix transposed.)"
)
wrong.several(
    "transposed",
    {"W_q  #": "W_q.T  #", "W_k  #": "W_k.T  #", "W_v  #": "W_v.T  #"},
    WRONG_SIDE,
)
wrong.several(
    "from_the_left",
    {"X @ W_q": "W_q @ X", "X @ W_k": "W_k @ X", "X @ W_v": "W_v @ X"},
    WRONG_SIDE,
)
wrong(
    "keys_from_w_q",
    "@ W_k",
    "@ W_q",
    "Your keys are your queries: both are computed with the same matrix. Which matrix makes the "
    "keys, and what would the scores be symmetric in if the two were one?",
)
wrong(
    "queries_from_w_k",
    "@ W_q",
    "@ W_k",
    "Your queries are computed with the matrix of the keys. Does each of the three products use "
    "its own matrix?",
)
wrong(
    "values_from_w_k",
    "@ W_v",
    "@ W_k",
    "Your values are computed with the matrix of the keys: look at their last axis. How many "
    "numbers does a value have?",
)
wrong.several(
    "one_matrix",
    {"@ W_k": "@ W_q", "@ W_v": "@ W_q"},
    "You compute all three with the same matrix. Could a word then ask for anything other than "
    "what it offers?",
)
wrong(
    "values_not_projected",
    "X @ W_v",
    "X",
    "Your values are the words themselves, not projected. What is the third matrix for?",
)
wrong(
    "words_made_equally_long",
    FIRST,
    "X = X / X.norm(dim=-1, keepdim=True)\n    q = X",
    "You make all words equally long before you project them. Do the three products of the task "
    "change the words first?",
)
wrong(
    "queries_and_keys_swapped",
    RETURN,
    "return k, q, v",
    "Queries and keys are swapped, in the products or in what you return. Their shapes are the "
    "same, so there is no error: which order does the task name?",
)
wrong(
    "keys_and_values_swapped",
    RETURN,
    "return q, v, k",
    "You return values and keys in the wrong order. Which order does the task name, and what does "
    "the caller unpack?",
)
wrong(
    "bias_of_a_layer",
    RETURN,
    "return tuple(x + torch.nn.Linear(1, x.shape[-1]).bias.to(x.dtype) for x in (q, k, v))",
    "You add a bias: a word of zeros no longer gives zeros. `nn.Linear` has one by default. Is "
    "there one in the task?",
)
wrong(
    "ones_added",
    RETURN,
    "return q + 1, k + 1, v + 1",
    "You add a constant 1 to the words before the products, or to the results. A word of zeros "
    "should give zeros: where does the 1 come from?",
)
wrong(
    "scaled_already",
    "@ W_q",
    "@ W_q / W_q.shape[-1] ** 0.5",
    "Your queries are already scaled. The scale belongs to the scores, two steps later: how often "
    "does it count if it is in both places?",
)
wrong(
    "batch_flattened",
    FIRST,
    f"X = X.reshape(-1, X.shape[-1])\n    {FIRST}",
    "The sentences of a batch are joined: your results have lost the batch axis. `@` works on the "
    "last two axes; does X need to be reshaped at all?",
)
wrong(
    "batch_and_words_swapped",
    FIRST,
    f"X = X.transpose(0, -2)\n    {FIRST}",
    "Batch and words are swapped. What does each axis of X mean, and which of them does a product "
    "with a matrix change?",
)
wrong(
    "squeezed",
    RETURN,
    "return q.squeeze(), k.squeeze(), v.squeeze()",
    "An axis of length 1 is missing: `squeeze()` drops every such axis, even a batch of one "
    "sentence or a sentence of one word. Why do you need to squeeze?",
)
wrong(
    "always_float64",
    FIRST,
    "X, W_q, W_k, W_v = (x.double() for x in (X, W_q, W_k, W_v))\n    q = X",
    "The result is float64 for inputs of any dtype (`.double()`, numpy or a `dtype=` does that). "
    "Which tensor can it take its dtype from?",
)
wrong(
    "always_float32",
    FIRST,
    "X, W_q, W_k, W_v = (x.float() for x in (X, W_q, W_k, W_v))\n    q = X",
    "Your results have only the precision of float32, even for float64 inputs. Where does your "
    "code fix the dtype?",
)
wrong(
    "batch_reversed",
    FIRST,
    f"X = X.flip(0) if X.ndim > 2 else X\n    {FIRST}",
    "You return the sentences of the batch in another order. Which line changes the first axis?",
)
wrong(
    "in_one_tensor",
    RETURN,
    "return torch.cat([q, k, v], dim=-1)",
    "You return one tensor instead of three. How do you return queries, keys and values so that "
    "the caller can write `q, k, v = qkv(…)`?",
)
wrong(
    "words_in_columns",
    RETURN,
    "return q.mT, k.mT, v.mT",
    "Each of your results has a column for every word, as in lecture N. Where are the words of X, "
    "and which axis of a result should count them?",
)
wrong(
    "in_three_equal_parts",
    RETURN,
    "return torch.cat([q, k, v], dim=-1).chunk(3, dim=-1)",
    "You cut one long row into three equal parts. Are queries, keys and values always equally "
    "long?",
)
wrong(
    "softmax_on_top",
    RETURN,
    "return torch.softmax(q, -1), torch.softmax(k, -1), v",
    "You change the results after the products (a softmax, a normalisation). The task asks for the "
    "products alone. In which later step is the softmax, and what does it run over?",
)
wrong(
    "detached",
    RETURN,
    "return q.detach(), k.detach(), v.detach()",
    "The numbers are right, but no gradient gets back: with `.data`, `.detach()`, `no_grad`, numpy "
    "or a new `nn.Parameter` the matrices could never be learned. Which line cuts the graph?",
)
wrong(
    "matrices_copied",
    FIRST,
    "W_q, W_k, W_v = (W.detach() for W in (W_q, W_k, W_v))\n    q = X",
    "Gradients reach the words but not the matrices: copying a matrix into a layer's `.data` (or "
    "into a new `nn.Parameter`) makes another tensor of it. Which call uses the given one itself?",
)
wrong(
    "words_detached",
    FIRST,
    "X = X.detach()\n    q = X",
    "Gradients reach the matrices but not the words: X is cut out of torch's graph before the "
    "products. Which call does that, and does a product change X at all?",
)
wrong(
    "words_changed",
    RETURN,
    f"X.zero_()\n    {RETURN}",
    "Your code writes into the words that it was given. Which call makes a new tensor instead?",
)

ONE_RANK = (
    "Your code needs a certain number of axes in front of the words (`mm`, `bmm`, "
    "`B, T, d = X.shape`, `btd,dk->btk`), so one sentence, a batch, or a batch of batches does not "
    "fit. Which product works on the last axis, whatever comes before it?"
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
    "Your layers have their own random matrices and do not use the given ones. What do three "
    "products with the given matrices look like?"
)
def matrices_of_its_own(X, W_q, W_k, W_v):
    q, k, v = (torch.nn.Linear(*W.shape, bias=False) for W in (W_q, W_k, W_v))
    return q.to(X.dtype)(X), k.to(X.dtype)(X), v.to(X.dtype)(X)


@exercise.mistake(
    "You transpose a matrix if it happens to be square. Does its shape say which axis of it is "
    "d_model?"
)
def square_ones_transposed(X, W_q, W_k, W_v):
    return tuple(X @ (W.T if W.shape[0] == W.shape[1] else W) for W in (W_q, W_k, W_v))
