"""Which devices torch lets one operation mix, and where its result is: rules of the pretended GPU.

A call is given as its name and its arguments; `device_of` says where a tensor is. Sources are files
of PyTorch, below ``aten/src/ATen``. In ``native/native_functions.yaml``, an operation that is not
marked ``device_check: NoCheck`` refuses two devices before it begins, numbers included.

Tested in ``tests/attnlab/test_pretended_rules.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

CPU, GPU = torch.device("cpu"), torch.device("cuda", 0)
DeviceOf = Callable[[Tensor], torch.device]

TWO_DEVICES = (
    "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
)
# Operations without NoCheck that people give tensors without axes, and losses whose kernels read
# no number of the CPU (seen on a GPU with torch 2.11).
_NO_NUMBERS = {
    "binary_cross_entropy", "clamp", "clamp_", "clip", "clip_", "cross_entropy", "embedding",
    "equal", "gather", "hstack", "huber_loss", "index_add", "index_add_", "index_copy",
    "index_copy_", "index_select", "masked_select", "mse_loss", "nll_loss", "scatter", "scatter_",
    "scatter_add", "scatter_add_", "smooth_l1_loss", "stack", "take", "take_along_dim", "vstack",
}  # fmt: skip
# It first brings both sides to one shape, so a number gets axes: torch/nn/functional.py.
_BROADCAST = {"l1_loss"}
# The second tensor says a shape or a dtype; its numbers are not read.
_SHAPE_ONLY = {
    "broadcast_tensors", "can_cast", "expand_as", "is_same_size", "reshape_as", "result_type",
    "view_as",
}  # fmt: skip
_IN_PLACE = {
    f"__i{name}__" for name in (
        "add", "sub", "mul", "div", "truediv", "floordiv", "mod", "pow", "and", "or", "xor",
    )
}  # fmt: skip
# They work on two devices by their nature.
_ANY_PLACE = {"copy_", "set_", "swap_tensors", "_has_compatible_shallow_copy_type"}
_RECURRENT = {"gru", "lstm", "rnn_tanh", "rnn_relu"}
# Functions whose second result, lengths or sizes, is on the CPU: native/PackedSequence.cpp.
_LENGTHS_SECOND = {"_pack_padded_sequence", "_pad_packed_sequence"}


def tensors_in(found: Any) -> list[Tensor]:
    """The tensors in nested tuples, lists and dicts."""
    return [leaf for leaf in tree_leaves(found) if isinstance(leaf, Tensor)]


def common_device(
    name: str, args: Sequence[Any], kwargs: Mapping[str, Any], device_of: DeviceOf
) -> torch.device:
    """Where a function's results are, if its arguments decide that.

    Raises:
        RuntimeError: its tensors are on two devices, and torch does not allow that.
    """
    tensors = tensors_in((args, kwargs))
    if name in _SHAPE_ONLY:
        return device_of(tensors[0])
    if name in _LENGTHS_SECOND and name.startswith("_pack"):
        _refuse_lengths(args[1], device_of)
    if all(device_of(tensor) == CPU for tensor in tensors):
        return CPU
    if name in _ANY_PLACE:
        return GPU
    if name in _RECURRENT:
        _refuse_recurrent(tensors, device_of)
    elif name in ("masked_fill", "masked_fill_"):
        _refuse_mask(args[0], args[1] if len(args) > 1 else kwargs["mask"], device_of)
    elif any(device_of(t) == CPU and not _may_stay(t, name, args, tensors) for t in tensors):
        raise RuntimeError(TWO_DEVICES)
    return GPU


def results_on_device(found: Any, name: str) -> Any:
    """Those results of a function that are on its common device."""
    return found[:1] if name in _LENGTHS_SECOND else found


def _may_stay(tensor: Tensor, name: str, args: Sequence[Any], tensors: Sequence[Tensor]) -> bool:
    """Whether this tensor may be on the CPU while others are on the GPU."""
    if name in _LENGTHS_SECOND:
        return tensor.dtype == torch.int64 and tensor.dim() == 1
    # A number goes with the call, but it cannot hold a result: native/TensorIterator.cpp,
    # compute_types, allow_cpu_scalars_ && !op.is_output.
    changed = name in _IN_PLACE or (name.endswith("_") and not name.endswith("__"))
    if tensor.dim() or name in _NO_NUMBERS or (changed and tensor is args[0]):
        return False
    return name not in _BROADCAST or not any(other.dim() for other in tensors)


def _refuse_lengths(lengths: Tensor, device_of: DeviceOf) -> None:
    """native/PackedSequence.cpp, checkLongTensor."""
    if device_of(lengths) == GPU:
        raise RuntimeError(
            "'lengths' argument should be a 1D CPU int64 tensor, but got "
            f"{lengths.dim()}D cuda:0 Long tensor"
        )


def _refuse_recurrent(tensors: Sequence[Tensor], device_of: DeviceOf) -> None:
    """native/RNN.h, check_attributes; the sizes of a packed batch stay on the CPU."""
    first, *others = (tensor for tensor in tensors if tensor.dtype != torch.int64)
    for other in others:
        if device_of(other) != device_of(first):
            kind = "parameter" if isinstance(other, nn.Parameter) else "hidden"
            raise RuntimeError(
                f"Input and {kind} tensors are not at the same device, found input tensor at "
                f"{device_of(first)} and {kind} tensor at {device_of(other)}"
            )


def _refuse_mask(tensor: Tensor, mask: Tensor, device_of: DeviceOf) -> None:
    """native/cuda/Indexing.cu, masked_fill__cuda; the value may be a number anywhere."""
    if device_of(mask) != device_of(tensor):
        raise RuntimeError(
            "expected self and mask to be on the same device, but got mask on "
            f"{device_of(mask)} and self on {device_of(tensor)}"
        )
    if device_of(tensor) == CPU:
        raise RuntimeError("masked_fill_: Expected inputs to be on same device")


@dataclass(frozen=True)
class Indexing:
    """`x[index]`, or `x[index] = value`.

    Attributes:
        device: where `x` is, and the result.
        waits: how often Python waits for a number of the GPU.
        indices_copied: indices that are copied from the CPU to the GPU.
        value_from: where a value is that is copied to `x`; None: there is none.
    """

    device: torch.device
    waits: int = 0
    indices_copied: int = 0
    value_from: torch.device | None = None


def indexing(args: Sequence[Any], device_of: DeviceOf) -> Indexing:
    """What indexing costs: TensorIndexing.h and native/TensorAdvancedIndexing.cpp.

    A whole number without axes, and the ends of a slice, become numbers of Python, wherever they
    are. Other indices are brought to the device of `x`, from the CPU alone. The trues of a mask on
    the GPU are counted before the result has a size: native/IndexingUtils.h, expandTensors.

    Raises:
        RuntimeError: an index is on the GPU and `x` is not; or a value with axes goes to chosen
            places of a tensor on another device.
    """
    target, index = args[0], args[1]
    here = device_of(target)
    parts = index if isinstance(index, tuple) else (index,)
    ends = [end for s in parts if isinstance(s, slice) for end in (s.start, s.stop, s.step)]
    numbers = tensors_in([ends, [part for part in parts if _is_whole_number(part)]])
    chosen = tensors_in([p for p in parts if not isinstance(p, slice) and not _is_whole_number(p)])
    away = [tensor for tensor in chosen if device_of(tensor) != here]
    if here == CPU and away:
        raise RuntimeError(
            "indices should be either on cpu or on the same device as the indexed tensor (cpu)"
        )
    waits = sum(device_of(number) == GPU for number in numbers)
    value = args[2] if len(args) > 2 and isinstance(args[2], Tensor) else None
    is_number = value is None or (value.numel() == 1 and device_of(value) == CPU)
    if len(args) == 2 or not is_number:  # a number is filled in without counting the mask
        waits += sum(device_of(t) == GPU and t.dtype in (torch.bool, torch.uint8) for t in chosen)
    if value is not None and chosen and device_of(value) != here and value.numel() != 1:
        raise RuntimeError(TWO_DEVICES)
    start = None if value is None else device_of(value)
    return Indexing(here, waits, len(away), start)


def _is_whole_number(part: Any) -> bool:
    return (
        isinstance(part, Tensor)
        and part.dim() == 0
        and not part.dtype.is_floating_point
        and part.dtype not in (torch.bool, torch.uint8)
    )
