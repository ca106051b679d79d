"""Checks a cell's outputs on arrival, so that a page can show them safely.

The untrusted side may send anything. Only nbformat's four kinds of output, with plain text and
pictures, are kept. HTML, JavaScript, SVG and metadata are dropped, because they could make a page
run code.

Tested in tests/gradekit/sandbox/test_output_filter.py and tests/attacks/test_active_content.py.
"""

from __future__ import annotations

import re
from typing import Any

# The first repetition must not backtrack, or a long run of spaces would be tried again and again.
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]*+={0,2}\s*")
_PICTURES = ("image/png", "image/jpeg")
_TEXTS = ("text/plain",)
_ENTRY_BYTES = 64


def clean_outputs(raw: Any, budget: int) -> tuple[tuple[dict[str, Any], ...], int]:
    """The well-formed outputs in `raw`, and the number of bytes of `budget` that they use.

    Malformed outputs are left out, and so is everything after the budget is spent.
    """
    kept: list[dict[str, Any]] = []
    spent = 0
    for entry in raw if isinstance(raw, list) else []:
        output = _clean(entry)
        if output is None:
            continue
        size = _ENTRY_BYTES + _size(output)
        if spent + size > budget:
            break
        kept.append(output)
        spent += size
    return tuple(kept), spent


def _clean(entry: Any) -> dict[str, Any] | None:
    if not isinstance(entry, dict):
        return None
    match entry:
        case {"output_type": "stream", "name": "stdout" | "stderr" as name, "text": str(text)}:
            return {"output_type": "stream", "name": name, "text": text}
        case {
            "output_type": "error",
            "ename": str(ename),
            "evalue": str(evalue),
            "traceback": list(lines),
        } if all(isinstance(line, str) for line in lines):
            return {"output_type": "error", "ename": ename, "evalue": evalue, "traceback": lines}
        case {"output_type": "display_data", "data": dict(data)}:
            clean = _clean_data(data)
            return {"output_type": "display_data", "data": clean, "metadata": {}} if clean else None
        case {"output_type": "execute_result", "data": dict(data), "execution_count": int(count)}:
            clean = _clean_data(data)
            if not clean or isinstance(count, bool) or not 0 <= count < 10**6:
                return None
            return {
                "output_type": "execute_result",
                "data": clean,
                "metadata": {},
                "execution_count": count,
            }
    return None


def _clean_data(data: dict[str, Any]) -> dict[str, str]:
    texts = {kind: data[kind] for kind in _TEXTS if isinstance(data.get(kind), str)}
    pictures = {
        kind: data[kind]
        for kind in _PICTURES
        if isinstance(data.get(kind), str) and _BASE64.fullmatch(data[kind])
    }
    return {**texts, **pictures}


def _size(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(map(_size, value.values()))
    if isinstance(value, list):
        return sum(len(line) + 1 for line in value)
    return 0
