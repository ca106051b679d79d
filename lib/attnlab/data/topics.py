"""Sentences about five topics: 30 words each, no grammar, and every probability is known.

A document is about one topic; each word of it is one of the topic's 30 words, all with the same
probability. So one word tells the topic for certain, and more words tell nothing more: for a hidden
word, no model has a lower loss than ln 30 = 3.401 nats. A model that knows only how often words
occur has ln 150 = 5.011 nats.
"""

from __future__ import annotations

import torch
from torch import Tensor

PAD, CLS, SEP, MASK = 0, 1, 2, 3
SPECIAL = ("[PAD]", "[CLS]", "[SEP]", "[MASK]")
_TEXTS = {
    "kitchen": (
        "pan oven spoon salt pepper butter flour dough bread soup onion garlic carrot rice noodle "
        "knife plate bowl kettle sugar honey lemon cheese egg sauce stew grill toast recipe apron"
    ),
    "music": (
        "violin piano drum flute guitar trumpet cello harp choir singer chord melody rhythm tempo "
        "scale octave concert stage tune opera quartet ballad bass treble note conductor score "
        "encore lyric jazz"
    ),
    "sea": (
        "wave tide harbour anchor sail captain sailor deck mast shore reef coral shell crab whale "
        "dolphin shark salmon net lighthouse island storm current ferry rowing compass pirate "
        "seaweed gull pier"
    ),
    "space": (
        "star planet moon comet orbit rocket galaxy telescope asteroid gravity astronaut satellite "
        "eclipse nebula crater meteor solar lunar launch shuttle cosmos vacuum module capsule "
        "observatory pulsar quasar antenna horizon probe"
    ),
    "garden": (
        "rose tulip seed soil spade rake hedge lawn weed bulb petal root leaf stem branch compost "
        "shovel fence blossom ivy daisy herb moss worm beetle bee butterfly pond greenhouse "
        "wheelbarrow"
    ),
}
WORDS = {topic: tuple(text.split()) for topic, text in _TEXTS.items()}
TOPICS = tuple(WORDS)
VOCABULARY = (*SPECIAL, *(word for words in WORDS.values() for word in words))
WORDS_PER_TOPIC = 30


def topic_of(token: int) -> int:
    """The number of the topic that an ordinary token belongs to.

    Raises:
        ValueError: it is a special token or not a token.
    """
    if not len(SPECIAL) <= token < len(VOCABULARY):
        raise ValueError(f"{token} is not a word of a topic")
    return (token - len(SPECIAL)) // WORDS_PER_TOPIC


def documents(sentences: int, *, words: int = 4, generator: torch.Generator) -> list[list[Tensor]]:
    """One document about each topic.

    Args:
        sentences: sentences in each document.
        words: words in each sentence.
        generator: the only source of randomness.

    Returns:
        Five documents, in the topics' order, with their sentences, each int64 (words,).
    """
    return [list(_words(topic, sentences, words, generator)) for topic in torch.arange(len(TOPICS))]


def labelled(number: int, *, words: int = 4, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Single sentences with their topics, equally many of each, for a classifier.

    Args:
        number: sentences of each topic.
        words: words in each sentence.
        generator: the only source of randomness.

    Returns:
        Sentences that begin with [CLS] and end with [SEP], (5 * number, words + 2), and their
        topics, (5 * number,), both int64.
    """
    topics = torch.arange(len(TOPICS)).repeat_interleave(number)
    ids = _words(topics[:, None], len(topics), words, generator)
    ends = torch.full((len(topics), 1), CLS), torch.full((len(topics), 1), SEP)
    return torch.cat((ends[0], ids, ends[1]), 1), topics


def text_of(ids: Tensor) -> str:
    """The words of one row of tokens, (T,); the filling is left out."""
    return " ".join(VOCABULARY[token] for token in ids.tolist() if token != PAD)


def _words(topic: Tensor, sentences: int, words: int, generator: torch.Generator) -> Tensor:
    """Sentences of random words of a topic, (sentences, words)."""
    drawn = torch.randint(WORDS_PER_TOPIC, (sentences, words), generator=generator)
    return len(SPECIAL) + topic * WORDS_PER_TOPIC + drawn
