"""Known mistakes with the three sublayers and what they see, as edits of a right version."""

from __future__ import annotations

from . import exercise, mistakes_in_masks, mistakes_in_own_norms  # noqa: F401 - to register them
from .also_right import WithResiduals

wrong = exercise.edits(WithResiduals)

ATTEND = "lambda y: self.self_attention(y, y, y, target_mask)"
LOOK = "lambda y: self.cross_attention(y, memory, memory, memory_mask)"
FIRST, SECOND = f"x = self.residual1(x, {ATTEND})", f"x = self.residual2(x, {LOOK})"
THIRD = "return self.residual3(x, lambda y: self.feed_forward(y))"
CROSS = "(y, memory, memory, memory_mask)"

wrong(
    "ValuesFromX",
    CROSS,
    "(y, memory, y, memory_mask)",
    "In your cross-attention, keys come from memory but values from the target, which runs only if "
    "S = T. A target word then gets nothing of the source. What does a key stand for, and what "
    "its value?",
)
wrong(
    "KeysFromX",
    CROSS,
    "(y, y, memory, memory_mask)",
    "In your cross-attention, values come from memory but keys from the target, which runs only if "
    "S = T. With what should a query be compared?",
)
wrong(
    "RolesSwapped",
    CROSS,
    "(memory, y, y, memory_mask)",
    "In your cross-attention, memory asks and the target answers, which runs only if S = T. Which "
    "of the two texts needs to find something in the other?",
)
wrong(
    "CrossSeesTheTarget",
    CROSS,
    "(y, y, y, memory_mask)",
    "Your second attention looks at the target again; memory is never used. Where do keys and "
    "values of the cross-attention come from?",
)
wrong(
    "SelfSeesMemory",
    "(y, y, y, target_mask)",
    "(y, memory, memory, target_mask)",
    "Your self-attention takes keys and values from memory, so no target word sees an earlier one. "
    "What does *self* mean here?",
)
wrong(
    "SelfAttentionAsksMemoryForValues",
    "(y, y, y, target_mask)",
    "(y, y, memory, target_mask)",
    "Your self-attention takes its values from memory, which runs only if S = T. From which text "
    "are its queries, keys and values made?",
)
wrong(
    "SelfSeesBoth",
    ATTEND,
    "lambda y: self.self_attention(y, z := torch.cat((memory, y), 1), z, None if target_mask is "
    "None else F.pad(target_mask, (memory.shape[1], 0), value=True))",
    "Your self-attention sees memory, too, in front of the target. In this layer, which sublayer "
    "looks at memory?",
)
wrong(
    "CrossSeesBoth",
    LOOK,
    "lambda y: self.cross_attention(y, z := torch.cat((memory, y), 1), z, None if memory_mask is "
    "None else F.pad(memory_mask, (0, y.shape[1]), value=True))",
    "Your cross-attention sees the target, too, behind memory, where no mask hides later words. "
    "From which text do its keys and values come?",
)
wrong(
    "CrossSeesTheLast",
    LOOK,
    "lambda y: self.cross_attention(y, memory[:, -1:], memory[:, -1:])",
    "Your cross-attention sees one position of memory, as lab 2's first decoder got one vector. "
    "How many positions has memory, and who chooses among them?",
)
wrong.several(
    "BothInOneResidual",
    {
        FIRST: "x = self.residual1(x, lambda y: self.self_attention(y, y, y, target_mask) + "
        "self.cross_attention(y, memory, memory, memory_mask))",
        f"        {SECOND}\n": "",
    },
    "Both attentions are added in one residual, as if they were one sum. How many sublayers, each "
    "with its own residual, has the layer?",
)
wrong(
    "CrossBeforeSelf",
    f"{FIRST}\n        {SECOND}",
    f"{SECOND}\n        {FIRST}",
    "Your cross-attention comes before the self-attention. In which order does the task name them?",
)
wrong(
    "NetworkBeforeCross",
    f"{SECOND}\n        {THIRD}",
    f"x = self.residual3(x, self.feed_forward)\n        return self.residual2(x, {LOOK})",
    "Your feed-forward network comes before the cross-attention. In which order does the task name "
    "the three?",
)
wrong(
    "NoCross",
    SECOND,
    "pass",
    "The cross-attention is never called, so nothing of the source reaches the target. What comes "
    "between self-attention and network?",
)
wrong(
    "NoSelf",
    FIRST,
    "pass",
    "The self-attention is never called, so no target word sees an earlier one. Which sublayer "
    "comes first?",
)
wrong(
    "NoNetwork",
    THIRD,
    "return x",
    "The feed-forward network is never called. What comes after the two attentions?",
)
wrong(
    "OneAttentionForBoth",
    "self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)",
    "self.cross_attention = self.self_attention",
    "Your two attentions are one object with one set of weights. How many attentions, each with "
    "its own weights, does the task name?",
)
wrong(
    "SelfAttentionTwice",
    "self.cross_attention(y, memory",
    "self.self_attention(y, memory",
    "You call `self_attention` for both attentions; the weights of the other one are never used. "
    "Which one looks at memory?",
)
wrong.several(
    "AttentionsExchanged",
    {
        "self.self_attention(y, y, y": "self.third(y, y, y",
        "self.cross_attention(y, memory": "self.self_attention(y, memory",
        "self.third(y, y, y": "self.cross_attention(y, y, y",
    },
    "`cross_attention` attends to the target and `self_attention` to memory: the two are "
    "exchanged. With copied weights this matters. Which name belongs to which?",
)
wrong(
    "CrossNotNormed",
    CROSS,
    "(x, memory, memory, memory_mask)",
    'With "pre", the queries of your cross-attention come from the stream without a normalisation. '
    "If you use `Residual`: which name does your function give to its argument, and which one does "
    "it use?",
)
wrong(
    "SelfNotNormed",
    "(y, y, y, target_mask)",
    "(x, x, x, target_mask)",
    'With "pre", your self-attention sees the stream without a normalisation. If you use '
    "`Residual`: which name does your function give to its argument, and which one does it use?",
)
wrong(
    "OnlyQueriesNormed",
    "(y, y, y, target_mask)",
    "(y, x, x, target_mask)",
    'With "pre", only the queries of your self-attention are normalised. What should all three be '
    "made from?",
)
wrong(
    "NetworkNotNormed",
    "lambda y: self.feed_forward(y)",
    "lambda y: self.feed_forward(x)",
    'With "pre", your feed-forward network sees the stream without a normalisation. What does the '
    "third residual pass to its sublayer in this mode?",
)
wrong.several(
    "NeitherAttentionNormed",
    {"(y, y, y, target_mask)": "(x, x, x, target_mask)", CROSS: "(x, memory, memory, memory_mask)"},
    'With "pre", neither of your attentions gets normalised vectors. If you use `Residual`: what '
    "does it pass to your functions, and do they use it?",
)
wrong(
    "MemoryNormed",
    SECOND,
    "memory = self.residual2.norm(memory)\n        " + SECOND,
    "You normalise memory once more, although the encoder has done that. Which vectors does the "
    "second residual normalise?",
)
wrong(
    "MemoryNormedInPre",
    SECOND,
    "memory = self.residual2.norm(memory) if self.residual2.mode == 'pre' else memory\n        "
    + SECOND,
    'With "pre", you normalise memory, too. It comes from the encoder, not from this layer\'s '
    "stream: who has normalised it, according to the task?",
)
wrong(
    "CrossReadsTheInput",
    f"{FIRST}\n        {SECOND}",
    f"start = x\n        {FIRST}\n        x = x + self.residual2(start, {LOOK}) - start",
    "Your cross-attention asks with the layer's input and not with what the self-attention has "
    "added to it. What is its x?",
)
wrong(
    "SecondResidualAgain",
    "self.residual3(x, ",
    "self.residual2(x, ",
    "The second normalisation also serves your feed-forward network, and the third is never used. "
    "Which one belongs to the network?",
)
wrong(
    "FirstResidualAgain",
    "self.residual2(x, ",
    "self.residual1(x, ",
    "The first normalisation serves both of your attentions, and the second is never used. Which "
    "one belongs to the cross-attention?",
)
wrong.several(
    "OneResidualForAll",
    {"self.residual2(x, ": "self.residual1(x, ", "self.residual3(x, ": "self.residual1(x, "},
    "The first normalisation serves all three sublayers; the other two are never used. Which one "
    "belongs to which sublayer?",
)
wrong.several(
    "ResidualsExchanged",
    {
        "self.residual1(x, ": "self.other(x, ",
        "self.residual2(x, ": "self.residual1(x, ",
        "self.other(x, ": "self.residual2(x, ",
    },
    "The first two normalisations are exchanged. With trained weights this matters. Which belongs "
    "to the self-attention?",
)
wrong(
    "SelfWithoutResidual",
    FIRST,
    "x = self.self_attention(x, x, x, target_mask)",
    "Your self-attention is outside of its residual: it replaces x. What flows past each sublayer?",
)
wrong(
    "CrossWithoutResidual",
    SECOND,
    "x = self.cross_attention(x, memory, memory, memory_mask)",
    "Your cross-attention is outside of its residual: it replaces x, so the target is lost. What "
    "flows past each sublayer?",
)
wrong(
    "NetworkWithoutResidual",
    THIRD,
    "return self.feed_forward(x)",
    "Your feed-forward network is outside of its residual: it replaces x. What flows past each "
    "sublayer?",
)
wrong(
    "CrossAddedTwice",
    SECOND,
    f"x = x + self.residual2(x, {LOOK})",
    "You add x to the result of your second residual. How often is x in that sum, if you look into "
    "`Residual`?",
)
wrong.several(
    "AllAddedTwice",
    {
        FIRST: f"x = x + self.residual1(x, {ATTEND})",
        SECOND: f"x = x + self.residual2(x, {LOOK})",
        THIRD: THIRD.replace("return ", "return x + "),
    },
    "You add x to the results of all residuals. What does a `Residual` do with its input?",
)
wrong(
    "MemoryAsTheStream",
    f"self.residual2(x, {LOOK})",
    "self.residual2(memory, lambda y: self.cross_attention(x, y, y, memory_mask))",
    "Your second residual adds to memory and not to the target, which runs only if S = T. What is "
    "the stream of a decoder layer?",
)
wrong(
    "ResultInsteadOfFunction",
    LOOK,
    "self.cross_attention(x, memory, memory, memory_mask)",
    "Your second residual gets the result of the attention, a tensor, and cannot call it. What is "
    "the second argument of a `Residual`?",
)
wrong(
    "PairReturned",
    THIRD,
    THIRD.replace("lambda y: self.feed_forward(y))", "lambda y: self.feed_forward(y)), memory"),
    "Your layer returns a pair. What does the task return?",
)
wrong(
    "MemoryDetached",
    CROSS,
    "(y, memory.detach(), memory.detach(), memory_mask)",
    "No gradient reaches memory, so the encoder would learn nothing. Which call cuts torch's "
    "graph?",
)
wrong(
    "StreamDetached",
    "self.residual3(x, ",
    "self.residual3(x.detach(), ",
    "Behind the attentions, the gradient stops: only the feed-forward network learns. Which call "
    "cuts torch's graph?",
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
