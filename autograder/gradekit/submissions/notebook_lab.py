"""Which lab is a notebook of? Its metadata says it, else its name.

Tested in tests/gradekit/submissions/test_collect.py.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from gradekit.submissions.folder import MOST_BYTES


def lab_of(path: str, data: bytes, labs: Collection[str]) -> str:
    """The lab of a notebook; empty if neither its metadata nor its name says one of `labs`."""
    said = _in_metadata(data)
    if said in labs:
        return said
    name = path.rpartition("/")[2].lower()
    return max((lab for lab in labs if name.startswith(lab.lower())), key=len, default="")


def _in_metadata(data: bytes) -> str:
    # Any other notebook is opened, with all limits, when it is graded.
    if len(data) > MOST_BYTES or b'"attnlab"' not in data:
        return ""
    value: Any = None
    try:
        value = json.loads(data)["metadata"]["attnlab"]["lab"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return value if isinstance(value, str) else ""
