"""Other right versions of the three counts; the first of each is the base of its mistakes."""

from __future__ import annotations

import numpy as np
import torch

from . import exercise


@exercise.also_right(of="count_multiplications")
def two_products(Lq, Lk, d_k, d_v):
    return Lq * Lk * (d_k + d_v)


@exercise.also_right(of="weights_memory")
def entries_times_bytes(Lq, Lk, dtype):
    return Lq * Lk * dtype.itemsize


@exercise.also_right(of="fit_exponent")
def least_squares(sizes, costs):
    x, y = sizes.log(), costs.log()
    x, y = x - x.mean(), y - y.mean()
    return x @ y / (x @ x)


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
