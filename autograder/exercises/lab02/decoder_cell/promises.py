"""Which checks hold each sentence of the task."""

from __future__ import annotations

from . import exercise

exercise.promises(
    {
        "One step of the decoder: attend to the source, read the last token, score the next "
        "one.": "one_step",
        "The alignment of step t uses the state *before* it: c_t is the context for the scores "
        "of s_{t-1} against the hidden vectors.": "one_step what_looks_back",
        "Then s_t = GRU(s_{t-1}, [y_{t-1}; c_t]), with the token's embedding before the "
        "context.": "one_step",
        "The logits are a linear layer on s_t alone.": "one_step",
        "mask: (B, T), boolean, True where there is a source token. None: every position "
        "counts.": "one_step padding",
        "(B, V), the logits of the next token; (B, d_state), the new state; (B, T), the "
        "attention weights of this step.": "shapes one_step other_sizes",
        "Gradients flow to the state of the previous step.": "gradients",
    },
    explained=[
        "vocab: number V of the target's symbols. d_embed: width of a token's embedding. "
        "d_state: width of the state. d_hidden: width of the encoder's vectors. d_score: width "
        "of the layer inside the additive score.",
        "One step for every sentence of the batch.",
        "y_prev: (B,), int64, the token of the previous step (BOS in the first step). state: "
        "(B, d_state), the state of the previous step. hidden: (B, T, d_hidden), the encoder's "
        "vectors.",
    ],
)
