"""WordPiece, BERT's way to cut text into pieces of a fixed vocabulary.

Byte-pair encoding applies its merges in order (lab 9); WordPiece takes the *longest* piece that
fits, from the left. A piece that continues a word begins with ``##``: "flightless" is ``flight``
and ``##less``.

Source: Google's Neural Machine Translation System (Wu et al. 2016), section 4.1; Devlin et al.
2019, section 3; lectures G, N.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

import regex

UNKNOWN, FIRST, LAST = "[UNK]", "[CLS]", "[SEP]"
LONGEST_WORD = 100  # characters, as in BERT's own code; a longer word is unknown
_MARK = r"\p{P}$+<=>^`|~\p{Han}"  # what stands alone; BERT takes Chinese signs one by one
_WORDS = regex.compile(rf"[{_MARK}]|[^\s{_MARK}]+")


def pieces(text: str, vocabulary: Mapping[str, int]) -> list[str]:
    """Cut a text into pieces: lower case, no accents, one piece for each punctuation mark.

    Args:
        text: any text.
        vocabulary: from pieces to their numbers.
    """
    plain = unicodedata.normalize("NFD", text.lower())
    plain = "".join(
        c for c in plain if unicodedata.category(c) not in ("Mn", "Cc", "Cf") or c in "\t\n\r"
    )
    return [piece for word in _WORDS.findall(plain) for piece in _of_word(word, vocabulary)]


def _of_word(word: str, vocabulary: Mapping[str, int]) -> list[str]:
    """The longest piece that fits, then the longest one that continues, and so on."""
    found: list[str] = []
    start = 0
    while start < len(word) <= LONGEST_WORD:
        ends = range(len(word), start, -1)
        marks = "##" if start else ""
        end = next((end for end in ends if marks + word[start:end] in vocabulary), None)
        if end is None:
            return [UNKNOWN]
        found.append(marks + word[start:end])
        start = end
    return found or [UNKNOWN]


def encode(text: str, vocabulary: Mapping[str, int], max_len: int = 512) -> list[int]:
    """The numbers of [CLS], the text's pieces, and [SEP]; at most `max_len` in all."""
    kept = pieces(text, vocabulary)[: max_len - 2]
    return [vocabulary[piece] for piece in (FIRST, *kept, LAST)]
