"""Which checks hold each sentence of the task."""

from __future__ import annotations

from . import exercise

exercise.promises(
    {
        "One pass of training over the batches: one step of the optimizer per batch.": (
            "losses weights_after"
        ),
        "The model is in training mode throughout.": "training_mode",
        "Each step starts from gradients of zero": "weights_after old_gradients",
        "computes `teacher_forced_loss` on one batch.": "losses weights_after",
        "Before the optimizer uses the gradients, their common norm over all parameters is clipped "
        "to `max_norm` (`nn.utils.clip_grad_norm_`).": "clipping",
        "the batches, in order, each used once.": "losses",
        "the norm to which gradients are clipped.": "clipping",
        "changes the learning rate; takes one step after each step of the optimizer.": (
            "learning_rates"
        ),
        "None: the learning rate stays unchanged.": "losses weights_after",
        "The loss of each batch before the step on it: one Python float per batch.": "losses",
    },
    explained=[
        "model: a model as for `teacher_forced_loss`.",
        "optimizer: an optimizer of the model's parameters.",
    ],
)
