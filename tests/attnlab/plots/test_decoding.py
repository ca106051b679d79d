"""Figures about a decoder's output draw what they return, and hold what lab 2 says about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from attnlab.data.dates import TARGET, validation
from attnlab.decoding import beam_search, greedy, one_sentence
from attnlab.models.dates_translator import dates_translator
from attnlab.plots import decoding
from attnlab.plots.canvas import Drawn
from attnlab.seq2seq import AttentionDecoderCell
from tests.helpers.figures import assert_fits_a_page, assert_named, unwritten

pytestmark = pytest.mark.usefixtures("no_windows")


def untrained() -> Any:
    return dates_translator(AttentionDecoderCell).eval()


FIGURES: dict[str, Callable[[Any], Drawn]] = {
    "needed_context": lambda model: decoding.needed_context(model, validation()[:40]),
    "own_mistakes": lambda model: decoding.own_mistakes(untrained(), greedy, validation()[:20]),
    "beam_widths": lambda model: decoding.beam_widths(
        model, beam_search, one_sentence, validation()[:3], (1, 2)
    ),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_can_be_drawn_and_names_its_axes(name: str, translator: Any) -> None:
    drawn = FIGURES[name](translator)
    assert drawn.axes[0].figure.alt.endswith(".")
    assert_fits_a_page(drawn)
    assert_named(drawn)
    assert drawn.data


@pytest.mark.parametrize(
    "draw",
    [
        lambda model: decoding.beam_widths(None, beam_search, one_sentence, validation()[:2]),
        lambda model: decoding.beam_widths(model, unwritten, one_sentence, validation()[:2]),
        lambda model: decoding.own_mistakes(model, unwritten, validation()[:2]),
        lambda model: decoding.needed_context(None, validation()[:2]),
    ],
)
def test_a_step_that_is_not_written_leaves_a_sentence(
    draw: Callable[[Any], Drawn], translator: Any
) -> None:
    drawn = draw(translator)
    assert drawn.missing.startswith("No picture yet")
    assert not drawn.axes


def test_a_model_without_own_mistakes_leaves_a_sentence(translator: Any) -> None:
    assert (
        "makes no mistake" in decoding.own_mistakes(translator, greedy, validation()[1:30]).missing
    )


def test_year_and_day_need_the_place_that_they_look_at_and_the_month_does_not(
    translator: Any,
) -> None:
    """What lab 2 says in "Is the map the reason?"."""
    share = decoding.needed_context(translator, validation()[:200]).data["share"]
    as_it_looks, _, mean, nothing = share
    assert float(as_it_looks.min()) > 0.99
    assert mean[2:4].tolist() == pytest.approx([1 / 6, 1 / 6], abs=0.04)
    assert mean[8:10].tolist() == pytest.approx([1 / 3, 1 / 3], abs=0.06)
    assert float(mean[5:7].min()) > 0.85
    assert float(nothing[5]) > 0.75


def test_replacing_the_context_does_not_change_the_steps_after_it(translator: Any) -> None:
    """A replaced context at one step is an experiment on this step alone."""
    share = decoding.needed_context(translator, validation()[1:40]).data["share"]
    assert share.shape == (4, 11)
    assert float(share[0].min()) == 1.0


def test_an_own_mistake_is_compared_with_the_true_prefix() -> None:
    data = decoding.own_mistakes(untrained(), greedy, validation()[:20]).data
    assert data["share"].shape == (2, 2)
    assert data["spoiled"].all()


def test_a_wider_beam_finds_sequences_at_least_as_likely_as_greedy(translator: Any) -> None:
    pairs = validation()[1:5]
    drawn = decoding.beam_widths(translator, beam_search, one_sentence, pairs, (1, 3))
    likely = drawn.data["log-probability"]
    assert likely[1] >= likely[0] - 1e-9
    assert drawn.data["right"].shape == drawn.data["too short"].shape == (2, 2)
    assert drawn.note.startswith("Of 4 dates, greedy has 4 right, and a beam of 3 has 4")


def test_mistakes_of_the_search_and_of_the_model_are_counted_apart(translator: Any) -> None:
    """A search that returns nonsense makes search errors; the model prefers the truth."""

    def nonsense(*args: Any) -> list[tuple[list[int], float]]:
        return [([4, 4, 2], -30.0)]

    drawn = decoding.beam_widths(translator, nonsense, one_sentence, validation()[:4], (1, 2))
    assert "likelier than the one found in 4 (search errors) and less likely in 0" in drawn.note
    assert drawn.data["too short"].tolist() == [[1, 1], [1, 1]]

    def boastful(*args: Any) -> list[tuple[list[int], float]]:
        return [([4, 4, 2], 0.0)]

    drawn = decoding.beam_widths(translator, boastful, one_sentence, validation()[:4], (1, 2))
    assert "likelier than the one found in 0 (search errors) and less likely in 4" in drawn.note


def test_new_dates_are_counted_and_the_first_mistakes_listed(translator: Any) -> None:
    pairs = validation()

    def right_but(count: int) -> list[str]:
        def answers(*args: Any) -> list[Any]:
            right = [TARGET.encode(pair.iso) for pair in pairs]
            return [TARGET.encode("1900-01-01")] * count + right[count:]

        return decoding.new_dates(translator, answers, pairs).splitlines()

    count, *lines = right_but(5)
    assert count == "99.0% of 500 new dates are right"
    assert len(lines) == 5
    assert all("instead of" in line for line in lines)
    _, *lines, last = right_but(500)
    assert len(lines) == 12
    assert last == "  … and 488 more"
    assert decoding.new_dates(None, greedy, pairs).startswith("No list yet")
    assert "No list yet: `unwritten` is not written." in decoding.new_dates(
        translator, unwritten, pairs
    )


def test_while_grading_the_beams_are_not_searched(
    translator: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*args: Any) -> Any:
        raise AssertionError("searched")

    with pytest.raises(AssertionError, match="searched"):
        decoding.beam_widths(translator, never, one_sentence, validation()[:2])
    monkeypatch.setenv("ATTNLAB_GRADING", "1")
    drawn = decoding.beam_widths(translator, never, one_sentence, validation()[:2])
    assert "not made while grading" in drawn.missing


@pytest.mark.slow
def test_the_hurried_model_makes_errors_of_the_model_and_pays_for_its_own_mistakes(
    hurried: Any,
) -> None:
    """What lab 2 says after beam search: three pictures of a model trained for one pass."""
    drawn = decoding.beam_widths(hurried, beam_search, one_sentence, validation()[:60], (1, 8))
    right, short = drawn.data["right"], drawn.data["too short"]
    assert right[0, 1] > right[0, 0], "on the whole, more dates are right"
    assert "  lost: " in drawn.note, "but some are lost"
    assert short[0, 1] > short[0, 0] + 0.03
    assert short[1, 1] < short[0, 1] / 2
    assert short[1, 1] <= 0.05, "hardly any date stops too soon"
    assert "found in 0 (search errors)" in drawn.note
    own, fed = decoding.own_mistakes(hurried, greedy, validation()).data["share"]
    assert float((fed - own).min()) > 0.1
