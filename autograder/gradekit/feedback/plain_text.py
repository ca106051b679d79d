"""A student's text for a terminal or a page, without characters that change the text around it.

Tested in tests/gradekit/feedback/test_plain_text.py.
"""

from __future__ import annotations

import unicodedata

# Control characters, format characters and halves of characters (lone surrogates).
_REPLACED = frozenset({"Cc", "Cf", "Cs"})
# The format characters that ordinary text needs: line ends, tabs, soft hyphens, joiners, and marks
# (not overrides) of the writing direction.
_NEEDED_IN_PROSE = frozenset("\t\n\r\u00ad\u061c\u200b\u200c\u200d\u200e\u200f\u2060\ufeff")


def plain_line(text: str) -> str:
    """One line for a terminal: no control or format character is left."""
    return "".join("�" if _is_replaced(char) else char for char in text)


def plain_prose(text: str) -> str:
    """Text for a page: line ends and joiners stay; controls and direction overrides do not."""
    return "".join(
        "�" if _is_replaced(char) and char not in _NEEDED_IN_PROSE else char for char in text
    )


def _is_replaced(char: str) -> bool:
    return unicodedata.category(char) in _REPLACED
