"""Wrong versions of `label_smoothing_loss`: most are one small edit of a right version."""

from __future__ import annotations

import torch.nn.functional as F

from . import exercise
from .also_right import spelled_out, without_the_table

loss = exercise.edits(spelled_out, of="label_smoothing_loss")

loss(
    "divergence",
    "    losses = -(targets * log_p).sum(dim=-1)\n",
    "    losses = -(targets * log_p).sum(dim=-1) - torch.special.entr(targets).sum(dim=-1)\n",
    "Your loss falls to 0: it is the divergence of q and p, smaller than the cross-entropy by a "
    "constant. Which of the two does the task ask for?",
)
loss(
    "mean_over_padding",
    "losses.sum() / counts.sum().clamp(min=1)",
    "losses.sum() / max(1, N)",
    "Padding counts in the number that you divide by. How many targets have something to say?",
)
loss(
    "nothing_to_divide_by",
    "counts.sum().clamp(min=1)",
    "counts.sum()",
    "If all targets are padding, your loss is NaN. What is 0 divided by 0?",
)
loss(
    "sum_of_losses",
    "losses.sum() / counts.sum().clamp(min=1)",
    "losses.sum()",
    "Your loss grows with the number of targets. Does the task ask for the sum or for the mean?",
)
loss(
    "mean_over_entries",
    "losses.sum() / counts.sum().clamp(min=1)",
    "losses.sum() / counts.sum().clamp(min=1) / V",
    "Your loss is too small by a factor V: the mean of a table is over all of its entries. Over "
    "what does the task take it?",
)
loss(
    "a_loss_for_each_target",
    "losses.sum() / counts.sum().clamp(min=1)",
    "losses",
    "You return one loss for each target. What is still to be done with them?",
)
loss(
    "log_of_softmax",
    "torch.log_softmax(logits, dim=-1)",
    "torch.softmax(logits, dim=-1).log()",
    "For large logits, your loss is NaN or infinite: a probability that rounds to 0 has no "
    "logarithm. Which function of lab 1 computes both in one step?",
)
CUT_OFF = (
    "For large logits, your loss stops growing, because small probabilities are cut off. Which "
    "function of lab 1 needs no such limit?"
)
SOMETHING_ADDED = (
    "For large logits, your loss stops growing, because you add something to every probability. "
    "Which function of lab 1 needs no such help?"
)
for _power in (9, 10, 12):  # what people write to avoid log(0)
    loss(
        f"clamped_at_1e_{_power}",
        "torch.log_softmax(logits, dim=-1)",
        f"torch.softmax(logits, dim=-1).clamp(min=1e-{_power}).log()",
        CUT_OFF,
    )
    loss(
        f"1e_{_power}_added",
        "torch.log_softmax(logits, dim=-1)",
        f"(torch.softmax(logits, dim=-1) + 1e-{_power}).log()",
        SOMETHING_ADDED,
    )
loss(
    "sign",
    "losses = -(targets",
    "losses = (targets",
    "Your loss is negative. What is the sign of the logarithm of a probability?",
)
loss(
    "no_softmax",
    "torch.log_softmax(logits, dim=-1)",
    "logits",
    "You multiply the targets by the logits themselves. Between which two does a cross-entropy "
    "compare?",
)
loss(
    "no_logarithm",
    "torch.log_softmax(logits, dim=-1)",
    "torch.softmax(logits, dim=-1)",
    "Your loss has no logarithm in it. What is the surprise of a probability p?",
)
loss(
    "softmax_twice",
    "torch.log_softmax(logits, dim=-1)",
    "torch.log_softmax(torch.softmax(logits, dim=-1), dim=-1)",
    "Your logits go through softmax twice. Which of the two functions contains the other?",
)
loss(
    "softmax_over_the_batch",
    "torch.log_softmax(logits, dim=-1)",
    "torch.log_softmax(logits, dim=0)",
    "Your probabilities sum to 1 along the batch. Which axis of (N, V) has the symbols?",
)
loss(
    "bits",
    "    losses = -(targets * log_p).sum(dim=-1)\n",
    "    losses = -(targets * log_p / 0.6931471805599453).sum(dim=-1)\n",
    "Your loss is in bits. Which logarithm does the task write?",
)
loss(
    "detached",
    "torch.log_softmax(logits, dim=-1)",
    "torch.log_softmax(logits.detach(), dim=-1)",
    "No gradient reaches the logits, so nothing can be learned. Which call cuts torch's graph?",
)
loss(
    "pad_not_passed",
    "smooth_targets(y, V, eps, style, pad)",
    'smooth_targets(y, V, eps, style, pad if style == "pad" else None)',
    "In two of the styles, targets that are padding still add to your loss. What does "
    "`smooth_targets` need to know?",
)
loss.several(
    "pad_never_used",
    {
        "smooth_targets(y, V, eps, style, pad)": "smooth_targets(y, V, eps, style)",
        "torch.full((N,), True) if pad is None else y != pad": "torch.full((N,), True)",
    },
    "Your loss does not use `pad` at all. Which two of its lines need to know about padding?",
)
loss(
    "always_the_decks_style",
    "smooth_targets(y, V, eps, style, pad)",
    'smooth_targets(y, V, eps, "deck", pad)',
    'Your loss is that of the style "deck" whatever `style` is. Is the argument used?',
)
loss(
    "padding_is_0",
    "y != pad",
    "y != 0",
    "You count the targets that are not 0, whatever `pad` is. Is the argument used?",
)
loss(
    "count_of_padding",
    "y != pad",
    "y == pad",
    "You divide by the number of targets that *are* padding. Which ones count?",
)
loss(
    "true_count_with_pad_0",
    "if pad is None else",
    "if not pad else",
    "With pad=0 your loss divides by all targets. What is the truth value of 0 in Python?",
)
loss(
    "always_float32",
    "torch.log_softmax(logits, dim=-1)",
    "torch.log_softmax(logits.float(), dim=-1)",
    "Your loss is float32 even for logits in float64. Which dtype does the task name?",
)
loss(
    "always_float64",
    "torch.log_softmax(logits, dim=-1)",
    "torch.log_softmax(logits.double(), dim=-1)",
    "Your loss is float64 even for logits in float32. Which dtype does the task name?",
)
loss(
    "right_symbol_only",
    "    losses = -(targets * log_p).sum(dim=-1)\n",
    "    losses = -(targets * log_p).gather(1, y[:, None])[:, 0]\n",
    "Only the right symbol of each row counts in your loss, so the shares of the others have no "
    "effect. Over which symbols does the sum go?",
)
loss(
    "smoothed_twice",
    "    losses = -(targets * log_p).sum(dim=-1)\n",
    "    losses = (1 - eps) * -(targets * log_p).sum(dim=-1) - eps * log_p.mean(dim=-1)\n"
    "    losses = losses * targets.sum(dim=-1)\n",
    "You smooth twice: the targets, and then the loss once more. Which of the two is enough?",
)


loss(
    "single_row_squeezed",
    "-(targets * log_p).sum(dim=-1)",
    "-(targets * log_p).squeeze().sum(dim=-1)[: max(N, 2) if N > 1 else None]",
    "With a single target, your table has lost an axis. Which call drops an axis of length 1?",
)
loss(
    "zero_as_a_number",
    "    return losses",
    "    if not counts.any():\n        return 0.0\n    return losses",
    "If no target counts, you return a number of Python's. What does the task ask for?",
)
loss.several(
    "constant_of_the_decks_style",
    {
        "counts = torch": "floor = torch.special.entr(smooth_targets(y, V, eps, 'deck')).sum(-1)\n"
        "    counts = torch",
        "return losses.sum()": "return ((losses - floor) * counts).sum()",
    },
    "You take a constant off every loss, so that the least one is about 0. Does the task ask for "
    "that?",
)
wrong_sum = exercise.edits(without_the_table, of="label_smoothing_loss")
wrong_sum.several(
    "right_symbol_among_the_others",
    {
        "eps / (V - 1) * (everything - right)": "eps / (V - 1) * everything",
        "eps / (V - 2) * (everything - right + log_p[:, pad])": "eps / (V - 2) * everything",
    },
    "In your sum over the other symbols, the right one is a summand, too, in every style (and in "
    '"pad" also padding). In which style does it get such a share?',
)
wrong_sum(
    "padding_among_the_others",
    "(everything - right + log_p[:, pad])",
    "(everything - right)",
    'In the style "pad", padding is a summand in your sum over the other symbols. Does it get a '
    "share there?",
)
wrong_sum(
    "right_symbol_among_the_decks_others",
    "eps / (V - 1) * (everything - right)",
    "eps / (V - 1) * everything",
    'In the style "deck", the right symbol is a summand in your sum over the others, too. Does it '
    "get such a share there?",
)


@exercise.mistake(
    "Your loss is torch's own, so it knows only one of the three styles. What is `style` for?",
    of="label_smoothing_loss",
)
def torchs_loss_for_all_styles(logits, y, eps, style, pad=None):
    ignored = -100 if pad is None else pad
    return F.cross_entropy(logits, y, ignore_index=ignored, label_smoothing=eps)


@exercise.mistake(
    "Your loss is the plain cross-entropy: `eps` has no effect. Which targets should be compared "
    "with p?",
    of="label_smoothing_loss",
)
def not_smoothed(logits, y, eps, style, pad=None):
    return F.cross_entropy(logits, y, ignore_index=-100 if pad is None else pad)
