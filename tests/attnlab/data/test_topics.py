"""The five topics: the words, the probabilities, and what a token says about them."""

from __future__ import annotations

import pytest
import torch

from attnlab.data.topics import (
    CLS,
    MASK,
    PAD,
    SEP,
    SPECIAL,
    TOPICS,
    VOCABULARY,
    WORDS,
    documents,
    labelled,
    text_of,
    topic_of,
)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def test_every_word_stands_once():
    assert [len(words) for words in WORDS.values()] == [30] * 5
    assert len(set(VOCABULARY)) == len(VOCABULARY) == 154
    assert [VOCABULARY[i] for i in (PAD, CLS, SEP, MASK)] == list(SPECIAL)


def test_a_document_has_the_words_of_its_topic_alone():
    found = documents(200, words=4, generator=seeded())
    for topic, document in enumerate(found):
        ids = torch.stack(document)
        assert ids.shape == (200, 4)
        assert {topic_of(token) for token in ids.flatten().tolist()} == {topic}
        assert len(ids.unique()) == 30  # 800 draws miss a word with a chance of 5e-11


def test_labelled_sentences_are_equally_many_of_each_topic():
    ids, topics = labelled(3, words=5, generator=seeded())
    assert ids.shape == (15, 7)
    assert topics.bincount().tolist() == [3] * 5
    assert (ids[:, 0] == CLS).all()
    assert (ids[:, -1] == SEP).all()
    for row, topic in zip(ids[:, 1:-1].tolist(), topics.tolist(), strict=True):
        assert {topic_of(token) for token in row} == {topic}


def test_the_generator_alone_decides():
    state = torch.get_rng_state()
    first, again = (labelled(2, generator=seeded(1))[0] for _ in range(2))
    assert first.equal(again)
    assert torch.get_rng_state().equal(state)


@pytest.mark.parametrize("token", [-1, 0, 3, 154])
def test_a_token_of_no_topic_is_refused(token):
    with pytest.raises(ValueError, match=f"{token} is not a word of a topic"):
        topic_of(token)


def test_text_of_a_row():
    first = VOCABULARY.index("pan")
    assert text_of(torch.tensor([CLS, first, SEP, PAD])) == "[CLS] pan [SEP]"
    assert TOPICS[topic_of(first)] == "kitchen"
