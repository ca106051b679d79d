"""What a Transformer does before its first training step: its loss, its stream, what it writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import torch
from torch import Tensor, nn

from attnlab.transformer_config import TransformerConfig

SYMBOLS = 37
D_MODEL = 64

Norm = Literal["pre", "post"]
Make = Callable[[TransformerConfig], Any]
Init = Callable[[nn.Module], None]


def fresh(
    make: Make,
    init: Init,
    *,
    norm: Norm = "pre",
    tie: Literal["none", "output", "all"] = "output",
    layers: int = 1,
    symbols: int = SYMBOLS,
    seed: int = 0,
) -> Any:
    """A small model with fresh weights, not in training.

    Args:
        make: builds a model from a config.
        init: draws its weights.
        norm: of the config.
        tie: of the config.
        layers: of the encoder, and of the decoder.
        symbols: V, of the source, and of the target.
        seed: of torch's generator; its state is restored afterwards.
    """
    cfg = TransformerConfig(
        symbols, symbols, d_model=D_MODEL, num_heads=4, d_ff=4 * D_MODEL, dropout=0.0, max_len=60,
        num_encoder_layers=layers, num_decoder_layers=layers, norm=norm, tie=tie,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = make(cfg)
        init(model)
    return model.eval()


def some_batch(symbols: int = SYMBOLS, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Twenty random sources of 30 symbols, which of them are valid (all), and as many targets."""
    random = torch.Generator().manual_seed(seed)
    source, target = torch.randint(symbols, (2, 20, 30), generator=random)
    return source, torch.ones_like(source, dtype=torch.bool), target


@torch.no_grad()
def first_loss(model: Any) -> tuple[float, float]:
    """The loss at random labels, and the variance of one position's logits (a mean)."""
    symbols = model.cfg.target_vocab
    source, valid, target = some_batch(symbols)
    logits = model(source, valid, target)  # (B, T, V)
    _, _, labels = some_batch(symbols, seed=1)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
    return float(loss), float(logits.var(-1, unbiased=False).mean())


@torch.no_grad()
def written(model: Any) -> tuple[Tensor, Tensor]:
    """The targets that a model reads, (B, T), and its likeliest symbol at each position."""
    source, valid, target = some_batch()
    return target, model(source, valid, target).argmax(-1)


@torch.no_grad()
def encoder_variances(model: Any) -> Tensor:
    """The variance of the encoder's stream: of its input, and after each of its N layers, (N + 1,).

    Args:
        model: with an `nn.ModuleList` of layers by the name `encoder`.
    """
    found: list[Tensor] = []

    def note(_: nn.Module, inputs: tuple[Tensor, ...], out: Tensor) -> None:
        found.extend([inputs[0].var(), out.var()] if not found else [out.var()])

    hooks = [layer.register_forward_hook(note) for layer in model.encoder]
    source, valid, _ = some_batch()
    try:
        model.encode(source, valid)
    finally:
        for hook in hooks:
            hook.remove()
    return torch.stack(found)


@torch.no_grad()
def calls_to_write(model: Any, symbols: int) -> int:
    """How many times `decode` runs until the model has written so many symbols, greedily."""
    source, valid, _ = some_batch(model.cfg.source_vocab)
    memory = model.encode(source[:1], valid[:1])
    row, calls = torch.zeros(1, 1, dtype=torch.int64), 0  # it starts with a start symbol
    while row.shape[1] - 1 < symbols:
        logits, calls = model.decode(row, memory, valid[:1]), calls + 1
        row = torch.cat((row, logits[:, -1:].argmax(-1)), 1)
    return calls
