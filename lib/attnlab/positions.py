"""Positions: waves, learned vectors, rotations and slopes that tell a model the order of words."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def sinusoidal_pe(n: int, d: int, base: float = 10000.0) -> Tensor:
    """The sinusoidal positional encoding: a vector of sines and cosines for each position.

    Columns come in pairs. Pair i holds the sine (column 2i) and the cosine (column 2i + 1) of the
    same angle, position / base^(2i/d). If d is odd, the last column is a sine without its cosine.

    Args:
        n: the number of positions, counted from 0.
        d: the number of columns.
        base: the slowest wave is almost 2π · base positions long.

    Returns:
        (n, d), of torch's default dtype, and without a gradient. The angles are computed in float64
        and the result is rounded once, at the end, so it is right to 1e-6 at position 5000, too.

    Source: Attention Is All You Need, section 3.5; lectures W, S, G, N, C.
    """
    position = torch.arange(n, dtype=torch.float64)[:, None]  # (n, 1)
    exponent = torch.arange(0, d, 2, dtype=torch.float64) / d  # 2i/d, (ceil(d/2),)
    angle = position / base**exponent  # (n, ceil(d/2))
    pe = angle.new_empty(n, d)
    pe[:, 0::2] = angle.sin()
    pe[:, 1::2] = angle[:, : d // 2].cos()
    return pe.to(torch.get_default_dtype())


def shift_matrix(k: int, d: int, base: float = 10000.0) -> Tensor:
    """The matrix that takes the encoding of any position p + k back to that of position p.

    M PE(p + k) = PE(p) for every p, with the encodings as columns. So for the rows of
    `pe = sinusoidal_pe(n, d, base)`, it is `pe[p + k] @ M.T == pe[p]`. M turns each pair of columns
    (2i, 2i + 1) by the angle of k in that pair and leaves the pairs apart; everything else is 0.
    (Many texts define the other direction, from p to p + k.)

    Args:
        k: how many positions back; may be 0 or negative (then forward).
        d: the number of columns, even.
        base: as in `sinusoidal_pe`.

    Returns:
        (d, d), of torch's default dtype. The angles are computed in float64 and rounded at the end.

    Raises:
        ValueError: d is odd, so the last sine has no cosine to turn with.

    Source: lecture G (linear transformations for relative positions).
    """
    if d % 2:
        raise ValueError(f"the last of {d} columns has no partner; d must be even")
    exponent = torch.arange(0, d, 2, dtype=torch.float64) / d  # (d/2,)
    angle = k / base**exponent  # (d/2,)
    even, odd = torch.arange(0, d, 2), torch.arange(1, d, 2)
    matrix = angle.new_zeros(d, d)
    matrix[even, even] = matrix[odd, odd] = angle.cos()
    matrix[even, odd] = -angle.sin()
    matrix[odd, even] = angle.sin()
    return matrix.to(torch.get_default_dtype())


class PositionalEncoding(nn.Module):
    """Add the sinusoidal encoding of its position to each word vector; then apply dropout.

    The encoding is `sinusoidal_pe(max_len, d_model)`. It is stored in a buffer, so it is not a
    parameter, but `.to(…)` takes it to another dtype or device with the rest of the model. (It may
    or may not be in the `state_dict`.)

    Args:
        d_model: features of a word vector.
        max_len: the largest number of positions.
        dropout: the probability that an entry of the sum is dropped in training, as in
            `nn.Dropout`.

    Source: Attention Is All You Need, section 3.5; lectures W, S, G, N, C.
    """

    pe: Tensor

    def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.0) -> None:
        super().__init__()
        # blank: the table of encodings, and dropout
        self.register_buffer("pe", sinusoidal_pe(max_len, d_model), persistent=False)
        self.dropout = nn.Dropout(dropout)
        # end blank

    def forward(self, x: Tensor) -> Tensor:
        """Add row t of the encoding to the vector at position t of every sentence.

        Args:
            x: (B, T, d_model), a batch of B sentences of T word vectors, which are added to as they
                are, without a factor; stays unchanged.

        Returns:
            (B, T, d_model), in the dtype of `x` if the module has that dtype. Gradients flow back
            to `x`.

        Raises:
            ValueError: T is more than max_len; the message has both numbers.
        """
        # blank: add the first rows of the table; dropout
        length, most = x.shape[1], self.pe.shape[0]
        if length > most:
            raise ValueError(f"{length} positions are more than the {most} of this encoding")
        return self.dropout(x + self.pe[:length])  # (B, T, d_model)
        # end blank


class LearnedPositions(nn.Module):
    """Add a vector of its own, learned like a word's, for each position.

    The vectors are in an `nn.Embedding` by the name `embedding`: row t belongs to position t.

    Args:
        max_len: the number of positions, each with a vector.
        d: features of a word vector.

    Source: lecture G (W_p in GPT); lecture N.
    """

    def __init__(self, max_len: int, d: int) -> None:
        super().__init__()
        # blank: a table of vectors
        self.embedding = nn.Embedding(max_len, d)
        # end blank

    def forward(self, x: Tensor) -> Tensor:
        """Add row t of the table to the vector at position t of every sentence.

        Args:
            x: (B, T, d), with T at most max_len; stays unchanged.

        Returns:
            (B, T, d). Gradients flow back to `x` and to the first T rows of the table.
        """
        # blank: add the rows of positions 0 to T - 1
        positions = torch.arange(x.shape[1], device=x.device)  # (T,)
        return x + self.embedding(positions)  # (B, T, d)
        # end blank


def apply_rope(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Rotary positions: turn each pair of features by an angle that grows with the position.

    Pair i is features 2i and 2i + 1. At position p it turns by the angle p / base^(2i/d), from
    feature 2i towards feature 2i + 1. So the score of a turned query and a turned key depends only
    on the distance between their positions, whatever the positions are.

    Args:
        x: (..., T, d) with d even: queries or keys; stays unchanged.
        positions: (T,), int64: the positions of the T vectors; they may have gaps.
        base: as in `sinusoidal_pe`.

    Returns:
        (..., T, d), in the dtype of `x`; the angles are computed in float64. Gradients flow back to
        `x`.

    Raises:
        ValueError: d is odd.

    Source: RoFormer (Su et al. 2021), section 3.2.2.
    """
    d = x.shape[-1]
    if d % 2:
        raise ValueError(f"the last of {d} features has no partner; d must be even")
    exponent = torch.arange(0, d, 2, dtype=torch.float64, device=x.device) / d  # (d/2,)
    angle = positions[:, None] / base**exponent  # (T, d/2)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    first, second = x[..., 0::2], x[..., 1::2]  # (..., T, d/2)
    turned = (first * cos - second * sin, first * sin + second * cos)
    return torch.stack(turned, -1).flatten(-2)  # (..., T, d)


def alibi_bias(num_heads: int, Lq: int, Lk: int | None = None) -> Tensor:  # noqa: N803 - as in lab 5
    """Attention with linear biases: numbers to add to scores, lower for keys further away.

    Head i (counted from 0) of h has the slope 2^(-8 (i + 1) / h), and its bias is minus the slope
    times the distance from the query to the key. As in `causal_mask`, the last query is at the
    position of the last key. Keys that come later have a bias by their distance, too; a mask hides
    them.

    Args:
        num_heads: h, the number of heads.
        Lq: the number of queries.
        Lk: the number of keys; as many as queries if None.

    Returns:
        (h, Lq, Lk), of torch's default dtype.

    Source: Train Short, Test Long (Press et al. 2022), section 3.
    """
    Lk = Lq if Lk is None else Lk  # noqa: N806
    head = torch.arange(1, num_heads + 1)
    slope = 2 ** (-8 * head / num_heads)  # (h,)
    query = torch.arange(Lk - Lq, Lk)[:, None]  # (Lq, 1)
    distance = (query - torch.arange(Lk)).abs()  # (Lq, Lk)
    return -slope[:, None, None] * distance  # (h, Lq, Lk)
