"""entropy_floor: the loss of a language model, and whether an honest one can have it."""

from __future__ import annotations

import math

import torch
from torch import nn

from attnlab.checking.observation import dtype_of
from attnlab.checking.weights import give_weights
from attnlab.data.markov import course_source
from attnlab.evaluation import evaluate, is_possible, next_token_loss
from attnlab.masks import causal_mask
from attnlab.models.markov_gpt import LENGTH, MarkovGPT
from gradekit.exercise import Exercise
from gradekit.exercise.trained import Band, ScoreBands

FILES = ["markov_past.safetensors", "markov_ahead.safetensors", "markov_all.safetensors"]

exercise = Exercise(next_token_loss, evaluate, is_possible, uses=[causal_mask], saves=FILES)

# The entropy rate is 1.373. Over 12 seeds, the mean loss of the good model was 1.407, and the mean
# plus 4 sd was 1.443 (bands.json, written by measure.py). The entropy of a symbol is 1.930 if only
# the last one is known.
FLOOR, GOOD, CLOSE, ONE_SYMBOL = 1.373, 1.45, 1.373 + 0.25, 1.95


class SmallModel(nn.Module):
    """Scores that depend on all places the mask shows; has dropout, and records how it was run."""

    def __init__(self, table):
        super().__init__()
        self.table = nn.Parameter(table)
        self.dropout = nn.Dropout(0.5)
        self.runs = []
        self.mask = None

    def forward(self, ids, mask):
        self.mask = mask
        self.runs.append((self.training, torch.is_grad_enabled(), list(ids.shape)))
        shown = mask.double() / mask.sum(-1, keepdim=True)  # (T, T)
        return self.dropout(shown @ self.table[ids])  # (B, T, V)


def what_came(given, mask):
    """In words, what a model got for `mask`, if that is one of two usual mistakes."""
    if not isinstance(given, torch.Tensor) or given.numel() != mask.numel():
        return "a mask"
    if given.is_floating_point() and (given < 0).any():
        return "numbers to be added"
    turned = given.dtype == torch.bool and torch.equal(given.flatten(), ~mask.flatten())
    return "its opposite" if turned else "a mask"


def uneven_loss(logits, ids):
    return (logits[:, 1:] * (1 + ids[:, 1:, None])).pow(2).mean()


@exercise.check(points=1)
def one_number(lab, draw):
    """The loss is one number in the dtype of the logits, 0 if the model knows the next token."""
    logits, ids = draw.normal(2, 5, 7), draw.integers(0, 7, 2, 5)
    out = lab.next_token_loss(logits, ids)
    sure = 1e3 * nn.functional.one_hot(ids.roll(-1, 1), 7).double()
    return {
        "type": "Tensor" if isinstance(out, torch.Tensor) else type(out).__name__,
        "shape": list(torch.as_tensor(out).shape),
        "dtype": dtype_of(out),
        "dtype of float32": dtype_of(lab.next_token_loss(logits.float(), ids)),
        "a model that knows the next token": lab.next_token_loss(sure, ids),
        "a model that repeats its input": lab.next_token_loss(sure.roll(1, 1), ids) > 1,
    }


@exercise.check(points=2)
def what_comes_next(lab, draw):
    """Every place is scored against the token after it; the last place is not scored."""
    logits = draw.strided(2 * draw.normal(3, 5, 7))
    ids = draw.integers(0, 7, 3, 5)
    seen = {"three sequences of five": lab.next_token_loss(logits, ids)}
    last = logits.clone()
    last[:, -1] += 50 * torch.arange(7)
    seen["another score at the last place"] = lab.next_token_loss(last, ids)
    first = ids.clone()
    first[:, 0] = (first[:, 0] + 1) % 7
    seen["another first token"] = lab.next_token_loss(logits, first)
    seen["two tokens"] = lab.next_token_loss(logits[:, :2], ids[:, :2])
    return seen


@exercise.check(points=0.5, hidden=True)
def other_sizes(lab, draw):
    """The loss is right for one sequence, two tokens, and any number of symbols."""

    def ask(B, predicted, V):
        ids = draw.integers(0, V, B, predicted + 1)
        return lab.next_token_loss(draw.normal(B, predicted + 1, V), ids)

    return draw.each_size(ask, B=3, predicted=4, V=7)


@exercise.check(points=0.5, hidden=True)
def gradients_and_large_scores(lab, draw):
    """Gradients flow back to the scores, and scores in the thousands are safe."""
    logits, ids = draw.normal(2, 5, 7), draw.integers(0, 7, 2, 5)
    far = draw.choice([-2e3, 0.0, 2e3], 3, 4, 7)
    return {
        "gradient": draw.gradients(lambda x: lab.next_token_loss(x, ids), logits),
        "scores in the thousands": lab.next_token_loss(far, draw.integers(0, 7, 3, 4)),
        "inputs as they were": draw.untouched(),
    }


@exercise.check(points=1.5)
def under_a_mask(lab, draw):
    """Returns a Python number: the given loss, on all sequences, under the given mask."""
    model, ids = SmallModel(draw.normal(7, 7)).double(), draw.integers(0, 7, 3, 5)
    see_all = torch.ones(5, 5, dtype=torch.bool)
    seen = {}
    for name, mask in (("past", see_all.tril()), ("ahead", see_all.tril(1)), ("all", see_all)):
        model.train()
        torch.manual_seed(0)  # the same dropout for all who forget to switch it off
        result = lab.evaluate(model, ids, mask, loss=uneven_loss)
        seen[f"what the model gets for the {name} mask"] = what_came(model.mask, mask)
        seen[f"the {name} mask"] = result
        seen[f"the {name} mask, a Python number"] = type(result) is float
    return seen


CAME = {"in training": True, "in evaluation": False}


def run_in_both_modes(lab, draw):
    """A small model, asked in each mode: for each, a name, the model and its loss."""
    model, ids = SmallModel(draw.normal(7, 7)).double(), draw.integers(0, 7, 3, 5)
    mask = torch.ones(5, 5, dtype=torch.bool).tril()
    for came, training in CAME.items():
        model.train(training)
        model.runs.clear()
        torch.manual_seed(0)
        yield f"came {came}", model, lab.evaluate(model, ids, mask, uneven_loss)


@exercise.check(points=0.5)
def mode_afterwards(lab, draw):
    """After `evaluate`, the model is in the mode in which it came, training or evaluation."""
    mode = {True: "training", False: "evaluation"}
    return {
        f"{came}, mode afterwards": [mode[model.training], mode[model.dropout.training]]
        for came, model, _ in run_in_both_modes(lab, draw)
    }


@exercise.check(points=0.5)
def without_gradients(lab, draw):
    """In `evaluate` the model runs without gradients, which are on again afterwards."""
    seen = {
        f"{came}, ran with gradients": any(run[1] for run in model.runs)
        for came, model, _ in run_in_both_modes(lab, draw)
    }
    return {**seen, "gradients are on afterwards": torch.is_grad_enabled()}


@exercise.check(points=0.5, hidden=True)
def one_call_without_dropout(lab, draw):
    """One call of the model takes all sequences, without dropout; `loss` has a default."""
    seen = {}
    for came, model, loss in run_in_both_modes(lab, draw):
        seen[f"{came}, loss"] = loss
        seen[f"{came}, ran with dropout"] = any(run[0] for run in model.runs)
        seen[f"{came}, shapes that it was called with"] = [run[2] for run in model.runs]
    ids, mask = draw.integers(0, 7, 3, 5), torch.ones(5, 5, dtype=torch.bool).tril()
    two = SmallModel(draw.normal(7, 7)).double().eval()
    seen["with the default loss"] = lab.evaluate(two, ids, mask)
    two.runs.clear()
    seen["of 130 sequences"] = lab.evaluate(two, draw.integers(0, 7, 130, 5), mask)
    seen["shapes, of 130 sequences"] = [run[2] for run in two.runs]
    return seen


@exercise.check(points=0.5)
def below_the_floor(lab, draw):
    """Far below the floor is impossible; a little below it and far above it are possible."""
    return {
        "far below": lab.is_possible(0.04, 1.373, 0.05) == True,  # noqa: E712 - tensors, too
        "far below, False": lab.is_possible(0.04, 1.373, 0.05) == False,  # noqa: E712
        "a little below, within the tolerance": lab.is_possible(1.33, 1.373, 0.05) == True,  # noqa: E712
        "a little above": lab.is_possible(1.41, 1.373, 0.05) == True,  # noqa: E712
        "far above": lab.is_possible(2.08, 1.373, 0.05) == True,  # noqa: E712
    }


@exercise.check(points=0.5)
def no_loss_at_all(lab, draw):
    """NaN is not a possible loss, whatever the floor is."""
    cases = {"NaN": (math.nan, 1.373, 0.05), "NaN, no tolerance": (math.nan, 0.0, 0.0)}
    return {name: bool(lab.is_possible(*case)) for name, case in cases.items()}


@exercise.check(points=1, hidden=True)
def near_the_floor(lab, draw):
    """The tolerance counts, on the right side, and there is no upper limit."""
    cases = {
        "just outside": (1.32, 1.373, 0.05),
        "no tolerance, below": (1.99, 2.0, 0.0),
        "no tolerance, on the floor": (2.0, 2.0, 0.0),
        "another floor, above": (0.55, 0.5, 0.1),
        "another floor, outside": (0.35, 0.5, 0.1),
        "a large floor, outside": (9.0, 9.5, 0.1),
        "above by less than the tolerance": (2.05, 2.0, 0.1),
        "below zero": (-2.0, 1.373, 0.05),
        "infinite": (math.inf, 1.373, 0.05),
    }
    return {name: bool(lab.is_possible(*case)) for name, case in cases.items()}


def hidden_loss(weights, mask, seed):
    """The loss of saved weights under a mask, on sequences that were not used for training."""
    model = MarkovGPT()
    give_weights(model, {n: weights.get(n, torch.empty(0)) for n, _ in model.named_parameters()})
    return evaluate(model, course_source().sequences("hidden", 1024, LENGTH, seed), mask)


def loss_of_past(weights, seed):
    return hidden_loss(weights, causal_mask(LENGTH), seed)


def loss_of_ahead(weights, seed):
    return hidden_loss(weights, causal_mask(LENGTH, LENGTH + 1)[:, :LENGTH], seed)


def loss_of_all(weights, seed):
    return hidden_loss(weights, torch.ones(LENGTH, LENGTH, dtype=torch.bool), seed)


PAST = ScoreBands(
    loss_of_past,
    (
        Band(FLOOR - 0.05, GOOD, 1.0),
        Band(
            GOOD,
            CLOSE,
            0.7,
            "A model that sees the past can come closer to the floor. Did the training run to its "
            "end, with your own loss and mask?",
        ),
        Band(
            CLOSE,
            ONE_SYMBOL,
            0.4,
            "This model predicts the next symbol from the last one, not from the last two. Look at "
            "its curve: was it still falling when the training stopped?",
        ),
    ),
    "Your model ignores the past, or relies on symbols that are hidden here. Check `causal_mask` "
    "and `next_token_loss`, delete the file and train again.",
)
LEAK = (
    "This model should have been trained on a view of the future, but it does not use that view. "
    "Is it in the right file? If in doubt, delete the file and run the training cell again."
)


@exercise.check(points=1, hidden=True, judge=PAST)
def model_of_the_past(lab, draw):
    """The model that sees the past comes close to the floor, on new sequences."""
    return lab.saved_weights("markov_past.safetensors")


@exercise.check(points=1, hidden=True, judge=ScoreBands(loss_of_ahead, (Band(0, 0.1, 1.0),), LEAK))
def model_one_ahead(lab, draw):
    """The model that sees one symbol ahead has learned to copy it."""
    return lab.saved_weights("markov_ahead.safetensors")


@exercise.check(points=1, hidden=True, judge=ScoreBands(loss_of_all, (Band(0, 0.1, 1.0),), LEAK))
def model_without_a_mask(lab, draw):
    """The model that sees everything has also learned to copy."""
    return lab.saved_weights("markov_all.safetensors")
