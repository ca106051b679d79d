"""DecoderLayer: self-attention, attention to the encoder's output, the feed-forward network."""

from __future__ import annotations

import torch
from torch import nn

from attnlab.checking.layer_weights import (
    fill_layer,
    layer_shapes,
    layer_spellings,
    torch_layer,
)
from attnlab.checking.observation import dtype_of
from attnlab.checking.weights import weight_gradients
from attnlab.encoder_decoder import DecoderLayer
from gradekit.exercise import Exercise

exercise = Exercise(DecoderLayer)

MODES = ("pre", "post")


def drawn_weights(draw, d_model=12, d_ff=20):
    """Random weights for a layer, by the names in the task; norms included."""
    shapes = layer_shapes(d_model, d_ff, decoder=True)
    return {name: 0.5 * draw.normal(*shape) for name, shape in shapes.items()}


def built(lab, weights, norm, num_heads=3, **options):
    """A student's layer with given weights, not in training; all its other weights are 0."""
    d_ff, d_model = weights["feed_forward.linear1.weight"].shape
    layer = lab.DecoderLayer(d_model, num_heads, d_ff, norm=norm, **options).double()
    fill_layer(layer, weights)
    return layer.eval()


def lengths(*valid, S):
    """(B, S): True at the first positions of each sentence."""
    return torch.arange(S) < torch.tensor(valid)[:, None]


def causal(T):
    return torch.ones(T, T).tril().bool()


def any_mask(draw, *shape):
    """A random mask in which every position may attend to some other."""
    mask = draw.uniform(*shape) < 0.6
    mask[..., 0] = True
    return mask


def moved(layer, x, memory, other_x, other_memory, **masks):
    """(B, T): which outputs change."""
    before = layer(x, memory, **masks)
    return (layer(other_x, other_memory, **masks) - before).abs().amax(-1) > 1e-9


@exercise.check(points=1)
def parts(lab, draw):
    """Has the parameters of its six parts, built by you, and keeps shape and dtype."""
    d_ff = int(draw.integers(13, 30))
    x, memory = draw.normal(2, 5, 12).float(), draw.normal(2, 5, 12).float()
    seen = {}
    for norm in MODES:
        layer = lab.DecoderLayer(12, 3, d_ff, norm=norm)
        out = layer(x, memory)
        seen[norm] = {
            "numbers in all parameters": sum(p.numel() for p in layer.parameters()),
            "torch's own layer is inside": any(
                isinstance(module, (nn.TransformerEncoderLayer, nn.TransformerDecoderLayer))
                for module in layer.modules()
            ),
            "shape": list(out.shape) if isinstance(out, torch.Tensor) else type(out).__name__,
            "dtype": dtype_of(out),
        }
    return seen


def beside_torchs(lab, draw, norm):
    """The outputs of a layer, and whether torch's layer with the same weights has the same."""
    weights, seen = drawn_weights(draw), {}
    layer, torchs = built(lab, weights, norm), torch_layer(weights, 3, norm)
    for name, T, S in (("T = 4, S = 6", 4, 6), ("T = 5, S = 5", 5, 5)):
        x, memory, valid = 2 * draw.normal(2, T, 12), 2 * draw.normal(2, S, 12), lengths(S, 3, S=S)
        alone = layer(x, memory)
        masked = layer(x, memory, target_mask=causal(T), memory_mask=valid[:, None, None])
        expected = torchs(x, memory, tgt_mask=~causal(T), memory_key_padding_mask=~valid)
        seen[name] = {
            "output": alone,
            "equal to torch's": torch.allclose(alone, torchs(x, memory)),
            "output with both masks": masked,
            "equal to torch's, with both masks": torch.allclose(masked, expected),
        }
    return seen


@exercise.check(points=1.5)
def pre_norm(lab, draw):
    """Pre-norm: equals torch's nn.TransformerDecoderLayer, with S ≠ T and S = T."""
    return beside_torchs(lab, draw, "pre")


@exercise.check(points=1.5)
def post_norm(lab, draw):
    """Post-norm: equals torch's nn.TransformerDecoderLayer, with S ≠ T and S = T."""
    return beside_torchs(lab, draw, "post")


@exercise.check(points=2)
def memory_mask(lab, draw):
    """A masked position of memory has no effect; an open one has an effect on every output."""
    x, memory, valid = draw.normal(2, 4, 12), draw.normal(2, 6, 12), lengths(6, 3, S=6)
    hidden, opened = memory.clone(), memory.clone()
    hidden[1, 3:] = 50 * draw.normal(3, 12)
    opened[:, 1] = draw.normal(2, 12)
    masks = {"target_mask": causal(4), "memory_mask": valid[:, None, None]}
    seen = {}
    for norm in MODES:
        layer = built(lab, drawn_weights(draw), norm)
        short = layer(x[1:], memory[1:, :3], target_mask=causal(4))
        seen[norm] = {
            "moves with a masked position": moved(layer, x, memory, x, hidden, **masks),
            "moves with an open position": moved(layer, x, memory, x, opened, **masks),
            "masked positions are as good as not there": torch.allclose(
                layer(x, memory, **masks)[1:], short
            ),
        }
    return seen


@exercise.check(points=1.5)
def target_mask(lab, draw):
    """With a causal mask, outputs before a changed target word stay, the others move."""
    x, memory = draw.normal(2, 5, 12), draw.normal(2, 7, 12)
    seen = {}
    for norm in MODES:
        layer = built(lab, drawn_weights(draw), norm)
        for j in (0, 2, 4):
            other = x.clone()
            other[:, j] = draw.normal(2, 12)
            seen[f"{norm}, outputs that move with word {j}"] = moved(
                layer, x, memory, other, memory, target_mask=causal(5)
            )
        out = layer(x, memory, target_mask=causal(5))
        seen[f"{norm}, the first two words are as if alone"] = torch.allclose(
            layer(x[:, :2], memory, target_mask=causal(2)), out[:, :2]
        )
    return seen


@exercise.check(points=2, hidden=True)
def any_kind_of_mask(lab, draw):
    """Each mask may have any shape that broadcasts; None is no mask, even after one."""
    x, memory = draw.normal(2, 4, 12), draw.normal(2, 6, 12)
    equal = draw.normal(2, 4, 12)
    shapes = {
        "(T, S)": (4,),
        "(B, 1, 1, S)": (2, 1, 1),
        "(B, 1, T, S)": (2, 1, 4),
        "(B, h, T, S)": (2, 3, 4),
        "(h, 1, S)": (3, 1),
    }
    seen = {}
    for norm in MODES:
        layer = built(lab, drawn_weights(draw), norm)
        for name, shape in shapes.items():
            for other, S in ((memory, 6), (equal, 4)):
                own, cross = any_mask(draw, *shape, 4), any_mask(draw, *shape, S)
                found = {
                    "target_mask": layer(x, other, target_mask=own),
                    "memory_mask": layer(x, other, memory_mask=cross),
                    "both": layer(x, other, target_mask=own, memory_mask=cross),
                    "neither, afterwards": layer(x, other),
                }
                seen[f"{norm}, {name}, S = {S}"] = found
    three, source = draw.normal(3, 3, 12), draw.normal(3, 3, 12)
    seen["three sentences, words and heads"] = built(lab, drawn_weights(draw), "pre")(
        three, source, target_mask=causal(3), memory_mask=any_mask(draw, 3, 1, 1, 3)
    )
    return seen


def dropped(lab, weights, part):
    """Where a layer with dropout=0.5 drops what one sublayer adds to a stream of zeros.

    The other two add nothing. This one makes ones, of which dropout inside it leaves 0 or 2; it
    adds 10 to them, and the residual's dropout leaves nothing or twice that.
    """
    ones = {name: torch.zeros_like(value) for name, value in weights.items()}
    if part == "feed_forward":
        ones["feed_forward.linear1.bias"] += 1
        ones["feed_forward.linear2.weight"].fill_diagonal_(1)
        ones["feed_forward.linear2.bias"] += 10
    else:
        ones[f"{part}.v_proj.bias"] += 1
        ones[f"{part}.out_proj.weight"].fill_diagonal_(1)
        ones[f"{part}.out_proj.bias"] += 10
    layer = built(lab, ones, "pre", num_heads=2, dropout=0.5).train()
    nothing = torch.zeros(100, 1, 8, dtype=torch.float64)
    numbers = set(layer(nothing, nothing).round(decimals=6).flatten().tolist())
    return {
        "inside": bool(numbers & {10.0, 20.0}),
        "of what it adds": 0.0 in numbers,
        "and nothing else": numbers <= {0.0, 20.0, 24.0},
    }


@exercise.check(points=1.5, hidden=True)
def dropout(lab, draw):
    """Drops in all six parts while training, and nowhere else; nothing after `eval()`."""
    x, memory, weights = draw.normal(2, 5, 8), draw.normal(2, 5, 8), drawn_weights(draw, 8, 11)
    seen = {
        f"{part} drops": dropped(lab, weights, part)
        for part in ("self_attention", "cross_attention", "feed_forward")
    }
    for norm in MODES:
        right = built(lab, weights, norm, num_heads=2)
        layer = built(lab, weights, norm, num_heads=2, dropout=1.0)
        nothing_added = x
        if norm == "post":
            for number in (1, 2, 3):
                scale, shift = (weights[f"residual{number}.norm.{w}"] for w in ("weight", "bias"))
                nothing_added = nn.functional.layer_norm(nothing_added, (8,), scale, shift)
        seen[norm] = {
            "dropout=1: all that is added is dropped": torch.allclose(
                layer.train()(x, memory), nothing_added
            ),
            "dropout=1, eval(): nothing is": torch.allclose(
                layer.eval()(x, memory), right(x, memory)
            ),
            "no dropout given: nothing is": torch.allclose(
                right.train()(x, memory), right.eval()(x, memory)
            ),
        }
    return seen


@exercise.check(points=1.5, hidden=True)
def other_sizes(lab, draw):
    """Is right for one sentence, word, head or feature, for equal sizes, and on views."""

    def ask(B, T, S, h, d_k, d_ff):
        weights = drawn_weights(draw, h * d_k, d_ff)
        x, memory = (draw.strided(draw.normal(B, n, h * d_k)) for n in (T, S))
        masks = {"target_mask": causal(T), "memory_mask": any_mask(draw, B, 1, 1, S)}
        return [built(lab, weights, norm, num_heads=h)(x, memory, **masks) for norm in MODES]

    return draw.each_size(ask, B=2, T=4, S=6, h=3, d_k=5, d_ff=7)


@exercise.check(points=1.5, hidden=True)
def gradients(lab, draw):
    """Gradients reach x, memory and all parameters; inputs are unchanged; "pre" by default."""
    x, memory, weights = draw.normal(2, 4, 12), draw.normal(2, 6, 12), drawn_weights(draw)
    direction = draw.normal(2, 4, 12)
    masks = {"target_mask": causal(4), "memory_mask": any_mask(draw, 2, 1, 1, 6)}
    seen = {}
    for norm in MODES:
        layer = built(lab, weights, norm)
        with torch.no_grad():
            seen[f"{norm}, output without gradients"] = layer(x, memory, **masks)
        seen[f"{norm}, x and memory"] = draw.gradients(
            lambda x, memory, m=layer: m(x, memory, **masks), x, memory
        )
        (layer(x, memory, **masks) * direction).sum().backward()
        spellings = layer_spellings(layer, decoder=True)
        seen[f"{norm}, parameters"] = weight_gradients(layer, weights, spellings)
    default = lab.DecoderLayer(12, 3, 20).double().eval()
    fill_layer(default, weights)
    return {
        **seen,
        "no norm given": default(x, memory, **masks),
        "x and memory as they were": draw.untouched(),
    }
