"""A student's notebook for other people's eyes, made unable to run anything.

formgrader and Jupyter render a notebook's Markdown, outputs and attachments as web pages. There, a
student's text and outputs get no tag, no script, no foreign link and no picture from elsewhere.
Text keeps its words: characters that would start a tag get a space, so that every renderer shows
them as text.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import count
from typing import Any

from nbformat.notebooknode import NotebookNode

from gradekit.feedback.pictures import pixels

MOST_TEXT = 256 * 2**10
MOST_MARKDOWN = 64 * 2**10
MOST_MARKDOWN_OF_ALL = 2**19
# From each beginning of a formula, a renderer searches for its end, to the end of the text; from
# each beginning of a link, to the end of the line. So the numbers of both are limited.
MOST_FORMULAS = 20
MOST_BRACKETS = 50
MOST_IMAGE = 8 * 2**20
# A page needs four bytes for each pixel, however few the file has. A telephone's photo has 50
# million pixels.
MOST_PIXELS = 2**26
MOST_PIXELS_OF_ALL = 2**28
_IMAGES = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
_SCHEMES = r"\s*(?:https?://|\#|mailto:)"
_REMARK = "[Output was cut here.]"
_CUT = "[This text was cut here.]"

# A picture's name, without what could move its end: brackets, code, formulas, escapes.
_NAME = r"[^\[\]\\`$<\n]{0,200}"
_PICTURE = re.compile(rf"(!\[{_NAME}\])( \(attachment:([\w.-]{{1,100}})\))")
_MACROS = (
    "href|url|require|style|class|cssId|unicode|def|gdef|let|global|mmlToken|bbox|data|html[A-Za-z]*"
    "|includegraphics"
)
# A submission must not keep the grader busy: every repetition is short or cannot be tried twice.
# Each pattern finds a position where Markdown or MathJax would make more than text.
_DEFUSED = (
    (re.compile(r"<(?=[A-Za-z/!?])"), "< "),
    # An entity of a backslash or letter, which is replaced before MathJax searches for formulas.
    (re.compile(r"&(?=#|bsol;)"), "& "),
    (re.compile(rf"!\[(?!{_NAME}\]\(attachment:)"), "! ["),
    (re.compile(rf"(?<=\])\((?!{_SCHEMES})"), " ("),
    (re.compile(rf"(?<=\]):(?!{_SCHEMES})"), " :"),
    (re.compile(rf"\\(?=(?:{_MACROS})(?![A-Za-z]))"), r"\\ "),
    # A diagram, or a language that is an entity of a space, at which the renderer fails.
    (re.compile(r"(?i)(?<![`~])([`~]{3,}+[^\S\n]*+)(?:mermaid|(?=&))"), r"\1text "),
)


_FORMULA = re.compile(r"(\\\\|\\begin)([\[({])")
_BRACKET, _LIKE_ONE = re.compile(r"\["), "\N{FULLWIDTH LEFT SQUARE BRACKET}"


def sanitize_text(source: str, pictures: Iterable[str] = ()) -> str:
    """Markdown that renders as text, formulas, links to the web and the cell's own pictures.

    Args:
        pictures: names of the cell's attachments; one that is missing would break the whole page.
    """
    text = source.replace("\0", "\N{REPLACEMENT CHARACTER}")
    if len(text) > MOST_MARKDOWN:
        text = f"{text[:MOST_MARKDOWN]}\n\n{_CUT}"
    for pattern, harmless in _DEFUSED:
        text = pattern.sub(harmless, text)
    text = _FORMULA.sub(_beyond(MOST_FORMULAS, r"\1 \2"), text)
    if text.count("[") > MOST_BRACKETS:
        text = "\n".join(
            _BRACKET.sub(_beyond(MOST_BRACKETS, _LIKE_ONE), line) for line in text.split("\n")
        )
    known = frozenset(pictures)

    def own(found: re.Match[str]) -> str:
        return found[1] + found[2].lstrip() if found[3] in known else found[0]

    return _PICTURE.sub(own, text)


def _beyond(most: int, instead: str) -> Callable[[re.Match[str]], str]:
    """For ``re.sub``: leaves the first `most` matches unchanged."""
    seen = count(1)
    return lambda found: found[0] if next(seen) <= most else found.expand(instead)


def sanitize_cells(cells: Iterable[NotebookNode], known: Collection[str]) -> None:
    """Make all cells of a notebook safe to show, as :func:`sanitize_cell` does with one.

    Args:
        known: the texts of the released notebook's cells, which stay unchanged.
    """
    left, room = MOST_MARKDOWN_OF_ALL, _Room(MOST_PIXELS_OF_ALL)
    for cell in cells:
        own = cell.source.strip() not in known
        if own and cell.cell_type != "code" and min(len(cell.source), MOST_MARKDOWN) > left:
            cell.source = _CUT  # before it is searched, which takes a tenth of a second
        sanitize_cell(cell, not own, room)
        if own and cell.cell_type == "markdown":
            if len(cell.source) > left:
                cell.source = _CUT
            left -= len(cell.source)


class _Room:
    """The pixels that may still be shown."""

    def __init__(self, left: int) -> None:
        self._left = left

    def take(self, number: int) -> bool:
        """Whether a picture of so many pixels may be shown; if so, they are gone."""
        if number > min(MOST_PIXELS, self._left):
            return False
        self._left -= number
        return True


def sanitize_cell(
    cell: NotebookNode, known_text: bool = False, room: _Room | None = None
) -> NotebookNode:
    """Make a student's cell safe to show; its id and metadata are not checked.

    A raw cell becomes Markdown that shows its text unchanged.

    Args:
        known_text: the text is the released notebook's own and stays unchanged.
        room: for pictures.
    """
    room = room or _Room(MOST_PIXELS_OF_ALL)
    if cell.cell_type == "code":
        cell.outputs = sanitize_outputs(cell.get("outputs", []), room)
        return cell
    text = cell.source
    if cell.cell_type == "raw":
        cell.cell_type = "markdown"
        text = "\n".join(f"    {line}" for line in text.splitlines())
    pictures = _attachments(cell.pop("attachments", None), room)
    if pictures:
        cell.attachments = pictures
    cell.source = text if known_text else sanitize_text(text, pictures)
    return cell


def sanitize_outputs(
    outputs: Iterable[Mapping[str, Any]], room: _Room | None = None
) -> list[NotebookNode]:
    """The outputs that show text and pictures; all else (HTML, scripts, widgets, SVG) is dropped.

    An output without nbformat's form is dropped, too. A long text is cut, with a remark. A picture
    of too many pixels is left out.
    """
    kept, room = [], room or _Room(MOST_PIXELS_OF_ALL)
    for output in outputs:
        if not isinstance(output, Mapping):
            continue
        clean = _clean(output, room)
        if clean:
            kept.append(NotebookNode(clean))
    return kept


def _clean(output: Mapping[str, Any], room: _Room) -> dict[str, Any] | None:
    match output.get("output_type"):
        case "stream":
            return _stream(output)
        case "error":
            return _error(output)
        case "display_data" | "execute_result":
            return _shown(output, room)
        case _:  # the student's choice: any other kind is not shown
            return None


def _stream(output: Mapping[str, Any]) -> dict[str, Any] | None:
    name = "stderr" if output.get("name") == "stderr" else "stdout"
    text = _text(output.get("text"))
    return {"output_type": "stream", "name": name, "text": text} if text else None


def _error(output: Mapping[str, Any]) -> dict[str, Any]:
    lines = output.get("traceback")
    trace = [_text(line) for line in lines[:200]] if isinstance(lines, list) else []
    return {
        "output_type": "error",
        "ename": _text(output.get("ename"))[:200],
        "evalue": _text(output.get("evalue")),
        "traceback": trace,
    }


def _shown(output: Mapping[str, Any], room: _Room) -> dict[str, Any] | None:
    data = output.get("data")
    given = data if isinstance(data, Mapping) else {}
    kept: dict[str, Any] = {}
    if "text/plain" in given:
        kept["text/plain"] = _text(given["text/plain"])
    for kind in _IMAGES:
        image = _image(kind, given.get(kind), room)
        if image:
            kept[kind] = image
    if not kept:
        return None
    shown = {"output_type": str(output["output_type"]), "data": NotebookNode(kept)}
    shown["metadata"] = NotebookNode()
    if shown["output_type"] == "execute_result":
        count = output.get("execution_count")
        shown["execution_count"] = count if isinstance(count, int) else None
    return shown


def _text(value: Any) -> str:
    parts = value if isinstance(value, list) else [value]
    text = "".join(part for part in parts if isinstance(part, str))
    text = text.encode("utf-8", "replace").decode()
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}\n{_REMARK}"


def _image(kind: str, value: Any, room: _Room) -> str | None:
    """The picture in base64, if it is one; a page puts this text into an attribute."""
    text = "".join(value.split()) if isinstance(value, str) else ""
    if not text or len(text) > MOST_IMAGE:
        return None
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return text if data.startswith(_IMAGES[kind]) and room.take(pixels(data)) else None


def _attachments(values: Any, room: _Room) -> NotebookNode:
    kept = NotebookNode()
    for name, bundle in values.items() if isinstance(values, Mapping) else []:
        if not re.fullmatch(r"[\w.-]{1,100}", str(name)) or not isinstance(bundle, Mapping):
            continue
        given = {kind: _image(kind, bundle.get(kind), room) for kind in _IMAGES}
        images = {kind: image for kind, image in given.items() if image}
        if images:
            kept[str(name)] = NotebookNode(images)
    return kept
