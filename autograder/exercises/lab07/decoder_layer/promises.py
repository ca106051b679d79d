"""Which checks hold each sentence of the task."""

from __future__ import annotations

from . import exercise

exercise.promises(
    {
        "Self-attention, attention to the encoder's output, then the feed-forward network.": (
            "pre_norm post_norm"
        ),
        "Each is inside a residual of its own, in this order.": "pre_norm post_norm gradients",
        "The parts have these names: `self_attention` and `cross_attention`, two "
        "`MultiHeadAttention(d_model, num_heads)`; `feed_forward`, a `FeedForward(d_model, d_ff)`; "
        "and `residual1`, `residual2` and `residual3`, three `Residual(d_model)`.": (
            "parts pre_norm post_norm"
        ),
        "Other usual names are accepted": "pre_norm post_norm",
        "but not a layer that contains torch's `nn.TransformerDecoderLayer`": "parts",
        "d_model: features of a vector, of the encoder's output, too.": "parts other_sizes",
        "num_heads: heads of each attention.": "pre_norm post_norm other_sizes",
        "d_ff: features inside the feed-forward network.": "parts other_sizes",
        "dropout: the probability of dropping in training, in all six parts and nowhere else": (
            "dropout"
        ),
        'norm: "pre" or "post", the mode of the residuals.': "pre_norm post_norm gradients",
        "the queries come from the target; keys and values come from `memory`": (
            "pre_norm post_norm memory_mask other_sizes"
        ),
        "which is used as it is (the encoder has normalised it)": "pre_norm post_norm",
        "x: (B, T, d_model), the target; stays unchanged.": "gradients other_sizes",
        "memory: (B, S, d_model), the encoder's output; stays unchanged.": "gradients other_sizes",
        "S may differ from T.": "pre_norm post_norm other_sizes",
        "True where a target position may attend to a target position": "target_mask",
        "it broadcasts to (B, h, T, T), such as (T, T).": "any_kind_of_mask",
        "True where a target position may attend to a source position": "memory_mask",
        "it broadcasts to (B, h, T, S), such as (B, 1, 1, S). None: all may attend to all.": (
            "any_kind_of_mask pre_norm post_norm"
        ),
        "None: all may attend to all. memory_mask": "any_kind_of_mask pre_norm post_norm",
        "(B, T, d_model). Gradients flow back to `x`, `memory` and all parameters.": (
            "parts gradients"
        ),
    },
    explained=["Send a batch of targets through the layer."],
)
