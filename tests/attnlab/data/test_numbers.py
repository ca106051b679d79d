"""Numbers in words: the words are CLDR's, splits share no number, bytes are fixed."""

from __future__ import annotations

import hashlib
import random

import pytest

from attnlab.data import numbers
from attnlab.data.dates import BOS, EOS
from attnlab.data.vocabulary import split_words

SPLITS = ("train", "validation", "test")
# Written by unicode-rbnf 2.4.1 (rules "spellout-numbering"); all numbers below 10,000 and all
# multiples of 1,000 were compared with it, too.
KNOWN = {
    1: ("one", "un"),
    16: ("sixteen", "seize"),
    17: ("seventeen", "dix-sept"),
    21: ("twenty-one", "vingt-et-un"),
    70: ("seventy", "soixante-dix"),
    71: ("seventy-one", "soixante-et-onze"),
    79: ("seventy-nine", "soixante-dix-neuf"),
    80: ("eighty", "quatre-vingts"),
    81: ("eighty-one", "quatre-vingt-un"),
    91: ("ninety-one", "quatre-vingt-onze"),
    99: ("ninety-nine", "quatre-vingt-dix-neuf"),
    101: ("one hundred one", "cent un"),
    200: ("two hundred", "deux cents"),
    201: ("two hundred one", "deux cent un"),
    1000: ("one thousand", "mille"),
    1080: ("one thousand eighty", "mille quatre-vingts"),
    2001: ("two thousand one", "deux mille un"),
    21000: ("twenty-one thousand", "vingt-et-un mille"),
    80000: ("eighty thousand", "quatre-vingt mille"),
    200000: ("two hundred thousand", "deux cent mille"),
    280000: ("two hundred eighty thousand", "deux cent quatre-vingt mille"),
    300001: ("three hundred thousand one", "trois cent mille un"),
}


@pytest.mark.parametrize("number", KNOWN)
def test_words_of_some_numbers(number: int) -> None:
    assert (numbers.english(number), numbers.french(number)) == KNOWN[number]


def test_words_are_those_of_cldr() -> None:
    rbnf = pytest.importorskip("unicode_rbnf", reason="unicode-rbnf reads CLDR's own rules")
    rng = random.Random(0)
    some = [*range(1, 120), *(rng.randint(1, numbers.MOST) for _ in range(500))]
    for language, words in (("en", numbers.english), ("fr", numbers.french)):
        engine = rbnf.RbnfEngine.for_language(language)
        expected = [engine.format_number(n).text_by_ruleset["spellout-numbering"] for n in some]
        assert [words(n) for n in some] == expected


def test_no_number_has_the_words_of_another() -> None:
    some = range(1, 3000)
    assert len({numbers.english(n) for n in some}) == len({numbers.french(n) for n in some}) == 2999


@pytest.mark.parametrize("number", [0, -3, 1_000_000])
def test_other_numbers_are_refused(number: int) -> None:
    with pytest.raises(ValueError, match="is not from 1 to 999,999"):
        numbers.french(number)


def test_the_pairs_are_the_same_on_every_machine() -> None:
    text = repr([tuple(pair) for pair in numbers.pairs(500, 3)])
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "821c35a3887a6687"


def test_no_number_is_in_two_splits_whatever_the_seeds() -> None:
    seen = [
        {pair.english for seed in range(3) for pair in numbers.pairs(2000, seed, split)}
        for split in SPLITS
    ]
    assert not seen[0] & seen[1]
    assert not seen[0] & seen[2]
    assert not seen[1] & seen[2]
    assert {pair.english for pair in numbers.train()}.isdisjoint(
        pair.english for pair in numbers.validation()
    )


def test_impossible_wishes_are_refused() -> None:
    with pytest.raises(ValueError, match="no split 'tests'"):
        numbers.pairs(3, 0, "tests")
    with pytest.raises(ValueError, match="it has 49999 at most"):
        numbers.pairs(60_000, 0, "test")


def test_a_hyphen_is_a_word_of_its_own() -> None:
    assert split_words("vingt-et-un mille") == ["vingt", "-", "et", "-", "un", "mille"]
    ids = numbers.SOURCE.encode("twenty-one thousand", ends=True)
    assert (len(ids), ids[0], ids[-1]) == (6, BOS, EOS)
    assert numbers.SOURCE.decode([*ids, 5]) == "twenty-one thousand"
    with pytest.raises(ValueError, match="'zillion'"):
        numbers.SOURCE.encode("one zillion")


def test_the_vocabularies_are_what_the_pairs_need() -> None:
    some = numbers.train()
    english = {word for pair in some for word in split_words(pair.english)}
    french = {word for pair in some for word in split_words(pair.french)}
    assert english == set(numbers.SOURCE.words)
    assert french == set(numbers.TARGET.words)
    assert max(len(split_words(pair.french)) for pair in some) <= 20
