"""Which checks hold each sentence of the task."""

from __future__ import annotations

from . import exercise

exercise.promises(
    {
        "Self-attention, attention to the encoder's output, then the feed-forward network.": (
            "equal_to_torchs_layer"
        ),
        "Each is inside a residual of its own, in this order.": "equal_to_torchs_layer gradients",
        "The parts have these names: `self_attention` and `cross_attention`, two "
        "`MultiHeadAttention(d_model, num_heads)`; `feed_forward`, a `FeedForward(d_model, d_ff)`; "
        "and `residual1`, `residual2` and `residual3`, three `Residual(d_model)`.": (
            "parts equal_to_torchs_layer"
        ),
        "Other usual names are accepted": "equal_to_torchs_layer",
        "but not a layer that contains torch's `nn.TransformerDecoderLayer`": "parts",
        "d_model: features of a vector, of the encoder's output, too.": "parts other_sizes",
        "num_heads: heads of each attention.": "equal_to_torchs_layer other_sizes",
        "d_ff: features inside the feed-forward network.": "parts other_sizes",
        "dropout: the probability of dropping in training, in all six parts and nowhere else": (
            "dropout"
        ),
        'norm: "pre" or "post", the mode of the residuals.': "equal_to_torchs_layer gradients",
        "the queries come from the target; keys and values come from `memory`": (
            "equal_to_torchs_layer memory_mask other_sizes"
        ),
        "which is used as it is (the encoder has normalised it)": "equal_to_torchs_layer",
        "x: (B, T, d_model), the target; stays unchanged.": "gradients other_sizes",
        "memory: (B, S, d_model), the encoder's output; stays unchanged.": "gradients other_sizes",
        "S may differ from T.": "equal_to_torchs_layer other_sizes",
        "True where a target position may attend to a target position": "target_mask",
        "it broadcasts to (B, h, T, T), such as (T, T).": "any_kind_of_mask",
        "True where a target position may attend to a source position": "memory_mask",
        "it broadcasts to (B, h, T, S), such as (B, 1, 1, S).": "any_kind_of_mask",
        "None: all may attend to all. memory_mask": "any_kind_of_mask equal_to_torchs_layer",
        "(B, T, d_model). Gradients flow back to `x`, `memory` and all parameters.": (
            "parts gradients"
        ),
    },
    explained=["Send a batch of targets through the layer."],
)
