"""Judges as JSON, for the file of visible checks.

Tested in tests/attnlab/checking/test_judges.py.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from attnlab.checking.changed_lines import FewChanges
from attnlab.checking.judges import AtLeast, Close, Judge, Kills, SameShares, Within

JUDGES = {kind.__name__: kind for kind in (Close, SameShares, AtLeast, Within, Kills, FewChanges)}


def judge_to_json(judge: Any) -> dict[str, Any]:
    """A judge as JSON, for :func:`judge_from_json`."""
    return {"judge": type(judge).__name__, **asdict(judge)}


def judge_from_json(fields: dict[str, Any]) -> Judge:
    """The judge that :func:`judge_to_json` wrote."""
    fields = dict(fields)
    kind: Any = JUDGES[fields.pop("judge")]
    if kind is Kills:
        for name in ("versions", "about"):
            fields[name] = tuple((first, second) for first, second in fields.get(name, ()))
    if kind in (Close, SameShares, FewChanges):
        fields["words"] = tuple(fields.get("words", ()))
    judge: Judge = kind(**fields)
    return judge
