"""Which of a name's values a step means, whatever later cells make of the name."""

from __future__ import annotations

from typing import Any

import pytest

from attnlab.checking.definitions import Definitions, NameChange, kind_of

GRADED = {
    "softmax": {"softmax": "function"},
    "attention": {"attention": "function"},
    "layer": {"Layer": "class"},
    "guesses": {"guesses": "dict"},
}
SOFTMAX = "import math\ndef softmax(x): return [math.exp(v) for v in x]"
ATTENTION = "def attention(x): return softmax(x)[0]"


def played(*cells: str, checks: dict[int, str] | None = None) -> tuple[Definitions, dict[str, Any]]:
    definitions, names = Definitions(GRADED), {"__name__": "__main__"}
    for number, source in enumerate(cells):
        exec(source, names)
        checked = [checks[number]] if checks and number in checks else []
        definitions.after_cell(number, names, checked)
    return definitions, names


def asked(step: str, expression: str, *cells: str, checks: dict[int, str] | None = None) -> Any:
    """The value of an expression for a step after these cells."""
    definitions, names = played(*cells, checks=checks)
    return (
        eval(expression, names | {}) if not step else _with(names, definitions.of(step), expression)
    )


def _with(names: dict[str, Any], values: dict[str, Any], expression: str) -> Any:
    names.update(values)
    return eval(expression, names)


@pytest.mark.parametrize(
    "later",
    ["softmax = 0.7", "softmax = softmax([0])", "del softmax", "import math as softmax",
     "for softmax in range(3): pass", "del math", "math = 90", "softmax = abs",
     "def use(): ...\nsoftmax = max(1, 2)", "del softmax, math",
     "def softmax(x):\n    raise NotImplementedError"],
)  # fmt: skip
def test_a_later_cell_does_not_cost_a_step(later: str) -> None:
    with pytest.raises((TypeError, NameError, AttributeError, NotImplementedError, AssertionError)):
        assert asked("", "softmax([0])", SOFTMAX, later) == [1]  # what is left at the end
    assert asked("softmax", "softmax([0])", SOFTMAX, later) == [1]
    definitions, _ = played(SOFTMAX, "x = 1", later, "y = 2")
    assert {change.cell for change in definitions.changes("softmax")} == {2}


def test_the_last_good_definition_counts_in_whatever_cell() -> None:
    better = "def softmax(x): return 'better'"
    assert asked("softmax", "softmax([0])", SOFTMAX, better) == "better"
    assert asked("softmax", "softmax([0])", SOFTMAX, better, "softmax = 3") == "better"
    stub = "def softmax(x):\n    raise NotImplementedError"
    assert asked("softmax", "softmax([0])", stub, "softmax = sum") == 0
    assert asked("softmax", "softmax", "softmax = 3", "x = 1") == 3


def test_a_later_step_uses_the_graded_definition_of_an_earlier_one() -> None:
    cells = [SOFTMAX, ATTENTION, "softmax = 0.7"]
    assert asked("attention", "attention([0])", *cells) == 1
    wrong = "def softmax(x): return [5]"
    assert asked("attention", "attention([0])", *cells, wrong) == 5


def test_globals_are_those_of_the_last_check() -> None:
    uses = "scale = None\ndef softmax(x): return scale"
    cells = [uses, "scale = 2", "scale = 3"]
    assert asked("softmax", "softmax(1)", *cells) is None
    assert asked("softmax", "softmax(1)", *cells, checks={1: "softmax"}) == 2
    definitions, _ = played(*cells, checks={1: "softmax"})
    assert definitions.changes("softmax") == (NameChange("scale", 2),)


def test_a_name_that_comes_later_is_used_as_it_first_was() -> None:
    uses = "def softmax(x): return helper(x)"
    first, second = "def helper(x): return 1", "helper = 2"
    assert asked("softmax", "softmax(0)", uses, first, second) == 1


def test_helpers_of_helpers_and_methods_are_followed() -> None:
    layer = (
        "import math\ndef inner(x): return math.exp(x)\ndef outer(x): return inner(x)\n"
        "class Base:\n    @staticmethod\n    def go(x): return outer(x)\n"
        "class Layer(Base):\n    @property\n    def one(self): return self.go(0)"
    )
    assert asked("layer", "Layer().one", layer, "del math", "inner = 3") == 1


def test_decorated_functions_are_definitions() -> None:
    cached = "import math\nfrom functools import cache\n@cache\ndef softmax(x): return math.exp(x)"
    assert asked("softmax", "softmax(0)", cached, "softmax = softmax(0)", "del math") == 1
    graph = "import torch\n@torch.no_grad()\ndef softmax(x): return torch.ones(x)"
    assert asked("softmax", "len(softmax(2))", graph, "del torch") == 2


def test_an_attribute_of_a_name_is_not_a_global() -> None:
    uses = "def softmax(x): return x.real"
    definitions, _ = played(uses, "real = 1", "real = 2", checks={1: "softmax"})
    assert definitions.changes("softmax") == ()
    assert definitions.of("softmax") == {}


def test_a_class_is_not_replaced_by_its_object_and_an_answer_not_by_a_number() -> None:
    assert asked("layer", "Layer.__name__", "class Layer: ...", "Layer = Layer()") == "Layer"
    answers = "guesses = {'P1': 3}"
    assert asked("guesses", "guesses", answers, "guesses = 5") == {"P1": 3}
    assert asked("guesses", "guesses", answers, "guesses = {'P1': 4}") == {"P1": 4}


def test_nothing_changed_means_nothing_to_replace() -> None:
    definitions, _ = played(SOFTMAX, ATTENTION, "x = softmax([0])", "x = 0.5", "x = 0.25 * 2")
    assert all(definitions.of(step) == {} for step in GRADED)
    assert all(definitions.changes(step) == () for step in GRADED)


def test_large_values_are_not_kept() -> None:
    definitions, names = played("import torch\nbig = torch.ones(10**6)")
    kept = [entry.value for entries in definitions._history.values() for entry in entries]
    assert all(value is not names["big"] for value in kept)


def test_the_kind_of_a_right_answer() -> None:
    assert [kind_of(right) for right in (len, dict, {}, 3)] == ["function", "class", "dict", "int"]
