"""Wrong decoder cells: parts that are called with wrong arguments, or made anew in each step.

At home a cell runs on the student's own score and `attend`, which stop with messages of their own.
So such a mistake is made with several right versions of these steps.
"""

from __future__ import annotations

from . import exercise
from .also_right import InFourLines

SCORE = "AdditiveScore(d_state, d_hidden, d_score)"
SCORES = "self.score(state, hidden)"
ATTEND = f"context, weights = attend({SCORES}, hidden, mask)"
TAKEN_IN = "torch.cat([self.embedding(y_prev), context], -1)"
STEP = "self.gru(taken_in, state)"
LOGITS = "self.out(new_state)"


wrong = exercise.edits(InFourLines)

wrong(
    "zeros_taken_for_padding",
    "        context, weights",
    "        if mask is None:\n            mask = (hidden != 0).any(-1)\n        context, weights",
    "Without a mask, your cell makes one of its own, from the vectors that are zero. Which places "
    "count if `mask` is None?",
)

for name, score in (("", SCORE), ("OfTwoMatrices", "TwoMatrices"), ("Repeated", "Repeated")):
    wrong.several(
        f"ScoreArgumentsSwapped{name}",
        {
            **({SCORE: f"{score}(d_state, d_hidden, d_score)"} if name else {}),
            SCORES: "self.score(hidden, state)",
        },
        "The score stops because of its arguments: perhaps `hidden` is given where the state "
        "belongs. Which of the two does 2.2 take first, and how many axes does it have?",
    )
for name, attended in (("", "attend"), ("ByWhere", "attend_by_where")):
    wrong(
        f"AttendArgumentsSwapped{name}",
        ATTEND,
        f"context, weights = {attended}(hidden, {SCORES}, mask)",
        "`attend` stops because of its arguments: perhaps `hidden` and the scores are swapped in "
        "your call. Which of them does 2.3 take first?",
    )
wrong(
    "MaskForHidden",
    ATTEND,
    f"context, weights = attend({SCORES}, mask, hidden)",
    "`attend` stops because of its arguments: perhaps `hidden` and the mask are swapped in your "
    "call. Which of them does 2.3 take second?",
)
for name, joined in (
    ("", "torch.cat([y_prev, context], 1)"),
    ("AlongTheLastAxis", "torch.cat([y_prev, context], -1)"),
    ("AsAColumn", "torch.cat([y_prev[:, None], context], -1)"),
):
    wrong(
        f"TokenNotEmbedded{name}",
        TAKEN_IN,
        joined,
        "Your GRU's input cannot be made: perhaps `y_prev`, one number for each sentence, is "
        "joined with the context as it is. In [y; c], what is y, and which part of your module "
        "makes it?",
    )
wrong(
    "TokenAsOneHot",
    TAKEN_IN,
    "torch.cat([nn.functional.one_hot(y_prev, self.out.out_features), context], -1)",
    "Your GRU's input is as wide as the vocabulary and the context together: perhaps the token "
    "goes in as a row of zeros and a one. Which part of your module makes d_embed numbers of it?",
)
NEW_PARTS = {
    "Score": (SCORES, "AdditiveScore(state.shape[1], hidden.shape[2], 4)", "(state, hidden)"),
    "Gru": (STEP, "nn.GRUCell(taken_in.shape[1], state.shape[1])", "(taken_in, state)"),
    "Out": (LOGITS, "nn.Linear(state.shape[1], 13)", "(new_state)"),
    "Embedding": ("self.embedding(y_prev)", "nn.Embedding(13, 5)", "(y_prev)"),
}
for name, (called, made, arguments) in NEW_PARTS.items():
    for kind, dtype in (("", ""), ("OfTheRightDtype", ".to(state.dtype)")):
        wrong(
            f"New{name}InEachStep{kind}",
            called,
            f"{made}{dtype}{arguments}",
            "Your results do not depend on a part that `__init__` made: perhaps `forward` makes a "
            "new layer, with new random weights, at every call. Which layers will the optimizer "
            "know?",
        )
wrong(
    "FirstOfTheNewStates",
    STEP,
    f"{STEP}[0]",
    "You take the first element (`[0]`) of what your GRU cell returns: that is the new state of "
    "the first sentence. What does `nn.GRUCell` return, and what does `nn.GRU`?",
)
wrong(
    "ChosenTokenForLogits",
    "return self.out(new_state), new_state, weights",
    "return self.out(new_state).argmax(-1), new_state, weights",
    "You return the token with the highest logit. Who chooses a token, and which numbers does the "
    "loss need from your cell?",
)
