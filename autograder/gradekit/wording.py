"""Numbers and lists of names in sentences for people.

Tested in tests/gradekit/test_wording.py.
"""

from __future__ import annotations

from collections.abc import Iterable


def counted(number: int, noun: str) -> str:
    """A number with its noun, as in "1 pair" and "2 pairs"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def first_of(names: Iterable[str], most: int) -> str:
    """At most `most` of some names, and how many more there are, as in "ada, bob and 3 more"."""
    listed = list(names)
    more = f" and {len(listed) - most} more" if listed[most:] else ""
    return f"{', '.join(listed[:most])}{more}"
