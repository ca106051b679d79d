"""Other ways to fix it, and ways that do not."""

from __future__ import annotations

from . import case

KEYS = {"padding[:, :, None]": "padding[:, None, :]"}

case.other_fix(
    "nan_is_zero",
    {
        **KEYS,
        "masked_fill(hidden, -1e6).softmax(dim=-1)": (
            "masked_fill(hidden, -torch.inf).softmax(dim=-1).nan_to_num(0.0)"
        ),
    },
)
case.other_fix(
    "weights_of_words",
    {**KEYS, "weights @": "(weights * ~hidden) @"},
)
case.other_fix(
    "transposed_once",
    {
        "padding[:, :, None]": "padding[:, :, None].mT",
        "weights @": "weights.masked_fill(hidden, 0) @",
    },
)
case.other_fix(
    "values_of_words",
    {**KEYS, "self.value(x)": "self.value(x).masked_fill(padding[..., None], 0.0)"},
)

case.wrong_fix(
    "keys_hidden_only",
    KEYS,
    "The mask is right now, and sentences with words are too. But read the docstring once more: "
    "what about a sentence in which *everything* is hidden? Print its weights.",
)
case.wrong_fix(
    "over_the_queries",
    {"softmax(dim=-1)": "softmax(dim=1)"},
    "Your softmax runs along the queries, so what a word reads depends on how many others there "
    "are. Which numbers should add up to 1?",
)
case.wrong_fix(
    "smaller_fill",
    {**KEYS, "-1e6": "-1e30"},
    "The mask is right now, but the fill is still a number. If a row holds nothing else, what does "
    "softmax make of it, however small the number is?",
)
case.wrong_fix(
    "infinite_fill",
    {**KEYS, "-1e6": "-torch.inf"},
    "The mask is right now, and padding gets exactly 0. But a sentence without words has nothing "
    "else in its rows: what does softmax return there?",
)
case.wrong_fix(
    "zeros_instead_of_the_bias",
    {
        **KEYS,
        "self.out(weights @ self.value(x))": (
            "self.out(weights @ self.value(x)).masked_fill(padding[..., None], 0.0)"
        ),
    },
    "Sentences with words are right now, and you return zeros for one without. Which of the two is "
    "0 there according to the docstring, the mixture or the output?",
)
case.wrong_fix(
    "weights_only",
    {"weights @": "weights.masked_fill(padding[:, None, :], 0.0) @"},
    "Padding has the weight 0 now. But it was still there when the weights were computed: what do "
    "the weights of the words add up to?",
)
case.wrong_fix(
    "padding_of_x_is_zero",
    {"self.query(x)": "self.query(x := x.masked_fill(padding[..., None], 0.0))"},
    "The padding holds zeros now, so what a neighbour wrote there no longer matters. But the words "
    "still attend to these positions: does the output depend on how many there are?",
)
case.wrong_fix(
    "words_hidden",
    {"padding[:, :, None]": "~padding[:, None, :]"},
    "The axis is right now, but look at which positions you hide: padding, or words?",
)
case.wrong_fix(
    "padding_first",
    {
        **KEYS,
        "places >= lengths": "places < lengths",
        "weights @": "weights.masked_fill(hidden, 0.0) @",
    },
    "The axis is right now, but look at which positions the line above calls padding.",
)
case.wrong_fix(
    "one_too_many",
    {
        **KEYS,
        "places >= lengths": "places > lengths",
        "weights @": "weights.masked_fill(hidden, 0.0) @",
    },
    "Nearly all padding is hidden now. Which is the first position behind a sentence of 4 words, "
    "counted from 0?",
)
case.wrong_fix(
    "rows_of_zeros",
    {"weights @": "weights.masked_fill(hidden, 0.0) @"},
    "In a sentence that has words *and* padding, the zeros are in the rows of padding. Which "
    "queries are these, and which keys do the words still read?",
)
