"""Prompts with examples, and the shipped model that reads them as well as it can be done."""

from __future__ import annotations

import torch

from attnlab.data.mappings import (
    DIGITS,
    NAMES,
    UNNAMED,
    best_accuracy,
    course_tables,
    new_tables,
)
from attnlab.few_shot import make_prompts, shots_curve
from attnlab.models.reads_examples import CONFIG, FILE, checksum, reads_examples

CHOICES = torch.tensor(list(DIGITS))


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def test_every_letter_but_the_query_can_be_shown() -> None:
    table = course_tables()[0]
    prompts = make_prompts(UNNAMED, table, torch.arange(10), 9, generator=generator())
    assert prompts.shape == (10, 20)
    for query, row in enumerate(prompts.tolist()):
        assert sorted(row[1:-1:2]) == [letter for letter in range(10) if letter != query]
        assert row[-1] == query
        assert row[2:-1:2] == table[row[1:-1:2]].tolist()


def test_the_shipped_model_selects_tables_and_learns_no_new_ones() -> None:
    model, known = reads_examples(), course_tables()
    assert sum(p.numel() for p in model.parameters()) == 103_744
    assert FILE.stat().st_size < 220_000
    assert not model.training
    before = checksum(model)
    nameless = torch.full((16,), UNNAMED)

    def curve(tables: torch.Tensor, names: torch.Tensor) -> list[float]:
        found = shots_curve(model, tables, names, CHOICES, 5, rounds=6, generator=generator())
        return list(found.tolist())

    assert min(curve(known, torch.tensor(list(NAMES)))) == 1.0
    for shots, share in enumerate(curve(known, nameless)):
        assert abs(share - best_accuracy(known, shots)) < 0.04
    for shots, share in enumerate(curve(new_tables(16), nameless)):
        assert share < 1 / (10 - shots) + 0.05
    assert checksum(model) == before


def test_a_checksum_notices_one_weight() -> None:
    model = reads_examples()
    before = checksum(model)
    with torch.no_grad():
        model.norm.bias[3] += 1e-6
    assert checksum(model) != before
    assert CONFIG.context == 20
