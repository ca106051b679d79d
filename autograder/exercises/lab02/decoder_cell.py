"""AttentionDecoderCell: one step of the decoder, from the last token to scores for the next."""

from __future__ import annotations

import torch
from torch import nn

from attnlab.checking.weights import give_weights, weight_gradients
from attnlab.seq2seq import AdditiveScore, AttentionDecoderCell, attend
from gradekit.exercise import Exercise

exercise = Exercise(AttentionDecoderCell, uses=[AdditiveScore, attend])

# The score's weights may be the student's own: other layouts of W and a.
SPELLINGS = {
    ("score.W_s", "score.W_h"): (
        "score.W.weight",
        "score.W",
        "score.W_a.weight",
        "score.W_a",
        "score.linear.weight",
        "score.attn.weight",
    ),
    "score.W_s": (
        "score.W_s.weight",
        "score.Ws.weight",
        "score.Ws",
        "score.W1.weight",
        "score.W1",
        "score.W_q.weight",
        "score.W_q",
        "score.Wa.weight",
        "score.Wa",
        "score.W_a.weight",
        "score.W_a",
        "score.W.weight",
        "score.W",
    ),
    "score.W_h": (
        "score.W_h.weight",
        "score.Wh.weight",
        "score.Wh",
        "score.W2.weight",
        "score.W2",
        "score.W_k.weight",
        "score.W_k",
        "score.Ua.weight",
        "score.Ua",
        "score.U_a.weight",
        "score.U_a",
        "score.U.weight",
        "score.U",
    ),
    "score.a": (
        "score.a.weight",
        "score.v.weight",
        "score.v",
        "score.Va.weight",
        "score.v_a.weight",
        "score.v_a",
        "score.va.weight",
        "score.va",
        "score.V.weight",
        "score.w_v.weight",
    ),
}
VOCAB = 13
EMBED = 5
STATE = 3
HIDDEN = 7
SCORE = 4


def has_vector(tensors):
    """Whether the weights `a` are a plain vector there, not a matrix."""
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
    """The lab's cell with drawn weights, in float64; and the weights."""
    cell = lab.AttentionDecoderCell(VOCAB, EMBED, STATE, HIDDEN, SCORE).double()
    weights = drawn(draw, cell)
    give_weights(cell, weights, SPELLINGS)
    return cell, weights


def mask_of(*lengths, width=6):
    return torch.arange(width) < torch.tensor(lengths)[:, None]


def tokens(draw, batch=2):
    return draw.integers(0, VOCAB, batch)


@exercise.check(points=1.5)
def shapes(lab, draw):
    """Gives back logits (B, V), the new state (B, d_state) and the weights (B, T)."""
    cell = lab.AttentionDecoderCell(VOCAB, EMBED, STATE, HIDDEN, SCORE)
    state, hidden = draw.normal(2, STATE).float(), draw.normal(2, 6, HIDDEN).float()
    logits, new_state, weights = cell(tokens(draw), state, hidden, mask_of(6, 4))
    return {
        "shape of logits": list(logits.shape),
        "shape of the new state": list(new_state.shape),
        "shape of weights": list(weights.shape),
    }


@exercise.check(points=3)
def one_step(lab, draw):
    """Is right for given weights, with padding and without, in any memory layout."""
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
    """Goes on from the state that it gave back, step after step."""
    cell, _ = cell_of(lab, draw)
    state, hidden, mask = draw.normal(2, STATE), draw.normal(2, 6, HIDDEN), mask_of(6, 4)
    seen = []
    for y_prev in draw.integers(0, VOCAB, 3, 2):
        logits, state, weights = cell(y_prev, state, hidden, mask)
        seen.append({"logits": logits, "weights": weights})
    return {"steps": seen, "last state": state}


@exercise.check(points=2, hidden=True)
def what_looks_back(lab, draw):
    """Where it looks depends on the state before and on the source, not on the last token."""
    cell, _ = cell_of(lab, draw)
    state, hidden, mask = draw.normal(2, STATE), draw.normal(2, 6, HIDDEN), mask_of(6, 4)
    first, second, other = torch.tensor([1, 2]), torch.tensor([11, 3]), draw.normal(2, STATE)
    a, b = cell(first, state, hidden, mask), cell(second, state, hidden, mask)
    return {
        "weights do not know the token": torch.allclose(a[2], b[2]),
        "new states do": torch.allclose(a[1], b[1]),
        "weights after another state": cell(first, other, hidden, mask)[2],
        "asked twice": list(cell(first, state, hidden, mask)),
    }


@exercise.check(points=1.5, hidden=True)
def padding(lab, draw):
    """What stands at padding does not matter, however large; sentences do not see each other."""
    cell, _ = cell_of(lab, draw)
    y_prev, state, hidden = tokens(draw, 3), draw.normal(3, STATE), draw.normal(3, 6, HIDDEN)
    mask = mask_of(4, 6, 1)
    filled = torch.where(mask[..., None], hidden, 1e6)
    return {
        "huge vectors at padding": list(cell(y_prev, state, filled, mask)),
        "one sentence alone": list(cell(y_prev[1:2], state[1:2], hidden[1:2], mask[1:2])),
        "padding cut off": list(cell(y_prev[:1], state[:1], hidden[:1, :4])),
    }


@exercise.check(points=2.5, hidden=True)
def gradients(lab, draw):
    """Gradients flow to the state before, to the encoder's vectors and to every weight."""
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
        "state and hidden": flow,
        "weights after two steps": {
            name: grad.reshape(grad.shape[0], -1) if isinstance(grad, torch.Tensor) else grad
            for name, grad in grads.items()
        },
        "inputs as they were": draw.untouched(),
    }


class Given(nn.Module):
    """What every version shares: the parts that the cell is given."""

    def __init__(self, vocab, d_embed, d_state, d_hidden, d_score):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_embed)
        self.score = AdditiveScore(d_state, d_hidden, d_score)
        self.gru = nn.GRUCell(d_embed + d_hidden, d_state)
        self.out = nn.Linear(d_state, vocab)

    def step(self, y_prev, context, state):
        """The part behind the attention, done right."""
        return self.gru(torch.cat([self.embedding(y_prev), context], -1), state)


@exercise.mistake(
    "Your alignment asks with the state *after* the GRU, but the GRU needs the context first: a "
    "circle that you broke with a context of zeros. Which state is there before anything is "
    "computed?"
)
class AlignsWithNewState(Given):
    def forward(self, y_prev, state, hidden, mask=None):
        nothing = hidden.new_zeros(len(hidden), hidden.shape[-1])
        ahead = self.step(y_prev, nothing, state)
        context, weights = attend(self.score(ahead, hidden), hidden, mask)
        new_state = self.step(y_prev, context, state)
        return self.out(new_state), new_state, weights


@exercise.mistake(
    "Context and embedding are joined the other way round. The first columns of the GRU's weights "
    "belong to the embedding: in [y; c], which comes first?"
)
class ContextFirst(Given):
    def forward(self, y_prev, state, hidden, mask=None):
        context, weights = attend(self.score(state, hidden), hidden, mask)
        new_state = self.gru(torch.cat([context, self.embedding(y_prev)], -1), state)
        return self.out(new_state), new_state, weights


@exercise.mistake(
    "Your step does not read the token that it is given: it feeds the likeliest token by its own "
    "last state. Who decides which token goes in, the cell or its caller?"
)
class FeedsItsOwnGuess(Given):
    def forward(self, y_prev, state, hidden, mask=None):
        context, weights = attend(self.score(state, hidden), hidden, mask)
        new_state = self.step(self.out(state).argmax(-1), context, state)
        return self.out(new_state), new_state, weights


@exercise.mistake(
    "In the place of one token's embedding you feed a mixture of all of them, weighted by the "
    "logits. The decoder takes in the token that was written: what looks up its row?"
)
class FeedsLogits(Given):
    def forward(self, y_prev, state, hidden, mask=None):
        context, weights = attend(self.score(state, hidden), hidden, mask)
        mixture = self.out(state).softmax(-1) @ self.embedding.weight
        new_state = self.gru(torch.cat([mixture, context], -1), state)
        return self.out(new_state), new_state, weights


@exercise.mistake(
    "Your context is always the last place of the source: the bottleneck that attention was made "
    "to get rid of. Which two results does `attend` give?"
)
class LastPlaceAsContext(Given):
    def forward(self, y_prev, state, hidden, mask=None):
        _, weights = attend(self.score(state, hidden), hidden, mask)
        new_state = self.step(y_prev, hidden[:, -1], state)
        return self.out(new_state), new_state, weights


@exercise.mistake(
    "The GRU gets the context that was computed one step before (at first, zeros). Asked twice for "
    "the same, your cell answers differently. Whose context belongs into this step?"
)
class ContextOfLastStep(Given):
    def forward(self, y_prev, state, hidden, mask=None):
        kept = getattr(self, "kept", None)
        context, weights = attend(self.score(state, hidden), hidden, mask)
        self.kept = context
        if kept is None or kept.shape != context.shape:
            kept = torch.zeros_like(context)
        new_state = self.step(y_prev, kept, state)
        return self.out(new_state), new_state, weights


@exercise.mistake(
    "You give back the state that you were given, so every step starts from the same place. Which "
    "state does the next step need?"
)
class OldStateReturned(Given):
    def forward(self, y_prev, state, hidden, mask=None):
        context, weights = attend(self.score(state, hidden), hidden, mask)
        return self.out(self.step(y_prev, context, state)), state, weights


@exercise.mistake(
    "Two results come back, and three are asked for. What does the next step have to start from?"
)
class StateNotReturned(Given):
    def forward(self, y_prev, state, hidden, mask=None):
        context, weights = attend(self.score(state, hidden), hidden, mask)
        return self.out(self.step(y_prev, context, state)), weights


@exercise.mistake(
    "The numbers are right, but no gradient reaches the state before: nothing that an early step "
    "did can be learnt from a late one. What cuts torch's graph there?"
)
class StateDetached(Given):
    def forward(self, y_prev, state, hidden, mask=None):
        state = state.detach()
        context, weights = attend(self.score(state, hidden), hidden, mask)
        new_state = self.step(y_prev, context, state)
        return self.out(new_state), new_state, weights


@exercise.mistake(
    "The GRU starts from zeros at every step and forgets what was written. Its second argument is "
    "missing: what belongs there?"
)
class StateNotCarried(Given):
    def forward(self, y_prev, state, hidden, mask=None):
        context, weights = attend(self.score(state, hidden), hidden, mask)
        new_state = self.gru(torch.cat([self.embedding(y_prev), context], -1))
        return self.out(new_state), new_state, weights


@exercise.mistake(
    "Your call of the GRU gets its arguments in an order that it does not know. What does "
    "`nn.GRUCell` take first, what it reads or what it remembers?"
)
class StateAsInput(Given):
    def forward(self, y_prev, state, hidden, mask=None):
        context, weights = attend(self.score(state, hidden), hidden, mask)
        new_state = self.gru(state, torch.cat([self.embedding(y_prev), context], -1))
        return self.out(new_state), new_state, weights


@exercise.mistake(
    "The logits are computed from the state before this step, so they know neither the last token "
    "nor the context. Which state comes out of this step?"
)
class LogitsOfOldState(Given):
    def forward(self, y_prev, state, hidden, mask=None):
        context, weights = attend(self.score(state, hidden), hidden, mask)
        new_state = self.step(y_prev, context, state)
        return self.out(state), new_state, weights


@exercise.mistake(
    "Your first result sums to one: it is a distribution already. The loss takes the logarithm of "
    "a softmax of what it gets: what should it get?"
)
class ProbabilitiesReturned(Given):
    def forward(self, y_prev, state, hidden, mask=None):
        context, weights = attend(self.score(state, hidden), hidden, mask)
        new_state = self.step(y_prev, context, state)
        return self.out(new_state).softmax(-1), new_state, weights


@exercise.mistake(
    "Padding gets weight in your step. `attend` knows what to do about it if it is told: which of "
    "your arguments is not passed on?"
)
class MaskNotPassedOn(Given):
    def forward(self, y_prev, state, hidden, mask=None):
        context, weights = attend(self.score(state, hidden), hidden)
        new_state = self.step(y_prev, context, state)
        return self.out(new_state), new_state, weights


@exercise.mistake(
    "In the place of the weights you return the scores. Which of the two sums to one?"
)
class ScoresReturned(Given):
    def forward(self, y_prev, state, hidden, mask=None):
        scores = self.score(state, hidden)
        context, _ = attend(scores, hidden, mask)
        new_state = self.step(y_prev, context, state)
        return self.out(new_state), new_state, scores


@exercise.mistake(
    "New state and logits come back in the other order. Which does the docstring name first?"
)
class StateFirst(Given):
    def forward(self, y_prev, state, hidden, mask=None):
        context, weights = attend(self.score(state, hidden), hidden, mask)
        new_state = self.step(y_prev, context, state)
        return new_state, self.out(new_state), weights


@exercise.mistake(
    "Your step writes the new state into the tensor that it was given (`copy_`, `state[:] = …`), "
    "so asking twice gives two answers. What returns it without touching the old one?"
)
class StateOverwritten(Given):
    def forward(self, y_prev, state, hidden, mask=None):
        context, weights = attend(self.score(state, hidden), hidden, mask)
        new_state = self.step(y_prev, context, state)
        if not state.requires_grad and state._base is None:
            state.copy_(new_state.detach())
        return self.out(new_state), new_state, weights


@exercise.mistake(
    "Your cell keeps its state to itself between calls and starts from that, not from the state "
    "that it is given. Who decides where a step starts from?"
)
class StateKeptInside(Given):
    def forward(self, y_prev, state, hidden, mask=None):
        own = getattr(self, "own", None)
        if own is not None and own.shape == state.shape:
            state = own
        context, weights = attend(self.score(state, hidden), hidden, mask)
        new_state = self.step(y_prev, context, state)
        self.own = new_state.detach()
        return self.out(new_state), new_state, weights


@exercise.mistake(
    "Nothing can be learnt: the whole step runs under `no_grad`, or is cut from torch's graph. "
    "Where is that switch, and what is it for?"
)
class NothingRecorded(Given):
    def forward(self, y_prev, state, hidden, mask=None):
        with torch.no_grad():
            context, weights = attend(self.score(state, hidden), hidden, mask)
            new_state = self.step(y_prev, context, state)
            return self.out(new_state), new_state, weights


@exercise.mistake(
    "The new state is the GRU's plus the old one. A GRU has its own gate that decides how much of "
    "the old state stays: what does it return?"
)
class StateAdded(Given):
    def forward(self, y_prev, state, hidden, mask=None):
        context, weights = attend(self.score(state, hidden), hidden, mask)
        new_state = state + self.step(y_prev, context, state)
        return self.out(new_state), new_state, weights


@exercise.mistake(
    "Nothing of the source reaches your new state: the context is computed and then left out, or "
    "zeros go in. What does the GRU take in besides the token?"
)
class NoContext(Given):
    def forward(self, y_prev, state, hidden, mask=None):
        context, weights = attend(self.score(state, hidden), hidden, mask)
        new_state = self.step(y_prev, torch.zeros_like(context), state)
        return self.out(new_state), new_state, weights


@exercise.mistake(
    "The numbers are right, but nothing is learnt about where to look: scores or context are cut "
    "from torch's graph. Which line does that?"
)
class ContextDetached(Given):
    def forward(self, y_prev, state, hidden, mask=None):
        context, weights = attend(self.score(state, hidden), hidden, mask)
        new_state = self.step(y_prev, context.detach(), state)
        return self.out(new_state), new_state, weights


@exercise.also_right
class InSmallSteps(nn.Module):
    def __init__(self, vocab, d_embed, d_state, d_hidden, d_score):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_embed)
        self.score = AdditiveScore(d_state, d_hidden, d_score)
        self.gru = nn.GRUCell(d_embed + d_hidden, d_state)
        self.out = nn.Linear(d_state, vocab)

    def forward(self, y_prev, state, hidden, mask=None):
        scores = self.score(state, hidden)
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        alpha = torch.softmax(scores, dim=-1)
        context = torch.einsum("bt,bth->bh", alpha, hidden)
        word = self.embedding(y_prev)
        state = self.gru(torch.cat((word, context), dim=1), state)
        return self.out(state), state, alpha


@exercise.also_right
class AsInTutorials(Given):
    def forward(self, y_prev, state, hidden, mask=None):
        embedded = self.embedding(y_prev)
        _, a = attend(self.score(state, hidden), hidden, mask)
        weighted = torch.bmm(a.unsqueeze(1), hidden).squeeze(1)
        rnn_input = torch.cat((embedded, weighted), dim=1)
        output = self.gru(rnn_input, state)
        prediction = self.out(output)
        return prediction, output, a


@exercise.also_right
class ByHand(Given):
    """The GRU written out from its weights."""

    def forward(self, y_prev, state, hidden, mask=None):
        context, alpha = attend(self.score(state, hidden), hidden, mask)
        x = torch.cat([self.embedding.weight[y_prev], context], 1)
        r_x, z_x, n_x = (x @ self.gru.weight_ih.T + self.gru.bias_ih).chunk(3, 1)
        r_s, z_s, n_s = (state @ self.gru.weight_hh.T + self.gru.bias_hh).chunk(3, 1)
        r, z = torch.sigmoid(r_x + r_s), torch.sigmoid(z_x + z_s)
        state = (1 - z) * torch.tanh(n_x + r * n_s) + z * state
        return state @ self.out.weight.T + self.out.bias, state, alpha
