"""Known mistakes: in the averages, their corrections, and the update itself."""

from __future__ import annotations

import torch

from . import exercise, mistakes_in_decay_and_state  # noqa: F401 - to register them
from .also_right import LikeTorchsLoop, Plain

wrong = exercise.edits(Plain)
in_torchs_style = exercise.edits(LikeTorchsLoop)

UPHILL = (
    "Your weights go uphill: the first update moves each of them along its gradient. Which sign "
    "does a new gradient have in m, and which has the update?"
)

wrong(
    "gradient_subtracted",
    "+ (1 - beta1) * g\n",
    "- (1 - beta1) * g\n",
    UPHILL,
)
wrong(
    "uphill",
    "p -= lr * m_hat",
    "p += lr * m_hat",
    UPHILL,
)
wrong(
    "beta1_in_v",
    "(1 - beta2) * g**2",
    "(1 - beta1) * g**2",
    "Your first update has another length than lr. Do both weights of your average v add up to 1?",
)
wrong(
    "betas_swapped",
    "beta1, beta2 = group",
    "beta2, beta1 = group",
    "Your average of the squares forgets faster than that of the gradients. Which of the betas "
    "belongs to which?",
)
wrong(
    "one_beta_for_both",
    "v = beta2 * state",
    "v = beta1 * state",
    "Your average v keeps too little of its past. Which of the betas should it use?",
)
wrong(
    "sum_of_gradients",
    "+ (1 - beta1) * g\n",
    "+ g\n",
    "Your first update is too long, by a factor that depends on β₁. Do the two weights of your "
    "average m add up to 1?",
)
wrong(
    "sum_of_squares",
    'v = beta2 * state["v"] + (1 - beta2) * g**2',
    'v = state["v"] + (1 - beta2) * g**2',
    "Your v only grows, so updates become shorter and shorter. What does an average forget?",
)
wrong(
    "no_square",
    "(1 - beta2) * g**2",
    "(1 - beta2) * g.abs()",
    "A gradient ten times as large makes your first update longer. What is averaged in v?",
)
wrong(
    "no_root",
    "(v_hat.sqrt() + eps)",
    "(v_hat + eps)",
    "The length of your first update depends on the size of the gradient: small gradients make "
    "large steps. What is missing between v̂ and the division?",
)
wrong(
    "no_m",
    "p -= lr * m_hat",
    "p -= lr * g",
    "Your first update is right, and the second is not: it follows the last gradient alone. Which "
    "of the averages should be above the line?",
)
wrong(
    "lr_left_out",
    "p -= lr * m_hat",
    "p -= m_hat",
    "Each of your first updates has length 1. What should scale it?",
)
wrong.several(
    "no_correction",
    {"m / (1 - beta1**t)": "m", "v / (1 - beta2**t)": "v"},
    "The length of your first update depends on the betas. How large are m and v after a single "
    "gradient?",
)
wrong(
    "m_not_corrected",
    "m / (1 - beta1**t)",
    "m",
    "Your first updates are too short, and grow from one to the next. Which of the two averages "
    "is still close to its start, 0?",
)
wrong(
    "v_not_corrected",
    "v / (1 - beta2**t)",
    "v",
    "Your first updates are too long. How large is v after a single gradient?",
)
wrong(
    "counted_from_zero",
    '                state["t"] += 1\n                t = state["t"]\n',
    '                t = state["t"]\n                state["t"] += 1\n',
    "Your first update divides by 0. What is 1 - β₁ᵗ there, and what is t?",
)
wrong(
    "same_correction_always",
    '                t = state["t"]\n',
    "                t = 1\n",
    "Your first update is right and the second is too long. Which number changes from update to "
    "update in the corrections?",
)
wrong(
    "beta_times_t",
    "m / (1 - beta1**t)",
    "m / (1 - beta1 * t)",
    "Your first update is right; later the correction of m is not. What does the small t of β₁ᵗ "
    "mean?",
)
wrong.several(
    "corrected_twice",
    {
        "m = beta1 *": 'm = state["m"] = beta1 *',
        'state["m"], state["v"] = m, v': 'state["v"] = v',
        "m_hat = m /": 'm_hat = state["m"] = m /',
    },
    "Your first update is right and later ones are too long: m̂ takes the place of m in the state. "
    "Which of the two should the next update start from?",
)
wrong(
    "one_count_for_all",
    '                state["t"] += 1\n                t = state["t"]\n',
    '                self.updates = getattr(self, "updates", {})\n'
    "                self.updates[p] = self.updates.get(p, 0) + 1\n"
    "                t = max(self.updates.values())\n",
    "All your parameters share one t. What is t at the first gradient of a parameter that had "
    "none before?",
)
wrong(
    "eps_inside_the_root",
    "v_hat.sqrt() + eps",
    "(v_hat + eps).sqrt()",
    "With large gradients your updates are right, and with tiny ones they are too short. What is "
    "the root of your `eps`?",
)
wrong(
    "eps_squared_inside_the_root",
    "v_hat.sqrt() + eps",
    "(v_hat + eps**2).sqrt()",
    "Your `eps` hardly acts if the gradients are as large as itself. Is the root of a sum the sum "
    "of the roots?",
)
in_torchs_style(
    "eps_before_the_correction",
    '(exp_avg_sq.sqrt() / math.sqrt(1 - beta2**step)).add_(group["eps"])',
    '(exp_avg_sq.sqrt().add_(group["eps"])) / math.sqrt(1 - beta2**step)',
    "In your first updates `eps` weighs more than in later ones. Is it added to √v or to √v̂?",
)
wrong(
    "eps_of_ones_own",
    "v_hat.sqrt() + eps",
    "v_hat.sqrt() + 1e-8",
    "Another `eps` changes nothing in your updates. Where does the group's number come in?",
)
wrong(
    "no_eps",
    "v_hat.sqrt() + eps",
    "v_hat.sqrt()",
    "A gradient of zeros makes your weights NaN. What is the number below the line there?",
)
in_torchs_style(
    "one_tensor_for_both",
    '                    state["exp_avg_sq"] = torch.zeros_like(param)\n',
    '                    state["exp_avg_sq"] = state["exp_avg"]\n',
    "Your two averages are one tensor with two names, so each change of one changes the other. "
    "How many tensors of zeros do you make?",
)


@exercise.mistake(
    "Your class lets torch's own Adam do the work. What do the formulas in the task say for one "
    "parameter?"
)
class TorchsOwn(torch.optim.Adam):
    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0.0,
        decoupled_weight_decay=False,
    ):
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            decoupled_weight_decay=decoupled_weight_decay,
        )
