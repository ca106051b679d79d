"""Train the tiny GPT that reads examples, and write its weights into the library.

    python autograder/exercises/lab10/few_shot/measure.py

A minute and a half on one core. It prints what the lab says about the model.
"""

from __future__ import annotations

import time

import torch
from torch import Tensor, nn

from attnlab.data.mappings import (
    DIGITS,
    NAMES,
    NUM_TABLES,
    SYMBOLS,
    UNNAMED,
    best_accuracy,
    course_tables,
    new_tables,
)
from attnlab.few_shot import shots_curve
from attnlab.gpt import GPT
from attnlab.models.reads_examples import CONFIG, FILE, reads_examples
from attnlab.models.shipped_gpts import save_gpt

STEPS, BATCH, LEARNING_RATE, WARM_UP = 4000, 64, 3e-3, 400
UNNAMED_SHARE = 0.75  # with a name the tables are learned in a few hundred steps, without it later


def training_rows(tables: Tensor, generator: torch.Generator) -> Tensor:
    """(64, 21): the name of a table, or "?" in most rows, then all letters with their digits."""
    which = torch.randint(NUM_TABLES, (BATCH,), generator=generator)
    hidden = torch.rand(BATCH, generator=generator) < UNNAMED_SHARE
    names = torch.where(hidden, UNNAMED, which + NAMES.start)
    letters = torch.rand(BATCH, SYMBOLS, generator=generator).argsort(1)
    digits = tables[which].gather(1, letters)
    return torch.cat((names[:, None], torch.stack((letters, digits), 2).flatten(1)), 1)


def trained(seed: int = 0) -> GPT:
    """A new model after all steps: every digit of a row is predicted from all before it.

    The letters are drawn at random, so predicting them would teach nothing.
    """
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = GPT(CONFIG)
    # With GPT-2's smaller first weights the model stays for long at what one example tells.
    nn.init.normal_(model.tokens.weight, 0.0, 0.1)
    nn.init.normal_(model.positions.weight, 0.0, 0.1)
    optimizer = torch.optim.AdamW(model.parameters(), LEARNING_RATE, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, LEARNING_RATE, total_steps=STEPS, pct_start=WARM_UP / STEPS
    )
    tables = course_tables()
    for step in range(STEPS):
        rows = training_rows(tables, generator)
        logits, _ = model(rows[:, :-1])
        loss = nn.functional.cross_entropy(logits[:, 1::2].flatten(0, 1), rows[:, 2::2].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 500 == 499:
            print(f"step {step + 1}: {loss.item():.3f} nats a digit", flush=True)
    return model


def report() -> None:
    """Print the three curves of the lab's figure."""
    model, generator = reads_examples(), torch.Generator().manual_seed(0)
    known, unseen = course_tables(), new_tables(NUM_TABLES)
    nameless, choices = torch.full((NUM_TABLES,), UNNAMED), torch.tensor(list(DIGITS))
    for what, tables, names in (
        ("with the name", known, torch.tensor(list(NAMES))),
        ("without it", known, nameless),
        ("never seen", unseen, nameless),
    ):
        curve = shots_curve(model, tables, names, choices, 5, rounds=40, generator=generator)
        print(f"{what:14}", " ".join(f"{share:.3f}" for share in curve.tolist()))
    print(f"{'at best':14}", " ".join(f"{best_accuracy(known, k):.3f}" for k in range(6)))


if __name__ == "__main__":
    torch.set_num_threads(1)
    start = time.process_time()
    save_gpt(trained(), FILE)
    print(f"{time.process_time() - start:.0f} CPU seconds")
    report()
