"""Which checks hold each sentence of the task."""

from __future__ import annotations

from . import exercise

exercise.promises(
    {
        "Decode a batch by taking the likeliest next symbol at every step.": "likeliest_symbols",
        "The first step is fed `bos`, and each later one is fed the symbol that the previous "
        "step chose.": "likeliest_symbols",
        "A sentence ends at its first `eos`.": "ends_apart",
        "Decoding runs until every sentence has ended, or for `max_len` steps.": (
            "no_more_than_max_len"
        ),
        "No gradients are recorded: the model runs under `torch.no_grad()`.": "no_gradients",
        "The source is read once.": "read_once",
        "max_len: the largest number of steps, and so of symbols in a sentence; 1 or more.": (
            "no_more_than_max_len"
        ),
        "B lists of Python ints: the symbols of each sentence, without `bos`, and without its "
        "first `eos` and all symbols after it.": "one_list_for_each_sentence ends_apart",
    },
    explained=[
        "model: with two functions: `model.encode(source, source_mask)` → hidden (B, S, "
        "d_hidden) and state (B, d_state); `model.cell(y_prev, state, hidden, source_mask)` → "
        "logits (B, V), new state, weights.",
        "source: (B, S), int64. source_mask: (B, S), boolean, True where there is a symbol. "
        "bos: the symbol that starts every sentence. eos: the symbol that ends a sentence; it is "
        "not `bos`.",
    ],
)
