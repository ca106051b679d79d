"""A GPU that is only pretended: it finds device mistakes on machines without a GPU.

    with PretendGPU() as gpu:
        model = Model().to("cuda")
        train(model)
    print(gpu.counts)        # Counts(to_gpu=40, to_cpu=0, waits=20)

Every tensor has a place, "cpu" or "cuda:0"; its numbers are always on the CPU, so results are
right. As on a GPU, an operation on tensors of two places raises torch's own error, and what makes
the program wait is counted. docs/pretend-gpu.md says what is not pretended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves
from torch.utils.weak import WeakIdKeyDictionary

from attnlab.pretended_cuda import pretended_cuda

CPU, GPU = torch.device("cpu"), torch.device("cuda", 0)

# What needs a number of a tensor before Python can go on.
_WAITS = {
    "item", "tolist", "__bool__", "__float__", "__int__", "__index__", "__complex__", "is_nonzero",
    "nonzero", "argwhere", "masked_select", "unique", "equal", "allclose", "bincount",
    "__format__", "__repr__", "__contains__",
}  # fmt: skip
# Functions that take lengths or sizes on the CPU, whatever the place of the others.
_MIXED = {
    "_pack_padded_sequence", "_pad_packed_sequence", "gru", "lstm", "rnn_tanh", "rnn_relu", "copy_",
    "set_", "swap_tensors", "_has_compatible_shallow_copy_type",
}  # fmt: skip
# Functions whose second result, lengths or sizes, is on the CPU.
_LENGTHS_SECOND = {"_pack_padded_sequence", "_pad_packed_sequence"}
# Factories that copy numbers from Python, and so from the CPU.
_FROM_PYTHON = {"tensor", "as_tensor", "asarray", "new_tensor"}


@dataclass(frozen=True)
class Counts:
    """What has happened so far.

    Attributes:
        to_gpu: copies of a tensor from the CPU to the GPU.
        to_cpu: copies from the GPU to the CPU.
        waits: how often Python waited for the GPU: for a number of a tensor, or for a copy to the
            CPU.
    """

    to_gpu: int = 0
    to_cpu: int = 0
    waits: int = 0

    def __sub__(self, earlier: Counts) -> Counts:
        """What has happened since `earlier`."""
        return Counts(
            self.to_gpu - earlier.to_gpu, self.to_cpu - earlier.to_cpu, self.waits - earlier.waits
        )


class PretendGPU(TorchFunctionMode):
    """A context in which torch has one GPU, "cuda:0".

    Attributes:
        counts: copies and waits so far.
    """

    def __init__(self) -> None:
        super().__init__()
        self.counts = Counts()
        self._places: Any = WeakIdKeyDictionary()
        self._patches = ExitStack()

    def __enter__(self) -> PretendGPU:
        wait = partial(self.count, waits=1)
        self._patches.enter_context(pretended_cuda(self.place, self.put, wait))
        super().__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self._patches.close()

    def place(self, tensor: Tensor) -> torch.device:
        """Where a tensor is."""
        found: torch.device = self._places.get(tensor, CPU)
        return found

    def count(self, *, to_gpu: int = 0, to_cpu: int = 0, waits: int = 0) -> None:
        """Add to the counts."""
        now = self.counts
        self.counts = Counts(now.to_gpu + to_gpu, now.to_cpu + to_cpu, now.waits + waits)

    def put(self, found: Any, place: torch.device) -> None:
        """Say that all tensors in `found` are at `place`."""
        for tensor in _tensors(found):
            if place == GPU:
                self._places[tensor] = GPU
            else:
                self._places.pop(tensor, None)

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Called for each function of torch."""
        own = _Call(self, func, list(args), dict(kwargs or {}))
        return own.run()


class _Call:
    """One call of a function of torch."""

    def __init__(
        self, gpu: PretendGPU, func: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]
    ) -> None:
        self.gpu, self.func, self.args, self.kwargs = gpu, func, args, kwargs
        self.tensors = _tensors((args, kwargs))

    def run(self) -> Any:
        special = self._attribute()
        if special is not None:
            return special()
        name = getattr(self.func, "__name__", "")
        if name in ("to", "cuda", "cpu") and isinstance(self.args[0], Tensor):
            return self._to(name)
        if name in ("numpy", "__array__"):
            self._refuse_numpy()
        if name in ("as_tensor", "asarray") and isinstance(self.args[0], Tensor):
            return self._to(name)
        if name == "pin_memory":
            return self.args[0]
        if name == "copy_":
            self._count_copy(self.gpu.place(self.args[1]), self.gpu.place(self.args[0]))
        wanted = self._take_device()
        place = wanted or self._common_place(name)
        if place == GPU:
            self._count(name)
            self._check_generator(wanted)
        before = {id(tensor) for tensor in self.tensors}
        found = self.func(*self.args, **self.kwargs)
        placed = found[:1] if name in _LENGTHS_SECOND else found
        self.gpu.put([new for new in _tensors(placed) if id(new) not in before], place)
        return found

    def _attribute(self) -> Callable[[], Any] | None:
        """How to read or set an attribute that depends on the place; None for other functions."""
        tensor: Any = Tensor  # the class; each access to a getter makes a new wrapper, equal to it
        own = [
            (tensor.device.__get__, self._device),
            (tensor.is_cuda.__get__, lambda: self._device().type == "cuda"),
            (tensor.is_cpu.__get__, lambda: self._device().type == "cpu"),
            (tensor.get_device, lambda: 0 if self._device() == GPU else -1),
            (tensor.grad.__get__, self._grad),
            (tensor.grad.__set__, self._set_grad),
            (tensor.data.__set__, self._set_data),
        ]
        return next((run for func, run in own if self.func == func), None)

    def _device(self) -> torch.device:
        place = self.gpu.place(self.args[0])
        device: torch.device = self.args[0].device  # "meta", too
        return place if device == CPU else device

    def _grad(self) -> Tensor | None:
        """Backward passes run outside of this mode; a gradient is where its tensor is."""
        grad: Tensor | None = self.func(*self.args)
        self.gpu.put(grad, self.gpu.place(self.args[0]))
        return grad

    def _set_grad(self) -> None:
        tensor, grad = self.args
        if grad is not None and self.gpu.place(grad) != self.gpu.place(tensor):
            raise RuntimeError("assigned grad has data located on a different device")
        self.func(tensor, grad)

    def _set_data(self) -> None:
        tensor, value = self.args
        self.func(tensor, value)
        self.gpu.put(tensor, self.gpu.place(value))

    def _to(self, name: str) -> Tensor:
        """`to`, `cuda` and `cpu`: a copy if the place changes."""
        tensor, *rest = self.args
        start = self.gpu.place(tensor)
        place = {"cuda": GPU, "cpu": CPU}.get(name, start)
        dtype, booleans = self.kwargs.get("dtype"), []
        for value in [*rest, self.kwargs.get("device"), self.kwargs.get("other")]:
            match value:
                case bool():
                    booleans.append(value)  # non_blocking, copy
                case Tensor():
                    place, dtype = self.gpu.place(value), value.dtype
                case torch.dtype():
                    dtype = value
                case str() | int() | torch.device():
                    device = torch.device("cuda", value) if isinstance(value, int) else value
                    device = torch.device(device)
                    if device.type not in ("cpu", "cuda"):  # such as "meta"
                        moved: Tensor = self.func(*self.args, **self.kwargs)
                        return moved
                    place = _real(device)
                case _:
                    pass
        copies = self.kwargs.get("copy", booleans[1:] == [True])
        shape = self.kwargs.get("memory_format", torch.preserve_format)
        self._count_copy(start, place)
        found: Tensor = tensor.to(dtype or tensor.dtype, copy=copies, memory_format=shape)
        if found is tensor and place == start:
            return tensor
        self.gpu.put(found := found.clone() if found is tensor else found, place)
        return found

    def _count_copy(self, start: torch.device, end: torch.device) -> None:
        if start == CPU and end == GPU:
            self.gpu.count(to_gpu=1)
        if start == GPU and end == CPU:
            self.gpu.count(to_cpu=1, waits=1)

    def _refuse_numpy(self) -> None:
        if self.gpu.place(self.args[0]) == GPU:
            raise TypeError(
                "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the "
                "tensor to host memory first."
            )

    def _take_device(self) -> torch.device | None:
        """Take `device=` out of the arguments: the place where new tensors are wanted."""
        wanted = self.kwargs.get("device")
        if wanted is None or torch.device(wanted).type not in ("cpu", "cuda"):
            return None
        self.kwargs["device"] = CPU
        return _real(torch.device(wanted))

    def _check_generator(self, wanted: torch.device | None) -> None:
        generator = self.kwargs.get("generator")
        if generator is not None and wanted == GPU:
            raise RuntimeError("Expected a 'cuda' device type for generator but found 'cpu'")

    def _count(self, name: str) -> None:
        """Count what this function, on the GPU, costs besides its work."""
        by_mask = name in ("__getitem__", "index") and any(
            tensor.dtype == torch.bool for tensor in self.tensors[1:]
        )
        if name in _WAITS or by_mask:
            self.gpu.count(waits=1)
        if name in _FROM_PYTHON and all(self.gpu.place(tensor) == CPU for tensor in self.tensors):
            self.gpu.count(to_gpu=1)

    def _common_place(self, name: str) -> torch.device:
        """Where the function's tensors are.

        Raises:
            RuntimeError: they are at two places, and torch does not allow that.
        """
        places = [self.gpu.place(tensor) for tensor in self.tensors]
        if GPU not in places:
            return CPU
        if name in ("__getitem__", "__setitem__"):
            return self._indexed()
        # Numbers without axes may stay on the CPU: they are handed over with the call.
        away = [
            t for t, place in zip(self.tensors, places, strict=True) if place == CPU and t.dim()
        ]
        if away and name not in _MIXED:
            raise RuntimeError(
                "Expected all tensors to be on the same device, but found at least two devices, "
                "cuda:0 and cpu!"
            )
        return GPU

    def _indexed(self) -> torch.device:
        """Indices may be on the CPU; a tensor on the CPU takes no indices from the GPU."""
        place = self.gpu.place(self.args[0])
        indices = _tensors(self.args[1])
        if place == CPU and any(self.gpu.place(index) == GPU for index in indices):
            raise RuntimeError(
                "indices should be either on cpu or on the same device as the indexed tensor (cpu)"
            )
        if len(self.args) == 3 and isinstance(self.args[2], Tensor):
            value = self.args[2]
            if self.gpu.place(value) != place:
                if indices and value.dim():
                    raise RuntimeError(
                        "Expected all tensors to be on the same device, but found at least two "
                        "devices, cuda:0 and cpu!"
                    )
                self._count_copy(self.gpu.place(value), place)
        return place


def _tensors(found: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(found) if isinstance(leaf, Tensor)]


def _real(device: torch.device) -> torch.device:
    """The place that a device names.

    Raises:
        RuntimeError: it is a second GPU.
    """
    if device.type == "cpu":
        return CPU
    if device.index not in (None, 0):
        raise RuntimeError("CUDA error: invalid device ordinal")
    return GPU
