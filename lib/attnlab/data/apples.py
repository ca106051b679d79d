"""Two sentences about apples, with lecture N's word vectors and similarity tables.

"My favourite fruit is apple" and "my favourite brand is apple": one word, two meanings. The
vectors of apple, fruit and brand and both tables are the lecture's. The lecture gives no vectors
for my, favourite and is; these are chosen to be far from the others in a picture.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

_VECTORS = {
    "my": (1.0, 1.0),
    "favourite": (2.0, 3.0),
    "is": (3.0, 1.0),
    "apple": (5.0, 7.0),
    "fruit": (0.0, 8.0),
    "brand": (6.0, 0.0),
}


@dataclass(frozen=True)
class Sentence:
    """A sentence as numbers.

    Attributes:
        words: its T words.
        vectors: (T, 2), float64, a point in the plane for each word.
        similarity: (T, T), float64, the lecture's table: row = target word, column = context word.
    """

    words: tuple[str, ...]
    vectors: Tensor
    similarity: Tensor

    def index(self, word: str) -> int:
        """The row of `word`.

        Raises:
            ValueError: the sentence does not contain it.
        """
        return self.words.index(word)


def fruit_sentence() -> Sentence:
    """My favourite fruit is apple: apple and fruit have similarity 0.25."""
    return _sentence("my favourite fruit is apple", 0.25)


def brand_sentence() -> Sentence:
    """My favourite brand is apple: apple and brand have similarity 0.11."""
    return _sentence("my favourite brand is apple", 0.11)


def attention_scores() -> Tensor:
    """Lecture N's 4×4 score table for "I am a student", (4, 4), float64, before masking."""
    return torch.tensor(
        [
            [0.7, 0.1, 0.1, 0.1],
            [0.1, 0.6, 0.2, 0.1],
            [0.1, 0.3, 0.6, 0.1],
            [0.1, 0.3, 0.3, 0.3],
        ],
        dtype=torch.float64,
    )


def toy_alignment() -> Tensor:
    """Lecture S's toy attention table, 4 outputs × 3 inputs, float64."""
    return torch.tensor([[3, 1, 1], [1, 2, 1], [1, 1, 2], [1, 1, 2]], dtype=torch.float64) / 6


def _sentence(text: str, similarity: float) -> Sentence:
    words = tuple(text.split())
    table = torch.eye(len(words), dtype=torch.float64)
    topic, apple = 2, 4  # the only two words of the sentence that are related
    table[topic, apple] = table[apple, topic] = similarity
    vectors = torch.tensor([_VECTORS[word] for word in words], dtype=torch.float64)
    return Sentence(words, vectors, table)
