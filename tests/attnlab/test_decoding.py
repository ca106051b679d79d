"""Greedy decoding and beam search, compared with a search through all sequences."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from attnlab.data.dates import BOS, EOS, PAD, SOURCE, batch_of, validation
from attnlab.decoding import beam_search, greedy, greedy_decode, one_sentence
from attnlab.models.dates_translator import Translator, dates_translator
from attnlab.seq2seq import AttentionDecoderCell, pad_batch
from tests.helpers.cpu_time import takes_less_than

A, B, X, Y, END, START = range(6)
CHANCES = {START: {A: 0.6, B: 0.4}, A: {X: 0.55, Y: 0.45}, B: {X: 0.95, Y: 0.05}}


def two_roads(symbol: int, state: None) -> tuple[Tensor, None]:
    """The smallest model on which greedy fails."""
    p = torch.zeros(6, dtype=torch.float64)
    for following, chance in CHANCES.get(symbol, {END: 1.0}).items():
        p[following] = chance
    return p.log(), state


class Random:
    """A model of four symbols whose probabilities depend on all earlier symbols; 3 is the end."""

    start = torch.zeros(3, dtype=torch.float64)

    def __init__(self, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.mix, self.symbols, self.out = (
            2 * torch.randn(shape, generator=generator, dtype=torch.float64)
            for shape in ((3, 3), (5, 3), (3, 4))
        )

    def __call__(self, symbol: int, state: Tensor) -> tuple[Tensor, Tensor]:
        new_state = torch.tanh(state @ self.mix + self.symbols[symbol])
        return (new_state @ self.out).log_softmax(-1), new_state

    def search(self, width: int, max_len: int, alpha: float = 0.0) -> Any:
        return beam_search(self, self.start, 4, 3, width, max_len, alpha)

    def log_p(self, symbols: tuple[int, ...]) -> float:
        total, state, last = 0.0, self.start, 4
        for symbol in symbols:
            log_p, state = self(last, state)
            total, last = total + float(log_p[symbol]), symbol
        return total


def test_the_smallest_example_where_greedy_fails() -> None:
    ((symbols, score),) = beam_search(two_roads, None, START, END, 1, 5)
    assert symbols == [A, X, END]
    assert math.exp(score) == pytest.approx(0.33)
    best, second = beam_search(two_roads, None, START, END, 2, 5)
    assert best[0] == [B, X, END]
    assert math.exp(best[1]) == pytest.approx(0.38)
    assert second[0] == [A, X, END]


def test_impossible_symbols_are_never_kept() -> None:
    assert len(beam_search(two_roads, None, START, END, 99, 1)) == 2
    assert len(beam_search(two_roads, None, START, END, 99, 9)) == 4


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("alpha", [0.0, 0.7, 1.0])
def test_a_beam_as_wide_as_all_sequences_finds_the_best(seed: int, alpha: float) -> None:
    model = Random(seed)
    sequences = [
        s
        for length in (1, 2, 3, 4)
        for s in itertools.product(range(4), repeat=length)
        if 3 not in s[:-1] and (length == 4 or s[-1] == 3)
    ]
    scores = {s: model.log_p(s) / len(s) ** alpha for s in sequences}
    order = sorted(sequences, key=lambda s: scores[s], reverse=True)
    found = model.search(len(sequences), 4, alpha)
    assert [tuple(symbols) for symbols, _ in found] == order
    assert [score for _, score in found] == pytest.approx([scores[s] for s in order])


@pytest.mark.parametrize("seed", range(4))
def test_hypotheses_differ_are_sorted_and_end_at_eos(seed: int) -> None:
    found = Random(seed).search(5, 6, 0.6)
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)
    assert len({tuple(symbols) for symbols, _ in found}) == len(found) == 5
    assert all(3 not in symbols[:-1] and len(symbols) <= 6 for symbols, _ in found)


def test_a_finished_beam_does_not_call_the_model_again() -> None:
    calls = []

    def ends_at_once(symbol: int, state: None) -> tuple[Tensor, None]:
        calls.append(symbol)
        return torch.tensor([-torch.inf, 0.0]), state

    assert beam_search(ends_at_once, None, 0, 1, 3, 50) == [([1], 0.0)]
    assert calls == [0]


def test_length_normalisation_prefers_the_longer_hypothesis() -> None:
    def step(symbol: int, made: int) -> tuple[Tensor, int]:
        log_p = torch.full((5,), -torch.inf, dtype=torch.float64)
        for first, chance, length in ((3, -0.4, 3), (4, -0.3, 5)):
            if symbol in (0, first):
                log_p[2 if made + 1 == length else first] = chance
        return log_p, made + 1

    assert beam_search(step, 0, 0, 2, 2, 9, 0.0)[0] == ([3, 3, 2], pytest.approx(-1.2))
    assert beam_search(step, 0, 0, 2, 2, 9, 1.0)[0] == ([4, 4, 4, 4, 2], pytest.approx(-0.3))


@pytest.fixture(scope="module")
def model() -> Translator:
    made = dates_translator(AttentionDecoderCell, seed=3)
    with torch.no_grad():  # untrained: larger logits, so that sentences differ and can end
        made.cell.out.weight.mul_(20)
        made.cell.out.bias[EOS] += 2.0
    return made.eval()


def test_greedy_takes_the_likeliest_symbol_of_each_step(model: Translator) -> None:
    pairs = validation()[:6]
    batch = batch_of(pairs, pad_batch)
    written = greedy(model, batch.source, batch.source_mask, BOS, EOS, 9)
    for pair, symbols in zip(pairs, written, strict=True):
        assert EOS not in symbols
        with torch.no_grad():
            source = torch.tensor([SOURCE.encode(pair.human)])
            hidden, state = model.encode(source, source != PAD)
            last = BOS
            for symbol in [*symbols, EOS][:9]:
                logits, state, _ = model.cell(torch.tensor([last]), state, hidden)
                assert int(logits.argmax()) == symbol
                last = symbol


def test_a_beam_of_width_one_equals_greedy(model: Translator) -> None:
    for pair in validation()[6:10]:
        source = torch.tensor([SOURCE.encode(pair.human)])
        (written,) = greedy(model, source, source != PAD, BOS, EOS, 9)
        step, state = one_sentence(model, source, source != PAD)
        ((symbols, _),) = beam_search(step, state, BOS, EOS, 1, 9)
        assert [symbol for symbol in symbols if symbol != EOS] == written


def test_greedy_records_no_gradients_but_does_not_switch_them_off(model: Translator) -> None:
    source = torch.tensor([SOURCE.encode("march 1998")])
    seen = []

    class Watched:
        encode = model.encode

        def cell(self, *args: Tensor) -> Any:
            seen.append(torch.is_grad_enabled())
            return model.cell(*args)

    greedy(Watched(), source, source != PAD, BOS, EOS, 3)
    assert seen
    assert not any(seen)
    assert torch.is_grad_enabled()


def test_greedy_stops_when_all_sentences_have_ended() -> None:
    class Counter:
        """Writes 7s; row i says its end at step ends[i], and 7 again if it is asked for more."""

        def __init__(self, ends: list[int]) -> None:
            self.ends, self.steps = torch.tensor(ends), 0

        def encode(self, source: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
            return torch.zeros(len(source), 1, 1), torch.zeros(len(source), 1)

        def cell(self, y_prev: Tensor, state: Tensor, *_: Tensor) -> tuple[Tensor, Tensor, None]:
            self.steps += 1
            now = torch.where(self.ends == self.steps, 2, 7)
            return torch.nn.functional.one_hot(now, 9).float(), state, None

    source = torch.ones(3, 1, dtype=torch.int64)
    model = Counter([3, 1, 4])
    assert greedy(model, source, source > 0, 1, 2, 20) == [[7, 7], [], [7, 7, 7]]
    assert model.steps == 4
    endless = Counter([99, 2, 99])
    assert greedy(endless, source, source > 0, 1, 2, 5) == [[7] * 5, [7], [7] * 5]
    assert endless.steps == 5


class Echo:
    """A model that scores the last symbol highest; for what decoding does around a model."""

    def encode(self, source: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        return source, mask

    def cell(self, y_prev: Tensor, state: Tensor, *_: Tensor) -> tuple[Tensor, Tensor, None]:
        return torch.nn.functional.one_hot(y_prev, 5).double(), state, None


def test_symbols_are_made_where_the_source_is() -> None:
    """A factory that names no device makes meta tensors here, which mix with no others."""
    source, mask = torch.ones(2, 3).long(), torch.ones(2, 3).bool()
    with torch.device("meta"):
        assert greedy(Echo(), source, mask, 2, 4, 3) == [[2, 2, 2], [2, 2, 2]]
        step, state = one_sentence(Echo(), source[:1], mask[:1])
        assert int(step(3, state)[0].argmax()) == 3


def test_a_large_vocabulary_is_not_searched_symbol_by_symbol() -> None:
    log_p = torch.randn(50_257, generator=torch.Generator().manual_seed(0)).log_softmax(-1)

    def search() -> list[tuple[list[int], float]]:
        return beam_search(lambda symbol, state: (log_p, state), None, 0, 1, 5, 20)

    assert search()[0][0] == [int(log_p.argmax())] * 20
    assert takes_less_than(2, search)  # 13 s if every symbol becomes a candidate


THREE = torch.tensor([[3, 4, 5, 6, 7], [8, 9, 0, 0, 0], [3, 0, 0, 0, 0]])
THREE_VALID = THREE != PAD


class Scripted(nn.Module):
    """A model that writes given rows whatever it reads, and records how it is used."""

    def __init__(self, rows: list[list[int]]) -> None:
        super().__init__()
        self.rows = rows
        self.encoded = 0
        self.seen: list[tuple[tuple[int, ...], bool, bool]] = []

    def encode(self, source: Tensor, source_valid: Tensor) -> Tensor:
        self.encoded += 1
        return source[..., None].double()

    def decode(self, target: Tensor, memory: Tensor, source_valid: Tensor) -> Tensor:
        self.seen.append((tuple(target.shape), self.training, torch.is_grad_enabled()))
        logits = torch.zeros(*target.shape, 12)
        for row, symbols in enumerate(self.rows):
            step = target.shape[1] - 1
            logits[row, -1, symbols[step] if step < len(symbols) else 4] = 1.0
        return logits


def test_rows_end_on_their_own_and_the_source_is_read_once() -> None:
    model = Scripted([[5, 6, EOS], [7, EOS], [8, 9, 10, EOS]]).train()
    written = greedy_decode(model, THREE, THREE_VALID, BOS, EOS, PAD)
    assert written.tolist() == [[5, 6, EOS, PAD], [7, EOS, PAD, PAD], [8, 9, 10, EOS]]
    assert written.dtype == torch.int64
    assert model.encoded == 1
    assert model.seen == [((3, 1 + step), False, False) for step in range(4)]
    assert model.training


def test_each_row_has_the_limit_of_its_own_source() -> None:
    model = Scripted([[4] * 9] * 3)
    written = greedy_decode(model, THREE, THREE_VALID, BOS, EOS, pad=0, max_extra=2)
    assert (written != 0).sum(1).tolist() == [7, 4, 3]
    assert written.shape == (3, 7)


def test_the_mode_is_restored_after_an_error_too() -> None:
    model = Scripted([[4]]).train()
    with pytest.raises(IndexError):
        greedy_decode(model, THREE[0], THREE_VALID[0], BOS, EOS)
    assert model.training
