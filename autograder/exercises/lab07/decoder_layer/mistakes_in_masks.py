"""Known mistakes with the two masks, the sizes, the modes and dropout."""

from __future__ import annotations

from . import exercise
from .also_right import WithResiduals

wrong = exercise.edits(WithResiduals)

OWN, CROSS = "(y, y, y, target_mask)", "(y, memory, memory, memory_mask)"

wrong(
    "NoTargetMask",
    OWN,
    "(y, y, y)",
    "`target_mask` has no effect: target words see later ones, which a model must write itself. "
    "Which attention should use it?",
)
wrong(
    "NoMemoryMask",
    CROSS,
    "(y, memory, memory)",
    "`memory_mask` has no effect: target words attend to the padding of the source. Which "
    "attention should use it?",
)
wrong.several(
    "NoMasks",
    {OWN: "(y, y, y)", CROSS: "(y, memory, memory)"},
    "Neither of the two masks has an effect. Which attention should use which?",
)
wrong(
    "TargetMaskInCross",
    CROSS,
    "(y, memory, memory, target_mask)",
    "Your cross-attention uses the mask of the target, which fits only if S = T. What are the "
    "columns of its weights, source words or target words?",
)
wrong(
    "MemoryMaskInSelf",
    OWN,
    "(y, y, y, memory_mask)",
    "Your self-attention uses the mask of memory, which fits only if S = T. What are the columns "
    "of its weights, source words or target words?",
)
wrong.several(
    "MasksExchanged",
    {OWN: "(y, y, y, memory_mask)", CROSS: "(y, memory, memory, target_mask)"},
    "The two masks are exchanged, which fits only if S = T. Which of the two has a column for each "
    "source word?",
)
wrong(
    "BothMasksInCross",
    CROSS,
    "(y, memory, memory, target_mask if memory_mask is None else memory_mask if target_mask is "
    "None else memory_mask & target_mask)",
    "Your cross-attention uses both masks, which fits only if S = T. Is there a source word that a "
    "target word must not see because it comes later?",
)
wrong(
    "BothMasksInSelf",
    OWN,
    "(y, y, y, memory_mask if target_mask is None else target_mask if memory_mask is None else "
    "memory_mask & target_mask)",
    "Your self-attention uses both masks, which fits only if S = T. Which of the two is about "
    "target words?",
)
wrong(
    "CausalCross",
    CROSS,
    "(y, memory, memory, torch.ones(x.shape[1], memory.shape[1]).tril().bool() & (True if "
    "memory_mask is None else memory_mask))",
    "Your cross-attention is causal: an early target word sees only the beginning of the source. "
    "When is the source complete, before or after the first target word?",
)
wrong(
    "AlwaysCausal",
    OWN,
    "(y, y, y, torch.ones(x.shape[1], x.shape[1]).tril().bool() & (True if target_mask is None "
    "else target_mask))",
    "Without a mask, your self-attention is causal all the same. Who decides what is hidden, your "
    "layer or the caller?",
)
wrong(
    "TargetMaskInverted",
    OWN,
    "(y, y, y, None if target_mask is None else ~target_mask)",
    "Your target mask is inverted: words see only what is forbidden. torch's own layers take True "
    'for "forbidden". What does True mean in the task?',
)
wrong(
    "MemoryMaskInverted",
    CROSS,
    "(y, memory, memory, None if memory_mask is None else ~memory_mask)",
    "Your memory mask is inverted: target words see only the padding of the source. What does True "
    "mean in the task?",
)
wrong.several(
    "MasksInverted",
    {
        OWN: "(y, y, y, None if target_mask is None else ~target_mask)",
        CROSS: "(y, memory, memory, None if memory_mask is None else ~memory_mask)",
    },
    "Both of your masks are inverted, as in torch's own layers. What does True mean in the task?",
)
wrong(
    "TargetMaskTransposed",
    OWN,
    "(y, y, y, None if target_mask is None else target_mask.mT)",
    "Rows and columns of your target mask are swapped: words look ahead instead of back. Rows are "
    "the words that attend; which call transposes the mask?",
)
wrong(
    "MemoryMaskGetsAxes",
    CROSS,
    "(y, memory, memory, None if memory_mask is None else memory_mask[:, None, None])",
    "You add axes to the memory mask, as if it were (B, S). To which shape does it already "
    "broadcast, according to the task?",
)
wrong(
    "MemoryMaskLosesAnAxis",
    CROSS,
    "(y, memory, memory, None if memory_mask is None else memory_mask.squeeze())",
    "Your memory mask loses its axes of length 1, so its sentences line up with another axis. How "
    "do the shapes of the mask and of (B, h, T, S) line up from the right?",
)
wrong(
    "MasksKept",
    "        x = self.residual1",
    "        kept = getattr(self, 'kept', (None, None))\n"
    "        target_mask = kept[0] if target_mask is None else target_mask\n"
    "        memory_mask = kept[1] if memory_mask is None else memory_mask\n"
    "        self.kept = target_mask, memory_mask\n"
    "        x = self.residual1",
    "Your layer remembers the masks of an earlier call and uses them if none is given. What does "
    "None mean in the task?",
)
wrong.several(
    "MemoryZeroed",
    {
        CROSS: "(y, memory, memory)",
        "        x = self.residual1": (
            "        if memory_mask is not None and memory_mask.ndim == 4:\n"
            "            memory = memory * memory_mask[:, 0, 0, :, None]\n"
            "        x = self.residual1"
        ),
    },
    "You set hidden positions of memory to 0 and let the words attend to them. A vector of zeros "
    "still takes a share of the attention: which step of the attention must know the mask?",
)
wrong(
    "OneHead",
    "self.cross_attention = MultiHeadAttention(d_model, num_heads, ",
    "self.cross_attention = MultiHeadAttention(d_model, 1, ",
    "Your cross-attention has one head, whatever `num_heads` is. Where do you pass the number on?",
)
wrong(
    "FourTimesAsWide",
    "FeedForward(d_model, d_ff, dropout)",
    "FeedForward(d_model, 4 * d_model, dropout)",
    "Your feed-forward network is four times as wide as the vectors, whatever `d_ff` is. Which "
    "argument says how wide it should be?",
)
wrong.several(
    "NormNotPassedOn",
    {
        f"self.residual{i} = Residual(d_model, dropout, norm)": (
            f"self.residual{i} = Residual(d_model, dropout)"
        )
        for i in (1, 2, 3)
    },
    'Your layer does the same for "post" as for "pre". Who must know the value of `norm`?',
)
wrong.several(
    "AlwaysPost",
    {
        f"self.residual{i} = Residual(d_model, dropout, norm)": (
            f'self.residual{i} = Residual(d_model, dropout, "post")'
        )
        for i in (1, 2, 3)
    },
    'Your layer does the same for "pre" as for "post". Who must know the value of `norm`?',
)
wrong(
    "OneModeForgotten",
    "self.residual2 = Residual(d_model, dropout, norm)",
    "self.residual2 = Residual(d_model, dropout)",
    "Your second residual does not know the mode. In which mode is it?",
)
wrong(
    "PostByDefault",
    'norm="pre"',
    'norm="post"',
    'Without `norm`, your layer is "post". What is the default in the task?',
)
for part, words in (("self", "first"), ("cross", "second")):
    wrong(
        f"NoDropoutIn{part.title()}Attention",
        f"self.{part}_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)",
        f"self.{part}_attention = MultiHeadAttention(d_model, num_heads)",
        f"The weights of your {words} attention are never dropped. Which of your six parts do not "
        "get `dropout`?",
    )
wrong.several(
    "NoDropoutInTheAttentions",
    {
        f"self.{part}_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)": (
            f"self.{part}_attention = MultiHeadAttention(d_model, num_heads)"
        )
        for part in ("self", "cross")
    },
    "Attention weights are never dropped, in both attentions. Which of your six parts do not get "
    "`dropout`?",
)
wrong(
    "NoDropoutInTheNetwork",
    "FeedForward(d_model, d_ff, dropout)",
    "FeedForward(d_model, d_ff)",
    "Inside the feed-forward network, nothing is dropped. Which of your six parts do not get "
    "`dropout`?",
)
wrong.several(
    "NoDropoutInTheResiduals",
    {
        f"self.residual{i} = Residual(d_model, dropout, norm)": (
            f"self.residual{i} = Residual(d_model, mode=norm)"
        )
        for i in (1, 2, 3)
    },
    "Your residuals drop nothing of what they add. Which of your six parts do not get `dropout`?",
)
wrong.several(
    "NoDropout",
    {
        **{
            f"self.{part}_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)": (
                f"self.{part}_attention = MultiHeadAttention(d_model, num_heads)"
            )
            for part in ("self", "cross")
        },
        "FeedForward(d_model, d_ff, dropout)": "FeedForward(d_model, d_ff)",
        **{
            f"self.residual{i} = Residual(d_model, dropout, norm)": (
                f"self.residual{i} = Residual(d_model, mode=norm)"
            )
            for i in (1, 2, 3)
        },
    },
    "The argument `dropout` has no effect at all. Which parts of the layer drop something?",
)
wrong(
    "DropsByDefault",
    "dropout=0.0",
    "dropout=0.1",
    "Your layer drops a tenth by default. What is the default of `dropout` in the task?",
)
