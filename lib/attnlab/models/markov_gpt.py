"""A tiny GPT for the Markov source: it takes any mask, so a lab can try any leak.

It is built from torch's own modules, which other labs explain. In lab 5 only its inputs (symbols
and a mask), its outputs (scores for the next symbol) and the time of training (about two seconds)
matter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn

from attnlab.data.markov import NUM_SYMBOLS, MarkovSource
from attnlab.notebook.unwritten import why_not

LENGTH = 32  # symbols in each sequence
STEPS, BATCH, LEARNING_RATE = 400, 32, 1e-2

Loss = Callable[[Tensor, Tensor], Tensor]


class MarkovGPT(nn.Module):
    """Scores for the next symbol, from the symbols that the mask allows.

    Args:
        seed: of the initial weights. The global random state does not change.
    """

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        width, heads = 32, 2
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.symbols = nn.Embedding(NUM_SYMBOLS, width)
            self.places = nn.Embedding(LENGTH, width)
            self.block = nn.TransformerEncoderLayer(
                width, heads, 4 * width, dropout=0.0, batch_first=True, norm_first=True
            )
            self.norm = nn.LayerNorm(width)
            self.head = nn.Linear(width, NUM_SYMBOLS)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Score every symbol as the next one, at every position.

        Args:
            ids: (B, T), int64, symbols; T is 32 at most.
            mask: (T, T), boolean: True where position i may attend to position j.

        Returns:
            (B, T, 8), logits: entry [b, t] is about the symbol after ids[b, t].
        """
        x = self.symbols(ids) + self.places.weight[: ids.shape[1]]  # (B, T, width)
        x = self.block(x, src_mask=~mask)  # in torch's module, True means forbidden
        scores: Tensor = self.head(self.norm(x))
        return scores


def train_gpt(
    model: MarkovGPT, ids: Tensor, mask: Tensor, loss: Loss, seed: int = 0
) -> list[float]:
    """Train `model` in place: 400 steps of Adam on batches of 32 sequences.

    Args:
        model: the model.
        ids: (N, T), int64, the training sequences.
        mask: (T, T), boolean: True where position i may attend to position j.
        loss: from logits (B, T, 8) and symbols (B, T) to one number.
        seed: of the order of the batches.

    Returns:
        The loss of each step, in nats.
    """
    optimizer = torch.optim.Adam(model.parameters(), LEARNING_RATE)
    rates = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, total_steps=STEPS)
    order = torch.Generator().manual_seed(seed)
    losses = []
    model.train()
    for _ in range(STEPS):
        batch = ids[torch.randint(0, len(ids), (BATCH,), generator=order)]  # (32, T)
        step_loss = loss(model(batch, mask), batch)
        optimizer.zero_grad()
        step_loss.backward()
        optimizer.step()
        rates.step()
        losses.append(step_loss.detach())  # reading it now would make a GPU wait at every step
    model.eval()
    return [float(step_loss) for step_loss in losses]


def print_losses(
    models: Mapping[str, MarkovGPT | None],
    views: Mapping[str, Callable[[], Tensor]],
    source: MarkovSource,
    evaluate: Callable[..., float],
    is_possible: Callable[..., bool],
) -> None:
    """Print each model's loss on new sequences, with its own mask and with the future hidden.

    Args:
        models: by name; None if the model was not trained.
        views: by the same names, the mask that each was trained with; "past" hides the future.
        source: of the sequences.
        evaluate: called as ``evaluate(model, ids, mask)``.
        is_possible: called as ``is_possible(loss, floor, tolerance)``.
    """
    fresh = source.sequences("validation", 1024, LENGTH)
    for name, model in models.items():
        if model is None:
            continue
        try:
            own = evaluate(model, fresh, views[name]())
            honest = evaluate(model, fresh, views["past"]())
            word = "possible" if is_possible(own, source.entropy_rate, 0.05) else "impossible"
            print(
                f"{name:5}  as trained {own:6.3f} ({word});  with the future hidden {honest:6.3f}"
            )
        except Exception as error:
            print(f"{name:5}  no losses yet: {why_not(error, evaluate, is_possible)}")
    print(f"guessing blindly: {source.entropies[0]:.3f};  the floor: {source.entropy_rate:.3f}")
