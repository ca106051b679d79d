"""generation: positions, masks and attention with a cache, and a text written token by token."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from attnlab.checking.judges import SameShares
from attnlab.checking.observation import dtype_of
from attnlab.gpt import GPT, GPTConfig, GPTOutput
from attnlab.kv_cache import cached_attention, generate, positions_and_mask, read_on
from attnlab.multihead import MultiHeadAttention
from attnlab.sampling import sample
from gradekit.exercise import Exercise

ELSEWHERE = "differs only on another device, and the meta device costs a second to load"
ONE_TOKEN = "differs only in the time that it takes: the last token's logits are the same"
CALL = "logits, state = model(read, state, valid=valid, last_only=True)"
exercise = Exercise(
    positions_and_mask,
    cached_attention,
    generate,
    uses=[sample],
    equivalent={
        "positions_and_mask: `causal_mask(T, valid.shape[1], device=valid.device)` → "
        "`causal_mask(T, valid.shape[1])` in "
        "`mask = causal_mask(T, valid.shape[1], device=valid.device)`": ELSEWHERE,
        "generate: `torch.zeros(len(prompt), dtype=torch.bool, device=prompt.device)` → "
        "`torch.zeros(len(prompt), dtype=torch.bool)` in "
        "`ended = torch.zeros(len(prompt), dtype=torch.bool, device=prompt.device)`": ELSEWHERE,
        f"generate: `model(read, state, valid=valid, last_only=True)` → "
        f"`model(read, state, valid=valid)` in `{CALL}`": ONE_TOKEN,
        f"generate: `True` → `False` in `{CALL}`": ONE_TOKEN,
        "generate: `1` → `0` in `token = sample(logits[:, -1], **how_to_sample)`": (
            "with last_only there are the logits of one token"
        ),
    },
)

V = 13


def filled(draw, module, size=0.7):
    """The module in float64, with weights so large that every part counts."""
    module = module.double().eval()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(size * draw.normal(*parameter.shape))
    return module


def a_gpt(draw, context=20, vocab=V):
    cfg = GPTConfig(vocab_size=vocab, context=context, d_model=12, num_heads=3, num_layers=2)
    return filled(draw, GPT(cfg))


def in_parts(lab, model, ids, cuts, valid=None, kept=None, done=0):
    """The logits of a text that is read in parts, with the student's functions in the model."""
    valid = torch.ones(len(ids), done + ids.shape[1], dtype=torch.bool) if valid is None else valid
    parts = []
    with torch.no_grad():
        for part in ids.split(cuts, 1):
            done += part.shape[1]
            logits, kept = read_on(
                model, part, kept, valid[:, :done], lab.positions_and_mask, lab.cached_attention
            )
            parts.append(logits)
    return torch.cat(parts, 1), kept


def filled_up(draw, *lengths):
    """Texts of these lengths, filled up on the left with tokens that could be real."""
    width = max(lengths)
    ids = draw.integers(0, V, len(lengths), width)
    valid = torch.arange(width) >= width - torch.tensor(lengths)[:, None]
    return ids, valid


@exercise.check(points=2)
def token_by_token(lab, draw):
    """A text that is read token by token gets the logits of a text that is read at once."""
    model, ids = a_gpt(draw), draw.integers(0, V, 2, 6)
    found, _ = in_parts(lab, model, ids, 1)
    with torch.no_grad():
        whole = model(ids).logits
    near = (found - whole).abs().amax((0, 2)) < 1e-9
    return {
        **{f"token {n}: as if read at once": same for n, same in enumerate(near.tolist(), 1)},
        "logits of the last token": found[:, -1],
    }


@exercise.check(points=1)
def positions_and_masks(lab, draw):
    """`positions_and_mask`: the first reading of two texts, then two more tokens, then one."""
    start = torch.tensor([[False, False, True, True], [True, True, True, True]])
    seen = {}
    for name, T, L in (("the first four", 4, 4), ("two more", 2, 6), ("one more", 1, 7)):
        valid = torch.cat((start, torch.ones(2, L - 4, dtype=torch.bool)), 1)
        positions, mask = lab.positions_and_mask(valid, T)
        seen[name] = {"positions": positions, "mask": mask.int(), "dtype of it": dtype_of(mask)}
    return seen


@exercise.check(points=1.5)
def in_larger_parts(lab, draw):
    """A text can be read in parts of any lengths, a part of several tokens after others too."""
    model, ids = a_gpt(draw), draw.integers(0, V, 2, 9)
    cuts = ([9], [4, 1, 1, 3], [1, 8], [3, 2, 4], [8, 1])
    return {f"parts of {cut}": in_parts(lab, model, ids, cut)[0] for cut in cuts}


@exercise.check(points=1, hidden=True)
def filled_up_on_the_left(lab, draw):
    """A text in a batch that is filled up on the left gets the logits that it gets alone."""
    model, seen = a_gpt(draw), {}
    ids, valid = filled_up(draw, 4, 2, 1)
    more = draw.integers(0, V, 3, 4)
    valid = torch.cat((valid, torch.ones_like(more, dtype=torch.bool)), 1)
    for cuts in ([4, 1, 1, 1, 1], [2, 2, 1, 3], [5, 3]):
        logits, _ = in_parts(lab, model, torch.cat((ids, more), 1), cuts, valid)
        seen[f"parts of {cuts}"] = [row[real] for row, real in zip(logits, valid, strict=True)]
    seen["inputs as they were"] = draw.untouched()
    return seen


@exercise.check(points=1, hidden=True)
def continued_twice(lab, draw):
    """What was kept is not changed: one beginning can be continued more than once."""
    model, ids = a_gpt(draw), draw.integers(0, V, 2, 4)
    _, kept = in_parts(lab, model, ids, [3, 1])
    before = [(k.clone(), v.clone()) for k, v in kept]
    ways, later, found = [draw.integers(0, V, 2, 3) for _ in range(2)], [kept, kept], []
    for step in range(3):  # in turn
        for n, way in enumerate(ways):
            token = way[:, step : step + 1]
            out, later[n] = in_parts(lab, model, token, 1, kept=later[n], done=4 + step)
            found.append(out)
    same = [torch.equal(a, b) for now, then in zip(kept, before, strict=True)
            for a, b in zip(now, then, strict=True)]  # fmt: skip
    return {"logits": found, "kept as it was": all(same), "length kept": kept[0][0].shape[2]}


@exercise.check(points=1, hidden=True)
def only_new_vectors(lab, draw):
    """`cached_attention`: projects the new vectors alone, appends, and is right for any sizes."""
    projected = []

    def ask(B, T, past, h, d_k):
        attention = filled(draw, MultiHeadAttention(h * d_k, h))
        for layer in (attention.q_proj, attention.k_proj, attention.v_proj):
            layer.register_forward_pre_hook(lambda _, x: projected.append(x[0].shape[1] - T))
        kept = (draw.normal(B, h, past, d_k), draw.normal(B, h, past, d_k))
        mask = draw.integers(0, 3, B, 1, T, past + T) > 0
        mask[..., 0] = True
        mask[0, :, 0] = False  # this query may attend to nothing
        out, (k, v) = lab.cached_attention(attention, draw.normal(B, T, h * d_k), kept, mask)
        return [out, k, v]

    seen = draw.each_size(ask, B=2, T=3, past=4, h=3, d_k=5)
    return {**seen, "vectors projected too often": sum(projected), "inputs": draw.untouched()}


@dataclass(frozen=True)
class Kept:
    """All tokens so far, and which of them are valid."""

    ids: torch.Tensor
    valid: torch.Tensor

    @property
    def length(self):
        return self.ids.shape[1]


class Writer(nn.Module):
    """A model made of two tables: each token, its position and its order count for all later ones.

    It notes what each call gives it to read.
    """

    def __init__(self, draw, context=24, vocab=V):
        super().__init__()
        self.cfg = GPTConfig(vocab, context)
        self.table = nn.Parameter(draw.normal(vocab, 6))
        self.out = nn.Parameter(draw.normal(6, vocab))
        self.calls = []

    def forward(self, ids, state=None, *, valid=None, last_only=False):
        known = torch.ones_like(ids, dtype=torch.bool) if valid is None else valid
        if known.shape != ids.shape:
            raise ValueError(f"`valid` has the shape {tuple(known.shape)}, ids {tuple(ids.shape)}")
        length = 0 if state is None else state.length
        self.calls.append((ids.shape[1], length, self.training, torch.is_grad_enabled()))
        now = Kept(ids, known)
        if state is not None:
            now = Kept(torch.cat((state.ids, ids), 1), torch.cat((state.valid, known), 1))
        if now.length > self.cfg.context:
            raise ValueError(f"{now.length} tokens, but the model reads only {self.cfg.context}")
        order = now.valid.cumsum(1) % 5 + 1  # (B, L)
        read = self.table[now.ids] * (order * now.valid)[..., None]
        logits = 3 * torch.tanh(0.4 * read.cumsum(1)) @ self.out  # (B, L, V)
        return GPTOutput(logits[:, -1:] if last_only else logits[:, length:], now)


@exercise.check(points=1.5)
def one_token_a_call(lab, draw):
    """`generate`: the first call reads the prompt, each later one the newest token alone."""
    model, prompt = Writer(draw), draw.integers(0, V, 2, 4)
    out = lab.generate(model, prompt, 6, temperature=0)
    calls = model.calls[:6]
    return {
        "tokens that each call reads": [read for read, *_ in calls],
        "tokens in the state it gets": [before for _, before, *_ in calls],
        "written": out,
    }


@exercise.check(points=1, hidden=True)
def ends_of_texts(lab, draw):
    """`generate`: after `eos` a row writes `eos`, and the others go on."""
    model, prompt = Writer(draw), draw.integers(0, V, 6, 3)
    free = lab.generate(model, prompt, 9, temperature=1.0, top_k=1)
    seen = {"no eos": free}
    for row, step in ((0, 1), (1, 4), (2, 0), (3, 6)):
        eos = int(free[row, step])
        seen[f"eos={eos}"] = lab.generate(model, prompt, 9, eos=eos, temperature=1.0, top_k=1)
    eos = int(free[0, 1])
    seen["all end early"] = lab.generate(model, prompt[:1], 9, eos=eos, temperature=0)
    inside = torch.cat((prompt[:, :1], free[:, :1], prompt[:, 1:]), 1)
    eos = int(inside[0, 1])
    seen["eos in the prompt"] = lab.generate(model, inside, 5, eos=eos, temperature=0)
    # A token that another one follows, so that a row which does not end is seen.
    followed = (free[:, 1:] != free[:, :-1]).nonzero().tolist()
    row, step = followed[0] if followed else (0, 1)
    swap, token = torch.arange(V), int(free[row, step])
    swap[[0, token]] = swap[[token, 0]]  # the same model, in which this token is 0
    model.table.data, model.out.data = model.table.data[swap], model.out.data[:, swap]
    seen["eos 0"] = lab.generate(model, swap[prompt], 9, eos=0, temperature=0)
    return seen


@exercise.check(points=1, hidden=True)
def filled_prompts(lab, draw):
    """`generate`: a row of a filled batch writes what it writes alone; inputs stay unchanged."""
    model = Writer(draw)
    prompt, valid = filled_up(draw, 2, 5, 1)
    before = prompt.clone(), valid.clone()
    together = lab.generate(model, prompt, 8, valid=valid, temperature=0)
    alone = [
        lab.generate(model, row[real][None], 8, temperature=0)
        for row, real in zip(prompt, valid, strict=True)
    ]
    unchanged = torch.equal(prompt, before[0]) and torch.equal(valid, before[1])
    return {"together": together, "alone": alone, "inputs as they were": unchanged}


@exercise.check(points=0.5, hidden=True)
def edges(lab, draw):
    """`generate`: mode, gradients, the model's limit, and no new tokens at all."""
    model, prompt = Writer(draw, context=9), draw.integers(0, V, 2, 5)
    seen = {}
    for training in (True, False):
        model.train(mode=training)
        out = lab.generate(model, prompt, 4, temperature=0)
        seen[f"came in training mode: {training}"] = [out, dtype_of(out), model.training]
    seen["in training mode while writing"] = any(mode for *_, mode, _ in model.calls)
    seen["with gradients while writing"] = any(grads for *_, grads in model.calls)
    seen["gradients afterwards"] = torch.is_grad_enabled()
    model.train().calls.clear()
    seen["one token too many"] = draw.raises(lab.generate, model, prompt, 5, temperature=0)
    seen["calls before that error"] = len(model.calls)
    seen["in training mode, as before that error"] = model.training
    model.calls.clear()
    seen["three tokens too many"] = draw.raises(lab.generate, model, prompt, 7, temperature=0)
    longer = draw.integers(0, V, 2, 10)
    seen["the prompt is too long"] = draw.raises(lab.generate, model, longer, 1, temperature=0)
    seen["calls before these errors"] = len(model.calls)
    seen["no new tokens"] = list(lab.generate(model, prompt, 0).shape)
    return seen


@exercise.check(points=0.5, hidden=True, judge=SameShares())
def drawn_tokens(lab, draw):
    """`generate`: passes on how to sample; rows and steps are drawn independently."""
    model = Writer(draw, vocab=5)
    model.out.data *= 0.15  # no token is certain
    prompt = draw.integers(0, 5, 1, 3).repeat(1500, 1)
    seen = {}
    for name, how in (("T=2", {"temperature": 2.0}), ("k=3, p=.8", {"top_k": 3, "top_p": 0.8})):
        out = lab.generate(model, prompt, 2, generator=draw.generator(), **how)
        seen[name] = (5 * out[:, 0] + out[:, 1]).bincount(minlength=25)
    return seen
