"""mha_param_shapes: the parameters of a multi-head attention layer in two libraries."""

from __future__ import annotations

from math import prod

from attnlab.multihead import mha_param_shapes
from gradekit.exercise import Exercise

exercise = Exercise(mha_param_shapes)


def total(shapes):
    return sum(prod(shape) for shape in shapes if isinstance(shape, (tuple, list)))


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


wrong = exercise.edits(written_out)
wrong.several(
    "number_for_a_shape",
    {
        "(3 * d_model,), (d": "3 * d_model, (d",
        "(d_model, d_model), (d_model,)]": "(d_model, d_model), d_model]",
        "(h, d, d_model), (d_model,)]": "(h, d, d_model), d_model]",
    },
    "A shape with one axis is a tuple, too, and one of yours is a number. What does Python make of "
    "`(5)`: a tuple or a number?",
)
wrong.several(
    "no_biases",
    {
        "(3 * d_model, d_model), (3 * d_model,), (d_model, d_model), (d_model,)": (
            "(3 * d_model, d_model), (d_model, d_model)"
        ),
        "(d_model, h, d), (h, d)": "(d_model, h, d)",
        "(h, d, d_model), (d_model,)": "(h, d, d_model)",
    },
    "There is no bias among your shapes. How many tensors does the lecture's loop print, and what "
    "are the small ones?",
)
wrong(
    "last_bias_forgotten",
    "(h, d, d_model), (d_model,)",
    "(h, d, d_model)",
    "Keras' last layer has a bias, too, and your list ends without it. How wide is what it is "
    "added to?",
)
LAST_BIAS = (
    "In your list, the last layer's bias has key_dim or h · key_dim numbers. It is added to the "
    "output: how wide is that?"
)
HEADS_IN_THE_LAST_BIAS = (
    "In your list, the last layer's bias depends on the number of heads. It is added to the "
    "output: does that have an axis for the heads?"
)
for name, shape, advice in (
    ("of_a_head", "(h * d,)", LAST_BIAS),
    ("like_the_others", "(h, d)", LAST_BIAS),
    ("of_key_dim", "(d,)", LAST_BIAS),
    ("for_each_head", "(h, d_model)", HEADS_IN_THE_LAST_BIAS),
    ("of_all_outputs", "(h * d_model,)", HEADS_IN_THE_LAST_BIAS),
    ("of_h_numbers", "(h,)", HEADS_IN_THE_LAST_BIAS),
):
    wrong(f"last_bias_{name}", "d, d_model), (d_model,)", f"d, d_model), {shape}", advice)
BIAS_OF_ONE_AXIS = (
    "In your list, the bias of a query projection has one axis. It is added to the result of that "
    "projection: which axes does Keras' weight give that result?"
)
wrong("bias_of_one_head", "(d_model, h, d), (h, d)", "(d_model, h, d), (d,)", BIAS_OF_ONE_AXIS)
wrong("bias_for_each_head", "(d_model, h, d), (h, d)", "(d_model, h, d), (h,)", BIAS_OF_ONE_AXIS)
wrong("bias_of_all_heads", "(d_model, h, d), (h, d)", "(d_model, h, d), (h * d,)", BIAS_OF_ONE_AXIS)
AS_WIDE_AS_THE_HEADS = (
    "In your list, a width is h · key_dim that should be d_model. On the slide, is 16 the width of "
    "all heads together?"
)
for name, old, new in (
    ("output", "(h, d, d_model), (d_model,)", "(h, d, h * d), (h * d,)"),
    ("last_weight", "(h, d, d_model)", "(h, d, h * d)"),
    ("input", "(d_model, h, d)", "(h * d, h, d)"),
    ("whole", "    projection =", "    d_model = h * d\n    projection ="),
):
    wrong(f"{name}_as_wide_as_the_heads", old, new, AS_WIDE_AS_THE_HEADS)
wrong(
    "heads_side_by_side_at_the_end",
    "(h, d, d_model)",
    "(h * d, d_model)",
    "Your Keras layer has one axis for all heads together at its end. The shapes on the slide have "
    "a separate axis for the heads: where?",
)
wrong(
    "number_for_a_shape_of_one_axis",
    "(h, d, d_model), (d_model,)",
    "(h, d, d_model), (d_model)",
    "The last of your shapes is a number. What does Python make of (5), and what of (5,)?",
)
wrong.several(
    "heads_side_by_side",
    {
        "(d_model, h, d), (h, d)": "(d_model, h * d), (h * d,)",
        "(h, d, d_model)": "(h * d, d_model)",
    },
    "Your Keras layer has one axis for all heads together. The shapes on the slide have a separate "
    "axis for the heads: where?",
)
HEADS_FIRST = (
    "In your list, heads come before d_model. In which order does the slide print the three axes "
    "of a query weight?"
)
wrong("heads_first", "(d_model, h, d)", "(h, d_model, d)", HEADS_FIRST)
wrong("inputs_last", "(d_model, h, d)", "(h, d, d_model)", HEADS_FIRST)
wrong(
    "last_layer_backwards",
    "(h, d, d_model)",
    "(d_model, h, d)",
    "In your list, the last layer's weight goes from d_model to the heads. What goes into that "
    "layer, and what comes out?",
)
wrong(
    "key_dim_shared_out",
    "    projection =",
    "    d = max(1, d // h)\n    projection =",
    "You divide key_dim among the heads. On the slide, does a query's bias get smaller when "
    "num_heads goes from 1 to 3?",
)
wrong(
    "key_dim_ignored",
    "    projection =",
    "    d = d_model // h\n    projection =",
    "You take d_model / h for the size of a head. What is the argument key_dim for, and does the "
    "slide's 2 have anything to do with 16?",
)
wrong(
    "as_the_slide_has_it",
    "    projection =",
    "    d = 2\n    projection =",
    "The slide leaves its shapes unchanged when key_dim becomes 5, and so does your function: "
    "every head still has 2 features. Which of the printed numbers should have changed?",
)
wrong(
    "one_projection_for_all",
    "*projection * 3",
    "*projection",
    "One query, key or value weight is missing, or there is one for all three. How many tensors "
    "does the slide print?",
)
wrong(
    "no_last_layer",
    ", (h, d, d_model), (d_model,)",
    "",
    "The last layer is missing from your list. What brings the heads' features back to d_model?",
)
wrong(
    "weights_before_biases",
    "return [*projection * 3, (h, d, d_model), (d_model,)]",
    "shapes = [*projection * 3, (h, d, d_model), (d_model,)]\n"
    "    return shapes[::2] + shapes[1::2]",
    "In your list, all weights come first and all biases after them. In which order does the slide "
    "print them?",
)
wrong(
    "in_proj_transposed",
    "(3 * d_model, d_model)",
    "(d_model, 3 * d_model)",
    "In your list, torch's in_proj_weight is (in, out). `nn.Linear` keeps its weight transposed, "
    "(out, in): along which axis are three of them stacked?",
)
wrong(
    "torch_not_fused",
    "[(3 * d_model, d_model), (3 * d_model,), (d_model, d_model), (d_model,)]",
    "[(d_model, d_model), (d_model,)] * 4",
    "In your list, torch's in_proj is not the stack of three layers. Make a small "
    "`nn.MultiheadAttention` and look at the names of its parameters: how many are there?",
)
wrong(
    "torch_weights_first",
    "[(3 * d_model, d_model), (3 * d_model,), (d_model, d_model), (d_model,)]",
    "[(3 * d_model, d_model), (d_model, d_model), (3 * d_model,), (d_model,)]",
    "In your list for torch, both weights come first. In which order does the task name the four?",
)
wrong(
    "one_bias_in_torch",
    "(3 * d_model,)",
    "(d_model,)",
    "The biases of torch's input projections are missing, or there is one for all three. They are "
    "stacked like the weights: how many numbers is that?",
)
wrong(
    "always_keras",
    "h, d = num_heads, key_dim",
    'h, d, style = num_heads, key_dim, "keras"',
    "`style` changes nothing: you always answer for Keras. Where do you use the argument?",
)
wrong(
    "any_style_taken",
    '    if style != "keras":\n        raise ValueError("no such style")\n',
    "",
    "An unknown style still gets an answer. What should happen after a typo?",
)
wrong(
    "style_looked_up",
    'raise ValueError("no such style")',
    "raise KeyError(style)",
    "An unknown style raises an error, but another one than the task names. Which error does a "
    "dictionary raise for a missing key, and which one should a caller see?",
)
ASSERTED = (
    "An `assert` raises AssertionError, and vanishes when Python runs with -O. Wrong arguments are "
    "reported with another error: which one does the task name?"
)
wrong(
    "sizes_asserted",
    'if h * d != d_model:\n            raise ValueError("torch needs heads that fill d_model")',
    "assert h * d == d_model",
    ASSERTED,
)
wrong(
    "style_asserted",
    'if style != "keras":\n        raise ValueError("no such style")',
    'assert style == "keras"',
    ASSERTED,
)
wrong(
    "only_divided",
    "if h * d != d_model:",
    "if d_model % h:",
    "You only ask whether num_heads divides d_model. Which sizes of a head does torch allow then, "
    "and where does your condition look at key_dim?",
)
wrong(
    "torch_takes_any_size",
    "        if h * d != d_model:\n"
    '            raise ValueError("torch needs heads that fill d_model")\n',
    "",
    "torch's layer divides d_model among its heads: it cannot have heads of another size. Your "
    "function gives shapes for such a layer. What should it do?",
)
wrong(
    "torch_by_default",
    'style="keras"',
    'style="torch"',
    "If `style` is not given, yours is torch's. What is its default in the task?",
)
wrong(
    "axes_of_one_dropped",
    "    projection = [(d_model, h, d), (h, d)]\n"
    "    return [*projection * 3, (h, d, d_model), (d_model,)]",
    "    shapes = [*[(d_model, h, d), (h, d)] * 3, (h, d, d_model), (d_model,)]\n"
    "    return [tuple(n for n in shape if n > 1) for shape in shapes]",
    "A single head, or heads of a single feature, lose their axis in your list. What does the "
    "slide print for one head?",
)
wrong(
    "keras_refused",
    "    projection =",
    "    if h * d != d_model:\n"
    '        raise ValueError("the heads do not fill d_model")\n'
    "    projection =",
    "You also require for Keras that the heads fill d_model. Do the slide's three heads of 2 fill "
    "it?",
)
