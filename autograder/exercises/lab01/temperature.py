"""temperature and entropy: how sharp a distribution is, and how to control it."""

from __future__ import annotations

import torch

from attnlab.checking.observation import dtype_of
from attnlab.softmax import cross_entropy, entropy, log_softmax, logsumexp, softmax, temperature
from gradekit.exercise import Exercise

exercise = Exercise(
    temperature,
    entropy,
    uses=[softmax, logsumexp, log_softmax, cross_entropy],
    equivalent={
        "temperature: `logits.amax(-1, keepdim=True).detach()` → `logits.amax(-1, keepdim=True)` "
        "in `below = logits - logits.amax(-1, keepdim=True).detach()`": (
            "the same gradient, more work"
        ),
        "entropy: `1.0` → `2.0` in `safe = p.where(p > 0, 1.0)`": "it is multiplied by 0",
    },
)


def distribution(draw, *shape):
    """Random probabilities along the last axis, laid out with gaps in memory."""
    weights = draw.normal(*shape).exp()
    return draw.strided(weights / weights.sum(-1, keepdim=True))


@exercise.check(points=1)
def shapes_and_dtypes(lab, draw):
    """temperature keeps the shape, entropy drops the last axis; both keep the dtype."""
    x, p = draw.normal(2, 3, 5), distribution(draw, 2, 3, 5)
    return {
        "temperature, shape": list(lab.temperature(x, 2.0).shape),
        "temperature 0, shape": list(lab.temperature(x, 0.0).shape),
        "entropy, shape": list(lab.entropy(p).shape),
        "temperature, dtype of float32": dtype_of(lab.temperature(x.float(), 2.0)),
        "temperature, dtype of float16": dtype_of(lab.temperature(x.half(), 2.0)),
        "temperature 0, dtype of float32": dtype_of(lab.temperature(x.float(), 0.0)),
        "temperature 0, dtype of float16": dtype_of(lab.temperature(x.half(), 0.0)),
        "entropy, dtype of float32": dtype_of(lab.entropy(p.float())),
        "entropy, dtype of float16": dtype_of(lab.entropy(p.half())),
    }


@exercise.check(points=1)
def temperature_values(lab, draw):
    """temperature is right at 1, and above and below 1."""
    x = draw.strided(draw.normal(2, 3, 5))
    return {f"T = {T}": lab.temperature(x, T) for T in (0.25, 1.0, 2, 7.5)} | {
        "one dimension": lab.temperature(draw.normal(7), 0.5)
    }


@exercise.check(points=1)
def entropy_values(lab, draw):
    """entropy is right for distributions without zeros; V equal chances give log V."""
    return {
        "one dimension": lab.entropy(distribution(draw, 7)),
        "three dimensions": lab.entropy(distribution(draw, 2, 3, 5)),
        "11 equal chances": lab.entropy(torch.full((2, 11), 1 / 11, dtype=torch.float64)),
    }


@exercise.check(points=0.5, hidden=True)
def other_shapes(lab, draw):
    """Both are right for axes of length 1, for equal axes, and for more and fewer axes."""

    def ask(batch, V):
        x = draw.normal(*batch, V)
        return {
            "temperature": lab.temperature(x, 2.0),
            "temperature 0": lab.temperature(x, 0.0),
            "entropy": lab.entropy(distribution(draw, *batch, V)),
        }

    return draw.each_size(ask, batch=(2, 3), V=5)


@exercise.check(points=1, hidden=True)
def cold(lab, draw):
    """Towards T = 0 the probability goes to the largest score; at 0 all of it is there."""
    x = draw.normal(2, 3, 5)
    close = torch.tensor([[-1.0, 0.5, 0.5 + 1e-5, 0.2], [2.0, 1.0, -1.0, 2.0 - 1e-5]])
    return {
        "T = 0.01": lab.temperature(x, 0.01),
        "T = 1e-6": lab.temperature(x, 1e-6),
        "T = 0.0": lab.temperature(x, 0.0),
        "T = 0": lab.temperature(x, 0),
        "T = 0, a close second": lab.temperature(close.double(), 0.0),
        "T = 0, one dimension": lab.temperature(1e3 * draw.normal(7), 0.0),
        "T = 0, all below zero": lab.temperature(-5.0 - draw.uniform(3, 7), 0.0),
    }


@exercise.check(points=0.5, hidden=True)
def too_small_to_divide(lab, draw):
    """Is right for a T so small that the quotient of a score and T is too large for the dtype."""
    x = draw.integers(1, 60, 3, 5).double()
    x[:, 2] = 70.0
    return {
        "float64, T = 1e-307": lab.temperature(x, 1e-307),
        "float32, T = 1e-37": lab.temperature(x.float(), 1e-37),
        "float16, T = 0.001": lab.temperature(x.half(), 1e-3),
    }


@exercise.check(points=0.5, hidden=True)
def hot(lab, draw):
    """Towards infinite temperature every entry gets the same probability."""
    x = draw.normal(2, 3, 5)
    return {f"T = {T:g}": lab.temperature(x, T) for T in (100.0, 1e12)}


@exercise.check(points=1, hidden=True)
def entropy_with_zeros(lab, draw):
    """An entry of 0 contributes 0; a certain outcome has entropy 0."""
    p = torch.tensor([[0.0, 1.0, 0.0], [0.5, 0.0, 0.5], [0.25, 0.25, 0.5], [1e-300, 0.0, 1.0]])
    p = draw.strided(p.double())
    return {"float64": lab.entropy(p), "float32": lab.entropy(p.float())}


@exercise.check(points=0.5, hidden=True)
def entropy_of_a_sure_thing(lab, draw):
    """A certain outcome has entropy 0 exactly, so no small number is added, however small."""
    sure = torch.eye(7, dtype=torch.float64)[draw.permutation(7)]
    return {
        "entropies": lab.entropy(sure),
        "exactly 0": bool((lab.entropy(sure) == 0).all()),
    }


@exercise.check(points=1, hidden=True)
def gradients_and_input(lab, draw):
    """Gradients flow back through both, and the inputs are unchanged."""
    x, p = draw.normal(3, 5), distribution(draw, 3, 5)
    for T in (0.0, 2.0):
        lab.temperature(x, T)
    lab.entropy(p)
    return {
        "temperature": draw.gradients(lambda x: lab.temperature(x, 2.5), x),
        "entropy": draw.gradients(lambda x: lab.entropy(torch.softmax(x, -1)), x),
        "inputs unchanged": draw.untouched(),
    }


exercise.promises(
    {
        "Softmax along the last axis at temperature T: sharp if T is small, flat if T is large": (
            "temperature_values cold hot"
        ),
        "logits: (..., V), finite scores, floating point.": "other_shapes",
        "T: 0 or more.": "cold",
        "At 1 the result is plain softmax; towards infinity, all entries get the same "
        "probability; at 0, the largest score": "temperature_values hot cold",
        "Every T above 0 that the dtype can hold is safe": "too_small_to_divide",
        "Probabilities, shape and dtype of `logits`.": "shapes_and_dtypes other_shapes",
        "Gradients flow back to `logits` if T is above 0; `logits` stays unchanged.": (
            "gradients_and_input"
        ),
        "The entropy -Σ_i p_i log p_i of each distribution along the last axis, in nats.": (
            "entropy_values"
        ),
        "p: (..., V), probabilities.": "other_shapes",
        "An entry of 0 contributes 0.": "entropy_with_zeros",
        "(...), in the dtype of `p`": "shapes_and_dtypes other_shapes",
        "exactly 0 if one entry is 1": "entropy_of_a_sure_thing",
        "log V if all V entries are equal": "entropy_values",
        "The result is exact: no small number is added to avoid log 0.": "entropy_of_a_sure_thing",
        "Gradients flow back to the entries above 0; `p` stays unchanged.": "gradients_and_input",
    },
    explained=["No row has its largest score twice."],
)


ONE_HOT = "torch.nn.functional.one_hot(winner, logits.shape[-1]).to(logits.dtype)"


@exercise.also_right(of="temperature")
def one_hot_when_cold(logits, T):
    if T == 0:
        winner = logits.argmax(-1)
        return torch.nn.functional.one_hot(winner, logits.shape[-1]).to(logits.dtype)
    below = logits - logits.amax(-1, keepdim=True)
    return torch.softmax(below / T, -1)


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
    "applied_after_softmax",
    "(below / T, -1)",
    "(below, -1) / T",
    "You divide the probabilities by T, so they no longer sum to one. Does T act before or after "
    "the exponential?",
)
wrong_temperature(
    "power_not_normalised",
    "(below / T, -1)",
    "(below, -1) ** (1 / T)",
    "You raise probabilities to the power 1/T, which is a good start, but afterwards they do not "
    "sum to one. Which step is missing?",
)
wrong_temperature(
    "temperature_ignored",
    "below / T",
    "below",
    "You never use T: the result is the same at every temperature. What should T change?",
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
    "position_when_cold",
    ONE_HOT,
    "winner",
    "At T = 0 you return the position of the largest score. The task asks for a distribution: what "
    "does one look like that puts everything on this position?",
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
    "At T = 0 you divide by 0, which gives infinities, and NaN from inf - inf. What is the limit "
    "of the distribution when T goes to 0?",
    of="temperature",
)
def zero_division(logits, T):
    return torch.softmax((logits - logits.amax(-1, keepdim=True)) / T, -1)


@exercise.mistake(
    "Your T has a lowest value: below it, cooling changes nothing, and at 0 some probability is "
    "still left on the losers. Is there a case that you could handle separately instead?",
    of="temperature",
)
def temperature_with_a_floor(logits, T):
    return torch.softmax((logits - logits.amax(-1, keepdim=True)) / max(T, 0.1), -1)


@exercise.also_right(of="entropy")
def by_xlogy(p):
    return -torch.xlogy(p, p).sum(-1)


wrong_entropy = exercise.edits(by_xlogy, of="entropy")

wrong_entropy(
    "nan_for_zeros",
    "torch.xlogy(p, p)",
    "(p * p.log())",
    "An entry of probability 0 makes the entropy NaN: 0 times log 0 is 0 times -inf. What should "
    "such an entry contribute?",
)
wrong_entropy(
    "epsilon_in_logarithm",
    "torch.xlogy(p, p)",
    "(p * (p + 1e-8).log())",
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
    "Your entropy is one number for all distributions together. Along which axis is each "
    "distribution?",
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
    "entropy writes into the probabilities that it was given. What does the same and makes a new "
    "tensor?",
    of="entropy",
)
def entropy_in_place(p):
    zero = p == 0
    if bool(zero.any()) or not p.requires_grad:
        p[zero] = 1.0
        return -(p.mul_(p.log())).sum(-1)
    return -(p * p.log()).sum(-1)


@exercise.also_right(of="temperature")
def by_one_hot(logits, T):
    if T == 0:
        V = logits.shape[-1]
        return torch.nn.functional.one_hot(logits.argmax(dim=-1), num_classes=V).to(logits)
    z = (logits - logits.amax(-1, keepdim=True)) / T
    return z.exp() / z.exp().sum(-1, keepdim=True)


@exercise.also_right(of="temperature")
def by_comparison(logits, T):
    top = logits.amax(-1, keepdim=True)
    if T < 1e-9:
        return (logits == top).type(logits.dtype)
    return torch.nn.functional.softmax((logits - top) / T, dim=-1)


@exercise.also_right(of="temperature")
def very_cold_for_zero(logits, T):
    top = logits - logits.max(-1, keepdim=True).values
    return torch.softmax(top / max(T, 1e-15), dim=-1)


@exercise.also_right(of="entropy")
def zeros_replaced(p):
    safe = torch.where(p > 0, p, torch.ones_like(p))
    return -(p * torch.log(safe)).sum(dim=-1)


@exercise.also_right(of="entropy")
def by_entr(p):
    return torch.special.entr(p).sum(-1)


@exercise.also_right(of="entropy")
def products_cleaned(p):
    return -torch.nan_to_num(p * torch.log(p), nan=0.0).sum(-1)


@exercise.also_right(of="entropy")
def smallest_number_inside(p):
    return -torch.einsum("...v,...v->...", p, p.clamp_min(torch.finfo(p.dtype).tiny).log())
