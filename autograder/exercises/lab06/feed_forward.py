"""FeedForward: the same small network for every position."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from attnlab.checking.observation import dtype_of
from attnlab.checking.weights import give_weights, weight_gradients
from attnlab.layers import FeedForward
from gradekit.exercise import Exercise

exercise = Exercise(FeedForward)

# Names of raw matrices; layers are found by their sizes.
SPELLINGS = {
    f"linear{n}.{kind}": tuple(form.format(n) for form in forms.split())
    for n in (1, 2)
    for kind, forms in (("weight", "w_{} w{} W{} W_{}"), ("bias", "b{} b_{} B{} bias{}"))
}


def spellings_of(model, d_model, d_ff):
    """Other names of the two layers: whatever the linear layers of these sizes are called."""
    found = {"linear1": [], "linear2": []}
    for name, child in model.named_modules():
        if isinstance(child, nn.Linear):
            sizes = (child.in_features, child.out_features)
            for layer, wanted in (("linear1", (d_model, d_ff)), ("linear2", (d_ff, d_model))):
                found[layer] += [name] * (sizes == wanted)
    return {
        f"{layer}.{kind}": (*(f"{name}.{kind}" for name in names), *SPELLINGS[f"{layer}.{kind}"])
        for layer, names in found.items()
        for kind in ("weight", "bias")
    }


def drawn(draw, d_model, d_ff):
    return {
        "linear1.weight": draw.normal(d_ff, d_model),
        "linear1.bias": draw.normal(d_ff),
        "linear2.weight": draw.normal(d_model, d_ff),
        "linear2.bias": draw.normal(d_model),
    }


def built(lab, weights, **options):
    """A student's module with given weights, not in training."""
    d_ff, d_model = weights["linear1.weight"].shape
    model = lab.FeedForward(d_model, d_ff, **options).double()
    give_weights(model, weights, spellings_of(model, d_model, d_ff))
    return model.eval()


@exercise.check(points=0.5)
def parameters(lab, draw):
    """Has the parameters of two linear layers with biases, and keeps the dtype."""
    d_model, d_ff = draw.integers(4, 20, 2).tolist()
    model = lab.FeedForward(d_model, d_ff)
    return {
        "parameters": sum(p.numel() for p in model.parameters()),
        "dtype": dtype_of(model(draw.normal(2, 3, d_model).float())),
    }


@exercise.check(points=2)
def values(lab, draw):
    """max(0, x W₁ + b₁) W₂ + b₂, for given weights."""
    ones = {
        "linear1.weight": torch.ones(2, 1).double(),
        "linear1.bias": torch.zeros(2).double(),
        "linear2.weight": torch.ones(1, 2).double() / 2,
        "linear2.bias": torch.zeros(1).double(),
    }
    numbers = torch.tensor([[[-2.0], [-1.0], [0.0], [1.0], [2.0]]]).double()
    return {
        "what is between the layers, for -2, -1, 0, 1, 2": built(lab, ones)(numbers),
        "the whole network": built(lab, drawn(draw, 5, 8))(draw.normal(2, 4, 5)),
    }


@exercise.check(points=1.5)
def position_wise(lab, draw):
    """Another word at position j changes the output at position j and nowhere else."""
    model, x = built(lab, drawn(draw, 5, 8)), draw.normal(2, 6, 5)
    out = model(x)
    seen = {}
    for j in (0, int(draw.integers(1, 5)), 5):
        changed = x.clone()
        changed[0, j] += draw.normal(5)
        seen[f"outputs that change with word {j} of sentence 0"] = (
            model(changed) - out
        ).abs().amax(-1) > 1e-9
    return seen


@exercise.check(points=1, hidden=True)
def other_sizes(lab, draw):
    """Is right for any sizes and any number of axes before the last, in any memory layout."""

    def ask(batch, T, d_model, more):  # never square: a square weight may be meant transposed
        return built(lab, drawn(draw, d_model, d_model + more))(draw.normal(*batch, T, d_model))

    spread = draw.strided(draw.normal(2, 4, 5))
    return {
        **draw.each_size(ask, batch=(2,), T=4, d_model=5, more=6),
        "not contiguous": built(lab, drawn(draw, 5, 3))(spread),
    }


@exercise.check(points=2, hidden=True)
def dropout(lab, draw):
    """While training, drops features between the layers, at the given rate; otherwise none."""
    weights = drawn(draw, 4, 300)
    weights["linear1.bias"] = 9 + weights["linear1.bias"].abs()
    weights["linear1.weight"] = 0.1 * weights["linear1.weight"]
    x, many = (draw.normal(rows, 4).clamp(-3, 3) for rows in (50, 400))
    weights["linear2.weight"] = torch.zeros(4, 300).double()
    weights["linear2.weight"][0, :150] = weights["linear2.weight"][1, 150:] = 0.1
    plain = built(lab, weights)(many)
    noisy = built(lab, weights, dropout=0.2).train()(many)
    without = weights["linear2.bias"][:2]
    ratios = ((noisy[:, :2] - without) / (plain[:, :2] - without)).detach()
    return {
        "dropout=1, train()": built(lab, weights, dropout=1.0).train()(x),
        "dropout=1, eval()": built(lab, weights, dropout=1.0)(x),
        "no dropout given, train()": built(lab, weights).train()(x),
        "dropout=0.2: the mean stays": 0.95 < float(ratios.mean()) < 1.05,
        "dropout=0.2: as spread as it should be": 0.034 < float(ratios.std()) < 0.049,
        "two runs differ": not torch.equal(
            built(lab, weights, dropout=0.2).train()(x), built(lab, weights, dropout=0.2).train()(x)
        ),
    }


@exercise.check(points=1, hidden=True)
def gradients(lab, draw):
    """Gradients reach x and all parameters; x is unchanged."""
    weights, x = drawn(draw, 5, 8), draw.normal(2, 4, 5)
    model = built(lab, weights)
    to_x = draw.gradients(model, x)
    (model(x) * draw.normal(2, 4, 5)).sum().backward()
    return {
        "x": to_x,
        **weight_gradients(model, weights, spellings_of(model, 5, 8)),
        "x as it was": draw.untouched(),
    }


exercise.promises(
    {
        "two linear layers with a ReLU between them": "values",
        "max(0, x W₁ + b₁) W₂ + b₂": "values",
        "The layers are two `nn.Linear` with biases": "parameters",
        "d_model: features of the input and of the output.": "parameters other_sizes",
        "d_ff: features in between.": "parameters other_sizes",
        "as in `nn.Dropout`, after the ReLU and nowhere else": "dropout",
        "Send each vector through the same network; no vector sees another.": "position_wise",
        "with any number of axes before the last; stays unchanged": "other_sizes gradients",
        "(..., d_model).": "other_sizes",
        "Gradients flow back to `x` and to all parameters.": "gradients",
    },
)


@exercise.also_right
class TwoLayers(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.0):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        hidden = torch.relu(self.linear1(x))
        hidden = self.dropout(hidden)
        return self.linear2(hidden)


@exercise.also_right
class Sequence(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.0):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(d_model, d_ff), nn.ReLU(), nn.Dropout(dropout), nn.Linear(d_ff, d_model)
        )

    def forward(self, x):
        return self.net(x)


@exercise.also_right
class RawMatrices(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.0):
        super().__init__()
        self.W1 = nn.Parameter(torch.randn(d_model, d_ff) / d_model**0.5)
        self.b1 = nn.Parameter(torch.zeros(d_ff))
        self.W2 = nn.Parameter(torch.randn(d_ff, d_model) / d_ff**0.5)
        self.b2 = nn.Parameter(torch.zeros(d_model))
        self.p = dropout

    def forward(self, x):
        hidden = F.dropout(x @ self.W1 + self.b1, self.p, self.training)
        return hidden.clamp(min=0) @ self.W2 + self.b2


wrong = exercise.edits(TwoLayers)

wrong(
    "NoReLU",
    "torch.relu(self.linear1(x))",
    "self.linear1(x)",
    "There is nothing between your two layers, so together they are one linear map. What does the "
    "formula take the maximum of?",
)
wrong.several(
    "ReLUAtTheEnd",
    {
        "torch.relu(self.linear1(x))": "self.linear1(x)",
        "self.linear2(hidden)": "torch.relu(self.linear2(hidden))",
    },
    "Your outputs are never negative: the ReLU comes after the second layer. Where is it in the "
    "formula?",
)
wrong(
    "ReLUTwice",
    "self.linear2(hidden)",
    "torch.relu(self.linear2(hidden))",
    "Your outputs are never negative: a second ReLU comes after the second layer. How many are in "
    "the formula?",
)
wrong(
    "ReLUFirst",
    "torch.relu(self.linear1(x))",
    "self.linear1(torch.relu(x))",
    "Your ReLU is applied to x, before the first layer. Where is it in the formula?",
)
wrong(
    "GELU",
    "torch.relu(",
    "F.gelu(",
    "Your outputs are close, but not equal: GPT and BERT use GELU here. Which function is in this "
    "lab's formula?",
)
wrong(
    "LeakyReLU",
    "torch.relu(",
    "F.leaky_relu(",
    "A little of the negative numbers gets through. What is max(0, x) for a negative x?",
)
wrong(
    "Tanh",
    "torch.relu(",
    "torch.tanh(",
    "You use a tanh between the layers. Which function is in the formula?",
)
wrong(
    "WordsMixed",
    "hidden = self.dropout(hidden)",
    "hidden = self.dropout(hidden.flatten(-2).unflatten(-1, hidden.shape[:-3:-1]).mT"
    " if hidden.ndim > 1 else hidden)",
    "A word's output depends on other words: somewhere, `view`, `reshape` or a transpose mixes "
    "time and features. Does `nn.Linear` need any of them?",
)
wrong(
    "MeanOfTheSentence",
    "self.linear1(x)",
    "self.linear1(x + x.mean(-2, keepdim=True) - x.mean(-2, keepdim=True).detach()"
    " + 0.1 * x.mean(-2, keepdim=True) if x.ndim > 1 else x)",
    "A word's output depends on the other words of its sentence. Which layer is for that, and "
    "which is not?",
)
wrong(
    "NoBiasInTheFirst",
    "nn.Linear(d_model, d_ff)",
    "nn.Linear(d_model, d_ff, bias=False)",
    "Your first layer has no bias. What is b₁ in the formula?",
)
wrong(
    "NoBiasInTheSecond",
    "nn.Linear(d_ff, d_model)",
    "nn.Linear(d_ff, d_model, bias=False)",
    "Your second layer has no bias. What is b₂ in the formula?",
)
wrong.several(
    "NoBiases",
    {
        "nn.Linear(d_model, d_ff)": "nn.Linear(d_model, d_ff, bias=False)",
        "nn.Linear(d_ff, d_model)": "nn.Linear(d_ff, d_model, bias=False)",
    },
    "Your two layers have no biases, as in LLaMA. What are b₁ and b₂ in the formula?",
)
wrong.several(
    "ResidualAndNorm",
    {
        "self.dropout = nn.Dropout(dropout)": "self.dropout = nn.Dropout(dropout)\n"
        "        self.norm = nn.LayerNorm(d_model)",
        "return self.linear2(hidden)": "return self.norm(x + self.linear2(hidden))",
    },
    "Your network also adds x and normalises. Both come with the next step: what does this one "
    "return?",
)
wrong.several(
    "WidthIgnored",
    {
        "nn.Linear(d_model, d_ff)": "nn.Linear(d_model, 4 * d_model)",
        "nn.Linear(d_ff, d_model)": "nn.Linear(4 * d_model, d_model)",
    },
    "Your middle is always four times as wide as the input, as on lecture W's slide. Which "
    "argument says how wide it should be?",
)
wrong.several(
    "PlainList",
    {
        "self.linear1 = nn.Linear(d_model, d_ff)": "self.linears = [nn.Linear(d_model, d_ff)]",
        "self.linear2 = nn.Linear(d_ff, d_model)": "self.linears += [nn.Linear(d_ff, d_model)]",
        "self.linear1(x)": "self.linears[0](x.float()).to(x.dtype)",
        "self.linear2(hidden)": "self.linears[1](hidden.float()).to(x.dtype)",
    },
    "Your module has no parameters: its layers are in a plain list. How does a module learn that a "
    "layer belongs to it?",
)
wrong(
    "ResidualIncluded",
    "return self.linear2(hidden)",
    "return x + self.linear2(hidden)",
    "You add x to the result. That is the next step: what does this one return?",
)
wrong(
    "DropoutAtTheEnd",
    "        hidden = self.dropout(hidden)\n        return self.linear2(hidden)",
    "        return self.dropout(self.linear2(hidden))",
    "You drop entries of the output. Where does the task drop?",
)
wrong.several(
    "DropoutAtTheStart",
    {
        "        hidden = self.dropout(hidden)\n": "",
        "self.linear1(x)": "self.linear1(self.dropout(x))",
    },
    "You drop entries of the input. Where does the task drop?",
)
wrong(
    "DropoutTwice",
    "return self.linear2(hidden)",
    "return self.dropout(self.linear2(hidden))",
    "You drop twice: between the layers and at the end. The residual has a dropout of its own: how "
    "many has this step?",
)
wrong(
    "DropoutTwiceInTheMiddle",
    "hidden = self.dropout(hidden)",
    "hidden = self.dropout(self.dropout(hidden))",
    "You drop features twice between the layers, so more are lost than `dropout` says. How many "
    "times does the task drop?",
)
wrong(
    "DropsByDefault",
    "dropout=0.0",
    "dropout=0.1",
    "Your network drops a tenth by default. What is the default of `dropout` in the task?",
)
wrong(
    "NoDropout",
    "        hidden = self.dropout(hidden)\n",
    "",
    "Nothing is dropped while training. Where do you use `dropout`?",
)
wrong(
    "DropoutAfterEval",
    "self.dropout(hidden)",
    "F.dropout(hidden, self.dropout.p)",
    "Features are dropped even after `eval()`. The function `dropout` does not know the module's "
    "mode: what does?",
)
wrong(
    "InPlace",
    "torch.relu(self.linear1(x))",
    "torch.relu(self.linear1(x if x.requires_grad else x.mul_(2)))",
    "Your code writes into x. Which call ends in an underscore, or assigns to a part of x?",
)
wrong(
    "Detached",
    "self.linear1(x)",
    "self.linear1(x.detach())",
    "No gradient reaches x. Which call cuts torch's graph?",
)
wrong(
    "Squeezed",
    "return self.linear2(hidden)",
    "return self.linear2(hidden).squeeze()",
    "Axes of length 1 are missing from your result. What is its shape for one word, and what "
    "should it be?",
)
