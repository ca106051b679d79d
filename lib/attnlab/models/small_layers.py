"""Experiments on a small multi-head attention that was never trained: lab 4's pictures show them.

Each function takes the student's own class or functions, and leaves them unchanged.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from attnlab.attention import scaled_dot_product_attention
from attnlab.notebook.not_right_yet import failing_note
from attnlab.notebook.unwritten import why_not

D_MODEL, HEADS = 12, 3
SENTENCE = ("the", "cat", "sat", "on", "it")

Layer = Callable[..., nn.Module]


def layer(make: Layer) -> nn.Module:
    """A layer with random weights, the same each time."""
    torch.manual_seed(4)
    return make(D_MODEL, HEADS).eval()


def words() -> Tensor:
    """Two sentences of five random vectors, (2, 5, 12), the same each time."""
    generator = torch.Generator().manual_seed(1)
    return torch.randn(2, len(SENTENCE), D_MODEL, generator=generator)


def weights(make: Layer) -> Tensor:
    """The attention weights of each head on the two sentences, (2, 3, 5, 5)."""
    x = words()
    found: Tensor = layer(make)(x, x, x, need_weights=True)[1]
    return found


def steps(
    make: Layer, split_heads: Callable[..., Tensor], merge_heads: Callable[..., Tensor]
) -> dict[str, Tensor]:
    """Tensors on the way through the layer, without its projections; axes after each name."""
    x = words()
    out, weights = layer(make)(x, x, x, need_weights=True)
    heads = split_heads(x, HEADS)
    found = weights @ heads
    return {
        "x, (B T D)": x,
        "split_heads, (B h T d)": heads,
        "weights, (B h T T)": weights,
        "weights · heads, (B h T d)": found,
        "merge_heads, (B T h·d)": merge_heads(found),
        "output, (B T D)": out,
    }


def asks_nothing(layer: nn.Module, head: int) -> nn.Module:
    """A copy of a layer in which the queries of one head are 0.

    Args:
        layer: with `d_k` and `q_proj`, as in the task of `MultiHeadAttention`.
        head: the head's number.
    """
    changed: Any = copy.deepcopy(layer)
    rows = slice(head * changed.d_k, (head + 1) * changed.d_k)
    with torch.no_grad():
        for parameter in changed.q_proj.parameters():
            parameter[rows] = 0
    return changed


def changes_without_heads(
    make: Layer, ablate_head: Callable[[nn.Module, int], nn.Module]
) -> dict[str, Tensor]:
    """How far the output moves, relative to its length, if a head is off or asks nothing."""
    x, whole = words(), layer(make)
    changed = {f"without\nhead {i}": ablate_head(whole, i) for i in range(HEADS)}
    changed |= {f"head {i}\nasks nothing": asks_nothing(whole, i) for i in range(HEADS)}
    return {name: _moved(whole, other, x) for name, other in changed.items()}


def changes_by_bias(make: Layer) -> dict[str, Tensor]:
    """How far the output moves, relative to its length, if random numbers are added to a bias."""
    x, whole = words(), layer(make)
    moved = {}
    for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
        changed: Any = copy.deepcopy(whole)
        bias = getattr(changed, name).bias
        with torch.no_grad():
            bias += torch.randn(bias.shape, generator=torch.Generator().manual_seed(0))
        moved[f"{name}.bias"] = _moved(whole, changed, x)
    return moved


def _moved(whole: nn.Module, changed: nn.Module, x: Tensor) -> Tensor:
    before, after = whole(x, x, x), changed(x, x, x)
    found: Tensor = ((after - before).norm() / before.norm()).detach()[None]
    return found


def which_masks_fit(shapes: Sequence[tuple[int, ...]], heads: Sequence[int]) -> str:
    """For each number of heads and each shape, whether a mask fits (2, h, 4, 7), as text."""
    lines = []
    for count in heads:
        wanted = (2, count, 4, 7)
        for shape in shapes:
            try:
                torch.ones(shape).expand(wanted)
                lines.append(f"{shape} fits weights of shape {wanted}")
            except RuntimeError:
                pairs = zip(reversed(shape), reversed(wanted), strict=False)
                axis, met = next((a, b) for a, b in pairs if a not in (1, b))
                lines.append(f"{shape} does not fit {wanted}: from the right, {axis} meets {met}")
    return "\n".join(lines)


def shapes_of_lecture_n(mha_param_shapes: Callable[..., Sequence[tuple[int, ...]]]) -> str:
    """Lecture N's three layers: how many numbers each holds, and its shapes, as text."""
    lines = []
    for num_heads, key_dim in ((1, 2), (3, 2), (3, 5)):
        try:
            shapes = mha_param_shapes(num_heads, key_dim, 16)
            total = sum(math.prod(shape) for shape in shapes)
        except Exception as error:
            return f"No shapes yet: {why_not(error, mha_param_shapes)}"
        listed = " ".join(map(str, shapes))
        lines.append(f"num_heads={num_heads}, key_dim={key_dim}: {total:5,} numbers in {listed}")
    own = " ".join(str(tuple(p.shape)) for p in nn.MultiheadAttention(16, 4).parameters())
    return _with_doubt("\n".join([*lines, f"torch's own: {own}"]), mha_param_shapes)


def through_torchs_weights(
    project_fused: Callable[..., tuple[Tensor, Tensor, Tensor]],
    split_heads: Callable[..., Tensor],
    merge_heads: Callable[..., Tensor],
) -> str:
    """Run the weights of torch's own layer through the student's functions; the result as text."""
    torch.manual_seed(4)
    theirs, x = nn.MultiheadAttention(D_MODEL, HEADS, batch_first=True).eval(), words()
    try:
        q, k, v = project_fused(x, theirs.in_proj_weight, theirs.in_proj_bias, [D_MODEL] * 3)
        q, k, v = (split_heads(part, HEADS) for part in (q, k, v))
        mixed, _ = scaled_dot_product_attention(q, k, v)
        ours = theirs.out_proj(merge_heads(mixed))
        far = float((ours - theirs(x, x, x, need_weights=False)[0]).detach().abs().max())
    except Exception as error:
        why = why_not(error, project_fused, split_heads, merge_heads)
        return f"Torch's weights are not used yet: {why}"
    verdict = "the same output" if far < 1e-5 else f"another output, by up to {far:.2g}"
    found = f"torch's weights, through your functions: {verdict}"
    return _with_doubt(found, project_fused, split_heads, merge_heads)


def _with_doubt(found: str, *functions: Callable[..., Any]) -> str:
    """A result, and in a line below it which of the steps behind it are not right yet."""
    doubt = failing_note(*functions)
    return f"{found}\n({doubt})" if doubt else found
