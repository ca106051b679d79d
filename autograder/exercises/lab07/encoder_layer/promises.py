"""Which checks hold each sentence of the task."""

from __future__ import annotations

from . import exercise

exercise.promises(
    {
        "Self-attention, then the feed-forward network, each inside a residual of its own.": (
            "pre_norm post_norm gradients_equal_to_torchs"
        ),
        "The parts have these names: `self_attention`, a `MultiHeadAttention(d_model, num_heads)`; "
        "`feed_forward`, a `FeedForward(d_model, d_ff)`; and `residual1` and `residual2`, a "
        "`Residual(d_model)` around the first and around the second.": ("parts pre_norm post_norm"),
        "Other usual names are accepted": "pre_norm post_norm",
        "but not a layer that contains torch's `nn.TransformerEncoderLayer`": "parts",
        "d_model: features of a vector.": "parts other_sizes",
        "num_heads: heads of the attention.": "pre_norm post_norm other_sizes",
        "d_ff: features inside the feed-forward network.": "parts other_sizes",
        "dropout: the probability of dropping in training, in all four parts and nowhere else": (
            "dropout"
        ),
        'norm: "pre" or "post", the mode of both residuals.': "pre_norm post_norm x_unchanged",
        "x: (B, S, d_model); stays unchanged.": "x_unchanged other_sizes",
        "boolean, True where a position may attend to another": "padding pre_norm post_norm",
        "it broadcasts to (B, h, S, S), such as (B, 1, 1, S)": "any_kind_of_mask",
        "None: all may attend to all.": "any_kind_of_mask pre_norm post_norm",
        "(B, S, d_model). Gradients flow back to `x` and to all parameters.": (
            "parts gradients_equal_to_torchs x_unchanged"
        ),
    },
    explained=["Send a batch through the layer."],
)
