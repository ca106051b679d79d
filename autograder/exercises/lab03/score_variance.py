"""score_variance: why scores are divided by √d, and what happens where they are not."""

from __future__ import annotations

import math

import torch

from attnlab.attention import saturation, score_variance
from attnlab.checking.peak_memory import LargestTensor
from gradekit.exercise import Exercise

exercise = Exercise(score_variance, saturation)


def rounded(number):
    """To one digit: random numbers move the third, not the first."""
    return round(float(number), 1)


def spread(call, times):
    """The standard deviation of what many calls give."""
    return float(torch.tensor([float(call()) for _ in range(times)]).std())


def deviation(call):
    """√variance over four calls: together exact to 1 %, and none needs much memory."""
    variance = sum(float(call()) for _ in range(4)) / 4
    return math.copysign(math.sqrt(abs(variance)), variance)  # no variance is below 0


@exercise.check(points=2.5)
def standard_deviation(lab, draw):
    """The standard deviation of the scores, √variance, is √d to within 5 %."""
    seen = {
        f"√variance / √{d}, to one digit": rounded(
            deviation(lambda d=d: lab.score_variance(d, 2000, draw.generator())) / math.sqrt(d)
        )
        for d in (9, 64)
    }
    asked = deviation(lambda: lab.score_variance(16, 2000, draw.generator(), scaled=False))
    one = torch.as_tensor(lab.score_variance(3, 20, draw.generator()))
    return {
        **seen,
        "√variance / √16 with scaled=False, to one digit": rounded(asked / 4),
        "number of dimensions": one.ndim,
    }


@exercise.check(points=1.5, hidden=True)
def scaled_scores(lab, draw):
    """Divided by √d, scores have the standard deviation 1 to within 5 %, whatever d is."""
    return {
        f"√variance for d={d}, to one digit": rounded(
            deviation(lambda d=d: lab.score_variance(d, 2000, draw.generator(), scaled=True))
        )
        for d in (9, 64)
    }


@exercise.check(points=1.5)
def unscaled_saturation(lab, draw):
    """Unscaled, the largest weight grows with d."""
    return {
        f"d={d}, {keys} keys, to one digit": rounded(
            lab.saturation(d, keys, 1000, draw.generator(), scaled=False)
        )
        for d, keys in ((16, 5), (64, 4))
    }


@exercise.check(points=1)
def scaled_saturation(lab, draw):
    """Scaled, the largest weight depends on the number of keys and not on d; so by default."""
    return {
        "d=64, 3 keys, to one digit": rounded(lab.saturation(64, 3, 1000, draw.generator())),
        "d=16, 6 keys, to one digit": rounded(
            lab.saturation(16, 6, 1000, draw.generator(), scaled=True)
        ),
        "number of dimensions": torch.as_tensor(lab.saturation(3, 2, 5, draw.generator())).ndim,
    }


@exercise.check(points=1.5, hidden=True)
def n_pairs(lab, draw):
    """Takes n pairs: a few give a rough number, many a steady one, and no pair shares a vector."""
    with LargestTensor() as largest:
        lab.score_variance(4, 500, draw.generator())
    return {
        "4 pairs: rough": spread(lambda: lab.score_variance(2, 4, draw.generator()), 40) > 0.3,
        "400 pairs: steady": spread(lambda: lab.score_variance(2, 400, draw.generator()), 25) < 0.5,
        "2 pairs have two scores": float(lab.score_variance(5, 2, draw.generator())) > 1e-6,
        "as rough as normal numbers make it": spread(
            lambda: lab.score_variance(1, 100, draw.generator()), 40
        )
        > 0.1,
        "no tensor is much larger than the queries": largest.bytes <= 16 * 500 * 4 * 8,
    }


@exercise.check(points=1, hidden=True)
def n_queries(lab, draw):
    """Takes n queries with keys of their own: a few give a rough number, many a steady one."""
    return {
        "4 queries: rough": spread(lambda: lab.saturation(2, 2, 4, draw.generator()), 40) > 0.03,
        "500 queries: steady": spread(lambda: lab.saturation(2, 2, 500, draw.generator()), 25)
        < 0.03,
    }


@exercise.check(points=1, hidden=True)
def generators(lab, draw):
    """All random numbers come from the generator: equal ones give equal results, others others."""
    numbers = {
        "variance": lambda generator: float(lab.score_variance(5, 50, generator)),
        "largest weight": lambda generator: float(lab.saturation(5, 3, 50, generator)),
    }
    seen = {}
    for name, number in numbers.items():
        first = draw.generator()
        again = torch.Generator().manual_seed(first.initial_seed())
        result = number(first)
        seen[f"{name}: equal"] = result == number(again)
        seen[f"{name}: others"] = result != number(draw.generator())
        seen[f"{name}: the same one goes on"] = result != number(again)
    few, more = (float(lab.score_variance(5, n, draw.generator())) for n in (50, 51))
    return {**seen, "variance: another n": few != more}


def pairs(d, n, generator):
    return torch.randn(2, n, d, generator=generator)


def variance(scores, d, scaled):
    scores = scores / math.sqrt(d) if scaled else scores
    return scores.var(correction=min(1, scores.numel() - 1))


@exercise.mistake(
    "You return the standard deviation (or a root of it). It is √d; what is asked for grows like "
    "what? Look at the first line of the task.",
    of="score_variance",
)
def standard_deviation_returned(d, n, generator, scaled=False):
    q, k = pairs(d, n, generator)
    return variance((q * k).sum(-1), d, scaled).sqrt()


@exercise.mistake(
    "Query and key are one and the same vector (two generators with one seed make that, too): "
    "then q · k is a sum of squares and never negative. From where does the key come?",
    of="score_variance",
)
def same_query_and_key(d, n, generator, scaled=False):
    q, _ = pairs(d, n, generator)
    return variance((q * q).sum(-1), d, scaled)


@exercise.mistake(
    "With `scaled`, you divide the scores by d. What does that do to their variance, when "
    "dividing by √d was to bring it to 1?",
    of="score_variance",
)
def scaling_squared(d, n, generator, scaled=False):
    q, k = pairs(d, n, generator)
    return variance((q * k).sum(-1) / (math.sqrt(d) if scaled else 1), d, scaled)


@exercise.mistake(
    "With `scaled`, you divide the variance by √d. A factor on the scores comes out of their "
    "variance how?",
    of="score_variance",
)
def variance_scaled(d, n, generator, scaled=False):
    q, k = pairs(d, n, generator)
    return (q * k).sum(-1).var() / (math.sqrt(d) if scaled else 1)


@exercise.mistake(
    "With `scaled`, the scores are multiplied. Should they spread more or less than before?",
    of="score_variance",
)
def scale_multiplied(d, n, generator, scaled=False):
    q, k = pairs(d, n, generator)
    return ((q * k).sum(-1) * (math.sqrt(d) if scaled else 1)).var()


@exercise.mistake(
    "`scaled` makes no difference in your version: the scores are never divided. Where does the "
    "argument come in?",
    of="score_variance",
)
def never_scaled(d, n, generator, scaled=False):
    q, k = pairs(d, n, generator)
    return variance((q * k).sum(-1), d, False)


@exercise.mistake(
    "Your scores are divided by √d always. What is the default of `scaled`, and what does it ask "
    "for?",
    of="score_variance",
)
def always_scaled(d, n, generator, scaled=False):
    q, k = pairs(d, n, generator)
    return variance((q * k).sum(-1), d, True)


@exercise.mistake(
    "Where nobody says `scaled`, your scores are divided. Which default does the task give it?",
    of="score_variance",
)
def scaled_by_default(d, n, generator, scaled=True):
    return score_variance(d, n, generator, scaled)


@exercise.mistake(
    "`scaled` works the wrong way round. When are scores divided?",
    of="score_variance",
)
def scaled_inverted(d, n, generator, scaled=False):
    return score_variance(d, n, generator, not scaled)


@exercise.mistake(
    "What you return is known beforehand: it does not depend on any random number. The task asks "
    "for the variance of scores that were drawn. Which n scores are those?",
    of="score_variance",
)
def theory_returned(d, n, generator, scaled=False):
    torch.randn(2, n, d, generator=generator)
    return torch.tensor(1.0 if scaled else float(d))


@exercise.mistake(
    "This is the mean of the scores, which is about 0. How far from it do they lie?",
    of="score_variance",
)
def mean_returned(d, n, generator, scaled=False):
    q, k = pairs(d, n, generator)
    return (q * k).sum(-1).mean() / (math.sqrt(d) if scaled else 1)


@exercise.mistake(
    "Your keys are the queries in another order. Then some scores are the same twice: where should "
    "each pair's key come from?",
    of="score_variance",
)
def queries_as_keys(d, n, generator, scaled=False):
    q, _ = pairs(d, n, generator)
    return variance((q * q.roll(1, 0)).sum(-1), d, scaled)


@exercise.mistake(
    "Your numbers have the right mean and variance and are not normal: too few of them lie far "
    "out (+1 and -1, or evenly spread ones). Which call makes standard normal ones?",
    of="score_variance",
)
def plus_or_minus_1(d, n, generator, scaled=False):
    q, k = 2.0 * torch.randint(0, 2, (2, n, d), generator=generator) - 1
    return variance((q * k).sum(-1), d, scaled)


@exercise.mistake(
    "You draw from a copy of the generator (one with the same seed or state), so the generator "
    "itself stays where it was, and the next call gives the same numbers again. Who should move "
    "on?",
    of="score_variance",
)
def generator_copied(d, n, generator, scaled=False):
    twin = torch.Generator()
    twin.set_state(generator.get_state())
    return score_variance(d, n, twin, scaled)


@exercise.mistake(
    "There is an axis of length 1 on your number: `keepdim`, or a product that kept one. How many "
    "dimensions does the task ask for?",
    of="score_variance",
)
def one_number_in_a_list(d, n, generator, scaled=False):
    q, k = pairs(d, n, generator)
    return variance((q * k).sum(-1), d, scaled)[None]


@exercise.mistake(
    "`torch.rand` spreads numbers evenly from 0 to 1: their mean is not 0, their variance not 1. "
    "Which call makes standard normal ones?",
    of="score_variance",
)
def uniform_numbers(d, n, generator, scaled=False):
    q, k = torch.rand(2, n, d, generator=generator)
    return variance((q * k).sum(-1), d, scaled)


@exercise.mistake(
    "Your scores are means over the numbers of a pair. A dot product has no division in it: what "
    "does it do with the d products?",
    of="score_variance",
)
def mean_for_a_sum(d, n, generator, scaled=False):
    q, k = pairs(d, n, generator)
    return variance((q * k).mean(-1), d, scaled)


@exercise.mistake(
    "Your variance is one over single products q_i · k_i: nothing is added up. How many numbers "
    "make one score?",
    of="score_variance",
)
def products_not_summed(d, n, generator, scaled=False):
    q, k = pairs(d, n, generator)
    return variance(q * k, d, scaled)


@exercise.mistake(
    "Your sums run over the pairs, so n and d have changed places. Which axis is a dot product "
    "summed over, and how long must it be?",
    of="score_variance",
)
def summed_over_pairs(d, n, generator, scaled=False):
    q, k = pairs(n, d, generator)
    return variance((q * k).sum(-1), d, scaled)


@exercise.mistake(
    "There is no key in your scores: they are sums over the query alone, or its length. What is "
    "multiplied with what in q · k?",
    of="score_variance",
)
def no_key(d, n, generator, scaled=False):
    q, _ = pairs(d, n, generator)
    return variance(q.norm(dim=-1), d, scaled)


@exercise.mistake(
    "One query meets all keys (or one key all queries), so your number depends on how long that "
    "one happens to be. How many queries do n pairs have?",
    of="score_variance",
)
def one_query_for_all(d, n, generator, scaled=False):
    q, k = torch.randn(d, generator=generator), torch.randn(n, d, generator=generator)
    return variance(k @ q, d, scaled)


@exercise.mistake(
    "Every query meets every key: that is n × n scores, not n, and at n = 100,000 they take "
    "40 GB. Which product gives one score for each pair?",
    of="score_variance",
)
def all_with_all(d, n, generator, scaled=False):
    q, k = pairs(d, n, generator)
    return variance(q @ k.T, d, scaled)


@exercise.mistake(
    "The number of pairs is fixed in your code. What does the caller say with n?",
    of="score_variance",
)
def n_ignored(d, n, generator, scaled=False):
    q, k = pairs(d, 6000, generator)
    return variance((q * k).sum(-1), d, scaled)


@exercise.mistake(
    "Your random numbers do not come from the generator that you were given. Which argument of "
    "torch's random functions takes it?",
    of="score_variance",
)
def global_random_numbers(d, n, generator, scaled=False):
    q, k = pairs(d, n, None)
    return variance((q * k).sum(-1), d, scaled)


@exercise.mistake(
    "You seed the generator yourself, so every call gives the same numbers. Who decides where it "
    "stands?",
    of="score_variance",
)
def seeds_again(d, n, generator, scaled=False):
    q, k = pairs(d, n, generator.manual_seed(0))
    return variance((q * k).sum(-1), d, scaled)


@exercise.mistake(
    "The variance of each single pair's (or each axis's) numbers comes back, many numbers "
    "instead of one. Over what does the variance run?",
    of="score_variance",
)
def a_variance_for_each_axis(d, n, generator, scaled=False):
    q, k = pairs(d, n, generator)
    return variance(q * k, d, scaled) + (q * k).var(0)


def keys_and_query(d, num_keys, n, generator):
    q = torch.randn(n, 1, d, generator=generator)
    return q, torch.randn(n, num_keys, d, generator=generator)


def weights_of(scores, d, scaled, dim=-1):
    return torch.softmax(scores / math.sqrt(d) if scaled else scores, dim)


@exercise.mistake(
    "You take the mean of all the weights. A row sums to one, so that mean is known beforehand: "
    "which weight of each row is asked for?",
    of="saturation",
)
def mean_weight(d, num_keys, n, generator, scaled=True):
    q, k = keys_and_query(d, num_keys, n, generator)
    return weights_of((q * k).sum(-1), d, scaled).mean()


@exercise.mistake(
    "You take the largest weight of all queries together. Of each query one is asked for: what "
    "comes after that?",
    of="saturation",
)
def largest_of_all(d, num_keys, n, generator, scaled=True):
    q, k = keys_and_query(d, num_keys, n, generator)
    return weights_of((q * k).sum(-1), d, scaled).max()


@exercise.mistake(
    "You average the weights over the queries first and take the largest of those means. Which of "
    "the two steps comes first?",
    of="saturation",
)
def largest_of_means(d, num_keys, n, generator, scaled=True):
    q, k = keys_and_query(d, num_keys, n, generator)
    return weights_of((q * k).sum(-1), d, scaled).mean(0).max()


@exercise.mistake(
    "These are the largest scores, not the largest weights: they may be above 1. What turns "
    "scores into weights?",
    of="saturation",
)
def largest_score(d, num_keys, n, generator, scaled=True):
    q, k = keys_and_query(d, num_keys, n, generator)
    scores = (q * k).sum(-1)
    return (scores / math.sqrt(d) if scaled else scores).amax(-1).mean()


@exercise.mistake(
    "Your softmax runs over the queries. Whose weights share one unit?",
    of="saturation",
)
def softmax_over_queries(d, num_keys, n, generator, scaled=True):
    q, k = keys_and_query(d, num_keys, n, generator)
    return weights_of((q * k).sum(-1), d, scaled, dim=0).amax(-1).mean()


@exercise.mistake(
    "`scaled` makes no difference in your saturation: the scores are never divided. Where does "
    "the argument come in?",
    of="saturation",
)
def saturation_never_scaled(d, num_keys, n, generator, scaled=True):
    return saturation(d, num_keys, n, generator, False)


@exercise.mistake(
    "Your scores are divided also where `scaled` is False. What was that argument to show?",
    of="saturation",
)
def saturation_always_scaled(d, num_keys, n, generator, scaled=True):
    return saturation(d, num_keys, n, generator, True)


@exercise.mistake(
    "`scaled` works the wrong way round, or its default is not the one in the task. When are "
    "scores divided?",
    of="saturation",
)
def saturation_scaled_inverted(d, num_keys, n, generator, scaled=True):
    return saturation(d, num_keys, n, generator, not scaled)


@exercise.mistake(
    "You divide the scores of `saturation` by d. What brings their standard deviation to 1?",
    of="saturation",
)
def saturation_scaling_squared(d, num_keys, n, generator, scaled=True):
    q, k = keys_and_query(d, num_keys, n, generator)
    return weights_of((q * k).sum(-1) / (math.sqrt(d) if scaled else 1), d, scaled).amax(-1).mean()


@exercise.mistake(
    "All queries look at the same few keys, so your number depends on how those happen to lie. "
    "Whose keys are they in the task?",
    of="saturation",
)
def keys_shared(d, num_keys, n, generator, scaled=True):
    q = torch.randn(n, d, generator=generator)
    k = torch.randn(num_keys, d, generator=generator)
    return weights_of(q @ k.T, d, scaled).amax(-1).mean()


@exercise.mistake(
    "You return a largest weight for each query, many numbers. What is asked for is one: which "
    "step is left?",
    of="saturation",
)
def largest_weights_listed(d, num_keys, n, generator, scaled=True):
    q, k = keys_and_query(d, num_keys, n, generator)
    return weights_of((q * k).sum(-1), d, scaled).amax(-1)


@exercise.mistake(
    "`saturation` takes the mean over a fixed number of queries. What does the caller say with n?",
    of="saturation",
)
def number_of_queries_fixed(d, num_keys, n, generator, scaled=True):
    return saturation(d, num_keys, 1000, generator, scaled)


@exercise.mistake(
    "The random numbers of `saturation` do not come from the generator that you were given. Which "
    "argument of torch's random functions takes it?",
    of="saturation",
)
def saturation_global_random_numbers(d, num_keys, n, generator, scaled=True):
    return saturation(d, num_keys, n, None, scaled)


@exercise.also_right(of="score_variance")
def dot_by_einsum(d, n, generator, scaled=False):
    q = torch.randn(n, d, generator=generator, dtype=torch.float64)
    k = torch.randn(n, d, generator=generator, dtype=torch.float64)
    scores = torch.einsum("nd,nd->n", q, k) * (d**-0.5 if scaled else 1.0)
    return torch.var(scores, unbiased=False)


@exercise.also_right(of="score_variance")
def mean_of_squares(d, n, generator, scaled=False):
    """The scores' mean is 0, so that their mean square is their variance; a float comes back."""
    k = torch.empty(d, n).normal_(generator=generator)
    q = torch.empty(d, n).normal_(generator=generator)
    mean_square = (q * k).sum(dim=0).pow(2).mean().item()
    return mean_square / d if scaled else mean_square


@exercise.also_right(of="score_variance")
def in_portions(d, n, generator, scaled=False):
    scores = []
    for start in range(0, n, 100):
        q, k = (torch.randn(min(100, n - start), d, generator=generator) for _ in range(2))
        scores.append(torch.linalg.vecdot(q, k) / (math.sqrt(d) if scaled else 1))
    return torch.cat(scores).var()


@exercise.also_right(of="saturation")
def by_matmul(d, num_keys, n, generator, scaled=True):
    q = torch.randn((n, d, 1), generator=generator)
    k = torch.randn((n, num_keys, d), generator=generator)
    scores = torch.matmul(k, q).squeeze(-1)
    if scaled:
        scores = scores * d**-0.5
    weights = torch.nn.functional.softmax(scores, dim=-1)
    return weights.max(dim=-1).values.mean()


@exercise.also_right(of="saturation")
def by_log_sum_exp(d, num_keys, n, generator, scaled=True):
    k = torch.randn(num_keys, n, d, generator=generator).double()
    q = torch.randn(n, d, generator=generator).double()
    scores = torch.einsum("knd,nd->nk", k, q)
    scores = scores / (math.sqrt(d) if scaled else 1.0)
    return float((scores.amax(1) - scores.logsumexp(1)).exp().mean())
