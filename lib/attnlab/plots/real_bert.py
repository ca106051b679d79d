"""Figures about real weights in the student's own `Bert`: sentences, and a word in several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import torch
from torch import Tensor, nn

from attnlab import wordpiece
from attnlab.models.minilm import MiniLM, sentence_vectors
from attnlab.plots.canvas import COLOURS, Drawn, cells, drawing, panels, points

# Word number 5 is "bank" in all of them, so at first, before any layer, its vector is the same.
BANKS = {
    "money": ("she went to the bank to open an account", "he ran to the bank for some cash"),
    "river": ("we sat on the bank of the river", "they fished from the bank of a stream"),
}
# A sentence, and how similar sentence-transformers finds others with these weights: published in
# "Vector Embeddings" (Partee 2022), rounded here to seven digits.
PUBLISHED = (
    "That is a happy person",
    {
        "That is a very happy person": 0.9429150,
        "That is a happy dog": 0.6945775,
        "Today is a sunny day": 0.2568761,
    },
)


@drawing
def published_similarities(real: MiniLM) -> Drawn:
    """The cosines of three pairs of sentences, next to those that are published, as lines of text.

    Args:
        real: the model, and what cuts text for it.
    """
    first, others = PUBLISHED
    vectors = sentence_vectors(real, [first, *others])
    cosines = vectors[1:] @ vectors[0]
    lines = [f"{first!r} and", f"{'':34}yours       published"]
    for (text, published), cosine in zip(others.items(), cosines.tolist(), strict=True):
        lines.append(f"  {text!r:32}{cosine:.7f}   {published:.7f}")
    return Drawn((), {"cosines": cosines}, note="\n".join(lines))


@drawing
def one_word(
    real: MiniLM, word: str = "bank", senses: Mapping[str, Sequence[str]] = BANKS
) -> Drawn:
    """How similar a word's vectors are in different sentences, layer by layer, and at the end.

    Args:
        real: the model, and what cuts text for it.
        word: one piece of the vocabulary, once in each sentence.
        senses: two or more sentences for each sense of the word.
    """
    sentences = [(sense, text) for sense, texts in senses.items() for text in texts]
    vectors = torch.stack([_through_the_layers(real, text, word) for _, text in sentences])
    vectors = nn.functional.normalize(vectors, dim=-1)  # (sentences, layers + 1, d_model)
    cosines = torch.einsum("ald,bld->lab", vectors, vectors)
    same: list[Tensor] = []
    other: list[Tensor] = []
    for a, b in combinations(range(len(sentences)), 2):
        (same if sentences[a][0] == sentences[b][0] else other).append(cosines[:, a, b])
    lines = {"the same sense": torch.stack(same), "another sense": torch.stack(other)}
    ends = "; ".join(
        f"{name}: from {float(group[:, -1].min()):.2f} to {float(group[:, -1].max()):.2f}"
        for name, group in lines.items()
    )
    alt = (
        f"Left, cosines of the vectors of {word!r} in two sentences, after each layer; in the end, "
        f"{ends}. Right, the same cosines after the last layer as a table."
    )
    with panels(2, 7.4, 3.0, alt, gridspec_kw={"width_ratios": (1.25, 1), "wspace": 0.75}) as axes:
        left, right = axes
        for (name, group), colour, dash in zip(lines.items(), COLOURS, ("-", "--"), strict=False):
            for number, line in enumerate(group):
                left.plot(points(line), color=colour, linestyle=dash, linewidth=1.5,
                          label=name if number == 0 else None)  # fmt: skip
        left.set(title=f"two sentences with “{word}”", xlabel="layer (0: before all)")
        left.set_ylabel("cosine of its two vectors")
        left.legend(loc="lower left", fontsize=9)
        cells(right, cosines[-1], "Blues", 2, (float(cosines[-1].min()) - 0.1, 1.3))
        names = [f"{sense}: {_around(text, word)}" for sense, text in sentences]
        right.set_yticks(range(len(names)), names, fontsize=8.5)
        right.set_xticks(range(len(names)), [sense for sense, _ in sentences], fontsize=8.5)
        right.set(title="after the last layer", xlabel="the word in …")
    return Drawn(axes, {**lines, "last layer": cosines[-1]})


def _around(text: str, word: str) -> str:
    """A word and the one that says most about it: the last of the sentence."""
    return f"{word} … {text.split()[-1]}"


def _through_the_layers(real: MiniLM, text: str, word: str) -> Tensor:
    """The vector of a word before the first layer and after each one, (layers + 1, d_model)."""
    ids = wordpiece.encode(text, real.vocabulary)
    place = ids.index(real.vocabulary[word])
    found: list[Tensor] = []

    def before(_layer: nn.Module, given: Any) -> None:
        found.append(given[0][0, place])

    def after(_layer: nn.Module, _given: Any, out: Tensor) -> None:
        found.append(out[0, place])

    hooks = [real.model.layers[0].register_forward_pre_hook(before)]
    hooks += [layer.register_forward_hook(after) for layer in real.model.layers]
    try:
        with torch.no_grad():
            real.model(torch.tensor([ids]))
    finally:
        for hook in hooks:
            hook.remove()
    return torch.stack(found)
