"""Mutants: small changes of a function, made automatically."""

import torch

from attnlab.softmax import softmax
from gradekit.verify.mutation import mutants


def labels(function):
    return [mutant.label for mutant in mutants(function)]


def sample(x, dim=-1, reduction="mean"):
    top = x.amax(dim=dim, keepdim=True)
    if reduction == "mean" and dim < 2:
        return (x - top).mean() / 3
    return x


def test_every_kind_of_change_is_made():
    text = "\n".join(labels(sample))
    for change in (
        "`Div` → `Mult` in `return (x - top).mean() / 3`",  # an operator swapped
        "`Lt` → `LtE`",  # a comparison
        "`And` → `Or`",
        "`3` → `4`",  # a number
        "`-1` → `1`",  # a sign, and with it an axis
        "`dim=dim` → `dim=0`",  # an axis
        "`True` → `False`",  # a flag
        "→ `x.amax(dim=dim)`",  # an argument dropped
        "`(x - top).mean()` → `x - top`",  # a call dropped
        "→ `if not (reduction == 'mean' and dim < 2):`",  # a condition turned round
    ):
        assert change in text


def test_mutants_are_all_different_and_their_labels_are_stable():
    assert len(set(labels(softmax))) == len(labels(softmax)) > 8
    assert labels(softmax) == labels(softmax)


def test_a_mutant_runs_and_computes_something_else():
    x = torch.randn(3, 5, dtype=torch.float64)
    swapped = next(m for m in mutants(softmax) if "`Div` → `Mult`" in m.label)
    assert not torch.allclose(swapped.make()(x), softmax(x))


def test_nothing_is_changed_in_docstrings_annotations_or_error_messages():
    def documented(x: int = 3) -> int:
        """Add 1."""
        if x > 2:
            raise ValueError("at most 2")
        return x

    assert not [label for label in labels(documented) if "Add 1" in label or "ValueError(" in label]
