"""The figures about tokens: their data, and the pictures without a step or a vocabulary."""

from __future__ import annotations

import pytest

from attnlab import plots
from attnlab.compression import compression_curve
from attnlab.data import gpt2_vocabulary
from attnlab.tokenizer import as_tiktoken, count_pieces, encode, merge_pair, train_bpe
from tests.helpers.figures import assert_fits_a_page

pytestmark = pytest.mark.usefixtures("no_windows")
TEXT = "the lowest of the low is lower than the newest, and the widest is slow; " * 2
MERGES = train_bpe(count_pieces(TEXT), 30)


def blank(*args: object, **kwargs: object) -> None:
    raise NotImplementedError


def test_the_trees_count_each_merge_under_both_rules() -> None:
    drawn = plots.tokens.merge_trees(train_bpe, merge_pair)
    assert_fits_a_page(drawn)
    expected = [9, 9, 9, 7, 7, 6, 6, 6, 5, 3, 3, 3]
    assert {tie: counts.tolist() for tie, counts in drawn.data.items()} == {
        "first": expected,
        "greatest": expected,
    }
    figure = drawn.axes[0].figure
    assert "merge 1: e + s, which stood there 9 times" in figure.tips.values()
    assert "“greatest”: t_ (9), st_ (9), est_ (9), ow (7), low (7), west_ (6)" in figure.alt


def test_a_sentence_has_fewer_tokens_with_more_merges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpt2_vocabulary, "load", lambda: None)
    drawn = plots.tokens.one_sentence(encode, MERGES, "the lowest é 🙂")
    assert_fits_a_page(drawn)
    sizes = [len(numbers) for numbers in drawn.data.values()]
    assert list(drawn.data) == ["0 merges", "5 merges", "30 merges"]
    assert sizes == sorted(sizes, reverse=True)
    assert "GPT-2's own tokens are not on this machine" in drawn.note


def test_tokens_of_gpt2_come_last_if_there_are_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpt2_vocabulary, "load", lambda: as_tiktoken(MERGES))
    drawn = plots.tokens.one_sentence(encode, MERGES)
    assert drawn.data["GPT-2"].tolist() == drawn.data["30 merges"].tolist()
    assert not drawn.note


def test_the_curves_are_the_students_numbers() -> None:
    drawn = plots.tokens.compression(compression_curve, MERGES, {"one": TEXT, "two": "é é"})
    assert_fits_a_page(drawn)
    (first, *_, last) = drawn.data["one"].tolist()
    assert [tuple(first), tuple(last)] == compression_curve(TEXT, MERGES, [0, 30])
    assert drawn.data["two"].tolist()[0] == [2.5, 1.0]


def test_no_picture_without_the_step_or_its_result() -> None:
    assert plots.tokens.merge_trees(blank, merge_pair).missing
    assert plots.tokens.one_sentence(blank, MERGES).missing
    assert plots.tokens.one_sentence(encode, None).missing
    assert plots.tokens.compression(compression_curve, None, {}).missing
