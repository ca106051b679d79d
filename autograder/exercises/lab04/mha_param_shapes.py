"""mha_param_shapes: where the numbers of a multi-head attention layer are, in two libraries."""

from __future__ import annotations

from math import prod

from attnlab.multihead import mha_param_shapes
from gradekit.exercise import Exercise

exercise = Exercise(mha_param_shapes)


def total(shapes):
    return sum(prod(shape) for shape in shapes)


@exercise.check(points=2)
def of_the_lecture(lab, draw):
    """Gives the shapes that lecture N prints for Keras, for one head and for three."""
    seen = {f"{h} heads, key_dim 2": lab.mha_param_shapes(h, 2, 16) for h in (1, 3)}
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
    """Is right for other numbers of heads, other sizes, other models."""
    h, key_dim, d_model = (int(draw.integers(*span)) for span in ((2, 7), (8, 14), (20, 40)))
    return {
        "key_dim 5": lab.mha_param_shapes(3, 5, 16),
        "many heads": lab.mha_param_shapes(num_heads=8, key_dim=64, d_model=512),
        "any": lab.mha_param_shapes(h, key_dim, d_model, style="keras"),
    }


@exercise.check(points=1, hidden=True)
def any_torch_sizes(lab, draw):
    """Is right for torch's layer of any size."""
    h, key_dim = int(draw.integers(2, 7)), int(draw.integers(8, 14))
    shapes = lab.mha_param_shapes(h, key_dim, h * key_dim, style="torch")
    return {"any": shapes, "numbers in all": total(shapes)}


@exercise.check(points=1, hidden=True)
def what_there_is_not(lab, draw):
    """Raises ValueError for a style it does not know, and for sizes that torch does not allow."""
    return {
        "unknown style": draw.raises(lab.mha_param_shapes, 4, 3, 12, "jax"),
        "another word": draw.raises(lab.mha_param_shapes, 4, 3, 12, "Torch"),
        "torch, too narrow": draw.raises(lab.mha_param_shapes, 3, 2, 16, "torch"),
        "torch, too wide": draw.raises(lab.mha_param_shapes, 4, 4, 12, style="torch"),
        "keras": draw.raises(lab.mha_param_shapes, 4, 4, 12),
        "keras, said so": draw.raises(lab.mha_param_shapes, 4, 4, 12, style="keras"),
    }


def keras(h, key_dim, d_model):
    """The right answer in Keras' style, a part that the wrong versions change."""
    projection = [(d_model, h, key_dim), (h, key_dim)]
    return [*projection, *projection, *projection, (h, key_dim, d_model), (d_model,)]


def torchs(h, key_dim, d_model):
    """The right answer in torch's style."""
    if h * key_dim != d_model:
        raise ValueError("torch asks for heads that fill d_model")
    return [(3 * d_model, d_model), (3 * d_model,), (d_model, d_model), (d_model,)]


def in_style(style, in_keras, in_torch):
    if style not in ("keras", "torch"):
        raise ValueError("no such style")
    return in_keras() if style == "keras" else in_torch()


def versions(h, key_dim, d_model, style, in_keras=keras, in_torch=torchs):
    return in_style(
        style, lambda: in_keras(h, key_dim, d_model), lambda: in_torch(h, key_dim, d_model)
    )


@exercise.mistake(
    "There is no bias among your shapes. How many tensors does the lecture's loop print, and what "
    "are the small ones?"
)
def no_biases(num_heads, key_dim, d_model, style="keras"):
    return [s for s in versions(num_heads, key_dim, d_model, style) if len(s) > 1 and s[0] != 1][
        :: 1 if style == "torch" else 2
    ]


@exercise.mistake(
    "The last layer's bias has key_dim or h · key_dim numbers in your list. It is added to the "
    "output: how wide is that?"
)
def last_bias_of_a_head(num_heads, key_dim, d_model, style="keras"):
    def in_keras(h, key_dim, d_model):
        return [*keras(h, key_dim, d_model)[:-1], (h * key_dim,)]

    return versions(num_heads, key_dim, d_model, style, in_keras)


@exercise.mistake(
    "Your Keras layer has one axis for all heads together. The shapes on the slide have an axis of "
    "their own for the heads: where?"
)
def heads_side_by_side(num_heads, key_dim, d_model, style="keras"):
    def in_keras(h, key_dim, d_model):
        projection = [(d_model, h * key_dim), (h * key_dim,)]
        return [*projection * 3, (h * key_dim, d_model), (d_model,)]

    return versions(num_heads, key_dim, d_model, style, in_keras)


@exercise.mistake(
    "Heads stand in front of d_model in your list. In which order does the slide print the three "
    "axes of a query weight?"
)
def heads_first(num_heads, key_dim, d_model, style="keras"):
    def in_keras(h, key_dim, d_model):
        projection = [(h, d_model, key_dim), (h, key_dim)]
        return [*projection * 3, (h, key_dim, d_model), (d_model,)]

    return versions(num_heads, key_dim, d_model, style, in_keras)


@exercise.mistake(
    "The last layer's weight reads from d_model to the heads in your list. What goes into that "
    "layer, and what comes out?"
)
def last_layer_backwards(num_heads, key_dim, d_model, style="keras"):
    def in_keras(h, key_dim, d_model):
        return [*keras(h, key_dim, d_model)[:-2], (d_model, h, key_dim), (d_model,)]

    return versions(num_heads, key_dim, d_model, style, in_keras)


@exercise.mistake(
    "You share key_dim out among the heads. On the slide, does a query's bias get smaller when "
    "num_heads goes from 1 to 3?"
)
def key_dim_shared_out(num_heads, key_dim, d_model, style="keras"):
    def in_keras(h, key_dim, d_model):
        return keras(h, max(1, key_dim // h), d_model)

    return versions(num_heads, key_dim, d_model, style, in_keras)


@exercise.mistake(
    "You take d_model / h for the size of a head. What is the argument key_dim for, and does the "
    "slide's 2 have anything to do with 16?"
)
def key_dim_ignored(num_heads, key_dim, d_model, style="keras"):
    def in_keras(h, key_dim, d_model):
        return keras(h, d_model // h, d_model)

    return versions(num_heads, key_dim, d_model, style, in_keras)


@exercise.mistake(
    "The slide leaves its shapes unchanged where key_dim becomes 5, and so does your function: "
    "every head has 2 features in it. Which of the printed numbers should have changed?"
)
def as_the_slide_has_it(num_heads, key_dim, d_model, style="keras"):
    def in_keras(h, key_dim, d_model):
        return keras(h, 2, d_model)

    return versions(num_heads, key_dim, d_model, style, in_keras)


@exercise.mistake(
    "There is one query, key or value weight too few, or one for all three. How many tensors does "
    "the slide print?"
)
def one_projection_for_all(num_heads, key_dim, d_model, style="keras"):
    def in_keras(h, key_dim, d_model):
        shapes = keras(h, key_dim, d_model)
        return [*shapes[:2], *shapes[-2:]]

    return versions(num_heads, key_dim, d_model, style, in_keras)


@exercise.mistake(
    "The last layer is missing from your list. What brings the heads' features back to d_model?"
)
def no_last_layer(num_heads, key_dim, d_model, style="keras"):
    def in_keras(h, key_dim, d_model):
        return keras(h, key_dim, d_model)[:-2]

    return versions(num_heads, key_dim, d_model, style, in_keras)


@exercise.mistake(
    "All weights come first in your list and all biases after them. In which order does the slide "
    "print them?"
)
def weights_before_biases(num_heads, key_dim, d_model, style="keras"):
    def in_keras(h, key_dim, d_model):
        shapes = keras(h, key_dim, d_model)
        return [*shapes[::2], *shapes[1::2]]

    return versions(num_heads, key_dim, d_model, style, in_keras)


@exercise.mistake(
    "torch's in_proj_weight is (in, out) in your list. `nn.Linear` keeps its weight the other way "
    "round and multiplies by the transpose: along which axis are three of them stacked?"
)
def in_proj_transposed(num_heads, key_dim, d_model, style="keras"):
    def in_torch(h, key_dim, d_model):
        torchs(h, key_dim, d_model)
        return [(d_model, 3 * d_model), (3 * d_model,), (d_model, d_model), (d_model,)]

    return versions(num_heads, key_dim, d_model, style, in_torch=in_torch)


@exercise.mistake(
    "torch's in_proj is not three layers in your list. Make a small `nn.MultiheadAttention` and "
    "look at the names of its parameters: how many are there?"
)
def torch_not_fused(num_heads, key_dim, d_model, style="keras"):
    def in_torch(h, key_dim, d_model):
        torchs(h, key_dim, d_model)
        return [(d_model, d_model), (d_model,)] * 4

    return versions(num_heads, key_dim, d_model, style, in_torch=in_torch)


@exercise.mistake(
    "The biases of torch's input projections are missing, or there is one for all three. They are "
    "stacked as the weights are: how many numbers is that?"
)
def one_bias_in_torch(num_heads, key_dim, d_model, style="keras"):
    def in_torch(h, key_dim, d_model):
        shapes = torchs(h, key_dim, d_model)
        return [shapes[0], (d_model,), *shapes[2:]]

    return versions(num_heads, key_dim, d_model, style, in_torch=in_torch)


@exercise.mistake("`style` changes nothing: you always answer for Keras.")
def always_keras(num_heads, key_dim, d_model, style="keras"):
    return keras(num_heads, key_dim, d_model)


@exercise.mistake(
    "A word that is no style gets an answer all the same. What should happen to a slip of the pen?"
)
def any_style_taken(num_heads, key_dim, d_model, style="keras"):
    return versions(num_heads, key_dim, d_model, "torch" if style == "torch" else "keras")


@exercise.mistake(
    "torch's layer shares d_model out among its heads: it cannot have heads of another size. Your "
    "function gives shapes for such a layer. What should it do?"
)
def torch_takes_any_size(num_heads, key_dim, d_model, style="keras"):
    def in_torch(h, key_dim, d_model):
        return [(3 * d_model, d_model), (3 * d_model,), (d_model, d_model), (d_model,)]

    return versions(num_heads, key_dim, d_model, style, in_torch=in_torch)


@exercise.mistake("Where nobody says `style`, yours is torch's. What is its default in the task?")
def torch_by_default(num_heads, key_dim, d_model, style="torch"):
    return versions(num_heads, key_dim, d_model, style)


@exercise.mistake(
    "You ask of Keras, too, that the heads fill d_model. The slide's three heads of 2 do not."
)
def keras_refused(num_heads, key_dim, d_model, style="keras"):
    if num_heads * key_dim != d_model:
        raise ValueError("the heads do not fill d_model")
    return versions(num_heads, key_dim, d_model, style)


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
