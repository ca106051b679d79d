"""Wrong versions of attention: what students write about its mask."""

import torch

from . import exercise
from .also_right import step_by_step

wrong = exercise.edits(step_by_step)

# The parts of the right version that these mistakes change.
FILLED = "scores.masked_fill(~mask, torch.finfo(scores.dtype).min)"
FILL = f"scores = {FILLED}"
SOFTMAX = "torch.softmax(scores, -1)"
EMPTIED = "weights.masked_fill(~mask, 0)"
RETURN = "return weights @ v, weights"

wrong(
    "mask_after_softmax",
    FILLED,
    "scores",
    "In your softmax, forbidden keys have their share, so the other weights sum to less than one "
    "afterwards. Does your mask change the scores before it? (`masked_fill` returns a new tensor.)",
)
wrong.several(
    "mask_added_after_softmax",
    {FILLED: "scores", EMPTIED: "weights + mask"},
    "You add the mask to the weights, so an allowed key gets 1 on top of its share, and a row no "
    "longer sums to one. Before which step can a key be left out?",
)
wrong.several(
    "allowed_filled_with_infinity",
    {FILLED: "scores.masked_fill(mask, -math.inf)", EMPTIED: "weights"},
    "You fill with -inf where the mask is True, but True means: may attend. Only the forbidden "
    "keys are left. Which operator inverts a boolean mask?",
)
wrong.several(
    "mask_inverted",
    {"(~mask, torch": "(mask, torch", "(~mask, 0)": "(mask, 0)"},
    "Your mask is inverted: queries attend only to the forbidden keys. What does True mean in the "
    "task, and which entries does `masked_fill` fill?",
)
wrong.several(
    "fill_with_0",
    {FILLED: "scores.masked_fill(~mask, 0)", EMPTIED: "weights"},
    "A forbidden score becomes 0 (`scores * mask` does that, too). exp(0) is 1: a score of 0 is an "
    "ordinary score, higher than every negative one. Which score has no share at all?",
)
for name, fill in (("billion", "-1e9"), ("trillion", "-1e12"), ("huge_number", "-1e30")):
    wrong(
        f"filled_with_minus_a_{name}_and_emptied",
        FILLED,
        f"scores.masked_fill(~mask, {fill})",
        "The number that you write at forbidden keys does not fit into float16, whose numbers end "
        "at 65,504, so torch refuses it. Which number is the lowest of a dtype, and what can you "
        "ask for it?",
    )
FILLED_WITH_0_AND_EMPTIED = (
    "A forbidden score becomes 0, and you remove its weight afterwards. exp(0) is 1: it has taken "
    "its share, so the other weights sum to less than one. Which score has no share at all?"
)
wrong("fill_with_0_and_emptied", FILLED, "scores.masked_fill(~mask, 0)", FILLED_WITH_0_AND_EMPTIED)
wrong("multiplied_by_the_mask_and_emptied", FILLED, "scores * mask", FILLED_WITH_0_AND_EMPTIED)
for name, number in (
    ("minus_infinity", "-math.inf"),
    ("minus_a_billion", "-1e9"),
    ("lowest", "torch.finfo(scores.dtype).min"),
):
    wrong(
        f"mask_inverted_{name}_and_emptied",
        FILLED,
        f"scores.masked_fill(mask, {number})",
        "You fill where the mask is True, and afterwards where it is False, so no key keeps its "
        "weight. What does True mean in the task?",
    )
for name, number in (
    ("mask_inverted_minus_a_billion", "-1e9"),
    ("mask_inverted_lowest", "torch.finfo(scores.dtype).min"),
):
    wrong.several(
        name,
        {FILLED: f"scores.masked_fill(mask, {number})", EMPTIED: "weights"},
        "Your mask is inverted: you fill where it is True, so queries attend only to the forbidden "
        "keys. What does True mean in the task, and which entries does `masked_fill` fill?",
    )
ROWS_WITHOUT_KEYS_EMPTIED = "weights * mask.any(-1, keepdim=True)"
wrong.several(
    "fill_with_minus_10",
    {FILLED: "scores.masked_fill(~mask, -10)", EMPTIED: ROWS_WITHOUT_KEYS_EMPTIED},
    "A forbidden score becomes a low number, but not low enough: it keeps some weight. How low "
    "must a score be to be lower than all others, whatever they are?",
)
for name, number, emptied in (
    ("fill_with_minus_10000", "-1e4", ROWS_WITHOUT_KEYS_EMPTIED),
    ("fill_with_minus_a_million", "-1e6", ROWS_WITHOUT_KEYS_EMPTIED),
    ("fill_with_minus_10000_and_emptied", "-1e4", EMPTIED),
    ("fill_with_minus_a_million_and_emptied", "-1e6", EMPTIED),
):
    wrong.several(
        name,
        {FILLED: f"scores.masked_fill(~mask, {number})", EMPTIED: emptied},
        "A forbidden score becomes a low number, which looks right until the allowed scores are "
        "even lower. Which number is below every other of the dtype?",
    )
wrong.several(
    "mask_added",
    {FILLED: "scores + mask", EMPTIED: "weights"},
    "You add the mask to the scores as it is: True counts as 1, False as 0. Masks of 0 and -inf "
    "are added, but this one is boolean: what must be done with it?",
)
wrong.several(
    "minus_a_billion_added",
    {FILLED: "scores + (~mask) * -1e9", EMPTIED: "weights"},
    "You add a very low number to forbidden scores. In a row with allowed keys that is enough; a "
    "row without any keeps weights. Which weights do you know to be 0, whatever softmax returns?",
)
wrong.several(
    "large_number_subtracted",
    {FILLED: "scores - 1e5 * ~mask", EMPTIED: "weights"},
    "You subtract a large number from forbidden scores. A score far above the others keeps its "
    "lead; a row without allowed keys keeps its weights. What replaces a score, however high?",
)
for name, number in (
    ("low_number_added_and_emptied", "-1e9"),
    ("minus_a_million_added_and_emptied", "-1e6"),
    ("minus_10000_added_and_emptied", "-1e4"),
):
    wrong(
        name,
        FILLED,
        f"scores + (~mask) * {number}",
        "You add a low number to forbidden scores, so a forbidden score far above the others is "
        "still large, and takes a share before its weight is set to 0. What replaces a score, "
        "however high?",
    )
wrong(
    "mean_of_filled_scores_subtracted",
    FILL,
    f"{FILL}\n        scores = scores - scores.mean(-1, keepdim=True)",
    "You subtract the mean of a row after you have filled it, so the fill is a part of that mean. "
    "What is left of the other scores?",
)
wrong(
    "lowest_number_added_and_emptied",
    FILLED,
    "scores + (~mask).to(scores) * torch.finfo(scores.dtype).min",
    "You add the lowest number of the dtype to forbidden scores. In float16 that is -65,504, and a "
    "score of 60,000 is still above one of -20,000 then. What replaces a score, however high?",
)
wrong(
    "weights_written_into",
    f"weights = {EMPTIED}",
    "weights.masked_fill_(~mask, 0)",
    "You write into the weights that softmax returned, and torch needs them as they were on the "
    "way back. What makes new weights instead?",
)
wrong(
    "log_of_the_mask_added",
    FILLED,
    "scores + mask.log()",
    "You add the logarithm of the mask, 0 or -inf, in float32. In float16 two dtypes meet, and a "
    "row without keys is NaN before you empty it, so its gradients are NaN, too. What replaces a "
    "score instead?",
)
wrong(
    "emptied_and_divided_by_a_bit_more",
    EMPTIED,
    f"{EMPTIED}\n        weights = weights / (weights.sum(-1, keepdim=True) + 1e-9)",
    "You divide the weights by their sum and a small number, so they sum to a little less than "
    "one. Are there weights that do not sum to one before this line?",
)
INFINITY_TIMES_0 = "scores + (~mask).double() * -torch.inf"
for name, emptied in (("", "weights"), ("_and_emptied", EMPTIED)):
    wrong.several(
        f"infinity_times_0{name}",
        {FILLED: INFINITY_TIMES_0, EMPTIED: emptied},
        "Infinity times 0 is NaN (-inf, too), so every allowed key makes its whole row NaN. Which "
        "function picks between two values instead of multiplying?",
    )
for name, changes in (
    ("weights", {SOFTMAX: f"torch.nan_to_num({SOFTMAX})"}),
    ("results", {RETURN: "return torch.nan_to_num(weights @ v), torch.nan_to_num(weights)"}),
):
    wrong.several(
        f"infinity_times_0_and_{name}_repaired",
        {FILLED: INFINITY_TIMES_0, EMPTIED: "weights", **changes},
        "Infinity times 0 is NaN (-inf, too), so every allowed key makes its whole row NaN, and "
        "you make zeros of it (`nan_to_num`). Which function picks between two values instead of "
        "multiplying?",
    )
FILLED_WITH_INFINITY = "scores.masked_fill(~mask, -torch.inf)"
ADDED_INFINITY = "scores + torch.zeros(mask.shape).to(q).masked_fill(~mask, -torch.inf)"
for name, filled in (("", FILLED_WITH_INFINITY), ("_after_a_sum", ADDED_INFINITY)):
    wrong.several(
        f"nan_without_keys{name}",
        {FILLED: filled, EMPTIED: "weights"},
        "A row without allowed keys ends in 0/0, which is NaN (a softmax of nothing but -inf, or a "
        "division by a sum of 0). What should a query get that may attend to no key?",
    )
    wrong.several(
        f"nan_outputs_repaired_alone{name}",
        {
            FILLED: filled,
            EMPTIED: "weights",
            RETURN: "return torch.nan_to_num(weights @ v), weights",
        },
        "You replace the NaN in the outputs of a query without allowed keys, but the weights that "
        "you return are still NaN, and gradients are, too. Can the NaN be avoided before the "
        "softmax?",
    )
wrong(
    "uniform_without_keys",
    EMPTIED,
    "weights",
    "A query that may attend to no key attends to all of them equally: if all scores are equally "
    "low, softmax gives equal weights. What should such a query get?",
)
wrong(
    "outputs_mended_alone",
    f"weights = {EMPTIED}",
    "return weights @ v * mask.any(-1, keepdim=True), weights",
    "A query without allowed keys gets zero outputs but non-zero weights. In which order do you "
    "fix the weights and use them?",
)
wrong(
    "weights_mended_alone",
    f"weights = {EMPTIED}",
    f"return weights @ v, {EMPTIED}",
    "A query without allowed keys gets zero weights, but its output is a mean of values. In which "
    "order do you use the weights and fix them?",
)
for name, filled in (("", FILLED_WITH_INFINITY), ("_after_a_sum", ADDED_INFINITY)):
    wrong.several(
        f"nan_results_repaired{name}",
        {
            FILLED: filled,
            EMPTIED: "weights",
            RETURN: "return torch.nan_to_num(weights @ v), torch.nan_to_num(weights)",
        },
        "The product with the values has used NaN weights before you replace the NaN in the "
        "results. On the way back, 0 times NaN is NaN, and it reaches every value. Can the NaN be "
        "avoided before the softmax?",
    )
wrong.several(
    "nan_gradients",
    {
        FILLED: ADDED_INFINITY,
        SOFTMAX: f"torch.nan_to_num({SOFTMAX})",
        EMPTIED: "weights",
    },
    "The weights of a query without keys are NaN at first. You replace them (`nan_to_num`, "
    "`masked_fill`), but not their gradient: on the way back 0 times NaN is NaN, and it reaches "
    "all the keys. Can the NaN be avoided before the softmax?",
)
for name, part in (
    ("first_row_of_the_mask", "mask[..., :1, :] if mask.ndim > 1 else mask"),
    ("first_sentence_of_the_mask", "mask[:1] if mask.ndim > 2 else mask"),
):
    wrong(
        name,
        FILL,
        f"mask = {part}\n        {FILL}",
        "You use a part of the mask for everything: its first row, or the mask of the first "
        "sentence. Which axis of it did you index?",
    )
wrong(
    "mask_of_one_axis_for_queries",
    FILL,
    f"mask = mask[:, None] if mask.ndim == 1 else mask\n        {FILL}",
    "You turn a mask of one axis into a column, so it forbids queries, not keys. With which axis "
    "of the scores does a mask of shape (Lk,) line up by itself?",
)
AXIS_PUT_IN = (
    "Your code puts an axis into the mask (`unsqueeze`, `view`, `[:, None]`), so a mask that fits "
    "the scores no longer does. Which shapes of mask broadcast to them by themselves?"
)
for name, when in (
    ("mask_unsqueezed", "True"),
    ("mask_of_three_axes_unsqueezed", "mask.ndim == 3"),
    ("mask_unsqueezed_for_heads", "mask.ndim == 3 and q.ndim == 4"),
):
    wrong(
        name,
        FILL,
        f"mask = mask.unsqueeze(1) if {when} else mask\n        {FILL}",
        AXIS_PUT_IN,
    )
for name, axes, placed in (("heads", 4, "[:, None, None, :]"), ("a_batch", 3, "[:, None, :]")):
    wrong(
        f"two_axes_taken_for_padding_of_{name}",
        FILL,
        f"mask = mask{placed} if (mask.ndim, q.ndim) == (2, {axes}) else mask\n        {FILL}",
        AXIS_PUT_IN,
    )
PADDING = "(mask.shape[0], *[1] * (scores.ndim - 2), mask.shape[1])"
wrong(
    "two_axes_taken_for_padding",
    FILL,
    f"mask = mask.view{PADDING} if mask.ndim == 2 < scores.ndim else mask\n        {FILL}",
    "You take the first axis of a mask with two axes for the sentences of a batch. In the "
    "docstring, what do the two axes of such a mask stand for?",
)
wrong.several(
    "mask_ignored",
    {FILLED: "scores", EMPTIED: "weights"},
    "The mask is not used: forbidden keys have weights like all others. Which step should use it? "
    "(`masked_fill` returns a new tensor and leaves `scores` as it was.)",
)
for name, rows, axis in (
    ("one_query_at_a_time", "mask[..., i, :] for i in range(q.shape[-2])", -2),
    ("one_key_at_a_time", "mask[..., i] for i in range(k.shape[-2])", -1),
):
    wrong(
        f"mask_read_{name}",
        FILL,
        f"mask = torch.stack([{rows}], {axis})\n        {FILL}",
        "You read the mask by index, query by query or key by key, as if it had all axes of the "
        "scores at full length. A mask may have fewer axes, or axes of length 1: what gives it the "
        "shape of the scores?",
    )
wrong(
    "mask_as_index",
    FILL,
    "scores[~mask] = torch.finfo(scores.dtype).min",
    "You write into the scores by index (`scores[~mask] = …`). An index does not broadcast: the "
    "mask would need every axis of the scores, at full length. Which call lets it have fewer?",
)
wrong(
    "square_mask_transposed",
    FILL,
    "if mask.ndim > 1 and mask.shape[-1] == mask.shape[-2]:\n"
    f"            mask = mask.mT\n        {FILL}",
    "You transpose a mask that has as many rows as columns: words look ahead instead of back. "
    "Rows are queries and columns are keys: which call of yours swaps them?",
)
wrong.several(
    "mask_changed",
    {"(~mask, torch": "(mask.logical_not_(), torch", "(~mask, 0)": "(mask, 0)"},
    "Your code writes into the mask that it was given (`logical_not_`, `~` with `out=`): the next "
    "call gets it inverted. What makes a new tensor?",
)
wrong(
    "values_emptied_in_place",
    FILL,
    f"with torch.no_grad():\n            v[~mask.expand(scores.shape).any(-2)] = 0\n        {FILL}",
    "Your code writes zeros into the values that it was given, where no query may attend to them: "
    "the caller's values are lost. What makes a new tensor?",
)
for name, opened in (
    ("empty_rows_opened", "mask |= empty"),
    ("first_key_of_empty_rows_opened", "mask[..., :1] |= empty"),
):
    wrong.several(
        name,
        {
            FILL: f"empty = ~mask.any(-1, keepdim=True)\n        {opened}\n        {FILL}",
            EMPTIED: "weights.masked_fill(~mask | empty, 0)",
        },
        "For a query without allowed keys you write True into the mask that you were given, so the "
        "caller's mask allows what it forbade. Where else can such a row be repaired?",
    )
wrong(
    "first_key_always_opened",
    FILL,
    f"mask[..., 0] = True\n        {FILL}",
    "You allow the first key to every query, and you do so in the mask that you were given "
    "(`mask[..., 0] = True`). What should its weight be where the mask forbids it?",
)


@exercise.mistake(
    "If no query has an allowed key, you return zeros that have nothing to do with the inputs, so "
    "`backward()` finds no way back. What does the docstring promise about gradients there?"
)
def zeros_without_a_graph(q, k, v, mask=None):
    if k.shape[-2] == 0 or (mask is not None and not mask.any()):
        outputs = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=q.dtype)
        return outputs, torch.zeros(*q.shape[:-1], k.shape[-2], dtype=q.dtype)
    return step_by_step(q, k, v, mask)
