"""Figures about a small BERT: how its scores change, what its vectors know, what it guesses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from attnlab.data.topics import (
    CLS,
    MASK,
    SEP,
    SPECIAL,
    TOPICS,
    VOCABULARY,
    WORDS_PER_TOPIC,
)
from attnlab.models.topics_bert import EVERY
from attnlab.plots.canvas import (
    COLOURS,
    FAINT,
    NOTHING_TO_DRAW,
    Drawn,
    drawing,
    panels,
    points,
    tip,
)

_MARKERS = ("o", "s", "^", "D", "v")
_TOP = 5


@drawing
def staircase(curve: Tensor) -> Drawn:
    """Both scores on new sentences during the pretraining, with the two known entropies.

    Args:
        curve: from `attnlab.models.topics_bert.pretrain`: the MLM loss and the NSP accuracy, one
            after the other.
    """
    if not len(curve):
        return Drawn((), {}, "No picture yet: nothing has been trained.")
    mlm, nsp = curve.view(-1, 2).unbind(1)
    steps = EVERY * torch.arange(len(mlm))
    words, topic = math.log(len(TOPICS) * WORDS_PER_TOPIC), math.log(WORDS_PER_TOPIC)
    alt = (
        f"Two curves against the step. The loss at hidden words goes from {mlm[0]:.2f} to "
        f"{mlm[-1]:.2f} nats, between ln 150 = {words:.2f} and ln 30 = {topic:.2f}. The share of "
        f"pairs that are judged correctly goes from {nsp[0]:.2f} to {nsp[-1]:.2f}."
    )
    with panels(2, 7.4, 2.9, alt) as axes:
        left, right = axes
        left.plot(points(steps), points(mlm), color=COLOURS[0])
        for level, text, above in (
            (words, f"all words alike: ln 150 = {words:.2f}", 4),
            (topic, f"the topic is known: ln 30 = {topic:.2f}", -11),
        ):
            left.axhline(level, color=FAINT, linestyle="--", linewidth=1.2)
            left.annotate(text, (0.98, level), (0, above), xycoords=("axes fraction", "data"),
                          textcoords="offset points", ha="right", fontsize=8.5)  # fmt: skip
        left.set(title="MLM: hidden words", xlabel="step", ylabel="loss [nats]")
        left.set_ylim(min(3.1, mlm.min().item() - 0.1), max(5.4, mlm.max().item() + 0.1))
        right.plot(points(steps), points(nsp), color=COLOURS[1])
        right.set(title="NSP: do they belong together?", xlabel="step", ylabel="share right")
        right.set_ylim(0.4, 1.03)
    return Drawn(axes, {"mlm": mlm, "nsp": nsp})


@drawing
def words_in_the_plane(models: dict[str, nn.Module | None]) -> Drawn:
    """The vector of each of the 150 words, alone in a sentence, in its two main directions.

    Args:
        models: one panel for each, by its title.
    """
    if any(model is None for model in models.values()):
        return Drawn((), {}, NOTHING_TO_DRAW)
    flat = {title: _main_directions(_word_vectors(model)) for title, model in models.items()}
    alt = (
        f"{len(flat)} panels with 150 words as points of five colours and shapes, one for each "
        f"topic: {', '.join(flat)}. Words of one topic that the model takes for alike are close "
        "together."
    )
    with panels(len(flat), 7.4, 3.5, alt) as axes:
        for panel, (title, places) in zip(axes, flat.items(), strict=True):
            for number, topic in enumerate(TOPICS):
                some = slice(number * WORDS_PER_TOPIC, (number + 1) * WORDS_PER_TOPIC)
                x, y = points(places[some]).T
                panel.scatter(x, y, s=16, color=COLOURS[number], marker=_MARKERS[number],
                              label=topic, linewidths=0)  # fmt: skip
            panel.set(title=title, xlabel="first direction", xticks=[], yticks=[])
        axes[0].set_ylabel("second direction")
        axes[0].figure.legend(
            *axes[0].get_legend_handles_labels(), loc="lower center", ncols=len(TOPICS),
            bbox_to_anchor=(0.5, -0.09), handletextpad=0.1, columnspacing=1.2,
        )  # fmt: skip
    return Drawn(axes, flat)


@drawing
def guesses(model: Any, sentences: Sequence[str]) -> Drawn:
    """The five likeliest words for the [MASK] of each sentence.

    Args:
        model: a trained `Bert`.
        sentences: words of the five topics and one [MASK] in each; one panel for each.
    """
    found, tops = {}, []
    for sentence in sentences:
        ids = torch.tensor([[CLS, *map(VOCABULARY.index, sentence.split()), SEP]])
        with torch.no_grad():
            p = model(ids).mlm_logits[ids == MASK][0].softmax(-1)  # (V,)
        found[sentence] = p
        tops.append(p.topk(_TOP))
    said = "; ".join(
        f"{sentence}: {', '.join(VOCABULARY[i] for i in top.indices.tolist())}"
        for sentence, top in zip(sentences, tops, strict=True)
    )
    alt = f"Bars with the five likeliest words for the hidden one. {said}."
    with panels(len(found), 7.4, 2.2, alt, sharex=True, gridspec_kw={"wspace": 0.5}) as axes:
        for panel, sentence, top in zip(axes, sentences, tops, strict=True):
            words = [VOCABULARY[i] for i in top.indices.tolist()]
            bars = panel.barh(words, points(top.values), color=COLOURS[0], height=0.6)
            for bar, word, value in zip(bars, words, top.values.tolist(), strict=True):
                tip(bar, f"{word}: {value:.3f}")
            panel.axvline(1 / WORDS_PER_TOPIC, color=FAINT, linestyle="--", linewidth=1.2)
            panel.invert_yaxis()
            panel.grid(False, axis="y")
            panel.set_xlim(0, max(0.08, *(float(top.values[0]) * 1.1 for top in tops)))
            panel.set_title(sentence, fontsize=9)
            panel.set_xlabel("probability (dashed: 1/30)")
    return Drawn(axes, found, note="\n".join(_topic_mass(*item) for item in found.items()))


def _topic_mass(sentence: str, p: Tensor) -> str:
    """How much probability each topic gets, as a line of text."""
    mass = p[len(SPECIAL) :].view(len(TOPICS), -1).sum(1)
    shares = zip(TOPICS, mass.tolist(), strict=True)
    return f"{sentence:34}" + "  ".join(f"{topic} {share:.0%}" for topic, share in shares)


def _word_vectors(model: Any) -> Tensor:
    """What the model makes of each word alone, (150, d_model)."""
    words = torch.arange(len(SPECIAL), len(VOCABULARY))
    ids = torch.stack((torch.full_like(words, CLS), words, torch.full_like(words, SEP)), 1)
    was = model.training
    model.eval()
    with torch.no_grad():
        hidden: Tensor = model(ids).hidden[:, 1]
    model.train(was)
    return hidden


def _main_directions(vectors: Tensor) -> Tensor:
    """Each vector in the two directions in which all of them differ most, (N, 2)."""
    centred = vectors - vectors.mean(0)
    return centred @ torch.linalg.svd(centred, full_matrices=False).Vh[:2].T
