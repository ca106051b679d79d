"""Batches, a module and a training loop on any device, without needless copies and waits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from attnlab.attention import scaled_dot_product_attention
from attnlab.devices import map_tensors
from attnlab.masks import causal_mask
from attnlab.positions import sinusoidal_pe

B = TypeVar("B")


def move(batch: B, device: torch.device) -> B:
    """The batch on `device`; what is there already is not copied.

    The copy to a GPU does not make the program wait: tensors are brought into pinned memory first,
    which a GPU can read by itself. A copy to the CPU does wait, because Python could read it before
    it is complete.

    Args:
        batch: a tensor; or a tuple, a NamedTuple, a list, a dict or a dataclass of such things, in
            any depth. Whatever else is in it stays as it is. It is not changed itself.
        device: where its tensors are wanted.

    Returns:
        The same structure with every tensor on `device`, in its own dtype.
    """

    # blank: move every tensor, and wait only where it is necessary
    def one(tensor: Tensor) -> Tensor:
        if device.type == "cuda" and tensor.device.type == "cpu":
            tensor = tensor.pin_memory()
        return tensor.to(device, non_blocking=device.type != "cpu")

    return map_tensors(batch, one)
    # end blank


class PositionalAttention(nn.Module):
    """Causal self-attention of one head, over words with positions, on any device.

    Positions are added to the words; then each word attends to itself and to earlier words. The
    module runs wherever `x` and its parameters are, in their dtype: after `.to(device)` and
    `.to(dtype)` in any order, before or after the first call. A call makes no copy from one device
    to another and does not wait for the device.

    Args:
        d_model: features of a word, even.
        max_len: the most words.

    Attributes:
        query, key, value: `nn.Linear(d_model, d_model, bias=False)`, the only parameters that are
            trained.
    """

    def __init__(self, d_model: int, max_len: int = 100) -> None:
        super().__init__()
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model, bias=False)
        table = sinusoidal_pe(max_len, d_model)  # (max_len, d_model)
        # blank: keep the table, so that it goes with the module and is not trained
        self.table: Tensor
        self.register_buffer("table", table, persistent=False)
        # end blank

    def forward(self, x: Tensor) -> Tensor:
        """Mix each word with earlier ones.

        Args:
            x: (B, T, d_model), with T up to max_len. Stays unchanged.

        Returns:
            (B, T, d_model), on the device and in the dtype of `x`.
        """
        # blank: add the positions, and make the mask
        x = x + self.table[: x.shape[1]]  # (B, T, d_model)
        mask = causal_mask(x.shape[1], device=x.device)  # (T, T)
        # end blank
        out, _ = scaled_dot_product_attention(self.query(x), self.key(x), self.value(x), mask)
        return out


def train_on(
    device: torch.device,
    model: nn.Module,
    loss: Callable[[nn.Module, Any], Tensor],
    batches: Iterable[Any],
    make_optimizer: Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer],
    state: Mapping[str, Any] | None = None,
) -> list[float]:
    """Train a model on a device: one update for each batch, each from gradients of zero.

    The caller's own model is trained, not a copy, and it is on the device afterwards. A batch is
    moved to the device once, when it is needed, and nothing else is copied for it. How often the
    program waits for the device, or copies something from it, does not depend on the number of
    batches.

    Args:
        device: where to train. Only this device is used.
        model: on the CPU, or anywhere else.
        loss: called once for each batch, as ``loss(model, batch)``, with both on the device; a
            tensor without dimensions.
        batches: at least one; structures of tensors on the CPU, as for `move`. An iterator is
            enough.
        make_optimizer: called once, with parameters.
        state: an earlier optimizer's `state_dict()`, with its tensors on the CPU; training goes on
            with it. None: it starts without.

    Returns:
        The loss of each batch before the update on it: Python floats.
    """
    # blank: model, optimizer and state, then the loop; numbers for Python at the end
    model.to(device)
    optimizer = make_optimizer(model.parameters())
    if state is not None:
        optimizer.load_state_dict(dict(state))
    losses = []
    for batch in batches:
        found = loss(model, move(batch, device))
        optimizer.zero_grad()
        found.backward()
        optimizer.step()
        losses.append(found.detach())
    numbers: list[float] = torch.stack(losses).tolist()
    return numbers
    # end blank
