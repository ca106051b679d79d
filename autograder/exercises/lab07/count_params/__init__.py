"""count_params: how many parameters a Transformer has, by a formula."""

from __future__ import annotations

from dataclasses import replace

from torch import nn

from attnlab.parameter_count import count_params
from attnlab.transformer_config import TransformerConfig
from gradekit.exercise import Exercise

exercise = Exercise(count_params)


def drawn(draw, **others):
    """A config with random numbers that are all different."""
    names = (
        "source_vocab", "target_vocab", "d_ff", "num_encoder_layers", "num_decoder_layers", "d_k",
    )  # fmt: skip
    numbers = dict(zip(names, (7 + draw.permutation(20)[: len(names)]).tolist(), strict=True))
    return TransformerConfig(
        **{"d_model": 6 * numbers.pop("d_k"), "num_heads": 6, **numbers, **others}
    )


@exercise.check(points=2)
def sizes_of_the_paper(lab, draw):
    """The paper's base and big model, and big with lecture C's d_ff, to the last parameter."""
    configs = {
        "base": TransformerConfig.of_size("base", 37_000),
        "big": TransformerConfig.of_size("big", 37_000),
        "big, d_ff=2048": TransformerConfig.of_size("big", 37_000, d_ff=2048),
    }
    return {name: lab.count_params(cfg) for name, cfg in configs.items()}


@exercise.check(points=1)
def number_of_heads(lab, draw):
    """The number of heads changes nothing."""
    cfg = drawn(draw)
    of_one = lab.count_params(replace(cfg, num_heads=1))
    return {
        f"{h} heads, more than with one": lab.count_params(replace(cfg, num_heads=h)) - of_one
        for h in (2, 3, 6)
    }


@exercise.check(points=1.5, hidden=True)
def tables(lab, draw):
    """A table that is used twice or three times counts once."""
    rows = int(draw.integers(30, 60))
    cfg = drawn(draw, target_vocab=rows, source_vocab=rows)
    counts = {tie: lab.count_params(replace(cfg, tie=tie)) for tie in ("none", "output", "all")}
    other = {
        tie: lab.count_params(replace(cfg, tie=tie, source_vocab=rows + 3)) - counts[tie]
        for tie in ("none", "output")
    }
    return {
        'tie="none", more than "output"': counts["none"] - counts["output"],
        'tie="output", more than "all"': counts["output"] - counts["all"],
        'three more source symbols, tie="none"': other["none"],
        'three more source symbols, tie="output"': other["output"],
    }


@exercise.check(points=0.5, hidden=True)
def norms(lab, draw):
    """With norm "pre", a normalisation follows each stack; with "post", none does."""
    cfg = drawn(draw)
    pre, post = (lab.count_params(replace(cfg, norm=norm)) for norm in ("pre", "post"))
    return {"pre, more than post": pre - post}


@exercise.check(points=1.5, hidden=True)
def any_numbers(lab, draw):
    """Is right for all numbers of the config, ones and equal ones included."""

    def ask(h, N, M, d_k, source_vocab, target_vocab, d_ff):
        cfg = TransformerConfig(
            source_vocab, target_vocab, d_model=h * d_k, num_heads=h, d_ff=d_ff,
            num_encoder_layers=N, num_decoder_layers=M,
        )  # fmt: skip
        return lab.count_params(cfg)

    usual = {"h": 2, "N": 3, "M": 4, "d_k": 5, "source_vocab": 17, "target_vocab": 13, "d_ff": 23}
    ties = {tie: lab.count_params(drawn(draw, tie=tie)) for tie in ("none", "output")}
    return {**draw.each_size(ask, **usual), **ties}


@exercise.check(points=0.5, hidden=True)
def what_is_no_parameter(lab, draw):
    """Positions, dropout and the symbol for padding have no parameters."""
    cfg = drawn(draw)
    count = lab.count_params(cfg)
    others = {"max_len": 77, "dropout": 0.4, "pad": 3}
    return {
        f"another {name}, more": lab.count_params(replace(cfg, **{name: value})) - count
        for name, value in others.items()
    }


@exercise.check(points=1, hidden=True)
def nothing_is_built(lab, draw):
    """Returns a Python int, and builds nothing to find it."""
    original, built = nn.Module.__init__, []

    def noted(module, *args, **kwargs):
        built.append(type(module).__name__)
        original(module, *args, **kwargs)

    nn.Module.__init__ = noted
    try:
        count = lab.count_params(drawn(draw))
    finally:
        nn.Module.__init__ = original
    return {"type": type(count).__name__, "modules built": len(built)}


exercise.promises(
    {
        "The number of parameters of `Transformer(cfg)`": (
            "sizes_of_the_paper any_numbers norms number_of_heads"
        ),
        "by a formula: nothing is built": "nothing_is_built",
        "A table that is used twice counts once": "tables",
        "positions have no parameters": "what_is_no_parameter",
        "A Python int.": "nothing_is_built",
    },
    explained=["cfg: all numbers of the model."],
)
