"""Known mistakes in `Residual`, as edits of a right version."""

from __future__ import annotations

from . import exercise
from .also_right import TwoBranches

PRE, POST = "x + self.dropout(inner)", "self.norm(x + self.dropout(added))"

wrong = exercise.edits(TwoBranches)

wrong(
    "NormedStream",
    PRE,
    "self.norm(x) + self.dropout(inner)",
    'With "pre", you add to the normalised x: norm(x) + sublayer(norm(x)). What should come back '
    "if the sublayer returns zeros?",
)
wrong(
    "PreForgetsTheResidual",
    PRE,
    "self.dropout(inner)",
    'With "pre", x itself is missing from your result. What should come back if the sublayer '
    "returns zeros?",
)
wrong(
    "PostForgetsTheResidual",
    POST,
    "self.norm(self.dropout(added))",
    'With "post", x itself is missing from your result. What is normalised, according to the '
    "formula?",
)
wrong.several(
    "ResidualForgotten",
    {PRE: "self.dropout(inner)", POST: "self.norm(self.dropout(added))"},
    "x itself is missing from your results, in both modes. What flows around the sublayer?",
)
wrong(
    "PreWithoutNorm",
    "inner = sublayer(self.norm(x))",
    "inner = sublayer(x)",
    'With "pre", nothing is normalised. What does the sublayer get, according to the formula?',
)
wrong(
    "PostWithoutNorm",
    POST,
    "x + self.dropout(added)",
    'With "post", nothing is normalised. What happens to the sum, according to the formula?',
)
wrong(
    "PreNormsTheOutput",
    "inner = sublayer(self.norm(x))",
    "inner = self.norm(sublayer(x))",
    'With "pre", you normalise the sublayer\'s output and not its input. What does "pre" mean '
    "here: before what?",
)
wrong(
    "PostNormsTheOutput",
    POST,
    "x + self.norm(self.dropout(added))",
    'With "post", you normalise the sublayer\'s output alone and then add x. What is normalised, '
    "according to the formula?",
)
wrong(
    "PreNormsTwice",
    PRE,
    "x + self.dropout(self.norm(inner))",
    'With "pre", you normalise before the sublayer and after it. How many times does the formula '
    "do it?",
)
wrong(
    "PostNormsTwice",
    "added = sublayer(x)",
    "added = sublayer(self.norm(x))",
    'With "post", you also normalise before the sublayer. What does the sublayer get, according to '
    "the formula?",
)
wrong(
    "PreNormsTheSum",
    PRE,
    "self.norm(x + self.dropout(inner))",
    'With "pre", you normalise the sum as well, so x does not come through unchanged. Which '
    "formula does that belong to?",
)
wrong(
    "ModesExchanged",
    'self.mode == "pre"',
    'self.mode == "post"',
    'The two modes are exchanged: "pre" normalises the sum. Before what does "pre" normalise?',
)
wrong(
    "AlwaysPre",
    'self.mode == "pre"',
    "True",
    'Your module does the same for "post" as for "pre". Where do you use the mode?',
)
wrong(
    "AlwaysPost",
    'self.mode == "pre"',
    "False",
    'Your module does the same for "pre" as for "post". Where do you use the mode?',
)
wrong(
    "PostByDefault",
    'mode="pre"',
    'mode="post"',
    'Without a mode, yours is "post". What is the default, according to the task?',
)
wrong(
    "AnyWordIsAMode",
    'if mode not in ("pre", "post"):',
    "if False:",
    "Your class accepts any word as a mode when a module is made. What should happen with an "
    "unknown word, and when would you like to hear of a typo?",
)
wrong(
    "CapitalLettersAccepted",
    "if mode not in",
    "if str(mode).lower() not in",
    "Your class also accepts a mode in capital letters. Which words does the task allow?",
)
wrong(
    "DropoutOnTheSum",
    PRE,
    "self.dropout(x + inner)",
    'With "pre", you drop entries of the sum, so x gets lost. To what does dropout apply, '
    "according to the formula?",
)
wrong(
    "DropoutOnTheSumInPost",
    POST,
    "self.norm(self.dropout(x + added))",
    'With "post", you drop entries of the sum, so x gets lost. To what does dropout apply, '
    "according to the formula?",
)
wrong.several(
    "DropoutOnTheSumInBoth",
    {PRE: "self.dropout(x + inner)", POST: "self.norm(self.dropout(x + added))"},
    "You drop entries of the sum, in both modes, so x gets lost. To what does dropout apply, "
    "according to the formula?",
)
wrong(
    "DropoutAfterTheNorm",
    POST,
    "self.dropout(self.norm(x + added))",
    'With "post", you drop entries of the normalised sum. To what does dropout apply, according to '
    "the formula?",
)
wrong(
    "DropoutBeforeTheSublayer",
    "        inner = sublayer(self.norm(x))\n            return x + self.dropout(inner)",
    "        inner = sublayer(self.dropout(self.norm(x)))\n            return x + inner",
    'With "pre", you drop entries before the sublayer. To what does dropout apply, according to '
    "the formula?",
)
wrong(
    "DropsByDefault",
    "dropout=0.0",
    "dropout=0.1",
    "Your module drops a tenth by default. What is the default of `dropout` in the task?",
)
wrong.several(
    "NoDropout",
    {PRE: "x + inner", POST: "self.norm(x + added)"},
    "Nothing is dropped while training. Where do you use `dropout`?",
)
wrong.several(
    "DropoutAfterEval",
    {
        PRE: "x + nn.functional.dropout(inner, self.dropout.p)",
        POST: "self.norm(x + nn.functional.dropout(added, self.dropout.p))",
    },
    "Entries are dropped even after `eval()`. The function `dropout` does not know the module's "
    "mode: what does?",
)
wrong(
    "CalledTwice",
    "added = sublayer(x)",
    "added = (sublayer(x) + sublayer(x)) / 2",
    "The sublayer is called twice. With dropout in it, the two calls would differ. How many does "
    "the task allow?",
)
wrong.several(
    "BothFormulasComputed",
    {
        'if self.mode == "pre":\n            inner = sublayer(self.norm(x))': (
            'inner, added = sublayer(self.norm(x)), sublayer(x)\n        if self.mode == "pre":'
        ),
        "        added = sublayer(x)\n": "",
    },
    "You call the sublayer for both formulas and then choose one, which doubles the time. Which "
    "calls does each mode need?",
)
wrong(
    "AddedInPlace",
    PRE,
    "x.add_(self.dropout(inner))",
    'With "pre", your code adds into x itself (`+=`, `add_`), so the caller\'s tensor changes. '
    "What does the same and makes a new tensor?",
)
wrong.several(
    "StreamDetached",
    {PRE: "x.detach() + self.dropout(inner)", POST: "self.norm(x.detach() + self.dropout(added))"},
    "No gradient flows past the sublayer, only through it. Which call cuts torch's graph?",
)
wrong.several(
    "SublayerDetached",
    {PRE: "x + self.dropout(inner).detach()", POST: "self.norm(x + self.dropout(added).detach())"},
    "No gradient flows through the sublayer, so it learns nothing. Which call cuts torch's graph?",
)
wrong.several(
    "Halved",
    {PRE: "(x + self.dropout(inner)) / 2", POST: "self.norm((x + self.dropout(added)) / 2)"},
    "You take the mean of x and the sublayer's output. What does the formula do with the two?",
)
wrong(
    "TwoNorms",
    "self.norm = LayerNorm(d_model)",
    "self.norm, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)",
    "Your module has the parameters of two normalisations. How many does each formula use?",
)
