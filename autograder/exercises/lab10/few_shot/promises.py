"""Which check holds each sentence of the three tasks."""

from . import exercise

exercise.promises(
    {
        "Write a prompt for each query: a name, some examples, and the query.": "written_as_a_row",
        "A row is `name`, then `shots` letters of the table, each followed by its digit, then the "
        "row's query": "written_as_a_row other_tables",
        "its answer is not in the row": "query_never_shown",
        "The letters shown in a row differ from each other and from its query.": (
            "query_never_shown other_tables"
        ),
        "Each row draws its own letters: all other letters have the same probability, and so have "
        "all orders.": "own_examples",
        "name: the token at the front.": "written_as_a_row",
        "table: (N,), int64: entry x is the token of letter x's digit": (
            "written_as_a_row other_tables"
        ),
        "the number of examples in each row, 0 to N - 1": "written_as_a_row other_tables",
        "generator: the only source of randomness.": "generator_alone",
        "(B, 2 · shots + 2), int64. The arguments stay unchanged.": "written_as_a_row",
        "The share of prompts that a model answers correctly.": (
            "after_the_last_token best_among_choices"
        ),
        "the choice with the largest logit as the next token after the prompt": (
            "after_the_last_token best_among_choices"
        ),
        "Tokens that are not among the choices do not count, whatever their logits are.": (
            "best_among_choices"
        ),
        "it runs in evaluation mode and without gradients": "nothing_is_trained",
        "Afterwards its weights, their `grad` and its mode are as before.": "nothing_is_trained",
        "answers: (B,), int64, the right tokens.": "after_the_last_token of_a_small_model",
        "choices: (C,), int64, the possible answers, in any order.": "best_among_choices",
        "A Python number from 0 to 1.": "best_among_choices",
        "Accuracy after 0, 1, 2 … examples.": "each_number_of_examples",
        "every letter of every table is asked for `rounds` times, each time with new examples of "
        "its own table and under its own name": "every_letter_of_every_table",
        "the token at the front of prompts about each table": (
            "each_number_of_examples every_letter_of_every_table"
        ),
        "max_shots: the largest number of examples.": (
            "each_number_of_examples every_letter_of_every_table"
        ),
        "rounds: how often each letter is asked for.": "every_letter_of_every_table",
        "entry k is the accuracy after k examples, over all tables": "each_number_of_examples",
    },
    explained=[
        "queries: (B,), int64, the letters that are asked for.",
        "prompts: (B, T), int64.",
        "model: as for `answer_accuracy`.",
        "tables: (M, N), int64, a table in each row, as for `make_prompts`.",
        "generator: for `make_prompts`; there is no other randomness.",
        "choices: as for `answer_accuracy`.",
    ],
)
