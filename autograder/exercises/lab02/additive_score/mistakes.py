"""Wrong additive scores: most are a small change of a right one."""

from __future__ import annotations

from torch import nn

from . import exercise, mistakes_in_forward, mistakes_in_pairs  # noqa: F401 - to register them
from .also_right import Joined, TwoMatrices
from .mistakes_in_init import OTHER_WIDTH

wrong = exercise.edits(Joined)

wrong.several(
    "TanhAtTheEnd",
    {".tanh()": "", ".squeeze(-1)": ".squeeze(-1).tanh()"},
    "tanh comes after the product with a in your version, so no score leaves (-1, 1). In "
    "aᵀ tanh(W[s; h]), what is inside tanh?",
)
wrong(
    "NoTanh",
    ".tanh()",
    "",
    "Your scores grow without limit as state and hidden vectors grow: there is only a linear map "
    "between them and the score. What is between W and a in the formula?",
)
wrong(
    "SigmoidInside",
    ".tanh()",
    ".sigmoid()",
    "Your squashing function is not the one in the formula. What should it give for an inner value "
    "of 0?",
)
wrong(
    "TanhTwice",
    ".squeeze(-1)",
    ".squeeze(-1).tanh()",
    "You apply tanh once more to the score, so no score leaves (-1, 1). How often does tanh stand "
    "in aᵀ tanh(W[s; h]), and where?",
)
for percent in (10, 20, 50):
    wrong(
        f"{percent}PercentDropped",
        "return self.a(inner)",
        f"return self.a(nn.functional.dropout(inner, {percent / 100}, self.training))",
        "Two equal calls give two answers: perhaps dropout is applied before the last layer. Is "
        "there dropout in the formula of the score?",
    )
wrong(
    "ReluInside",
    ".tanh()",
    ".relu()",
    "You use ReLU, which cuts off everything below 0. Which function does the formula have, and "
    "what does it do to negative numbers?",
)
wrong(
    "ConcatSwapped",
    "[spread, hidden]",
    "[hidden, spread]",
    "Hidden vector and state are joined in the wrong order: the first columns of W belong to the "
    "state. In [s; h], which comes first?",
)
wrong(
    "FirstStateForAll",
    "state[:, None].expand(-1,",
    "state[:1, None].expand(len(state),",
    "Every sentence is scored with the state of the first one. When you repeat the states over "
    "the places, which axis of your tensor runs over the batch?",
)
wrong(
    "StatesAlongPlaces",
    "state[:, None].expand(-1,",
    "(state if len(state) == hidden.shape[1] else state[:, None]).expand(len(state),",
    "If a batch has as many places as sentences, each place is scored with the state of another "
    "sentence: the states run along the places. Where does your new axis of length 1 belong: "
    "(B, 1, d) or (1, B, d)?",
)
wrong(
    "SoftmaxInside",
    ".squeeze(-1)",
    ".squeeze(-1).softmax(-1)",
    "Your scores are between 0 and 1 and sum to one over the places: that is a softmax, which "
    "belongs to the next step. What should this step return?",
)
wrong(
    "LogSoftmaxInside",
    ".squeeze(-1)",
    ".squeeze(-1).log_softmax(-1)",
    "Your scores are logarithms of a softmax over the places. Any softmax belongs to the next "
    "step. What should this step return?",
)
wrong(
    "BiasOnA",
    "d_score, 1, bias=False",
    "d_score, 1",
    "There is one number too many to learn: your layer a adds a constant to every score. (After "
    "the softmax it would not even matter.) What does nn.Linear have by default?",
)
wrong(
    "BiasOnW",
    "d_hidden, d_score, bias=False",
    "d_hidden, d_score",
    "W adds a constant before the tanh: d_score numbers that the formula does not have. What does "
    "nn.Linear add by default?",
)
wrong.several(
    "BiasOnBoth",
    {"d_hidden, d_score, bias=False": "d_hidden, d_score", "d_score, 1, bias=False": "d_score, 1"},
    "Both layers have a bias that the formula does not have. How do you switch it off in "
    "nn.Linear?",
)
wrong(
    "JoinedAsTheyAre",
    "[spread, hidden]",
    "[state, hidden]",
    "State and hidden vectors cannot be joined directly: (B, d_state) has two axes, (B, T, "
    "d_hidden) has three. Which axis does the state lack, and how long must it be?",
)
WITHOUT_A = (
    "You add up the inner features, or take their mean, without weights: a is not used. Which "
    "features count in favour of a place, and which against it?"
)
wrong("SummedWithoutA", "self.a(inner).squeeze(-1)", "inner.sum(-1)", WITHOUT_A)
wrong("MeanWithoutA", "self.a(inner).squeeze(-1)", "inner.mean(-1)", WITHOUT_A)
wrong(
    "StateLeftOut",
    "state[:, None]",
    "torch.zeros_like(state)[:, None]",
    "Your scores do not depend on the state. The words that the decoder needs now depend on what "
    "it has written. What is missing next to h?",
)
wrong(
    "LastAxisKept",
    ".squeeze(-1)",
    "",
    "Your result has an axis of length 1 at its end, left over from the product with a. Which "
    "call drops it?",
)
wrong(
    "SqueezedEverything",
    ".squeeze(-1)",
    ".squeeze()",
    "`squeeze()` without an axis drops every axis of length 1, even that of a sentence with a "
    "single place or of a batch with a single sentence. Which axis do you mean?",
)
wrong(
    "RepeatedInTurn",
    "state[:, None].expand(-1, hidden.shape[1], -1)",
    "state.repeat(hidden.shape[1], 1).view(len(state), hidden.shape[1], -1)",
    "The states are repeated in the wrong order when the places of all sentences are laid out in "
    "one long row: `repeat` gives s1 s2 s1 s2. Which order do the hidden vectors have there?",
)
for name, spread in (
    ("RepeatedAlongFeatures", ".repeat(1, T).view(T, B, -1).transpose(0, 1)"),
    ("RepeatedPlaceByPlace", ".repeat_interleave(T, 0).view(T, B, -1).transpose(0, 1)"),
):
    wrong(
        name,
        "spread = state[:, None].expand(-1, hidden.shape[1], -1)",
        f"(B, T), spread = hidden.shape[:2], state\n        spread = spread{spread}",
        "After your `view` the states are in other rows than their sentences: it cuts one long row "
        "of numbers into another table. Which state should stand at each place of sentence 1?",
    )
wrong(
    "ScoresViewedTransposed",
    ".squeeze(-1)",
    ".view(hidden.shape[1], hidden.shape[0]).T",
    "The scores are right, but you put them into another table: `view` reads them in the order in "
    "which they lie. Which axis comes first before your last line?",
)
wrong(
    "TanhOfTheInputs",
    "self.W(torch.cat([spread, hidden], -1)).tanh()",
    "self.W(torch.cat([spread, hidden], -1).tanh())",
    "You apply tanh to state and hidden vectors, before the product with W. In aᵀ tanh(W[s; h]), "
    "what is inside tanh?",
)
wrong(
    "SoftmaxOverTheBatch",
    ".squeeze(-1)",
    ".squeeze(-1).softmax(0)",
    "Your scores are between 0 and 1 and sum to one over the batch: that is a softmax. What should "
    "this step return, and do its sentences have to do with each other?",
)
wrong(
    "NothingRecorded",
    "def forward",
    "@torch.no_grad()\n    def forward",
    "Nothing can be learned: the scores are computed under `no_grad`, or are cut from torch's "
    "graph. Where is that switch, and what is it for?",
)
wrong(
    "PlacesFirst",
    ".squeeze(-1)",
    ".squeeze(-1).T",
    "Your scores are a table with the places as rows and the sentences as columns. The batch comes "
    "first: which axis do you move, and why?",
)
wrong(
    "Scaled",
    ".squeeze(-1)",
    ".squeeze(-1) / inner.shape[-1] ** 0.5",
    "The scores are divided by the root of a width. That scaling belongs to dot products (lab 3). "
    "Does a bounded sum such as this one need it?",
)
wrong(
    "StateDetached",
    "state[:, None]",
    "state.detach()[:, None]",
    "The numbers are right, but no gradient reaches the decoder's state, so it could not learn to "
    "ask for the right place. What cuts torch's graph on that side?",
)
wrong(
    "HiddenDetached",
    "[spread, hidden]",
    "[spread, hidden.detach()]",
    "The numbers are right, but no gradient reaches the encoder. What cuts torch's graph before "
    "it?",
)

for name in ("W", "a"):
    wrong(
        f"Frozen{name.upper()}",
        "\n\n    def forward",
        f"\n        self.{name}.weight.requires_grad_(False)\n\n    def forward",
        f"No gradient reaches {name}, so an optimizer will never change it. What takes a weight "
        "out of the training: `requires_grad_(False)`, a buffer, or a plain tensor?",
    )

wrong_parts = exercise.edits(TwoMatrices)

BIASES = (
    "Your two layers for state and hidden vectors (and perhaps a) have a bias, which the formula "
    "does not have. What does nn.Linear add by default?"
)
FOR_STATE, FOR_HIDDEN = "(d_state, d_score, bias=False)", "(d_hidden, d_score, bias=False)"
TWO_BIASES = {FOR_STATE: "(d_state, d_score)", FOR_HIDDEN: "(d_hidden, d_score)"}
wrong_parts.several("BiasOnTwoMatrices", TWO_BIASES, BIASES)
wrong_parts.several(
    "BiasOnAllThree", {**TWO_BIASES, "(d_score, 1, bias=False)": "(d_score, 1)"}, BIASES
)

wrong_parts(
    "DotProduct",
    "self.a(torch.tanh(self.W_s(state).unsqueeze(1) + self.W_h(hidden))).squeeze(2)",
    "(self.W_s(state).unsqueeze(1) * self.W_h(hidden)).sum(2)",
    "You multiply the state's part with the hidden vector's part and add up: a dot product, as in "
    "lab 3. In the additive score, how are the two parts combined before the tanh?",
)
wrong_parts.several(
    "KeptFromTheFirstCall",
    {
        "self.W_h(hidden)": "self.kept",
        "        return": "        changed = self.kept is None "
        "or self.kept.shape[:2] != hidden.shape[:2]\n"
        "        self.kept = self.W_h(hidden) if changed else self.kept\n"
        "        return",
        "super().__init__()": "super().__init__()\n        self.kept = None",
    },
    "You keep something from the first call (perhaps the hidden vectors times their part of W), "
    "so other hidden vectors of the same shape get the old scores. What may be kept, and what must "
    "be computed again?",
)
wrong_parts(
    "TanhOfTheParts",
    "torch.tanh(self.W_s(state).unsqueeze(1) + self.W_h(hidden))",
    "self.W_s(state).unsqueeze(1).tanh() + self.W_h(hidden).tanh()",
    "tanh is applied to the two parts before they are added. In aᵀ tanh(W[s; h]), how often is "
    "tanh applied?",
)


@exercise.mistake(OTHER_WIDTH)
class SharedMatrix(nn.Module):
    def __init__(self, d_state, d_hidden, d_score):
        super().__init__()
        self.W = nn.Linear(d_hidden, d_score, bias=False)
        self.a = nn.Linear(d_score, 1, bias=False)

    def forward(self, state, hidden):
        return self.a((self.W(state)[:, None] + self.W(hidden)).tanh()).squeeze(-1)
