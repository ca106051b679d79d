"""score_variance: why scores are divided by √d, and what happens if they are not."""

from __future__ import annotations

import math

import torch

from attnlab.attention import saturation, score_variance
from attnlab.checking.peak_memory import LargestTensor
from gradekit.exercise import Exercise

exercise = Exercise(score_variance, saturation)


def rounded(number):
    """The number to one digit: random numbers change its third digit, not its first."""
    return round(float(number), 1)


def spread(call, times):
    """The standard deviation of the results of many calls."""
    return float(torch.tensor([float(call()) for _ in range(times)]).std())


def deviation(call):
    """√variance over four calls: exact to 1 % together, and no call needs much memory."""
    variance = sum(float(call()) for _ in range(4)) / 4
    return math.copysign(math.sqrt(abs(variance)), variance)  # a variance is never below 0


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
    two = [float(lab.score_variance(9, 2000, draw.generator())) for _ in range(2)]
    one = torch.as_tensor(lab.score_variance(3, 20, draw.generator()))
    few, more = (float(lab.score_variance(9, n, draw.generator())) for n in (50, 51))
    return {
        **seen,
        "√variance / √16 with scaled=False, to one digit": rounded(asked / 4),
        "the variances of 50 and of 51 pairs are different": few != more,
        "two variances of different random numbers are different": two[0] != two[1],
        "number of dimensions": one.ndim,
    }


@exercise.check(points=1)
def scaled_scores(lab, draw):
    """Divided by √d, scores have the standard deviation 1 to within 5 %, whatever d is."""
    small, large = int(draw.integers(5, 14)), int(draw.integers(70, 100))
    return {
        f"√variance for d={d}, to one digit": rounded(
            deviation(lambda d=d: lab.score_variance(d, 2000, draw.generator(), scaled=True))
        )
        for d in (small, large)
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
    """Scaled (the default), the largest weight depends on the number of keys and not on d."""
    return {
        "d=64, 3 keys, to one digit": rounded(lab.saturation(64, 3, 1000, draw.generator())),
        "d=16, 6 keys, to one digit": rounded(
            lab.saturation(16, 6, 1000, draw.generator(), scaled=True)
        ),
        "d=4, 1 key, to one digit": rounded(lab.saturation(4, 1, 1000, draw.generator())),
        "number of dimensions": torch.as_tensor(lab.saturation(3, 2, 5, draw.generator())).ndim,
    }


@exercise.check(points=1.5)
def n_pairs(lab, draw):
    """Takes n pairs: few give a rough number, many a steady one; pairs share no vector."""
    with LargestTensor() as largest:
        lab.score_variance(4, 500, draw.generator())
    return {
        "40 variances of 4 pairs each are far apart": spread(
            lambda: lab.score_variance(2, 4, draw.generator()), 40
        )
        > 0.3,
        "25 variances of 400 pairs each are close together": spread(
            lambda: lab.score_variance(2, 400, draw.generator()), 25
        )
        <= 0.4,
        "variances of two scores are above 0": sum(
            float(lab.score_variance(5, 2, draw.generator())) > 1e-6 for _ in range(8)
        )
        == 8,
        "40 variances of 100 pairs each, for d = 1, are far apart": spread(
            lambda: lab.score_variance(1, 100, draw.generator()), 40
        )
        > 0.07,
        "no tensor is much larger than the queries": largest.bytes <= 16 * 500 * 4 * 8,
    }


@exercise.check(points=1)
def keys_of_their_own(lab, draw):
    """Takes n queries, each with keys of its own: 1500 of them give a steady largest weight."""
    return {
        "15 largest weights, each of 1500 queries, are close together": spread(
            lambda: lab.saturation(2, 2, 1500, draw.generator()), 15
        )
        <= 0.034
    }


@exercise.check(points=0.5)
def equal_generators(lab, draw):
    """Equal generators give equal results."""
    first, second = draw.generator(), draw.generator()
    again = [torch.Generator().manual_seed(g.initial_seed()) for g in (first, second)]
    variances = [float(lab.score_variance(5, 50, g)) for g in (first, again[0])]
    weights = [float(lab.saturation(5, 3, 50, g)) for g in (second, again[1])]
    return {
        "two variances of equal generators are the same": variances[0] == variances[1],
        "two largest weights of equal generators are the same": weights[0] == weights[1],
    }


@exercise.check(points=0.5, hidden=True)
def n_queries(lab, draw):
    """Takes n queries: few give a rough number, many a steady one, and one key all the weight."""
    alone = lab.saturation(7, 1, 3, draw.generator())
    return {
        "a single key gets all the weight": abs(float(alone) - 1) < 1e-6,
        "4 queries: rough": spread(lambda: lab.saturation(2, 2, 4, draw.generator()), 40) > 0.03,
        "500 queries: steady": spread(lambda: lab.saturation(2, 2, 500, draw.generator()), 25)
        < 0.03,
    }


@exercise.check(points=0.5, hidden=True)
def generators(lab, draw):
    """Uses the given generator alone: equal ones give equal results, different ones do not."""
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
        seen[f"{name}: different"] = result != number(draw.generator())
        seen[f"{name}: the same one, used again"] = result != number(again)
    few, more = (float(lab.score_variance(5, n, draw.generator())) for n in (50, 51))
    return {**seen, "variance: another n": few != more}
