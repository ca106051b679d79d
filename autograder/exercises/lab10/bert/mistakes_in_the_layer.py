"""Known mistakes in `BertLayer`."""

from __future__ import annotations

import torch
from torch import nn

from . import exercise
from .also_right import FromScratch, PlainLayer

wrong = exercise.edits(PlainLayer, of="BertLayer")

ATTEND = "        a = self.attention(x, x, x, mask)\n        x = self.norm1(x + self.drop(a))\n"
NETWORK = (
    "        h = F.gelu(self.linear1(x))\n"
    "        h = self.linear2(h)\n"
    "        return self.norm2(x + self.drop(h))"
)

wrong.several(
    "PreNorm",
    {
        ATTEND: "        y = self.norm1(x)\n"
        "        x = x + self.drop(self.attention(y, y, y, mask))\n",
        NETWORK: "        h = self.linear2(F.gelu(self.linear1(self.norm2(x))))\n"
        "        return x + self.drop(h)",
    },
    "Your layer normalises what each part reads, as pre-norm does. Where does the task put the two "
    "normalisations?",
)
wrong.several(
    "FirstNormBefore",
    {
        ATTEND: "        y = self.norm1(x)\n"
        "        x = x + self.drop(self.attention(y, y, y, mask))\n",
    },
    "Your first normalisation comes before attention, and the second after its sum. Where does the "
    "task put the first one?",
)
wrong(
    "NoResidualAtAttention",
    "self.norm1(x + self.drop(a))",
    "self.norm1(self.drop(a))",
    "What attention found takes the place of x. What is it added to?",
)
wrong(
    "NoResidualAtNetwork",
    "self.norm2(x + self.drop(h))",
    "self.norm2(self.drop(h))",
    "The output of the network takes the place of x. What is it added to?",
)
wrong(
    "NormOfTheAddedPart",
    "self.norm1(x + self.drop(a))",
    "x + self.norm1(self.drop(a))",
    "You normalise what attention found and add it then. Of what is the first normalisation, in "
    "the task?",
)
wrong.several(
    "NormOfBothAddedParts",
    {
        "self.norm1(x + self.drop(a))": "x + self.norm1(self.drop(a))",
        "self.norm2(x + self.drop(h))": "x + self.norm2(self.drop(h))",
    },
    "You normalise what each part found and add it then. Of what are the two normalisations, in "
    "the task?",
)
wrong.several(
    "NetworkAddedToTheBeginning",
    {
        ATTEND: "        a = self.attention(x, x, x, mask)\n"
        "        before, x = x, self.norm1(x + self.drop(a))\n",
        "self.norm2(x + self.drop(h))": "self.norm2(before + self.drop(h))",
    },
    "What the network found is added to the layer's input. To which vectors should it be added?",
)
wrong(
    "NetworkFromTheBeginning",
    ATTEND,
    "        a = self.attention(x, x, x, mask)\n"
    "        before, x = x, self.norm1(x + self.drop(a))\n"
    "        return self.norm2(x + self.drop(self.linear2(F.gelu(self.linear1(before)))))\n",
    "Your network reads the layer's input. Which vectors should it read?",
)
wrong(
    "OneNormForBoth",
    "self.norm2(x + self.drop(h))",
    "self.norm1(x + self.drop(h))",
    "One normalisation serves both sums. How many have parameters of their own?",
)
wrong.several(
    "NormsExchanged",
    {
        "self.norm1(x + self.drop(a))": "self.norm2(x + self.drop(a))",
        "self.norm2(x + self.drop(h))": "self.norm1(x + self.drop(h))",
    },
    "The two normalisations are exchanged. With trained weights this matters: which one comes "
    "after attention?",
)
wrong(
    "ReluInside",
    "F.gelu(",
    "F.relu(",
    "Your layer has ReLU between its two linear layers, as the Transformer of 2017. Which function "
    "does BERT have there?",
)
wrong(
    "GeluByTanh",
    "F.gelu(self.linear1(x))",
    'F.gelu(self.linear1(x), approximate="tanh")',
    "Your GELU is the approximation by tanh, which GPT-2 has; it is off by up to 0.0005. Which one "
    "does the task name?",
)
wrong(
    "NothingBetween",
    "F.gelu(self.linear1(x))",
    "self.linear1(x)",
    "There is nothing between your two linear layers, so together they are one linear layer. What "
    "belongs there?",
)
wrong(
    "GeluAfterTheSecond",
    NETWORK,
    "        h = F.gelu(self.linear2(self.linear1(x)))\n"
    "        return self.norm2(x + self.drop(h))",
    "Your GELU comes after the second linear layer. Between which two things does it belong?",
)
wrong(
    "UsualEps",
    "self.norm1 = nn.LayerNorm(d, eps=cfg.norm_eps)\n"
    "        self.norm2 = nn.LayerNorm(d, eps=cfg.norm_eps)",
    "self.norm1 = nn.LayerNorm(d)\n        self.norm2 = nn.LayerNorm(d)",
    "The normalisations of your layer have torch's usual `eps`. Which one does cfg ask for?",
)
wrong(
    "UsualEpsInTheSecond",
    "self.norm2 = nn.LayerNorm(d, eps=cfg.norm_eps)",
    "self.norm2 = nn.LayerNorm(d)",
    "The second normalisation of your layer has torch's usual `eps`. Which one does cfg ask for?",
)
wrong(
    "MaskForgotten",
    "self.attention(x, x, x, mask)",
    "self.attention(x, x, x)",
    "Your layer gets a mask and does not use it, so padding is read like words. Which part needs "
    "it?",
)
wrong(
    "MaskInverted",
    "self.attention(x, x, x, mask)",
    "self.attention(x, x, x, None if mask is None else ~mask)",
    "Tokens attend to the padding and to nothing else. Does True allow or forbid?",
)
wrong(
    "CausalToo",
    "self.attention(x, x, x, mask)",
    "self.attention(\n"
    "            x, x, x, torch.ones(x.shape[1], x.shape[1]).tril().bool()\n"
    "            & (torch.ones(1).bool() if mask is None else mask)\n"
    "        )",
    "A token does not see those after it. BERT hides words so that it can look in both directions: "
    "does it need a causal mask?",
)
wrong(
    "OneHead",
    "MultiHeadAttention(d, cfg.num_heads,",
    "MultiHeadAttention(d, 1,",
    "Your attention has a single head. How many does cfg ask for?",
)
wrong(
    "NoDropoutInAttention",
    "cfg.num_heads, dropout=cfg.dropout)",
    "cfg.num_heads)",
    "The weights of your attention are never dropped. To which of the parts must cfg.dropout go?",
)
wrong(
    "NothingDroppedAfterAttention",
    "self.drop(a)",
    "a",
    "What attention adds to x is never dropped. At which two sums should dropout act?",
)
wrong(
    "NothingDroppedAfterTheNetwork",
    "self.drop(h)",
    "h",
    "What the network adds to x is never dropped. At which two sums should dropout act?",
)
wrong(
    "DropsInsideToo",
    "        h = self.linear2(h)\n",
    "        h = self.linear2(self.drop(h))\n",
    "You drop features inside the network, too, as the layer of 2017 does. At which places does "
    "the task drop?",
)
wrong(
    "DropsAfterTheNorm",
    "self.norm2(x + self.drop(h))",
    "self.drop(self.norm2(x + h))",
    "You drop features of the layer's output, the stream itself. What should be dropped: x, or "
    "what is added to it?",
)
wrong(
    "DropsAlways",
    "self.norm1(x + self.drop(a))",
    "self.norm1(x + F.dropout(a, self.drop.p))",
    "Features are dropped even after `eval()`. What does F.dropout need to know, which a module "
    "knows by itself?",
)
wrong(
    "NetworkDropsAlways",
    "self.norm2(x + self.drop(h))",
    "self.norm2(x + F.dropout(h, self.drop.p))",
    "Features are dropped even after `eval()`. What does F.dropout need to know, which a module "
    "knows by itself?",
)
wrong(
    "AddsInPlace",
    "        a = self.attention(x, x, x, mask)\n        x = self.norm1(x + self.drop(a))\n",
    "        x += self.drop(self.attention(x, x, x, mask))\n        x = self.norm1(x)\n",
    "The `x` of the caller has changed. What does `+=` do with a tensor?",
)


scratch = exercise.edits(FromScratch, of="BertLayer")

scratch(
    "ScaledByTheModel",
    "math.sqrt(d // self.h)",
    "math.sqrt(d)",
    "Your scores are divided by √d_model. How many features does a query of one head have?",
)
scratch(
    "SoftmaxOverTheHeads",
    "scores.softmax(-1)",
    "scores.softmax(1)",
    "Your softmax runs over the heads. Over what should the weights of one query sum to 1?",
)
scratch(
    "HeadsNotPutBack",
    ".transpose(1, 2).reshape(B, T, d)",
    ".reshape(B, T, d)",
    "You join the heads without moving their axis back, so a vector is made of other tokens' "
    "parts. Which axis should be next to the last one?",
)
scratch(
    "NumbersOfTheMaskInverted",
    "scores.masked_fill(~mask, -1e9)",
    "scores.masked_fill(mask, -1e9)",
    "Tokens attend to the padding and to nothing else. Does True allow or forbid?",
)
scratch(
    "WeightsDroppedAlways",
    "self.drop1(scores.softmax(-1))",
    "F.dropout(scores.softmax(-1), self.drop1.p)",
    "The weights of your attention are dropped even after `eval()`. What does a function need to "
    "know about dropout, which a module knows by itself?",
)


class ByTheStandardDeviation(nn.Module):
    """A normalisation that divides by the deviation of a sample, plus epsilon."""

    def __init__(self, cfg):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(cfg.d_model))
        self.bias = nn.Parameter(torch.zeros(cfg.d_model))
        self.eps = cfg.norm_eps

    def forward(self, x):
        x = x - x.mean(-1, keepdim=True)
        spread = (x.square().sum(-1, keepdim=True) / (x.shape[-1] - 1)).sqrt()
        x = x / (spread + self.eps)
        return x * self.weight + self.bias


@exercise.mistake(
    "Your normalisations divide by the deviation of a *sample*, `x.std()`, and add epsilon to it. "
    "By what does `nn.LayerNorm` divide?",
    of="BertLayer",
)
class NormsByTheStandardDeviation(PlainLayer):
    def __init__(self, cfg):
        super().__init__(cfg)
        self.norm1, self.norm2 = ByTheStandardDeviation(cfg), ByTheStandardDeviation(cfg)


@exercise.mistake(
    "Your layer contains torch's own layer. This step is about building it: which parts are in it?",
    of="BertLayer",
)
class TorchsLayer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(
            cfg.d_model, cfg.num_heads, cfg.d_ff, cfg.dropout, "gelu", cfg.norm_eps,
            batch_first=True,
        )  # fmt: skip

    def forward(self, x, mask=None):
        padding = None if mask is None else ~mask[:, 0, 0]
        return self.layer(x, src_key_padding_mask=padding)
