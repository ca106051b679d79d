"""A loss below the entropy of the source: a boolean mask with the opposite meaning.

torch's own functions disagree about what True means. The same mistake was reported of a tutorial in
public (rasbt/LLMs-from-scratch, issue 1061).
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from attnlab.checking.weights import give_weights
from attnlab.data.markov import course_source
from attnlab.models import tiny_lm
from attnlab.plots import symptoms
from gradekit.exercise import Case
from gradekit.exercise.clinic import Step


class CausalAttention(nn.Module):
    """The self-attention of a language model.

    Position t of the output depends on positions 0 to t of the input, on all of them, and on no
    later one. Sequences of a batch do not depend on each other.

    Args:
        d_model: the features of a position.
        num_heads: how many heads share them.

    `forward` takes x (B, T, d_model) and returns (B, T, d_model). The weights are `qkv` (queries,
    keys and values, in this order) and `out`, both with a bias.
    """

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, x):
        B, T, d_model = x.shape
        shape = (B, T, self.num_heads, d_model // self.num_heads)
        q, k, v = (part.reshape(shape).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
        ahead = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=~ahead)  # (B, h, T, d_k)
        return self.out(mixed.transpose(1, 2).reshape(B, T, d_model))


case = Case(
    CausalAttention,
    title="Too good to be true",
    breaks={"attn_mask=~ahead": "attn_mask=ahead"},
    most_lines=1,
    complaint="""
> *"Our language model trains wonderfully. After 250 steps the loss on sequences that it has never
> seen is far below last year's. But what it writes is nonsense: we cannot tell it from dice."*

The model is small and reads lab 5's Markov source, whose entropy is known: **no** predictor of the
next symbol, of whatever size, gets below 1.373 nats on average over many sequences (on 256 of them,
chance may take off a little). Below, it is trained again. Then it continues 256 sequences itself,
and the source says how much these symbols surprise it, beside symbols that are thrown with dice.

The cell holds the model's attention. It is folded, because a doctor listens before she looks: run
it and the one below first.
""",
    finding=Step(
        15,
        2,
        """
**Predict.** No predictor gets below the entropy, and this one does. What must a model know to have
a loss of 0.06 on this source? And does it still know that when it writes?
""",
        (
            "In training, all symbols of a sequence are there at once. Which of them are missing "
            "when the model writes?",
            "No training is needed. Give the module one random input. Change it at one position, "
            "call the module again, and compare the outputs position by position. The docstring "
            "says which of them may differ, and which must. Then do the same for another position.",
        ),
    ),
    fixing=Step(
        5,
        1,
        """
Follow your failing test into `forward`: up to which line is everything as it should be? Print
values; all shapes are right.
""",
        (
            "Print the table that goes into the attention function, for T = 4. What does the "
            "documentation of that function say about True?",
            "`help(F.scaled_dot_product_attention)` says in one line what a boolean mask means. "
            "(Other functions of torch mean something else.) Say aloud what the table says about "
            "the first position, in these words.",
        ),
    ),
    look="""The same training with your fix. Where does the loss end now, and why is a *higher* loss
the better model? Compare it with the surprise.
""",
    cause="""The table says True for the positions ahead, and torch's function takes True for "may
attend", so in training each position read the symbol that it should predict (and not its past);
when the model writes, there is nothing ahead to copy, and nothing crashes because all shapes are
right and a row without any key gives zeros instead of NaN.
""",
    scheme={
        "names the mask that goes into the attention function, and that its meaning is inverted": 1,
        "says that the model read the symbols that it should predict": 1,
        "says that shapes stay right, or that a row without keys gives zeros": 1,
    },
)


@case.symptom
def losses_and_samples(attention):
    source = course_source()
    torch.manual_seed(0)
    model = tiny_lm.TinyLM(attention(tiny_lm.WIDTH, tiny_lm.HEADS))
    losses = tiny_lm.train_lm(model, source)
    new = source.sequences("validation", 256, tiny_lm.LENGTH)
    written = tiny_lm.continued(model, new[:, :8], 24)
    print(f"loss on new sequences:                  {tiny_lm.evaluate(model, new):.3f}")
    print(f"surprise at the sequences themselves:   {tiny_lm.surprise(source, new, 8):.3f}")
    print(f"surprise at what the model writes:      {tiny_lm.surprise(source, written, 8):.3f}")
    print(f"surprise at dice:                       {tiny_lm.surprise_at_dice(source):.3f}")
    floor = ("entropy of the source", source.entropy_rate)
    return symptoms.curves({"loss": losses}, "training", "step", "nats", level=floor)


@case.slow_version
class OnePositionAtATime(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, x):
        rows = []
        for t in range(x.shape[1]):
            q, k, v = self.qkv(x[:, : t + 1]).chunk(3, dim=-1)  # what is there at time t
            heads = []
            for own in torch.arange(x.shape[-1]).chunk(self.num_heads):
                scores = (q[:, -1:, own] * k[..., own]).sum(-1, keepdim=True) / len(own) ** 0.5
                heads.append((scores.softmax(1) * v[..., own]).sum(1))
            rows.append(self.out(torch.cat(heads, dim=-1)))
        return torch.stack(rows, dim=1)


@case.other_program("computes the scores and their softmax itself")
class ScoresByHand(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h = num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.h, D // self.h).unbind(2)  # (B, T, h, d_k)
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / (D // self.h) ** 0.5
        past = torch.arange(T)[:, None] >= torch.arange(T)
        weights = (scores + torch.where(past, 0.0, -torch.inf)).softmax(-1)
        return self.out(torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2))


@case.other_program("lets torch make the mask")
class MaskByTorch(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.heads = num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, x):
        parts = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        q, k, v = parts  # (B, h, T, d_k)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).flatten(2))


# Checks of the fix.


def module(lab, draw, d_model=6, num_heads=2):
    made = lab.CausalAttention(d_model, num_heads).double()
    shapes = {"qkv": (3 * d_model, d_model), "out": (d_model, d_model)}
    weights = {f"{name}.weight": draw.normal(*shape) for name, shape in shapes.items()}
    biases = {f"{name}.bias": draw.normal(shape[0]) for name, shape in shapes.items()}
    give_weights(made, {**weights, **biases})
    return made


@case.fix.check(points=1)
def reads_the_past(lab, draw):
    """Each position reads itself and those before it, and nothing else."""
    made, x = module(lab, draw), draw.normal(2, 5, 6)
    changed = x.clone()
    changed[:, 3] += draw.normal(2, 6)
    moved = (made(changed) - made(x)).abs().amax((0, 2)) > 1e-9
    return {
        "outputs that change with position 3": moved,
        "outputs": made(x),
        "outputs after eval()": made.eval()(x),
    }


@case.fix.check(points=1, hidden=True)
def other_sizes(lab, draw):
    """Is right for one position, one sequence, one feature in a head, and other lengths."""

    def ask(B, T, h, d_k):
        return module(lab, draw, h * d_k, h)(draw.normal(B, T, h * d_k))

    return draw.each_size(ask, B=3, T=7, h=2, d_k=3)


@case.fix.check(points=1, hidden=True)
def is_trained(lab, draw):
    """Gradients reach the input, from the positions that may see it, and both layers."""
    made = module(lab, draw)
    grads = draw.gradients(made, draw.normal(2, 5, 6))
    made(draw.normal(2, 5, 6, dtype=torch.float64)).square().sum().backward()
    return {
        "input": grads,
        "layers": [made.qkv.weight.grad, made.qkv.bias.grad, made.out.weight.grad],
    }


case.fix.promises(
    {
        "Position t of the output depends on positions 0 to t of the input, on all of them, and on "
        "no later one.": "reads_the_past other_sizes is_trained",
        "Sequences of a batch do not depend on each other.": "reads_the_past other_sizes",
        "`forward` takes x (B, T, d_model) and returns (B, T, d_model).": "other_sizes",
    },
    explained=[
        "The self-attention of a language model.",
        "d_model: the features of a position.",
        "num_heads: how many heads share them.",
        "The weights are `qkv` (queries, keys and values, in this order) and `out`, both with a "
        "bias.",
    ],
)


# Other ways to fix it.

case.other_fix("a_triangle_of_the_past", {".triu(diagonal=1)": ".tril()"})
case.other_fix("causal_by_torch", {"attn_mask=ahead": "is_causal=True"})
case.other_fix("equal_to_false", {"attn_mask=ahead": "attn_mask=ahead == False"})
case.other_fix(
    "numbers_instead", {"attn_mask=ahead": "attn_mask=torch.where(ahead, -torch.inf, 0.0).to(x)"}
)

READS_AHEAD = (
    "Each position reads itself and those *after* it. Print the table for T = 4: is its first axis "
    "that of the queries or that of the keys, and what does True mean to the attention function?"
)

case.wrong_fix(
    "no_mask",
    {"attn_mask=ahead": "attn_mask=None"},
    "Without a mask each position reads the whole sequence: the past is there now, but what about "
    "the symbols ahead? Does your test find this version?",
)
case.wrong_fix(
    "own_position_hidden",
    {".triu(diagonal=1)": ".tril(diagonal=-1)"},
    "The positions ahead are hidden now, but look at the diagonal: what does the docstring say of "
    "a position and itself? And what does the first one read?",
)
case.wrong_fix(
    "one_ahead",
    {".triu(diagonal=1)": ".tril(diagonal=1)"},
    "Most positions ahead are hidden now, but one is not: the next. Which symbol is it that the "
    "model must predict?",
)
case.wrong_fix(
    "diagonal_moved",
    {".triu(diagonal=1)": ".triu(diagonal=0)"},
    READS_AHEAD,
)
case.wrong_fix(
    "both_masks",
    {"attn_mask=ahead": "attn_mask=ahead, is_causal=True"},
    "You ask for a causal mask and still hand over the old one. What does each of the two say "
    "about the first position?",
)
case.wrong_fix(
    "only_itself",
    {".triu(diagonal=1)": ".triu().tril()"},
    "No position reads ahead now, but none reads its past either. Which outputs must change with "
    "an input, according to the docstring?",
)
case.wrong_fix(
    "the_other_corner",
    {"attn_mask=ahead": "attn_mask=~ahead.T"},
    READS_AHEAD,
)
case.wrong_fix(
    "in_training_only",
    {"attn_mask=ahead": "attn_mask=~ahead if self.training else None"},
    "In training, no position reads those after it any more. And after `eval()`? Does the "
    "docstring make a difference between the two modes?",
)
case.wrong_fix(
    "a_mask_of_numbers",
    {"attn_mask=ahead": "attn_mask=~ahead * 1.0"},
    "A mask of numbers is added to the scores. What must be added so that a position gets no "
    "weight at all?",
)


@case.model_test
def test_causal_attention(impl):
    """Raise an AssertionError if `impl`, called as impl(d_model, num_heads), is not causal."""
    module = impl(6, 2).double()
    x = torch.randn(2, 5, 6, dtype=torch.float64)
    for t in range(5):
        changed = x.clone()
        changed[:, t] += 1.0
        moved = (module(changed) - module(x)).abs().amax(dim=(0, 2)) > 1e-9  # (5,)
        assert not moved[:t].any(), f"an output before position {t} reads it"
        assert moved[t:].all(), f"an output from position {t} on does not read it"


@case.find.also_right
def by_gradients(impl):
    attention = impl(8, 4)
    x = torch.randn(1, 6, 8, requires_grad=True)
    for t in range(6):
        (grad,) = torch.autograd.grad(attention(x)[0, t].pow(2).sum(), x)
        reads = grad[0].abs().sum(-1) > 0
        assert reads.tolist() == [i <= t for i in range(6)]


@case.find.also_right
def by_prefixes(impl):
    attention = impl(4, 1)
    x = torch.randn(3, 7, 4)
    whole = attention(x)
    for t in range(1, 8):
        torch.testing.assert_close(attention(x[:, :t]), whole[:, :t], atol=1e-5, rtol=1e-4)


PASSES = (
    "Your test passes on the broken version. All shapes are right, and every output is finite and "
    "depends on its own input. Which values may *not* depend on each other, according to the "
    "docstring?"
)


@case.find.mistake(PASSES)
def shapes_only(impl):
    out = impl(6, 2)(torch.randn(2, 5, 6))
    assert out.shape == (2, 5, 6)
    assert torch.isfinite(out).all()


@case.find.mistake(
    "Your test passes on the broken version: its verdict, True or False, is returned, and nothing "
    "reads it. Which statement turns a False into an error?"
)
def returns_its_verdict(impl):
    attention = impl(6, 2)
    x = torch.randn(2, 5, 6)
    changed = x.clone()
    changed[:, -1] += 1.0
    return torch.allclose(attention(x)[:, :-1], attention(changed)[:, :-1])


@case.find.mistake(
    "Your test fails on a right version that `check` does not have. If it asks for equal numbers "
    "down to the last bit: two right ways to add up the same numbers differ there. How far apart "
    "may they be?"
)
def equal_bits(impl):
    attention = impl(32, 4)
    x = torch.randn(2, 30, 32)
    whole = attention(x)
    for t in range(1, 31):
        assert torch.equal(attention(x[:, :t]), whole[:, :t])


@case.find.mistake(PASSES)
def first_position_only(impl):
    attention = impl(6, 2)
    x = torch.randn(2, 5, 6)
    changed = x.clone()
    changed[:, 0] += 1.0
    assert not torch.allclose(attention(x)[:, 0], attention(changed)[:, 0])
