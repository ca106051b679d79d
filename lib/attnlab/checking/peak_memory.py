"""How much memory the largest tensor takes that a computation makes on its way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class LargestTensor(TorchDispatchMode):
    """While it is on, remembers how many bytes the largest tensor takes that torch makes.

    Attributes:
        bytes: of that tensor; 0 where none was made.
    """

    def __init__(self) -> None:
        super().__init__()
        self.bytes = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """To tell torch.compile to keep away, torch would import it: a second for each student."""
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
