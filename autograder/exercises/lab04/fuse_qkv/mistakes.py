"""Known mistakes in stacking (`fuse_qkv`) and in projecting (`project_fused`)."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from . import exercise
from .also_right import by_cat, by_split

wrong = exercise.edits(by_cat, of="fuse_qkv")

KEYS_AND_VALUES_SWAPPED = (
    "Your order differs: keys and values are swapped. What is the order in the task?"
)
QUERIES_NOT_FIRST = (
    "Your order differs: keys or values come before queries. Which rows does `project_fused` take "
    "for queries, and what is the order in the task?"
)
WEIGHTS_ALONE = (
    "Your biases are in the task's order, but your weights are not, so rows get the bias of "
    "another layer. How do your two lines differ?"
)
BIASES_ALONE = (
    "Your weights are in the task's order, but your biases are not, so rows get the bias of "
    "another layer. How do your two lines differ?"
)
OTHER_ORDERS = ("qvk", "kqv", "kvq", "vqk", "vkq")
for order in OTHER_ORDERS:
    weights = ", ".join(f"W_{letter}" for letter in order)
    biases = ", ".join(f"(W_{letter}, b_{letter})" for letter in order)
    stacked = {"torch.cat((W_q, W_k, W_v))": f"torch.cat(({weights}))"}
    paired = {"(W_q, b_q), (W_k, b_k), (W_v, b_v)": biases}
    both = KEYS_AND_VALUES_SWAPPED if order == "qvk" else QUERIES_NOT_FIRST
    wrong.several(f"stacked_as_{order}", stacked | paired, both)
    wrong.several(f"weights_stacked_as_{order}", stacked, WEIGHTS_ALONE)
    wrong.several(f"biases_stacked_as_{order}", paired, BIASES_ALONE)
wrong(
    "stacked_along_the_inputs",
    "torch.cat((W_q, W_k, W_v))",
    "torch.cat((W_q, W_k, W_v), dim=1)",
    "You put the weights next to each other instead of on top of each other. `nn.Linear` keeps its "
    "weight as (out, in): along which axis do three layers with one input grow?",
)
wrong(
    "added",
    "torch.cat((W_q, W_k, W_v))",
    "W_q + W_k + W_v",
    "You add the three weights, or the three biases (`+`, `sum`), so one layer is left of three. "
    "How many rows has the fused weight according to the task, and how many numbers its bias?",
)
wrong(
    "transposed",
    "torch.cat((W_q, W_k, W_v))",
    "torch.cat((W_q, W_k, W_v)).mT",
    "Your fused weight is transposed: (in, out), as in lab 3. In `nn.Linear`, and in this task, "
    "what does a row belong to?",
)
wrong.several(
    "new_axis",
    {
        "torch.cat((W_q, W_k, W_v))": "torch.stack((W_q, W_k, W_v))",
        "torch.cat(biases)": "torch.stack(biases)",
    },
    "The three weights got a new axis instead of more rows. Which call joins along an existing "
    "axis?",
)
wrong(
    "a_new_parameter",
    "torch.cat((W_q, W_k, W_v))",
    "torch.nn.Parameter(torch.cat((W_q, W_k, W_v)))",
    "Your fused weight is a new `nn.Parameter`. It has the numbers of the three matrices and no "
    "link to them, so no gradient reaches the three. What does `torch.cat` return by itself?",
)
wrong(
    "biases_forgotten",
    "torch.cat(biases)",
    "None",
    "Your second result is always None. Three layers add three biases: where are they in yours?",
)
OTHER_BIASES_LOST = (
    "In your code, the other biases can be lost if one of the three is None. What does the task "
    "say about a single missing bias?"
)
for name, condition in (
    ("all_biases_or_none", "b_q is None or b_k is None or b_v is None"),
    ("b_q_decides", "b_q is None"),
    ("b_k_decides", "b_k is None"),
    ("b_v_decides", "b_v is None"),
):
    wrong(name, "b_q is None and b_k is None and b_v is None", condition, OTHER_BIASES_LOST)
TRUE_OR_FALSE = (
    "A line of yours asks whether a whole bias is true (`if b:`, `b or …`), and a tensor of many "
    "values is neither true nor false. What do you want to know about the bias in that line?"
)
for name, old, new in (
    ("no_bias_is_true", "b_q is None and b_k is None and b_v is None", "not (b_q or b_k or b_v)"),
    ("missing_if_not_true", "if b is None else b", "if not b else b"),
):
    wrong(name, old, new, TRUE_OR_FALSE)
wrong(
    "zeros_as_long_as_the_input",
    "w.new_zeros(len(w))",
    "w.new_zeros(w.shape[1])",
    "Your zeros for a missing bias are not as long as that bias would be. Does a bias have a "
    "number for each row of its weight, or for each column?",
)
GIVEN = "torch.zeros_like(next(x for x in (b_q, b_k, b_v) if x is not None))"
for name, zeros in (
    ("the_queries_bias", "w.new_zeros(len(W_q))"),
    ("the_keys_bias", "w.new_zeros(len(W_k))"),
    ("the_values_bias", "w.new_zeros(len(W_v))"),
    ("a_given_bias", GIVEN),
):
    wrong(
        f"zeros_as_long_as_{name}",
        "w.new_zeros(len(w))",
        zeros,
        "Your zeros for a missing bias are as long as another bias. The three weights may differ "
        "in their number of rows: which of them says how long the missing one would be?",
    )
wrong(
    "missing_bias_skipped",
    "w.new_zeros(len(w)) if b is None else b for w, b in pairs",
    "b for _, b in pairs if b is not None",
    "You leave a missing bias out of the stack, so the next one moves up to its rows. Which length "
    "must the fused bias have?",
)
wrong.several(
    "biases_expected",
    {
        "    if b_q is None and b_k is None and b_v is None:\n        return W, None\n": "",
        "w.new_zeros(len(w)) if b is None else b for w, b": "b for _, b",
    },
    "Your code assumes that there are biases: without any, it stops. What does the task ask for if "
    "all three are None?",
)
wrong(
    "zeros_for_none",
    "    if b_q is None and b_k is None and b_v is None:\n        return W, None\n",
    "",
    "Without biases you return zeros, so a layer without a bias gets one. What does the task ask "
    "for instead?",
)
wrong.several(
    "new_parameters",
    {
        "torch.cat((W_q, W_k, W_v))": "torch.cat((W_q, W_k, W_v)).detach()",
        "torch.cat(biases)": "torch.cat(biases).detach()",
    },
    "No gradient gets back to the three weights: `.detach()`, `.data`, or an `nn.Parameter` or "
    "`nn.Linear` made from them, starts a new graph. Which line is it?",
)
wrong(
    "biases_detached",
    "torch.cat(biases)",
    "torch.cat(biases).detach()",
    "No gradient gets back to the three biases: `.detach()`, `.data`, or a new tensor that you "
    "copy numbers into, starts a new graph. Which line is it?",
)
wrong(
    "fused_in_float32",
    "torch.cat((W_q, W_k, W_v))",
    "torch.cat((W_q, W_k, W_v)).float()",
    "The fused weight has only the precision of float32, even if the weights are float64. Where "
    "does your code fix the dtype?",
)
wrong(
    "zeros_of_another_dtype",
    "w.new_zeros(len(w))",
    "torch.zeros(len(w))",
    "Your zeros for a missing bias have a dtype of their own, which changes that of the whole "
    "bias. Where could they take their dtype from?",
)


@exercise.mistake(
    "The rows take turns: one of the queries, one of the keys, one of the values (or head after "
    "head). Then no single cut gives the queries back. Which rows should be next to each other?",
    of="fuse_qkv",
)
def rows_take_turns(W_q, W_k, W_v, b_q=None, b_k=None, b_v=None):
    def in_turn(*parts):
        longest = max(map(len, parts))
        rows = [part[i] for i in range(longest) for part in parts if i < len(part)]
        return torch.stack(rows)

    _, b = by_cat(W_q, W_k, W_v, b_q, b_k, b_v)
    if b is None:
        return in_turn(W_q, W_k, W_v), None
    return in_turn(W_q, W_k, W_v), in_turn(*b.split([len(W_q), len(W_k), len(W_v)]))


wrong = exercise.edits(by_split, of="project_fused")

wrong(
    "squeezed",
    "return q, k, v",
    "return q.squeeze(), k.squeeze(), v.squeeze()",
    "An axis of length 1 is gone: `squeeze` drops a batch of one, or a single word. Which axis did "
    "you want to drop?",
)
wrong(
    "cut_along_the_words",
    "split(list(sizes), dim=-1)",
    "tensor_split(3, dim=-2)",
    "You cut along the wrong axis: words instead of features. Which axis of the product has "
    "d_q + d_k + d_v entries?",
)
wrong(
    "equal_parts",
    "split(list(sizes), dim=-1)",
    "chunk(3, dim=-1)",
    "You cut into three equal parts (`chunk`). That only works if queries, keys and values are "
    "equally wide. What does `sizes` say?",
)
wrong(
    "every_third",
    "fused.split(list(sizes), dim=-1)",
    "fused[..., ::3], fused[..., 1::3], fused[..., 2::3]",
    "You take every third feature. Which rows of the fused weight belong together?",
)
SIZES_FOR_POSITIONS = (
    "Your cut uses a size where a position belongs: a part begins or ends where another part lies. "
    "At which column of the product do the values begin?"
)
for name, cut in (
    ("values_begin_at_the_keys_size", "fused[..., d_k : d_k + d_v]"),
    ("values_from_the_keys_size_on", "fused[..., d_k:]"),
    ("values_begin_at_the_queries_size", "fused[..., d_q : d_q + d_v]"),
    ("values_begin_at_0", "fused[..., :d_v]"),
):
    wrong.several(
        name,
        {
            "q, k, v = fused.split(list(sizes), dim=-1)": (
                f"d_q, d_k, d_v = sizes\n"
                f"    q, k, v = fused[..., :d_q], fused[..., d_q : d_q + d_k], {cut}"
            )
        },
        SIZES_FOR_POSITIONS,
    )
wrong.several(
    "keys_end_at_their_size",
    {
        "q, k, v = fused.split(list(sizes), dim=-1)": (
            "d_q, d_k, d_v = sizes\n"
            "    q, k, v = fused[..., :d_q], fused[..., d_q:d_k], fused[..., d_k:d_v]"
        )
    },
    SIZES_FOR_POSITIONS,
)
wrong(
    "sizes_as_borders",
    "split(list(sizes), dim=-1)",
    "tensor_split(tuple(sizes[:2]), dim=-1)",
    SIZES_FOR_POSITIONS,
)
NAMES = {"q": "queries", "k": "keys", "v": "values"}
for order in OTHER_ORDERS:
    listed = ", ".join(NAMES[letter] for letter in order)
    wrong(
        f"returned_as_{order}",
        "return q, k, v",
        f"return {', '.join(order)}",
        f"You return the three parts as {listed}. What is the order in the task?",
    )
    wrong.several(
        f"cut_as_{order}",
        {
            "q, k, v = fused.split(list(sizes), dim=-1)": (
                "size = dict(zip('qkv', sizes, strict=True))\n"
                f"    q, k, v = fused.split([size[letter] for letter in '{order}'], dim=-1)"
            )
        },
        "You cut off the sizes in another order than the task gives them, so a part begins or ends "
        "inside another one. To which part does each entry of `sizes` belong?",
    )
    wrong.several(
        f"taken_as_{order}",
        {
            "q, k, v = fused.split(list(sizes), dim=-1)": (
                "size = dict(zip('qkv', sizes, strict=True))\n"
                f"    parts = fused.split([size[letter] for letter in '{order}'], dim=-1)\n"
                f"    {', '.join(order)} = parts"
            )
        },
        "Your parts have the right sizes, but you take them in another order than the stack has "
        "them. Whose rows come first in W, and whose next?",
    )
wrong(
    "bias_not_added",
    "F.linear(x, W, b)",
    "F.linear(x, W)",
    "The bias is not added. Where do you use b?",
)
BIAS_AGAIN = (
    "The bias is added more than once: one of your calls adds it already (as `F.linear` does with "
    "three arguments). How often does a layer add its bias?"
)
for name, more in (("twice", "b"), ("three_times", "2 * b")):
    wrong(
        f"bias_added_{name}",
        "F.linear(x, W, b)",
        f"F.linear(x, W, b) + (0 if b is None else {more})",
        BIAS_AGAIN,
    )
wrong(
    "bias_subtracted",
    "F.linear(x, W, b)",
    "F.linear(x, W) - (0 if b is None else b)",
    "You subtract the bias. What does `nn.Linear` do with it?",
)
wrong(
    "bias_always_added",
    "F.linear(x, W, b)",
    "x @ W.mT + b",
    "Without a bias your code stops: None cannot be added. When is there nothing to add?",
)
wrong(
    "bias_of_zeros_left_out",
    "F.linear(x, W, b)",
    "F.linear(x, W, b if b is not None and b.any() else None)",
    "A bias of zeros, as many layers start with, gets no gradient, because you leave it out. Which "
    "bias is missing: one that is None, or one that is 0?",
)
wrong(
    "untransposed",
    "F.linear(x, W, b)",
    "x @ W + (0 if b is None else b)",
    "You multiply by W untransposed. A weight of `nn.Linear` has one row per output feature: which "
    "product gives those features?",
)
wrong(
    "second_axis",
    "dim=-1",
    "dim=1",
    "You cut along axis 1, which is the last one only if a single text comes without a batch. How "
    "do you name the last axis, whatever comes before it?",
)
wrong(
    "first_axis",
    "list(sizes), dim=-1",
    "list(sizes)",
    "You cut along axis 0, the default of `split`. Which axis of the product has d_q + d_k + d_v "
    "entries?",
)
PROJECTION_DETACHED = (
    "No gradient gets through your projection to W or b: `.detach()`, `.data`, or a new layer or "
    "parameter with their numbers, starts a new graph. Which line is it?"
)
wrong.several(
    "projected_with_copies",
    {"F.linear(x, W, b)": "F.linear(x, W.detach(), None if b is None else b.detach())"},
    PROJECTION_DETACHED,
)
wrong("weight_detached", "F.linear(x, W, b)", "F.linear(x, W.detach(), b)", PROJECTION_DETACHED)
wrong(
    "third_axis",
    "dim=-1",
    "dim=2",
    "Axis 2 is not always the last one: a single text has two axes, and a batch of batches four. "
    "How do you name the last axis?",
)


wrong(
    "added_if_true",
    "F.linear(x, W, b)",
    "F.linear(x, W) + (b if b else 0)",
    TRUE_OR_FALSE,
)
for name, axes, size in (("text", "T, _", "T"), ("batch", "B, T, _", "B, T")):
    wrong(
        f"axes_of_one_{name}",
        "F.linear(x, W, b)",
        f"F.linear(x, W, b)\n    {axes} = x.shape\n    fused = fused.view({size}, -1)",
        "Your code unpacks `x.shape` into a fixed number of names. According to the task, which "
        "axes may x have in front of T and d_model?",
    )

wrong(
    "keys_as_wide_as_queries",
    "fused.split(list(sizes), dim=-1)",
    "(fused[..., a:b] for a, b in ((0, sizes[0]), (sizes[0], 2 * sizes[0]), (2 * sizes[0], None)))",
    "You give the keys as many features as the queries. How many numbers are there in `sizes`?",
)


@exercise.mistake(
    "These are three products again: you cut the weight and multiply by each part separately. "
    "Which can be done first, the product or the cut?",
    of="project_fused",
)
def three_products(x, W, b, sizes):
    weights = W.split(list(sizes))
    biases = [None] * 3 if b is None else b.split(list(sizes))
    return tuple(F.linear(x, w, c) for w, c in zip(weights, biases, strict=True))
