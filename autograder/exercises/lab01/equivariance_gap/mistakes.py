"""Wrong versions of equivariance_gap, most of them one edit of a right one."""

from __future__ import annotations

import torch

from . import exercise
from .also_right import by_indexing

INVERSE_ON_ONE_SIDE = (
    "One side is in the order `perm`, the other in its inverse (applying `perm` to results a "
    "second time does not undo the first). With perm = (2, 0, 1), which word comes first on each "
    "side?"
)


wrong = exercise.edits(by_indexing)

wrong(
    "output_permuted_only",
    "f(X[perm])",
    "f(X)",
    "You reorder the results of `f`, but `f` never sees the words in the new order. What should be "
    "reordered first?",
)
wrong(
    "input_permuted_only",
    "f(X)[perm]",
    "f(X)",
    "You reorder the words, but compare with results in the old order, so you test whether `f` is "
    "invariant (nothing changes). What happens to the results of an equivariant `f`?",
)
wrong("inverse_on_one_side", "f(X)[perm]", "f(X)[torch.argsort(perm)]", INVERSE_ON_ONE_SIDE)
wrong("words_in_the_inverse_order", "X[perm]", "X[torch.argsort(perm)]", INVERSE_ON_ONE_SIDE)
wrong(
    "reordered_before_both_calls",
    "return (f(X[perm])",
    "X = X[perm]\n    return (f(X)",
    "You reorder the words before both calls of `f`, so neither call sees them in the old order. "
    "Which side of the comparison needs the old order?",
)
wrong.several(
    "same_permutation_twice",
    {"f(X)[perm]": "f(X)", "f(X[perm])": "f(X[perm])[perm]"},
    INVERSE_ON_ONE_SIDE,
)
wrong.several(
    "inverse_on_both_sides",
    {"f(X[perm])": "f(X[torch.argsort(perm)])", "f(X)[perm]": "f(X)[torch.argsort(perm)]"},
    "Both of your sides are in the inverse order: your word i moves to position perm[i]. In the "
    "task, which word moves to position i?",
)
wrong(
    "sums_compared",
    ".abs()",
    ".sum(0).abs()",
    "You compare sums (or means) over the words, which do not show where each word went. At which "
    "point should the words become one number?",
)
for name, summed in (("", "sum(-1)"), ("_and_divided", "mean(-1)"), ("_at_once", "sum()")):
    wrong(
        f"summed_before_the_size{name}",
        ".abs()",
        f".{summed}.abs()",
        "You add up differences (or average them) before you take their size, so opposite signs "
        "cancel. To which numbers does the formula apply the bars?",
    )
for name, length in (("sum", "abs().sum(-1)"), ("length", "norm(dim=-1)")):
    wrong(
        f"largest_{name}_of_a_word",
        ".abs()",
        f".{length}",
        "You make one number of each word's differences, a sum or a length, and take the largest "
        "of these. Over which numbers does the task take the maximum?",
    )
for name, most in (("", "max()"), ("_size", "abs().max()"), ("_length", "norm()")):
    wrong(
        f"difference_of_the_largest{name}",
        "(f(X[perm]) - f(X)[perm]).abs().max()",
        f"(f(X[perm]).{most} - f(X)[perm].{most}).abs()",
        "You make one number of each result (its largest, or its length) and compare the two "
        "numbers. Which comes first in the formula, the difference or the maximum?",
    )
wrong(
    "mean_of_the_largest",
    ".max()",
    ".amax(-1).mean()",
    "You take the largest difference of each word, and the mean of these. Over which numbers does "
    "the task take the maximum?",
)
for name, lowest in (("large", "1e-4"), ("small", "1e-5")):
    wrong(
        f"{name}_threshold",
        "return (f(X[perm]) - f(X)[perm]).abs().max()",
        f"gap = (f(X[perm]) - f(X)[perm]).abs().max()\n    return gap * (gap > {lowest})",
        "You take a small gap for none. What does a layer with a gap of 1e-6 get from your "
        "function?",
    )
for name, ordered in (("", "sort(0).values"), ("_together", "flatten().sort().values")):
    wrong.several(
        f"results_sorted{name}",
        {"f(X[perm])": f"f(X[perm]).{ordered}", "f(X)[perm]": f"f(X)[perm].{ordered}"},
        "You sort both results, so a vector that went to the wrong word is not seen. Which row of "
        "one result belongs to row i of the other?",
    )
wrong(
    "mean_difference",
    ".max()",
    ".mean()",
    "You take the mean of the differences. Which of them does the task ask for?",
)
wrong(
    "smallest_difference",
    ".max()",
    ".min()",
    "You take the smallest of the differences. Which of them does the task ask for?",
)
for digits in (3, 4, 6):
    wrong(
        f"rounded_to_{digits}",
        "(f(X[perm]) - f(X)[perm]).abs().max()",
        f"round((f(X[perm]) - f(X)[perm]).abs().max().item(), {digits})",
        "Your gap is rounded, so it is right only in its first digits. What does a layer with a "
        "gap of 1e-7 get from your function?",
    )
wrong(
    "divided_by_the_results",
    ".abs().max()",
    ".abs().max() / f(X).abs().max()",
    "You divide the largest difference by the size of the results. Is there a quotient in the "
    "formula?",
)
wrong.several(
    "reversed_whatever_the_order",
    {"f(X[perm])": "f(X.flip(0))", "f(X)[perm]": "f(X).flip(0)"},
    "You reverse the words, whatever `perm` says. Which line of your code reads that argument?",
)
wrong(
    "summed_difference",
    ".max()",
    ".sum()",
    "You add up the differences. Which of them does the task ask for?",
)
wrong(
    "norm_of_differences",
    ".abs().max()",
    ".norm()",
    "You take the norm of all differences together. Which of them does the task ask for?",
)
wrong(
    "sign_kept",
    ".abs()",
    "",
    "Differences below zero do not count in your maximum. What turns both signs into a size?",
)
wrong(
    "squared_difference",
    ".abs()",
    ".square()",
    "You square the differences (or take the length of a vector of them). Which measure of a "
    "difference does the formula use?",
)
wrong(
    "one_for_each_word",
    ".max()",
    ".amax(-1)",
    "You return one difference for each word. How many numbers does the task ask for?",
)
wrong(
    "one_for_each_feature",
    ".max()",
    ".amax(0)",
    "You return one difference for each feature. How many numbers does the task ask for?",
)
wrong.several(
    "applied_twice",
    {"f(X)[perm]": "f(f(X))[perm]", "f(X[perm])": "f(f(X)[perm])"},
    "You apply `f` to its own result. How often should each side of the comparison call it?",
)
wrong(
    "divided_entry_by_entry",
    "(f(X[perm]) - f(X)[perm]).abs().max()",
    "((f(X[perm]) - f(X)[perm]).abs() / f(X)[perm].abs().clamp(min=1e-12)).max()",
    "You divide each difference by the size of its result. Is there a quotient in the formula?",
)
wrong(
    "range_of_differences",
    "return (f(X[perm]) - f(X)[perm]).abs().max()",
    "gap = f(X[perm]) - f(X)[perm]\n    return gap.max() - gap.min()",
    "You subtract the smallest difference from the largest one, so two of them count. What do the "
    "bars in the formula do with a difference below 0?",
)
wrong(
    "zero_if_close",
    "return (f(X[perm]) - f(X)[perm]).abs().max()",
    "a, b = f(X[perm]), f(X)[perm]\n"
    "    return 0.0 if torch.allclose(a, b) else (a - b).abs().max()",
    "You return 0 if the two results are close enough for `allclose`. What does a layer with a gap "
    "of 1e-7 get from your function?",
)
wrong(
    "always_zero",
    "f(X)[perm]",
    "f(X[perm])",
    "Your gap is 0 even for a layer that does see the order, such as a running sum. Which words "
    "does `f` get on each of your two sides, and in which order?",
)


@exercise.mistake(
    "You reorder the features, not the words. For X of shape (T, d), along which axis does `perm` "
    "run?"
)
def features_permuted(f, X, perm):
    order = perm[perm < min(X.shape)]
    return (f(X[:, order]) - f(X)[:, order]).abs().max()


@exercise.mistake(
    "You draw an order of your own, whatever `perm` says. Which line of your code reads that "
    "argument?"
)
def order_drawn(f, X, perm):
    order = torch.randperm(len(X))
    return (f(X[order]) - f(X)[order]).abs().max()


@exercise.mistake(
    "You call `f` once, on a stack of two texts. Of which shape are the words that `f` takes, "
    "according to the task?"
)
def both_in_one_call(f, X, perm):
    moved, plain = f(torch.stack([X[perm], X]))
    return (moved - plain[perm]).abs().max()


@exercise.mistake(
    "You reorder the features of the results, not their rows. For results of shape (T, k), along "
    "which axis does `perm` run?"
)
def features_of_results_permuted(f, X, perm):
    return (f(X[perm]) - f(X)[:, perm]).abs().max()


YES_OR_NO = (
    "You answer yes or no, but the task asks for a size: how large is the largest difference?"
)


@exercise.mistake(YES_OR_NO)
def yes_or_no(f, X, perm):
    return torch.allclose(f(X[perm]), f(X)[perm])


@exercise.mistake(YES_OR_NO)
def yes_or_no_to_the_last_digit(f, X, perm):
    return torch.equal(f(X[perm]), f(X)[perm])


@exercise.mistake(YES_OR_NO)
def zero_or_one(f, X, perm):
    return 0.0 if torch.allclose(f(X[perm]), f(X)[perm]) else 1.0


@exercise.mistake(YES_OR_NO)
def zero_or_one_to_the_last_digit(f, X, perm):
    return float(not torch.equal(f(X[perm]), f(X)[perm]))


@exercise.mistake(
    "numpy does not take a tensor that requires gradients, and the result of a layer that learns "
    "is one. Which torch calls do the same?"
)
def through_numpy(f, X, perm):
    moved, plain = f(X[perm]).numpy(), f(X).numpy()
    return float(abs(moved - plain[perm.numpy()]).max())


WORDS_MOVED = (
    "Your code writes the new order into the tensor that it was given. What makes a new tensor?"
)


@exercise.mistake(WORDS_MOVED)
def in_place(f, X, perm):
    after = f(X)[perm]
    X[:] = X[perm].clone()
    return (f(X) - after).abs().max()


@exercise.mistake(WORDS_MOVED)
def in_place_before_both(f, X, perm):
    X[:] = X[perm].clone()
    return (f(X) - f(X)[perm]).abs().max()


@exercise.mistake(
    "You collect the results in a tensor of the shape of `X`. `f` may give each word another "
    "number of features: which shape has f(X)?"
)
def results_as_wide_as_the_words(f, X, perm):
    collected = torch.empty_like(X)
    for i, j in enumerate(perm.tolist()):
        collected[i] = f(X)[j]
    return (f(X[perm]) - collected).abs().max()
