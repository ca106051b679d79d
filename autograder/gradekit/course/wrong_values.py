"""A wrong value in course.toml as one sentence: the line, what is wrong, what to write.

Tested in tests/gradekit/course/test_course.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from pydantic import ValidationError

from gradekit.course.tables import FILE_NAME, CourseFile, Values
from gradekit.wording import did_you_mean

Location = tuple[int | str, ...]


def sentence_of(text: str, error: ValidationError) -> str:
    """The first error that pydantic found in `text`, which is course.toml's."""
    first = error.errors()[0]
    location = first["loc"]
    if first["type"] == "extra_forbidden":
        return f"{place(text, location)}: {_unknown_key(location)}"
    keys = [str(part) if isinstance(part, str) else f"#{part + 1}" for part in location]
    if first["type"] == "missing":
        return f"{place(text, location)}: {'.'.join(keys)} is not set; add a line {keys[-1]} = …"
    message = _in_words(first["type"], first.get("ctx", {}), first["msg"])
    subject = f"{'.'.join(keys)}: " if keys else ""
    shown = f" (it is {first['input']!r})" if isinstance(first["input"], (str, int, float)) else ""
    return f"{place(text, location)}: {subject}{message}{shown}"


def _in_words(kind: str, limits: Mapping[str, Any], message: str) -> str:
    """What is wrong with a value, without pydantic's own words for types."""
    match kind:
        case "int_type" | "int_parsing" | "int_from_float":
            return "should be a whole number"
        case "float_type" | "float_parsing":
            return "should be a number"
        case "less_than_equal":
            return f"should be at most {limits['le']:g}"
        case "greater_than_equal":
            return f"should be at least {limits['ge']:g}"
        case "greater_than":
            return f"should be more than {limits['gt']:g}"
        case _:
            message = message.removeprefix("Value error, ")
            return message[:1].lower() + message[1:]


def place(text: str, location: Location) -> str:
    """Where course.toml sets the value at `location`, for a message."""
    line = _line_of(text, location)
    return f"{FILE_NAME}, line {line}" if line else FILE_NAME


def _unknown_key(location: Location) -> str:
    """What to write instead of a key that its table does not have."""
    *above, key = location
    known = _keys(_table(above))
    first, *rest = [part for part in above if isinstance(part, str)] or [""]
    name = " ".join([f"[{first}]", *rest]) if first else "the file"
    if question := did_you_mean(str(key), known):
        return f"{name} has no {key}; {question}"
    elsewhere = [
        table
        for table in ("course", "late", "term", "limits", "lab")
        if key in _keys(_table([table]))
    ]
    if elsewhere:
        return f"{name} has no {key}; it belongs under [{elsewhere[0]}]"
    return f"{name} has no {key}; it has {', '.join(known)}"


def _keys(table: type[Values]) -> list[str]:
    return list(table.model_fields)


def _table(path: list[int | str]) -> type[Values]:
    """The values of the table at `path`; names of exercises and numbers in it are passed over."""
    found: type[Values] = CourseFile
    for key in path:
        if key in found.model_fields:
            found = _inner(found.model_fields[str(key)].annotation) or found
    return found


def _inner(annotation: Any) -> type[Values] | None:
    if isinstance(annotation, type) and issubclass(annotation, Values):
        return annotation
    return next(filter(None, map(_inner, get_args(annotation))), None)


def _line_of(text: str, location: Location) -> int | None:
    """The line that sets the value at `location`, or the line that begins its table."""
    lines = [line.split("#")[0].strip() for line in text.splitlines()]
    match location:
        case [str(table), int(number), *keys]:
            skip = number
        case [str(table), *keys]:
            skip = 0
        case _:
            return None
    starts = [n for n, line in enumerate(lines) if line in (f"[{table}]", f"[[{table}]]")]
    if len(starts) <= skip:
        return None
    start = starts[skip]
    # The table's own sub-tables ([lab.limits]) belong to it.
    others = (n for n in range(start + 1, len(lines)) if _is_head(lines[n], f"[{table}."))
    inside = range(start + 1, next(others, len(lines)))
    for key in reversed(keys):
        for number in inside:
            if lines[number].split("=")[0].strip(" []").rpartition(".")[2] == key:
                return number + 1
    return start + 1


def _is_head(line: str, but: str) -> bool:
    return line.startswith("[") and not line.startswith(but)
