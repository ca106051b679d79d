"""Other right versions of Adam, in the styles in which people write optimisers."""

from __future__ import annotations

import math

import torch

from . import exercise


@exercise.also_right
class Plain(torch.optim.Optimizer):
    """As the formulas stand in the task; most mistakes are edits of it."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0,
                 decoupled_weight_decay=False):  # fmt: skip
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps,
                                  "weight_decay": weight_decay,
                                  "decoupled_weight_decay": decoupled_weight_decay})  # fmt: skip

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            lr, eps, decay = group["lr"], group["eps"], group["weight_decay"]
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                g, state = p.grad, self.state[p]
                if len(state) == 0:
                    state["t"] = 0
                    state["m"] = torch.zeros_like(p)
                    state["v"] = torch.zeros_like(p)
                state["t"] += 1
                t = state["t"]
                if group["decoupled_weight_decay"]:
                    p *= 1 - lr * decay
                else:
                    g = g + decay * p
                m = beta1 * state["m"] + (1 - beta1) * g
                v = beta2 * state["v"] + (1 - beta2) * g**2
                state["m"], state["v"] = m, v
                m_hat = m / (1 - beta1**t)
                v_hat = v / (1 - beta2**t)
                p -= lr * m_hat / (v_hat.sqrt() + eps)
        return loss


@exercise.also_right
class LikeTorchsLoop(torch.optim.Optimizer):
    """`lerp_` and `addcmul_`, the corrections in the length of the step and under the root."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0,
                 decoupled_weight_decay=False):  # fmt: skip
        defaults = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, defaults | {"decoupled": decoupled_weight_decay})

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for param in group["params"]:
                if param.grad is None:
                    continue
                grad = param.grad
                state = self.state[param]
                if not state:
                    state["step"] = torch.zeros(())
                    state["exp_avg"] = torch.zeros_like(param, memory_format=torch.preserve_format)
                    state["exp_avg_sq"] = torch.zeros_like(param)
                exp_avg, exp_avg_sq = state["exp_avg"], state["exp_avg_sq"]
                state["step"] += 1
                step = state["step"].item()
                if group["weight_decay"] != 0:
                    if group["decoupled"]:
                        param.mul_(1 - group["lr"] * group["weight_decay"])
                    else:
                        grad = grad.add(param, alpha=group["weight_decay"])
                exp_avg.lerp_(grad, 1 - beta1)
                exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
                step_size = group["lr"] / (1 - beta1**step)
                denom = (exp_avg_sq.sqrt() / math.sqrt(1 - beta2**step)).add_(group["eps"])
                param.addcdiv_(exp_avg, denom, value=-step_size)
        return loss


@exercise.also_right
class AllAtOnce(torch.optim.Optimizer):
    """One call for all parameters of a group, with torch's `_foreach` functions."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0,
                 decoupled_weight_decay=False):  # fmt: skip
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps,
                                  "weight_decay": weight_decay,
                                  "coupled": not decoupled_weight_decay})  # fmt: skip

    def state_of(self, p):
        state = self.state[p]
        if "count" not in state:
            state.update(count=0, first=torch.zeros_like(p), second=torch.zeros_like(p))
        state["count"] += 1
        return state

    @torch.no_grad()
    def step(self, closure=None):
        loss = closure if closure is None else torch.enable_grad()(closure)()
        for group in self.param_groups:
            params = [p for p in group["params"] if p.grad is not None]
            if not params:
                continue
            (b1, b2), lr, decay = group["betas"], group["lr"], group["weight_decay"]
            grads, states = [p.grad for p in params], [self.state_of(p) for p in params]
            if group["coupled"]:
                grads = torch._foreach_add(grads, params, alpha=decay)
            else:
                torch._foreach_mul_(params, 1 - lr * decay)
            first, second = ([s[name] for s in states] for name in ("first", "second"))
            torch._foreach_lerp_(first, grads, 1 - b1)
            torch._foreach_mul_(second, b2)
            torch._foreach_addcmul_(second, grads, grads, 1 - b2)
            roots = torch._foreach_sqrt(second)
            torch._foreach_div_(roots, [(1 - b2 ** s["count"]) ** 0.5 for s in states])
            torch._foreach_add_(roots, group["eps"])
            sizes = [-lr / (1 - b1 ** s["count"]) for s in states]
            torch._foreach_addcdiv_(params, first, roots, sizes)
        return loss


@exercise.also_right
class OneFormula(torch.optim.Optimizer):
    """New tensors in the state, the decay inside the update, and `copy_` at the end."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0,
                 decoupled_weight_decay=False):  # fmt: skip
        defaults = locals()
        super().__init__(params, {name: defaults[name] for name in (
            "lr", "betas", "eps", "weight_decay", "decoupled_weight_decay")})  # fmt: skip

    def direction(self, p, g, betas, eps):
        t, m, v = self.state[p].get("all", (0, torch.zeros_like(p), torch.zeros_like(p)))
        t, m, v = t + 1, torch.lerp(g, m, betas[0]), torch.lerp(g * g, v, betas[1])
        self.state[p]["all"] = (t, m, v)
        return m / (1 - betas[0] ** t) / (torch.sqrt(v / (1 - betas[1] ** t)) + eps)

    def step(self, closure=None):
        loss = None if closure is None else closure()
        with torch.no_grad():
            for group in self.param_groups:
                lr, decay = group["lr"], group["weight_decay"]
                for p in group["params"]:
                    if p.grad is not None:
                        own = group["decoupled_weight_decay"]
                        g = p.grad if own else p.grad + decay * p
                        change = self.direction(p, g, group["betas"], group["eps"])
                        if own:
                            change = change + decay * p
                        p.copy_(p - lr * change)
        return loss


@exercise.also_right
class BeforeNoGrad(torch.optim.Optimizer):
    """Works on `p.data` and keeps powers of the betas, as older code does."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0,
                 decoupled_weight_decay=False):  # fmt: skip
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps,
                                  "weight_decay": weight_decay,
                                  "decoupled_weight_decay": decoupled_weight_decay})  # fmt: skip

    def step(self, closure=None):
        loss = closure() if closure else None
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in filter(lambda p: p.grad is not None, group["params"]):
                grad, state = p.grad.data.clone(), self.state[p]
                if "m" not in state:
                    state["m"], state["v"] = torch.zeros_like(p.data), torch.zeros_like(p.data)
                    state["steps"] = 0
                state["steps"] += 1
                if group["decoupled_weight_decay"]:
                    p.data.add_(p.data, alpha=-group["lr"] * group["weight_decay"])
                else:
                    grad.add_(p.data, alpha=group["weight_decay"])
                state["m"].mul_(b1).add_(grad, alpha=1 - b1)
                state["v"].mul_(b2).addcmul_(grad, grad, value=1 - b2)
                correction = 1 - b2 ** state["steps"]
                denominator = state["v"].div(correction).sqrt_().add_(group["eps"])
                rate = group["lr"] / (1 - b1 ** state["steps"])
                p.data.addcdiv_(state["m"], denominator, value=-rate)
        return loss
