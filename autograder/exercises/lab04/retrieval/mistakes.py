"""Known mistakes in the loss, in the table of weights, and in the saved files."""

from __future__ import annotations

import torch
from torch.nn.functional import cross_entropy as torch_cross_entropy

from attnlab.softmax import cross_entropy

from . import (  # noqa: F401 - to register the mistakes of the other files
    ONE_HEAD,
    TWO_HEADS,
    exercise,
    mistakes_in_places,
    mistakes_in_rows,
    retriever,
)
from .also_right import by_flattening, by_gather, saved_by_the_lab

wrong = exercise.edits(by_flattening, of="answer_loss")

wrong(
    "digit_0_ignored",
    "answers.flatten()",
    "answers.flatten(), ignore_index=0",
    "You leave out every digit 0 (`ignore_index=0`), as if it were padding. Which digits does the "
    "mean run over, according to the task?",
)
wrong.several(
    "first_digit_only",
    {"logits.flatten(0, 1)": "logits[:, 0]", "answers.flatten()": "answers[:, 0]"},
    "Your loss uses only one digit of each question, so the other one is never learned. Along "
    "which axis of `answers` are a question's two digits?",
)
wrong(
    "laid_out_differently",
    "logits.flatten",
    "logits.transpose(0, 1).flatten",
    "Digits and logits no longer match: one of the two is laid out question by question and the "
    "other digit by digit. Do you combine axes in the same order on both sides?",
)
wrong.several(
    "classes_moved_by_reshape",
    {
        "logits.flatten(0, 1)": "logits.reshape(len(logits), logits.shape[2], -1)",
        "answers.flatten()": "answers",
    },
    "A `view` or `reshape` moved numbers from one digit's row into another's. Which axis of the "
    "logits holds the classes, and where do torch's losses expect it?",
)
wrong(
    "classes_laid_out_first",
    "logits.flatten(0, 1)",
    "logits.mT.reshape(-1, logits.shape[-1])",
    "The logits were transposed before they were laid out in rows, so a row holds numbers of "
    "several digits. Which axis must stay the last one?",
)
wrong(
    "digits_added",
    "answers.flatten())",
    "answers.flatten()) * answers.shape[1]",
    "You add the losses of a question's digits. According to the task, what should the sum be "
    "divided by?",
)
wrong(
    "everything_added",
    "answers.flatten())",
    'answers.flatten(), reduction="sum")',
    "You add the losses of the whole batch, so twice the batch means twice the step. According to "
    "the task, what should the sum be divided by?",
)
wrong(
    "softmax_twice",
    "logits.flatten",
    "logits.softmax(-1).flatten",
    "A cross-entropy takes logits and applies the softmax itself. What has happened to yours "
    "before they arrive there?",
)
wrong(
    "loss_detached",
    "logits.flatten",
    "logits.detach().flatten",
    "No gradient reaches the logits: a call such as `.item()`, `.detach()` or `torch.tensor(…)` "
    "cuts torch's graph, so nothing can be learned. Which line does it?",
)


@exercise.mistake(
    "You pass logits and answers to the loss unchanged. Lab 1's `cross_entropy` takes (N, V) and "
    "(N,): which axes must become one?",
    of="answer_loss",
)
def nothing_flattened(logits, answers):
    return cross_entropy(logits, answers)


wrong(
    "ten_digits_fixed",
    "logits.flatten(0, 1)",
    "logits.reshape(-1, 10)",
    "Your code holds only for ten possible digits. Which axis of the logits tells how many there "
    "are?",
)
wrong(
    "loss_in_bits",
    "answers.flatten())",
    "answers.flatten()) / 0.6931471805599453",
    "Your loss is in bits: each number is the right one divided by ln 2. Which logarithm gives "
    "nats?",
)
wrong(
    "loss_in_float32",
    "logits.flatten",
    "logits.float().flatten",
    "Your loss is float32, whatever dtype the logits have. Which of your lines fixes the dtype?",
)
NOT_ONE_NUMBER = (
    "Your loss has several entries, as if nothing were averaged or only a part of it. How many "
    "numbers does the task ask for?"
)
wrong(
    "loss_of_each_digit",
    "answers.flatten())",
    'answers.flatten(), reduction="none")',
    NOT_ONE_NUMBER,
)


@exercise.mistake(NOT_ONE_NUMBER, of="answer_loss")
def table_of_losses(logits, answers):
    return torch_cross_entropy(logits.mT, answers, reduction="none")


@exercise.mistake(NOT_ONE_NUMBER, of="answer_loss")
def loss_of_each_question(logits, answers):
    return torch_cross_entropy(logits.mT, answers, reduction="none").mean(1)


FIRST_TWO_DIGITS = (
    "You use the losses of two digits, however many a question has. According to the task, how "
    "many can that be, and over what is the mean taken?"
)


@exercise.mistake(FIRST_TWO_DIGITS, of="answer_loss")
def first_two_digits_added(logits, answers):
    return sum(torch_cross_entropy(logits[:, i], answers[:, i]) for i in (0, 1))


@exercise.mistake(FIRST_TWO_DIGITS, of="answer_loss")
def first_two_digits_averaged(logits, answers):
    return first_two_digits_added(logits, answers) / 2


@exercise.mistake(
    "The digits of all places in a question compete in one softmax. Over what should each digit's "
    "own softmax run?",
    of="answer_loss",
)
def one_softmax_for_all(logits, answers):
    flat = torch.log_softmax(logits.flatten(1), -1).view_as(logits)
    return -flat.gather(-1, answers[..., None]).mean()


@exercise.mistake(
    "Your softmax runs over the digits of a question, not over the values that one digit can "
    "have. Which axis has length V?",
    of="answer_loss",
)
def softmax_over_the_digits(logits, answers):
    return -torch.log_softmax(logits, 1).gather(-1, answers[..., None]).mean()


wrong = exercise.edits(by_gather, of="weight_on")

wrong(
    "heads_averaged",
    "mean(0)",
    "mean((0, 1))",
    "Your mean also runs over the heads, so all heads look alike. Which axes of the weights must "
    "stay?",
)
wrong(
    "no_mean",
    "found.mean(0)",
    "found",
    "You return one table per question. Over which axis does the task take a mean?",
)
wrong(
    "added_up",
    "mean(0)",
    "sum(0)",
    "You add up over the questions. Can a mean of weights be larger than 1?",
)
wrong(
    "transposed",
    "mean(0)",
    "mean(0).mT",
    "Your table is transposed. What belongs in a row, and what in a column?",
)
wrong(
    "places_of_the_first_question",
    "weights.gather(2, wanted)",
    "weights[:, :, places[0]]",
    "You look at the first question's places in every question. Whose boxes are in row b of "
    "`places`?",
)
for name, axes in (("every_pair_of_questions", "(0, 2)"), ("places_of_every_question", "0")):
    wrong.several(
        name,
        {"weights.gather(2, wanted)": "weights[:, :, places]", "mean(0)": f"mean({axes})"},
        "You look up the places of every question in the weights of every question, not only in "
        "its own. How do you pair row b of one with row b of the other?",
    )
wrong(
    "places_averaged",
    "mean(0)",
    "mean((0, 2))",
    "Your mean also runs over the places, so a head has a single number. Which axes of the weights "
    "must stay?",
)
wrong(
    "questions_in_the_rows",
    "mean(0)",
    "mean(1)",
    "Your table has a row for each question: the mean runs over the heads. Over what does the task "
    "take it?",
)
wrong(
    "first_head_only",
    ".expand(-1, weights.shape[1], -1)",
    "",
    "Your table has one row, that of the first head. `gather` returns the shape of its index: for "
    "how many heads does yours ask?",
)
wrong(
    "two_heads_only",
    ".expand(-1, weights.shape[1], -1)",
    ".expand(-1, min(2, weights.shape[1]), -1)",
    "Your table has rows for two heads, however many there are. Where does your code fix that "
    "number?",
)
wrong(
    "table_in_float32",
    "found.mean(0)",
    "found.mean(0).float()",
    "Your table is float32, whatever dtype the weights have. A new tensor such as `torch.zeros(…)` "
    "has a dtype of its own: where could it take that of the weights?",
)
wrong(
    "places_sorted",
    "places[:, None]",
    "places.sort(-1).values[:, None]",
    "You sort the places by their position on the shelf. Which box belongs in column 0?",
)
wrong(
    "largest_weights",
    "weights.gather(2, wanted)",
    "weights.topk(min(places.shape[1], weights.shape[-1])).values",
    "You take each head's largest weights, wherever they are. At which boxes should you look?",
)
wrong(
    "share_of_favourites",
    "weights.gather(2, wanted)",
    "(weights.argmax(-1, keepdim=True) == wanted).to(weights.dtype)",
    "You return the share of questions in which a head's favourite box is the requested one. "
    "According to the task, what should be averaged?",
)
wrong(
    "softmax_again",
    "weights.gather",
    "weights.softmax(-1).gather",
    "The weights have already been through a softmax; a second one flattens them. What do a head's "
    "weights sum to when you get them?",
)
wrong(
    "shares_of_the_places",
    "found.mean(0)",
    "(found / found.sum(-1, keepdim=True)).mean(0)",
    "You divide a head's attention among the requested places, as if it looked nowhere else. Does "
    "the weight that it wastes on other boxes matter?",
)


def untrained_weights(num_heads):
    torch.manual_seed(7)
    return {name: value.clone() for name, value in retriever(num_heads).state_dict().items()}


@exercise.mistake(
    "The file for two heads holds weights from before any training. Does the cell save after "
    "training, and does the loss fall?",
    of=TWO_HEADS,
)
def two_heads_untrained():
    return untrained_weights(2)


@exercise.mistake(
    "The file for one head holds weights from before any training. That one head fails is only "
    "interesting if it was trained: when does the cell save?",
    of=ONE_HEAD,
)
def one_head_untrained():
    return untrained_weights(1)


@exercise.mistake(
    "The file for two heads holds the weights of one head. Where do you pass the number of heads, "
    "and is it the same number in both cells?",
    of=TWO_HEADS,
)
def one_head_in_both_files():
    return saved_by_the_lab(ONE_HEAD)


@exercise.mistake(
    "The file for one head holds weights that were trained with two. Where do you pass the number "
    "of heads?",
    of=ONE_HEAD,
)
def two_heads_in_both_files():
    return saved_by_the_lab(TWO_HEADS)


wrong = exercise.edits(by_flattening, of="answer_loss")

wrong(
    "answers_in_another_order",
    "answers.flatten()",
    "answers.mT.flatten()",
    "Digits and logits no longer match: one of the two is laid out question by question and the "
    "other digit by digit. Do you combine axes in the same order on both sides?",
)
wrong(
    "digits_of_a_question_swapped",
    "answers.flatten()",
    "answers.flip(1).flatten()",
    "The digits of a question are in reverse order, so each is compared with the scores of "
    "another. In which order does the task give both?",
)
wrong(
    "plain_number",
    "answers.flatten())",
    "answers.flatten()).item()",
    "Your loss is a plain number, so no gradient can come back from it. Which call turns a tensor "
    "into a number?",
)


@exercise.mistake(
    "You count wrong answers. A count does not change with a small step, so nothing can be learned "
    "from it: which loss says how surprised the model is?",
    of="answer_loss",
)
def share_of_wrong_answers(logits, answers):
    return (logits.argmax(-1) != answers).to(logits.dtype).mean()


wrong = exercise.edits(by_gather, of="weight_on")

wrong(
    "maximum_over_questions",
    "found.mean(0)",
    "found.amax(0)",
    "You take the largest weight over the questions. What does the task take over them?",
)
