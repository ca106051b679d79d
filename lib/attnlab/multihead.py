"""Multi-head attention: several small attentions in parallel, and a layer that mixes them."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from attnlab.attention import attention_weights


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """Divide the features of every position into heads: head i gets the i-th block of D/h features.

    Feature j of head i at position t is x[b, t, i · D/h + j]: neighbours stay neighbours.

    Args:
        x: (B, T, D), in any memory layout; stays unchanged.
        num_heads: h, the number of heads, 1 or more.

    Returns:
        (B, h, T, D/h), in the dtype of `x`. Gradients flow back to `x`.

    Raises:
        ValueError: `num_heads` does not divide D.

    Source: Attention Is All You Need, section 3.2.2; lectures W, G, N, C.
    """
    if num_heads < 1 or x.shape[-1] % num_heads:
        raise ValueError(
            f"{x.shape[-1]} features cannot be divided equally among {num_heads} heads"
        )
    return x.unflatten(-1, (num_heads, -1)).transpose(-3, -2)  # (B, h, T, D/h)


def merge_heads(x: Tensor) -> Tensor:
    """Join the heads of every position again: the inverse of `split_heads`.

    Args:
        x: (B, h, T, d), in any memory layout; stays unchanged.

    Returns:
        (B, T, h · d): at each position first the d features of head 0, then those of head 1, and
        so on. In the dtype of `x`; gradients flow back to `x`.

    Source: Attention Is All You Need, section 3.2.2 (Concat); lectures W, G, N, C.
    """
    return x.transpose(-3, -2).flatten(-2)  # (B, T, h * d)


class MultiHeadAttention(nn.Module):
    """Attend with h heads, each with its own projections, and mix their outputs.

    Each head projects queries, keys and values for itself and runs scaled dot-product attention
    on them. The heads' outputs, one after the other, go through one last projection. Call the four
    `nn.Linear` layers:

        q_proj, k_proj   d_model → h · d_k   (rows i·d_k … (i+1)·d_k - 1 belong to head i)
        v_proj           d_model → h · d_v
        out_proj         h · d_v → d_model

    Other usual names are accepted, and so are one fused layer, raw `nn.Parameter`s and layers for
    each head. The attributes `num_heads`, `d_k` and `d_v` are the numbers that the layer uses.

    torch's nn.MultiheadAttention differs in four ways: in its masks True means forbidden; it
    returns weights by default, the mean over the heads; its first axis is T by default, not B; and
    its argument `dropout` comes before `bias`.

    Args:
        d_model: features of the inputs and of the output.
        num_heads: h, the number of heads, 1 or more.
        d_k: features of one head's queries and keys; None: d_model / h.
        d_v: features of one head's values; None: d_model / h.
        bias: whether the four layers have a bias.
        dropout: the probability that an attention weight is dropped in training (the others are
            multiplied by 1 / (1 - dropout), as in `nn.Dropout`); nothing else is dropped.

    Raises:
        ValueError: d_k or d_v is None, and h does not divide d_model.

    Source: Attention Is All You Need, section 3.2.2; lectures W, G, N, C.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_k: int | None = None,
        d_v: int | None = None,
        bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        # blank: the numbers that the layer uses, four layers, and dropout
        if num_heads < 1 or (None in (d_k, d_v) and d_model % num_heads):
            raise ValueError(
                f"{d_model} features cannot be divided equally among {num_heads} heads"
            )
        self.num_heads = num_heads
        self.d_k = d_model // num_heads if d_k is None else d_k
        self.d_v = d_model // num_heads if d_v is None else d_v
        self.q_proj = nn.Linear(d_model, num_heads * self.d_k, bias)
        self.k_proj = nn.Linear(d_model, num_heads * self.d_k, bias)
        self.v_proj = nn.Linear(d_model, num_heads * self.d_v, bias)
        self.out_proj = nn.Linear(num_heads * self.d_v, d_model, bias)
        self.dropout = nn.Dropout(dropout)
        # end blank

    def forward(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        mask: Tensor | None = None,
        need_weights: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Attend with every head.

        Args:
            q: (B, Lq, d_model), the input that is projected to queries.
            k: (B, Lk, d_model), the input that is projected to keys.
            v: (B, Lk, d_model), the input that is projected to values.
            mask: boolean, True where a query may attend to a key; of any shape that broadcasts to
                (B, h, Lq, Lk), such as (Lq, Lk), (B, 1, Lq, Lk) or (B, 1, 1, Lk). Three axes are
                (h, Lq, Lk): a mask for each sentence needs the axis of the heads. A query that
                may attend to no key gets zeros from its heads. None: all may attend to all.
            need_weights: whether to return the attention weights, too.

        Returns:
            The output, (B, Lq, d_model), alone; with `need_weights` the pair of the output and the
            weights of each head, (B, h, Lq, Lk), before dropout. Gradients flow back to the inputs
            and to all parameters; the inputs stay unchanged.
        """
        # blank: project, split, attend, merge, mix
        q = split_heads(self.q_proj(q), self.num_heads)  # (B, h, Lq, d_k)
        k = split_heads(self.k_proj(k), self.num_heads)  # (B, h, Lk, d_k)
        v = split_heads(self.v_proj(v), self.num_heads)  # (B, h, Lk, d_v)
        weights = attention_weights(q, k, mask)  # (B, h, Lq, Lk)
        found = merge_heads(self.dropout(weights) @ v)  # (B, Lq, h * d_v)
        out = self.out_proj(found)  # (B, Lq, d_model)
        return (out, weights) if need_weights else out
        # end blank


def mha_param_shapes(
    num_heads: int, key_dim: int, d_model: int, style: str = "keras"
) -> list[tuple[int, ...]]:
    """The shapes of the parameters of a multi-head attention layer, in the order of a library.

    Args:
        num_heads: h, the number of heads.
        key_dim: features of one head's queries, of its keys and of its values.
        d_model: features of the inputs and of the output.
        style: "keras": the shapes that the lecture shows for Keras' layer. The order is queries,
            keys, values. A weight has an axis for the heads and is multiplied from the right
            (x @ W), and its bias follows it. The output's weight and bias come last.
            "torch": the four parameters of `nn.MultiheadAttention`, which stacks the three input
            projections and multiplies by the transpose (x @ Wᵀ): in_proj_weight, in_proj_bias,
            out_proj.weight, out_proj.bias.

    Returns:
        The shapes, in a list or a tuple; each shape is a tuple or a list of int.

    Raises:
        ValueError: `style` is another word; or it is "torch", and h heads of `key_dim` features
            are not d_model features, which torch requires.

    Source: lecture N (MultiHeadAttention in Keras: 150 and 418 numbers in total).
    """
    if style == "keras":
        projection = [(d_model, num_heads, key_dim), (num_heads, key_dim)]
        return [*projection, *projection, *projection, (num_heads, key_dim, d_model), (d_model,)]
    if style != "torch":
        raise ValueError(f'style is "keras" or "torch", not {style!r}')
    if num_heads * key_dim != d_model:
        raise ValueError(f"{num_heads} heads of {key_dim} features are not {d_model} features")
    return [(3 * d_model, d_model), (3 * d_model,), (d_model, d_model), (d_model,)]


def fuse_qkv(
    W_q: Tensor,  # noqa: N803 - the field's letters
    W_k: Tensor,  # noqa: N803
    W_v: Tensor,  # noqa: N803
    b_q: Tensor | None = None,
    b_k: Tensor | None = None,
    b_v: Tensor | None = None,
) -> tuple[Tensor, Tensor | None]:
    """Stack three projections into one, so that one matrix product can replace three.

    The weights have the layout of `nn.Linear`, (out, in): a projection is x Wᵀ + b.

    Args:
        W_q: (d_q, d_model), the weight for queries.
        W_k: (d_k, d_model), the weight for keys.
        W_v: (d_v, d_model), the weight for values; the three may differ in their number of rows.
        b_q: (d_q,), the bias for queries; None: no bias, even if the others have one (some models
            have no bias for keys).
        b_k: (d_k,) or None, the bias for keys.
        b_v: (d_v,) or None, the bias for values.

    Returns:
        The fused weight, (d_q + d_k + d_v, d_model), and the fused bias, (d_q + d_k + d_v,), or
        None if all three are None. The order is queries, keys, values. In the dtype of the
        weights; gradients flow back to all arguments, and the arguments stay unchanged.

    Source: lectures W, C; torch's in_proj_weight; GPT-2's c_attn is its transpose.
    """

    def or_zeros(bias: Tensor | None, weight: Tensor) -> Tensor:
        return weight.new_zeros(len(weight)) if bias is None else bias

    fused = torch.cat((W_q, W_k, W_v))  # (d_q + d_k + d_v, d_model)
    if b_q is None and b_k is None and b_v is None:
        return fused, None
    return fused, torch.cat((or_zeros(b_q, W_q), or_zeros(b_k, W_k), or_zeros(b_v, W_v)))


def project_fused(
    x: Tensor,
    W: Tensor,  # noqa: N803 - the field's letter
    b: Tensor | None,
    sizes: Sequence[int],
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute queries, keys and values with the projection of `fuse_qkv`: one matrix product.

    Args:
        x: (..., T, d_model), the inputs.
        W: (d_q + d_k + d_v, d_model), the fused weight: queries, keys, values.
        b: (d_q + d_k + d_v,), the fused bias, or None.
        sizes: (d_q, d_k, d_v), the number of rows of `W` for queries, keys and values.

    Returns:
        q (..., T, d_q), k (..., T, d_k) and v (..., T, d_v). Gradients flow back to `x`, `W` and
        `b`.
    """
    fused = nn.functional.linear(x, W, b)  # (..., T, d_q + d_k + d_v)
    q, k, v = fused.split(sizes, dim=-1)
    return q, k, v


# In quotes, because the notebook's cell for this step must run even if the class is not defined.
def ablate_head(model: "MultiHeadAttention", head: int) -> "MultiHeadAttention":  # noqa: UP037
    """A copy of a multi-head attention in which one head contributes nothing.

    The copy's output is the model's output without everything that this head adds to it through its
    part of the output projection. Everything else stays: the other heads, the bias of `out_proj`,
    the attention weights.

    Args:
        model: with `num_heads` heads of `d_v` values each and the output projection `out_proj`
            (an `nn.Linear`, h · d_v → d_model); stays unchanged, even if the copy changes later.
        head: the head's number, 0 … num_heads - 1.

    Returns:
        An independent module that is called in the same way as `model`. It is in training mode if
        `model` is, and it can itself be ablated and trained.

    Raises:
        IndexError: there is no head of this number (-1 is not one, either).
    """
    if not 0 <= head < model.num_heads:
        raise IndexError(f"the heads are 0 to {model.num_heads - 1}, not {head}")
    ablated = copy.deepcopy(model)
    with torch.no_grad():
        ablated.out_proj.weight[:, head * model.d_v : (head + 1) * model.d_v] = 0
    return ablated
