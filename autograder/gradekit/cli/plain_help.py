"""Help that says what to write in words of people: NUMBER and not <int>, and nothing for a switch.

Tested in tests/gradekit/cli/test_cli.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

_WORDS = {
    "<bool>": None,
    "<int>": "NUMBER",
    "<int range>": "NUMBER",
    "<path>": "PATH",
    "<str>": "TEXT",
    "<list[str]>": "TEXT",
}


class _PlainTypes:
    """Replaces typer's names of Python's types where the help lists options and arguments."""

    def get_params(self, ctx: Any) -> list[Any]:
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if hasattr(param, "display_type"):
                # On the object, because typer makes options of its own class, --help among them.
                vars(param)["display_type_rich"] = partial(_word, param)
        return params


def _word(param: Any, ctx: Any) -> str | None:
    if param.param_type_name == "argument":
        return None  # its own name is shown beside it
    said = param.metavar or param.display_type(ctx)
    return _WORDS.get(said, said)


class PlainGroup(_PlainTypes, TyperGroup):
    """A command with verbs."""


class _PlainCommand(_PlainTypes, TyperCommand):
    """A verb."""


class Verbs(typer.Typer):
    """Some verbs of one file, with plain help."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"cls": PlainGroup, **settings})

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Any], Any]:
        """As typer's, with the name of the verb and its settings."""
        return super().command(name, cls=_PlainCommand, **settings)
