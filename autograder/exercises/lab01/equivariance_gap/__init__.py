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
    """Gives one number, even if a layer changes the width of its words; changes no input."""
    X, perm = draw.normal(5, 7), draw.permutation(5)
    return {
        "dimensions": torch.as_tensor(lab.equivariance_gap(running_sum, X, perm)).ndim,
        "dimensions, three features of seven": torch.as_tensor(
            lab.equivariance_gap(lambda X: X[:, :3] * 2.0, X, perm)
        ).ndim,
        "inputs unchanged": draw.untouched(),
    }


@exercise.check(points=2.5)
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


@exercise.check(points=2, hidden=True)
def other_layers(lab, draw):
    """Distinguishes layers that mix words by position from layers that do not."""
    X, perm = draw.strided(draw.normal(5, 7)), draw.permutation(5)
    weights = draw.normal(7, 2)
    places = draw.normal(5, 7)
    learning = draw.normal(5, 2).requires_grad_()
    layers = {
        "a part that learns": lambda X: X @ weights + learning,
        "each word by itself": lambda X: torch.tanh(X @ weights),
        "the mean of all words": lambda X: X.mean(0).expand(X.shape[0], -1),
        "the running sum": running_sum,
        "the next word": next_word,
        "positions added": lambda X: X + places,
        "positions added, opposite signs": lambda X: -X - places,
        "a trace of positions added": lambda X: X + 1e-6 * places,
        "a fainter trace of positions added": lambda X: 5 + X.abs() + 1e-7 * places,
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
    # So many words, and so large numbers, that a wrong gap is not the right one by chance, and that
    # a softmax with a limit fails each time.
    X, perm = 2 * draw.normal(13, 5), draw.permutation(13)
    places = 2 * draw.normal(13, 5)
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
        "`X` and `perm` stay unchanged.": "one_number other_orders",
    },
    explained=["Put the words in another order", "perm: (T,), int64: the new order."],
)
