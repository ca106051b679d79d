"""attention_loop: what one query gets, one key after another."""

from __future__ import annotations

import math

import torch

from attnlab.attention import attention_loop
from attnlab.checking.judges import Close
from attnlab.checking.observation import dtype_of
from attnlab.softmax import softmax
from gradekit.exercise import Exercise

exercise = Exercise(
    attention_loop,
    forbids=[
        "torch.nn.functional.scaled_dot_product_attention",
        "torch.nn.functional.multi_head_attention_forward",
    ],
)


# d_k is 4 or 16 in all checks but the example, so that a root taken in float32 costs no digits.


@exercise.check(points=1.5)
def shape_and_dtype(lab, draw):
    """Gives one vector, as long as a value, in the dtype of the values."""
    q, K, V = draw.normal(4), draw.normal(5, 4), draw.normal(5, 11)
    return {
        "shape": list(lab.attention_loop(q, K, V).shape),
        "dtype of float32": dtype_of(lab.attention_loop(q.float(), K.float(), V.float())),
        "dtype of float64": dtype_of(lab.attention_loop(q, K, V)),
    }


@exercise.check(points=1.5, judge=Close(atol=1e-6, rtol=1e-6))
def hand_example(lab, draw):
    """Gives the weights of the example by hand: with the axes as values, they are the result."""
    K = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], dtype=torch.float64)
    q = torch.tensor([1.0, 0.0], dtype=torch.float64)
    return lab.attention_loop(q, K, torch.eye(3, dtype=torch.float64))


@exercise.check(points=2)
def values(lab, draw):
    """Is right for queries, keys and values of any sizes."""
    return {
        f"{keys} keys of {d_k} numbers, values of {d_v}": lab.attention_loop(
            draw.normal(d_k), draw.strided(draw.normal(keys, d_k)), draw.normal(keys, d_v)
        )
        for keys, d_k, d_v in ((5, 4, 11), (6, 16, 2), (1, 4, 3))
    }


@exercise.check(points=2, hidden=True)
def a_mean_of_values(lab, draw):
    """Gives a mean: values that are all alike come back, and the order of the keys is no matter."""
    q, K, V, order = draw.normal(4), draw.normal(5, 4), draw.normal(5, 11), draw.permutation(5)
    return {
        "values alike": lab.attention_loop(q, K, V[:1].expand(5, 11)),
        "keys and values in another order": lab.attention_loop(q, K[order], V[order]),
        "keys alike": lab.attention_loop(q, K[:1].expand(5, 4), V),
        "a query of zeros": lab.attention_loop(torch.zeros_like(q), K, V),
    }


@exercise.check(points=1.5, hidden=True)
def large_scores(lab, draw):
    """Stays exact when the scores are in the thousands, above or below 0."""
    q, K, V = draw.uniform(4, low=1.0, high=2.0), draw.uniform(5, 4), draw.normal(5, 11)
    return {
        "high": lab.attention_loop(1e4 * q, K, V),
        "low": lab.attention_loop(-1e4 * q, K, V),
        "apart": lab.attention_loop(1e2 * draw.normal(4), 1e2 * draw.normal(5, 4), V),
    }


@exercise.check(points=1.5, hidden=True)
def gradients_and_inputs(lab, draw):
    """Lets gradients flow back to query, keys and values; all stay as they were."""
    q, K, V = draw.normal(4), draw.normal(5, 4), draw.normal(5, 11)
    lab.attention_loop(q, K, V)
    return {
        "gradients": draw.gradients(lambda q, K, V: lab.attention_loop(q, K, V), q, K, V),
        "inputs as they were": draw.untouched(),
    }


def weighted(weights, V):
    return sum(weight * value for weight, value in zip(weights, V, strict=True))


def scores_of(q, K):
    return torch.stack([(q * key).sum() for key in K])


@exercise.mistake(
    "Your scores are not scaled: with d_k numbers in a key they spread about √d_k wide. What does "
    "the task divide each of them by, before the softmax?"
)
def no_scale(q, K, V):
    return weighted(softmax(scores_of(q, K)), V)


@exercise.mistake(
    "You multiply the scores by the scale instead of dividing: they spread even wider. On which "
    "side of the fraction does √d_k stand?"
)
def scale_multiplied(q, K, V):
    return weighted(softmax(scores_of(q, K) * math.sqrt(len(q))), V)


@exercise.mistake("You divide the scores by d_k. What is missing between d_k and the fraction?")
def divided_by_d(q, K, V):
    return weighted(softmax(scores_of(q, K) / len(q)), V)


@exercise.mistake(
    "You divide by one fixed number, whatever the length of a key. How many terms does the sum "
    "behind a score have, this time?"
)
def divided_by_a_fixed_number(q, K, V):
    return weighted(softmax(scores_of(q, K) / 2), V)


@exercise.mistake(
    "Your scale comes from the number of keys. A score is a sum over the numbers of one key: how "
    "many terms does that sum have?"
)
def scaled_by_number_of_keys(q, K, V):
    return weighted(softmax(scores_of(q, K) / math.sqrt(len(K))), V)


@exercise.mistake(
    "Your scale comes from the length of a value. A score is made of a query and a key: whose "
    "length counts?"
)
def scaled_by_length_of_values(q, K, V):
    return weighted(softmax(scores_of(q, K) / math.sqrt(V.shape[-1])), V)


@exercise.mistake(
    "The scale comes after the softmax: your weights no longer sum to one. What is to be divided, "
    "scores or weights?"
)
def scaled_after_softmax(q, K, V):
    return weighted(softmax(scores_of(q, K)) / math.sqrt(len(q)), V)


@exercise.mistake(
    "The scores are used as weights as they are. What turns scores, which may be negative, into "
    "shares that sum to one?"
)
def scores_as_weights(q, K, V):
    return weighted(scores_of(q, K) / math.sqrt(len(q)), V)


@exercise.mistake(
    "You divide the scores by their sum. Scores may be negative, and their sum may be close to 0: "
    "which function of them is always positive?"
)
def scores_over_their_sum(q, K, V):
    scores = scores_of(q, K) / math.sqrt(len(q))
    return weighted(scores / scores.sum(), V)


@exercise.mistake(
    "Your weights do not sum to one: exponentials are there, but by what are they divided?"
)
def never_normalised(q, K, V):
    return weighted((scores_of(q, K) / math.sqrt(len(q))).exp(), V)


@exercise.mistake(
    "The exponential of a large score is infinity, of a very low one 0. What did the softmax of "
    "lab 1 subtract first?"
)
def softmax_without_maximum(q, K, V):
    exp = (scores_of(q, K) / math.sqrt(len(q))).exp()
    return weighted(exp / exp.sum(), V)


@exercise.mistake(
    "You divide by the number of keys once more. The weights share one unit already: what is "
    "their sum?"
)
def divided_by_number_of_keys(q, K, V):
    return weighted(softmax(scores_of(q, K) / math.sqrt(len(q))), V) / len(K)


@exercise.mistake(
    "Your query takes the value of its best key and nothing of the others. Attention is soft: "
    "what do the other keys contribute?"
)
def best_key_only(q, K, V):
    return V[scores_of(q, K).argmax()].clone()


@exercise.mistake(
    "You mix the keys. A key says whether to look, a value what there is to see: which of the two "
    "does the weight multiply?"
)
def keys_mixed(q, K, V):
    return weighted(softmax(scores_of(q, K) / math.sqrt(len(q))), K)


@exercise.mistake(
    "The values play the keys' part: your scores are made of query and values. Which list of "
    "vectors is the query compared with?"
)
def query_meets_values(q, K, V):
    length = min(len(q), V.shape[-1])
    scores = scores_of(q[:length], V[:, :length]) / math.sqrt(len(q))
    return weighted(softmax(scores), V)


@exercise.mistake("You return the weights. What do they weight, and what is added up?")
def weights_returned(q, K, V):
    return softmax(scores_of(q, K) / math.sqrt(len(q)))


@exercise.mistake(
    "The weighted values come back as a list of vectors, one for each key. One step is missing: "
    "what does Σ_j ask for?"
)
def not_summed(q, K, V):
    weights = softmax(scores_of(q, K) / math.sqrt(len(q)))
    return torch.stack([weight * value for weight, value in zip(weights, V, strict=True)])


@exercise.mistake(
    "Only one key's share comes back: your sum starts anew in each turn of the loop. Which line "
    "should add to what is there, and which should stand before the loop?"
)
def overwritten(q, K, V):
    for weight, value in zip(softmax(scores_of(q, K) / math.sqrt(len(q))), V, strict=True):
        out = torch.zeros_like(value) + weight * value
    return out


@exercise.mistake(
    "Your loop leaves out the last key: its value has no share. At which number does `range` stop?"
)
def last_value_left_out(q, K, V):
    weights = softmax(scores_of(q, K) / math.sqrt(len(q)))
    out = torch.zeros_like(V[0])
    for j in range(len(K) - 1):
        out = out + weights[j] * V[j]
    return out


@exercise.mistake(
    "The loop runs over the numbers of the query, not over the keys. How many scores does one "
    "query have: d_k or Lk?"
)
def loop_over_features(q, K, V):
    weights = softmax(scores_of(q, K) / math.sqrt(len(q)))
    return sum(weights[j] * V[j] for j in range(len(q)))


@exercise.mistake(
    "You start from the first value, so it counts once more than its weight says. With what does "
    "an empty sum begin?"
)
def starts_with_first_value(q, K, V):
    out = V[0].clone()
    for weight, value in zip(softmax(scores_of(q, K) / math.sqrt(len(q))), V, strict=True):
        out = out + weight * value
    return out


@exercise.mistake(
    "No gradient (or only part of it) gets back: `.item()`, `float(…)` and `torch.tensor([…])` "
    "make plain numbers, which torch cannot follow. How do you put tensors side by side instead?"
)
def scores_as_plain_numbers(q, K, V):
    scores = torch.tensor([(q * key).sum().item() for key in K], dtype=q.dtype)
    return weighted(softmax(scores / math.sqrt(len(q))), V)


@exercise.mistake(
    "Nothing that you return is in torch's graph: no gradient gets back to query, keys or values. "
    "Which `.detach()`, `.data`, `no_grad` or trip through numpy or plain numbers cuts it?"
)
def detached(q, K, V):
    return weighted(softmax(scores_of(q, K) / math.sqrt(len(q))), V).detach()


@exercise.mistake(
    "Your sum is kept in float32 (`torch.zeros` makes it so), and the digits of a float64 are "
    "lost. From which tensor can it take its dtype?"
)
def sum_in_float32(q, K, V):
    out = torch.zeros(V.shape[1])
    for weight, value in zip(softmax(scores_of(q, K) / math.sqrt(len(q))), V, strict=True):
        out += (weight * value).to(out.dtype)
    return out


@exercise.mistake(
    "Your scores are kept in float32 (`torch.zeros` and `torch.empty` make it so), and the digits "
    "of a float64 are lost on the way. From which tensor can they take their dtype?"
)
def scores_in_float32(q, K, V):
    scores = torch.zeros(len(K))
    for j, key in enumerate(K):
        scores[j] = (q * key).sum() / math.sqrt(len(q))
    return weighted(softmax(scores).to(V.dtype), V)


@exercise.mistake(
    "A small number in the denominator makes the weights sum to a little less than one. Can the "
    "sum of exponentials be 0 at all, once the largest score was subtracted?"
)
def epsilon_in_denominator(q, K, V):
    scores = scores_of(q, K) / math.sqrt(len(q))
    exp = (scores - scores.max()).exp()
    return weighted(exp / (exp.sum() + 1e-6), V)


@exercise.mistake(
    "Your code writes into the keys that it was given (`/=`, `mul_`, `K[j] = …`), and the caller's "
    "are gone. What makes a new tensor?"
)
def keys_changed(q, K, V):
    K /= math.sqrt(len(q))
    return weighted(softmax(scores_of(q, K)), V)


@exercise.mistake(
    "Your code multiplies the caller's values by their weights in place (`V[j] *= …`). Where else "
    "can the products go?"
)
def values_weighted_in_place(q, K, V):
    weights = softmax(scores_of(q, K) / math.sqrt(len(q)))
    for j in range(len(V)):
        V[j] *= weights[j]
    return V.sum(0)


@exercise.mistake(
    "Your code writes into the query that it was given (`/=`, `mul_`). The caller's query is "
    "gone: what makes a new tensor?"
)
def query_changed(q, K, V):
    q /= math.sqrt(len(q))
    return weighted(softmax(scores_of(q, K)), V)


@exercise.mistake(
    "Your sum is built inside the first value (`out = V[0]` is no copy), so the values that the "
    "caller gave are changed. With what new tensor can the sum begin?"
)
def values_changed(q, K, V):
    weights = softmax(scores_of(q, K) / math.sqrt(len(q)))
    out = V[0]
    out *= weights[0]
    for j in range(1, len(K)):
        out += weights[j] * V[j]
    return out


@exercise.also_right
def by_index(q, K, V):
    Lk, d_k = K.shape
    scores = [torch.dot(q, K[j]) / d_k**0.5 for j in range(Lk)]
    top = max(scores)
    exp = [torch.exp(score - top) for score in scores]
    total = sum(exp)
    result = torch.zeros(V.shape[1], dtype=V.dtype)
    for j in range(Lk):
        result += exp[j] / total * V[j]
    return result


@exercise.also_right
def number_by_number(q, K, V):
    scores = []
    for key in K:
        score = 0.0
        for a, b in zip(q, key, strict=True):
            score = score + a * b
        scores.append(score / math.sqrt(q.numel()))
    weights = torch.softmax(torch.stack(scores), dim=0)
    columns = []
    for c in range(V.size(1)):
        columns.append(sum(weights[j] * V[j, c] for j in range(V.size(0))))
    return torch.stack(columns)


@exercise.also_right
def without_loops(q, K, V):
    return torch.softmax(K @ q / math.sqrt(q.shape[-1]), -1) @ V


@exercise.also_right
def by_einsum(q, K, V):
    scores = torch.einsum("d,jd->j", q / torch.sqrt(torch.tensor(q.shape[0])), K)
    return torch.einsum("j,jv->v", torch.nn.functional.softmax(scores, dim=0), V)


@exercise.also_right
def one_pass(q, K, V):
    """Keeps a running maximum, so that it never needs all scores at once."""
    top, total = torch.tensor(-math.inf, dtype=q.dtype), torch.zeros((), dtype=q.dtype)
    out = torch.zeros_like(V[0])
    for key, value in zip(K, V, strict=True):
        score = (q @ key) / math.sqrt(len(q))
        higher = torch.maximum(top, score.detach())
        shrink, share = (top - higher).exp(), (score - higher).exp()
        total, out, top = total * shrink + share, out * shrink + share * value, higher
    return out / total
