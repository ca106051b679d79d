"""Residual: the input flows past a sublayer; a normalisation before it or after the sum."""

from __future__ import annotations

import torch

from attnlab.checking.judges import Close
from attnlab.checking.layer_weights import is_norm
from attnlab.checking.weights import give_weights
from attnlab.layers import LayerNorm, Residual
from gradekit.exercise import Exercise

exercise = Exercise(Residual, uses=[LayerNorm])

NAMES = (
    "norm", "layer_norm", "layernorm", "ln", "norm1", "normalisation", "normalization",
    "norm_layer", "before", "after",
)  # fmt: skip
SPELLINGS = {
    f"norm.{kind}": tuple(f"{name}.{word}" for name in NAMES for word in (kind, *others))
    for kind, others in (
        ("weight", ("gamma", "alpha", "a_2", "scale", "g")),
        ("bias", ("beta", "b_2", "shift", "b")),
    )
}


def spellings_of(model):
    """The usual names, and those of the only normalisation that the module has or is."""
    inside = [name for name, module in model.named_modules() if is_norm(module)]
    if len(inside) != 1:
        return SPELLINGS
    words = [word for word, _ in model.get_submodule(inside[0]).named_parameters(recurse=False)]
    return {
        name: (f"{inside[0]}.{word}".lstrip("."), *names)
        for (name, names), word in zip(SPELLINGS.items(), words, strict=True)
    }


def built(lab, draw, d, mode, **options):
    """A student's module with a random normalisation, not in training."""
    model = lab.Residual(d, mode=mode, **options).double()
    weights = {"norm.weight": draw.normal(d), "norm.bias": draw.normal(d)}
    give_weights(model, weights, spellings_of(model))
    return model.eval()


def sublayer(draw, d):
    """A map that mixes features, and words."""
    weight = draw.normal(d, d)
    return lambda x: x @ weight + 3 + x.mean(-2, keepdim=True)


def nothing(x):
    return torch.zeros_like(x)


MODES = ("pre", "post")


@exercise.check(points=2.5)
def a_sublayer_that_adds_nothing(lab, draw):
    """If the sublayer returns zeros: "pre" gives x, bit for bit; "post" gives the normalised x."""
    x = 2 * draw.normal(2, 5, 7) + 1
    pre = built(lab, draw, 7, "pre")(x, nothing)
    return {
        "pre": pre,
        "pre, bit for bit": torch.equal(pre, x),
        "post": built(lab, draw, 7, "post")(x, nothing),
    }


@exercise.check(points=2.5)
def both_formulas(lab, draw):
    """x + sublayer(norm(x)) and norm(x + sublayer(x)), for given parameters."""
    x, f = 2 * draw.normal(2, 5, 7), sublayer(draw, 7)
    return {mode: built(lab, draw, 7, mode)(x, f) for mode in MODES}


@exercise.check(points=0.5)
def parameters(lab, draw):
    """Has the parameters of one normalisation."""
    d = int(draw.integers(5, 12))
    return {mode: sum(p.numel() for p in lab.Residual(d, 0.1, mode).parameters()) for mode in MODES}


@exercise.check(points=1)
def modes(lab, draw):
    """The mode is "pre" by default; another word is a ValueError."""
    x = 2 * draw.normal(2, 5, 7)
    words = ("pre", "post", "Pre", "before", "", None)
    return {
        "no mode given": lab.Residual(7).double().eval()(x, nothing),
        **{f"mode={word!r}": draw.raises(lab.Residual, 7, mode=word) for word in words},
    }


@exercise.check(points=2, hidden=True)
def dropout(lab, draw):
    """Drops entries of the sublayer's output while training, and of nothing else."""
    x, f = 5 + draw.uniform(4, 25, 8), sublayer(draw, 8)
    seen = {}
    for mode in MODES:
        seen[f"{mode}, dropout=1, train()"] = built(lab, draw, 8, mode, dropout=1.0).train()(x, f)
        seen[f"{mode}, dropout=0.5, eval()"] = built(lab, draw, 8, mode, dropout=0.5)(x, f)
        seen[f"{mode}, no dropout given, train()"] = built(lab, draw, 8, mode).train()(x, f)
    out = built(lab, draw, 8, "pre", dropout=0.2).train()(x, lambda y: torch.full_like(y, 4.0)) - x
    dropped, kept = out.abs() < 1e-9, (out - 5).abs() < 1e-9
    return {
        **seen,
        "pre, dropout=0.2: dropped, or kept and scaled": bool((dropped | kept).all()),
        "about one of five is dropped": 0.12 < float(dropped.double().mean()) < 0.28,
    }


@exercise.check(points=1, hidden=True)
def one_call(lab, draw):
    """Calls the sublayer once, on the normalised vectors ("pre") or on x itself ("post")."""
    x = 3 * draw.normal(2, 5, 7) + 2
    seen = {}
    for mode in MODES:
        given = []

        def recorded(y, given=given):
            given.append(y.detach().clone())
            return 0.5 * y

        built(lab, draw, 7, mode)(x, recorded)
        seen[mode] = {"calls": len(given), "given": given[0] if given else "nothing"}
    return seen


@exercise.check(points=1.5, hidden=True)
def gradients(lab, draw):
    """Gradients flow past the sublayer and through it, to its parameters, too; x is unchanged."""
    x, f = draw.normal(2, 4, 5), sublayer(draw, 5)
    seen = {}
    for mode in MODES:
        model, weight = built(lab, draw, 5, mode), draw.normal(5).requires_grad_()
        seen[f"{mode}, past"] = draw.gradients(lambda y, m=model: m(y, nothing), x)
        seen[f"{mode}, past and through"] = draw.gradients(lambda y, m=model: m(y, f), x)
        (model(x, lambda y, w=weight: y * w) * draw.normal(2, 4, 5)).sum().backward()
        seen[f"{mode}, sublayer's parameter"] = weight.grad
    return {**seen, "x as it was": draw.untouched()}


@exercise.check(points=1, hidden=True, judge=Close(atol=1e-8))
def other_sizes(lab, draw):
    """Is right for any sizes, one sentence, word or feature included, and on views of x."""

    def ask(B, T, d):
        x, f = 2 * draw.normal(B, T, d), sublayer(draw, d)
        return [built(lab, draw, d, mode)(x, f) for mode in MODES]

    spread = draw.strided(draw.normal(2, 4, 5))
    return {
        **draw.each_size(ask, B=2, T=5, d=7),
        "not contiguous": built(lab, draw, 5, "pre")(spread, sublayer(draw, 5)),
        "the sublayer returns its input": built(lab, draw, 5, "post")(spread, lambda y: y),
    }


exercise.promises(
    {
        "Add a sublayer's output to its input": "a_sublayer_that_adds_nothing both_formulas",
        "normalise before the sublayer or after the sum": "both_formulas one_call",
        "With the normalisation `norm`, a `LayerNorm(d_model)`": "parameters both_formulas",
        "dropout on the sublayer's output": "dropout",
        "x + dropout(sublayer(norm(x)))": "both_formulas a_sublayer_that_adds_nothing",
        "norm(x + dropout(sublayer(x)))": "both_formulas a_sublayer_that_adds_nothing",
        "d_model: features of a vector.": "parameters",
        "the probability that an entry of the sublayer's output is dropped in training": "dropout",
        'mode: "pre" or "post".': "modes",
        "ValueError: `mode` is another word.": "modes",
        "x: (B, T, d_model), the stream; stays unchanged.": "gradients other_sizes",
        "it is called once": "one_call",
        "(B, T, d_model). Gradients flow back to `x`, past the sublayer and through it.": (
            "gradients other_sizes"
        ),
    },
    explained=["Apply a sublayer around which the input flows."],
)
