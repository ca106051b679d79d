"""LayerNorm: each vector gets mean 0 and variance 1, whatever the other vectors are."""

from __future__ import annotations

import torch

from attnlab.checking.judges import Close
from attnlab.checking.observation import dtype_of
from attnlab.checking.weights import give_weights, weight_gradients
from attnlab.layers import LayerNorm
from gradekit.exercise import Exercise

exercise = Exercise(
    LayerNorm,
    forbids=[
        "torch.nn.functional.layer_norm",
        "torch.layer_norm",
        "torch.native_layer_norm",
        "torch.nn.functional.group_norm",
        "torch.nn.functional.batch_norm",
    ],
)

SPELLINGS = {
    "weight": ("gamma", "alpha", "a_2", "a", "g", "scale", "w", "gain"),
    "bias": ("beta", "b_2", "b", "shift", "offset"),
}


def built(lab, weights, **options):
    """A student's module with given parameters."""
    model = lab.LayerNorm(len(weights["weight"]), **options).double()
    give_weights(model, weights, SPELLINGS)
    return model


def drawn(draw, d):
    return {"weight": draw.normal(d), "bias": draw.normal(d)}


@exercise.check(points=1)
def parameters(lab, draw):
    """Has a weight of ones and a bias of zeros, d_model each, and keeps the dtype."""
    d = int(draw.integers(5, 12))
    model = lab.LayerNorm(d)
    return {
        "shapes": sorted(list(p.shape) for p in model.parameters()),
        "ones": sum(int((p == 1).sum()) for p in model.parameters()),
        "zeros": sum(int((p == 0).sum()) for p in model.parameters()),
        "dtype": dtype_of(model(draw.normal(2, d).float())),
        "dtype after .double()": dtype_of(model.double()(draw.normal(2, d))),
    }


@exercise.check(points=3)
def each_vector_alone(lab, draw):
    """Each vector has mean 0 and variance 1, whatever the other vectors of the batch are."""
    model = lab.LayerNorm(7).double()
    x = draw.normal(2, 5, 7) * draw.uniform(2, 5, 1, low=0.1, high=9) + 4 * draw.normal(2, 5, 1)
    crowd = torch.cat([x[:1], 100 * draw.normal(3, 5, 7)])
    out = model(x)
    return {
        "out": out,
        "means": out.mean(-1),
        "variances": out.var(-1, unbiased=False),
        "the first sentence among others": model(crowd)[0],
        "one vector alone": model(x[0, 0]),
    }


@exercise.check(points=1)
def equal_numbers(lab, draw):
    """A vector of equal numbers gives the bias, not NaN."""
    weights = drawn(draw, 6)
    model = built(lab, weights)
    return {f"{value}": model(torch.full((6,), value).double()) for value in (3.0, 0.0, -8.0)}


@exercise.check(points=2)
def weight_and_bias(lab, draw):
    """Scales each feature by its weight, then adds its bias."""
    return built(lab, drawn(draw, 7))(2 * draw.normal(3, 4, 7) + 1)


@exercise.check(points=2.5, hidden=True)
def where_eps_is(lab, draw):
    """Adds eps to the variance, under the root: right for tiny and huge vectors, for any eps."""
    weights, x = drawn(draw, 7), draw.normal(3, 4, 7)
    return {
        "scale 0.001": built(lab, weights)(1e-3 * x),
        "scale 1": built(lab, weights)(x),
        "scale 1000": built(lab, weights)(1e3 * x),
        "eps=0.5": built(lab, weights, eps=0.5)(x),
        "eps=1e-12, scale 0.001": built(lab, weights, eps=1e-12)(1e-3 * x),
    }


@exercise.check(points=1, hidden=True, judge=Close(atol=3e-2))
def far_from_zero(lab, draw):
    """Is accurate in float32 for a mean of 10,000, and in float16 for a mean of 300."""
    far = (1e4 + draw.normal(40, 64)).float()
    half = (300 + 10 * draw.normal(8, 16)).half()
    out = lab.LayerNorm(64).float()(far)
    rough = lab.LayerNorm(16).half()(half)
    return {"float32": out, "float16": rough}


@exercise.check(points=1.5, hidden=True)
def gradients(lab, draw):
    """Gradients reach x, through mean and variance, too, and both parameters; x is unchanged."""
    weights, x = drawn(draw, 5), draw.normal(2, 4, 5)
    model = built(lab, weights)
    to_x = draw.gradients(model, x)
    (model(x) * draw.normal(2, 4, 5)).sum().backward()
    return {
        "x": to_x,
        **weight_gradients(model, weights, SPELLINGS),
        "x as it was": draw.untouched(),
    }


@exercise.check(points=1, hidden=True)
def gradients_of_equal_numbers(lab, draw):
    """The gradient is finite, and right, for vectors of equal numbers, too."""
    model, x = built(lab, drawn(draw, 5)), draw.normal(2, 4, 5)
    x[0, 1], x[1, 3] = 3.0, 0.0
    return draw.gradients(model, x)


@exercise.check(points=1, hidden=True)
def other_sizes(lab, draw):
    """Is right for one feature, one vector, equal sizes, any axes before the last, any layout."""

    def ask(batch, T, d):
        return built(lab, drawn(draw, d))(draw.normal(*batch, T, d))

    spread = draw.strided(draw.normal(2, 5, 3))
    return {
        **draw.each_size(ask, batch=(2,), T=5, d=7),
        "not contiguous": built(lab, drawn(draw, 3))(spread),
        "after eval()": built(lab, drawn(draw, 3)).eval()(spread),
        "five axes": built(lab, drawn(draw, 3))(draw.normal(2, 1, 4, 5, 3)),
    }


exercise.promises(
    {
        "Normalise each vector by its own mean and variance": "each_vector_alone",
        "then scale and shift each feature": "weight_and_bias",
        "(the mean of the squared deviations, so divided by d_model)": "each_vector_alone",
        "(x - μ) / √(σ² + eps) · weight + bias": "weight_and_bias where_eps_is",
        "`weight` (ones at first) and `bias` (zeros at first), both (d_model,)": "parameters",
        "d_model: features of a vector.": "parameters",
        "eps: keeps the root away from 0.": "where_eps_is",
        "Normalise along the last axis; each vector alone, whatever the others are.": (
            "each_vector_alone other_sizes"
        ),
        "with any number of axes before the last": "other_sizes",
        "stays unchanged": "gradients",
        "in the dtype of `x` if the parameters have that dtype": "parameters",
        "accurate for vectors far from 0, too (mean 10,000, deviation 1)": "far_from_zero",
        "A vector of equal numbers gives the bias.": "equal_numbers",
        "Gradients flow back to `x` and to both parameters, through the mean and the variance": (
            "gradients"
        ),
        "they are finite for every finite vector": "gradients_of_equal_numbers",
    },
    explained=["(Lecture G calls them α and β, other texts γ and β.)"],
)
