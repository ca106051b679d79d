"""Changed lines are counted as Python reads them, and a fix may have only so many."""

import pytest

from attnlab.checking.advice import explain
from attnlab.checking.changed_lines import (
    CHANGED,
    FewChanges,
    changed_lines,
    definition_text,
    last_definition,
)

BEFORE = '''
def weigh(scores, mask):
    """Weights of the allowed."""
    hidden = mask
    scores = scores.masked_fill(hidden, -1e9)  # (T, T)
    return scores.softmax(-1)
'''


@pytest.mark.parametrize(
    ("edits", "count"),
    [
        ({}, 0),
        ({"hidden = mask": "hidden = ~mask"}, 1),
        ({"hidden = mask": "hidden = ~mask  # True is allowed\n\n"}, 1),
        ({'"""Weights of the allowed."""': '"""Other words."""\n    # and a comment'}, 0),
        ({"(scores, mask)": "(scores: Tensor, mask: Tensor) -> Tensor"}, 0),
        (
            {"scores.masked_fill(hidden, -1e9)": "scores.masked_fill(\n        hidden, -1e9)"},
            0,
        ),
        ({"    hidden = mask\n": ""}, 1),
        ({"    return": "    scores = scores + 1\n    return"}, 1),
        ({"hidden = mask": "hidden = ~mask; scores = scores + 0"}, 2),
        ({"hidden": "forbidden"}, 2),
        ({"hidden = mask": "hidden = ~mask", "softmax(-1)": "softmax(dim=-1)"}, 2),
        ({"def weigh": "@torch.no_grad()\ndef weigh"}, 1),
    ],
)
def test_the_fewest_lines_count(edits, count):
    after = BEFORE
    for old, new in edits.items():
        after = after.replace(old, new)
    assert changed_lines(BEFORE, after) == count


def test_a_program_in_one_expression_is_not_one_line():
    long = "hidden = [" + ", ".join(f"mask.all() and {n}" for n in range(40)) + "][0]"
    assert changed_lines(BEFORE, BEFORE.replace("hidden = mask", long)) > 3


def test_a_line_that_moves_is_taken_out_and_added():
    first, second = "    a = 1\n", "    b = 2\n"
    assert changed_lines(f"def f():\n{first}{second}", f"def f():\n{second}{first}") == 2


class Method:
    def one(self):
        return 1


def test_the_text_of_a_definition_is_that_of_its_file():
    assert "the text of a definition" not in definition_text(Method)
    assert definition_text(Method) == "class Method:\n\n    def one(self):\n        return 1"
    assert definition_text(changed_lines).startswith("def changed_lines(before: str")


@pytest.mark.parametrize("item", [len, type("Empty", (), {})])
def test_a_text_that_nobody_has_is_an_error(item):
    with pytest.raises(LookupError, match=f"the text of {item.__name__} is not known"):
        definition_text(item)


def test_the_last_definition_of_a_name_counts():
    assert last_definition("def f(): return 1\ndef f(): return 2", "f") == "def f():\n    return 2"
    assert last_definition("f = 3", "f") == ""
    assert last_definition("def f(:", "f") == ""


JUDGE = FewChanges(before=BEFORE, name="weigh", most=2)
RIGHT = {"numbers": [1.0, 2.0], CHANGED: 1}


@pytest.mark.parametrize(
    ("seen", "kind"),
    [
        ({"numbers": [1.0, 2.0], CHANGED: 1}, None),
        ({"numbers": [1.0, 2.0 + 1e-12], CHANGED: 2}, None),
        ({"numbers": [1.0, 2.0], CHANGED: 3}, "changes"),
        ({"numbers": [1.0, 2.0], CHANGED: 0}, "changes"),
        ({"numbers": [1.0, 2.0], CHANGED: -1}, "changes"),
        ({"numbers": [1.0, 2.0], CHANGED: True}, "changes"),
        ({"numbers": [1.0, 2.0], CHANGED: "1"}, "changes"),
        ({"numbers": [1.0, 2.0]}, "changes"),
        ({"numbers": [1.0, 3.0], CHANGED: 1}, "values"),
        ([1.0], "type"),
    ],
)
def test_a_fix_that_works_may_change_only_so_many_lines(seen, kind):
    found = JUDGE.compare(RIGHT, seen)
    assert (found and found.kind) == kind
    assert JUDGE.credit(RIGHT, seen) == float(kind is None)


def test_the_advice_names_both_numbers():
    found = JUDGE.compare(RIGHT, {**RIGHT, CHANGED: 5})
    assert explain(found).startswith("Your fix changes 5 lines; 2 are enough.")
    one = FewChanges(before=BEFORE, name="weigh", most=1)
    assert "changes 2 lines; 1 is enough" in explain(one.compare(RIGHT, {**RIGHT, CHANGED: 2}))
    for count in (0, -1):
        said = explain(one.compare(RIGHT, {**RIGHT, CHANGED: count}))
        assert said.startswith("Your fix does not change the given code.")
