"""The promises of the two tasks of 8.3."""

from __future__ import annotations

from . import exercise

exercise.promises(
    {
        "a distribution over V symbols in which the right one has not quite all.": "shares",
        '"deck": 1 - eps and eps / (V - 1) (lecture C) "torch": 1 - eps + eps / V and eps / V': (
            "shares one_prediction other_sizes"
        ),
        "the symbol `pad` is not one of the others and gets 0": "shares padding_in_targets",
        "N may be 0.": "other_sizes",
        "They stay unchanged.": "padding_in_targets",
        "how much is taken from the right symbol, 0 up to 1. style: the convention. pad": (
            "other_sizes"
        ),
        "Rows of targets that are `pad` are 0 throughout, in every style.": (
            "shares padding_in_targets"
        ),
        'None: there is none, and "pad" is not possible.': "padding_in_targets impossible",
        "(N, V), in torch's default dtype.": "shape_and_dtype",
        "Each row sums to 1, but for those of padding.": "shares",
        '`style` is another word, or "pad" without a `pad`; or there are no other symbols: V is 1, '
        'or V is 2 in the style "pad".': "impossible",
        "The mean cross-entropy -Σ q log p of the smoothed targets q and p = softmax(logits).": (
            "one_prediction"
        ),
        "(N, V), finite, of any size; float32 or float64.": (
            "large_logits_and_gradients shape_and_dtype"
        ),
        "how much is taken from the right symbol, 0 up to 1. style: the convention, as for": (
            "other_sizes"
        ),
        "targets that are `pad` do not count, either in the sum or in the number that it is "
        "divided by.": "padding_does_not_count",
        "None: all targets count.": "other_sizes",
        "A tensor without dimensions, in the dtype of `logits`: 0 if no target counts.": (
            "shape_and_dtype large_logits_and_gradients padding_does_not_count other_sizes"
        ),
        "It is a cross-entropy, so its least value is the entropy of the targets and not 0.": (
            "floor"
        ),
        "Gradients flow back to `logits`.": "large_logits_and_gradients",
        "ValueError: as for `smooth_targets`.": "impossible",
    },
    explained=[
        "The right symbol and each of the others get:",
        "V: the number of symbols.",
        "y: (N,), int64, the right symbols. eps",
    ],
)
