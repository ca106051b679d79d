"""Settings from a command line: types, words, typos."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pytest

from attnlab.settings import SettingError, described, parse


@dataclass(frozen=True)
class Numbers:
    steps: int = 3
    rate: float = 0.5
    limit: float | None = 1.0
    fast: bool = False


@dataclass(frozen=True)
class Words:
    name: str = "auto"
    kind: Literal["one", "two"] = "one"


def test_values_have_the_types_of_their_fields() -> None:
    assert parse([], (Numbers, Words)) == [Numbers(), Words()]
    texts = ["steps=7", "rate=1e-3", "limit=none", "fast=Yes", "name=a=b", "kind=two", "steps=8"]
    assert parse(texts, (Numbers, Words)) == [Numbers(8, 0.001, None, True), Words("a=b", "two")]
    assert parse(["limit=2"], [Numbers]) == [Numbers(limit=2.0)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("step=7", "there is no setting 'step'; did you mean 'steps'?"),
        ("zzz=7", "there is no setting 'zzz'; there are steps, rate, limit, fast, name, kind"),
        ("steps", "'steps' is not a setting; write key=value, such as steps=60"),
        ("steps=7.5", "steps must be a whole number, not '7.5'"),
        ("rate=x", "rate must be a number, not 'x'"),
        ("limit=", "limit must be a number, not ''"),
        ("fast=maybe", "fast must be true or false, not 'maybe'"),
        ("kind=tow", "kind cannot be 'tow'; did you mean 'two'?"),
        ("kind=zzz", "kind cannot be 'zzz'; there are one, two"),
    ],
)
def test_a_wrong_setting_is_one_sentence(text: str, message: str) -> None:
    with pytest.raises(SettingError) as caught:
        parse([text], (Numbers, Words))
    assert str(caught.value) == message


def test_all_settings_are_listed_as_they_are_written() -> None:
    assert described((Numbers, Words)) == (
        "steps=3 rate=0.5 limit=1.0 fast=false\nname=auto kind=one"
    )
