"""EncoderLayer: self-attention, then the feed-forward network, each inside a residual."""

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
from attnlab.encoder_decoder import EncoderLayer
from gradekit.exercise import Exercise

exercise = Exercise(EncoderLayer)

MODES = ("pre", "post")


def drawn_weights(draw, d_model=12, d_ff=20):
    """Random weights for a layer, by the names in the task; norms included."""
    shapes = layer_shapes(d_model, d_ff)
    return {name: 0.5 * draw.normal(*shape) for name, shape in shapes.items()}


def built(lab, weights, norm, num_heads=3, **options):
    """A student's layer with given weights, not in training; all its other weights are 0."""
    d_ff, d_model = weights["feed_forward.linear1.weight"].shape
    layer = lab.EncoderLayer(d_model, num_heads, d_ff, norm=norm, **options).double()
    fill_layer(layer, weights)
    return layer.eval()


def lengths(*valid, T):
    """(B, T): True at the first positions of each sentence."""
    return torch.arange(T) < torch.tensor(valid)[:, None]


def any_mask(draw, *shape):
    """A random mask in which every position may attend to some other."""
    mask = draw.uniform(*shape) < 0.6
    mask[..., 0] = True
    return mask


@exercise.check(points=1)
def parts(lab, draw):
    """Has the parameters of its four parts, built by you, and keeps shape and dtype."""
    d_ff = int(draw.integers(13, 30))
    x = draw.normal(2, 5, 12).float()
    seen = {}
    for norm in MODES:
        layer = lab.EncoderLayer(12, 3, d_ff, norm=norm)
        out = layer(x)
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
    x, weights, valid = 2 * draw.normal(2, 5, 12), drawn_weights(draw), lengths(5, 3, T=5)
    layer, torchs = built(lab, weights, norm), torch_layer(weights, 3, norm)
    out, masked = layer(x), layer(x, valid[:, None, None])
    expected = torchs(x, src_key_padding_mask=~valid)
    return {
        "output": out,
        "equal to torch's": torch.allclose(out, torchs(x)),
        "output at real words, with a mask": masked[valid],
        "equal to torch's, with a mask": torch.allclose(masked[valid], expected[valid]),
    }


@exercise.check(points=1.25)
def pre_norm(lab, draw):
    """Pre-norm: equals torch's nn.TransformerEncoderLayer with the same weights."""
    return beside_torchs(lab, draw, "pre")


@exercise.check(points=1.25)
def post_norm(lab, draw):
    """Post-norm: equals torch's nn.TransformerEncoderLayer with the same weights."""
    return beside_torchs(lab, draw, "post")


@exercise.check(points=1)
def gradients_equal_to_torchs(lab, draw):
    """Gradients at x equal those of torch's layer, and reach all parameters, in both modes."""
    x, direction = draw.normal(2, 5, 12), draw.normal(2, 5, 12)
    seen = {}
    for norm in MODES:
        weights = drawn_weights(draw)
        layer, torchs = built(lab, weights, norm), torch_layer(weights, 3, norm)
        spellings = layer_spellings(layer)
        leaf, twin = x.clone().requires_grad_(), x.clone().requires_grad_()
        (layer(leaf) * direction).sum().backward()
        (torchs(twin) * direction).sum().backward()
        at_x = "no gradient" if leaf.grad is None else leaf.grad
        seen[norm] = {
            "x": at_x,
            "at x, equal to torch's": torch.allclose(leaf.grad, twin.grad)
            if leaf.grad is not None
            else at_x,
            # Their lengths only: the numbers of all mistakes would fill megabytes of the bundle.
            **{
                f"length at {name}": grad.norm() if isinstance(grad, torch.Tensor) else grad
                for name, grad in weight_gradients(layer, weights, spellings).items()
            },
        }
    return seen


@exercise.check(points=1.5)
def padding(lab, draw):
    """A masked word has no effect on the others; an open word has an effect on all of them."""
    x, valid = draw.normal(2, 5, 12), lengths(5, 3, T=5)
    masked, opened = x.clone(), x.clone()
    masked[1, 3:] = 50 * draw.normal(2, 12)
    opened[:, 1] = draw.normal(2, 12)
    seen = {}
    for norm in MODES:
        layer = built(lab, drawn_weights(draw), norm)
        mask = valid[:, None, None]  # (B, 1, 1, S)
        out = layer(x, mask)
        moved = (layer(opened, mask) - out).abs().amax(-1) > 1e-9  # (B, S)
        seen[norm] = {
            "real words stay if the padding changes": torch.allclose(
                layer(masked, mask)[valid], out[valid]
            ),
            "real words are as without padding": torch.allclose(layer(x[1:, :3]), out[1:, :3]),
            "words with an output of zeros": int((out == 0).all(-1).sum()),
            "words that move if word 1 changes": moved.sum(-1),
        }
    return seen


@exercise.check(points=1, hidden=True)
def any_kind_of_mask(lab, draw):
    """Masks of any shape that broadcasts are respected, and None is no mask, even after one."""
    x = draw.normal(2, 5, 12)
    shapes = {
        "(S, S)": (5, 5),
        "(B, 1, 1, S)": (2, 1, 1, 5),
        "(B, 1, S, S)": (2, 1, 5, 5),
        "(B, h, S, S)": (2, 3, 5, 5),
        "(h, 1, S)": (3, 1, 5),
        "(1, S)": (1, 5),
    }
    seen = {}
    for norm in MODES:
        layer = built(lab, drawn_weights(draw), norm)
        seen |= {f"{norm}, {name}": layer(x, any_mask(draw, *s)) for name, s in shapes.items()}
        seen[f"{norm}, mask by keyword"] = layer(x, mask=any_mask(draw, 2, 1, 1, 5))
        seen[f"{norm}, afterwards without one"] = layer(x)
    three = draw.normal(3, 4, 12)
    layer = built(lab, drawn_weights(draw), "pre")
    seen["as many sentences as heads"] = layer(three, any_mask(draw, 3, 1, 1, 4))
    seen["as many words as sentences"] = layer(three[:, :3], any_mask(draw, 3, 1, 1, 3))
    return seen


def dropped(lab, weights, attention, network):
    """Where a layer with dropout=0.5 drops what it adds to a stream of zeros.

    One of the two sublayers adds nothing. The other makes ones, of which dropout inside it leaves 0
    or 2; it adds 10 to them, and the residual's dropout leaves nothing or twice that.
    """
    ones = {name: torch.zeros_like(value) for name, value in weights.items()}
    ones["self_attention.v_proj.bias"] += attention
    ones["self_attention.out_proj.weight"].fill_diagonal_(attention)
    ones["self_attention.out_proj.bias"] += 10 * attention
    ones["feed_forward.linear1.bias"] += network
    ones["feed_forward.linear2.weight"].fill_diagonal_(network)
    ones["feed_forward.linear2.bias"] += 10 * network
    layer = built(lab, ones, "pre", num_heads=2, dropout=0.5).train()
    out = layer(torch.zeros(100, 1, 8, dtype=torch.float64))
    numbers = set(out.round(decimals=6).flatten().tolist())
    return {
        "inside": bool(numbers & {10.0, 20.0}),
        "of what it adds": 0.0 in numbers,
        "and nothing else": numbers <= {0.0, 20.0, 24.0},
    }


@exercise.check(points=1.5, hidden=True)
def dropout(lab, draw):
    """Drops in all four parts while training, and nowhere else; nothing after `eval()`."""
    x, weights = draw.normal(2, 5, 8), drawn_weights(draw, 8, 11)
    seen = {
        "attention drops": dropped(lab, weights, 1, 0),
        "network drops": dropped(lab, weights, 0, 1),
    }
    for norm in MODES:
        right = built(lab, weights, norm, num_heads=2)
        layer = built(lab, weights, norm, num_heads=2, dropout=1.0)
        nothing_added = x
        if norm == "post":
            for number in (1, 2):
                scale, shift = (weights[f"residual{number}.norm.{w}"] for w in ("weight", "bias"))
                nothing_added = nn.functional.layer_norm(nothing_added, (8,), scale, shift)
        seen[norm] = {
            "dropout=1: all that is added is dropped": torch.allclose(
                layer.train()(x), nothing_added
            ),
            "dropout=1, eval(): nothing is": torch.allclose(layer.eval()(x), right(x)),
            "no dropout given: nothing is": torch.allclose(right.train()(x), right.eval()(x)),
        }
    return seen


@exercise.check(points=1, hidden=True)
def other_sizes(lab, draw):
    """Is right for one sentence, word, head or feature, for equal sizes, and on views of x."""

    def ask(B, S, h, d_k, d_ff):
        weights, x = drawn_weights(draw, h * d_k, d_ff), draw.normal(B, S, h * d_k)
        mask = any_mask(draw, B, 1, 1, S)
        return [built(lab, weights, norm, num_heads=h)(x, mask) for norm in MODES]

    weights, spread = drawn_weights(draw), draw.strided(draw.normal(2, 5, 12))
    return {
        **draw.each_size(ask, B=2, S=5, h=3, d_k=4, d_ff=7),
        "not contiguous": [built(lab, weights, norm)(spread) for norm in MODES],
    }


@exercise.check(points=0.5, hidden=True)
def x_unchanged(lab, draw):
    """x stays unchanged, and pre-norm is the default."""
    x, weights = draw.normal(2, 5, 12), drawn_weights(draw)
    default = lab.EncoderLayer(12, 3, 20).double().eval()
    fill_layer(default, weights)
    with torch.no_grad():
        for norm in MODES:
            built(lab, weights, norm)(x)
        as_it_was = draw.untouched()
        pre = built(lab, weights, "pre")
        return {
            "x as it was": as_it_was,
            "the default is pre-norm": torch.allclose(default(x.clone()), pre(x.clone())),
        }
