"""MultiHeadAttention: several attentions side by side, and a layer that mixes their outputs."""

from __future__ import annotations

import torch

from attnlab.checking.observation import count_of
from attnlab.checking.torch_attention import spellings
from attnlab.checking.weights import give_weights, weight_gradients
from attnlab.multihead import MultiHeadAttention, merge_heads, split_heads
from gradekit.exercise import Exercise

exercise = Exercise(
    MultiHeadAttention,
    uses=[split_heads, merge_heads],
    forbids=[
        "torch.nn.functional.multi_head_attention_forward",
        "torch.nn.functional.scaled_dot_product_attention",
    ],
    equivalent={
        "MultiHeadAttention: `1` → `0` in "
        "`if num_heads < 1 or (None in (d_k, d_v) and d_model % num_heads):`": (
            "the task has one head or more"
        ),
    },
)

SPELLINGS = spellings()


def drawn_weights(draw, d_model=12, num_heads=3, d_k=5, d_v=7, bias=True):
    """Weights for the four layers, by the names in the task."""
    q, v = num_heads * d_k, num_heads * d_v
    sizes = {"q_proj": (q, d_model), "k_proj": (q, d_model), "v_proj": (v, d_model)}
    weights = {}
    for name, (rows, columns) in {**sizes, "out_proj": (d_model, v)}.items():
        weights[f"{name}.weight"] = 0.5 * draw.normal(rows, columns)
        if bias:
            weights[f"{name}.bias"] = draw.normal(rows)
    return weights


def built(lab, weights, d_model=12, num_heads=3, d_k=5, d_v=7, **options):
    """A student's module with given weights, not in training; all its other weights are 0.

    So a bias too many, or a condition on sizes that are never divided, costs a check of its own
    and not all that are asked with given weights.
    """
    model = lab.MultiHeadAttention(d_model, num_heads, d_k=d_k, d_v=d_v, **options).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    give_weights(model, weights, SPELLINGS)
    return model.eval()


def named(answer):
    """The result of a call with need_weights=True: how many values it has, and these by name."""
    pair = isinstance(answer, tuple) and len(answer) == 2
    output, weights = answer if pair else (answer, None)
    return {"with need_weights": count_of(answer), "output": output, "weights": weights}


def shape(out):
    return list(out.shape) if isinstance(out, torch.Tensor) else out


def any_mask(draw, *shape):
    """A random mask in which every query may attend to some key, except the second query."""
    mask = draw.uniform(*shape) < 0.6
    mask[..., 0] = True
    if shape[-2] > 1:
        mask[..., 1, :] = False
    return mask


@exercise.check(points=1)
def shapes_and_dtype(lab, draw):
    """The output comes alone, or with each head's weights if you ask; the dtype is kept."""
    model = lab.MultiHeadAttention(12, 3)
    q, k = draw.normal(2, 4, 12).float(), draw.normal(2, 7, 12).float()
    out = model(q, k, k)
    both = named(model(q, k, k, need_weights=True))
    return {
        "shape of the output": shape(out),
        "dtype": str(getattr(out, "dtype", type(out).__name__)).removeprefix("torch."),
        "with need_weights": both["with need_weights"],
        "shape of the weights": shape(both["weights"]),
        "shape of the output with need_weights": shape(both["output"]),
    }


@exercise.check(points=2)
def parameters(lab, draw):
    """Has as many parameters as the four layers, for any sizes, with and without bias."""
    d_k, d_v = draw.integers(5, 10, 2).tolist()
    sizes = {
        "d_model 12, 3 heads": ((12, 3), {}),
        "d_model 12, 3 heads, no bias": ((12, 3), {"bias": False}),
        f"d_model 12, 3 heads, d_k {d_k}": ((12, 3), {"d_k": d_k}),
        f"d_model 12, 3 heads, d_v {d_v}": ((12, 3), {"d_v": d_v}),
        "d_model 10, 3 heads, d_k 4, d_v 5": ((10, 3), {"d_k": 4, "d_v": 5}),
        "arguments in the task's order": ((10, 3, 4, 5, False, 0.5), {}),
    }
    return {
        f"number of parameters, {name}": sum(
            p.numel() for p in lab.MultiHeadAttention(*given, **others).parameters()
        )
        for name, (given, others) in sizes.items()
    }


@exercise.check(points=0.5)
def attributes(lab, draw):
    """Its attributes num_heads, d_k and d_v are the numbers that it uses, given or chosen."""
    layers = {
        "d_model 12, 3 heads": lab.MultiHeadAttention(12, 3),
        "d_k 5, d_v 7": lab.MultiHeadAttention(12, 3, d_k=5, d_v=7),
        "arguments in the task's order": lab.MultiHeadAttention(12, 3, 5, 7),
    }
    names = ("num_heads", "d_k", "d_v")
    return {
        title: {name: getattr(layer, name, "missing") for name in names}
        for title, layer in layers.items()
    }


@exercise.check(points=2.5)
def self_attention(lab, draw):
    """Self-attention: the output and each head's weights, for given parameters."""
    model = built(lab, drawn_weights(draw))
    x = draw.strided(draw.normal(2, 6, 12))
    return named(model(x, x, x, need_weights=True))


@exercise.check(points=3)
def cross_attention(lab, draw):
    """Queries, keys and values come from three different texts, with more keys than queries."""
    model = built(lab, drawn_weights(draw))
    q, k, v = draw.normal(2, 4, 12), draw.normal(2, 7, 12), draw.normal(2, 7, 12)
    others, more = draw.normal(2, 4, 12), draw.normal(2, 4, 12)
    return {
        "alone": model(q, k, v),
        "with the weights": named(model(q, k, v, need_weights=True)),
        "texts of one length": model(q, others, more),
        "other keys and values": model(q, draw.normal(2, 7, 12), draw.normal(2, 7, 12)),
    }


@exercise.check(points=1)
def looking_back(lab, draw):
    """With a mask (T, T) that only allows looking back, a word sees itself and earlier words."""
    model = built(lab, drawn_weights(draw))
    x = draw.normal(2, 6, 12)
    return named(model(x, x, x, torch.ones(6, 6).tril().bool(), need_weights=True))


@exercise.check(points=1)
def one_head(lab, draw):
    """With one head, it is scaled dot-product attention between four layers."""
    weights = drawn_weights(draw, 12, 1, 5, 7)
    model = built(lab, weights, 12, 1, 5, 7)
    return model(draw.normal(3, 2, 12), draw.normal(3, 5, 12), draw.normal(3, 5, 12))


@exercise.check(points=1)
def all_parameters_alike(lab, draw):
    """Is right with its default sizes and every parameter set to 0.1."""
    model = lab.MultiHeadAttention(12, 3).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(0.1)
    mask = (torch.arange(7) < 4).expand(5, 7).clone()
    return model(draw.normal(2, 5, 12), draw.normal(2, 7, 12), draw.normal(2, 7, 12), mask)


@exercise.check(points=2)
def one_mask_for_all(lab, draw):
    """A mask (Lq, Lk) holds for every sentence and head; a query with no allowed key gets zeros."""
    model = built(lab, drawn_weights(draw))
    q, k, v = draw.normal(2, 4, 12), draw.normal(2, 7, 12), draw.normal(2, 7, 12)
    return {
        "with a mask": named(model(q, k, v, any_mask(draw, 4, 7), need_weights=True)),
        "afterwards without one": model(q, k, v),
    }


@exercise.check(points=0.5)
def mask_of_each_head(lab, draw):
    """A mask of three axes, (h, Lq, Lk), has a part for each head and holds for every sentence."""
    model = built(lab, drawn_weights(draw))
    q, k, v = draw.normal(2, 4, 12), draw.normal(2, 7, 12), draw.normal(2, 7, 12)
    return model(q, k, v, any_mask(draw, 3, 4, 7))


def with_one_key(lab, draw):
    """A layer that trains with dropout=0.2, asked with one key.

    A head then returns the value of that key, unless its weight was dropped.

    Returns:
        what out_proj was given, the heads apart, shape (2, 50, 3, 5); which weights were dropped
        and which were kept and scaled, shape (2, 50, 3); the output; the layer.
    """
    weights = drawn_weights(draw, 21, 3, 2, 5)
    model = built(lab, weights, 21, 3, 2, 5, dropout=0.2).train()
    q, only = draw.normal(2, 50, 21), draw.normal(2, 1, 21)
    value = only @ weights["v_proj.weight"].mT + weights["v_proj.bias"]
    value = value.unflatten(-1, (3, 5)).expand(2, 50, 3, 5)
    back = torch.linalg.pinv(weights["out_proj.weight"]).mT
    out = model(q, only, only)
    found = ((out - weights["out_proj.bias"]) @ back).unflatten(-1, (3, 5))
    dropped = found.abs().amax(-1) < 1e-7
    kept = (found - value / 0.8).abs().amax(-1) < 1e-7
    return found, dropped, kept, out, model


@exercise.check(points=0.5)
def dropout_in_training(lab, draw):
    """While training, some attention weights are dropped and nothing else; later nothing is."""
    found, dropped, kept, out, model = with_one_key(lab, draw)
    x = draw.normal(2, 50, 21)
    two_runs_differ = not torch.equal(model(x, x, x), model(x, x, x))
    model.eval()
    return {
        "two runs while training differ": two_runs_differ,
        "no number of the output is 0": bool((out != 0).all()),
        "no single feature of a head is 0": bool(
            ((found.abs() >= 1e-7) | dropped[..., None]).all()
        ),
        "some weights are dropped": bool(dropped.any()),
        "all others are kept and scaled": bool((dropped | kept).all()),
        "about one of five is dropped": 0.08 < float(dropped.double().mean()) < 0.32,
        "each head and query for itself": bool(
            (dropped.any(-1) & kept.any(-1)).any() and (dropped.any(1) & kept.any(1)).any()
        ),
        "two runs after eval() are equal": torch.equal(model(x, x, x), model(x, x, x)),
    }


@exercise.check(points=0.5)
def way_back(lab, draw):
    """Gradients reach the three inputs."""
    model = built(lab, drawn_weights(draw))
    inputs = draw.normal(2, 4, 12), draw.normal(2, 7, 12), draw.normal(2, 7, 12)
    to_inputs = draw.gradients(lambda q, k, v: model(q, k, v), *inputs)
    if not isinstance(to_inputs, list):
        return to_inputs
    return {f"gradient of {name}": grad for name, grad in zip("qkv", to_inputs, strict=True)}


@exercise.check(points=0.5)
def inputs_kept(lab, draw):
    """Leaves the three inputs and the mask unchanged."""
    model = built(lab, drawn_weights(draw))
    given = dict(zip("qkv", (draw.normal(2, n, 12) for n in (4, 7, 7)), strict=True))
    given["mask"] = torch.arange(7) < torch.tensor([5, 3])[:, None, None, None]
    given["mask with a query without keys"] = any_mask(draw, 4, 7)
    before = {name: x.clone() for name, x in given.items()}
    q, k, v, *masks = given.values()
    for each in masks:
        model(q, k, v, each)
    return {f"{name} unchanged": torch.equal(x, before[name]) for name, x in given.items()}


@exercise.check(points=0.5)
def refuses_sizes(lab, draw):
    """Raises ValueError if the heads do not fit and neither d_k nor d_v is given."""
    return {
        "d_model 10, 3 heads": draw.raises(lab.MultiHeadAttention, 10, 3),
        "d_model 10, 3 heads, d_k 4, d_v 5": draw.raises(
            lab.MultiHeadAttention, 10, 3, d_k=4, d_v=5
        ),
    }


@exercise.check(points=0.5)
def sizes_that_do_not_fit(lab, draw):
    """Raises ValueError if the heads do not fit and only one of d_k and d_v is given."""
    return {
        f"d_model 10, 3 heads, {name} alone": draw.raises(lab.MultiHeadAttention, 10, 3, **given)
        for name, given in {"d_k 4": {"d_k": 4}, "d_v 5": {"d_v": 5}}.items()
    }


@exercise.check(points=1.5, hidden=True)
def masks_of_their_own(lab, draw):
    """Masks may have a batch axis, a heads axis, both or neither; masked keys have no effect."""
    model = built(lab, drawn_weights(draw))
    q, k, v = draw.normal(2, 4, 12), draw.normal(2, 7, 12), draw.normal(2, 7, 12)
    padding = torch.arange(7) < torch.tensor([5, 3])[:, None]  # (B, Lk)
    k, v = k.masked_fill(~padding[..., None], 1e4), v.masked_fill(~padding[..., None], 1e6)
    shapes = {"(B, 1, Lq, Lk)": (2, 1, 4, 7), "(B, h, Lq, Lk)": (2, 3, 4, 7)}
    seen = {name: any_mask(draw, *s) & padding[:, None, None] for name, s in shapes.items()}
    seen = {"(B, 1, 1, Lk)": padding[:, None, None], **seen}
    alike = {"(h, 1, Lk)": any_mask(draw, 3, 1, 7), "(Lk,)": torch.arange(7) < 5}
    seen |= {name: mask & (torch.arange(7) < 3) for name, mask in alike.items()}
    found = {
        name: named(model(q, k, v, mask=mask, need_weights=True)) for name, mask in seen.items()
    }
    q, k, v = draw.normal(3, 4, 12), draw.normal(3, 7, 12), draw.normal(3, 7, 12)
    found["(h, Lq, Lk), as many sentences as heads"] = model(q, k, v, any_mask(draw, 3, 4, 7))
    q, k, v = draw.normal(4, 4, 12), draw.normal(4, 7, 12), draw.normal(4, 7, 12)
    found["(Lq, Lk), as many sentences as queries"] = model(q, k, v, any_mask(draw, 4, 7))
    return found


@exercise.check(points=1, hidden=True)
def other_sizes(lab, draw):
    """Is right for one sentence, head, query, key or feature, and for sizes that are equal."""

    def ask(B, h, Lq, Lk, d_k, d_v):
        sizes = 24, h, d_k, d_v
        model = built(lab, drawn_weights(draw, *sizes), *sizes)
        q, k, v = draw.normal(B, Lq, 24), draw.normal(B, Lk, 24), draw.normal(B, Lk, 24)
        mask = draw.uniform(B, 1, Lq, Lk) < 0.7
        return named(model(q, k, v, mask, need_weights=True))

    return draw.each_size(ask, B=2, h=3, Lq=4, Lk=7, d_k=5, d_v=2)


@exercise.check(points=1.5, hidden=True)
def gradients(lab, draw):
    """Gradients reach the three inputs and all parameters."""
    weights = drawn_weights(draw)
    model = built(lab, weights)
    q, k, v = draw.normal(2, 4, 12), draw.normal(2, 7, 12), draw.normal(2, 7, 12)
    mask = any_mask(draw, 2, 1, 4, 7)
    to_inputs = draw.gradients(lambda q, k, v: model(q, k, v, mask.clone()), q, k, v)
    (model(q, k, v, mask) * draw.normal(2, 4, 12)).sum().backward()
    return {
        "inputs": dict(zip("qkv", to_inputs, strict=True))
        if isinstance(to_inputs, list)
        else to_inputs,
        **weight_gradients(model, weights, SPELLINGS),
    }


@exercise.check(points=1, hidden=True)
def dropout_of_weights(lab, draw):
    """Drops attention weights at the given rate, each for itself, and never single features."""
    found, dropped, kept, _, model = with_one_key(lab, draw)
    share = float(dropped.double().mean())
    x = draw.normal(2, 50, 21)
    return {
        "a weight is dropped, or kept and scaled": bool((dropped | kept).all()),
        "about one of five is dropped": 0.08 < share < 0.32,
        "each head and query for itself": bool(
            (dropped.any(-1) & kept.any(-1)).any() and (dropped.any(1) & kept.any(1)).any()
        ),
        "two runs over one text differ": not torch.equal(model(x, x, x), model(x, x, x)),
        "no single feature is 0": bool(((found.abs() >= 1e-7) | dropped[..., None]).all()),
    }


@exercise.check(points=0.5)
def weights_before_dropout(lab, draw):
    """The weights that it returns while training are those before dropout."""
    model = built(lab, drawn_weights(draw), dropout=0.5).train()
    q, k = draw.normal(2, 4, 12), draw.normal(2, 7, 12)
    both = named(model(q, k, k, any_mask(draw, 4, 7), need_weights=True))
    return both["weights"]


@exercise.check(points=0.5, hidden=True)
def no_dropout_unless_training(lab, draw):
    """Drops nothing after `eval()`, and by default nothing while training."""
    weights = drawn_weights(draw)
    x = draw.normal(2, 6, 12)
    return {
        "dropout=0.5, eval()": built(lab, weights, dropout=0.5).eval()(x, x, x),
        "no dropout given, train()": built(lab, weights).train()(x, x, x),
    }


@exercise.check(points=1, hidden=True)
def without_bias(lab, draw):
    """Works without biases, and sentences of a batch do not see each other."""
    model = built(lab, drawn_weights(draw, bias=False), bias=False)
    q, k = draw.normal(3, 4, 12), draw.normal(3, 7, 12)
    return {
        "together": model(q, k, k),
        "one by one": [model(q[i : i + 1], k[i : i + 1], k[i : i + 1]) for i in range(3)],
    }


@exercise.check(points=2, hidden=True, chained=True)
def on_your_own_steps(lab, draw):
    """Works with your own `split_heads` and `merge_heads`."""
    x = draw.normal(2, 6, 12)
    model = built(lab, drawn_weights(draw))
    q, k = draw.normal(2, 4, 12), draw.normal(2, 7, 12)
    return {
        "split": lab.split_heads(x, 3),
        "there and back": lab.merge_heads(lab.split_heads(x, 3)),
        "attention": model(q, k, k, any_mask(draw, 4, 7)),
    }
