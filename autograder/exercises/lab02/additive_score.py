"""AdditiveScore: how well each place of the source fits the decoder's state."""

from __future__ import annotations

import torch
from torch import nn

from attnlab.checking.observation import dtype_of
from attnlab.checking.weights import give_weights, weight_gradients
from attnlab.seq2seq import AdditiveScore
from gradekit.exercise import Exercise

exercise = Exercise(AdditiveScore)

# The weights by the names of their mathematical halves, as s @ W_s + h @ W_h: stacked along the
# first axis they are the transpose of one nn.Linear on [s; h].
SPELLINGS = {
    ("W_s", "W_h"): (
        "W.weight",
        "W",
        "W_a.weight",
        "W_a",
        "linear.weight",
        "attn.weight",
    ),
    "W_s": (
        "W_s.weight",
        "Ws.weight",
        "Ws",
        "W1.weight",
        "W1",
        "W_q.weight",
        "W_q",
        "Wa.weight",
        "Wa",
        "W_a.weight",
        "W_a",
        "W.weight",
        "W",
    ),
    "W_h": (
        "W_h.weight",
        "Wh.weight",
        "Wh",
        "W2.weight",
        "W2",
        "W_k.weight",
        "W_k",
        "Ua.weight",
        "Ua",
        "U_a.weight",
        "U_a",
        "U.weight",
        "U",
    ),
    "a": (
        "a.weight",
        "v.weight",
        "v",
        "Va.weight",
        "v_a.weight",
        "v_a",
        "va.weight",
        "va",
        "V.weight",
        "w_v.weight",
    ),
}


def has_vector(tensors):
    """Whether the weights `a` are a plain vector there, not a matrix."""
    names = SPELLINGS["a"]
    return any(name in tensors and tensors[name].ndim == 1 for name in ("a", *names))


def given(scorer, W_s, W_h, a):
    """The weights under the names of SPELLINGS; `a` as a plain vector where the class has one."""
    flat = has_vector(dict(scorer.named_parameters()))
    return {"W_s": W_s, "W_h": W_h, "a": a if flat else a[:, None]}


def scorer_of(lab, W_s, W_h, a):
    """The lab's AdditiveScore with these weights, in float64."""
    scorer = lab.AdditiveScore(W_s.shape[0], W_h.shape[0], a.shape[0]).double()
    give_weights(scorer, given(scorer, W_s, W_h, a), SPELLINGS)
    return scorer


def drawn(draw, d_state=3, d_hidden=7, d_score=4):
    """Weights of moderate size."""
    return draw.normal(d_state, d_score), draw.normal(d_hidden, d_score) / 2, draw.normal(d_score)


@exercise.check(points=2)
def shape_and_parameters(lab, draw):
    """Gives one score for each place, and has W and a to learn and nothing else."""
    scorer = lab.AdditiveScore(3, 7, 4)
    out = scorer(draw.normal(2, 3).float(), draw.normal(2, 5, 7).float())
    return {
        "shape": list(out.shape),
        "dtype": dtype_of(out),
        "numbers to learn": sum(p.numel() for p in scorer.parameters() if p.requires_grad),
    }


@exercise.check(points=2)
def hand_example(lab, draw):
    """Three places and a state of one number, small enough to do by hand."""
    W_s, W_h = torch.tensor([[1.0, 0.0]]).double(), torch.tensor([[0.0, 1.0], [1.0, 0.0]]).double()
    scorer = scorer_of(lab, W_s, W_h, torch.tensor([1.0, -1.0]).double())
    state = torch.tensor([[1.0]]).double()
    hidden = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]]).double()
    return scorer(state, hidden)


@exercise.check(points=2)
def scores(lab, draw):
    """Is right for given weights, on a batch, in any memory layout."""
    scorer = scorer_of(lab, *drawn(draw))
    hidden = draw.normal(2, 5, 7)
    return {
        "scores": scorer(draw.normal(2, 3), hidden),
        "not contiguous": scorer(draw.strided(draw.normal(2, 3)), draw.strided(hidden)),
        "a single place": scorer(draw.normal(2, 3), draw.normal(2, 1, 7)),
    }


@exercise.check(points=2, hidden=True)
def places_and_sentences_apart(lab, draw):
    """A place is scored by itself: other places and other sentences do not matter."""
    scorer = scorer_of(lab, *drawn(draw))
    state, hidden, order = draw.normal(4, 3), draw.normal(4, 5, 7), draw.permutation(5)
    changed = hidden.clone()
    changed[:, 2] += 1.0
    moved = state.clone()
    moved[1] += 1.0
    return {
        "as many places as sentences": scorer(state, hidden[:, :4]),
        "places in another order": scorer(state, hidden[:, order]),
        "after a change in place 2": scorer(state, changed),
        "after a change of state 1": scorer(moved, hidden),
        "one sentence alone": scorer(state[1:2], hidden[1:2]),
    }


@exercise.check(points=2, hidden=True)
def gradients(lab, draw):
    """Gradients flow to the state, the hidden vectors, W and a."""
    W_s, W_h, a = drawn(draw)
    scorer = scorer_of(lab, W_s, W_h, a)
    state, hidden, weighting = draw.normal(2, 3), draw.normal(2, 5, 7), draw.normal(2, 5)
    out = (scorer(state, hidden) * weighting).sum()
    if not out.requires_grad:
        return "no gradient"
    out.backward()
    grads = weight_gradients(scorer, given(scorer, W_s, W_h, a), SPELLINGS)
    return {
        "weights": {
            name: grad.reshape(grad.shape[0], -1) if isinstance(grad, torch.Tensor) else grad
            for name, grad in grads.items()
        },
        "state and hidden": draw.gradients(scorer, state, hidden),
        "inputs as they were": draw.untouched(),
    }


@exercise.check(points=2, hidden=True)
def far_away(lab, draw):
    """Scores stay bounded however large state and hidden vectors grow."""
    W_s, W_h, a = drawn(draw)
    scorer = scorer_of(lab, W_s, W_h, a)
    out = scorer(1e3 * draw.normal(2, 3), 1e3 * draw.normal(2, 5, 7))
    return {"scores": out, "bounded by Σ|a|": bool((out.abs() <= a.abs().sum() + 1e-9).all())}


class Given(nn.Module):
    """What the wrong versions share: the parameters, and the inner layer before its tanh."""

    def __init__(self, d_state, d_hidden, d_score):
        super().__init__()
        self.W = nn.Linear(d_state + d_hidden, d_score, bias=False)
        self.a = nn.Linear(d_score, 1, bias=False)

    def inner(self, state, hidden):
        spread = state.unsqueeze(1).expand(-1, hidden.shape[1], -1)
        return self.W(torch.cat([spread, hidden], -1))


@exercise.mistake(
    "tanh comes after the product with a in your version, so no score leaves (-1, 1). In "
    "aᵀ tanh(W[s; h]), what is inside the brackets of tanh?"
)
class TanhAtTheEnd(Given):
    def forward(self, state, hidden):
        return self.a(self.inner(state, hidden)).squeeze(-1).tanh()


@exercise.mistake(
    "Your scores grow without bound with state and hidden vectors: nothing bends between W and a, "
    "and two linear layers in a row are one. What stands between them in the formula?"
)
class NoTanh(Given):
    def forward(self, state, hidden):
        return self.a(self.inner(state, hidden)).squeeze(-1)


@exercise.mistake(
    "You use another squashing function than the formula. At an inner value of 0, what should it "
    "give?"
)
class SigmoidInside(Given):
    def forward(self, state, hidden):
        return self.a(self.inner(state, hidden).sigmoid()).squeeze(-1)


@exercise.mistake(
    "ReLU cuts off everything below 0. Which function does the formula have there, and what does "
    "it do to negative numbers?"
)
class ReluInside(Given):
    def forward(self, state, hidden):
        return self.a(self.inner(state, hidden).relu()).squeeze(-1)


@exercise.mistake(
    "Hidden vector and state are joined the other way round: the first columns of W belong to the "
    "state. In [s; h], which comes first?"
)
class ConcatSwapped(Given):
    def forward(self, state, hidden):
        spread = state[:, None].expand(-1, hidden.shape[1], -1)
        return self.a(torch.tanh(self.W(torch.cat([hidden, spread], -1)))).squeeze(-1)


@exercise.mistake(
    "Every sentence is scored with the state of the first one. When you spread the states over "
    "the places, which axis of your tensor runs over the batch?"
)
class FirstStateForAll(Given):
    def forward(self, state, hidden):
        return self.a(self.inner(state[:1].expand_as(state), hidden).tanh()).squeeze(-1)


@exercise.mistake(
    "Where a batch has as many places as sentences, each place is scored with the state of "
    "another sentence: the states were lined up with the places. At which axis does your new axis "
    "of length 1 belong: (B, 1, d) or (1, B, d)?"
)
class StatesAlongPlaces(Given):
    def forward(self, state, hidden):
        if hidden.shape[0] != hidden.shape[1]:
            return self.a(self.inner(state, hidden).tanh()).squeeze(-1)
        spread = state[None].expand(hidden.shape[0], -1, -1)
        return self.a(self.W(torch.cat([spread, hidden], -1)).tanh()).squeeze(-1)


@exercise.mistake(
    "Your scores are between 0 and 1 and sum to one over the places: that is a softmax, which is "
    "the next step's work. What does this one return?"
)
class SoftmaxInside(Given):
    def forward(self, state, hidden):
        return self.a(self.inner(state, hidden).tanh()).squeeze(-1).softmax(-1)


@exercise.mistake(
    "There is one number too many to learn: your layer a adds a constant to every score. (After "
    "the softmax it would not even matter; why not?) What does nn.Linear have unless told "
    "otherwise?"
)
class BiasOnA(Given):
    def __init__(self, d_state, d_hidden, d_score):
        super().__init__(d_state, d_hidden, d_score)
        self.a = nn.Linear(d_score, 1)

    def forward(self, state, hidden):
        return self.a(self.inner(state, hidden).tanh()).squeeze(-1)


@exercise.mistake(
    "W adds a constant before the tanh, d_score numbers that the formula does not have. What does "
    "nn.Linear have unless told otherwise?"
)
class BiasOnW(Given):
    def __init__(self, d_state, d_hidden, d_score):
        super().__init__(d_state, d_hidden, d_score)
        self.W = nn.Linear(d_state + d_hidden, d_score)

    def forward(self, state, hidden):
        return self.a(self.inner(state, hidden).tanh()).squeeze(-1)


@exercise.mistake(
    "Both layers have a bias that the formula does not have. How do you tell nn.Linear to go "
    "without?"
)
class BiasOnBoth(Given):
    def __init__(self, d_state, d_hidden, d_score):
        super().__init__(d_state, d_hidden, d_score)
        self.W, self.a = nn.Linear(d_state + d_hidden, d_score), nn.Linear(d_score, 1)

    def forward(self, state, hidden):
        return self.a(self.inner(state, hidden).tanh()).squeeze(-1)


@exercise.mistake(
    "You multiply the state's part with the hidden vector's part and add up: a dot product, as in "
    "lab 3. In the additive score, what is done with the two parts before the tanh?"
)
class DotProduct(nn.Module):
    def __init__(self, d_state, d_hidden, d_score):
        super().__init__()
        self.W_s = nn.Linear(d_state, d_score, bias=False)
        self.W_h = nn.Linear(d_hidden, d_score, bias=False)
        self.a = nn.Linear(d_score, 1, bias=False)

    def forward(self, state, hidden):
        return (self.W_s(state)[:, None] * self.W_h(hidden)).sum(-1)


@exercise.mistake(
    "State and hidden vectors cannot be joined as they are: (B, d_state) has two axes, (B, T, "
    "d_hidden) has three. Which axis does the state lack, and how long must it be?"
)
class JoinedAsTheyAre(Given):
    def forward(self, state, hidden):
        return self.a(self.W(torch.cat([state, hidden], -1)).tanh()).squeeze(-1)


@exercise.mistake(
    "Your product cannot be made: perhaps one matrix multiplies state and hidden vectors alike. "
    "That runs only where both have the same width, and says that both mean the same by their "
    "first feature. Of which shape is the part of W that meets the state?"
)
class SharedMatrix(nn.Module):
    def __init__(self, d_state, d_hidden, d_score):
        super().__init__()
        self.W = nn.Linear(d_hidden, d_score, bias=False)
        self.a = nn.Linear(d_score, 1, bias=False)

    def forward(self, state, hidden):
        return self.a((self.W(state)[:, None] + self.W(hidden)).tanh()).squeeze(-1)


@exercise.mistake(
    "You sum over the inner features without weighing them: a is not used. Which features count "
    "in favour of a place, and which against it?"
)
class SummedWithoutA(Given):
    def forward(self, state, hidden):
        return self.inner(state, hidden).tanh().sum(-1)


@exercise.mistake(
    "The state has no part in your scores: they are the same for every state. Which words the "
    "decoder needs now depends on what it has written. What is missing beside h?"
)
class StateLeftOut(Given):
    def forward(self, state, hidden):
        return self.a(self.inner(torch.zeros_like(state), hidden).tanh()).squeeze(-1)


@exercise.mistake(
    "Your result has an axis of length 1 at its end, left over from the product with a. Which "
    "call drops it?"
)
class LastAxisKept(Given):
    def forward(self, state, hidden):
        return self.a(self.inner(state, hidden).tanh())


@exercise.mistake(
    "`squeeze()` without an axis drops every axis of length 1, also that of a sentence with a "
    "single place, or of a batch with a single sentence. Which axis do you mean?"
)
class SqueezedEverything(Given):
    def forward(self, state, hidden):
        return self.a(self.inner(state, hidden).tanh()).squeeze()


@exercise.mistake(
    "The states are repeated in the wrong order when the places of all sentences are laid out in "
    "one long row: `repeat` gives s1 s2 s1 s2. Which order do the hidden vectors have there?"
)
class RepeatedInTurn(Given):
    def forward(self, state, hidden):
        B, T, _ = hidden.shape
        joined = torch.cat([state.repeat(T, 1), hidden.reshape(B * T, -1)], -1)
        return self.a(self.W(joined).tanh()).view(B, T)


@exercise.mistake(
    "You keep something from the first call (the hidden vectors times their part of W, perhaps), "
    "and other hidden vectors of the same shape get the old scores. What may stay, and what has "
    "to be computed anew?"
)
class KeptFromTheFirstCall(Given):
    def forward(self, state, hidden):
        width = state.shape[1]
        if getattr(self, "kept", None) is None or self.kept.shape[:2] != hidden.shape[:2]:
            self.kept = hidden @ self.W.weight[:, width:].T
        inner = (state @ self.W.weight[:, :width].T)[:, None] + self.kept
        return self.a(inner.tanh()).squeeze(-1)


@exercise.mistake(
    "The tensor a is no parameter of your module: an optimizer would never see it. What wraps a "
    "tensor so that `parameters()` lists it?"
)
class PlainTensor(nn.Module):
    def __init__(self, d_state, d_hidden, d_score):
        super().__init__()
        self.W = nn.Linear(d_state + d_hidden, d_score, bias=False)
        self.a = torch.zeros(d_score)

    def forward(self, state, hidden):
        spread = state[:, None, :].expand(-1, hidden.shape[1], -1)
        return self.W(torch.cat([spread, hidden], -1)).tanh() @ self.a.to(hidden.dtype)


@exercise.mistake(
    "tanh is applied to the two parts before they are added. In aᵀ tanh(W[s; h]) the sum of both "
    "stands inside one tanh."
)
class TanhOfTheParts(Given):
    def forward(self, state, hidden):
        width = state.shape[1]
        own, other = self.W.weight[:, :width], self.W.weight[:, width:]
        inner = (state @ own.T).tanh()[:, None] + (hidden @ other.T).tanh()
        return self.a(inner).squeeze(-1)


@exercise.mistake(
    "Nothing can be learnt: the scores are computed under `no_grad`, or cut from torch's graph as "
    "a whole. Where is that switch, and what is it for?"
)
class NothingRecorded(Given):
    def forward(self, state, hidden):
        spread = state[:, None, :].expand(-1, hidden.shape[1], -1)
        with torch.no_grad():
            return self.a(self.W(torch.cat([spread, hidden], -1)).tanh()).squeeze(-1)


@exercise.mistake(
    "Your scores are a table with the places as rows and the sentences as columns. Batch first: "
    "which axis do you move, and why?"
)
class PlacesFirst(Given):
    def forward(self, state, hidden):
        return self.a(self.inner(state, hidden).tanh()).squeeze(-1).T


@exercise.mistake(
    "The scores are divided by the root of a width. That scaling belongs to dot products (lab 3); "
    "a bounded sum such as this one needs none."
)
class Scaled(Given):
    def forward(self, state, hidden):
        inner = self.inner(state, hidden).tanh()
        return self.a(inner).squeeze(-1) / inner.shape[-1] ** 0.5


@exercise.mistake(
    "The numbers are right, but no gradient reaches the decoder's state, so it could not learn to "
    "ask for the right place. What cuts torch's graph on that side?"
)
class StateDetached(Given):
    def forward(self, state, hidden):
        return self.a(self.inner(state.detach(), hidden).tanh()).squeeze(-1)


@exercise.mistake(
    "The numbers are right, but no gradient reaches the encoder. What cuts torch's graph on that "
    "side?"
)
class HiddenDetached(Given):
    def forward(self, state, hidden):
        return self.a(self.inner(state, hidden.detach()).tanh()).squeeze(-1)


@exercise.also_right
class TwoMatrices(nn.Module):
    def __init__(self, d_state, d_hidden, d_score):
        super().__init__()
        self.W_s = nn.Linear(d_state, d_score, bias=False)
        self.W_h = nn.Linear(d_hidden, d_score, bias=False)
        self.a = nn.Linear(d_score, 1, bias=False)

    def forward(self, state, hidden):
        return self.a(torch.tanh(self.W_s(state).unsqueeze(1) + self.W_h(hidden))).squeeze(2)


@exercise.also_right
class RawParameters(nn.Module):
    def __init__(self, d_state, d_hidden, d_score):
        super().__init__()
        self.W = nn.Parameter(torch.empty(d_state + d_hidden, d_score).uniform_(-0.1, 0.1))
        self.a = nn.Parameter(torch.empty(d_score).uniform_(-0.1, 0.1))

    def forward(self, state, hidden):
        T = hidden.shape[1]
        pairs = torch.cat((state.unsqueeze(1).repeat(1, T, 1), hidden), dim=2)
        return torch.einsum("btk,k->bt", torch.tanh(pairs @ self.W), self.a)


@exercise.also_right
class PlaceByPlace(nn.Module):
    def __init__(self, d_state, d_hidden, d_score):
        super().__init__()
        self.W_s = nn.Parameter(torch.randn(d_score, d_state))
        self.W_h = nn.Parameter(torch.randn(d_score, d_hidden))
        self.a = nn.Parameter(torch.randn(1, d_score))

    def forward(self, state, hidden):
        columns = []
        for h in hidden.unbind(1):
            inner = torch.tanh(state @ self.W_s.T + h @ self.W_h.T)
            columns.append((inner * self.a).sum(1))
        return torch.stack(columns, dim=1)


@exercise.also_right
class AsInThePaper(nn.Module):
    """Energies by one layer on the joined vectors, the vector a by a batched product."""

    def __init__(self, d_state, d_hidden, d_score):
        super().__init__()
        self.attn = nn.Linear(d_hidden + d_state, d_score, bias=False)
        self.v = nn.Linear(d_score, 1, bias=False)

    def forward(self, state, hidden):
        src_len = hidden.shape[1]
        state = state.unsqueeze(1).repeat(1, src_len, 1)
        energy = torch.tanh(self.attn(torch.cat((state, hidden), dim=2)))
        return self.v(energy).squeeze(2)


@exercise.also_right
class WithTheNamesOfATutorial(nn.Module):
    """Other names for the two halves of W and for a; nothing else is new."""

    def __init__(self, d_state, d_hidden, d_score):
        super().__init__()
        self.Wa = nn.Linear(d_state, d_score, bias=False)
        self.Ua = nn.Linear(d_hidden, d_score, bias=False)
        self.Va = nn.Linear(d_score, 1, bias=False)

    def forward(self, state, hidden):
        return self.Va(torch.tanh(self.Wa(state.unsqueeze(1)) + self.Ua(hidden))).squeeze(2)


@exercise.also_right
class WithAVectorV(nn.Module):
    def __init__(self, d_state, d_hidden, d_score):
        super().__init__()
        self.attn = nn.Linear(d_state + d_hidden, d_score, bias=False)
        self.v = nn.Parameter(torch.zeros(d_score))

    def forward(self, state, hidden):
        T = hidden.shape[1]
        joined = torch.cat([state.unsqueeze(1).expand(-1, T, -1), hidden], 2)
        return (self.v * self.attn(joined).tanh()).sum(2)
