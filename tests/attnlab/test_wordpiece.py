"""WordPiece takes the longest piece from the left, as BERT's own tokeniser does."""

from __future__ import annotations

import pytest

from attnlab import wordpiece

PIECES = "[PAD] [UNK] [CLS] [SEP] a ab abc ##b ##bc ##c ##d flight ##less bird ##s , don ' t 日"
VOCABULARY = {piece: number for number, piece in enumerate(PIECES.split())}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("flightless birds", "flight ##less bird ##s"),
        ("abcd", "abc ##d"),  # not "ab ##c ##d": the longest comes first
        ("abbc", "ab ##bc"),
        ("Ábc", "abc"),
        ("a,ab", "a , ab"),
        ("don't", "don ' t"),
        ("日日", "日 日"),
        ("abx a", "[UNK] a"),  # one unknown end makes the whole word unknown
        ("a" * 101, "[UNK]"),
        (" \t\n", ""),
        ("a\u200bb\x00", "ab"),
    ],
)
def test_the_longest_piece_comes_first(text: str, expected: str) -> None:
    assert wordpiece.pieces(text, VOCABULARY) == expected.split()


def test_a_text_begins_and_ends_with_its_marks_and_is_cut() -> None:
    ids = [VOCABULARY[piece] for piece in ("[CLS]", "flight", "##less", "[SEP]")]
    assert wordpiece.encode("flightless", VOCABULARY) == ids
    assert wordpiece.encode("flightless birds", VOCABULARY, 4) == ids
    assert wordpiece.encode("", VOCABULARY) == [VOCABULARY["[CLS]"], VOCABULARY["[SEP]"]]
