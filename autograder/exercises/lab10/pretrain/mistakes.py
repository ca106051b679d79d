"""Wrong batches, and files of weights that a wrong training leaves."""

from __future__ import annotations

from safetensors.torch import load_file

from attnlab.bert import Bert
from attnlab.models.topics_bert import small_bert
from gradekit.exercise.wrong_weights import NAN, NOT_TRAINED, all_nan, of_another_model, with_noise

from . import exercise, mistakes_in_losses, reference_weights  # noqa: F401 - registers more
from .also_right import slices

# How much noise brings the reference's weights into the lower bands.
NEARLY = 0.05

wrong = exercise.edits(slices, of="pretraining_batches")

wrong(
    "the_same_in_every_epoch",
    "    ids, segments, follows = make_nsp(documents, generator)",
    "    generator = torch.Generator().manual_seed(0)\n"
    "    ids, segments, follows = make_nsp(documents, generator)",
    "Every call makes the same pairs and hides the same words, so a long training learns them by "
    "heart. Which generator do you draw from?",
)
wrong(
    "words_from_the_global_state",
    "VOCABULARY), MASK, generator=generator)",
    "VOCABULARY), MASK)",
    "The same generator hides other words each time: they are drawn from torch's own random state. "
    "Which argument of `mask_tokens` has a default?",
)
wrong(
    "the_same_places_in_every_epoch",
    "VOCABULARY), MASK, generator=generator)",
    "VOCABULARY), MASK, generator=torch.Generator().manual_seed(0))",
    "The pairs are new in every epoch, but in each of them the words at the same places are "
    "hidden. Which generator does `mask_tokens` draw from?",
)
wrong(
    "nothing_is_hidden",
    "seen[rows], segments",
    "ids[rows], segments",
    "The model can read the words that it is asked for: `ids` are the rows from before they were "
    "hidden. Which result of `mask_tokens` should the model see?",
)
wrong(
    "asked_everywhere",
    "labels[rows]",
    "ids[rows]",
    "Every token has a label, those that the model can read and the special ones too. What is the "
    "second result of `mask_tokens` for?",
)
wrong(
    "only_filling_is_special",
    "[0, 1, 2, 3]",
    "[0]",
    "[CLS], [SEP] and [MASK] are treated as words: they are hidden, or put in a word's place. "
    "Which tokens are special?",
)
wrong(
    "filling_is_a_word",
    "[0, 1, 2, 3]",
    "[1, 2, 3]",
    "Filling is chosen as if it were a word, so your model has to find [PAD]. Which tokens are "
    "special?",
)
wrong(
    "words_of_the_text_only",
    "len(VOCABULARY), MASK",
    "int(ids.max()) + 1, MASK",
    "Random words are never above the largest token of your text. How large is the vocabulary?",
)
wrong(
    "half_of_all_words",
    "VOCABULARY), MASK, gen",
    "VOCABULARY), MASK, 0.5, gen",
    "You hide more words than the task asks for. What is the usual p of `mask_tokens`?",
)
wrong(
    "filling_is_valid",
    "ids[rows] != PAD",
    "ids[rows] >= PAD",
    "`valid` is True everywhere, so the model attends to the filling. Where is there no token?",
)
wrong(
    "valid_inverted",
    "ids[rows] != PAD",
    "ids[rows] == PAD",
    "`valid` is True at the filling and False at the tokens. What does True mean in a mask of this "
    "course?",
)
wrong(
    "hidden_words_invalid",
    "ids[rows] != PAD",
    "seen[rows] > MASK",
    "[MASK] and the other special tokens are not valid in your batches, so the model cannot attend "
    "to them. Which token alone is filling?",
)
wrong(
    "last_rows_left_out",
    "range(0, len(ids), size)",
    "range(0, len(ids) - size + 1, size)",
    "Some pairs are in no batch: the last ones, if they are fewer than `size`. What may the last "
    "batch have?",
)
wrong(
    "rows_twice",
    "slice(start, start + size)",
    "slice(start, start + size + 1)",
    "Neighbouring batches share a row. Is the end of a slice part of it?",
)
wrong(
    "one_large_batch",
    "    batches = []\n    for start in range(0, len(ids), size):\n",
    "    batches = []\n    size = len(ids)\n    for start in range(0, len(ids), size):\n",
    "All pairs are in one batch. How many rows should a batch have?",
)
wrong(
    "labels_of_other_rows",
    "follows[rows]",
    "follows.roll(1)[rows]",
    "`follows` does not belong to the rows beside it. In which order does `make_nsp` return them?",
)
wrong(
    "follows_inverted",
    "follows[rows]",
    "1 - follows[rows]",
    "`follows` is 1 for pairs that do not belong together. What does `make_nsp` return?",
)
wrong(
    "one_segment",
    "segments[rows]",
    "torch.zeros_like(segments[rows])",
    "All tokens are in segment 0, so the model cannot see where the second sentence begins. What "
    "is the second result of `make_nsp`?",
)


@exercise.mistake(
    "The saved model has learned to copy what it reads: no word was hidden in its training. Was "
    "the file saved before you corrected the batches?",
    of="bert.safetensors",
)
def trained_without_hiding():
    return load_file(exercise.path.parent / "nothing_hidden.safetensors")


@exercise.mistake(NOT_TRAINED, of="bert.safetensors")
def untrained():
    return dict(small_bert(Bert).state_dict())


@exercise.mistake(NAN, of="bert.safetensors")
def weights_of_nan():
    return all_nan(reference_weights())


@exercise.mistake(
    "The saved model knows something about topics, but not enough. Did the training run to its "
    "end?",
    of="bert.safetensors",
)
def half_trained():
    return with_noise(reference_weights(), NEARLY)


@exercise.mistake(
    "The file holds the weights of another model: their names or shapes do not fit. Are the parts "
    "of your `Bert` called as in its task?",
    of="bert.safetensors",
)
def another_model():
    return of_another_model()
