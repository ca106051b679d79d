"""Wrong versions of the teacher-forced loss, each a small change of a right one."""

from __future__ import annotations

from . import (  # noqa: F401 - to register them
    exercise,
    mistakes_in_calls,
    mistakes_in_pairs,
    mistakes_in_place,
)
from .also_right import step_by_step

INPUTS = "batch.target[:, :-1]"
LABELS = "batch.target[:, 1:]"
READ = "hidden, state = model.encode(batch.source, batch.source_mask)"
STEP = "logits, state, _ = model.cell(y_prev, state, hidden, batch.source_mask)"
STACKED = "torch.stack(steps, 1)"
LOSS = "cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD)"

wrong = exercise.edits(step_by_step)

wrong(
    "no_shift",
    LABELS,
    INPUTS,
    "Your model should predict the token that it was just fed. Inputs and answers come from the "
    "same row, one step apart: which of the two starts one column later?",
)
wrong(
    "whole_row_fed_and_asked",
    f"{INPUTS}, {LABELS}",
    "batch.target, batch.target",
    "Every column is an input and also the answer of the same step, so a model predicts the token "
    "that it was just fed, BOS from BOS. Which column is never fed, and which is never predicted?",
)
wrong(
    "encoder_reads_padding",
    "model.encode(batch.source, batch.source_mask)",
    "model.encode(batch.source, torch.ones_like(batch.source_mask))",
    "Your encoder is given another mask than the batch's, so it reads padding as if it were "
    "symbols. Which mask belongs to the source?",
)
wrong(
    "answer_fed",
    INPUTS,
    LABELS,
    "Each step is fed the very token that it should predict, so the model only needs to copy. This "
    "is a leak, and the loss falls to zero. What was known before step t?",
)
wrong(
    "bos_missing",
    INPUTS,
    "nn.functional.pad(batch.target[:, 1:-1], (1, 0))",
    'The first step is fed padding (id 0) instead of BOS. Which token means "begin", and where is '
    "it in the batch?",
)
wrong(
    "first_symbol_not_predicted",
    f"{INPUTS}, {LABELS}",
    "batch.target[:, 1:-1], batch.target[:, 2:]",
    "The first symbol of the answer is never predicted: your steps start from it. What is fed so "
    "that the model can predict the first symbol?",
)
wrong(
    "eos_not_trained",
    LABELS,
    "batch.target[:, 1:].where(batch.target[:, 1:] != EOS, PAD)",
    "Your loss leaves out EOS, so your model will not learn to stop. Which symbols are left out, "
    "and which of them is a prediction like any other?",
)
wrong(
    "last_column_cut",
    f"{INPUTS}, {LABELS}",
    "batch.target[:, :-2], batch.target[:, 1:-1]",
    "The last column is cut off once too often: the longest sentence of the batch never has to "
    "end. How many predictions does a row with n symbols need?",
)
wrong(
    "padding_in_the_loss",
    ", ignore_index=PAD",
    "",
    "Padding counts as an answer in your loss, and the model is rewarded for predicting it. Which "
    "argument of cross_entropy leaves an id out?",
)
wrong.several(
    "own_guesses_fed",
    {
        "steps = []": "y_prev, steps = inputs[:, 0], []",
        "for y_prev in": "for _ in",
        "steps.append(logits)": "steps.append(logits)\n        y_prev = logits.argmax(-1)",
    },
    "From the second step on, your decoder is fed its own guess. It will be used like that, but it "
    "is not trained like that here: where do you find the true token?",
)
wrong(
    "mean_of_sentence_means",
    f"return {LOSS}",
    "rows = zip(logits, labels, strict=True)\n"
    "    means = [cross_entropy(*row, ignore_index=PAD) for row in rows]\n"
    "    return torch.stack(means).mean()",
    "You take the mean of each sentence first and then the mean of these means, so a token of a "
    "short sentence counts more than one of a long sentence. What should one mean run over?",
)
wrong(
    "mean_of_step_means",
    f"return {LOSS}",
    "columns = zip(steps, labels.unbind(1), strict=True)\n"
    "    means = [cross_entropy(*c, ignore_index=PAD) for c in columns if c[1].any()]\n"
    "    return torch.stack(means).mean()",
    "You take the mean of each step first and then the mean of these means. Late steps have only "
    "the long sentences, or none, but count like full ones. What should one mean run over?",
)
wrong(
    "divided_by_all_steps",
    f"return {LOSS}",
    "columns = zip(steps, labels.unbind(1), strict=True)\n"
    "    means = [cross_entropy(*c, ignore_index=PAD) for c in columns]\n"
    "    return torch.stack(means).mean()",
    "You take the mean of each step first and then the mean of these means. Late steps have only "
    "the long sentences, or none, but count like full ones. What should one mean run over?",
)
wrong(
    "summed",
    "ignore_index=PAD",
    'ignore_index=PAD, reduction="sum"',
    "Your loss is a sum over the predictions, so it grows with the batch. What do you divide by?",
)
wrong(
    "divided_by_sentences",
    "ignore_index=PAD)",
    'ignore_index=PAD, reduction="sum") / len(labels)',
    "Your sum is divided by the number of sentences, so long sentences weigh more and the loss "
    "grows with their length. How many predictions are in the sum?",
)
wrong(
    "divided_by_all_places",
    "ignore_index=PAD)",
    'ignore_index=PAD, reduction="sum") / labels.numel()',
    "Padding is not in the sum, but counts in the number that you divide by, so more padding gives "
    "a smaller loss. How many predictions were there?",
)
wrong(
    "state_not_carried",
    "logits, state, _",
    "logits, _, _",
    "Every step starts from the encoder's state: what the decoder wrote is forgotten. Which of the "
    "three results of a step goes into the next one?",
)
wrong(
    "source_mask_lost",
    "hidden, batch.source_mask)",
    "hidden, torch.ones_like(batch.source_mask))",
    "The decoder may attend to the padding of the source: its mask is True everywhere. Which mask "
    "belongs to `hidden`?",
)
READ_AT_EVERY_STEP = (
    "The source is read again at every step. The result is the same, but slower: what can be done "
    "once, before the loop?"
)
wrong(
    "read_at_every_step",
    STEP,
    f"hidden, _ = model.encode(batch.source, batch.source_mask)\n        {STEP}",
    READ_AT_EVERY_STEP,
)
for name, before in (("", {f"{READ}\n    steps": "steps"}), ("_too", {})):
    wrong.several(
        f"state_read_again_at_every_step{name}",
        {STEP: f"{READ}\n        {STEP}", **before},
        "You read the source inside the loop, and so `state` is the encoder's at every step: what "
        "the decoder wrote is forgotten. Which line belongs before the loop?",
    )
wrong.several(
    "read_inside_the_loop",
    {
        READ: "state = None",
        STEP: "hidden, first = model.encode(batch.source, batch.source_mask)\n"
        f"        state = state if steps else first\n        {STEP}",
    },
    READ_AT_EVERY_STEP,
)
wrong.several(
    "last_step_only",
    {"steps.append(logits)": "steps = [logits]", "labels.flatten()": "labels[:, -1]"},
    "Only the last step counts: your loop overwrites the logits of earlier steps. Where are they "
    "collected?",
)
wrong(
    "axes_mixed_up",
    STACKED,
    "torch.stack(steps, 0)",
    "Logits and answers do not match: one is in order of steps, the other in order of sentences. "
    "After stacking, which axis is which?",
)
wrong(
    "softmax_twice",
    STACKED,
    f"{STACKED}.softmax(-1)",
    "You apply a softmax before cross_entropy, which applies its own: that is one too many. What "
    "does cross_entropy take?",
)
wrong(
    "in_bits",
    "ignore_index=PAD)",
    "ignore_index=PAD) / math.log(2)",
    "Your loss is in bits. Which logarithm does the task name?",
)
wrong(
    "mode_changed",
    "    hidden, state",
    "    model.eval()\n    hidden, state",
    "Your loss puts the model into evaluation mode, and from then on it learns without dropout. "
    "In which mode should the model run, according to the task?",
)
wrong(
    "epsilon_in_the_logarithm",
    f"return {LOSS}",
    "p = logits.softmax(-1).gather(-1, labels[..., None])[..., 0]\n"
    "    real = batch.target_mask[:, 1:]\n"
    "    return -((p + 1e-9).log() * real).sum() / real.sum()",
    "Your loss is wrong in its last digits: a small number is added to the probabilities before "
    "the logarithm. Which function takes the logarithm of a softmax without that?",
)
wrong(
    "mask_of_the_input",
    f"return {LOSS}",
    "log_p = logits.log_softmax(-1).gather(-1, labels[..., None])[..., 0]\n"
    "    real = batch.target_mask[:, :-1]\n"
    "    return -(log_p * real).sum() / real.sum()",
    "The mask for your mean is one column off: it belongs to the inputs, not to the predictions. "
    "Which columns of target_mask go with the answers?",
)
wrong(
    "stops_at_the_first_end",
    f"return {LOSS}",
    "end = int((labels == EOS).any(0).nonzero()[0, 0]) + 1\n"
    "    logits, labels = logits[:, :end], labels[:, :end]\n"
    f"    return {LOSS}",
    "Your decoder stops as soon as one sentence of the batch has reached its EOS, so the rest of "
    "the longer ones is never judged. How long must the loop run?",
)
STATE_CUT = (
    "The number is right, but gradients do not flow from one step to earlier ones: the state was "
    "cut from torch's graph. Which line does that?"
)
wrong("state_detached", "y_prev, state,", "y_prev, state.detach(),", STATE_CUT)
for name, when in (("", ""), ("_now_and_then", "if len(steps) % 4 == 0:\n            ")):
    wrong(
        f"state_detached_after_the_step{name}",
        "steps.append(logits)",
        f"steps.append(logits)\n        {when}state = state.detach()",
        STATE_CUT,
    )
wrong(
    "plain_number",
    f"return {LOSS}",
    f"return {LOSS}.item()",
    "You return a plain number. It is right, but training starts with `loss.backward()`: what must "
    "the result keep for that?",
)
wrong(
    "mode_always_training",
    "    hidden, state",
    "    model.train()\n    hidden, state",
    "Your loss puts the model into training mode, so a loss on new dates is measured with dropout. "
    "In which mode should the model run, according to the task?",
)
wrong(
    "number_made_a_tensor",
    f"return {LOSS}",
    f"return torch.tensor({LOSS}.item())",
    "Your result is a new tensor, made of a plain number: it is float32 and has no connection to "
    "the logits, so nothing can be learned from it. Which line takes the number out of its tensor?",
)
wrong(
    "always_float32",
    "steps.append(logits)",
    "steps.append(logits.float())",
    "Your loss is float32, whatever the dtype of the logits is. Which of your lines names a dtype, "
    "or calls a method that does?",
)
wrong(
    "log_of_the_mean",
    f"return {LOSS}",
    "rows = logits.flatten(0, 1).softmax(-1)[labels.flatten() != PAD]\n"
    "    right = labels[labels != PAD][:, None]\n"
    "    return -rows.gather(1, right).mean().log()",
    "You take the mean of the probabilities first and its logarithm afterwards. In the formula of "
    "the loss, what stands inside the sum?",
)
wrong(
    "probabilities_for_logarithms",
    LOSS,
    "nn.functional.nll_loss(logits.flatten(0, 1).softmax(-1), labels.flatten(), ignore_index=PAD)",
    "You add up probabilities, so your loss is a number from -1 to 0. Of which numbers does the "
    "loss take the mean?",
)
wrong(
    "logits_for_logarithms",
    LOSS,
    "nn.functional.nll_loss(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD)",
    "Your loss is a mean of the logits themselves: they are taken for log-probabilities. What "
    "turns the logits of a step into logarithms of a distribution?",
)
wrong(
    "perplexity_returned",
    f"return {LOSS}",
    f"return {LOSS}.exp()",
    "Your result is a perplexity, the exponential of the loss. In which unit does the task ask for "
    "the number?",
)
wrong(
    "begins_with_zeros",
    "    steps = []",
    "    state = torch.zeros_like(state)\n    steps = []",
    "Your decoder begins with a state of zeros: what the encoder knows in the end does not reach "
    "it. Which two results does `model.encode` return?",
)
wrong(
    "answers_in_another_order",
    "labels.flatten()",
    "labels.T.flatten()",
    "Logits and answers do not match: one is in order of steps, the other in order of sentences. "
    "After stacking, which axis is which?",
)
wrong(
    "labels_smoothed",
    f"return {LOSS}",
    "return nn.functional.cross_entropy(\n"
    "        logits.flatten(0, 1), labels.flatten(), ignore_index=PAD, label_smoothing=0.1\n"
    "    )",
    "Your loss shares a part of each answer among all symbols (label smoothing). It helps some "
    "models, but it is no longer the surprise at the right token. What does the formula sum?",
)

for name, last in (("source_mask_left_out", ", None"), ("three_arguments_for_the_cell", "")):
    wrong(
        name,
        STEP,
        STEP.replace(", batch.source_mask", last),
        "The decoder gets no source mask, so it may look at padding of the source. What does "
        "`model.cell` take as its last argument?",
    )
CUT_OFF = (
    "The number is right, but no gradient can be computed from it: something such as `no_grad`, "
    "`detach` or `item` cuts your loss from torch's graph. What is the loss for in training?"
)
wrong("loss_detached", f"return {LOSS}", f"return {LOSS}.detach()", CUT_OFF)
ENCODED = f"    {READ}\n"
for name, detached, advice in (
    (
        "encoder_state_detached",
        f"{ENCODED}    state = state.detach()\n",
        "The number is right, but the encoder's last state is cut from torch's graph before the "
        "first step of the decoder. Which of your lines comes between the two, and what must the "
        "encoder learn from the loss?",
    ),
    (
        "encoder_vectors_detached",
        f"{ENCODED}    hidden = hidden.detach()\n",
        "The number is right, but the encoder's vectors are cut from torch's graph, so no gradient "
        "comes back from the contexts. Which of your lines does that to `hidden`?",
    ),
    (
        "encoder_detached",
        f"    with torch.no_grad():\n    {ENCODED}",
        "The number is right, but both results of `model.encode` are cut from torch's graph, so "
        "the encoder learns nothing. Which of your lines, or which block, does that?",
    ),
    (
        "states_and_vectors_detached",
        f"{ENCODED}    hidden = hidden.detach()\n",
        "The number is right, but both the encoder's vectors and the states of all steps are cut "
        "from torch's graph. Which of your lines do that?",
    ),
):
    also = "y_prev, state.detach()," if name.startswith("states") else "y_prev, state,"
    wrong.several(name, {ENCODED: detached, "y_prev, state,": also}, advice)
wrong(
    "evaluation_mode_after_reading",
    "    steps = []",
    "    model.eval()\n    steps = []",
    "Your loss puts the model into evaluation mode, and from then on it learns without dropout. "
    "In which mode should the model run, according to the task?",
)
wrong(
    "padding_fed",
    "model.cell(y_prev,",
    "model.cell(torch.zeros_like(y_prev),",
    "Every step is fed the id 0, which is padding, so the decoder never sees what was written "
    "before. Which token should a step be fed?",
)
wrong(
    "bos_counted",
    f"return {LOSS}",
    f"return {LOSS[:-1]}, reduction='sum') / batch.target_mask.sum()",
    "You divide by the number of all tokens of the target, BOS included. Which of these tokens is "
    "never predicted?",
)
