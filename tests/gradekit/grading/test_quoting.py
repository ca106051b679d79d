"""Which words of student code feedback may quote; tests/attacks has the attempts to misuse it."""

from __future__ import annotations

import pytest

from attnlab.checking.judges import Difference
from attnlab.checking.observation import Opaque, Raised
from gradekit.grading.quoting import QuotationFilter

NOTEBOOK = "def softmax(x):\n    return x.summ()\nclass Mine: ..."
vet = QuotationFilter([NOTEBOOK]).vet


@pytest.mark.parametrize("kind", ["values", "type", "a kind of some judge's own"])
def test_words_are_quoted_only_from_the_notebook_whatever_the_kind(kind: str) -> None:
    assert vet(Difference(kind, seen="softmax")).seen == "softmax"
    assert "secret" not in str(vet(Difference(kind, seen="a secret of a hidden check")).seen)


def test_numbers_are_quoted() -> None:
    difference = Difference("values", ("a",), 1.0, 2.0)
    assert vet(difference) == difference


def test_names_of_types_are_quoted_if_the_notebook_or_python_has_them() -> None:
    assert vet(Difference("type", seen=Opaque("__main__.Mine"))).seen == Opaque("Mine")
    assert vet(Difference("type", seen=Opaque("dict"))).seen == Opaque("dict")
    assert vet(Difference("type", seen=Opaque("a.secret"))).seen == Opaque("another type")


@pytest.mark.parametrize(
    ("message", "quoted"),
    [
        ("name 'softmax' is not defined", "name 'softmax' is not defined"),
        ("name 'hidden_draw' is not defined", ""),
        ("the hidden check draws 7 rows", ""),
    ],
)
def test_only_common_messages_about_known_names_are_quoted(message: str, quoted: str) -> None:
    seen = vet(Difference("raised", seen=Raised("NameError", message, "secret line"))).seen
    assert seen == Raised("NameError", quoted, "")


@pytest.mark.parametrize(
    ("weight", "quoted"),
    [("x.weight", ""), ("x.summ", "there is no weight x.summ"), ("a.hidden", ""), ("x.x.x.x", "")],
)
def test_a_missing_weight_is_named_if_the_notebook_has_its_words(weight: str, quoted: str) -> None:
    raised = Raised(
        "MissingWeightError", f"there is no weight {weight} of shape (3, 4); there is y"
    )
    assert vet(Difference("raised", seen=raised)).seen == Raised("MissingWeightError", quoted)
