"""Which checks hold each sentence of the task."""

from __future__ import annotations

from . import exercise

exercise.promises(
    {
        "An encoder that reads the source once, and a decoder that writes the target from it.": (
            "given_weights last_encoder_layer"
        ),
        "The parts have these names: `source_embedding` and `target_embedding` (`nn.Embedding`); "
        "`position`, a `PositionalEncoding` for both sides; `encoder` and `decoder`, an "
        "`nn.ModuleList` of `EncoderLayer`s and one of `DecoderLayer`s; `encoder_norm` and "
        "`decoder_norm`": "given_weights layers_of_their_own",
        'a `LayerNorm` after each stack if cfg.norm is "pre", else `nn.Identity()`': "both_norms",
        "and `head`, an `nn.Linear` from d_model to target_vocab, without a bias.": (
            "given_weights both_norms"
        ),
        "- Layers and positions take their sizes, `dropout`, `norm` and `max_len` from cfg.": (
            "other_sizes dropout both_norms layers_of_their_own"
        ),
        "- A vector of an embedding is multiplied by √d_model before its position is added. (The "
        "logits are not scaled.)": "given_weights",
        "- Each layer has parameters of its own, drawn independently.": "layers_of_their_own",
        "No row of a table is fixed at 0.": "tables",
        '- With cfg.tie "output", `head.weight` and `target_embedding.weight` are one parameter; '
        'with "all", `source_embedding.weight` is this parameter, too; with "none", they are '
        "three.": "tables given_weights",
        "source: (B, S), int64; stays unchanged.": "gradients",
        "boolean, True where there is a symbol; no position attends to the others.": (
            "what_is_seen given_weights"
        ),
        "(B, S, d_model), the memory that every layer of the decoder looks at: the output of the "
        "last encoder layer, after `encoder_norm`.": "last_encoder_layer given_weights shapes",
        "Gradients flow back to all parameters on the way.": "gradients",
        "Say for each target position which symbol comes next.": "given_weights",
        "No position sees a later symbol of the target, and none looks at a source position "
        "without a symbol.": "what_is_seen",
        "target: (B, T), int64, the symbols so far; stays unchanged.": "gradients",
        "(B, T, target_vocab), logits: numbers before softmax.": "shapes given_weights",
        "Gradients flow back to `memory` and to all parameters on the way.": "gradients",
        "Encode, then decode; returns the logits, (B, T, target_vocab).": (
            "given_weights last_encoder_layer"
        ),
    },
    explained=[
        "cfg: all numbers of the model.",
        "Read the source.",
        "(Positions after the end of a row hold any symbol; what they return is not used.)",
        "memory: (B, S, d_model), from `encode`.",
        "source_valid: (B, S), boolean, as for `encode`.",
    ],
)
