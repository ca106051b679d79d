"""PositionalEncoding: a module that adds the waves to a batch of sentences."""

from __future__ import annotations

import math  # noqa: F401 - a mistake uses it
import re

import torch
from torch import nn

from attnlab.checking.judges import Close
from attnlab.checking.observation import dtype_of
from attnlab.positions import PositionalEncoding, sinusoidal_pe
from gradekit.exercise import Exercise

REGISTERED = "self.register_buffer('pe', sinusoidal_pe(max_len, d_model), persistent=False)"

exercise = Exercise(
    PositionalEncoding,
    uses=[sinusoidal_pe],
    equivalent={
        f"PositionalEncoding: `False` → `True` in `{REGISTERED}`": "the task allows both",
        f"PositionalEncoding: `{REGISTERED}` → "
        "`self.register_buffer('pe', sinusoidal_pe(max_len, d_model))` "
        f"in `{REGISTERED}`": "the task allows both",
    },
)


@exercise.check(points=2.5, judge=Close(atol=1e-6))
def each_position_its_row(lab, draw):
    """Each position gets its own row, and every sentence the same rows."""
    model = lab.PositionalEncoding(6, 20).double().eval()
    sizes = ((3, 5), (4, 4), (1, 5), (5, 1))
    return {f"B = {B}, T = {T}": model(draw.normal(B, T, 6)) for B, T in sizes}


@exercise.check(points=1)
def no_parameters(lab, draw):
    """Has nothing to learn; its table follows the model to another dtype and device."""
    model = lab.PositionalEncoding(6, 20)
    x = draw.normal(2, 5, 6)
    return {
        "parameters": sum(p.numel() for p in model.parameters()),
        "dtype": dtype_of(model(x.float())),
        "dtype after .double()": dtype_of(model.double()(x)),
        "dtype after .half()": dtype_of(model.half()(x.half())),
        "device of its buffers after .to('meta')": sorted(
            {buffer.device.type for buffer in model.to("meta").buffers()}
        ),
    }


@exercise.check(points=1, judge=Close(atol=1e-6))
def other_sizes(lab, draw):
    """Is right for one sentence, one position, one or any odd number of features."""

    def ask(B, T, d):
        return lab.PositionalEncoding(d, 12).double().eval()(draw.normal(B, T, d))

    return draw.each_size(ask, B=4, T=5, d=7)


@exercise.check(points=1.5, hidden=True, judge=Close(atol=1e-6))
def dropout(lab, draw):
    """Drops entries of the sum while training, at the given rate, and none otherwise."""
    x = 5 + draw.uniform(8, 50, 6)
    everything = lab.PositionalEncoding(6, 50, dropout=1.0).double()
    model = lab.PositionalEncoding(6, 50, dropout=0.2).double()
    whole, out = model.eval()(x), model.train()(x)
    dropped = out == 0
    return {
        "dropout=1, train()": everything.train()(x),
        "dropout=1, eval()": everything.eval()(x),
        "dropout=0.2: dropped, or kept and scaled": bool(
            (dropped | ((out - whole / 0.8).abs() < 1e-6)).all()
        ),
        "about one of five dropped": 0.15 < float(dropped.double().mean()) < 0.25,
        "no dropout given, train()": lab.PositionalEncoding(6, 50).double().train()(x),
    }


def numbers_in_message(function, *args):
    """The numbers in the message of the error that `function` raises."""
    try:
        function(*args)
    except Exception as error:
        return set(re.findall(r"\d+", str(error)))
    return set()


@exercise.check(points=1, hidden=True)
def too_long(lab, draw):
    """More than max_len positions are a ValueError that says both numbers; max_len are not."""
    seen = {}
    for most, length in ((5, 5), (5, 6), (1, 7), (4, 11)):
        model, x = lab.PositionalEncoding(6, most).double(), draw.normal(2, length, 6)
        seen[f"max_len {most}, T {length}"] = draw.raises(model, x)
        if length > most:
            seen[f"both numbers in the message for max_len {most}, T {length}"] = {
                str(most),
                str(length),
            } <= numbers_in_message(model, x)
    by_default = lab.PositionalEncoding(2).double()
    for length in (5000, 5001):
        seen[f"no max_len given, T {length}"] = draw.raises(by_default, draw.normal(1, length, 2))
    return seen


@exercise.check(points=1, hidden=True)
def gradients(lab, draw):
    """Gradients flow back to the word vectors, and these stay unchanged."""
    model = lab.PositionalEncoding(6, 9).double().eval()
    x = draw.normal(3, 5, 6)
    model(x)
    return {
        "gradient": draw.gradients(model, x),
        "x as it was": draw.untouched(),
        "two calls give the same": torch.equal(model(x), model(x)),
    }


exercise.promises(
    {
        "Add the sinusoidal encoding of its position to each word vector": "each_position_its_row",
        "then apply dropout": "dropout",
        "The encoding is `sinusoidal_pe(max_len, d_model)`.": "each_position_its_row",
        "It is stored in a buffer, so it is not a parameter, but `.to(…)` takes it to another": (
            "no_parameters"
        ),
        "d_model: features of a word vector.": "other_sizes",
        "max_len: the largest number of positions.": "too_long",
        "the probability that an entry of the sum is dropped in training": "dropout",
        "Add row t of the encoding to the vector at position t of every sentence.": (
            "each_position_its_row other_sizes"
        ),
        "which are added to as they are, without a factor": "each_position_its_row",
        "stays unchanged": "gradients",
        "in the dtype of `x` if the module has that dtype": "no_parameters",
        "Gradients flow back to `x`.": "gradients",
        "ValueError: T is more than max_len; the message has both numbers.": "too_long",
    },
    explained=["(It may or may not be in the `state_dict`.)"],
)


@exercise.also_right
class TableInABuffer(nn.Module):
    def __init__(self, d_model, max_len=5000, dropout=0.0):
        super().__init__()
        self.max_len = max_len
        self.dropout = nn.Dropout(p=dropout)
        self.register_buffer("pe", sinusoidal_pe(max_len, d_model)[None])

    def forward(self, x):
        length = x.size(1)
        if length > self.max_len:
            raise ValueError(f"{length} positions, but only {self.max_len} encodings")
        return self.dropout(x + self.pe[:, :length])


@exercise.also_right
class PickedByIndex(nn.Module):
    def __init__(self, d_model, max_len=5000, dropout=0.0):
        super().__init__()
        self.p = dropout
        self.register_buffer("table", sinusoidal_pe(max_len, d_model))

    def forward(self, x):
        positions = torch.arange(x.shape[1], device=x.device)
        if len(positions) > len(self.table):
            raise ValueError(f"max_len={len(self.table)}, given {len(positions)}")
        added = x + self.table[positions].expand_as(x)
        return nn.functional.dropout(added, self.p, self.training)


@exercise.also_right
class FrozenEmbedding(nn.Module):
    def __init__(self, d_model, max_len=5000, dropout=0.0):
        super().__init__()
        self.register_buffer("pe", sinusoidal_pe(max_len, d_model), persistent=True)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        B, T, _ = x.shape
        if self.pe.shape[0] < T:
            raise ValueError(f"T={T} is more than max_len={self.pe.shape[0]}")
        rows = torch.stack([self.pe[:T]] * B) if B else x
        return self.drop(torch.add(x, rows))


wrong = exercise.edits(TableInABuffer)

wrong(
    "a_parameter",
    'self.register_buffer("pe", sinusoidal_pe(max_len, d_model)[None])',
    "self.pe = nn.Parameter(sinusoidal_pe(max_len, d_model)[None])",
    "Your table is a parameter, and parameters are what a model learns (`requires_grad=False` only "
    "freezes one). What does a module call a tensor that belongs to it and is not learned?",
)
wrong(
    "a_plain_attribute",
    'self.register_buffer("pe", sinusoidal_pe(max_len, d_model)[None])',
    "self.pe = sinusoidal_pe(max_len, d_model)[None]",
    "Your table stays behind when the model is moved to another dtype or device: it is a plain "
    "attribute. How does a module learn that a tensor belongs to it?",
)
wrong.several(
    "a_plain_attribute_moved_each_time",
    {
        'self.register_buffer("pe", sinusoidal_pe(max_len, d_model)[None])': (
            "self.pe = sinusoidal_pe(max_len, d_model)[None]"
        ),
        "self.pe[:, :length]": "self.pe[:, :length].to(x)",
    },
    "Your table is a plain attribute that every call moves and converts again. What does a module "
    "call a tensor that follows it by itself?",
)
wrong.several(
    "sliced_by_the_batch",
    {
        "self.pe[:, :length]": "self.pe[0, : x.size(0), None]",
        "length = x.size(1)": "length = x.size(0)",
    },
    "You take as many rows as there are sentences: every sentence gets one row for all of its "
    "positions. Code for batches of shape (T, B, d) does this. Which axis is time here?",
)
wrong(
    "rows_by_the_batch",
    "self.pe[:, :length]",
    "self.pe[:, : x.size(0)]",
    "You take as many rows as there are sentences in the batch. With one sentence, all positions "
    "get row 0. Which axis is time?",
)
wrong(
    "embeddings_scaled",
    "x + self.pe",
    "x * math.sqrt(x.size(-1)) + self.pe",
    "You multiply the word vectors by √d_model before adding. Whose task is that, according to the "
    "docstring?",
)
wrong(
    "concatenated",
    "x + self.pe[:, :length]",
    "torch.cat([x, self.pe[:, :length].expand_as(x)], -1)",
    "Your result has twice as many features: the encoding stands next to the word vector. What "
    "does lecture W do with the two?",
)
wrong(
    "only_the_encoding",
    "x + self.pe[:, :length]",
    "self.pe[:, :length].expand_as(x)",
    "You return the encoding alone, without the words. What should it be added to?",
)
wrong(
    "added_in_place",
    "self.dropout(x + self.pe[:, :length])",
    "self.dropout(x.add_(self.pe[:, :length]) if not x.requires_grad else x + self.pe[:, :length])",
    "Your code adds into the word vectors that it was given (`+=`, `add_`), so the caller's tensor "
    "changes. What does the same and makes a new tensor?",
)
wrong(
    "any_length_accepted",
    'raise ValueError(f"{length} positions, but only {self.max_len} encodings")',
    "return self.dropout(x + self.pe[:, torch.arange(length) % self.max_len])",
    "Sentences of more than max_len words go through without an error. Which rows would their last "
    "words get, and what does the task want instead?",
)
wrong(
    "no_error",
    "if length > self.max_len:",
    "if False:",
    "More positions than rows are not refused with a ValueError. What happens with a table of one "
    "row, which fits any length?",
)
wrong(
    "one_position_too_few",
    "if length > self.max_len:",
    "if length >= self.max_len:",
    "A sentence of exactly max_len words is refused. How many rows does the table have?",
)
wrong(
    "another_error",
    'raise ValueError(f"{length} positions',
    'raise IndexError(f"{length} positions',
    "Too many positions raise an error, but of another type than the task asks for. Which?",
)
wrong(
    "asserted",
    'raise ValueError(f"{length} positions, but only {self.max_len} encodings")',
    'raise AssertionError(f"{length} positions, but only {self.max_len} encodings")',
    "Too many positions raise an AssertionError in your code. Which error does the task ask for? "
    "(`assert` is for what cannot happen; a sentence can be too long.)",
)
for name, most in (("shorter_by_default", 512), ("longer_by_default", 10000)):
    wrong(
        name,
        "max_len=5000",
        f"max_len={most}",
        "If `max_len` is not given, your table has another number of rows than the task says. What "
        "is the default?",
    )
wrong(
    "one_number_in_the_message",
    'f"{length} positions, but only {self.max_len} encodings"',
    'f"{length} positions are too many"',
    "Your error's message lacks one of the two numbers. What would you need to read to correct the "
    "call?",
)
wrong(
    "words_dropped",
    "self.dropout(x + self.pe[:, :length])",
    "self.dropout(x) + self.pe[:, :length]",
    "You drop entries of the words before adding, so the encoding is never dropped. To what does "
    "dropout apply, according to the task?",
)
wrong(
    "encoding_dropped",
    "self.dropout(x + self.pe[:, :length])",
    "x + self.dropout(self.pe[:, :length].expand_as(x))",
    "You drop entries of the encoding only. To what does dropout apply, according to the task?",
)
wrong(
    "drops_by_default",
    "dropout=0.0",
    "dropout=0.1",
    "Your module drops a tenth by default. What is the default of `dropout` in the task?",
)
wrong(
    "no_dropout",
    "self.dropout(x + self.pe[:, :length])",
    "x + self.pe[:, :length]",
    "Nothing is dropped while training. Where do you use the argument `dropout`?",
)
wrong(
    "dropout_after_eval",
    "self.dropout(x + self.pe[:, :length])",
    "nn.functional.dropout(x + self.pe[:, :length], self.dropout.p)",
    "Entries are dropped even after `eval()`. The function `dropout` does not know the module's "
    "mode: what does?",
)
wrong(
    "detached",
    "self.dropout(x + ",
    "self.dropout(x.detach() + ",
    "No gradient reaches the word vectors. Which call cuts torch's graph?",
)
wrong.several(
    "from_one",
    {"(max_len, d_model)": "(max_len + 1, d_model)", "[:, :length]": "[:, 1 : length + 1]"},
    "The first position gets row 1 of the encoding. From which number are positions counted?",
)
wrong(
    "n_and_d_exchanged",
    "sinusoidal_pe(max_len, d_model)[None]",
    "sinusoidal_pe(d_model, max_len).T[None]",
    "Your table was made for `d_model` positions and `max_len` columns and then turned over. Which "
    "argument of `sinusoidal_pe` is the number of positions?",
)
wrong(
    "multiplied",
    "x + self.pe[:, :length]",
    "x * self.pe[:, :length]",
    "You multiply the word vectors by the encoding. What does lecture W do with the two?",
)
wrong(
    "normalised",
    "self.dropout(x + self.pe[:, :length])",
    "self.dropout(nn.functional.layer_norm(x + self.pe[:, :length], x.shape[-1:]))",
    "Your result is normalised, as BERT does it with its embeddings. What does this task do with "
    "the sum?",
)
wrong(
    "from_the_end",
    "self.pe[:, :length]",
    "self.pe[:, -length:]",
    "You add the last rows of the table. Which rows belong to positions 0 to T - 1?",
)
