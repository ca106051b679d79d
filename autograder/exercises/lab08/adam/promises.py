"""Which checks hold each sentence of the task."""

from __future__ import annotations

from . import exercise

exercise.promises(
    {
        "Adam, with weight decay in either of two forms; with the decoupled one, it is AdamW.": (
            "six_updates weight_decay"
        ),
        "at its own update number t = 1, 2, 3, …:": "six_updates first_gradient_later",
        "m ← β₁ m + (1 - β₁) g (both averages are 0 before the first update) "
        "v ← β₂ v + (1 - β₂) g² "
        "p ← p - lr · m̂ / (√v̂ + eps) m̂ = m / (1 - β₁ᵗ), v̂ = v / (1 - β₂ᵗ)": (
            "first_update six_updates place_of_eps"
        ),
        "- Weight decay, coupled (Adam): weight_decay · p is added to g first.": "weight_decay",
        "The gradient in `p.grad` itself stays unchanged.": "in_place",
        "- Weight decay, decoupled (AdamW): p is multiplied by 1 - lr · weight_decay before the "
        "update, and g is left as it is.": "weight_decay",
        "- A parameter whose `.grad` is None is left alone: no decay, no state, and its t does not "
        "grow.": "zero_and_missing_gradients first_gradient_later",
        "A gradient of zeros is a gradient.": "zero_and_missing_gradients",
        "- Parameters are changed in place.": "in_place",
        "Each group of parameters has its own lr, betas, eps and weight_decay, which may change "
        "between two updates.": "groups",
        "- m, v and t of a parameter are in `self.state[parameter]`": "resumed",
        "m and v have its shape and dtype.": "six_updates shapes_and_dtypes",
        "So a `state_dict()` holds all that a new Adam needs": "resumed",
        "to go on as if nothing had happened.": "resumed",
        "params: the parameters, or groups of them, as for every optimiser of torch.": "groups",
        "Update every parameter that has a gradient.": "six_updates groups",
        "closure: computes the loss and its gradients again; called once, before the update.": (
            "closures"
        ),
        "What `closure` returned; None without one.": "closures",
    },
    explained=[
        "For each parameter p with the gradient g,",
        "lr: the learning rate.",
        "betas: β₁ and β₂.",
        "eps: keeps the division away from 0.",
        "weight_decay: 0 or more.",
        "decoupled_weight_decay: which of the two forms.",
    ],
)
