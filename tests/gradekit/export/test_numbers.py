"""Numbers of course systems."""

from __future__ import annotations

import pytest

from gradekit.export.numbers import decimal_sign, number_in, written


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12.50", 12.5),
        ("12,5", 12.5),
        (" 7 ", 7),
        ("-1", -1),
        ("", None),
        ("EX", None),
        ("1.2.3", None),
    ],
)
def test_a_number_has_a_point_or_a_comma(text, number):
    assert number_in(text) == number


def test_the_sign_is_the_first_numbers():
    assert decimal_sign(["Lovelace, Ada", "12", "12,50", "1.0"]) == ","
    assert decimal_sign(["Lovelace, Ada", "12"]) == "."


def test_the_same_number_keeps_its_form():
    assert written(12.5, ".", "12.5") == "12.5"
    assert written(12.5, ".", "") == "12.50"
    assert written(12.5, ",", "12,4") == "12,50"
    assert written(0.0, ".", "") == "0.00"
