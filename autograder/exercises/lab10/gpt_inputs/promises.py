"""Which check holds each sentence of the seven tasks."""

from . import exercise

exercise.promises(
    {
        "The row is the mark `start`, the first text, the mark `delimiter`, the second text, and "
        "the mark `extract`.": "marks_in_their_places",
        "none is needed, and the list stays unchanged": "marks_in_their_places",
        "marks: the three tokens.": "marks_in_their_places",
        "in both orders: first-second, then second-first.": "both_orders",
        "Two rows.": "both_orders",
        "marks: for both rows, each of which is as `join_texts` writes it.": "both_orders",
        "marks: for all rows, each of which is as `join_texts` writes it.": "a_row_for_each_choice",
        "Write a row for each choice": "a_row_for_each_choice",
        "Every row begins with it.": "a_row_for_each_choice",
        "One row for each choice, in their order.": "a_row_for_each_choice",
        "short rows are filled up on the right": "filled_up_on_the_right",
        "they stay unchanged, and their tokens may be equal to `pad`": "filled_up_on_the_right",
        "pad: the token that fills up.": "filled_up_on_the_right",
        "The ids, (B, T), int64, with the length of the longest row as T; and which of them belong "
        "to a row, (B, T), boolean: False exactly where a row was filled up.": (
            "filled_up_on_the_right"
        ),
        "Take each row's vector at its last valid place.": "last_valid_place",
        "False where a row was filled up: on the right, on the left, or anywhere else.": (
            "last_valid_place other_sizes"
        ),
        "of each row the vector at the largest index where `valid` is True": (
            "last_valid_place other_sizes"
        ),
        "in the dtype of `hidden`": "gradients_and_dtype",
        "Gradients flow back to these vectors.": "gradients_and_dtype",
        "ValueError: a row has no valid place.": "no_valid_place",
        "Score a pair of texts that was read in both orders, so that the order does not matter.": (
            "sum_of_two"
        ),
        "The two vectors are added, and the sum goes through the new layer.": (
            "sum_of_two other_sizes"
        ),
        "of each pair the last vector in each order": "sum_of_two",
        "(B, C), the logits. Gradients flow back to `vectors`.": "sum_of_two gradients_and_dtype",
        "one score for each row, softmax over the choices of a question": "softmax_over_choices",
        "of each question the last vectors of its N rows": "softmax_over_choices other_sizes",
        "(B, N), the probabilities; those of a question sum to 1.": "softmax_over_choices",
        "Gradients flow back to all rows.": "gradients_and_dtype",
    },
    explained=[
        "Write two texts as one row, such as a premise and a hypothesis.",
        "first: tokens.",
        "second: tokens.",
        "second: tokens, as for the first text.",
        "context: tokens: the text and the question.",
        "choices: the tokens of each choice.",
        "(GPT has no token of its own for filling up, so people take one that also occurs in "
        "texts.)",
        "hidden: (B, T, d), the vectors of all tokens.",
        "head: the new layer, from (B, d) to (B, C).",
        "head: the new layer, from (..., d) to (..., 1).",
    ],
)
