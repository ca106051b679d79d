"""The size of the largest tensor that a computation makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class LargestTensor(TorchDispatchMode):
    """A context manager that records the size of the largest tensor that torch makes in it.

    Attributes:
        bytes: the size of that tensor in bytes; 0 if none was made.
    """

    def __init__(self) -> None:
        super().__init__()
        self.bytes = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """False, because torch would import torch.compile otherwise: a second for each student."""
        return False

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        out = func(*args, **(kwargs or {}))
        for made in tree_leaves(out):
            if isinstance(made, torch.Tensor):
                self.bytes = max(self.bytes, made.untyped_storage().nbytes())
        return out
