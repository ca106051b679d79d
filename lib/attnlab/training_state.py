"""The states of an optimiser and of torch's random generators, as tensors with names.

A checkpoint holds tensors alone, so nested states get names such as ``optimizer.3.exp_avg``.

Tested in ``tests/attnlab/test_training.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor


def with_prefix(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The tensors whose names begin with `prefix`, without it."""
    return {name[len(prefix) :]: x for name, x in tensors.items() if name.startswith(prefix)}


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The state of each parameter; ``optimizer.<number of the parameter>.<name>``."""
    return {
        f"optimizer.{index}.{name}": torch.as_tensor(value)
        for index, state in optimizer.state_dict()["state"].items()
        for name, value in state.items()
    }


def load_optimizer(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Take over what `optimizer_tensors` returned; learning rates and the like stay."""
    states: dict[int, dict[str, Tensor]] = {}
    for full_name, value in with_prefix(tensors, "optimizer.").items():
        index, _, name = full_name.partition(".")
        states.setdefault(int(index), {})[name] = value
    optimizer.load_state_dict({**optimizer.state_dict(), "state": states})


def random_states(device: torch.device) -> dict[str, Tensor]:
    """The states of the CPU's generator and of the device's, by kind; each uint8, on the CPU."""
    states = {"cpu": torch.get_rng_state()}
    match device.type:
        case "cuda":
            states["cuda"] = torch.cuda.get_rng_state(device)
        case "mps":
            states["mps"] = torch.mps.get_rng_state()
        case _:
            pass
    return states


@contextmanager
def own_random_numbers(
    device: torch.device, seed: int, states: Mapping[str, Tensor] | None
) -> Iterator[None]:
    """In this block, random numbers begin with `seed`, or go on from `states`.

    Those of the program around it are not used, and go on afterwards as if nothing had been drawn.
    """
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        if states is None:
            torch.manual_seed(seed)
        else:
            set_random_states(device, states)
        yield


def set_random_states(device: torch.device, states: Mapping[str, Tensor]) -> None:
    """Go on from `states`; a kind that they do not have goes on as it is."""
    torch.set_rng_state(states["cpu"])
    if device.type == "cuda" and "cuda" in states:
        torch.cuda.set_rng_state(states["cuda"], device)
    if device.type == "mps" and "mps" in states:
        torch.mps.set_rng_state(states["mps"])
