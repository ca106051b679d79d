"""MultiHeadAttention: several attentions side by side, and a layer that mixes their outputs."""

from __future__ import annotations

import torch

from attnlab.checking.observation import dtype_of
from attnlab.checking.weights import weight_gradients
from attnlab.multihead import MultiHeadAttention, merge_heads, split_heads
from gradekit.exercise import Exercise

from .layers import (
    SPELLINGS,
    any_mask,
    built,
    compared,
    drawn_weights,
    form,
    named,
    shape,
    with_one_key,
)

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


@exercise.check(points=1)
def shapes_and_dtype(lab, draw):
    """The output comes alone, or with each head's weights if you ask; the dtype is kept."""
    model = lab.MultiHeadAttention(12, 3)
    q, k = draw.normal(2, 5, 12).float(), draw.normal(2, 7, 12).float()
    out = model(q, k, k)
    both = named(model(q, k, k, need_weights=True))
    return {
        "without need_weights": form(out),
        "dtype": dtype_of(out),
        "output, with need_weights": form(both["output"]),
        "with need_weights": both["with need_weights"],
        "shape of the weights": shape(both["weights"]),
    }


@exercise.check(points=2)
def parameters(lab, draw):
    """Has as many parameters as the four layers, for any sizes, with and without bias."""
    # No usual mistake makes any of these numbers twice as large, or half as large.
    d_k, d_v = draw.integers(5, 9, 2).tolist()
    sizes = {
        "d_model 12, 4 heads": ((12, 4), {}),
        "d_model 12, 4 heads, no bias": ((12, 4), {"bias": False}),
        f"d_model 12, 4 heads, d_k {d_k}": ((12, 4), {"d_k": d_k}),
        f"d_model 12, 4 heads, d_v {d_v}": ((12, 4), {"d_v": d_v}),
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
        "d_k 6, d_v 9": lab.MultiHeadAttention(12, 3, d_k=6, d_v=9),
        "arguments in the task's order": lab.MultiHeadAttention(12, 3, 6, 9),
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
    return model(draw.normal(3, 2, 12), draw.normal(3, 6, 12), draw.normal(3, 6, 12))


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


@exercise.check(points=0.5)
def dropout_in_training(lab, draw):
    """While training, some attention weights are dropped and nothing else; later nothing is."""
    found, dropped, kept, out, model = with_one_key(lab, draw)
    x = draw.normal(2, 50, 21)
    while_training = torch.equal(model(x, x, x), model(x, x, x))
    model.eval()
    share = float(dropped.double().mean())
    features = ((found.abs() < 1e-7) & ~dropped[..., None]).any()
    apart = (dropped.any(-1) & kept.any(-1)).any() and (dropped.any(1) & kept.any(1)).any()
    return {
        "two runs while training": "equal" if while_training else "different",
        "numbers of the output that are 0": "some" if bool((out == 0).any()) else "none",
        "single features of a head that are 0": "some" if bool(features) else "none",
        "weights that are dropped": "some" if bool(dropped.any()) else "none",
        "weights that are not dropped": "kept and scaled"
        if bool((dropped | kept).all())
        else "other numbers",
        "how many are dropped, at a rate of 0.2": (
            "too few" if share <= 0.08 else "too many" if share >= 0.32 else "about one of five"
        ),
        "heads and queries lose their weights": "one by one" if bool(apart) else "together",
        "two runs after eval()": (
            "equal" if torch.equal(model(x, x, x), model(x, x, x)) else "different"
        ),
    }


@exercise.check(points=0.5)
def way_back(lab, draw):
    """Gradients reach the three inputs."""
    model = built(lab, drawn_weights(draw))
    inputs = draw.normal(2, 4, 12), draw.normal(2, 7, 12), draw.normal(2, 7, 12)
    mask = any_mask(draw, 4, 7)

    def masked(q, k, v):
        return model(q, k, v, mask.clone())

    to_inputs = draw.gradients(lambda q, k, v: model(q, k, v), *inputs)
    if not isinstance(to_inputs, list):
        return to_inputs
    seen = {f"gradient of {name}": grad for name, grad in zip("qkv", to_inputs, strict=True)}
    # What a mask does is another check's question: here, only an error on the way back counts.
    if draw.raises(masked, *inputs) is None:
        draw.gradients(masked, *inputs)
    return {**seen, "with a mask": "no error on the way back"}


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
    mask = any_mask(draw, 4, 7)
    trained = named(model(q, k, k, mask, need_weights=True))["weights"]
    evaluated = named(model.eval()(q, k, k, mask, need_weights=True))["weights"]
    return {"the weights while training": compared(trained, evaluated)}


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
