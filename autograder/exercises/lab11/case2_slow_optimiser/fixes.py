"""Other ways to fix it, and ways that do not."""

from __future__ import annotations

from . import case

case.other_fix("betas_by_number", {"value=1 - beta1": 'value=1 - group["betas"][1]'})
case.other_fix(
    "by_assignment",
    {
        "v.mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta1)": (
            "v.copy_(beta2 * v + (1 - beta2) * p.grad**2)"
        )
    },
)
case.other_fix(
    "by_lerp",
    {
        "v.mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta1)": (
            "v.lerp_(p.grad.square(), 1 - beta2)"
        )
    },
)

case.wrong_fix(
    "beta1_throughout_v",
    {"v.mul_(beta2)": "v.mul_(beta1)"},
    "The two numbers in the line of v agree now, and the first updates have nearly the right size. "
    "But for how long should v remember a square? Does your test make a second update?",
)
case.wrong_fix(
    "corrected_with_beta1",
    {"v_hat = v / (1 - beta2": "v_hat = v / (1 - beta1"},
    "The first update has the right length now. Is the second one right? You changed what v is "
    "divided by; what should it be, according to the docstring?",
)
case.wrong_fix(
    "both_averages_changed",
    {"value=1 - beta1": "value=1 - beta2", "alpha=1 - beta1": "alpha=1 - beta2"},
    "v is right now, but you changed the line of m as well. Which of the two averages did your "
    "test find wrong?",
)
case.wrong_fix(
    "betas_swapped",
    {"beta1, beta2 =": "beta2, beta1 ="},
    "You swapped the two betas for the whole function, so m and v now remember for the wrong time. "
    "In how many lines was a beta wrong?",
)
case.wrong_fix(
    "beta1_everywhere_in_v",
    {"v.mul_(beta2)": "v.mul_(beta1)", "v_hat = v / (1 - beta2": "v_hat = v / (1 - beta1"},
    "v is an average again, and the first update has the right length. But it is an average with "
    "beta1: for how long should v remember a square?",
)
case.wrong_fix(
    "beta2_in_m",
    {"alpha=1 - beta1": "alpha=1 - beta2"},
    "You changed the line of m. Which of the four numbers m, v, `m_hat` and `v_hat` was wrong in "
    "the first update, for a gradient of 1?",
)
case.wrong_fix(
    "the_old_weight",
    {"value=1 - beta1": "value=beta2"},
    "The newest square enters with the weight of the old ones now. What should the two weights of "
    "an average add up to?",
)
case.wrong_fix(
    "larger_rate",
    {'p.sub_(group["lr"] * m_hat': 'p.sub_(10 * group["lr"] * m_hat'},
    "With the usual betas this comes out right. But a factor in front hides the mistake, and does "
    "not correct it: what happens with other betas, or with a large eps?",
)
case.wrong_fix(
    "no_average_of_squares",
    {"v.mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta1)": "v.copy_(p.grad * p.grad)"},
    "v is the last square now, and no longer an average. Should the squares of earlier gradients "
    "count, according to the docstring?",
)
case.wrong_fix(
    "not_kept",
    {
        "v.mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta1)": (
            "v = beta2 * v + (1 - beta2) * p.grad * p.grad"
        )
    },
    "The first update is right now, and the second is not. Your line makes a new tensor and calls "
    "it v: which one does the state hold at the next step?",
)
case.wrong_fix(
    "sum_of_squares",
    {"value=1 - beta1": "value=1"},
    "Each square enters v in full now, so v is a sum and not an average. What do the weights of an "
    "average add up to?",
)
case.wrong_fix(
    "v_not_corrected",
    {"v_hat = v / (1 - beta2": "v_hat = v / (1 - 0 * beta2"},
    "v is not divided by what its weights add up to any more. How large is v after one gradient?",
)
