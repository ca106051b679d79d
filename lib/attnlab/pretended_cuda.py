"""What torch says about its GPU while one is pretended: it is there, and it is named.

Tested in ``tests/attnlab/test_pretend_gpu.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

NAME = "a pretended GPU"


@contextmanager
def pretended_cuda(
    device_of: Callable[[Tensor], torch.device],
    put: Callable[[Tensor, torch.device], None],
    wait: Callable[[], None],
) -> Iterator[None]:
    """In this block, torch says that it has a GPU.

    Args:
        device_of: says where a tensor is.
        put: places a tensor.
        wait: called when the program waits for the GPU.
    """
    changes: list[tuple[Any, str, Any]] = [
        *((torch.cuda, name, value) for name, value in _answers(wait).items()),
        *((torch.accelerator, name, value) for name, value in _accelerator(wait).items()),
        (torch, "load", _load(put)),
        (nn.Parameter, "__new__", _parameter(device_of, put)),
        (torch.autocast, "__init__", _autocast()),
        # It arranges weights for a library that only runs on GPUs.
        (nn.RNNBase, "flatten_parameters", lambda self: None),
    ]
    before = [(owner, name, owner.__dict__[name]) for owner, name, _ in changes]
    try:
        for owner, name, value in changes:
            setattr(owner, name, value)
        yield
    finally:
        for owner, name, value in before:
            setattr(owner, name, value)


def _answers(wait: Callable[[], None]) -> dict[str, Callable[..., Any]]:
    return {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "get_device_name": lambda device=None: NAME,
        "is_bf16_supported": lambda including_emulation=True: True,
        "is_initialized": lambda: True,
        "synchronize": lambda device=None: wait(),
        "empty_cache": lambda: None,
        "memory_allocated": lambda device=None: 0,
        "memory_reserved": lambda device=None: 0,
        "max_memory_allocated": lambda device=None: 0,
        "max_memory_reserved": lambda device=None: 0,
        "reset_peak_memory_stats": lambda device=None: None,
        "manual_seed": lambda seed: None,
        "manual_seed_all": lambda seed: None,
        # Its random numbers come from the CPU's generator.
        "get_rng_state": lambda device=None: torch.zeros(16, dtype=torch.uint8),
        "set_rng_state": lambda state, device=None: None,
    }


def _accelerator(wait: Callable[[], None]) -> dict[str, Callable[..., Any]]:
    """`torch.accelerator`, by which newer programs choose their device."""
    return {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "current_accelerator": lambda check_available=False: torch.device("cuda"),
        "current_device_index": lambda: 0,
        # torch's optimisers ask it whether a graph of kernels is being recorded.
        "current_stream": lambda device=None: SimpleNamespace(is_capturing=lambda: False),
        "synchronize": lambda device=None: wait(),
    }


def _load(put: Callable[[Any, torch.device], None]) -> Callable[..., Any]:
    """`torch.load`: its tensors are on the CPU, or where a device in `map_location` says."""
    load = torch.load

    def loaded(f: Any, map_location: Any = None, *rest: Any, **options: Any) -> Any:
        named = isinstance(map_location, str | torch.device)
        on_gpu = named and torch.device(map_location).type == "cuda"
        found = load(f, "cpu" if on_gpu else map_location, *rest, **options)
        if on_gpu:
            put(found, torch.device("cuda", 0))
        return found

    return loaded


def _parameter(
    device_of: Callable[[Tensor], torch.device], put: Callable[[Tensor, torch.device], None]
) -> Any:
    """`nn.Parameter.__new__`, which torch does not show to a mode: the device of its data."""
    make = nn.Parameter.__new__

    def parameter(cls: type, data: Tensor | None = None, requires_grad: bool = True) -> Tensor:
        made: Tensor = make(cls, data, requires_grad)
        put(made, torch.device("cpu") if data is None else device_of(data))
        return made

    return staticmethod(parameter)


def _autocast() -> Callable[..., None]:
    """`torch.autocast.__init__`: "cuda" becomes "cpu", in float16 if no dtype is given."""
    make = torch.autocast.__init__

    def autocast(
        self: torch.autocast, device_type: str, dtype: torch.dtype | None = None, *rest: Any,
        **options: Any,
    ) -> None:  # fmt: skip
        if torch.device(device_type).type == "cuda":
            device_type, dtype = "cpu", dtype or torch.float16
        make(self, device_type, dtype, *rest, **options)

    return autocast
