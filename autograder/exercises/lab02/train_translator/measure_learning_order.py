"""In which order the lab's translator learns the symbols of a date: for the picture in step 2.6.

It is trained as in the lab, and after every 20 steps the loss of each symbol is measured with
teacher forcing on the 431 validation dates that have a day.

    python autograder/exercises/lab02/train_translator/measure_learning_order.py

It writes learning_order.json (half a minute of CPU time); `attnlab.data.measured_lab02` holds its
numbers for the lab.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from attnlab.data import dates
from attnlab.models.dates_translator import (
    BATCH_SIZE,
    EPOCHS,
    LEARNING_RATE,
    MAX_NORM,
    dates_translator,
)
from attnlab.seq2seq import AttentionDecoderCell, pad_batch, train_translator
from attnlab.softmax import cross_entropy

EVERY, LAST = 20, 400


def loss_of_each_symbol(model: Any, batch: dates.Batch) -> Tensor:
    """The mean loss of each symbol of the batch's dates, in nats, (steps,); all of one length."""
    losses = []
    with torch.no_grad():
        hidden, state = model.encode(batch.source, batch.source_mask)
        for t in range(batch.target.shape[1] - 1):
            logits, state, _ = model.cell(batch.target[:, t], state, hidden, batch.source_mask)
            losses.append(cross_entropy(logits, batch.target[:, t + 1]))
    return torch.stack(losses)


def measure(last: int = LAST) -> dict[int, list[float]]:
    """The loss of each symbol after some steps of the lab's own training."""
    model = dates_translator(AttentionDecoderCell)
    pairs = dates.train()
    steps = EPOCHS * -(-len(pairs) // BATCH_SIZE)
    optimizer = torch.optim.Adam(model.parameters(), LEARNING_RATE)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, total_steps=steps)
    batches = [
        batch
        for epoch in range(EPOCHS)
        for batch in dates.batches(pairs, pad_batch, BATCH_SIZE, seed=epoch)
    ]
    days = dates.batch_of([p for p in dates.validation() if len(p.iso) == 10], pad_batch)
    found = {0: loss_of_each_symbol(model, days).tolist()}
    for start in range(0, last, EVERY):
        train_translator(model, batches[start : start + EVERY], optimizer, MAX_NORM, scheduler)
        found[start + EVERY] = loss_of_each_symbol(model, days).tolist()
    return found


def main() -> None:
    """Measure, print a table, write the file."""
    torch.set_num_threads(1)
    found = {step: [round(x, 3) for x in losses] for step, losses in measure().items()}
    for step, losses in found.items():
        print(f"{step:4}", *(f"{x:5.2f}" for x in losses))
    target = Path(__file__).with_name("learning_order.json")
    target.write_text(json.dumps(found) + "\n", "utf-8")


if __name__ == "__main__":
    main()
