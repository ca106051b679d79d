"""basic_self_attention: every word moves towards the words that it resembles."""

from __future__ import annotations

import torch

from attnlab.attention import basic_self_attention
from attnlab.checking.observation import dtype_of
from attnlab.data.apples import brand_sentence, fruit_sentence
from attnlab.softmax import softmax
from gradekit.exercise import Exercise

exercise = Exercise(
    basic_self_attention,
    uses=[softmax],
    forbids=["torch.nn.functional.scaled_dot_product_attention"],
    equivalent={
        "basic_self_attention: `if mode not in ('softmax', 'sum'):` → `if False:`": (
            "the task has no third word"
        ),
        "basic_self_attention: `1.0` → `2.0` in "
        "`weights = scores / total.where(total != 0, 1.0)`": "it divides a row of zeros",
    },
)


def lecture_tables(lab, mode):
    """The moved words and the weights (the words' own vectors are the axes) of both sentences."""
    seen = {}
    for name, sentence in (("fruit", fruit_sentence()), ("brand", brand_sentence())):
        table, axes = sentence.similarity, torch.eye(5, dtype=torch.float64)
        seen[f"{name} sentence, weights"] = lab.basic_self_attention(axes, mode, table)
        seen[f"{name} sentence, words"] = lab.basic_self_attention(
            sentence.vectors, mode=mode, similarity=table
        )
    return seen


@exercise.check(points=1)
def shape_and_dtype(lab, draw):
    """One moved vector for each word, in the dtype of the words."""
    X, table = draw.uniform(5, 3), draw.uniform(5, 5, low=0.5, high=2.0)
    seen = {}
    for mode in ("softmax", "sum"):
        low = lab.basic_self_attention(X.float(), mode)
        seen[f"shape, {mode}"] = list(lab.basic_self_attention(X, mode=mode).shape)
        seen[f"dtype of float32, {mode}"] = dtype_of(low)
        seen[f"dtype of float32, {mode}, with a table"] = dtype_of(
            lab.basic_self_attention(X.float(), mode, table.float())
        )
    return seen


@exercise.check(points=2)
def apples_by_sum(lab, draw):
    """Reproduces the lecture's apple example with mode="sum": weights and moved words."""
    return lecture_tables(lab, "sum")


@exercise.check(points=1.5)
def apples_by_softmax(lab, draw):
    """Gives the softmax weights of the apple example with mode="softmax"."""
    return lecture_tables(lab, "softmax")


@exercise.check(points=1.5, hidden=True)
def similarity_of_the_vectors(lab, draw):
    """Without a table, the similarities are the dot products of the words' vectors."""
    X = draw.normal(5, 3)
    return {
        "softmax": lab.basic_self_attention(X, mode="softmax"),
        "softmax is the default": lab.basic_self_attention(X),
        "sum": lab.basic_self_attention(draw.uniform(5, 3), mode="sum"),
        "similar in the thousands": lab.basic_self_attention(30.0 * X, mode="softmax"),
    }


@exercise.check(points=1, hidden=True)
def lopsided_table(lab, draw):
    """Row i of a table belongs to word i, even if the table is not symmetric."""
    X, table = draw.normal(5, 3), draw.uniform(5, 5, low=0.5, high=2.0)
    return {
        mode: lab.basic_self_attention(X, mode=mode, similarity=table)
        for mode in ("softmax", "sum")
    }


@exercise.check(points=0.5, hidden=True)
def negative_sums(lab, draw):
    """With mode="sum", a row is divided by its sum even if this is below 0."""
    X, table = draw.normal(5, 3), draw.normal(5, 5)
    table[:, 0] += torch.tensor([-9.0, 9, -9, 9, -9]) - table.sum(1)
    opposite = torch.tensor([[1.0, 2.0], [-3.0, -1.0], [-2.0, -4.0]], dtype=torch.float64)
    return {
        "a table": lab.basic_self_attention(X, "sum", table),
        "vectors in opposite directions": lab.basic_self_attention(opposite, mode="sum"),
    }


@exercise.check(points=0.5, hidden=True)
def other_sizes(lab, draw):
    """Is right for one word, for one feature, for equal sizes, and for any number of batch axes."""

    def ask(batch, T, d):
        X, tables = draw.uniform(*batch, T, d), draw.uniform(*batch, T, T, low=0.5, high=2.0)
        return {
            mode: [lab.basic_self_attention(X, mode), lab.basic_self_attention(X, mode, tables)]
            for mode in ("softmax", "sum")
        }

    return draw.each_size(ask, batch=(2,), T=5, d=3)


@exercise.check(points=1, hidden=True)
def batches(lab, draw):
    """Sentences in a batch do not see each other."""
    X = draw.strided(draw.uniform(2, 5, 3))
    tables = draw.uniform(2, 5, 5, low=0.5, high=2.0)
    return {
        mode: {
            "one batch axis": lab.basic_self_attention(X, mode=mode),
            "two batch axes": lab.basic_self_attention(draw.uniform(2, 3, 5, 4), mode=mode),
            "a table for each sentence": lab.basic_self_attention(X, mode, tables),
            "one table for all": lab.basic_self_attention(X, mode=mode, similarity=tables[0]),
        }
        for mode in ("softmax", "sum")
    }


@exercise.check(points=0.5, hidden=True)
def zero_rows(lab, draw):
    """A word that resembles nothing becomes 0 by sum, and the mean of all words by softmax."""
    X, table = draw.uniform(5, 3, low=1.0, high=2.0), draw.uniform(5, 5, low=0.5, high=2.0)
    padded = X * torch.tensor([1.0, 1.0, 0.0, 1.0, 0.0], dtype=torch.float64)[:, None]
    table[1] = 0.0
    return {
        mode: {
            "zero vectors": lab.basic_self_attention(padded, mode=mode),
            "a zero row in the table": lab.basic_self_attention(X, mode, table),
        }
        for mode in ("softmax", "sum")
    }


@exercise.check(points=0.5, hidden=True)
def gradients_and_input(lab, draw):
    """Gradients flow back to the words and the table, and both are unchanged."""
    X, table = draw.uniform(5, 3), draw.uniform(5, 5, low=0.5, high=2.0)
    for mode in ("softmax", "sum"):
        lab.basic_self_attention(X, mode, table)
    return {
        "softmax": draw.gradients(lambda X: lab.basic_self_attention(X), X),
        "sum": draw.gradients(lambda X: lab.basic_self_attention(X, mode="sum"), X),
        "table": draw.gradients(lambda X, S: lab.basic_self_attention(X, "softmax", S), X, table),
        "inputs unchanged": draw.untouched(),
    }


exercise.promises(
    {
        "there are no parameters, only means": "similarity_of_the_vectors",
        "Word i becomes Σ_j weight(i, j) · X[j].": "apples_by_sum lopsided_table",
        "Row i of the weights is row i of the similarities, normalised over all words j": (
            "apples_by_sum lopsided_table"
        ),
        "X: (..., T, d), one vector for each of T words.": "batches other_sizes",
        '"softmax": normalise a row of similarities by softmax; "sum": divide it by its sum': (
            "apples_by_sum apples_by_softmax"
        ),
        "In this mode, a row of zeros gives the zero vector": "zero_rows",
        "but may be negative": "negative_sums",
        "similarity: (T, T) or (..., T, T)": "batches other_sizes",
        "None: the dot products of the words' vectors, X[i] · X[j], unchanged.": (
            "similarity_of_the_vectors"
        ),
        "(..., T, d), the moved vectors, in the dtype of `X`.": "shape_and_dtype other_sizes",
        "Gradients flow back to `X` and to `similarity`, and both stay unchanged.": (
            "gradients_and_input"
        ),
    },
)


@exercise.also_right
def in_three_steps(X, mode="softmax", similarity=None):
    scores = X @ X.mT if similarity is None else similarity  # (..., T, T)
    if mode == "softmax":
        weights = torch.softmax(scores, -1)
    else:
        total = scores.sum(-1, keepdim=True)
        weights = torch.where(total == 0, 0.0, scores / total)
    return weights @ X


wrong = exercise.edits(in_three_steps)

wrong.several(
    "columns_normalised",
    {"softmax(scores, -1)": "softmax(scores, -2)", "sum(-1": "sum(-2"},
    "You normalise the columns: your weights sum to one for each word that is looked at, not for "
    "each word that looks. Which axis of the table belongs to the word that looks?",
)
wrong(
    "always_softmax",
    'if mode == "softmax":',
    "if True:",
    'mode="sum" gives the same as softmax. What does the lecture divide .25 and 1 by to get .2 '
    "and .8?",
)
wrong(
    "always_sum",
    'if mode == "softmax":',
    "if False:",
    'mode="softmax" gives the same as dividing by the sum. What weight does softmax give to a '
    "similarity of 0?",
)
wrong(
    "self_excluded",
    "    if mode",
    '    fill = -torch.inf if mode == "softmax" else 0.0\n'
    "    scores = scores.masked_fill(torch.eye(X.shape[-2]).bool(), fill)\n"
    "    if mode",
    "In your version no word looks at itself, so nothing of its own meaning is left. What is on "
    "the diagonal of the lecture's table?",
)
wrong(
    "similarity_lopsided",
    "X @ X.mT",
    "(X / X.norm(dim=-1, keepdim=True).clamp(min=1e-9)) @ X.mT",
    "Your similarity of i to j differs from that of j to i: you scaled one side of the product and "
    "not the other. Which line treats the two copies of X differently?",
)
wrong(
    "cosine_similarity",
    "    scores = X @ X.mT",
    "    unit = X / X.norm(dim=-1, keepdim=True).clamp(min=1e-9)\n    scores = unit @ unit.mT",
    "You use the cosine of the angle between words, so the lengths of the vectors are lost. Which "
    "similarity does the task ask for?",
)
wrong(
    "scaled",
    "    if mode",
    "    scores = scores / X.shape[-1] ** 0.5\n    if mode",
    "You divide the dot products by √d. That comes in lab 3, with queries and keys. What does this "
    "task do with the dot products?",
)
wrong.several(
    "features_normalised",
    {
        "softmax(scores, -1)": "softmax(X, -1)",
        "scores.sum(": "X.sum(",
        "scores / total": "X / total",
        "weights @ X": "scores @ weights",
    },
    "You normalise the features of each word's vector, not its weights, so your vectors sum to "
    "one. Over what do the weights of one word run?",
)
wrong(
    "not_normalised",
    "weights @ X",
    "scores @ X",
    "You use the similarities themselves as weights. What should the weights of one word sum to?",
)
wrong(
    "zeros_taken_for_a_mask",
    "torch.softmax(scores, -1)",
    "torch.softmax(scores.masked_fill(scores == 0, -torch.inf), -1).nan_to_num()",
    "You leave words with similarity 0 out of the softmax. exp(0) is 1, so a score of 0 is not a "
    "mask. What does the softmax of a row of zeros look like?",
)
wrong(
    "nan_for_zero_rows",
    "torch.where(total == 0, 0.0, scores / total)",
    "scores / total",
    'A row of zeros sums to 0, and 0/0 is NaN. What should such a word become with mode="sum"?',
)
wrong(
    "epsilon_in_denominator",
    "torch.where(total == 0, 0.0, scores / total)",
    "scores / (total + 1e-6)",
    "A small number in the denominator avoids 0/0, but every other row now sums to a little less "
    "than one. Which rows need help?",
)
wrong(
    "sum_clamped",
    "torch.where(total == 0, 0.0, scores / total)",
    "scores / total.clamp(min=1e-12)",
    "You divide by a number above 0, whatever the row sums to: a clamp keeps 0/0 away, and takes "
    "the negative sums with it. What should the weights of such a row sum to?",
)
wrong(
    "divided_by_sizes",
    "torch.where(total == 0, 0.0, scores / total)",
    "torch.nn.functional.normalize(scores, p=1, dim=-1)",
    "You divide a row by the sum of the sizes of its numbers (`abs`, or `normalize` with p=1). "
    "What do your weights sum to if one similarity is negative?",
)
wrong(
    "squeezed",
    "weights @ X",
    "(weights @ X).squeeze()",
    "Your result loses the axes of length 1. Which shape should it have for a text of one word?",
)
wrong(
    "weights_transposed",
    "weights @ X",
    "weights.mT @ X",
    "You apply the weights transposed: word i becomes a sum over the words that look at it. In "
    "Σ_j weight(i, j) · X[j], which index of the weights is summed over?",
)
wrong(
    "weights_returned",
    "weights @ X",
    "weights",
    "You return the weights. What should be multiplied by them and added up?",
)
wrong(
    "table_ignored",
    " if similarity is None else similarity",
    "",
    "The argument `similarity` is not used: you always take the dot products. When should you take "
    "them?",
)
wrong(
    "first_axes_transposed",
    "X.mT",
    "X.transpose(0, 1)",
    "`.T` (or transposing axes 0 and 1) swaps words and features only if there is no batch axis. "
    "Which two axes should be swapped for X of shape (2, 5, 3)?",
)
wrong.several(
    "whole_table_normalised",
    {
        "torch.softmax(scores, -1)": "torch.softmax(scores.flatten(-2), -1).view_as(scores)",
        "sum(-1": "sum((-2, -1)",
    },
    "Each of your sums runs over the whole table, not over the row of one word. What do the "
    "weights of a single word sum to in your version?",
)
wrong(
    "word_added",
    "weights @ X",
    "X + weights @ X",
    "You add the moved word to the word itself (a residual connection; that is lab 6). What does "
    "the formula sum over?",
)
wrong(
    "weights_detached",
    "weights @ X",
    "weights.detach() @ X",
    "The words get no gradient, or only part of it: a `.detach()`, `no_grad` or a conversion to "
    "numpy cuts torch's graph. Do the weights depend on X?",
)
wrong(
    "table_changed",
    "torch.where(total == 0, 0.0, scores / total)",
    "scores.div_(total).nan_to_num()",
    "Your code writes into the table that it was given. What does the same and makes a new tensor?",
)


@exercise.also_right
def by_einsum(X, mode="softmax", similarity=None):
    S = torch.einsum("...id,...jd->...ij", X, X) if similarity is None else similarity
    if mode == "sum":
        total = S.sum(dim=-1, keepdim=True)
        W = S / torch.where(total == 0, torch.ones_like(total), total)
    else:
        E = torch.exp(S - S.amax(dim=-1, keepdim=True))
        W = E / E.sum(dim=-1, keepdim=True)
    return torch.einsum("...ij,...jd->...id", W, X)


@exercise.also_right
def word_by_word(X, mode="softmax", similarity=None):
    words = X.unbind(-2)
    moved = []
    for i, word in enumerate(words):
        if similarity is None:
            row = torch.stack([(word * other).sum(-1) for other in words], -1)
        else:
            row = similarity[..., i, :].expand(X.shape[:-1])
        if mode == "softmax":
            row = torch.softmax(row, -1)
        else:
            row = torch.nan_to_num(row / row.sum(-1, keepdim=True))
        moved.append(sum(row[..., j, None] * other for j, other in enumerate(words)))
    return torch.stack(moved, -2)


@exercise.also_right
def zero_rows_masked(X, mode="softmax", similarity=None):
    scores = X.matmul(X.transpose(-2, -1)) if similarity is None else similarity
    if mode == "softmax":
        return torch.nn.functional.softmax(scores, dim=-1).matmul(X)
    total = scores.sum(dim=-1, keepdim=True)
    return (scores / total.masked_fill(total == 0, 1.0)).matmul(X)


@exercise.also_right
def normalised_afterwards(X, mode="softmax", similarity=None):
    scores = torch.matmul(X, X.swapaxes(-1, -2)) if similarity is None else similarity
    if mode == "softmax":
        scores = (scores - scores.max(-1, keepdim=True).values).exp()
    total = scores.sum(-1, keepdim=True)
    return (scores @ X) / torch.where(total == 0, 1.0, total)
