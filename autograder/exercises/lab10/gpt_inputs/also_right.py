"""Other right versions of the seven functions."""

from __future__ import annotations

import torch

from attnlab.gpt_inputs import join_texts

from . import exercise


@exercise.also_right(of="join_texts")
def piece_by_piece(first, second, marks):
    row = [marks.start]
    row += first
    row += [marks.delimiter]
    row += second
    row += [marks.extract]
    return row


@exercise.also_right(of="join_texts")
def added_lists(first, second, marks):
    parts = [marks.start], first, [marks.delimiter], second, [marks.extract]
    return [token for part in parts for token in part]


@exercise.also_right(of="similarity_rows")
def both_orders(first, second, marks):
    return list(map(join_texts, (first, second), (second, first), (marks, marks)))


@exercise.also_right(of="similarity_rows")
def in_a_loop(first, second, marks):
    pairs = [(first, second), (second, first)]
    return [join_texts(a, b, marks) for a, b in pairs]


@exercise.also_right(of="choice_rows")
def appended(context, choices, marks):
    rows = []
    for choice in choices:
        rows.append(join_texts(context, choice, marks))
    return rows


@exercise.also_right(of="choice_rows")
def mapped(context, choices, marks):
    contexts, all_marks = [context] * len(choices), [marks] * len(choices)
    return list(map(join_texts, contexts, choices, all_marks))


@exercise.also_right(of="fill_up")
def row_by_row(rows, pad):
    T = max(len(row) for row in rows)
    ids = torch.full((len(rows), T), pad)
    valid = torch.zeros(len(rows), T, dtype=torch.bool)
    for b, row in enumerate(rows):
        ids[b, : len(row)] = torch.tensor(row, dtype=torch.long)
        valid[b, : len(row)] = True
    return ids, valid


@exercise.also_right(of="fill_up")
def by_pad_sequence(rows, pad):
    ones = [torch.ones(len(row), dtype=torch.bool) for row in rows]
    ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], True, pad)
    return ids, torch.nn.utils.rnn.pad_sequence(ones, batch_first=True)


@exercise.also_right(of="last_valid")
def largest_index(hidden, valid):
    if not valid.any(dim=1).all():
        raise ValueError("no valid token")
    places = torch.arange(valid.shape[1]).expand_as(valid)
    last = places.masked_fill(~valid, -1).max(dim=1).values
    return hidden[torch.arange(len(hidden)), last]


@exercise.also_right(of="last_valid")
def first_from_behind(hidden, valid):
    if (valid.sum(1) == 0).any():
        raise ValueError("a row holds nothing")
    last = valid.shape[1] - 1 - valid.flip(1).int().argmax(1)
    index = last[:, None, None].expand(-1, 1, hidden.shape[-1])
    return hidden.gather(1, index).squeeze(1)


@exercise.also_right(of="last_valid")
def with_a_loop(hidden, valid):
    out = []
    for h, v in zip(hidden, valid, strict=True):
        places = v.nonzero().flatten().tolist()
        if not places:
            raise ValueError("empty row")
        out.append(h[places[-1]])
    return torch.stack(out)


@exercise.also_right(of="similarity_logits")
def two_vectors_added(vectors, head):
    return head(vectors[:, 0] + vectors[:, 1])


@exercise.also_right(of="similarity_logits")
def summed_by_einsum(vectors, head):
    return head(torch.einsum("bod->bd", vectors))


@exercise.also_right(of="choice_probabilities")
def softmax_then_squeezed(vectors, head):
    scores = head(vectors)
    return torch.softmax(scores, dim=1)[..., 0]


@exercise.also_right(of="choice_probabilities")
def flattened_and_back(vectors, head):
    B, N, d = vectors.shape
    scores = head(vectors.reshape(B * N, d)).reshape(B, N)
    return scores.log_softmax(dim=1).exp()
