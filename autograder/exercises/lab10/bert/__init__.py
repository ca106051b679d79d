"""Bert: an encoder that looks in both directions, with two heads for pretraining."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import nn

from attnlab.bert import Bert, BertConfig, BertLayer, MLMHead
from attnlab.checking.layer_weights import fill_layer, is_norm, layer_shapes
from attnlab.checking.observation import dtype_of
from attnlab.checking.stack_weights import bert_layers_of, bert_parts, linear_or_norm
from attnlab.checking.task_names import outside
from attnlab.checking.weights import give_weights
from gradekit.exercise import Exercise

exercise = Exercise(
    BertLayer,
    MLMHead,
    Bert,
    equivalent={
        "Bert: `torch.arange(length, device=ids.device)` → `torch.arange(length)` in "
        "`places = torch.arange(length, device=ids.device)`": (
            "the labs run on the CPU, which is the default device"
        ),
    },
)

CFG = BertConfig(17, 12, 3, 20, 2, max_len=9, num_segments=4, dropout=0.0)


def layers_of(lab, model):
    """The layers that are registered, in order."""
    return bert_layers_of(model, lab.BertLayer.__name__)


def drawn_parts(draw, cfg, size=0.5):
    """Weights for the parts outside the layers, by the names in the task."""
    d, v = cfg.d_model, cfg.vocab_size
    shapes = {
        "tokens.weight": (v, d), "positions.weight": (cfg.max_len, d),
        "segments.weight": (cfg.num_segments, d), "norm.weight": (d,), "norm.bias": (d,),
        "pooler.weight": (d, d), "pooler.bias": (d,), "nsp_head.weight": (2, d),
        "nsp_head.bias": (2,), "mlm_head.transform.weight": (d, d),
        "mlm_head.transform.bias": (d,), "mlm_head.norm.weight": (d,), "mlm_head.norm.bias": (d,),
        "mlm_head.output.bias": (v,),
    }  # fmt: skip
    return {name: size * draw.normal(*shape) for name, shape in shapes.items()}


def drawn_layer(draw, cfg):
    return {
        name: 0.5 * draw.normal(*shape)
        for name, shape in layer_shapes(cfg.d_model, cfg.d_ff).items()
    }


def built(lab, draw, cfg, parts=None):
    """A student's model with given weights, not in training; all its other weights are 0."""
    model = lab.Bert(cfg).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    layers = layers_of(lab, model)
    known = bert_parts(model, cfg, layers, lab.MLMHead.__name__)
    give_weights(model, parts or drawn_parts(draw, cfg), known)
    for layer in layers:
        fill_layer(layer, drawn_layer(draw, cfg))
    return model.eval()


def built_layer(lab, weights, cfg):
    """A student's layer with given weights, not in training; all its other weights are 0."""
    layer = lab.BertLayer(cfg).double()
    fill_layer(layer, weights)
    return layer.eval()


def torchs_layer(weights, cfg):
    """torch's layer with the same weights."""
    layer = nn.TransformerEncoderLayer(
        cfg.d_model, cfg.num_heads, cfg.d_ff, 0.0, "gelu", cfg.norm_eps, batch_first=True,
        norm_first=False, dtype=torch.float64,
    )  # fmt: skip
    state = {}
    for word in ("weight", "bias"):
        inputs = [weights[f"self_attention.{x}_proj.{word}"] for x in "qkv"]
        state[f"self_attn.in_proj_{word}"] = torch.cat(inputs)
        state[f"self_attn.out_proj.{word}"] = weights[f"self_attention.out_proj.{word}"]
        for n in (1, 2):
            state[f"linear{n}.{word}"] = weights[f"feed_forward.linear{n}.{word}"]
            state[f"norm{n}.{word}"] = weights[f"residual{n}.norm.{word}"]
    layer.load_state_dict(state)
    return layer.eval()


def batch(draw, cfg, B=2, T=7):
    """Tokens, segments, and which tokens are valid: the last row is the longest."""
    ids, segments = draw.integers(0, cfg.vocab_size, B, T), draw.integers(0, cfg.num_segments, B, T)
    lengths = (T - 3 * torch.arange(B).flip(0)).clamp(min=1)
    return ids, segments, torch.arange(T) < lengths[:, None]


def answer(out):
    """The three tensors by the names that they have in the task."""
    return {name: getattr(out, name) for name in ("hidden", "mlm_logits", "nsp_logits")}


@exercise.check(points=1)
def parts(lab, draw):
    """Has the parts of the task, each registered once, and returns three tensors by name."""
    seen = {}
    for cfg in (CFG, replace(CFG, num_layers=4, d_ff=31)):
        model = lab.Bert(cfg)
        out = model(draw.integers(0, 17, 2, 5))
        layers = [[p for p in layer.parameters() if p.ndim > 1] for layer in layers_of(lab, model)]
        seen[f"{cfg.num_layers} layers"] = {
            "numbers in all parameters": sum(p.numel() for p in model.parameters()),
            "layers registered": len(layers),
            "pairs of equal layers": sum(
                all(map(torch.equal, one, other))
                for i, one in enumerate(layers)
                for other in layers[:i]
            ),
            "torch's own layer is inside": any(
                isinstance(m, nn.TransformerEncoderLayer) for m in model.modules()
            ),
            **{f"shape of {name}": list(value.shape) for name, value in answer(out).items()},
            "dtype": dtype_of(out.mlm_logits),
        }
    head = lab.MLMHead(CFG, nn.Parameter(torch.zeros(17, 12)))
    return {**seen, "numbers in the head's parameters": sum(p.numel() for p in head.parameters())}


@exercise.check(points=2.5)
def layer_equals_torchs(lab, draw):
    """With the same weights, a layer equals torch's nn.TransformerEncoderLayer, in post-norm."""
    x, weights, (_, _, valid) = 2 * draw.normal(2, 7, 12), drawn_layer(draw, CFG), batch(draw, CFG)
    layer, torchs = built_layer(lab, weights, CFG), torchs_layer(weights, CFG)
    out, masked = layer(x), layer(x, valid[:, None, None])
    return {
        "output": out,
        "equal to torch's": torch.allclose(out, torchs(x), atol=1e-9),
        "output at tokens, with a mask": masked[valid],
        "equal to torch's, with a mask": torch.allclose(
            masked[valid], torchs(x, src_key_padding_mask=~valid)[valid], atol=1e-9
        ),
    }


@exercise.check(points=1.5)
def both_directions(lab, draw):
    """Every token's vector moves if any other token changes; none moves with the padding."""
    model, (ids, segments, valid) = built(lab, draw, CFG), batch(draw, CFG)
    before = model.encode(ids, segments, valid)

    def moved(changed):
        now = model.encode(changed, segments, valid)
        return ((now - before).abs().amax(-1) > 1e-9)[valid].sum()

    def with_other(t):
        return ids.where(torch.arange(7) != t, (ids + 1) % 17)

    return {
        "vectors that move with the last token": moved(with_other(6)),
        "vectors that move with token 1": moved(with_other(1)),
        "vectors that move with the padding": moved(ids.where(valid, (ids + 1) % 17)),
    }


@exercise.check(points=2)
def given_weights(lab, draw):
    """The vectors and the logits of both heads, for given weights, segments and padding."""
    model, (ids, segments, valid) = built(lab, draw, CFG), batch(draw, CFG)
    hidden = model.encode(ids, segments, valid)
    return {
        "encode, at tokens": hidden[valid],
        "pooled": model.pooled(hidden),
        "mlm_logits, at tokens": model(ids, segments, valid).mlm_logits[valid],
        "nsp_logits": model(ids, segments, valid).nsp_logits,
        "hidden is what encode returns": torch.equal(model(ids, segments, valid).hidden, hidden),
    }


@exercise.check(points=1, hidden=True)
def head(lab, draw):
    """The head for hidden tokens by itself, for a given table and given weights."""
    table = nn.Parameter(draw.normal(17, 12))
    made = lab.MLMHead(CFG, table).double()
    shapes = {"transform.weight": (12, 12), "output.bias": (17,)}
    shapes |= dict.fromkeys(("transform.bias", "norm.weight", "norm.bias"), (12,))
    known = {}
    for name, p, owner in outside(made, []):
        of_output = tuple(p.shape) == (17,)
        part = "output.bias" if of_output else linear_or_norm(name, p, owner, "transform")
        known[part] = (*known.get(part, ()), name)
    weights = {name: draw.normal(*shape) for name, shape in shapes.items()}
    give_weights(made, weights, known)
    hidden = draw.normal(2, 5, 12)
    out = made(hidden)
    (out * draw.normal(2, 5, 17)).sum().backward()
    gradient = "no gradient" if table.grad is None else table.grad
    with torch.no_grad():
        table.mul_(2)
    return {
        "logits": out,
        "gradient at the table": gradient,
        "logits after the table has changed": made(hidden),
    }


@exercise.check(points=1, hidden=True)
def one_table(lab, draw):
    """The head's table is the embedding's, one parameter, and gradients reach every part."""
    model = lab.Bert(CFG)
    tables = [p for p in model.parameters() if tuple(p.shape) == (17, 12)]
    model = built(lab, draw, CFG)
    ids, segments, valid = batch(draw, CFG)
    out = model(ids, segments, valid)
    # What a model returns at the padding is not promised.
    read = (out.hidden[valid], out.mlm_logits[valid], out.nsp_logits)
    sum((x * draw.normal(*x.shape)).sum() for x in read).backward()
    of_table = [p.grad for p in model.parameters() if tuple(p.shape) == (17, 12)]
    return {
        "tables of tokens that are parameters of their own": len(tables),
        "gradient at the table": of_table[0] if of_table else "no table",
        "parameters without a gradient": sum(p.grad is None for p in model.parameters()),
        "inputs as they were": draw.untouched(),
    }


@exercise.check(points=1, hidden=True)
def segments(lab, draw):
    """Without segments, all are 0; other segments give other vectors."""
    model, (ids, _, valid) = built(lab, draw, CFG), batch(draw, CFG)
    zeros = torch.zeros_like(ids)
    return {
        "no segments, no padding": answer(model(ids)),
        "no segments": answer(model(ids, valid=valid))["nsp_logits"],
        "as with zeros": torch.equal(model(ids).hidden, model(ids, zeros).hidden),
        "encode without": model.encode(ids),
        "segment 2": model.encode(ids, zeros + 2),
    }


@exercise.check(points=1, hidden=True)
def epsilon(lab, draw):
    """cfg.norm_eps is added to the variance in every normalisation, and nothing else is."""
    seen = {}
    for eps in (1e-12, 0.1):
        cfg = replace(CFG, norm_eps=eps)
        tiny = 1e-3 if eps < 1e-3 else 1.0
        weights = {name: tiny * w for name, w in drawn_layer(draw, cfg).items()}
        layer = built_layer(lab, weights, cfg)
        model = built(lab, draw, cfg, drawn_parts(draw, cfg, tiny))
        ids, segments, valid = batch(draw, cfg)
        seen[f"norm_eps = {eps:g}"] = {
            "a layer": layer(tiny * draw.normal(2, 5, 12)),
            "the model": {
                "hidden": model(ids, segments, valid).hidden[valid],
                "mlm_logits": model(ids, segments, valid).mlm_logits[valid],
            },
        }
    return seen


@exercise.check(points=1, hidden=True)
def dropout(lab, draw):
    """Drops with cfg.dropout while training, at its three places; nothing after eval()."""
    x, weights = draw.normal(2, 5, 12), drawn_layer(draw, CFG)
    all_dropped = replace(CFG, dropout=1.0)
    layer = built_layer(lab, weights, all_dropped)
    ids, segments, valid = batch(draw, CFG)
    model = built(lab, draw, replace(CFG, dropout=1.0, num_layers=0)).train()
    half = built(lab, draw, replace(CFG, dropout=0.5, num_layers=1))
    same = [
        torch.equal(half(ids, segments, valid).hidden, half(ids, segments, valid).hidden)
        for half in (half.train(), half.eval())
    ]
    return {
        "a layer with dropout=1 in training": layer.train()(x),
        "the same after eval()": layer.eval()(x),
        "attention adds 1, times": attention_adds(lab),
        "the network adds 1, times": network_adds(lab),
        "embeddings with dropout=1 in training": model.encode(ids, segments, valid),
        "pooled in training": model.pooled(draw.normal(2, 5, 12)),
        "dropout=0.5: two calls are equal in training, and after eval()": same,
    }


def sums(lab, weights, x):
    """What the two normalisations of a small layer with dropout=0.5 get, in training."""
    cfg = replace(CFG, d_model=2, num_heads=1, d_ff=2, dropout=0.5)
    full = {name: torch.zeros(shape).double() for name, shape in layer_shapes(2, 2).items()}
    layer = built_layer(lab, full | weights, cfg).train()
    given = []
    for module in layer.modules():
        if is_norm(module):
            module.register_forward_pre_hook(lambda module, inputs: given.append(inputs[0]))
    layer(x)
    return given


def attention_adds(lab):
    """What attention adds to ones: dropped weights leave 0, 1 or 2, the sum's dropout 0 or 2."""
    copied = torch.eye(2).double()
    weights = dict.fromkeys(
        ("self_attention.v_proj.weight", "self_attention.out_proj.weight"), copied
    )
    first = sums(lab, weights, torch.ones(300, 2, 2).double())[0]
    return sorted({round(number, 6) for number in (first - 1).flatten().tolist()})


def network_adds(lab):
    """What the network adds to zeros: the sum's dropout leaves 0 or 2 of it."""
    weights = {
        "feed_forward.linear1.bias": torch.full((2,), 50.0).double(),
        "feed_forward.linear2.weight": torch.full((2, 2), 0.01).double(),
    }
    second = sums(lab, weights, torch.zeros(300, 2, 2).double())[1]
    return sorted({round(number, 6) for number in second.flatten().tolist()})


@exercise.check(points=1, hidden=True)
def other_sizes(lab, draw):
    """Is right for one row, token, layer or head, for equal sizes, and up to max_len."""

    def ask(B, T, h, d_k):
        cfg = replace(CFG, d_model=h * d_k, num_heads=h, d_ff=3 * d_k, num_layers=1, max_len=T + 4)
        ids, segments, valid = batch(draw, cfg, B, T)
        return answer(built(lab, draw, cfg)(ids, segments, valid))["nsp_logits"]

    model = lab.Bert(CFG)
    return {
        **draw.each_size(ask, B=2, T=7, h=3, d_k=5),
        "as many tokens as places": list(model(draw.integers(0, 17, 2, 9)).hidden.shape),
        "one token too many": draw.raises(model, draw.integers(0, 17, 2, 10)),
        "twice as many, in encode": draw.raises(model.encode, draw.integers(0, 17, 2, 18)),
    }
