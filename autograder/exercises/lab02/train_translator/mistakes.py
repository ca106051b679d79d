"""Wrong training loops, and files of weights that a wrong training leaves."""

from __future__ import annotations

import torch
from torch import nn

from attnlab.models.dates_translator import dates_translator
from attnlab.seq2seq import AttentionDecoderCell

from . import SAVED, exercise, reference_weights
from .also_right import batch_by_batch

CLIP = "nn.utils.clip_grad_norm_(model.parameters(), max_norm)"
SCHEDULE = "if scheduler is not None:\n            scheduler.step()"
COLLECT = "losses.append(loss.item())"

wrong = exercise.edits(batch_by_batch)

wrong(
    "no_zero_grad",
    "        optimizer.zero_grad()\n",
    "",
    "The gradients of all batches add up, because they are never reset. Which call belongs before "
    "every backward()?",
)
wrong(
    "zero_grad_once",
    "    for batch in batches:\n        optimizer.zero_grad()",
    "    optimizer.zero_grad()\n    for batch in batches:",
    "Gradients are set to zero once, before the loop; from the second batch on they add up. How "
    "often must they be reset?",
)
wrong.several(
    "zero_grad_at_the_end",
    {"        optimizer.zero_grad()\n": "", COLLECT: f"{COLLECT}\n        optimizer.zero_grad()"},
    "Later steps start from zero, but the first one adds to gradients that were there before your "
    "function was called. Is your zero_grad() before the first backward()?",
)
wrong(
    "zeroed_before_step",
    CLIP,
    "optimizer.zero_grad(set_to_none=False)",
    "The weights do not move: the gradients are set to zero between backward() and step(), so the "
    "optimizer has nothing to use. In which order do the calls come?",
)
wrong(
    "no_step",
    "        optimizer.step()\n",
    "",
    "The weights do not change: the optimizer never takes a step. What are the gradients for?",
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
    "clipped_after_step",
    f"{CLIP}\n        optimizer.step()",
    f"optimizer.step()\n        {CLIP}",
    "Clipping comes after the optimizer has used the gradients, so it has no effect. Between which "
    "two calls does it belong?",
)
wrong(
    "clipped_by_value",
    "clip_grad_norm_",
    "clip_grad_value_",
    "You limit each entry of the gradients to max_norm, and that changes their direction. Which of "
    "torch's two clipping functions uses the *norm* of all gradients together?",
)
wrong(
    "clipped_one_by_one",
    CLIP,
    "for parameter in model.parameters():\n"
    "            nn.utils.clip_grad_norm_(parameter, max_norm)",
    "Each parameter's gradient is clipped by itself, so together they are longer than max_norm, "
    "and their direction changes. Whose norm should be limited?",
)
wrong(
    "clipped_at_one",
    "(), max_norm)",
    "(), 1.0)",
    "You always clip at 1, whatever `max_norm` says. Where is the argument used?",
)
wrong(
    "always_scaled",
    CLIP,
    "norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()\n"
    "        for parameter in model.parameters():\n"
    "            parameter.grad *= max_norm / norm",
    "The gradients get the length max_norm even if they were shorter. Clipping never makes a "
    "gradient longer: when is there nothing to do?",
)
wrong(
    "in_eval_mode",
    "model.train()",
    "model.eval()",
    "The model is in evaluation mode while it learns, so dropout would be off. Which call changes "
    "the mode?",
)
wrong(
    "mode_left_as_it_was",
    "    model.train()\n",
    "",
    "The model stays in the mode that it had before. If its accuracy was measured just before, "
    "which mode is that?",
)
wrong(
    "loss_of_the_last_batch",
    "return losses",
    "return losses[-1:]",
    "You return one number: the loss of the last batch. The curve of the losses needs all of them: "
    "where are they collected?",
)
wrong(
    "mean_of_losses",
    "return losses",
    "return [sum(losses) / len(losses)]",
    "You return one number: the mean of the losses. Which numbers does the task ask for?",
)
wrong(
    "tensors_returned",
    "loss.item()",
    "loss",
    "Your list holds tensors, and each of them keeps its batch's whole graph in memory. Which "
    "method gives the plain number?",
)
wrong(
    "loss_after_the_step",
    COLLECT,
    "losses.append(teacher_forced_loss(model, batch).item())",
    "Your losses are measured after the step, in a second pass over the batch. Which loss did "
    "backward() start from?",
)
wrong.several(
    "yielded_one_by_one",
    {COLLECT: "yield loss.item()", "    return losses\n": ""},
    "Your function contains a `yield`, so calling it trains nothing: it returns a generator that "
    "has not started yet. What collects the losses while the loop runs?",
)
wrong(
    "returns_inside_the_loop",
    "    return losses",
    "        return losses",
    "Only the first batch is used: a `return` is inside the loop. Is it indented once too often?",
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
    "batches_counted",
    "for batch in batches:",
    "for i in range(len(batches)):\n        batch = batches[i]",
    "Your code asks for the number of batches, but a generator has no len() and can be read only "
    "once. Does your loop need to know how many batches there are?",
)


def shaken(amount):
    """The reference's weights with noise added: a model that was trained less."""
    generator = torch.Generator().manual_seed(0)
    return {
        name: tensor + amount * torch.randn(tensor.shape, generator=generator)
        for name, tensor in reference_weights().items()
    }


@exercise.mistake(
    "The saved model has learned nothing: its weights are still the initial ones. Was the file "
    "saved before the training?",
    of=SAVED,
)
def untrained():
    return dict(dates_translator(AttentionDecoderCell).state_dict())


@exercise.mistake(
    "The model is good, but could be better. Did the training run to the end of its last pass? "
    "Late steps are made at a small learning rate and improve the details.",
    of=SAVED,
)
def nearly_trained():
    return shaken(0.059)


@exercise.mistake(
    "Most dates are right, but the training was cut short. How many passes did it make, and is the "
    "curve of the losses still falling at its end?",
    of=SAVED,
)
def half_trained():
    return shaken(0.073)


@exercise.mistake(
    "The file holds the weights of another model: their names or shapes do not fit the translator "
    "that the lab builds. Which call made the model that you saved?",
    of=SAVED,
)
def another_model():
    return {name: torch.zeros_like(tensor) for name, tensor in nn.GRU(7, 5).state_dict().items()}


@exercise.mistake(
    "A weight in the file is NaN. Once a loss is NaN, all later losses are NaN: at which step of "
    "your curve does that begin?",
    of=SAVED,
)
def weights_of_nan():
    return {name: tensor * float("nan") for name, tensor in reference_weights().items()}
