"""Known mistakes in layers with norms, sums and a network of their own."""

from __future__ import annotations

from torch import nn

from . import exercise
from .also_right import ThreeNorms, TorchsAttention

wrong = exercise.edits(ThreeNorms)

PRE = (
    "x = x + self.attend(self.norm1(x), target_mask)",
    "x = x + self.look(self.norm2(x), memory, memory_mask)",
    "x = x + self.transform(self.norm3(x))",
)
POST = (
    "x = self.norm1(x + self.attend(x, target_mask))",
    "x = self.norm2(x + self.look(x, memory, memory_mask))",
    "x = self.norm3(x + self.transform(x))",
)

wrong.several(
    "OneNormReused",
    {
        "        self.norm2 = LayerNorm(d_model)\n        self.norm3 = LayerNorm(d_model)\n": "",
        PRE[1]: PRE[1].replace("norm2", "norm1"),
        PRE[2]: PRE[2].replace("norm3", "norm1"),
        POST[1]: POST[1].replace("norm2", "norm1"),
        POST[2]: POST[2].replace("norm3", "norm1"),
    },
    "Your layer has one normalisation (or one `Residual`) for all sublayers. How many sets of "
    "weights and biases does the task's layer have?",
)
wrong.several(
    "OneNormForBothAttentions",
    {
        "        self.norm3 = LayerNorm(d_model)\n": "",
        PRE[1]: PRE[1].replace("norm2", "norm1"),
        PRE[2]: PRE[2].replace("norm3", "norm2"),
        POST[1]: POST[1].replace("norm2", "norm1"),
        POST[2]: POST[2].replace("norm3", "norm2"),
    },
    "Your layer has two normalisations for three sublayers. How many does the task's layer have?",
)
wrong.several(
    "NormedStream",
    {
        PRE[0]: "x = self.norm1(x)\n            x = x + self.attend(x, target_mask)",
        PRE[1]: "x = self.norm2(x)\n            x = x + self.look(x, memory, memory_mask)",
        PRE[2]: "x = self.norm3(x)\n            x = x + self.transform(x)",
    },
    'With "pre", you overwrite x with the normalised x and then add to that. What should flow past '
    "the sublayers unchanged?",
)
for name, edits in (
    (
        "CrossAsksWithTheNormedInput",
        {
            PRE[0]: f"start = self.norm1(x)\n            {PRE[0]}",
            PRE[1]: PRE[1].replace("norm2(x)", "norm2(start)"),
        },
    ),
    (
        "CrossAsksWithTheInputInPost",
        {
            POST[0]: f"start = x\n        {POST[0]}",
            POST[1]: POST[1].replace("look(x", "look(start"),
        },
    ),
    (
        "CrossAsksWithTheInputInBoth",
        {
            PRE[0]: f"start = self.norm1(x)\n            {PRE[0]}",
            PRE[1]: PRE[1].replace("norm2(x)", "norm2(start)"),
            POST[0]: f"start = x\n        {POST[0]}",
            POST[1]: POST[1].replace("look(x", "look(start"),
        },
    ),
):
    wrong.several(
        name,
        edits,
        "The queries of your cross-attention are made from what the self-attention read, and not "
        "from its result. What flows from the first sublayer into the second?",
    )
wrong(
    "NormAtTheEnd",
    f"{PRE[2]}\n            return x",
    f"{PRE[2]}\n            return self.norm3(x)",
    'With "pre", you normalise the output, too. A stack of layers has one such norm, at its end '
    "(7.3). Is it part of a layer?",
)
wrong(
    "AllReadTheInput",
    "\n            ".join(PRE),
    "z = x\n"
    "            x = x + self.attend(self.norm1(z), target_mask)\n"
    "            x = x + self.look(self.norm2(z), memory, memory_mask)\n"
    "            x = x + self.transform(self.norm3(z))",
    'With "pre", all three of your sublayers see the input of the layer, side by side. What does '
    "the second one see, and what the third?",
)
wrong.several(
    "PostNormsBeforeTheSum",
    {
        POST[0]: "x = x + self.norm1(self.attend(x, target_mask))",
        POST[1]: "x = x + self.norm2(self.look(x, memory, memory_mask))",
        POST[2]: "x = x + self.norm3(self.transform(x))",
    },
    'With "post", you normalise what the sublayers add, and not the sums. What is inside the norm '
    "in that mode?",
)
wrong(
    "PostWithoutTheThirdNorm",
    POST[2],
    "x = x + self.transform(x)",
    'With "post", the last sum is not normalised. How many norms does a layer use in that mode?',
)
wrong.several(
    "CrossAddsToTheInput",
    {
        PRE[0]: f"start = x\n            {PRE[0]}",
        PRE[1]: PRE[1].replace("x = x +", "x = start +"),
        POST[0]: f"start = x\n        {POST[0]}",
        POST[1]: POST[1].replace("(x + ", "(start + "),
    },
    "Your second sum adds to the input of the layer, so what the self-attention added is lost. "
    "Which x flows past the cross-attention?",
)
wrong.several(
    "PreCrossAddsToTheInput",
    {PRE[0]: f"start = x\n            {PRE[0]}", PRE[1]: PRE[1].replace("x = x +", "x = start +")},
    'With "pre", your second sum adds to the input of the layer, so what the self-attention added '
    "is lost. Which x flows past the cross-attention?",
)
wrong.several(
    "NetworkAddsToAnEarlierSum",
    {
        PRE[1]: f"before = x\n            {PRE[1]}",
        PRE[2]: PRE[2].replace("x = x +", "x = before +"),
        POST[1]: f"before = x\n        {POST[1]}",
        POST[2]: POST[2].replace("(x + ", "(before + "),
    },
    "Your third sum adds to the stream as it was before the cross-attention, so what came from the "
    "source is nearly lost. Which x flows past the network?",
)
wrong.several(
    "CrossNotAdded",
    {PRE[1]: PRE[1].replace("x = x + ", "x = "), POST[1]: POST[1].replace("(x + self", "(self")},
    "x is missing from your second sum: what the cross-attention found replaces the target. What "
    "flows past each sublayer?",
)
wrong.several(
    "NormsExchangedInPre",
    {PRE[1]: PRE[1].replace("norm2", "norm3"), PRE[2]: PRE[2].replace("norm3", "norm2")},
    'With "pre", the second and the third normalisation are exchanged. With trained weights this '
    "matters. Which belongs to the cross-attention?",
)
exercise.edits(TorchsAttention)(
    "MasksInvertedForTorch",
    "mask.logical_not().flatten",
    "mask.flatten",
    "torch's attention gets your masks as they are, so words see only what is forbidden. What does "
    "True mean for torch, and what in the task?",
)
for number, line, part in (
    (1, "self.drop(self.self_attn(x, x, x, mask))", "self-attention"),
    (2, "self.drop(self.multihead_attn(x, memory, memory, mask))", "cross-attention"),
    (3, "self.drop(self.linear2(self.drop(F.relu(self.linear1(x)))))", "network"),
):
    wrong(
        f"NoDropoutInResidual{number}",
        line,
        line.removeprefix("self.drop(").removesuffix(")"),
        f"What your {part} adds is never dropped. In how many places does a layer use `dropout`?",
    )
wrong.several(
    "PreNeverAdds",
    {line: line.replace("x = x + ", "x = ") for line in PRE},
    'With "pre", x is missing from all sums. What flows past each sublayer?',
)
wrong.several(
    "PostNeverAdds",
    {line: line.replace("(x + self", "(self") for line in POST},
    'With "post", x is missing from all sums. What flows past each sublayer?',
)
wrong.several(
    "ResidualsForgotten",
    {
        **{line: line.replace("x = x + ", "x = ") for line in PRE},
        **{line: line.replace("(x + self", "(self") for line in POST},
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
wrong.several(
    "AnotherEps",
    {
        f"self.norm{i} = LayerNorm(d_model)": f"self.norm{i} = LayerNorm(d_model, 1e-6)"
        for i in (1, 2, 3)
    },
    "Your output is off by a few millionths, as with another eps in the normalisation. Which eps "
    "does `LayerNorm(d_model)` use?",
)
wrong(
    "DropoutAfterEval",
    "self.drop(self.multihead_attn(x, memory, memory, mask))",
    "F.dropout(self.multihead_attn(x, memory, memory, mask), self.drop.p)",
    "Your layer still drops something after `eval()`. `F.dropout` assumes training by default; "
    "what does `nn.Dropout` know that it does not?",
)
wrong.several(
    "DropoutOnTheSum",
    {
        "self.drop(self.multihead_attn(x, memory, memory, mask))": (
            "self.multihead_attn(x, memory, memory, mask)"
        ),
        PRE[1]: "x = self.drop(x + self.look(self.norm2(x), memory, memory_mask))",
        POST[1]: "x = self.norm2(self.drop(x + self.look(x, memory, memory_mask)))",
    },
    "You drop numbers of a sum, so parts of x get lost. What does a residual drop?",
)
wrong.several(
    "ParametersInAPlainList",
    {
        "self.norm1 = LayerNorm(d_model)": "self.norms = [LayerNorm(d_model).double()] * 3",
        "        self.norm2 = LayerNorm(d_model)\n        self.norm3 = LayerNorm(d_model)\n": "",
        **{line: line.replace(f"norm{i}", f"norms[{i - 1}]") for i, line in enumerate(PRE, 1)},
        **{line: line.replace(f"norm{i}", f"norms[{i - 1}]") for i, line in enumerate(POST, 1)},
    },
    "Your normalisations are in a plain list, so the layer does not know their parameters. Which "
    "list of torch registers modules?",
)


@exercise.mistake(
    "Your layer is torch's own layer, or contains one. The task is to build it from its six "
    "parts: which of them have you written in earlier labs?"
)
class TorchsOwn(nn.TransformerDecoderLayer):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm="pre"):
        super().__init__(
            d_model, num_heads, d_ff, dropout, batch_first=True, norm_first=norm == "pre"
        )
        self.h = num_heads

    def every(self, mask, x, y):
        if mask is None:
            return None
        return ~mask.expand(len(x), self.h, x.shape[1], y.shape[1]).flatten(0, 1)

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        own, cross = self.every(target_mask, x, x), self.every(memory_mask, x, memory)
        return super().forward(x, memory, tgt_mask=own, memory_mask=cross)
