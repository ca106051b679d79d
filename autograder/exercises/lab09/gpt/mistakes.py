"""Known mistakes in a `Block`."""

from __future__ import annotations

from . import exercise, mistakes_in_the_model, mistakes_in_weights  # noqa: F401 - register more
from .also_right import Plain

wrong = exercise.edits(Plain, of="Block")

ATTEND = """        read = self.norm1(x)
        x = x + self.dropout1(self.attention(read, read, read, mask))
"""
NETWORK = """        read = self.norm2(x)
        hidden = F.gelu(self.linear1(read), approximate="tanh")
        return x + self.dropout2(self.linear2(hidden))
"""
GELU = 'F.gelu(self.linear1(read), approximate="tanh")'
MASK = "mask = torch.ones(T, T, dtype=torch.bool).tril()"

wrong.several(
    "PostNorm",
    {
        ATTEND: "        x = self.norm1(x + self.dropout1(self.attention(x, x, x, mask)))\n",
        NETWORK: '        hidden = F.gelu(self.linear1(x), approximate="tanh")\n'
        "        return self.norm2(x + self.dropout2(self.linear2(hidden)))\n",
    },
    "Your block is post-norm, as in the Transformer of 2017: it normalises the sums. What does the "
    "task say that each sublayer reads, and what is its output added to?",
)
wrong.several(
    "StreamNormalised",
    {
        ATTEND: ATTEND.replace("read", "x"),
        NETWORK: NETWORK.replace("read", "x"),
    },
    "Your sublayers' outputs are added to the normalised vectors, and the stream itself is lost. "
    "How many names does a vector need before and after a norm?",
)
wrong(
    "AttentionWithoutResidual",
    "x = x + self.dropout1(",
    "x = self.dropout1(",
    "Your attention replaces the stream. What should happen to its output instead?",
)
wrong(
    "NetworkWithoutResidual",
    "return x + self.dropout2(",
    "return self.dropout2(",
    "Your feed-forward network replaces the stream. What should happen to its output instead?",
)
wrong(
    "NoFirstNorm",
    "read = self.norm1(x)",
    "read = x",
    "Your attention reads the stream as it is. Which of your parts is never called?",
)
wrong(
    "NoSecondNorm",
    "read = self.norm2(x)",
    "read = x",
    "Your feed-forward network reads the stream as it is. Which of your parts is never called?",
)
wrong(
    "OneNormForBoth",
    "read = self.norm2(x)",
    "read = self.norm1(x)",
    "Both sublayers read through the same norm, so one pair of parameters serves twice. How many "
    "norms does the task name?",
)
wrong.several(
    "SideBySide",
    {
        ATTEND: "        read = self.norm1(x)\n"
        "        attended = self.dropout1(self.attention(read, read, read, mask))\n",
        "return x + self.dropout2(": "return x + attended + self.dropout2(",
    },
    "Your feed-forward network reads the stream as it was before the attention, as in GPT-J. In "
    "which order do the two work here?",
)
wrong(
    "QueriesOnlyNormalised",
    "self.attention(read, read, read, mask)",
    "self.attention(read, x, x, mask)",
    "Only your queries are normalised; keys and values come from the stream as it is. In "
    "self-attention, what do all three read?",
)
wrong(
    "NoMask",
    "self.attention(read, read, read, mask)",
    "self.attention(read, read, read)",
    "Your positions look ahead: the attention gets no mask. In training, each would read the token "
    "that it should predict.",
)
wrong(
    "MaskInverted",
    MASK,
    "mask = torch.ones(T, T, dtype=torch.bool).triu(1)",
    "Your mask shows the future and hides the past, as if True meant forbidden (as it does in "
    "torch's nn.MultiheadAttention). What does True mean in lab 4's attention?",
)
wrong(
    "MaskTransposed",
    MASK,
    "mask = torch.ones(T, T, dtype=torch.bool).triu()",
    "Your mask is the transpose of the causal one: each position sees itself and what comes after "
    "it. Which axis of it is the query's?",
)
wrong(
    "NotItself",
    MASK,
    "mask = torch.ones(T, T, dtype=torch.bool).tril(-1)",
    "No position sees itself, and the first one sees nothing at all. Is a position its own past?",
)
wrong(
    "OneAhead",
    MASK,
    "mask = torch.ones(T, T, dtype=torch.bool).tril(1)",
    "Each position sees the one after it: exactly the token that it should predict. Where does the "
    "diagonal of your mask run?",
)
wrong(
    "ReLU",
    GELU,
    "F.relu(self.linear1(read))",
    "Your network has ReLU in the middle, as lab 6's has. Which function does the task name?",
)
wrong(
    "ExactGELU",
    GELU,
    "F.gelu(self.linear1(read))",
    "Your outputs are nearly right: GELU has two forms, which differ by up to 0.0005, and you use "
    "the exact one, as BERT does. Which one does the task name?",
)
wrong(
    "SigmoidGELU",
    GELU,
    "self.linear1(read) * torch.sigmoid(1.702 * self.linear1(read))",
    "You approximate GELU by a sigmoid. Which approximation does the task name?",
)
wrong(
    "NothingInTheMiddle",
    GELU,
    "self.linear1(read)",
    "Your two linear layers follow each other with nothing between them, so they are one linear "
    "layer. What is missing?",
)
wrong.several(
    "GELUAtTheEnd",
    {
        GELU: "self.linear1(read)",
        "self.dropout2(self.linear2(hidden))": "self.dropout2(F.gelu(self.linear2(hidden), "
        'approximate="tanh"))',
    },
    "Your GELU comes after the second linear layer, so the network can hardly subtract anything "
    "from the stream. Between which two layers does it belong?",
)
wrong.several(
    "TwiceAsWide",
    {
        "nn.Linear(d, 4 * d)": "nn.Linear(d, 2 * d)",
        "nn.Linear(4 * d, d)": "nn.Linear(2 * d, d)",
    },
    "Inside your network, vectors are twice as wide as outside. How wide does the task make them?",
)
wrong.several(
    "LayersWithoutBias",
    {
        "nn.Linear(d, 4 * d)": "nn.Linear(d, 4 * d, bias=False)",
        "nn.Linear(4 * d, d)": "nn.Linear(4 * d, d, bias=False)",
    },
    "Your linear layers have no bias. What does the task say about them?",
)
wrong.several(
    "EpsilonOfBERT",
    {
        "self.norm1 = nn.LayerNorm(d)": "self.norm1 = nn.LayerNorm(d, eps=1e-12)",
        "self.norm2 = nn.LayerNorm(d)": "self.norm2 = nn.LayerNorm(d, eps=1e-12)",
    },
    "Your outputs are nearly right: your norms add another small number (`eps`) to the variance "
    "than a plain `nn.LayerNorm` does. Where do you set it?",
)
wrong(
    "OneHead",
    "MultiHeadAttention(d, cfg.num_heads, dropout=cfg.dropout)",
    "MultiHeadAttention(d, 1, dropout=cfg.dropout)",
    "Your attention has one head, whatever cfg says; the number of parameters does not show it. "
    "Where do you use cfg.num_heads?",
)
wrong(
    "DropoutInThePlaceOfDk",
    "MultiHeadAttention(d, cfg.num_heads, dropout=cfg.dropout)",
    "MultiHeadAttention(d, cfg.num_heads)",
    "Your attention weights are never dropped. Which argument of lab 4's class is it?",
)
wrong.several(
    "NothingDropped",
    {
        "self.dropout1(self.attention(read, read, read, mask))": (
            "self.attention(read, read, read, mask)"
        ),
        "self.dropout2(self.linear2(hidden))": "self.linear2(hidden)",
    },
    "What your sublayers add to the stream is never dropped. Which two places are missing?",
)
wrong(
    "AttentionNotDropped",
    "self.dropout1(self.attention(read, read, read, mask))",
    "self.attention(read, read, read, mask)",
    "What your attention adds to the stream is never dropped; only what the network adds is. What "
    "does the task say about the two sublayers?",
)
wrong(
    "NetworkNotDropped",
    "self.dropout2(self.linear2(hidden))",
    "self.linear2(hidden)",
    "What your network adds to the stream is never dropped; only what the attention adds is. What "
    "does the task say about the two sublayers?",
)
wrong(
    "DroppedInsideToo",
    "self.linear2(hidden)",
    "self.linear2(self.dropout1(hidden))",
    "You drop features inside the feed-forward network, too, as lab 6's does. Which places does "
    "the task name?",
)
wrong(
    "StreamDropped",
    "return x + self.dropout2(self.linear2(hidden))",
    "return self.dropout2(x + self.linear2(hidden))",
    "You drop the stream itself, and no later layer can restore it. What alone is dropped?",
)
wrong(
    "DropsForEver",
    "self.dropout1(self.attention(read, read, read, mask))",
    "F.dropout(self.attention(read, read, read, mask), self.dropout1.p)",
    "Your block drops after `eval()`, too: `F.dropout` does not know the mode by itself. What does "
    "`nn.Dropout` do about it?",
)
wrong(
    "InPlace",
    "x = x + self.dropout1(",
    "x += self.dropout1(",
    "Your block changes its input: `+=` writes into the tensor that it was given. Who else may "
    "still need it?",
)
