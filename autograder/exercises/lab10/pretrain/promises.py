"""Which checks hold each sentence of the task."""

from __future__ import annotations

from . import exercise

exercise.promises(
    {
        "Make the batches of one epoch: new pairs (`make_nsp`), in which new words are hidden.": (
            "pairs_of_an_epoch new_in_every_epoch"
        ),
        "`mask_tokens` hides words with its usual p.": "hidden_words",
        "The vocabulary is that of `attnlab.data.topics`, and so are its special tokens": (
            "hidden_words"
        ),
        "size: rows of each batch; the last batch may have fewer.": (
            "pairs_of_an_epoch hidden_words"
        ),
        "generator: the only source of randomness. The next call with it makes other batches.": (
            "new_in_every_epoch"
        ),
        "Each pair that `make_nsp` has made is in one of them, as one row.": "pairs_of_an_epoch",
        "The model is called once. Its mode, training or evaluation, stays unchanged.": "one_call",
        "model: called as ``model(batch.ids, batch.segments, batch.valid)``": (
            "chosen_tokens_only gradients_and_sizes"
        ),
        'in which column 1 is for "it follows".': "chosen_tokens_only",
        "A `PretrainingLoss`.": "chosen_tokens_only one_call",
        "`mlm` is the mean of -log p(label) over all tokens of the batch whose label is not -100, "
        "or 0 if there is none; `nsp` is the mean of -log p(`follows`) over all pairs.": (
            "chosen_tokens_only gradients_and_sizes"
        ),
        "Both are in nats, and gradients flow back.": "chosen_tokens_only gradients_and_sizes",
        "The model is in evaluation mode while it reads, and afterwards in the mode in which it "
        "was before.": "masked_places_only several_batches_and_modes",
        "No gradients are computed.": "several_batches_and_modes",
        "called once for each batch.": "several_batches_and_modes",
        "batches: at least one; they may have different numbers of rows.": (
            "masked_places_only several_batches_and_modes"
        ),
        "the mean of -log p(label) over all places of all batches at which the model reads "
        "[MASK]; a chosen token that it can see does not count.": (
            "masked_places_only several_batches_and_modes"
        ),
        "the share of all pairs for which the larger of the two logits is that of `follows`.": (
            "masked_places_only several_batches_and_modes"
        ),
        "Both are Python floats.": "several_batches_and_modes",
    },
    explained=[
        "`SPECIAL_IDS`.",
        "documents: as for `make_nsp`.",
        "The batches.",
        "The surprise at the chosen tokens, and at whether the second sentence follows.",
        "returns `mlm_logits`, (B, T, V), and `nsp_logits`, (B, 2),",
        "batch: a `PretrainingBatch`.",
        "Measure a model on batches that it was not trained on.",
        "model: as for `pretraining_loss`;",
    ],
)
