"""temperature and entropy: how sharp a distribution is, and how to control it."""

from __future__ import annotations

import torch

from attnlab.checking.observation import dtype_of
from attnlab.softmax import cross_entropy, entropy, log_softmax, logsumexp, softmax, temperature
from gradekit.exercise import Exercise

exercise = Exercise(
    temperature,
    entropy,
    uses=[softmax, logsumexp, log_softmax, cross_entropy],
    equivalent={
        "temperature: `logits.amax(-1, keepdim=True).detach()` → `logits.amax(-1, keepdim=True)` "
        "in `below = logits - logits.amax(-1, keepdim=True).detach()`": (
            "the same gradient, more work"
        ),
        "entropy: `1.0` → `2.0` in `safe = p.where(p > 0, 1.0)`": "it is multiplied by 0",
    },
)


def distribution(draw, *shape):
    """Random probabilities along the last axis, laid out with gaps in memory."""
    weights = draw.normal(*shape).exp()
    return draw.strided(weights / weights.sum(-1, keepdim=True))


@exercise.check(points=1)
def shapes_and_dtypes(lab, draw):
    """temperature keeps the shape, entropy drops the last axis; both keep the dtype."""
    x, p = draw.normal(2, 3, 5), distribution(draw, 2, 3, 5)
    return {
        "temperature, shape": list(lab.temperature(x, 2.0).shape),
        "temperature 0, shape": list(lab.temperature(x, 0.0).shape),
        "entropy, shape": list(lab.entropy(p).shape),
        "temperature, dtype of float32": dtype_of(lab.temperature(x.float(), 2.0)),
        "temperature, dtype of float16": dtype_of(lab.temperature(x.half(), 2.0)),
        "temperature 0, dtype of float32": dtype_of(lab.temperature(x.float(), 0.0)),
        "temperature 0, dtype of float16": dtype_of(lab.temperature(x.half(), 0.0)),
        "entropy, dtype of float32": dtype_of(lab.entropy(p.float())),
        "entropy, dtype of float16": dtype_of(lab.entropy(p.half())),
    }


@exercise.check(points=1)
def temperature_values(lab, draw):
    """temperature is right at 1, and above and below 1."""
    x = draw.strided(draw.normal(2, 3, 5))
    return {f"T = {T}": lab.temperature(x, T) for T in (0.25, 1.0, 2, 7.5)} | {
        "one dimension": lab.temperature(draw.normal(7), 0.5)
    }


@exercise.check(points=1)
def entropy_values(lab, draw):
    """entropy is right for distributions without zeros; V equal chances give log V."""
    return {
        "one dimension": lab.entropy(distribution(draw, 7)),
        "three dimensions": lab.entropy(distribution(draw, 2, 3, 5)),
        "11 equal chances": lab.entropy(torch.full((2, 11), 1 / 11, dtype=torch.float64)),
    }


@exercise.check(points=0.5, hidden=True)
def other_shapes(lab, draw):
    """Both are right for axes of length 1, for equal axes, and for more and fewer axes."""

    def ask(batch, V):
        x = draw.normal(*batch, V)
        return {
            "temperature": lab.temperature(x, 2.0),
            "temperature 0": lab.temperature(x, 0.0),
            "entropy": lab.entropy(distribution(draw, *batch, V)),
        }

    return draw.each_size(ask, batch=(2, 3), V=5)


@exercise.check(points=1)
def cold(lab, draw):
    """Towards T = 0 the probability goes to the largest score; at 0 all of it is there."""
    x = draw.normal(2, 3, 5)
    close = torch.tensor([[-1.0, 0.5, 0.5 + 1e-5, 0.2], [2.0, 1.0, -1.0, 2.0 - 1e-5]])
    closer = torch.tensor([[0.0, 2.0**-29, -1.0], [-(2.0**-28), 0.0, -3.0]], dtype=torch.float64)
    return {
        "T = 0.01": lab.temperature(x, 0.01),
        "T = 1e-6": lab.temperature(x, 1e-6),
        "T = 0.0": lab.temperature(x, 0.0),
        "T = 0": lab.temperature(x, 0),
        "T = 0, a close second": lab.temperature(close.double(), 0.0),
        "T = 0, a very close second": lab.temperature(closer, 0.0),
        "T = 1e-8, a very close second": lab.temperature(closer, 1e-8),
        "T = 0, one dimension": lab.temperature(1e3 * draw.normal(7), 0.0),
        "T = 0, all below zero": lab.temperature(-5.0 - draw.uniform(3, 7), 0.0),
    }


@exercise.check(points=0.5)
def too_small_to_divide(lab, draw):
    """Is right for a T so small that the quotient of a score and T is too large for the dtype."""
    x = draw.integers(1, 60, 3, 5).double()
    x[:, 2] = 70.0
    return {
        "float64, T = 1e-307": lab.temperature(x, 1e-307),
        "float32, T = 1e-37": lab.temperature(x.float(), 1e-37),
        "float16, T = 0.001": lab.temperature(x.half(), 1e-3),
        "float64, T = 1e-310": lab.temperature(x, 1e-310),
        "float32, T = 1e-40": lab.temperature(x.float(), 1e-40),
    }


@exercise.check(points=0.5, hidden=True)
def hot(lab, draw):
    """Towards infinite temperature every entry gets the same probability."""
    x = draw.normal(2, 3, 5)
    return {f"T = {T:g}": lab.temperature(x, T) for T in (100.0, 1e12)} | {
        "T = 1000, scores in the thousands": lab.temperature(2e3 * x, 1e3)
    }


@exercise.check(points=1)
def entropy_with_zeros(lab, draw):
    """An entry of 0 contributes 0, and a rare one counts in full; a sure thing has entropy 0."""
    p = torch.tensor([[0.0, 1.0, 0.0], [0.5, 0.0, 0.5], [0.25, 0.25, 0.5], [1e-300, 0.0, 1.0]])
    p = draw.strided(p.double())
    rare = torch.tensor([1e-300, 1e-200], dtype=torch.float64)
    nearly_sure = torch.stack([rare, torch.ones_like(rare)], -1)
    return {
        "float64": lab.entropy(p),
        "float32": lab.entropy(p.float()),
        # A number of them, because any limit from below should fail here in the same way.
        "number of rare outcomes that do not count in full": (
            (~(lab.entropy(nearly_sure) > 460 * rare)).sum()
        ),
        "number of these whose entropy is below 0": (lab.entropy(nearly_sure) < 0).sum(),
    }


@exercise.check(points=0.5, hidden=True)
def entropy_of_a_sure_thing(lab, draw):
    """Exactly 0 for a certain outcome: nothing is added."""
    sure = torch.eye(7, dtype=torch.float64)[draw.permutation(7)]
    return {
        "entropies": lab.entropy(sure),
        "number of certain outcomes with an entropy other than 0": (lab.entropy(sure) != 0).sum(),
    }


@exercise.check(points=0.5)
def gradients(lab, draw):
    """Gradients flow back through both."""
    x = draw.normal(3, 5)
    return {
        "temperature": draw.gradients(lambda x: lab.temperature(x, 2.5), x),
        "entropy": draw.gradients(lambda x: lab.entropy(torch.softmax(x, -1)), x),
        "entropy, at the probabilities": draw.gradients(lab.entropy, distribution(draw, 3, 5)),
    }


@exercise.check(points=0.5, hidden=True)
def inputs_kept(lab, draw):
    """Both leave their inputs unchanged."""
    x, p = draw.normal(3, 5), distribution(draw, 3, 5)
    made = [lab.temperature(x, T) for T in (0.0, 1e-300, 2.0)] + [lab.entropy(p)]
    # A function that returns nothing of use leaves its inputs unchanged, too.
    return {"inputs unchanged": draw.untouched(), "shapes": [list(one.shape) for one in made]}


exercise.promises(
    {
        "Softmax along the last axis at temperature T: sharp if T is small, flat if T is large": (
            "temperature_values cold hot"
        ),
        "logits: (..., V), finite scores, floating point.": "other_shapes",
        "T: 0 or more.": "cold",
        "At 1 the result is plain softmax; towards infinity, all entries get the same "
        "probability; at 0, the largest score": "temperature_values hot cold",
        "Every T above 0 that the dtype can hold is safe": "too_small_to_divide",
        "Probabilities, shape and dtype of `logits`.": "shapes_and_dtypes other_shapes",
        "Gradients flow back to `logits` if T is above 0; `logits` stays unchanged.": (
            "gradients inputs_kept"
        ),
        "The entropy -Σ_i p_i log p_i of each distribution along the last axis, in nats.": (
            "entropy_values"
        ),
        "p: (..., V), probabilities.": "other_shapes",
        "An entry of 0 contributes 0.": "entropy_with_zeros",
        "(...), in the dtype of `p`": "shapes_and_dtypes other_shapes",
        "exactly 0 if one entry is 1": "entropy_of_a_sure_thing",
        "log V if all V entries are equal": "entropy_values",
        "The result is exact: no small number is added to avoid log 0.": (
            "entropy_with_zeros entropy_of_a_sure_thing"
        ),
        "Gradients flow back to the entries above 0; `p` stays unchanged.": "gradients inputs_kept",
    },
    explained=["No row has its largest score twice."],
)
