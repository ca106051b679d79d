"""Pieces of the HTML that ``check()`` shows in a notebook.

There is no script and no style sheet. Inline styles use the page's own text colour, so the result
is readable in light and dark themes of JupyterLab, VS Code and Colab. Tested in
``tests/attnlab/checking/test_render.py`` and ``test_overview.py``.
"""

from __future__ import annotations

import re
from html import escape

PASS, PART, FAIL, NOTE = "#16906a", "#b07d1c", "#d2571e", "#3a7fc4"
ADVICE_TINT, NOTE_TINT = "rgba(210,120,40,.13)", "rgba(58,127,196,.15)"
CARD_WIDTH = 840  # pixels; the widest picture of a difference fits in


def card(colour: str, content: str) -> str:
    """The frame of everything that is shown; `colour` is that of its left edge."""
    return div(
        f"border-left:4px solid {colour};padding:6px 12px 8px 14px;margin:4px 0;"
        f"max-width:{CARD_WIDTH}px;"
        "font-family:system-ui,-apple-system,'Segoe UI',sans-serif;font-size:13px;"
        "line-height:1.45;color:inherit",
        content,
    )


def box(text: str, tint: str) -> str:
    """A paragraph on a tinted ground."""
    style = f"margin-top:8px;padding:7px 11px;border-radius:6px;background:{tint}"
    return div(style, rich(text))


def fold(summary: str, content: str, opened: bool = False) -> str:
    """HTML that is folded behind a line of text, or unfolded at first if `opened`."""
    is_open = ' open=""' if opened else ""
    return (
        f'<details style="margin-top:8px;font-size:12px"{is_open}>'
        f'<summary style="cursor:pointer;opacity:.85">{rich(summary)}</summary>{content}</details>'
    )


def mark(passed: bool) -> str:
    """A tick or a cross, with its word for those who do not see it."""
    colour, sign, word = (PASS, "✓", "passed") if passed else (FAIL, "✗", "failed")
    return (
        f'<span style="color:{colour};font-weight:700;flex:0 0 18px" role="img" '
        f'aria-label="{word}">{sign}</span>'
    )


def rich(text: str) -> str:
    """Escaped text; words between backticks become code."""
    return re.sub(r"`([^`]+)`", lambda found: code(found[1]), escape(text))


def code(escaped: str) -> str:
    """Escaped text as code."""
    return (
        '<code style="background:rgba(127,127,127,.16);color:inherit;padding:0 4px;'
        f'border-radius:3px;font-size:.93em">{escaped}</code>'
    )


def div(style: str, content: str) -> str:
    """A block of HTML with a style."""
    return f'<div style="{style}">{content}</div>'


def number(points: float) -> str:
    """A number of points, without needless digits."""
    return f"{round(points, 2):g}"
