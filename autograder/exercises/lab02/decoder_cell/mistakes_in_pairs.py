"""Decoder cells with two frequent slips at once: no answer of theirs is that of one slip."""

from __future__ import annotations

from itertools import combinations

from . import exercise
from .also_right import InFourLines

wrong = exercise.edits(InFourLines)

SLIPS = {
    "ContextFirst": (
        "[self.embedding(y_prev), context]",
        "[context, self.embedding(y_prev)]",
        "Context and embedding are joined in the wrong order. In [y; c], which comes first?",
    ),
    "StateNotCarried": (
        "self.gru(taken_in, state)",
        "self.gru(taken_in)",
        "The GRU starts from zeros. What belongs in its second argument?",
    ),
    "MaskNotPassedOn": (
        "hidden, mask)",
        "hidden)",
        "Padding gets weight. Which of your arguments does not reach `attend`?",
    ),
    "LogitsOfOldState": (
        "self.out(new_state)",
        "self.out(state)",
        "The logits are computed from the old state. Which state does this step produce?",
    ),
    "OldStateReturned": (
        "new_state, weights",
        "state, weights",
        "You return the state that you were given. Which state does the next step need?",
    ),
    "ProbabilitiesReturned": (
        "self.out(new_state)",
        "self.out(new_state).softmax(-1)",
        "Your first result is a softmax of the logits. Which of the two does the task ask for?",
    ),
}
for (name, (old, new, first)), (other, (old_too, new_too, second)) in combinations(
    SLIPS.items(), 2
):
    if old != old_too:
        wrong.several(
            f"{name}And{other}",
            {old: new, old_too: new_too},
            f"Two things are wrong at once. (1) {first} (2) {second}",
        )
