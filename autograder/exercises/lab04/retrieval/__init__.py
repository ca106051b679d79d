"""retrieval: a question about two boxes, which one head cannot answer and two heads can."""

from __future__ import annotations

import torch

from attnlab.checking.torch_attention import spellings
from attnlab.checking.weights import rename_weights
from attnlab.data.retrieval import questions
from attnlab.models.retriever import D_MODEL, FEATURES, Retriever, share_right
from attnlab.multihead import MultiHeadAttention
from attnlab.retrieval import answer_loss, weight_on
from gradekit.exercise import Exercise
from gradekit.exercise.trained import Band, ScoreBands

ONE_HEAD, TWO_HEADS = "retrieval_1_head.safetensors", "retrieval_2_heads.safetensors"

exercise = Exercise(answer_loss, weight_on, saves=[ONE_HEAD, TWO_HEADS])


def retriever(num_heads):
    """The lab's model, untrained; the number of weights is the same for any number of heads."""
    per_head = FEATURES // num_heads
    return Retriever(MultiHeadAttention(D_MODEL, num_heads, d_k=per_head, d_v=per_head))


def with_weights(num_heads, weights):
    """The reference model with a file's weights; MissingWeightError if they do not fit."""
    model = retriever(num_heads)
    model.load_state_dict(rename_weights(weights, model.state_dict(), spellings("attention.")))
    return model.eval()


def both_right(weights, seed):
    """The share of questions for which a model with two heads gets both digits right."""
    return float(share_right(with_weights(2, weights), questions("test", 4000, seed))[2])


def each_right(weights, seed):
    """The share of all digits that a model with one head gets right."""
    return float(share_right(with_weights(1, weights), questions("test", 4000, seed))[:2].mean())


TWO_HEADS_SOLVE_IT = ScoreBands(
    both_right,
    (
        Band(0.98, 1, 1),
        Band(
            0.8,
            0.98,
            0.6,
            "Nearly: train it for as many steps as the lab says. Does its loss still fall?",
        ),
        Band(
            0.05,
            0.25,
            0,
            "It gets both digits right about as often as one head does. How many heads did the "
            "attention in this file have during training, and does the loss use both digits?",
        ),
    ),
    "This is the share of questions with both digits right. Does the loss fall towards 0, and are "
    "these the weights of the model with two heads?",
)
ONE_HEAD_CANNOT = ScoreBands(
    each_right,
    (
        Band(0.54, 0.6, 1),
        Band(
            0.45,
            0.54,
            0.6,
            "After the full training, one head gets a little more than half of all digits right. "
            "Were these weights trained with one head, and for as many steps as the lab says?",
        ),
        Band(
            0.6,
            1,
            0,
            "It gets more digits right than one head can. Was this file made by a model with one "
            "head and the given readout?",
        ),
    ),
    "This is the share of digits that are right. One head does get one of the two right: is this "
    "model trained, and are these the weights of the model with one head?",
)


@exercise.check(points=1)
def loss_of_all_digits(lab, draw):
    """The loss is the mean over all digits of all questions; gradients reach the logits."""
    logits, answers = draw.normal(3, 2, 7), draw.integers(0, 7, 3, 2)
    return {
        # With more digits than values, wrong ways to lay out the rows end in different errors.
        "five digits, three values": lab.answer_loss(
            draw.normal(2, 5, 3), draw.integers(0, 3, 2, 5)
        ),
        "two digits": lab.answer_loss(logits, answers),
        "three digits": lab.answer_loss(draw.normal(5, 3, 7), draw.integers(0, 7, 5, 3)),
        "in another memory layout": lab.answer_loss(draw.strided(logits), answers),
        "gradients": draw.gradients(lambda x: lab.answer_loss(x, answers), logits),
    }


@exercise.check(points=1.5)
def where_heads_look(lab, draw):
    """Row i, column j: head i's mean weight on the j-th box of a question."""
    weights = torch.softmax(3 * draw.normal(4, 3, 7), -1)
    places = torch.stack([draw.permutation(6)[:2] for _ in range(4)])  # never the last box
    return lab.weight_on(weights, places)


@exercise.check(points=0.5, hidden=True)
def other_sizes(lab, draw):
    """Is right for one question, head, box, place or digit, and for sizes that are equal."""

    def ask(B, h, T, n):
        return {
            # The last box is not asked for, unless it is the only one.
            "weights": lab.weight_on(draw.uniform(B, h, T), draw.integers(0, max(T - 1, 1), B, n)),
            "loss": lab.answer_loss(draw.normal(B, n, T), draw.integers(0, T, B, n)),
        }

    return draw.each_size(ask, B=4, h=3, T=7, n=2)


@exercise.check(points=1, hidden=True)
def any_number_of_places(lab, draw):
    """Works for one or more places, one head or one question; the weights are unchanged."""
    weights = draw.uniform(5, 3, 7)
    seen = {
        "one place": lab.weight_on(weights, draw.integers(0, 7, 5, 1)),
        "the same place twice": lab.weight_on(weights, draw.integers(0, 7, 5, 1).expand(5, 2)),
        "four places": lab.weight_on(draw.strided(weights), draw.integers(0, 7, 5, 4)),
        "one head": lab.weight_on(draw.uniform(5, 1, 7), draw.integers(0, 7, 5, 2)),
        "one question": lab.weight_on(draw.uniform(1, 3, 7), draw.integers(0, 6, 1, 2)),
        "the last box": lab.weight_on(weights, torch.full((5, 1), 6)),
    }
    return {**seen, "inputs as they were": draw.untouched()}


@exercise.check(points=2.5, hidden=True, judge=TWO_HEADS_SOLVE_IT)
def two_heads_solve_it(lab, draw):
    """The saved model with two heads gets both digits right on shelves it has not seen."""
    return lab.saved_weights(TWO_HEADS)


@exercise.check(points=1.5, hidden=True, judge=ONE_HEAD_CANNOT)
def one_head_cannot(lab, draw):
    """The saved model with one head is trained, and gets one of the two digits right."""
    return lab.saved_weights(ONE_HEAD)
