"""Figures about learning from few labels: three ways, and which words each of them knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from attnlab.data.topics import TOPICS, text_of
from attnlab.models.topics_bert import (
    CFG,
    LABELS_SEED,
    few_labels,
    naive_bayes,
    new_sentences,
    small_bert,
)
from attnlab.plots.canvas import (
    COLOURS,
    DASHES,
    FAINT,
    Drawn,
    drawing,
    not_while_grading,
    panels,
    points,
)

PER_TOPIC = (1, 2, 5)  # labels of each topic
DRAWS = 3  # other sentences for each number of labels
SCRATCH_STEPS = 100  # enough for a training loss below 0.02
WAYS = ("pretrained", "counting words (naive Bayes)", "from scratch")
_MARKERS = ("o", "s", "^")


@drawing
def right_answers(classifier: nn.Module, accuracy: Callable[..., float]) -> Drawn:
    """The five labelled sentences, and how many new ones the classifier gets right, as text.

    Args:
        classifier: fine-tuned on the sentences of the notebook.
        accuracy: `accuracy`.
    """
    sentences, labels = few_labels(1)
    lines = [
        f"{text_of(sentence):46} {TOPICS[label]}"
        for sentence, label in zip(sentences, labels.tolist(), strict=True)
    ]
    unseen = new_sentences()
    share = accuracy(classifier, *unseen)
    lines.append(f"{share:.1%} of {len(unseen[0]):,} new sentences are right.")
    return Drawn((), {"share": torch.tensor(share)}, note="\n".join(lines))


@drawing
@not_while_grading
def few_labels_in_three_ways(
    bert: nn.Module,
    model: Callable[..., nn.Module],
    classifier: Callable[..., nn.Module],
    fine_tune: Callable[..., list[float]],
    accuracy: Callable[..., float],
) -> Drawn:
    """The share of new sentences whose topic is found, against the number of labels.

    Args:
        bert: the pretrained model.
        model: its class, for a model that starts from random weights.
        classifier, fine_tune, accuracy: `Classifier`, `fine_tune` and `accuracy`.
    """
    unseen = new_sentences()
    found = torch.zeros(len(WAYS), len(PER_TOPIC), DRAWS)
    last = 0.0
    for place, number in enumerate(PER_TOPIC):
        for draw in range(DRAWS):
            labelled = few_labels(number, LABELS_SEED + draw)
            with _own_random_numbers(draw):
                with_text = classifier(bert, CFG.d_model, len(TOPICS))
                fine_tune(with_text, *labelled)
                without = classifier(small_bert(model, draw), CFG.d_model, len(TOPICS))
                last = max(last, fine_tune(without, *labelled, SCRATCH_STEPS)[-1])
            counted = naive_bayes(*labelled, unseen[0]) == unseen[1]
            found[0, place, draw] = accuracy(with_text, *unseen)
            found[1, place, draw] = counted.double().mean()
            found[2, place, draw] = accuracy(without, *unseen)
    return _three_lines(found, last)


def _three_lines(found: Tensor, last_loss: float) -> Drawn:
    """A line for each way: the mean over the draws, and a band from the lowest to the highest.

    Args:
        found: (ways, numbers of labels, draws), shares from 0 to 1.
        last_loss: the highest training loss from scratch.
    """
    labels = len(TOPICS) * torch.tensor(PER_TOPIC)
    means = found.mean(-1)
    lines = [
        f"{way:30}" + "".join(f"{n:4} labels: {mean:6.1%}  " for n, mean in
                              zip(labels.tolist(), row.tolist(), strict=True))
        for way, row in zip(WAYS, means, strict=True)
    ]  # fmt: skip
    alt = "Three lines, the share of new sentences that are right against the number of labels: "
    with panels(1, 6.6, 3.0, " ".join((alt + "; ".join(lines)).split())) as (axes,):
        for way, row, colour, dash, marker in zip(
            WAYS, found, COLOURS, DASHES, _MARKERS, strict=False
        ):
            axes.plot(points(labels), points(row.mean(-1)), color=colour, linestyle=dash,
                      marker=marker, label=way)  # fmt: skip
            low, high = row.min(-1).values, row.max(-1).values
            axes.fill_between(points(labels), points(low), points(high), color=colour, alpha=0.15)
        axes.axhline(1 / len(TOPICS), color=FAINT, linestyle=":", linewidth=1.2)
        axes.annotate("guessing", (0.99, 1 / len(TOPICS)), (0, 3), ha="right", fontsize=8.5,
                      xycoords=("axes fraction", "data"), textcoords="offset points")  # fmt: skip
        axes.set(title="topics of new sentences", xlabel="labelled sentences", ylabel="share right")
        axes.set_xticks(labels.tolist())
        axes.set_ylim(0, 1.05)
        axes.legend(loc=(0.45, 0.26))
    lines.append(f"(The training loss from scratch ended at {last_loss:.3f} or less.)")
    return Drawn((axes,), dict(zip(WAYS, found, strict=True)), note="\n".join(lines))


@contextmanager
def _own_random_numbers(seed: int) -> Iterator[Any]:
    """Draw from a seed in this block; torch's own random state is as before afterwards."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield
