"""retrieval: a question about two places, which one head cannot answer and two heads can."""

from __future__ import annotations

import torch
from torch.nn.functional import cross_entropy as torch_cross_entropy

from attnlab.checking.torch_attention import spellings
from attnlab.checking.weights import rename_weights
from attnlab.data.retrieval import questions
from attnlab.models.retriever import D_MODEL, FEATURES, Retriever, share_right
from attnlab.multihead import MultiHeadAttention
from attnlab.retrieval import answer_loss, weight_on
from attnlab.softmax import cross_entropy, softmax
from gradekit.exercise import Exercise
from gradekit.exercise.trained import Band, ScoreBands

ONE_HEAD, TWO_HEADS = "retrieval_1_head.safetensors", "retrieval_2_heads.safetensors"

exercise = Exercise(answer_loss, weight_on, saves=[ONE_HEAD, TWO_HEADS])


def retriever(num_heads):
    """The model of the lab, not yet trained; each number of heads has equally many weights."""
    per_head = FEATURES // num_heads
    return Retriever(MultiHeadAttention(D_MODEL, num_heads, d_k=per_head, d_v=per_head))


def with_weights(num_heads, weights):
    """The reference model with a file's weights; MissingWeightError if they are another model's."""
    model = retriever(num_heads)
    model.load_state_dict(rename_weights(weights, model.state_dict(), spellings("attention.")))
    return model.eval()


def both_right(weights, seed):
    """How often a model with two heads gets both digits right."""
    return float(share_right(with_weights(2, weights), questions("test", 4000, seed))[2])


def each_right(weights, seed):
    """Which share of all digits a model with one head gets right."""
    return float(share_right(with_weights(1, weights), questions("test", 4000, seed))[:2].mean())


TWO_HEADS_SOLVE_IT = ScoreBands(
    both_right,
    (
        Band(0.98, 1, 1),
        Band(
            0.8,
            0.98,
            0.6,
            "Nearly: let it train for as many steps as the lab says. Does its loss still fall?",
        ),
        Band(
            0.05,
            0.25,
            0,
            "It gets both digits right about as often as one head does. How many heads did the "
            "attention in this file have when it was trained, and does the loss ask for both "
            "digits?",
        ),
    ),
    "This is the share of questions with both digits right. Does the loss fall towards 0, and are "
    "these the weights of the model with two heads?",
)
ONE_HEAD_CANNOT = ScoreBands(
    each_right,
    (
        Band(0.54, 0.6, 1),
        Band(
            0.45,
            0.54,
            0.6,
            "One head that was trained to the end gets a little more than half of all digits. Were "
            "these weights trained with one head, and for as many steps as the lab says?",
        ),
        Band(
            0.6,
            1,
            0,
            "It gets more digits right than one head can. Was this file made by a model with one "
            "head and the given readout?",
        ),
    ),
    "This is the share of digits that are right. One head does get one of the two; is this model "
    "trained, and are these the weights of the model with one head?",
)


@exercise.check(points=1)
def loss_of_all_digits(lab, draw):
    """The loss is the mean over all digits of all questions, and moves the logits."""
    logits, answers = draw.normal(3, 2, 7), draw.integers(0, 7, 3, 2)
    return {
        "two digits": lab.answer_loss(logits, answers),
        "three digits": lab.answer_loss(draw.normal(5, 3, 7), draw.integers(0, 7, 5, 3)),
        "laid out otherwise": lab.answer_loss(draw.strided(logits), answers),
        "gradients": draw.gradients(lambda x: lab.answer_loss(x, answers), logits),
    }


@exercise.check(points=1.5)
def where_heads_look(lab, draw):
    """Row i, column j: how much head i looks, on average, at the j-th box of a question."""
    weights = torch.softmax(3 * draw.normal(4, 3, 7), -1)
    places = torch.stack([draw.permutation(7)[:2] for _ in range(4)])
    return lab.weight_on(weights, places)


@exercise.check(points=1.5, hidden=True)
def any_number_of_places(lab, draw):
    """Works for one or more places, one head or one question; the weights stay as they were."""
    weights = draw.uniform(5, 3, 7)
    seen = {
        "one place": lab.weight_on(weights, draw.integers(0, 7, 5, 1)),
        "the same place twice": lab.weight_on(weights, draw.integers(0, 7, 5, 1).expand(5, 2)),
        "four places": lab.weight_on(draw.strided(weights), draw.integers(0, 7, 5, 4)),
        "one head": lab.weight_on(draw.uniform(5, 1, 7), draw.integers(0, 7, 5, 2)),
        "one question": lab.weight_on(draw.uniform(1, 3, 7), draw.integers(0, 7, 1, 2)),
    }
    return {**seen, "inputs as they were": draw.untouched()}


@exercise.check(points=2.5, hidden=True, judge=TWO_HEADS_SOLVE_IT)
def two_heads_solve_it(lab, draw):
    """The saved model with two heads gets both digits right, on shelves it has not seen."""
    return lab.saved_weights(TWO_HEADS)


@exercise.check(points=1.5, hidden=True, judge=ONE_HEAD_CANNOT)
def one_head_cannot(lab, draw):
    """The saved model with one head is trained, and gets one of the two digits right."""
    return lab.saved_weights(ONE_HEAD)


@exercise.mistake(
    "Your loss looks at one digit of each question alone, so the other one is never learnt. Along "
    "which axis of `answers` do a question's two digits lie?",
    of="answer_loss",
)
def first_digit_only(logits, answers):
    return torch_cross_entropy(logits[:, 0], answers[:, 0])


@exercise.mistake(
    "Digits and logits no longer belong together: one of the two was laid out question by "
    "question and the other digit by digit. Are axes put together in the same order on both sides?",
    of="answer_loss",
)
def laid_out_differently(logits, answers):
    return torch_cross_entropy(logits.transpose(0, 1).flatten(0, 1), answers.flatten())


@exercise.mistake(
    "A `view` or `reshape` moved numbers of one digit's row into another's. Which axis of the "
    "logits are the classes, and what do torch's losses expect it to be?",
    of="answer_loss",
)
def classes_moved_by_reshape(logits, answers):
    batch, digits, classes = logits.shape
    return torch_cross_entropy(logits.reshape(batch, classes, digits), answers)


@exercise.mistake(
    "Logits and answers go into the loss as they came. Lab 1's `cross_entropy` takes (N, V) and "
    "(N,): which axes have to become one?",
    of="answer_loss",
)
def nothing_flattened(logits, answers):
    return cross_entropy(logits, answers)


@exercise.mistake(
    "The logits were turned round before they were laid out in rows, so a row holds numbers of "
    "several digits. Which axis has to stay the last one?",
    of="answer_loss",
)
def classes_laid_out_first(logits, answers):
    return torch_cross_entropy(logits.mT.reshape(-1, logits.shape[-1]), answers.flatten())


@exercise.mistake(
    "You add the losses of two digits, however many a question has. How many may that be, by the "
    "task, and what does it divide by?",
    of="answer_loss",
)
def first_two_digits_added(logits, answers):
    return sum(torch_cross_entropy(logits[:, i], answers[:, i]) for i in (0, 1))


@exercise.mistake(
    "The losses of a question's digits are added. What does the task divide by?",
    of="answer_loss",
)
def digits_added(logits, answers):
    return torch_cross_entropy(logits.mT, answers) * answers.shape[1]


@exercise.mistake(
    "The losses are added up over the whole batch, so that twice the batch means twice the step. "
    "What does the task divide by?",
    of="answer_loss",
)
def everything_added(logits, answers):
    return torch_cross_entropy(logits.flatten(0, 1), answers.flatten(), reduction="sum")


@exercise.mistake(
    "A cross-entropy takes logits and does the softmax itself. What has happened to yours before "
    "it arrives there?",
    of="answer_loss",
)
def softmax_twice(logits, answers):
    return torch_cross_entropy(torch.softmax(logits, -1).flatten(0, 1), answers.flatten())


@exercise.mistake(
    "The digits of all places in a question compete in one softmax. Over what does each digit's "
    "own softmax run?",
    of="answer_loss",
)
def one_softmax_for_all(logits, answers):
    flat = torch.log_softmax(logits.flatten(1), -1).view_as(logits)
    return -flat.gather(-1, answers[..., None]).mean()


@exercise.mistake(
    "Your softmax runs over the digits of a question and not over the values that one digit may "
    "have. Which axis has length V?",
    of="answer_loss",
)
def softmax_over_the_digits(logits, answers):
    return -torch.log_softmax(logits, 1).gather(-1, answers[..., None]).mean()


@exercise.mistake(
    "No gradient reaches the logits: a `.item()`, `.detach()` or `no_grad` cuts torch's graph, and "
    "nothing can be learnt. Which line does it?",
    of="answer_loss",
)
def loss_detached(logits, answers):
    return torch_cross_entropy(logits.detach().flatten(0, 1), answers.flatten())


@exercise.mistake(
    "The mean runs over the heads as well, so all heads look alike. Which axes of the weights are "
    "to stay?",
    of="weight_on",
)
def heads_averaged(weights, places):
    wanted = weights.gather(2, places[:, None].expand(-1, weights.shape[1], -1))
    return wanted.mean((0, 1))


@exercise.mistake(
    "You return a table for each question. What is wanted is the mean over all of them.",
    of="weight_on",
)
def no_mean(weights, places):
    return weights.gather(2, places[:, None].expand(-1, weights.shape[1], -1))


@exercise.mistake(
    "You add up over the questions. Can a mean of weights be larger than 1?", of="weight_on"
)
def added_up(weights, places):
    return weights.gather(2, places[:, None].expand(-1, weights.shape[1], -1)).sum(0)


@exercise.mistake(
    "Your table lies on its side. What stands in a row, and what in a column?", of="weight_on"
)
def transposed(weights, places):
    return weights.gather(2, places[:, None].expand(-1, weights.shape[1], -1)).mean(0).mT


@exercise.mistake(
    "Every question is asked at the places of the first one. Whose boxes are in row b of `places`?",
    of="weight_on",
)
def places_of_the_first_question(weights, places):
    return weights[:, :, places[0]].mean(0)


@exercise.mistake(
    "`weights[:, :, places]` looks up the places of all questions in each of them: a (B, h, B, n) "
    "tensor. How do you pair row b of one with row b of the other?",
    of="weight_on",
)
def every_pair_of_questions(weights, places):
    return weights[:, :, places].mean((0, 2))


@exercise.mistake(
    "You put the places in order of the shelf, so the box asked for first is no longer column 0.",
    of="weight_on",
)
def places_sorted(weights, places):
    ordered = places.sort(-1).values
    return weights.gather(2, ordered[:, None].expand(-1, weights.shape[1], -1)).mean(0)


@exercise.mistake(
    "You take each head's largest weights, wherever they are. At which boxes were you to look?",
    of="weight_on",
)
def largest_weights(weights, places):
    count = min(places.shape[1], weights.shape[-1])
    return weights.topk(count, -1).values.mean(0)


@exercise.mistake(
    "These are the numbers of questions in which a head's favourite box is the one asked for. The "
    "task wants the weight itself.",
    of="weight_on",
)
def share_of_favourites(weights, places):
    favourite = weights.argmax(-1)  # (B, h)
    return (favourite[..., None] == places[:, None]).to(weights.dtype).mean(0)


@exercise.mistake(
    "The weights went through softmax before; a second one flattens them. What do a head's weights "
    "sum to as they come?",
    of="weight_on",
)
def softmax_again(weights, places):
    again = torch.softmax(weights, -1)
    return again.gather(2, places[:, None].expand(-1, weights.shape[1], -1)).mean(0)


@exercise.mistake(
    "You share a head's attention out between the places asked for, as if it looked nowhere else. "
    "Is the weight that it wastes on other boxes of interest?",
    of="weight_on",
)
def shares_of_the_places(weights, places):
    wanted = weights.gather(2, places[:, None].expand(-1, weights.shape[1], -1))
    return (wanted / wanted.sum(-1, keepdim=True)).mean(0)


def untrained_weights(num_heads):
    torch.manual_seed(7)
    return {name: value.clone() for name, value in retriever(num_heads).state_dict().items()}


def saved_by_the_lab(lab_file):
    from pathlib import Path

    from safetensors.torch import load_file

    return load_file(Path(__file__).with_name(lab_file))


@exercise.mistake(
    "The file with two heads holds weights as they were before any training. Does the cell save "
    "after training, and does the loss fall?",
    of=TWO_HEADS,
)
def two_heads_untrained():
    return untrained_weights(2)


@exercise.mistake(
    "The file with one head holds weights as they were before any training. That one head fails is "
    "only worth knowing if it has had its chance.",
    of=ONE_HEAD,
)
def one_head_untrained():
    return untrained_weights(1)


@exercise.mistake(
    "The file for two heads holds the weights of one head. Where does the number of heads go in, "
    "and is it the same number in both cells?",
    of=TWO_HEADS,
)
def one_head_in_both_files():
    return saved_by_the_lab(ONE_HEAD)


@exercise.mistake(
    "The file for one head holds weights that were trained with two. Where does the number of "
    "heads go in?",
    of=ONE_HEAD,
)
def two_heads_in_both_files():
    return saved_by_the_lab(TWO_HEADS)


@exercise.also_right(of="answer_loss")
def classes_moved_by_transpose(logits, answers):
    return torch_cross_entropy(logits.transpose(1, 2), answers)


@exercise.also_right(of="answer_loss")
def a_loss_for_each_digit(logits, answers):
    columns = range(answers.shape[1])
    losses = [torch_cross_entropy(logits[:, j], answers[:, j]) for j in columns]
    return torch.stack(losses).mean()


@exercise.also_right(of="answer_loss")
def by_own_softmax(logits, answers):
    picked = softmax(logits).gather(-1, answers.unsqueeze(-1)).squeeze(-1)
    return -picked.log().mean()


@exercise.also_right(of="weight_on")
def question_by_question(weights, places):
    rows = [weights[b][:, places[b]] for b in range(len(weights))]
    return sum(rows) / len(rows)


@exercise.also_right(of="weight_on")
def by_one_hot(weights, places):
    hot = torch.nn.functional.one_hot(places, weights.shape[-1]).to(weights.dtype)
    return torch.einsum("bht,bnt->hn", weights, hot) / weights.shape[0]


@exercise.also_right(of="weight_on")
def by_indices(weights, places):
    batch = torch.arange(weights.shape[0])[:, None]
    return weights[batch, :, places].mean(0).transpose(0, 1)


@exercise.also_right(of=TWO_HEADS)
def fused_projections():
    weights = saved_by_the_lab(TWO_HEADS)
    for kind in ("weight", "bias"):
        parts = [weights.pop(f"attention.{name}_proj.{kind}") for name in "qkv"]
        weights[f"attention.in_proj_{kind}"] = torch.cat(parts)
    return weights


@exercise.also_right(of=TWO_HEADS)
def raw_parameters():
    weights = saved_by_the_lab(TWO_HEADS)
    layers = ("q_proj", "W_q"), ("k_proj", "W_k"), ("v_proj", "W_v"), ("out_proj", "W_o")
    for name, other in layers:
        weights[f"attention.{other}"] = weights.pop(f"attention.{name}.weight").mT.contiguous()
    return weights


@exercise.also_right(of=ONE_HEAD)
def looks_at_one_box_only():
    from attnlab.models.retriever import train_retriever

    torch.manual_seed(1)
    model = retriever(1)
    train_retriever(model, answer_loss, steps=400, lr=0.02, seed=5)
    return {name: value.clone() for name, value in model.state_dict().items()}
