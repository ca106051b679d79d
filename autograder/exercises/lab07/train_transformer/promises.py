"""Which checks hold each sentence of the task."""

from __future__ import annotations

from . import exercise

exercise.promises(
    {
        "The model is called once for the whole batch": "one_number_from_one_call",
        "Its mode, training or evaluation, stays unchanged.": "one_number_from_one_call",
        "labels (B, T), the symbol that it should predict at each position, and `pad` where there "
        "is none.": "labels_without_padding",
        "pad: the label that asks nothing.": "other_padding_and_sizes",
        "The mean of -log p(label) over all labels of the batch that are not `pad`, in nats": (
            "labels_without_padding other_padding_and_sizes"
        ),
        "a tensor without dimensions, in the dtype of the logits.": "one_number_from_one_call",
        "A position with the label `pad` counts neither in the sum nor in the number of labels.": (
            "labels_without_padding"
        ),
        "Gradients flow back.": "gradients_and_large_logits",
        "one step of the optimizer per batch, and then one of the scheduler.": (
            "losses weights_and_rates"
        ),
        "The model is in training mode during all steps, and in evaluation mode when the function "
        "returns.": "modes_and_old_gradients",
        "Each step starts from gradients of zero and uses `sequence_loss` of one batch.": (
            "modes_and_old_gradients losses"
        ),
        "Before the optimizer uses the gradients, their common norm over all parameters is clipped "
        "to `max_norm` (`nn.utils.clip_grad_norm_`).": "clipping",
        "the batches, in order, each used once.": "losses modes_and_old_gradients",
        "sets the learning rate; its first step comes after the optimizer's first step.": (
            "weights_and_rates"
        ),
        "the norm to which gradients are clipped.": "clipping",
        "The loss of each batch before the step on it: one Python float per batch.": "losses",
    },
    explained=[
        "How surprised the model is by each label, given the source and all earlier symbols.",
        "it predicts at all positions in parallel.",
        "model: called as ``model(batch.source, batch.source_valid, batch.inputs)``; returns "
        "logits (B, T, V).",
        "batch: source (B, S) and source_valid (B, S); inputs (B, T), what the decoder reads;",
        "model: a model as for `sequence_loss`.",
        "optimizer: an optimizer of the model's parameters.",
    ],
)
