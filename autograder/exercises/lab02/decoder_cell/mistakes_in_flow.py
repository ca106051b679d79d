"""Wrong decoder cells: dropout, a token that is not embedded, other numbers in their places."""

from __future__ import annotations

from . import exercise
from .also_right import InFourLines

EMBEDDED = "self.embedding(y_prev)"
CONTEXT = "context, weights = attend(self.score(state, hidden), hidden, mask)"
STEP = "self.gru(taken_in, state)"
LOGITS = "self.out(new_state)"

DROPPED = (
    "Two equal calls give two answers, even of two equal cells: perhaps your step applies dropout. "
    "Is there dropout in this step's formula?"
)
NOT_EMBEDDED = (
    "Your results do not depend on `embedding`, a part that `__init__` made: perhaps the token's "
    "number goes into the GRU as it is. In [y; c], what is y, and which part makes it?"
)
NEW_STATE_DETACHED = (
    "The numbers are right, but no gradient flows back through the state that you return, so a "
    "late step cannot teach an early one. What cuts torch's graph after the GRU?"
)

wrong = exercise.edits(InFourLines)

DROPOUT = {
    "Embedding": (EMBEDDED, "{}({})"),
    "OldState": (STEP, "self.gru(taken_in, {0}(state))"),
    "NewState": (STEP, "{}({})"),
    "StateForLogits": (LOGITS, "self.out({0}(new_state))"),
    "Logits": (LOGITS, "{}({})"),
    "Context": (CONTEXT, "{1}\n        context = {0}(context)"),
    "Weights": (CONTEXT, "{1}\n        weights = {0}(weights)"),
    "Hidden": (CONTEXT, "hidden = {0}(hidden)\n        {1}"),
}
for name, (old, new) in DROPOUT.items():
    for percent in (10, 50):
        drop = f"nn.Dropout({percent / 100})"
        wrong(f"{percent}PercentOf{name}Dropped", old, new.format(drop, old), DROPPED)

WIDTH = "self.embedding.embedding_dim"
for name, number in (
    ("NumberRepeated", f"y_prev.to(context.dtype)[:, None].expand(-1, {WIDTH})"),
    ("ZerosForTheToken", f"context.new_zeros(len(y_prev), {WIDTH})"),
    ("TokenAsShortOneHot", f"nn.functional.one_hot(y_prev % {WIDTH}, {WIDTH})"),
):
    wrong(name, EMBEDDED, number, NOT_EMBEDDED)

wrong(
    "ReturnedStateDetached",
    "), new_state, weights",
    "), new_state.detach(), weights",
    NEW_STATE_DETACHED,
)
wrong("NewStateDetached", STEP, f"{STEP}.detach()", NEW_STATE_DETACHED)
wrong(
    "ContextForWeights",
    "), new_state, weights",
    "), new_state, context",
    "Your third result is the context: it has as many numbers as a hidden vector. The task asks "
    "for what says how much each place counted. Which of the two results of `attend` is that?",
)
wrong(
    "NewStateSquashed",
    STEP,
    f"torch.tanh({STEP})",
    "You apply another function to the GRU's new state (tanh, sigmoid or ReLU). What does the "
    "formula do with it?",
)
wrong(
    "StateKeptAtToken0",
    STEP,
    "torch.where((y_prev == 0)[:, None], state, self.gru(taken_in, state))",
    "If the last token is 0, your state stays as it was, as if the sentence were over. Which token "
    "does the formula of this step treat in another way?",
)
