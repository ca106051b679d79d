"""Byte-pair encoding: the published example, ties, and a real tiktoken encoding beside it."""

from __future__ import annotations

import random

import pytest

from attnlab.tokenizer import (
    as_tiktoken,
    count_pieces,
    decode,
    encode,
    token_numbers,
    train_bpe,
)

SENNRICH = {b"low_": 5, b"lower_": 2, b"newest_": 6, b"widest_": 3}  # section 3.2 of the paper
TEXT = "the lowest of the low is lower than the newest and the widest, it's 12 34\n\n  low é 🙂 "
SPECIAL = ("<|end|>", "<|pad|>")


def products(merges):
    return " ".join((first + second).decode() for first, second in merges)


@pytest.mark.parametrize(
    ("tie", "expected"),
    [
        ("first", "es est est_ lo low ne new newest_ low_ wi wid widest_"),
        ("greatest", "t_ st_ est_ ow low west_ ne newest_ low_ wi wid widest_"),
    ],
)
def test_the_papers_words_give_other_merges_for_each_rule_of_ties(tie, expected):
    assert products(train_bpe(SENNRICH, 12, tie=tie)) == expected


def test_merges_end_when_no_word_has_two_parts():
    assert len(train_bpe({word[:-1]: count for word, count in SENNRICH.items()}, 99)) == 12
    assert train_bpe({b"": 3, b"a": 2}, 5) == []
    assert train_bpe({}, 5) == []


def test_a_pair_is_joined_from_the_left_without_overlap():
    assert train_bpe({b"aaa": 1}, 9) == [(b"a", b"a"), (b"aa", b"a")]


def test_counts_of_words_weigh_the_pairs():
    assert train_bpe({b"ab": 1, b"cd": 5, b"ef": 3}, 1) == [(b"c", b"d")]


def test_pieces_make_up_the_text():
    assert sum(len(piece) * n for piece, n in count_pieces(TEXT).items()) == len(TEXT.encode())
    assert count_pieces("low low lower") == {b"low": 1, b" low": 1, b" lower": 1}


@pytest.mark.parametrize("tie", ["first", "greatest"])
def test_tiktoken_encodes_the_same(tie):
    merges = train_bpe(count_pieces(TEXT * 2), 40, tie=tie)
    fast = as_tiktoken(merges, special=SPECIAL)
    draw = random.Random(0)
    texts = ["", " ", "\n", "<|end|>", "low<|end|>er<|pad|>", "e\u0301", "中文", "🙂🙂", "<|en|>"]
    texts += ["".join(draw.choices(TEXT, k=draw.randint(1, 30))) for _ in range(300)]
    for text in texts:
        ids = encode(text, merges, special=SPECIAL)
        assert ids == fast.encode(text, allowed_special="all"), text
        assert decode(ids, merges, SPECIAL) == text
        assert encode(text, merges) == fast.encode_ordinary(text), text


def test_merges_are_applied_by_rank():
    merges = [(b"b", b"c"), (b"a", b"b")]
    assert encode("abc", merges) == [97, 256]  # and not ab c
    assert encode("abab", [(b"a", b"b")]) == [256, 256]


def test_of_two_special_tokens_the_longer_is_found():
    assert encode("a<|x|>z", [], special=("<|x|>", "<|x|>z")) == [97, 257]


def test_half_a_character_becomes_a_replacement():
    whole = list("🙂".encode())
    assert decode(whole, []) == "🙂"
    assert decode(whole[:2], []) == "\N{REPLACEMENT CHARACTER}"


def test_a_number_without_a_token_is_named():
    for number in (-1, 257):
        with pytest.raises(
            ValueError, match=f"{number} is not a token: the numbers go from 0 to 256"
        ):
            decode([97, number], [(b"a", b"b")])


def test_two_merges_with_one_product_are_refused():
    with pytest.raises(ValueError, match="two merges make b'abc'"):
        token_numbers([(b"a", b"bc"), (b"ab", b"c")])
