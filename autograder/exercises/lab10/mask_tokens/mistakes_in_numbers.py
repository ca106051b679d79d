"""Known mistakes in `mask_tokens`: fixed numbers of tokens instead of independent draws."""

from __future__ import annotations

import torch

from . import exercise

RATE_IN_ROWS = (
    "Each row has the same number of chosen tokens, a fixed share of it. (The code that came with "
    "the paper does so, too.) How many heads do twenty throws of a coin have, always ten?"
)


@exercise.mistake(RATE_IN_ROWS)
def fixed_number_per_row(ids, special, vocab_size, mask_id, p=0.15, *, generator=None):
    words = torch.tensor(sorted(set(range(vocab_size)) - set(special.tolist())))
    x, labels = ids.clone(), torch.full_like(ids, -100)
    for row, token in enumerate(ids):
        ordinary = (~torch.isin(token, special)).nonzero().flatten()
        order = torch.randperm(len(ordinary), generator=generator)
        places = ordinary[order[: round(p * len(ordinary))]]
        labels[row, places] = token[places]
        u = torch.rand(len(places), generator=generator)
        x[row, places[u < 0.8]] = mask_id
        others = places[(u >= 0.8) & (u < 0.9)]
        x[row, others] = words[torch.randint(len(words), (len(others),), generator=generator)]
    return x, labels


@exercise.mistake(RATE_IN_ROWS)
def at_least_one_per_row(ids, special, vocab_size, mask_id, p=0.15, *, generator=None):
    words = torch.tensor(sorted(set(range(vocab_size)) - set(special.tolist())))
    x, labels = ids.clone(), torch.full_like(ids, -100)
    for row, token in enumerate(ids):
        ordinary = (~torch.isin(token, special)).nonzero().flatten()
        number = max(1, int(p * len(ordinary)))
        places = ordinary[torch.randperm(len(ordinary), generator=generator)[:number]]
        labels[row, places] = token[places]
        u = torch.rand(len(places), generator=generator)
        x[row, places[u < 0.8]] = mask_id
        others = places[(u >= 0.8) & (u < 0.9)]
        x[row, others] = words[torch.randint(len(words), (len(others),), generator=generator)]
    return x, labels


@exercise.mistake(
    "Every call chooses the same number of tokens, a fixed share of the batch. The text says that "
    "tokens are chosen independently: how many heads do twenty throws of a coin have, always ten?"
)
def fixed_number_per_batch(ids, special, vocab_size, mask_id, p=0.15, *, generator=None):
    words = torch.tensor(sorted(set(range(vocab_size)) - set(special.tolist())))
    x, labels = ids.flatten(), torch.full_like(ids.flatten(), -100)
    ordinary = (~torch.isin(x, special)).nonzero().flatten()
    order = torch.randperm(len(ordinary), generator=generator)
    places = ordinary[order[: round(p * len(ordinary))]]
    labels[places] = x[places]
    u = torch.rand(len(places), generator=generator)
    x = x.clone()
    x[places[u < 0.8]] = mask_id
    others = places[(u >= 0.8) & (u < 0.9)]
    x[others] = words[torch.randint(len(words), (len(others),), generator=generator)]
    return x.view_as(ids), labels.view_as(ids)


@exercise.mistake(
    "In short rows, the wrong share of the chosen tokens becomes [MASK]. You take 80 % of the "
    "tokens chosen in a row: what is 80 % of two tokens, and what does rounding make of it?"
)
def shares_of_each_row(ids, special, vocab_size, mask_id, p=0.15, *, generator=None):
    words = torch.tensor(sorted(set(range(vocab_size)) - set(special.tolist())))
    chosen = ~torch.isin(ids, special) & (torch.rand(ids.shape, generator=generator) < p)
    x, labels = ids.clone(), torch.where(chosen, ids, -100)
    for row in range(len(ids)):
        places = chosen[row].nonzero().flatten()
        places = places[torch.randperm(len(places), generator=generator)]
        hidden, changed = int(0.8 * len(places)), int(0.9 * len(places))
        x[row, places[:hidden]] = mask_id
        others = places[hidden:changed]
        x[row, others] = words[torch.randint(len(words), (len(others),), generator=generator)]
    return x, labels
