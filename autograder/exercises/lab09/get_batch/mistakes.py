"""Known mistakes, as edits of `stacked`."""

from __future__ import annotations

from . import exercise
from .also_right import stacked

wrong = exercise.edits(stacked)

STARTS = "starts = torch.randint(0, N - context, (batch,), generator=generator)"
Y = "y = torch.stack([data[i + 1 : i + 1 + context] for i in starts])"
TOO_SHORT = """    if len(data) <= context:
        raise ValueError("the text is too short")
"""

wrong(
    "not_shifted",
    Y,
    "y = x.clone()",
    "Your y is x itself, so the model would learn to repeat its input. Which token follows x[b, t] "
    "in the text?",
)
wrong(
    "shifted_back",
    Y,
    "y = torch.stack([data[(torch.arange(context) + i - 1) % N] for i in starts])",
    "Your y holds the token *before* each one. In which direction does a language model write?",
)
wrong(
    "shifted_by_two",
    Y,
    "y = torch.stack([data[(torch.arange(context) + i + 2) % N] for i in starts])",
    "Your y is two places later than x. How far away is the next token?",
)
wrong(
    "rolled",
    Y,
    "y = x.roll(-1, 1)",
    "You roll each window, so its last label is its own first token. Where in the text is the "
    "token after the last one of a window?",
)
wrong(
    "last_label_lost",
    "    x = torch.stack([data[i : i + context] for i in starts])\n",
    "    x = torch.stack([data[i : i + context] for i in starts])[:, :-1]\n",
    "Your x is one token shorter than the context. From how many tokens can you cut T inputs and T "
    "labels?",
)
wrong(
    "last_window_missing",
    STARTS,
    "starts = torch.randint(0, max(N - context - 1, 1), (batch,), generator=generator)",
    "The last window is never drawn. `torch.randint` leaves its upper end out: which is the "
    "largest start that still has a token after its window?",
)
wrong(
    "one_start_too_many",
    STARTS,
    "starts = torch.randint(0, N - context + 1, (batch,), generator=generator)",
    "One start is past the end: for its last token there is none that follows. How many windows "
    "does a text of context + 1 tokens have?",
)
wrong(
    "first_window_missing",
    STARTS,
    "starts = torch.randint(min(1, N - context - 1), N - context, (batch,), generator=generator)",
    "The text's first window is never drawn. From which number on do starts count?",
)
wrong(
    "windows_of_a_grid",
    STARTS,
    "starts = context * torch.randint(0, 1 + (N - context - 1) // context, (batch,), "
    "generator=generator)",
    "Your windows start only at multiples of the context, so most windows of the text are never "
    "seen. Which starts does the task name?",
)
wrong(
    "always_the_first",
    STARTS,
    "starts = torch.zeros(batch, dtype=torch.long)",
    "You always return the beginning of the text. What is the generator for?",
)
wrong(
    "one_start_for_all",
    STARTS,
    "starts = torch.randint(0, N - context, (1,), generator=generator).expand(batch)",
    "All rows of your batch are the same window. How many random numbers does a batch need?",
)
wrong(
    "each_start_twice",
    STARTS,
    "starts = torch.randint(0, N - context, (batch - batch // 2,), generator=generator)"
    ".repeat(2)[:batch]",
    "The second half of your batch repeats the first one. How many random numbers are there for "
    "how many rows?",
)
wrong(
    "neighbouring_windows",
    STARTS,
    "starts = (torch.randint(0, N - context, (1,), generator=generator) + torch.arange(batch)) % "
    "(N - context)",
    'Your rows follow each other: only the first start is random. What does "independently" ask '
    "for?",
)
wrong(
    "each_window_once",
    STARTS,
    "starts = torch.randperm(N - context, generator=generator).repeat(batch)[:batch]",
    'No window comes twice in your batch. What does "independently" say about that?',
)
wrong(
    "sorted_starts",
    STARTS,
    "starts = torch.randint(0, N - context, (batch,), generator=generator).sort().values",
    "Your rows are in the order of the text. Which order do independent draws have?",
)
wrong(
    "generator_ignored",
    STARTS,
    "starts = torch.randint(0, N - context, (batch,))",
    "Your starts come from torch's own random state, so equal generators give other windows. Which "
    "argument of `torch.randint` is missing?",
)
wrong(
    "reseeded",
    STARTS,
    "starts = torch.randint(0, N - context, (batch,), generator=generator.manual_seed(0))",
    "Every call draws the same windows: you set the generator back. Who chooses its seed?",
)
wrong.several(
    "on_a_ring",
    {
        TOO_SHORT: "    data = data.repeat(context + 1)\n",
        STARTS: STARTS.replace("N - context", "N"),
    },
    "Your text continues at its end with its own beginning. Which token follows the last one?",
)
wrong(
    "no_error",
    TOO_SHORT,
    "",
    "A text without a window ends in torch's own error about its random numbers. Which error does "
    "the task name?",
)
wrong(
    "error_too_early",
    "if len(data) <= context:",
    "if len(data) <= context + 1:",
    "You refuse a text of context + 1 tokens. How many windows does it have?",
)
wrong(
    "dtype_of_the_text",
    "return x.long(), y.long()",
    "return x, y",
    "Your tensors have the dtype of the text. Which one does an embedding ask for?",
)
wrong(
    "labels_as_stored",
    "return x.long(), y.long()",
    "return x.long(), y",
    "Your labels have the dtype of the text. Which one does the task name for both?",
)
wrong(
    "time_first",
    "return x.long(), y.long()",
    "return x.long().T, y.long().T",
    "Your tensors are (T, B). Which axis comes first in this course?",
)
