"""Which checks hold each sentence of the task."""

from __future__ import annotations

from . import exercise

exercise.promises(
    {
        "Each sentence that has one after it in its document is the first of one pair.": (
            "every_first labels"
        ),
        "In half of the pairs, chosen at random, the second sentence is the one after it, and the "
        "label is 1.": "labels order",
        "it is a random sentence of another document, and the label is 0": "labels",
        "any sentence of any other document can be drawn.": "any_stranger",
        "The two halves differ by 1 pair at most.": "labels edges",
        "A pair is written as [CLS] first [SEP] second [SEP].": "rows",
        "Pairs are in random order.": "order",
        "each int64 (its length,), 1 or longer.": "edges every_first",
        "They stay unchanged.": "edges",
        "the only source of randomness.": "order",
        "The ids (N, T), padded on the right with [PAD] to the longest pair; the segments (N, T), "
        "1 for the second sentence and its [SEP], and 0 everywhere else; and the labels, (N,); all "
        "int64.": "rows",
        "`attnlab.data.topics` has the numbers PAD, CLS and SEP.": "rows",
        "ValueError: no document has two sentences, or no other document has one.": "edges",
    },
    explained=[
        "Pairs of sentences, for a model that says whether the second one follows the first.",
    ],
)
