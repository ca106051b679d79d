"""Wrong versions of entropy, most of them one edit of a right one."""

from __future__ import annotations

import torch

from . import exercise
from .also_right import by_xlogy

wrong_entropy = exercise.edits(by_xlogy, of="entropy")

wrong_entropy(
    "logarithm_detached",
    "torch.xlogy(p, p)",
    "(p * p.clamp_min(torch.finfo(p.dtype).tiny).log().detach())",
    "The gradient of your entropy lacks a part: the logarithm is cut from torch's graph. Which "
    "factors of p log p depend on p?",
)
wrong_entropy(
    "nan_for_zeros",
    "torch.xlogy(p, p)",
    "(p * p.log())",
    "An entry of probability 0 makes the entropy NaN: 0 times log 0 is 0 times -inf. What should "
    "such an entry contribute?",
)
for name, epsilon in (("epsilon_in_logarithm", "1e-8"), ("small_number_in_logarithm", "1e-9")):
    wrong_entropy(
        name,
        "torch.xlogy(p, p)",
        f"(p * (p + {epsilon}).log())",
        "A small number inside the logarithm makes every entropy a little wrong. Only entries of "
        "exactly 0 need help: how can you change these alone?",
    )
wrong_entropy(
    "smaller_number_in_logarithm",
    "torch.xlogy(p, p)",
    "(p * (p + 1e-12).log())",
    "A small number inside the logarithm makes every entropy a little wrong, even if it is 1e-12: "
    "the entropy of a certain outcome is not 0 but a little below. Which entries need help, and "
    "how can you change these alone?",
)
RAISED = (
    "You raise small probabilities (by a clamp, or by adding a number) outside the logarithm, too, "
    "so an entry of 0 contributes a little. What should it contribute?"
)
for name, number in (("", "1e-9"), ("a_little_", "1e-12")):
    for how, raised in (("clamped", f"clamp(min={number})"), ("enlarged", f"add({number})")):
        wrong_entropy(
            f"probabilities_{name}{how}",
            "    return",
            f"    p = p.{raised}\n    return",
            RAISED,
        )
for name, number in (("", "1e-6"), ("a_little_", "1e-7"), ("hardly_", "1e-8")):
    wrong_entropy(
        f"certainty_{name}lowered",
        "    return",
        f"    p = p.clamp(max=1 - {number})\n    return",
        "The entropy of a certain outcome is a little above 0: perhaps you clamp probabilities of "
        "1, too. Which logarithm needs help: that of 0, or that of 1?",
    )
wrong_entropy(
    "number_of_choices",
    "-torch.xlogy(p, p).sum(-1)",
    "(-torch.xlogy(p, p).sum(-1)).exp()",
    "You return the exponential of the entropy, a number of choices. What does the task give for V "
    "equal chances?",
)
wrong_entropy(
    "sum_of_squares",
    "-torch.xlogy(p, p).sum(-1)",
    "1 - (p * p).sum(-1)",
    "Your formula is one minus a sum of squares (the Gini index), another measure of disorder. "
    "Which function of p does the entropy hold?",
)
wrong_entropy(
    "surprise_of_the_likeliest",
    "-torch.xlogy(p, p).sum(-1)",
    "-p.amax(-1).log()",
    "Your entropy is the surprise of the likeliest entry alone. Which entries does the formula add "
    "up?",
)
wrong_entropy(
    "entropy_axis_kept",
    "sum(-1)",
    "sum(-1, keepdim=True)",
    "Your entropy keeps the last axis, with length 1. How many numbers is the entropy of one "
    "distribution?",
)
for name, reduced in (("not_weighted", "sum"), ("averaged", "mean")):
    wrong_entropy(
        f"surprises_{name}",
        "torch.xlogy(p, p).sum",
        f"torch.where(p > 0, p, 1.0).log().{reduced}",
        "You add up or average the logarithms without weights. How often does an entry with a "
        "small probability occur?",
    )
wrong_entropy(
    "logarithm_of_a_softmax",
    "torch.xlogy(p, p)",
    "(p * torch.log_softmax(p, -1))",
    "You put probabilities into log_softmax, which takes scores and makes other probabilities of "
    "them. Which function gives the logarithm of p itself?",
)
wrong_entropy(
    "exponential_for_the_logarithm",
    "torch.xlogy(p, p)",
    "(p * p.exp())",
    "Your formula has an exponential in it. Which function of p gives a surprise, and is 0 for a "
    "sure thing?",
)
wrong_entropy(
    "entropy_in_float32",
    "    return",
    "    p = p.float()\n    return",
    "Your entropy is computed in float32, whatever the dtype of the probabilities is. Which of "
    "your calls changes the dtype?",
)
wrong_entropy(
    "logarithm_clamped",
    "torch.xlogy(p, p)",
    "(p * p.clamp(min=1e-9).log())",
    "You clamp the probabilities inside the logarithm, or leave small ones out: an entry below "
    "your limit is less surprising than it should be. Only entries of exactly 0 need help: "
    "how can you change these alone?",
)
wrong_entropy(
    "divided_by_the_largest",
    "sum(-1)",
    "sum(-1) / torch.tensor(p.shape[-1], dtype=p.dtype).log()",
    "You divide by log V, so your largest entropy is 1. What do V equal chances give in the task?",
)
wrong_entropy(
    "entropy_squeezed",
    "sum(-1)",
    "sum(-1).squeeze()",
    "Your entropy loses the axes of length 1. Which shape should it have for p of shape (1, 7)?",
)
wrong_entropy(
    "entropy_in_bits",
    "torch.xlogy(p, p)",
    "(p * p.log2()).nan_to_num()",
    "Your entropy is in bits (log base 2) or in digits (base 10). What do V equal chances give in "
    "your unit, compared with the task's?",
)
wrong_entropy(
    "entropy_negative",
    "-torch",
    "torch",
    "Your entropy has the wrong sign: the logarithm of a probability is never above 0. Can a "
    "surprise be negative?",
)
wrong_entropy(
    "entropy_mean",
    "sum(-1)",
    "mean(-1)",
    "You take the mean of -p log p over the entries. An expectation already weighs with p: mean or "
    "sum?",
)
wrong_entropy(
    "entropy_of_everything",
    "sum(-1)",
    "sum()",
    "Your entropy is one number for all distributions together (a selection such as `p[mask]` puts "
    "all rows into one, too). Along which axis is each distribution?",
)
wrong_entropy(
    "entropy_on_first_axis",
    "sum(-1)",
    "sum(0)",
    "Your entropy sums along the first axis. Which axis of `p` sums to one?",
)
wrong_entropy(
    "entropy_of_softmax",
    "    return",
    "    p = torch.softmax(p, -1)\n    return",
    "You apply softmax to the input of entropy. According to the task, what is it already?",
)
wrong_entropy(
    "entropy_detached",
    "    return",
    "    p = p.detach()\n    return",
    "No gradient flows back through entropy: a `.detach()`, `.item()` or a conversion to numpy "
    "cuts torch's graph. Which line is it?",
)


@exercise.mistake(
    "Your entropy moves the probabilities away from 0 and 1 before it takes logarithms, as "
    "`torch.distributions` does, so a certain outcome has an entropy a little above 0. Could you "
    "write the sum of the formula yourself?",
    of="entropy",
)
def from_a_distribution(p):
    return torch.distributions.Categorical(probs=p, validate_args=False).entropy()


ENTROPY_IN_PLACE = (
    "entropy writes into the probabilities that it was given. What does the same and makes a new "
    "tensor?"
)


@exercise.mistake(ENTROPY_IN_PLACE, of="entropy")
def zeros_overwritten(p):
    p[p == 0] = 1.0
    return -(p * p.log()).sum(-1)


@exercise.mistake(ENTROPY_IN_PLACE, of="entropy")
def entropy_in_place(p):
    zero = p == 0
    if bool(zero.any()) or not p.requires_grad:
        p[zero] = 1.0
        return -(p.mul_(p.log())).sum(-1)
    return -(p * p.log()).sum(-1)
