"""What a pretrained model knows about new sentences, and what that earns."""

from __future__ import annotations

import torch
from torch import nn

from attnlab.bert import Bert
from attnlab.bert_training import pretraining_batches, pretraining_scores
from attnlab.models.topics_bert import CFG, held_out
from gradekit.exercise.trained import Band, ScoreBands, fill

NEW_SENTENCES = 201  # of each document, so 1,000 pairs


def with_weights(weights):
    """The small model with saved weights, in evaluation mode.

    Its tables are not tied, so a model whose tie is broken is judged by what it does, too.
    """
    made = Bert(CFG)
    made.mlm_head.output.weight = nn.Parameter(made.tokens.weight.clone())
    fill(made, weights)
    return made.eval()


def shown(batches):
    """The same batches with each chosen word in its place."""
    return [b._replace(ids=torch.where(b.labels < 0, b.ids, b.labels)) for b in batches]


def copies(model, batches):
    """Whether a model knows the chosen words as soon as it may read them."""
    return all(
        float(model(b.ids, b.segments, b.valid).mlm_logits[b.labels >= 0].argmax(-1).eq(
            b.labels[b.labels >= 0]).double().mean()) > 0.95
        for b in shown(batches)
    )  # fmt: skip


# The score of a model that writes what it reads. A true loss is never below 0.
COPIES = -1.0


def nsp_score(weights, seed):
    """From saved weights and a seed to the share of new pairs that are judged correctly."""
    batches = held_out(pretraining_batches, NEW_SENTENCES, seed)
    return pretraining_scores(with_weights(weights), batches).nsp


def mlm_score(weights, seed):
    """From saved weights and a seed to the loss at places with [MASK], or a reason."""
    batches = held_out(pretraining_batches, NEW_SENTENCES, seed)
    model = with_weights(weights)
    loss = pretraining_scores(model, batches).mlm
    return COPIES if loss > 4.2 and copies(model, batches) else loss


CURVE = "Look at the picture: does the training go on to the end of its curve?"
COPIER = (
    "Your model finds the words that it can read, and hardly any that [MASK] hides: in its "
    "training the answer could be read. Which of the two results of `mask_tokens` does it read?"
)
# The bands leave more than 4 sd of twelve seeds: bands.json, written by measure.py. No model has an
# expected loss below ln 30 = 3.401; the mean over a thousand places may be a little lower.
NSP = ScoreBands(
    nsp_score,
    (
        Band(0.97, 1.0, 1.0),
        Band(0.85, 0.97, 0.5, f"Most pairs are judged correctly, but more is possible. {CURVE}"),
    ),
    "For many new pairs your model cannot tell whether they belong together. Does every check "
    "above pass? If so, delete the file and train once more.",
)
MLM = ScoreBands(
    mlm_score,
    (
        Band(3.3, 3.6, 1.0),
        Band(3.6, 4.2, 0.5, f"The model uses the topic for some of the words. {CURVE}"),
        Band(COPIES, COPIES, 0.0, COPIER),
    ),
    "At [MASK] your model is no better than a count of all words, whose loss is ln 150 = 5.01. "
    "Does every check above pass? If so, delete the file and train once more.",
)
