"""Hand-ins as hypothesis draws them: a lab's notebook with anything in the place of anything."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import strategies as st

from tests.helpers.fuzz import RAW_JSON, TEXTS, VALUES

PNG = "iVBORw0KGgo="
MARKDOWN = [
    "![", "[", "]", "(", ")", "](", "attachment:a.png", "https://PWN.example/x.png",
    "javascript:PWN()", "`", "```", "~~~", "mermaid\nPWN", "$", "$$", "\\", "\\href{PWN", "<",
    "img src=x onerror=PWN()", ">", "&#60;", "&lt;", "\n", "\n\n", " ", "\t", "{", "}", "|",
    "\n|-|\n", "*", "_", "!", ":", "]:", "[x]", "\u00a0", "\0", "&#92;", "&bsol;", "href{PWN", "> ",
    "- ", "1. ", "    ", "PWN", "#", "'", '"', "mailto:PWN", "\\(", "\\begin{equation}",
    "data:text/html,PWN", "//PWN.example", "\u2028", "\x0b", "\r", "<!--", "-->", "~~", "&colon;",
]  # fmt: skip
EVIL_MARKDOWN = st.lists(st.sampled_from(MARKDOWN), max_size=14).map("".join)
EVIL_TEXTS = st.one_of(
    EVIL_MARKDOWN,
    TEXTS,
    st.sampled_from(
        [
            "<svg onload=PWN()>",
            '<iframe srcdoc="<script>PWN()</script>">',
            "<<<<<<< HEAD\n",
            'check("softmax")',
            "def softmax(x): return x",
            "x" * 300_000,
            "[" * 100_000,
            "![a](attachment:a.png)",
            "- " * 20_000,
            "\x1b[31m" * 5000,
            "`a" * 5000,
        ]
    ),
)
DEEP = "@deep@"
_METADATA = st.one_of(
    VALUES,
    st.just({"a": DEEP}),
    st.fixed_dictionaries(
        {},
        optional={
            "nbgrader": VALUES
            | st.fixed_dictionaries(
                {},
                optional={
                    "grade_id": st.sampled_from(
                        ["softmax", "check_softmax", "entropy", "", "x" * 5000]
                    )
                    | VALUES,
                    "grade": VALUES,
                    "solution": VALUES,
                    "points": VALUES,
                    "cell_type": TEXTS,
                },
            ),
            "tags": VALUES,
            "collapsed": VALUES,
        },
    ),
)
_ATTACHMENTS = VALUES | st.dictionaries(
    st.sampled_from(["a.png", "b.svg", '"onload=PWN()', "a" * 300, ""]),
    VALUES
    | st.fixed_dictionaries(
        {},
        optional={
            "image/png": st.sampled_from([PNG, '"><script>PWN()</script>', "=", " "]) | VALUES,
            "image/svg+xml": st.just("<svg onload='PWN()'/>"),
            "text/html": EVIL_TEXTS,
        },
    ),
    max_size=3,
)
_OUTPUTS = st.lists(
    VALUES | st.fixed_dictionaries({"output_type": TEXTS, "data": VALUES}), max_size=2
)
CELL_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "source": st.one_of(EVIL_TEXTS, st.lists(EVIL_TEXTS | VALUES, max_size=4), VALUES),
    "cell_type": st.sampled_from(["code", "markdown", "raw", "heading", "html", "x"]) | VALUES,
    "metadata": _METADATA,
    "outputs": _OUTPUTS | VALUES,
    "attachments": _ATTACHMENTS,
    "id": st.sampled_from(["c0", "remarks", "cell-0", "x" * 5000, "<PWN>"]) | VALUES,
    "execution_count": VALUES,
    "input": EVIL_TEXTS,
    "level": VALUES,
}
TOP_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "nbformat": st.sampled_from([3, 5, "4", -1, 4.5, 10**30, None]) | VALUES,
    "nbformat_minor": st.sampled_from([0, 99, "5", -1]) | VALUES,
    "metadata": _METADATA,
    "worksheets": VALUES | st.lists(st.fixed_dictionaries({"cells": VALUES}), max_size=2),
    "cells": VALUES,
}
_CELLS = st.fixed_dictionaries(
    {"cell_type": CELL_FIELDS["cell_type"], "source": CELL_FIELDS["source"]},
    optional={name: CELL_FIELDS[name] for name in ("metadata", "outputs", "attachments", "id")},
)
NAMES = st.sampled_from([
    "LAB", "LAB", "LAB", "LAB.txt", "lab01_SOFTMAX.IPYNB", ".hidden.ipynb", "deep/er/x.ipynb",
    "a/b/c/d/e/f/g.ipynb", "nl\nline.ipynb", "\u202ebnypi.x", "<img src=x onerror=PWN()>.ipynb",
    "`x`](javascript:PWN()).ipynb", "\udcff\udcfe.ipynb", "timestamp.txt", "data.csv", "x" * 250,
    "timestamp.txt/x.ipynb", "LAB/x.ipynb", "\x1b[2J.ipynb", "a\\..\\b.ipynb", "no ending",
    "x.json",
])  # fmt: skip


@st.composite
def notebooks(draw: st.DrawFn, base: dict[str, Any]) -> bytes:
    """The bytes of a file that is, was or might have been a notebook."""
    if draw(st.integers(0, 9)) == 0:
        return draw(RAW_JSON | st.binary(max_size=80))
    notebook = copy.deepcopy(base)
    cells = notebook["cells"]
    for _ in range(draw(st.integers(0, 5))):
        place = draw(st.integers(0, len(cells) - 1))
        match draw(st.sampled_from(["field", "lose", "copy", "drop", "swap", "add", "replace"])):
            case "field":
                name = draw(st.sampled_from([*CELL_FIELDS]))
                cells[place] = {**_cell(cells[place]), name: draw(CELL_FIELDS[name])}
            case "lose":
                cells[place] = {k: v for k, v in _cell(cells[place]).items() if k != "metadata"}
            case "copy":
                cells.append(copy.deepcopy(cells[place]))
            case "drop" if len(cells) > 1:
                del cells[place]
            case "swap":
                first, second = _cell(cells[place]), _cell(cells[-1])
                for one, other in ((first, second), (second, first)):
                    one["metadata"] = other.get("metadata", {})
            case "add":
                cells.insert(place, draw(_CELLS))
            case "replace":
                cells[place] = draw(VALUES)
    if draw(st.integers(0, 3)) == 0:
        name = draw(st.sampled_from([*TOP_FIELDS]))
        notebook[name] = draw(TOP_FIELDS[name])
    raw = json.dumps(notebook, ensure_ascii=draw(st.booleans())).encode("utf-8", "surrogatepass")
    raw = raw.replace(json.dumps(DEEP).encode(), b"[" * 900 + b"]" * 900)
    match draw(st.sampled_from([""] * 9 + ["cut", "utf-16", "twice", "mark"])):
        case "cut":
            return raw[: draw(st.integers(0, len(raw)))]
        case "utf-16":
            return raw.decode("utf-8", "surrogatepass").encode("utf-16", "surrogatepass")
        case "twice":
            return raw + raw
        case "mark":
            return b"\xef\xbb\xbf" + raw
    return raw


def _cell(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {"cell_type": "code", "source": "", "metadata": {}}
