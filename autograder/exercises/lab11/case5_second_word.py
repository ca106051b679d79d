"""Generation that is wrong from the second symbol on: torch's causal mask with a cache.

With fewer queries than keys, `is_causal` aligns its triangle with the first key. This was reported
of torch in public (pytorch/pytorch, issue 144858).
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


class CachedAttention(nn.Module):
    """Causal self-attention that goes on where an earlier call stopped.

    Each position reads itself and all positions before it, those of earlier calls included, and no
    later one. A sequence may be given in pieces of any lengths, each with the cache that the piece
    before returned: the outputs are the same as for the whole sequence at once. A cache that is
    given stays unchanged, so generation can go on from it twice.

    Args:
        d_model: the features of a position.
        num_heads: how many heads share them.

    `forward` takes x (B, T, d_model) and a cache, None at the start. It returns the output
    (B, T, d_model) and the new cache: keys and values (B, h, S, d_k) of all S positions so far. The
    weights are `qkv` (queries, keys and values, in this order) and `out`, both with a bias.
    """

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        B, T, d_model = x.shape
        shape = (B, T, self.num_heads, d_model // self.num_heads)
        q, k, v = (part.reshape(shape).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
        if cache is not None:
            k, v = (torch.cat(pair, dim=2) for pair in zip(cache, (k, v), strict=True))
        past = q.new_ones(T, k.shape[2]).tril(k.shape[2] - T) > 0
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=past)  # (B, h, T, d_k)
        return self.out(mixed.transpose(1, 2).reshape(B, T, d_model)), (k, v)


case = Case(
    CachedAttention,
    title="The second word is always wrong",
    breaks={
        "        past = q.new_ones(T, k.shape[2]).tril(k.shape[2] - T) > 0\n": "",
        "attn_mask=past": "is_causal=True",
    },
    most_lines=2,
    complaint="""
> *"Training is fine, validation is fine, and the first symbol that the model writes is fine, too.
> Then it falls apart. We suspect the sampling."*

The model reads lab 5's Markov source. Below it is trained; then it continues 512 sequences, with a
cache, as every real system does. For each symbol that it writes, the source says how much this
symbol surprises it; a good model comes near 1.373 nats at every position.
""",
    finding=Step(
        15,
        3,
        """
**Predict.** The loss on new sequences is as it should be, and the first written symbol is, too.
Which part of the code has the first symbol seen, and which part has it not?
""",
        (
            "When the model writes its first symbol, how many queries and how many keys are there? "
            "And at the second?",
            "Run a random sequence through the module at once. Then run it in pieces, each with "
            "the cache of the one before, and join the outputs. Try pieces of one position *and* "
            "of several: a system that reads a second prompt has those.",
        ),
    ),
    fixing=Step(
        10,
        3,
        """
At which piece do the two outputs part? Run the attention function alone, with one query and five
keys, and with values that are easy to recognise: what does the query read?
""",
        (
            "A causal table for 2 queries and 5 keys: write it down. Which key is the *last* "
            "query's own? (5.1)",
            "The documentation of the attention function shows in a few lines of code what its "
            "causal option does when there are more keys than queries. If that is not what you "
            "need, you can say yourself who reads whom.",
        ),
    ),
    look="""The same training with your fix; the loss should not have changed. Is the curve flat
now?
""",
    cause="""The option `is_causal` puts its triangle at the first key, so with a cache a single new
query read the first position only and not its past; without a cache the table is square and right,
so training, validation and the first symbol showed nothing.
""",
    scheme={
        "names the causal option of the attention function when keys are more than queries": 1,
        "says that the new query read only the first position (or: the wrong corner)": 1,
        "says that training and the first symbol have as many queries as keys": 1,
    },
)


@case.symptom
def surprise_by_position(attention):
    source = course_source()
    torch.manual_seed(0)
    model = tiny_lm.TinyLM(tiny_lm.WithCache(attention(tiny_lm.WIDTH, tiny_lm.HEADS)))
    tiny_lm.train_lm(model, source)
    new = source.sequences("validation", 512, tiny_lm.LENGTH)
    written = tiny_lm.continued_with_cache(model, new[:, :12], 12)
    surprises = [tiny_lm.surprise(source, written[:, : end + 1], end) for end in range(12, 24)]
    print(f"loss on new sequences: {tiny_lm.evaluate(model, new):.3f}")
    print(f"surprise at the first symbol that it writes:  {surprises[0]:.3f}")
    print(f"surprise at the second:                       {surprises[1]:.3f}")
    floor = ("entropy of the source", source.entropy_rate)
    title = "what the model writes"
    return symptoms.curves({"surprise": surprises}, title, "symbol", "nats", level=floor)


@case.slow_version
class ReadsEverythingAgain(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        d_k = x.shape[-1] // self.num_heads
        q, *new = (part.unflatten(-1, (self.num_heads, d_k)) for part in self.qkv(x).chunk(3, -1))
        keys, values = (part.transpose(1, 2) for part in new)  # (B, h, T, d_k)
        rows = []
        for t in range(x.shape[1]):
            k, v = keys[:, :, : t + 1], values[:, :, : t + 1]
            if cache is not None:
                k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
            scores = (k * q[:, t, :, None]).sum(-1, keepdim=True) / d_k**0.5  # (B, h, S, 1)
            rows.append(self.out((scores.softmax(2) * v).sum(2).flatten(1)))
        return torch.stack(rows, 1), (k, v)


@case.other_program("compares the numbers of positions")
class ByPositions(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h = num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.h, -1)).permute(2, 0, 3, 1, 4)
        before = 0
        if cache:
            before = cache[0].size(2)
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        own = torch.arange(before, before + x.size(1))
        ahead = torch.arange(k.size(2)) > own[:, None]
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k) * q.size(-1) ** -0.5
        weights = scores.masked_fill(ahead, -torch.inf).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).flatten(2)), (k, v)


@case.other_program("works on one position after the other")
class OneAtATime(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h = num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        rows = []
        for one in x.split(1, dim=1):
            q, k, v = (
                part.unflatten(-1, (self.h, -1)).mT.mT for part in self.qkv(one).chunk(3, -1)
            )
            q, k, v = (part.transpose(1, 2) for part in (q, k, v))  # (B, h, 1, d_k)
            if cache is not None:
                k, v = torch.cat((cache[0], k), -2), torch.cat((cache[1], v), -2)
            cache = (k, v)
            rows.append(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
        return self.out(torch.cat(rows, 1)), cache


# Checks of the fix.


def module(lab, draw, d_model=6, num_heads=2):
    made = lab.CachedAttention(d_model, num_heads).double()
    shapes = {"qkv": (3 * d_model, d_model), "out": (d_model, d_model)}
    weights = {f"{name}.weight": draw.normal(*shape) for name, shape in shapes.items()}
    biases = {f"{name}.bias": draw.normal(shape[0]) for name, shape in shapes.items()}
    give_weights(made, {**weights, **biases})
    return made


def in_pieces(made, x, lengths):
    cache, outs = None, []
    for piece in x.split(lengths, dim=1):
        out, cache = made(piece, cache)
        outs.append(out)
    return outs


@case.fix.check(points=1)
def one_symbol_at_a_time(lab, draw):
    """A prompt and then single positions give the outputs of the whole sequence."""
    made, x = module(lab, draw), draw.normal(2, 7, 6)
    return {"with a cache": in_pieces(made, x, [4, 1, 1, 1]), "at once": made(x)[0]}


@case.fix.check(points=1, hidden=True)
def pieces_of_any_length(lab, draw):
    """Pieces of several positions, too, read all of their past and nothing ahead."""
    made, x = module(lab, draw), draw.normal(2, 9, 6)
    _, (k, v) = made(x[:, :4])
    before = k.clone(), v.clone()
    twice = [made(x[:, 4:], (k, v)), made(x[:, 5:8].flip(1), (k, v))]
    changed = x[:, 4:].clone()
    changed[:, -1] += draw.normal(2, 6)
    return {
        "pieces": in_pieces(made, x, [2, 3, 1, 3]),
        "from one cache twice": [out for out, _ in twice],
        "the new caches": [list(cache) for _, cache in twice],
        "the given cache is unchanged": [torch.equal(k, before[0]), torch.equal(v, before[1])],
        "a later input changed": made(changed, (k, v))[0][:, :-1],
    }


@case.fix.check(points=1, hidden=True)
def sizes_and_gradients(lab, draw):
    """Is right for one sequence, one head and equal sizes; gradients reach the earlier piece."""

    def ask(B, T, h, d_k):
        return in_pieces(module(lab, draw, h * d_k, h), draw.normal(B, 2 * T, h * d_k), T)

    made = module(lab, draw)

    def last(x):
        _, cache = made(x[:, :3])
        return made(x[:, 3:], cache)[0]

    return {
        "sizes": draw.each_size(ask, B=2, T=4, h=3, d_k=5),
        "gradients": draw.gradients(last, draw.normal(2, 5, 6)),
    }


case.fix.promises(
    {
        "Each position reads itself and all positions before it, those of earlier calls included, "
        "and no later one.": "one_symbol_at_a_time pieces_of_any_length",
        "A sequence may be given in pieces of any lengths, each with the cache that the piece "
        "before returned: the outputs are the same as for the whole sequence at once.": (
            "one_symbol_at_a_time pieces_of_any_length sizes_and_gradients"
        ),
        "A cache that is given stays unchanged, so generation can go on from it twice.": (
            "pieces_of_any_length"
        ),
        "`forward` takes x (B, T, d_model) and a cache, None at the start. It returns the output "
        "(B, T, d_model) and the new cache: keys and values (B, h, S, d_k) of all S positions so "
        "far.": "pieces_of_any_length sizes_and_gradients",
    },
    explained=[
        "Causal self-attention that goes on where an earlier call stopped.",
        "d_model: the features of a position.",
        "num_heads: how many heads share them.",
        "The weights are `qkv` (queries, keys and values, in this order) and `out`, both with a "
        "bias.",
    ],
)


# Other ways to fix it, and ways that do not.

OWN = "        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)"
PLACES = "torch.arange(k.shape[2])"
CALL = "        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)"

case.other_fix(
    "in_one_line",
    {"is_causal=True": "attn_mask=torch.ones(T, k.shape[2]).tril(k.shape[2] - T).bool()"},
)
case.other_fix(
    "by_positions",
    {OWN: f"        mask = {PLACES} <= {PLACES}[-T:, None]\n{CALL}"},
)
case.other_fix(
    "last_rows_of_a_square",
    {OWN: f"        mask = q.new_ones(k.shape[2], k.shape[2]).tril()[-T:] > 0\n{CALL}"},
)

case.wrong_fix(
    "causal_if_several",
    {"is_causal=True": "is_causal=T > 1"},
    "Single positions are right now, but try a second piece of several positions: at which key "
    "does its triangle begin?",
)
case.wrong_fix(
    "causal_without_a_cache",
    {"is_causal=True": "is_causal=cache is None"},
    "Single positions are right now, and pieces of several read all of their past. But what else "
    "do the positions of such a piece read?",
)
case.wrong_fix(
    "never_causal",
    {"is_causal=True": "is_causal=False"},
    "Generation is right now, but what about training? Does your test also run a whole sequence "
    "and change its end?",
)
case.wrong_fix(
    "one_ahead",
    {"is_causal=True": "attn_mask=torch.ones(T, k.shape[2]).tril(k.shape[2] - T + 1).bool()"},
    "The triangle is in the right corner now, but one too far: which key may the first query of a "
    "piece not read?",
)
case.wrong_fix(
    "itself_hidden",
    {"is_causal=True": "attn_mask=torch.ones(T, k.shape[2]).tril(k.shape[2] - T - 1).bool()"},
    "The triangle is in the right corner now, but a position no longer reads itself. What does the "
    "docstring say?",
)
case.wrong_fix(
    "numbers_for_a_mask",
    {"is_causal=True": "attn_mask=torch.ones(T, k.shape[2]).tril(k.shape[2] - T).to(x)"},
    "Your table has its ones in the right places, but as numbers: what does the attention function "
    "do with a mask of numbers?",
)
case.wrong_fix(
    "earlier_calls_forgotten",
    {"        if cache is not None:": "        if cache is not None and T > 1:"},
    "Single positions no longer read the wrong key, because they read no earlier one at all. What "
    "does the docstring say of earlier calls?",
)


@case.model_test
def test_cached_attention(impl):
    """Raise an AssertionError if `impl`, called as impl(d_model, num_heads), is wrong in pieces."""
    layer = impl(6, 2).double()
    x = torch.randn(2, 7, 6, dtype=torch.float64)
    whole, _ = layer(x)
    for lengths in ([3, 1, 1, 1, 1], [2, 3, 2]):
        cache, outs = None, []
        for piece in x.split(lengths, dim=1):
            out, cache = layer(piece, cache)
            outs.append(out)
        assert torch.allclose(torch.cat(outs, dim=1), whole), f"pieces of {lengths}"


@case.find.also_right
def second_symbol(impl):
    layer = impl(8, 4)
    x = torch.randn(1, 4, 8)
    _, cache = layer(x[:, :3])
    out, _ = layer(x[:, 3:], cache)
    torch.testing.assert_close(out, layer(x)[0][:, 3:], atol=1e-5, rtol=1e-4)


@case.find.also_right
def by_gradients(impl):
    layer = impl(8, 4)
    x = torch.randn(1, 5, 8, requires_grad=True)
    _, cache = layer(x[:, :3])
    out, _ = layer(x[:, 3:], cache)
    (grad,) = torch.autograd.grad(out[0, 0].square().sum(), x)
    assert (grad[0].abs().sum(-1) > 0).tolist() == [True] * 4 + [False]


PASSES = (
    "Your test passes on the broken version. It runs no piece with a cache, or does not look at "
    "its output. What should be equal if a sequence is given in two pieces?"
)


@case.find.mistake(PASSES)
def no_cache(impl):
    layer = impl(6, 2)
    x = torch.randn(2, 5, 6)
    changed = x.clone()
    changed[:, 3] += 1
    assert torch.allclose(layer(x)[0][:, :3], layer(changed)[0][:, :3], atol=1e-5)


@case.find.mistake(PASSES)
def shape_of_the_cache(impl):
    layer = impl(6, 2)
    out, cache = layer(torch.randn(2, 5, 6))
    out, (k, v) = layer(torch.randn(2, 1, 6), cache)
    assert out.shape == (2, 1, 6)
    assert k.shape == v.shape == (2, 2, 6, 3)
    assert torch.equal(k[:, :, :5], cache[0])


@case.find.mistake(
    "Your test fails on right versions: it reads an attribute of the module that the docstring "
    "does not promise. Where else do you know the number of heads from?"
)
def reads_an_attribute(impl):
    layer = impl(8, 2)
    x = torch.randn(2, 5, 8)
    out, (k, _) = layer(x[:, :4])
    assert k.shape == (2, layer.num_heads, 4, 4)
    again, _ = layer(x[:, 4:], (k, _))
    assert torch.allclose(torch.cat([out, again], 1), layer(x)[0], atol=1e-5)
