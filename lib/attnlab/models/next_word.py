"""A small model of French numbers and its checkpoints: which word follows three others?

It is trained at a constant learning rate, so its weights wander at the end; a second is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from attnlab.data import numbers

_CONTEXT = 3
Weights = dict[str, Tensor]


def examples(split: str, count: int, seed: int) -> tuple[Tensor, Tensor]:
    """Each word of some numbers, and the three before it.

    Returns:
        The words before, (N, 3), and the words themselves, (N,), both int64.
    """
    before, words = [], []
    for pair in numbers.pairs(count, seed, split):
        start, *rest = numbers.TARGET.encode(pair.french, ends=True)
        seen = [start] * _CONTEXT
        for word in rest:
            before.append(seen[-_CONTEXT:])
            words.append(word)
            seen.append(word)
    return torch.tensor(before), torch.tensor(words)


def fresh() -> nn.Module:
    """A network with a vector for each word and one hidden layer, with equal first weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return nn.Sequential(
            nn.Embedding(len(numbers.TARGET), 16),
            nn.Flatten(),
            nn.Linear(16 * _CONTEXT, 64),
            nn.Tanh(),
            nn.Linear(64, len(numbers.TARGET)),
        )


def checkpoints(steps: int = 600, every: int = 15, lr: float = 0.01) -> Iterator[Weights]:
    """Train, and give a copy of the weights before the first step and after each `every` steps."""
    before, words = examples("train", 2000, seed=0)
    model = fresh()
    optimizer = torch.optim.Adam(model.parameters(), lr)
    generator = torch.Generator().manual_seed(0)
    for step in range(steps + 1):
        if step % every == 0:
            yield {name: tensor.clone() for name, tensor in model.state_dict().items()}
        picked = torch.randint(len(words), (64,), generator=generator)
        optimizer.zero_grad()
        cross_entropy(model(before[picked]), words[picked]).backward()
        optimizer.step()


def validation_loss() -> Callable[[Weights], float]:
    """A function that gives the loss of some weights on new numbers, in nats per word."""
    before, words = examples("validation", 300, seed=1)
    model = fresh()

    @torch.no_grad()
    def loss(weights: Weights) -> float:
        model.load_state_dict(weights)
        return float(cross_entropy(model(before), words))

    return loss
