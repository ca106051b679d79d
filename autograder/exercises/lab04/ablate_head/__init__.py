"""ablate_head: the output of a model when one of its heads is ablated."""

from __future__ import annotations

import torch
from torch import nn

from attnlab.checking.torch_attention import spellings
from attnlab.checking.weights import give_weights
from attnlab.multihead import MultiHeadAttention, ablate_head, merge_heads, split_heads
from gradekit.exercise import Exercise

exercise = Exercise(ablate_head, uses=[split_heads, merge_heads, MultiHeadAttention])


# While students work on the notebook, the model is their own, with their own names of weights.
SPELLINGS = spellings()


def model_of(lab, draw, dropout=0.0, d_model=10, h=3, d_k=7, d_v=5):
    """A model with drawn weights; by default three heads, and d_k, d_v, d_model all different."""
    model = lab.MultiHeadAttention(d_model, h, d_k=d_k, d_v=d_v, dropout=dropout).double()
    keys, values = (h * d_k, d_model), (h * d_v, d_model)
    sizes = {"q_proj": keys, "k_proj": keys, "v_proj": values, "out_proj": values[::-1]}
    weights = {f"{name}.weight": 0.5 * draw.normal(*size) for name, size in sizes.items()}
    weights |= {f"{name}.bias": draw.normal(size[0]) for name, size in sizes.items()}
    give_weights(model, weights, SPELLINGS)
    return model


def texts(draw):
    return draw.normal(2, 4, 10), draw.normal(2, 7, 10), draw.normal(2, 7, 10)


@exercise.check(points=3)
def the_first_head(lab, draw):
    """Without one head: the output loses that head's contribution, and nothing else."""
    # A model for each head: whether a model stays as it was is another check's question.
    model, other, given = model_of(lab, draw), model_of(lab, draw), texts(draw)
    ablated = lab.ablate_head(model, 0)
    # None is an answer here: then the question is whether a `return` is missing.
    out, weights = (None, None) if ablated is None else ablated(*given, need_weights=True)
    return {
        "output": out,
        "the weights stay": weights,
        "without head 1": None if ablated is None else lab.ablate_head(other, 1)(*given),
    }


def same(now, before):
    return "unchanged" if torch.equal(now, before) else "changed"


@exercise.check(points=1.5)
def the_model_stays(lab, draw):
    """The model itself stays unchanged, even if the copy is changed afterwards."""
    model, given = model_of(lab, draw), texts(draw)
    before = model(*given)
    ablated = lab.ablate_head(model, 1)
    after = model(*given)
    with torch.no_grad():
        for parameter in ablated.parameters():
            parameter.zero_()
    return {
        "the model's output after ablating": same(after, before),
        "the model's output after a change of the copy": same(model(*given), after),
        "what comes back": "the model itself" if ablated is model else "another module",
        "the model's output before ablating": before,  # no two drawings give the same answer
    }


@exercise.check(points=0.5)
def called_as_the_model_is(lab, draw):
    """Returns a module of the model's dtype that is called like it, without and with weights."""
    ablated = lab.ablate_head(model_of(lab, draw), 2)
    q, k, v = texts(draw)
    mask = torch.arange(7) < 5
    dtypes = "not a module"
    if isinstance(ablated, nn.Module):
        dtypes = sorted({str(p.dtype).removeprefix("torch.") for p in ablated.parameters()})
        ablated.double()
    return {
        "what comes back": "a module" if isinstance(ablated, nn.Module) else "not a module",
        "dtype of its parameters": dtypes,
        "shape": list(ablated(q, k, v, mask=mask).shape),
        "shapes with weights": [list(x.shape) for x in ablated(q, k, v, mask, need_weights=True)],
    }


def mode_of(module):
    """The mode of a module and of all modules in it, in a word or two."""
    modes = {part.training for part in module.modules()} if isinstance(module, nn.Module) else ()
    return {(True,): "training", (False,): "evaluation", (): "no mode"}.get(tuple(modes), "mixed")


@exercise.check(points=0.5)
def mode_and_parameters(lab, draw):
    """The copy is in training mode if the model is, and all its parameters can be trained."""
    seen = {}
    for name, training in (("in training", True), ("after eval()", False)):
        model = model_of(lab, draw).train(training)
        ablated = lab.ablate_head(model, 1)
        seen[f"mode of the copy of a model {name}"] = mode_of(ablated)
        seen[f"mode of a model {name}, when it has been copied"] = mode_of(model)
    frozen = [not parameter.requires_grad for parameter in ablated.parameters()]
    seen["parameters of the copy that are frozen"] = (
        "all of them" if all(frozen) else "some of them" if any(frozen) else "none"
    )
    return seen


@exercise.check(points=0.5)
def one_head_too_far(lab, draw):
    """Raises IndexError for heads 3 and -1 of a model with three heads."""
    model = model_of(lab, draw)
    return {f"head {head}": draw.raises(lab.ablate_head, model, head) for head in (3, -1)}


@exercise.check(points=2, hidden=True)
def any_head(lab, draw):
    """Works for every head, mask and size, and for one head after another."""
    (q, k, v), mask = texts(draw), draw.uniform(2, 1, 4, 7) < 0.6
    seen = {}
    for head in (2, 1, 0):
        ablated = lab.ablate_head(model_of(lab, draw), head)
        seen[f"head {head}"] = ablated(q, k, v)
        seen[f"head {head}, masked"] = ablated(q, k, v, mask)
    twice = lab.ablate_head(lab.ablate_head(model_of(lab, draw), 2), 0)

    def ask(B, T, d_model, h, d_k, d_v):
        model = model_of(lab, draw, d_model=d_model, h=h, d_k=d_k, d_v=d_v)
        x = draw.normal(B, T, d_model)
        return lab.ablate_head(model, h - 1)(x, x, x)

    each = draw.each_size(ask, B=2, T=6, d_model=10, h=3, d_k=4, d_v=5)
    return {**seen, "heads 2 and 0": twice(q, k, v), "sizes": each}


@exercise.check(points=1, hidden=True)
def silence_of_all(lab, draw):
    """With every head ablated, only the bias of the last layer remains."""
    model = model_of(lab, draw)
    ablated = model
    for head in range(3):
        ablated = lab.ablate_head(ablated, head)
    one = lab.MultiHeadAttention(6, 1, bias=False).double()
    x = draw.normal(2, 3, 6)
    return {
        "three of three": ablated(*texts(draw)),
        "one of one, no bias": lab.ablate_head(one, 0)(x, x, x),
    }


@exercise.check(points=0.5, hidden=True)
def still_a_model(lab, draw):
    """The copy keeps the model's dropout, and gradients reach its inputs and its parameters."""
    model = model_of(lab, draw, dropout=0.5).eval()
    # Mode and frozen parameters are another check's question.
    ablated = lab.ablate_head(model, 1).eval().requires_grad_()
    noisy = lab.ablate_head(model_of(lab, draw, dropout=0.5).train(), 2).train()
    given = texts(draw)
    leaf = draw.normal(2, 4, 10).requires_grad_()
    (ablated(leaf, leaf, leaf) * draw.normal(2, 4, 10)).sum().backward()
    return {
        "drops weights in training, as the model does": not torch.equal(
            noisy(*given), noisy(*given)
        ),
        "gradient of the input": leaf.grad,
        "gradient of the last bias": [
            "no gradient" if p.grad is None else p.grad
            for name, p in ablated.named_parameters()
            if name.endswith("out_proj.bias")
        ],
        "the model's own gradients": sum(p.grad is not None for p in model.parameters()),
    }


@exercise.check(points=0.5, hidden=True)
def heads_that_are_not_there(lab, draw):
    """Raises IndexError for a head that the model does not have."""
    model = model_of(lab, draw)
    return {f"head {head}": draw.raises(lab.ablate_head, model, head) for head in (3, 7, -1, -4)}
