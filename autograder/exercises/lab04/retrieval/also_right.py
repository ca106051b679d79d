"""Other right versions of the loss and of the table, and other layouts of the saved weights."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors.torch import load_file
from torch.nn.functional import cross_entropy as torch_cross_entropy

from attnlab.models.retriever import train_retriever
from attnlab.retrieval import answer_loss
from attnlab.softmax import cross_entropy, softmax

from . import ONE_HEAD, TWO_HEADS, exercise, retriever


def saved_by_the_lab(name):
    """The reference's own weights in the file `name`."""
    return load_file(Path(__file__).with_name(name))


@exercise.also_right(of="answer_loss")
def by_flattening(logits, answers):
    rows = logits.flatten(0, 1)  # (B * n, V)
    return torch_cross_entropy(rows, answers.flatten())


@exercise.also_right(of="answer_loss")
def by_lab_1(logits, answers):
    rows = logits.flatten(0, 1)  # (B * n, V)
    return cross_entropy(rows, answers.flatten())


@exercise.also_right(of="weight_on")
def by_gather(weights, places):
    wanted = places[:, None].expand(-1, weights.shape[1], -1)  # (B, h, n)
    found = weights.gather(2, wanted)  # (B, h, n)
    return found.mean(0)


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
    torch.manual_seed(1)
    model = retriever(1)
    train_retriever(model, answer_loss, steps=400, lr=0.02, seed=5)
    return {name: value.clone() for name, value in model.state_dict().items()}
