"""Other right versions of the three functions."""

from __future__ import annotations

import torch

from attnlab.few_shot import answer_accuracy, make_prompts

from . import exercise


@exercise.also_right(of="make_prompts")
def row_by_row(name, table, queries, shots, *, generator):
    rows = []
    for query in queries.tolist():
        others = [letter for letter in range(len(table)) if letter != query]
        order = torch.randperm(len(others), generator=generator)[:shots].tolist()
        row = [name]
        for place in order:
            row += [others[place], int(table[others[place]])]
        rows.append([*row, query])
    return torch.tensor(rows)


@exercise.also_right(of="make_prompts")
def skipping_the_query(name, table, queries, shots, *, generator):
    B, N = len(queries), len(table)
    letters = torch.rand(B, N - 1, generator=generator).argsort(dim=1)[:, :shots]
    letters = letters + (letters >= queries[:, None]).long()
    prompts = torch.empty(B, 2 * shots + 2, dtype=torch.long)
    prompts[:, 0] = name
    prompts[:, 1:-1:2] = letters
    prompts[:, 2:-1:2] = table[letters]
    prompts[:, -1] = queries
    return prompts


@exercise.also_right(of="make_prompts")
def by_multinomial(name, table, queries, shots, *, generator):
    weights = torch.ones(len(queries), len(table))
    weights[torch.arange(len(queries)), queries] = 0
    front = torch.full((len(queries), 1), name)
    if shots == 0:
        return torch.cat([front, queries[:, None]], dim=1)
    shown = torch.multinomial(weights, shots, generator=generator)
    pairs = torch.stack([shown, table[shown]], dim=-1).reshape(len(queries), -1)
    return torch.cat([front, pairs, queries[:, None]], dim=1)


@exercise.also_right(of="answer_accuracy")
def other_tokens_masked(model, prompts, answers, choices):
    before = model.training
    model.eval()
    with torch.no_grad():
        logits = model(prompts)[0]
    model.train(before)
    scores = torch.full_like(logits[:, -1], -torch.inf)
    scores[:, choices] = logits[:, -1, choices]
    return (scores.argmax(dim=-1) == answers).float().mean().item()


@exercise.also_right(of="answer_accuracy")
def prompt_by_prompt(model, prompts, answers, choices):
    was_training = model.training
    model.train(False)
    right = 0
    try:
        with torch.inference_mode():
            for prompt, answer in zip(prompts, answers.tolist(), strict=True):
                logits = model(prompt[None], last_only=True).logits[0, -1]
                right += max(choices.tolist(), key=lambda token: float(logits[token])) == answer
    finally:
        model.train(was_training)
    return right / len(answers)


@exercise.also_right(of="shots_curve")
def table_by_table(model, tables, names, choices, max_shots, *, rounds=10, generator):
    curve = []
    queries = torch.arange(tables.shape[1]).repeat(rounds)
    for shots in range(max_shots + 1):
        total = 0.0
        for name, table in zip(names.tolist(), tables, strict=True):
            prompts = make_prompts(name, table, queries, shots, generator=generator)
            total += answer_accuracy(model, prompts, table[queries], choices)
        curve.append(total / len(tables))
    return torch.tensor(curve).double()


@exercise.also_right(of="shots_curve")
def round_by_round(model, tables, names, choices, max_shots, *, rounds=10, generator):
    curve = torch.zeros(max_shots + 1, dtype=torch.float64)
    queries = torch.arange(tables.shape[1])
    for _ in range(rounds):
        for m in range(len(tables)):
            for k in range(max_shots + 1):
                prompts = make_prompts(int(names[m]), tables[m], queries, k, generator=generator)
                curve[k] += answer_accuracy(model, prompts, tables[m], choices)
    return curve / (rounds * len(tables))
