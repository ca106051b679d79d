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
SQUARE = {"d_model": 12, "num_heads": 3, "d_k": 4, "d_v": 4}
MASKS = ((4, 7), (3, 4, 7), (2, 1, 1, 7), (2, 3, 4, 7))


def filled(impl, sizes=SIZES, **options):
    """A layer of a version with random weights and biases."""
    model = impl(**sizes, **options).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_()
    return model


def texts(q=4, k=7, d_model=10):
    """Three different inputs."""
    return [torch.randn(2, length, d_model, dtype=torch.float64) for length in (q, k, k)]


def close(a, b, digits=1e-9):
    assert a.shape == b.shape
    assert (a - b).abs().max() < digits


def numbers(impl, masks=MASKS, weights=True, sizes=SIZES, **options):
    """Outputs, and if asked for weights, are torch's: without a mask and with masks."""
    model, (q, k, v) = filled(impl, sizes, **options).eval(), texts(d_model=sizes["d_model"])
    for shape in (None, *masks):
        mask = None if shape is None else torch.rand(shape) < 0.6
        if mask is not None:
            mask[..., 0] = True
        out, seen = torch_equivalent(model, **sizes)(q, k, v, mask)
        if weights:
            close(model(q, k, v, mask, need_weights=True)[1], seen)
        answer = model(q, k, v, mask, need_weights=weights)
        close(answer[0] if weights else answer, out)


def nobody(impl):
    """A query with no allowed key gets zeros from its heads."""
    nothing = torch.zeros(4, 7, dtype=torch.bool)
    out, weights = filled(impl).eval()(*texts(), nothing, need_weights=True)
    assert not weights.any()
    close(out, out[:1, :1].expand_as(out))


def learns(impl):
    """A gradient reaches the queries."""
    q, k, v = texts()
    filled(impl).eval()(q.requires_grad_(), k, v, need_weights=True)[0].sum().backward()
    assert float(q.grad.abs().sum()) > 0


def drops(impl, where=True):
    """While training, two runs differ, and no number of the output is dropped."""
    model, inputs = filled(impl, dropout=0.5), texts()
    out, other = (model(*inputs, need_weights=True)[0] for _ in range(2))
    assert not torch.equal(out, other)
    assert out.all() or not where


def alone(impl):
    assert isinstance(filled(impl)(*texts()), torch.Tensor)


def asserted(*tests, impl):
    for test in tests:
        test(impl)


NOTHING_COMPARED = (
    "Your test accepts your own layer, and also one that answers only zeros. Which `assert` in it "
    "compares numbers of the output, and does its failure leave your test?"
)


@exercise.mistake(NOTHING_COMPARED)
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


@exercise.mistake(NOTHING_COMPARED)
def shapes_only(impl):
    q, k, v = texts()
    out, weights = filled(impl)(q, k, v, need_weights=True)
    assert out.shape == q.shape
    assert weights.shape == (2, 3, 4, 7)


@exercise.mistake(
    "Your test accepts a layer that takes its values from the keys' text. Are k and v different "
    "texts in it, and does an `assert` compare the output with the right one?"
)
def one_text_for_all(impl):
    model = filled(impl).eval()
    x, changed = texts()[0], torch_equivalent(model, **SIZES)
    mask = torch.rand(2, 3, 4, 4) < 0.6
    mask[..., 0] = True
    for m in (None, mask):
        mine, torchs = model(x, x, x, m, need_weights=True), changed(x, x, x, m)
        close(mine[0], torchs[0])
        close(mine[1], torchs[1])


@exercise.mistake(
    "Your test accepts a layer that ignores its mask. Which shapes of mask does the task promise, "
    "and where does your test compare outputs with one?"
)
def no_masks(impl):
    numbers(impl, masks=())


@exercise.mistake(
    "Your test accepts a layer that ignores its mask, and one that reports the same weights for "
    "all heads. Which arguments and which results does it never look at?"
)
def output_only(impl):
    numbers(impl, masks=(), weights=False)


@exercise.mistake(
    "Your test accepts a layer that reports the same weights for all heads. With what does it "
    "compare the weights that `need_weights` returns?"
)
def weights_not_compared(impl):
    numbers(impl, weights=False, dropout=0.5)
    asserted(nobody, learns, drops, impl=impl)


@exercise.mistake(
    "Your test asks for layers by the reference's names, but right versions may store their "
    "weights differently. What finds them wherever they are?"
)
def asks_for_names(impl):
    assert filled(impl).q_proj.weight.shape == (12, 10)
    assert filled(impl).out_proj.weight.shape == (10, 15)
    numbers(impl, dropout=0.5)
    asserted(nobody, learns, drops, alone, impl=impl)


@exercise.mistake(
    "Your test uses square weights, and these do not show whether they are transposed, so it "
    "rejects right versions. Which sizes make no weight square?"
)
def square_weights(impl):
    numbers(impl, sizes=SQUARE, dropout=0.5)
    asserted(nobody, learns, drops, alone, impl=impl)


@exercise.mistake(
    "Your test rejects right versions, too. Does it allow for rounding, and does it compare like "
    "with like: the same weights on both sides, dropout switched off, a key for every query?"
)
def exactly_equal(impl):
    model, inputs = filled(impl), texts()
    assert torch.equal(model(*inputs), torch_equivalent(model, **SIZES)(*inputs)[0])


@exercise.mistake(
    "Your test compares outputs and weights, even with masks, and stops there. What else does the "
    "task promise: for a query that may attend to no key, for dropout, for gradients?"
)
def ordinary_cases_only(impl):
    numbers(impl)
    alone(impl)


@exercise.mistake(
    "Your test accepts layers that are wrong only for a query with no allowed key. What does the "
    "task promise for it, and how could a test see it without torch's NaN?"
)
def no_blocked_query(impl):
    numbers(impl, dropout=0.5)
    asserted(learns, drops, alone, impl=impl)


DROPOUT_UNSEEN = (
    "Your test accepts layers whose dropout is wrong. What does the task promise about it, while "
    "training and after `eval()`, and where does your test ask?"
)


@exercise.mistake(DROPOUT_UNSEEN)
def never_trains(impl):
    numbers(impl, dropout=0.5)
    asserted(nobody, learns, alone, impl=impl)


@exercise.mistake(DROPOUT_UNSEEN)
def never_drops(impl):
    numbers(impl)
    asserted(nobody, learns, alone, impl=impl)


@exercise.mistake(
    "Your test notices whether there is dropout, but not which numbers it drops. What would the "
    "output look like if its own features were dropped?"
)
def dropout_anywhere(impl):
    numbers(impl, dropout=0.5)
    asserted(nobody, learns, alone, impl=impl)
    drops(impl, where=False)


@exercise.mistake(
    "Your test accepts a layer whose attention weights are cut off from torch's graph. What does "
    "the task promise about gradients, and at which input would this show?"
)
def no_gradient(impl):
    numbers(impl, dropout=0.5)
    asserted(nobody, drops, alone, impl=impl)


@exercise.mistake(
    "Your test accepts a layer that always returns a pair. In which two ways can the layer be "
    "called, according to the task?"
)
def always_with_weights(impl):
    numbers(impl, dropout=0.5)
    asserted(nobody, learns, drops, impl=impl)


@exercise.mistake(
    "Your test accepts a layer that applies the first head's mask to all heads. Which shapes of "
    "mask does the task promise, and which of them does your test pass?"
)
def one_mask_for_all_heads(impl):
    numbers(impl, masks=((4, 7), (2, 1, 1, 7)), dropout=0.5)
    asserted(nobody, learns, drops, alone, impl=impl)


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
    bare = impl(6, 4, d_k=3, d_v=2, bias=False).double()
    assert torch.allclose(bare(q, k, v), torch_equivalent(bare, 6, 4, 3, 2)(q, k, v)[0], atol=1e-8)
