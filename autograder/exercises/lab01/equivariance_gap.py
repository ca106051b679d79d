"""equivariance_gap: does a layer notice the order of its words?"""

from __future__ import annotations

import torch

from attnlab.equivariance import equivariance_gap
from gradekit.exercise import Exercise

exercise = Exercise(equivariance_gap)


def nearby(X):
    """Mixes each word with those near it; not by attention, which is asked for elsewhere."""
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
    """Gives one number, also for a layer that changes the width of its words."""
    X, perm = draw.normal(5, 7), draw.permutation(5)
    return {
        "dimensions": torch.as_tensor(lab.equivariance_gap(running_sum, X, perm)).ndim,
        "dimensions, three features of seven": torch.as_tensor(
            lab.equivariance_gap(lambda X: X[:, :3] * 2.0, X, perm)
        ).ndim,
    }


@exercise.check(points=3)
def mixing_and_positions(lab, draw):
    """0 for words that are mixed by nearness, the right number above 0 once places are added."""
    X, perm = draw.normal(5, 7), draw.permutation(5)
    return {
        "mixed by nearness": lab.equivariance_gap(nearby, X, perm),
        "the same after places are added": lab.equivariance_gap(with_positions, X, perm),
        "that, signs turned": lab.equivariance_gap(lambda X: -with_positions(X), X, perm),
    }


@exercise.check(points=2, hidden=True)
def other_layers(lab, draw):
    """Tells layers that mix words by place from layers that do not."""
    X, perm = draw.strided(draw.normal(5, 7)), draw.permutation(5)
    weights = draw.normal(7, 2)
    places = draw.normal(5, 7)
    layers = {
        "each word by itself": lambda X: torch.tanh(X @ weights),
        "the mean of all words": lambda X: X.mean(0).expand(X.shape[0], -1),
        "the running sum": running_sum,
        "the next word": next_word,
        "places added": lambda X: X + places,
        "places added, signs turned": lambda X: -X - places,
        "places alone": lambda X: places,
        "one place weighs more": lambda X: X * torch.tensor([1.0, 1, 9, 1, 1]).double()[:, None],
        "all below zero": lambda X: -1e3 - running_sum(X.abs()),
    }
    return {name: lab.equivariance_gap(layer, X, perm) for name, layer in layers.items()}


@exercise.check(points=1, hidden=True)
def other_orders(lab, draw):
    """Is right for other permutations and lengths, and leaves its inputs as they were."""
    X, perm = draw.normal(6, 4), draw.permutation(6)
    swap = torch.tensor([0, 1, 5, 3, 4, 2])
    long, long_perm = draw.normal(11, 3), draw.permutation(11)
    weights = draw.normal(11, 1)
    return {
        "two words swapped": lab.equivariance_gap(running_sum, X, swap),
        "nothing moved": lab.equivariance_gap(next_word, X, torch.arange(6)),
        "six words": lab.equivariance_gap(next_word, X, perm),
        "eleven words": lab.equivariance_gap(with_positions, long, long_perm),
        "eleven words, weighed by place": lab.equivariance_gap(
            lambda X: X * weights, long, long_perm
        ),
        "eleven words, signs turned": lab.equivariance_gap(
            lambda X: -with_positions(X), long, long_perm
        ),
        "inputs as they were": draw.untouched(),
    }


@exercise.check(points=1, hidden=True, chained=True)
def your_own_attention(lab, draw):
    """All together: your softmax inside your attention inside your gap."""
    X, perm = draw.normal(5, 3), draw.permutation(5)
    places = draw.normal(5, 3)
    return {
        "attention": lab.basic_self_attention(X),
        "its gap": lab.equivariance_gap(lambda X: lab.basic_self_attention(X), X, perm),
        "its gap with places": lab.equivariance_gap(
            lambda X: lab.basic_self_attention(X + places), X, perm
        ),
        "its gap, signs turned": lab.equivariance_gap(
            lambda X: -lab.basic_self_attention(X + places), X, perm
        ),
        "softmax": lab.softmax(X, dim=0),
    }


@exercise.mistake(
    "You reorder the results of `f`, but it never gets to see the words in the new order. What "
    "changes places first?"
)
def output_permuted_only(f, X, perm):
    return (f(X) - f(X)[perm]).abs().max()


@exercise.mistake(
    "You reorder the words, but compare with results in the old order: that asks whether `f` is "
    "invariant (nothing changes), not equivariant (the results move along)."
)
def input_permuted_only(f, X, perm):
    return (f(X[perm]) - f(X)).abs().max()


WRONG_WAY_BACK = (
    "One side is in the order `perm`, the other in its inverse (putting results in the order "
    "`perm` a second time does not undo the first). With perm = (2, 0, 1), which word stands first "
    "on each side?"
)


@exercise.mistake(WRONG_WAY_BACK)
def inverse_on_one_side(f, X, perm):
    return (f(X[perm]) - f(X)[torch.argsort(perm)]).abs().max()


@exercise.mistake(WRONG_WAY_BACK)
def same_permutation_twice(f, X, perm):
    return (f(X[perm])[perm] - f(X)).abs().max()


@exercise.mistake(
    "You reorder the features, not the words. For X of shape (T, d), which axis does `perm` run "
    "along?"
)
def features_permuted(f, X, perm):
    order = perm[perm < min(X.shape)]
    return (f(X[:, order]) - f(X)[:, order]).abs().max()


@exercise.mistake(
    "You compare sums (or means) over the words, and those cannot see which word went where. "
    "Compare word by word; take the largest difference at the end."
)
def sums_compared(f, X, perm):
    return (f(X[perm]).sum(0) - f(X)[perm].sum(0)).abs().max()


@exercise.mistake("You take the mean of the differences. The largest one was asked for.")
def mean_difference(f, X, perm):
    return (f(X[perm]) - f(X)[perm]).abs().mean()


@exercise.mistake("You add the differences up. The largest one was asked for.")
def summed_difference(f, X, perm):
    return (f(X[perm]) - f(X)[perm]).abs().sum()


@exercise.mistake(
    "Differences below zero do not count in your maximum. What turns both signs into a size?"
)
def sign_kept(f, X, perm):
    return (f(X[perm]) - f(X)[perm]).max()


@exercise.mistake(
    "You square the differences (or take the length of a vector of them). The largest absolute "
    "difference was asked for."
)
def squared_difference(f, X, perm):
    return (f(X[perm]) - f(X)[perm]).square().max()


@exercise.mistake(
    "You answer yes or no. A size was asked for: how large is the largest difference?"
)
def yes_or_no(f, X, perm):
    return torch.allclose(f(X[perm]), f(X)[perm])


@exercise.mistake("You return a difference for each word, not the largest of all.")
def one_for_each_word(f, X, perm):
    return (f(X[perm]) - f(X)[perm]).abs().amax(-1)


@exercise.mistake(
    "`f` is applied to its own result. How often does each side of the comparison call it?"
)
def applied_twice(f, X, perm):
    return (f(f(X)[perm]) - f(f(X))[perm]).abs().max()


@exercise.mistake(
    "Words are reordered on both sides before `f` is called, so the two sides are the same thing "
    "and the gap is always 0. Which side should reorder after `f`?"
)
def always_zero(f, X, perm):
    return (f(X[perm]) - f(X[perm])).abs().max()


@exercise.mistake(
    "Your code writes the new order into the tensor that it was given. What makes a new tensor?"
)
def in_place(f, X, perm):
    after = f(X)[perm]
    X[:] = X[perm].clone()
    return (f(X) - after).abs().max()


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
