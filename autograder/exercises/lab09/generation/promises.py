"""Which checks hold each sentence of the task."""

from __future__ import annotations

from . import exercise

exercise.promises(
    {
        "The positions of the newest tokens, and the tokens that each of them may attend to.": (
            "positions_and_masks"
        ),
        "positions count the valid tokens alone, from 0, and no token attends to filling.": (
            "positions_and_masks filled_up_on_the_left"
        ),
        "No token attends to a later one, either.": "in_larger_parts positions_and_masks",
        "False where a text is filled up. It stays unchanged.": "filled_up_on_the_left",
        "how many of the tokens are new, from 1 to L": "in_larger_parts positions_and_masks",
        "The positions of the new tokens, (B, T), int64, and 0 for filling; and the mask, (B, 1, "
        "T, L), boolean, True where a new token may attend to a token.": "positions_and_masks",
        "Attend from new vectors to all vectors so far, whose keys and values were kept.": (
            "token_by_token in_larger_parts"
        ),
        "Only the new vectors are projected.": "only_new_vectors",
        "Their keys and values follow those of `past`, which stays as it is": (
            "only_new_vectors continued_twice"
        ),
        "(B, T, d_model), the new vectors; stays unchanged.": "only_new_vectors",
        "None if there are none.": "token_by_token",
        "True where a new vector may attend to a vector": "only_new_vectors",
        "A query that may attend to no key finds zeros.": "only_new_vectors",
        "The output, (B, T, d_model); and the keys and the values of all vectors, each (B, h, L, "
        "d_k).": "only_new_vectors",
        "the first call reads them, and each later call one token.": "one_token_a_call",
        "The model runs in evaluation mode and without gradients; afterwards it is in the mode in "
        "which it came.": "edges",
        "short rows are filled up on the left": "filled_prompts",
        "It stays unchanged. max_new": "filled_prompts",
        "how many tokens are written for each row; may be 0": "one_token_a_call edges",
        "False where `prompt` is filled up; None if nowhere": "filled_prompts one_token_a_call",
        "a row that has written it writes only `eos` from then on": "ends_of_texts",
        "None: there is no such token.": "ends_of_texts",
        "for `sample`: temperature, top_k, top_p, generator": "drawn_tokens",
        "(B, max_new_tokens), int64: the new tokens, without the prompt.": "one_token_a_call edges",
        "prompt and new tokens together are more than `model.cfg.context`": "edges",
    },
    explained=[
        "The texts of a batch have different lengths, so short ones are filled up on the left.",
        "multi-head attention as in lab 4, with four layers from d_model to d_model features",
        "Only these are used.",
        "called as ``logits, state = model(ids, state, valid=valid)``.",
        "It returns logits (B, T, V) for the token after each of `ids`, (B, T), and a state",
        "`valid` is about `ids` alone; None: all are valid.",
        "With ``last_only=True`` it computes the last token's logits only, (B, 1, V).",
        "``model.cfg.context`` is the most tokens that it reads.",
    ],
)
