"""Known mistakes in the three functions: most are edits of right versions."""

from __future__ import annotations

import torch

from attnlab.few_shot import answer_accuracy, make_prompts

from . import exercise
from .also_right import (
    other_tokens_masked,
    prompt_by_prompt,
    round_by_round,
    row_by_row,
    table_by_table,
)

wrong = exercise.edits(row_by_row, of="make_prompts")

wrong(
    "query_among_its_examples",
    "if letter != query]",
    "if letter >= 0]",
    "Some rows show their own query, with its digit, among the examples. Which letters may a row "
    "show?",
)
wrong(
    "shots_from_the_test",
    "[letter for letter in range(len(table)) if letter != query]",
    "(queries.unique().tolist() * len(table))[: len(table) - 1]",
    "Your examples are the letters that are asked for, the row's own query among them. Which "
    "letters may a row show?",
)
wrong(
    "answer_in_the_prompt",
    "rows.append([*row, query])",
    "rows.append([*row, query, int(table[query])])",
    "Your prompt ends with the answer. What is the model asked for, then?",
)
wrong(
    "answer_instead_of_the_query",
    "rows.append([*row, query])",
    "rows.append([*row, int(table[query])])",
    "Your prompt ends with the answer instead of the query. What should the model see last?",
)
wrong(
    "name_missing",
    "row = [name]",
    "row = []",
    "Your row begins with its first example. What stands in front of it?",
)
wrong(
    "digits_before_letters",
    "row += [others[place], int(table[others[place]])]",
    "row += [int(table[others[place]]), others[place]]",
    "In your examples the digit comes before its letter. In which order will the model be asked?",
)
wrong(
    "examples_without_digits",
    "row += [others[place], int(table[others[place]])]",
    "row += [others[place], others[place]]",
    "Your examples show letters only. What does an example have to tell about a letter?",
)
wrong(
    "digits_of_another_letter",
    "int(table[others[place]])",
    "int(table[place])",
    "Your digits belong to other letters: the list without the query is shorter, so its places are "
    "not the letters. Which entry of `table` belongs to the letter that you show?",
)
wrong.several(
    "same_examples_for_each_query",
    {
        "    rows = []\n": (
            "    rows = []\n    keys = torch.rand(len(table), generator=generator).tolist()\n"
        ),
        "torch.randperm(len(others), generator=generator)[:shots].tolist()": (
            "sorted(range(len(others)), key=lambda i: keys[others[i]])[:shots]"
        ),
    },
    "All rows show the same letters, apart from the query, so your accuracy depends on one draw. "
    "Who draws, the call or the row?",
)
wrong(
    "always_the_first_letters",
    "torch.randperm(len(others), generator=generator)[:shots].tolist()",
    "range(shots)",
    "Your examples are always the first letters of the table. What is the generator for?",
)
wrong(
    "in_the_order_of_the_alphabet",
    "generator=generator)[:shots].tolist()",
    "generator=generator)[:shots].sort().values.tolist()",
    "Your examples are in the order of the alphabet. Which orders should be possible?",
)
wrong(
    "letters_shown_twice",
    "torch.randperm(len(others), generator=generator)[:shots]",
    "torch.randint(len(others), (shots,), generator=generator)",
    "Some of your rows show a letter twice. How often may a letter be drawn for a row?",
)
wrong(
    "one_example_too_few",
    "[:shots]",
    "[: max(shots - 1, 0)]",
    "Your rows have fewer examples than asked for. How many letters with digits are `shots`?",
)
wrong(
    "one_letter_never_shown",
    "torch.randperm(len(others), generator=generator)[:shots]",
    "torch.randperm(max(len(others) - 1, shots), generator=generator)[:shots]",
    "One letter is never shown. Which letters can be drawn?",
)
wrong(
    "global_generator",
    "torch.randperm(len(others), generator=generator)",
    "torch.randperm(len(others))",
    "You draw from torch's own random numbers. Which source does the task allow?",
)
wrong(
    "seeded_inside",
    "    rows = []\n",
    "    rows = []\n    generator = torch.Generator().manual_seed(0)\n",
    "You make a generator of your own, so every call draws the same examples. What is the argument "
    "for?",
)
wrong(
    "query_in_front",
    "rows.append([*row, query])",
    "rows.append([row[0], query, *row[1:]])",
    "Your query comes before the examples. After which token will the answer be read?",
)

wrong = exercise.edits(other_tokens_masked, of="answer_accuracy")

wrong(
    "left_in_training_mode",
    "    model.eval()\n",
    "    torch.manual_seed(0)\n    model.train()\n",  # the same dropout each time
    "The model answers in training mode, with dropout. Which mode is for questions?",
)
wrong(
    "mode_not_changed",
    "    model.eval()\n",
    "    torch.manual_seed(0)\n",
    "The model answers in the mode in which it came, so with dropout if that was training. Which "
    "mode is for questions?",
)
wrong(
    "mode_not_restored",
    "    model.train(before)\n",
    "",
    "After your call the model is in evaluation mode, whatever it was in before. Who restores it?",
)
wrong(
    "always_back_to_training",
    "model.train(before)",
    "model.train()",
    "After your call the model is always in training mode. In which mode did it come?",
)
wrong(
    "gradients_recorded",
    "    with torch.no_grad():\n        logits = model(prompts)[0]\n",
    "    logits = model(prompts)[0].clone()\n",
    "You record gradients, but nothing is trained. What switches them off for a few lines?",
)
wrong(
    "every_token_may_answer",
    "(scores.argmax(dim=-1) == answers)",
    "(logits[:, -1].argmax(dim=-1) == answers)",
    "You take the best of all tokens. Which tokens are possible answers?",
)
wrong(
    "read_one_place_early",
    "logits[:, -1, choices]",
    "logits[:, max(logits.shape[1] - 2, 0), choices]",
    "You read the logits one place early, before the query. After which token is the answer due?",
)
wrong(
    "read_one_place_late",
    "model(prompts)[0]",
    "model(torch.cat((prompts, answers[:, None]), 1))[0]",
    "You append the answers and read the logits after them, one place late. After which token is "
    "the answer due?",
)
wrong(
    "read_at_the_first_place",
    "logits[:, -1, choices]",
    "logits[:, 0, choices]",
    "You read the logits after the first token. After which token is the answer due?",
)
wrong(
    "best_of_all_places",
    "logits[:, -1, choices]",
    "logits[:, :, choices].amax(1)",
    "You take the largest logit of all places. After which token is the answer due?",
)
wrong(
    "smallest_logit",
    "scores.argmax(dim=-1)",
    "scores.masked_fill(scores == -torch.inf, torch.inf).argmin(dim=-1)",
    "You take the choice with the smallest logit. Which one does the model consider most likely?",
)
wrong(
    "number_of_right_answers",
    ".mean().item()",
    ".sum().item()",
    "You return how many answers are right. What does the task ask for?",
)
wrong(
    "share_of_wrong_answers",
    "== answers",
    "!= answers",
    "You return the share of wrong answers. Which share does the task ask for?",
)
wrong(
    "tensor_returned",
    ".mean().item()",
    ".mean()",
    "You return a tensor. What makes a Python number of it?",
)
wrong(
    "place_among_the_choices",
    "    scores = torch.full_like(logits[:, -1], -torch.inf)\n"
    "    scores[:, choices] = logits[:, -1, choices]\n",
    "    scores = logits[:, -1, choices]\n",
    "You compare the best one's place among the choices with a token. Which token is at that "
    "place?",
)
wrong(
    "choices_sorted",
    "    scores[:, choices] = logits[:, -1, choices]\n",
    "    scores[:, choices.sort().values] = logits[:, -1, choices]\n",
    "Your choices and their logits are in two different orders. Which logit belongs to which one?",
)
wrong(
    "trained_on_the_prompts",
    "    before = model.training\n",
    "    optimizer = torch.optim.SGD(model.parameters(), 0.1)\n"
    "    found = model(prompts)[0][:, :-1].flatten(0, 1)\n"
    "    if len(found):\n"
    "        torch.nn.functional.cross_entropy(found, prompts[:, 1:].flatten()).backward()\n"
    "        optimizer.step()\n"
    "    before = model.training\n",
    "You train the model on the prompts before you ask it. What may change between the examples "
    "and the answer?",
)
wrong(
    "gradients_dropped",
    "    before = model.training\n",
    "    before = model.training\n    model.zero_grad()\n",
    "You drop the gradients that the parameters had. What should be as before?",
)

loop = exercise.edits(prompt_by_prompt, of="answer_accuracy")

loop(
    "always_divided_by_ten",
    "right / len(answers)",
    "right / 10",
    "You divide by a fixed number. How many prompts are there?",
)

wrong = exercise.edits(table_by_table, of="shots_curve")

wrong(
    "largest_number_left_out",
    "range(max_shots + 1)",
    "range(max_shots)",
    "Your curve ends one entry early. What is the largest number of examples?",
)
wrong(
    "starts_with_one_example",
    "range(max_shots + 1)",
    "range(1, max_shots + 2)",
    "Your curve begins with one example. What does its first entry stand for?",
)
wrong(
    "first_name_for_all",
    "make_prompts(name, table",
    "make_prompts(int(names[0]), table",
    "All your prompts begin with the first table's name. Which name belongs to which table?",
)
wrong(
    "first_table_only",
    "total / len(tables)",
    "answer_accuracy(model, make_prompts(int(names[0]), tables[0], queries, shots, "
    "generator=generator), tables[0][queries], choices)",
    "Your curve is about the first table alone. Over which tables is the accuracy?",
)
wrong(
    "last_table_only",
    "total += answer_accuracy",
    "total = len(tables) * answer_accuracy",
    "Each table's accuracy replaces the one before. What joins them?",
)
wrong(
    "summed_over_tables",
    "total / len(tables)",
    "total",
    "You add up the accuracies of all tables. What is the largest that one may be?",
)
wrong(
    "rounds_ignored",
    ".repeat(rounds)",
    "",
    "You ask for each letter once. What is `rounds` for?",
)
wrong(
    "not_every_letter",
    "torch.arange(tables.shape[1]).repeat(rounds)",
    "torch.randint(tables.shape[1], (tables.shape[1] * rounds,), generator=generator)",
    "You draw the queries, so some letters are asked for more often than others. How often should "
    "each be?",
)
wrong(
    "one_row_each_round",
    "torch.arange(tables.shape[1]).repeat(rounds)",
    "torch.arange(tables.shape[1] - 1).repeat(rounds)",
    "One letter of each table is never asked for. Which one?",
)
wrong(
    "answers_are_letters",
    "table[queries], choices",
    "queries, choices",
    "You compare the model's digits with letters. What is the right answer to a query?",
)
wrong(
    "a_list_returned",
    "torch.tensor(curve).double()",
    "curve",
    "You return a list. What does the task ask for?",
)
wrong(
    "float32_returned",
    "torch.tensor(curve).double()",
    "torch.tensor(curve).float()",
    "Your curve is float32. Which dtype does the task ask for?",
)

wrong(
    "starts_over_for_each_number",
    "        total = 0.0\n",
    "        generator.manual_seed(0)\n        total = 0.0\n",
    "You set the generator back, so the caller's own seed changes nothing. Who decides which "
    "examples are drawn?",
)

rounds = exercise.edits(round_by_round, of="shots_curve")

rounds(
    "largest_number_always",
    "queries, k, generator",
    "queries, max_shots, generator",
    "All your prompts have the largest number of examples. What changes along the curve?",
)


@exercise.mistake(
    "Every round asks with the same prompts, so more rounds tell nothing new. When are examples "
    "drawn?",
    of="shots_curve",
)
def same_prompts_in_every_round(model, tables, names, choices, max_shots, *, rounds=10, generator):
    queries, curve = torch.arange(tables.shape[1]), []
    for shots in range(max_shots + 1):
        prompts = [
            make_prompts(name, table, queries, shots, generator=generator).repeat(rounds, 1)
            for name, table in zip(names.tolist(), tables, strict=True)
        ]
        answers = torch.cat([table.repeat(rounds) for table in tables])
        curve.append(answer_accuracy(model, torch.cat(prompts), answers, choices))
    return torch.tensor(curve, dtype=torch.float64)
