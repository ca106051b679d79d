"""Which checks hold each sentence of the task."""

from __future__ import annotations

from . import exercise

exercise.promises(
    {
        "A copy of a BERT, and a new linear layer that reads the first token's vector.": (
            "the_pretrained_model_stays first_token_after_the_last_layer"
        ),
        "It stays as it is: the classifier trains a copy, `self.bert`.": (
            "the_pretrained_model_stays"
        ),
        "bert: the copy, which starts with the weights of `bert`.": "the_pretrained_model_stays",
        "head: the new layer, from d_model to C numbers.": "first_token_after_the_last_layer",
        "valid: (B, T), boolean, False where a row is filled up; None: nowhere.": (
            "filling_and_sizes"
        ),
        "Logits, (B, C): the head applied to `hidden` of the first token, after the last layer.": (
            "first_token_after_the_last_layer filling_and_sizes"
        ),
        "The model is called once, with `ids`, no segments, and `valid`.": (
            "first_token_after_the_last_layer filling_and_sizes"
        ),
        "Train all weights of a classifier, in place, on a few labelled sentences.": (
            "all_weights_by_adam the_pretrained_model_stays"
        ),
        "Each step uses all sentences at once: their mean cross-entropy, gradients that start from "
        "zero, and one update by `torch.optim.Adam` with learning rate `lr`.": (
            "all_weights_by_adam defaults_and_modes"
        ),
        "The classifier is in training mode during all steps, and in evaluation mode when the "
        "function returns.": "defaults_and_modes all_weights_by_adam",
        "steps: how many.": "all_weights_by_adam defaults_and_modes",
        "lr: the learning rate.": "all_weights_by_adam defaults_and_modes",
        "The loss of each step, before its update: one Python float for each.": (
            "all_weights_by_adam defaults_and_modes"
        ),
        "The share of sentences whose largest logit is that of the label, from 0 to 1.": (
            "share_of_right_answers mode_and_gradients"
        ),
        "The classifier is in evaluation mode while it reads, and afterwards in the mode in which "
        "it was before. No gradients are computed.": "mode_and_gradients share_of_right_answers",
        "classifier: called once, as ``classifier(ids)``; returns logits (B, C).": (
            "share_of_right_answers"
        ),
        "A Python float.": "mode_and_gradients",
    },
    explained=[
        "bert: a model that returns `hidden`, (B, T, d_model), among other things.",
        "d_model: features of each vector.",
        "num_classes: C.",
        "Classify a batch of single sentences.",
        "ids: (B, T), int64; the first token of each row is [CLS].",
        "classifier: called as ``classifier(ids)``; returns logits (B, C).",
        "ids: (B, T), int64.",
        "labels: (B,), int64, the right class of each row.",
        "ids: (B, T), int64; sentences that the classifier was not trained on.",
        "labels: (B,), int64.",
    ],
)
