"""Wrong classifiers, and files of weights that a wrong training leaves."""

from __future__ import annotations

import copy

import torch
from safetensors.torch import load_file
from torch import nn

from gradekit.exercise.wrong_weights import all_nan, with_noise

from . import exercise, mistakes_in_training, reference_weights  # noqa: F401 - registers more
from .also_right import CopiedFirst

# How much noise brings the reference's weights into the lower band.
NEARLY = 0.085

wrong = exercise.edits(CopiedFirst, of="Classifier")

wrong(
    "the_model_itself",
    "copy.deepcopy(bert)",
    "bert",
    "The classifier holds the model that was given, so fine-tuning changes it, and the next task "
    "starts from a model that has forgotten part of its text. What should `self.bert` be?",
)
wrong(
    "a_shallow_copy",
    "copy.deepcopy(bert)",
    "copy.copy(bert)",
    "Your copy shares its weights with the model that was given, so training one trains both. "
    "Which function of `copy` also copies what is inside?",
)
wrong(
    "frozen",
    "        self.head =",
    "        self.bert.requires_grad_(False)\n        self.head =",
    "The copy is frozen: only the head learns. Which weights does the task want to train?",
)
wrong(
    "given_model_frozen",
    "        self.head =",
    "        bert.requires_grad_(False)\n        self.head =",
    "You freeze the model that was given; it could not be trained any further. What should stay as "
    "it is?",
)
wrong(
    "first_weights_again",
    "        self.head =",
    "        for parameter in self.bert.parameters():\n"
    "            nn.init.normal_(parameter, 0.0, 0.02)\n"
    "        self.head =",
    "The copy starts with new random weights, so nothing of the pretraining is left. Which part of "
    "the classifier is new?",
)
wrong(
    "head_without_bias",
    "nn.Linear(d_model, num_classes)",
    "nn.Linear(d_model, num_classes, bias=False)",
    "The head has no bias. Which layer does the task name?",
)
wrong(
    "last_token",
    "out.hidden[:, 0, :]",
    "out.hidden[:, -1, :]",
    "The head reads the last token, which is [SEP] or filling. Which token stands for the whole "
    "sentence?",
)
wrong(
    "mean_of_all_tokens",
    "out.hidden[:, 0, :]",
    "out.hidden.mean(1)",
    "The head reads the mean of all tokens, filling too. Which one does the task name?",
)
wrong(
    "first_row",
    "out.hidden[:, 0, :]",
    "out.hidden[0]",
    "The head reads all tokens of the first row, and no other row. Which axis counts the rows?",
)
wrong(
    "first_layer",
    "        out = self.bert(ids, valid=valid)\n        first = out.hidden[:, 0, :]",
    "        first = self.bert.words[ids][:, 0, :]",
    "The head reads a vector from before the layers, where every [CLS] is the same. Which field of "
    "the output comes from the last one?",
)
wrong(
    "through_tanh",
    "out.hidden[:, 0, :]",
    "out.hidden[:, 0, :].tanh()",
    "Something is applied to the vector before the head. What does the task apply?",
)
wrong(
    "probabilities",
    "return self.head(first)",
    "return self.head(first).softmax(-1)",
    "You return probabilities. Cross-entropy takes their softmax once more; what does the task "
    "return?",
)
wrong(
    "filling_seen",
    "self.bert(ids, valid=valid)",
    "self.bert(ids)",
    "`valid` does not reach the model, so the filling changes the logits. Where is the argument "
    "used?",
)
wrong(
    "valid_as_segments",
    "self.bert(ids, valid=valid)",
    "self.bert(ids, None if valid is None else valid.long(), None)",
    "`valid` is passed in the place of the segments. In which order does the model take its "
    "arguments?",
)
wrong(
    "second_segment",
    "self.bert(ids, valid=valid)",
    "self.bert(ids, torch.ones_like(ids), valid)",
    "All tokens are in segment 1. A single sentence is the first one: which segment has it?",
)
wrong(
    "gradients_cut",
    "out.hidden[:, 0, :]",
    "out.hidden[:, 0, :].detach()",
    "No gradient reaches the copy: the vector is cut off from the graph. Which call does that?",
)
wrong(
    "called_twice",
    "        first = out",
    "        out = self.bert(ids, valid=valid)\n        first = out",
    "The model is called twice for each batch. What does the first call lack?",
)


@exercise.mistake(
    "The head reads the logits for hidden words: as many numbers as there are words, of one token. "
    "Which field holds the vectors?",
    of="Classifier",
)
class OnTheLogits(nn.Module):
    def __init__(self, bert, d_model, num_classes):
        super().__init__()
        self.bert = copy.deepcopy(bert)
        self.head = nn.Linear(bert.cfg.vocab_size, num_classes)

    def forward(self, ids, valid=None):
        return self.head(self.bert(ids, None, valid).mlm_logits[:, 0])


@exercise.mistake(
    "The saved classifier was not pretrained: it knows the twenty words of its five sentences, and "
    "guesses at all others. Which model was it made from?",
    of="topics.safetensors",
)
def from_scratch():
    return load_file(exercise.path.parent / "from_scratch.safetensors")


@exercise.mistake(
    "The saved classifier finds most topics, but not nearly all of them. Was its BERT trained to "
    "the end?",
    of="topics.safetensors",
)
def half_trained():
    return with_noise(reference_weights(), NEARLY)


@exercise.mistake(
    "The head of the saved classifier is still as it was drawn. Was the file saved before the "
    "fine-tuning?",
    of="topics.safetensors",
)
def new_head():
    weights = dict(reference_weights())
    generator = torch.Generator().manual_seed(1)
    shape = weights["head.weight"].shape
    weights["head.weight"] = (torch.rand(shape, generator=generator) - 0.5) / 4
    weights["head.bias"] = torch.zeros(5)
    return weights


@exercise.mistake(
    "A weight in the file is NaN. Is the learning rate the one that the task names?",
    of="topics.safetensors",
)
def weights_of_nan():
    return all_nan(reference_weights())


@exercise.mistake(
    "The file holds the weights of another model: their names or shapes do not fit. Are the two "
    "parts of your classifier called `bert` and `head`?",
    of="topics.safetensors",
)
def other_names():
    return {f"encoder.{name}": tensor for name, tensor in reference_weights().items()}
