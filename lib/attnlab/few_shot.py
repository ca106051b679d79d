"""Ask a model without training it: the task is in the prompt, as a name, as examples, or both.

Source: Language Models are Few-Shot Learners (Brown et al. 2020), section 2; lecture G.
"""

from __future__ import annotations

import torch
from torch import Tensor

from attnlab.gpt import GPT


def make_prompts(
    name: int, table: Tensor, queries: Tensor, shots: int, *, generator: torch.Generator
) -> Tensor:
    """Write a prompt for each query: a name, some examples, and the query.

    A row is `name`, then `shots` letters of the table, each followed by its digit, then the row's
    query; its answer is not in the row. The letters shown in a row differ from each other and from
    its query. Each row draws its own letters: all other letters have the same probability, and so
    have all orders.

    Args:
        name: the token at the front.
        table: (N,), int64: entry x is the token of letter x's digit; the letter's own token is x.
        queries: (B,), int64, the letters that are asked for.
        shots: the number of examples in each row, 0 to N - 1.
        generator: the only source of randomness.

    Returns:
        (B, 2 · shots + 2), int64. The arguments stay unchanged.
    """
    # blank: letters other than the query, their digits, one row for each query
    order = torch.rand(len(queries), len(table), generator=generator)  # (B, N)
    order.scatter_(1, queries[:, None], torch.inf)  # the query is the last in its row's order
    shown = order.argsort(1)[:, :shots]  # (B, shots)
    examples = torch.stack((shown, table[shown]), 2).flatten(1)  # (B, 2 shots)
    names = torch.full((len(queries), 1), name)
    return torch.cat((names, examples, queries[:, None]), 1)
    # end blank


def answer_accuracy(model: GPT, prompts: Tensor, answers: Tensor, choices: Tensor) -> float:
    """The share of prompts that a model answers correctly.

    The model's answer is the choice with the largest logit as the next token after the prompt.
    Tokens that are not among the choices do not count, whatever their logits are.

    Args:
        model: called as ``model(prompts)``, which returns the logits (B, T, V) first; it runs in
            evaluation mode and without gradients. Afterwards its weights, their `grad` and its mode
            are as before.
        prompts: (B, T), int64.
        answers: (B,), int64, the right tokens.
        choices: (C,), int64, the possible answers, in any order.

    Returns:
        A Python number from 0 to 1.
    """
    # blank: logits after the last token, the best choice, the share
    was_training = model.training
    model.eval()
    with torch.no_grad():
        logits = model(prompts)[0][:, -1, choices]  # (B, C)
    model.train(was_training)
    best = choices[logits.argmax(1)]  # (B,)
    return float((best == answers).double().mean())
    # end blank


def shots_curve(
    model: GPT,
    tables: Tensor,
    names: Tensor,
    choices: Tensor,
    max_shots: int,
    *,
    rounds: int = 10,
    generator: torch.Generator,
) -> Tensor:
    """Accuracy after 0, 1, 2 … examples.

    For each number of examples, every letter of every table is asked for `rounds` times, each time
    with new examples of its own table and under its own name.

    Args:
        model: as for `answer_accuracy`.
        tables: (M, N), int64, a table in each row, as for `make_prompts`.
        names: (M,), int64: the token at the front of prompts about each table.
        choices: as for `answer_accuracy`.
        max_shots: the largest number of examples.
        rounds: how often each letter is asked for.
        generator: for `make_prompts`; there is no other randomness.

    Returns:
        (max_shots + 1,), float64: entry k is the accuracy after k examples, over all tables.
    """
    # blank: prompts about all tables, for each number of examples
    queries = torch.arange(tables.shape[1]).repeat(rounds)  # (N rounds,)
    answers = tables[:, queries].flatten()  # (M N rounds,)
    curve = []
    for shots in range(max_shots + 1):
        prompts = [
            make_prompts(name, table, queries, shots, generator=generator)
            for name, table in zip(names.tolist(), tables, strict=True)
        ]
        curve.append(answer_accuracy(model, torch.cat(prompts), answers, choices))
    return torch.tensor(curve, dtype=torch.float64)
    # end blank
