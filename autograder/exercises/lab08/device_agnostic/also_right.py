"""Other right versions; most mistakes edit one of the first three."""

from __future__ import annotations

from copy import copy, deepcopy  # noqa: F401 - edits of these versions use it
from dataclasses import fields, is_dataclass, replace

import torch
from torch import nn

from attnlab.attention import scaled_dot_product_attention
from attnlab.device_agnostic import move
from attnlab.devices import map_tensors
from attnlab.positions import sinusoidal_pe

from . import exercise


@exercise.also_right(of="move")
def by_hand(batch, device):
    if isinstance(batch, torch.Tensor):
        if device.type == "cuda" and batch.device.type != "cuda":
            return batch.pin_memory().to(device, non_blocking=True)
        return batch.to(device)
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*[by_hand(part, device) for part in batch])
    if isinstance(batch, (list, tuple)):
        return type(batch)(by_hand(part, device) for part in batch)
    if isinstance(batch, dict):
        return {key: by_hand(part, device) for key, part in batch.items()}
    if is_dataclass(batch):
        parts = {f.name: by_hand(getattr(batch, f.name), device) for f in fields(batch)}
        return replace(batch, **parts)
    return batch


@exercise.also_right(of="move")
def with_a_lambda(batch, device):
    gpu = device.type == "cuda"

    def one(t):
        t = t.pin_memory() if gpu and not t.is_cuda else t
        return t.to(device=device, non_blocking=gpu)

    return map_tensors(batch, one)


@exercise.also_right(of="PositionalAttention")
class Written(nn.Module):
    def __init__(self, d_model, max_len=100):
        super().__init__()
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model, bias=False)
        table = sinusoidal_pe(max_len, d_model)
        self.register_buffer("table", table)

    def forward(self, x):
        T = x.size(1)
        x = x + self.table[:T]
        mask = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
        out, _ = scaled_dot_product_attention(self.query(x), self.key(x), self.value(x), mask)
        return out


@exercise.also_right(of="PositionalAttention")
class TwoBuffers(nn.Module):
    def __init__(self, d_model, max_len=100):
        super().__init__()
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.table = nn.Parameter(sinusoidal_pe(max_len, d_model), requires_grad=False)
        everything = torch.ones(max_len, max_len, dtype=torch.bool)
        self.register_buffer("mask", everything.tril(), persistent=False)

    def forward(self, x):
        n = x.shape[1]
        x = x + self.table[:n][None]
        scores = self.query(x) @ self.key(x).mT / x.shape[-1] ** 0.5
        scores = scores.masked_fill(~self.mask[:n, :n], float("-inf"))
        return torch.softmax(scores, -1) @ self.value(x)


@exercise.also_right(of="PositionalAttention")
class MaskFromPositions(nn.Module):
    def __init__(self, d_model, max_len=100):
        super().__init__()
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.register_buffer("pe", sinusoidal_pe(max_len, d_model)[None])

    def forward(self, x):
        places = torch.arange(x.shape[1], device=x.device)
        x = x + self.pe[:, : x.shape[1]]
        mask = places[:, None] >= places
        return scaled_dot_product_attention(self.query(x), self.key(x), self.value(x), mask)[0]


@exercise.also_right(of="train_on")
def plain_loop(device, model, loss, batches, make_optimizer, state=None):
    model.to(device)
    optimizer = make_optimizer(model.parameters())
    if state is not None:
        optimizer.load_state_dict(state)
    losses = []
    for batch in batches:
        batch = map_tensors(batch, lambda tensor: tensor.to(device))
        optimizer.zero_grad()
        now = loss(model, batch)
        now.backward()
        optimizer.step()
        losses.append(now.detach())
    return torch.stack(losses).cpu().tolist()


@exercise.also_right(of="train_on")
def optimizer_before_the_move(device, model, loss, batches, make_optimizer, state=None):
    # Moving a model keeps its parameters, so an optimizer made before still has them.
    optimizer = make_optimizer(list(model.parameters()))
    model = model.to(device)
    if state:
        optimizer.load_state_dict(dict(state))
    total = torch.zeros(0, device=device)
    for batch in batches:
        moved = copy(batch)._replace(words=batch.words.to(device), labels=batch.labels.to(device))
        for parameter in model.parameters():
            parameter.grad = None
        value = loss(model, moved)
        value.backward()
        optimizer.step()
        total = torch.cat([total, value.detach()[None]])
    return [float(value) for value in total.cpu()]


@exercise.also_right(of="train_on")
def state_moved_by_hand(device, model, loss, batches, make_optimizer, state=None):
    optimizer = make_optimizer(model.parameters())
    if state is not None:
        optimizer.load_state_dict(state)
    model.to(device)
    for values in optimizer.state.values():
        for name in values:
            if name != "step":
                values[name] = values[name].to(device)
    seen = []
    optimizer.zero_grad()
    for batch in batches:
        now = loss(model, map_tensors(batch, lambda tensor: tensor.to(device)))
        now.backward()
        optimizer.step()
        optimizer.zero_grad()
        seen.append(now.detach())
    return torch.stack(seen).tolist()


@exercise.also_right(of="PositionalAttention")
class ByTorchsAttention(nn.Module):
    def __init__(self, d_model, max_len=100):
        super().__init__()
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.register_buffer("positions", sinusoidal_pe(max_len, d_model), persistent=False)

    def forward(self, x):
        x = x + self.positions[torch.arange(x.shape[1], device=x.device)]
        q, k, v = self.query(x), self.key(x), self.value(x)
        return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


@exercise.also_right(of="train_on")
def fetched_ahead(device, model, loss, batches, make_optimizer, state=None):
    model.to(device)
    optimizer = make_optimizer(model.parameters())
    if state is not None:
        optimizer.load_state_dict(dict(state))
    waiting = iter(batches)
    following, losses = move(next(waiting), device), []
    while following is not None:
        batch, following = following, next(waiting, None)
        value = loss(model, batch)
        if following is not None:  # it travels while the GPU computes
            following = move(following, device)
        optimizer.zero_grad(set_to_none=True)
        value.backward()
        optimizer.step()
        losses.append(value.detach())
    return torch.stack(losses).to("cpu").numpy().tolist()
