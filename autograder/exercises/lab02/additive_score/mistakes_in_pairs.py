"""Additive scores with two frequent slips at once: no answer of theirs is that of one slip."""

from __future__ import annotations

from itertools import product

from . import exercise
from .also_right import Joined

wrong = exercise.edits(Joined)

# What may be wrong at three places: the edits, and a question.
ORDERS = {
    "ConcatSwapped": (
        {"[spread, hidden]": "[hidden, spread]"},
        "Hidden vector and state are joined in the wrong order. In [s; h], which comes first?",
    ),
}
SQUASHED = {
    "NoTanh": ({".tanh()": ""}, "There is no tanh. What is between W and a in the formula?"),
    "TanhAtTheEnd": (
        {".tanh()": "", "return self.a(inner)": "return self.a(inner).tanh()"},
        "tanh comes after the product with a. What is inside tanh in the formula?",
    ),
    "TanhTwice": (
        {"return self.a(inner)": "return self.a(inner).tanh()"},
        "tanh is applied once more to the score. How often does it stand in the formula?",
    ),
    "ReluInside": ({".tanh()": ".relu()"}, "You use ReLU. Which function does the formula have?"),
    "SigmoidInside": (
        {".tanh()": ".sigmoid()"},
        "Your squashing function is not the one in the formula. Which one does it name?",
    ),
}
ENDS = {
    "SoftmaxInside": (
        {".squeeze(-1)": ".squeeze(-1).softmax(-1)"},
        "A softmax belongs to the next step. What should this step return?",
    ),
}
for slips, others in ((ORDERS, SQUASHED), (SQUASHED, ENDS), (ORDERS, ENDS)):
    for (name, (edits, first)), (other, (more, second)) in product(slips.items(), others.items()):
        wrong.several(
            f"{name}And{other}",
            edits | more,
            f"Two things are wrong at once. (1) {first} (2) {second}",
        )
