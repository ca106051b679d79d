"""Which checks hold each sentence of the task."""

from __future__ import annotations

from . import exercise

exercise.promises(
    {
        "Divide texts into those to train on and those to validate on, by their own bytes.": (
            "parts_of_texts"
        ),
        "A text is never cut, and equal texts are kept once.": "parts_of_texts",
        "A text is for validation if the first four bytes of the SHA-256 of its UTF-8, read as one "
        "big-endian number, are less than share · 2³².": "parts_of_texts parts_that_stay",
        "So the part of a text depends neither on the order nor on the other texts, and it is the "
        "same on every machine; a longer collection tomorrow moves no text from one part to the "
        "other.": "parts_that_stay",
        "documents: the texts; some may occur more than once.": "parts_of_texts parts_that_stay",
        "share: about which share is for validation, from 0 to 1.": "parts_that_stay",
        "The texts for training and those for validation, each in the order in which they first "
        "occur.": "parts_of_texts parts_that_stay",
        "The loss of a batch in the form that the Trainer of lab 8 asks for.": "sum_and_number",
        "model: called once, as ``model(x)``; returns logits (B, T, V).": "sum_and_number",
        "Its mode stays as it is.": "loss_in_training",
        "batch: the tokens x, (B, T), and for each the one that follows it, y, (B, T), as from "
        "`get_batch`; both stay unchanged.": "loss_in_training sum_and_number",
        "`Sums(loss, count)`: the cross-entropy in nats, summed over all B · T tokens of y, and "
        "the number of these tokens, two tensors without dimensions.": "sum_and_number",
        "Gradients flow back from the loss.": "loss_in_training",
        "The mean surprise of a model at the tokens of a text, in nats.": "every_token_once",
        "The text is cut into windows of `context` tokens that do not overlap: the first reads the "
        "tokens 0 … context - 1 and predicts the tokens 1 … context; the next one reads on from "
        "token `context`.": "every_token_once windows_of_a_text",
        "The last window may be shorter.": "every_token_once",
        "So each token but the first is predicted exactly once, and all of them count the same.": (
            "every_token_once windows_of_a_text"
        ),
        "model: called as ``model(x)``, x (B, T), T at most `context`; returns logits (B, T, V).": (
            "windows_of_a_text"
        ),
        "It runs in evaluation mode and without gradients; afterwards it is in the mode in which "
        "it came.": "evaluation_mode",
        "ids: (N,), int64, the tokens of a text, N at least 2; stays unchanged.": (
            "windows_of_a_text every_token_once"
        ),
        "context: the most tokens of a window.": "windows_of_a_text",
        "The mean over all N - 1 predicted tokens, a Python float.": (
            "every_token_once windows_of_a_text"
        ),
        "Turn a loss per token into bits per byte of the text.": "known_bits",
        "nats_per_token: the mean loss, by the natural logarithm.": "known_bits",
        "tokens: how many tokens the mean is over.": "known_bits any_bits",
        "num_bytes: the length of the text they stand for, as UTF-8.": "known_bits any_bits",
        "nats_per_token · tokens / num_bytes / ln 2.": "known_bits any_bits",
    },
    explained=[
        "The windows may go through it one by one, or several in a call.",
    ],
)
