"""Devices that are there and that are not, and batches of every structure moved to them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

from attnlab.device_agnostic import move
from attnlab.devices import DeviceError, available, map_tensors, peak_memory, pick_device

CPU, META = torch.device("cpu"), torch.device("meta")


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch):
    """Set what torch says about the machine's devices."""

    def set_up(gpus: int = 0, mps: bool = False) -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: gpus > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)

    return set_up


def test_auto_takes_the_best_device(machine) -> None:
    for gpus, mps, best in ((2, True, "cuda"), (0, True, "mps"), (0, False, "cpu")):
        machine(gpus, mps)
        assert pick_device() == pick_device("auto") == torch.device(best)


def test_a_device_that_is_there_is_taken(machine) -> None:
    machine(gpus=2)
    for wanted in ("cuda", "cuda:0", "cuda:1", "cpu"):
        assert pick_device(wanted) == torch.device(wanted)
    machine()
    assert available() == ["cpu"]


@pytest.mark.parametrize(
    "wanted", ["cuda:2", "mps", "gpu", "", "meta", "cuda:x", "cpu:1", "cuda:-1"]
)
def test_a_device_that_is_not_there_is_one_sentence(machine, wanted: str) -> None:
    machine(gpus=2)
    with pytest.raises(DeviceError, match=r"device=auto, or one of these: cuda, cpu$") as caught:
        pick_device(wanted)
    assert repr(wanted) in str(caught.value)


class Pair(NamedTuple):
    source: Tensor
    name: str


@dataclass(frozen=True)
class Record:
    ids: Tensor
    size: int
    made: int = field(init=False, default=3)


def batch() -> dict[str, Any]:
    pair = Pair(torch.arange(3), "a")
    return {
        "pair": pair,
        "all": [torch.ones(2), (Record(torch.zeros(2, dtype=torch.bool), 5), None)],
    }


def test_tensors_are_moved_and_everything_else_stays() -> None:
    before = batch()
    moved = move(before, META)
    assert isinstance(moved["pair"], Pair)
    assert moved["pair"].name == "a"
    ones, (record, nothing) = moved["all"]
    assert isinstance(record, Record)
    assert (record.size, record.made, nothing) == (5, 3, None)
    tensors = (moved["pair"].source, ones, record.ids)
    assert [tensor.device.type for tensor in tensors] == ["meta"] * 3
    assert [tensor.dtype for tensor in tensors] == [torch.int64, torch.float32, torch.bool]
    assert before["pair"].source.device == CPU


def test_what_is_there_already_is_not_copied() -> None:
    before = batch()
    assert move(before, CPU)["pair"].source is before["pair"].source


def test_map_tensors_visits_each_tensor_once() -> None:
    seen: list[tuple[int, ...]] = []
    map_tensors(batch(), lambda tensor: seen.append(tuple(tensor.shape)) or tensor)
    assert seen == [(3,), (2,), (2,)]
    assert map_tensors(torch.ones(1), lambda tensor: tensor + 1).item() == 2
    assert map_tensors(Record, lambda tensor: tensor) is Record


class Recorded:
    """A tensor on a GPU that this machine does not have: it only says how it is moved."""

    def __init__(self, device: str, calls: list[Any]) -> None:
        self.device, self.calls = torch.device(device), calls

    def pin_memory(self) -> Recorded:
        self.calls.append("pin")
        return self

    def to(self, device: torch.device, non_blocking: bool) -> Recorded:
        self.calls.append((device.type, non_blocking))
        return self


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ("cpu", "cuda", ["pin", ("cuda", True)]),
        ("cuda", "cuda", [("cuda", True)]),
        ("cpu", "mps", [("mps", True)]),
        ("cuda", "cpu", [("cpu", False)]),
    ],
)
def test_only_a_copy_to_the_cpu_waits(monkeypatch, start, end, expected) -> None:
    calls: list[Any] = []
    monkeypatch.setattr("attnlab.device_agnostic.map_tensors", lambda batch, change: change(batch))
    move(Recorded(start, calls), torch.device(end))
    assert calls == expected


def test_peak_memory_grows_with_the_process() -> None:
    before = peak_memory(CPU)
    assert 1 << 24 < before < 1 << 40
    torch.ones(before // 4 + (1 << 24))
    assert peak_memory(CPU) > before
