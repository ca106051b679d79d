"""Known mistakes in dropout: what is dropped, when, and how often."""

from __future__ import annotations

from .mistakes_in_attending import wrong  # that module has more known mistakes

DROPPED_AT_THE_END = (
    "While training, single features of your output vanish: dropout acts at the end of your "
    "forward. Which numbers does the task drop, and does it drop anything else?"
)
wrong.several(
    "DropoutOnTheOutput",
    {
        "self.dropout(weights)": "weights",
        "self.out_proj(merge_heads(found))": "self.dropout(self.out_proj(merge_heads(found)))",
    },
    DROPPED_AT_THE_END,
)
wrong(
    "DropoutOnTheOutputToo",
    "self.out_proj(merge_heads(found))",
    "self.dropout(self.out_proj(merge_heads(found)))",
    DROPPED_AT_THE_END,
)
for name, new in (
    ("DropoutOnWhatWasFound", "self.dropout(weights @ values)"),
    ("DropoutOnWhatWasFoundToo", "self.dropout(self.dropout(weights) @ values)"),
    ("DropoutOnTheValues", "weights @ self.dropout(values)"),
):
    wrong(
        name,
        "self.dropout(weights) @ values",
        new,
        "You drop single features of the values, or of the heads' outputs. If attention weights "
        "are dropped, as in the task, a query misses a key altogether. Is your dropout applied "
        "before or after the product of weights and values?",
    )
for name, rate in (("Default", ""), ("Tenth", "0.1")):
    wrong(
        f"{name}Rate",
        "nn.Dropout(dropout)",
        f"nn.Dropout({rate})",
        "Your layer drops weights at a rate of its own (`nn.Dropout()`, or a number in your code), "
        "whatever it is given. Where do you use the argument?",
    )
wrong(
    "DropoutKept",
    "nn.Dropout(dropout)",
    "nn.Dropout(1 - dropout)",
    "Your layer drops weights at another rate than it is given: for 0.2, about four of five. Is "
    "the argument the probability that a weight is kept, or that it is dropped?",
)
wrong.several(
    "DropoutOnTheScores",
    {
        "scores = queries @ keys.mT / math.sqrt(self.d_k)": (
            "scores = self.dropout(queries @ keys.mT / math.sqrt(self.d_k))"
        ),
        "self.dropout(weights)": "weights",
    },
    "While training, your output is random, but no attention weight is dropped. A score of 0 "
    "before the softmax still gets attention. To which numbers is your dropout applied?",
)
wrong(
    "DropoutAfterEval",
    "self.dropout(weights)",
    "F.dropout(weights, self.dropout.p)",
    "Your layer still drops something after `eval()`. Both `F.dropout` and an `nn.Dropout` that is "
    "made anew in `forward` drop as if training went on. What does a module that is made in "
    "`__init__` learn from `eval()`?",
)
wrong(
    "DropoutOnlyAfterEval",
    "self.dropout(weights)",
    "F.dropout(weights, self.dropout.p, not self.training)",
    "Your layer drops weights after `eval()`, and none while it is trained. When is "
    "`self.training` true?",
)
wrong(
    "NoDropout",
    "self.dropout(weights)",
    "weights",
    "While training, two runs over one text are equal: nothing is dropped before it is used. To "
    "which numbers should dropout be applied, and before which product?",
)
wrong(
    "DropoutNotScaled",
    "self.dropout(weights)",
    "(weights * (torch.rand_like(weights) >= self.dropout.p * self.training))",
    "You drop weights, but the remaining ones are not multiplied as in "
    "`nn.Dropout`. What is then the mean of a weight over many runs, compared with its value after "
    "`eval()`?",
)
wrong(
    "DropsByDefault",
    "dropout=0.0",
    "dropout=0.1",
    "Your layer drops a tenth by default. According to the task, what is the default of `dropout`?",
)
wrong(
    "WholeHeadsDropped",
    "self.dropout(weights)",
    "weights * self.dropout(torch.ones_like(weights[:, :, :1, :1]))",
    "You drop whole heads, for all words of a sentence at once. The task drops single weights, "
    "independently. Which shape do your random zeros have?",
)
wrong(
    "DroppedWeightsReturned",
    "found = self.dropout(weights) @ values",
    "weights = self.dropout(weights)\n        found = weights @ values",
    "While training, you return the weights after dropout, as torch's own layer does: some are 0, "
    "and the others are larger than before. Which weights does the task return?",
)
