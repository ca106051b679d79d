"""How many bits a hand-in can carry out through the sentence that a page says about a step.

Each channel has an encoder, which a hostile function could be, and a decoder, which reads the page.
docs/trust.md states the two figures at the end.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch

from attnlab.checking import advice
from attnlab.checking.judges import Close
from attnlab.checking.observation import Missing, Opaque, Raised, pack, unpack
from attnlab.checking.verdict import PreparedCheck, judge_exercise
from gradekit.grading.quoting import QuotationFilter, without_forged_events
from tests.helpers.small_course import PROJECT

RIGHT = torch.zeros(40, 50)
LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = [f"{a}{b}{c}" for a in LETTERS for b in LETTERS for c in LETTERS[:12]]
LINES = [f"{word} = 0" for word in WORDS]
NOTEBOOK = "\n".join(["def softmax(x, dim=-1):", *LINES])
VISIBLE, HIDDEN = 150, 60


@dataclass(frozen=True)
class Channel:
    """A number below `size` becomes an observation, and is read again from the page."""

    size: int
    encode: Callable[[int], Any]
    decode: Callable[[str], int | None]

    @property
    def bits(self) -> int:
        return self.size.bit_length() - 1


def letters(number: int) -> str:
    text = ""
    while number:
        number, digit = divmod(number, 26)
        text += LETTERS[digit]
    return text


def number_in(text: str) -> int:
    return sum(26**place * LETTERS.index(letter) for place, letter in enumerate(text))


def digits(number: int, base: int, count: int) -> list[int]:
    found = []
    for _ in range(count):
        number, digit = divmod(number, base)
        found.append(digit)
    return found


def from_digits(found: list[int], base: int) -> int:
    return sum(base**place * digit for place, digit in enumerate(found))


def written(make: Callable[[str], Any], length: int) -> Channel:
    """Letters that an observation quotes."""

    def decode(page: str) -> int | None:
        found = re.search(r"q\.?(_[a-z]+_)", page)
        return number_in(found[1].strip("_")) if found else None

    return Channel(26**length, lambda number: make(f"q_{letters(number)}_"), decode)


def shape(sizes: int, base: int) -> Channel:
    def decode(page: str) -> int | None:
        found = re.search(r"got \(0, ([\d, ]+)\)", page)
        return from_digits(list(map(int, found[1].split(","))), base) if found else None

    return Channel(base**sizes, lambda number: torch.zeros(0, *digits(number, base, sizes)), decode)


def slices() -> Channel:
    """Which rows are wrong."""

    def encode(number: int) -> torch.Tensor:
        wrong = torch.tensor(digits(number, 2, 40), dtype=torch.float32)
        return RIGHT + wrong[:, None]

    def decode(page: str) -> int | None:
        found = re.search(r"throughout: (\[[\d, ]*\])(?! and)", page)
        return sum(2 ** int(row) for row in re.findall(r"\d+", found[1])) if found else None

    return Channel(2**39, encode, decode)


def message(numbers: int, words: int) -> Channel:
    """A known message of torch's with words of the notebook, its line, and its type's name."""
    base = len(WORDS)
    template = "W(): argument 'W' (position N) must be W, not W"

    def encode(number: int) -> Raised:
        number, place = divmod(number, numbers)
        first, *rest = digits(number, base, words)
        text = template.replace("N", str(place))
        for word in rest[1:]:
            text = text.replace("W", WORDS[word], 1)
        return Raised(WORDS[first], text, LINES[rest[0]])

    def decode(page: str) -> int | None:
        found = re.search(
            r"with (\w+) in the line `(\w+ = 0)`: (\w+)\(\): argument '(\w+)' \(position (\d+)\) "
            r"must be (\w+), not (\w+)", page
        )  # fmt: skip
        if not found:
            return None
        kind, line, a, b, place, c, d = found.groups()
        used = [WORDS.index(kind), LINES.index(line), *map(WORDS.index, (a, b, c, d))]
        return from_digits(used, base) * numbers + int(place)

    return Channel(numbers * base**words, encode, decode)


FORGED = {
    "forbidden": written(lambda text: Raised("ForbiddenCallError", f"torch.{text}"), 300),
    "missing": written(Missing, 45),
    "forbidden inside": written(lambda text: [Raised("ForbiddenCallError", f"torch.{text}")], 300),
}
OTHERS = {
    "message": written(lambda text: Raised("ValueError", text), 80),
    "type of error": written(Raised, 80),
    "type": written(Opaque, 80),
    "text": written(str, 80),
    "keys": written(lambda text: {text: 1.0}, 80),
    "large shape": shape(3, 90_000),
}
LEFT_VISIBLE = {"message": message(10_000, 6), "shape": shape(4, 1000)}
LEFT_HIDDEN = {"shape": shape(4, 1000)}


def page(seen: Any, hidden: bool, vetted: bool, forged: bool) -> str:
    """The sentence on one step's page.

    Args:
        vetted: whether words are vetted on a visible check.
        forged: whether forged events are still there.
    """
    seen = unpack(pack(seen))
    if not forged:
        seen = without_forged_events(seen, {"softmax"}, {"torch.softmax"})
    vet = QuotationFilter([NOTEBOOK]).vet if vetted else None
    right = {dict: {}, list: [RIGHT]}.get(type(seen), RIGHT)
    prepared = PreparedCheck("rows", "Rows.", 1, hidden, Close(), right, {})
    return " ".join(judge_exercise([prepared], {"rows": seen}, [], vet).advice)


def carried(channel: Channel, **how: bool) -> int:
    """The bits that this channel carries: all that it can, or none."""
    numbers = [random.Random(seed).randrange(channel.size) for seed in range(4)]
    read = [channel.decode(page(channel.encode(number), **how)) for number in numbers]
    return channel.bits if read == numbers else 0


@pytest.mark.parametrize("hidden", [True, False])
@pytest.mark.parametrize("channel", FORGED.values(), ids=FORGED)
def test_errors_of_our_own_carry_nothing(channel: Channel, hidden: bool) -> None:
    before = carried(channel, hidden=hidden, vetted=True, forged=True)
    assert before > (200 if channel is FORGED["missing"] else 1_400), "the attack fails"
    assert carried(channel, hidden=hidden, vetted=True, forged=False) == 0


@pytest.mark.parametrize("channel", OTHERS.values(), ids=OTHERS)
def test_words_and_long_numbers_carry_nothing(channel: Channel) -> None:
    assert carried(channel, hidden=False, vetted=False, forged=True) > 40, "the attack fails"
    assert carried(channel, hidden=False, vetted=True, forged=False) == 0
    assert carried(channel, hidden=True, vetted=True, forged=False) == 0


def test_which_slices_are_wrong_says_little(monkeypatch: pytest.MonkeyPatch) -> None:
    assert carried(slices(), hidden=True, vetted=True, forged=False) == 0
    monkeypatch.setattr(advice, "_MOST_SLICES", 100)
    assert carried(slices(), hidden=True, vetted=True, forged=False) > 30


def test_what_is_left_is_what_the_documentation_says() -> None:
    """Everything that is known to be left, measured; the documentation rounds it up."""
    visible = [carried(c, hidden=False, vetted=True, forged=False) for c in LEFT_VISIBLE.values()]
    hidden = [carried(c, hidden=True, vetted=True, forged=False) for c in LEFT_HIDDEN.values()]
    assert 80 < max(visible) <= VISIBLE
    assert 30 < max(hidden) <= HIDDEN


def test_the_documentation_states_both_figures() -> None:
    text = " ".join((PROJECT / "docs" / "trust.md").read_text().split())
    assert f"at most {HIDDEN} bits" in text
    assert f"at most {VISIBLE} bits" in text
