"""Known mistakes in `LayerNorm`, most of them edits of a right version."""

from __future__ import annotations

import torch
from torch import nn

from . import exercise
from .also_right import StepByStep

MEAN = "x.mean(dim=-1, keepdim=True)"
VARIANCE = "x.var(dim=-1, keepdim=True, unbiased=False)"

wrong = exercise.edits(StepByStep)

wrong(
    "Unbiased",
    ", unbiased=False",
    "",
    "Your variance divides by d_model - 1, as `var` and `std` do by default. By what does the task "
    "divide?",
)
wrong(
    "EpsOutsideTheRoot",
    "torch.sqrt(variance + self.eps)",
    "(torch.sqrt(variance) + self.eps)",
    "You add eps after the root. A vector of equal numbers then has the right result, but a NaN "
    "gradient, and tiny vectors get too large. What is under the root in the task?",
)
wrong.several(
    "StandardDeviationAndEps",
    {
        "variance = x.var(": "deviation = x.std(",
        "torch.sqrt(variance + self.eps)": "(deviation + self.eps)",
    },
    "You take the standard deviation and add eps to it. For ordinary vectors this looks right; "
    "what happens to a vector whose deviation is no larger than eps, and what is under the root in "
    "the task?",
)
wrong.several(
    "StandardDeviationUnbiased",
    {
        f"variance = {VARIANCE}": "deviation = x.std(dim=-1, keepdim=True)",
        "torch.sqrt(variance + self.eps)": "(deviation + self.eps)",
    },
    "You divide by `std() + eps`, as a well-known tutorial does. It differs from the task in two "
    "ways: by what does `std` divide its sum of squares, and where is eps?",
)
wrong.several(
    "StandardDeviationOfATutorial",
    {
        "eps=1e-5": "eps=1e-6",
        f"variance = {VARIANCE}": "deviation = x.std(dim=-1, keepdim=True)",
        "torch.sqrt(variance + self.eps)": "(deviation + self.eps)",
    },
    "You divide by `std() + eps`, with a default of 1e-6, as a well-known tutorial does. Three "
    "things are different in the task: by what does `std` divide its sum of squares, where is eps, "
    "and how large is it?",
)
wrong(
    "NoEps",
    "variance + self.eps",
    "variance",
    "Without eps, a vector of equal numbers is 0/0. What should it give, according to the task?",
)
wrong(
    "EpsIgnored",
    "self.eps = eps",
    "self.eps = 1e-5",
    "The argument `eps` has no effect. Where do you store it?",
)
wrong(
    "AnotherDefaultEps",
    "eps=1e-5",
    "eps=1e-6",
    "Your default for eps is not the task's. What is it there?",
)
wrong(
    "VarianceClamped",
    "variance + self.eps",
    "variance.clamp(min=self.eps)",
    "You replace small variances by eps instead of adding it to all of them. What does the formula "
    "do with eps?",
)
wrong(
    "EpsSquared",
    "variance + self.eps",
    "variance + self.eps**2",
    "You square eps before adding it. What does the formula add to the variance?",
)
wrong.several(
    "OverTime",
    {
        MEAN: "x.mean(dim=-min(2, x.ndim), keepdim=True)",
        "x.var(dim=-1": "x.var(dim=-min(2, x.ndim)",
    },
    "Your mean and variance are over the positions of a sentence, one pair for each feature. Which "
    "axis holds the features of one vector?",
)
wrong.several(
    "OverTheBatch",
    {MEAN: "x.mean(dim=0, keepdim=True)", "x.var(dim=-1": "x.var(dim=0"},
    "Your mean and variance are over the batch, so a sentence's result depends on its neighbours. "
    "Over which axis are they for one vector?",
)
wrong.several(
    "OverBatchAndTime",
    {
        "mean = ": "axes = tuple(range(x.ndim - 1)) or (0,)\n        mean = ",
        MEAN: "x.mean(dim=axes, keepdim=True)",
        "x.var(dim=-1": "x.var(dim=axes",
    },
    "You normalise each feature over all vectors of the batch, which is batch normalisation. What "
    "may the result of one vector depend on?",
)
wrong.several(
    "OverTheWholeSentence",
    {
        "mean = ": "axes = (-1,) if x.ndim < 3 else (-2, -1)\n        mean = ",
        MEAN: "x.mean(dim=axes, keepdim=True)",
        "x.var(dim=-1": "x.var(dim=axes",
    },
    "Your mean and variance are over all words of a sentence together. A change in one word then "
    "changes all others. Over how many axes should they be?",
)
wrong.several(
    "OverEverything",
    {MEAN: "x.mean()", VARIANCE: "x.var(unbiased=False)"},
    "You take one mean and one variance of the whole tensor. How many means does a batch of B "
    "sentences of T words need?",
)
wrong.several(
    "MeanNotSubtracted",
    {"(x - mean) /": "x /"},
    "You divide by the deviation but do not subtract the mean, so the result's mean is not 0. What "
    "stands above the root?",
)
wrong(
    "NotDivided",
    " / torch.sqrt(variance + self.eps)",
    "",
    "You only subtract the mean, so large vectors stay large. What is the variance of your result?",
)
wrong(
    "DividedByTheVariance",
    "torch.sqrt(variance + self.eps)",
    "(variance + self.eps)",
    "You divide by the variance, so the result's variance is not 1. What is between the variance "
    "and the division?",
)
wrong(
    "NoBias",
    "self.weight * normalised + self.bias",
    "self.weight * normalised",
    "The bias is never added. What does the formula end with?",
)
wrong(
    "NoWeight",
    "self.weight * normalised",
    "normalised",
    "The weight is never used. What is the normalised vector multiplied by?",
)
wrong(
    "BiasBeforeWeight",
    "self.weight * normalised + self.bias",
    "self.weight * (normalised + self.bias)",
    "You add the bias before you scale, so it is scaled, too. In which order does the formula do "
    "it?",
)
wrong(
    "ScaledBeforeNormalising",
    "mean = ",
    "x = self.weight * x\n        mean = ",
    "You scale the features before you normalise, so the scale is partly undone. When does the "
    "formula use the weight?",
)
wrong.several(
    "NothingToLearn",
    {
        "nn.Parameter(torch.ones(d_model))": "torch.ones(d_model)",
        "nn.Parameter(torch.zeros(d_model))": "torch.zeros(d_model)",
    },
    "Your module has no parameters: its ones and zeros are plain tensors. How does a module learn "
    "that a tensor is to be trained?",
)
wrong.several(
    "OneNumberForAllFeatures",
    {"torch.ones(d_model)": "torch.ones(1)", "torch.zeros(d_model)": "torch.zeros(1)"},
    "Your weight and bias are single numbers. How many features does each of them serve?",
)
wrong.several(
    "WeightStartsAtZero",
    {"torch.ones(d_model)": "torch.zeros(d_model)"},
    "Your weight starts at zero, so the first output is nothing but the bias. With what should it "
    "start?",
)
wrong.several(
    "RandomStart",
    {"torch.ones(d_model)": "torch.randn(d_model)"},
    "Your weight starts with random numbers. With what should it start, so that it changes nothing "
    "at first?",
)
wrong.several(
    "StatisticsDetached",
    {"x.mean": "x.detach().mean", "x.var": "x.detach().var"},
    "Your outputs are right, but the gradient at x is not: mean and variance depend on x, too, and "
    "you cut them from torch's graph. Which call does that?",
)
wrong(
    "VarianceDetached",
    "x.var",
    "x.detach().var",
    "Your outputs are right, but the gradient at x is not: the variance depends on x, too, and you "
    "cut it from torch's graph. Which call does that?",
)
wrong(
    "Detached",
    "normalised + self",
    "normalised.detach() + self",
    "No gradient reaches x at all. Which call cuts torch's graph?",
)
wrong(
    "MeanOfSquares",
    f"variance = {VARIANCE}",
    "variance = (x * x).mean(-1, keepdim=True) - mean * mean",
    "You subtract the squared mean from the mean of the squares. Far from 0 these two are huge and "
    "nearly equal, so float32 loses the difference, and float16 overflows. What can you subtract "
    "from x before you square?",
)
wrong(
    "RootOfTheNumberForgotten",
    f"variance = {VARIANCE}",
    "variance = (x - mean).square().sum(-1, keepdim=True)",
    "You add up the squared deviations and do not divide. What kind of average is a variance?",
)
wrong(
    "AbsoluteDeviation",
    f"variance = {VARIANCE}",
    "variance = (x - mean).abs().mean(-1, keepdim=True) ** 2",
    "You average absolute deviations, not squared ones. What is a variance the mean of?",
)
wrong(
    "InPlace",
    "mean = x.mean",
    "x -= x.mean(-1, keepdim=True)\n        mean = x.mean",
    "Your code writes into the vectors that it was given (`-=`, `sub_`). What does the same and "
    "makes a new tensor?",
)
wrong(
    "Squeezed",
    "return self.weight * normalised + self.bias",
    "return (self.weight * normalised + self.bias).squeeze()",
    "Axes of length 1 are missing from your result. What is its shape for one vector, and what "
    "should it be?",
)
wrong.several(
    "ThreeAxesOnly",
    {"mean = ": "_, _, _ = x.shape\n        mean = "},
    "Your code works only for three axes, (B, T, d_model). How many does the task allow before the "
    "last?",
)
wrong(
    "AlwaysFloat32",
    "mean = ",
    "x = x.float()\n        mean = ",
    "You compute in float32 whatever comes in, so a float64 result is off from the eighth digit "
    "on. Which call changes the dtype?",
)


@exercise.mistake(
    "Your module keeps running averages and uses them after `eval()`, as batch normalisation does. "
    "What does one vector's result depend on, according to the task?"
)
class RunningStatistics(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps
        self.kept = [0.0, 1.0]

    def forward(self, x):
        if self.training:
            mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, unbiased=False)
            self.kept = [0.9 * self.kept[0], 0.9 * self.kept[1] + 0.1]
        else:
            mean, variance = self.kept
        return (x - mean) / (variance + self.eps) ** 0.5 * self.weight + self.bias
