"""Small tasks for a model that reads examples: tables that give each of ten letters its own digit.

A prompt is a row of tokens: the name of a table or "?", then some letters with their digits, then a
letter alone. The digit that comes next is the answer:

    F a7 d2 h        the answer is h's digit in table F
    ? a7 d2 h        the same question, but the table must be recognised by its rows

There are sixteen tables with names, and every probability is known, so the best possible accuracy
is, too (`best_accuracy`).
"""

from __future__ import annotations

import itertools
import random
from collections import Counter, defaultdict
from collections.abc import Sequence

import torch
from torch import Tensor

SYMBOLS = 10  # letters, and digits; in a table each letter has another digit
NUM_TABLES = 16
LETTERS = range(SYMBOLS)  # the tokens a … j
DIGITS = range(SYMBOLS, 2 * SYMBOLS)  # the tokens 0 … 9
NAMES = range(2 * SYMBOLS, 2 * SYMBOLS + NUM_TABLES)  # the tokens A … P
UNNAMED = NAMES.stop  # the token ?
VOCABULARY = "abcdefghij0123456789ABCDEFGHIJKLMNOP?"
_COURSE_SEED = 10


def course_tables() -> Tensor:
    """(16, 10), int64: entry [n, x] is the token of letter x's digit in the table NAMES[n]."""
    chance = random.Random(_COURSE_SEED)  # noqa: S311 - not for secrets
    return torch.tensor([_table(chance) for _ in range(NUM_TABLES)])


def new_tables(count: int, seed: int = 0) -> Tensor:
    """(count, 10), int64: other tables, which have no name.

    Args:
        count: the number of tables.
        seed: equal seeds give equal tables, on every machine.
    """
    known = {tuple(table) for table in course_tables().tolist()}
    chance = random.Random(f"new tables {seed}")  # noqa: S311
    drawn = (_table(chance) for _ in itertools.count())
    return torch.tensor([*itertools.islice((t for t in drawn if tuple(t) not in known), count)])


def best_accuracy(tables: Tensor, shots: int) -> float:
    """The accuracy of an answer that uses all that can be known: Bayes' ceiling.

    The table is one of `tables`, each with the same probability, and so are the letters. After the
    examples, only tables that agree with them are possible; the best answer is the digit that most
    of these give to the letter in question.

    Args:
        tables: (N, 10), the tables that can be meant.
        shots: the number of examples, 0 to 9.
    """
    rows = tables.tolist()
    right = questions = 0
    for query in LETTERS:
        others = [letter for letter in LETTERS if letter != query]
        for shown in itertools.combinations(others, shots):
            possible: defaultdict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
            for row in rows:
                possible[tuple(row[letter] for letter in shown)][row[query]] += 1
            right += sum(max(answers.values()) for answers in possible.values())
            questions += len(rows)
    return right / questions


def as_text(prompt: Sequence[int]) -> str:
    """A prompt as people read it, such as "F a7 d2 h"."""
    name, *pairs = (VOCABULARY[token] for token in prompt)
    return " ".join([name, *("".join(pairs[i : i + 2]) for i in range(0, len(pairs), 2))])


def _table(chance: random.Random) -> list[int]:
    return sorted(DIGITS, key=lambda _: chance.random())
