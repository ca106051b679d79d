"""Known mistakes in `MLMHead`."""

from __future__ import annotations

from . import exercise
from .also_right import PlainHead

wrong = exercise.edits(PlainHead, of="MLMHead")

wrong(
    "TableCopied",
    "self.output.weight = table",
    "self.output.weight = nn.Parameter(table.detach().clone())",
    "The head has a copy of the table. After the first update they differ. How do two modules "
    "share one parameter?",
)
wrong(
    "TableOfItsOwn",
    "        self.output.weight = table\n",
    "",
    "The head has a table of its own. Which parameter should be its weight?",
)
wrong(
    "NumbersOfTheTableCopied",
    "self.output.weight = table",
    "self.output.weight.data.copy_(table.data)",
    "The head has the table's first numbers, in a parameter of its own. How do two modules share "
    "one parameter?",
)
wrong(
    "NumbersOfTheTableShared",
    "self.output.weight = table",
    "self.output.weight.data = table.data",
    "The head has a parameter of its own, with the table's numbers. Which of the two gets the "
    "gradient, and what does the optimizer update?",
)
wrong(
    "TableOutsideTheGraph",
    "return self.output(x)",
    "return F.linear(x, self.output.weight.detach(), self.output.bias)",
    "The table gets no gradient from the head. What does `detach` do?",
)
wrong.several(
    "NoTransform",
    {
        "        self.transform = nn.Linear(cfg.d_model, cfg.d_model)\n": "",
        "self.transform(hidden)": "hidden",
    },
    "Your head has no linear layer before its GELU. Which three parts come before the table?",
)
wrong(
    "NoGelu",
    "        x = F.gelu(x)\n",
    "",
    "There is no GELU in your head. Where does it belong?",
)
wrong(
    "HeadWithRelu",
    "F.gelu(x)",
    "F.relu(x)",
    "Your head has ReLU. Which function does the task name?",
)
wrong(
    "HeadWithTanhGelu",
    "F.gelu(x)",
    'F.gelu(x, approximate="tanh")',
    "The GELU of your head is the approximation by tanh. Which one does the task name?",
)
wrong.several(
    "NoNormInTheHead",
    {
        "        self.norm = nn.LayerNorm(cfg.d_model, eps=cfg.norm_eps)\n": "",
        "        x = self.norm(x)\n": "",
    },
    "There is no normalisation in your head. Where does it belong?",
)
wrong(
    "NormOfTheHeadNotUsed",
    "        x = self.norm(x)\n",
    "",
    "There is no normalisation in your head. Where does it belong?",
)
wrong.several(
    "NormBeforeGelu",
    {"        x = F.gelu(x)\n        x = self.norm(x)\n": "        x = F.gelu(self.norm(x))\n"},
    "Your head normalises first. In which order are GELU and normalisation in the task?",
)
wrong(
    "UsualEpsInTheHead",
    "eps=cfg.norm_eps",
    "eps=1e-5",
    "The normalisation of your head has torch's usual `eps`. Which one does cfg ask for?",
)
wrong(
    "NoBias",
    "nn.Linear(cfg.d_model, cfg.vocab_size)",
    "nn.Linear(cfg.d_model, cfg.vocab_size, bias=False)",
    "Your head has no bias for the V logits. Which part of the output is not shared?",
)
wrong(
    "Probabilities",
    "return self.output(x)",
    "return self.output(x).softmax(-1)",
    "Your head returns probabilities. What does cross-entropy take?",
)
wrong(
    "LogProbabilities",
    "return self.output(x)",
    "return self.output(x).log_softmax(-1)",
    "Your head returns logarithms of probabilities. Who takes the softmax, according to the task?",
)
