"""Known mistakes in `encode`, `decode` and `forward`, as edits of `Plain`."""

from __future__ import annotations

from . import exercise
from .also_right import Plain

SOURCE = "self.source_embedding(source) * self.scale"
TARGET = "self.target_embedding(target) * self.scale"
BEFORE_DECODER = """        seen = source_valid[:, None, None, :]  # (B, 1, 1, S)
        for layer in self.decoder:
"""

wrong = exercise.edits(Plain)

wrong.several(
    "NotScaled",
    {SOURCE: "self.source_embedding(source)", TARGET: "self.target_embedding(target)"},
    "The vectors of your embeddings go to `position` as they are. How long is such a vector, and "
    "how long is a position (6.3)?",
)
wrong(
    "SourceNotScaled",
    SOURCE,
    "self.source_embedding(source)",
    "The target's vectors are multiplied before positions are added, and the source's are not. "
    "Which does the task mean?",
)
wrong(
    "TargetNotScaled",
    TARGET,
    "self.target_embedding(target)",
    "The source's vectors are multiplied before positions are added, and the target's are not. "
    "Which does the task mean?",
)
wrong(
    "ScaledByD",
    "math.sqrt(d)",
    "d",
    "You multiply the vectors by d_model, so positions are drowned. What is missing?",
)
wrong(
    "DividedByTheRoot",
    "math.sqrt(d)",
    "1 / math.sqrt(d)",
    "You make the vectors of your embeddings smaller. Which operation does the task name?",
)
wrong.several(
    "PositionsScaledToo",
    {
        "self.position(self.source_embedding(source) * self.scale)": (
            "self.position(self.source_embedding(source)) * self.scale"
        ),
        "self.position(self.target_embedding(target) * self.scale)": (
            "self.position(self.target_embedding(target)) * self.scale"
        ),
    },
    "You add the positions first, so they are multiplied, too. In which order do the two steps "
    "come, according to the task?",
)
wrong(
    "LogitsScaled",
    "self.head(self.decoder_norm(y))",
    "self.head(self.decoder_norm(y)) / self.scale",
    "You divide the logits by √d_model. What does the task say about them?",
)
wrong(
    "LogitsMultiplied",
    "self.head(self.decoder_norm(y))",
    "self.head(self.decoder_norm(y) * self.scale)",
    "You multiply by √d_model before the head as well. Which vectors are multiplied, according to "
    "the task?",
)
wrong(
    "Probabilities",
    "self.head(self.decoder_norm(y))",
    "self.head(self.decoder_norm(y)).softmax(-1)",
    "Your rows sum to 1: you return probabilities. What does the loss of lab 1 take?",
)
wrong(
    "LogProbabilities",
    "self.head(self.decoder_norm(y))",
    "self.head(self.decoder_norm(y)).log_softmax(-1)",
    "You return logarithms of probabilities. Which step comes before softmax, and what are its "
    "numbers called?",
)
wrong.several(
    "NoPositions",
    {
        f"self.position({SOURCE})": SOURCE,
        f"self.position({TARGET})": TARGET,
    },
    "Your model adds no positions, so it reads a bag of symbols. Which part do you never call?",
)
wrong(
    "NoPositionsInTheTarget",
    f"self.position({TARGET})",
    TARGET,
    "Positions are added to the source, and none to the target. For which sides is `position`?",
)
wrong(
    "NoPositionsInTheSource",
    f"self.position({SOURCE})",
    SOURCE,
    "Positions are added to the target, and none to the source. For which sides is `position`?",
)
wrong(
    "PositionsInEachLayer",
    "            x = layer(x, seen)\n",
    "            x = layer(self.position(x), seen)\n",
    "Positions are added again before every encoder layer. How many times does the task add them?",
)
wrong(
    "OneTableForBothSides",
    TARGET,
    "self.source_embedding(target % self.source_embedding.num_embeddings) * self.scale",
    "Target symbols are looked up in the source's table. Which table is never used for reading?",
)
wrong(
    "LastLayerSkipped",
    "for layer in self.encoder:",
    "for layer in self.encoder[: max(1, len(self.encoder) - 1)]:",
    "The memory comes from the last layer but one. How many layers does your loop run through?",
)
wrong(
    "FirstLayerOnly",
    "for layer in self.encoder:",
    "for layer in self.encoder[:1]:",
    "The memory is the output of the first encoder layer. What should come between it and the "
    "decoder?",
)
wrong(
    "EachLayerReadsTheEmbeddings",
    "            x = layer(x, seen)\n        return self.encoder_norm(x)",
    "            out = layer(x, seen)\n        return self.encoder_norm(out)",
    "Each encoder layer gets the embeddings, and only the last one's output is used. What should a "
    "layer get?",
)
wrong(
    "LayersInLockStep",
    "        memory = self.encode(source, source_valid)\n"
    "        return self.decode(target, memory, source_valid)\n",
    """        seen, T = source_valid[:, None, None, :], target.shape[1]
        causal = torch.ones(T, T).tril().bool()
        x = self.position(self.source_embedding(source) * self.scale )
        y = self.position(self.target_embedding(target) * self.scale )
        for number, layer in enumerate(self.decoder):
            if number < len(self.encoder):
                x = self.encoder[number](x, seen)
            y = layer(y, self.encoder_norm(x), target_mask=causal, memory_mask=seen)
        return self.head(self.decoder_norm(y))
""",
    "Decoder layer i reads the output of encoder layer i. From where do all decoder layers read, "
    "according to the task?",
)
wrong(
    "MemoryBecomesTheStream",
    "            y = layer(y, memory, target_mask=causal, memory_mask=seen)\n",
    "            y = layer(y, memory, target_mask=causal, memory_mask=seen)\n"
    "            memory = memory + self.decoder_norm(memory)\n",
    "Your decoder changes the memory from layer to layer. What should the second layer read?",
)
wrong(
    "MemoryNormedAgain",
    "layer(y, memory, target_mask",
    "layer(y, self.encoder_norm(memory), target_mask",
    "The memory is normalised once in `encode` and again in `decode`. What does `decode` get, "
    "according to the task?",
)
wrong(
    "NoNormAfterTheEncoder",
    "return self.encoder_norm(x)",
    "return x",
    'With norm "pre", the memory leaves your encoder without a normalisation. Which part do you '
    "never call?",
)
wrong(
    "NoNormBeforeTheHead",
    "self.head(self.decoder_norm(y))",
    "self.head(y)",
    'With norm "pre", the stream goes into your head without a normalisation. Which part do you '
    "never call?",
)
wrong(
    "NormsSwapped",
    "return self.encoder_norm(x)",
    "return self.decoder_norm(x)",
    "The decoder's normalisation is applied to the memory. Which one belongs to the encoder?",
)
wrong(
    "FutureSeen",
    "target_mask=causal, ",
    "",
    "A position of your decoder sees all symbols of the target, the later ones, too. Which mask is "
    "missing, and in which of the two attentions?",
)
wrong(
    "PastHidden",
    ".tril().bool()",
    ".triu().bool()",
    "Your target mask hides earlier symbols and shows later ones. Which triangle is True?",
)
wrong(
    "OneSymbolAhead",
    ".tril().bool()",
    ".tril(1).bool()",
    "Each position of your decoder sees one symbol too many, the one that it should predict. Does "
    "the diagonal belong to the mask of lab 5?",
)
wrong(
    "ItselfHidden",
    ".tril().bool()",
    ".tril(-1).bool()",
    "No position of your decoder sees its own input, and the first sees nothing at all. Does the "
    "diagonal belong to the mask of lab 5?",
)
wrong(
    "MaskAsNumbers",
    ".tril().bool()",
    ".triu(1) * -1e9",
    "Your target mask holds numbers. What do the layers take: numbers to add, or True and False?",
)
wrong(
    "PaddingSeenByTheEncoder",
    "x = layer(x, seen)",
    "x = layer(x)",
    "Your encoder attends to source positions without a symbol. Where do you use `source_valid`?",
)
wrong(
    "PaddingSeenByTheDecoder",
    "target_mask=causal, memory_mask=seen",
    "target_mask=causal",
    "Your decoder looks at source positions without a symbol. Which mask does its second attention "
    "need?",
)
wrong.several(
    "PaddingSeen",
    {
        "x = layer(x, seen)": "x = layer(x)",
        "target_mask=causal, memory_mask=seen": "target_mask=causal",
    },
    "Source positions without a symbol are read by both of your stacks. Which argument do you "
    "never use?",
)
wrong(
    "MasksExchanged",
    "target_mask=causal, memory_mask=seen",
    "target_mask=seen, memory_mask=causal",
    "The two masks of your decoder are exchanged. Which attention has the source for its keys?",
)
wrong.several(
    "MaskInverted",
    {
        "        seen = source_valid[:, None, None, :]  # (B, 1, 1, S)\n"
        "        for layer in self.encoder:": "        seen = ~source_valid[:, None, None, :]\n"
        "        for layer in self.encoder:",
        BEFORE_DECODER: "        seen = ~source_valid[:, None, None, :]\n"
        "        for layer in self.decoder:\n",
    },
    "Your masks are inverted: only positions without a symbol are looked at. What does True mean "
    "in `source_valid`, and what in a mask?",
)
wrong.several(
    "QueriesMasked",
    {
        "        seen = source_valid[:, None, None, :]  # (B, 1, 1, S)\n"
        "        for layer in self.encoder:": "        seen = source_valid[:, None, :, None]\n"
        "        for layer in self.encoder:",
    },
    "The mask of your encoder stops positions without a symbol from looking, and not from being "
    "looked at. On which axis are the keys?",
)
wrong(
    "MaskByPosition",
    BEFORE_DECODER,
    "        seen = source_valid[0]\n        for layer in self.decoder:\n",
    "Your decoder uses the first sentence's mask for all sentences. Which axis of `source_valid` "
    "did you lose?",
)
wrong(
    "MemoryDetached",
    "        memory = self.encode(source, source_valid)\n",
    "        memory = self.encode(source, source_valid).detach()\n",
    "No gradient reaches your encoder, so it never learns. Which call cuts torch's graph?",
)
wrong(
    "MemoryDetachedInDecode",
    "            y = layer(y, memory, target_mask=causal, memory_mask=seen)\n",
    "            y = layer(y, memory.data, target_mask=causal, memory_mask=seen)\n",
    "In `decode`, no gradient flows back to `memory`. Which expression cuts torch's graph?",
)
wrong(
    "LastPositionOnly",
    "self.head(self.decoder_norm(y))",
    "self.head(self.decoder_norm(y[:, -1]))",
    "You return logits for the last position only. For how many positions does the task ask?",
)
wrong(
    "MemoryReturnedToo",
    "        return self.decode(target, memory, source_valid)\n",
    "        return self.decode(target, memory, source_valid), memory\n",
    "Calling your model returns a pair. What does the task ask for?",
)
wrong(
    "OneDecoderLayer",
    "            y = layer(y, memory, target_mask=causal, memory_mask=seen)\n        return",
    "            y = layer(y, memory, target_mask=causal, memory_mask=seen)\n            break\n"
    "        return",
    "Your decoder stops after its first layer. How many layers does its loop run through?",
)
wrong(
    "LongestNotChecked",
    "PositionalEncoding(d, cfg.max_len, cfg.dropout)",
    "PositionalEncoding(d, cfg.max_len + 1, cfg.dropout)",
    "Your model takes one position more than cfg.max_len. Positions are counted from 0: how many "
    "rows does the table need?",
)
wrong(
    "SourcePositionsScaledToo",
    "self.position(self.source_embedding(source) * self.scale)",
    "self.position(self.source_embedding(source)) * self.scale",
    "In your encoder, positions are added first and multiplied, too. How does your decoder do it?",
)
wrong(
    "TargetPositionsScaledToo",
    "self.position(self.target_embedding(target) * self.scale)",
    "self.position(self.target_embedding(target)) * self.scale",
    "In your decoder, positions are added first and multiplied, too. How does your encoder do it?",
)
wrong.several(
    "KeysOnTheQueriesAxis",
    {
        "        seen = source_valid[:, None, None, :]  # (B, 1, 1, S)\n"
        "        for layer in self.encoder:": "        seen = source_valid[:, None, :, None]\n"
        "        for layer in self.encoder:",
        BEFORE_DECODER: "        seen = source_valid[:, None, :, None]\n"
        "        for layer in self.decoder:\n",
    },
    "Your masks have the source on the axis of the queries. Which of the four axes (B, h, Lq, Lk) "
    "belongs to the keys?",
)
wrong.several(
    "NoAxisForTheHeads",
    {
        "        seen = source_valid[:, None, None, :]  # (B, 1, 1, S)\n"
        "        for layer in self.encoder:": "        seen = source_valid[:, None, :]\n"
        "        for layer in self.encoder:",
        BEFORE_DECODER: "        seen = source_valid[:, None, :]\n"
        "        for layer in self.decoder:\n",
    },
    "Your masks have three axes, so the sentences meet the heads. Which four axes does an "
    "attention's mask have?",
)
wrong(
    "MemoryOfOneVector",
    "return self.encoder_norm(x)",
    "return self.encoder_norm(x)[:, -1:]",
    "Your memory is one vector for each sentence, as in lab 2's models without attention. How many "
    "vectors can the decoder look at, according to the task?",
)
wrong(
    "ArgumentsExchanged",
    "return self.decode(target, memory, source_valid)",
    "return self.decode(memory, target, source_valid)",
    "In `forward`, `decode` gets the memory where it expects symbols. In which order do its "
    "arguments come?",
)
