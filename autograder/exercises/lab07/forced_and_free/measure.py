"""Train the two small Transformers of lab 7's figures, and write their weights into the library.

    python autograder/exercises/lab07/forced_and_free/measure.py

Half a minute on one core. The weights are stored as float16, tied tables once. It prints what the
lab's text says about the two models.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import torch
from safetensors.torch import save_file
from torch import nn

from attnlab.batching import Batch, make_batch
from attnlab.data import dates, places
from attnlab.data.dates import BOS, EOS, PAD
from attnlab.decoding import greedy_decode
from attnlab.encoder_decoder import Transformer, init_weights
from attnlab.evaluation import forced_and_free
from attnlab.models.shipped_transformers import (
    DATES,
    FOLDER,
    PLACES,
    answers_about_places,
    dates_batch,
    half_trained_on_dates,
)
from attnlab.transformer_config import TransformerConfig

PLACES_STEPS, DATES_STEPS = 800, 400
LEARNING_RATE = 5e-3
# All of the seeds 0 to 5 answer the lecture's question. With this one the decoder looks at
# "Waterloo" itself to write it (as with 2 and 4); with the others it looks at "?" or "University",
# to whose vectors the encoder's self-attention has carried the town.
PLACES_SEED = 5


def questions(steps: int) -> Iterator[Batch]:
    """Batches of 48 questions, as many of each of the four kinds."""
    kinds: dict[tuple[bool, bool], list[places.Pair]] = {}
    for pair in places.pairs():
        kind = pair.question.startswith("Where"), "University" in pair.question
        kinds.setdefault(kind, []).append(pair)
    rng = random.Random(0)
    for _ in range(steps):
        some = [pair for kind in kinds.values() for pair in rng.choices(kind, k=12)]
        yield make_batch(places.encoded(some))


def some_dates(steps: int) -> Iterator[Batch]:
    """Batches of 64 of lab 2's dates."""
    pairs, rng = dates.train(), random.Random(0)
    for _ in range(steps):
        yield dates_batch(make_batch, rng.sample(pairs, 64))


def trained(cfg: TransformerConfig, batches: list[Batch], seed: int = 0) -> Transformer:
    """A new model after one step on each batch."""
    torch.manual_seed(seed)
    model = Transformer(cfg)
    init_weights(model)
    optimizer = torch.optim.Adam(model.parameters(), LEARNING_RATE, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, LEARNING_RATE, total_steps=len(batches)
    )
    for batch in batches:
        logits = model(batch.source, batch.source_valid, batch.inputs)
        loss = nn.functional.cross_entropy(
            logits.flatten(0, 1), batch.labels.flatten(), ignore_index=PAD
        )
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return model


def save(model: Transformer, name: str) -> None:
    """Write the weights as float16; tied tables once, under the name of the target's table."""
    table = model.target_embedding.weight
    weights = {
        key: value.half().contiguous()
        for key, value in model.state_dict(keep_vars=True).items()
        if value is not table or key == "target_embedding.weight"
    }
    save_file({key: value.detach() for key, value in weights.items()}, FOLDER / name)


if __name__ == "__main__":
    torch.set_num_threads(1)
    save(trained(PLACES, list(questions(PLACES_STEPS)), PLACES_SEED), "places.safetensors")
    save(trained(DATES, list(some_dates(DATES_STEPS))), "half_trained_on_dates.safetensors")

    model = answers_about_places(Transformer)
    print("places:", forced_and_free(model, make_batch(places.encoded(places.pairs()))))
    asked = make_batch(places.encoded([places.LECTURE]))
    written = greedy_decode(model, asked.source, asked.source_valid, BOS, EOS)
    print(places.LECTURE.question, "->", places.WORDS.decode(written[0].tolist()))
    half = half_trained_on_dates(Transformer)
    print("dates:", forced_and_free(half, dates_batch(make_batch, dates.validation())))
