"""Known mistakes in the split and the loss, and wrong files of weights."""

from __future__ import annotations

from safetensors.torch import load_file

from attnlab.decoder_only import GPT
from attnlab.gpt import init_gpt
from attnlab.models.small_gpts import small_gpt
from gradekit.exercise.wrong_weights import NAN, NOT_TRAINED, all_nan, of_another_model, with_noise

from . import exercise, mistakes_in_the_measure, reference_weights  # noqa: F401 - registers more
from .also_right import by_transposing, one_by_one

# How much noise brings the reference's weights into each lower band.
NEARLY = {"markov": 0.03, "manuals": 0.04}

wrong = exercise.edits(one_by_one, of="split_documents")

SEEN = """        if text in seen:
            continue
"""
NUMBER = 'int.from_bytes(hashlib.sha256(text.encode("utf-8")).digest()[:4], "big")'
SIDES = """            validation.append(text)
        else:
            train.append(text)
"""

wrong(
    "copies_kept",
    SEEN,
    "",
    "A text that occurs twice is twice in your parts. How often should a model read it?",
)
SWAPPED = (
    "Your two parts are swapped: the small share is for training. Which part comes first in the "
    "task, and which one does it call `share`?"
)
wrong(
    "validation_in_training",
    SIDES,
    "            validation.append(text)\n        train.append(text)\n",
    "Your texts for validation are also among those to train on. What would a low loss on them "
    "say?",
)
wrong(
    "sides_swapped",
    "if number < share * 2**32:",
    "if number >= share * 2**32:",
    SWAPPED,
)
wrong(
    "at_most",
    "if number < share * 2**32:",
    "if number <= share * 2**32:",
    "A text whose number is exactly share · 2³² is in your validation part. Does the task say less "
    "than, or at most?",
)
wrong(
    "training_part_second",
    "return train, validation",
    "return validation, train",
    SWAPPED,
)
wrong(
    "by_position",
    f"number = {NUMBER}",
    "number = (len(seen) - 1) / len(documents) * 2**32",
    "Your split goes by the place in the list, so one more text moves others to the other side. "
    "What alone decides in the task?",
)
# Python's own `hash` is missing here: it gives other numbers in every process, so nobody's answer
# could be recognised by its results. The checks catch it.
wrong(
    "little_endian",
    '.digest()[:4], "big")',
    '.digest()[:4], "little")',
    "You read the four bytes in the other order. Which end does the task name?",
)
wrong(
    "last_bytes",
    ".digest()[:4]",
    ".digest()[-4:]",
    "You read the last four bytes of the hash. Which four does the task name?",
)
wrong(
    "two_bytes",
    f"number = {NUMBER}",
    'number = int.from_bytes(hashlib.sha256(text.encode("utf-8")).digest()[:2], "big")',
    "Your number has 16 bits, so it is always far below 2³². How many bytes does the task read?",
)
wrong(
    "another_hash",
    "hashlib.sha256(",
    "hashlib.md5(",
    "You use another hash than the task names, so your parts are not those of everybody else.",
)
wrong(
    "sorted_texts",
    "for text in documents:",
    "for text in sorted(documents):",
    "Your parts are in alphabetical order. Which order does the task ask for?",
)
wrong(
    "cut_into_lines",
    "for text in documents:",
    'for text in (line for whole in documents for line in whole.split("\\n")):',
    "You cut texts at their line ends, so one half of a text may be on each side. What does the "
    "task say about cutting?",
)

wrong = exercise.edits(by_transposing, of="lm_loss")

LOSS = 'F.cross_entropy(logits.transpose(1, 2), y, reduction="sum")'
COUNT = "torch.tensor(y.numel())"

wrong(
    "a_mean_for_the_sum",
    LOSS,
    "F.cross_entropy(logits.transpose(1, 2), y)",
    "Your loss is a mean, and the Trainer divides by the count once more. What does `Sums` hold?",
)
wrong(
    "mean_of_rows",
    LOSS,
    f"{LOSS} / len(y)",
    "Your loss is divided by the number of rows. What does the Trainer divide by?",
)
wrong(
    "counts_rows",
    COUNT,
    "torch.tensor(len(y))",
    "You count the rows of the batch. How many tokens does the loss sum over?",
)
wrong(
    "shifted_again",
    LOSS,
    'F.cross_entropy(logits[:, :-1].transpose(1, 2), y[:, 1:], reduction="sum")',
    "You shift once more, but y is shifted already: your model learns to predict the token after "
    "the next one. What does `get_batch` return?",
)
wrong(
    "input_as_label",
    LOSS,
    'F.cross_entropy(logits.transpose(1, 2), x, reduction="sum")',
    "You compare with x, which the model has just read. Which of the two are the labels?",
)
wrong(
    "shapes_mixed_up",
    LOSS,
    'F.cross_entropy(logits.transpose(0, 1).flatten(0, 1), y.flatten(), reduction="sum")',
    "Your logits and labels are in different orders: one goes row by row, the other place by "
    "place. Which axis does `flatten` run along first?",
)
wrong(
    "bits_for_nats",
    LOSS,
    f"{LOSS} / 0.6931471805599453",
    "Your loss is in bits. Which unit does the task ask for?",
)
wrong(
    "without_a_graph",
    "logits = model(x)",
    "logits = model(x).detach()",
    "No gradient flows from your loss. What did you cut it off from?",
)
wrong(
    "evaluates",
    "logits = model(x)",
    "logits = model.eval()(x)",
    "Your loss switches the model to evaluation mode, so nothing is dropped while it trains. Who "
    "chooses the mode?",
)
wrong(
    "softmax_twice",
    "logits = model(x)",
    "logits = model(x).softmax(-1)",
    "Your loss takes a softmax of probabilities. What does `cross_entropy` take?",
)
wrong(
    "a_number_for_the_count",
    COUNT,
    "y.numel()",
    "Your count is a Python number, but the Trainer adds up tensors. What does the task say both "
    "are?",
)
wrong(
    "a_number_for_the_loss",
    "return Sums(loss, ",
    "return Sums(loss.item(), ",
    "Your loss is a Python number, which has no gradient. What does the Trainer call on it?",
)


@exercise.mistake(
    "The saved model has learned to look ahead: there was no causal mask while it was trained. "
    "What does a position see when it predicts?",
    of="markov_gpt.safetensors",
)
def without_a_causal_mask():
    return load_file(exercise.path.parent / "without_a_mask.safetensors")


@exercise.mistake(NOT_TRAINED, of="markov_gpt.safetensors")
def untrained():
    return dict(small_gpt("markov", GPT, init_gpt).state_dict())


@exercise.mistake(NAN, of="markov_gpt.safetensors")
def weights_of_nan():
    return all_nan(reference_weights("markov"))


@exercise.mistake(
    "The saved model of the source is close to the floor, but not close enough. Did the training "
    "run to its end?",
    of="markov_gpt.safetensors",
)
def nearly_at_the_floor():
    return with_noise(reference_weights("markov"), NEARLY["markov"])


@exercise.mistake(
    "The saved model of the manuals beats gzip, but a table of pairs of tokens is better. Did the "
    "training run to its end?",
    of="manuals_gpt.safetensors",
)
def nearly_better_than_pairs():
    return with_noise(reference_weights("manuals"), NEARLY["manuals"])


@exercise.mistake(
    "The file holds the weights of another model: their names or shapes do not fit. Which call "
    "made the model that you saved?",
    of="manuals_gpt.safetensors",
)
def another_model():
    return of_another_model()
