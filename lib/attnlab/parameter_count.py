"""How many parameters an encoder–decoder Transformer has.

Tested in tests/attnlab/test_transformer_config.py.
"""

from __future__ import annotations

from attnlab.transformer_config import TransformerConfig


def count_params(cfg: TransformerConfig) -> int:
    """The number of parameters of `Transformer(cfg)`, by a formula: nothing is built.

    A table that is used twice counts once; positions have no parameters.

    Args:
        cfg: all numbers of the model.

    Returns:
        A Python int.

    Source: lectures W, C (65 and 213 million).
    """
    d = cfg.d_model
    norm = 2 * d
    attention = 4 * (d * d + d)
    feed_forward = d * cfg.d_ff + cfg.d_ff + cfg.d_ff * d + d
    encoder = cfg.num_encoder_layers * (attention + feed_forward + 2 * norm)
    decoder = cfg.num_decoder_layers * (2 * attention + feed_forward + 3 * norm)
    after = 2 * norm if cfg.norm == "pre" else 0
    rows = {
        "none": cfg.source_vocab + 2 * cfg.target_vocab,
        "output": cfg.source_vocab + cfg.target_vocab,
        "all": cfg.target_vocab,
    }[cfg.tie]
    return encoder + decoder + after + rows * d
