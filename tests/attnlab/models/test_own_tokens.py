"""The student's own vocabulary beside tiktoken's: what is said, and when nothing is."""

from __future__ import annotations

import pytest

from attnlab.data.manuals import Manuals
from attnlab.models import own_tokens
from attnlab.notebook.check import GRADING_VARIABLE
from attnlab.tokenizer import count_pieces, encode, train_bpe

TEXT = "Return the lowest value; raise ValueError if there is no value in the list.\n" * 9


@pytest.fixture(autouse=True)
def short_manuals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_tokens, "manual_text", lambda: Manuals(TEXT, TEXT[:300]))


def blank(*args: object, **kwargs: object) -> None:
    raise NotImplementedError


def test_merges_are_learned_from_the_manuals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_tokens, "NUM_MERGES", 20)
    assert own_tokens.learn_from_manuals(train_bpe) == train_bpe(count_pieces(TEXT), 20)


def test_nothing_is_learned_without_the_step_or_while_grading(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert own_tokens.learn_from_manuals(blank) is None
    monkeypatch.setenv(GRADING_VARIABLE, "1")
    assert own_tokens.learn_from_manuals(train_bpe) is None
    said = capsys.readouterr().out.splitlines()
    assert said == [
        "No merges yet: `blank` is not written.",
        "While grading, nothing is learned here: no points depend on it.",
    ]


def test_a_right_encoder_says_what_tiktoken_says(capsys: pytest.CaptureFixture[str]) -> None:
    merges = train_bpe(count_pieces(TEXT), 60)
    own_tokens.compare_with_tiktoken(encode, merges)
    own_tokens.compare_with_tiktoken(lambda text, merges: encode(text.lower(), merges), merges)
    own_tokens.compare_with_tiktoken(blank, merges)
    own_tokens.compare_with_tiktoken(encode, None)
    own_tokens.compare_with_tiktoken(encode, [(b"a", b"b"), (b"a", b"b")])
    right, wrong, first, unwritten, none, twice = capsys.readouterr().out.splitlines()
    assert right == "1,000 of 1,000 strings have the same tokens as with tiktoken."
    assert 100 < int(wrong.partition(" ")[0]) < 900
    assert first.startswith("The first other one is ")
    assert unwritten == "Nothing to compare yet: `blank` is not written."
    assert none == "There are no merges to compare with tiktoken's."
    assert twice == "tiktoken cannot use these merges: two merges make b'ab'."


def test_the_strings_hold_what_breaks_tokenisers() -> None:
    texts = own_tokens.strings()
    assert len(texts) == 1000
    assert texts == own_tokens.strings()
    joined = "".join(texts)
    assert "" in texts
    assert all(sign in joined for sign in ("🙂", "中", "\u0301", "\t", "\n", "def ", "'"))
