"""The dates: the same bytes on every machine, no date in two splits, and all of them right."""

from __future__ import annotations

import hashlib
import re
from datetime import date

import pytest
import torch

from attnlab.data import dates
from attnlab.data.dates import BOS, EOS, PAD, SOURCE, TARGET, Pair
from attnlab.seq2seq import pad_batch
from tests.helpers.cpu_time import takes_less_than

DIGESTS = {
    "train": "a4855ef5ac75ef55c0dcdd209d49ded96278cbb04677e9cb60f451098027eb78",
    "validation": "e2e3152462a3ae973d5133584803a3ba144c1a85f59540b3b04fe21a1af1c72f",
    "test of seed 7": "ceb355f5e700407a801a870688b55de8e530dfaa14e242cabd5ef87673c9f475",
}
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


def read(human: str) -> str:
    """A human date in ISO 8601, by a different method from the generator's."""
    numbers = re.findall(r"\d+", human)
    if numbers == [human] and len(human) == 8:
        return f"{human[:4]}-{human[4:6]}-{human[6:]}"
    year = next(n for n in numbers if len(n) == 4)
    small = [int(n) for n in numbers if len(n) < 4]
    month = next(
        (
            MONTHS.index(w[:3]) + 1
            for w in re.findall("[a-z]+", human)
            if w[:3] in MONTHS and not w.endswith("day") and w != "mon"
        ),
        None,
    )
    if month is None:
        month, *small = small
    return "-".join([year, f"{month:02}", *(f"{n:02}" for n in small)])


def test_the_bytes_are_the_same_on_every_machine_and_quickly_made() -> None:
    def make() -> dict[str, list[tuple[str, str]]]:
        return {
            "train": dates.train(), "validation": dates.validation(),
            "test of seed 7": dates.pairs(500, 7, "test"),
        }  # fmt: skip

    assert takes_less_than(1, make)
    made = make()
    for name, some in made.items():
        text = "\n".join("\t".join(pair) for pair in some)
        assert hashlib.sha256(text.encode()).hexdigest() == DIGESTS[name], name


def test_sizes_and_symbols() -> None:
    train = dates.train()
    assert len(set(train)) == 5500
    assert len(set(dates.validation())) == 500
    assert {len(pair.iso) for pair in train} == {7, 10}
    assert set("".join(pair.human for pair in train)) == set(SOURCE.characters)
    assert set("".join(pair.iso for pair in train)) == set(TARGET.characters)
    assert len(SOURCE) == 3 + len(set(SOURCE.characters)) == 40
    assert len(TARGET) == 3 + len(set(TARGET.characters)) == 14


def test_no_date_is_in_two_splits() -> None:
    seen = {
        split: {pair.iso for seed in (1, 2, 3) for pair in dates.pairs(2000, seed, split)}
        for split in ("train", "validation", "test")
    }
    assert not seen["train"] & seen["validation"]
    assert not seen["train"] & seen["test"]
    assert not seen["validation"] & seen["test"]
    assert {pair.iso for pair in dates.train()}.isdisjoint(seen["test"] | seen["validation"])


def test_every_date_equals_its_iso_form() -> None:
    for human, iso in dates.pairs(4000, 11):
        assert read(human) == iso, human
        if len(iso) == 10:
            day = date.fromisoformat(iso)
            weekday = re.match("(mon|tue|wed|thu|fri|sat|sun)", human)
            assert weekday is None or weekday[1] == WEEKDAYS[day.weekday()], human


def test_ordinals() -> None:
    written = {human for human, _ in dates.pairs(6000, 5)}
    endings = {m[0] for human in written for m in re.finditer(r"\d+(st|nd|rd|th)", human)}
    right = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd", 31: "st"}
    assert endings == {f"{n}{right.get(n, 'th')}" for n in range(1, 32)}


def test_decoding_returns_the_encoded_text() -> None:
    assert TARGET.encode("1998-03", ends=True)[0] == BOS
    assert TARGET.encode("1998-03", ends=True)[-1] == EOS
    assert TARGET.decode([*TARGET.encode("1998-03", ends=True), PAD, 5]) == "1998-03"
    assert TARGET.decode(torch.tensor(TARGET.encode("2024-12-31"))) == "2024-12-31"
    assert SOURCE.decode(SOURCE.encode("the 3rd of may, 1901")) == "the 3rd of may, 1901"
    with pytest.raises(ValueError, match="'x'"):
        SOURCE.encode("xmas 1998")
    with pytest.raises(ValueError, match="no split 'dev'"):
        dates.pairs(1, 1, "dev")
    with pytest.raises(ValueError, match="76650 at most"):
        dates.pairs(200_000, 1, "test")


def test_batches_hold_every_pair_once() -> None:
    some = dates.pairs(70, 3)
    batches = dates.batches(some, pad_batch, 32, seed=4)
    assert [len(batch.source) for batch in batches] == [32, 32, 6]
    seen = []
    for batch in batches:
        assert torch.equal(batch.source_mask, batch.source != PAD)
        assert torch.equal(batch.target_mask, batch.target != PAD)
        assert bool((batch.target[:, 0] == BOS).all())
        seen += [
            Pair(SOURCE.decode(source), TARGET.decode(target))
            for source, target in zip(batch.source.tolist(), batch.target.tolist(), strict=True)
        ]
    assert sorted(seen) == sorted(some)
    assert seen != some
    again = dates.batches(some, pad_batch, 32, seed=4)
    assert all(torch.equal(a.source, b.source) for a, b in zip(batches, again, strict=True))


def test_exact_match_counts_whole_dates() -> None:
    some = [Pair("may 1998", "1998-05"), Pair("2001.02.03", "2001-02-03")]
    right = [[*TARGET.encode("1998-05"), EOS, 4], TARGET.encode("2001-02-03")]
    assert dates.exact_match(right, some) == 1
    assert dates.exact_match([right[0], TARGET.encode("2001-02-04")], some) == 0.5


def test_new_formats_are_new_and_their_dates_are_of_the_test_split() -> None:
    usual = {re.sub(r"\d", "0", pair.human) for pair in dates.pairs(5000, 0)}
    for form in dates.NEW_FORMATS:
        some = dates.in_a_new_format(form, 20, seed=1)
        assert some == dates.in_a_new_format(form, 20, seed=1)
        assert len(set(some)) == 20
        assert {dates.split_of(pair.iso) for pair in some} == {"test"}
        assert not usual & {re.sub(r"\d", "0", pair.human) for pair in some}
        for pair in some:
            SOURCE.encode(pair.human)
