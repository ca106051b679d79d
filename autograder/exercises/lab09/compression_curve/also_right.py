"""Other right versions of `compression_curve`; most mistakes are edits of the first."""

from __future__ import annotations

from attnlab.tokenizer import encode

from . import exercise


@exercise.also_right
def with_names(text, merges, sizes):
    n_words = len(text.split())
    n_bytes = len(text.encode("utf-8"))
    result = []
    for size in sizes:
        ids = encode(text, merges[:size])
        per_word = len(ids) / n_words
        per_token = n_bytes / len(ids)
        result.append((per_word, per_token))
    return result


@exercise.also_right
def counts_first(text, merges, sizes):
    counts = {size: len(encode(text, list(merges)[:size])) for size in set(sizes)}
    return [
        [counts[size] / len(text.split()), len(bytes(text, "utf-8")) / counts[size]]
        for size in sizes
    ]
