"""Known mistakes in mixed precision: most are edits of a right version."""

from __future__ import annotations

from . import exercise
from .also_right import plain_scaler, plain_step, plain_update

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
    "An ordinary update leaves the scale as it is, and you report it as skipped. When does the "
    "scale change, and in which direction?",
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

step = exercise.edits(plain_step, of="mixed_step")
FORWARD = "    with autocast(precision, device):\n        value = loss(model, batch)\n"
SCHEDULE = "    if updated:\n        scheduler.step()\n"

step(
    "no_autocast",
    FORWARD,
    "    value = loss(model, batch)\n",
    "Everything is computed in float32, whatever `precision` says. Which context chooses the dtype "
    "of products?",
)
step(
    "always_bf16",
    "autocast(precision, device)",
    "torch.autocast(device.type, torch.bfloat16)",
    "Products are in bfloat16 in every precision. What is `precision` for?",
)
step(
    "sixteen_bits_in_fp32",
    "autocast(precision, device)",
    'torch.autocast(device.type, torch.float16 if precision == "fp16" else torch.bfloat16)',
    "Products are in 16 bits in fp32 as well. Which of the three precisions needs no autocast?",
)
step(
    "fp16_for_both",
    "autocast(precision, device)",
    'autocast("fp16" if precision == "bf16" else precision, device)',
    "Products in bf16 are computed in float16. Which dtype does each word stand for?",
)
step.several(
    "model_cast_to_half",
    {
        FORWARD: (
            "    kind = {'fp32': torch.float32, 'bf16': torch.bfloat16, 'fp16': torch.float16}\n"
            "    model.to(kind[precision])\n"
            "    words, labels, factor = batch\n"
            "    value = loss(model, (words.to(kind[precision]), labels, factor))\n"
        )
    },
    "You convert the model itself: its weights have 16 bits now, and small updates are rounded "
    "away. What stays float32, according to the task?",
)
step.several(
    "model_there_and_back",
    {
        FORWARD: (
            "    kind = {'fp32': torch.float32, 'bf16': torch.bfloat16, 'fp16': torch.float16}\n"
            "    model.to(kind[precision])\n"
            "    words, labels, factor = batch\n"
            "    value = loss(model, (words.to(kind[precision]), labels, factor))\n"
        ),
        "    norm, updated": "    model.float()\n    norm, updated",
    },
    "You convert the model to 16 bits and back in each step, so its weights are rounded every "
    "time. Which context leaves the weights alone?",
)
step(
    "loss_outside",
    FORWARD,
    "    with autocast(precision, device):\n        value = loss(model, batch).to(torch.bfloat16)\n",
    "Your loss is brought to 16 bits. In which dtype should it be, according to the task?",
)
step(
    "loss_not_scaled",
    "scaler.scale(value).backward()",
    "value.backward()",
    "The backward pass starts from the loss itself, but `update` divides by the scale. Who "
    "multiplies?",
)
step(
    "scaled_twice",
    "scaler.scale(value).backward()",
    "scaler.scale(value * scaler.get_scale()).backward()",
    "Your loss is scaled twice. Which factor will `update` divide by?",
)
step.several(
    "scaled_loss_returned",
    {
        "    scaler.scale(value).backward()\n": (
            "    value = scaler.scale(value)\n    value.backward()\n"
        )
    },
    "You return the scaled loss, so a log would show thousands. Which size is its true one?",
)
step(
    "schedule_always",
    SCHEDULE,
    "    scheduler.step()\n",
    "The learning rate advances although the update was skipped. Which result of `update` does "
    "the schedule need?",
)
step(
    "schedule_never",
    SCHEDULE,
    "",
    "The learning rate never changes. Which object sets it, and when?",
)
step(
    "schedule_when_skipped",
    "    if updated:\n",
    "    if not updated:\n",
    "The learning rate advances only when an update was skipped. When should it?",
)
step.several(
    "schedule_first",
    {SCHEDULE: "", "    norm, updated": "    scheduler.step()\n    norm, updated"},
    "The schedule makes its step before the update, so the update already uses the next rate, and "
    "nobody knows yet whether it will be skipped. Which of the two comes first?",
)
step(
    "old_gradients_kept",
    "    optimizer.zero_grad()\n",
    "",
    "Gradients of earlier steps are still there and are added. From which gradients should a step "
    "start?",
)
step.several(
    "cleared_at_the_end",
    {
        "    optimizer.zero_grad()\n": "",
        "    return value.detach(), updated\n": (
            "    optimizer.zero_grad()\n    return value.detach(), updated\n"
        ),
    },
    "You clear the gradients at the end of the step, so those that the model came with are used "
    "in the first one. From which gradients should a step start?",
)
step.several(
    "cleared_before_the_update",
    {
        "    optimizer.zero_grad()\n": "",
        "    norm, updated": "    optimizer.zero_grad()\n    norm, updated",
    },
    "You clear the gradients before they are used. Between which two lines are they needed?",
)
step(
    "graph_returned",
    "return value.detach(), updated",
    "return value, updated",
    "The loss that you return still has its graph. What is a log going to need?",
)
step(
    "limit_forgotten",
    "model.parameters(), max_norm)",
    "model.parameters())",
    "`max_norm` has no effect. Which function limits the gradients?",
)
step(
    "limit_written_down",
    "model.parameters(), max_norm)",
    "model.parameters(), 1.0)",
    "The limit is 1, whatever `max_norm` says. Where does the caller's limit go?",
)
step(
    "optimizer_steps_itself_here",
    "    norm, updated = update(optimizer, scaler, model.parameters(), max_norm)\n",
    "    scaler.unscale_(optimizer)\n    optimizer.step()\n    scaler.update()\n"
    "    updated = True\n",
    "The optimizer makes its step whatever the gradients are, and nothing limits them. Which "
    "function of this cell does all of that?",
)
step(
    "model_called_twice",
    "    scaler.scale(value).backward()\n",
    "    scaler.scale(value).backward()\n    value = loss(model, batch)\n",
    "The loss is computed twice for a batch. Which of the two computations is needed?",
)
step(
    "only_true_if_scaled",
    "return value.detach(), updated",
    "return value.detach(), updated and scaler.is_enabled()",
    "Without a scaler, you report that nothing was updated. What happens in bf16 and fp32?",
)
