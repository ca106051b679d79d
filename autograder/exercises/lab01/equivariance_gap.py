"""equivariance_gap: does a layer notice the order of its words?"""

from __future__ import annotations

import torch

from attnlab.equivariance import equivariance_gap
from gradekit.exercise import Exercise

exercise = Exercise(equivariance_gap)


def nearby(X):
    """Mixes each word with the words near it; not by attention, which another step asks for."""
    near = 1 / (1 + torch.cdist(X, X))
    return (near / near.sum(-1, keepdim=True)) @ X


def with_positions(X):
    places = torch.arange(X.shape[0], dtype=X.dtype)
    return nearby(X + 0.5 * places[:, None] ** 1.5)


def running_sum(X):
    return X.cumsum(0)


def next_word(X):
    return X.roll(-1, 0)


@exercise.check(points=1)
def one_number(lab, draw):
    """Gives one number, even for a layer that changes the width of its words."""
    X, perm = draw.normal(5, 7), draw.permutation(5)
    return {
        "dimensions": torch.as_tensor(lab.equivariance_gap(running_sum, X, perm)).ndim,
        "dimensions, three features of seven": torch.as_tensor(
            lab.equivariance_gap(lambda X: X[:, :3] * 2.0, X, perm)
        ).ndim,
    }


@exercise.check(points=3)
def mixing_and_positions(lab, draw):
    """Is 0 for words mixed by nearness, and the right number above 0 after positions are added."""
    X, perm = draw.normal(5, 7), draw.permutation(5)
    return {
        "mixed by nearness": lab.equivariance_gap(nearby, X, perm),
        "the same after positions are added": lab.equivariance_gap(with_positions, X, perm),
        "that with opposite signs": lab.equivariance_gap(lambda X: -with_positions(X), X, perm),
    }


@exercise.check(points=0.5, hidden=True)
def other_sizes(lab, draw):
    """Is right for one word, for one feature in or out, and for equal sizes."""

    def ask(T, d, k):
        X, perm, weights = draw.normal(T, d), draw.permutation(T), draw.normal(d, k)
        return lab.equivariance_gap(lambda X: running_sum(X) @ weights, X, perm)

    return draw.each_size(ask, T=5, d=7, k=2)


@exercise.check(points=1.5, hidden=True)
def other_layers(lab, draw):
    """Distinguishes layers that mix words by position from layers that do not."""
    X, perm = draw.strided(draw.normal(5, 7)), draw.permutation(5)
    weights = draw.normal(7, 2)
    places = draw.normal(5, 7)
    layers = {
        "each word by itself": lambda X: torch.tanh(X @ weights),
        "the mean of all words": lambda X: X.mean(0).expand(X.shape[0], -1),
        "the running sum": running_sum,
        "the next word": next_word,
        "positions added": lambda X: X + places,
        "positions added, opposite signs": lambda X: -X - places,
        "a trace of positions added": lambda X: X + 1e-6 * places,
        "positions alone": lambda X: places,
        "one position weighs more": lambda X: X * torch.tensor([1.0, 1, 9, 1, 1]).double()[:, None],
        "all below zero": lambda X: -1e3 - running_sum(X.abs()),
    }
    return {name: lab.equivariance_gap(layer, X, perm) for name, layer in layers.items()}


@exercise.check(points=1, hidden=True)
def other_orders(lab, draw):
    """Is right for other permutations and lengths, and leaves its inputs unchanged."""
    X, perm = draw.normal(6, 4), draw.permutation(6)
    swap = torch.tensor([0, 1, 5, 3, 4, 2])
    long, long_perm = draw.normal(11, 3), draw.permutation(11)
    weights = draw.normal(11, 1)
    return {
        "two words swapped": lab.equivariance_gap(running_sum, X, swap),
        "nothing moved": lab.equivariance_gap(next_word, X, torch.arange(6)),
        "six words": lab.equivariance_gap(next_word, X, perm),
        "eleven words": lab.equivariance_gap(with_positions, long, long_perm),
        "eleven words, weighted by position": lab.equivariance_gap(
            lambda X: X * weights, long, long_perm
        ),
        "eleven words, opposite signs": lab.equivariance_gap(
            lambda X: -with_positions(X), long, long_perm
        ),
        "inputs unchanged": draw.untouched(),
    }


@exercise.check(points=1, hidden=True, chained=True)
def your_own_attention(lab, draw):
    """Uses your own steps together: your softmax in your attention in your gap."""
    X, perm = draw.normal(5, 3), draw.permutation(5)
    places = draw.normal(5, 3)
    return {
        "attention": lab.basic_self_attention(X),
        "its gap": lab.equivariance_gap(lambda X: lab.basic_self_attention(X), X, perm),
        "its gap with positions": lab.equivariance_gap(
            lambda X: lab.basic_self_attention(X + places), X, perm
        ),
        "its gap, opposite signs": lab.equivariance_gap(
            lambda X: -lab.basic_self_attention(X + places), X, perm
        ),
        "softmax": lab.softmax(X, dim=0),
    }


exercise.promises(
    {
        "How far `f` is from treating a sequence as a set: 0 if it ignores": "mixing_and_positions",
        "For a permutation-equivariant `f`, the two results are equal.": "mixing_and_positions",
        "f: a function from (T, d) to (T, k): one result for each word. X: (T, d), the words.": (
            "other_sizes one_number"
        ),
        "Word perm[i] moves to position i.": "other_layers other_orders",
        "The largest absolute difference between the two results": "other_layers",
        "a tensor without dimensions, or a Python number": "one_number",
        "`X` and `perm` stay unchanged.": "other_orders",
    },
    explained=["Put the words in another order", "perm: (T,), int64: the new order."],
)


INVERSE_ON_ONE_SIDE = (
    "One side is in the order `perm`, the other in its inverse (applying `perm` to results a "
    "second time does not undo the first). With perm = (2, 0, 1), which word comes first on each "
    "side?"
)


@exercise.also_right
def by_indexing(f, X, perm):
    return (f(X[perm]) - f(X)[perm]).abs().max()


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


YES_OR_NO = (
    "You answer yes or no, but the task asks for a size: how large is the largest difference?"
)


@exercise.mistake(YES_OR_NO)
def yes_or_no(f, X, perm):
    return torch.allclose(f(X[perm]), f(X)[perm])


@exercise.mistake(YES_OR_NO)
def zero_or_one(f, X, perm):
    return 0.0 if torch.allclose(f(X[perm]), f(X)[perm]) else 1.0


@exercise.mistake(YES_OR_NO)
def zero_or_one_to_the_last_digit(f, X, perm):
    return float(not torch.equal(f(X[perm]), f(X)[perm]))


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


@exercise.also_right
def put_back(f, X, perm):
    return (f(X[perm])[torch.argsort(perm)] - f(X)).abs().max()


@exercise.also_right
def by_matrix(f, X, perm):
    P = torch.eye(len(perm), dtype=X.dtype)[perm]
    return torch.linalg.vector_norm(f(P @ X) - P @ f(X), ord=float("inf"))


@exercise.also_right
def word_by_word(f, X, perm):
    moved, plain = f(X.index_select(0, perm)), f(X)
    gaps = [(moved[i] - plain[j]).abs().max().item() for i, j in enumerate(perm.tolist())]
    return max(gaps)
