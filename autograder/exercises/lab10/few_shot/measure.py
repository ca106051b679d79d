"""Train the tiny GPT that reads examples, and write its weights into the library.

    python autograder/exercises/lab10/few_shot/measure.py

About a minute on one core. The weights are stored as float16, the tied table once. It prints what
the lab's text says about the model.
"""

from __future__ import annotations

import time

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from attnlab.data.mappings import NAMES, NUM_TABLES, SYMBOLS, UNNAMED, course_tables
from attnlab.gpt import GPT, init_gpt
from attnlab.models.reads_examples import CONFIG, FILE

STEPS, BATCH, LEARNING_RATE, WARM_UP = 4000, 64, 3e-3, 100
EXAMPLES = 6  # the last is what a prompt with five examples asks for


def training_rows(tables: Tensor, generator: torch.Generator) -> Tensor:
    """(64, 13): the name of a table, or "?" in half of the rows, then six letters and digits."""
    which = torch.randint(NUM_TABLES, (BATCH,), generator=generator)
    hidden = torch.rand(BATCH, generator=generator) < 0.5
    names = torch.where(hidden, UNNAMED, which + NAMES.start)
    letters = torch.rand(BATCH, SYMBOLS, generator=generator).argsort(1)[:, :EXAMPLES]
    digits = tables[which].gather(1, letters)
    return torch.cat((names[:, None], torch.stack((letters, digits), 2).flatten(1)), 1)


def trained(seed: int = 0) -> GPT:
    """A new model after all steps: every token of a row is predicted, as in any GPT."""
    generator = torch.Generator().manual_seed(seed)
    model = GPT(CONFIG)
    init_gpt(model, generator=generator)
    optimizer = torch.optim.AdamW(model.parameters(), LEARNING_RATE, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, LEARNING_RATE, total_steps=STEPS, pct_start=WARM_UP / STEPS
    )
    tables = course_tables()
    for step in range(STEPS):
        rows = training_rows(tables, generator)
        logits, _ = model(rows[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 500 == 499:
            print(f"step {step + 1}: {float(loss):.3f} nats a token", flush=True)
    return model


def save(model: GPT) -> None:
    """Write the weights as float16; the tied table once."""
    weights = {name: value.half().contiguous() for name, value in model.state_dict().items()}
    del weights["head.weight"]
    save_file(weights, FILE)


if __name__ == "__main__":
    torch.set_num_threads(1)
    start = time.process_time()
    save(trained())
    print(f"{time.process_time() - start:.0f} CPU seconds")
