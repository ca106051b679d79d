"""Two small Transformers whose weights come with the library; the class of the model is yours.

The one answers questions about places (:mod:`attnlab.data.places`), among them lecture W's. The
other translates lab 2's dates, and its training was stopped early, so it makes mistakes. Both were
trained by ``autograder/exercises/lab07/forced_and_free/measure.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from safetensors.torch import load_file

from attnlab.batching import Batch
from attnlab.checking.transformer_weights import transformer_names
from attnlab.data import dates, places
from attnlab.transformer_config import TransformerConfig

FOLDER = Path(__file__).parent
PLACES = TransformerConfig(
    len(places.WORDS), len(places.WORDS), d_model=32, num_heads=1, d_ff=64, num_encoder_layers=1,
    num_decoder_layers=1, dropout=0.0, tie="all", max_len=64,
)  # fmt: skip
DATES = TransformerConfig(
    len(dates.SOURCE), len(dates.TARGET), d_model=32, num_heads=2, d_ff=64, num_encoder_layers=1,
    num_decoder_layers=1, dropout=0.0, max_len=100,
)  # fmt: skip


def answers_about_places(transformer: Callable[[TransformerConfig], Any]) -> Any:
    """A model that answers questions about places, in evaluation mode.

    Args:
        transformer: the class of the model: lab 7's `Transformer`.
    """
    return _with_weights(transformer, PLACES, "places.safetensors")


def half_trained_on_dates(transformer: Callable[[TransformerConfig], Any]) -> Any:
    """A translator of dates whose training was stopped early, in evaluation mode.

    Args:
        transformer: the class of the model: lab 7's `Transformer`.
    """
    return _with_weights(transformer, DATES, "half_trained_on_dates.safetensors")


def dates_batch(
    make_batch: Callable[[Sequence[tuple[list[int], list[int]]]], Batch],
    some: Sequence[dates.Pair],
) -> Batch:
    """Some dates as a batch, made by lab 7's `make_batch`."""
    return make_batch(
        [(dates.SOURCE.encode(pair.human), dates.TARGET.encode(pair.iso)) for pair in some]
    )


def _with_weights(
    transformer: Callable[[TransformerConfig], Any], cfg: TransformerConfig, name: str
) -> Any:
    """A model with the weights of a file; a table that is used twice is in the file once."""
    model = transformer(cfg)
    saved = {key: value.float() for key, value in load_file(FOLDER / name).items()}
    table = saved["target_embedding.weight"]
    tied = {"head.weight": table, "source_embedding.weight": table}
    transformer_names(cfg).give(model, {**tied, **saved})
    return model.eval()
