"""What a browser would do with a page: everything that acts, or fetches, and came from a hand-in.

A hand-in's own words hold PWN, so that they can be told from the page's.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

MARK = "PWN"
# Where MathJax does not look for formulas.
_NO_FORMULAS = {"pre", "code", "script", "style", "textarea", "title"}
_MACROS = re.compile(
    r"\\(?:href|url|require|style|class|cssId|unicode|def|gdef|let|mmlToken|bbox)(?![A-Za-z])"
)
_FREE = {"id", "alt", "title", "class"}
_EMPTY = {"img", "br", "hr", "input", "meta", "link", "base", "source", "embed", "col", "wbr"}


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self._open: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        classes = dict(attrs).get("class") or ""
        for name, value in attrs:
            said = value or ""
            if MARK not in f"{name}{said}" or name in _FREE:
                continue
            if (tag, name) == ("a", "href") and re.match(r"(?:https?://|#|mailto:)", said):
                continue  # a link to the web, which a person may follow or not
            self.found.append(f"{tag} {name}={said}")
        if {"mermaid", "language-mermaid"} & set(classes.split()):
            self.found.append("a mermaid diagram")
        if tag not in _EMPTY:
            self._open.append((tag, "mathjax_ignore" in classes))

    def handle_data(self, data: str) -> None:
        inside = {tag for tag, _ in self._open}
        if inside & {"script", "style"} and MARK in data:
            self.found.append(f"script: {data[:80]}")
        ignored = inside & _NO_FORMULAS or any(ignore for _, ignore in self._open)
        if not ignored and MARK in data and _MACROS.search(data):
            self.found.append(f"formula: {data[:80]}")

    def handle_endtag(self, tag: str) -> None:
        while any(open_ == tag for open_, _ in self._open):
            if self._open.pop()[0] == tag:
                return


def active(page: str) -> list[str]:
    """What acts, one line each; empty for a harmless page."""
    reader = _Reader()
    reader.feed(page)
    return reader.found
