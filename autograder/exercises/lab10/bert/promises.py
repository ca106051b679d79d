"""Which checks hold each sentence of the tasks."""

from __future__ import annotations

from . import exercise

LAYER = "layer_equals_torchs epsilon"

exercise.promises(
    {
        "First x ← norm1(x + attention of x), then x ← norm2(x + linear2(GELU(linear1(x)))).": (
            LAYER
        ),
        "`norm1` and `norm2`, an `nn.LayerNorm` each, with cfg.norm_eps.": "epsilon",
        "The GELU is the exact one, x · Φ(x), not its approximation by tanh.": LAYER,
        "Other usual names are accepted, but not torch's `nn.TransformerEncoderLayer`.": "parts",
        "In training, cfg.dropout drops attention weights and what each of the two sums adds to x, "
        "and nothing else; with `eval()` nothing is dropped.": "dropout",
        "it stays unchanged.": "layer_equals_torchs",
        "boolean, True where there is a token; None: everywhere.": LAYER,
        "A tensor of the same shape.": "layer_equals_torchs",
        "(B, T, d_model).": "given_weights",
        "Logits for hidden tokens: linear, GELU, normalisation, then the token table and a bias.": (
            "head"
        ),
        "`norm`, an `nn.LayerNorm` with cfg.norm_eps; and `output`, an `nn.Linear` from d_model to "
        "V whose weight *is* `table`, one parameter for both, and whose bias is its own.": (
            "head epsilon"
        ),
        "The GELU is the exact one.": "head",
        "Turn (B, T, d_model) into logits, (B, T, V).": "head",
        "three `nn.Embedding` with vocab_size, max_len and num_segments rows": (
            "parts given_weights other_sizes"
        ),
        "an `nn.ModuleList` of cfg.num_layers `BertLayer`s": "parts given_weights",
        "an `MLMHead` that shares the weight of `tokens`": "one_table",
        "Every layer has parameters of its own.": "parts",
        "The tokens' vectors after the last layer, without the heads.": "given_weights",
        "Each token's three vectors (token, position from 0 on, segment) are added up, normalised, "
        "and dropped with cfg.dropout in training.": "given_weights segments dropout",
        "Then come the layers, in which no token attends to one that is not valid.": (
            "both_directions given_weights"
        ),
        "which sentence each token belongs to; None: all are 0.": "segments",
        "False where a row is padded; None: no row is.": "given_weights segments",
        "ValueError: T is above `cfg.max_len`.": "other_sizes",
        "A vector for each row: the pooler and tanh on its first token's vector.": (
            "given_weights dropout"
        ),
        "(B, d_model).": "given_weights",
        "What `encode` returns, and the logits of both heads.": "given_weights",
        "A `BertOutput`.": "parts given_weights",
        "The second head reads what `pooled` returns.": "given_weights",
    },
    explained=[
        "Self-attention and a feed-forward network, each added to its input and then normalised.",
        "cfg: gives the sizes, the dropout and the epsilon.",
        "cfg: gives the sizes and the epsilon.",
        "cfg: all numbers of the model.",
        "Send vectors through the layer.",
        "the weight of the token embedding.",
        "Token, position and segment tables, a normalisation, layers, and two heads for "
        "pretraining.",
        "the first token of each row is [CLS].",
        "what `encode` returned.",
        "ids: (B, T), int64, as for `encode`.",
        "segments: (B, T), int64, or None.",
        "valid: (B, T), boolean, or None.",
    ],
)
