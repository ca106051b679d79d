"""Sentences that change with their neighbours: padding that is attended to, and behind it a fill.

A finite fill that makes weights uniform if there is nothing to attend to was reported of public
code (d2l-ai/d2l-en, pull request 2423). In another project, a model learned to get around a fill
of -10,000 (karpathy/minGPT, issue 75).
"""

from __future__ import annotations

import torch
from torch import nn

from attnlab.checking.weights import give_weights
from attnlab.plots import symptoms
from gradekit.exercise import Case
from gradekit.exercise.clinic import Step


class PaddedAttention(nn.Module):
    """The self-attention of an encoder, for sentences of different lengths in one batch.

    A word attends to all words of its own sentence, and to no padding. So its output is the same in
    every batch, however long its neighbours are. If a sentence has no word at all, nothing can be
    attended to: every mixture of values is 0 there, and the output is the bias of `out`.

    Args:
        d_model: the features of a word.

    `forward` takes x (B, T, d_model) and the number of words in each sentence (B,); the words come
    first, then padding. It returns (B, T, d_model); what it returns at padding is not promised,
    except in a sentence without words. The weights are `query`, `key`, `value` and `out`.
    """

    def __init__(self, d_model):
        super().__init__()
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, x, lengths):
        places = torch.arange(x.shape[1], device=x.device)
        padding = places >= lengths[:, None]  # (B, T)
        scores = self.query(x) @ self.key(x).mT / x.shape[-1] ** 0.5  # (B, T, T)
        hidden = padding[:, None, :]  # (B, 1, T)
        weights = scores.masked_fill(hidden, -1e6).softmax(dim=-1)
        return self.out(weights.masked_fill(hidden, 0.0) @ self.value(x))


case = Case(
    PaddedAttention,
    title="My neighbour changes my translation",
    breaks={
        "padding[:, None, :]  # (B, 1, T)": "padding[:, :, None]",
        "weights.masked_fill(hidden, 0.0) @": "weights @",
    },
    most_lines=2,
    complaint="""
> *"Our translator is fine when I try it by hand, one sentence after another. On the server the same
> sentences come out differently. Not always: it depends on who else is asking at that moment."*

The server puts sentences of several users into one batch and pads them to the longest. Below, two
hundred sentences of three to six words go through a small encoder, first alone, then beside one
long neighbour. A word counts as changed if the encoder would choose another translation for it.
""",
    finding=Step(
        15,
        3,
        """
**Predict.** Which of these can change what a right encoder says of your sentence: the words of a
neighbour, the length of a neighbour, the number of sentences in the batch?
""",
        (
            "What do two batches that hold the same sentence differ in, and which part of the "
            "output must be equal?",
            "Make a batch of three sentences with different numbers of words, and fill the padding "
            "with large random numbers. Run it once. Then run each sentence alone, cut to its own "
            "length, and compare at its words. The docstring names one more kind of sentence; try "
            "that, too.",
        ),
    ),
    fixing=Step(
        8,
        3,
        """
Look at the weights of one sentence with two words and two positions of padding, for T = 4. Each row
belongs to a query, each column to a key. Where are the zeros, and where should they be? Then run
*all* of your test again: the docstring has a sentence about sentences without words.
""",
        (
            "A mask (B, T, 1) and a mask (B, 1, T) both spread over (B, T, T) without an error. "
            "Which of the two says the same about every query?",
            "One line decides what is hidden, and another what becomes of it. Check the first on a "
            "sentence with padding, and the second on a sentence that has nothing else.",
        ),
    ),
    look="""The same sentences through your version. Is the line at 0 for every length? Note what
the symptom does *not* show: it has no sentence without words. Does your test have one?
""",
    cause="""The mask of padding hid whole rows, the queries at padding, instead of columns, the
keys at padding, so every word also attended to padding; nothing crashed because both shapes fit and
the fill of -1e6 gives the hidden rows uniform weights instead of NaN (which also made sentences
without words read their padding).
""",
    scheme={
        "says that queries were hidden in the place of keys (or: the wrong axis of the mask)": 1,
        "says that words therefore attended to padding": 1,
        "says that the shapes fit, or that the finite fill made no NaN": 1,
    },
)


@case.symptom
def changed_words(attention):
    torch.manual_seed(0)
    words, layer, lengths = torch.randn(50, 16), attention(16), torch.randint(3, 7, (200,))
    layer.query.weight.data *= 4
    sentences = [torch.randint(1, 50, (int(n),)) for n in lengths]  # word 0 is padding

    @torch.no_grad()
    def translated(batch):
        ids = nn.utils.rnn.pad_sequence(batch, batch_first=True)  # (B, T)
        out = words[ids] + layer(words[ids], torch.tensor([len(s) for s in batch]))
        return (out @ words.T).argmax(-1)[0, : len(batch[0])]

    alone = [translated([s]) for s in sentences]
    changed = []
    for longest in range(1, 31):
        beside = [translated([s, torch.ones(longest, dtype=torch.int64)]) for s in sentences]
        same = torch.cat([a == b for a, b in zip(alone, beside, strict=True)])
        changed.append(100 * (1 - same.double().mean()))
    print(f"beside a sentence of 30 words, {changed[-1]:.1f} % of the words change")
    title = "words that change beside a neighbour"
    return symptoms.curves(
        {"changed": changed}, title, "words of the neighbour", "% of the words", up_to=8.0
    )


@case.slow_version
class SentenceBySentence(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x, lengths):
        found = []
        for sentence, count in zip(x, lengths, strict=True):
            rows = []
            for word in sentence:
                own = sentence[: int(count)]  # its words alone
                scores = (self.key(own) * self.query(word)).sum(-1) / x.shape[-1] ** 0.5
                mixed = sum(w * v for w, v in zip(scores.softmax(0), self.value(own), strict=True))
                rows.append(self.out(mixed + torch.zeros_like(word)))
            found.append(torch.stack(rows))
        return torch.stack(found)


@case.other_program("adds numbers to the scores, and says NaN is 0")
class AddsMinusInfinity(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x, lengths):
        is_word = torch.arange(x.shape[1]).expand(x.shape[:2]) < lengths.unsqueeze(1)
        added = torch.where(is_word, 0.0, -torch.inf).to(x)[:, None, :]
        scores = torch.einsum("bqd,bkd->bqk", self.query(x), self.key(x))
        weights = torch.softmax(scores / x.shape[-1] ** 0.5 + added, dim=-1).nan_to_num(0.0)
        return self.out(torch.einsum("bqk,bkd->bqd", weights, self.value(x)))


@case.other_program("returns zeros at padding")
class ZerosAtPadding(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x, lengths):
        words = (torch.arange(x.shape[1])[None] < lengths[:, None]).to(x)  # (B, T): 1 at a word
        scores = self.query(x) @ self.key(x).mT / x.shape[-1] ** 0.5
        low = (words[:, None] - 1) * 1e9  # 0 at a word
        weights = (scores + low).softmax(-1) * words[:, None]
        found = self.out(weights @ self.value(x))
        has_words = words.any(1)[:, None, None]
        return torch.where(has_words, found * words[..., None], found)


# Checks of the fix.


def module(lab, draw, d_model):
    made = lab.PaddedAttention(d_model).double()
    for name in ("query", "key", "value", "out"):
        give_weights(
            made,
            {
                f"{name}.weight": draw.normal(d_model, d_model),
                f"{name}.bias": draw.normal(d_model),
            },
        )
    return made


def at_words(out, lengths):
    return [sentence[: int(count)] for sentence, count in zip(out, lengths, strict=True)]


@case.fix.check(points=1)
def neighbours_do_not_matter(lab, draw):
    """A sentence's words get the same output alone and beside longer sentences."""
    made, x, lengths = module(lab, draw, 5), draw.normal(3, 7, 5), torch.tensor([4, 7, 2])
    together = at_words(made(x, lengths), lengths)
    alone = [made(x[i : i + 1, : int(n)], lengths[i : i + 1])[0] for i, n in enumerate(lengths)]
    return {"in the batch": together, "alone": alone}


@case.fix.check(points=1, hidden=True)
def no_words(lab, draw):
    """A sentence without words gives the bias of `out`, whatever is in its padding."""
    made, x = module(lab, draw, 5), 10 * draw.normal(3, 4, 5)
    out = made(x, torch.tensor([0, 3, 0]))
    return [out[0], out[2]]


@case.fix.check(points=1, hidden=True)
def sizes_and_gradients(lab, draw):
    """Is right for one word, one sentence and equal sizes; no gradient reaches padding."""

    def ask(B, T, d_model):
        lengths = torch.tensor([T - i % T for i in range(B)])
        made = module(lab, draw, d_model)
        return at_words(made(draw.normal(B, T, d_model), lengths), lengths)

    made, lengths = module(lab, draw, 4), torch.tensor([2, 5, 1])

    def words(x):
        return torch.cat(at_words(made(x, lengths), lengths))

    return {
        "sizes": draw.each_size(ask, B=2, T=5, d_model=3),
        "gradients": draw.gradients(words, draw.normal(3, 5, 4)),
    }


case.fix.promises(
    {
        "A word attends to all words of its own sentence, and to no padding. So its output is the "
        "same in every batch, however long its neighbours are.": (
            "neighbours_do_not_matter sizes_and_gradients"
        ),
        "If a sentence has no word at all, nothing can be attended to: every mixture of values is "
        "0 there, and the output is the bias of `out`.": "no_words",
        "It returns (B, T, d_model)": "neighbours_do_not_matter sizes_and_gradients",
    },
    explained=[
        "The self-attention of an encoder, for sentences of different lengths in one batch.",
        "d_model: the features of a word.",
        "`forward` takes x (B, T, d_model) and the number of words in each sentence (B,); the "
        "words come first, then padding.",
        "; what it returns at padding is not promised, except in a sentence without words.",
        "The weights are `query`, `key`, `value` and `out`.",
    ],
)
