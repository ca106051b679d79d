"""LearnedPositions: a vector for each position, learned like a word's."""

from __future__ import annotations

import torch
from torch import nn

from attnlab.checking.weights import give_weights, weight_gradients
from attnlab.data.chicken import place_of, token_ids
from attnlab.positions import LearnedPositions
from gradekit.exercise import Exercise

exercise = Exercise(
    LearnedPositions,
    equivalent={
        "LearnedPositions: `torch.arange(x.shape[1], device=x.device)` → "
        "`torch.arange(x.shape[1])` in "
        "`positions = torch.arange(x.shape[1], device=x.device)`": (
            "differs only on a GPU: a table on the meta device accepts positions on the CPU"
        ),
    },
)

SPELLINGS = {
    "embedding.weight": (
        "embedding", "pos_embedding.weight", "position_embedding.weight", "positions.weight",
        "pos_emb.weight", "emb.weight", "pos.weight", "wpe.weight", "pe.weight", "table.weight",
        "position_embeddings.weight", "pos_embedding", "pe", "weight", "positions", "pos_emb",
    )
}  # fmt: skip


def built(lab, table):
    """A student's module with a given table, (max_len, d)."""
    model = lab.LearnedPositions(*table.shape).double()
    give_weights(model, {"embedding.weight": table}, SPELLINGS)
    return model


def in_context(x):
    """Attention without weights of its own: (B, T, d) to (B, T, d)."""
    return x + torch.softmax(x @ x.mT, -1) @ x


@exercise.check(points=2)
def the_chicken(lab, draw):
    """Four orders of the same words: without positions one vector for chicken, with them four."""
    words, ids, at = draw.normal(4, 6), token_ids(), place_of("chicken")
    model = built(lab, draw.normal(8, 6))
    without = in_context(words[ids])[torch.arange(4), at]
    with_them = in_context(model(words[ids]))[torch.arange(4), at]

    def different(vectors):
        return len({tuple(row) for row in vectors.round(decimals=6).tolist()})

    return {
        "different vectors, without positions": different(without),
        "different vectors, with positions": different(with_them),
        "vectors with positions": with_them,
    }


@exercise.check(points=1)
def parameters(lab, draw):
    """Has one table of max_len rows with d numbers each, all of them to be learned."""
    most, d = int(draw.integers(4, 9)), int(draw.integers(9, 14))
    model = lab.LearnedPositions(most, d)
    return {
        "parameters": sum(p.numel() for p in model.parameters()),
        "shapes": [list(p.shape) for p in model.parameters()],
        "to be learned": sum(p.numel() for p in model.parameters() if p.requires_grad),
    }


@exercise.check(points=1.5, hidden=True)
def other_sizes(lab, draw):
    """Row t goes to position t, for any batch and any T up to max_len; x is unchanged."""

    def ask(B, T, d):
        return built(lab, draw.normal(9, d))(draw.normal(B, T, d))

    whole = built(lab, draw.normal(5, 3))(draw.normal(2, 5, 3))
    return {
        **draw.each_size(ask, B=4, T=6, d=7),
        "T = max_len": whole,
        "x as it was": draw.untouched(),
    }


@exercise.check(points=1.5, hidden=True)
def gradients(lab, draw):
    """Gradients reach the words and the first T rows of the table."""
    table, x = draw.normal(7, 3), draw.normal(2, 5, 3)
    model = built(lab, table)
    to_words = draw.gradients(model, x)
    (model(x) * draw.normal(2, 5, 3)).sum().backward()
    return {
        "words": to_words,
        "table": weight_gradients(model, {"embedding.weight": table}, SPELLINGS),
    }


exercise.promises(
    {
        "Add a vector of its own, learned like a word's, for each position.": (
            "the_chicken parameters gradients"
        ),
        "row t belongs to position t": "the_chicken other_sizes",
        "max_len: the number of positions, each with a vector.": "parameters",
        "d: features of a word vector.": "parameters",
        "Add row t of the table to the vector at position t of every sentence.": "other_sizes",
        "with T at most max_len; stays unchanged": "other_sizes",
        "Gradients flow back to `x` and to the first T rows of the table.": "gradients",
        "(B, T, d).": "other_sizes",
    },
    explained=["The vectors are in an `nn.Embedding` by the name `embedding`"],
)


@exercise.also_right
class RowsOfAnEmbedding(nn.Module):
    def __init__(self, max_len, d):
        super().__init__()
        self.embedding = nn.Embedding(max_len, d)

    def forward(self, x):
        positions = torch.arange(x.size(1), device=x.device)
        return x + self.embedding(positions)


@exercise.also_right
class RawTable(nn.Module):
    def __init__(self, max_len, d):
        super().__init__()
        self.pos_embedding = nn.Parameter(0.02 * torch.randn(max_len, d))

    def forward(self, x):
        return x + self.pos_embedding[: x.shape[1]].unsqueeze(0)


@exercise.also_right
class SlicedWeight(nn.Module):
    def __init__(self, max_len, d):
        super().__init__()
        self.embedding = nn.Embedding(max_len, d)
        nn.init.normal_(self.embedding.weight, std=0.02)

    def forward(self, x):
        B, T, _ = x.shape
        index = torch.arange(T, device=x.device).repeat(B, 1)
        return self.embedding(index) + x


wrong = exercise.edits(RowsOfAnEmbedding)

wrong(
    "nothing_added",
    "x + self.embedding(positions)",
    "x + 0 * self.embedding(positions)",
    "Your result is the words alone, so the order of the words makes no difference. Where do you "
    "use the table?",
)
wrong(
    "only_the_positions",
    "x + self.embedding(positions)",
    "self.embedding(positions).expand_as(x)",
    "You return the positions' vectors alone, without the words. What should they be added to?",
)
wrong(
    "counted_by_the_batch",
    "self.embedding(positions)",
    "self.embedding(torch.arange(x.size(0)))[:, None]",
    "Each sentence gets one row for all of its positions: you count sentences. Which axis of x is "
    "time?",
)
wrong(
    "one_row_for_all",
    "torch.arange(x.size(1), device=x.device)",
    "torch.zeros(x.size(1), dtype=torch.long)",
    "All positions get row 0, so the order of the words makes no difference. Which row belongs to "
    "position t?",
)
wrong(
    "from_one",
    "torch.arange(x.size(1), device=x.device)",
    "torch.arange(1, x.size(1) + 1) % len(self.embedding.weight)",
    "The first position gets row 1. From which number are positions counted?",
)
wrong(
    "reversed",
    "torch.arange(x.size(1), device=x.device)",
    "torch.arange(x.size(1)).flip(0)",
    "The last position gets row 0. In a longer sentence, would the first word keep its vector?",
)
wrong(
    "multiplied",
    "x + self.embedding(positions)",
    "x * self.embedding(positions)",
    "You multiply words and positions. What does lecture G do with the two?",
)
wrong(
    "concatenated",
    "x + self.embedding(positions)",
    "torch.cat([x, self.embedding(positions).expand_as(x)], -1)",
    "Your result has twice as many features. What does lecture G do with the two vectors?",
)
wrong(
    "not_learned",
    "nn.Embedding(max_len, d)",
    "nn.Embedding(max_len, d).requires_grad_(False)",
    "Your table has no parameters to learn, like the waves of 6.1. What is different about this "
    "step?",
)
wrong(
    "one_row_too_many",
    "nn.Embedding(max_len, d)",
    "nn.Embedding(max_len + 1, d)",
    "Your table does not have max_len rows. How many positions are there, counted from 0?",
)
wrong.several(
    "two_rows_for_padding",
    {
        "nn.Embedding(max_len, d)": "nn.Embedding(max_len + 2, d, padding_idx=1)",
        "torch.arange(x.size(1), device=x.device)": "torch.arange(2, x.size(1) + 2)",
    },
    "Your table has two rows more, and position 0 gets row 2: fairseq keeps the first rows for "
    "padding. Which row belongs to position t in the task?",
)
wrong.several(
    "columns_for_rows",
    {
        "(max_len, d)": "(d, max_len)",
        "self.embedding(positions)": "self.embedding.weight.T[positions]",
    },
    "Your table has d rows and a column for each position. Which of the two numbers comes first in "
    "an `nn.Embedding`, and which row belongs to position t?",
)
wrong(
    "row_0_fixed",
    "nn.Embedding(max_len, d)",
    "nn.Embedding(max_len, d, padding_idx=0)",
    "Row 0 never learns: `padding_idx` fixes it at zero. Which position does row 0 belong to?",
)
wrong(
    "whole_table_added",
    "positions = torch.arange(x.size(1), device=x.device)",
    "positions = torch.arange(len(self.embedding.weight))",
    "You add the whole table, so only sentences of exactly max_len words fit. How many rows does a "
    "sentence of T words need?",
)
wrong(
    "table_detached",
    "self.embedding(positions)",
    "self.embedding(positions).detach()",
    "No gradient reaches the table, so nothing is learned. Which call cuts torch's graph?",
)
wrong(
    "words_detached",
    "x + self",
    "x.detach() + self",
    "No gradient reaches the words. Which call cuts torch's graph?",
)
wrong(
    "added_in_place",
    "x + self.embedding(positions)",
    "x.add_(self.embedding(positions))",
    "Your code adds into the words that it was given (`+=`, `add_`). What does the same and makes "
    "a new tensor?",
)
