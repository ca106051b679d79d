"""Other right versions of `causal_mask`; most mistakes are edits of one of them."""

import torch

from . import exercise


@exercise.also_right
def lower_triangle(Lq, Lk=None, device=None):
    Lk = Lq if Lk is None else Lk
    return torch.ones(Lq, Lk, dtype=torch.bool, device=device).tril(Lk - Lq)


@exercise.also_right(about="compares the places of queries and keys")
def by_comparing_places(Lq, Lk=None, device=None):
    Lk = Lk if Lk is not None else Lq
    queries = torch.arange(Lk - Lq, Lk, device=device).unsqueeze(-1)
    return torch.arange(Lk, device=device) <= queries


@exercise.also_right(about="inverts an upper triangle")
def not_the_upper_triangle(Lq, Lk=None, device=None):
    if Lk is None:
        Lk = Lq
    return torch.triu(torch.ones((Lq, Lk), device=device), diagonal=Lk - Lq + 1) == 0


@exercise.also_right(about="works entry by entry")
def by_loops(Lq, Lk=None, device=None):
    Lk = Lq if Lk is None else Lk
    rows = [[j - Lk <= i - Lq for j in range(Lk)] for i in range(Lq)]
    return torch.tensor(rows, dtype=torch.bool).reshape(Lq, Lk).to(device)


@exercise.also_right(about="cuts its mask from a square one")
def last_rows_of_a_square(Lq, Lk=None, device=None):
    Lk = Lq if Lk is None else Lk
    side = max(Lq, Lk)
    square = torch.ones(side, side, device=device).tril().bool()
    return square[side - Lq :, side - Lk :] if Lq > Lk else square[Lk - Lq :]


@exercise.also_right(about="transposes an upper triangle")
def triangle_of_the_transpose(Lq, Lk=None, device=None):
    # Not contiguous: a test of the mask must not depend on its layout in memory.
    Lk = Lq if Lk is None else Lk
    return torch.ones(Lk, Lq, dtype=torch.bool, device=device).triu(Lq - Lk).T
