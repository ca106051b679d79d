"""Known mistakes in a `GPT`: its tables, its blocks, its end, and its limit."""

from __future__ import annotations

from . import exercise
from .also_right import Simple

wrong = exercise.edits(Simple, of="GPT")

TIE = "self.head.weight = self.tokens.weight"
BLOCKS = "nn.ModuleList([Block(cfg) for _ in range(cfg.num_layers)])"
SUM = "x = self.tokens(ids) + self.positions(places)"
LIMIT = """        if length > self.cfg.context:
            raise ValueError("too long")
"""

wrong(
    "NotTied",
    f"        {TIE}\n",
    "",
    "Your head has a table of its own: many more parameters, and each token has two vectors. What "
    "does the task say about `head.weight`?",
)
wrong(
    "TiedByACopy",
    TIE,
    "self.head.weight = nn.Parameter(self.tokens.weight.detach().clone())",
    "Your head starts as a copy of the table of tokens, and the first step of training moves the "
    "two apart. What does `is` say about the two weights?",
)
wrong(
    "TiedByData",
    TIE,
    "self.head.weight.data = self.tokens.weight.data",
    "Head and table share their memory, but they are two parameters: each has a gradient of its "
    "own, and after `.to(…)` they part. What does `is` say about the two weights?",
)
wrong(
    "HeadWithBias",
    "nn.Linear(d, cfg.vocab_size, bias=False)",
    "nn.Linear(d, cfg.vocab_size)",
    "Your head has a bias: one number more for each token. What does the task say about it?",
)
wrong(
    "NoLastNorm",
    "        x = self.norm(x)\n",
    "",
    "Nothing normalises the stream after the last block, and it has grown from block to block. "
    "Which of your parts is never called?",
)
wrong(
    "NormBeforeTheBlocks",
    "        for block in self.blocks:\n            x = block(x)\n        x = self.norm(x)\n",
    "        x = self.norm(x)\n        for block in self.blocks:\n            x = block(x)\n",
    "Your norm comes before the blocks, as in BERT. Where does the task put it?",
)
wrong(
    "PositionsFromOne",
    "places = torch.arange(length)",
    "places = (torch.arange(length) + 1) % self.cfg.context",
    "Your first token gets position 1. From which number on does the task count?",
)
wrong(
    "PositionsReversed",
    "places = torch.arange(length)",
    "places = torch.arange(length).flip(0)",
    "Your last token gets position 0, so a token's position changes when another one is written. "
    "From which end does the task count?",
)
wrong(
    "NoPositions",
    SUM,
    "x = self.tokens(ids)",
    "You add no positions, so the order of the past is hardly visible. Which of your parts is "
    "never called?",
)
wrong.several(
    "PositionsInEveryBlock",
    {SUM: "x = self.tokens(ids)", "x = block(x)": "x = block(x + self.positions(places))"},
    "Your positions are added again before every block. How often does the task add them?",
)
wrong(
    "PositionOfTheRow",
    SUM,
    "x = self.tokens(ids) + self.positions(torch.arange(len(ids)) % self.cfg.context)[:, None]",
    "All tokens of a row get the same position: you count rows. Which axis of `ids` is time?",
)
wrong(
    "ScaledEmbeddings",
    SUM,
    "x = self.tokens(ids) * math.sqrt(self.cfg.d_model) + self.positions(places)",
    "You multiply the vectors of tokens by √d_model, as lab 7's Transformer does. What does the "
    "task say about scaling?",
)
wrong(
    "ScaledLogits",
    "return self.head(x)",
    "return self.head(x) / math.sqrt(self.cfg.d_model)",
    "You divide the logits by √d_model. What does the task do with the normalised stream?",
)
wrong(
    "Probabilities",
    "return self.head(x)",
    "return self.head(x).softmax(-1)",
    "Your rows sum to 1: you return probabilities, and the loss would take a second softmax. What "
    "are logits?",
)
wrong(
    "LogProbabilities",
    "return self.head(x)",
    "return self.head(x).log_softmax(-1)",
    "You return logarithms of probabilities. What does the task ask for?",
)
wrong(
    "LastPositionOnly",
    "return self.head(x)",
    "return self.head(x[:, -1:])",
    "You return logits for the last position alone. In training, how many positions predict at "
    "once?",
)
wrong(
    "OneBlockManyTimes",
    BLOCKS,
    "nn.ModuleList([Block(cfg)] * cfg.num_layers)",
    "Your list holds one block several times: `[block] * n` repeats the name, not the object. How "
    "many blocks with parameters of their own does cfg ask for?",
)
wrong(
    "BlocksCopied",
    BLOCKS,
    "nn.ModuleList([copy.deepcopy(one) for one in [Block(cfg)] * cfg.num_layers])",
    "Your blocks are copies of one, so at the start all of them compute the same. Which call makes "
    "a block with numbers of its own?",
)
wrong(
    "BlocksInAList",
    BLOCKS,
    "[Block(cfg) for _ in range(cfg.num_layers)]",
    "A module does not find the blocks in a Python list: no optimiser trains them, and `.double()` "
    "leaves them alone. Which container does the task name?",
)
wrong(
    "OneBlockTooFew",
    "range(cfg.num_layers)",
    "range(1, cfg.num_layers)",
    "Your model has one block too few. How often does your loop run?",
)
wrong(
    "FirstBlockOnly",
    "            x = block(x)\n        x = self.norm(x)\n",
    "            y = block(x)\n        x = self.norm(y)\n",
    "Each of your blocks reads the embeddings, and only the last one's output is used. What does "
    "the second block read?",
)
wrong(
    "NoLimit",
    LIMIT,
    "",
    "A text that is too long ends in torch's own error about an index, which says nothing about "
    "the reason. Which error does the task name?",
)
wrong(
    "PositionsWrap",
    f"{LIMIT}        places = torch.arange(length)\n",
    "        places = torch.arange(length) % self.cfg.context\n",
    "Beyond the context, your positions start again at 0 and nobody notices. What should happen to "
    "a text that is too long?",
)
wrong(
    "CutToTheContext",
    f"        length = ids.shape[1]\n{LIMIT}",
    "        ids = ids[:, -self.cfg.context :]\n        length = ids.shape[1]\n",
    "You cut a text that is too long, and return fewer logits than there are tokens. What should "
    "happen instead?",
)
wrong(
    "LimitOneTooLow",
    "if length > self.cfg.context:",
    "if length >= self.cfg.context:",
    "You refuse a text that fills the context exactly. How many tokens may it have at most?",
)
wrong(
    "AnotherError",
    'raise ValueError("too long")',
    'raise AssertionError("too long")',
    "A text that is too long raises another error than the task names (an `assert` does, too). "
    "Which one is it?",
)
wrong(
    "EmbeddingsNotDropped",
    "        x = self.dropout(x)\n",
    "",
    "The sum of the two embeddings is never dropped. Which of your parts is never called?",
)
wrong(
    "EndDropped",
    "return self.head(x)",
    "return self.head(self.dropout(x))",
    "You drop the vectors before the head as well. Which places does the task name?",
)
