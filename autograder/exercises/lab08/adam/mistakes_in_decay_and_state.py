"""Known mistakes: weight decay, missing gradients, groups, memory and what the state holds."""

from __future__ import annotations

from . import exercise
from .also_right import BeforeNoGrad, LikeTorchsLoop, Plain

wrong = exercise.edits(Plain)
in_torchs_style = exercise.edits(LikeTorchsLoop)
in_older_style = exercise.edits(BeforeNoGrad)

DECAYED = "                    p *= 1 - lr * decay\n"
UPDATED = "                p -= lr * m_hat / (v_hat.sqrt() + eps)\n"
NO_GRADIENT = "                if p.grad is None:\n                    continue\n"
FIRST_STATE = (
    '                    state["m"] = torch.zeros_like(p)\n'
    '                    state["v"] = torch.zeros_like(p)\n'
)

wrong(
    "always_coupled",
    'if group["decoupled_weight_decay"]:',
    "if False:",
    "With `decoupled_weight_decay=True` your decay still goes through both averages. What is "
    "multiplied in that form?",
)
wrong(
    "always_decoupled",
    'if group["decoupled_weight_decay"]:',
    "if True:",
    "Without `decoupled_weight_decay` your decay is still that of AdamW. What is added to what in "
    "the other form?",
)
wrong(
    "forms_swapped",
    'if group["decoupled_weight_decay"]:',
    'if not group["decoupled_weight_decay"]:',
    "Your two forms of weight decay are swapped. Which of them does AdamW have?",
)
wrong(
    "both_forms_at_once",
    "                else:\n                    g = g + decay * p\n",
    "                g = g + decay * p\n",
    "With `decoupled_weight_decay=True` weights decay twice in your update. What happens to g in "
    "that form?",
)
wrong(
    "no_weight_decay",
    'lr, eps, decay = group["lr"], group["eps"], group["weight_decay"]',
    'lr, eps, decay = group["lr"], group["eps"], 0.0',
    "`weight_decay` changes nothing in your updates. Where does it come in?",
)
wrong(
    "decoupled_without_lr",
    "p *= 1 - lr * decay",
    "p *= 1 - decay",
    "Your decoupled decay does not depend on the learning rate. By what is p multiplied in the "
    "task?",
)
wrong(
    "coupled_with_lr",
    "g = g + decay * p",
    "g = g + lr * decay * p",
    "Your coupled decay is multiplied by lr before it reaches the averages. What is added to g in "
    "the task?",
)
wrong(
    "decoupled_with_the_first_rate",
    "p *= 1 - lr * decay",
    'p *= 1 - self.defaults["lr"] * decay',
    "Your decoupled decay uses the lr given to `Adam(…)`, so a schedule that changes a group's lr "
    "leaves the decay as it was. Which lr does the task multiply by?",
)
wrong(
    "weights_grow",
    "p *= 1 - lr * decay",
    "p *= 1 + lr * decay",
    "Your decoupled decay makes weights larger. Towards which number should they go?",
)
wrong(
    "coupled_with_the_wrong_sign",
    "g = g + decay * p",
    "g = g - decay * p",
    "Your coupled decay pulls weights away from 0. Which sign has the gradient of p²?",
)
wrong.several(
    "decay_after_the_update",
    {
        DECAYED: "                    pass\n",
        UPDATED: UPDATED + '                if group["decoupled_weight_decay"]:\n'
        "                    p *= 1 - lr * decay\n",
    },
    "Your decay shrinks the update, too, because it comes last. Which of the two is first in the "
    "task?",
)
wrong(
    "coupled_decay_after_the_averages",
    "                else:\n                    g = g + decay * p\n",
    "                else:\n                    p -= lr * decay * p\n",
    "Your coupled decay does not go through m and v. To what is it added in the task?",
)
wrong(
    "decay_into_grad",
    "g = g + decay * p",
    "g.add_(p, alpha=decay)",
    "Your coupled decay is written into `p.grad`, so the caller's gradients are others after the "
    "update. Which operation makes a new tensor?",
)
in_torchs_style(
    "gradients_set_to_zero",
    "                param.addcdiv_(exp_avg, denom, value=-step_size)\n",
    "                param.addcdiv_(exp_avg, denom, value=-step_size)\n"
    "                param.grad.zero_()\n",
    "After your update all gradients are 0. Whose task is it to clear them?",
)
in_older_style(
    "gradient_overwritten",
    "p.grad.data.clone()",
    "p.grad.data",
    "Your coupled decay changes the gradient in its own memory, through `.data`. What does the "
    "caller find in `p.grad` after the update?",
)
wrong(
    "missing_gradient_is_an_error",
    NO_GRADIENT,
    "",
    "Your update fails at a parameter that has no gradient. What is its `.grad`?",
)
wrong.several(
    "missing_gradient_as_zeros",
    {
        NO_GRADIENT: "",
        "g, state = p.grad,": "g, state = (torch.zeros_like(p) if p.grad is None else p.grad),",
    },
    "You take a missing gradient for a gradient of zeros, so weights without a gradient move or "
    "decay. What should happen to them?",
)
wrong(
    "stops_at_a_missing_gradient",
    NO_GRADIENT,
    "                if p.grad is None:\n                    break\n",
    "After a parameter without a gradient, your update leaves out the rest of its group. Which "
    "word goes on with the next one?",
)
wrong(
    "returns_at_a_missing_gradient",
    NO_GRADIENT,
    "                if p.grad is None:\n                    return loss\n",
    "A parameter without a gradient ends your whole update. Which parameters still wait for "
    "theirs?",
)
wrong(
    "zeros_skipped",
    "if p.grad is None:",
    "if p.grad is None or not p.grad.any():",
    "You skip gradients of zeros. What do m, v and weight decay do with such a gradient?",
)
wrong(
    "decays_without_a_gradient",
    NO_GRADIENT,
    "                if p.grad is None:\n                    p *= 1 - lr * decay\n"
    "                    continue\n",
    "A parameter without a gradient decays in your update. What may happen to it?",
)
wrong.several(
    "counts_without_a_gradient",
    {
        NO_GRADIENT: '                self.state[p]["t"] = self.state[p].get("t", 0) + 1\n'
        + NO_GRADIENT,
        'len(state) == 0:\n                    state["t"] = 0\n': '"m" not in state:\n',
        '                state["t"] += 1\n': "",
    },
    "Your t also grows in updates in which a parameter has no gradient. Which of its updates does "
    "t count?",
)
wrong(
    "averages_fade_without_a_gradient",
    NO_GRADIENT,
    '                if p.grad is None:\n                    if "m" in self.state[p]:\n'
    '                        self.state[p]["m"] = beta1 * self.state[p]["m"]\n'
    "                    continue\n",
    "Your average m changes in an update in which its parameter has no gradient. What is left "
    "alone in such an update?",
)
wrong(
    "first_group_only",
    "for group in self.param_groups:",
    "for group in self.param_groups[:1]:",
    "Only the first group of parameters moves in your update. How many are in `param_groups`?",
)
wrong(
    "numbers_of_the_first_group",
    'lr, eps, decay = group["lr"], group["eps"], group["weight_decay"]',
    "first = self.param_groups[0]\n"
    '            lr, eps, decay = first["lr"], first["eps"], first["weight_decay"]',
    "All your groups use the numbers of the first one. Where are those of the others?",
)
wrong(
    "numbers_of_the_beginning",
    'lr, eps, decay = group["lr"], group["eps"], group["weight_decay"]',
    "numbers = self.defaults\n"
    '            lr, eps, decay = numbers["lr"], numbers["eps"], numbers["weight_decay"]',
    "Your update uses the numbers given to `Adam(…)`, so a schedule that changes a group's lr has "
    "no effect. Where does the group keep them?",
)
wrong(
    "betas_of_the_beginning",
    'beta1, beta2 = group["betas"]',
    'beta1, beta2 = self.defaults["betas"]',
    "Your update always uses the betas given to `Adam(…)`. Which betas has a group of its own?",
)
wrong(
    "another_tensor",
    UPDATED,
    "                p.data = p - lr * m_hat / (v_hat.sqrt() + eps)\n",
    "After your update a parameter has other memory, and whatever shares the old memory does not "
    "follow. Which operations change a tensor in place?",
)
in_older_style(
    "half_precision",
    "torch.zeros_like(p.data), torch.zeros_like(p.data)",
    "torch.zeros_like(p.data).half(), torch.zeros_like(p.data).half()",
    "Your averages have 16 bits, so small squares become 0 and large ones inf. Which dtype should "
    "they have?",
)
in_torchs_style.several(
    "single_precision",
    {
        "torch.zeros_like(param, memory_format=torch.preserve_format)": "torch.zeros(param.shape)",
        "torch.zeros_like(param)": "torch.zeros(param.shape)",
        "exp_avg.lerp_(grad, 1 - beta1)": "exp_avg.mul_(beta1).add_(grad, alpha=1 - beta1)",
    },
    "Your averages are float32 although the parameters are float64, so they agree to seven digits "
    "only. Which dtype has `torch.zeros(…)` if you do not say any?",
)
wrong.several(
    "state_outside",
    {
        "self.state[p]": 'self.__dict__.setdefault("kept", {}).setdefault(p, {})',
    },
    "Your averages are not in `self.state`, so a `state_dict()` does not hold them. How would a "
    "training go on after it was stopped?",
)
wrong(
    "count_outside",
    '                state["t"] += 1\n                t = state["t"]\n',
    '                counts = self.__dict__.setdefault("counts", {})\n'
    "                t = counts[p] = counts.get(p, 0) + 1\n",
    "Your t is not in `self.state`, so it starts from 1 when a training goes on. Where do m and v "
    "live?",
)
wrong(
    "closure_ignored",
    "                loss = closure()\n",
    "                pass\n",
    "Your `step` never calls its closure. What should it return?",
)
wrong(
    "closure_without_gradients",
    "            with torch.enable_grad():\n                loss = closure()\n",
    "            loss = closure()\n",
    "Your closure runs without gradients, because `step` is under `no_grad`. What does its "
    "`backward()` need?",
)
wrong(
    "closure_result_lost",
    "        return loss\n",
    "        return None\n",
    "Your `step` computes the closure's loss and keeps it to itself. What should the caller get?",
)
