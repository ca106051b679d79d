"""Known mistakes in `mixed_step`: edits of a right version."""

from __future__ import annotations

from . import exercise
from .also_right import plain_step

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
    "bf16_for_both",
    "autocast(precision, device)",
    'torch.autocast(device.type, torch.bfloat16, enabled=precision != "fp32")',
    "Products in fp16 are computed in bfloat16. Which dtype does each word stand for?",
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
        "    _, updated": "    model.float()\n    _, updated",
    },
    "You convert the model to 16 bits and back in each step, so its weights are rounded every "
    "time. Which context leaves the weights alone?",
)
step(
    "loss_outside",
    FORWARD,
    FORWARD.replace("batch)", "batch).to(torch.bfloat16)"),
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
    {SCHEDULE: "", "    _, updated": "    scheduler.step()\n    _, updated"},
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
        "    _, updated": "    optimizer.zero_grad()\n    _, updated",
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
    "    _, updated = update(optimizer, scaler, model.parameters(), max_norm)\n",
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
