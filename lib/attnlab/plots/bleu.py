"""A figure about BLEU: what is matched, and how fast the score falls."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from attnlab.plots.canvas import COLOURS, DASHES, HATCHES, Drawn, drawing, panels, points, tip

_WRITTEN = [
    "the",
    "cat",
    "and",
    "the",
    "dog",
    "and",
    "the",
    "cat",
    "sat",
    "on",
    "the",
    "mat",
    "and",
    "the",
    "mat",
]
_WANTED = [
    "the",
    "cat",
    "and",
    "the",
    "dog",
    "sat",
    "on",
    "the",
    "mat",
    "and",
    "the",
    "bird",
    "sat",
    "on",
    "top",
]
_LONGEST = 4
_SENTENCES, _WORDS, _VOCABULARY = 200, 20, 10_000

Bleu = Callable[..., float]


@drawing
def matches_and_scores(corpus_bleu: Bleu) -> Drawn:
    """Left, the n-grams of one translation; right, the score against the share of wrong words.

    Args:
        corpus_bleu: called as ``corpus_bleu(hypotheses, references, max_n)``.
    """
    counts = _counts(corpus_bleu)
    shares = torch.linspace(0, 1, 21, dtype=torch.float64)
    curves = _curves(corpus_bleu, shares)
    numbers = "; ".join(f"{name}: {count.round().int().tolist()}" for name, count in counts.items())
    alt = f"Left, n-grams for n from 1 to {_LONGEST}. {numbers}. Right, falling scores: " + (
        "; ".join(f"{name} at a share of 0.4 is {curve[8]:.0f}" for name, curve in curves.items())
    )
    with panels(2, 8.4, 3.2, f"{alt}.") as (left, right):
        for place, (name, count) in enumerate(counts.items()):
            middle = torch.arange(1, _LONGEST + 1) + 0.27 * (place - 1)
            bars = left.bar(
                points(middle), points(count), 0.25, label=name, color=COLOURS[place],
                hatch=HATCHES[place],
            )  # fmt: skip
            for n, (bar, value) in enumerate(zip(bars, count, strict=True), 1):
                tip(bar, f"n = {n}, {name}: {value:.0f}")
        left.set(title="n-grams of one translation", xlabel="n", xticks=range(1, _LONGEST + 1))
        left.set_ylim(0, 1.6 * len(_WRITTEN))  # the legend is above the bars
        left.legend()
        for (name, curve), colour, dash in zip(curves.items(), COLOURS, DASHES, strict=False):
            right.plot(points(shares), points(curve), color=colour, linestyle=dash, label=name)
        right.set(title="score", xlabel="share of wrong words", ylim=(0, 101))
        right.legend()
    return Drawn((left, right), {**counts, **curves})


def _counts(corpus_bleu: Bleu) -> dict[str, Tensor]:
    """For each n: all n-grams, those that are in the reference, and those that are matched.

    The last come from scores: as the translation is not too short, the n-th power of the score for
    n is the product of the first n precisions.
    """
    every, inside, matched = [], [], []
    before = 1.0
    for n in range(1, _LONGEST + 1):
        written, wanted = _ngrams(_WRITTEN, n), set(_ngrams(_WANTED, n))
        every.append(len(written))
        inside.append(sum(ngram in wanted for ngram in written))
        product = (float(corpus_bleu([_WRITTEN], [[_WANTED]], n)) / 100) ** n
        matched.append(len(written) * product / before if before else 0.0)
        before = product
    columns = {"all": every, "in the reference": inside, "matched": matched}
    return {name: torch.tensor(column, dtype=torch.float64) for name, column in columns.items()}


def _ngrams(sentence: list[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(sentence[start : start + n]) for start in range(len(sentence) - n + 1)]


def _curves(corpus_bleu: Bleu, shares: Tensor) -> dict[str, Tensor]:
    """The score of random sentences in which a share of the words are replaced by others."""
    draw = torch.Generator().manual_seed(0)
    right = torch.randint(0, _VOCABULARY, (_SENTENCES, _WORDS), generator=draw)
    wrong = torch.randint(_VOCABULARY, 2 * _VOCABULARY, right.shape, generator=draw)
    order = torch.rand(right.shape, generator=draw)
    references = [[row] for row in right.tolist()]
    found: dict[str, list[float]] = {"max_n = 1": [], "max_n = 2": [], "max_n = 4": []}
    for share in shares:
        written = torch.where(order < share, wrong, right).tolist()
        for name, scores in found.items():
            scores.append(float(corpus_bleu(written, references, int(name[-1]))))
    return {name: torch.tensor(scores, dtype=torch.float64) for name, scores in found.items()}
