"""The trained translator that the figures of lab 2 look at."""

from __future__ import annotations

from typing import Any

import pytest
from safetensors.torch import load_file

from attnlab.models.dates_translator import dates_translator, train_on_dates
from attnlab.seq2seq import AttentionDecoderCell, pad_batch, train_translator
from demo.course_folder import REPOSITORY

MEASURED = REPOSITORY / "autograder" / "exercises" / "lab02" / "train_translator"


@pytest.fixture(scope="session")
def hurried() -> Any:
    """The lab's translator after a single pass over the training data."""
    made = dates_translator(AttentionDecoderCell)
    train_on_dates(made, train_translator, pad_batch, epochs=1)
    return made.eval()


@pytest.fixture(scope="session")
def translator() -> Any:
    made = dates_translator(AttentionDecoderCell)
    made.load_state_dict(load_file(MEASURED / "dates.safetensors"))
    return made.eval()
