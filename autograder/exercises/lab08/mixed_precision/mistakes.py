"""Known mistakes in `scaler_for` and `update`: edits of a right version."""

from __future__ import annotations

from . import exercise, mistakes_in_the_step  # noqa: F401 - to register them
from .also_right import plain_scaler, plain_update

scaler = exercise.edits(plain_scaler, of="scaler_for")

scaler(
    "scaler_with_bf16",
    'precision == "fp16"',
    'precision != "fp32"',
    "Your scaler is enabled in bf16 as well. Which of the two 16-bit numbers has the range of "
    "float32?",
)
scaler(
    "scaler_always",
    'precision == "fp16"',
    "True",
    "Your scaler is enabled in every precision. For which of them is a small gradient lost?",
)
scaler(
    "scaler_never",
    'precision == "fp16"',
    "False",
    "Your scaler is never enabled, so small gradients become 0 in fp16. For which precision is it "
    "needed?",
)
scaler(
    "scaler_for_bf16_only",
    'precision == "fp16"',
    'precision == "bf16"',
    "Your scaler is enabled in the precision that needs none, and not in the one that does. Which "
    "of the two has few bits for the exponent?",
)
scaler(
    "tokens_forgotten",
    "65536.0 / 2 ** int(math.log2(tokens) + 0.5)",
    "65536.0",
    "The first scale is the same for a loss over one token and for a sum over thousands. How does "
    "the size of the sum grow?",
)
scaler(
    "scale_grows_with_tokens",
    "65536.0 / 2",
    "65536.0 * 2",
    "The first scale is larger for a sum over more tokens. Is the sum itself larger or smaller?",
)
scaler(
    "no_scaler_at_all",
    "    return torch.amp.GradScaler(device.type, init_scale=scale, enabled=wanted)\n",
    "    if not wanted:\n        return None\n"
    "    return torch.amp.GradScaler(device.type, init_scale=scale)\n",
    "In fp32 and bf16 you return None, so a loop would need two cases. Which argument of the "
    "scaler turns it off?",
)
SAYS_UPDATED = (
    "You report an update even if it was skipped. Which number shows that the scaler found inf, "
    "and at which two moments do you have to look at it?"
)
made = exercise.edits(plain_update, of="update")
UNSCALE = "    scaler.unscale_(optimizer)\n"
CLIP = "    norm = nn.utils.clip_grad_norm_(parameters, limit)\n"
STEP, UPDATE = "    scaler.step(optimizer)\n", "    scaler.update()\n"
UPDATED = "scaler.get_scale() >= before"

made.several(
    "clipped_before_unscaling",
    {UNSCALE: "", CLIP: CLIP + UNSCALE},
    "You measure and limit the gradients while they are still multiplied by the scale. Which size "
    "does the limit mean?",
)
made(
    "not_unscaled",
    UNSCALE,
    "",
    "You measure and limit the gradients while they are still multiplied by the scale. Which size "
    "does the limit mean?",
)
made(
    "no_update_of_the_scale",
    UPDATE,
    "",
    "The scale never changes: after an inf gradient, the next one will be inf as well. Which "
    "method of the scaler looks back on the step?",
)
made(
    "scale_updated_twice",
    UPDATE,
    UPDATE + "    scaler.update()\n",
    "The scale is updated more than once for an update of the weights. What does it count?",
)
made(
    "optimizer_steps_itself",
    STEP,
    "    optimizer.step()\n",
    "The optimizer makes its step whatever the gradients are, so inf and nan reach the weights. "
    "Who knows that a gradient was not finite?",
)
made(
    "stepped_twice",
    STEP,
    STEP + "    optimizer.step()\n",
    "The weights move twice: the scaler makes the optimizer's step, and you make one more. How "
    "many calls are needed?",
)
made(
    "always_updated",
    UPDATED,
    "True",
    SAYS_UPDATED,
)
made(
    "equal_scales_only",
    UPDATED,
    "scaler.get_scale() == before",
    "When the scale grows, you report a skipped update, although the weights moved. In which "
    "direction does the scale change after inf?",
)
made(
    "only_growth_counts",
    UPDATED,
    "scaler.get_scale() > before",
    "You report an ordinary update as skipped. What does the scale do in an ordinary update, and "
    "what does it do after inf?",
)
made(
    "reported_the_wrong_way_round",
    UPDATED,
    "scaler.get_scale() < before",
    "You report skipped updates as made, and made ones as skipped. What does True mean?",
)
made(
    "scale_compared_too_late",
    "    before = scaler.get_scale()\n" + UNSCALE + CLIP + STEP + UPDATE,
    UNSCALE + CLIP + STEP + UPDATE + "    before = scaler.get_scale()\n",
    SAYS_UPDATED,
)
made(
    "length_after_the_limit",
    STEP,
    STEP + "    norm = norm.clamp(max=limit)\n",
    "You return the length of the limited gradients. Which length does the task ask for?",
)
made(
    "scaled_length",
    "    return norm, updated\n",
    "    return norm * before, updated\n",
    "The length that you return is that of the scaled gradients. Which size is their true one?",
)
made(
    "no_limit_fails",
    "    limit = math.inf if max_norm is None else max_norm\n",
    "    limit = max_norm\n",
    "With `max_norm=None`, your code fails. What does None mean here?",
)
made(
    "no_limit_is_one",
    "    limit = math.inf if max_norm is None else max_norm\n",
    "    limit = max_norm or 1.0\n",
    "With `max_norm=None`, you limit the gradients to length 1. What does None mean here?",
)
made(
    "no_length_without_a_limit",
    CLIP,
    "    parameters = list(parameters)\n    norm = torch.tensor(0.0)\n"
    "    if max_norm is not None:\n"
    "        norm = nn.utils.clip_grad_norm_(parameters, limit)\n",
    "Without a limit, the length that you return is 0. What should the log show then?",
)
made(
    "not_clipped",
    CLIP,
    "    norm = nn.utils.get_total_norm([p.grad for p in parameters if p.grad is not None])\n",
    "The gradients are measured, but never limited. What is `max_norm` for?",
)
made(
    "all_of_the_optimizer",
    CLIP,
    "    every = [p for group in optimizer.param_groups for p in group['params']]\n"
    "    norm = nn.utils.clip_grad_norm_(every, limit)\n",
    "You measure all parameters of the optimizer. Which ones does the task name?",
)
made(
    "unscaled_by_hand_and_again",
    UNSCALE,
    "    for group in optimizer.param_groups:\n"
    "        for p in group['params']:\n"
    "            if p.grad is not None:\n"
    "                p.grad /= before\n",
    "You divide the gradients by the scale, and the scaler does it once more in its step. How "
    "does it learn that this has been done?",
)
made(
    "inf_replaced",
    CLIP,
    "    parameters = list(parameters)\n"
    "    for p in parameters:\n"
    "        if p.grad is not None:\n"
    "            p.grad.nan_to_num_(0.0, 0.0, 0.0)\n" + CLIP + "    scaler._per_optimizer_states"
    "[id(optimizer)]['found_inf_per_device'] = {torch.device('cpu'): torch.tensor(0.0)}\n",
    "You replace inf and nan by 0 and update all the same. What should happen to such an update?",
)
made(
    "leaves_early",
    STEP,
    "    if not norm.isfinite():\n        return norm, False\n" + STEP,
    "If a gradient is not finite, your function returns before the scale is halved, so the next "
    "update fails in the same way. Which call must happen in any case?",
)
made(
    "skips_without_a_scaler",
    STEP,
    "    if norm.isfinite():\n    " + STEP + "    elif scaler.is_enabled():\n    " + STEP,
    "With a disabled scaler, you skip an update with inf. Who decides, then, whether to skip?",
)
made(
    "a_tensor_says_so",
    "    return norm, updated\n",
    "    return norm, norm.isfinite()\n",
    "Whether the weights were updated is a tensor in your version. What does the task ask for?",
)
made(
    "update_before_the_step",
    STEP + UPDATE,
    UPDATE + STEP,
    "The scale is updated before the optimizer's step, which still needs to know what was found. "
    "In which order do the two belong?",
)
made(
    "one_result",
    "    return norm, updated\n",
    "    return norm\n",
    "You return the length alone. What else must the caller know, for the schedule?",
)
