"""A batch whose sequences read each other: softmax over the wrong axis.

The same mistake was reported of a public library, whose weights were all 1 for a batch of one
(PetrochukM/PyTorch-NLP, issue 2).
"""

from __future__ import annotations

import torch
from torch import nn

from attnlab.checking.weights import give_weights
from attnlab.plots import symptoms
from gradekit.exercise import Case
from gradekit.exercise.clinic import Step


class AllHeads(nn.Module):
    """Self-attention with several heads, all of them in one multiplication.

    The weights say how much each query reads each key of its own sequence, in each head: none is
    negative, and those of one query add up to 1. The output mixes the values with these weights, so
    a sequence's output does not depend on the other sequences of the batch, nor on their number.

    Args:
        d_model: the features of a position.
        num_heads: how many heads share them.

    `forward` takes x (B, T, d_model) and returns the output (B, T, d_model) and the weights
    (B, num_heads, T, T). The parameters are `qkv` (queries, keys and values, in this order) and
    `out`, both with a bias.
    """

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, x):
        B, T, d_model = x.shape
        shape = (B, T, self.num_heads, d_model // self.num_heads)
        q, k, v = (
            part.reshape(shape).transpose(1, 2).flatten(0, 1)  # (B * h, T, d_k)
            for part in self.qkv(x).chunk(3, dim=-1)
        )
        scores = torch.bmm(q, k.mT) / q.shape[-1] ** 0.5  # (B * h, T, T)
        weights = scores.softmax(dim=-1)
        mixed = torch.bmm(weights, v).unflatten(0, (B, self.num_heads))  # (B, h, T, d_k)
        weights = weights.unflatten(0, (B, self.num_heads))
        return self.out(mixed.transpose(1, 2).flatten(2)), weights


case = Case(
    AllHeads,
    title="The batch that talks",
    breaks={"scores.softmax(dim=-1)": "scores.softmax(dim=0)"},
    most_lines=1,
    complaint="""
> *"Our classifier is right for nearly all sequences of the test set. The demo on our web page, with
> the same weights, is wrong for every fourth. We load the weights correctly; we have checked it
> three times."*

The task is small: of eight digits, name the largest. Below, a model with one attention layer is
trained in batches of 64. Then the same 512 new sequences are classified, in batches of different
sizes. The weights of the model stay the same throughout.
""",
    finding=Step(
        12,
        2,
        """
**Predict.** The demo has batches of one. For a right model, which operations of a Transformer make
the sequences of a batch depend on each other?
""",
        (
            "If you put another sequence beside yours, or change the one that is there, what "
            "should happen to the output of yours?",
            "Give the module a batch of random sequences, and each of them alone. Compare. Choose "
            "B, T, the heads and the features per head all different: with two equal sizes, a "
            "mistake between their axes may stay hidden. The docstring also says something about "
            "the weights.",
        ),
    ),
    fixing=Step(
        5,
        1,
        """
Print sums, not shapes: what do the weights of one query add up to? And if it is not this axis, over
which axis *do* they add up to 1?
""",
        (
            "What do the three axes of the scores stand for, at the line where they are made?",
            "For each axis of the scores: which things compete with each other if softmax runs "
            "along it? The docstring says which should.",
        ),
    ),
    look="""The same training with your fix. Is the curve flat now? The training with the broken
layer worked, too: what did the model learn there that it could not use on the web page?
""",
    cause="""Softmax ran along the first axis, which holds the sequences of the batch and their
heads, so the weights of a query did not add up to 1 and depended on the other sequences; the shape
of the weights is the same for every axis, and in training the batch always had the same size, so
the model adapted to it.
""",
    scheme={
        "names the axis of the softmax (the batch and its heads, not the keys)": 1,
        "says that a sequence's weights depended on the other sequences": 1,
        "says that shapes stay right, or that training adapted to its batch size": 1,
    },
)


@case.symptom
def accuracy_by_batch_size(attention):
    torch.manual_seed(0)
    digits, head, layer = nn.Embedding(10, 16), nn.Linear(16, 10), attention(16, 2)
    norm = nn.LayerNorm(16)
    weights = [p for part in (digits, head, layer, norm) for p in part.parameters()]
    steps = torch.optim.Adam(weights, lr=1e-2)

    def scores(ids):
        return head(norm(layer(digits(ids))[0]).mean(1))  # (B, 10)

    for _ in range(300):
        ids = torch.randint(0, 10, (64, 8))
        loss = nn.functional.cross_entropy(scores(ids), ids.amax(1))
        steps.zero_grad()
        loss.backward()
        steps.step()
    new = torch.randint(0, 10, (512, 8))
    right = {}
    with torch.no_grad():
        for size in (1, 2, 4, 8, 16, 32, 64):
            found = torch.cat([scores(ids).argmax(1) for ids in new.split(size)])
            right[size] = 100 * (found == new.amax(1)).double().mean().item()
    for size in (64, 8, 1):
        print(f"right in batches of {size:2}: {right[size]:5.1f} %")
    title, sizes = "the same sequences, the same weights", list(right)
    shown = {"right answers": list(right.values())}
    return symptoms.curves(shown, title, "sequences in a batch", "% of the sequences", at=sizes)


@case.slow_version
class QueryByQuery(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, x):
        B, T, d_model = x.shape
        d_k = d_model // self.num_heads
        weights = x.new_zeros(B, self.num_heads, T, T)
        rows = []
        for b in range(B):
            q, k, v = self.qkv(x[b]).chunk(3, dim=-1)  # (T, d_model)
            for t in range(T):
                heads = []
                for h in range(self.num_heads):
                    own = slice(h * d_k, (h + 1) * d_k)
                    scores = (k[:, own] * q[t, own]).sum(-1) / d_k**0.5
                    strong = (scores - scores.max()).exp()
                    weights[b, h, t] = strong / strong.sum()
                    heads.append((weights[b, h, t].clone()[:, None] * v[:, own]).sum(0))
                rows.append(self.out(torch.cat(heads)))
        return torch.stack(rows).reshape(B, T, d_model), weights


@case.other_program("keeps batch and heads as two axes")
class TwoAxes(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h = num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, x):
        parts = self.qkv(x).unflatten(-1, (3, self.h, -1))  # (B, T, 3, h, d_k)
        q, k, v = parts.unbind(2)
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5
        strong = (scores - scores.amax(-1, keepdim=True)).exp()
        weights = strong / strong.sum(-1, keepdim=True)
        return self.out(torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2)), weights


@case.other_program("has the keys on the first axis")
class KeysFirst(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h = num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, x):
        q, k, v = (part.unflatten(-1, (self.h, -1)) for part in self.qkv(x).chunk(3, dim=-1))
        scores = torch.einsum("bkhd,bqhd->kbhq", k, q) * q.shape[-1] ** -0.5
        weights = scores.softmax(dim=0)  # over the keys
        mixed = torch.einsum("kbhq,bkhd->bqhd", weights, v)
        return self.out(mixed.flatten(2)), weights.permute(1, 2, 3, 0)


# Checks of the fix.


def module(lab, draw, d_model=8, num_heads=2):
    made = lab.AllHeads(d_model, num_heads).double()
    shapes = {"qkv": (3 * d_model, d_model), "out": (d_model, d_model)}
    weights = {f"{name}.weight": draw.normal(*shape) / 2 for name, shape in shapes.items()}
    biases = {f"{name}.bias": draw.normal(shape[0]) for name, shape in shapes.items()}
    give_weights(made, {**weights, **biases})
    return made


@case.fix.check(points=1)
def sequences_are_alone(lab, draw):
    """A sequence has the same output in every batch, and a query's weights add up to 1."""
    made, x = module(lab, draw), draw.normal(3, 5, 8)
    out, weights = made(x)
    alone = [made(x[b : b + 1])[0][0] for b in range(3)]
    return {"sums of weights": weights.sum(-1), "alone": alone, "in the batch": out}


@case.fix.check(points=1, hidden=True)
def other_sizes(lab, draw):
    """Outputs and weights are right for one sequence, one position, one head, and equal sizes."""

    def ask(B, T, h, d_k):
        return list(module(lab, draw, h * d_k, h)(draw.normal(B, T, h * d_k)))

    return draw.each_size(ask, B=3, T=7, h=2, d_k=5)


@case.fix.check(points=1, hidden=True)
def large_scores_and_gradients(lab, draw):
    """Large scores do not overflow, and gradients reach the input through values and weights."""
    made, x = module(lab, draw), draw.normal(2, 5, 8)
    return {
        "large": list(made(60 * x)),
        "through the output": draw.gradients(lambda x: made(x)[0], x),
        "through the weights": draw.gradients(lambda x: made(x)[1], x),
    }


case.fix.promises(
    {
        "The weights say how much each query reads each key of its own sequence, in each head: "
        "none is negative, and those of one query add up to 1.": "sequences_are_alone other_sizes",
        "The output mixes the values with these weights, so a sequence's output does not depend on "
        "the other sequences of the batch, nor on their number.": "sequences_are_alone other_sizes",
        "returns the output (B, T, d_model) and the weights (B, num_heads, T, T).": "other_sizes",
    },
    explained=[
        "Self-attention with several heads, all of them in one multiplication.",
        "d_model: the features of a position.",
        "num_heads: how many heads share them.",
        "`forward` takes x (B, T, d_model) and",
        "The parameters are `qkv` (queries, keys and values, in this order) and `out`, both with a "
        "bias.",
    ],
)
