"""Which check holds each sentence of the two tasks."""

from . import exercise

exercise.promises(
    {
        "The pairs of an output of a model and a later token on which it depends.": (
            "who_looks_ahead"
        ),
        "output i must not change for any i < j.": "who_looks_ahead",
        "Try every other token, because a model may react to one token in particular.": (
            "one_token_in_particular"
        ),
        "fn: a model: takes (B, T) token ids, int64, below `vocab`, for any B; returns (B, T, k)": (
            "who_looks_ahead"
        ),
        "Run it in the mode (training or evaluation) that it is in.": "as_in_training",
        "It may draw random numbers, as dropout does, from torch's own generator": (
            "same_random_numbers"
        ),
        "T: the number of positions.": "who_looks_ahead answers_without_a_number",
        "vocab: the number of tokens. The pairs (i, j)": "one_token_in_particular",
        "counted from 0 and sorted": "a_sorted_list_of_pairs",
        "by more than ROUNDING = 1e-9 (rounding errors are smaller)": "faint_leaks fainter_leaks",
        "an output that is NaN counts as changed": "answers_without_a_number",
        "a leak may need certain tokens at other positions": "after_one_word certain_words",
        "An empty list means that": "a_sorted_list_of_pairs",
        "Whether a model gives real tokens the same outputs, however much padding is around": (
            "who_looks_at_padding where_padding_matters"
        ),
        "Batches for training are padded at the end, batches for generation at the front, so both "
        "are tried.": "where_padding_matters",
        "fn: a model: takes (B, L) token ids": "who_looks_at_padding",
        "T: the number of real tokens in a sequence.": "who_looks_at_padding",
        "vocab: the number of tokens, the padding token included (3 or more).": (
            "who_looks_at_padding"
        ),
        "pad: the padding token, one of 0 … vocab-1.": "how_padding_matters",
        "It does not occur among the real tokens.": "real_tokens_alone",
        "True if the outputs of T real tokens alone and of the same tokens with one to three": (
            "where_padding_matters how_padding_matters"
        ),
        "False if an output of a real token is NaN.": "answers_without_a_number",
        "The model's outputs at padding do not matter.": "real_tokens_alone",
    },
    explained=[
        "(In training mode, batch normalisation updates its running statistics in each run.)",
        "It draws no random numbers.",
    ],
)
