"""cost: what attention costs in time and memory, and how that grows with the sentence."""

from __future__ import annotations

import torch

from attnlab.attention import count_multiplications, fit_exponent, weights_memory
from attnlab.checking.judges import Close, Within
from gradekit.exercise import Exercise

exercise = Exercise(count_multiplications, weights_memory, fit_exponent)

FIT = Close(atol=1e-6, rtol=1e-6)


def float64(*numbers):
    return torch.tensor(numbers, dtype=torch.float64)


@exercise.check(points=1.5)
def multiplications(lab, draw):
    """Counts the multiplications of both products, for any lengths."""
    any_sizes = tuple(draw.integers(2, 100, 4).tolist())
    return {
        f"{Lq} queries, {Lk} keys, d_k={d_k}, d_v={d_v}": lab.count_multiplications(
            Lq, Lk, d_k, d_v
        )
        for Lq, Lk, d_k, d_v in (any_sizes, (1, 1, 1, 1), (11, 4, 64, 32), (41, 53, 3, 2))
    }


@exercise.check(points=1)
def memory(lab, draw):
    """Counts the bytes of all weights, in any dtype."""
    any_lengths = draw.integers(2, 100, 2).tolist()
    return {
        str(dtype).removeprefix("torch."): lab.weights_memory(Lq, Lk, dtype)
        for Lq, Lk, dtype in (
            (*any_lengths, torch.float32),
            (7, 2, torch.float16),
            (11, 13, torch.float64),
        )
    }


@exercise.check(points=0.5)
def inputs_kept(lab, draw):
    """`fit_exponent` leaves both inputs unchanged."""
    sizes, costs = draw.uniform(7, low=0.2, high=900.0), draw.uniform(7, low=0.5, high=4.0)
    given = {"sizes": sizes, "costs": costs}
    before = {name: x.clone() for name, x in given.items()}
    lab.fit_exponent(sizes, costs)
    return {f"{name} unchanged": torch.equal(x, before[name]) for name, x in given.items()}


@exercise.check(points=1, judge=Close(atol=1e-3, rtol=1e-3))
def growth_of_time(lab, draw):
    """`fit_exponent` finds 2 for a square, and the best line's slope if one cost is too high."""
    sizes = float64(64, 128, 256, 512, 1024)
    # Not the student's own counts, so that a wrong fit beside wrong counts is recognised, too.
    exact = lab.fit_exponent(sizes.clone(), 70 * sizes**2)
    uneven = float64(60, 100, 350, 500, 1200)
    costs = 70 * uneven**2
    costs[-1] *= draw.uniform(1, low=3.0, high=5.0).item()
    return {
        "70 n²": exact,
        "70 n², and the last cost is too high": lab.fit_exponent(uneven.clone(), costs),
    }


@exercise.check(points=1, hidden=True)
def large_and_random_sizes(lab, draw):
    """Is exact for whole books and for odd sizes."""
    Lq, Lk, d_k, d_v = (int(draw.integers(2, 3000, 1)) for _ in range(4))
    return {
        "odd sizes": lab.count_multiplications(Lq, Lk, d_k, d_v),
        "odd sizes, bytes": lab.weights_memory(Lq, Lk, torch.bfloat16),
        "a book": lab.count_multiplications(100_003, 200_001, 128, 96),
        "a book, bytes": lab.weights_memory(100_003, 200_001, torch.float32),
        # Above 2**53 a float no longer holds every whole number.
        "last digits of a huge count": (
            lab.count_multiplications(1_003, 10**9 + 9, 10**6 + 3, 10**6 + 1) % 10**6
        ),
        "last digits of a huge count of bytes": (
            lab.weights_memory(1_003, 10**15 + 37, torch.float16) % 10**6
        ),
    }


@exercise.check(points=1, hidden=True, judge=Within(1.75, 2.25))
def growth_of_memory(lab, draw):
    """Your bytes for sentences of 50 to 800 words grow with an exponent of 2 ± 0.25."""
    sizes = float64(50, 100, 200, 400, 800)
    counts = float64(*(lab.weights_memory(int(T), int(T), torch.float32) for T in sizes))
    return lab.fit_exponent(sizes, counts)


@exercise.check(points=1, hidden=True, judge=FIT)
def exact_laws(lab, draw):
    """Finds the exponent of any exact law, whatever the constant and the order of the sizes."""
    sizes = float64(300, 10, 70, 20, 150)
    return {
        f"constant {constant}, exponent {p}": lab.fit_exponent(sizes.clone(), constant * sizes**p)
        for constant, p in ((1.0, 3.0), (7.0, 1.0), (0.02, 1.5), (5e6, -0.5), (3.0, 0.0))
    }


@exercise.check(points=1, hidden=True, judge=FIT)
def points_off_the_line(lab, draw):
    """Takes all points into account if none of them is on the line."""
    sizes, measured = draw.uniform(9, low=0.2, high=900.0), draw.uniform(9, low=0.5, high=4.0)
    mixed = float64(8, 16, 64, 128, 1024)
    return {
        "measured with errors": lab.fit_exponent(sizes.clone(), measured * sizes**1.8),
        "n² + 1000 n": lab.fit_exponent(mixed.clone(), mixed**2 + 1000 * mixed),
        "two points": lab.fit_exponent(float64(0.5, 3.0), float64(2.0, 11.0)),
        "costs that do not grow": lab.fit_exponent(sizes.clone(), measured.clone()),
    }
