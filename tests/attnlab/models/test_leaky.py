"""The six models of lab 5: which of their promises each one keeps."""

from __future__ import annotations

import pytest
import torch

from attnlab.causality import leaks, pad_invariant
from attnlab.models.leaky import PAD, VOCAB, WIDTH, attend, models, print_evidence
from tests.helpers.figures import unwritten

T = 8


def all_pairs(T: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(T) for j in range(i + 1, T)]


def next_to_each_other(T: int) -> list[tuple[int, int]]:
    return [(i, i + 1) for i in range(T - 1)]


@pytest.mark.parametrize(
    ("name", "pairs", "invariant"),
    [
        ("A", next_to_each_other(T), True),
        ("B", [], False),
        ("C", [], True),
        ("D", all_pairs(T), False),
        ("E", all_pairs(T), False),
        ("F", [(i, j) for i, j in all_pairs(T) if 3 <= j <= i + 3], False),
    ],
)
def test_the_promises_of_each_model(
    name: str, pairs: list[tuple[int, int]], invariant: bool
) -> None:
    model = models()[name]
    assert leaks(model, T, VOCAB) == pairs
    assert pad_invariant(model, T, VOCAB, PAD) == invariant
    assert model.training


def test_each_call_makes_the_same_models_again() -> None:
    ids = torch.arange(2 * T).view(2, T) % VOCAB
    first, second = models(), models()
    assert [*first] == list("ABCDEF")
    for name, model in first.items():
        assert model is not second[name]
        out = model(ids)
        assert out.shape == (2, T, WIDTH)
        assert out.dtype == torch.float64
        assert out.isfinite().all()
        assert torch.equal(out, second[name](ids))


def test_a_short_sequence_does_not_show_the_leak_of_f() -> None:
    assert leaks(models()["F"], 5, VOCAB) == []
    assert leaks(models()["F"], 6, VOCAB) != []


def test_a_query_without_allowed_keys_gets_zeros() -> None:
    q, v = torch.ones(1, 2, 4), torch.ones(1, 2, 6)
    allowed = torch.tensor([[[False, False], [True, True]]])
    assert attend(q, q, v, allowed).tolist() == [[[0.0] * 6, [1.0] * 6]]


def test_the_evidence_is_one_line_for_each_model(capsys: pytest.CaptureFixture[str]) -> None:
    print_evidence(leaks, pad_invariant, models(), 8)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 6
    assert lines[0] == "A: looks ahead by 1 at most; padding changes nothing"
    assert lines[1] == "B: looks ahead by 0 at most; padding changes its outputs"
    assert lines[2] == "C: looks ahead by 0 at most; padding changes nothing"


def test_pairs_that_are_no_later_tokens_are_said_so(capsys: pytest.CaptureFixture[str]) -> None:
    print_evidence(lambda *asked: [(j, i) for i, j in leaks(*asked)], pad_invariant, models(), 8)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == (
        "A: your `leaks` reports tokens that do not come later; padding changes nothing"
    )
    assert lines[2] == "C: looks ahead by 0 at most; padding changes nothing"


def test_probes_that_are_not_written_are_no_evidence(capsys: pytest.CaptureFixture[str]) -> None:
    print_evidence(leaks, unwritten, models(), 8)
    assert "A: no evidence yet: `unwritten` is not written." in capsys.readouterr().out
