"""Figures about a Transformer's decoder show what was computed, not what was expected."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import matplotlib.pyplot as plt
import pytest
import torch

from attnlab.batching import make_batch
from attnlab.data import dates, places
from attnlab.decoding import greedy_decode
from attnlab.encoder_decoder import Transformer
from attnlab.evaluation import forced_and_free
from attnlab.plots import translation
from attnlab.plots.canvas import Described, Drawn
from tests.helpers.figures import assert_fits_a_page, assert_named, unwritten

pytestmark = pytest.mark.usefixtures("no_windows")

PAIRS = [places.LECTURE, places.Pair("Is Oslo in Italy ?", "No it is in Norway")]
DATES = dates.validation()[:60]


def trace() -> Drawn:
    return translation.decoding_trace(Transformer, greedy_decode, places.LECTURE.question)


def gap() -> Drawn:
    return translation.forced_against_free(
        Transformer, make_batch, greedy_decode, forced_and_free, DATES
    )


FIGURES: dict[str, Callable[[], Drawn]] = {
    "reads_and_writes": lambda: translation.reads_and_writes(make_batch, PAIRS),
    "decoding_trace": trace,
    "forced_against_free": gap,
}


def test_every_figure_is_tested_here() -> None:
    functions = {name for name, value in vars(translation).items() if inspect.isfunction(value)}
    own = {n for n in functions if vars(translation)[n].__module__ == translation.__name__}
    assert set(FIGURES) == {name for name in own if not name.startswith("_")}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_names_its_axes_and_fits_a_page(name: str) -> None:
    drawn = FIGURES[name]()
    assert_named(drawn)
    assert_fits_a_page(drawn)


def test_the_batch_is_drawn_as_words_with_a_tip_each() -> None:
    drawn = translation.reads_and_writes(make_batch, PAIRS)
    words = [text.get_text() for text in drawn.axes[0].texts]
    assert words[6:12] == ["START", "It", "is", "at", "Waterloo", "END"]
    assert words[12:18] == ["It", "is", "at", "Waterloo", "END", "PAD"]
    figure = drawn.axes[0].figure
    assert isinstance(figure, Described)
    assert "sentence 0, position 1: decoder reads It" in figure.tips.values()


def test_the_trace_answers_the_lectures_question_step_by_step() -> None:
    drawn = trace()
    assert drawn.note.splitlines()[3].startswith("step 4: reads START It is at → writes Waterloo")
    looked, chances = drawn.data["looked across"], drawn.data["chances"]
    assert looked.shape == (5, 7)
    assert torch.equal(looked[:, 6], torch.zeros(5)), "nothing for PAD"
    assert looked[3].argmax() == 4, "the word Waterloo"
    torch.testing.assert_close(chances.sum(1), torch.ones(5))
    figure = drawn.axes[0].figure
    assert isinstance(figure, Described)
    assert "step 2: position 3 is not written yet" in figure.tips.values()
    assert "step 1 must not look at PAD: 0.000" in figure.tips.values()


def test_the_trace_shows_what_a_wrong_search_feeds() -> None:
    def bos_alone(model, source, source_valid, bos, eos, pad=0):  # type: ignore[no-untyped-def]
        memory = model.encode(source, source_valid)
        for _ in range(3):
            model.decode(source.new_full((1, 1), bos), memory, source_valid)

    drawn = translation.decoding_trace(Transformer, bos_alone, places.LECTURE.question)
    assert len(drawn.note.splitlines()) == 3
    assert all("reads START → writes It" in line for line in drawn.note.splitlines())


def test_exact_match_is_the_same_forced_and_free_and_the_symbols_are_not() -> None:
    data = gap().data
    assert data["forced"][0] == data["free"][0]
    assert data["forced"][1] > data["free"][1] + 0.02
    assert data["forced, by symbol"][3] > data["free, by symbol"][3] + 0.2


def test_a_step_that_is_not_written_is_named_and_nothing_is_drawn() -> None:
    for drawn in (
        translation.reads_and_writes(unwritten, PAIRS),
        translation.decoding_trace(Transformer, unwritten, places.LECTURE.question),
        translation.decoding_trace(unwritten, greedy_decode, places.LECTURE.question),
    ):
        assert (drawn.axes, plt.get_fignums()) == ((), [])
