"""Which checks hold each sentence of the task."""

from __future__ import annotations

from . import exercise

exercise.promises(
    {
        "Make one table of sequences of unequal length, padded with `pad` on the right.": "ids",
        "One may be empty": "an_empty_sequence",
        ", and one may contain the id `pad` itself as a token.": "pad_as_a_token",
        "They stay unchanged.": "lists_kept",
        "(B, T), the ids, int64, where T is the length of the longest sequence;": (
            "shapes_and_types whole_numbers length_of_the_batch"
        ),
        "(B,), the lengths without padding, int64;": "shapes_and_types lengths_and_mask",
        "(B, T), the mask, boolean: True where there is a token, False where there is padding.": (
            "shapes_and_types lengths_and_mask pad_as_a_token"
        ),
    },
    explained=["B lists of token ids, not all of them empty.", "pad: the id for padding."],
)
