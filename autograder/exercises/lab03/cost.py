"""cost: what attention costs in time and memory, and how that grows with the sentence."""

from __future__ import annotations

import numpy as np
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
        for Lq, Lk, d_k, d_v in (any_sizes, (1, 1, 1, 1), (11, 4, 64, 32))
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


@exercise.check(points=1.5, judge=Within(1.75, 2.25))
def growth_of_time(lab, draw):
    """Your counts for sentences of 64 to 1024 words grow with an exponent of 2 ± 0.25."""
    sizes = float64(64, 128, 256, 512, 1024)
    counts = float64(*(lab.count_multiplications(int(T), int(T), 64, 64) for T in sizes))
    return lab.fit_exponent(sizes, counts)


@exercise.check(points=1, hidden=True)
def large_and_random_sizes(lab, draw):
    """Is exact for books and for odd sizes, too."""
    Lq, Lk, d_k, d_v = (int(draw.integers(2, 3000, 1)) for _ in range(4))
    return {
        "odd sizes": lab.count_multiplications(Lq, Lk, d_k, d_v),
        "odd sizes, bytes": lab.weights_memory(Lq, Lk, torch.bfloat16),
        "a book": lab.count_multiplications(100_003, 200_001, 128, 96),
        "a book, bytes": lab.weights_memory(100_003, 200_001, torch.float32),
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
        f"constant {constant}, exponent {p}": lab.fit_exponent(sizes, constant * sizes**p)
        for constant, p in ((1.0, 3.0), (7.0, 1.0), (0.02, 1.5), (5e6, -0.5), (3.0, 0.0))
    }


@exercise.check(points=1, hidden=True, judge=FIT)
def points_off_the_line(lab, draw):
    """Takes all points into account where none lies on the line."""
    sizes, measured = draw.uniform(9, low=0.2, high=900.0), draw.uniform(9, low=0.5, high=4.0)
    mixed = float64(8, 16, 64, 128, 1024)
    fitted = {
        "measured with errors": lab.fit_exponent(sizes, measured * sizes**1.8),
        "n² + 1000 n": lab.fit_exponent(mixed, mixed**2 + 1000 * mixed),
        "two points": lab.fit_exponent(float64(0.5, 3.0), float64(2.0, 11.0)),
    }
    return {**fitted, "inputs as they were": draw.untouched()}


@exercise.mistake(
    "Only q kᵀ is counted. Which second product follows the softmax?",
    of="count_multiplications",
)
def scores_only(Lq, Lk, d_k, d_v):
    return Lq * Lk * d_k


@exercise.mistake(
    "Only the product of weights and values is counted. What is multiplied before the softmax?",
    of="count_multiplications",
)
def mixing_only(Lq, Lk, d_k, d_v):
    return Lq * Lk * d_v


@exercise.mistake(
    "Additions are in your count, too (two operations for each product and sum, as FLOPs are "
    "counted). What does the task leave out?",
    of="count_multiplications",
)
def additions_counted(Lq, Lk, d_k, d_v):
    return 2 * Lq * Lk * (d_k + d_v)


@exercise.mistake(
    "Both products are counted with d_k. How long are the rows that the weights mix?",
    of="count_multiplications",
)
def d_k_twice(Lq, Lk, d_k, d_v):
    return 2 * Lq * Lk * d_k


A_SQUARE = (
    "Queries and keys need not be equally many, but your count holds a square of one length. How "
    "many rows and how many columns do the scores have?"
)


@exercise.mistake(A_SQUARE, of="count_multiplications")
def as_many_keys_as_queries(Lq, Lk, d_k, d_v):
    return Lq * Lq * (d_k + d_v)


@exercise.mistake(A_SQUARE, of="count_multiplications")
def as_many_queries_as_keys(Lq, Lk, d_k, d_v):
    return Lk * Lk * (d_k + d_v)


IN_32_BITS = (
    "Your count went through numbers of 32 bits (float32, int32), and large ones do not fit. "
    "Python's own whole numbers have no largest one: what turns them into others?"
)


@exercise.mistake(IN_32_BITS, of="count_multiplications")
def counted_in_float32(Lq, Lk, d_k, d_v):
    return int(torch.tensor(float(Lq * Lk * (d_k + d_v)), dtype=torch.float32))


@exercise.mistake(
    "The scale or the softmax is in your count: Lq · Lk too much. Which steps does the task count?",
    of="count_multiplications",
)
def scale_counted(Lq, Lk, d_k, d_v):
    return Lq * Lk * (d_k + d_v + 1)


@exercise.mistake(
    "You count as if the two products were one: their multiplications are multiplied. One product "
    "comes after the other: how do two bills add up?",
    of="count_multiplications",
)
def products_multiplied(Lq, Lk, d_k, d_v):
    return Lq * Lk * d_k * d_v


@exercise.mistake(
    "You count the numbers in q, k and v, or in the result. How many multiplications make one "
    "number of a matrix product?",
    of="count_multiplications",
)
def numbers_counted(Lq, Lk, d_k, d_v):
    return Lq * d_k + Lk * d_k + Lk * d_v


@exercise.mistake(
    "You count the entries of scores and outputs: one multiplication for each. How many terms "
    "does the sum behind one entry have?",
    of="count_multiplications",
)
def entries_counted(Lq, Lk, d_k, d_v):
    return Lq * Lk + Lq * d_v


@exercise.mistake(
    "The projections (X W_q and so on) are in your count. Where does attention itself begin?",
    of="count_multiplications",
)
def projections_counted(Lq, Lk, d_k, d_v):
    return Lq * Lk * (d_k + d_v) + Lq * d_k * d_k + Lk * d_k * d_k + Lk * d_v * d_v


@exercise.mistake(
    "You give the number of weights. How many bytes does one of them take?",
    of="weights_memory",
)
def weights_counted(Lq, Lk, dtype):
    return Lq * Lk


@exercise.mistake(
    "You take every number for four bytes. What is the third argument for?",
    of="weights_memory",
)
def always_four_bytes(Lq, Lk, dtype):
    return 4 * Lq * Lk


@exercise.mistake("These are bits. How many of them make a byte?", of="weights_memory")
def bits(Lq, Lk, dtype):
    return Lq * Lk * dtype.itemsize * 8


@exercise.mistake(
    "The unit is not bytes: you divide by 1024 or 1000. Which unit does the task name?",
    of="weights_memory",
)
def kibibytes(Lq, Lk, dtype):
    return Lq * Lk * dtype.itemsize / 1024


@exercise.mistake(
    "You add the two lengths. How many rows and how many columns do the weights have?",
    of="weights_memory",
)
def lengths_added(Lq, Lk, dtype):
    return (Lq + Lk) * dtype.itemsize


MEMORY_OF_A_SQUARE = (
    "Your memory is that of a square. How many rows do the weights have, how many columns?"
)


@exercise.mistake(MEMORY_OF_A_SQUARE, of="weights_memory")
def square(Lq, Lk, dtype):
    return Lk * Lk * dtype.itemsize


@exercise.mistake(MEMORY_OF_A_SQUARE, of="weights_memory")
def square_of_queries(Lq, Lk, dtype):
    return Lq * Lq * dtype.itemsize


@exercise.mistake(IN_32_BITS, of="weights_memory")
def bytes_in_float32(Lq, Lk, dtype):
    return int(torch.tensor(float(Lq * Lk * dtype.itemsize), dtype=torch.float32))


def slope(x, y):
    x = x - x.mean()
    return x @ y / (x @ x)


@exercise.mistake(
    "You fit a line to sizes and costs as they are. A power is a straight line only once both "
    "axes are what?",
    of="fit_exponent",
)
def no_logarithms(sizes, costs):
    return slope(sizes, costs)


@exercise.mistake(
    "Only the costs went through a logarithm: a straight line there is an exponential, not a "
    "power. What about the other axis?",
    of="fit_exponent",
)
def logarithm_of_costs_only(sizes, costs):
    return slope(sizes, costs.log())


@exercise.mistake(
    "Your line is bound to go through (1, 1): there is no room for a constant in front of the "
    "power. What must be taken off both axes before you multiply and add?",
    of="fit_exponent",
)
def through_the_origin(sizes, costs):
    x, y = sizes.log(), costs.log()
    return x @ y / (x @ x)


@exercise.mistake(
    "You divide log cost by log size. That is the exponent only where the constant is 1. What "
    "does a constant do to the line in the picture?",
    of="fit_exponent",
)
def ratio_of_logarithms(sizes, costs):
    return (costs.log() / sizes.log()).mean()


@exercise.mistake(
    "Two points make your line, the first and the last. What do those between say?",
    of="fit_exponent",
)
def ends_only(sizes, costs):
    return (costs[-1] / costs[0]).log() / (sizes[-1] / sizes[0]).log()


@exercise.mistake(
    "You take the mean of the slopes between neighbours. Neighbours that lie close together then "
    "count as much as distant ones: is that the line of least squares?",
    of="fit_exponent",
)
def mean_of_slopes(sizes, costs):
    return (costs.log().diff() / sizes.log().diff()).mean()


@exercise.mistake(
    "You take for granted that each size is twice the one before. What do the sizes say?",
    of="fit_exponent",
)
def doubling_taken_for_granted(sizes, costs):
    return costs.log2().diff().mean()


@exercise.mistake(
    "The axes are exchanged: your slope says how the size grows with the cost. Which of the two "
    "depends on the other?",
    of="fit_exponent",
)
def axes_exchanged(sizes, costs):
    return slope(costs.log(), sizes.log())


@exercise.mistake(
    "You return the other number of the fitted line, where it meets the axis. In which order does "
    "your function give back slope and intercept?",
    of="fit_exponent",
)
def intercept_returned(sizes, costs):
    x, y = sizes.log(), costs.log()
    return y.mean() - slope(x, y) * x.mean()


@exercise.mistake(
    "That is a correlation: it says how close the points are to a line, not how steep it is. By "
    "what is the covariance divided for a slope?",
    of="fit_exponent",
)
def correlation(sizes, costs):
    return torch.corrcoef(torch.stack([sizes.log(), costs.log()]))[0, 1]


@exercise.mistake(
    "Covariance and variance are divided by different numbers (n - 1 and n): torch's `var` and "
    "your mean of products do not go together. Which n does each of them use?",
    of="fit_exponent",
)
def biased_over_unbiased(sizes, costs):
    x, y = sizes.log(), costs.log()
    return ((x - x.mean()) * (y - y.mean())).mean() / x.var()


@exercise.mistake(
    "You round the exponent to a whole number. Must it be one?",
    of="fit_exponent",
)
def rounded_exponent(sizes, costs):
    return slope(sizes.log(), costs.log()).round()


@exercise.mistake(
    "Your answer is 2, whatever the points. What would it be for the projections?",
    of="fit_exponent",
)
def always_2(sizes, costs):
    return torch.tensor(2.0, dtype=torch.float64)


@exercise.also_right(of="count_multiplications")
def product_by_product(Lq, Lk, d_k, d_v):
    def matmul_cost(rows, inner, columns):
        return rows * inner * columns

    return matmul_cost(Lq, d_k, Lk) + matmul_cost(Lq, Lk, d_v)


@exercise.also_right(of="count_multiplications")
def row_by_row(Lq, Lk, d_k, d_v):
    return sum(Lk * d_k + Lk * d_v for _ in range(Lq))


@exercise.also_right(of="weights_memory")
def by_element_size(Lq, Lk, dtype):
    return Lq * Lk * torch.empty((), dtype=dtype).element_size()


@exercise.also_right(of="weights_memory")
def by_bits(Lq, Lk, dtype):
    return torch.finfo(dtype).bits // 8 * (Lq * Lk)


@exercise.also_right(of="fit_exponent")
def by_polyfit(sizes, costs):
    return np.polyfit(np.log(sizes.numpy()), np.log(costs.numpy()), 1)[0]


@exercise.also_right(of="fit_exponent")
def by_least_squares(sizes, costs):
    x = torch.log10(sizes)
    A = torch.stack([x, torch.ones_like(x)], dim=1)
    return torch.linalg.lstsq(A, torch.log10(costs)[:, None]).solution[0, 0]


@exercise.also_right(of="fit_exponent")
def by_covariance(sizes, costs):
    table = torch.cov(torch.stack([sizes.log2(), costs.log2()]))
    return float(table[0, 1] / table[0, 0])


@exercise.also_right(of="fit_exponent")
def by_sums(sizes, costs):
    x, y, n = sizes.log(), costs.log(), len(sizes)
    return (n * (x * y).sum() - x.sum() * y.sum()) / (n * (x * x).sum() - x.sum() ** 2)
