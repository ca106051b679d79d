"""Other right versions of `leaks` and `pad_invariant`; the mistakes edit the first of each."""

import torch
from torch.nn import functional as F

from . import exercise


def run(fn, ids):
    """What the model `fn` outputs; two runs draw the same random numbers."""
    torch.default_generator.manual_seed(3)  # fifty times as fast as torch.manual_seed
    return fn(ids)


@exercise.also_right(of="leaks")
def one_change_at_a_time(fn, T, vocab):
    ids = torch.randint(vocab, (100, T), generator=torch.Generator().manual_seed(4))
    before = run(fn, ids)  # (100, T, k)
    found = set()
    for j in range(T):
        for step in range(1, vocab):
            other = ids.clone()
            other[:, j] = (ids[:, j] + step) % vocab
            after = run(fn, other)
            same = (after - before).abs().amax((0, 2)) <= 1e-9  # (T,), False for NaN
            found |= {(i, j) for i in range(j) if not same[i]}
    return sorted(found)


@exercise.also_right(of="pad_invariant")
def behind_and_in_front(fn, T, vocab, pad):
    real = torch.tensor([token for token in range(vocab) if token != pad])
    ids = real[torch.arange(2 * T).view(2, T) % len(real)]
    alone, same = fn(ids), []
    for count in (1, 2, 3):
        padding = torch.full((2, count), pad)
        behind = fn(torch.cat([ids, padding], 1))[:, :T]
        in_front = fn(torch.cat([padding, ids], 1))[:, count:]
        same += [(seen - alone).abs().max() <= 1e-9 for seen in (behind, in_front)]
    return all(same)


@exercise.also_right(of="leaks")
def all_tokens_everywhere(fn, T, vocab):
    generator = torch.Generator().manual_seed(5)
    ids = torch.randint(0, vocab, (150, T), generator=generator)
    state = torch.get_rng_state()

    def ask(ids):
        torch.set_rng_state(state)
        with torch.no_grad():
            return fn(ids)

    influence = torch.zeros(T, T, dtype=torch.bool)
    for j in range(T):
        for token in range(vocab):
            other = ids.clone()
            other[:, j] = token
            near = (ask(other) - ask(ids)).abs() <= 1e-9
            influence[:, j] |= ~near.all(-1).all(0)
    return [tuple(pair) for pair in influence.triu(1).nonzero().tolist()]


@exercise.also_right(of="leaks")
def with_forked_dice(fn, T, vocab):
    found = []
    ids = torch.randint(vocab, (120, T), generator=torch.Generator().manual_seed(8))

    def ask(tokens):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(1234)
            return fn(tokens).detach()

    base = ask(ids)
    for j in range(1, T):
        gap = torch.zeros(T, dtype=torch.float64)
        for token in range(vocab):
            changed = torch.cat([ids[:, :j], torch.full((120, 1), token), ids[:, j + 1 :]], 1)
            gap = torch.maximum(gap, (ask(changed) - base).abs().flatten(2).amax((0, 2)))
        found.extend((i, j) for i in range(j) if not gap[i].item() <= 1e-9)
    return sorted(found)


@exercise.also_right(of="pad_invariant")
def sequence_by_sequence(fn, T, vocab, pad):
    generator = torch.Generator().manual_seed(2)
    for _ in range(3):
        ids = torch.randint(0, vocab - 1, (1, T), generator=generator)
        ids = ids + (ids >= pad)
        alone = fn(ids)
        for front in range(4):
            for behind in range(4 - front):
                tokens = [pad] * front + ids[0].tolist() + [pad] * behind
                padded = fn(torch.tensor([tokens]))[:, front : front + T]
                if not (padded - alone).abs().max().item() <= 1e-9:
                    return False
    return True


@exercise.also_right(of="pad_invariant")
def by_padding_functions(fn, T, vocab, pad):
    ids = torch.arange(T).repeat(3, 1) % (vocab - 1)
    ids = torch.where(ids >= pad, ids + 1, ids)
    gaps = []
    for n in range(1, 4):
        gaps.append(fn(F.pad(ids, (0, n), value=pad))[:, :-n] - fn(ids))
        gaps.append(fn(F.pad(ids, (n, 0), value=pad))[:, n:] - fn(ids))
    return torch.stack(gaps).abs().max() <= 1e-9
