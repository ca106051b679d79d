"""Known mistakes in layers that are built on `Residual`, as edits of a right version."""

from __future__ import annotations

from . import exercise, mistakes_in_own_attention, mistakes_in_own_norms  # noqa: F401 - to register
from .also_right import WithResiduals

wrong = exercise.edits(WithResiduals)

ATTEND = "lambda y: self.self_attention(y, y, y, mask)"
FIRST = f"x = self.residual1(x, {ATTEND})"
SECOND = "return self.residual2(x, lambda y: self.feed_forward(y))"

wrong(
    "MaskIgnored",
    "(y, y, y, mask)",
    "(y, y, y)",
    "The mask changes nothing in your output, so words attend to padding. Where does your code use "
    "`mask`?",
)
wrong(
    "MaskInverted",
    "(y, y, y, mask)",
    "(y, y, y, None if mask is None else ~mask)",
    "Your mask is inverted: words attend only to forbidden words. torch's own layers take True for "
    '"forbidden". What does True mean in the task?',
)
wrong(
    "MaskTransposed",
    "(y, y, y, mask)",
    "(y, y, y, None if mask is None else mask.mT)",
    "Rows and columns of your mask are swapped. Rows are the words that attend. Which call "
    "transposes the mask?",
)
wrong(
    "MaskForQueriesToo",
    "(y, y, y, mask)",
    "(y, y, y, None if mask is None else "
    "mask & mask.expand(*mask.shape[:-2], *(2 * y.shape[1:2])).mT)",
    "You take the mask for the words that *ask* as well, so a hidden word sees no other. What does "
    "the last axis of (B, h, S, S) index, and what else does the task hide?",
)
wrong(
    "MaskGetsAxes",
    "(y, y, y, mask)",
    "(y, y, y, None if mask is None else mask[:, None, None])",
    "You add axes to the mask, as if it were (B, S). To which shape does the mask already "
    "broadcast, according to the task?",
)
wrong(
    "MaskLosesAnAxis",
    "(y, y, y, mask)",
    "(y, y, y, mask.squeeze() if mask is not None else None)",
    "Your mask loses its axes of length 1, so its sentences line up with another axis of the "
    "scores. How do the shapes of the mask and of (B, h, S, S) line up from the right?",
)
wrong(
    "OneRowOfTheMask",
    "(y, y, y, mask)",
    "(y, y, y, None if mask is None else "
    "(mask & torch.ones(len(y), 1, y.shape[1], 1).bool())[:, :1, :1])",
    "You use the first row of the mask for all words and heads, which is enough for padding only "
    "(torch's `key_padding_mask`). Which masks does the task allow?",
)
wrong(
    "MaskAlwaysCausal",
    "(y, y, y, mask)",
    "(y, y, y, torch.ones(2 * x.shape[1:2]).tril().bool() & (mask if mask is not None else True))",
    "In your layer, no word sees a later one. Is there anything in an encoder that must be hidden "
    "apart from what the mask forbids?",
)
wrong(
    "MaskKept",
    "def forward(self, x, mask=None):",
    "def forward(self, x, mask=None):\n"
    "        mask = self.kept = mask if mask is not None else getattr(self, 'kept', None)",
    "Your layer remembers the mask of an earlier call and uses it if none is given. What does None "
    "mean in the task?",
)
wrong(
    "StreamNotNormedForAttention",
    "(y, y, y, mask)",
    "(x, x, x, mask)",
    'With "pre", your attention gets x itself, without a normalisation. If you use `Residual`: '
    "which name does your function give to its argument, and which one does it use?",
)
wrong(
    "OnlyQueriesNormed",
    "(y, y, y, mask)",
    "(y, x, x, mask)",
    'With "pre", only your queries are normalised; keys and values come from x itself. What '
    "should all three be made from?",
)
wrong(
    "NetworkNotNormed",
    "lambda y: self.feed_forward(y)",
    "lambda y: self.feed_forward(x)",
    'With "pre", your feed-forward network gets its x without a normalisation. What does the '
    "second residual pass to its sublayer in this mode?",
)
wrong(
    "NormForgottenInBoth",
    "(y, y, y, mask))\n        return self.residual2(x, lambda y: self.feed_forward(y))",
    "(x, x, x, mask))\n        return self.residual2(x, lambda y: self.feed_forward(x))",
    'With "pre", neither of your sublayers gets normalised vectors. If you use `Residual`: what '
    "does it pass to your functions, and do they use it?",
)
wrong(
    "FirstResidualTwice",
    "self.residual2(x, ",
    "self.residual1(x, ",
    "The first normalisation serves both of your sublayers, and the second is never used. Which "
    "one belongs to the feed-forward network?",
)
wrong(
    "SecondResidualTwice",
    "self.residual1(x, ",
    "self.residual2(x, ",
    "The second normalisation serves both of your sublayers, and the first is never used. Which "
    "one belongs to the attention?",
)
wrong.several(
    "ResidualsExchanged",
    {"self.residual1(x, ": "self.residual3(x, ", "self.residual2(x, ": "self.residual1(x, ",
     "self.residual3(x, ": "self.residual2(x, "},
    "The two normalisations are exchanged: the attention goes with the second one. With trained "
    "weights this matters. Which belongs to which?",
)  # fmt: skip
wrong(
    "AddedTwice",
    FIRST,
    f"x = x + self.residual1(x, {ATTEND})",
    "You add x to the result of `residual1`. How often is x in that sum, if you look into "
    "`Residual`?",
)
wrong(
    "NetworkAddedTwice",
    SECOND,
    "return x + self.residual2(x, lambda y: self.feed_forward(y))",
    "You add x to the result of `residual2`. How often is x in that sum, if you look into "
    "`Residual`?",
)
wrong.several(
    "BothAddedTwice",
    {
        FIRST: f"x = x + self.residual1(x, {ATTEND})",
        SECOND: "return x + self.residual2(x, lambda y: self.feed_forward(y))",
    },
    "You add x to the results of both residuals. What does a `Residual` do with its input?",
)
wrong(
    "ResultInsteadOfFunction",
    ATTEND,
    "self.self_attention(x, x, x, mask)",
    "`residual1` gets the result of the attention, a tensor, and cannot call it. What is the "
    "second argument of a `Residual`?",
)
wrong(
    "AttentionWithoutResidual",
    FIRST,
    "x = self.self_attention(x, x, x, mask)",
    "Your attention is outside of its residual: x is replaced, not added to. What flows past each "
    "sublayer?",
)
wrong(
    "NetworkWithoutResidual",
    SECOND,
    "return self.feed_forward(x)",
    "Your feed-forward network is outside of its residual: x is replaced, not added to. What flows "
    "past each sublayer?",
)
wrong.several(
    "NetworkFirst",
    {
        FIRST: "x = self.residual2(x, self.feed_forward)",
        SECOND: f"return self.residual1(x, {ATTEND})",
    },
    "Your feed-forward network comes before the attention. In which order does the task name the "
    "two?",
)
wrong.several(
    "NetworkInsideTheAttentionsResidual",
    {
        FIRST: "x = self.residual1(x, lambda y: self.feed_forward("
        "self.self_attention(y, y, y, mask)))",
        SECOND: "return x",
    },
    "Attention and network are inside one residual, one after the other. How many residuals does "
    "the layer have?",
)
wrong(
    "NoNetwork",
    SECOND,
    "return x",
    "The feed-forward network is never called. What comes after the attention?",
)
wrong(
    "NoAttention",
    FIRST,
    "pass",
    "The attention is never called, so no word sees another. What comes before the network?",
)
wrong(
    "AttentionTwice",
    SECOND,
    f"return self.residual2(x, {ATTEND})",
    "Your second residual is around the attention again. Which sublayer is inside it, according to "
    "the task?",
)
wrong(
    "NormNotPassedOn",
    "        self.residual1 = Residual(d_model, dropout, norm)\n"
    "        self.residual2 = Residual(d_model, dropout, norm)",
    "        self.residual1 = Residual(d_model, dropout)\n"
    "        self.residual2 = Residual(d_model, dropout)",
    'Your layer does the same for "post" as for "pre". Who must know the value of `norm`?',
)
wrong.several(
    "AlwaysPost",
    {
        "self.residual1 = Residual(d_model, dropout, norm)": (
            'self.residual1 = Residual(d_model, dropout, "post")'
        ),
        "self.residual2 = Residual(d_model, dropout, norm)": (
            'self.residual2 = Residual(d_model, dropout, "post")'
        ),
    },
    'Your layer does the same for "pre" as for "post". Who must know the value of `norm`?',
)
wrong(
    "PostByDefault",
    'norm="pre"',
    'norm="post"',
    'Without `norm`, your layer is "post". What is the default in the task?',
)
wrong(
    "SecondModeForgotten",
    "self.residual2 = Residual(d_model, dropout, norm)",
    "self.residual2 = Residual(d_model, dropout)",
    "Only your first residual knows the mode. In which mode is the second one?",
)
wrong(
    "NoDropoutInTheAttention",
    ", dropout=dropout)",
    ")",
    "Attention weights are never dropped. Which of your four parts do not get `dropout`?",
)
wrong(
    "NoDropoutInTheNetwork",
    "FeedForward(d_model, d_ff, dropout)",
    "FeedForward(d_model, d_ff)",
    "Inside the feed-forward network, nothing is dropped. Which of your four parts do not get "
    "`dropout`?",
)
wrong.several(
    "NoDropoutInTheResiduals",
    {
        "self.residual1 = Residual(d_model, dropout, norm)": (
            "self.residual1 = Residual(d_model, mode=norm)"
        ),
        "self.residual2 = Residual(d_model, dropout, norm)": (
            "self.residual2 = Residual(d_model, mode=norm)"
        ),
    },
    "Your residuals drop nothing of what they add. Which of your four parts do not get `dropout`?",
)
wrong.several(
    "NoDropout",
    {
        ", dropout=dropout)": ")",
        "FeedForward(d_model, d_ff, dropout)": "FeedForward(d_model, d_ff)",
        "self.residual1 = Residual(d_model, dropout, norm)": (
            "self.residual1 = Residual(d_model, mode=norm)"
        ),
        "self.residual2 = Residual(d_model, dropout, norm)": (
            "self.residual2 = Residual(d_model, mode=norm)"
        ),
    },
    "The argument `dropout` has no effect at all. Which parts of the layer drop something?",
)
wrong(
    "DropsByDefault",
    "dropout=0.0",
    "dropout=0.1",
    "Your layer drops a tenth by default. What is the default of `dropout` in the task?",
)
wrong(
    "DropsTheOutput",
    SECOND,
    "x = self.residual2(x, lambda y: self.feed_forward(y))\n"
    "        return torch.nn.functional.dropout(x, self.residual1.dropout.p, self.training)",
    "Your layer also drops numbers of its output, the stream itself. In which parts does the task "
    "drop something?",
)
wrong(
    "OneHead",
    "MultiHeadAttention(d_model, num_heads, ",
    "MultiHeadAttention(d_model, 1, ",
    "Your attention has one head, whatever `num_heads` is. Where do you pass the number on?",
)
wrong(
    "FourTimesAsWide",
    "FeedForward(d_model, d_ff, dropout)",
    "FeedForward(d_model, 4 * d_model, dropout)",
    "Your feed-forward network is four times as wide as the vectors, whatever `d_ff` is. Which "
    "argument says how wide it should be?",
)
wrong(
    "InPlace",
    FIRST,
    "if torch.is_grad_enabled():\n"
    f"            {FIRST}\n"
    "        else:\n"
    f"            x.copy_(self.residual1(x, {ATTEND}))",
    "Your layer writes into x, so the caller's tensor changes. Which operation of yours works in "
    "place?",
)
wrong(
    "AttentionDetached",
    "self.self_attention(y, y, y, mask)",
    "self.self_attention(y, y, y, mask).detach()",
    "No gradient goes through the attention, so it learns nothing. Which call cuts torch's graph?",
)
wrong(
    "StreamDetached",
    SECOND,
    "return self.residual2(x.detach(), lambda y: self.feed_forward(y))",
    "Behind the attention, the gradient stops: only the feed-forward network learns. Which call "
    "cuts torch's graph?",
)
wrong(
    "AttentionsPairReturned",
    SECOND,
    SECOND.replace("return ", "return None, "),
    "Your layer returns a pair. What does the task return?",
)
wrong(
    "TimeFirst",
    FIRST,
    "x = self.residual1(x, lambda y: self.self_attention(y.transpose(0, 1), y.transpose(0, 1), "
    "y.transpose(0, 1), mask).transpose(0, 1))",
    "Your attention takes the first axis for time, as torch's layers do by default, so words "
    "attend to words of other sentences. Which axis comes first here?",
)
wrong(
    "OutputZeroedAtPadding",
    SECOND,
    "x = self.residual2(x, self.feed_forward)\n"
    "        return x if mask is None or mask.ndim != 4 else x * mask[:, 0, -1, :, None]",
    "Your layer sets words to 0 that the mask hides. The mask says who may be *seen*: what does it "
    "say about a word's own output?",
)
