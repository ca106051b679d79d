"""How one pretrained GPT reads tasks of several texts, without a new part for each task.

All texts of a task are written into one row of tokens, or into several rows. The vector of a row's
last token, which has seen the whole row, goes through one new linear layer.

Source: Improving Language Understanding by Generative Pre-Training (Radford et al. 2018), section
3.3; lecture G.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attnlab.softmax import softmax


class Marks(NamedTuple):
    """Three tokens that no text contains, new for fine-tuning.

    Attributes:
        start: begins a row.
        delimiter: stands between two texts.
        extract: ends a row; its vector is used.
    """

    start: int
    delimiter: int
    extract: int


def join_texts(first: Sequence[int], second: Sequence[int], marks: Marks) -> list[int]:
    """Write two texts as one row, such as a premise and a hypothesis.

    The row is the mark `start`, the first text, the mark `delimiter`, the second text, and the mark
    `extract`.

    Args:
        first: tokens; none is needed, and the list stays unchanged.
        second: tokens, as for the first text.
        marks: the three tokens.
    """
    # blank: one list
    return [marks.start, *first, marks.delimiter, *second, marks.extract]
    # end blank


def similarity_rows(first: Sequence[int], second: Sequence[int], marks: Marks) -> list[list[int]]:
    """Write two texts that may mean the same in both orders: first-second, then second-first.

    Args:
        first: tokens.
        second: tokens.
        marks: for both rows, each of which is as `join_texts` writes it.

    Returns:
        Two rows.
    """
    # blank: two rows
    return [join_texts(first, second, marks), join_texts(second, first, marks)]
    # end blank


def choice_rows(
    context: Sequence[int], choices: Sequence[Sequence[int]], marks: Marks
) -> list[list[int]]:
    """Write a row for each choice, such as the possible answers to a question about a text.

    Args:
        context: tokens: the text and the question. Every row begins with it.
        choices: the tokens of each choice.
        marks: for all rows, each of which is as `join_texts` writes it.

    Returns:
        One row for each choice, in their order.
    """
    # blank: a row for each choice
    return [join_texts(context, choice, marks) for choice in choices]
    # end blank


def fill_up(rows: Sequence[Sequence[int]], pad: int) -> tuple[Tensor, Tensor]:
    """Make a batch of rows of different lengths; short rows are filled up on the right.

    Args:
        rows: at least one; they stay unchanged, and their tokens may be equal to `pad`. (GPT has no
            token of its own for filling up, so people take one that also occurs in texts.)
        pad: the token that fills up.

    Returns:
        The ids, (B, T), int64, with the length of the longest row as T; and which of them belong to
        a row, (B, T), boolean: False exactly where a row was filled up.
    """
    # blank: ids and valid
    lengths = torch.tensor([len(row) for row in rows])  # (B,)
    T = max(len(row) for row in rows)  # noqa: N806 - as in the text
    ids = torch.tensor([[*row, *[pad] * (T - len(row))] for row in rows])  # (B, T)
    return ids, torch.arange(T) < lengths[:, None]
    # end blank


def last_valid(hidden: Tensor, valid: Tensor) -> Tensor:
    """Take each row's vector at its last valid place.

    Args:
        hidden: (B, T, d), the vectors of all tokens.
        valid: (B, T), boolean, False where a row was filled up: on the right, on the left, or
            anywhere else.

    Returns:
        (B, d): of each row the vector at the largest index where `valid` is True, in the dtype of
        `hidden`. Gradients flow back to these vectors.

    Raises:
        ValueError: a row has no valid place.
    """
    # blank: the largest valid index, and its vector
    if not valid.any(1).all():
        raise ValueError("a row has no valid token")
    last = valid.cumsum(1).argmax(1)  # (B,): the first place at which all valid ones are counted
    return hidden.take_along_dim(last[:, None, None], 1)[:, 0]  # (B, d)
    # end blank


def similarity_logits(vectors: Tensor, head: nn.Module) -> Tensor:
    """Score a pair of texts that was read in both orders, so that the order does not matter.

    The two vectors are added, and the sum goes through the new layer.

    Args:
        vectors: (B, 2, d), of each pair the last vector in each order.
        head: the new layer, from (B, d) to (B, C).

    Returns:
        (B, C), the logits. Gradients flow back to `vectors`.
    """
    # blank: add, then the layer
    logits: Tensor = head(vectors.sum(1))
    return logits
    # end blank


def choice_probabilities(vectors: Tensor, head: nn.Module) -> Tensor:
    """How probable each choice is: one score for each row, softmax over the choices of a question.

    Args:
        vectors: (B, N, d), of each question the last vectors of its N rows.
        head: the new layer, from (..., d) to (..., 1).

    Returns:
        (B, N), the probabilities; those of a question sum to 1. Gradients flow back to all rows.
    """
    # blank: scores, then softmax
    scores = head(vectors).squeeze(-1)  # (B, N)
    return softmax(scores, 1)
    # end blank
