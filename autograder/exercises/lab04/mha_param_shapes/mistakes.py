"""Known mistakes in the shapes of two libraries, and in what is refused."""

from __future__ import annotations

from . import exercise, written_out

wrong = exercise.edits(written_out)
NUMBER_FOR_A_SHAPE = (
    "A shape with one axis is a tuple, too, and one of yours is a number. What does Python make of "
    "`(5)`: a tuple or a number?"
)
wrong.several(
    "number_for_a_shape",
    {
        "(3 * d_model,), (d": "3 * d_model, (d",
        "(d_model, d_model), (d_model,)]": "(d_model, d_model), d_model]",
        "(h, d, d_model), (d_model,)]": "(h, d, d_model), d_model]",
    },
    NUMBER_FOR_A_SHAPE,
)
LIST_OF_SHAPES = (
    "An entry of your list is a list of shapes, not a shape. What does the list look like if you "
    "print it, and how many entries does the slide's loop print?"
)
for name, nested in (
    ("for_each", "projection, projection, projection"),
    ("for_all", "projection * 3"),
    ("repeated", "*[projection] * 3"),
):
    wrong(f"list_of_shapes_{name}", "*projection * 3", nested, LIST_OF_SHAPES)
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
    NUMBER_FOR_A_SHAPE,
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
