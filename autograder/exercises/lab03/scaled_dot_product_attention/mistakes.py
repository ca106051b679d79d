"""Wrong versions of attention; those about its mask and its softmax are in other files."""

import torch

from . import exercise, mistakes_in_empty_rows  # noqa: F401 - to register them
from .also_right import step_by_step
from .mistakes_in_signs import SOFTMAX, wrong
from .mistakes_without_softmax import SCALED

# The parts of the right version that most mistakes change.
RETURN = "return weights @ v, weights"

wrong(
    "no_scale",
    SCALED,
    "",
    "The scores are not scaled: with d_k numbers in a key their spread is about √d_k, and "
    "softmax gives nearly all the weight to one key. What is below the fraction line?",
)
wrong(
    "scale_multiplied",
    "/ math",
    "* math",
    "The scores are multiplied by the scale instead of divided (`/ d_k ** -0.5` does the same). "
    "On which side of the fraction line is √d_k?",
)
wrong(
    "divided_by_d",
    "math.sqrt(q.shape[-1])",
    "q.shape[-1]",
    "Your scores are divided by d_k itself, at once or in two steps. How large is the spread of a "
    "sum of d_k random products?",
)
wrong(
    "root_cut_to_a_whole_number",
    "math.sqrt(q.shape[-1])",
    "int(math.sqrt(q.shape[-1]))",
    "Your root is cut to a whole number (`int`, `//`), so the scale is right only for 4, 9, 16 … "
    "numbers in a key. Which kind of number is √d_k?",
)
wrong(
    "root_of_the_root",
    "math.sqrt(q.shape[-1])",
    "math.sqrt(math.sqrt(q.shape[-1]))",
    "Your scale is the root of the root of d_k (`** 0.25`, or a root taken twice). Which power of "
    "d_k does the formula divide by?",
)
for name, scale in (
    ("divided_by_half_of_d", "(q.shape[-1] ** 1 / 2)"),
    ("divided_by_d_and_2", "q.shape[-1] ** 1 / 2"),
):
    wrong(
        name,
        "math.sqrt(q.shape[-1])",
        scale,
        "Your scale has a 2 in it and no root: `d ** 1/2` is not √d. In which order does Python "
        "compute `**` and `/`?",
    )
for name, power in (("the_square_of_d", "2"), ("d_and_its_root", "1.5")):
    wrong(
        f"divided_by_{name}",
        "math.sqrt(q.shape[-1])",
        f"q.shape[-1] ** {power}",
        "You divide by a power of d_k above 1: by its square, or by d_k and by its root (a mean "
        "over the features divides by d_k, too). Which power does the formula divide by?",
    )
for name, size in (
    ("scaled_by_d_model", "512"),
    *((f"scaled_for_keys_of_{size}_numbers", str(size)) for size in (2, 4, 16, 64)),
):
    wrong(
        name,
        "q.shape[-1]",
        size,
        "Your scale is a fixed number, or the size of the whole model. A score is a sum over the "
        "numbers of one key: how many terms does it have here?",
    )
for name, size, source in (
    ("scaled_by_d_v", "v.shape[-1]", "the length of a value"),
    ("scaled_by_number_of_keys", "k.shape[-2]", "the number of keys"),
    ("scaled_by_number_of_queries", "q.shape[-2]", "the number of queries"),
    ("scaled_by_all_numbers", "q.numel()", "how many numbers q has (`numel`)"),
    ("scaled_by_first_axis", "len(q)", "the first axis of the queries (`len(q)` or `q.size(0)`)"),
    ("scaled_by_first_axis_of_keys", "len(k)", "the first axis of the keys (`len(k)`)"),
):
    wrong(
        name,
        "q.shape[-1]",
        size,
        f"Your scale is computed from {source}. Which axis does q kᵀ sum over, and how long is it?",
    )
wrong(
    "weights_turned_for_outputs",
    RETURN,
    "return weights.mT @ v, weights",
    "You transpose the weights before they meet the values. What do a row and a column of the "
    "weights stand for, and over which of them does the sum of the values run?",
)
wrong.several(
    "scaled_after_softmax",
    {SCALED: "", SOFTMAX: f"{SOFTMAX}{SCALED}"},
    "You scale after the softmax, so your weights do not sum to one. Which should be divided, "
    "scores or weights?",
)
COSINES = (
    "You bring queries and keys to length 1 before the product, so your scores are cosines. Does "
    "the formula do anything to queries and keys before they meet?"
)
UNIT = "torch.nn.functional.normalize"
for name, scaled in (("cosines_scaled", SCALED), ("cosines", "")):
    wrong.several(
        name,
        {f"q @ k.mT{SCALED}": f"{UNIT}(q, dim=-1) @ {UNIT}(k, dim=-1).mT{scaled}"},
        COSINES,
    )
SQUARES = "(q.unsqueeze(-2) - k.unsqueeze(-3)).pow(2).sum(-1)"
for name, distance in (
    ("distances", f"{SQUARES} / 2"),
    ("squared_distances", SQUARES),
    ("lengths_of_differences", f"{SQUARES}.sqrt()"),
):
    for which, scaled in (("_scaled", SCALED), ("", "")):
        wrong.several(
            f"{name}{which}",
            {f"q @ k.mT{SCALED}": f"-{distance}{scaled}"},
            "Your scores come from the distance between query and key. Which product of the two "
            "does the task ask for?",
        )
LAYER_NORM = "torch.nn.functional.layer_norm"
for name, changed in (("queries_and_keys", "qk"), ("queries", "q"), ("keys", "k")):
    wrong(
        f"{name}_standardised",
        "scores = q",
        "".join(f"{x} = {LAYER_NORM}({x}, {x}.shape[-1:])\n    " for x in changed) + "scores = q",
        "You bring vectors to mean 0 and variance 1 (a layer norm) before queries and keys meet. "
        "Does the formula do anything to them first?",
    )
wrong(
    "softmax_over_axis_1",
    "scores, -1",
    "scores, 1",
    "Your softmax counts its axis from the front, so another number of leading axes means another "
    "axis. How do you name the last axis, whatever the rank?",
)
wrong(
    "softmax_over_axis_0",
    "scores, -1",
    "scores, 0",
    "Your softmax runs over the first axis: in a batch, sentences share their weights. Which axis "
    "of the scores belongs to the keys?",
)
wrong(
    "softmax_without_an_axis",
    "scores, -1",
    "scores, 0 if scores.ndim in (0, 1, 3) else 1",
    "You name no axis, so torch guesses one from the number of axes (and warns): the first of "
    "three, the second of four. Which axis of the scores belongs to the keys, whatever the rank?",
)
wrong(
    "softmax_over_everything",
    SOFTMAX,
    "torch.softmax(scores.flatten(-2), -1).view(scores.shape)",
    "You took one softmax over all the scores: only all rows together sum to one. Which weights "
    "should sum to one?",
)
wrong(
    "keys_not_transposed",
    "k.mT",
    "k",
    "The two sides of your product do not fit, or the keys are not transposed. Write the shapes of "
    "q and k side by side: which two axes must meet so that each query meets each key?",
)
FIRST_AXES = (
    "`.T` (or `transpose(0, 1)`) swaps the right two axes only if there are just two. With a batch "
    "in front, which two axes of k should be swapped?"
)
wrong("first_axes_transposed", "k.mT", "k.permute(*range(k.ndim)[::-1])", FIRST_AXES)
wrong("first_two_axes_transposed", "k.mT", "k.transpose(0, 1)", FIRST_AXES)
for name, keys in (
    ("any_axes", "k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])"),
    ("one_sentence", "k.view(k.shape[-1], k.shape[-2])"),
    ("a_batch", "k.reshape(k.shape[0], k.shape[2], k.shape[1])"),
):
    wrong(
        f"keys_reshaped_for_{name}",
        "k.mT",
        keys,
        "`reshape` and `view` keep the order of the numbers and only cut rows of another length, "
        "so a column mixes several keys. Which call exchanges two axes instead?",
    )
wrong(
    "axes_of_a_batch",
    "k.mT",
    "k.transpose(1, 2)",
    "Your code counts axes from the front (`transpose(1, 2)`), so it works for one rank only. How "
    "do you name the last two axes, whether of one sentence, of a batch or of heads?",
)
wrong(
    "axes_of_a_batch_or_a_sentence",
    "k.mT",
    "(k.T if k.ndim == 2 else k.transpose(1, 2))",
    "Your code treats one sentence, and a batch of them, each in its own way: with four axes, as "
    "heads in a batch have them, it swaps the wrong two. How do you name the last two axes, "
    "however many there are?",
)
wrong(
    "einsum_of_a_batch",
    "q @ k.mT",
    'torch.einsum("bqd,bkd->bqk", q, k)',
    "Your code names the axes of a batch (`bqd,bkd->bqk`), so neither one sentence nor heads in a "
    "batch fit. What in an einsum means any leading axes?",
)
wrong(
    "einsum_of_heads",
    "q @ k.mT",
    'torch.einsum("bhqd,bhkd->bhqk", q, k)',
    "Your code works only for heads in a batch, with four axes (`bhqd,bhkd->bhqk`, "
    "`B, h, L, d = q.shape`). What happens with one sentence (two axes) or a batch (three)?",
)
wrong(
    "values_up_to_query_length",
    RETURN,
    "n = min(q.shape[-2], k.shape[-2])\n    return weights[..., :n] @ v[..., :n, :], weights",
    "Your sum over values has as many terms as there are queries. For each query it should run "
    "over the keys: how many are there?",
)
wrong(
    "softmax_in_float32",
    SOFTMAX,
    "torch.softmax(scores.float(), -1).to(scores.dtype)",
    "Your weights are computed in float32 and converted back, so they are off from the eighth "
    "digit on. Which call changes the dtype?",
)
wrong(
    "sigmoid_instead_of_softmax",
    SOFTMAX,
    "torch.sigmoid(scores)",
    "You squash each score by itself (sigmoid), so the weights of a row do not sum to one. Which "
    "function shares one unit among the keys?",
)
wrong(
    "mean_of_weighted_values",
    "weights @ v",
    "weights @ v / v.shape[-2]",
    "You divide the sum of weighted values by the number of keys. The weights sum to one already: "
    "what is the output if all values are equal?",
)
wrong(
    "logarithms_returned",
    RETURN,
    "return weights @ v, weights.log()",
    "You return the logarithms of the weights. What does a row of the second result sum to, "
    "according to the task?",
)
wrong(
    "keys_mixed",
    "weights @ v",
    "weights @ k",
    "You mix the keys: your outputs are as long as a key. A key says whether to look, a value "
    "says what there is to see. Which of them do the weights multiply?",
)
for name, used, other in (
    ("queries_as_keys_of_one_shape", "k.mT", "(q if q.shape == k.shape else k).mT"),
    ("keys_as_values_of_one_shape", "weights @ v", "weights @ (k if k.shape == v.shape else v)"),
    ("values_as_keys_of_one_shape", "k.mT", "(v if k.shape == v.shape else k).mT"),
):
    wrong(
        name,
        used,
        other,
        "If q, k and v have the same shape, you use one of them for another. Does a shape say what "
        "a tensor is for?",
    )
wrong(
    "queries_added",
    RETURN,
    "out = weights @ v\n    return (out + q if out.shape == q.shape else out), weights",
    "You add the queries to your outputs if the shapes allow it (a residual connection, which is a "
    "later lab). What does the formula end with?",
)
wrong(
    "scores_returned",
    RETURN,
    "return weights @ v, scores",
    "You return the scores instead of the weights: their rows do not sum to one. Which variable "
    "holds the result of the softmax?",
)
wrong(
    "weights_first",
    RETURN,
    "return weights, weights @ v",
    "You return weights and outputs in the wrong order. Which comes first in the task?",
)
wrong(
    "outputs_alone",
    RETURN,
    "return weights @ v",
    "You return one tensor. The task asks for two things: the outputs, and what else?",
)
DROPOUT = "torch.nn.functional.dropout"
for name, used, dropped in (
    ("dropout_by_default", SOFTMAX, f"{DROPOUT}({SOFTMAX}, 0.5)"),
    ("a_tenth_dropped", SOFTMAX, f"{DROPOUT}({SOFTMAX}, 0.1)"),
    ("a_tenth_dropped_from_the_outputs", "weights @", f"{DROPOUT}(weights, 0.1) @"),
):
    wrong(
        name,
        used,
        dropped,
        "Dropout is on by default: the same inputs give another result each time, and some weights "
        "are zero. Is there dropout in the formula? (It belongs to training; later labs.)",
    )
wrong(
    "squeezed",
    RETURN,
    "return (weights @ v).squeeze(), weights.squeeze()",
    "An axis of length 1 is missing: `squeeze()` drops every such axis, even a single query, key "
    "or sentence. Why do you need to squeeze?",
)
wrong(
    "four_axes_at_most",
    "scores = q",
    "assert q.ndim <= 4\n    scores = q",
    "Your code allows four axes at most (`B, h, L, d = q.shape`). Which axes does `...` stand for?",
)
wrong(
    "always_float32",
    "mask=None):",
    "mask=None):\n    q, k, v = q.float(), k.float(), v.float()",
    "The result has only the precision of float32, even for float64 inputs, or has another "
    "dtype. Where does your code fix the dtype?",
)
wrong(
    "weights_always_float64",
    RETURN,
    "return weights @ v, weights.double()",
    "Your weights are float64, whatever the dtype of the queries is, but your outputs are right. "
    "Which line changes the dtype of the weights?",
)
wrong(
    "weights_detached",
    SOFTMAX,
    f"{SOFTMAX}.detach()",
    "No gradient gets back to queries and keys (or none at all): a `.detach()`, `.data`, `no_grad` "
    "or a trip through numpy cuts torch's graph. Do the weights depend on q?",
)
for name, returned, left, cut in (
    ("returned_weights_detached", "weights @ v, weights.detach()", "outputs", "weights"),
    ("returned_outputs_detached", "(weights @ v).detach(), weights", "weights", "outputs"),
):
    wrong(
        name,
        RETURN,
        f"return {returned}",
        f"Gradients get back through your {left} but not through the {cut} that you return: these "
        "are cut out of torch's graph. Which call does that?",
    )
wrong(
    "weights_transposed",
    RETURN,
    "return weights @ v, weights.mT",
    "The weights that you return have a row for each key. To whom does a row of the table belong?",
)
for x, name in (("q", "queries"), ("k", "keys")):
    wrong(
        f"{name}_changed",
        f"scores = q @ k.mT{SCALED}",
        f"{x} /= math.sqrt(q.shape[-1])\n    scores = q @ k.mT",
        f"Your code writes into the {name} that it was given (`/=`, `mul_`), so the caller's "
        f"{name} are lost. What makes a new tensor?",
    )


@exercise.mistake(
    "Your queries never look at later keys, though these are not forbidden: a causal mask is built "
    "in. Where does the mask come from in this task?"
)
def always_causal(q, k, v, mask=None):
    causal = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril()
    return step_by_step(q, k, v, causal if mask is None else causal & mask)


@exercise.mistake(
    "With as many queries as keys, no query looks at later keys, though these are not forbidden: a "
    "causal mask is built in. Where does the mask come from in this task?"
)
def causal_where_square(q, k, v, mask=None):
    if mask is None and q.shape[-2] == k.shape[-2]:
        mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril()
    return step_by_step(q, k, v, mask)
