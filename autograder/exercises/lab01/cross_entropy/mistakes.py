"""Wrong versions of cross_entropy, each a change of ``step_by_step``."""

from __future__ import annotations

from . import exercise, mistakes_without_rows  # noqa: F401 - to register them
from .also_right import step_by_step
from .mistakes_of_kind import CUT_OFF

wrong = exercise.edits(step_by_step)

COUNTS = "torch.ones_like(target).bool() if ignore_index is None else target != ignore_index"
CLAMPED = "target.clamp(min=0)"
TURNED_ROUND = (
    "Your mask is turned round: the rows to ignore count, and the others do not. Is your condition "
    "true or false for a row of padding?"
)
COMPARED_WITH_NONE = (
    "Without `ignore_index` your code compares the targets with None. That gives one True, not one "
    "for each row, and the code stops. What should the mask be if no id is ignored?"
)
FLOAT_MASK = (
    "For logits of float16 your loss is float32. Does something else in your arithmetic, such as a "
    "mask or a number of rows, have the dtype float32?"
)

wrong(
    "double_softmax",
    "    shifted = logits",
    "    logits = (logits - logits.logsumexp(-1, keepdim=True)).exp()\n    shifted = logits",
    "You apply softmax twice: once to the logits, and again inside the logarithm. What does "
    "log_softmax expect, scores or probabilities?",
)
wrong(
    "probability_for_its_logarithm",
    "shifted - shifted.exp().sum(-1, keepdim=True).log()",
    "shifted.exp() / shifted.exp().sum(-1, keepdim=True)",
    "Your loss is minus the probability of the right answer: it is never above 0. Which function "
    "turns a probability into a surprise?",
)
wrong(
    "divided_by_the_vocabulary",
    "total / counts.sum().clamp(min=1)",
    "total / counts.sum().clamp(min=1) / logits.shape[-1]",
    "Your mean is also divided by the number of words, as if every logit had a loss of its own. "
    "How many losses does one row have?",
)
wrong(
    "sum_by_default",
    'reduction="mean"',
    'reduction="sum"',
    "Without the argument `reduction`, your loss is not the mean. Which default does the task's "
    "first line give?",
)
wrong(
    "sum_for_mean",
    "total / counts.sum().clamp(min=1)",
    "total",
    'Your "mean" is a sum: it grows with the number of rows. What should it be divided by?',
)
wrong(
    "reduction_ignored",
    '    if reduction == "none":',
    '    reduction = "mean"\n    if reduction == "none":',
    'The argument `reduction` changes nothing: you always return the mean. What should "sum" and '
    '"none" give?',
)
wrong(
    "mean_over_padding_too",
    "counts.sum().clamp(min=1)",
    "len(target)",
    "Ignored rows add nothing to your sum, but they still count in the number that you divide by, "
    "so padding makes the loss look better. How many rows count?",
)
wrong(
    "rows_counted_by_their_loss",
    "counts.sum()",
    "(losses != 0).sum()",
    "You divide by the number of losses that are not 0. The loss of a row is also 0 if the model "
    "is sure and right: which rows count according to the task?",
)
wrong(
    "targets_above_zero_counted",
    "counts.sum()",
    "(target != 0).sum()",
    "You divide by the number of targets that are not 0, whatever `ignore_index` is. When does a "
    "row with the target 0 count?",
)
wrong(
    "mean_for_sum",
    "return total\n",
    "return total / counts.sum().clamp(min=1)\n",
    'Your "sum" is divided by the number of rows. Which word of `reduction` asks for that?',
)
wrong(
    "perplexity_for_mean",
    "total / counts.sum().clamp(min=1)",
    "(total / counts.sum().clamp(min=1)).exp()",
    'Your "mean" is the exponential of a mean loss (a perplexity). What does the task ask for, in '
    "which unit?",
)
wrong(
    "mean_of_means",
    "    return total / counts.sum().clamp(min=1)",
    "    halves = zip(losses.tensor_split(2), counts.tensor_split(2))\n"
    "    means = [part.sum() / n.sum().clamp(min=1) for part, n in halves if len(part)]\n"
    "    return torch.stack(means).mean()",
    "You take the mean of several means: rows in a half with more padding weigh more than the "
    "others. Which one number do all rows that count have to be divided by?",
)
wrong.several(
    "ignore_index_ignored",
    {
        " if ignore_index is None else target != ignore_index": "",
        "target * counts": "target % logits.shape[-1]",
    },
    "`ignore_index` changes nothing in your loss. Which rows should it remove from the sum and "
    "from the number that you divide by?",
)
wrong.several(
    "mask_turned_round",
    {"else target != ignore_index": "else target == ignore_index", "target * counts": CLAMPED},
    TURNED_ROUND,
)
wrong(
    "mask_turned_round_for_the_losses",
    "torch.where(counts, losses, 0.0)",
    "losses if ignore_index is None else torch.where(counts, 0.0, losses)",
    TURNED_ROUND,
)
wrong.several(
    "compared_with_none",
    {COUNTS: "target != ignore_index", "target * counts": "torch.where(counts, target, 0)"},
    COMPARED_WITH_NONE,
)
wrong.several(
    "multiplied_without_a_mask",
    {COUNTS: "target != ignore_index", "torch.where(counts, losses, 0.0)": "losses * counts"},
    COMPARED_WITH_NONE,
)
wrong(
    "counted_without_a_mask",
    "    column = target * counts",
    "    counts = target != ignore_index\n    column = target * counts",
    COMPARED_WITH_NONE,
)
for name, condition in (("negative_targets", ">= 0"), ("minus_100", "!= -100")):
    wrong.several(
        f"{name}_ignored",
        {COUNTS: f"target {condition}", "target * counts": CLAMPED},
        "You leave out rows by a number in your code, whatever `ignore_index` is. Which rows "
        "should ignore_index=0 leave out?",
    )
wrong(
    "ignored_rows_not_set_to_zero",
    "torch.where(counts, losses, 0.0)",
    "losses",
    "An ignored row still has a loss in your version: that of the column which you look up in its "
    "place. What should such a row add to the sum?",
)
for name, total, words in (
    ("none", "losses.where(counts, 0.0)", 'With "none", an'),
    ("none_and_sum", "losses", 'With "sum" and "none", an'),
):
    mean = "(losses.where(counts, 0.0)).sum() / counts.sum().clamp(min=1)"
    wrong.several(
        f"ignored_rows_not_set_to_zero_for_{name}",
        {
            "    losses = torch.where(counts, losses, 0.0)\n": "",
            "losses.sum()": f"({total}).sum()",
            "total / counts.sum().clamp(min=1)": mean,
        },
        f"{words} ignored row still has a loss in your version: that of the column which you look "
        "up in its place. Which number belongs there, according to the task?",
    )
wrong(
    "ignored_word_taken_out_of_softmax",
    "    shifted = logits",
    "    if ignore_index is not None and 0 <= ignore_index < logits.shape[-1]:\n"
    "        hidden = torch.arange(logits.shape[-1]) == ignore_index\n"
    "        logits = logits.masked_fill(hidden, -torch.inf)\n"
    "    shifted = logits",
    "You take the ignored word out of every row's softmax, so the other words share its "
    "probability. Which rows does the task tell you to leave out, and does it mention columns?",
)
wrong("mask_in_float32", "torch.where(counts, losses, 0.0)", "losses * counts.float()", FLOAT_MASK)
wrong("number_in_float32", "counts.sum()", "counts.float().sum()", FLOAT_MASK)
wrong.several(
    "mask_and_number_in_float32",
    {
        "torch.where(counts, losses, 0.0)": "losses * counts.float()",
        "counts.sum()": "counts.float().sum()",
    },
    FLOAT_MASK,
)
wrong(
    "computed_in_float32",
    "    shifted = logits",
    "    logits = logits.float()\n    shifted = logits",
    "Your loss is computed in float32, whatever the dtype of the logits is. Which of your calls "
    "changes the dtype?",
)
for epsilon in ("1e-8", "1e-9", "1e-12"):
    for name, limited in (("clamped", f"clamp(min={epsilon})"), ("added", f"add({epsilon})")):
        wrong(
            f"probability_{name}_{epsilon[3:]}",
            ", column]",
            f", column].exp().{limited}.log()",
            "Your loss stops growing at about 20 or 30: a clamp or a small number inside the "
            "logarithm hides how wrong a confident mistake is. Which function takes logits and "
            "needs neither?",
        )
for name, reduced in (("summed", "sum"), ("averaged", "mean")):
    wrong(
        f"all_columns_{name}",
        "log_p[torch.arange(len(target)), column]",
        f"log_p.{reduced}(-1)",
        "You add up or average the log-probabilities of all columns, and the target changes "
        "nothing. How many columns of a row does the formula look at?",
    )
wrong(
    "logit_for_its_log_probability",
    "-log_p[",
    "-logits[",
    "Your loss is minus the logit of the right word, whatever the other logits are. What does the "
    "task take the logarithm of?",
)
wrong(
    "labels_smoothed",
    "-log_p[torch.arange(len(target)), column]",
    "-0.9 * log_p[torch.arange(len(target)), column] - 0.1 * log_p.mean(-1)",
    "Your loss counts the wrong columns a little, too (label smoothing, which a later lab is "
    "about). How many columns of a row does the formula of this step look at?",
)
wrong(
    "no_max_subtraction",
    "logits - logits.amax(-1, keepdim=True)",
    "logits",
    "exp of a large logit overflows to infinity, and a row of very low ones underflows to log 0. "
    "Which step of yours already goes from scores to log-probabilities safely?",
)
wrong(
    "log_of_softmax",
    ", column]",
    ", column].exp().log()",
    "The logarithm of a probability that has become 0 is -inf, so the loss is infinite. Which "
    "function goes from logits to log-probabilities without computing the probabilities?",
)
wrong.several(
    "large_numbers_subtracted",
    {
        "    log_p = shifted - shifted": "    log_p = logits - logits",
        ".exp().sum(-1, keepdim=True).log()": ".logsumexp(-1, keepdim=True)",
    },
    "Your loss is the difference of a logsumexp and a logit. If both are around 20,000, float32 "
    "rounds them to two digits after the point, and the difference is as rough. What can you "
    "subtract from a whole row of logits first?",
)
wrong(
    "squeezed",
    "torch.where(counts, losses, 0.0)",
    "torch.where(counts, losses, 0.0).squeeze()",
    "For a batch of one token, `squeeze()` without an axis also drops the axis of the tokens. "
    "Which axis of length 1 do you mean?",
)
wrong(
    "in_bits",
    ", column]",
    ", column] / torch.tensor(2.0).double().log()",
    "Your loss is in bits (log base 2), too large by a factor of 1.44. What do equal logits for V "
    "words cost in your unit, compared with the task's?",
)
wrong(
    "gather_along_rows",
    "log_p[torch.arange(len(target)), column]",
    "log_p.gather(0, column[:, None])[:, 0]",
    "Your targets pick rows, not columns; with 17 rows and 7 columns this raises no error. Which "
    "axis of the log-probabilities do the target's numbers refer to?",
)
wrong.several(
    "normalised_over_rows",
    {"amax(-1": "amax(0", "sum(-1": "sum(0"},
    "You normalise the probabilities down the batch, not along the words, so rows depend on each "
    "other. Which axis has one entry for each word of the vocabulary?",
)
wrong(
    "looked_up_before_masking",
    "target * counts",
    "target",
    "In rows to ignore you look up their target. -100 is not a column: it raises an error for "
    "small V, and counts from the end without an error for large V. Which column could you look up "
    "in these rows instead?",
)
wrong(
    "gathered_before_masking",
    "log_p[torch.arange(len(target)), column]",
    "log_p.gather(1, target[:, None])[:, 0]",
    "In rows to ignore you look up their target, and -100 is not a column. Which rows does your "
    "code take for rows to ignore, and which column could it look up there instead?",
)
REPAIRED_BELOW_ZERO = (
    "You look up a column that exists only for ignored targets below 0. Which other numbers may "
    "`ignore_index` be, according to the task?"
)
wrong("only_negative_columns_replaced", "target * counts", CLAMPED, REPAIRED_BELOW_ZERO)
wrong.several(
    "only_negative_columns_replaced_for_gather",
    {
        "target * counts": CLAMPED,
        "log_p[torch.arange(len(target)), column]": "log_p.gather(1, column[:, None])[:, 0]",
    },
    REPAIRED_BELOW_ZERO,
)
wrong(
    "gather_keeps_the_axis",
    "log_p[torch.arange(len(target)), column]",
    "log_p.gather(1, column[:, None])",
    "`gather` keeps the axis that it picks from: your losses have the shape (N, 1), and with a "
    "mask (N,) they become a table (N, N). Which shape should the losses have?",
)
for name, mean in (("every_target_in_every_row", ""), ("its_mean_in_every_row", ".mean(-1)")):
    wrong(
        name,
        "log_p[torch.arange(len(target)), column]",
        f"log_p[:, column]{mean}",
        "In each row you look up the targets of all rows (`[:, target]`): that is a table (N, N), "
        "or its mean. Which single column belongs to row t?",
    )
wrong.several(
    "ignored_logits_set_to_zero",
    {
        "    shifted = logits": "    logits = logits * counts[:, None]\n    shifted = logits",
        "torch.where(counts, losses, 0.0)": "losses",
    },
    "You set the logits of ignored rows to 0, but equal logits are not free: they cost log V. "
    "Where should a row that does not count disappear?",
)
wrong(
    "one_hot_of_seen_targets",
    "log_p[torch.arange(len(target)), column]",
    "(torch.nn.functional.one_hot(column) * log_p).sum(-1)",
    "Your one-hot rows are as long as the largest target requires, not as long as a row of logits. "
    "Where else can you read the number of columns V?",
)
wrong(
    "sign_turned",
    "-log_p[",
    "log_p[",
    "Your loss has the wrong sign: the logarithm of a probability is never above 0. Can a surprise "
    "be below 0?",
)
wrong(
    "none_drops_ignored_rows",
    "return losses\n",
    "return losses[counts]\n",
    '"none" leaves the ignored rows out, so the result is shorter than the target. Each row should '
    "keep its position: which number belongs there if the row is ignored?",
)
wrong(
    "none_marks_ignored_rows",
    "return losses\n",
    "return losses.where(counts, torch.nan)\n",
    'With "none", your ignored rows are NaN. Which number does the task put there?',
)
wrong(
    "zero_always_ignored",
    "torch.ones_like(target).bool() if ignore_index is None else target != ignore_index",
    "target != (ignore_index or 0)",
    "Rows whose target is 0 are left out although `ignore_index` is None. How does your code "
    'distinguish "no id is ignored" from "id 0 is ignored"?',
)
wrong(
    "zero_never_ignored",
    "ignore_index is None",
    "not ignore_index",
    "`ignore_index=0` is treated as if it were not given: as a condition, 0 and None are both "
    "false. Which comparison distinguishes them?",
)
wrong(
    "zero_never_ignored_in_the_number",
    "counts.sum()",
    "(counts if ignore_index else torch.ones_like(counts)).sum()",
    "With `ignore_index=0` you divide by the number of all rows. Which rows does this id leave "
    "out, and is 0 true or false as a condition?",
)
wrong("detached", "-log_p[", "-log_p.detach()[", CUT_OFF)
wrong(
    "targets_changed",
    "    column = target * counts",
    "    target[~counts] = 0\n    column = target",
    "Your code writes into the targets that it was given: after a call, the rows to ignore look "
    "like others. What makes a changed copy?",
)
