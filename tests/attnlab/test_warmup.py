"""The warm-up functions of lab 0."""

from __future__ import annotations

import torch

from attnlab.warmup import hello_tensor, sentence_means


def test_hello_tensor_counts_along_the_last_axis() -> None:
    x = hello_tensor()
    assert x.shape == (2, 3, 4)
    assert x.dtype == torch.float32
    assert x.flatten().tolist() == list(range(24))


def test_sentence_means_averages_the_words() -> None:
    assert sentence_means(hello_tensor()).tolist() == [[4, 5, 6, 7], [16, 17, 18, 19]]
