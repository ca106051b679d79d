"""Two-pattern retrieval: right answers, splits without a common shelf, fixed bytes."""

from __future__ import annotations

import hashlib

import pytest
import torch

from attnlab.data.retrieval import BOXES, DIGITS, LETTERS, Questions, as_text, batches, questions

SPLITS = {
    "train": "a9bce9691f08fa56",
    "validation": "57c77013721b89df",
    "test": "d2c335ddf2a7e9a3",
}


def digest(some: Questions) -> str:
    found = hashlib.sha256()
    for column in some:
        found.update(bytes(column.flatten().tolist()))
    return found.hexdigest()[:16]


def shelves(some: Questions) -> set[tuple[int, ...]]:
    return set(map(tuple, torch.cat([some.letters, some.digits], dim=1).tolist()))


def test_the_questions_are_the_same_bytes_on_every_machine() -> None:
    assert {split: digest(questions(split, 1000, seed=3)) for split in SPLITS} == SPLITS
    assert digest(questions("train", 1000, seed=4)) != SPLITS["train"]


def test_an_answer_is_the_digit_in_the_box_with_the_letter() -> None:
    some = questions("train", 300)
    for lids, digits, asked, answers in zip(
        some.letters.tolist(),
        some.digits.tolist(),
        some.asked.tolist(),
        some.answers.tolist(),
        strict=True,
    ):
        assert len(set(lids)) == BOXES
        assert len(set(asked)) == 2
        assert answers == [digits[lids.index(letter)] for letter in asked]
    assert torch.equal(some.letters.gather(1, some.places), some.asked)


def test_no_shelf_is_in_two_splits_whatever_the_seeds() -> None:
    seen = {
        split: set.union(*(shelves(questions(split, 3000, seed)) for seed in range(3)))
        for split in SPLITS
    }
    assert all(len(found) == 9000 for found in seen.values()), "hardly any shelf occurs twice"
    assert not seen["train"] & seen["validation"]
    assert not seen["train"] & seen["test"]
    assert not seen["validation"] & seen["test"]


@pytest.mark.parametrize("split", SPLITS)
def test_letters_digits_places_and_answers_are_equally_frequent(split: str) -> None:
    some = questions(split, 8000)
    for column, kinds in (
        (some.letters, len(LETTERS)), (some.digits, DIGITS), (some.answers, DIGITS),
        (some.asked[:, 0], len(LETTERS)), (some.places[:, 0], BOXES), (some.places[:, 1], BOXES),
    ):  # fmt: skip
        counts = torch.bincount(column.flatten(), minlength=kinds).double()
        assert len(counts) == kinds
        expected = column.numel() / kinds
        assert float((counts - expected).abs().max()) < 5 * expected**0.5
    equal = (some.answers[:, 0] == some.answers[:, 1]).double().mean()
    assert float(equal) == pytest.approx(1 / DIGITS, abs=0.015)


def test_batches_hold_each_question_once_and_keep_rows_together() -> None:
    some = questions("train", 100)
    several = batches(some, 30, seed=1)
    assert [len(batch.letters) for batch in several] == [30, 30, 30]
    together = Questions(*(torch.cat(column) for column in zip(*several, strict=True)))
    assert shelves(together) < shelves(some)
    assert torch.equal(together.digits.gather(1, together.places), together.answers)
    assert digest(several[0]) == digest(batches(some, 30, seed=1)[0])
    assert digest(several[0]) != digest(batches(some, 30, seed=2)[0])


def test_a_question_as_text() -> None:
    some = Questions(
        torch.arange(8)[None],
        torch.arange(8)[None] + 1,
        torch.tensor([[2, 5]]),
        torch.tensor([[2, 5]]),
        torch.tensor([[3, 6]]),
    )
    assert as_text(some, 0) == (
        "A:1  B:2  C:3  D:4  E:5  F:6  G:7  H:8   What is in C, and what in F?   3 and 6"
    )


def test_an_unknown_split_is_named() -> None:
    with pytest.raises(ValueError, match="no split 'hidden'; there are train, validation, test"):
        questions("hidden", 1)
    with pytest.raises(ValueError, match="1 or more"):
        questions("train", 0)
