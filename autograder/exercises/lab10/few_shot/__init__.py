"""few_shot: prompts with examples, the share of right answers, and no weight that changes."""

from __future__ import annotations

import random
from collections import namedtuple

import torch
from torch import nn

from attnlab.checking.judges import Close
from attnlab.checking.observation import dtype_of
from attnlab.few_shot import answer_accuracy, make_prompts, shots_curve
from gradekit.exercise import Exercise

exercise = Exercise(
    make_prompts,
    answer_accuracy,
    shots_curve,
    equivalent={
        "shots_curve: `zip(names.tolist(), tables, strict=True)` → `zip(names.tolist(), tables)` "
        "in `prompts = [make_prompts(name, table, queries, shots, generator=generator) for name, "
        "table in zip(names.tolist(), tables, strict=True)]`": (
            "differs only if there are more names than tables"
        ),
        "shots_curve: `True` → `False` in `prompts = [make_prompts(name, table, queries, shots, "
        "generator=generator) for name, table in zip(names.tolist(), tables, strict=True)]`": (
            "differs only if there are more names than tables"
        ),
        "shots_curve: `names.tolist()` → `names` in `prompts = [make_prompts(name, table, queries, "
        "shots, generator=generator) for name, table in zip(names.tolist(), tables, strict=True)]`"
        "": "a tensor without dimensions is as good a name as a number",
    },
)
SHARES = Close(atol=1e-6)  # a mean of booleans may have been taken in float32


# What GPT returns.
Output = namedtuple("Output", ["logits", "state"])


def a_table(draw, N):
    """(N,): the letters are 0 … N-1, the digits N … 2N-1."""
    return draw.permutation(N) + N


def parts(prompts):
    """Names, shown letters, their digits and queries of a table of prompts."""
    return prompts[:, 0], prompts[:, 1:-1:2], prompts[:, 2:-1:2], prompts[:, -1]


@exercise.check(points=1)
def written_as_a_row(lab, draw):
    """`make_prompts`: name, letters with their digits, query; also without any example."""
    table, queries, generator = a_table(draw, 8), draw.integers(0, 8, 5), draw.generator()
    seen = {}
    for shots in (3, 0):
        prompts = lab.make_prompts(40, table, queries, shots, generator=generator)
        seen[f"{shots} examples"] = {"shape": list(prompts.shape), "dtype": dtype_of(prompts)}
        if prompts.shape != (5, 2 * shots + 2):
            continue
        names, letters, digits, asked = parts(prompts)
        seen[f"{shots} examples"] |= {
            "names": names,
            "queries": asked,
            "each is a letter": bool(((letters >= 0) & (letters < 8)).all()),
            "its digit follows": bool((table[letters % 8] == digits).all()),
        }
    return {**seen, "table and queries as they were": draw.untouched()}


@exercise.check(points=1.5)
def query_never_shown(lab, draw):
    """`make_prompts`: no row shows its own query or its answer, and no row shows a letter twice."""
    table, queries = a_table(draw, 6), torch.arange(6).repeat(60)
    prompts = lab.make_prompts(40, table, queries, 4, generator=draw.generator())
    if prompts.shape != (360, 10):
        return {"shape": list(prompts.shape)}
    _, letters, _, asked = parts(prompts)
    return {
        "shape": list(prompts.shape),
        "rows that show their query": int((letters == asked[:, None]).any(1).sum()),
        "rows that show their answer": int((prompts == table[asked][:, None]).any(1).sum()),
        "rows that show a letter twice": sum(len(set(row)) < 4 for row in letters.tolist()),
    }


def about(count, expected, tries):
    """Whether a count is within 6 standard deviations of what chance gives."""
    share = expected / tries
    return bool((count - expected).abs().max() < 6 * (tries * share * (1 - share)) ** 0.5)


@exercise.check(points=1, hidden=True)
def own_examples(lab, draw):
    """`make_prompts`: each row draws its own letters, all equally likely, in all orders."""
    table, tries, query = a_table(draw, 7), 3000, int(draw.integers(0, 7))
    queries = torch.full((tries,), query)
    prompts = lab.make_prompts(40, table, queries, 3, generator=draw.generator())
    _, letters, _, _ = parts(prompts)
    others = [letter for letter in range(7) if letter != query]
    shown = torch.bincount(letters.flatten(), minlength=7)[others].double()
    places = [torch.bincount(letters[:, t], minlength=7)[others].double() for t in range(3)]
    pairs = torch.bincount(letters[:, 0] * 7 + letters[:, 1], minlength=49)
    return {
        "all others equally often": about(shown, tries / 2, tries),
        "at each place": [about(count, tries / 6, tries) for count in places],
        "pairs at the first two places": int((pairs > 0).sum()),
    }


@exercise.check(points=0.75, hidden=True)
def generator_alone(lab, draw):
    """`make_prompts`: the generator decides, and no other source of randomness is touched."""
    table, queries = a_table(draw, 10), draw.integers(0, 10, 12)
    before, python = torch.get_rng_state(), random.getstate()

    def ask(seed):
        generator = torch.Generator().manual_seed(seed)
        return [lab.make_prompts(40, table, queries, 4, generator=generator) for _ in range(2)]

    (one, later), (again, _), (other, _) = ask(3), ask(3), ask(4)
    return {
        "equal for equal generators": torch.equal(one, again),
        "different for different ones": not torch.equal(one, other),
        "different in the next call": not torch.equal(one, later),
        "torch's own state as it was": torch.equal(before, torch.get_rng_state()),
        "Python's own state as it was": python == random.getstate(),
    }


@exercise.check(points=0.75, hidden=True)
def other_tables(lab, draw):
    """`make_prompts`: is right for tables of any size, one query, and N - 1 examples."""
    seen = {}
    for name, N, B, shots in (
        ("all others shown", 5, 4, 4), ("one query", 9, 1, 2), ("two letters", 2, 6, 1),
        ("one letter", 1, 3, 0), ("more letters than digits elsewhere", 30, 7, 11),
    ):  # fmt: skip
        table, queries = a_table(draw, N) + 5, draw.integers(0, N, B)
        prompts = lab.make_prompts(90, table, queries, shots, generator=draw.generator())
        names, letters, digits, asked = parts(prompts)
        seen[name] = {
            "shape": list(prompts.shape),
            "names": names,
            "queries": asked,
            "letters of each row": [len({*row}) for row in letters.tolist()],
            "rows that show their query": int((letters == asked[:, None]).any(1).sum()),
            "its digit follows": bool((table[letters] == digits).all()),
        }
    return seen


class Fixed(nn.Module):
    """Returns the logits of a table: (rows, T, V), by a prompt's first token."""

    def __init__(self, logits):
        super().__init__()
        self.logits = logits
        self.weight = nn.Parameter(torch.zeros(1, dtype=logits.dtype))

    def forward(self, ids, state=None, *, valid=None, last_only=False):
        logits = self.logits[ids[:, 0], : ids.shape[1]] + self.weight
        return Output(logits[:, -1:] if last_only else logits, state)


def rows_of(draw, B, T):
    """(B, T): prompts of random tokens; the first token is the row's number."""
    return torch.cat((torch.arange(B)[:, None], draw.integers(0, 9, B, T - 1)), 1)


@exercise.check(points=1, judge=SHARES)
def after_the_last_token(lab, draw):
    """`answer_accuracy`: reads the logits at the prompt's last token, and at no other."""
    B, T, choices = 20, 6, torch.arange(9)
    logits = draw.normal(B, T + 3, 9)
    best = logits.argmax(-1)  # (B, T + 3)
    # Of 20 answers, so many are the best at each place; at the last token it is 13.
    seen = {}
    for name, place in (("answers of the last place", T - 1), ("of the place before", T - 2)):
        answers = best[:, place].clone()
        answers[13:] = (answers[13:] + 1) % 9
        seen[name] = lab.answer_accuracy(Fixed(logits), rows_of(draw, B, T), answers, choices)
    return seen


@exercise.check(points=1.5, hidden=True, judge=SHARES)
def best_among_choices(lab, draw):
    """`answer_accuracy`: other tokens do not count, and choices may come in any order."""
    B, V = 30, 12
    seen = {}
    for name, some in (
        ("some tokens", [3, 4, 5, 6, 7]),
        ("in another order", [7, 3, 6, 4, 5]),
        ("with gaps", [0, 11, 4]),
        ("one choice", [5]),
    ):
        choices, logits = torch.tensor(some), draw.normal(B, 4, V)
        others = [token for token in range(V) if token not in some]
        logits[:, :, others] += 10
        best = choices[logits[:, 3][:, choices].argmax(-1)]
        right = draw.uniform(B) < 0.7
        answers = best.where(right, torch.tensor(others[0]))
        found = lab.answer_accuracy(Fixed(logits), rows_of(draw, B, 4), answers, choices)
        seen[name] = found
    return {**seen, "a Python number": isinstance(found, float), "choices": draw.untouched()}


class Small(nn.Module):
    """A language model with drawn weights whose dropout changes its answers."""

    def __init__(self, draw, V=14, d=8):
        super().__init__()
        self.table, self.head = nn.Embedding(V, d), nn.Linear(d, V)
        self.dropout = nn.Dropout(0.5)
        with torch.no_grad():
            for p in self.parameters():
                p.copy_(draw.normal(*p.shape))

    def forward(self, ids, state=None, *, valid=None, last_only=False):
        x = self.dropout(self.table(ids).cumsum(1))
        return Output(self.head(x[:, -1:] if last_only else x), state)


@exercise.check(points=1.25)
def nothing_is_trained(lab, draw):
    """`answer_accuracy`: no weight, no gradient and no mode is other than before."""
    seen = {}
    prompts, answers = draw.integers(0, 14, 12, 6), draw.integers(4, 9, 12)
    for mode in ("training", "evaluation"):
        model = Small(draw).train(mode == "training")
        for p in model.parameters():
            p.grad = torch.ones_like(p)
        weights = {name: x.clone() for name, x in model.state_dict().items()}
        during = []
        model.register_forward_hook(
            lambda part, given, out, during=during: during.append(
                (part.training, torch.is_grad_enabled())
            )
        )
        lab.answer_accuracy(model, prompts, answers, torch.arange(4, 9))
        seen[f"came in {mode} mode"] = {
            "weights as before": all(torch.equal(weights[k], x) for k, x in
                                     model.state_dict().items()),
            "grad as before": all(p.grad is not None and bool((p.grad == 1).all())
                                  for p in model.parameters()),
            "in training mode afterwards": model.training,
            "ever in training mode meanwhile": any(training for training, _ in during),
            "gradients ever recorded": any(grad for _, grad in during),
        }  # fmt: skip
    return seen


@exercise.check(points=0.5, hidden=True, judge=SHARES)
def of_a_small_model(lab, draw):
    """`answer_accuracy`: is right for one prompt, for prompts of one token, in training mode."""
    model, choices = Small(draw), torch.arange(4, 9)
    seen = {}
    for name, B, T in (("some", 40, 6), ("one prompt", 1, 5), ("one token", 30, 1)):
        prompts = draw.integers(0, 14, B, T)
        answers = draw.integers(4, 9, B)
        seen[name] = lab.answer_accuracy(model.train(), prompts, answers, choices)
    return seen


class Knows(nn.Module):
    """Answers from its tables, for more letters if there are more examples, and notes prompts.

    Args:
        tables: by the name at the front of a prompt.
    """

    def __init__(self, tables, V):
        super().__init__()
        self.tables, self.V, self.asked = tables, V, []
        self.weight = nn.Parameter(torch.zeros(1))

    def forward(self, ids, state=None, *, valid=None, last_only=False):
        self.asked.append(ids.clone())
        logits = torch.zeros(*ids.shape, self.V)
        shots = (ids.shape[1] - 2) // 2
        for b, row in enumerate(ids.tolist()):
            table = self.tables[row[0]]
            known = 2 * shots + list(self.tables).index(row[0])  # it knows some tables better
            logits[b, -1, table[row[-1] % len(table)]] = 1.0 if row[-1] < known else -1.0
        return Output((logits[:, -1:] if last_only else logits) + self.weight, state)


def three_tables(draw, N=6):
    """Three tables with names, and a model that knows them."""
    tables = torch.stack([a_table(draw, N) for _ in range(3)])
    names = torch.tensor([31, 30, 33])
    model = Knows(dict(zip(names.tolist(), tables, strict=True)), 40)
    return model, tables, names, torch.arange(N, 2 * N)


@exercise.check(points=1, judge=SHARES)
def each_number_of_examples(lab, draw):
    """`shots_curve`: entry k is the accuracy after k examples, under each table's own name."""
    model, tables, names, choices = three_tables(draw)
    found = lab.shots_curve(model, tables, names, choices, 3, rounds=2, generator=draw.generator())
    return {"curve": found, "dtype": dtype_of(found)}


@exercise.check(points=0.75, hidden=True, judge=SHARES)
def every_letter_of_every_table(lab, draw):
    """`shots_curve`: asks for every letter `rounds` times, with new examples of its own table."""
    model, tables, names, choices = three_tables(draw)
    found = lab.shots_curve(model, tables, names, choices, 2, rounds=10, generator=draw.generator())
    by_length = {}
    for prompts in model.asked:
        by_length.setdefault(prompts.shape[1], []).append(prompts)
    seen = {"curve": found}
    for shots in range(3):
        prompts = torch.cat(by_length.get(2 * shots + 2, [torch.zeros(0, 2 * shots + 2).long()]))
        front, letters, digits, asked = parts(prompts)
        own = {name: tables[i] for i, name in enumerate(names.tolist())}
        seen[f"{shots} examples"] = {
            "times": torch.bincount(front * 6 + asked, minlength=210)[180:],
            "of its own table": all(
                bool((own[name][shown] == said).all())
                for name, shown, said in zip(front.tolist(), letters, digits, strict=True)
            ),
            "new examples": shots < 2
            or all(
                len({*map(tuple, letters[(front == name) & (asked == letter)].tolist())}) > 2
                for name in own
                for letter in range(6)
            ),
        }
    prompts = list(model.asked)
    model.asked.clear()
    lab.shots_curve(model, tables, names, choices, 2, rounds=10, generator=draw.generator())
    seen["another generator, the same prompts"] = [p.tolist() for p in prompts] == [
        p.tolist() for p in model.asked
    ]
    asked = len(model.asked)
    alone = lab.shots_curve(model, tables[:1], names[:1], choices, 0, generator=draw.generator())
    return {
        **seen,
        "one table, no examples": alone,
        "as many rounds as by default": sum(len(prompts) for prompts in model.asked[asked:]) / 6,
        "as they were": draw.untouched(),
    }
