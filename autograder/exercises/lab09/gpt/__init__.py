"""gpt: a decoder-only Transformer, its first weights, and its size."""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import nn
from torch.nn import functional as F

from attnlab.causality import leaks
from attnlab.checking.judges import Close
from attnlab.checking.layer_weights import fill_layer, layer_shapes
from attnlab.checking.stack_weights import blocks_of, gpt_parts
from attnlab.checking.weights import give_weights
from attnlab.decoder_only import GPT, Block, count_gpt_params, init_gpt
from attnlab.gpt import GPTConfig
from attnlab.models.fresh_gpt import filled_gpt
from gradekit.exercise import Exercise

exercise = Exercise(
    Block,
    GPT,
    init_gpt,
    count_gpt_params,
    equivalent={
        "Block: `causal_mask(x.shape[1], device=x.device)` → `causal_mask(x.shape[1])` in "
        "`mask = causal_mask(x.shape[1], device=x.device)`": (
            "the labs run on the CPU, which is the default device"
        ),
    },
)

SMALL = {"vocab_size": 13, "context": 7, "d_model": 12, "num_heads": 3, "num_layers": 2}


def small(**others):
    """A small model's numbers, all of them different."""
    return GPTConfig(**{**SMALL, **others})


def tokens(draw, cfg, B=2, T=5):
    return draw.integers(0, cfg.vocab_size, B, T)


def block_weights(draw, d):
    """Random weights of a block, large enough for every part to matter."""
    return {name: 0.7 * draw.normal(*shape) for name, shape in layer_shapes(d, 4 * d).items()}


def built_block(lab, draw, **others):
    """A student's block with given weights, not in training."""
    cfg = small(**others)
    block = lab.Block(cfg).double()
    fill_layer(block, block_weights(draw, cfg.d_model))
    return block.eval()


def built(lab, draw, cfg):
    """A student's model with given weights, not in training; all its other weights are 0."""
    d = cfg.d_model
    model = lab.GPT(cfg).double()
    parts = {
        "tokens.weight": draw.normal(cfg.vocab_size, d),
        "positions.weight": draw.normal(cfg.context, d),
        "norm.weight": 1 + 0.5 * draw.normal(d),
        "norm.bias": draw.normal(d),
    }
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    blocks = blocks_of(model, cfg.num_layers)
    table = {"head.weight": parts["tokens.weight"]}  # of a model that did not tie its head
    give_weights(model, parts | table, gpt_parts(model, cfg, blocks))
    for block in blocks:
        fill_layer(block, block_weights(draw, d))
    return model.eval()


@exercise.check(points=1.5)
def one_block(lab, draw):
    """A block with given weights returns the right vectors."""
    block, x = built_block(lab, draw), draw.strided(2 * draw.normal(2, 5, 12))
    return {"five positions": block(x), "one position": block(x[:, :1])}


@exercise.check(points=0.5)
def one_block_looks_back(lab, draw):
    """A position of a block sees itself and all before it, and nothing after it."""
    block, x = built_block(lab, draw), draw.normal(2, 5, 12)
    before, seen = block(x), []
    for j in range(5):
        other = x.clone()
        other[:, j] = -3 * x[:, j] + 1
        seen.append((block(other) - before).abs().amax((0, 2)) > 1e-9)
    return {"row j: positions that move with input j": torch.stack(seen)}


@exercise.check(points=0.5)
def shapes(lab, draw):
    """The model returns V logits for each token, in its own dtype, and keeps `cfg`."""
    model, ids = lab.GPT(small()), tokens(draw, small())
    out = model(ids)
    return {
        "shape": list(out.shape) if isinstance(out, torch.Tensor) else type(out).__name__,
        "dtype": str(model.double()(ids).dtype),
        "cfg": getattr(model, "cfg", None) == small(),
    }


@exercise.check(points=1.5)
def given_weights(lab, draw):
    """The logits are right for given weights, at every position."""
    cfg = small(num_layers=3)
    return {"logits": built(lab, draw, cfg)(tokens(draw, cfg))}


@exercise.check(points=1)
def never_looks_ahead(lab, draw):
    """`leaks(model, 4, 5)` of lab 5 is []: no logits depend on a later token."""
    return {"leaks": leaks(built(lab, draw, small(vocab_size=5)), 4, 5)}


@exercise.check(points=1, hidden=True)
def tied(lab, draw):
    """Head and token table are one parameter, and the head has no bias."""
    model = lab.GPT(small())
    sizes = [tuple(p.shape) for p in model.parameters()]
    tables = [p for p in model.parameters() if tuple(p.shape) == (13, 12)]
    loss = model(tokens(draw, small(), T=3)).sum()
    loss.backward()
    rows = [int((p.grad.abs().amax(1) > 0).sum()) for p in tables if p.grad is not None]
    return {
        "parameters of shape (V, d_model)": sizes.count((13, 12)),
        "parameters of shape (V,)": sizes.count((13,)),
        "different ones": len({tuple(table.flatten().tolist()) for table in tables}),
        "rows of it with a gradient": rows,
        "names in state_dict that share it": sum(
            value.data_ptr() == tables[0].data_ptr() for value in model.state_dict().values()
        )
        > 1,
    }


@exercise.check(points=0.5, hidden=True)
def blocks_of_their_own(lab, draw):
    """There are cfg.num_layers blocks of the right size, all registered, and fresh ones differ."""
    seen = {"numbers of one block": sum(p.numel() for p in lab.Block(small()).parameters())}
    for number in (2, 5):
        model = lab.GPT(small(num_layers=number))
        matrices = [
            [p.detach().flatten() for p in block.parameters() if p.ndim > 1]
            for block in blocks_of(model, number)
        ]
        flat = [torch.cat(one) for one in matrices]
        seen[f"{number} layers: parameters"] = sum(p.numel() for p in model.parameters())
        seen[f"{number} layers: pairs of equal blocks"] = sum(
            torch.equal(a, b) for i, a in enumerate(flat) for b in flat[:i]
        )
    return seen


@exercise.check(points=0.5, hidden=True)
def longest(lab, draw):
    """Reads as many tokens as cfg.context says, and raises ValueError for one more."""
    cfg = small()
    model = built(lab, draw, cfg)
    return {
        "context tokens": model(tokens(draw, cfg, T=7)),
        "one token more": draw.raises(model, tokens(draw, cfg, T=8)),
        "twice as many": draw.raises(model, tokens(draw, cfg, T=14)),
        "shape of what it returns for those": shape_or_error(model, tokens(draw, cfg, T=14)),
    }


def shape_or_error(model, ids):
    try:
        return list(model(ids).shape)
    except Exception:
        return "an error"


@exercise.check(points=0.5, hidden=True)
def other_sizes(lab, draw):
    """Is right for one row, one token, one layer, one head, and for equal sizes."""

    def ask(B, T, h, d_k, L):
        cfg = small(d_model=h * d_k, num_heads=h, num_layers=L)
        return built(lab, draw, cfg)(tokens(draw, cfg, B, T))

    return draw.each_size(ask, B=2, T=5, h=3, d_k=2, L=2)


@exercise.check(points=0.5, hidden=True)
def dropout(lab, draw):
    """Drops with cfg.dropout in training, at the three places of the task, and not after eval()."""
    cfg = small(num_layers=2)
    ids, x = tokens(draw, cfg), draw.normal(2, 5, 12)
    model = built(lab, draw, replace(cfg, dropout=1.0)).train()
    block = built_block(lab, draw, dropout=1.0).train()
    seen = {"dropout=1: logits": model(ids), "dropout=1: a block": block(x)}
    for rate, training in ((0.5, False), (0.5, True), (0.0, True)):
        for part, ask in (
            ("model", lambda: built(lab, draw, replace(cfg, dropout=rate)).train(training)),  # noqa: B023
            ("block", lambda: built_block(lab, draw, dropout=rate).train(training)),  # noqa: B023
        ):
            made, given = ask(), ids if part == "model" else x
            mode = "train()" if training else "eval()"
            seen[f"{part}, dropout={rate:g}, {mode}: two calls are equal"] = torch.equal(
                made(given), made(given)
            )
    return {**seen, **rates(lab)}


def rates(lab):
    """What each sublayer of a block adds if 1 in 4 numbers is dropped, and how often it adds 0.

    The weights are such that each sublayer adds 1 where nothing is dropped.
    """
    d, seen = 120, {}
    x = torch.randn(400, 1, d, generator=torch.Generator().manual_seed(0))
    for part in ("attention", "feed_forward"):
        weights = {name: torch.zeros(shape) for name, shape in layer_shapes(d, 4 * d).items()}
        if part == "attention":
            weights["self_attention.v_proj.bias"] += 1
            weights["self_attention.out_proj.weight"] += torch.eye(d)
        else:
            weights["feed_forward.linear1.bias"] += 10  # GELU leaves 10 as it is
            weights["feed_forward.linear2.weight"] += 1 / (10 * 4 * d)
        block = lab.Block(small(d_model=d, dropout=0.25)).train()
        fill_layer(block, weights)
        torch.manual_seed(0)
        added = (block(x) - x).detach()
        dropped = added.abs() < 1e-3
        seen[f"{part}: it adds, where it adds"] = round(float(added.abs().max()), 2)
        seen[f"{part}: always the same"] = bool((dropped | (added.max() - added < 1e-3)).all())
        expected = 1 - 0.75**2 if part == "attention" else 0.25
        seen[f"{part}: drops as often as it should"] = (
            abs(float(dropped.double().mean()) - expected) < 0.06
        )
    return seen


@exercise.check(points=0.5, hidden=True)
def gradients(lab, draw):
    """Gradients reach all parameters and the input of a block; inputs stay unchanged."""
    cfg = small()
    model, ids, x = built(lab, draw, cfg), tokens(draw, cfg, T=7), draw.normal(2, 5, 12)
    block, kept, before = built_block(lab, draw), ids.clone(), x.clone()
    (model(ids) * draw.normal(2, 7, 13)).sum().backward()
    weight = draw.normal(2, 5, 12)
    return {
        "parameters without a gradient": sum(p.grad is None for p in model.parameters()),
        "gradient of a block's input": draw.gradients(lambda x: block(x) * weight, x),
        "inputs as they were": torch.equal(ids, kept) and torch.equal(x, before),
    }


def spread(tensors):
    """The standard deviation of all numbers together, in units of 0.02."""
    return float(torch.cat([tensor.detach().flatten() for tensor in tensors]).std()) / 0.02


def pooled(groups):
    """How all weights together are spread, each kind in units of its right deviation."""
    units = [factor / 0.02 * tensor.detach() for factor, group in groups for tensor in group]
    numbers = torch.cat([tensor.flatten() for tensor in units]).clamp(-3, 3)
    beyond = (numbers.abs() > 2).double()
    return {"mean": float(numbers.mean()), "10 times the share beyond 2": 10 * float(beyond.mean())}


def fresh(lab, **others):
    """Our own model after the student's `init_gpt`; everything was 3 before."""
    model = filled_gpt(small(d_model=48, context=40, vocab_size=97, **others))
    lab.init_gpt(model, generator=torch.Generator().manual_seed(5))
    return model


@exercise.check(points=1, judge=Close(atol=0.12))
def first_weights(lab, draw):
    """Each kind of weight has the distribution of the task; biases and norms start right."""
    seen = {}
    for layers in (2, 8):
        model = fresh(lab, num_layers=layers)
        attentions = [block.attention for block in model.blocks]
        groups = {
            "tokens": [model.tokens.weight],
            "positions": [model.positions.weight],
            "q, k, v": [a.get_submodule(f"{n}_proj").weight for a in attentions for n in "qkv"],
            "linear1": [block.linear1.weight for block in model.blocks],
            "out_proj, times the root of 2L": [a.out_proj.weight for a in attentions],
            "linear2, times the root of 2L": [block.linear2.weight for block in model.blocks],
        }
        root = math.sqrt(2 * layers)
        scaled = [(root if "root" in name else 1.0, group) for name, group in groups.items()]
        for name, (factor, group) in zip(groups, scaled, strict=True):
            seen[f"{layers} layers, {name}: deviation / 0.02"] = factor * spread(group)
        for what, value in pooled(scaled).items():
            seen[f"{layers} layers, all in units of their deviation: {what}"] = value
        norms = [m for m in model.modules() if isinstance(m, nn.LayerNorm)]
        linear = [m for m in model.modules() if isinstance(m, nn.Linear) and m.bias is not None]
        largest = max(float(m.bias.detach().abs().max()) for m in linear)
        seen[f"{layers} layers, largest bias"] = largest
        seen[f"{layers} layers, norms are 1 and 0"] = all(
            bool((m.weight == 1).all() and (m.bias == 0).all()) for m in norms
        )
    return seen


@exercise.check(points=0.5, judge=Close(atol=0.1))
def first_loss(lab, draw):
    """A fresh model's loss is ln V, except for 0.1."""
    model = fresh(lab)
    ids, next_ids = draw.integers(0, 97, 20, 40), draw.integers(0, 97, 20, 40)
    loss = F.cross_entropy(model(ids).logits.flatten(0, 1), next_ids.flatten())
    return {"loss minus ln V": float(loss.detach()) - math.log(97)}


@exercise.check(points=0.5, hidden=True)
def drawn_by_the_generator(lab, draw):
    """All numbers come from the generator if it is given; the tie and the parameters stay."""
    model = filled_gpt(small())
    before = list(model.parameters())
    torch.manual_seed(11)
    state = torch.random.get_rng_state()
    runs = []
    for seed in (1, 1, 2):
        returned = lab.init_gpt(model, generator=torch.Generator().manual_seed(seed))
        runs.append([p.detach().clone() for p in model.parameters() if p.ndim > 1])
    untouched = torch.equal(state, torch.random.get_rng_state())
    again = []
    for _ in range(2):
        lab.init_gpt(model)
        again.append(model.tokens.weight.detach().clone())
    after = list(model.parameters())
    return {
        "equal generators, equal weights": all(map(torch.equal, runs[0], runs[1])),
        "other generators, equal matrices": sum(map(torch.equal, runs[0], runs[2])),
        "torch's own random state is as it was": untouched,
        "without a generator, two calls give the same": torch.equal(*again),
        "head and table are one": model.head.weight is model.tokens.weight,
        "the same parameters, all trained": len(before) == len(after)
        and all(a is b and a.requires_grad for a, b in zip(before, after, strict=True)),
        "returns": type(returned).__name__,
    }


@exercise.check(points=1)
def four_sizes(lab, draw):
    """The four models of the GPT-2 paper, to the last parameter."""
    names = ("gpt2", "gpt2-medium", "gpt2-large", "gpt2-xl")
    return {name: lab.count_gpt_params(GPTConfig.of_size(name)) for name in names}


@exercise.check(points=0.5, hidden=True)
def any_numbers(lab, draw):
    """Is right for any numbers, for any number of heads, returns an int, and builds nothing."""
    original, made = nn.Module.__init__, []

    def noted(module, *args, **kwargs):
        made.append(type(module).__name__)
        original(module, *args, **kwargs)

    def ask(V, context, h, d_k, L):
        return lab.count_gpt_params(GPTConfig(V, context, h * d_k, h, L))

    nn.Module.__init__ = noted
    try:
        counts = draw.each_size(ask, V=17, context=9, h=3, d_k=5, L=4)
        kind = type(lab.count_gpt_params(small(dropout=0.3))).__name__
    finally:
        nn.Module.__init__ = original
    return {**counts, "type": kind, "modules built": len(made)}
