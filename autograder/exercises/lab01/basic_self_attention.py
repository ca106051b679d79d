"""basic_self_attention: every word moves towards the words that it resembles."""

from __future__ import annotations

import torch

from attnlab.attention import basic_self_attention
from attnlab.data.apples import brand_sentence, fruit_sentence
from attnlab.softmax import softmax
from gradekit.exercise import Exercise

exercise = Exercise(
    basic_self_attention,
    uses=[softmax],
    forbids=["torch.nn.functional.scaled_dot_product_attention"],
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


@exercise.check(points=1.5)
def shape_and_dtype(lab, draw):
    """One moved vector for each word, in the dtype of the words."""
    X = draw.uniform(5, 3)
    return {
        "shape, softmax": list(lab.basic_self_attention(X, mode="softmax").shape),
        "shape, sum": list(lab.basic_self_attention(X, mode="sum").shape),
        "dtype of float32": str(lab.basic_self_attention(X.float()).dtype).removeprefix("torch."),
    }


@exercise.check(points=2)
def apples_by_sum(lab, draw):
    """Reproduces the lecture's apples with mode="sum": weights and moved words."""
    return lecture_tables(lab, "sum")


@exercise.check(points=1.5)
def apples_by_softmax(lab, draw):
    """Gives the apples' softmax weights with mode="softmax"."""
    return lecture_tables(lab, "softmax")


@exercise.check(points=2, hidden=True)
def similarity_of_the_vectors(lab, draw):
    """Without a table, words resemble each other by the dot products of their vectors."""
    X = draw.normal(5, 3)
    return {
        "softmax": lab.basic_self_attention(X, mode="softmax"),
        "softmax is the default": lab.basic_self_attention(X),
        "sum": lab.basic_self_attention(draw.uniform(5, 3), mode="sum"),
        "similar in the thousands": lab.basic_self_attention(30.0 * X, mode="softmax"),
    }


@exercise.check(points=1, hidden=True)
def lopsided_table(lab, draw):
    """Row i of a table belongs to word i, also where the table is not symmetric."""
    X, table = draw.normal(5, 3), draw.uniform(5, 5, low=0.5, high=2.0)
    return {
        mode: lab.basic_self_attention(X, mode=mode, similarity=table)
        for mode in ("softmax", "sum")
    }


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
    """A word that resembles nothing: the zero vector by sum, the mean of all words by softmax."""
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
    """Gradients flow back to the words and the table, and both stay as they were."""
    X, table = draw.uniform(5, 3), draw.uniform(5, 5, low=0.5, high=2.0)
    for mode in ("softmax", "sum"):
        lab.basic_self_attention(X, mode, table)
    return {
        "softmax": draw.gradients(lambda X: lab.basic_self_attention(X), X),
        "sum": draw.gradients(lambda X: lab.basic_self_attention(X, mode="sum"), X),
        "table": draw.gradients(lambda X, S: lab.basic_self_attention(X, "softmax", S), X, table),
        "inputs as they were": draw.untouched(),
    }


def scores_of(X, similarity):
    return X @ X.mT if similarity is None else similarity


def weights_of(scores, mode, dim=-1):
    """What a right version does to scores; a part that the wrong versions share."""
    if mode == "softmax":
        return torch.softmax(scores, dim)
    total = scores.sum(dim, keepdim=True)
    return torch.where(total == 0, 0.0, scores / total)


@exercise.mistake(
    "You normalise the columns: your weights sum to one down the sentence, for the word that is "
    "looked at, not along it, for the word that looks. Which axis of the table belongs to the "
    "target word?"
)
def columns_normalised(X, mode="softmax", similarity=None):
    return weights_of(scores_of(X, similarity), mode, dim=-2) @ X


@exercise.mistake(
    'mode="sum" gives what softmax gives. What does the lecture divide .25 and 1 by to get .2 '
    "and .8?"
)
def always_softmax(X, mode="softmax", similarity=None):
    return weights_of(scores_of(X, similarity), "softmax") @ X


@exercise.mistake(
    'mode="softmax" gives what dividing by the sum gives. Does a similarity of 0 mean a weight '
    "of 0 there?"
)
def always_sum(X, mode="softmax", similarity=None):
    return weights_of(scores_of(X, similarity), "sum") @ X


@exercise.mistake(
    "No word looks at itself in your version, so nothing of its own meaning is left. What stands "
    "on the diagonal of the lecture's table?"
)
def self_excluded(X, mode="softmax", similarity=None):
    scores = scores_of(X, similarity)
    diagonal = torch.eye(X.shape[-2], dtype=torch.bool)
    fill = -torch.inf if mode == "softmax" else 0.0
    return weights_of(scores.masked_fill(diagonal, fill), mode) @ X


@exercise.mistake(
    "Your similarity of i to j differs from that of j to i: one side of the product was scaled "
    "and the other was not. Which line treats the two copies of X differently?"
)
def similarity_lopsided(X, mode="softmax", similarity=None):
    if similarity is None:
        similarity = (X / X.norm(dim=-1, keepdim=True).clamp(min=1e-9)) @ X.mT
    return weights_of(similarity, mode) @ X


@exercise.mistake(
    "You use the cosine of the angle between words; the lengths of the vectors are lost. The task "
    "asks for dot products as they are."
)
def cosine_similarity(X, mode="softmax", similarity=None):
    unit = X / X.norm(dim=-1, keepdim=True).clamp(min=1e-9)
    return weights_of(scores_of(unit, similarity), mode) @ X


@exercise.mistake(
    "The dot products were divided by √d. That comes in lab 3, with queries and keys; here they "
    "are used as they are."
)
def scaled(X, mode="softmax", similarity=None):
    scores = scores_of(X, similarity)
    return weights_of(scores / X.shape[-1] ** 0.5, mode) @ X


@exercise.mistake(
    "You normalise the features of each word's vector, not its weights: your vectors sum to one. "
    "What do the weights of one word run over?"
)
def features_normalised(X, mode="softmax", similarity=None):
    return scores_of(X, similarity) @ weights_of(X, mode)


@exercise.mistake(
    "The similarities are used as weights as they are. What should the weights of one word sum to?"
)
def not_normalised(X, mode="softmax", similarity=None):
    return scores_of(X, similarity) @ X


@exercise.mistake(
    "You leave words with similarity 0 out of the softmax. exp(0) is 1: a score of 0 is not a "
    "mask. What does the softmax of a row of zeros look like?"
)
def zeros_taken_for_a_mask(X, mode="softmax", similarity=None):
    scores = scores_of(X, similarity)
    if mode == "softmax":
        scores = scores.masked_fill(scores == 0, -torch.inf)
        return torch.nan_to_num(torch.softmax(scores, -1)) @ X
    return weights_of(scores, mode) @ X


@exercise.mistake(
    'A row of zeros sums to 0, and 0/0 is NaN. What was such a word to become, with mode="sum"?'
)
def nan_for_zero_rows(X, mode="softmax", similarity=None):
    scores = scores_of(X, similarity)
    if mode == "softmax":
        return torch.softmax(scores, -1) @ X
    return scores / scores.sum(-1, keepdim=True) @ X


@exercise.mistake(
    "A small number in the denominator keeps 0/0 away, but every other row now sums to a little "
    "less than one. Which rows need help?"
)
def epsilon_in_denominator(X, mode="softmax", similarity=None):
    scores = scores_of(X, similarity)
    if mode == "softmax":
        return torch.softmax(scores, -1) @ X
    return scores / (scores.sum(-1, keepdim=True) + 1e-6) @ X


@exercise.mistake(
    "The weights are applied the wrong way round: word i becomes a sum over the words that look "
    "at it. In Σ_j weight(i, j) · X[j], which index of the weights is summed over?"
)
def weights_transposed(X, mode="softmax", similarity=None):
    return weights_of(scores_of(X, similarity), mode).mT @ X


@exercise.mistake("You return the weights. What is weighted with them, and added up?")
def weights_returned(X, mode="softmax", similarity=None):
    return weights_of(scores_of(X, similarity), mode)


@exercise.mistake(
    "The argument `similarity` is not used: you always take the dot products. When are you to?"
)
def table_ignored(X, mode="softmax", similarity=None):
    return weights_of(X @ X.mT, mode) @ X


@exercise.mistake(
    "`.T` (or transposing axes 0 and 1) swaps words and features only where there is no batch "
    "axis. Which two axes are to change places for X of shape (2, 5, 3)?"
)
def first_axes_transposed(X, mode="softmax", similarity=None):
    scores = X @ X.transpose(0, 1) if similarity is None else similarity
    return weights_of(scores, mode) @ X


@exercise.mistake(
    "Each sum runs over the whole table, not over the row of one word. What do the weights of a "
    "single word sum to in your version?"
)
def whole_table_normalised(X, mode="softmax", similarity=None):
    scores = scores_of(X, similarity)
    if mode == "softmax":
        return torch.softmax(scores.flatten(-2), -1).view_as(scores) @ X
    return torch.nan_to_num(scores / scores.sum((-2, -1), keepdim=True)) @ X


@exercise.mistake(
    "The moved word is added to the word itself (a residual connection; that is lab 6). What does "
    "the formula sum over, and what else?"
)
def word_added(X, mode="softmax", similarity=None):
    return X + weights_of(scores_of(X, similarity), mode) @ X


@exercise.mistake(
    "No gradient gets back to the words (or only part of it): a `.detach()`, `no_grad` or a trip "
    "through numpy cuts torch's graph. Do the weights depend on X?"
)
def weights_detached(X, mode="softmax", similarity=None):
    return weights_of(scores_of(X, similarity), mode).detach() @ X


@exercise.mistake(
    "Your code writes into the table that it was given. What does the same and makes a new tensor?"
)
def table_changed(X, mode="softmax", similarity=None):
    if mode == "softmax" or similarity is None:
        return weights_of(scores_of(X, similarity), mode) @ X
    similarity /= similarity.sum(-1, keepdim=True)
    return torch.nan_to_num(similarity) @ X


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
