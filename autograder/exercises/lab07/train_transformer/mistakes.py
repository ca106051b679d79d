"""Wrong training loops, and files of weights that a wrong training leaves."""

from __future__ import annotations

from safetensors.torch import load_file

from attnlab.encoder_decoder import Transformer, init_weights
from attnlab.models.small_transformers import small_transformer
from gradekit.exercise.training_loop import CLIP, COLLECT, loop_mistakes
from gradekit.exercise.wrong_weights import NAN, NOT_TRAINED, all_nan, of_another_model, with_noise

from . import exercise, mistakes_in_the_loss, reference_weights  # noqa: F401 - registers more
from .also_right import batch_by_batch

# How much noise brings the reference's weights into each lower band.
NEARLY = {"copy": 0.016, "dates": 0.021, "half": 0.0325, "numbers": 0.039}

wrong = exercise.edits(batch_by_batch, of="train_transformer")
loop_mistakes(wrong)

wrong(
    "no_clipping",
    f"        {CLIP}\n",
    "",
    "The gradients reach the optimizer at full length: they are not clipped, or clipped before "
    "there are any. What is `max_norm` for?",
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
    "one_mean_returned",
    "return losses",
    "return sum(losses) / len(losses)",
    "You return one number, the mean of all losses. How many numbers does the task ask for?",
)
wrong(
    "means_so_far",
    COLLECT,
    "losses.append((sum(losses) + loss.item()) / (len(losses) + 1))",
    "Each of your numbers mixes in the earlier losses. Of which batch is each number the loss?",
)
wrong(
    "trained_in_eval_mode",
    "model.train()",
    "model.eval()",
    "The model is in evaluation mode while it learns, so dropout would be off. Which call changes "
    "the mode?",
)
wrong(
    "evaluation_after_each_step",
    f"        {COLLECT}\n    model.eval()",
    f"        {COLLECT}\n        model.eval()",
    "From the second batch on the model is in evaluation mode: the call that ends the training is "
    "inside the loop. How often should it run?",
)
wrong(
    "loss_after_the_step",
    COLLECT,
    "losses.append(sequence_loss(model, batch).item())",
    "Your losses are measured after the step, in a second pass over the batch. Which loss did "
    "backward() start from?",
)
wrong(
    "returns_inside_the_loop",
    "    model.eval()\n    return losses",
    "        model.eval()\n        return losses",
    "Only the first batch is used: a `return` is inside the loop. Is it indented once too often?",
)


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


@exercise.mistake(NOT_TRAINED, of="copy.safetensors")
def untrained():
    return dict(small_transformer("copy", Transformer, init_weights).state_dict())


@exercise.mistake(NAN, of="copy.safetensors")
def weights_of_nan():
    return all_nan(reference_weights("copy"))


@exercise.mistake(
    "The saved model copies most sequences but not all of them. Did the training run to its end?",
    of="copy.safetensors",
)
def nearly_copying():
    return with_noise(reference_weights("copy"), NEARLY["copy"])


@exercise.mistake(
    "The model is good, but could be better. Did the training run to the end of its schedule? "
    "Late steps are made at a small learning rate and improve the details.",
    of="dates.safetensors",
)
def nearly_trained():
    return with_noise(reference_weights("dates"), NEARLY["dates"])


@exercise.mistake(
    "Many dates are right, but the training was cut short. How many steps did it make?",
    of="dates.safetensors",
)
def half_trained():
    return with_noise(reference_weights("dates"), NEARLY["half"])


@exercise.mistake(
    "The file holds the weights of another model: their names or shapes do not fit. Which call "
    "made the model that you saved?",
    of="dates.safetensors",
)
def another_model():
    return of_another_model()


@exercise.mistake(
    "The model for numbers is good, but could be better. Is its loss still falling at the end?",
    of="numbers.safetensors",
)
def nearly_translating():
    return with_noise(reference_weights("numbers"), NEARLY["numbers"])
