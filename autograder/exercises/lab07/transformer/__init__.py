"""Transformer: embeddings, two stacks of layers, and logits, put together from a config."""

from __future__ import annotations

from dataclasses import replace

import torch

from attnlab.checking.layer_weights import layer_shapes, layer_spellings
from attnlab.checking.transformer_weights import outer_spellings, sides_of
from attnlab.checking.weights import give_weights
from attnlab.encoder_decoder import DecoderLayer, EncoderLayer, Transformer
from attnlab.transformer_config import TransformerConfig
from gradekit.exercise import Exercise

exercise = Exercise(
    Transformer,
    uses=[EncoderLayer, DecoderLayer],
    equivalent={
        "Transformer: `causal_mask(target.shape[1], device=target.device)` → "
        "`causal_mask(target.shape[1])` in `target_mask = causal_mask(target.shape[1], "
        "device=target.device)`": "the labs run on the CPU, which is the default device",
    },
)

SMALL = {
    "d_model": 12, "num_heads": 3, "d_ff": 20, "num_encoder_layers": 2, "num_decoder_layers": 2,
    "dropout": 0.0, "max_len": 10, "tie": "none",
}  # fmt: skip


def small(**others):
    """The numbers of a small model with 17 source and 13 target symbols."""
    return TransformerConfig(**{"source_vocab": 17, "target_vocab": 13, **SMALL, **others})


def layers_of(lab, model):
    """The encoder's and the decoder's layers that are registered, in order."""
    return sides_of(model, (lab.EncoderLayer.__name__, lab.DecoderLayer.__name__))


def drawn_parts(draw, cfg):
    """Weights for the parts outside the layers, by the names in the task."""
    d = cfg.d_model
    weights = {"target_embedding.weight": draw.normal(cfg.target_vocab, d)}
    if cfg.tie != "all":
        weights["source_embedding.weight"] = draw.normal(cfg.source_vocab, d)
    if cfg.tie == "none":
        weights["head.weight"] = draw.normal(cfg.target_vocab, d)
    if cfg.norm == "pre":
        for side in ("encoder", "decoder"):
            weights[f"{side}_norm.weight"] = 1 + 0.5 * draw.normal(d)
            weights[f"{side}_norm.bias"] = draw.normal(d)
    return weights


def built(lab, draw, cfg):
    """A student's model with given weights, not in training; all its other weights are 0."""
    model = lab.Transformer(cfg).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    sides = layers_of(lab, model)
    give_weights(model, drawn_parts(draw, cfg), outer_spellings(model, cfg, sides))
    for is_decoder, layers in enumerate(sides):
        shapes = layer_shapes(cfg.d_model, cfg.d_ff, decoder=bool(is_decoder))
        for layer in layers:
            weights = {name: 0.5 * draw.normal(*shape) for name, shape in shapes.items()}
            give_weights(layer, weights, layer_spellings(layer, decoder=bool(is_decoder)))
    return model.eval()


def batch(draw, cfg, B=2, S=5, T=4):
    """Sources of which the last one is the longest, where they have symbols, and targets."""
    source, target = (
        draw.integers(1, cfg.source_vocab, B, S),
        draw.integers(1, cfg.target_vocab, B, T),
    )
    lengths = (S - 2 * torch.arange(B).flip(0)).clamp(min=1)
    return source, torch.arange(S) < lengths[:, None], target


def watch(layer, seen, argument=None):
    """Note at each call what a layer returns, or its argument "x" or "memory"."""
    forward = layer.forward

    def watched(*args, **kwargs):
        out = forward(*args, **kwargs)
        given = dict(zip(("x", "memory"), args, strict=False)) | kwargs
        seen.append(given.get(argument, 0) if argument else out)
        return out

    layer.forward = watched


def first_inputs(lab, model, given):
    """What the first layer of each side reads for the first sentence."""
    seen = []
    for layers in layers_of(lab, model):
        watch(layers[0], seen, "x")
    model(*given)
    names = ("what the first encoder layer reads", "what the first decoder layer reads")
    return {name: x[0] for name, x in zip(names, seen, strict=False)}


def answer(model, source, valid, target):
    """The memory and the logits."""
    memory = model.encode(source, valid)
    return {"memory": memory, "logits": model.decode(target, memory, valid)}


@exercise.check(points=1)
def shapes(lab, draw):
    """`encode` returns a vector for each source symbol, and the model V numbers for each target."""
    model = lab.Transformer(small())
    source, valid, target = batch(draw, small())
    memory = model.encode(source, valid)
    seen = {
        "encode": memory,
        "decode": model.decode(target, memory, valid),
        "forward": model(source, valid, target),
    }
    return {
        f"shape after {name}": list(out.shape) if isinstance(out, torch.Tensor) else out
        for name, out in seen.items()
    }


@exercise.check(points=1.5)
def layers_of_their_own(lab, draw):
    """All layers are registered, and two fresh ones differ."""
    seen = {}
    model = lab.Transformer(small(num_encoder_layers=4))
    for side, layers in zip(("encoder", "decoder"), layers_of(lab, model), strict=True):
        numbers = [
            [p.detach().clone() for p in layer.parameters() if p.ndim > 1] for layer in layers
        ]
        pairs = [
            all(torch.equal(a, b) for a, b in zip(one, other, strict=True))
            for i, one in enumerate(numbers)
            for other in numbers[:i]
        ]
        seen[f"{side}: layers registered"] = len(layers)
        seen[f"{side}: pairs of equal layers"] = sum(pairs)
    return seen


@exercise.check(points=1)
def last_encoder_layer(lab, draw):
    """Every decoder layer reads the output of the last encoder layer."""
    cfg = small(num_encoder_layers=4, norm="post")
    model = lab.Transformer(cfg).eval()
    encoder, decoder = layers_of(lab, model)
    written, read = [], []

    for layer in encoder:
        watch(layer, written)
    for layer in decoder:
        watch(layer, read, "memory")
    model(*batch(draw, cfg))

    def which(memory):
        equal = [torch.equal(memory, out) for out in written]
        normed = torch.nn.functional.layer_norm(written[-1], (cfg.d_model,))
        if any(equal):
            return equal.index(True) + 1
        return "the last, normed again" if torch.allclose(memory, normed) else "none of them"

    return {
        f"decoder layer {i} reads encoder layer": which(memory) for i, memory in enumerate(read, 1)
    }


@exercise.check(points=2)
def given_weights(lab, draw):
    """The memory and the logits, for given weights, a longer source, and padding."""
    cfg = small(num_decoder_layers=3, tie="output")
    model, (source, valid, target) = built(lab, draw, cfg), batch(draw, cfg)
    return {
        **first_inputs(lab, built(lab, draw, cfg), (source, valid, target)),
        **answer(model, source, valid, target),
        "logits in one call": model(source, valid, target),
        "another target, the same memory": model.decode(
            target.flip(1), model.encode(source, valid), valid
        ),
    }


def equal_pairs(tensors):
    return sum(torch.equal(a, b) for i, a in enumerate(tensors) for b in tensors[:i])


@exercise.check(points=1, hidden=True)
def tables(lab, draw):
    """The table of symbols is one parameter, two or three, as cfg.tie says; no row starts as 0."""
    seen = {}
    for tie in ("none", "output", "all"):
        model = lab.Transformer(small(tie=tie, source_vocab=19, target_vocab=19))
        found = [p for p in model.parameters() if tuple(p.shape) == (19, 12)]
        rows_of_zeros = sum(int((table == 0).all(1).sum()) for table in found)
        equal = equal_pairs(found)
        with torch.no_grad():
            for table in found[:1]:
                table.mul_(2)
        seen[f"tie={tie}"] = {
            "tables that are parameters of their own": len(found),
            "pairs of them with equal numbers": equal,
            "after one of them has changed": equal_pairs(found),
            "rows of zeros": rows_of_zeros,
        }
    return seen


@exercise.check(points=1, hidden=True)
def both_norms(lab, draw):
    """Normalises after each stack with norm "pre", and not with "post"."""
    seen = {}
    for norm in ("pre", "post"):
        cfg = small(norm=norm, num_encoder_layers=1)
        model = built(lab, draw, cfg)
        seen[norm] = answer(model, *batch(draw, cfg))
        seen[f"{norm}, vectors among the parameters"] = sum(p.ndim == 1 for p in model.parameters())
    return seen


@exercise.check(points=1, hidden=True)
def what_is_seen(lab, draw):
    """No position sees a later symbol of the target, nor a source position without a symbol."""
    cfg = small()
    model, (source, valid, target) = built(lab, draw, cfg), batch(draw, cfg, 3, 6, 5)
    memory = model.encode(source, valid)
    logits = model.decode(target, memory, valid)

    def moved(now, before):
        return (now - before).abs().amax(-1) > 1e-9

    padded = source.where(valid, 1 + source % 16)
    other = source.where(torch.arange(6) != 1, 1 + source % 16)
    later = target.where(torch.arange(5) != 3, 1 + target % 12)
    noise = 9 * draw.normal(3, 6, 12) * ~valid[..., None]
    return {
        "memory that moves with numbers where no symbol is": (
            moved(model.encode(padded, valid), memory) & valid
        ),
        "memory that moves with symbol 1": moved(model.encode(other, valid), memory) & valid,
        "logits that move with the memory where no symbol is": moved(
            model.decode(target, memory + noise, valid), logits
        ),
        "logits that move with target symbol 3": moved(model.decode(later, memory, valid), logits),
    }


@exercise.check(points=0.5, hidden=True)
def dropout(lab, draw):
    """Drops with cfg.dropout while training, in the positions and in all layers; not after eval."""
    one = small(num_encoder_layers=1, num_decoder_layers=1)
    inputs, seen = batch(draw, one), {}
    for norm in ("pre", "post"):
        model = built(lab, draw, replace(one, norm=norm, dropout=1.0)).train()
        seen[f"{norm}, dropout=1, train()"] = answer(model, *inputs)
    for rate, training in ((0.5, False), (0.5, True), (0.0, True)):
        model = built(lab, draw, replace(one, dropout=rate)).train(training)
        mode = "train()" if training else "eval()"
        same = torch.equal(model(*inputs), model(*inputs))
        seen[f"dropout={rate:g}, {mode}: two calls give the same"] = same
    return seen


@exercise.check(points=0.5, hidden=True)
def gradients(lab, draw):
    """Gradients reach all parameters and the memory; the inputs are unchanged."""
    cfg = small()
    model, (source, valid, target) = built(lab, draw, cfg), batch(draw, cfg)
    (to_memory,) = draw.gradients(lambda m: model.decode(target, m, valid), draw.normal(2, 5, 12))
    before = [tensor.clone() for tensor in (source, valid, target)]
    (model(source, valid, target) * draw.normal(2, 4, 13)).sum().backward()
    return {
        "memory": to_memory if isinstance(to_memory, str) else "a gradient",
        "parameters without a gradient": sum(p.grad is None for p in model.parameters()),
        "inputs as they were": all(map(torch.equal, before, (source, valid, target))),
    }


@exercise.check(points=0.5, hidden=True)
def other_sizes(lab, draw):
    """Is right for one sentence, symbol, layer or head, for equal sizes, and up to max_len."""
    one = small(num_encoder_layers=1, num_decoder_layers=1)

    def ask(B, S, T, h, d_k):
        sizes = {"d_model": h * d_k, "num_heads": h, "d_ff": 3 * d_k, "max_len": max(S, T)}
        cfg = replace(one, **sizes)
        return answer(built(lab, draw, cfg), *batch(draw, cfg, B, S, T))

    short = small(max_len=5)
    model = lab.Transformer(short)
    source, valid, target = batch(draw, short, 2, 6, 6)
    memory = model.encode(source[:, :5], valid[:, :5])
    return {
        **draw.each_size(ask, B=2, S=5, T=4, h=3, d_k=6),
        "source one symbol too long": draw.raises(model.encode, source, valid),
        "source twice as long": draw.raises(model.encode, source.repeat(1, 2), valid.repeat(1, 2)),
        "target one symbol too long": draw.raises(model.decode, target, memory, valid[:, :5]),
    }
