"""Which checks hold each sentence of the task."""

from __future__ import annotations

from . import exercise

exercise.promises(
    {
        'The loss scaler of a precision; one that does nothing unless it is "fp16".': "scalers",
        "device: where the loss is.": "scalers_for_many_tokens",
        "The first scale is 65,536 for one token, and a power of 2 that is smaller by this factor "
        "for many.": "scalers_for_many_tokens",
        "The gradients are brought back to their true size before their length is measured and "
        "limited.": "gradients_at_their_true_size",
        "If one of them is not finite, the weights and the optimiser's state stay as they are, and "
        "the scale is halved.": "after_an_infinite_gradient not_finite",
        "It doubles after many updates in which all were finite.": "scale_grows_again",
        "A scaler that is disabled neither scales nor skips: then the gradients are limited and "
        "applied.": "without_a_scaler",
        "it may be disabled.": "without_a_scaler",
        "parameters: those whose gradients count, by `clip_global_norm`; an iterator is enough.": (
            "some_parameters"
        ),
        "max_norm: the limit of the gradients' common length; None: there is no limit.": (
            "gradients_at_their_true_size without_a_scaler"
        ),
        "The length of the gradients before the limit, a tensor without dimensions": (
            "gradients_at_their_true_size without_a_scaler"
        ),
        "and whether the weights were updated, a bool. A learning-rate": (
            "after_an_infinite_gradient scale_grows_again"
        ),
        "One step of training in mixed precision: gradients, update, learning rate.": (
            "every_precision"
        ),
        "The forward pass and the loss run in the context `autocast(precision, device)`, in which "
        "matrix products use 16 bits.": "sixteen_and_thirty_two_bits every_precision",
        "The model itself is not converted: its weights, their gradients and the optimiser's state "
        "stay float32.": "sixteen_and_thirty_two_bits limits_and_averages",
        "The backward pass starts from the loss that `scaler` has scaled; then comes `update`.": (
            "every_precision"
        ),
        "The scheduler makes one step if the weights were updated, and none if the update was "
        "skipped.": "schedule_waits",
        "Its earlier gradients are dropped.": "every_precision",
        "called once, as ``loss(model, batch)``": "sixteen_and_thirty_two_bits every_precision",
        "scheduler: sets the optimizer's learning rate.": "schedule_waits",
        'precision: "fp32", "bf16" or "fp16".': "every_precision",
        "max_norm: as for `update`.": "limits_and_averages",
        "The loss at its true size, float32 and without a gradient; and whether the weights were "
        "updated.": "sixteen_and_thirty_two_bits schedule_waits",
    },
    explained=[
        "The smallest normal float16 is 6e-5, so small gradients would become 0. The loss is "
        "multiplied by a large number before the backward pass, and the gradients are divided by "
        "it afterwards. bfloat16 has the range of float32 and needs no scaler.",
        "precision: of the forward and backward pass.",
        "tokens: about how many tokens a loss is summed over.",
        "Apply gradients that were computed from a scaled loss.",
        "optimizer: has the parameters.",
        "scaler: the one that scaled the loss;",
        "schedule must not advance if they were not.",
        "model: with float32 parameters, all on one device.",
        "a tensor without dimensions.\n    batch: on the model's device.",
        "optimizer: has the model's parameters.",
        "scaler: as for `update`.",
    ],
)
