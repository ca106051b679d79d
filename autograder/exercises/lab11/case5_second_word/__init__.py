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

The model reads lab 5's Markov source. Below it is trained; then it continues 4,096 sequences, with
a cache, as every real system does. For each symbol that it writes, the source says how much this
symbol surprises it; a good model comes near 1.373 nats at every position, and dice near 2.8.
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
    look="""The same training with your fix; the loss should not have changed. Is the curve near the
dotted line now, from the first symbol to the last?
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
    new = source.sequences("validation", 4096, tiny_lm.LENGTH)
    written = tiny_lm.continued_with_cache(model, new[:, :12], 12)
    surprises = [tiny_lm.surprise(source, written[:, : end + 1], end) for end in range(12, 24)]
    print(f"loss on new sequences: {tiny_lm.evaluate(model, new):.3f}")
    print(f"surprise at the first symbol that it writes:  {surprises[0]:.3f}")
    print(f"surprise at the second:                       {surprises[1]:.3f}")
    floor = ("entropy of the source", source.entropy_rate)
    title = "what the model writes"
    return symptoms.curves({"surprise": surprises}, title, "symbol", "nats", level=floor, up_to=2.8)


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
    """A prompt and then single positions, or a second prompt, give the whole sequence's outputs."""
    made, x = module(lab, draw), draw.normal(2, 7, 6)
    return {
        "with a cache": in_pieces(made, x, [4, 1, 1, 1]),
        "at once": made(x)[0],
        "a second prompt": in_pieces(made, x, [3, 4]),
    }


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
