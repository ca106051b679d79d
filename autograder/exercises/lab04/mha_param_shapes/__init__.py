"""mha_param_shapes: the parameters of a multi-head attention layer in two libraries."""

from __future__ import annotations

from math import prod

from attnlab.multihead import mha_param_shapes
from gradekit.exercise import Exercise

exercise = Exercise(mha_param_shapes)


def total(shapes):
    """How many numbers all shapes hold; an entry that is not a shape holds none."""
    return sum(
        prod(shape)
        for shape in shapes
        if isinstance(shape, (tuple, list)) and all(isinstance(n, int) for n in shape)
    )


@exercise.check(points=2)
def of_the_lecture(lab, draw):
    """Gives the shapes that lecture N prints for Keras, for one head and for three."""
    seen = {f"heads: {h}, key_dim: 2": lab.mha_param_shapes(h, 2, 16) for h in (1, 3)}
    return {**seen, "numbers in all": [total(shapes) for shapes in seen.values()]}


@exercise.check(points=2)
def of_torch(lab, draw):
    """Gives the shapes of the four parameters of torch's layer."""
    h, d_k = int(draw.integers(2, 6)), int(draw.integers(2, 8))
    return {
        f"{h} heads of {d_k}": lab.mha_param_shapes(h, d_k, h * d_k, style="torch"),
        "1 head of 7": lab.mha_param_shapes(1, 7, 7, "torch"),
    }


@exercise.check(points=2, hidden=True)
def any_keras_sizes(lab, draw):
    """Is right for other numbers of heads, other sizes and other models."""
    h, key_dim, d_model = (int(draw.integers(*span)) for span in ((2, 7), (8, 14), (20, 40)))

    def ask(h, key_dim, d_model):
        return lab.mha_param_shapes(h, key_dim, d_model)

    return {
        **draw.each_size(ask, h=3, key_dim=5, d_model=16),
        "many heads": lab.mha_param_shapes(num_heads=8, key_dim=64, d_model=512),
        "any": lab.mha_param_shapes(h, key_dim, d_model, style="keras"),
    }


@exercise.check(points=1, hidden=True)
def any_torch_sizes(lab, draw):
    """Is right for torch's layer of any size."""
    h, key_dim = int(draw.integers(2, 7)), int(draw.integers(8, 14))
    shapes = lab.mha_param_shapes(h, key_dim, h * key_dim, style="torch")

    def ask(h, key_dim):
        return lab.mha_param_shapes(h, key_dim, h * key_dim, style="torch")

    each = draw.each_size(ask, h=2, key_dim=3)
    return {**each, "any": shapes, "numbers in all": total(shapes)}


@exercise.check(points=0.5)
def refused(lab, draw):
    """Raises ValueError for an unknown style, and for heads too wide or too narrow for torch."""
    return {
        "unknown style": draw.raises(lab.mha_param_shapes, 4, 3, 12, "tensorflow"),
        "torch, too wide": draw.raises(lab.mha_param_shapes, 3, 5, 12, "torch"),
        "torch, too narrow": draw.raises(lab.mha_param_shapes, 5, 2, 12, "torch"),
    }


@exercise.check(points=0.5, hidden=True)
def what_there_is_not(lab, draw):
    """Raises ValueError for an unknown style, and for sizes that torch does not allow."""
    return {
        "unknown style": draw.raises(lab.mha_param_shapes, 4, 3, 12, "jax"),
        "another word": draw.raises(lab.mha_param_shapes, 4, 3, 12, "Torch"),
        "torch, too narrow": draw.raises(lab.mha_param_shapes, 3, 2, 16, "torch"),
        "torch, too wide": draw.raises(lab.mha_param_shapes, 4, 4, 12, style="torch"),
        "keras": draw.raises(lab.mha_param_shapes, 4, 4, 12),
        "keras, said so": draw.raises(lab.mha_param_shapes, 4, 4, 12, style="keras"),
    }


exercise.promises(
    {
        "The shapes of the parameters of a multi-head attention layer, in the order of a "
        "library.": "of_the_lecture of_torch",
        'style: "keras": the shapes that the lecture shows for Keras\' layer. The order is '
        "queries, keys, values. A weight has an axis for the heads and is multiplied from the "
        "right (x @ W), and its bias follows it. The output's weight and bias come last.": (
            "of_the_lecture any_keras_sizes"
        ),
        '"torch": the four parameters of `nn.MultiheadAttention`, which stacks the three input '
        "projections and multiplies by the transpose (x @ Wᵀ): in_proj_weight, in_proj_bias, "
        "out_proj.weight, out_proj.bias.": "of_torch any_torch_sizes",
        "The shapes, in a list or a tuple; each shape is a tuple or a list of int.": (
            "of_the_lecture of_torch"
        ),
        'ValueError: `style` is another word; or it is "torch", and h heads of `key_dim` features '
        "are not d_model features, which torch requires.": "refused what_there_is_not",
    },
    explained=[
        "num_heads: h, the number of heads. key_dim: features of one head's queries, of its keys "
        "and of its values. d_model: features of the inputs and of the output.",
    ],
)


@exercise.also_right
def written_out(num_heads, key_dim, d_model, style="keras"):
    h, d = num_heads, key_dim
    if style == "torch":
        if h * d != d_model:
            raise ValueError("torch needs heads that fill d_model")
        return [(3 * d_model, d_model), (3 * d_model,), (d_model, d_model), (d_model,)]
    if style != "keras":
        raise ValueError("no such style")
    projection = [(d_model, h, d), (h, d)]
    return [*projection * 3, (h, d, d_model), (d_model,)]


@exercise.also_right
def by_a_loop(num_heads, key_dim, d_model, style="keras"):
    shapes = []
    match style:
        case "keras":
            for _ in ("query", "key", "value"):
                shapes.append((d_model, num_heads, key_dim))
                shapes.append((num_heads, key_dim))
            shapes += [(num_heads, key_dim, d_model), (d_model,)]
        case "torch":
            if key_dim * num_heads != d_model:
                raise ValueError("embed_dim must be divisible by num_heads")
            for rows in (3 * d_model, d_model):
                shapes += [(rows, d_model), (rows,)]
        case _:
            raise ValueError(style)
    return tuple(shapes)


@exercise.also_right
def by_asking_torch(num_heads, key_dim, d_model, style="keras"):
    from torch import nn

    if style == "torch":
        if num_heads * key_dim != d_model:
            raise ValueError("these heads do not fill d_model")
        layer = nn.MultiheadAttention(d_model, num_heads, device="meta")
        return [tuple(parameter.shape) for parameter in layer.parameters()]
    if style != "keras":
        raise ValueError(f"unknown style {style}")
    into, out = (d_model, num_heads, key_dim), (num_heads, key_dim, d_model)
    return [list(into), list(into[1:])] * 3 + [list(out), [d_model]]
