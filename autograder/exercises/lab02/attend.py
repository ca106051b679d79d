"""attend: scores become weights, and weights one context vector for each sentence."""

from __future__ import annotations

import torch

from attnlab.checking.observation import dtype_of
from attnlab.seq2seq import attend
from gradekit.exercise import Exercise

exercise = Exercise(attend)


def mask_of(*lengths, width=5):
    """A mask (B, T) of rows with so many tokens at their left."""
    return torch.arange(width) < torch.tensor(lengths)[:, None]


@exercise.check(points=1.5)
def shapes_and_types(lab, draw):
    """Gives back the context (B, d_hidden) and the weights (B, T), in the dtype of the scores."""
    scores, hidden = draw.normal(2, 5), draw.normal(2, 5, 7)
    context, weights = lab.attend(scores, hidden, mask_of(5, 3))
    low = lab.attend(scores.float(), hidden.float(), mask_of(5, 3))
    return {
        "shape of context": list(context.shape),
        "shape of weights": list(weights.shape),
        "dtypes of float64": [dtype_of(context), dtype_of(weights)],
        "dtypes of float32": [dtype_of(out) for out in low],
    }


@exercise.check(points=2)
def without_padding(lab, draw):
    """Takes the weighted mean of all places: three by hand, then a batch."""
    by_hand = lab.attend(
        torch.tensor([[0.0, 0.964028, 0.202433]]).double(),
        torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]]).double(),
    )
    scores, hidden = 2 * draw.normal(3, 5), draw.normal(3, 5, 7)
    return {
        "by hand": list(by_hand),
        "a batch": list(lab.attend(scores, hidden)),
        "not contiguous": list(lab.attend(draw.strided(scores), draw.strided(hidden))),
        "an all-true mask": list(lab.attend(scores, hidden, mask_of(5, 5, 5))),
    }


@exercise.check(points=1.5)
def with_padding(lab, draw):
    """Leaves padding out of the weights, which sum to one over the tokens."""
    scores, hidden = 2 * draw.normal(3, 5), draw.normal(3, 5, 7)
    context, weights = lab.attend(scores, hidden, mask_of(2, 5, 3))
    return {"weights": weights, "context": context, "sums": weights.sum(1)}


@exercise.check(points=1.5, hidden=True)
def huge_padding(lab, draw):
    """Padding has no say, whatever scores and vectors stand there; nor has a low score a floor."""
    scores, hidden, mask = draw.normal(3, 5), draw.normal(3, 5, 7), mask_of(2, 5, 3)
    big = torch.where(mask, scores, 1e4)
    filled = torch.where(mask[..., None], hidden, 1e6)
    low = torch.where(mask, scores - 3e4, 0.0)
    weights = lab.attend(big, filled, mask)[1]
    holes = torch.tensor([[False, True, False, True, True]]).expand(3, 5)
    return {
        "huge scores and vectors at padding": list(lab.attend(big, filled, mask)),
        "very low scores at tokens": list(lab.attend(low, filled, mask)),
        "weights at padding are exactly 0": bool((weights[~mask] == 0).all()),
        "padding in between": list(lab.attend(scores, hidden, holes)),
    }


@exercise.check(points=1, hidden=True)
def sentence_of_padding(lab, draw):
    """A sentence that is all padding gets weights and a context of 0; the others notice nothing."""
    scores, hidden = draw.normal(3, 5), draw.normal(3, 5, 7)
    return list(lab.attend(scores, hidden, mask_of(3, 0, 5)))


@exercise.check(points=1, hidden=True)
def places_in_another_order(lab, draw):
    """The order of the places does not matter to the context, nor one sentence to another."""
    scores, hidden, order = draw.normal(5, 5), draw.normal(5, 5, 7), draw.permutation(5)
    mask = mask_of(2, 5, 3, 4, 1)
    mixed = lab.attend(scores[:, order], hidden[:, order], mask[:, order])
    return {
        "mixed": list(mixed),
        "as many places as sentences": list(lab.attend(scores, hidden, mask)),
        "one sentence alone": list(lab.attend(scores[2:3], hidden[2:3], mask[2:3])),
    }


@exercise.check(points=1.5, hidden=True)
def gradients(lab, draw):
    """Gradients flow to scores and vectors, none to padding; inputs stay as they were."""
    scores, hidden, mask = draw.normal(3, 5), draw.normal(3, 5, 7), mask_of(2, 0, 5)
    kept = mask.clone()
    lab.attend(scores, hidden, mask)
    both = lambda s, h: torch.cat(lab.attend(s, h, mask), 1)  # noqa: E731
    return {
        "context and weights": draw.gradients(both, scores, hidden),
        "without a mask": draw.gradients(lambda s, h: lab.attend(s, h)[0], scores, hidden),
        "inputs as they were": draw.untouched() and torch.equal(mask, kept),
    }


def everywhere(scores, mask):
    return torch.ones_like(scores, dtype=torch.bool) if mask is None else mask


def weights_of(scores, mask=None):
    """A right version's weights; a part that the wrong versions share."""
    mask = everywhere(scores, mask)
    lowest = torch.finfo(scores.dtype).min
    return scores.masked_fill(~mask, lowest).softmax(-1).masked_fill(~mask, 0.0)


def mean_of(weights, hidden):
    return torch.einsum("bt,bth->bh", weights, hidden), weights


@exercise.mistake(
    "Your weights sum to one down the batch, over sentences that have nothing to do with each "
    "other. Which axis of (B, T) shares one unit of weight?"
)
def softmax_over_batch(scores, hidden, mask=None):
    mask = everywhere(scores, mask)
    filled = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return mean_of(filled.softmax(0).masked_fill(~mask, 0.0), hidden)


@exercise.mistake(
    "You fill with -inf where the mask is True, and True says: a token. Now the tokens are gone, "
    "and a sentence without padding is 0/0, NaN. Which sign turns a mask round?"
)
def tokens_filled_with_infinity(scores, hidden, mask=None):
    if mask is not None:
        scores = scores.masked_fill(mask, -torch.inf)
    return mean_of(scores.softmax(-1), hidden)


@exercise.mistake(
    "The mask comes after the softmax: padding has weight 0, but its share is lost, and the rest "
    "sum to less than one. What has to know of the mask, and when?"
)
def masked_after_softmax(scores, hidden, mask=None):
    return mean_of(scores.softmax(-1) * everywhere(scores, mask), hidden)


@exercise.mistake(
    "Padding is taken out after the softmax and the rest is scaled up again. On paper that is the "
    "same; but where padding has a huge score, nothing is left to scale, and 0/0 is NaN. Can "
    "padding be out before the exponentials are taken?"
)
def scaled_up_afterwards(scores, hidden, mask=None):
    weights = scores.softmax(-1) * everywhere(scores, mask)
    return mean_of(weights / weights.sum(-1, keepdim=True), hidden)


@exercise.mistake(
    "You set the scores of padding to 0. exp(0) is 1, so a score of 0 is a score like any other. "
    "Which score has an exponential of 0?"
)
def filled_with_zero(scores, hidden, mask=None):
    return mean_of(scores.masked_fill(~everywhere(scores, mask), 0.0).softmax(-1), hidden)


@exercise.mistake(
    "The scores of padding are set to a number that is low, but not low enough: where the tokens' "
    "own scores are lower, padding wins. Which number is below all others?"
)
def filled_with_some_number(scores, hidden, mask=None):
    mask = everywhere(scores, mask)
    weights = scores.masked_fill(~mask, -1e4).softmax(-1)
    return mean_of(weights * mask.any(-1, keepdim=True), hidden)


@exercise.mistake(
    "A large number is subtracted from the scores of padding, so a score that is larger still "
    "comes through. How do you put a number in its place, whatever stood there?"
)
def penalty_added(scores, hidden, mask=None):
    mask = everywhere(scores, mask)
    weights = (scores - 1e3 * ~mask).softmax(-1)
    return mean_of(weights * mask.any(-1, keepdim=True), hidden)


@exercise.mistake("The mask makes no difference to your weights. On which line is it used?")
def mask_ignored(scores, hidden, mask=None):
    return mean_of(scores.softmax(-1), hidden)


@exercise.mistake(
    'Your weights lie on the padding and nowhere else. True says "a token stands here": which '
    "places does your masked_fill fill?"
)
def mask_the_other_way(scores, hidden, mask=None):
    return mean_of(weights_of(scores, None if mask is None else ~mask), hidden)


@exercise.mistake(
    "The vectors at padding are set to 0, but their weights are not: padding still takes a share "
    "of the one unit, and the context is too short. Where should padding be taken out?"
)
def hidden_masked_only(scores, hidden, mask=None):
    weights = scores.softmax(-1)
    return mean_of(weights, hidden * everywhere(scores, mask)[..., None])[0], weights


@exercise.mistake(
    "Your context is the sum of the vectors times their scores. Scores may be negative or huge: "
    "what did you make of them that sums to one?"
)
def context_by_scores(scores, hidden, mask=None):
    weights = weights_of(scores, mask)
    return mean_of(scores * everywhere(scores, mask), hidden)[0], weights


@exercise.mistake(
    "In the place of the weights you return the scores. What does the picture of the alignment "
    "need?"
)
def scores_returned(scores, hidden, mask=None):
    return mean_of(weights_of(scores, mask), hidden)[0], scores


@exercise.mistake(
    "Only the context is returned. A later step draws where the decoder looked: what else has to "
    "come back?"
)
def context_alone(scores, hidden, mask=None):
    return mean_of(weights_of(scores, mask), hidden)[0]


@exercise.mistake(
    "You return weights and context in the other order. Which one does the docstring name first?"
)
def weights_first(scores, hidden, mask=None):
    return mean_of(weights_of(scores, mask), hidden)[::-1]


@exercise.mistake(
    "Your context has one number for each place: the features of a vector were added up. In "
    "Σ_i α_i h_i, which axis disappears?"
)
def summed_over_features(scores, hidden, mask=None):
    weights = weights_of(scores, mask)
    return (weights[..., None] * hidden).sum(-1), weights


@exercise.mistake(
    "Your context is the mean over places of weight times vector: T times too small. The weights "
    "sum to one already; what is still to be divided?"
)
def mean_instead_of_sum(scores, hidden, mask=None):
    weights = weights_of(scores, mask)
    return (weights[..., None] * hidden).mean(1), weights


@exercise.mistake(
    "Your context still has an axis of length 1 from the product of a row with a table. Which "
    "call drops it?"
)
def row_axis_kept(scores, hidden, mask=None):
    weights = weights_of(scores, mask)
    return weights[:, None] @ hidden, weights


@exercise.mistake(
    "A sentence that is all padding gives NaN: a softmax over nothing but -inf divides 0 by 0. "
    "What was such a sentence to get?"
)
def nan_for_padding_alone(scores, hidden, mask=None):
    weights = scores.masked_fill(~everywhere(scores, mask), -torch.inf).softmax(-1)
    return mean_of(weights, hidden)


@exercise.mistake(
    "A sentence that is all padding gets equal weights at all its places. Padding has weight 0 "
    "also where there is nothing else: what do you do with the weights once you have them?"
)
def equal_for_padding_alone(scores, hidden, mask=None):
    filled = scores.masked_fill(~everywhere(scores, mask), torch.finfo(scores.dtype).min)
    return mean_of(filled.softmax(-1), hidden)


@exercise.mistake(
    "Your code writes into the scores that it was given. What does the same as `masked_fill_` or "
    "an assignment to `scores[~mask]`, and makes a new tensor?"
)
def scores_overwritten(scores, hidden, mask=None):
    mask = everywhere(scores, mask)
    if not scores.requires_grad:
        scores.masked_fill_(~mask, torch.finfo(scores.dtype).min)
    return mean_of(weights_of(scores, mask), hidden)


@exercise.mistake(
    "Gradients reach the vectors, but not the scores: the weights were cut from torch's graph. "
    "How would the model learn where to look?"
)
def weights_detached(scores, hidden, mask=None):
    return mean_of(weights_of(scores, mask).detach(), hidden)


@exercise.mistake(
    "You need a mask where none was given: `mask` is None unless somebody passes one. What should "
    "happen then?"
)
def mask_required(scores, hidden, mask=None):
    return mean_of(weights_of(scores, mask.bool()), hidden)


@exercise.mistake(
    "Everything you return is float32, whatever came in. Where does your code fix the dtype?"
)
def always_float32(scores, hidden, mask=None):
    weights = weights_of(scores.float(), mask)
    return mean_of(weights, hidden.float())


@exercise.mistake(
    "Only the place with the highest score counts. Softmax is the soft version of that: which "
    "weights do the other places get?"
)
def hard_attention(scores, hidden, mask=None):
    mask = everywhere(scores, mask)
    best = weights_of(scores, mask).argmax(-1)
    weights = torch.nn.functional.one_hot(best, scores.shape[1]).to(scores.dtype)
    return mean_of(weights * mask.any(-1, keepdim=True), hidden)


@exercise.also_right
def by_bmm(scores, hidden, mask=None):
    if mask is not None:
        scores = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)
    weights = torch.nn.functional.softmax(scores, dim=1)
    if mask is not None:
        weights = weights * mask
    return torch.bmm(weights.unsqueeze(1), hidden).squeeze(1), weights


@exercise.also_right
def exponentials_masked(scores, hidden, mask=None):
    if mask is None:
        mask = scores == scores
    top = torch.where(mask, scores, torch.finfo(scores.dtype).min).amax(1, keepdim=True)
    exp = torch.where(mask, scores - top, 0.0).exp() * mask
    weights = exp / torch.where(mask.any(1, keepdim=True), exp.sum(1, keepdim=True), 1.0)
    return (weights.unsqueeze(-1) * hidden).sum(dim=1), weights


@exercise.also_right
def sentence_by_sentence(scores, hidden, mask=None):
    contexts, rows = [], []
    for b in range(len(scores)):
        real = torch.arange(scores.shape[1]) if mask is None else mask[b].nonzero()[:, 0]
        weights = torch.zeros_like(scores[b]).index_add(0, real, torch.softmax(scores[b, real], 0))
        contexts.append(weights @ hidden[b])
        rows.append(weights)
    return torch.stack(contexts), torch.stack(rows)


@exercise.also_right
def minus_infinity_where_safe(scores, hidden, mask=None):
    if mask is not None:
        empty = ~mask.any(dim=1, keepdim=True)
        scores = scores.masked_fill(~(mask | empty), float("-inf"))
    alpha = torch.softmax(scores, dim=-1)
    if mask is not None:
        alpha = alpha.masked_fill(empty, 0.0)
    return torch.matmul(alpha.unsqueeze(-2), hidden).squeeze(-2), alpha


@exercise.also_right
def nan_replaced(scores, hidden, mask=None):
    filled = scores.masked_fill(~everywhere(scores, mask), -torch.inf)
    return mean_of(filled.softmax(-1).nan_to_num(), hidden)
