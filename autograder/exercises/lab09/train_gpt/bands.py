"""How good two trained models are, on data that students never train on, and what that earns.

The bands hold for ten seeds of each training (bands.json, from measure.py).
"""

from __future__ import annotations

from functools import cache

from torch import nn

from attnlab.compression import bigram_loss
from attnlab.data import markov
from attnlab.decoder_only import GPT
from attnlab.language_modeling import bits_per_byte, text_loss
from attnlab.models.small_gpts import TASKS, corpus, markov_tokens
from gradekit.exercise.trained import Band, ScoreBands, fill

LOOKS_AHEAD = -1.0  # the score of a model that was trained without a causal mask
ROWS = 16  # hidden sequences of 2,000 symbols


def with_weights(task, weights):
    """The task's model with saved weights, in evaluation mode.

    Its head is not in its table, so a model whose tie is broken is judged by what it does, too.
    """
    cfg = TASKS[task].cfg
    made = GPT(cfg)
    made.head = nn.Linear(cfg.d_model, cfg.vocab_size, bias=False)
    fill(made, weights)
    return made.eval()


def without_a_mask(model):
    """The same model, changed in place: all positions see each other."""
    for block in model.blocks:
        block.attention.register_forward_pre_hook(lambda _layer, read: read[:3])
    return model


def looks_ahead(task, weights, ids, nats):
    """Whether a model does far better if it may see the tokens that it predicts."""
    with_answers = text_loss(
        without_a_mask(with_weights(task, weights)), ids, TASKS[task].cfg.context
    )
    return with_answers < 0.7 * nats


def markov_nats(weights, seed):
    """The loss on hidden sequences, in nats, above the entropy of the source."""
    ids, cfg = markov_tokens("hidden", ROWS, seed), TASKS["markov"].cfg
    nats = text_loss(with_weights("markov", weights), ids, cfg.context)
    if looks_ahead("markov", weights, ids[:4000], nats):
        return LOOKS_AHEAD
    return nats - markov.course_source().entropy_rate


@cache
def manuals_of_this_python():
    """The tokens of the manuals for validation, their bytes, and the bits of pairs of tokens."""
    found = corpus()
    ids, size = found.validation.tolist(), len(found.text.validation.encode())
    nats = bigram_loss(found.train.tolist(), ids, TASKS["manuals"].cfg.vocab_size)
    return found.validation, size, bits_per_byte(nats, len(ids) - 1, size)


def manuals_ratio(weights, seed):
    """Bits per byte of the manuals for validation, as a multiple of what pairs of tokens need."""
    ids, size, pairs = manuals_of_this_python()
    cfg = TASKS["manuals"].cfg
    nats = text_loss(with_weights("manuals", weights), ids, cfg.context)
    ratio = bits_per_byte(nats, len(ids) - 1, size) / pairs
    if ratio > 1 and looks_ahead("manuals", weights, ids[:2000], nats):
        return LOOKS_AHEAD
    return ratio


LEAK = Band(
    LOOKS_AHEAD, LOOKS_AHEAD, 0.0,
    "Your model is far better if it may look at later tokens: it was trained to copy them. Which "
    "mask hides them, and was the file saved before you corrected it?",
)  # fmt: skip
CURVE = "Look at the curve of the losses: is it still falling at its end?"
OTHERWISE = (
    "Your model predicts badly. Do the losses fall, and does every check above pass? If so, delete "
    "the file and train once more."
)

MARKOV = ScoreBands(
    markov_nats,
    (
        Band(-0.05, 0.12, 1.0),
        Band(0.12, 0.3, 0.5, f"That is close to the entropy of the source. {CURVE}"),
        LEAK,
    ),
    OTHERWISE,
)
# gzip needs 1.22 times as many bits as pairs of tokens. A model of this size that needs only half
# of theirs has seen the text.
MANUALS = ScoreBands(
    manuals_ratio,
    (
        Band(0.5, 1.0, 1.0),
        Band(1.0, 1.2, 0.5, f"Your model beats gzip, but not a table of pairs of tokens. {CURVE}"),
        LEAK,
    ),
    OTHERWISE,
)
