"""Several processes that train one model: what they say to each other.

``torchrun --nproc-per-node 2 …`` starts them and tells each its number in the environment. The
gradients are exchanged by torch's DistributedDataParallel; here is everything else.

Tested in ``tests/attnlab/test_train.py``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor

from attnlab.checkpoints import CheckpointError


@dataclass(frozen=True)
class Processes:
    """This process among all that train the same model. All must call a method at the same time.

    Attributes:
        rank: the number of this process, from 0; process 0 logs and writes checkpoints.
        world: how many there are.
        local_rank: the number on this machine, which is that of its GPU.
    """

    rank: int = 0
    world: int = 1
    local_rank: int = 0

    def sum(self, tensor: Tensor) -> Tensor:
        """The sum of the tensors of all processes, the same in each; `tensor` stays unchanged."""
        if self.world == 1:
            return tensor
        total = tensor.clone()
        dist.all_reduce(total)
        return total

    def any(self, flag: bool) -> bool:
        """Whether `flag` is true in at least one process. GPUs are not involved."""
        return bool(self.sum(torch.tensor(int(flag)))) if self.world > 1 else flag

    def gather(self, tensor: Tensor) -> list[Tensor]:
        """The tensors of all processes, in their order; of one shape and on the CPU."""
        if self.world == 1:
            return [tensor]
        all_tensors = [torch.empty_like(tensor) for _ in range(self.world)]
        dist.all_gather(all_tensors, tensor)
        return all_tensors

    def in_first(self, write: Callable[[], object]) -> None:
        """Let process 0 write files.

        Raises:
            CheckpointError: it could not; in every process, so that none waits for it.
        """
        error = None
        if self.rank == 0:
            try:
                write()
            except CheckpointError as caught:
                error = caught
        if self.any(error is not None):
            raise error or CheckpointError("process 0 could not write its files")


ALONE = Processes()


@contextmanager
def joined() -> Iterator[Processes]:
    """In this block, the processes that torchrun started can talk; without torchrun, it is one."""
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if world == 1:
        yield ALONE
        return
    dist.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo")
    try:
        yield Processes(dist.get_rank(), world, int(os.environ.get("LOCAL_RANK", "0")))
    finally:
        dist.destroy_process_group()
