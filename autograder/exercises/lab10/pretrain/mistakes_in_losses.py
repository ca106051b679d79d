"""Wrong losses and wrong scores, most of them one edit of a right version."""

from __future__ import annotations

from torch.nn import functional as F

from attnlab.bert_training import PretrainingLoss

from . import exercise
from .also_right import added_up, by_torch, picked

loss = exercise.edits(picked, of="pretraining_loss")

loss.several(
    "all_tokens_asked",
    {
        "chosen = batch.labels >= 0": "chosen = torch.ones_like(batch.labels).bool()",
        "batch.labels.clamp(min=0)": "torch.where(batch.labels < 0, batch.ids, batch.labels)",
    },
    "Your loss asks for every token, most of which the model can read, so copying makes it small. "
    "At which tokens does a label say what was there?",
)
loss(
    "masked_places_only",
    "chosen = batch.labels >= 0",
    "chosen = (batch.labels >= 0) & (batch.ids == 3)",
    "Your loss leaves out chosen tokens that are not [MASK]. Then a model need not look at a word "
    "that it can read. Which tokens have a label?",
)
loss(
    "divided_by_all_tokens",
    "chosen.sum().clamp(min=1)",
    "chosen.numel()",
    "You add up the surprises of the chosen tokens, but you divide by the number of all tokens. "
    "How many surprises did you add?",
)
loss(
    "mean_of_rows",
    "-(found * chosen).sum() / chosen.sum().clamp(min=1)",
    "-((found * chosen).sum(1) / chosen.sum(1).clamp(min=1)).mean()",
    "You take the mean of each row first, so a token counts more in a row with few chosen ones. "
    "Over what does the task's mean run?",
)
loss(
    "summed_over_tokens",
    "chosen.sum().clamp(min=1)",
    "1",
    "The first part is a sum, so it outweighs the second one. What does the task ask for?",
)
loss(
    "nothing_chosen_is_nan",
    "chosen.sum().clamp(min=1)",
    "chosen.sum()",
    "If no token of a batch was chosen, your loss is NaN, and one such batch ruins all weights. "
    "What should the mean over nothing be here?",
)
loss(
    "sign_of_the_first",
    "mlm = -(",
    "mlm = (",
    "The first part gets lower as the model gets worse. Which sign has a surprise?",
)
loss(
    "sign_of_the_second",
    "nsp = -pairs",
    "nsp = pairs",
    "The second part gets lower as the model gets worse. Which sign has a surprise?",
)
loss(
    "summed_over_pairs",
    "batch.follows].mean()",
    "batch.follows].sum()",
    "The second part is a sum over the pairs. What does the task ask for?",
)
loss(
    "columns_swapped",
    "batch.follows].mean()",
    "1 - batch.follows].mean()",
    "For a pair that belongs together you take the surprise at column 0. What do the two columns "
    "of `nsp_logits` stand for?",
)
loss(
    "softmax_over_the_batch",
    "out.nsp_logits.log_softmax(-1)",
    "out.nsp_logits.log_softmax(0)",
    "The softmax of the second part runs over the pairs of the batch. Between which two numbers "
    "does the model choose?",
)
loss(
    "softmax_over_positions",
    "out.mlm_logits.log_softmax(-1)",
    "out.mlm_logits.log_softmax(1)",
    "The softmax of the first part runs along the positions. Which axis holds the words among "
    "which the model chooses?",
)
loss(
    "log_of_softmax",
    "out.mlm_logits.log_softmax(-1)",
    "out.mlm_logits.softmax(-1).log()",
    "With logits in the thousands the first part is infinite or NaN: a probability became 0 before "
    "its logarithm was taken. Which function of lab 1 avoids this?",
)
loss(
    "probabilities_not_logs",
    "out.mlm_logits.log_softmax(-1)",
    "out.mlm_logits.softmax(-1)",
    "The first part averages probabilities, not surprises. What turns a probability into nats?",
)
loss(
    "segments_forgotten",
    "batch.ids, batch.segments, batch.valid",
    "batch.ids, None, batch.valid",
    "The model does not get the segments, so all tokens count as one sentence. Which fields of the "
    "batch does it read?",
)
loss(
    "filling_shown",
    "batch.ids, batch.segments, batch.valid",
    "batch.ids, batch.segments",
    "The model does not get `valid`, so it attends to the filling. Which fields of the batch does "
    "it read?",
)
loss(
    "labels_read",
    "model(batch.ids,",
    "model(torch.where(batch.labels < 0, batch.ids, batch.labels),",
    "The model reads the labels: you put the hidden words back before you call it. What is left to "
    "find out?",
)
loss(
    "in_evaluation_mode",
    "    out = model",
    "    model.eval()\n    out = model",
    "Your loss switches the model to evaluation mode, so dropout is off for the rest of the "
    "training. Who decides the mode?",
)
loss(
    "in_training_mode",
    "    out = model",
    "    model.train()\n    out = model",
    "Your loss switches the model to training mode, also while it is measured. Who decides the "
    "mode?",
)
loss(
    "two_calls",
    "    pairs = out.nsp_logits",
    "    out = model(batch.ids, batch.segments, batch.valid)\n    pairs = out.nsp_logits",
    "The model is called twice, once for each part: that doubles the time, and dropout differs. "
    "What does one call return?",
)
loss(
    "gradients_cut",
    "out.mlm_logits.log_softmax",
    "out.mlm_logits.detach().log_softmax",
    "No gradient of the first part reaches the model. Which call cuts the graph?",
)
loss(
    "parts_in_the_other_order",
    "PretrainingLoss(mlm, nsp)",
    "PretrainingLoss(nsp, mlm)",
    "The two parts are in the wrong fields. In which order does a `PretrainingLoss` name them?",
)
loss(
    "python_numbers",
    "PretrainingLoss(mlm, nsp)",
    "PretrainingLoss(mlm.item(), nsp.item())",
    "You return Python numbers, from which no gradient can flow back. What does `backward()` need?",
)

of_torch = exercise.edits(by_torch, of="pretraining_loss")
of_torch(
    "softmax_twice",
    "mlm_logits.transpose(1, 2)",
    "mlm_logits.softmax(-1).transpose(1, 2)",
    "The first part takes the softmax of probabilities: `cross_entropy` takes it by itself. What "
    "does that function expect?",
)
of_torch(
    "axes_mixed_up",
    "mlm_logits.transpose(1, 2), batch.labels,",
    "mlm_logits.transpose(1, 2).reshape(-1, mlm_logits.shape[2]), batch.labels.flatten(),",
    "Your rows of logits mix numbers of different positions: you exchange two axes and then make "
    "rows. Which axis must come last when you make rows of V logits?",
)


@exercise.mistake(
    "You return one number, the sum of both parts. The run shows them apart, because one of them "
    "can stand still while the other falls. What does the task return?",
    of="pretraining_loss",
)
def only_the_sum(model, batch):
    out = model(batch.ids, batch.segments, batch.valid)
    mlm = F.cross_entropy(out.mlm_logits.flatten(0, 1), batch.labels.flatten(), reduction="sum")
    chosen = (batch.labels >= 0).sum().clamp(min=1)
    return mlm / chosen + F.cross_entropy(out.nsp_logits, batch.follows)


@exercise.mistake(
    "The second part compares one number for each pair with `follows`, so only one of the two "
    "columns learns. Which loss fits two logits?",
    of="pretraining_loss",
)
def one_column(model, batch):
    out = model(batch.ids, batch.segments, batch.valid)
    mlm = F.cross_entropy(out.mlm_logits.flatten(0, 1), batch.labels.flatten(), reduction="sum")
    chosen = (batch.labels >= 0).sum().clamp(min=1)
    logit = out.nsp_logits[:, 1]
    nsp = F.binary_cross_entropy_with_logits(logit, batch.follows.to(logit.dtype))
    return PretrainingLoss(mlm / chosen, nsp)


scores = exercise.edits(added_up, of="pretraining_scores")

scores(
    "dropout_is_on",
    "    model.eval()\n",
    "",
    "A model that comes in training mode is measured with dropout, so its scores are too low and "
    "change from call to call. Which mode is for measuring?",
)
scores(
    "left_in_evaluation_mode",
    "    model.train(was)\n",
    "",
    "The model is in evaluation mode afterwards, whatever it was before. If you measure in the "
    "middle of a training, what is missing from then on?",
)
scores(
    "always_back_to_training",
    "model.train(was)",
    "model.train()",
    "The model is in training mode afterwards, even if it was not before. How do you know which "
    "mode it had?",
)
scores(
    "with_gradients",
    "with torch.no_grad():",
    "with torch.enable_grad():",
    "Gradients are computed while you measure. That costs memory and time, and nothing uses them. "
    "Which context turns them off?",
)
scores(
    "all_chosen_tokens",
    "at = batch.ids == MASK",
    "at = batch.labels >= 0",
    "Your loss also counts chosen tokens that the model can read. They are easy, so the loss can "
    "fall below the entropy of a hidden word. Which places does the task name?",
)
scores(
    "mean_of_batches",
    'reduction="sum").item()',
    'reduction="mean").item()',
    "You add up the means of the batches and divide by the number of places. What do you have to "
    "add up to get the mean over all places?",
)
scores.several(
    "mean_of_means",
    {
        'reduction="sum").item()\n        places += int(at.sum())': (
            'reduction="mean").item()\n        places += 1'
        ),
    },
    "A place in a small batch counts more than one in a large batch, because you average the means "
    "of the batches. Over what does the task's mean run?",
)
scores(
    "pairs_per_batch",
    "right += int((out.nsp_logits.argmax(1) == batch.follows).sum())\n"
    "        pairs += len(batch.follows)",
    "right += float((out.nsp_logits.argmax(1) == batch.follows).double().mean())\n"
    "        pairs += 1",
    "The share of pairs is a mean of shares: a pair in a small batch counts more. Over what should "
    "you count?",
)
scores(
    "last_batch_only",
    "loss += F.cross_entropy",
    "loss = F.cross_entropy",
    "Only the last batch counts in your loss. What must be added up?",
)
scores(
    "smaller_logit",
    "argmax(1)",
    "argmin(1)",
    "You count the pairs that the model judges wrongly. Which logit is the model's answer?",
)
scores(
    "only_true_pairs",
    "(out.nsp_logits.argmax(1) == batch.follows).sum()",
    "(out.nsp_logits.argmax(1) * batch.follows).sum()",
    "A pair that does not belong together is never counted as right in your score. Which answers "
    "are right for such a pair?",
)
scores(
    "first_logit_above_half",
    "out.nsp_logits.argmax(1)",
    "(out.nsp_logits[:, 1] > 0).long()",
    "You compare one logit with 0, and not the two logits with each other. Which of them is "
    "larger?",
)
scores(
    "percent",
    "right / pairs",
    "100 * right / pairs",
    "Your share is in per cent. From which number to which does it run in the task?",
)
scores(
    "other_order",
    "PretrainingScores(loss / places, right / pairs)",
    "PretrainingScores(right / pairs, loss / places)",
    "The two scores are in the wrong fields. In which order does `PretrainingScores` name them?",
)
scores(
    "bits",
    "loss / places",
    "loss / places / 0.6931471805599453",
    "Your loss is in bits. Which logarithm gives nats?",
)
scores(
    "tensors_returned",
    "PretrainingScores(loss / places, right / pairs)",
    "PretrainingScores(torch.tensor(loss / places), torch.tensor(right / pairs))",
    "You return tensors. Which method gives the plain number?",
)
scores(
    "segments_not_given",
    "batch.ids, batch.segments, batch.valid",
    "batch.ids, None, batch.valid",
    "The model is measured without the segments with which it was trained. Which fields of the "
    "batch does it read?",
)
scores(
    "valid_not_given",
    "batch.ids, batch.segments, batch.valid",
    "batch.ids, batch.segments",
    "The model is measured without `valid`, so it attends to the filling. Which fields of the "
    "batch does it read?",
)
