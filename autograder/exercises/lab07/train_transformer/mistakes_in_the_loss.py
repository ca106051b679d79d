"""Wrong versions of sequence_loss, most of them one edit of a right one."""

from __future__ import annotations

import torch
from torch import nn

from . import exercise
from .also_right import by_torch, picked

wrong = exercise.edits(picked, of="sequence_loss")

wrong(
    "labels_are_inputs",
    "log_p.gather(-1, batch.labels[..., None])",
    "log_p.gather(-1, batch.inputs[..., None])",
    "You ask for the symbols that the decoder reads at each position, so copying its input is "
    "enough. Which field of the batch holds the symbols that it must write?",
)
wrong.several(
    "shifted_again",
    {
        "logits.log_softmax(-1)": "logits[:, :-1].log_softmax(-1)",
        "batch.labels != pad": "batch.labels[:, 1:] != pad",
        "batch.labels[..., None]": "batch.labels[:, 1:, None]",
    },
    "You shift the labels, but `make_batch` has already shifted the inputs. By how many positions "
    "is the symbol that you ask for ahead of the one that was read?",
)
wrong.several(
    "labels_read",
    {"batch.inputs)": "batch.labels)"},
    "The decoder reads the labels themselves, so the answer is in its input. What should it "
    "have read before it predicts the first symbol?",
)
wrong.several(
    "pad_counted",
    {"* asked).sum() / asked.sum()": ").mean()"},
    "Padding counts in your loss: the model is trained to write padding after its end, and the "
    "loss depends on the longest row. Which positions have no label?",
)
wrong(
    "divided_by_all",
    "asked.sum()",
    "asked.numel()",
    "You leave padding out of the sum, but you divide by all B · T positions. How many labels did "
    "you add up?",
)
wrong(
    "mean_over_rows",
    "-(found * asked).sum() / asked.sum()",
    "-((found * asked).sum(1) / asked.sum(1)).mean()",
    "You take the mean of each row first, and then the mean of the rows, so a symbol in a short "
    "row counts more than one in a long row. Over what does the task's mean run?",
)
wrong(
    "summed",
    " / asked.sum()",
    "",
    "You return a sum, so a larger batch has a larger loss and larger gradients. What does the "
    "task ask for?",
)
wrong(
    "divided_by_rows",
    "asked.sum()",
    "len(asked)",
    "You divide the sum by the number of sentences. Over what does the task's mean run?",
)
wrong(
    "sign",
    "return -(",
    "return (",
    "Your loss is below 0 and gets lower as the model gets worse. Which sign has a surprise?",
)
wrong(
    "not_a_log",
    "logits.log_softmax(-1)",
    "logits.softmax(-1)",
    "You average probabilities, not surprises. What turns a probability into a number of nats?",
)
wrong(
    "log_of_softmax",
    "logits.log_softmax(-1)",
    "logits.softmax(-1).log()",
    "With logits in the thousands your loss is infinite or NaN: a probability became 0 before its "
    "logarithm was taken. Which function of lab 1 avoids this?",
)
wrong(
    "bits",
    "asked.sum()",
    "asked.sum() / 0.6931471805599453",
    "Your loss is in bits. Which logarithm gives nats?",
)
wrong(
    "softmax_over_positions",
    "log_softmax(-1)",
    "log_softmax(1)",
    "Your softmax runs along the positions. Which axis holds the symbols among which the model "
    "chooses?",
)
wrong(
    "pad_is_always_zero",
    "batch.labels != pad",
    "batch.labels != 0",
    "Padding is always 0 in your function, whatever `pad` says. Where is the argument used?",
)
wrong(
    "padding_of_the_inputs",
    "batch.labels != pad",
    "batch.inputs != pad",
    "You leave positions out by looking at the inputs. They are one position behind the labels: "
    "which label do you lose, or count too often?",
)
wrong(
    "source_padding_shown",
    "batch.source_valid",
    "torch.ones_like(batch.source_valid)",
    "The model gets a mask in which all source positions are valid, padding too. What is "
    "`source_valid` for?",
)
wrong(
    "in_eval_mode",
    "    logits = model",
    "    model.eval()\n    logits = model",
    "Your loss switches the model to evaluation mode, so dropout is off for the rest of the "
    "training. Who decides the mode?",
)
wrong(
    "gradients_cut",
    "logits.log_softmax",
    "logits.detach().log_softmax",
    "No gradient reaches the model: something between its logits and your loss cuts the graph. "
    "Which call does that?",
)
wrong(
    "a_python_number",
    "return -(found * asked).sum() / asked.sum()",
    "return float(-(found * asked).sum() / asked.sum())",
    "You return a Python number, from which no gradient can flow back. What does `backward()` "
    "need?",
)

for_torch = exercise.edits(by_torch, of="sequence_loss")
for_torch(
    "inputs_are_labels",
    "batch.labels, ignore",
    "batch.inputs, ignore",
    "You ask for the symbols that the decoder reads at each position, so copying its input is "
    "enough. Which field of the batch holds the symbols that it must write?",
)
for_torch(
    "smoothed",
    "reduction=",
    "label_smoothing=0.1, reduction=",
    "Your loss also asks for all other symbols a little (`label_smoothing`, lab 8). Which one "
    "probability of each position does the task's formula take?",
)
for_torch(
    "softmax_twice",
    "logits.transpose(1, 2)",
    "logits.softmax(-1).transpose(1, 2)",
    "Your loss takes the softmax of probabilities: `cross_entropy` takes it by itself. What does "
    "that function expect?",
)
for_torch(
    "rows_in_another_order",
    "logits.transpose(1, 2), batch.labels,",
    "logits.transpose(0, 1).flatten(0, 1), batch.labels.flatten(),",
    "Your logits go through the batch first and your labels through time, so a row of logits meets "
    "the label of another position. In which order does `flatten` go through (B, T)?",
)
for_torch(
    "axes_mixed_up",
    "logits.transpose(1, 2), batch.labels,",
    "logits.transpose(1, 2).reshape(-1, logits.shape[2]), batch.labels.flatten(),",
    "Your rows of logits mix numbers of different positions: you exchange two axes and then make "
    "rows. Which axis must come last when you make rows of V logits?",
)


@exercise.mistake(
    "You call the model once for each position, as a recurrent decoder must. A Transformer "
    "predicts at all positions in one call: what makes sure that none of them sees a later input?",
    of="sequence_loss",
)
def position_by_position(model, batch, pad=0):
    steps = [
        model(batch.source, batch.source_valid, batch.inputs[:, : t + 1])[:, -1]
        for t in range(batch.inputs.shape[1])
    ]
    logits = torch.stack(steps, 1)
    return nn.functional.cross_entropy(
        logits.flatten(0, 1), batch.labels.flatten(), ignore_index=pad
    )
