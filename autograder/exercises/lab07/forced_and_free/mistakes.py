"""Known mistakes in `accuracy` and `forced_and_free`, as edits of right versions."""

from __future__ import annotations

from . import exercise
from .also_right import one_after_the_other, padded_to_fit

measured = exercise.edits(padded_to_fit, of="accuracy")

measured(
    "padding_counted",
    "right.sum() / counts.sum()",
    "(fitted == labels).sum() / labels.numel()",
    "Padding counts in your share of symbols. Which positions does the task leave out?",
)
measured(
    "padding_is_a_symbol",
    "counts = labels != PAD",
    "counts = torch.ones_like(labels).bool()",
    "A position counts in your measures even if its label is PAD. What may a model write there?",
)
measured(
    "divided_by_all_positions",
    "right.sum() / counts.sum()",
    "right.sum() / labels.numel()",
    "You divide by all positions, padding included. How many symbols are there to write?",
)
measured(
    "mean_of_the_rows",
    "right.sum() / counts.sum()",
    "(right.sum(1) / counts.sum(1)).mean()",
    "You take the mean of the rows' shares, so a symbol in a short row counts more. What is "
    "counted in the share of symbols?",
)
measured(
    "padding_must_match",
    "(right.sum(1) == counts.sum(1))",
    "(fitted == labels).all(1)",
    "A row counts as wrong if something stands at its padding. Which positions of a row decide?",
)
measured(
    "one_symbol_is_enough",
    "(right.sum(1) == counts.sum(1))",
    "(right.sum(1) > 0)",
    "A row with a single right symbol counts as right. How many of its symbols must be right?",
)
measured(
    "wrong_after_a_mistake",
    "right = (fitted == labels) & counts",
    "right = (fitted == labels).long().cumprod(1).bool() & counts",
    "After a first wrong symbol, all later ones count as wrong. Which symbols are right, according "
    "to the task?",
)
measured(
    "eos_left_out",
    "counts = labels != PAD",
    "counts = labels > EOS",
    "EOS does not count in your measures. Must the model not write it?",
)
measured(
    "only_what_was_written",
    "counts = labels != PAD",
    "counts = labels != PAD\n    counts[:, width:] = False",
    "Labels beyond the width of `written` are left out, so a model that stops early looks good. "
    "What is a symbol that was not written?",
)
measured(
    "widths_must_agree",
    "width = min(T, written.shape[1])",
    "width = T",
    "Your code fails if the two tables have different widths. How wide are rows that a model "
    "writes by itself?",
)
measured(
    "percent",
    "Accuracy(exact.item(), symbols.item())",
    "Accuracy(100 * exact.item(), 100 * symbols.item())",
    "Your measures are percentages. From where to where do they go, according to the task?",
)
measured(
    "rounded",
    "Accuracy(exact.item(), symbols.item())",
    "Accuracy(round(exact.item(), 2), round(symbols.item(), 2))",
    "Your measures are rounded. Who should decide on the number of digits?",
)
measured(
    "measures_exchanged",
    "Accuracy(exact.item(), symbols.item())",
    "Accuracy(symbols.item(), exact.item())",
    "The two measures are exchanged. In which order does `Accuracy` name them?",
)
measured(
    "tensors_returned",
    "Accuracy(exact.item(), symbols.item())",
    "Accuracy(exact, symbols)",
    "Your measures are tensors. What makes a Python number of one?",
)
measured(
    "share_of_mistakes",
    "Accuracy(exact.item(), symbols.item())",
    "Accuracy(1 - exact.item(), 1 - symbols.item())",
    "You measure what is wrong. What do the two measures count?",
)

asked = exercise.edits(one_after_the_other, of="forced_and_free")

asked(
    "labels_read",
    "batch.source_valid, batch.inputs)",
    "batch.source_valid, batch.labels)",
    "The model reads the labels, so each position sees its own answer. What does the decoder read "
    "with teacher forcing?",
)
asked(
    "compared_with_the_inputs",
    "accuracy(forced, batch.labels)",
    "accuracy(forced, batch.inputs)",
    "You compare what the model writes with what it has read. Which tensor says what it should "
    "write?",
)
asked(
    "both_forced",
    "greedy_decode(model, batch.source, batch.source_valid, BOS, EOS, PAD)",
    "model(batch.source, batch.source_valid, batch.inputs).argmax(-1)",
    "Both of your measures are forced: the model reads the right symbols twice. What does it read "
    "when it writes freely?",
)
asked(
    "own_symbols_in_one_call",
    "greedy_decode(model, batch.source, batch.source_valid, BOS, EOS, PAD)",
    "model(batch.source, batch.source_valid, forced).argmax(-1)",
    "You send what the model wrote, forced, through it once more. When it writes freely, which "
    "symbols exist before the first step?",
)
asked(
    "compared_one_position_later",
    "accuracy(forced, batch.labels)",
    "accuracy(forced[:, :-1], batch.labels[:, 1:])",
    "You shift what the model wrote before you compare it. Are inputs and labels not one position "
    "apart already?",
)
asked(
    "bos_before_what_was_written",
    "accuracy(free, batch.labels)",
    "accuracy(torch.cat((batch.inputs[:, :1], free), 1), batch.labels)",
    "You put BOS before what was written freely, so every symbol is one position too late. Do the "
    "labels begin with BOS?",
)
asked(
    "both_free",
    "forced = logits.argmax(-1)",
    "forced = greedy_decode(model, batch.source, batch.source_valid, BOS, EOS, PAD)",
    "Both of your measures are free. What does the model read with teacher forcing?",
)
asked(
    "order_exchanged",
    "return accuracy(forced, batch.labels), accuracy(free, batch.labels)",
    "return accuracy(free, batch.labels), accuracy(forced, batch.labels)",
    "The two ways are exchanged. Which of them comes first?",
)
asked(
    "argmax_over_positions",
    "logits.argmax(-1)",
    "logits.argmax(1)",
    "Your argmax goes along the positions. Which axis of (B, T, V) has the symbols?",
)
asked(
    "training_mode",
    "    model.eval()\n",
    "",
    "The model is measured in training mode, so dropout would make mistakes. Which call switches "
    "it off?",
)
asked(
    "mode_not_restored",
    "    model.train(training)\n",
    "",
    "Your function leaves the model in evaluation mode: if training goes on, it goes on without "
    "dropout. What should you remember before you change the mode?",
)
asked(
    "always_training_afterwards",
    "model.train(training)",
    "model.train()",
    "Afterwards the model is always in training mode, even if it was not before. What should you "
    "remember before you change the mode?",
)
asked(
    "gradients_recorded",
    "torch.no_grad()",
    "torch.enable_grad()",
    "torch records gradients while you measure, although nothing is learned. Which context manager "
    "switches that off?",
)
asked(
    "no_longer_than_the_source",
    "BOS, EOS, PAD)",
    "BOS, EOS, PAD, 0)",
    "Your rows are cut off at the length of their source. Which limit has `greedy_decode` without "
    "your number?",
)
asked(
    "bos_and_eos_exchanged",
    "BOS, EOS, PAD)",
    "EOS, BOS, PAD)",
    "The model starts from EOS and stops at BOS. In which order does `greedy_decode` take the two?",
)
asked(
    "mask_forgotten",
    "logits = model(batch.source, batch.source_valid, batch.inputs)",
    "logits = model(batch.source, torch.ones_like(batch.source_valid), batch.inputs)",
    "The model looks at padding while it is forced. Which tensor of the batch says where the "
    "symbols are?",
)
