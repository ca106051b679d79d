"""Figures about a decoder's output: what it needs, what a mistake costs, what a beam repairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attnlab.data.dates import BOS, EOS, PAD, SOURCE, TARGET, Batch, Pair
from attnlab.notebook.unwritten import why_not
from attnlab.plots.canvas import (
    COLOURS,
    DASHES,
    HATCHES,
    NOTHING_TO_DRAW,
    Drawn,
    cell_tips,
    cells,
    drawing,
    not_while_grading,
    panels,
    points,
    ticks,
)
from attnlab.plots.forcing import batch_for_figures

Greedy = Callable[..., list[list[int]]]
Beam = Callable[..., list[tuple[list[int], float]]]
OneSentence = Callable[..., tuple[Any, Any]]

_MOST_STEPS = 12
_MOST_LINES = 12  # of dates that were written wrongly
_DAY = (8, 9)  # the places of the day's digits in an ISO date
_WAYS = ("as it looks", "darkest place only", "mean of all places", "nothing (zeros)")


@drawing
def needed_context(model: Any, pairs: Sequence[Pair]) -> Drawn:
    """Which symbols are still right if the context of one step is replaced, as a table.

    The decoder is fed the true date. At one step after the other its context becomes the vector of
    the darkest place alone, the mean of all vectors, or zeros. (If all vectors of the source are
    the same, every attention returns this vector: so no line of the model is changed.)

    Args:
        model: a trained translator.
        pairs: dates with a day; others are left out.
    """
    days = [pair for pair in pairs if len(pair.iso) > _DAY[1]]
    right = _right_with_another_context(model, batch_for_figures(days))
    share = right.double().mean(1)  # (4, steps)
    symbols = ["y", "y", "y", "y", "-", "m", "m", "-", "d", "d", "end"]
    alt = (
        f"A table: the share of {len(days)} dates whose symbol is right, for each symbol of a date "
        "and four kinds of context: as the decoder looks; the darkest place only; the mean of all "
        "places; zeros."
    )
    with panels(1, 7.2, 2.4, alt) as (axes,):
        cells(axes, share, "Greys", 2, (0, 1.6), aspect=0.8)
        ticks(axes, list(_WAYS), symbols)
        lines = zip(_WAYS, share.tolist(), strict=True)
        cell_tips(
            axes,
            [[f"{way}, symbol {t + 1}: {x:.3f}" for t, x in enumerate(row)] for way, row in lines],
        )
        axes.set(title="share right if one step's context is replaced", xlabel="symbol of the date")
    return Drawn((axes,), {"share": share})


@drawing
def own_mistakes(model: Any, greedy: Greedy, pairs: Sequence[Pair]) -> Drawn:
    """The digits of the day in dates that already hold a mistake: writing freely, and forced.

    Args:
        model: a translator that makes mistakes.
        greedy: decodes with the model.
        pairs: dates; those without a day are left out.
    """
    days = [pair for pair in pairs if len(pair.iso) > _DAY[1]]
    batch = batch_for_figures(days)
    written = greedy(model, batch.source, batch.source_mask, BOS, EOS, _MOST_STEPS)
    texts = [TARGET.decode(ids) for ids in written]
    before = _DAY[0]
    spoiled = torch.tensor([t[:before] != p.iso[:before] for t, p in zip(texts, days, strict=True)])
    if not bool(spoiled.any()):
        return Drawn((), {}, "No picture: this model makes no mistake before the day.")
    free = torch.tensor(
        [[t[k : k + 1] == p.iso[k] for k in _DAY] for t, p in zip(texts, days, strict=True)]
    )
    forced = _right_with_another_context(model, batch)[0][:, list(_DAY)]
    shares = torch.stack([free[spoiled], forced[spoiled]]).double().mean(1)  # (2, 2)
    alt = (
        f"Bars for {int(spoiled.sum())} dates in which the decoder made a mistake before the day: "
        f"the share of right digits of the day when it reads its own output, {shares[0, 0]:.2f} "
        f"and {shares[0, 1]:.2f}, and when it is fed the true date, {shares[1, 0]:.2f} and "
        f"{shares[1, 1]:.2f}."
    )
    with panels(1, 5.2, 2.4, alt) as (axes,):
        for row, name in enumerate(("reads its own output", "is fed the true date")):
            bars = axes.bar(
                [place + (row - 0.5) * 0.38 for place in range(2)],
                points(shares[row]),
                0.36,
                color=COLOURS[row],
                hatch=HATCHES[row],
                edgecolor="white",
                label=name,
            )
            axes.bar_label(bars, [f"{x:.2f}" for x in shares[row].tolist()], padding=2)
        axes.set_xticks([0, 1], ["first digit", "second digit"])
        axes.grid(False, axis="x")
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        axes.set(
            title=f"the day in {int(spoiled.sum())} dates with an earlier mistake",
            xlabel="digit of the day",
            ylabel="share right",
            ylim=(0, 1),
        )
    return Drawn((axes,), {"share": shares, "spoiled": spoiled})


@not_while_grading
@drawing
def beam_widths(
    model: Any,
    beam_search: Beam,
    one_sentence: OneSentence,
    pairs: Sequence[Pair],
    widths: Sequence[int] = (1, 3, 8),
) -> Drawn:
    """The results of wider beams: likelier sequences, how many are right, how many too short.

    Args:
        model: a translator; one that is not fully trained shows more.
        beam_search: finds sequences.
        one_sentence: from a model and one source to a step function and a first state.
        pairs: the dates to translate.
        widths: the widths of the beam; the first is 1, which is greedy search.
    """
    plain = [_beams(model, beam_search, one_sentence, pair, widths, 0.0) for pair in pairs]
    # One hypothesis has nothing to be compared with, so alpha changes nothing for width 1.
    normalised = [
        [one[0], *_beams(model, beam_search, one_sentence, pair, widths[1:], 1.0)]
        for one, pair in zip(plain, pairs, strict=True)
    ]
    found = {0.0: plain, 1.0: normalised}
    likely = torch.tensor([[one.score for one in row] for row in found[0.0]]).double().mean(0)
    right, short = (
        torch.tensor(
            [[[test(one, p) for one in row] for row, p in zip(rows, pairs, strict=True)]
             for rows in found.values()]
        ).double().mean(1)
        for test in (lambda one, p: one.text == p.iso, lambda one, p: len(one.text) < len(p.iso))
    )  # fmt: skip  # (2, widths) each
    alt = (
        "Three panels against the width of the beam: the log-probability of the best sequence, "
        f"from {likely[0]:.2f} to {likely[-1]:.2f}; the share of right dates, with alpha 0 from "
        f"{right[0, 0]:.2f} to {right[0, -1]:.2f} and with alpha 1 to {right[1, -1]:.2f}; the "
        f"share of dates that end too soon, to {short[0, -1]:.2f} and {short[1, -1]:.2f}."
    )
    with panels(3, 7.4, 2.5, alt, gridspec_kw={"wspace": 0.5}) as axes:
        axes[0].plot(list(widths), points(likely), color=COLOURS[0], marker="o")
        for panel, shares in ((axes[1], right), (axes[2], short)):
            for row, alpha in enumerate(found):
                panel.plot(
                    list(widths),
                    points(shares[row]),
                    color=COLOURS[row],
                    linestyle=DASHES[row],
                    marker="os"[row],
                    label=f"alpha = {alpha:g}",
                )
            panel.set_ylim(-0.02, max(0.2, 1.25 * float(shares.max())))
        for panel in axes:
            panel.set(xlabel="width of the beam", xticks=list(widths))
        axes[0].set(title="log-probability [nats]")
        axes[1].set(title="share right")
        axes[2].set(title="share too short")
        axes[1].legend(loc="lower right")
    data = {"log-probability": likely, "right": right, "too short": short}
    return Drawn(axes, data, note=_said_about(found[0.0], pairs, widths))


class _Found(NamedTuple):
    """The best hypothesis of a beam, as text with its log-probability, and that of the truth."""

    text: str
    score: float
    truth: float


def _beams(
    model: Any,
    beam_search: Beam,
    one_sentence: OneSentence,
    pair: Pair,
    widths: Sequence[int],
    alpha: float,
) -> list[_Found]:
    """The best hypothesis for one date, for each width."""
    source = torch.tensor([SOURCE.encode(pair.human)])
    step, state = one_sentence(model, source, source != PAD)
    truth, here = 0.0, state
    for given, wanted in zip([BOS, *TARGET.encode(pair.iso)], [*TARGET.encode(pair.iso), EOS],
                             strict=True):  # fmt: skip
        log_p, here = step(given, here)
        truth += float(log_p[wanted])
    made = []
    for width in widths:
        symbols, score = beam_search(step, state, BOS, EOS, width, _MOST_STEPS, alpha)[0]
        made.append(_Found(TARGET.decode(symbols), score, truth))
    return made


def _said_about(
    found: Sequence[Sequence[_Found]], pairs: Sequence[Pair], widths: Sequence[int]
) -> str:
    """What the widest beam repaired and lost, and who made the mistakes that are left."""
    rows = list(zip(found, pairs, strict=True))
    right = [(row[0].text == pair.iso, row[-1].text == pair.iso) for row, pair in rows]
    lost = [(row[-1].text, pair) for (row, pair), ok in zip(rows, right, strict=True)
            if ok == (True, False)]  # fmt: skip
    wrong = [row[-1] for (row, _), ok in zip(rows, right, strict=True) if not ok[1]]
    search = sum(one.truth > one.score for one in wrong)
    lines = [
        f"Of {len(pairs)} dates, greedy has {sum(ok[0] for ok in right)} right, and a beam of "
        f"{widths[-1]} has {sum(ok[1] for ok in right)}: it repairs "
        f"{sum(ok == (False, True) for ok in right)} and loses {len(lost)}.",
        *(f"  lost: {pair.human!r} is now {text}" for text, pair in lost[:3]),
        f"Of the {len(wrong)} that are wrong with {widths[-1]}, the true date is likelier than the "
        f"one found in {search} (search errors) and less likely in {len(wrong) - search} (model "
        "errors).",
    ]
    return "\n".join(lines)


@torch.no_grad()
def _right_with_another_context(model: Any, batch: Batch) -> Tensor:
    """(4, B, steps): whether each symbol is right, for the four kinds of context in `_WAYS`."""
    hidden, state = model.encode(batch.source, batch.source_mask)
    mask, rows = batch.source_mask, torch.arange(len(hidden))
    mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
    right = []
    for given, wanted in zip(
        batch.target[:, :-1].unbind(1), batch.target[:, 1:].unbind(1), strict=True
    ):
        logits, following, weights = model.cell(given, state, hidden, mask)
        others = hidden[rows, weights.argmax(1)], mean, torch.zeros_like(mean)
        tried = [logits]
        for vector in others:  # (B, d_hidden)
            everywhere = vector[:, None].expand_as(hidden).contiguous()
            tried.append(model.cell(given, state, everywhere, mask)[0])
        right.append(torch.stack(tried).argmax(-1) == wanted)
        state = following
    return torch.stack(right, -1)


def new_dates(model: Any, greedy: Greedy, pairs: Sequence[Pair]) -> str:
    """How many dates a model writes without a mistake, and the first mistakes, as lines of text.

    Args:
        model: a trained translator, or None.
        greedy: decodes with the model.
        pairs: the dates.
    """
    if model is None:
        return NOTHING_TO_DRAW.replace("picture", "list")
    batch = batch_for_figures(pairs)
    try:
        written = greedy(model, batch.source, batch.source_mask, BOS, EOS, _MOST_STEPS)
    except Exception as error:  # whatever is wrong with a step, the cells below must run
        return f"No list yet: {why_not(error, greedy)}"
    texts = [TARGET.decode(ids) for ids in written]
    wrong = [(p, text) for p, text in zip(pairs, texts, strict=True) if text != p.iso]
    lines = [f"  {pair.human!r}: {text} instead of {pair.iso}" for pair, text in wrong]
    if len(lines) > _MOST_LINES:
        lines[_MOST_LINES:] = [f"  … and {len(lines) - _MOST_LINES} more"]
    return "\n".join(
        [f"{1 - len(wrong) / len(pairs):.1%} of {len(pairs)} new dates are right", *lines]
    )
