"""AttentionDecoderCell: one step of the decoder, from the last token to scores for the next."""

from __future__ import annotations

import copy

import torch

from attnlab.checking.weights import give_weights, weight_gradients
from attnlab.seq2seq import AdditiveScore, AttentionDecoderCell, attend
from gradekit.exercise import Exercise

exercise = Exercise(AttentionDecoderCell, uses=[AdditiveScore, attend])


def names_of_the_score(names):
    """Names of weights, given without their beginning and with spaces between them."""
    return tuple(f"score.{name}" for name in names.split())


# Students may lay out the score in their own way: other names and shapes of W and a.
SPELLINGS = {
    ("score.W_s", "score.W_h"): names_of_the_score(
        "W.weight W W_a.weight W_a linear.weight attn.weight"
    ),
    "score.W_s": names_of_the_score(
        "W_s.weight Ws.weight Ws W1.weight W1 W_q.weight W_q Wa.weight Wa W_a.weight W_a W.weight W"
    ),
    "score.W_h": names_of_the_score(
        "W_h.weight Wh.weight Wh W2.weight W2 W_k.weight W_k Ua.weight Ua U_a.weight U_a U.weight U"
    ),
    "score.a": names_of_the_score(
        "a.weight v.weight v Va.weight v_a.weight v_a va.weight va V.weight w_v.weight"
    ),
}
VOCAB = 13
EMBED = 5
STATE = 3
HIDDEN = 7
SCORE = 4


def has_vector(tensors):
    """Whether the weights `a` are a plain vector in `tensors`, not a matrix."""
    names = SPELLINGS["score.a"]
    return any(name in tensors and tensors[name].ndim == 1 for name in ("score.a", *names))


def drawn(draw, cell):
    """Weights for every parameter of a cell of these sizes."""
    flat = has_vector(dict(cell.named_parameters()))
    a = draw.normal(SCORE)
    return {
        "embedding.weight": draw.normal(VOCAB, EMBED),
        "score.W_s": draw.normal(STATE, SCORE),
        "score.W_h": draw.normal(HIDDEN, SCORE),
        "score.a": 2 * (a if flat else a[:, None]),
        "gru.weight_ih": draw.normal(3 * STATE, EMBED + HIDDEN) / 2,
        "gru.weight_hh": draw.normal(3 * STATE, STATE) / 2,
        "gru.bias_ih": draw.normal(3 * STATE) / 2,
        "gru.bias_hh": draw.normal(3 * STATE) / 2,
        "out.weight": draw.normal(VOCAB, STATE),
        "out.bias": draw.normal(VOCAB),
    }


def cell_of(lab, draw):
    """The lab's cell with drawn weights, in float64, and these weights."""
    cell = lab.AttentionDecoderCell(VOCAB, EMBED, STATE, HIDDEN, SCORE).double()
    weights = drawn(draw, cell)
    give_weights(cell, weights, SPELLINGS)
    return cell, weights


def mask_of(*lengths, width=6):
    return torch.arange(width) < torch.tensor(lengths)[:, None]


def tokens(draw, batch=2):
    return draw.integers(0, VOCAB, batch)


def parts_without_gradients(parameters, results):
    """The parts of the module that were there before the call and that no result depends on."""
    out = sum(result.sin().sum() for result in results)
    if out.requires_grad:  # another check asks whether anything is recorded
        out.backward()
    else:
        return "none"
    used = {name.partition(".")[0] for name, one in parameters.items() if one.grad is not None}
    idle = [part for part in ("embedding", "score", "gru", "out") if part not in used]
    return " ".join(idle) or "none"


@exercise.check(points=1)
def shapes(lab, draw):
    """Returns logits (B, V), new state (B, d_state) and weights (B, T), made by all its parts."""
    cell = lab.AttentionDecoderCell(VOCAB, EMBED, STATE, HIDDEN, SCORE)
    twin, parameters = copy.deepcopy(cell), dict(cell.named_parameters())
    state, hidden = draw.normal(2, STATE).float(), draw.normal(2, 6, HIDDEN).float()
    y_prev = tokens(draw)
    again = twin(y_prev, state.clone(), hidden.clone(), mask_of(6, 4))
    logits, new_state, weights = results = cell(y_prev, state, hidden, mask_of(6, 4))
    # NaN is told by other checks.
    pairs = (
        (one.nan_to_num(), other.nan_to_num()) for one, other in zip(results, again, strict=True)
    )
    others = sum(not torch.equal(*pair) for pair in pairs)
    return {
        "shape of logits": list(logits.shape),
        "shape of the new state": list(new_state.shape),
        "shape of weights": list(weights.shape),
        "parts of `__init__` that no result depends on": parts_without_gradients(
            parameters, (logits, new_state, weights)
        ),
        "number of results that a copy of your cell gives otherwise": others,
    }


@exercise.check(points=2.5)
def one_step(lab, draw):
    """Is right for given weights, with or without padding, in any memory layout."""
    cell, _ = cell_of(lab, draw)
    y_prev, state, hidden = tokens(draw), draw.normal(2, STATE), draw.normal(2, 6, HIDDEN)
    names = ("logits", "new state", "weights")
    seen = {
        "with a mask": cell(y_prev, state, hidden, mask_of(6, 4)),
        "without a mask": cell(y_prev, state, hidden),
        "not contiguous": cell(y_prev, draw.strided(state), draw.strided(hidden), mask_of(3, 6)),
    }
    return {name: dict(zip(names, step, strict=True)) for name, step in seen.items()}


@exercise.check(points=1.5)
def three_steps(lab, draw):
    """Continues from the state that it returned, step after step."""
    cell, _ = cell_of(lab, draw)
    state, hidden, mask = draw.normal(2, STATE), draw.normal(2, 6, HIDDEN), mask_of(6, 4)
    seen = {}
    for number, y_prev in enumerate(draw.integers(0, VOCAB, 3, 2), start=1):
        logits, state, weights = cell(y_prev, state, hidden, mask)
        seen[f"step {number}"] = {"logits": logits, "weights": weights}
    return {**seen, "state after step 3": state}


@exercise.check(points=2)
def gradients(lab, draw):
    """Gradients flow to the old state, to the encoder's vectors and to every weight."""
    cell, weights = cell_of(lab, draw)
    state, hidden, mask = draw.normal(2, STATE), draw.normal(2, 6, HIDDEN), mask_of(6, 4)
    y_prev = torch.tensor([4, 9])

    def everything(state, hidden):
        return torch.cat(cell(y_prev, state, hidden, mask), 1)

    flow = draw.gradients(everything, state, hidden)
    logits, new_state, _ = cell(y_prev, state, hidden, mask)
    again, _, _ = cell(torch.tensor([12, 0]), new_state, hidden, mask)
    out = (logits * draw.normal(2, VOCAB) + again * draw.normal(2, VOCAB)).sum()
    if not out.requires_grad:
        return "no gradient"
    out.backward()
    grads = weight_gradients(cell, weights, SPELLINGS)
    return {
        **dict(zip(("gradient of the old state", "gradient of `hidden`"), flow, strict=True)),
        "gradient after two steps": {
            name: grad.reshape(grad.shape[0], -1) if isinstance(grad, torch.Tensor) else grad
            for name, grad in grads.items()
        },
        "inputs as they were": draw.untouched(),
    }


@exercise.check(points=2.5, hidden=True)
def what_looks_back(lab, draw):
    """Where it looks depends on the old state and on the source, not on the last token."""
    cell, _ = cell_of(lab, draw)
    state, hidden, mask = draw.normal(2, STATE), draw.normal(2, 6, HIDDEN), mask_of(6, 4)
    first, second, other = torch.tensor([1, 2]), torch.tensor([11, 3]), draw.normal(2, STATE)
    a, b = cell(first, state, hidden, mask), cell(second, state, hidden, mask)
    return {
        "number of weights that the token changes": (~torch.isclose(a[2], b[2])).sum(),
        "number of new states that it does not change": torch.isclose(a[1], b[1]).all(1).sum(),
        "weights after another state": cell(first, other, hidden, mask)[2],
        "asked twice": list(cell(first, state, hidden, mask)),
    }


@exercise.check(points=1, hidden=True)
def other_sizes(lab, draw):
    """Is right for one sentence, one place, and as many places as sentences."""
    cell, _ = cell_of(lab, draw)

    def ask(B, T):
        mask = torch.arange(T) < draw.integers(1, T + 1, B)[:, None]
        return list(cell(tokens(draw, B), draw.normal(B, STATE), draw.normal(B, T, HIDDEN), mask))

    return draw.each_size(ask, B=2, T=6)


@exercise.check(points=1.5, hidden=True)
def padding(lab, draw):
    """Numbers at padding do not matter, however large; sentences do not see each other."""
    cell, _ = cell_of(lab, draw)
    y_prev, state, hidden = tokens(draw, 3), draw.normal(3, STATE), draw.normal(3, 6, HIDDEN)
    mask = mask_of(4, 6, 1)
    filled = torch.where(mask[..., None], hidden, 1e6)
    return {
        "huge vectors at padding": list(cell(y_prev, state, filled, mask)),
        "no mask, and one vector of zeros": list(
            cell(y_prev, state, hidden.masked_fill(torch.arange(6)[:, None] == 2, 0.0))
        ),
        "one sentence alone": list(cell(y_prev[1:2], state[1:2], hidden[1:2], mask[1:2])),
        "padding cut off": list(cell(y_prev[:1], state[:1], hidden[:1, :4])),
    }
