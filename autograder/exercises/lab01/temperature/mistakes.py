"""Wrong versions of temperature and entropy, most of them one edit of a right one."""

from __future__ import annotations

import torch

from . import exercise
from .also_right import by_xlogy, one_hot_when_cold

ONE_HOT = "torch.nn.functional.one_hot(winner, logits.shape[-1]).to(logits.dtype)"

wrong_temperature = exercise.edits(one_hot_when_cold, of="temperature")

wrong_temperature(
    "multiplied_by_temperature",
    "below / T",
    "below * T",
    "Your distribution gets sharper when T grows, but hot should mean flat. Is it the product or "
    "the quotient that shrinks the differences between scores?",
)
wrong_temperature(
    "divided_too_early",
    "below / T",
    "logits / T",
    "For a very small T, the quotient of a score and T is larger than the dtype can hold, and the "
    "result is NaN. What can you subtract from a row before you divide, so that no quotient is "
    "above 0?",
)
wrong_temperature(
    "multiplied_by_the_reciprocal",
    "below / T",
    "below * (1 / T)",
    "You multiply by 1/T. For the smallest T, 1/T itself is larger than the dtype can hold, and 0 "
    "times infinity is NaN. Which operation does the formula name?",
)
wrong_temperature(
    "applied_after_softmax",
    "(below / T, -1)",
    "(below, -1) / T",
    "You divide the probabilities by T, so they no longer sum to one. Does T act before or after "
    "the exponential?",
)
wrong_temperature(
    "softmax_of_probabilities",
    "(below / T, -1)",
    "(torch.softmax(below, -1) / T, -1)",
    "You divide probabilities by T and put them through a second softmax. What does the formula "
    "divide by T?",
)
wrong_temperature(
    "softmax_of_shifted_probabilities",
    "return torch.softmax(below / T, -1)",
    "p = torch.softmax(below, -1)\n"
    "    return torch.softmax((p - p.amax(-1, keepdim=True)) / T, -1)",
    "You divide probabilities by T and put them through a second softmax. What does the formula "
    "divide by T?",
)
wrong_temperature(
    "power_not_normalised",
    "(below / T, -1)",
    "(below, -1) ** (1 / T)",
    "You raise probabilities to the power 1/T, which is a good start, but afterwards they do not "
    "sum to one. Which step is missing?",
)
wrong_temperature(
    "power_normalised",
    "return torch.softmax(below / T, -1)",
    "powers = torch.softmax(below, -1) ** (1 / T)\n"
    "    return powers / powers.sum(-1, keepdim=True)",
    "You raise probabilities to the power 1/T and normalise again. On paper that is right, but for "
    "a small T even the largest power is rounded to 0, and 0/0 is NaN. What could T act on before "
    "there are probabilities?",
)
wrong_temperature(
    "temperature_ignored",
    "below / T",
    "below",
    "T changes nothing: your result is the same at every temperature. What should it change?",
)
wrong_temperature(
    "uniform_when_cold",
    ONE_HOT,
    "torch.full_like(logits, 1 / logits.shape[-1])",
    "At T = 0 you give every entry the same probability; that is the other end of the scale. Which "
    "entry wins at low temperatures?",
)
wrong_temperature(
    "plain_when_cold",
    ONE_HOT,
    "torch.softmax(logits, -1)",
    "At T = 0 you return the plain softmax, as if T were 1. What is the limit when T goes to 0?",
)
wrong_temperature(
    "smallest_wins_when_cold",
    "argmax",
    "argmin",
    "At T = 0 the smallest score of a row wins. Which entry has the largest probability at any "
    "other T?",
)
wrong_temperature(
    "winner_keeps_its_share",
    ONE_HOT,
    f"{ONE_HOT} * torch.softmax(logits, -1)",
    "At T = 0 the winner keeps its probability of T = 1, and the others lose theirs. What do the "
    "entries of a row sum to then?",
)
for name, power in (("square", "T**2"), ("root", "T**0.5")):
    wrong_temperature(
        f"{name}_of_temperature",
        "below / T",
        f"below / {power}",
        "You divide by the square of T, or by its root. What does the formula divide by?",
    )
wrong_temperature(
    "position_when_cold",
    ONE_HOT,
    "winner",
    "At T = 0 you return the position of the largest score. The task asks for a distribution: what "
    "does one look like that puts everything on this position?",
)
for name, dtype in (("whole", "long"), ("float32", "float")):
    wrong_temperature(
        f"{name}_numbers_when_cold",
        ".to(logits.dtype)",
        f".{dtype}()",
        "At T = 0 your result has a dtype of its own, not that of the logits. Which call in that "
        "case chooses it?",
    )
wrong_temperature(
    "temperature_in_float32",
    "    if T == 0:",
    "    logits = logits.float()\n    if T == 0:",
    "Your temperature is computed in float32, whatever the dtype of the logits is. Which of your "
    "calls changes the dtype?",
)
wrong_temperature(
    "one_winner_for_all",
    ONE_HOT,
    "(logits == logits.max()).to(logits.dtype)",
    "At T = 0 your whole tensor has one winner. How many winners should each row have?",
)
wrong_temperature(
    "temperature_detached",
    "below / T",
    "below.detach() / T",
    "No gradient flows back through temperature: a `.detach()`, `.data` or a conversion to numpy "
    "cuts torch's graph. Which line is it?",
)
wrong_temperature(
    "temperature_in_place",
    "logits - logits.amax(-1, keepdim=True)",
    "logits.sub_(logits.amax(-1, keepdim=True))",
    "temperature writes into the logits that it was given (`/=`, `div_`). What does the same and "
    "makes a new tensor?",
)


@exercise.mistake(
    "At T = 0 you divide by 0, and inf - inf or 0/0 is NaN. What is the limit of the distribution "
    "when T goes to 0?",
    of="temperature",
)
def zero_division(logits, T):
    return torch.softmax((logits - logits.amax(-1, keepdim=True)) / T, -1)


for name, epsilon in (("", "1e-8"), ("small_", "1e-6"), ("larger_", "1e-4"), ("large_", "1e-3")):
    wrong_temperature(
        f"{name}epsilon_in_temperature",
        "    if T == 0:",
        f"    T = T + {epsilon}\n    if T == 0:",
        "You add a small number to T. So the result is a little wrong at every T, and at 0 some "
        "probability may be left on the losers. Which T is the only one that needs help?",
    )


for number, lowest in enumerate(("0.1", "0.01", "1e-3", "1e-4", "1e-5", "1e-6"), 1):
    wrong_temperature(
        f"lowest_temperature_{number}",
        "    if T == 0:",
        f"    T = max(T, {lowest})\n    if T == 0:",
        "Your T has a lowest value: below it, cooling changes nothing, and at 0 some probability "
        "is still left on the losers. Is there a case that you could handle separately instead?",
    )


T_FLOOR = (
    "Look at a T near 0. If you replace T by a number that is never 0, the result is wrong below "
    "that number. If you divide a score by T first, the quotient may be too large for the dtype. "
    "Which T needs a case of its own, and which of your steps sees the largest number?"
)


@exercise.mistake(T_FLOOR, of="temperature")
def small_floor(logits, T):
    return torch.softmax(logits / max(T, 1e-5), -1)


@exercise.mistake(T_FLOOR, of="temperature")
def smaller_floor(logits, T):
    return torch.softmax(logits / max(T, 1e-6), -1)


wrong_entropy = exercise.edits(by_xlogy, of="entropy")

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
wrong_entropy(
    "surprises_not_weighted",
    "torch.xlogy(p, p)",
    "torch.where(p > 0, p, 1.0).log()",
    "You add up the logarithms without weights. How often does an entry with a small probability "
    "occur?",
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
