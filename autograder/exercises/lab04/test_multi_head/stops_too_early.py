"""Wrong tests of multi-head attention that stop at right versions, or with another error."""

from __future__ import annotations

import torch

from attnlab.checking.torch_attention import torch_equivalent

from . import exercise
from .parts import SIZES, alone, asserted, close, drops, filled, learns, nobody, numbers, texts

ANOTHER_ERROR = (
    "Your test rejects wrong versions with another error than AssertionError. Which error does the "
    "task ask for?"
)


@exercise.mistake(ANOTHER_ERROR)
def another_error(impl):
    try:
        numbers(impl, dropout=0.5)
        asserted(nobody, learns, drops, alone, impl=impl)
    except AssertionError as failure:
        raise ValueError("this layer is wrong") from failure


@exercise.mistake(ANOTHER_ERROR)
def another_error_for_ordinary_cases(impl):
    try:
        numbers(impl)
        alone(impl)
    except AssertionError as failure:
        raise ValueError("this layer is wrong") from failure


WHILE_TRAINING = (
    "Your test rejects your own layer, just after a call in training mode with dropout. Which "
    "numbers are random then, and with what does your line compare them?"
)


@exercise.mistake(WHILE_TRAINING)
def compared_while_training(impl):
    model, inputs = filled(impl, dropout=0.5), texts()
    close(model(*inputs), torch_equivalent(model, **SIZES)(*inputs)[0])


@exercise.mistake(WHILE_TRAINING)
def compared_while_training_with_masks(impl):
    asserted(nobody, learns, drops, alone, impl=impl)
    model, inputs = filled(impl, dropout=0.5), texts()
    mask = torch.rand(2, 3, 4, 7) < 0.6
    mask[..., 0] = True
    out, weights = model(*inputs, mask, need_weights=True)
    right = torch_equivalent(model, **SIZES)(*inputs, mask)
    close(weights, right[1])
    close(out, right[0])


@exercise.mistake(WHILE_TRAINING)
def equal_while_training(impl):
    numbers(impl)
    model, inputs = filled(impl, dropout=0.5), texts()
    close(model(*inputs), model(*inputs))


WITHOUT_KEYS = (
    "Your test rejects your own layer, just after a call with a mask that leaves a query without "
    "keys. What does torch's layer give for such a query (print it), and what does the task "
    "promise?"
)


def with_a_blocked_query(impl):
    """The answers of a version and of torch, the right one with NaN; where no key is allowed."""
    model, inputs = filled(impl).eval(), texts()
    mask = torch.rand(2, 1, 4, 7) < 0.6
    mask[..., 0] = True
    mask[0, 0, 1] = False
    return model(*inputs, mask, need_weights=True), torch_equivalent(model, **SIZES)(*inputs, mask)


@exercise.mistake(WITHOUT_KEYS)
def blocked_query_compared(impl):
    mine, right = with_a_blocked_query(impl)
    close(mine[0], right[0])
    close(mine[1], right[1])


@exercise.mistake(WITHOUT_KEYS)
def nan_demanded(impl):
    mine, right = with_a_blocked_query(impl)
    assert torch.allclose(mine[0], right[0], atol=1e-9, equal_nan=True)
    assert torch.allclose(mine[1], right[1], atol=1e-9, equal_nan=True)


@exercise.mistake(WITHOUT_KEYS)
def zeros_demanded(impl):
    numbers(impl)
    out, weights = with_a_blocked_query(impl)[0]
    assert not weights[0, :, 1].any()
    assert not out[0, 1].any()


@exercise.mistake(WITHOUT_KEYS)
def mean_demanded(impl):
    numbers(impl)
    _, weights = with_a_blocked_query(impl)[0]
    close(weights.sum(-1), torch.ones_like(weights[..., 0]))
