"""test_multi_head: a test that distinguishes right and wrong versions of multi-head attention."""

from __future__ import annotations

import torch
from torch import nn

from attnlab.checking.torch_attention import torch_equivalent
from attnlab.multihead import MultiHeadAttention, merge_heads, split_heads
from gradekit.exercise import write_a_test

VERSIONS = [
    "ScaledByModel",
    "ScaledByAllHeads",
    "NotScaled",
    "NoOutputProjection",
    "QueriesAndKeysSwapped",
    "KeysAndValuesSwapped",
    "ValuesMadeOfKeys",
    "AlwaysSelfAttention",
    "HeadsAveraged",
    "GivenSizesIgnored",
    "HeadsInAPlainList",
    "BiasOnceForEachHead",
    "SplitWithoutTranspose",
    "HeadsInterleaved",
    "MergedWithoutTranspose",
    "HeadsAttendToHeads",
    "SoftmaxOverHeads",
    "FirstHeadsMask",
    "MaskIgnored",
    "MaskInverted",
    "MaskAfterSoftmax",
    "NobodyGivesNan",
    "NobodyGivesTheMean",
    "DropoutAfterEval",
    "DropoutOnTheOutput",
    "NoDropout",
    "WeightsDetached",
    "AlwaysAPair",
    "WeightsAveraged",
    "ScoresReturned",
]

exercise = write_a_test(
    "test_multi_head",
    of=MultiHeadAttention,
    exercise="multi_head_attention",
    points=6,
    title="Rejects wrong versions of multi-head attention that students write, accepts right ones.",
    versions=VERSIONS,
    uses=[split_heads, merge_heads],
)


@exercise.check(points=4)
def openly_wrong(lab, draw):
    """Accepts your own multi-head attention; rejects it once it is obviously wrong."""

    class NoAnswer(lab.MultiHeadAttention):
        def forward(self, q, k, v, mask=None, need_weights=False):
            out, weights = super().forward(q, k, v, mask, need_weights=True)
            return (0 * out, weights) if need_weights else 0 * out

    class NoMask(lab.MultiHeadAttention):
        def forward(self, q, k, v, mask=None, need_weights=False):
            return super().forward(q, k, v, None, need_weights)

    class KeysForValues(lab.MultiHeadAttention):
        def forward(self, q, k, v, mask=None, need_weights=False):
            return super().forward(q, k, k, mask, need_weights)

    class SameWeightsForAll(lab.MultiHeadAttention):
        def forward(self, q, k, v, mask=None, need_weights=False):
            out, weights = super().forward(q, k, v, mask, need_weights=True)
            mean = weights.mean(1, keepdim=True).expand_as(weights)
            return (out, mean) if need_weights else out

    accepted = draw.accepted(lab.test_multi_head, lab.MultiHeadAttention)
    broken = {
        "rejects one that answers zero": NoAnswer,
        "rejects one that ignores the mask": NoMask,
        "rejects one that takes its values from the keys' text": KeysForValues,
        "rejects one that reports the same weights for all heads": SameWeightsForAll,
    }
    rejected = {
        name: draw.rejects(lab.test_multi_head, version) for name, version in broken.items()
    }
    return {"accepts your own": accepted, **rejected}


SIZES = {"d_model": 10, "num_heads": 3, "d_k": 4, "d_v": 5}


def filled(impl, **options):
    """A layer of a version with random weights and biases."""
    model = impl(**SIZES, **options).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_()
    return model


def texts(q=4, k=7):
    """Three different inputs."""
    return [torch.randn(2, length, 10, dtype=torch.float64) for length in (q, k, k)]


def close(a, b, digits=1e-9):
    assert a.shape == b.shape
    assert (a - b).abs().max() < digits


@exercise.mistake(
    "Your test lets everything pass. Does it test `impl`, its argument, and does it reach an "
    "`assert` whose condition can be false?"
)
def asserts_nothing(impl):
    filled(impl)(*texts())


@exercise.mistake(
    "Your test returns its verdict, True or False, but nothing reads it. Which statement turns a "
    "False into an error?"
)
def returns_its_verdict(impl):
    model, inputs = filled(impl), texts()
    if model(*inputs).shape != inputs[0].shape:
        raise AssertionError("shape")
    return torch.allclose(model(*inputs), torch_equivalent(model, **SIZES)(*inputs)[0])


@exercise.mistake(
    "Your test checks only shapes. Nearly every wrong version has the right ones: with what could "
    "you compare the numbers?"
)
def shapes_only(impl):
    q, k, v = texts()
    out, weights = filled(impl)(q, k, v, need_weights=True)
    assert out.shape == q.shape
    assert weights.shape == (2, 3, 4, 7)


@exercise.mistake(
    "In your test, queries, keys and values come from one text, so the test cannot see which of "
    "them went where. Which inputs distinguish the three?"
)
def one_text_for_all(impl):
    model = filled(impl).eval()
    x, changed = texts()[0], torch_equivalent(model, **SIZES)
    mask = torch.rand(2, 3, 4, 4) < 0.6
    mask[..., 0] = True
    for m in (None, mask):
        for mine, torchs in zip(
            model(x, x, x, m, need_weights=True), changed(x, x, x, m), strict=True
        ):
            close(mine, torchs)


@exercise.mistake(
    "Your test never passes a mask, so all mistakes with masks pass. Which shapes of mask does the "
    "task promise?"
)
def no_masks(impl):
    model, inputs = filled(impl).eval(), texts()
    mine, torchs = model(*inputs, need_weights=True), torch_equivalent(model, **SIZES)(*inputs)
    close(mine[0], torchs[0])
    close(mine[1], torchs[1])


@exercise.mistake(
    "Your test asks for layers by the reference's names, but right versions may store their "
    "weights differently. What finds them wherever they are?"
)
def asks_for_names(impl):
    model, inputs = filled(impl), texts()
    assert model.q_proj.weight.shape == (12, 10)
    assert model.out_proj.weight.shape == (10, 15)
    close(model(*inputs), torch_equivalent(model, **SIZES)(*inputs)[0])


@exercise.mistake(
    "Your test uses square weights, and these do not show whether they are transposed, so it "
    "rejects right versions. Which sizes make no weight square?"
)
def square_weights(impl):
    model = impl(12, 3).double().eval()
    q, k, v = (torch.randn(2, n, 12, dtype=torch.float64) for n in (4, 7, 7))
    close(model(q, k, v), torch_equivalent(model, 12, 3, 4, 4)(q, k, v)[0])


@exercise.mistake(
    "Your test rejects right versions, because it asks for exactly equal numbers. Two right ways "
    "to add up the same numbers differ in the last digit: how far apart may they be?"
)
def exactly_equal(impl):
    model, inputs = filled(impl), texts()
    assert torch.equal(model(*inputs), torch_equivalent(model, **SIZES)(*inputs)[0])


@exercise.mistake(
    "Your test compares outputs and weights, even with masks, and stops there. What else does the "
    "task promise: for a query that may attend to no key, for dropout, for gradients?"
)
def ordinary_cases_only(impl):
    model, (q, k, v) = filled(impl), texts()
    changed = torch_equivalent(model, **SIZES)
    mask = torch.rand(2, 3, 4, 7) < 0.6
    mask[..., 0] = True
    for m in (None, mask):
        mine, torchs = model(q, k, v, m, need_weights=True), changed(q, k, v, m)
        close(mine[0], torchs[0])
        close(mine[1], torchs[1])
        close(model(q, k, v, m), torchs[0])


@exercise.also_right
def with_many_sizes(impl):
    for d_model, heads, d_k, d_v in ((10, 3, 4, 5), (7, 2, 5, 3), (9, 1, 4, 2)):
        given = (d_model, heads, d_k, d_v)
        model = impl(*given, dropout=0.5).double()
        for parameter in model.parameters():
            nn.init.uniform_(parameter, -1, 1)
        changed = torch_equivalent(model, *given)
        total = (d_model + 1) * heads * (2 * d_k + d_v) + (heads * d_v + 1) * d_model
        assert sum(p.numel() for p in model.parameters()) == total
        q, k, v = (torch.randn(3, n, d_model, dtype=torch.float64) for n in (5, 6, 6))
        mask = torch.rand(3, heads, 5, 6) < 0.5
        mask[..., 2] = True
        model.eval()
        for m in (None, mask, mask[:, :1], mask[0, 0], mask[:, :1, :1]):
            out, weights = model(q, k, v, m, True)
            torchs = changed(q, k, v, m)
            torch.testing.assert_close(out, torchs[0], atol=1e-9, rtol=0)
            torch.testing.assert_close(weights, torchs[1], atol=1e-9, rtol=0)
            torch.testing.assert_close(model(q, k, v, m), out, atol=1e-9, rtol=0)
        mask[:, :, 3] = False
        out, weights = model(q, k, v, mask, need_weights=True)
        assert not weights[:, :, 3].any()
        assert bool(((out[:, 3] - out[0, 3]).abs() < 1e-9).all())
        leaf = q.clone().requires_grad_()
        model(leaf, k, v)[0, 0, 0].backward()
        assert leaf.grad is not None and float(leaf.grad.abs().sum()) > 1e-9  # noqa: PT018
        model.train()
        noisy = model(q, k, v)
        assert bool(((noisy - model(q, k, v)).abs() > 1e-6).any())
        assert bool((noisy.abs() > 1e-12).all())


@exercise.also_right
def by_properties_and_torch(impl):
    generator = torch.Generator().manual_seed(4)

    def random(*shape):
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    model = impl(6, 4, d_k=3, d_v=2, bias=True).double()
    for parameter in model.parameters():
        parameter.data = random(*parameter.shape)
    changed = torch_equivalent(model, 6, 4, 3, 2)
    q, k, v = random(2, 3, 6), random(2, 5, 6), random(2, 5, 6)
    out = model(q, k, v)
    if not isinstance(out, torch.Tensor):
        raise AssertionError("a pair instead of the output alone")
    allowed = random(2, 4, 3, 5) > -0.3
    allowed[..., 1] = True
    for mask in (torch.ones(3, 5, dtype=torch.bool), allowed, allowed[1:, 0]):
        got, want = model(q, k, v, mask, need_weights=True), changed(q, k, v, mask)
        assert all(torch.allclose(a, b, atol=1e-8) for a, b in zip(got, want, strict=True))
    assert torch.allclose(out, changed(q, k, v)[0], atol=1e-8)
    nobody = torch.zeros(3, 5, dtype=torch.bool)
    assert torch.allclose(model(q, k, v, nobody), model(q, k, 0 * v, nobody), atol=1e-8)
    assert not model(q, k, v, nobody, need_weights=True)[1].any()
    for i, leaf in enumerate((q, k, v)):
        inputs = [q, k, v]
        inputs[i] = leaf.clone().requires_grad_()
        (grad,) = torch.autograd.grad(model(*inputs)[0, 0, 0], inputs[i])
        assert bool(grad.any())
    half = impl(6, 4, d_k=3, d_v=2, dropout=0.5).double()
    assert not torch.equal(half(q, k, v), half(q, k, v))
    assert bool(half(q, k, v).all())
    half.eval()
    assert torch.allclose(half(q, k, v), torch_equivalent(half, 6, 4, 3, 2)(q, k, v)[0], atol=1e-8)
