"""Wrong versions of the projections that students write."""

import torch

from . import exercise
from .also_right import three_products

wrong = exercise.edits(three_products)

FIRST, RETURN = "q = X", "return q, k, v"

WRONG_SIDE = (
    "Your product does not fit its inputs. A word is a row of X, d_model numbers long: on which "
    "side of it does a matrix of shape (d_model, d_k) fit, and should one of the two be transposed "
    "(`.T`, `.mT`)? Does your way to multiply accept a batch, and float64? (A square matrix would "
    "hide the first; `nn.Linear` stores its matrix transposed.)"
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
    "Your keys are your queries: both are computed with the same matrix. Then word j matters to "
    "word i exactly as much as i to j. Which matrix makes the keys?",
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
REVERSED = "X.permute(*range(X.ndim)[::-1])"
for name, product in (
    ("words_transposed", "X.mT @ {0}"),
    ("words_reversed", f"{REVERSED} @ {{0}}"),
    ("both_transposed", "X.mT @ {0}.mT"),
    ("words_reversed_and_matrices_transposed", f"{REVERSED} @ {{0}}.mT"),
    ("transposed_from_the_left", "{0}.mT @ X"),
    ("multiplied_number_by_number", "X * {0}"),
    ("product_of_two_batches", "torch.bmm(X, {0})"),
):
    wrong.several(
        name,
        {f"X @ {W}": product.format(W) for W in ("W_q", "W_k", "W_v")},
        WRONG_SIDE,
    )
MEAN, DEVIATION = "X.mean(-1, keepdim=True)", "X.std(-1, keepdim=True)"
ROOT_MEAN_SQUARE = "X.pow(2).mean(-1, keepdim=True).sqrt()"
CHANGED_WORDS = {
    "words_made_equally_long": "X / X.norm(dim=-1, keepdim=True)",
    "words_after_a_layer_norm": "torch.nn.functional.layer_norm(X, X.shape[-1:])",
    "words_standardised": f"(X - {MEAN}) / {DEVIATION}",
    "words_standardised_with_an_epsilon": f"(X - {MEAN}) / ({DEVIATION} + 1e-5)",
    "words_centred": f"X - {MEAN}",
    "words_after_an_rms_norm": f"X / {ROOT_MEAN_SQUARE}",
}
for name, words in CHANGED_WORDS.items():
    for which, values in (("", "X @ W_v"), ("_for_queries_and_keys", "given @ W_v")):
        wrong.several(
            f"{name}{which}",
            {FIRST: f"given, X = X, {words}\n    {FIRST}", "X @ W_v": values},
            "You normalise the words before you project them (their length, mean or variance). Do "
            "the three products of the task change the words first?",
        )
for name, words in (
    ("words_times_root_of_width", "X * X.shape[-1] ** 0.5"),
    ("words_over_width", "X / X.shape[-1]"),
):
    wrong(
        name,
        FIRST,
        f"X = {words}\n    {FIRST}",
        "All three of your results are scaled by the width of the words. Does the task scale "
        "anything in this step?",
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
for order in ("v, k, q", "v, q, k", "k, v, q"):
    wrong(
        f"returned_as_{order.replace(', ', '_')}",
        RETURN,
        f"return {order}",
        "You return the three products in another order than the task. Which one does the caller "
        "unpack first?",
    )
wrong(
    "batch_axes_merged",
    RETURN,
    "if X.ndim > 2:\n"
    "        q, k, v = (x.reshape(len(X), -1, x.shape[-1]) for x in (q, k, v))\n    return q, k, v",
    "With two batch axes, your results have one: a `reshape`, `view` or `flatten` merges the "
    "second with the words. Which axes of X does the task keep?",
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
ROOT = "W_q.shape[-1] ** 0.5"
for name, scaled in (
    ("scaled_already", f"return q / {ROOT}, k, v"),
    ("keys_scaled_already", f"return q, k / {ROOT}, v"),
    ("queries_and_keys_scaled_already", f"return q / {ROOT}, k / {ROOT}, v"),
    ("half_a_scale_each", "d = W_q.shape[-1] ** 0.25\n    return q / d, k / d, v"),
    ("scaled_by_width_of_words", "return q / X.shape[-1] ** 0.5, k, v"),
    ("all_scaled_by_width_of_words", "d = X.shape[-1] ** 0.5\n    return q / d, k / d, v / d"),
):
    wrong(
        name,
        RETURN,
        scaled,
        "Your queries or keys are already scaled by a root. The scale belongs to the scores, two "
        "steps later: how often does it count if it is in both places?",
    )
NORMED = "{0} / {0}.norm(dim=-1, keepdim=True)"
for name, changed in (
    ("queries_and_keys_of_length_1", "qk"),
    ("all_of_length_1", "qkv"),
    ("queries_of_length_1", "q"),
    ("keys_of_length_1", "k"),
):
    wrong(
        name,
        RETURN,
        "\n    ".join(f"{x} = {NORMED.format(x)}" for x in changed) + f"\n    {RETURN}",
        "You bring vectors to length 1 after the products (`normalize`, or a division by `norm`), "
        "as for a cosine. Does the task do anything after its three products?",
    )
for name, changed in (("queries_and_keys_standardised", "qk"), ("all_standardised", "qkv")):
    wrong(
        name,
        RETURN,
        "norm = torch.nn.functional.layer_norm\n    "
        + "\n    ".join(f"{x} = norm({x}, {x}.shape[-1:])" for x in changed)
        + f"\n    {RETURN}",
        "You bring each vector to mean 0 and variance 1 after the products (a layer norm). Does "
        "the task do anything after its three products?",
    )
for name, change in (("relu_on_top", "relu"), ("tanh_on_top", "tanh")):
    wrong(
        name,
        RETURN,
        f"return torch.{change}(q), torch.{change}(k), torch.{change}(v)",
        "You bend the results of the products with an activation, as a layer of a network does. "
        "Does the task name anything but the products?",
    )
wrong(
    "batch_flattened",
    FIRST,
    f"X = X.reshape(-1, X.shape[-1])\n    {FIRST}",
    "The sentences of a batch are joined: your results have lost the batch axis. `@` works on the "
    "last two axes; does X need to be reshaped at all?",
)
for name, axes in (("", "0, -2"), ("_by_transpose", "0, 1")):
    wrong(
        f"batch_and_words_swapped{name}",
        FIRST,
        f"X = X.transpose({axes})\n    {FIRST}",
        "Batch and words are swapped. What does each axis of X mean, and which of them does a "
        "product with a matrix change?",
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
for name, letter in (("queries", "q"), ("keys", "k"), ("values", "v")):
    wrong(
        f"{name}_from_detached_words",
        f"X @ W_{letter}",
        f"X.detach() @ W_{letter}",
        "One of your products is made from words that are cut from torch's graph (`.detach()`, "
        "`.data`, `no_grad`), so their gradient lacks a part. Which one is it?",
    )
wrong(
    "values_forgotten",
    RETURN,
    "return q, k",
    "You return two tensors. Which third one does the task ask for?",
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
for W in ("W_q", "W_k", "W_v"):
    wrong(
        f"{W}_copied",
        f"X @ {W}",
        f"X @ {W}.detach()",
        "Gradients reach the words and two of the matrices. The third is copied into a layer (into "
        "its `.data`, or into a new `nn.Parameter`) or detached, so torch does not know where its "
        "numbers come from. Which call uses the given matrix itself?",
    )
wrong(
    "words_detached",
    FIRST,
    "X = X.detach()\n    q = X",
    "Gradients reach the matrices but not the words: X is cut out of torch's graph before the "
    "products. Which call does that, and does a product change X at all?",
)
WORDS_CHANGED = (
    "Your code changes the words that it was given, in place: their numbers or their shape "
    "(`unsqueeze_`). Which call makes a new tensor instead, and is the change needed?"
)
wrong("words_changed", RETURN, f"X.zero_()\n    {RETURN}", WORDS_CHANGED)
wrong.several(
    "axis_added_to_the_words_in_place",
    {FIRST: f"X.unsqueeze_(0)\n    {FIRST}", RETURN: "return q[0], k[0], v[0]"},
    WORDS_CHANGED,
)

ONE_RANK = (
    "Your code needs a certain number of axes in front of the words (`mm`, `bmm`, `.T`, "
    "`transpose(0, 1)`, `B, T, d = X.shape`, `btd,dk->btk`), so one sentence, a batch, or a batch "
    "of batches does not fit. Which call works on the last axes, whatever comes before them?"
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


@exercise.mistake(ONE_RANK)
def columns_by_dot_t(X, W_q, W_k, W_v):
    words = X.permute(*range(X.ndim)[::-1])
    return tuple((W.T @ words).mT for W in (W_q, W_k, W_v))


@exercise.mistake(ONE_RANK)
def columns_by_t(X, W_q, W_k, W_v):
    return tuple((W.t() @ X.t()).t() for W in (W_q, W_k, W_v))


@exercise.mistake(ONE_RANK)
def columns_by_transpose(X, W_q, W_k, W_v):
    words = X.transpose(0, 1)
    return tuple((W.T @ words).transpose(0, 1) for W in (W_q, W_k, W_v))
