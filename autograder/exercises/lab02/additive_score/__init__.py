"""AdditiveScore: how well each place of the source fits the decoder's state."""

from __future__ import annotations

import torch

from attnlab.checking.observation import dtype_of
from attnlab.checking.weights import give_weights, weight_gradients
from attnlab.seq2seq import AdditiveScore
from gradekit.exercise import Exercise

exercise = Exercise(AdditiveScore)


def names(text):
    """The names in a text with spaces between them."""
    return tuple(text.split())


# The weights by the names of their mathematical halves, as s @ W_s + h @ W_h: stacked along the
# first axis, they are the transpose of one nn.Linear on [s; h].
SPELLINGS = {
    ("W_s", "W_h"): names("W.weight W W_a.weight W_a linear.weight attn.weight"),
    "W_s": names(
        "W_s.weight Ws.weight Ws W1.weight W1 W_q.weight W_q Wa.weight Wa W_a.weight W_a W.weight W"
    ),
    "W_h": names(
        "W_h.weight Wh.weight Wh W2.weight W2 W_k.weight W_k Ua.weight Ua U_a.weight U_a U.weight U"
    ),
    "a": names("a.weight v.weight v Va.weight v_a.weight v_a va.weight va V.weight w_v.weight"),
}


def has_vector(tensors):
    """Whether the weights `a` are a plain vector in `tensors`, not a matrix."""
    spelled = ("a", *SPELLINGS["a"])
    return any(name in tensors and tensors[name].ndim == 1 for name in spelled)


def given(scorer, W_s, W_h, a):
    """The weights under the names of SPELLINGS; `a` is a plain vector if the class has one."""
    flat = has_vector(dict(scorer.named_parameters()))
    return {"W_s": W_s, "W_h": W_h, "a": a if flat else a[:, None]}


def scorer_of(lab, W_s, W_h, a):
    """The lab's AdditiveScore with these weights, in float64; all its other weights are 0.

    So a bias too many costs the check that counts parameters, and no other.
    """
    scorer = lab.AdditiveScore(W_s.shape[0], W_h.shape[0], a.shape[0]).double()
    with torch.no_grad():
        for parameter in scorer.parameters():
            parameter.zero_()
    give_weights(scorer, given(scorer, W_s, W_h, a), SPELLINGS)
    return scorer


def drawn(draw, d_state=3, d_hidden=7, d_score=4):
    """Weights of moderate size."""
    return draw.normal(d_state, d_score), draw.normal(d_hidden, d_score) / 2, draw.normal(d_score)


def second_call(scorer, state, hidden, numbers):
    """Whether a second call gives the same scores, and whether they are from `__init__`'s weights.

    They are if a call replaces no parameter and adds none. If the calls differ, `numbers` numbers
    of these parameters must also have an effect.
    """
    weights = [*scorer.parameters()]
    first = scorer(state, hidden)
    same = torch.equal(first.nan_to_num(), scorer(state, hidden).nan_to_num())
    after = [*scorer.parameters()]
    kept = [*map(id, after)] == [*map(id, weights)]
    if not same:
        if first.requires_grad:
            first.square().sum().backward()
            weights = [weight for weight in weights if weight.grad is not None]
        kept = kept and sum(weight.numel() for weight in weights) >= numbers
    seen = "the same scores" if same else "other scores"
    return seen if kept else f"{seen}, not all from the weights of `__init__`"


@exercise.check(points=1.5)
def shape_and_parameters(lab, draw):
    """Returns one score for each place; learns W and a and nothing else."""
    scorer = lab.AdditiveScore(3, 7, 4)
    state, hidden = draw.normal(2, 3).float(), draw.normal(2, 5, 7).float()
    second = second_call(scorer, state, hidden, (3 + 7) * 4 + 4)
    out = scorer(state, hidden)
    return {
        "shape": list(out.shape),
        "dtype": dtype_of(out),
        "numbers to learn": sum(p.numel() for p in scorer.parameters() if p.requires_grad),
        "a second call with the same input gives": second,
    }


@exercise.check(points=1.5)
def hand_example(lab, draw):
    """Is right for three places and a state of one number, small enough to do by hand."""
    W_s, W_h = torch.tensor([[1.0, 0.0]]).double(), torch.tensor([[0.0, 1.0], [1.0, 0.0]]).double()
    scorer = scorer_of(lab, W_s, W_h, torch.tensor([1.0, -1.0]).double())
    state = torch.tensor([[1.0]]).double()
    hidden = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]]).double()
    return scorer(state, hidden)


@exercise.check(points=2)
def scores(lab, draw):
    """Is right for given weights, on a batch, in any memory layout."""
    scorer = scorer_of(lab, *drawn(draw))
    other_state, other_hidden = draw.strided(draw.normal(2, 3)), draw.strided(draw.normal(2, 5, 7))
    seen = {
        "scores": scorer(draw.normal(2, 3), draw.normal(2, 5, 7)),
        "other vectors, not contiguous": scorer(other_state, other_hidden),
        "a single place": scorer(draw.normal(2, 3), draw.normal(2, 1, 7)),
    }
    state, hidden = draw.normal(2, 3), draw.normal(2, 5, 7)
    scorer(state, hidden)
    with torch.no_grad():
        for parameter in scorer.parameters():
            parameter.mul_(0.5)
    return seen | {"the same vectors, after a step on the weights": scorer(state, hidden)}


@exercise.check(points=1.5)
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
    flow = draw.gradients(scorer, state, hidden)
    return {
        "gradient": {
            name: grad.reshape(grad.shape[0], -1) if isinstance(grad, torch.Tensor) else grad
            for name, grad in grads.items()
        },
        **dict(zip(("gradient of the state", "gradient of `hidden`"), flow, strict=True)),
        "inputs as they were": draw.untouched(),
    }


@exercise.check(points=1, hidden=True)
def other_sizes(lab, draw):
    """Is right for one sentence, one place, one feature, and equal sizes."""

    def ask(B, T, d_state, d_hidden):
        # With five scores, W is never square, so no layout is mistaken for its transpose.
        scorer = scorer_of(lab, *drawn(draw, d_state, d_hidden, 5))
        return scorer(draw.normal(B, d_state), draw.normal(B, T, d_hidden))

    return draw.each_size(ask, B=2, T=5, d_state=3, d_hidden=7)


@exercise.check(points=2.5, hidden=True)
def places_and_sentences_apart(lab, draw):
    """Scores each place by itself: other places and other sentences do not matter."""
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
def far_away(lab, draw):
    """Scores stay bounded, however large state and hidden vectors get."""
    W_s, W_h, a = drawn(draw)
    scorer = scorer_of(lab, W_s, W_h, a)
    out = scorer(1e3 * draw.normal(2, 3), 1e3 * draw.normal(2, 5, 7))
    beyond = ~(out.abs() <= a.abs().sum() + 1e-9)
    return {"scores": out, "number of scores beyond Σ|a|": beyond.sum()}
