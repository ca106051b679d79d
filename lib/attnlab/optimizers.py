"""How weights are updated: Adam, limits for gradients, and learning rates that rise and fall."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn


class Adam(torch.optim.Optimizer):
    """Adam, with weight decay in either of two forms; with the decoupled one, it is AdamW.

    For each parameter p with the gradient g, at its own update number t = 1, 2, 3, …:

        m ← β₁ m + (1 - β₁) g                    (both averages are 0 before the first update)
        v ← β₂ v + (1 - β₂) g²
        p ← p - lr · m̂ / (√v̂ + eps)             m̂ = m / (1 - β₁ᵗ),  v̂ = v / (1 - β₂ᵗ)

    - Weight decay, coupled (Adam): weight_decay · p is added to g first. The gradient in `p.grad`
      itself stays unchanged.
    - Weight decay, decoupled (AdamW): p is multiplied by 1 - lr · weight_decay before the update,
      and g is left as it is.
    - A parameter whose `.grad` is None is left alone: no decay, no state, and its t does not grow.
      A gradient of zeros is a gradient.
    - Parameters are changed in place. Each group of parameters has its own lr, betas, eps and
      weight_decay, which may change between two updates.
    - m, v and t of a parameter are in `self.state[parameter]`; m and v have its shape and dtype. So
      a `state_dict()` holds all that a new Adam needs to go on as if nothing had happened.

    Args:
        params: the parameters, or groups of them, as for every optimiser of torch.
        lr: the learning rate.
        betas: β₁ and β₂.
        eps: keeps the division away from 0.
        weight_decay: 0 or more.
        decoupled_weight_decay: which of the two forms.

    Source: Kingma and Ba 2015, algorithm 1; Loshchilov and Hutter 2019, algorithm 2; lecture C.
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        decoupled_weight_decay: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient.

        Args:
            closure: computes the loss and its gradients again; called once, before the update.

        Returns:
            What `closure` returned; None without one.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        # blank: update each parameter that has a gradient, with the numbers of its group
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for parameter in group["params"]:
                grad = parameter.grad
                if grad is None:
                    continue
                state = self.state[parameter]
                if not state:  # torch's own names and types, so that each can load the other's
                    state["step"] = torch.tensor(0.0)
                    state["exp_avg"] = torch.zeros_like(parameter)
                    state["exp_avg_sq"] = torch.zeros_like(parameter)
                m, v = state["exp_avg"], state["exp_avg_sq"]
                state["step"] += 1
                t = state["step"].item()
                if group["decoupled_weight_decay"]:
                    parameter.mul_(1 - group["lr"] * group["weight_decay"])
                else:
                    grad = grad + group["weight_decay"] * parameter
                m.mul_(beta1).add_(grad, alpha=1 - beta1)
                v.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
                root = (v / (1 - beta2**t)).sqrt()
                parameter.addcdiv_(m, root + group["eps"], value=-group["lr"] / (1 - beta1**t))
        # end blank
        return loss


def clip_global_norm(parameters: Iterable[Tensor], max_norm: float) -> Tensor:
    """Limit the length of all gradients together, and keep their direction.

    The length is the Euclidean norm of all gradients as if they were one vector. If it is above
    `max_norm`, all gradients are multiplied, in place, by the same number, so that their length
    becomes `max_norm`. Otherwise they stay bit for bit the same.

    Args:
        parameters: a list or an iterator, such as `model.parameters()`; those whose `grad` is None
            are skipped.
        max_norm: above 0; infinity means that there is no limit.

    Returns:
        The length before, a tensor without dimensions. It is 0 if there are no gradients. It is
        infinite or NaN if one of their numbers is, and then they are not usable afterwards.

    Source: Pascanu, Mikolov and Bengio 2013, algorithm 1.
    """
    # blank: one length, one factor
    grads = [parameter.grad for parameter in parameters if parameter.grad is not None]
    if not grads:
        return torch.tensor(0.0)
    norm = torch.stack([grad.norm().to(grads[0].device) for grad in grads]).norm()
    factor = (max_norm / norm).clamp(max=1.0)  # an `if` would wait for the device
    for grad in grads:
        grad.mul_(factor.to(grad.device))
    return norm
    # end blank


def noam(step: int, d_model: int, warmup: int, factor: float = 1.0) -> float:
    """The paper's learning rate: it rises in a straight line, then falls with the root of the step.

        factor / √d_model · min(1/√step, step / warmup^1.5)

    Args:
        step: the number of the update, from 1.
        d_model: features of the model's vectors.
        warmup: the update with the highest rate; 1 or more.
        factor: multiplies everything.

    Raises:
        ValueError: `step` is below 1.

    Source: Attention Is All You Need, section 5.3; lecture C.
    """
    # blank: an error, or the formula
    if step < 1:
        raise ValueError(f"updates count from 1, so there is none with the number {step}")
    return factor * d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)
    # end blank


SCHEDULES = ("noam", "cosine", "one-cycle", "constant")


def rate_factor(schedule: str, step: int, steps: int, warmup: int) -> float:
    """The share of the highest learning rate that an update has, from 0 to 1.

    All schedules rise in a straight line over the first `warmup` updates, and have the highest rate
    at update number `warmup` (at the first one if `warmup` is 0 or 1). After it,

    - "noam" falls as 1/√step;
    - "cosine" falls along half a cosine, to 0 one update after the last;
    - "one-cycle" is "cosine" with a rise of 30 % of all updates, unless `warmup` says otherwise;
    - "constant" stays.

    Args:
        schedule: one of the four.
        step: the number of the update, from 1.
        steps: the number of all updates.
        warmup: how many updates the rate rises.

    Raises:
        ValueError: there is no such schedule.
    """
    if schedule not in SCHEDULES:
        raise ValueError(f"the schedules are {', '.join(SCHEDULES)}, not {schedule!r}")
    if schedule == "one-cycle":
        warmup = warmup or round(0.3 * steps)
    warmup = max(warmup, 1)
    if step <= warmup:
        return step / warmup
    match schedule:
        case "noam":
            return noam(step, 1, warmup) / noam(warmup, 1, warmup)
        case "constant":
            return 1.0
        case _:
            share = min((step - warmup) / max(steps + 1 - warmup, 1), 1.0)
            return (1 + math.cos(math.pi * share)) / 2


BETAS, EPS = (0.9, 0.98), 1e-9  # the paper's, section 5.3


def fused_adamw(model: nn.Module, lr: float, weight_decay: float = 0.0) -> torch.optim.Optimizer:
    """torch's AdamW, with one kernel for all parameters where the device has one.

    Weights decay; biases, and the scales and shifts of normalisations, do not: a vector has no
    directions to choose between.

    Args:
        model: on its device already.
        lr: the learning rate.
        weight_decay: of parameters with two dimensions or more.
    """
    groups = decay_groups(model, weight_decay)
    parameters = [parameter for group in groups for parameter in group["params"]]
    fused = all(parameter.device.type in ("cuda", "cpu") for parameter in parameters)
    return torch.optim.AdamW(groups, lr, betas=BETAS, eps=EPS, fused=fused)


def decay_groups(model: nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """The parameters of a model in groups for an optimiser: matrices decay, vectors do not."""
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    groups = [
        {"params": [p for p in parameters if p.dim() > 1], "weight_decay": weight_decay},
        {"params": [p for p in parameters if p.dim() <= 1], "weight_decay": 0.0},
    ]
    return [group for group in groups if group["params"]]
