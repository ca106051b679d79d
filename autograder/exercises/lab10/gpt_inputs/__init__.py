"""gpt_inputs: tasks of several texts as rows of tokens, read from each row's last vector."""

from __future__ import annotations

import torch
from torch import nn

from attnlab.checking.observation import dtype_of
from attnlab.gpt_inputs import (
    Marks,
    choice_probabilities,
    choice_rows,
    fill_up,
    join_texts,
    last_valid,
    similarity_logits,
    similarity_rows,
)
from gradekit.exercise import Exercise

exercise = Exercise(
    join_texts,
    similarity_rows,
    choice_rows,
    fill_up,
    last_valid,
    similarity_logits,
    choice_probabilities,
)


def texts(draw, *lengths):
    """Lists of different tokens, none of which is a mark."""
    return [draw.permutation(40)[:length].tolist() for length in lengths]


def new_layer(draw, d, out):
    """A linear layer in float64 with drawn weights and a bias far from 0."""
    layer = nn.Linear(d, out).double()
    with torch.no_grad():
        layer.weight.copy_(draw.normal(out, d))
        layer.bias.copy_(draw.normal(out) + 3)
    return layer


def as_lists(rows):
    return [list(row) for row in rows]


@exercise.check(points=0.5)
def marks_in_their_places(lab, draw):
    """`join_texts`: start, first text, delimiter, second text, extract; a text may be empty."""
    first, second = texts(draw, 4, 3)
    marks = Marks(50, 51, 52)
    seen = {
        "two texts": list(lab.join_texts(first, second, marks)),
        "other marks": list(lab.join_texts(second, first, Marks(92, 90, 91))),
        "an empty text": list(lab.join_texts(first, [], marks)),
    }
    return {**seen, "texts as they were": [len(first), len(second)]}


@exercise.check(points=0.75)
def both_orders(lab, draw):
    """`similarity_rows`: one row in each order."""
    first, second = texts(draw, 2, 5)
    return as_lists(lab.similarity_rows(first, second, Marks(50, 51, 52)))


@exercise.check(points=0.5)
def a_row_for_each_choice(lab, draw):
    """`choice_rows`: a row for each choice, in their order, and each begins with the context."""
    context, *choices = texts(draw, 6, 2, 1, 3)
    return as_lists(lab.choice_rows(context, choices, Marks(50, 51, 52)))


@exercise.check(points=0.75, hidden=True)
def filled_up_on_the_right(lab, draw):
    """`fill_up`: the longest row decides; `valid` is right also if a row has the pad token."""
    rows = [[7, 0, 3, 0], [5], [0, 0], [4, 4, 9, 0]]
    seen = {}
    for name, some, pad in (
        ("pad in the rows", rows, 0),
        ("another pad", texts(draw, 3, 6, 1, 4), 60),
        ("equal lengths", texts(draw, 3, 3), 60),
        ("one row", texts(draw, 5), 60),
    ):
        before = [list(row) for row in some]
        ids, valid = lab.fill_up(some, pad)
        seen[name] = {"ids": ids, "valid": valid, "rows as they were": some == before}
        seen[name]["dtypes"] = [dtype_of(ids), dtype_of(valid)]
    return seen


def filled_on_each_side(draw):
    """(4, 6): filled up on the right, on the left, on both sides with a gap, and nowhere."""
    valid = torch.tensor(
        [
            [True, True, True, False, False, False],
            [False, False, True, True, True, True],
            [False, True, False, True, True, False],
            [True, True, True, True, True, True],
        ]
    )
    return draw.normal(4, 6, 3), valid


@exercise.check(points=1.25)
def last_valid_place(lab, draw):
    """`last_valid`: is right for rows filled up on the right, on the left, or on both sides."""
    hidden, valid = filled_on_each_side(draw)
    names = ("right", "left", "both", "none")
    seen = {name: lab.last_valid(hidden[i : i + 1], valid[i : i + 1]) for i, name in
            enumerate(names)}  # fmt: skip
    return {**seen, "in one batch": lab.last_valid(hidden, valid)}


@exercise.check(points=0.5, hidden=True)
def no_valid_place(lab, draw):
    """`last_valid`: a row without a valid place is a ValueError, beside other rows, too."""
    hidden, valid = filled_on_each_side(draw)
    some = valid.clone()
    some[2] = False
    return {
        "one row": draw.raises(lab.last_valid, hidden[:1], torch.zeros(1, 6, dtype=torch.bool)),
        "one row of four": draw.raises(lab.last_valid, hidden, some),
    }


@exercise.check(points=0.75)
def softmax_over_choices(lab, draw):
    """`choice_probabilities`: one score a row; those of a question become probabilities."""
    layer = new_layer(draw, 5, 1)
    vectors = draw.normal(3, 4, 5)
    found = lab.choice_probabilities(vectors, layer)
    return {"probabilities": found, "sum of each question": found.sum(-1)}


@exercise.check(points=0.75, hidden=True)
def sum_of_two(lab, draw):
    """`similarity_logits`: the sum of both vectors goes through the layer, in any order."""
    layer = new_layer(draw, 5, 3)
    vectors = draw.normal(4, 2, 5)
    return {
        "logits": lab.similarity_logits(vectors, layer),
        "the other order": lab.similarity_logits(vectors.flip(1), layer),
    }


@exercise.check(points=0.75, hidden=True)
def other_sizes(lab, draw):
    """All three are right for one row, one place, one choice, one feature, and equal sizes."""
    layers = {d: new_layer(draw, d, 2) for d in (1, 2, 3, 4, 5, 6, 7)}
    scores = {d: new_layer(draw, d, 1) for d in layers}

    def last(B, T, d):
        valid = draw.uniform(B, T) < 0.4
        valid[:, T // 2] = True
        return lab.last_valid(draw.normal(B, T, d), valid)

    return {
        "last": draw.each_size(last, B=4, T=6, d=3),
        "pairs": draw.each_size(
            lambda B, d: lab.similarity_logits(draw.normal(B, 2, d), layers[d]), B=4, d=5
        ),
        "choices": draw.each_size(
            lambda B, N, d: lab.choice_probabilities(draw.normal(B, N, d), scores[d]),
            B=4, N=3, d=5,
        ),
    }  # fmt: skip


@exercise.check(points=0.5, hidden=True)
def gradients_and_dtype(lab, draw):
    """Gradients flow back to the vectors, and `last_valid` keeps their dtype."""
    hidden, valid = filled_on_each_side(draw)
    layer, score = new_layer(draw, 3, 2), new_layer(draw, 3, 1)
    pairs = hidden[:, :2]
    return {
        "last": draw.gradients(lambda h: lab.last_valid(h, valid), hidden),
        "pairs": draw.gradients(lambda v: lab.similarity_logits(v, layer), pairs),
        "choices": draw.gradients(lambda v: lab.choice_probabilities(v, score), pairs),
        "dtype": dtype_of(lab.last_valid(hidden.float(), valid)),
        "inputs as they were": draw.untouched(),
    }
