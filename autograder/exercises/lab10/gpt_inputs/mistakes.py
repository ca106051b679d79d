"""Known mistakes in the seven functions: edits of right versions."""

from __future__ import annotations

from attnlab.gpt_inputs import choice_rows, join_texts, similarity_rows

from . import exercise
from .also_right import (
    largest_index,
    row_by_row,
    softmax_then_squeezed,
    two_vectors_added,
)

wrong = exercise.edits(join_texts, of="join_texts")

wrong(
    "delimiter_missing",
    "marks.delimiter, ",
    "",
    "Your row does not show where the first text ends. Which mark stands between the two?",
)
wrong(
    "start_missing",
    "marks.start, ",
    "",
    "Your row begins with the text itself. What is the first token of a row?",
)
wrong(
    "extract_missing",
    ", marks.extract]",
    "]",
    "Your row ends with the second text. After which token does the model's vector stand for the "
    "whole row?",
)
wrong(
    "extract_at_the_front",
    "[marks.start, *first, marks.delimiter, *second, marks.extract]",
    "[marks.extract, *first, marks.delimiter, *second]",
    "Your mark `extract` comes first, where BERT has [CLS]. What has the first token of a causal "
    "model seen of the row?",
)
wrong(
    "texts_exchanged",
    "*first, marks.delimiter, *second",
    "*second, marks.delimiter, *first",
    "Your two texts have changed places. Which one comes first in the row?",
)
wrong(
    "delimiter_at_the_end_too",
    "*second, marks.extract]",
    "*second, marks.delimiter, marks.extract]",
    "You end the second text with a delimiter, too. How many delimiters does a row have?",
)
wrong(
    "start_before_each_text",
    "marks.delimiter, *second",
    "marks.delimiter, marks.start, *second",
    "You write `start` before each text. How often does a row begin?",
)
wrong(
    "texts_as_single_tokens",
    "*first, marks.delimiter, *second",
    "first, marks.delimiter, second",
    "Your row has lists in it. How do you put the tokens of a list into another list?",
)

wrong = exercise.edits(similarity_rows, of="similarity_rows")

wrong(
    "one_order",
    ", join_texts(second, first, marks)]",
    "]",
    "You write the pair in one order only, so the text that comes second counts more. How many "
    "rows does the task ask for?",
)
wrong(
    "same_order_twice",
    "join_texts(second, first, marks)",
    "join_texts(first, second, marks)",
    "Both rows have the same order. What should be different in the second one?",
)
wrong(
    "one_long_row",
    "[join_texts(first, second, marks), join_texts(second, first, marks)]",
    "join_texts(first, second, marks) + join_texts(second, first, marks)",
    "You write both orders into one row. What does the second order see in a causal model, then?",
)
wrong(
    "second_order_reversed_word_by_word",
    "join_texts(second, first, marks)",
    "join_texts(first, second, marks)[::-1]",
    "You reverse the whole row, words and marks included. What changes places, words or texts?",
)

wrong = exercise.edits(choice_rows, of="choice_rows")

wrong(
    "context_in_the_first_row_only",
    "[join_texts(context, choice, marks) for choice in choices]",
    "[join_texts([] if n else context, choice, marks) for n, choice in enumerate(choices)]",
    "Only your first row has the context. What does the model know of it in the other rows?",
)
wrong(
    "all_choices_in_one_row",
    "[join_texts(context, choice, marks) for choice in choices]",
    "[join_texts(context, [token for choice in choices for token in choice], marks)]",
    "You write all choices into one row. How many scores do you need, and where do they come from?",
)
wrong(
    "choice_before_the_context",
    "join_texts(context, choice, marks)",
    "join_texts(choice, context, marks)",
    "Your choice comes before the context. What has the model read when it reads the choice?",
)
wrong(
    "last_choice_left_out",
    "in choices]",
    "in choices[:-1]]",
    "Your rows are fewer than the choices. Which one is missing?",
)

wrong = exercise.edits(row_by_row, of="fill_up")

wrong(
    "valid_by_the_pad_token",
    "    return ids, valid",
    "    return ids, ids != pad",
    "A token of a row that is equal to `pad` counts as filling. How do you know where a row ends, "
    "without looking at its tokens?",
)
wrong(
    "valid_inverted",
    "    return ids, valid",
    "    return ids, ~valid",
    "Your `valid` is inverted. What does True mean in the task?",
)
wrong.several(
    "filled_up_on_the_left",
    {
        "ids[b, : len(row)]": "ids[b, T - len(row) :]",
        "valid[b, : len(row)]": "valid[b, T - len(row) :]",
    },
    "You fill up on the left. On which side does the task want it?",
)
wrong(
    "cut_to_the_shortest",
    "    T = max(len(row) for row in rows)\n",
    "    T = min(len(row) for row in rows)\n    rows = [row[:T] for row in rows]\n",
    "You cut all rows to the length of the shortest one. What happens to their tokens?",
)
wrong(
    "one_place_too_many",
    "    T = max(len(row) for row in rows)\n",
    "    T = max(len(row) for row in rows) + 1\n",
    "Your table is longer than the longest row. How many places does that row need?",
)
wrong(
    "filled_up_with_zeros",
    "torch.full((len(rows), T), pad)",
    "torch.zeros(len(rows), T, dtype=torch.long)",
    "You fill up with 0, whatever `pad` is. What is this argument for?",
)
wrong(
    "valid_as_numbers",
    "    return ids, valid",
    "    return ids, valid.long()",
    "Your `valid` holds 0 and 1. Which dtype does the task ask for?",
)

wrong = exercise.edits(largest_index, of="last_valid")

CHECKED = "places.masked_fill(~valid, -1).max(dim=1).values"
wrong(
    "last_place_of_the_row",
    CHECKED,
    "valid.shape[1] - 1",
    "You take the last place of every row, which may be one that was filled up. Which is the last "
    "place with a token of the row?",
)
wrong(
    "number_of_valid_places",
    CHECKED,
    "valid.sum(1) - 1",
    "You count the valid places. For a row that was filled up on the left, is the last of them at "
    "this index?",
)
wrong(
    "first_valid_place",
    CHECKED,
    "valid.int().argmax(dim=1)",
    "`argmax` of `valid` finds the first valid place. Which one does the task ask for?",
)
wrong(
    "one_place_early",
    CHECKED,
    "(places.masked_fill(~valid, -1).max(dim=1).values - 1).clamp(min=0)",
    "Your place is one before the last valid one. Which token has seen the whole row?",
)
wrong(
    "before_the_first_filled_place",
    CHECKED,
    "(valid.int().argmin(dim=1) - 1) % valid.shape[1]",
    "You take the place before the first invalid one. Where is that if a row was filled up on the "
    "left, and again on the right?",
)
wrong(
    "mean_of_the_valid_ones",
    "return hidden[torch.arange(len(hidden)), last]",
    "return (hidden * valid[..., None]).sum(1) / valid.sum(1, keepdim=True)",
    "You take the mean of all valid vectors. Which one of them has seen the whole row?",
)
wrong(
    "rows_mixed",
    "hidden[torch.arange(len(hidden)), last]",
    "hidden[:, last]",
    "`hidden[:, last]` takes all these places from every row. How do you take one place from each?",
)
wrong(
    "place_of_the_first_row",
    "hidden[torch.arange(len(hidden)), last]",
    "hidden[:, last[0]]",
    "You take the same place from every row. Does `valid` end at the same place in all of them?",
)
wrong(
    "nothing_checked",
    "if not valid.any(dim=1).all():",
    "if len(valid) < 1:",
    "For a row without a valid place you return some vector, and nobody notices. What does the "
    "task ask for?",
)
wrong(
    "only_if_all_rows_are_empty",
    "if not valid.any(dim=1).all():",
    "if not valid.any():",
    "You notice an empty row only if all rows are empty. What if it is one of four?",
)
wrong(
    "another_error",
    "raise ValueError(",
    "raise IndexError(",
    "For a row without a valid place you raise another kind of error. Which one does the task "
    "name?",
)
wrong(
    "cut_from_the_graph",
    "return hidden[torch.arange(len(hidden)), last]",
    "return hidden[torch.arange(len(hidden)), last].detach()",
    "No gradient reaches `hidden`, so only the new layer would learn. What cuts the graph?",
)

wrong = exercise.edits(two_vectors_added, of="similarity_logits")

wrong(
    "mean_of_two",
    "vectors[:, 0] + vectors[:, 1]",
    "(vectors[:, 0] + vectors[:, 1]) / 2",
    "You take the mean of the two vectors. What does the task do with them?",
)
wrong(
    "first_order_only",
    "vectors[:, 0] + vectors[:, 1]",
    "vectors[:, 0]",
    "You use the first order only, so your logits change if the two texts change places. What "
    "happens to the other vector?",
)
wrong(
    "product_of_two",
    "vectors[:, 0] + vectors[:, 1]",
    "vectors[:, 0] * vectors[:, 1]",
    "You multiply the two vectors. What does the task do with them?",
)
wrong(
    "layer_before_the_sum",
    "head(vectors[:, 0] + vectors[:, 1])",
    "head(vectors[:, 0]) + head(vectors[:, 1])",
    "Each vector goes through the layer on its own, so its bias counts twice. Which comes first, "
    "the sum or the layer?",
)
wrong(
    "difference_of_two",
    "vectors[:, 0] + vectors[:, 1]",
    "vectors[:, 0] - vectors[:, 1]",
    "You subtract one vector from the other, so the order of the texts matters. What should it do?",
)

wrong = exercise.edits(softmax_then_squeezed, of="choice_probabilities")

wrong(
    "softmax_over_questions",
    "dim=1",
    "dim=0",
    "Your softmax runs over the questions. The probabilities of what should sum to 1?",
)
wrong(
    "softmax_over_one_score",
    "dim=1",
    "dim=-1",
    "Your softmax runs over the single score of a row, so every probability is 1. Which axis has "
    "the choices?",
)
wrong(
    "each_choice_alone",
    "torch.softmax(scores, dim=1)",
    "torch.sigmoid(scores)",
    "You judge each choice on its own. Which numbers should sum to 1?",
)
wrong(
    "logarithms_returned",
    "torch.softmax(",
    "torch.log_softmax(",
    "You return logarithms. What does the task ask for?",
)
wrong(
    "scores_returned",
    "torch.softmax(scores, dim=1)",
    "scores",
    "You return scores. What turns the scores of a question into probabilities?",
)
wrong(
    "axis_of_one_kept",
    "[..., 0]",
    "",
    "Your result has a last axis of length 1. Which shape does the task ask for?",
)
