"""What three trained models can do, on pairs that students never see, and what that earns."""

from __future__ import annotations

from dataclasses import replace

from attnlab.batching import make_batch
from attnlab.data.dates import BOS, EOS
from attnlab.encoder_decoder import Transformer
from attnlab.models.small_transformers import TASKS, without_a_mask, without_positions
from attnlab.seq2seq_training import sequence_loss
from attnlab.transformer import Transformer as WithCache
from gradekit.exercise.trained import Band, ScoreBands, fill

HIDDEN_PAIRS = 400


def with_weights(task, weights, model=Transformer):
    """The task's model with saved weights, in evaluation mode.

    Its tables are not tied, so a model whose tie is broken is judged by what it does, too.
    """
    made = model(replace(TASKS[task].cfg, tie="none"))
    fill(made, weights)
    return made.eval()


def exact_match(task, weights, some):
    """The share of pairs whose target the task's model writes without a mistake."""
    batch = make_batch(some)
    model = with_weights(task, weights, WithCache)
    longest = batch.labels.shape[1]  # whatever is longer is wrong
    written = model.generate(batch.source, bos=BOS, eos=EOS, max_len=longest)
    right = [ids == target for ids, (_, target) in zip(written, some, strict=True)]
    return sum(right) / len(right)


# Scores of models that write badly, because they were trained without a part.
LOOKS_AHEAD, IGNORES_ORDER = -1.0, -2.0


def score_of(task):
    """From saved weights and a seed to the share of hidden pairs that are right, or a reason."""

    def score(weights, seed):
        some = TASKS[task].unseen(HIDDEN_PAIRS, seed, "test")
        share = exact_match(task, weights, some)
        if share >= 0.5:
            return share

        def loss(change=lambda model: model):
            return float(sequence_loss(change(with_weights(task, weights)), make_batch(some[:100])))

        # A model does best with the parts that it was trained with.
        if loss(without_a_mask) < loss() / 3:
            return LOOKS_AHEAD
        return IGNORES_ORDER if loss(without_positions) < 0.8 * loss() else share

    return score


LEAK = (
    "Your model writes hardly anything right, but its loss is close to 0 if it may look at later "
    "symbols: it was trained to copy them. Which mask hides them in the decoder's self-attention, "
    "and was the file saved before you corrected it?"
)
NO_ORDER = (
    "Your model does better if the positions are left out, so it was trained without them, and it "
    "cannot know the order of the symbols. Where are positions added to the source, and where to "
    "the target?"
)
OTHERWISE = (
    "Most of what your model writes is wrong. Do the losses fall, and does every check above pass? "
    "If so, delete the file and train once more."
)
CURVE = "Look at the curve of the losses: is it still falling at its end?"


def judge(task, *bands):
    """Bands for a task's weights, the reasons included."""
    reasons = (
        Band(LOOKS_AHEAD, LOOKS_AHEAD, 0.0, LEAK),
        Band(IGNORES_ORDER, IGNORES_ORDER, 0.0, NO_ORDER),
    )
    return ScoreBands(score_of(task), (*bands, *reasons), OTHERWISE)


# The bands are below the mean minus 4 sd of ten seeds: bands.json, written by measure.py.
COPY = judge(
    "copy",
    Band(0.99, 1.0, 1.0),
    Band(0.80, 0.99, 0.5, f"Most sequences are copied, but copying can be perfect. {CURVE}"),
)
DATES = judge(
    "dates",
    Band(0.95, 1.0, 1.0),
    Band(0.85, 0.95, 0.6, "That is close. Did the training run to the end of its schedule?"),
    Band(0.60, 0.85, 0.3, f"Most dates are right, but the training stopped early. {CURVE}"),
)
NUMBERS = judge(
    "numbers",
    Band(0.95, 1.0, 1.0),
    Band(0.80, 0.95, 0.6, f"That is close. Did the training run to its end? {CURVE}"),
)
