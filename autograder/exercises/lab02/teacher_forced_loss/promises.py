"""Which checks hold each sentence of the task."""

from __future__ import annotations

from . import exercise

exercise.promises(
    {
        "How surprised the model is by each token of the right answer, given the right ones "
        "before.": "equal_lengths unequal_lengths",
        "The source is read once, for the whole batch; then the decoder runs step by step. Its "
        "input is always the true token of the previous step, never its own prediction.": (
            "one_number what_is_fed"
        ),
        "The first step is fed BOS and must predict the first symbol; a later step is fed a "
        "symbol and must predict the next one; after the last symbol it must predict EOS.": (
            "what_is_fed each_symbol_counts"
        ),
        "Its mode, training or evaluation, stays unchanged.": "one_number",
        "The mean over all predictions of the batch, EOS included, of -log p(right token), in "
        "nats": "equal_lengths unequal_lengths each_symbol_counts",
        "; a tensor without dimensions, in the dtype of the logits.": "one_number",
        "A prediction whose target is PAD counts neither in the sum nor in the number of "
        "predictions.": "unequal_lengths",
        "Gradients flow back through all steps; `batch` stays unchanged.": "gradients",
    },
    explained=[
        "(PAD is 0 and is not a symbol.)",
        "model: with two functions: `model.encode(source, source_mask)` → hidden (B, S, "
        "d_hidden) and state (B, d_state); `model.cell(y_prev, state, hidden, source_mask)` → "
        "logits (B, V), new state, weights.",
        "batch: source (B, S), source_mask (B, S), target (B, T), target_mask (B, T). A row of "
        "`target` is BOS, the symbols, EOS, and PAD up to the length of the longest.",
    ],
)
