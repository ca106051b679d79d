"""Wrong training loops, and files of weights that a wrong training leaves."""

from __future__ import annotations

from attnlab.models.dates_translator import dates_translator
from attnlab.seq2seq import AttentionDecoderCell
from gradekit.exercise.training_loop import CLIP, COLLECT, loop_mistakes
from gradekit.exercise.wrong_weights import NAN, NOT_TRAINED, all_nan, of_another_model, with_noise

from . import SAVED, exercise, reference_weights
from .also_right import batch_by_batch

EACH_BATCH = "for batch in batches:"
SCHEDULE = "if scheduler is not None:\n            scheduler.step()"

wrong = exercise.edits(batch_by_batch)
loop_mistakes(wrong)

wrong(
    "loss_cut_off",
    "loss = teacher_forced_loss(model, batch)",
    "loss = teacher_forced_loss(model, batch).detach().requires_grad_()",
    "No gradient reaches the model's weights, so nothing is learned. There is no `backward()`, or "
    "it starts from a loss that is cut off from the model, by a `.detach()` or a new tensor. Where "
    "is the first such line: here, or in your `teacher_forced_loss`?",
)
NO_GRAPH = (
    "`backward()` finds no graph to go through: perhaps the loss is computed under `no_grad`, or "
    "cut off by `detach`. Which line, or which block, around the call of your loss does that?"
)
wrong(
    "loss_without_gradients",
    "loss = teacher_forced_loss(model, batch)",
    "loss = teacher_forced_loss(model, batch).detach()",
    NO_GRAPH,
)
wrong(
    "no_clipping",
    f"        {CLIP}\n",
    "",
    "The gradients reach the optimizer at full length: they are not clipped, or clipped before "
    "there are any. What is `max_norm` for? (A recurrent model now and then has a gradient a "
    "hundred times too long.)",
)
wrong(
    "first_group_clipped",
    CLIP,
    CLIP.replace("model.parameters()", 'optimizer.param_groups[0]["params"]'),
    "You clip only the first group of the optimizer's parameters. An optimizer may have several: "
    "the norm of which gradients should be limited?",
)
wrong(
    "each_group_clipped",
    CLIP,
    "for group in optimizer.param_groups:\n"
    "            nn.utils.clip_grad_norm_(group['params'], max_norm)",
    "You clip each group of the optimizer's parameters by itself, so together their gradients are "
    "longer than `max_norm`. Whose common norm does the task limit?",
)
wrong(
    "clipped_by_the_largest",
    CLIP,
    CLIP.replace("max_norm)", "max_norm, norm_type=float('inf'))"),
    "You limit the largest entry of all gradients, another norm than the usual one. Which norm "
    "does `nn.utils.clip_grad_norm_` take if you only give it `max_norm`?",
)
wrong(
    "batches_used_twice",
    EACH_BATCH,
    "for batch in [*batches] * 2:",
    "Your function goes over the batches more than once. How often does the task use each of them?",
)
wrong(
    "in_eval_mode",
    "model.train()",
    "model.eval()",
    "The model is in evaluation mode while it learns, so dropout would be off. Which call changes "
    "the mode?",
)
wrong(
    "loss_after_the_step",
    COLLECT,
    "losses.append(teacher_forced_loss(model, batch).item())",
    "Your losses are measured after the step, in a second pass over the batch. Which loss did "
    "backward() start from?",
)
wrong(
    "returns_inside_the_loop",
    "    return losses",
    "        return losses",
    "Only the first batch is used: a `return` or a `break` ends the loop. Which line is indented "
    "once too often, or not needed?",
)
wrong(
    "scheduler_ignored",
    f"        {SCHEDULE}\n",
    "",
    "The scheduler is not used, so the learning rate never changes. When does it take a step?",
)
wrong(
    "scheduler_once_a_pass",
    f"        {SCHEDULE}\n        {COLLECT}\n",
    f"        {COLLECT}\n    if scheduler is not None:\n        scheduler.step()\n",
    "The scheduler takes one step for the whole pass. The docstring asks for one after each step "
    "of the optimizer: is the line inside the loop?",
)
wrong(
    "scheduler_first",
    f"optimizer.step()\n        {SCHEDULE}",
    f"{SCHEDULE}\n        optimizer.step()",
    "The scheduler steps before the optimizer, so the first learning rate is never used. Which of "
    "the two comes first?",
)
wrong(
    "scheduler_required",
    SCHEDULE,
    "scheduler.step()",
    "Without a scheduler your code fails: `scheduler` is None if it is not given. What should "
    "happen then?",
)


wrong(
    "scheduler_given_the_loss",
    SCHEDULE,
    SCHEDULE.replace("step()", "step(loss.item())"),
    "You give the scheduler's `step` an argument, such as the loss, which most schedulers take for "
    "the number of an epoch. What does the docstring say that the scheduler does, and when?",
)


@exercise.mistake(NOT_TRAINED, of=SAVED)
def untrained():
    return dict(dates_translator(AttentionDecoderCell).state_dict())


@exercise.mistake(
    "The model is good, but could be better. Did the training run to the end of its last pass? "
    "Late steps are made at a small learning rate and improve the details.",
    of=SAVED,
)
def nearly_trained():
    return with_noise(reference_weights(), 0.059)


@exercise.mistake(
    "Most dates are right, but the training was cut short. How many passes did it make, and is the "
    "curve of the losses still falling at its end?",
    of=SAVED,
)
def half_trained():
    return with_noise(reference_weights(), 0.073)


@exercise.mistake(
    "The file holds the weights of another model: their names or shapes do not fit the translator "
    "that the lab builds. Which call made the model that you saved?",
    of=SAVED,
)
def another_model():
    return of_another_model()


@exercise.mistake(NAN, of=SAVED)
def weights_of_nan():
    return all_nan(reference_weights())


wrong(
    "mean_returned",
    "    return losses",
    "    return sum(losses) / len(losses)",
    "You return one number for the whole pass. How many losses does the task ask for?",
)
wrong.several(
    "running_means",
    {
        "losses = []": "losses, own = [], []",
        "losses.append(loss.item())": (
            "own.append(loss.item())\n        losses.append(sum(own) / len(own))"
        ),
    },
    "Your numbers are running means: each one is the mean of all losses so far. Which number does "
    "the task ask for, for each batch?",
)
wrong(
    "batches_used_up",
    "    for batch in batches:",
    "    count = len(list(batches))\n    for batch in batches:",
    "You go through `batches` once before the loop, as with `len(list(batches))`. An iterator is "
    "empty afterwards: how often is each batch used, according to the task?",
)
