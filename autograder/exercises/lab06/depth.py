"""depth: the size of the stream and of each block's gradient, in a stack of blocks."""

from __future__ import annotations

import torch
from torch import nn

from attnlab.depth import gradient_norms, stream_sizes
from attnlab.layers import FeedForward, LayerNorm, Residual
from attnlab.models.block_stack import BlockStack, loss_of, some_input
from gradekit.exercise import Exercise

exercise = Exercise(
    stream_sizes,
    gradient_norms,
    uses=[LayerNorm, FeedForward, Residual],
    equivalent={
        "gradient_norms: `torch.autograd.grad(loss, every, allow_unused=True, "
        "materialize_grads=True)` → `torch.autograd.grad(loss, every, materialize_grads=True)` in "
        "`gradients = iter(torch.autograd.grad(loss, every, allow_unused=True, "
        "materialize_grads=True))`": "materialize_grads implies allow_unused",
    },
)


def linear(draw, rows, columns):
    """A linear layer with drawn weights and biases."""
    layer = nn.Linear(columns, rows).double()
    with torch.no_grad():
        layer.weight.copy_(draw.normal(rows, columns))
        layer.bias.copy_(draw.normal(rows))
    return layer


def some_blocks(draw, depth, d=4):
    """Blocks with two layers each."""
    return nn.ModuleList(
        nn.Sequential(linear(draw, 6, d), nn.Tanh(), linear(draw, d, 6)) for _ in range(depth)
    )


def run(blocks, x):
    return nn.Sequential(*blocks)(x)


@exercise.check(points=1.5)
def sizes_on_the_way(lab, draw):
    """`stream_sizes`: the deviation of x, and of the stream after each block in turn."""
    return {
        f"{depth} blocks": lab.stream_sizes(3 * draw.normal(2, 5, 4), some_blocks(draw, depth))
        for depth in (3, 1)
    }


@exercise.check(points=2)
def norm_of_each_block(lab, draw):
    """`gradient_norms`: for each block, the length of the gradients of all its parameters."""
    blocks = some_blocks(draw, 3)
    loss = run(blocks, draw.normal(2, 5, 4)).square().mean()
    return lab.gradient_norms(loss, blocks)


@exercise.check(points=0.5, hidden=True)
def sizes_without_a_trace(lab, draw):
    """`stream_sizes` leaves x as it was, and its result has no gradient."""
    x = draw.normal(2, 5, 4)
    sizes = lab.stream_sizes(x.requires_grad_(), some_blocks(draw, 2))
    return {"wants a gradient": sizes.requires_grad, "x as it was": draw.untouched(), "n": sizes}


@exercise.check(points=1, hidden=True)
def gradients_stay(lab, draw):
    """The `.grad` of the parameters stays as it was, and two measurements agree."""
    blocks, x = some_blocks(draw, 2), draw.normal(2, 5, 4)
    run(blocks, x).sum().backward()
    before = [parameter.grad.clone() for parameter in blocks.parameters()]
    once = lab.gradient_norms(run(blocks, x).square().mean(), blocks)
    again = lab.gradient_norms(run(blocks, x).square().mean(), blocks)
    after = [parameter.grad for parameter in blocks.parameters()]
    same = all(g is not None and torch.equal(g, b) for g, b in zip(after, before, strict=True))
    fresh = some_blocks(draw, 2)
    found = lab.gradient_norms(run(fresh, x).square().mean(), fresh)
    return {
        "once": once,
        "again": again,
        "as they were": same,
        "none before": found,
        "none afterwards": all(parameter.grad is None for parameter in fresh.parameters()),
    }


@exercise.check(points=1, hidden=True)
def unused_parameters(lab, draw):
    """A parameter or a whole block that the loss does not depend on counts as 0."""
    blocks, x = some_blocks(draw, 3), draw.normal(2, 5, 4)
    blocks[1].append(linear(draw, 3, 3))
    blocks[1][-1].forward = lambda y: y
    loss = run(blocks[:2], x).square().sum()
    return {"three blocks, of which the last is not used": lab.gradient_norms(loss, blocks)}


@exercise.check(points=2, hidden=True, chained=True)
def pre_and_post(lab, draw):
    """Twelve blocks of your own: the "pre" stream grows, and its last gradient is smaller."""
    size, last = {}, {}
    for mode in ("pre", "post"):
        model = BlockStack(12, mode, lab.Residual, lab.FeedForward)
        x, symbols = some_input()
        size[mode] = float(lab.stream_sizes(x, model.blocks)[-1].detach())
        last[mode] = float(lab.gradient_norms(loss_of(model, x, symbols), model.blocks)[-1])
    return {
        "post: size of the stream after twelve blocks": 0.95 < size["post"] < 1.05,
        "pre: size of the stream after twelve blocks": 2.5 < size["pre"] < 5,
        "the last block's gradient, post by pre": 1.6 < last["post"] / last["pre"] < 6.5,
    }


exercise.promises(
    {
        "The size of the stream, the vectors that pass through the blocks, at every depth.": (
            "sizes_on_the_way"
        ),
        "the input of the first block; stays unchanged": "sizes_on_the_way sizes_without_a_trace",
        "each gets the output of the one before": "sizes_on_the_way",
        "the standard deviation of all numbers of the stream": "sizes_on_the_way",
        "first of `x` itself and then after each block": "sizes_on_the_way",
        "without a gradient": "sizes_without_a_trace",
        "The length of each block's gradient: all of its parameters taken together": (
            "norm_of_each_block"
        ),
        "blocks: N modules.": "norm_of_each_block",
        "A parameter on which the loss does not depend counts as a gradient of 0.": (
            "unused_parameters"
        ),
        "the root of the sum of squares of every number": "norm_of_each_block",
        "The `.grad` of all parameters stays as it was.": "gradients_stay",
    },
    explained=["loss: one number, computed by a model that the blocks are part of."],
)


@exercise.also_right(of="stream_sizes")
def in_a_list(x, blocks):
    sizes = [x.detach().std()]
    for block in blocks:
        x = block(x)
        sizes.append(x.detach().std())
    return torch.stack(sizes)


@exercise.also_right(of="stream_sizes")
def with_all_streams(x, blocks):
    streams = [x]
    with torch.no_grad():
        for i, block in enumerate(blocks):
            streams.append(block(streams[i]))
        return torch.tensor([float(s.std()) for s in streams], dtype=x.dtype)


@exercise.also_right(of="gradient_norms")
def with_grad(loss, blocks):
    norms = []
    for block in blocks:
        parameters = list(block.parameters())
        found = torch.autograd.grad(loss, parameters, retain_graph=True, allow_unused=True)
        squares = [g.square().sum() for g in found if g is not None]
        total = sum(squares) if squares else torch.zeros((), dtype=loss.dtype)
        norms.append(total.sqrt())
    return torch.stack(norms)


@exercise.also_right(of="gradient_norms")
def with_backward(loss, blocks):
    parameters = [p for block in blocks for p in block.parameters()]
    before = [p.grad for p in parameters]
    for p in parameters:
        p.grad = None
    loss.backward()
    norms = []
    for block in blocks:
        found = [p.grad.flatten() for p in block.parameters() if p.grad is not None]
        norms.append(torch.cat(found).norm() if found else loss.detach() * 0)
    for p, grad in zip(parameters, before, strict=True):
        p.grad = grad
    return torch.stack(norms)


wrong = exercise.edits(in_a_list, of="stream_sizes")

wrong(
    "sizes_without_the_input",
    "sizes = [x.detach().std()]",
    "sizes = []",
    "`stream_sizes` leaves out x itself. How many numbers does the task ask for, for N blocks?",
)
wrong(
    "variances",
    "sizes.append(x.detach().std())",
    "sizes.append(x.detach().var())",
    "`stream_sizes` returns variances after the blocks. What is between a variance and a standard "
    "deviation?",
)
wrong(
    "each_block_on_the_input",
    "        x = block(x)\n        sizes.append(x.detach().std())",
    "        sizes.append(block(x).detach().std())",
    "In `stream_sizes`, every block gets x. What does a block get, according to the task?",
)
wrong(
    "last_block_left_out",
    "        x = block(x)\n        sizes.append(x.detach().std())",
    "        sizes.append(x.detach().std())\n        x = block(x)",
    "In `stream_sizes`, you measure before each block, so x comes twice and the last output never. "
    "In which order do you step and measure?",
)
wrong.several(
    "deviation_from_zero",
    {
        "[x.detach().std()]": "[x.detach().square().mean().sqrt()]",
        "append(x.detach().std())": "append(x.detach().square().mean().sqrt())",
    },
    "`stream_sizes` returns the root of the mean square, which is larger than the standard "
    "deviation if the mean is not 0. What does `std` subtract?",
)
wrong.several(
    "lengths_of_the_stream",
    {
        "[x.detach().std()]": "[x.detach().norm()]",
        "append(x.detach().std())": "append(x.detach().norm())",
    },
    "`stream_sizes` returns lengths, which grow with the number of entries. Which size of a single "
    "number does the task ask for?",
)
wrong.several(
    "one_size_per_vector",
    {
        "[x.detach().std()]": "[x.detach().std(-1).mean()]",
        "append(x.detach().std())": "append(x.detach().std(-1).mean())",
    },
    "`stream_sizes` averages the deviations of single vectors. How many numbers go into each "
    "standard deviation, according to the task?",
)
wrong.several(
    "sizes_with_a_gradient",
    {"[x.detach().std()]": "[x.std()]", "append(x.detach().std())": "append(x.std())"},
    "The result of `stream_sizes` wants a gradient, so it keeps the whole graph in memory. How do "
    "you compute without one?",
)

wrong = exercise.edits(with_grad, of="gradient_norms")

wrong(
    "norms_added",
    "squares = [g.square().sum() for g in found if g is not None]\n"
    "        total = sum(squares) if squares else torch.zeros((), dtype=loss.dtype)\n"
    "        norms.append(total.sqrt())",
    "squares = [g.norm() for g in found if g is not None]\n"
    "        total = sum(squares) if squares else torch.zeros((), dtype=loss.dtype)\n"
    "        norms.append(total)",
    "You add up the lengths of a block's single gradients. What is the length of one vector that "
    "is put together from several?",
)
wrong(
    "squared",
    "total.sqrt()",
    "total",
    "Your numbers are squared lengths. What is the last step to a Euclidean norm?",
)
wrong(
    "mean_of_squares",
    "g.square().sum()",
    "g.square().mean()",
    "You average the squares within each parameter, so a large one counts no more than a small "
    "one. What does a Euclidean norm add up?",
)
wrong(
    "largest_entry",
    "norms.append(total.sqrt())",
    "norms.append(torch.stack([g.abs().max() if g is not None else total for g in found]).max())",
    "You return the largest entry of each block's gradients. What does a Euclidean norm add up?",
)
wrong(
    "first_parameter_only",
    "for g in found if",
    "for g in found[:1] if",
    "You measure only the first parameter of each block. Which parameters belong together, "
    "according to the task?",
)
wrong(
    "matrices_only",
    "if g is not None",
    "if g is not None and g.ndim > 1",
    "You measure only matrices: the biases are missing. Which parameters belong together, "
    "according to the task?",
)
wrong(
    "weights_measured",
    "[g.square().sum() for g in found if g is not None]",
    "[p.detach().square().sum() for p in parameters]",
    "You measure the parameters and not their gradients. Which call returns gradients?",
)
wrong(
    "one_norm_for_all",
    "    return torch.stack(norms)",
    "    return torch.stack(norms).norm().expand(len(norms))",
    "You return the norm of all blocks together, once for each. Which parameters belong to one "
    "number?",
)
wrong(
    "from_the_last",
    "torch.stack(norms)",
    "torch.stack(norms[::-1])",
    "Your blocks are in the order of the backward pass, last to first. Which order does the task "
    "ask for?",
)
wrong(
    "scaled_to_one",
    "    return torch.stack(norms)",
    "    return torch.stack(norms) / torch.stack(norms).sum()",
    "You divide by the sum over all blocks. What is lost if each model's numbers sum to 1?",
)
wrong(
    "unused_crash",
    ", allow_unused=True",
    "",
    "Your code fails if the loss does not depend on some parameter. What does such a parameter "
    "count as, and what does `autograd.grad` offer for it?",
)

wrong = exercise.edits(with_backward, of="gradient_norms")

wrong.several(
    "gradients_pile_up",
    {
        "    for p in parameters:\n        p.grad = None\n": "",
        "    for p, grad in zip(parameters, before, strict=True):\n        p.grad = grad\n": "",
    },
    "`backward` adds to the gradients that are already there, so a second measurement is larger. "
    "What did the parameters' `.grad` hold before, and what do they hold after your function?",
)
wrong(
    "gradients_left_behind",
    "        p.grad = grad\n",
    "        pass\n",
    "Your numbers are right, but afterwards the parameters' `.grad` holds your measurement. What "
    "would an optimiser do with it?",
)
wrong(
    "gradients_cleared",
    "        p.grad = grad\n",
    "        p.grad = None\n",
    "Your numbers are right, but afterwards the parameters' gradients are gone. What should "
    "`.grad` be after the measurement?",
)
