"""The two Transformers whose weights come with the library do what lab 7 says of them."""

from __future__ import annotations

import torch

from attnlab import transformer
from attnlab.batching import make_batch
from attnlab.data import dates, places
from attnlab.data.dates import BOS, EOS
from attnlab.decoding import greedy_decode
from attnlab.encoder_decoder import Transformer
from attnlab.evaluation import forced_and_free
from attnlab.models.shipped_transformers import (
    FOLDER,
    answers_about_places,
    dates_batch,
    half_trained_on_dates,
)


def test_a_question_that_was_not_in_training_is_answered() -> None:
    model = answers_about_places(Transformer)
    assert not model.training
    asked = make_batch(places.encoded([places.LECTURE]))
    written = greedy_decode(model, asked.source, asked.source_valid, BOS, EOS)
    assert places.WORDS.decode(written[0].tolist()) == places.LECTURE.answer
    some = make_batch(places.encoded(places.pairs()[::9]))
    assert forced_and_free(model, some) == ((1.0, 1.0), (1.0, 1.0))


def test_the_half_trained_model_makes_the_mistakes_that_the_lab_reports() -> None:
    forced, free = forced_and_free(
        half_trained_on_dates(Transformer), dates_batch(make_batch, dates.validation())
    )
    assert forced.exact == free.exact
    assert abs(forced.exact - 0.38) < 0.01
    assert abs(forced.symbols - 0.926) < 0.005
    assert abs(free.symbols - 0.868) < 0.005


def test_the_weights_fit_the_fast_model_too_and_are_small() -> None:
    ours, fast = (half_trained_on_dates(kind) for kind in (Transformer, transformer.Transformer))
    batch = dates_batch(make_batch, dates.validation()[:8])
    torch.testing.assert_close(
        ours(batch.source, batch.source_valid, batch.inputs), fast(batch.source, batch.inputs)
    )
    for name in ("places", "half_trained_on_dates"):
        assert (FOLDER / f"{name}.safetensors").stat().st_size < 60_000
