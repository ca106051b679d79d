"""Which lab is a notebook of? Its metadata says it, else its name.

Tested in tests/gradekit/submissions/test_collect.py.
"""

from __future__ import annotations

from collections.abc import Collection

from gradekit.errors import NotebookError
from gradekit.submissions.notebook import read_json


def lab_of(path: str, data: bytes, labs: Collection[str]) -> str:
    """The lab of a notebook; empty if neither its metadata nor its name says one of `labs`."""
    said = _in_metadata(data)
    if said in labs:
        return said
    name = path.rpartition("/")[2].lower()
    return max((lab for lab in labs if name.startswith(lab.lower())), key=len, default="")


def _in_metadata(data: bytes) -> str:
    if b'"attnlab"' not in data:
        return ""
    try:
        value = read_json(data, "the notebook")["metadata"]["attnlab"]["lab"]
    except (NotebookError, KeyError, TypeError):
        return ""  # it is opened again, and its student told why it cannot be, when it is graded
    return value if isinstance(value, str) else ""
