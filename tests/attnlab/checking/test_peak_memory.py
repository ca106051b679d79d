"""The largest tensor counts, even if the computation does not keep it."""

import torch

from attnlab.checking.peak_memory import LargestTensor


def test_the_largest_tensor_on_the_way_is_recorded():
    x = torch.ones(4, 10)
    with LargestTensor() as largest:
        (x[:, :, None] * x[:, None, :]).sum()
    assert largest.bytes == 4 * 10 * 10 * 4


def test_without_new_tensors_it_is_0():
    with LargestTensor() as largest:
        pass
    assert largest.bytes == 0


def test_a_view_counts_with_its_whole_storage():
    x = torch.ones(100)
    with LargestTensor() as largest:
        x[:2]
    assert largest.bytes == 400
