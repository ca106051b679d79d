"""Wrong tests of multi-head attention that find or copy weights by their names, or in order."""

from __future__ import annotations

import torch

from attnlab.multihead import MultiHeadAttention

from . import exercise
from .parts import (
    MASKS,
    SIZES,
    alone,
    asserted,
    close,
    drops,
    filled,
    learns,
    nobody,
    numbers,
    texts,
)

NAMES = (
    "Your test rejects your own layer once it is inside another module, where its parameters have "
    "other names and another order. A line that looks up or counts layers, or copies weights by "
    "name (as `load_state_dict` does) or in order, rejects right versions. What finds the weights "
    "wherever they are?"
)


def by_name(impl, sizes=SIZES):
    """A version, and the reference with its weights, copied by their names."""
    model, mine = filled(impl, sizes), filled(MultiHeadAttention, sizes)
    mine.load_state_dict(model.state_dict())
    return model.eval(), mine.eval()


def in_order(impl, sizes=SIZES):
    """A version, and the reference with its weights, copied in the order of the parameters."""
    model, mine = filled(impl, sizes), filled(MultiHeadAttention, sizes)
    with torch.no_grad():
        for own, other in zip(mine.parameters(), model.parameters(), strict=True):
            own.copy_(other)
    return model.eval(), mine.eval()


def compared(model, mine, masks=MASKS, weights=True):
    """Outputs, and if asked for weights, are the copy's: without a mask and with masks."""
    for shape in (None, *masks):
        mask = None if shape is None else torch.rand(shape) < 0.6
        if mask is not None:
            mask[..., 0] = True
        inputs = texts()
        answers = [layer(*inputs, mask, need_weights=True) for layer in (model, mine)]
        close(answers[0][0], answers[1][0])
        if weights:
            close(answers[0][1], answers[1][1])


@exercise.mistake(NAMES)
def asks_for_names_of_parameters(impl):
    assert dict(filled(impl).named_parameters())["q_proj.weight"].shape == (12, 10)
    numbers(impl)


@exercise.mistake(NAMES)
def asks_for_names(impl):
    assert filled(impl).q_proj.weight.shape == (12, 10)
    assert filled(impl).out_proj.weight.shape == (10, 15)
    numbers(impl, dropout=0.5)
    asserted(nobody, learns, drops, alone, impl=impl)


@exercise.mistake(NAMES)
def copied_by_name(impl):
    compared(*by_name(impl))
    asserted(nobody, learns, drops, alone, impl=impl)


@exercise.mistake(NAMES)
def copied_in_order(impl):
    compared(*in_order(impl))
    asserted(nobody, learns, drops, alone, impl=impl)


@exercise.mistake(NAMES)
def copied_by_name_for_ordinary_cases(impl):
    compared(*by_name(impl))
    alone(impl)


@exercise.mistake(NAMES)
def copied_by_name_without_masks(impl):
    compared(*by_name(impl), masks=())
    alone(impl)


@exercise.mistake(NAMES)
def copied_by_name_for_outputs_without_masks(impl):
    compared(*by_name(impl), masks=(), weights=False)
    alone(impl)


@exercise.mistake(NAMES)
def copied_by_name_for_one_text(impl):
    model, mine = by_name(impl)
    x = texts()[0]
    close(model(x, x, x), mine(x, x, x))
