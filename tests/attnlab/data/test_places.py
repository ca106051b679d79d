"""Questions about places: a small language, without the lecture's own question."""

from __future__ import annotations

import pytest

from attnlab.data import places


def test_every_answer_follows_from_its_question_and_the_lectures_is_left_out() -> None:
    pairs = places.pairs()
    assert len(pairs) == len(set(pairs)) == 911
    assert places.LECTURE not in pairs
    assert places.LECTURE.question not in {pair.question for pair in pairs}
    for pair in pairs:
        (town,) = {word for word in pair.question.split()[1:5] if word in places.COUNTRY_OF} - {
            pair.question.split()[-2] if " at " in pair.question else ""
        }
        expected = town if "University" in pair.question else places.COUNTRY_OF[town]
        assert pair.answer.split()[-1] == expected
        assert pair.question.split()[-2] != expected or pair.question.startswith("Where")


def test_words_and_numbers_are_each_others_inverse() -> None:
    for text in (*places.LECTURE, "No it is in Norway"):
        numbers = places.WORDS.encode(text)
        assert min(numbers) >= 3
        assert places.WORDS.decode([1, *numbers, 2, 5, 0]) == text
    assert [places.WORDS.name(number) for number in range(4)] == ["PAD", "START", "END", "Where"]
    with pytest.raises(ValueError, match="'Atlantis' is not in this vocabulary"):
        places.WORDS.encode("Where is Atlantis ?")
