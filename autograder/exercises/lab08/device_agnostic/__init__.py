"""device_agnostic: batches, a module and a training loop that run on any device."""

from __future__ import annotations

from dataclasses import make_dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from attnlab.checking.raised import raised_by
from attnlab.checking.weights import give_weights
from attnlab.device_agnostic import PositionalAttention, move, train_on
from attnlab.pretend_gpu import PretendGPU
from gradekit.exercise import Exercise

exercise = Exercise(
    move,
    PositionalAttention,
    train_on,
    equivalent={
        "PositionalAttention: `100` → `101` in "
        "`def __init__(self, d_model: int, max_len: int=100) -> None:`": (
            "a longer table; more words than max_len are not promised to fail"
        ),
        "PositionalAttention: `False` → `True` in "
        "`self.register_buffer('table', table, persistent=False)`": (
            "a table that is saved with the weights is right, too"
        ),
        "PositionalAttention: `self.register_buffer('table', table, persistent=False)` → "
        "`self.register_buffer('table', table)` in "
        "`self.register_buffer('table', table, persistent=False)`": (
            "a table that is saved with the weights is right, too"
        ),
        "train_on: `dict(state)` → `state` in `optimizer.load_state_dict(dict(state))`": (
            "torch reads any mapping"
        ),
        "train_on: `found.detach()` → `found` in `losses.append(found.detach())`": (
            "the same numbers; the graphs of all updates stay in memory"
        ),
    },
)

CPU, GPU = torch.device("cpu"), torch.device("cuda")


class Pair(NamedTuple):
    words: Tensor
    labels: Tensor
    source: str = "drawn"


# A batch of another kind. A class statement would look for the module of its text, which travels.
Record = make_dataclass("Record", [("ids", Tensor), ("more", object)], frozen=True)


def a_pair(draw, B=2, T=3):
    return Pair(draw.normal(B, T), draw.integers(0, 9, B))


def place(tensor):
    return str(torch.device(tensor.device.type))


@exercise.check(points=1)
def batch_on_the_gpu(lab, draw):
    """`move`: every tensor of a batch is copied to the GPU, once; the rest stays as it is."""
    batch = a_pair(draw)
    with PretendGPU() as gpu:
        moved = lab.move(batch, GPU)
        places = [place(tensor) for tensor in moved[:2]]
        counts = gpu.counts
        again = lab.move(moved, GPU)
        seen = {
            "type": type(moved).__name__,
            "places": places,
            "copies to the GPU": counts.to_gpu,
            "waits": counts.waits,
            "copies of what is there already": (gpu.counts - counts).to_gpu,
            "the batch itself": [place(tensor) for tensor in batch[:2]],
            "places of the second": [place(tensor) for tensor in again[:2]],
        }
    return {**seen, "numbers": list(moved[:2]), "the rest": moved[2]}


@exercise.check(points=0.5, hidden=True)
def any_structure(lab, draw):
    """`move`: takes tuples, lists, dicts and dataclasses in any depth; leaves them unchanged."""
    numbers = draw.normal(3, dtype=torch.float32)
    batch = {
        "pair": a_pair(draw),
        "list": [draw.integers(0, 5, 2), None, 7],
        "record": Record(draw.normal(2, 2), (draw.normal(1) > 0, "text")),
        "alone": numbers,
    }
    with PretendGPU() as gpu:
        moved = lab.move(batch, GPU)
        record, alone = moved["record"], moved["alone"]
        tensors = [*moved["pair"][:2], moved["list"][0], record.ids, record.more[0], alone]
        places = [place(tensor) for tensor in tensors]
        own = [place(batch["alone"]), place(batch["record"].ids)]
        copies = gpu.counts.to_gpu
    stay = lab.move(batch, CPU)
    return {
        "types": [type(part).__name__ for part in (moved, *moved.values(), record.more)],
        "places": places,
        "the batch itself": own,
        "copies": copies,
        "dtypes": [str(tensor.dtype) for tensor in tensors],
        "numbers": [tensor.double() for tensor in tensors],
        "the rest": [*moved["list"][1:], record.more[1]],
        "the same tensor on its own device": stay["alone"] is numbers,
        "meta": str(lab.move(batch, torch.device("meta"))["pair"].words.device),
    }


class Calls(TorchFunctionMode):
    """Notes the shapes of copied tensors, how they are copied, and what waits for the GPU."""

    def __init__(self, gpu):
        super().__init__()
        self.gpu, self.last = gpu, ""
        self.copied, self.waited, self.pinned, self.in_background = [], [], 0, []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs, name = kwargs or {}, getattr(func, "__name__", "")
        self.last = self.last if name == "__get__" else name
        if name == "pin_memory":
            self.pinned += 1
        if name in ("to", "cuda", "cpu"):
            booleans = [value for value in args if isinstance(value, bool)]
            self.in_background.append(bool(kwargs.get("non_blocking", booleans[:1] == [True])))
        before = self.gpu.counts
        out = func(*args, **kwargs)
        cost = self.gpu.counts - before
        if cost.to_gpu or cost.to_cpu:
            self.copied.append(list(out.shape) if isinstance(out, Tensor) else name)
        if cost.waits:
            self.waited.append(name)
        return out


@exercise.check(points=0.5, hidden=True)
def copies_in_the_background(lab, draw):
    """`move`: a copy to the GPU, from pinned memory, does not wait; one to the CPU does."""
    numbers = draw.normal(2, 3)
    with PretendGPU() as gpu:
        with Calls(gpu) as there:
            moved = lab.move(numbers, GPU)
        with Calls(gpu) as back:
            lab.move(moved, CPU)
    return {
        "pinned": there.pinned > 0,
        "waits for the copy to the GPU": not all(there.in_background),
        "waits for the copy to the CPU": not any(back.in_background),
        "pinned on the way back": back.pinned > 0,
    }


def module(lab, draw, d_model=6, max_len=9):
    made = lab.PositionalAttention(d_model, max_len)
    names = ("query.weight", "key.weight", "value.weight")
    give_weights(made, {name: draw.normal(d_model, d_model).float() / 2 for name in names})
    return made


def asked(made, gpu, x):
    """What one call returns and costs; or what it raised, and in which function of torch."""
    with Calls(gpu) as calls:
        try:
            out, error = made(x), None
        except NotImplementedError:
            raise
        except Exception as raised:  # with the function of torch that refused
            out, error = None, raised_by(raised)
    return {
        "error": error,
        "error in": calls.last if error else None,
        "place": None if error else place(out),
        "shapes of copies": calls.copied,
        "waits": calls.waited,
        "out": out,
    }


@exercise.check(points=1.5)
def module_on_the_gpu(lab, draw):
    """`PositionalAttention`: after `.to("cuda")` it runs there, without a copy or a wait."""
    made, x = module(lab, draw), draw.normal(2, 5, 6, dtype=torch.float32)
    with PretendGPU() as gpu:
        return asked(made.to(GPU), gpu, x.to(GPU))


@exercise.check(points=0.5, hidden=True)
def module_moved_later(lab, draw):
    """`PositionalAttention`: the device and the dtype may change between calls, and the length."""
    made, x = module(lab, draw), draw.normal(2, 5, 6, dtype=torch.float32)
    seen = {}
    with PretendGPU() as gpu:
        for name, device, length in (("CPU", CPU, 5), ("GPU", GPU, 5), ("shorter", GPU, 3)):
            seen[name] = asked(made.to(device), gpu, x[:, :length].to(device))
        seen["back"] = asked(made.to(CPU), gpu, x[:, :4])
        for dtype in (torch.float64, torch.bfloat16):
            found = asked(made.to(dtype), gpu, x.to(dtype))
            seen[str(dtype)] = [found["error"], str(getattr(found["out"], "dtype", None))]
    return seen


@exercise.check(points=0.5, hidden=True)
def module_computes(lab, draw):
    """`PositionalAttention`: knows the positions, sees no later word, and trains three weights."""
    made = module(lab, draw)

    def ask(B, T):
        return made(draw.normal(B, T, 6, dtype=torch.float32))

    x = draw.normal(2, 5, 6, dtype=torch.float32)
    before = x.clone()
    made(x).sum().backward()
    trained = [parameter for parameter in made.parameters() if parameter.requires_grad]
    long = lab.PositionalAttention(6)(torch.zeros(1, 100, 6))
    return {
        "outputs": draw.each_size(ask, B=3, T=5),
        "words if max_len is not given": list(long.shape),
        "shapes of trained parameters": sorted(list(parameter.shape) for parameter in trained),
        "x is unchanged": torch.equal(x, before),
    }


class Toy(nn.Module):
    """A small model with a buffer; it notes where it was called and with what."""

    def __init__(self, draw):
        super().__init__()
        self.weight = nn.Parameter(draw.normal(3, 4))
        self.bias = nn.Parameter(draw.normal(4))
        self.register_buffer("scale", draw.uniform(4, low=0.5, high=1.5))
        self.called = []

    def forward(self, words):
        self.called.append(place(words))
        return (words @ self.weight + self.bias) * self.scale


def toy_loss(model, batch):
    return nn.functional.cross_entropy(model(batch.words), batch.labels % 4)


def adam(parameters):
    return torch.optim.Adam(parameters, lr=0.1)


def trained(lab, draw, count, device=GPU, state=None):
    """What a training on `count` batches does and costs, and its model."""
    model, waits = Toy(draw), []
    batches = [a_pair(draw, 5) for _ in range(count)]

    def loss(model, batch):
        waits.append(gpu.counts.waits)
        return toy_loss(model, batch)

    with PretendGPU() as gpu:
        losses = lab.train_on(device, model, loss, iter(batches), adam, state)
        places = [place(tensor) for tensor in (*model.parameters(), model.scale)]
    seen = {"places": places, "called at": model.called}
    return model, losses, gpu.counts, seen, waits[-1] - waits[0]


@exercise.check(points=1.5)
def loop_on_the_gpu(lab, draw):
    """`train_on`: copies each tensor of a batch once, and no update waits for the GPU."""
    few, many = (trained(lab, draw, count) for count in (2, 7))
    more, between = many[2] - few[2], many[4] - few[4]
    return {
        "copies to the GPU for each batch": more.to_gpu / 5,
        "copies to the CPU for each batch": more.to_cpu / 5,
        "waits for each batch": more.waits / 5,
        "of them before the last update": between / 5,
    }


@exercise.check(points=0.5)
def loop_trains(lab, draw):
    """`train_on`: the model itself is trained and stays on the GPU; losses are floats."""
    model, losses, _, seen, _ = trained(lab, draw, 4)
    return {
        **seen,
        "types": [type(loss).__name__ for loss in losses],
        "losses": list(losses),
        "weights": [parameter.detach() for parameter in model.parameters()],
    }


@exercise.check(points=0.5, hidden=True)
def loop_on_the_cpu(lab, draw):
    """`train_on`: on a machine with a GPU, it trains on the CPU if it is told to."""
    model, losses, counts, seen, _ = trained(lab, draw, 3, CPU)
    return {
        **seen,
        "copies to the GPU": counts.to_gpu,
        "losses": list(losses),
        "weights": [parameter.detach() for parameter in model.parameters()],
    }


@exercise.check(points=0.5, hidden=True)
def loop_goes_on(lab, draw):
    """`train_on`: goes on with an optimizer's state, on the GPU and on the CPU."""
    seen = {}
    for device in (GPU, CPU):
        before = Toy(draw)
        optimizer = adam(before.parameters())
        toy_loss(before, a_pair(draw, 5)).backward()
        optimizer.step()
        model, *_ = trained(lab, draw, 3, device, optimizer.state_dict())
        seen[device.type] = [parameter.detach() for parameter in model.parameters()]
    return seen


@exercise.check(points=0.5, hidden=True)
def one_batch_at_a_time(lab, draw):
    """`train_on`: moves a batch when it is needed, and starts each update from zero."""
    model, ahead = Toy(draw), []

    def batches():
        for number in range(6):
            ahead.append(number - len(model.called))
            yield a_pair(draw, 5)

    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    losses = lab.train_on(CPU, model, toy_loss, batches(), adam)
    return {
        "at most two wait": max(ahead) <= 2,
        "losses": list(losses),
        "calls": len(model.called),
    }
