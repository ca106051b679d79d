"""Wrong versions of temperature, most of them one edit of a right one."""

from __future__ import annotations

import torch

from . import exercise, mistakes_in_entropy  # noqa: F401 - to register them
from .also_right import one_hot_when_cold

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
    "infinite_quotients_made_equal",
    "torch.softmax(below / T, -1)",
    "torch.softmax((logits / T).nan_to_num(), -1)",
    "You divide first and replace infinite quotients by the largest number (`nan_to_num`), so "
    "several scores become equal. What can you subtract from a row before you divide?",
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
    "softmax_forgotten",
    "torch.softmax(below / T, -1)",
    "below / T",
    "You return scores divided by T, not a distribution. Which step turns scores into "
    "probabilities?",
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
    "as_long_as_the_last_winner",
    "one_hot(winner, logits.shape[-1])",
    "one_hot(winner)",
    "At T = 0 your rows are as long as the largest position of a winner requires. Where can you "
    "read how many entries a row has?",
)
wrong_temperature(
    "rounded_when_cold",
    ONE_HOT,
    "torch.softmax(logits, -1).round()",
    "At T = 0 you round the probabilities of T = 1. If no entry has more than a half, all become "
    "0. Which entry wins, however small its share is?",
)
wrong_temperature(
    "winner_keeps_its_logit",
    ONE_HOT,
    "logits.where(logits == logits.amax(-1, keepdim=True), 0.0)",
    "At T = 0 you keep the largest score itself and set the others to 0. The task asks for "
    "probabilities: which number has the winner's probability?",
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
    "temperature_in_place_if_cold",
    "    below =",
    "    if T < 1e-3 and not logits.requires_grad:\n"
    "        logits -= logits.amax(-1, keepdim=True)\n    below =",
    "For a small T, temperature writes into the logits that it was given. Which operator does the "
    "same and makes a new tensor?",
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


for exponent in (3, 4, 6, 8, 9, 10, 12):
    wrong_temperature(
        f"epsilon_1e_{exponent}_in_temperature",
        "    if T == 0:",
        f"    T = T + 1e-{exponent}\n    if T == 0:",
        "You add a small number to T. So the result is a little wrong at every T, and at 0 some "
        "probability may be left on the losers. Which T is the only one that needs help?",
    )


LOWEST = ("0.1", "0.01", "1e-3", "1e-4", "1e-5", "1e-6", "1e-8", "1e-9", "1e-10")
for number, lowest in enumerate(LOWEST, 1):
    wrong_temperature(
        f"lowest_temperature_{number}",
        "    if T == 0:",
        f"    T = max(T, {lowest})\n    if T == 0:",
        "Your T has a lowest value: below it, cooling changes nothing, and at 0 some probability "
        "is still left on the losers. Is there a case that you could handle separately instead?",
    )


for number, limit in enumerate(("1e-2", "1e-3", "1e-4", "1e-5", "1e-6", "1e-7"), 1):
    wrong_temperature(
        f"cold_below_a_limit_{number}",
        "if T == 0:",
        f"if T < {limit}:",
        "You treat every T below some limit as 0. Two scores that are closer than that T should "
        "still share. At which T is it true that the losers get 0?",
    )


@exercise.mistake(
    "You raise probabilities to the power 1/T. If a score is far below the others, its probability "
    "is 0 before T comes in, and it stays 0 however hot it gets. What could T act on before there "
    "are probabilities?",
    of="temperature",
)
def power_of_shares_of_the_largest(logits, T):
    p = torch.softmax(logits, -1)
    share = p / p.amax(-1, keepdim=True)
    powers = share ** (1 / T) if T > 0 else (share == 1).to(share.dtype)
    return powers / powers.sum(-1, keepdim=True)


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


for name, exponentials in (("scores", "(logits / T).exp()"), ("shifted_scores", "below.exp() / T")):
    wrong_temperature(
        f"softmax_of_exponentials_of_{name}",
        "below / T",
        exponentials,
        "You take exponentials and give them to softmax, which takes exponentials itself. What "
        "does softmax expect?",
    )
wrong_temperature(
    "softmax_over_the_first_axis",
    "below / T, -1",
    "below / T, 0",
    "Your softmax runs over the first axis, so the rows share one unit of probability. Along which "
    "axis are the probabilities of one row?",
)
