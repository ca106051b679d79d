"""Which check holds each sentence of the three tasks."""

from . import exercise

exercise.promises(
    {
        "The mean surprise of a model, in nats, at every token that it predicts": "what_comes_next",
        "logits: (B, T, V): logits[b, t] are the scores for the token that follows ids[b, t].": (
            "one_number what_comes_next"
        ),
        "ids: (B, T), int64, the tokens; T is at least 2.": "what_comes_next other_sizes",
        "the first token of a sequence is not predicted, and the token after the last position is "
        "unknown": "what_comes_next",
        "A tensor without dimensions, in the dtype of `logits`": "one_number",
        "gradients flow back": "gradients_and_large_scores",
        "The loss of `model` on `ids` if its positions attend according to `mask`.": "under_a_mask",
        "model: called as ``model(ids, mask)``": "under_a_mask",
        "`model` is called once, with all of them.": "one_call_without_dropout",
        "mask: (T, T), boolean: True where position i may attend to position j.": "under_a_mask",
        "loss: called as ``loss(logits, ids)``; returns one number.": "under_a_mask",
        "The loss, a Python number.": "under_a_mask",
        "The model runs in evaluation mode (no dropout) and without gradients; afterwards it is "
        "in the same mode, training or evaluation, as before.": (
            "one_call_without_dropout without_gradients mode_afterwards"
        ),
        "Whether a model that sees only the past can have this loss, however good it is.": (
            "below_the_floor"
        ),
        "loss: in nats, a mean over a sample.": "below_the_floor near_the_floor",
        "floor: the entropy rate of the source, in nats.": "near_the_floor",
        "tolerance: how far below the floor a lucky sample may bring the loss, in nats.": (
            "near_the_floor"
        ),
        "False if the loss is lower than floor - tolerance, or is NaN": (
            "near_the_floor no_loss_at_all"
        ),
        "(A loss far above the floor is poor, but possible.)": "below_the_floor",
    }
)
