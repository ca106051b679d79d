"""What a Trainer gets for each translation: data that do not overlap, a loss, a measure."""

from __future__ import annotations

import pytest
import torch

from attnlab.batching import make_batch
from attnlab.data.dates import PAD
from attnlab.training_config import TrainerConfig
from attnlab.translation import TASKS, TranslatorConfig, exact_match, translation_loss

SIZES = TranslatorConfig(examples=50, d_model=8, num_heads=2, d_ff=16, layers=1)
CFG = TrainerConfig(batch_tokens=400)
CPU = torch.device("cpu")


def pairs(batches) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    return {
        (tuple(source), tuple(labels))
        for batch in batches
        for source, labels in zip(trimmed(batch.source), trimmed(batch.labels), strict=True)
    }


def trimmed(rows: torch.Tensor) -> list[tuple[int, ...]]:
    return [tuple(symbol for symbol in row if symbol != PAD) for row in rows.tolist()]


@pytest.mark.parametrize("name", TASKS)
def test_training_and_validation_do_not_overlap(name: str) -> None:
    task = TASKS[name](SIZES, CFG)
    train, validation = pairs(task.data.epoch(0)), pairs(task.validation)
    assert (len(train), len(validation)) == (50, 500)
    assert not train & validation
    batch = next(task.data.epoch(0))
    assert max(batch.source.numel(), batch.labels.numel()) <= CFG.batch_tokens
    assert task.model(batch.source, batch.inputs).shape[:2] == batch.labels.shape


def test_the_seed_decides_the_weights_and_the_global_state_stays() -> None:
    before = torch.get_rng_state()
    one, same = (TASKS["copy"](SIZES, CFG).model.head.weight for _ in range(2))
    other = TASKS["copy"](SIZES, TrainerConfig(batch_tokens=400, seed=1)).model.head.weight
    assert torch.equal(one, same)
    assert not torch.equal(one, other)
    assert torch.equal(before, torch.get_rng_state())


def test_the_loss_is_a_sum_over_labels_that_are_not_padding() -> None:
    model = TASKS["copy"](SIZES, CFG).model.eval()
    some = [((3, 4, 5, 6), (3, 4, 5, 6)), ((7, 8), (7,))]
    total = translation_loss(model, make_batch(some))
    alone = [translation_loss(model, make_batch([pair])) for pair in some]
    assert total.count == 5 + 2 == sum(found.count for found in alone)
    torch.testing.assert_close(total.loss, alone[0].loss + alone[1].loss)
    smooth = translation_loss(model, make_batch(some), smoothing=0.5)
    assert smooth.loss != total.loss


class Copies:
    """Writes the source, and a mistake for every source that begins with 3."""

    def generate(self, source: torch.Tensor, bos: int, eos: int, max_len: int) -> list[list[int]]:
        rows = [list(row) for row in trimmed(source)]
        return [row if row[0] != 3 else [*row, 9] for row in rows]


def test_exact_match_counts_whole_targets() -> None:
    some = [((3, 4), (3, 4)), ((5,), (5,)), ((6, 7, 8), (6, 7, 8))]
    for rows in (1, 2, 9):
        assert exact_match(Copies(), some, CPU, rows) == pytest.approx(2 / 3)
    assert exact_match(Copies(), [((5,), (6,))], CPU) == 0


def test_a_target_symbol_passes_the_decoder_and_its_share_of_the_encoder() -> None:
    task = TASKS["copy"](SIZES, CFG)
    encoder = sum(p.numel() for p in task.model.encoder.parameters())
    decoder = sum(p.numel() for p in task.model.decoder.parameters())
    head = task.model.head.weight.numel()
    assert decoder + head + 0.8 * encoder < task.params_per_token < decoder + head + encoder
