"""A model that runs on one machine only: tensors that do not follow it to the GPU.

It is judged under the pretended GPU (docs/pretend-gpu.md), so no machine needs a real one.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from attnlab.checking.judges import Close
from attnlab.checking.raised import raised_by
from attnlab.checking.weights import give_weights
from attnlab.pretend_gpu import PretendGPU
from gradekit.exercise import Case
from gradekit.exercise.clinic import Step


class PlacedAttention(nn.Module):
    """Causal self-attention that knows the positions of its words.

    The module runs wherever its parameters are, in their dtype: after `.to(device)` it takes its
    input there, returns its output there, and a call copies nothing from one device to another. It
    may be moved again at any time. Its weights are trained; the table of positions is not, and
    never changes. Whether a checkpoint holds the table is left open.

    Args:
        d_model: the features of a word, an even number.
        longest: how many words a sentence may have.

    `forward` takes x (B, T, d_model) and returns (B, T, d_model). It adds the table's first T rows
    to x: sines of position / 100^(2i / d_model) in its first half, cosines in the second. Each
    position then reads itself and those before it. The weights are `qkv` (queries, keys and values,
    in this order) and `out`, both with a bias.
    """

    def __init__(self, d_model, longest=64):
        super().__init__()
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)
        rates = 100 ** -(torch.arange(0, d_model, 2) / d_model)
        angles = torch.arange(longest)[:, None] * rates  # (longest, d_model / 2)
        self.register_buffer("table", torch.cat([angles.sin(), angles.cos()], dim=1))

    def forward(self, x):
        T = x.shape[1]
        q, k, v = self.qkv(x + self.table[:T]).chunk(3, dim=-1)  # (B, T, d_model)
        past = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
        return self.out(F.scaled_dot_product_attention(q, k, v, attn_mask=past))


case = Case(
    PlacedAttention,
    title="Works on my laptop",
    breaks={
        'self.register_buffer("table", torch.cat([angles.sin(), angles.cos()], dim=1))': (
            "self.table = torch.cat([angles.sin(), angles.cos()], dim=1)"
        ),
        "dtype=torch.bool, device=x.device)": "dtype=torch.bool)",
    },
    most_lines=2,
    complaint="""
> *"It works on my laptop. All tests are green, training is fine. On the GPU of the lab it stops at
> the first batch. I have moved the model and the batch, so what else is there?"*

You need no GPU to see it. Under the *pretended GPU* of lab 8, the numbers stay on the CPU, but each
tensor has a place, and torch's own error is raised where a real GPU would raise it.
""",
    finding=Step(
        10,
        2,
        """
`with PretendGPU() as gpu:` is the machine with a GPU; in the block, `.to("cuda")` works, and
`gpu.counts` has counted all copies so far: `to_gpu` and `to_cpu` (8.8). A tensor's device is
`cuda:0` there, and its `device.type` is `"cuda"`.

**Predict.** `module.to("cuda")` moves a module. Which of a module's tensors does it find, and which
does it know nothing of?
""",
        (
            "What does your laptop not have, so that no test on it can fail? How do you get one "
            "without buying it?",
            "Inside the block: build the module, move it, move an input, call the module. That "
            "alone fails on the broken code. The docstring promises more: where the output is, "
            "what a call copies, and that the module may move back.",
        ),
    ),
    fixing=Step(
        10,
        2,
        """
The message says only that tensors of two places met. Run your test: its traceback shows the line.
Which two tensors meet there, and who made each of them, when, and where? Fix that one, and run your
test again: there may be a second.
""",
        (
            "List every tensor of the module: those that it is given, those that it keeps, and "
            "those that it makes in `forward`. On which device is each of them after the move?",
            "A tensor that a module keeps should move *with* it, once. A tensor that `forward` "
            "makes should be made where it is needed. Moving one at every call would also end the "
            "message; what does the docstring say of that?",
        ),
    ),
    look="""The same calls with your fix: each on its own device, and no copy between them.
""",
    cause="""The table of positions was a plain attribute, which `.to` does not know, and the mask
was made on the CPU in every call, so on a GPU they met tensors of another device; on a laptop there
is one device only, and there everything is always in the right place.
""",
    scheme={
        "says that the table is not registered, so the move leaves it behind": 1,
        "says that the mask is made on the CPU (no device is given)": 1,
        "says why one machine with one device cannot show it": 1,
    },
)


@case.symptom
def on_two_machines(attention):
    torch.manual_seed(0)
    x = torch.randn(2, 5, 8)
    print("laptop: ", tuple(attention(8)(x).shape))
    with PretendGPU() as gpu:
        module, x = attention(8).to("cuda"), x.to("cuda")
        before = gpu.counts
        try:
            out = module(x)
            print(f"the lab's GPU:  {tuple(out.shape)} on {out.device},", gpu.counts - before)
        except RuntimeError as error:
            print("the lab's GPU: ", error)


@case.slow_version
class MakesAllAnew(nn.Module):
    def __init__(self, d_model, longest=64):
        super().__init__()
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, x):
        _, T, d_model = x.shape
        half = torch.arange(d_model // 2, device=x.device)
        rates = torch.exp(-(2 * half / d_model) * 4.605170185988092)  # the logarithm of 100
        rows = []
        for t in range(T):
            row = torch.cat([(t * rates).sin(), (t * rates).cos()]).to(x.dtype)
            rows.append(x[:, t] + row)
        q, k, v = self.qkv(torch.stack(rows, 1)).chunk(3, -1)
        mixed = []
        for t in range(T):
            scores = (k[:, : t + 1] * q[:, t, None]).sum(-1, keepdim=True) / d_model**0.5
            mixed.append((scores.softmax(1) * v[:, : t + 1]).sum(1))
        return self.out(torch.stack(mixed, 1))


@case.other_program("keeps the table out of its checkpoints")
class TableOutOfCheckpoints(nn.Module):
    def __init__(self, d_model, longest=64):
        super().__init__()
        self.qkv, self.out = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)
        rates = torch.pow(100.0, -torch.arange(0, d_model, 2) / d_model)
        angles = torch.outer(torch.arange(longest), rates)
        table = torch.hstack([torch.sin(angles), torch.cos(angles)])
        self.register_buffer("places", table, persistent=False)

    def forward(self, x):
        length = x.size(1)
        q, k, v = self.qkv(x + self.places[:length]).chunk(3, -1)
        return self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True))


@case.other_program("keeps its mask as a buffer, too")
class MaskAsBuffer(nn.Module):
    def __init__(self, d_model, longest=64):
        super().__init__()
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)
        rates = 100 ** -(torch.arange(0, d_model, 2) / d_model)
        angles = torch.arange(longest)[:, None] * rates
        self.register_buffer("table", torch.cat([angles.sin(), angles.cos()], 1))
        self.register_buffer("ahead", torch.ones(longest, longest, dtype=torch.bool).triu(1))

    def forward(self, x):
        n = x.shape[1]
        q, k, v = self.qkv(x + self.table[:n]).chunk(3, dim=-1)
        scores = q @ k.mT / x.shape[-1] ** 0.5
        return self.out(scores.masked_fill(self.ahead[:n, :n], -torch.inf).softmax(-1) @ v)


# Checks of the fix. In single precision, two right tables differ by some 1e-7.

NEAR = Close(atol=1e-3, rtol=1e-3)


def module(lab, draw, d_model=6):
    made = lab.PlacedAttention(d_model, 9)
    shapes = {"qkv": (3 * d_model, d_model), "out": (d_model, d_model)}
    weights = {f"{name}.weight": draw.normal(*shape) for name, shape in shapes.items()}
    biases = {f"{name}.bias": draw.normal(shape[0]) for name, shape in shapes.items()}
    give_weights(made, {**weights, **biases})
    return made


def place(tensor):
    return str(torch.device(tensor.device.type))


def asked(made, gpu, x):
    """What one call returns and copies, or what it raises."""
    before = gpu.counts
    try:
        out = made(x)
    except NotImplementedError:
        raise
    except Exception as error:
        return {"error": raised_by(error), "out": None, "on": None, "copies": None}
    copies = gpu.counts - before
    return {"error": None, "out": out, "on": place(out), "copies": [copies.to_gpu, copies.to_cpu]}


@case.fix.check(points=1, judge=NEAR)
def runs_on_the_gpu(lab, draw):
    """After `.to("cuda")`, the module runs there, and a call copies nothing."""
    made, x = module(lab, draw), draw.normal(2, 5, 6, dtype=torch.float32)
    with PretendGPU() as gpu:
        return asked(made.to("cuda"), gpu, x.to("cuda"))


@case.fix.check(points=1, hidden=True, judge=NEAR)
def moves_again(lab, draw):
    """The module may be moved back and forth, and keeps the dtype of its parameters."""
    made, x = module(lab, draw), draw.normal(2, 4, 6, dtype=torch.float32)
    seen = {}
    with PretendGPU() as gpu:
        for number, (device, length) in enumerate((("cuda", 4), ("cpu", 3), ("cuda", 2))):
            seen[f"move {number + 1}"] = asked(made.to(device), gpu, x[:, :length].to(device))
    for dtype in (torch.float64, torch.bfloat16):
        seen[str(dtype)] = str(made.to(dtype)(x.to(dtype)).dtype)
    return seen


@case.fix.check(points=1, hidden=True, judge=NEAR)
def computes_and_trains(lab, draw):
    """As on the CPU: positions count, nothing ahead is read, and the two layers alone train."""

    def ask(B, T, half):
        x = draw.normal(B, T, 2 * half, dtype=torch.float32)
        with PretendGPU():
            return module(lab, draw, 2 * half).to("cuda")(x.to("cuda"))

    made = module(lab, draw)
    trained = sorted(list(p.shape) for p in made.parameters() if p.requires_grad)
    with PretendGPU():
        made.to("cuda")(draw.normal(2, 3, 6, dtype=torch.float32).to("cuda")).sum().backward()
    long = lab.PlacedAttention(4)
    with PretendGPU():
        longest = list(long.to("cuda")(torch.zeros(1, 64, 4).to("cuda")).shape)
    return {
        "sizes": draw.each_size(ask, B=3, T=5, half=2),
        "shapes of trained weights": trained,
        "words if `longest` is not given": longest,
    }


case.fix.promises(
    {
        "The module runs wherever its parameters are, in their dtype: after `.to(device)` it takes "
        "its input there, returns its output there, and a call copies nothing from one device to "
        "another.": "runs_on_the_gpu moves_again",
        "It may be moved again at any time.": "moves_again",
        "Its weights are trained; the table of positions is not, and never changes.": (
            "computes_and_trains"
        ),
        "longest: how many words a sentence may have.": "computes_and_trains",
        "`forward` takes x (B, T, d_model) and returns (B, T, d_model). It adds the table's first "
        "T rows to x: sines of position / 100^(2i / d_model) in its first half, cosines in the "
        "second. Each position then reads itself and those before it.": (
            "runs_on_the_gpu computes_and_trains"
        ),
    },
    explained=[
        "Causal self-attention that knows the positions of its words.",
        "d_model: the features of a word, an even number.",
        "Whether a checkpoint holds the table is left open.",
        "The weights are `qkv` (queries, keys and values, in this order) and `out`, both with a "
        "bias.",
    ],
)
