"""Wrong versions of basic_self_attention, most of them one edit of a right one."""

from __future__ import annotations

import torch

from . import (  # noqa: F401 - to register them
    exercise,
    mistakes_in_axes,
    mistakes_in_zero_rows,
)
from .also_right import in_three_steps

wrong = exercise.edits(in_three_steps)

wrong(
    "sum_by_default",
    'mode="softmax", s',
    'mode="sum", s',
    "Without the argument `mode`, your weights are not those of softmax. Which default does the "
    "task's first line give?",
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
    "table_always_divided",
    'if mode == "softmax":',
    'if mode == "softmax" and similarity is None:',
    'If a table is given, you divide its rows by their sums, even with mode="softmax". Does the '
    "task let the table decide how a row is normalised?",
)
wrong(
    "table_always_through_softmax",
    'if mode == "softmax":',
    'if mode == "softmax" or similarity is not None:',
    'If a table is given, its rows go through softmax, even with mode="sum". Does the task let '
    "the table decide how a row is normalised?",
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
    "self_excluded_from_softmax",
    "torch.softmax(scores, -1)",
    "torch.softmax(scores.masked_fill(torch.eye(X.shape[-2]).bool(), -torch.inf), -1)",
    "In your softmax no word looks at itself, so nothing of its own meaning is left. What is on "
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
SCALED = (
    "You divide the dot products by √d. That comes in lab 3, with queries and keys. What does this "
    "task do with the dot products?"
)
wrong(
    "scaled",
    "    if mode",
    "    scores = scores / X.shape[-1] ** 0.5\n    if mode",
    SCALED,
)
wrong("dot_products_scaled", "X @ X.mT", "X @ X.mT / X.shape[-1] ** 0.5", SCALED)
wrong(
    "scaled_by_the_words",
    "X @ X.mT",
    "X @ X.mT / X.shape[-2] ** 0.5",
    "You divide the dot products by the root of the number of words. What does this task do with "
    "the dot products?",
)
wrong(
    "later_words_hidden",
    "    if mode",
    '    fill = -torch.inf if mode == "softmax" else 0.0\n'
    "    seen = torch.ones(scores.shape[-2:]).tril().bool()\n"
    "    scores = scores.masked_fill(~seen, fill)\n"
    "    if mode",
    "In your version a word looks only at itself and the words before it. Over which words j does "
    "the task normalise?",
)
wrong(
    "negative_similarities_cut_off",
    "        total",
    "        scores = scores.clamp(min=0)\n        total",
    'With mode="sum" you replace negative similarities by 0. What does the task do with a row that '
    "holds some?",
)
wrong(
    "similarities_mixed",
    "weights @ X",
    "weights @ scores",
    "You multiply the weights with the similarities. Which vectors should they mix?",
)
wrong.several(
    "features_normalised",
    {
        "softmax(scores, -1)": "softmax(X, -1)",
        "scores.sum(": "X.sum(",
        "scores / safe": "X / safe",
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
ZERO_ROWS = "torch.where(total == 0, 0.0, scores / safe)"
wrong(
    "zero_rows_keep_their_word",
    "weights @ X",
    'weights @ X + (scores.sum(-1, keepdim=True) == 0) * (mode == "sum") * X',
    "A word that resembles nothing keeps its own vector in your version. Which vector does the "
    'task give it with mode="sum"?',
)
wrong(
    "mean_for_zero_rows",
    ZERO_ROWS,
    "torch.where(total == 0, 1 / X.shape[-2], scores / safe)",
    "A word that resembles nothing becomes the mean of all words in your version. Which vector "
    'does the task give it with mode="sum"?',
)
wrong(
    "one_zero_row_clears_all",
    ZERO_ROWS,
    "torch.zeros_like(scores) if (total == 0).any() else scores / total",
    "One row of zeros makes the result 0 for every word. Which words should it concern?",
)
wrong(
    "zero_rows_only_if_all_are",
    ZERO_ROWS,
    "torch.zeros_like(scores) if (total == 0).all() else scores / total",
    'A row of zeros sums to 0, and 0/0 is NaN. What should such a word become with mode="sum"?',
)
wrong(
    "nan_for_zero_rows",
    ZERO_ROWS,
    "scores / total",
    'A row of zeros sums to 0, and 0/0 is NaN. What should such a word become with mode="sum"?',
)
for name, epsilon in (
    ("epsilon_in_denominator", "1e-6"),
    ("smaller_epsilon", "1e-8"),
    ("smallest_epsilon", "1e-9"),
):
    wrong(
        name,
        ZERO_ROWS,
        f"scores / (total + {epsilon})",
        "A small number in the denominator avoids 0/0, but every other row now sums to a little "
        "less than one. Which rows need help?",
    )
for name, lowest in (("", "1e-12"), ("_at_a_billionth", "1e-9"), ("_at_a_millionth", "1e-6")):
    wrong(
        f"sum_clamped{name}",
        ZERO_ROWS,
        f"scores / total.clamp(min={lowest})",
        "You divide by a number above 0, whatever the row sums to: a clamp keeps 0/0 away, and "
        "takes the negative sums with it. What should the weights of such a row sum to?",
    )
for name, size in (("", "abs()"), ("_and_clamped", "abs().clamp(min=1e-12)")):
    wrong(
        f"sum_made_positive{name}",
        ZERO_ROWS,
        f"torch.where(total == 0, 0.0, scores / safe.{size})",
        "You divide by the size of the sum (`abs`), so a sum below 0 turns the signs of its row. "
        "What do the weights of such a row sum to?",
    )
for p in (1, 2):
    wrong(
        f"divided_by_sizes_{p}",
        ZERO_ROWS,
        f"torch.nn.functional.normalize(scores, p={p}, dim=-1)",
        "You divide a row by the sum of the sizes of its numbers (`abs`), or by its length as a "
        "vector (`norm`, `normalize`). What do your weights sum to if one similarity is negative?",
    )
wrong(
    "softmax_of_shares",
    "torch.softmax(scores, -1)",
    "torch.softmax(scores / scores.sum(-1, keepdim=True), -1)",
    "You divide the similarities by their sum and apply softmax to the shares. Each `mode` is one "
    "way to normalise a row: which one does softmax take?",
)
wrong(
    "features_compared",
    "X @ X.mT if",
    "X.mT @ X if",
    "Your product compares features, not words: its table is (d, d). Which shape has a table with "
    "a row for each word, and which axes of the two factors meet in a dot product of words?",
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
    "table_condition_turned_round",
    "similarity is None",
    "similarity is not None",
    "Your condition on `similarity` is turned round: you replace a table that is given, and have "
    "none where the dot products are needed. In which of the two cases is `similarity` None?",
)
for used, ignored in (("sum", "softmax"), ("softmax", "sum")):
    wrong(
        f"table_ignored_by_{ignored}",
        "if similarity is None else",
        f'if similarity is None or mode == "{ignored}" else',
        f'You use a given `similarity` with mode="{used}" only. With mode="{ignored}" you take '
        "other numbers. Does the task let the mode decide which similarities are normalised?",
    )
for name, both in (
    ("added_to", "X @ X.mT + (0 if similarity is None else similarity)"),
    ("multiplied_by", "X @ X.mT * (1 if similarity is None else similarity)"),
):
    wrong(
        f"table_{name}_dot_products",
        "X @ X.mT if similarity is None else similarity",
        both,
        "If a table is given, you still use the dot products: you add the two or multiply them. "
        "Which similarities does the task name for this case?",
    )
wrong.several(
    "table_times_weights",
    {
        "X @ X.mT if similarity is None else similarity": "X @ X.mT",
        "weights @ X": "(weights if similarity is None else weights * similarity) @ X",
    },
    "You normalise the dot products, and apply the given table to the weights afterwards. Which "
    "numbers should be normalised if a table is given?",
)
wrong(
    "computed_in_float32",
    "    scores = X @ X.mT if similarity is None else similarity",
    "    X = X.float()\n    scores = X @ X.mT if similarity is None else similarity.float()",
    "Your weights and words are computed in float32, whatever the dtype of X is. Which of your "
    "calls changes the dtype?",
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
PART_OF_THE_GRADIENT = (
    "Only part of the gradient arrives: a `.detach()`, `.data`, `no_grad`, `torch.tensor(…)` or a "
    "conversion to numpy cuts the weights or the words from torch's graph. Which line does that?"
)
wrong("weights_detached", "weights @ X", "weights.detach() @ X", PART_OF_THE_GRADIENT)
wrong("similarities_detached", "X @ X.mT", "X.detach() @ X.detach().mT", PART_OF_THE_GRADIENT)
wrong("one_side_detached", "X @ X.mT", "X @ X.detach().mT", PART_OF_THE_GRADIENT)
wrong("words_detached", "weights @ X", "weights @ X.detach()", PART_OF_THE_GRADIENT)
wrong(
    "result_detached",
    "weights @ X",
    "(weights @ X).detach()",
    "No gradient flows back through your attention: a `.detach()`, `.data`, `no_grad` or a "
    "conversion to numpy cuts torch's graph. Which line is it?",
)
wrong(
    "table_changed",
    ZERO_ROWS,
    "scores.div_(safe)",
    "Your code writes into the table that it was given. What does the same and makes a new tensor?",
)


@exercise.mistake(
    "Your words move one after the other, and later words look at those that have moved already. "
    "Which vectors does the formula sum over: those before the step, or those after it?"
)
def moved_words_looked_at(X, mode="softmax", similarity=None):
    words = list(X.unbind(-2))
    for i, word in enumerate(words):
        now = torch.stack(words, -2)
        row = (word[..., None, :] * now).sum(-1) if similarity is None else similarity[..., i, :]
        total = row.sum(-1, keepdim=True)
        shares = row / total.where(total != 0, 1.0)
        row = torch.softmax(row, -1) if mode == "softmax" else shares
        words[i] = (row[..., None] * now).sum(-2)
    return torch.stack(words, -2)
