"""Wrong training loops, and files of weights that a wrong training leaves."""

from __future__ import annotations

import torch
from safetensors.torch import load_file
from torch import nn

from attnlab.encoder_decoder import Transformer, init_weights
from attnlab.models.small_transformers import small_transformer

from . import exercise, mistakes_in_the_loss, reference_weights  # noqa: F401 - registers more
from .also_right import batch_by_batch

CLIP = "nn.utils.clip_grad_norm_(model.parameters(), max_norm)"
COLLECT = "losses.append(loss.item())"
# How much noise brings the reference's weights into each lower band.
NEARLY = {"copy": 0.016, "dates": 0.021, "half": 0.0325, "numbers": 0.039}

wrong = exercise.edits(batch_by_batch, of="train_transformer")

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
    "there are any. What is `max_norm` for?",
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
    "no_warm_up",
    "        scheduler.step()\n",
    "",
    "The scheduler takes no step, so the learning rate stays at the first step's small fraction "
    "for ever. When must it advance?",
)
wrong(
    "scheduler_once_a_pass",
    f"        scheduler.step()\n        {COLLECT}\n",
    f"        {COLLECT}\n    scheduler.step()\n",
    "The scheduler takes one step for all batches together. The docstring asks for one after each "
    "step of the optimizer: is the line inside the loop?",
)
wrong(
    "scheduler_first",
    "optimizer.step()\n        scheduler.step()",
    "scheduler.step()\n        optimizer.step()",
    "The scheduler steps before the optimizer, so the first learning rate is never used. Which of "
    "the two comes first?",
)
wrong.several(
    "left_in_training_mode",
    {"    model.eval()\n": ""},
    "The model is still in training mode when your function returns. Dropout would then change "
    "what it writes from call to call. Which call ends the training?",
)
wrong(
    "trained_in_eval_mode",
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
    "evaluation_after_each_step",
    f"        {COLLECT}\n    model.eval()",
    f"        {COLLECT}\n        model.eval()",
    "From the second batch on the model is in evaluation mode: the call that ends the training is "
    "inside the loop. How often should it run?",
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
    "losses.append(sequence_loss(model, batch).item())",
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
    "    model.eval()\n    return losses",
    "        model.eval()\n        return losses",
    "Only the first batch is used: a `return` is inside the loop. Is it indented once too often?",
)
wrong(
    "batches_counted",
    "for batch in batches:",
    "for i in range(len(batches)):\n        batch = batches[i]",
    "Your code asks for the number of batches, but a generator has no len() and can be read only "
    "once. Does your loop need to know how many batches there are?",
)


def shaken(task, amount):
    """The reference's weights with noise added: a model that was trained less."""
    generator = torch.Generator().manual_seed(0)
    return {
        name: tensor + amount * torch.randn(tensor.shape, generator=generator)
        for name, tensor in reference_weights(task).items()
    }


def beside(name):
    return load_file(exercise.path.parent / name)


@exercise.mistake(
    "The saved model has learned to look ahead: the decoder's self-attention had no causal mask "
    "while it was trained. What does the decoder see when it writes?",
    of="copy.safetensors",
)
def without_a_causal_mask():
    return beside("without_a_mask.safetensors")


@exercise.mistake(
    "The saved model was trained without positions, so all orders of the same symbols look alike "
    "to it. Where are positions added?",
    of="copy.safetensors",
)
def without_positions():
    return beside("without_positions.safetensors")


@exercise.mistake(
    "The saved model has learned nothing: its weights are still the initial ones. Was the file "
    "saved before the training?",
    of="copy.safetensors",
)
def untrained():
    return dict(small_transformer("copy", Transformer, init_weights).state_dict())


@exercise.mistake(
    "A weight in the file is NaN. Once a loss is NaN, all later losses are NaN: at which step of "
    "your curve does that begin?",
    of="copy.safetensors",
)
def weights_of_nan():
    return {name: tensor * float("nan") for name, tensor in reference_weights("copy").items()}


@exercise.mistake(
    "The saved model copies most sequences but not all of them. Did the training run to its end?",
    of="copy.safetensors",
)
def nearly_copying():
    return shaken("copy", NEARLY["copy"])


@exercise.mistake(
    "The model is good, but could be better. Did the training run to the end of its schedule? "
    "Late steps are made at a small learning rate and improve the details.",
    of="dates.safetensors",
)
def nearly_trained():
    return shaken("dates", NEARLY["dates"])


@exercise.mistake(
    "Many dates are right, but the training was cut short. How many steps did it make?",
    of="dates.safetensors",
)
def half_trained():
    return shaken("dates", NEARLY["half"])


@exercise.mistake(
    "The file holds the weights of another model: their names or shapes do not fit. Which call "
    "made the model that you saved?",
    of="dates.safetensors",
)
def another_model():
    return {name: torch.zeros_like(tensor) for name, tensor in nn.GRU(7, 5).state_dict().items()}


@exercise.mistake(
    "The model for numbers is good, but could be better. Is its loss still falling at the end?",
    of="numbers.safetensors",
)
def nearly_translating():
    return shaken("numbers", NEARLY["numbers"])
