"""Train the GPT that copies repeats, and write its weights into the library.

    python autograder/exercises/lab10/induction_scores/measure.py

Half a minute on one core. It prints the score of each head. With other seeds the heads appear
later, after 1,000 steps or more.
"""

from __future__ import annotations

import torch
from torch import nn

from attnlab.gpt import GPT
from attnlab.induction import induction_scores
from attnlab.models.repeats import (
    CONFIG,
    FILE,
    PERIOD,
    SYMBOLS,
    attention_weights,
    copies_repeats,
    repeated_rows,
)
from attnlab.models.shipped_gpts import save_gpt

STEPS, BATCH, LEARNING_RATE = 1500, 64, 4e-3


def trained(seed: int = 0) -> GPT:
    """A new model after all steps, each on 64 rows with periods from 6 to 12."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = GPT(CONFIG)
    nn.init.normal_(model.tokens.weight, 0.0, 0.1)
    nn.init.normal_(model.positions.weight, 0.0, 0.1)
    optimizer = torch.optim.AdamW(model.parameters(), LEARNING_RATE, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, LEARNING_RATE, total_steps=STEPS, pct_start=0.1
    )
    places = torch.arange(2 * PERIOD)
    for step in range(STEPS):
        # Several periods, so that a fixed distance between places does not help.
        periods = torch.randint(PERIOD // 2, PERIOD + 1, (BATCH, 1), generator=generator)
        pieces = torch.randint(SYMBOLS, (BATCH, PERIOD), generator=generator)
        ids = pieces.gather(1, places % periods)  # (64, 24)
        losses = nn.functional.cross_entropy(
            model(ids[:, :-1]).logits.flatten(0, 1), ids[:, 1:].flatten(), reduction="none"
        )
        repeats = (places[1:] >= periods).flatten()  # what stands there can be known
        loss = losses[repeats].mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 250 == 249:
            print(f"step {step + 1}: {loss.item():.3f} nats a repeated symbol", flush=True)
    return model


if __name__ == "__main__":
    torch.set_num_threads(1)
    save_gpt(trained(), FILE)
    ids = repeated_rows(32, torch.Generator().manual_seed(1))
    for layer, found in enumerate(attention_weights(copies_repeats(), ids)):
        print(f"layer {layer}:", [round(x, 3) for x in induction_scores(found, PERIOD).tolist()])
