"""A GPU that is only pretended: it finds device mistakes on machines without a GPU.

    with PretendGPU() as gpu:
        model = Model().to("cuda")
        train(model)
    print(gpu.counts)        # Counts(to_gpu=40, to_cpu=0, waits=20)

Every tensor has a device, "cpu" or "cuda:0"; its numbers are always on the CPU, so results are
right. As on a GPU, an operation on tensors of two devices raises torch's own error, and what makes
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
from torch.utils.weak import WeakIdKeyDictionary

from attnlab.pretended_cuda import pretended_cuda
from attnlab.pretended_rules import (
    CPU,
    GPU,
    common_device,
    indexing,
    results_on_device,
    tensors_in,
)

# What needs a number of a tensor before Python can go on.
_WAITS = {
    "item", "tolist", "__bool__", "__float__", "__int__", "__index__", "__complex__", "is_nonzero",
    "nonzero", "argwhere", "masked_select", "unique", "equal", "allclose", "bincount",
    "__format__", "__repr__", "__contains__",
}  # fmt: skip
# They make a tensor on the CPU unless `device` says otherwise, wherever the numbers in their
# arguments are, which become numbers of Python: torch/csrc/utils/tensor_new.cpp.
_FACTORIES = {
    "arange", "as_tensor", "asarray", "empty", "eye", "full", "linspace", "logspace", "ones",
    "rand", "randint", "randn", "randperm", "tensor", "tril_indices", "triu_indices", "zeros",
}  # fmt: skip
# Factories that copy numbers from Python, and so from the CPU.
_FROM_PYTHON = {"tensor", "as_tensor", "asarray", "new_tensor"}
_INDEXING = {"__getitem__", "__setitem__", "index_put", "index_put_"}


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
        self._devices: Any = WeakIdKeyDictionary()
        self._pinned: Any = WeakIdKeyDictionary()
        self._patches = ExitStack()

    def __enter__(self) -> PretendGPU:
        wait = partial(self.count, waits=1)
        self._patches.enter_context(pretended_cuda(self.device_of, self.put, wait))
        super().__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self._patches.close()

    def device_of(self, tensor: Tensor) -> torch.device:
        """The device of a tensor."""
        found: torch.device = self._devices.get(tensor, CPU)
        return found

    def count(self, *, to_gpu: int = 0, to_cpu: int = 0, waits: int = 0) -> None:
        """Add to the counts."""
        now = self.counts
        self.counts = Counts(now.to_gpu + to_gpu, now.to_cpu + to_cpu, now.waits + waits)

    def put(self, found: Any, device: torch.device) -> None:
        """Say that all tensors in `found` are on `device`."""
        for tensor in tensors_in(found):
            if device == GPU:
                self._devices[tensor] = GPU
            else:
                self._devices.pop(tensor, None)

    def pin(self, tensor: Tensor) -> Tensor:
        """A copy that counts as pinned; the tensor itself if it does already."""
        if self.is_pinned(tensor):
            return tensor
        copy = tensor.clone()
        self._pinned[copy] = True
        return copy

    def is_pinned(self, tensor: Tensor) -> bool:
        """Whether a GPU could read this tensor by itself."""
        return tensor in self._pinned

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
        self.tensors = tensors_in((args, kwargs))

    def run(self) -> Any:
        name = getattr(self.func, "__name__", "")
        special = self._attribute() or self._by_name(name)
        if special is not None:
            return special()
        wanted = self._take_device()
        device = wanted or self._device_of_results(name)
        if device == GPU:
            self.gpu.count(waits=name in _WAITS)
            self._check_generator()
        before = {id(tensor) for tensor in self.tensors}
        found = self.func(*self.args, **self.kwargs)
        new = [x for x in tensors_in(results_on_device(found, name)) if id(x) not in before]
        self.gpu.put(new, device)
        return found

    def _by_name(self, name: str) -> Callable[[], Any] | None:
        """How to run a function that moves a tensor, or makes one; None for other functions."""
        of_tensor = bool(self.args) and isinstance(self.args[0], Tensor)
        match name:
            case "to" | "cuda" | "cpu" if of_tensor:
                return partial(self._to, name)
            case "as_tensor" | "asarray" | "type_as" if of_tensor:
                return partial(self._to, name)
            case "tensor" if of_tensor:
                return self._copied
            case _ if name in _FACTORIES:
                return partial(self._made, name)
            case "new_tensor":
                return partial(self._made, name)
            case "numpy" | "__array__":
                return self._numpy
            case "pin_memory":
                return self._pinned
            case "is_pinned":
                return lambda: self.gpu.is_pinned(self.args[0])
            case "broadcast_tensors":
                return self._broadcast
            case _:
                return None

    def _made(self, name: str) -> Tensor:
        """A tensor of numbers: Python's, or those of tensors, for each of which it waits."""
        default = self.gpu.device_of(self.args[0]) if name == "new_tensor" else CPU
        device = self._take_device() or default
        numbers = self.tensors[1:] if name == "new_tensor" else self.tensors
        self.gpu.count(waits=sum(self.gpu.device_of(number) == GPU for number in numbers))
        if device == GPU:
            self.gpu.count(to_gpu=name in _FROM_PYTHON)
            self._check_generator()
        made: Tensor = self.func(*self.args, **self.kwargs)
        self.gpu.put(made, device)
        return made

    def _copied(self) -> Tensor:
        """`torch.tensor(x)`: where `x` is, unless `device` is given."""
        start = self.gpu.device_of(self.args[0])
        device = self._take_device() or start
        self._count_copy(start, device)
        made: Tensor = self.func(*self.args, **self.kwargs)
        self.gpu.put(made, device)
        return made

    def _broadcast(self) -> Any:
        """Each tensor in the common shape, where it is: nothing is computed."""
        found = self.func(*self.args, **self.kwargs)
        for tensor, new in zip(self.tensors, found, strict=True):
            self.gpu.put(new, self.gpu.device_of(tensor))
        return found

    def _pinned(self) -> Tensor:
        """A copy in pinned memory: aten/src/ATen/native/Memory.cpp."""
        tensor: Tensor = self.args[0]
        if self.gpu.device_of(tensor) == GPU:
            kind = tensor.type().removeprefix("torch.")
            raise RuntimeError(
                f"cannot pin 'torch.cuda.{kind}' only dense CPU tensors can be pinned"
            )
        return self.gpu.pin(tensor)

    def _attribute(self) -> Callable[[], Any] | None:
        """How to read or set an attribute that depends on the device; None for other functions."""
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
        pretended = self.gpu.device_of(self.args[0])
        real: torch.device = self.args[0].device  # "meta", too
        return pretended if real == CPU else real

    def _grad(self) -> Tensor | None:
        """Backward passes run outside of this mode; a gradient is where its tensor is."""
        grad: Tensor | None = self.func(*self.args)
        self.gpu.put(grad, self.gpu.device_of(self.args[0]))
        return grad

    def _set_grad(self) -> None:
        tensor, grad = self.args
        if grad is not None and self.gpu.device_of(grad) != self.gpu.device_of(tensor):
            raise RuntimeError(
                f"attempting to assign a gradient with device type "
                f"'{self.gpu.device_of(grad).type}' to a tensor with device type "
                f"'{self.gpu.device_of(tensor).type}'. Please ensure that the gradient and the "
                "tensor are on the same device"
            )
        self.func(tensor, grad)

    def _set_data(self) -> None:
        tensor, value = self.args
        self.func(tensor, value)
        self.gpu.put(tensor, self.gpu.device_of(value))

    def _to(self, name: str) -> Tensor:
        """`to`, `cuda` and `cpu`: a copy if the device changes."""
        tensor, *rest = self.args
        start = self.gpu.device_of(tensor)
        end = {"cuda": GPU, "cpu": CPU}.get(name, start)
        dtype, booleans = self.kwargs.get("dtype"), []
        for value in [*rest, self.kwargs.get("device"), self.kwargs.get("other")]:
            match value:
                case bool():
                    booleans.append(value)  # non_blocking, copy
                case Tensor():
                    end, dtype = self.gpu.device_of(value), value.dtype
                case torch.dtype():
                    dtype = value
                case str() | int() | torch.device():
                    device = torch.device("cuda", value) if isinstance(value, int) else value
                    device = torch.device(device)
                    if device.type not in ("cpu", "cuda"):  # such as "meta"
                        moved: Tensor = self.func(*self.args, **self.kwargs)
                        return moved
                    end = _real(device)
                case _:
                    pass
        copies = self.kwargs.get("copy", booleans[1:] == [True])
        shape = self.kwargs.get("memory_format", torch.preserve_format)
        self._count_copy(start, end)
        found: Tensor = tensor.to(dtype or tensor.dtype, copy=copies, memory_format=shape)
        if found is tensor and end == start:
            return tensor
        self.gpu.put(found := found.clone() if found is tensor else found, end)
        return found

    def _count_copy(self, start: torch.device, end: torch.device) -> None:
        if start == CPU and end == GPU:
            self.gpu.count(to_gpu=1)
        if start == GPU and end == CPU:
            self.gpu.count(to_cpu=1, waits=1)

    def _numpy(self) -> Any:
        """On the CPU, or by force from the GPU: torch/csrc/utils/tensor_numpy.cpp."""
        if self.gpu.device_of(self.args[0]) == GPU:
            if not (self.kwargs.get("force") or True in self.args[1:]):
                raise TypeError(
                    "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy "
                    "the tensor to host memory first."
                )
            self._count_copy(GPU, CPU)
        return self.func(*self.args, **self.kwargs)

    def _take_device(self) -> torch.device | None:
        """Take `device=` out of the arguments: the device where new tensors are wanted."""
        wanted = self.kwargs.get("device")
        if wanted is None or torch.device(wanted).type not in ("cpu", "cuda"):
            return None
        self.kwargs["device"] = CPU
        return _real(torch.device(wanted))

    def _check_generator(self) -> None:
        if self.kwargs.get("generator") is not None:
            raise RuntimeError("Expected a 'cuda' device type for generator but found 'cpu'")

    def _device_of_results(self, name: str) -> torch.device:
        """Where the results are, for a function that does not say it by `device`."""
        if name in _INDEXING:
            cost = indexing(self.args, self.gpu.device_of)
            self.gpu.count(waits=cost.waits, to_gpu=cost.indices_copied)
            self._count_copy(cost.value_from or cost.device, cost.device)
            return cost.device
        if name == "copy_":
            self._count_copy(self.gpu.device_of(self.args[1]), self.gpu.device_of(self.args[0]))
        return common_device(name, self.args, self.kwargs, self.gpu.device_of)


def _real(device: torch.device) -> torch.device:
    """The device of this pretence that a device names.

    Raises:
        RuntimeError: it is a second GPU.
    """
    if device.type == "cpu":
        return CPU
    if device.index not in (None, 0):
        raise RuntimeError("CUDA error: invalid device ordinal")
    return GPU
