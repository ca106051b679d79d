"""The pretended GPU, held to torch's rules; the same tests run on a real GPU where there is one."""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnlab import encoder_decoder, transformer
from attnlab.attention import scaled_dot_product_attention
from attnlab.data import dates
from attnlab.device_agnostic import move
from attnlab.devices import PretendGPU, pick_device
from attnlab.layers import FeedForward, LayerNorm, Residual
from attnlab.masks import causal_mask, padding_mask
from attnlab.models.dates_translator import dates_translator
from attnlab.models.markov_gpt import MarkovGPT
from attnlab.multihead import MultiHeadAttention
from attnlab.positions import LearnedPositions, PositionalEncoding
from attnlab.pretend_gpu import Counts
from attnlab.seq2seq import AttentionDecoderCell, pad_batch
from attnlab.train_step import Sums
from attnlab.training import Trainer
from attnlab.training_config import TrainerConfig
from attnlab.transformer_config import TransformerConfig
from attnlab.translation import TASKS, TranslatorConfig

SAME = "Expected all tensors to be on the same device"
TWO = "found at least two devices, cuda:0 and cpu!"


def both() -> tuple[Tensor, Tensor]:
    return torch.ones(3, 4, device="cuda"), torch.ones(3, 4)


REFUSED: dict[str, Callable[[Tensor, Tensor], Any]] = {
    "add": lambda g, c: g + c,
    "add in place": lambda g, c: g.add_(c),
    "product": lambda g, c: g @ c.T,
    "a number without axes on the GPU": lambda g, c: c + g.sum(),
    "cat": lambda g, c: torch.cat([g, c]),
    "stack": lambda g, c: torch.stack([c, g]),
    "where": lambda g, c: torch.where(c > 0, g, 0.0),
    "a layer left behind": lambda g, c: nn.Linear(4, 2)(g),
    "a batch left behind": lambda g, c: nn.Linear(4, 2).cuda()(c),
    "embedding": lambda g, c: F.embedding(torch.tensor([1]), g),
    "targets": lambda g, c: F.cross_entropy(g, torch.tensor([0, 1, 2])),
    "gather": lambda g, c: g.gather(1, torch.zeros(3, 1, dtype=torch.int64)),
    "index_put": lambda g, c: g.__setitem__(torch.tensor([0]), torch.zeros(1, 4)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_two_devices_in_one_operation_are_refused(anywhere: PretendGPU | None, name: str) -> None:
    with pytest.raises(RuntimeError, match=SAME) as caught:
        REFUSED[name](*both())
    assert anywhere is None or str(caught.value) == f"{SAME}, but {TWO}"


ALLOWED: dict[str, tuple[Callable[[Tensor, Tensor], Any], str]] = {
    "a number of Python": (lambda g, c: g + 2, "cuda:0"),
    "a number without axes on the CPU": (lambda g, c: g * torch.tensor(2.0), "cuda:0"),
    "indices on the CPU": (lambda g, c: g[torch.tensor([0])], "cuda:0"),
    "a mask on the CPU": (lambda g, c: g[c > 0], "cuda:0"),
    "copy_": (lambda g, c: c.copy_(g), "cpu"),
    "rows set from the CPU": (lambda g, c: (g.__setitem__(0, torch.zeros(4)), g)[1], "cuda:0"),
    "new_zeros": (lambda g, c: g.new_zeros(2), "cuda:0"),
    "zeros_like": (lambda g, c: torch.zeros_like(g), "cuda:0"),
    "zeros_like on the CPU": (lambda g, c: torch.zeros_like(g, device="cpu"), "cpu"),
    "arange": (lambda g, c: torch.arange(3, device=g.device), "cuda:0"),
    "as_tensor": (lambda g, c: torch.as_tensor(c, device="cuda"), "cuda:0"),
    "cpu": (lambda g, c: g.cpu() + c, "cpu"),
    "to a tensor": (lambda g, c: c.to(g), "cuda:0"),
    "to a number": (lambda g, c: c.to(0), "cuda:0"),
    "to a dtype": (lambda g, c: g.to(torch.float64), "cuda:0"),
    "a view": (lambda g, c: g.T, "cuda:0"),
    "several results": (lambda g, c: g.max(1).values, "cuda:0"),
    "detach": (lambda g, c: g.detach().clone(), "cuda:0"),
    "data": (lambda g, c: g.data, "cuda:0"),
    "deepcopy": (lambda g, c: copy.deepcopy(g), "cuda:0"),
    "a layer made there": (lambda g, c: nn.Linear(4, 2, device="cuda")(g), "cuda:0"),
    "a parameter": (lambda g, c: nn.Parameter(g), "cuda:0"),
    "a layer moved back": (lambda g, c: nn.Linear(4, 2).cuda().cpu()(c), "cpu"),
}


@pytest.mark.parametrize("name", ALLOWED)
def test_what_torch_allows(anywhere: PretendGPU | None, name: str) -> None:
    make, device = ALLOWED[name]
    assert str(make(*both()).device) == device


def test_other_messages(anywhere: PretendGPU | None) -> None:
    g, c = both()
    with pytest.raises(TypeError, match=r"can't convert cuda:0 device type tensor to numpy"):
        g.numpy()
    with pytest.raises(TypeError, match=r"Use Tensor.cpu\(\) to copy the tensor"):
        np.asarray(g)
    with pytest.raises(RuntimeError, match="indices should be either on "):
        c[torch.tensor([0], device="cuda")]
    with pytest.raises(RuntimeError, match="generator"):
        torch.rand(3, device="cuda", generator=torch.Generator())
    leaf = c.requires_grad_()
    message = "a gradient with device type 'cuda' to a tensor with device type 'cpu'"
    with pytest.raises(RuntimeError, match=message):
        leaf.grad = g


def test_a_gradient_is_where_its_parameter_is(anywhere: PretendGPU | None) -> None:
    layer = nn.Linear(4, 2).cuda()
    loss = layer(torch.ones(3, 4, device="cuda")).sum()
    loss.backward()
    assert layer.weight.grad.device == torch.device("cuda:0")
    assert torch.autograd.grad(layer(both()[0]).sum(), [layer.bias])[0].is_cuda
    assert loss.get_device() == 0
    assert not layer.weight.is_cpu


class Forgets(nn.Module):
    """A table that is a plain attribute, so it stays behind."""

    def __init__(self) -> None:
        super().__init__()
        self.table = torch.ones(4)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.table


class Remembers(Forgets):
    def __init__(self) -> None:
        super().__init__()
        del self.table
        self.register_buffer("table", torch.ones(4))


def test_a_plain_attribute_stays_behind_and_a_buffer_follows(anywhere: PretendGPU | None) -> None:
    g, _ = both()
    with pytest.raises(RuntimeError, match=SAME):
        Forgets().cuda()(g)
    assert Remembers().to("cuda")(g).is_cuda


def test_the_best_device_is_taken_and_a_batch_moved(anywhere: PretendGPU | None) -> None:
    assert pick_device() == torch.device("cuda")
    batch = dates.batch_of(dates.pairs(3, seed=1), pad_batch)
    assert {tensor.device.type for tensor in move(batch, pick_device())} == {"cuda"}


def counted(gpu: PretendGPU, work: Callable[[], Any]) -> Counts:
    before = gpu.counts
    work()
    return gpu.counts - before


def test_copies_and_waits_are_counted() -> None:
    with PretendGPU() as gpu:
        g, c = both()
        total, mask = g.sum(), g > 0
        for work in (total.item, total.tolist, lambda: float(total), lambda: bool(total > 0)):
            assert counted(gpu, work) == Counts(waits=1)
        for work in (lambda: g[mask], mask.nonzero, lambda: g.masked_select(mask)):
            assert counted(gpu, work) == Counts(waits=1)
        assert counted(gpu, torch.cuda.synchronize) == Counts(waits=1)
        for work in (lambda: c.to("cuda"), c.cuda, lambda: g.copy_(c)):
            assert counted(gpu, work) == Counts(to_gpu=1)
        assert counted(gpu, lambda: torch.tensor([1.0], device="cuda")) == Counts(to_gpu=1)
        for work in (g.cpu, lambda: g.to("cpu"), lambda: c.copy_(g)):
            assert counted(gpu, work) == Counts(to_cpu=1, waits=1)
        for work in (lambda: g.to("cuda"), lambda: g @ g.T, lambda: torch.zeros(3, device="cuda")):
            assert counted(gpu, work) == Counts()
        for work in (c.sum().item, (c > 0).nonzero, lambda: c[c > 0], c.cpu):
            assert counted(gpu, work) == Counts()


def test_a_number_in_a_text_waits() -> None:
    with PretendGPU() as gpu:
        loss = torch.ones((), device="cuda")
        for number, shown in enumerate((f"{loss:.3f}", repr(loss), 1.0 in loss.reshape(1)), 1):
            assert shown
            assert gpu.counts.waits >= number


def test_outside_everything_is_as_before() -> None:
    names = ("is_available", "device_count", "get_rng_state", "synchronize")
    before = [getattr(torch.cuda, name) for name in names]
    new, init = nn.Parameter.__new__, torch.autocast.__init__
    with PretendGPU(), pytest.raises(RuntimeError, match=SAME):
        REFUSED["add"](*both())
    with pytest.raises(KeyError), PretendGPU():
        raise KeyError
    assert [getattr(torch.cuda, name) for name in names] == before
    assert (nn.Parameter.__new__, torch.autocast.__init__) == (new, init)
    assert torch.ones(2).device == torch.device("cpu")


def test_devices_are_forgotten_with_their_tensors() -> None:
    with PretendGPU() as gpu:
        for _ in range(3):
            torch.ones(2, device="cuda") + 1
        gc.collect()
        assert len(gpu._devices) == 0


def test_a_second_gpu_is_not_there() -> None:
    with PretendGPU(), pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch.ones(2, device="cuda:1")
    with PretendGPU():
        assert torch.ones(2).to("meta").device.type == "meta"


def test_autocast_and_the_scaler_run(anywhere: PretendGPU | None) -> None:
    layer, scaler = nn.Linear(4, 2).cuda(), torch.amp.GradScaler("cuda")
    optimizer = torch.optim.AdamW(layer.parameters(), fused=True)
    for spoiled in (True, False):
        with torch.autocast("cuda", torch.bfloat16):
            out = layer(torch.ones(3, 4, device="cuda"))
        assert out.dtype == torch.bfloat16
        scaler.scale(out.float().sum()).backward()
        before = layer.weight.detach().clone()
        if spoiled:
            layer.weight.grad[0, 0] = torch.inf
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        assert torch.equal(layer.weight, before) == spoiled
    assert scaler.get_scale() == 32768


CFG = TransformerConfig(13, 11, 12, 3, 20, 1, 1, dropout=0.0, max_len=30)
SOURCE = torch.tensor([[3, 4, 5, 6], [8, 9, 0, 0]])
INPUTS = torch.tensor([[1, 5, 6], [1, 8, 0]])
IDS = torch.tensor([[0, 1, 2, 3], [7, 6, 5, 4]])
X = torch.linspace(-1, 1, 2 * 3 * 12).reshape(2, 3, 12)


def translator() -> nn.Module:
    model = dates_translator(AttentionDecoderCell)
    model.forward = lambda source, target: _translated(model, source, target)  # type: ignore[method-assign]
    return model


def _translated(model: Any, source: Tensor, target: Tensor) -> Tensor:
    mask = source != 0
    hidden, state = model.encode(source, mask)
    return model.cell(target[:, 0], state, hidden, mask)[0]


def self_attention() -> nn.Module:
    layer = MultiHeadAttention(12, 3)
    inner = layer.forward
    layer.forward = lambda x: inner(x, x, x, causal_mask(3, device=x.device))  # type: ignore[method-assign]
    return layer


def residual() -> nn.Module:
    layer, inner = Residual(12), FeedForward(12, 7)
    layer.inner = inner
    forward = layer.forward
    layer.forward = lambda x: forward(x, inner)  # type: ignore[method-assign]
    return layer


class Plain(encoder_decoder.Transformer):
    def forward(self, source: Tensor, inputs: Tensor) -> Tensor:  # type: ignore[override]
        return super().forward(source, source != 0, inputs)


MODULES: dict[str, tuple[Callable[[], nn.Module], tuple[Tensor, ...]]] = {
    "lab 2": (translator, (SOURCE, INPUTS)),
    "lab 4": (self_attention, (X,)),
    "lab 5": (MarkovGPT, (IDS, causal_mask(4))),
    "lab 6, positions": (lambda: PositionalEncoding(12, 9), (X,)),
    "lab 6, learned positions": (lambda: LearnedPositions(9, 12), (X,)),
    "lab 6, normalisation": (lambda: LayerNorm(12), (X,)),
    "lab 6, residual": (residual, (X,)),
    "lab 7": (lambda: Plain(CFG), (SOURCE, INPUTS)),
    "lab 7, whole": (lambda: transformer.Transformer(CFG), (SOURCE, INPUTS)),
}


@pytest.mark.parametrize("name", MODULES)
def test_every_module_of_the_labs_runs_and_gives_the_same_numbers(
    anywhere: PretendGPU | None, name: str
) -> None:
    make, inputs = MODULES[name]
    torch.manual_seed(0)
    model = make()
    expected = model(*inputs)
    if expected.requires_grad:
        expected.square().sum().backward()
    grads = [None if p.grad is None else p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    model.to("cuda")
    found = model(*(tensor.to("cuda") for tensor in inputs))
    if found.requires_grad:
        found.square().sum().backward()
    assert found.device.type == "cuda"
    # torch lets cuDNN's recurrent layers round products to TF32 unless it is told otherwise.
    rtol, atol = (1e-2, 1e-3) if name == "lab 2" else (1e-4, 1e-5)
    torch.testing.assert_close(found.cpu(), expected, rtol=rtol, atol=atol)
    for parameter, grad in zip(model.parameters(), grads, strict=True):
        if grad is not None:
            torch.testing.assert_close(parameter.grad.cpu(), grad, rtol=10 * rtol, atol=10 * atol)


def test_functions_of_the_labs_make_their_masks_where_they_are_used(
    anywhere: PretendGPU | None,
) -> None:
    q = torch.ones(1, 1, 3, 4, device="cuda")
    assert causal_mask(3, device=q.device).is_cuda
    ids = torch.tensor([[3, 4, 0]], device="cuda")
    out, weights = scaled_dot_product_attention(q, q, q, padding_mask(ids, 0))
    assert out.is_cuda
    assert weights.is_cuda
    with pytest.raises(RuntimeError, match="expected self and mask to be on the same device"):
        scaled_dot_product_attention(q, q, q, causal_mask(3))


SMALL = TranslatorConfig(60, 20, d_model=8, num_heads=2, d_ff=16, layers=1)


@pytest.mark.parametrize("dtype", ["fp32", "bf16", "fp16"])
def test_the_trainer_runs_on_a_gpu(anywhere: PretendGPU | None, tmp_path, dtype: str) -> None:
    losses = []
    for device in ("cuda", "cpu"):
        cfg = TrainerConfig(
            steps=4, log_every=4, batch_tokens=80, accumulate=2, dtype=dtype, device=device
        )
        task = TASKS["copy"](SMALL, cfg)
        for steps in (2, 4):
            trainer = Trainer(task.model, task.loss, cfg, folder=tmp_path / device)
            trainer.resume()
            trainer.fit(_first(task.data, steps, trainer), task.validation[:1])
        losses.append(trainer.validate(task.validation))
        assert next(task.model.parameters()).device.type == device
    assert losses[0] == pytest.approx(losses[1], rel=0.2 if anywhere is None else 1e-2)


class _first:
    """Data of a trainer that stops after some steps."""

    def __init__(self, data: Any, steps: int, trainer: Trainer) -> None:
        self.data, self.steps, self.trainer = data, steps, trainer

    def epoch(self, number: int, start: int = 0):
        for batch in self.data.epoch(number, start):
            if self.trainer.progress.step + 1 == self.steps < self.trainer.cfg.steps:
                self.trainer.stop()
            yield batch


def test_nothing_in_the_loop_waits_but_the_lines_of_the_log() -> None:
    with PretendGPU() as gpu:
        spent = []
        for steps in (4, 9):
            cfg = TrainerConfig(steps=steps, log_every=100, batch_tokens=80, device="cuda")
            task = TASKS["copy"](SMALL, cfg)
            trainer = Trainer(task.model, task.loss, cfg)
            before = gpu.counts
            trainer.fit(task.data)
            spent.append(gpu.counts - before)
    more = spent[1] - spent[0]
    assert more == Counts(to_gpu=5 * 4)  # the four tensors of a batch


def test_a_loss_that_is_read_in_every_step_waits_in_every_step() -> None:
    def loss(model: nn.Module, batch: Any) -> Sums:
        found = task.loss(model, batch)
        found.loss.item()
        return found

    with PretendGPU() as gpu:
        spent = []
        for steps in (4, 9):
            cfg = TrainerConfig(steps=steps, log_every=100, batch_tokens=80, device="cuda")
            task = TASKS["copy"](SMALL, cfg)
            before = gpu.counts
            Trainer(task.model, loss, cfg).fit(task.data)
            spent.append(gpu.counts - before)
    assert (spent[1] - spent[0]).waits == 5
