"""test_layer_norm: a test that distinguishes right and wrong layer normalisations."""

from __future__ import annotations

import torch
from torch import nn

from attnlab.layers import LayerNorm
from gradekit.exercise import write_a_test

VERSIONS = [
    "Unbiased",
    "EpsOutsideTheRoot",
    "StandardDeviationAndEps",
    "NoEps",
    "EpsIgnored",
    "VarianceClamped",
    "OverTime",
    "OverTheBatch",
    "OverTheWholeSentence",
    "OverEverything",
    "MeanNotSubtracted",
    "DividedByTheVariance",
    "NoBias",
    "NoWeight",
    "BiasBeforeWeight",
    "NothingToLearn",
    "OneNumberForAllFeatures",
    "RandomStart",
    "StatisticsDetached",
    "VarianceDetached",
    "MeanOfSquares",
    "InPlace",
    "RunningStatistics",
]

exercise = write_a_test(
    "test_layer_norm",
    of=LayerNorm,
    exercise="layer_norm",
    points=5,
    title="Rejects wrong layer normalisations that students write, and accepts right ones.",
    versions=VERSIONS,
)


@exercise.check(points=3)
def openly_wrong(lab, draw):
    """Accepts your own layer normalisation; rejects it once it is obviously wrong."""

    class NoAnswer(lab.LayerNorm):
        def forward(self, x):
            return 0 * super().forward(x)

    class Unchanged(lab.LayerNorm):
        def forward(self, x):
            return x

    class Shorter(lab.LayerNorm):
        def forward(self, x):
            return super().forward(x)[..., :-1]

    class Reversed(lab.LayerNorm):
        def forward(self, x):
            return super().forward(x).flip(-1)

    class TwiceAsLarge(lab.LayerNorm):
        def forward(self, x):
            return 2 * super().forward(x)

    accepted = draw.accepted(lab.test_layer_norm, lab.LayerNorm)
    broken = {
        "rejects one that answers zero": NoAnswer,
        "rejects one that changes nothing": Unchanged,
        "rejects one that is twice as large": TwiceAsLarge,
        "rejects one that loses a feature": Shorter,
        "rejects one that reverses the features": Reversed,
    }
    rejected = {
        name: draw.rejects(lab.test_layer_norm, version) for name, version in broken.items()
    }
    raised = draw.raises(lab.test_layer_norm, Reversed)
    return {"accepts your own": accepted, **rejected, "what it raises": raised}


def filled(impl, d=7, **options):
    """A layer of a version with random parameters: the layer, its weight and its bias."""
    layer = impl(d, **options).double()
    weight, bias = layer.parameters()
    with torch.no_grad():
        weight.normal_()
        bias.normal_()
    return layer, weight, bias


def close(a, b, digits=1e-9):
    assert a.shape == b.shape
    assert (a - b).abs().max() < digits


def torchs(x, weight, bias, eps=1e-5):
    return nn.functional.layer_norm(x, (x.shape[-1],), weight, bias, eps)


@exercise.mistake(
    "Your test lets everything pass. Does it test `impl`, its argument, and does it reach an "
    "`assert` whose condition can be false?"
)
def asserts_nothing(impl):
    impl(7)(torch.randn(2, 3, 7))


@exercise.mistake(
    "Your test returns its verdict, True or False, but nothing reads it. Which statement turns a "
    "False into an error?"
)
def returns_its_verdict(impl):
    layer, weight, bias = filled(impl)
    x = torch.randn(2, 5, 7, dtype=torch.float64)
    if layer(x).shape != x.shape:
        raise AssertionError("shape")
    return torch.allclose(layer(x), torchs(x, weight, bias))


@exercise.mistake(
    "Your test checks only shapes. Nearly every wrong version has the right ones: with what could "
    "you compare the numbers?"
)
def shapes_only(impl):
    x = torch.randn(2, 5, 7)
    assert impl(7)(x).shape == x.shape


@exercise.mistake(
    "Your test compares ordinary vectors with a weight of ones and a bias of zeros. Many mistakes "
    "show only with other parameters, tiny vectors or equal numbers. Which of these do you try?"
)
def as_it_starts(impl):
    x = torch.randn(4, 5, 7, dtype=torch.float64)
    close(impl(7).double()(x), torchs(x, None, None), 1e-3)


@exercise.mistake(
    "Your test looks at means and variances and at no single number. Which wrong versions have the "
    "same means and variances?"
)
def statistics_only(impl):
    x = torch.randn(4, 5, 7, dtype=torch.float64)
    out = impl(7).double()(x)
    assert out.mean(-1).abs().max() < 1e-3
    assert (out.var(-1, unbiased=False) - 1).abs().max() < 1e-2


@exercise.mistake(
    "Your test compares outputs of ordinary size, and stops there. What else does the task "
    "promise: for tiny vectors, for equal numbers, for eps, for gradients, for x itself?"
)
def ordinary_vectors_only(impl):
    layer, weight, bias = filled(impl)
    x = torch.randn(4, 5, 7, dtype=torch.float64)
    close(layer(x), torchs(x, weight, bias), 1e-4)


@exercise.mistake(
    "Your test rejects right versions: it asks for parameters by the reference's names. Which call "
    "lists a module's parameters whatever they are called?"
)
def asks_for_names(impl):
    layer = impl(7).double()
    layer.load_state_dict(nn.LayerNorm(7).double().state_dict())
    x = torch.randn(4, 5, 7, dtype=torch.float64)
    close(layer(x), torchs(x, layer.weight, layer.bias))


@exercise.mistake(
    "Your test rejects right versions, because it asks for exactly equal numbers. Two right ways "
    "to compute the same differ in the last digits. How far apart may they be?"
)
def exactly_equal(impl):
    layer, weight, bias = filled(impl)
    x = torch.randn(4, 5, 7, dtype=torch.float64)
    assert torch.equal(layer(x), torchs(x, weight, bias))


@exercise.mistake(
    "Your test rejects right versions: it expects the variance that divides by d_model - 1. By "
    "what does the task of 6.5 divide?"
)
def unbiased_expected(impl):
    x = torch.randn(4, 5, 7, dtype=torch.float64)
    right = (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + 1e-5).sqrt()
    close(impl(7).double()(x), right)


@exercise.mistake(
    "Your test rejects wrong versions with another error than AssertionError. Which error does the "
    "task ask for?"
)
def another_error(impl):
    try:
        against_torch(impl)
    except AssertionError:
        raise ValueError("a wrong version") from None


@exercise.also_right
def against_torch(impl):
    torch.manual_seed(0)
    for d in (7, 5):
        for eps in (1e-5, 0.3):
            layer = impl(d, eps=eps).double()
            weight, bias = layer.parameters()
            assert weight.tolist() == [1.0] * d
            assert bias.tolist() == [0.0] * d
            weight.data, bias.data = torch.randn(2, d, dtype=torch.float64).unbind()
            for scale in (1e-3, 1.0, 1e3):
                x = scale * torch.randn(3, 4, d, dtype=torch.float64)
                x[0, 1] = 3.0
                kept, leaf = x.clone(), x.clone().requires_grad_()
                twin = x.clone().requires_grad_()
                for mode in (True, False):
                    close(layer.train(mode)(x), torchs(x, weight, bias, eps), 1e-8)
                assert torch.equal(x, kept)
                (layer(leaf) ** 2).sum().backward()
                (torchs(twin, weight, bias, eps) ** 2).sum().backward()
                assert torch.allclose(leaf.grad, twin.grad, atol=1e-7)
    far = 1e4 + torch.randn(20, 64)
    close(impl(64)(far).double(), torchs(far.double(), None, None), 1e-2)


@exercise.also_right
def by_the_formula(impl):
    def right(v, weight, bias, eps):
        deviations = v - v.sum() / len(v)
        return deviations / (deviations @ deviations / len(v) + eps) ** 0.5 * weight + bias

    generator = torch.Generator().manual_seed(3)
    layer = impl(6, eps=1e-4).double()
    parameters = list(layer.parameters())
    assert len(parameters) == 2
    assert torch.equal(parameters[0], torch.ones(6).double())
    assert torch.equal(parameters[1], torch.zeros(6).double())
    for parameter in parameters:
        torch.nn.init.normal_(parameter, generator=generator)
    x = torch.randn(2, 5, 6, generator=generator, dtype=torch.float64)
    x[0, 0] *= 1e-3
    x[1, 2] = 3.0
    before = x.clone()
    for training in (False, True):
        out = layer.train(training)(x)
        for b in range(2):
            for t in range(5):
                close(out[b, t], right(x[b, t], *parameters, 1e-4))
    assert torch.equal(x, before)
    default = impl(6).double()
    close(default(x)[0, 0], right(x[0, 0], 1.0, 0.0, 1e-5))
    leaf = x.clone().requires_grad_()
    (layer(leaf) ** 3).sum().backward()
    step = 1e-6 * torch.ones(6).double() * torch.arange(6)
    moved = x[1, 0] + step
    rise = (right(moved, *parameters, 1e-4) ** 3 - right(x[1, 0], *parameters, 1e-4) ** 3).sum()
    assert abs(float(rise - leaf.grad[1, 0] @ step)) < 1e-9
    assert bool(leaf.grad.isfinite().all())
    far = 1e4 + torch.randn(9, 6, generator=generator)
    assert (impl(6)(far) - default(far.double())).abs().max() < 2e-2
