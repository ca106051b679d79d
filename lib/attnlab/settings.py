"""Settings from a command line: ``key=value``, checked against frozen dataclasses."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import fields
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from attnlab.checking.errors import LabError


class SettingError(LabError):
    """A setting that does not exist, or a value that does not fit it."""


def parse(texts: Sequence[str], kinds: Sequence[type]) -> list[Any]:
    """One object of each dataclass, with the values that the texts give.

    Args:
        texts: such as "steps=60"; of two with the same key, the last one counts.
        kinds: dataclasses without a common field, all of whose fields have a default. Types are
            int, float, str, bool, a `Literal` of words, or one of them or None.

    Raises:
        SettingError: there is no such key, or its value is not of its type; or what the
            dataclasses themselves raise.
    """
    types = {name: (kind, hint) for kind in kinds for name, hint in get_type_hints(kind).items()}
    values: dict[type, dict[str, Any]] = {kind: {} for kind in kinds}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise SettingError(f"{text!r} is not a setting; write key=value, such as steps=60")
        if name not in types:
            hint = did_you_mean(name, types)
            raise SettingError(f"there is no setting {name!r}{hint or list_of(types)}")
        kind, type_ = types[name]
        values[kind][name] = _value(name, value, type_)
    return [kind(**values[kind]) for kind in kinds]


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """ "; did you mean …?" with the most similar of some words; empty if none is similar."""
    close = difflib.get_close_matches(word, list(words), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def list_of(words: Iterable[str]) -> str:
    """ "; there are …" with all words."""
    return f"; there are {', '.join(words)}"


def described(kinds: Sequence[type]) -> str:
    """All settings with their default values, one line for each dataclass."""
    return "\n".join(
        " ".join(f"{field.name}={_text(field.default)}" for field in fields(kind)) for kind in kinds
    )


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)


def _value(name: str, text: str, type_: Any) -> Any:
    options = get_args(type_)
    if NoneType in options:
        if text.lower() == "none":
            return None
        (type_,) = (option for option in options if option is not NoneType)
    if get_origin(type_) is Literal:
        words = get_args(type_)
        if text not in words:
            hint = did_you_mean(text, words) or list_of(words)
            raise SettingError(f"{name} cannot be {text!r}{hint}")
        return text
    if type_ is bool:
        answers = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if text.lower() not in answers:
            raise SettingError(f"{name} must be true or false, not {text!r}")
        return answers[text.lower()]
    try:
        return type_(text)
    except ValueError:
        what = {int: "a whole number", float: "a number"}[type_]
        raise SettingError(f"{name} must be {what}, not {text!r}") from None
