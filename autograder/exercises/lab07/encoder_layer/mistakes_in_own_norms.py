"""Known mistakes in layers with norms, sums and a network of their own."""

from __future__ import annotations

from torch import nn

from . import exercise
from .also_right import TwoNorms

wrong = exercise.edits(TwoNorms)

PRE1 = "x = x + self.attend(self.norm1(x), mask)"
PRE2 = "x = x + self.transform(self.norm2(x))"
POST1 = "x = self.norm1(x + self.attend(x, mask))"
POST2 = "x = self.norm2(x + self.transform(x))"

wrong.several(
    "OneNormReused",
    {
        "        self.norm2 = LayerNorm(d_model)\n": "",
        PRE2: "x = x + self.transform(self.norm1(x))",
        POST2: "x = self.norm1(x + self.transform(x))",
    },
    "Your layer has one normalisation (or one `Residual`) for both sublayers. How many sets of "
    "weights and biases does the task's layer have?",
)
wrong.several(
    "NormedStream",
    {
        PRE1: "x = self.norm1(x)\n            x = x + self.attend(x, mask)",
        PRE2: "x = self.norm2(x)\n            x = x + self.transform(x)",
    },
    'With "pre", you overwrite x with the normalised x and then add to that. What should flow past '
    "the sublayers unchanged?",
)
wrong(
    "NormAtTheEnd",
    f"{PRE2}\n            return x",
    f"{PRE2}\n            return self.norm2(x)",
    'With "pre", you normalise the output, too. A stack of layers has one such norm, at its end '
    "(7.3). Is it part of a layer?",
)
wrong(
    "NetworkReadsTheInput",
    f"{PRE1}\n            {PRE2}",
    "x = x + self.attend(self.norm1(x), mask) + self.transform(self.norm2(x))",
    'With "pre", your feed-forward network sees the input of the layer and not what the attention '
    "has added. What is its x?",
)
wrong.several(
    "NetworkReadsTheNormed",
    {PRE1: f"start = self.norm1(x)\n            {PRE1}", PRE2: PRE2.replace("(x))", "(start))")},
    'With "pre", your feed-forward network gets what the first normalisation made, so it does not '
    "see what the attention has added. Which x does its own normalisation get?",
)
wrong.several(
    "PostSecondSumAddsTheInputAfterTheNorm",
    {
        POST1: f"start = x\n        {POST1}",
        POST2: "x = start + self.norm2(self.transform(x))",
    },
    'With "post", your second sum adds to the input of the layer, after the norm. Which x flows '
    "past the network, and what is inside the norm?",
)
wrong(
    "PostNormsBeforeTheSum",
    POST1,
    "x = x + self.norm1(self.attend(x, mask))",
    'With "post", you normalise what the attention adds, and not the sum. What is inside the norm '
    "in that mode?",
)
wrong(
    "PostNetworkNormsBeforeTheSum",
    POST2,
    "x = x + self.norm2(self.transform(x))",
    'With "post", you normalise what the network adds, and not the sum. What is inside the norm in '
    "that mode?",
)
wrong.several(
    "PostNormsBeforeBothSums",
    {
        POST1: "x = x + self.norm1(self.attend(x, mask))",
        POST2: "x = x + self.norm2(self.transform(x))",
    },
    'With "post", you normalise what each sublayer adds, and not the sums. What is inside the norm '
    "in that mode?",
)
wrong(
    "PostWithoutTheSecondNorm",
    POST2,
    "x = x + self.transform(x)",
    'With "post", the second sum is not normalised. How many norms does a layer use in that mode?',
)
wrong.several(
    "NetworkNotAdded",
    {PRE2: "x = self.transform(self.norm2(x))", POST2: "x = self.norm2(self.transform(x))"},
    "x is missing from your second sum: the network replaces what the attention has made. What "
    "flows past the network?",
)
wrong.several(
    "AttentionNotAdded",
    {PRE1: "x = self.attend(self.norm1(x), mask)", POST1: "x = self.norm1(self.attend(x, mask))"},
    "x is missing from your first sum: the attention replaces its input. What flows past the "
    "attention?",
)
wrong.several(
    "SecondSumAddsTheInput",
    {
        PRE1: f"start = x\n            {PRE1}",
        PRE2: "x = start + self.transform(self.norm2(x))",
        POST1: f"start = x\n        {POST1}",
        POST2: "x = self.norm2(start + self.transform(x))",
    },
    "Your second sum adds to the input of the layer, so what the attention added is lost. Which x "
    "flows past the network?",
)
wrong.several(
    "PreSecondSumAddsTheInput",
    {PRE1: f"start = x\n            {PRE1}", PRE2: PRE2.replace("x = x +", "x = start +")},
    'With "pre", your second sum adds to the input of the layer, so what the attention added is '
    "lost. Which x flows past the network?",
)
wrong.several(
    "NetworkReadsTheInputInBothModes",
    {
        PRE1: f"start = x\n            {PRE1}",
        PRE2: PRE2.replace("norm2(x)", "norm2(start)"),
        POST1: f"start = x\n        {POST1}",
        POST2: POST2.replace("transform(x)", "transform(start)"),
    },
    "Your feed-forward network reads the input of the layer, in both modes, so it never sees what "
    "the attention has found. What is its x?",
)
wrong(
    "FirstSumAddsTheNormed",
    PRE1,
    "x = self.norm1(x)\n            x = x + self.attend(x, mask)",
    'With "pre", your first sum adds to the normalised x. What should flow past the attention '
    "unchanged?",
)
wrong(
    "NoDropoutInTheFirstResidual",
    "self.drop1(self.self_attn(x, x, x, mask))",
    "self.self_attn(x, x, x, mask)",
    "What your attention adds is never dropped. In how many places does a layer use `dropout`?",
)
wrong(
    "NoDropoutInTheSecondResidual",
    "self.drop2(self.linear2(self.drop(F.relu(self.linear1(x)))))",
    "self.linear2(self.drop(F.relu(self.linear1(x))))",
    "What your network adds is never dropped. In how many places does a layer use `dropout`?",
)
wrong.several(
    "PostNeverAdds",
    {POST1: "x = self.norm1(self.attend(x, mask))", POST2: "x = self.norm2(self.transform(x))"},
    'With "post", x is missing from both sums. What flows past each sublayer?',
)
wrong.several(
    "PreNeverAdds",
    {PRE1: "x = self.attend(self.norm1(x), mask)", PRE2: "x = self.transform(self.norm2(x))"},
    'With "pre", x is missing from both sums. What flows past each sublayer?',
)
wrong.several(
    "ResidualsForgotten",
    {
        PRE1: "x = self.attend(self.norm1(x), mask)",
        PRE2: "x = self.transform(self.norm2(x))",
        POST1: "x = self.norm1(self.attend(x, mask))",
        POST2: "x = self.norm2(self.transform(x))",
    },
    "x is missing from all of your sums: the sublayers replace the stream. What should they do "
    "with it?",
)
wrong(
    "ModesExchanged",
    'norm == "pre"',
    'norm == "post"',
    'The two modes are exchanged. Before what does "pre" normalise?',
)
wrong(
    "NoReLU",
    "F.relu(self.linear1(x))",
    "self.linear1(x)",
    "There is nothing between the two linear layers of your network, so together they are one "
    "linear layer. Which function of lab 6 is missing?",
)
wrong(
    "GELU",
    "F.relu(",
    "F.gelu(",
    "Your network uses GELU, as later models do. Which function does the feed-forward network of "
    "the task (lab 6) use?",
)
wrong(
    "ReLUAfterTheSecondLayer",
    "self.linear2(self.drop(F.relu(self.linear1(x))))",
    "F.relu(self.linear2(self.drop(self.linear1(x))))",
    "The ReLU comes after the second linear layer of your network, so it can never add a negative "
    "number. Between which two layers does it stand in lab 6?",
)
for name, eps in (("AnotherEps", "1e-6"), ("EpsOfBert", "1e-12")):
    wrong.several(
        name,
        {
            "self.norm1 = LayerNorm(d_model)": f"self.norm1 = LayerNorm(d_model, {eps})",
            "self.norm2 = LayerNorm(d_model)": f"self.norm2 = LayerNorm(d_model, {eps})",
        },
        "Your output is off by a few millionths, as with another eps in the normalisation. Which "
        "eps does `LayerNorm(d_model)` use?",
    )
wrong(
    "NoBiasInTheNetwork",
    "nn.Linear(d_model, d_ff)",
    "nn.Linear(d_model, d_ff, bias=False)",
    "The first layer of your network has no bias. How many weights does `FeedForward` have?",
)
wrong.several(
    "DropoutAfterEval",
    {
        "self.drop1(self.self_attn(": "F.dropout(self.self_attn(",
        "mask))\n\n": "mask), self.drop1.p)\n\n",
    },
    "Your layer still drops something after `eval()`. `F.dropout` assumes training by default; "
    "what does `nn.Dropout` know that it does not?",
)
wrong.several(
    "DropoutOnTheSum",
    {
        "self.drop1(self.self_attn(x, x, x, mask))": "self.self_attn(x, x, x, mask)",
        PRE1: "x = self.drop1(x + self.attend(self.norm1(x), mask))",
        POST1: "x = self.norm1(self.drop1(x + self.attend(x, mask)))",
    },
    "You drop numbers of the sum, so parts of x get lost. What does a residual drop?",
)
wrong(
    "DropoutOnTheSecondSum",
    f"{PRE2}\n            return x",
    "x = self.drop2(x + self.transform(self.norm2(x)))\n            return x",
    'With "pre", you drop numbers of the second sum, so parts of x get lost. What does a residual '
    "drop?",
)


@exercise.mistake(
    "Your layer is torch's own layer, or contains one. The task is to build it from its four "
    "parts: which of them have you written in earlier labs?"
)
class TorchsOwn(nn.TransformerEncoderLayer):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm="pre"):
        super().__init__(
            d_model, num_heads, d_ff, dropout, batch_first=True, norm_first=norm == "pre"
        )
        self.h = num_heads

    def forward(self, x, mask=None):
        if mask is not None:
            every = mask.expand(len(x), self.h, x.shape[1], x.shape[1])
            mask = ~every.reshape(-1, x.shape[1], x.shape[1])
        return super().forward(x, src_mask=mask)
