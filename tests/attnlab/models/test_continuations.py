"""Texts by temperature, from the shipped GPT."""

from __future__ import annotations

from attnlab.kv_cache import generate
from attnlab.models.continuations import SETTINGS, by_temperature


def test_each_setting_writes_a_text_of_its_own() -> None:
    found = by_temperature(generate, new=12)
    assert found.keys() == SETTINGS.keys()
    assert all(text.startswith("Return the") for text in found.values())
    assert len(set(found.values())) > 3


def test_no_text_without_the_step() -> None:
    def blank(*args: object, **named: object) -> None:
        raise NotImplementedError

    assert by_temperature(blank) == {}
