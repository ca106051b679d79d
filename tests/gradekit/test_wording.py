"""Numbers and names in sentences."""

import pytest

from gradekit.wording import (
    counted,
    did_you_mean,
    first_of,
    fitted,
    without_breaks,
    without_middle,
)


def test_a_noun_follows_its_number() -> None:
    assert [counted(number, "page") for number in (0, 1, 2)] == ["0 pages", "1 page", "2 pages"]


def test_names_beyond_the_most_are_counted() -> None:
    assert first_of(["ada", "bob"], 2) == "ada, bob"
    assert first_of(iter(["ada", "bob", "cyd", "dan"]), 2) == "ada, bob and 2 more"
    assert first_of([], 2) == ""


def test_a_long_text_keeps_its_ends() -> None:
    assert without_middle("0123456789", 10) == "0123456789"
    assert without_middle("0123456789", 6) == "01…789"
    assert without_middle("0123456789", 5) == "01…89"


def test_similar_names_are_asked_about() -> None:
    assert did_you_mean("adaa", ["ada", "adda", "zoe"]) == "did you mean ada?"
    assert did_you_mean("adaa", iter(["ada", "adda", "zoe"]), 3) == "did you mean ada or adda?"
    assert did_you_mean("x", ["ada"], 3) == did_you_mean("x", []) == ""


def test_paragraphs_stay_and_their_line_breaks_go() -> None:
    assert without_breaks("one\ntwo\n\nthree\nfour") == "one two\n\nthree four"


def test_a_sentence_is_broken_between_words_for_people_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sentence = "one two /a/path/that-is-longer-than-a-line three"
    monkeypatch.delenv("COLUMNS", raising=False)
    assert fitted(sentence, is_terminal=False) == sentence
    monkeypatch.setenv("COLUMNS", "12")
    lines = ["one two", "/a/path/that-is-longer-than-a-line", "three"]
    assert fitted(sentence, is_terminal=True).splitlines() == lines
    assert fitted(sentence, is_terminal=False).splitlines() == lines
