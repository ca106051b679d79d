"""noam: the paper's learning rate, which rises in a line and falls with the root of the step."""

from __future__ import annotations

import math

from attnlab.checking.judges import Close
from attnlab.optimizers import noam
from gradekit.exercise import Exercise

exercise = Exercise(noam)
RELATIVE = Close(atol=0)  # rates are so small that an absolute tolerance forgives a lot


def drawn(draw):
    """A width and a number of warm-up steps, at random."""
    return 16 * int(draw.integers(5, 40)), int(draw.integers(50, 5000))


@exercise.check(points=2, judge=RELATIVE)
def peak(lab, draw):
    """Is highest at update number `warmup`, where the rise and the fall meet."""
    d_model, warmup = drawn(draw)
    rates = {
        place: lab.noam(step, d_model, warmup)
        for place, step in {
            "one update before the peak": warmup - 1,
            "at the peak": warmup,
            "one update after the peak": warmup + 1,
        }.items()
    }
    top = rates["at the peak"]
    return {**rates, "highest in the middle": all(top >= rate for rate in rates.values())}


@exercise.check(points=0.5, judge=RELATIVE, hidden=True)
def rise_and_fall(lab, draw):
    """Rises in a straight line from the first update on, and falls with the root of the step."""
    d_model, warmup = drawn(draw)
    steps = {
        "first": 1,
        "second": 2,
        "half of the warm-up": warmup // 2,
        "four times the warm-up": 4 * warmup,
        "a hundred times the warm-up": 100 * warmup,
    }
    return {name: lab.noam(step, d_model, warmup) for name, step in steps.items()}


@exercise.check(points=0.5, judge=RELATIVE, hidden=True)
def factor(lab, draw):
    """`factor` multiplies every rate once."""
    d_model, warmup = drawn(draw)
    number = float(draw.uniform(1, low=2, high=5))
    return [lab.noam(step, d_model, warmup, number) for step in (3, warmup, 7 * warmup)]


@exercise.check(points=0.5, judge=RELATIVE, hidden=True)
def other_sizes(lab, draw):
    """Is right for every width and every warm-up, a warm-up of one update included."""

    def ask(d_model, warmup):
        return [lab.noam(step, d_model, warmup) for step in (1, 2, 5)]

    return draw.each_size(ask, d_model=48, warmup=3)


@exercise.check(points=0.5)
def no_update_before_the_first(lab, draw):
    """Raises a ValueError for a step below 1."""
    below = -int(draw.integers(1, 50))
    return {
        "step 0": draw.raises(lab.noam, 0, 512, 4000),
        "a negative step": draw.raises(lab.noam, below, 512, 4000),
    }


@exercise.also_right
def two_branches(step, d_model, warmup, factor=1.0):
    if step < 1:
        raise ValueError("the first update has the number 1")
    rate = 1 / math.sqrt(step)
    if step <= warmup:
        rate = step / (warmup * math.sqrt(warmup))
    return factor * rate / math.sqrt(d_model)


@exercise.also_right
def one_minimum(step, d_model, warmup, factor=1.0):
    if step <= 0:
        raise ValueError(f"{step} is not the number of an update")
    width = d_model ** (-0.5)
    rate = min(step ** (-0.5), step * warmup ** (-1.5))
    return factor * (width * rate)


@exercise.also_right
def from_its_peak(step, d_model, warmup, factor=1.0):
    if not step >= 1:
        raise ValueError(step)
    peak = factor / (d_model * warmup) ** 0.5
    t = step / warmup
    return peak * min(t, 1 / t**0.5)


wrong = exercise.edits(one_minimum)
edited = exercise.edits(two_branches)

wrong(
    "larger_of_the_two",
    "min(",
    "max(",
    "Compare both parts of the formula at update 1 and at update `warmup`. Which of the two is "
    "smaller at first, and which later?",
)
wrong(
    "cube_without_the_root",
    "warmup ** (-1.5)",
    "warmup ** (-3)",
    "You divide by the third power of `warmup`. At update `warmup`, are the two parts of your "
    "formula equal?",
)
wrong(
    "cube_of_the_quotient",
    "step * warmup ** (-1.5)",
    "(step / warmup**0.5) ** 3",
    "You raise the step to the third power, too. What is the power of the step in a straight line?",
)
wrong(
    "root_only_of_the_warmup",
    "warmup ** (-1.5)",
    "warmup ** (-0.5)",
    "You divide by √`warmup`. At update `warmup`, are the two parts of your formula equal?",
)
wrong(
    "divided_by_the_warmup",
    "warmup ** (-1.5)",
    "warmup ** (-1)",
    "Your rate is highest long before update `warmup`. Are the two parts of your formula equal "
    "there?",
)
wrong(
    "width_without_the_root",
    "d_model ** (-0.5)",
    "d_model ** (-1)",
    "You divide by the width itself. What stands around d in the formula?",
)
wrong(
    "multiplied_by_the_root_of_the_width",
    "d_model ** (-0.5)",
    "d_model**0.5",
    "You multiply by √`d_model`. Should a wider model take larger or smaller steps?",
)
wrong(
    "width_left_out",
    "d_model ** (-0.5)",
    "1.0",
    "Your rate is the same for every width. Where does `d_model` come in?",
)
wrong(
    "factor_left_out",
    "factor * (width * rate)",
    "width * rate",
    "Your rate does not change with `factor`. What should it multiply?",
)
wrong(
    "factor_twice",
    "factor * (width * rate)",
    "factor * (width * factor * rate)",
    "With a `factor` of 2 your rate is four times as high. How many times should it multiply?",
)
edited(
    "factor_only_while_it_rises",
    "        rate = step / (warmup * math.sqrt(warmup))\n",
    "        rate = factor * step / (warmup * math.sqrt(warmup))\n",
    "Your `factor` acts on the rise and on the fall in different ways. What happens to the rate "
    "between updates `warmup` and `warmup` + 1?",
)
wrong(
    "counted_from_zero",
    "width * rate",
    "width * min((step + 1) ** -0.5, (step + 1) * warmup**-1.5)",
    "Your peak is one update early. From which number does the task count updates?",
)
wrong(
    "never_falls",
    "min(step ** (-0.5), step * warmup ** (-1.5))",
    "min(step, warmup) * warmup ** (-1.5)",
    "After the warm-up your rate stays the same. What should it do there?",
)
wrong(
    "falls_in_proportion",
    "step ** (-0.5)",
    "warmup**0.5 / step",
    "After the warm-up your rate halves when the step doubles. How fast should it fall?",
)
wrong(
    "never_rises",
    "min(step ** (-0.5), step * warmup ** (-1.5))",
    "step ** (-0.5)",
    "Your rate is highest at the first update. What does the warm-up change?",
)
wrong(
    "falls_from_one_again",
    "min(step ** (-0.5), step * warmup ** (-1.5))",
    "(step * warmup ** (-1.5) if step <= warmup else (step - warmup) ** (-0.5))",
    "Right after the warm-up your rate jumps. From which number does the fall count the updates?",
)
wrong(
    "no_error_for_update_zero",
    '    if step <= 0:\n        raise ValueError(f"{step} is not the number of an update")\n',
    "",
    "You let the step be 0. What does Python say about 1/√0, and what should a caller read?",
)
wrong(
    "update_zero_has_rate_zero",
    'raise ValueError(f"{step} is not the number of an update")',
    "return 0.0",
    "An update with the rate 0 changes nothing, and nobody notices. What does the task ask for "
    "if a step is below 1?",
)
wrong(
    "negative_steps_allowed",
    "if step <= 0:",
    "if step == 0:",
    "You refuse 0 alone. Which other steps are below 1?",
)
wrong(
    "first_update_refused",
    "if step <= 0:",
    "if step <= 1:",
    "You refuse update 1, too. What is the number of the first update?",
)

exercise.promises(
    {
        "it rises in a straight line, then falls with the root of the step": "rise_and_fall peak",
        "factor / √d_model · min(1/√step, step / warmup^1.5)": "rise_and_fall peak factor",
        "the update with the highest rate; 1 or more": "peak other_sizes",
        "factor: multiplies everything.": "factor",
        "`step` is below 1.": "no_update_before_the_first",
    },
    explained=[
        "The paper's learning rate",
        "step: the number of the update, from 1.",
        "d_model: features of the model's vectors.",
    ],
)
