"""The table of promises: a docstring's sentences, and which of them a check holds."""

from __future__ import annotations

import pytest
from torch import nn

from gradekit.exercise.promises import Promises, docstring_sentences, table, task_sentences


def halve(x):
    """Divide by two, e.g. 4 gives 2. Nothing else
    is done.

    Args:
        x: numbers. (No infinity.)
        dim, keepdim: unused; may be missing.

    Returns:
        The halves. `x` stays unchanged.

    Source: a book, page 3. Not a promise.
    """


class Layer(nn.Module):
    """Adds one."""

    def forward(self, x):
        """Add one to x."""

    def _hidden(self):
        """Not part of the task."""


SENTENCES = [
    "Divide by two, e.g. 4 gives 2.",
    "Nothing else is done.",
    "x: numbers.",
    "(No infinity.)",
    "dim, keepdim: unused; may be missing.",
    "The halves.",
    "`x` stays unchanged.",
]
CHECKS = ("values", "input_kept")
WHOLE = {
    "Divide by two": "values",
    "Nothing else is done.": "values",
    "The halves.": "values input_kept",
    "stays unchanged": "input_kept",
}
EXPLAINED = ["x: numbers. (No infinity.) dim, keepdim"]


def problems(checks, explained=EXPLAINED):
    return table(task_sentences([halve]), Promises.of(checks, explained), CHECKS)[1]


def test_a_docstring_is_divided_into_its_sentences_without_headings_and_source():
    assert [one.text for one in task_sentences([halve])] == SENTENCES
    assert docstring_sentences("") == []


def test_a_class_promises_what_its_public_methods_say_too():
    assert [(one.of, one.text) for one in task_sentences([Layer])] == [
        ("Layer", "Adds one."),
        ("Layer.forward", "Add one to x."),
    ]


def test_a_table_that_quotes_every_sentence_is_whole():
    found, wrong = table(task_sentences([halve]), Promises.of(WHOLE, EXPLAINED), CHECKS)
    assert wrong == []
    assert found[5].checks == ("values", "input_kept")
    assert [one.explained for one in found] == [False, False, True, True, True, False, False]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"stays unchanged": None}, "no check holds “`x` stays unchanged.” (docstring of halve)"),
        ({"It is fast.": "values"}, "quote “It is fast.”, which the docstring does not hold once"),
        ({"two": "values", "e": "values"}, "quote “e”, which the docstring does not hold once"),
        ({"by two": "valeus"}, "“by two” names the check 'valeus', which does not exist"),
        ({"by two": ""}, "“by two” names no check"),
    ],
)
def test_each_fault_of_a_table_is_one_sentence(change, problem):
    checks = {quote: names for quote, names in {**WHOLE, **change}.items() if names is not None}
    (found,) = problems(checks)
    assert problem in found
