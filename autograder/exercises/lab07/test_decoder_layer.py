"""test_decoder_layer: a test that finds decoder layers that see too much or too little."""

from __future__ import annotations

import torch

from attnlab.encoder_decoder import DecoderLayer
from gradekit.exercise import write_a_test

VERSIONS = [
    "ValuesFromX",
    "KeysFromX",
    "RolesSwapped",
    "CrossSeesTheTarget",
    "SelfSeesMemory",
    "SelfSeesBoth",
    "NoCross",
    "NoSelf",
    "MemoryDetached",
    "NoTargetMask",
    "NoMemoryMask",
    "NoMasks",
    "TargetMaskInCross",
    "MemoryMaskInSelf",
    "MasksExchanged",
    "BothMasksInCross",
    "BothMasksInSelf",
    "CausalCross",
    "AlwaysCausal",
    "TargetMaskInverted",
    "MemoryMaskInverted",
    "TargetMaskTransposed",
    "MasksKept",
    "MemoryZeroed",
]

exercise = write_a_test(
    "test_decoder_layer",
    of=DecoderLayer,
    exercise="decoder_layer",
    points=3,
    title="Rejects decoder layers that see too much or too little, and accepts right ones.",
    versions=VERSIONS,
)


@exercise.check(points=1)
def openly_wrong(lab, draw):
    """Accepts your own decoder layer; rejects it once it is obviously wrong."""

    class NoAnswer(lab.DecoderLayer):
        def forward(self, x, memory, **masks):
            return 0 * super().forward(x, memory, **masks)

    class BlindToTheSource(lab.DecoderLayer):
        def forward(self, x, memory, **masks):
            return super().forward(x, 0 * memory, **masks)

    class SeesTheFuture(lab.DecoderLayer):
        def forward(self, x, memory, *, target_mask=None, memory_mask=None):
            return super().forward(x, memory, memory_mask=memory_mask)

    class SeesPadding(lab.DecoderLayer):
        def forward(self, x, memory, *, target_mask=None, memory_mask=None):
            return super().forward(x, memory, target_mask=target_mask)

    accepted = draw.accepted(lab.test_decoder_layer, lab.DecoderLayer)
    broken = {
        "rejects one that answers zero": NoAnswer,
        "rejects one that never sees the source": BlindToTheSource,
        "rejects one that sees later words": SeesTheFuture,
        "rejects one that sees padding": SeesPadding,
    }
    rejected = {
        name: draw.rejects(lab.test_decoder_layer, version) for name, version in broken.items()
    }
    raised = draw.raises(lab.test_decoder_layer, BlindToTheSource)
    return {"accepts your own": accepted, **rejected, "what it raises": raised}


def filled(impl, norm="pre"):
    """A layer of a version with random parameters, not in training."""
    layer = impl(12, 3, 20, norm=norm).double()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.normal_(std=0.4)
    return layer.eval()


def texts(T, S):
    return torch.randn(2, T, 12).double(), torch.randn(2, S, 12).double()


def causal(T):
    return torch.ones(T, T).tril().bool()


def with_another(x, j):
    changed = x.clone()
    changed[:, j] = torch.randn(len(x), x.shape[-1]).double()
    return changed


def moved(before, after):
    """(T,): which outputs moved in some sentence."""
    return (after - before).abs().amax((0, 2)) > 1e-9


@exercise.mistake(
    "Your test lets everything pass. Does it test `impl`, its argument, and does it reach an "
    "`assert` whose condition can be false?"
)
def asserts_nothing(impl):
    filled(impl)(*texts(4, 6))


@exercise.mistake(
    "Your test returns its verdict, True or False, but nothing reads it. Which statement turns a "
    "False into an error?"
)
def returns_its_verdict(impl):
    layer, (x, memory) = filled(impl), texts(4, 6)
    out = layer(x, memory, target_mask=causal(4))
    if out.shape != x.shape:
        raise AssertionError("shape")
    return not moved(out, layer(with_another(x, 3), memory, target_mask=causal(4)))[:3].any()


@exercise.mistake(
    "Your test checks only shapes. Nearly every wrong version has the right ones: which numbers "
    "must change, and which must not, if one word changes?"
)
def shapes_only(impl):
    x, memory = texts(4, 6)
    assert filled(impl)(x, memory, target_mask=causal(4)).shape == x.shape


@exercise.mistake(
    "Your test only asserts that hidden words have no effect, so a layer that sees nothing at all "
    "would pass. What must an open word be able to do?"
)
def hidden_only(impl):
    layer, (x, memory) = filled(impl), texts(4, 6)
    visible = torch.arange(6) < 4
    out = layer(x, memory, target_mask=causal(4), memory_mask=visible)
    later = layer(with_another(x, 3), memory, target_mask=causal(4), memory_mask=visible)
    assert not moved(out, later)[:3].any()
    other = layer(x, with_another(memory, 5), target_mask=causal(4), memory_mask=visible)
    assert not moved(out, other).any()


@exercise.mistake(
    "Your test only asserts that open words have an effect, so a layer that ignores its masks "
    "would pass. What must a hidden word not do?"
)
def open_only(impl):
    layer, (x, memory) = filled(impl), texts(4, 6)
    out = layer(x, memory)
    assert moved(out, layer(with_another(x, 3), memory)).all()
    assert moved(out, layer(x, with_another(memory, 5))).all()


@exercise.mistake(
    "In your test, source and target are never equally long. Some wrong versions mix the two up "
    "only if that fits. Which lengths let it fit?"
)
def never_equally_long(impl):
    layer, (x, memory) = filled(impl), texts(4, 6)
    masks = {"target_mask": causal(4), "memory_mask": torch.arange(6) < 4}
    plain, out = layer(x, memory), layer(x, memory, **masks)
    for j in range(4):
        rows = moved(out, layer(with_another(x, j), memory, **masks))
        assert rows.tolist() == [i >= j for i in range(4)]
        assert moved(plain, layer(with_another(x, j), memory)).all()
    for j in range(6):
        rows = moved(out, layer(x, with_another(memory, j), **masks))
        assert bool(rows.all() if j < 4 else not rows.any())


@exercise.mistake(
    "Your test passes both masks in every call, so a version that swaps or joins them can hide. "
    "What should happen if only one is given, or none?"
)
def both_masks_always(impl):
    layer, (x, memory) = filled(impl), texts(5, 5)
    masks = {"target_mask": causal(5), "memory_mask": torch.arange(5) < 4}
    out = layer(x, memory, **masks)
    for j in range(5):
        rows = moved(out, layer(with_another(x, j), memory, **masks))
        assert rows.tolist() == [i >= j for i in range(5)]
    assert not moved(out, layer(x, with_another(memory, 4), **masks)).any()
    assert moved(out, layer(x, with_another(memory, 0), **masks)).all()


@exercise.mistake(
    "Your test rejects right versions: it takes True in a mask for forbidden, as torch's own "
    "layers do. What does True mean in the task of 7.2?"
)
def true_means_forbidden(impl):
    layer, (x, memory) = filled(impl), texts(4, 6)
    out = layer(x, memory, target_mask=~causal(4))
    assert not moved(out, layer(with_another(x, 3), memory, target_mask=~causal(4)))[:3].any()


@exercise.mistake(
    "Your test rejects right versions: it asks for parts by the reference's names. Which call "
    "lists a module's parameters whatever they are called?"
)
def asks_for_names(impl):
    layer = filled(impl)
    assert layer.self_attention is not layer.cross_attention
    assert layer.residual1 is not layer.residual2


@exercise.mistake(
    "Your test rejects right versions, because it asks for exactly equal numbers where two ways "
    "to compute the same differ in the last digits. How far apart may they be?"
)
def exactly_equal(impl):
    # So many sums, added in another order, are not all rounded alike on any processor.
    layer, (x, memory) = filled(impl), texts(9, 40)
    visible = torch.arange(40) % 3 > 0
    hidden = layer(x, memory, memory_mask=visible)
    assert torch.equal(hidden, layer(x, memory[:, visible]))


@exercise.mistake(
    "Your test rejects wrong versions with another error than AssertionError. Which error does the "
    "task ask for?"
)
def another_error(impl):
    try:
        by_changing_words(impl)
    except AssertionError:
        raise ValueError("a wrong version") from None


@exercise.also_right
def by_changing_words(impl):
    torch.manual_seed(1)
    for norm in ("pre", "post"):
        layer = filled(impl, norm)
        for T, S in ((4, 6), (5, 5), (6, 3)):
            x, memory = texts(T, S)
            visible = torch.arange(S) < S - 1
            plain = layer(x, memory)
            for own in (None, causal(T)):
                for cross in (None, visible[None, None, None]):
                    masks = {"target_mask": own, "memory_mask": cross}
                    out = layer(x, memory, **masks)
                    assert out.shape == x.shape
                    for j in range(T):
                        rows = moved(out, layer(with_another(x, j), memory, **masks))
                        assert rows.tolist() == [own is None or i >= j for i in range(T)]
                    for j in range(S):
                        rows = moved(out, layer(x, with_another(memory, j), **masks))
                        assert rows.tolist() == [cross is None or j < S - 1] * T
                    if cross is not None:
                        cut = layer(x, memory[:, :-1], target_mask=own)
                        assert torch.allclose(out, cut, atol=1e-8)
            assert torch.allclose(plain, layer(x, memory), atol=1e-12)
            leaf = memory.clone().requires_grad_()
            layer(x, leaf).square().sum().backward()
            assert leaf.grad is not None
            assert bool((leaf.grad != 0).any())


@exercise.also_right
def by_gradients(impl):
    """Which inputs reach which outputs, read from the gradient of each output."""
    layer = filled(impl)

    def reach(x, memory, **masks):
        x, memory = (y.clone().requires_grad_() for y in (x, memory))
        out = layer(x, memory, **masks)
        assert out.shape == x.shape
        direction = torch.randn(out.shape[-1]).double()
        rows = []
        for i in range(out.shape[1]):
            grads = torch.autograd.grad(
                (out[:, i] * direction).sum(), (x, memory), retain_graph=True, allow_unused=True
            )
            assert all(grad is not None for grad in grads)
            rows.append([grad.abs().sum(-1).sum(0) > 1e-12 for grad in grads])
        return [torch.stack(column) for column in zip(*rows, strict=True)]

    for T, S in ((5, 5), (3, 6)):
        x, memory = texts(T, S)
        visible = torch.tensor([False] + [True] * (S - 1))[None, None, None]
        for own in (None, causal(T)):
            for cross in (None, visible):
                among_target, over_source = reach(x, memory, target_mask=own, memory_mask=cross)
                allowed = causal(T) if own is not None else torch.ones(T, T).bool()
                assert torch.equal(among_target, allowed)
                open_words = visible[0, 0, 0] if cross is not None else torch.ones(S).bool()
                assert torch.equal(over_source, open_words.expand(T, S))
        without = layer(x, memory[:, 1:], target_mask=causal(T))
        with_mask = layer(x, memory, target_mask=causal(T), memory_mask=visible)
        assert (without - with_mask).abs().max() < 1e-8
