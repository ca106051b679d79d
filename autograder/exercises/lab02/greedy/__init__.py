"""greedy: a sentence, one likeliest symbol after another."""

from __future__ import annotations

import torch

from attnlab.decoding import greedy
from gradekit.exercise import Exercise

exercise = Exercise(greedy)

BOS = 6
EOS = 4
SYMBOLS = 7


TOKENS = "a tensor (B,) of whole numbers"


def kind_of(y_prev, rows):
    """What kind of tokens a step is fed: one whole number for each row, or anything else."""
    if not isinstance(y_prev, torch.Tensor):
        return f"an object of type {type(y_prev).__name__}"
    whole = not (y_prev.is_floating_point() or y_prev.dtype == torch.bool)
    if whole and y_prev.shape == (rows,):
        return TOKENS
    kind = str(y_prev.dtype).removeprefix("torch.")
    return f"a tensor of shape {tuple(y_prev.shape)} and dtype {kind}"


class Talker:
    """A translator made of a few tables. Like the real one, it needs a tensor of tokens, (B,).

    A row's state holds the number of steps after which its sentence ends. If it is called again
    after that, it continues, and ends once more at the third call. Like a module, it can be set to
    evaluation or training.
    """

    def __init__(self, draw, ends):
        self.words, self.symbols = draw.normal(9, 3), draw.normal(SYMBOLS, 5)
        self.look, self.mix = draw.normal(3, 5), draw.normal(5, 5)
        self.out = draw.normal(5, SYMBOLS)
        self.ends = {9 - row: end for row, end in enumerate(ends)}  # by a row's first word
        self.rows_read, self.steps, self.recorded, self.fed = 0, [], [], []

    def source(self, draw, width=5):
        """Rows of unequal length; the first word shows which sentence it is."""
        rows, lengths = len(self.ends), [width, 3, 4, 2][: len(self.ends)]
        source = draw.integers(0, 6, rows, width).clone()
        source[:, 0] = torch.tensor(list(self.ends)) - 1
        return source, torch.arange(width) < torch.tensor(lengths)[:, None]

    def encode(self, source, source_mask):
        self.rows_read += len(source)
        self.recorded.append(torch.is_grad_enabled())
        ends = [float(self.ends[first + 1]) for first in source[:, 0].tolist()]
        state = torch.zeros(len(source), 7, dtype=torch.float64)
        state[:, 5] = torch.tensor(ends)
        return self.words[source], state

    def train(self, mode=True):
        return self

    def eval(self):
        return self

    def cell(self, y_prev, state, hidden, mask=None):
        self.recorded.append(torch.is_grad_enabled())
        self.fed.append(kind_of(y_prev, len(state)))
        if self.fed[-1] != TOKENS:
            raise TypeError(f"y_prev should be {TOKENS}, and is {self.fed[-1]}")
        place, left, made = state[:, :5], state[:, 5:6] - 1, state[:, 6:] + 1
        self.steps += made.flatten().tolist()
        weights = torch.ones(hidden.shape[:2]).double() if mask is None else mask.double()
        weights = weights / weights.sum(1, keepdim=True)
        seen = (weights[:, None] @ hidden)[:, 0] @ self.look
        place = torch.tanh(place @ self.mix + self.symbols[y_prev] + seen)
        logits = 3 * place @ self.out
        over = (left[:, 0] == 0) | (left[:, 0] == -3)
        logits[:, EOS] = torch.where(over, 50.0, -50.0)
        return logits, torch.cat([place, left, made], 1), weights


def written(sentences):
    """The sentences by name, if they are a list; anything else as it is."""
    if not isinstance(sentences, (list, tuple)):
        return sentences
    return {f"symbols of sentence {number}": one for number, one in enumerate(sentences, start=1)}


def told(lab, draw, ends, max_len, talkers=4, width=5):
    """The sentences of some talkers: enough that no slip is right by chance."""
    models = [Talker(draw, ends) for _ in range(talkers)]
    return {
        f"model {number}": written(lab.greedy(model, *model.source(draw, width), BOS, EOS, max_len))
        for number, model in enumerate(models, start=1)
    }


@exercise.check(points=0.5)
def one_list_for_each_sentence(lab, draw):
    """Returns a list of lists of plain numbers, one for each sentence, even if all are empty.

    A second call returns the same ones.
    """
    model = Talker(draw, (4, 4, 4))
    source, mask = model.source(draw)
    sentences, same = [], True

    def twice():
        nonlocal sentences, same
        sentences = lab.greedy(model, source.clone(), mask.clone(), BOS, EOS, 9)
        same = str(sentences) == str(lab.greedy(model, source, mask, BOS, EOS, 9))

    def lists_if_all_are_empty(B):
        empty = Talker(draw, (1,) * B)
        return len(lab.greedy(empty, *empty.source(draw), BOS, EOS, 9))

    error = draw.raises(twice)
    first, later = (model.fed or ["nothing"])[0], sorted({TOKENS, *model.fed[1:]} - {TOKENS})
    if error is not None and first == TOKENS and not later:
        twice()
    return {
        "`y_prev` for 3 sentences, first step": first,
        "`y_prev` for 3 sentences, later steps": (later or [TOKENS])[0],
        "kind of the result": type(sentences).__name__,
        "kinds inside": sorted({type(one).__name__ for one in sentences}),
        "kinds of symbols": sorted({type(n).__name__ for one in sentences for n in one}),
        "lists for a batch of 3 sentences": len(sentences),
        "lists if all sentences are empty": draw.each_size(lists_if_all_are_empty, B=2),
        "a second call gives": "the same sentences" if same else "other sentences",
    }


@exercise.check(points=2.5)
def likeliest_symbols(lab, draw):
    """Takes the likeliest symbol after those already chosen, up to the end of the sentence."""
    return {
        "three sentences of five symbols": told(lab, draw, (6, 6, 6), 9),
        "two sentences of three": told(lab, draw, (4, 4), 7),
    }


@exercise.check(points=1.5)
def ends_apart(lab, draw):
    """Sentences of one batch, of any size, may end at different steps; nothing follows an end."""

    def ask(B, S):
        return told(lab, draw, (5, 3, 6)[:B], 9, width=S)

    return {
        **draw.each_size(ask, B=3, S=5),
        "four sentences": told(lab, draw, (3, 7, 2, 5), 9),
        "one is empty": told(lab, draw, (1, 4, 3), 9),
    }


@exercise.check(points=1)
def no_more_than_max_len(lab, draw):
    """Stops when every sentence has ended, and after max_len steps if one does not end."""
    model = Talker(draw, (3, 6, 2))
    lab.greedy(model, *model.source(draw), BOS, EOS, 11)
    return {
        "steps until the last of three sentences ends": max(model.steps, default=0),
        "max_len 5, none ends": told(lab, draw, (99, 98, 97), 5),
        "max_len 6, one ends": told(lab, draw, (99, 3), 6),
        "max_len 6, an end at the last step": told(lab, draw, (6, 9), 6),
        "max_len 1": told(lab, draw, (9, 1, 8), 1),
    }


@exercise.check(points=0.5)
def no_gradients(lab, draw):
    """Records no gradients while the model runs, and leaves torch as it was."""
    model = Talker(draw, (3, 6, 2))
    lab.greedy(model, *model.source(draw), BOS, EOS, 11)
    then = "torch records gradients" if any(model.recorded) else "torch records nothing"
    then = then if model.recorded else "it never runs"
    now = "torch records gradients" if torch.is_grad_enabled() else "torch records nothing"
    return {"while the model runs": then, "after your function": now}


@exercise.check(points=0.5)
def read_once(lab, draw):
    """Reads the source once, for all steps."""
    model = Talker(draw, (4, 6))
    lab.greedy(model, *model.source(draw), BOS, EOS, 9)
    return {"times that each sentence is read": model.rows_read / 2}


@exercise.check(points=1.5, hidden=True)
def work_done(lab, draw):
    """Makes no step twice, keeps its inputs."""
    model = Talker(draw, (3, 6, 2))
    given = model.source(draw)
    before = [tensor.clone() for tensor in given]
    lab.greedy(model, *given, BOS, EOS, 11)
    return {
        "the model makes steps": bool(model.steps),
        "steps of a sentence that are made again": max(
            0, sum(step <= 6 for step in model.steps) - 3 * 6
        ),
        "inputs as they were": [torch.equal(*both) for both in zip(given, before, strict=True)],
    }
