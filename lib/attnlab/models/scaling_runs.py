"""Four GPTs of one layer and growing width, trained equally long on the sparse Markov source.

The text has 24 symbols and 576 pairs of symbols to learn, so a larger model knows more of it after
the same number of steps. All four together take about ten seconds.
Tested in tests/attnlab/test_scaling.py.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - torch's own abbreviation

from attnlab.data.markov import MarkovSource, sparse_source
from attnlab.gpt import GPT, GPTConfig, init_gpt

WIDTHS = {8: 0.02, 16: 0.01, 32: 0.007, 64: 0.004}  # the learning rate of each
STEPS, BATCH, LENGTH = 500, 32, 32
TEST_SEQUENCES = 512
_KNOWN = 2  # symbols before a place, from which on the entropy rate is its floor


def trained_sizes(source: MarkovSource | None = None, seed: int = 0) -> tuple[list[GPT], Tensor]:
    """Train the four sizes, in evaluation mode afterwards, and measure each on new sequences.

    Args:
        source: of the sequences; the sparse one by default.
        seed: of the initial weights and of all sequences.

    Returns:
        The models, the smallest first; and (4,), float64, their losses in nats: the mean over all
        symbols with two or more before them, so no loss can be below the entropy rate except by
        chance.
    """
    source = source or sparse_source()
    rows = source.sequences("train", STEPS * BATCH, LENGTH, seed)
    fresh = source.sequences("validation", TEST_SEQUENCES, LENGTH, seed)
    models = [_trained(width, lr, len(source.urns), rows, seed) for width, lr in WIDTHS.items()]
    return models, torch.tensor([_loss_on(model, fresh) for model in models], dtype=torch.float64)


def _trained(width: int, lr: float, symbols: int, rows: Tensor, seed: int) -> GPT:
    model = GPT(GPTConfig(symbols, LENGTH, width, num_heads=2, num_layers=1))
    init_gpt(model, generator=torch.Generator().manual_seed(seed))
    optimizer = torch.optim.Adam(model.parameters(), lr)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, lr, total_steps=STEPS)
    for batch in rows.split(BATCH):
        loss = _next_symbol_loss(model, batch, known=1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.eval()


def _next_symbol_loss(model: GPT, ids: Tensor, known: int) -> Tensor:
    """The mean loss of all symbols with at least `known` symbols before them."""
    logits, _ = model(ids[:, :-1])
    return F.cross_entropy(logits[:, known - 1 :].flatten(0, 1), ids[:, known:].flatten())


def _loss_on(model: GPT, ids: Tensor) -> float:
    with torch.no_grad():
        return float(_next_symbol_loss(model, ids, _KNOWN))
