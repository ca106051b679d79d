"""Mistakes that people make with devices, and mixes that are none: refused just where torch does.

The comments name the place in PyTorch's sources that decides. The same tests run on a real GPU
where there is one.
"""

from __future__ import annotations

import copy
import io
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch.utils.data import DataLoader, TensorDataset

from attnlab.pretend_gpu import Counts, PretendGPU

# TensorIterator.cpp, and the checks generated from native_functions.yaml, begin like this.
SAME = "Expected all tensors to be on the same device"


def given() -> SimpleNamespace:
    """Tensors on both devices; a name ends with its device. One of no axes is a number."""
    g, c = torch.ones(3, 4, device="cuda"), torch.ones(3, 4)
    ids = torch.tensor([2, 0, 1])
    return SimpleNamespace(
        g=g, c=c, number_g=g.sum(), number_c=c.sum(), ids_c=ids, ids_g=ids.cuda(),
        one_c=ids[0], one_g=ids.cuda()[0], mask_c=c > 0, mask_g=g > 0,
    )  # fmt: skip


class Tables(nn.Module):
    """Positions that are computed in each call, where the computer is."""

    def forward(self, x: Tensor) -> Tensor:
        angles = torch.arange(x.shape[0])[:, None] * torch.logspace(0, -4, x.shape[1])
        return x + torch.sin(angles)


class Listed(nn.Module):
    """Layers in a list of Python, which `.to` does not find."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = [nn.Linear(4, 4), nn.Linear(4, 4)]

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class NotAParameter(nn.Module):
    """The result of `.to` is a plain tensor, so a model on the GPU may go back without it."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(4)).to("cuda")

    def forward(self, x: Tensor) -> Tensor:
        return x * self.scale


class Dropped(nn.Module):
    """`.to` of a tensor changes nothing in place, and its result is thrown away."""

    def forward(self, x: Tensor) -> Tensor:
        offset = torch.zeros(4)
        offset.to(x.device)
        return x + offset


def running_total(t: Any) -> Tensor:
    total = torch.tensor(0.0)  # on the CPU
    total += t.number_g
    return total


def lengths_to_mask(t: Any) -> Tensor:
    """`arange` takes its end from the GPU and still makes its result on the CPU."""
    return torch.arange(t.ids_g.max()) < t.ids_g[:, None]


def state_from_before(t: Any) -> None:
    """An optimiser that has worked on the CPU, and whose model then moves."""
    layer = nn.Linear(4, 2)
    optimizer = torch.optim.Adam(layer.parameters())
    for x in (t.c, t.g):
        layer.to(x.device)
        optimizer.zero_grad()
        layer(x).sum().backward()
        optimizer.step()


def packed(x: Tensor, lengths: Tensor) -> Any:
    return pack_padded_sequence(x[:, :, None], lengths, batch_first=True)


LENGTHS = torch.tensor([4, 3, 1])

REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a table made in forward": (lambda t: Tables()(t.g), SAME),
    "layers in a list": (lambda t: Listed().cuda()(t.g), SAME),
    "a result of to thrown away": (lambda t: Dropped().cuda()(t.g), SAME),
    "to of a parameter": (lambda t: NotAParameter().cpu()(t.c), SAME),
    # native/cuda/Indexing.cu, masked_fill__cuda
    "a mask made with arange": (
        lambda t: t.g.masked_fill(torch.arange(4) > 2, -torch.inf),
        "expected self and mask to be on the same device, but got mask on cpu and self on cuda:0",
    ),
    "a mask of the GPU in a table of the CPU": (
        lambda t: t.c.masked_fill_(t.mask_g, 0.0),
        "expected self and mask to be on the same device, but got mask on cuda:0 and self on cpu",
    ),
    # native/TensorIterator.cpp, compute_types: what is changed must be on the common device
    "a running total on the CPU": (running_total, SAME),
    "a number of the GPU added in place": (lambda t: t.number_c.add_(t.number_g), SAME),
    "lengths to a mask": (lengths_to_mask, SAME),
    # native_functions.yaml: cat, index_select and the like are not marked NoCheck
    "stacked numbers": (lambda t: torch.stack([t.number_g, t.number_c]), SAME),
    "one token of the CPU": (lambda t: F.embedding(t.one_c, t.g), SAME),
    "one target of the CPU": (lambda t: F.cross_entropy(t.g[0], t.one_c), SAME),
    "class weights of the CPU": (lambda t: F.cross_entropy(t.g, t.ids_g, torch.ones(4)), SAME),
    "index_select": (lambda t: t.g.index_select(0, t.ids_c), SAME),
    "scatter with an index of the CPU": (lambda t: t.g.scatter(1, t.ids_c[:, None], 0.0), SAME),
    "scatter with a source of the CPU": (
        lambda t: t.g.scatter_add_(1, t.ids_g[:, None], t.c[:, :1]), SAME,
    ),
    "masked_select": (lambda t: t.g.masked_select(t.mask_c), SAME),
    "equal": (lambda t: torch.equal(t.number_g, t.number_c), SAME),
    "accuracy": (lambda t: (t.g.argmax(1) == t.ids_c).float().mean(), SAME),
    "limits of the CPU": (lambda t: t.g.clamp(max=t.number_c), SAME),
    # torch/nn/functional.py, l1_loss: the target gets axes before the two meet
    "a target that is one number": (lambda t: F.l1_loss(t.g, t.number_c), SAME),
    "two numbers in a loss of squares": (lambda t: F.mse_loss(t.number_g, t.number_c), SAME),
    # native/PackedSequence.cpp, checkLongTensor
    "lengths on the GPU": (
        lambda t: packed(t.g, LENGTHS.cuda()),
        "'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor",
    ),
    # native/RNN.h, check_attributes
    "a first state made on the CPU": (
        lambda t: nn.GRU(4, 2).cuda()(t.g, torch.zeros(1, 2)),
        "Input and hidden tensors are not at the same device, found input tensor at cuda:0 and "
        "hidden tensor at cpu",
    ),
    "a recurrent net left behind": (
        lambda t: nn.LSTM(4, 2)(t.g),
        "Input and (parameter|hidden) tensors are not at the same device",
    ),
    "a batch that a recurrent net waits for": (
        lambda t: nn.GRU(4, 2).cuda()(t.c),
        "Input and (parameter|hidden) tensors are not at the same device",
    ),
    "state from before": (state_from_before, "same device"),
    # native/Memory.cpp, _pin_memory
    "pinning what is on the GPU": (
        lambda t: t.g.pin_memory(),
        "cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned",
    ),
    # TensorIndexing.h and native/TensorAdvancedIndexing.cpp
    "a mask of the GPU for labels of the CPU": (
        lambda t: t.ids_c[t.ids_g > 0], "indices should be either on ",
    ),
    "several numbers written to chosen places": (
        lambda t: t.g.__setitem__(t.mask_g, torch.zeros(12)), SAME,
    ),
    # native/cuda/MultinomialKernel.cu and the other kernels check their generator
    "a generator of the CPU draws from the GPU": (
        lambda t: torch.multinomial(t.g, 1, generator=torch.Generator()), "generator",
    ),
    "weights of the GPU from a generator of the CPU": (
        lambda t: nn.init.normal_(t.g, generator=torch.Generator()), "generator",
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Using a target size")
@pytest.mark.parametrize("name", REFUSED)
def test_mistakes_that_people_make_are_refused(anywhere: PretendGPU | None, name: str) -> None:
    mistake, message = REFUSED[name]
    tensors = given()
    with pytest.raises(RuntimeError, match=message):
        mistake(tensors)


def test_numbers_of_the_gpu_are_not_numpys(anywhere: PretendGPU | None) -> None:
    t = given()
    for convert in (np.asarray, lambda x: x.numpy(), lambda x: x.detach().numpy()):
        with pytest.raises(TypeError, match="can't convert cuda:0 device type tensor to numpy"):
            convert(t.g)
    # torch/csrc/utils/tensor_numpy.cpp
    assert t.g.numpy(force=True).shape == (3, 4)


def made_before(t: Any) -> Tensor:
    """`.to` keeps a module's parameters, so an optimiser made before it trains them."""
    layer = nn.Linear(4, 2)
    optimizer = torch.optim.AdamW(layer.parameters(), lr=1.0)
    before = layer.to("cuda").weight.detach().clone()
    layer(t.g).sum().backward()
    optimizer.step()
    assert not torch.equal(layer.weight, before)
    return layer.weight


def loaded(t: Any, map_location: Any) -> Tensor:
    file = io.BytesIO()
    torch.save({"weight": t.c}, file)
    file.seek(0)
    found: Tensor = torch.load(file, map_location=map_location)["weight"]
    return found


def default_device(t: Any) -> Tensor:
    with torch.device("cuda"):
        return torch.zeros(2) + nn.Linear(4, 2)(t.g)


def state_of_its_own(t: Any) -> Tensor:
    found: Tensor = nn.GRU(4, 2).cuda()(t.g, t.g.new_zeros(1, 2))[0]
    return found


def unpacked(t: Any) -> Tensor:
    out, lengths = pad_packed_sequence(packed(t.g, LENGTHS), batch_first=True)
    assert lengths.tolist() == LENGTHS.tolist()
    assert not lengths.is_cuda
    return out


def pinned_batch(t: Any) -> Tensor:
    batch = next(iter(DataLoader(TensorDataset(t.c), batch_size=2, pin_memory=True)))[0]
    assert batch.is_pinned()
    return batch.to("cuda", non_blocking=True)


def total_of_python(t: Any) -> Tensor:
    total = 0.0
    for _ in range(3):
        total = total + t.number_g
    return torch.as_tensor(total)


ALLOWED: dict[str, tuple[Callable[[Any], Tensor], str]] = {
    "an optimiser made before to": (made_before, "cuda:0"),
    "a total that starts at 0.0": (total_of_python, "cuda:0"),
    # native/TensorIterator.cpp, compute_types: one number of the CPU beside tensors of the GPU
    "a number of the CPU plus one of the GPU": (lambda t: t.number_c + t.number_g, "cuda:0"),
    "a number of the CPU, in place": (lambda t: t.g.mul_(t.number_c), "cuda:0"),
    "two numbers in a loss": (lambda t: F.l1_loss(t.number_g, t.number_c), "cuda:0"),
    # native/TensorCompare.cpp, where_self_out
    "where with numbers": (lambda t: torch.where(t.mask_g, t.g, torch.tensor(0.0)), "cuda:0"),
    # native/cuda/Indexing.cu, masked_fill__cuda with a tensor
    "a number of the CPU filled in": (lambda t: t.g.masked_fill(t.mask_g, t.number_c), "cuda:0"),
    # TensorIndexing.h: a whole number is read, wherever it is
    "one index of the GPU": (lambda t: t.c[t.one_g], "cpu"),
    "a slice up to a number of the GPU": (lambda t: t.c[: t.one_g], "cpu"),
    "positions of the CPU": (lambda t: t.g[torch.arange(2), t.ids_c[:2]], "cuda:0"),
    "a row of the CPU": (lambda t: (t.g.__setitem__(0, t.c[0]), t.g)[1], "cuda:0"),
    "a mask of the CPU and a number": (
        lambda t: (t.g.__setitem__(t.mask_c, 0.0), t.g)[1], "cuda:0",
    ),
    "one number written to chosen places": (
        lambda t: (t.g.__setitem__(t.mask_g, torch.zeros(1)), t.g)[1], "cuda:0",
    ),
    "index_put_": (lambda t: t.g.index_put_((t.ids_c,), t.g.clone()), "cuda:0"),
    # native_functions.yaml: composed of views, which look at sizes alone
    "expand_as": (lambda t: t.c.expand_as(t.g), "cpu"),
    "broadcast_tensors": (lambda t: torch.broadcast_tensors(t.g, t.c)[1], "cpu"),
    # torch/csrc/utils/tensor_new.cpp, internal_new_from_data
    "a tensor of losses": (lambda t: torch.tensor([t.number_g, t.number_g]), "cpu"),
    "a copy": (lambda t: torch.tensor(t.g, device="cpu"), "cpu"),
    "new_tensor": (lambda t: t.g.new_tensor([1.0]), "cuda:0"),
    "full with a number of the GPU": (lambda t: torch.full((2,), t.number_g), "cpu"),
    "type_as": (lambda t: t.c.type_as(t.g), "cuda:0"),
    "a default device": (default_device, "cuda:0"),
    "a first state on the same device": (state_of_its_own, "cuda:0"),
    "packed and padded again": (unpacked, "cuda:0"),
    "a loader that pins": (pinned_batch, "cuda:0"),
    "load to the GPU": (lambda t: loaded(t, "cuda"), "cuda:0"),
    "load to a device": (lambda t: loaded(t, torch.device("cuda", 0)), "cuda:0"),
    "load to the CPU": (lambda t: loaded(t, "cpu"), "cpu"),
    "a model copied": (lambda t: copy.deepcopy(nn.Linear(4, 2).cuda())(t.g), "cuda:0"),
    "weights loaded from the CPU": (
        lambda t: (m := nn.Linear(4, 2).cuda(), m.load_state_dict(nn.Linear(4, 2).state_dict()))
        and m(t.g),
        "cuda:0",
    ),
    "a generator of the CPU, then a move": (
        lambda t: torch.rand(3, generator=torch.Generator()).to("cuda"), "cuda:0",
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:To copy construct from a tensor")
@pytest.mark.parametrize("name", ALLOWED)
def test_what_is_no_mistake_is_allowed(anywhere: PretendGPU | None, name: str) -> None:
    make, device = ALLOWED[name]
    assert str(make(given()).device) == device


def test_a_device_has_a_number_and_its_name_has_none(anywhere: PretendGPU | None) -> None:
    g = given().g
    assert g.device != torch.device("cuda")
    assert g.device == torch.device("cuda:0")
    with pytest.raises(AssertionError, match="device"):
        torch.testing.assert_close(g, g.cpu())


def test_newer_programs_find_the_gpu(anywhere: PretendGPU | None) -> None:
    assert torch.accelerator.is_available()
    assert torch.accelerator.current_accelerator() == torch.device("cuda")
    torch.accelerator.synchronize()
    torch.cuda.reset_peak_memory_stats()
    torch.cuda.empty_cache()
    assert torch.cuda.memory_allocated() >= 0


def test_autocast_takes_16_bits_of_its_own(anywhere: PretendGPU | None) -> None:
    with torch.autocast("cuda"):
        assert nn.Linear(4, 2).cuda()(given().g).dtype == torch.float16


def test_a_graph_that_is_kept_is_no_mistake_of_devices(anywhere: PretendGPU | None) -> None:
    layer, losses = nn.Linear(4, 2).cuda(), []
    for _ in range(3):
        losses.append(layer(given().g).mean())
    assert torch.stack(losses).mean().requires_grad


COSTS: dict[str, tuple[Callable[[Any], Any], Counts]] = {
    "a tensor of losses": (lambda t: torch.tensor([t.number_g] * 3), Counts(waits=3)),
    "arange up to a number of the GPU": (lambda t: torch.arange(t.one_g), Counts(waits=1)),
    "one index of the GPU": (lambda t: t.c[t.one_g], Counts(waits=1)),
    "a slice up to a number of the GPU": (lambda t: t.g[: t.one_g], Counts(waits=1)),
    "indices of the CPU": (lambda t: t.g[t.ids_c], Counts(to_gpu=1)),
    "a mask of the CPU": (lambda t: t.g[t.mask_c], Counts(to_gpu=1)),
    "a mask of the GPU": (lambda t: t.g[t.mask_g], Counts(waits=1)),
    "a number where a mask is true": (
        lambda t: t.g.__setitem__(t.mask_g, 0.0), Counts(),
    ),
    "numbers where a mask is true": (
        lambda t: t.g.__setitem__(t.mask_g, t.g.clone().reshape(-1)), Counts(waits=1),
    ),
    "a row of the CPU": (lambda t: t.g.__setitem__(0, t.c[0]), Counts(to_gpu=1)),
    "a row of the GPU": (lambda t: t.c.__setitem__(0, t.g[0]), Counts(to_cpu=1, waits=1)),
    "new_tensor": (lambda t: t.g.new_tensor([1.0, 2.0]), Counts(to_gpu=1)),
    "new_zeros": (lambda t: t.g.new_zeros(2), Counts()),
    "type_as": (lambda t: t.c.type_as(t.g), Counts(to_gpu=1)),
    "a copy to the CPU": (lambda t: torch.tensor(t.g, device="cpu"), Counts(to_cpu=1, waits=1)),
    "numpy by force": (lambda t: t.g.numpy(force=True), Counts(to_cpu=1, waits=1)),
    "a number of the CPU": (lambda t: t.g * t.number_c, Counts()),
    "pinning": (lambda t: t.c.pin_memory().pin_memory(), Counts()),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:To copy construct from a tensor")
@pytest.mark.parametrize("name", COSTS)
def test_what_mixes_cost(name: str) -> None:
    work, cost = COSTS[name]
    with PretendGPU() as gpu:
        tensors = given()
        before = gpu.counts
        work(tensors)
        assert gpu.counts - before == cost
