"""Wrong versions of the loop that students write."""

import torch

from . import exercise, mistakes_in_scores, mistakes_in_the_sum  # noqa: F401 - to register theirs
from .also_right import one_pass, two_loops

wrong = exercise.edits(two_loops)

SCORES = "scores = torch.stack([(q * key).sum() for key in K])"
SCALED = " / math.sqrt(len(q))"
SOFTMAX = "softmax(scores / math.sqrt(len(q)))"
BEGIN = "out = torch.zeros_like(V[0])"
ADD = "out = out + weight * value"

wrong(
    "no_scale",
    SCALED,
    "",
    "Your scores are not scaled: with d_k numbers in a key their spread is about √d_k. What does "
    "the task divide each of them by, before the softmax?",
)
wrong(
    "scale_multiplied",
    "/ math",
    "* math",
    "You multiply the scores by the scale instead of dividing: they spread even wider. On which "
    "side of the fraction line is √d_k?",
)
wrong(
    "divided_by_d",
    "math.sqrt(len(q))",
    "len(q)",
    "You divide the scores by d_k. What does the formula do with d_k before it divides?",
)
wrong(
    "root_of_the_root",
    "math.sqrt(len(q))",
    "math.sqrt(math.sqrt(len(q)))",
    "Your scale is the root of the root of d_k (`** 0.25`, or a root taken twice). Which power of "
    "d_k does the formula divide by?",
)
for name, scale in (
    ("divided_by_half_of_d", "(len(q) ** 1 / 2)"),
    ("divided_by_d_and_2", "len(q) ** 1 / 2"),
):
    wrong(
        name,
        "math.sqrt(len(q))",
        scale,
        "Your scale has a 2 in it and no root: `d ** 1/2` is not √d. In which order does Python "
        "compute `**` and `/`?",
    )
wrong(
    "root_cut_to_a_whole_number",
    "math.sqrt(len(q))",
    "math.isqrt(len(q))",
    "Your root is cut to a whole number (`isqrt`, `int`, `//`), so the scale is right only for 4, "
    "9, 16 … numbers in a key. Which kind of number is √d_k?",
)
wrong(
    "divided_by_a_fixed_number",
    "math.sqrt(len(q))",
    "2",
    "You divide by one fixed number, whatever the length of a key. How many terms does the sum for "
    "one score have, this time?",
)
wrong(
    "scaled_by_number_of_keys",
    "len(q)",
    "len(K)",
    "Your scale is computed from the number of keys. A score is a sum over the numbers of one key: "
    "how many terms does that sum have?",
)
wrong(
    "scaled_by_length_of_values",
    "len(q)",
    "V.shape[-1]",
    "Your scale is computed from the length of a value. A score is computed from a query and a "
    "key: whose length counts?",
)
wrong(
    "scaled_after_softmax",
    SOFTMAX,
    f"softmax(scores){SCALED}",
    "You scale after the softmax: your weights no longer sum to one. Which should be divided, "
    "scores or weights?",
)
wrong(
    "scores_as_weights",
    SOFTMAX,
    f"scores{SCALED}",
    "You use the scores as weights without any change. What turns scores, which may be negative, "
    "into shares that sum to one?",
)
wrong(
    "scores_as_weights_without_a_scale",
    SOFTMAX,
    "scores",
    "You use the products of query and keys as weights without any change. What does the formula "
    "divide them by, and what turns them into shares that sum to one?",
)
wrong(
    "a_softmax_for_each_score",
    SOFTMAX,
    "torch.ones_like(scores)",
    "Each of your weights is 1, as if every score had a softmax of its own. Which scores share one "
    "softmax?",
)
for kept, scaled in (("", ""), ("_scaled", SCALED)):
    wrong.several(
        f"cosines{kept}",
        {"(q * key).sum()": "torch.cosine_similarity(q, key, dim=0)", SCALED: scaled},
        "Your scores are cosines, so the lengths of query and key do not count. Which product of "
        "the two does the task ask for, and by what is it divided?",
    )
    for name, distance in (
        ("half_squares", "((q - key) ** 2).sum() / 2"),
        ("squares", "((q - key) ** 2).sum()"),
        ("lengths", "(q - key).norm()"),
    ):
        wrong.several(
            f"distances_{name}{kept}",
            {"(q * key).sum()": f"-{distance}", SCALED: scaled},
            "Your scores come from the distance between query and key. Which product of the two "
            "does the task ask for?",
        )
wrong(
    "scores_over_their_sum",
    SOFTMAX,
    "scores / scores.sum()",
    "You divide the scores by their sum. Scores may be negative, and their sum may be close to 0: "
    "which function of them is always positive?",
)
for name, exponentials in (
    ("never_normalised", f"(scores{SCALED}).exp()"),
    ("largest_subtracted_alone", f"((scores - scores.max()){SCALED}).exp()"),
):
    wrong(
        name,
        SOFTMAX,
        exponentials,
        "Your weights are exponentials, but do not sum to one. What should they be divided by?",
    )
EXPONENTIALS = f"((scores - scores.max()){SCALED}).exp()"
for name, total in (
    ("divided_by_the_sum_so_far", "exp.cumsum(0)"),
    ("divided_by_the_sum_from_there_on", "exp.flip(0).cumsum(0).flip(0)"),
):
    wrong(
        name,
        f"weights = {SOFTMAX}",
        f"exp = {EXPONENTIALS}\n    weights = exp / {total}",
        "Each key has a sum of its own in your denominators: a sum that is still growing (or "
        "shrinking) when you divide by it. Over which keys does the softmax of one query add up?",
    )
wrong(
    "softmax_without_maximum",
    f"weights = {SOFTMAX}",
    f"exp = (scores{SCALED}).exp()\n    weights = exp / exp.sum()",
    "The exponential of a large score is infinity, and that of a very low one is 0. What did the "
    "softmax of lab 1 subtract first?",
)
for name, limits in (("", "-50, 50"), ("_above", "max=80"), ("_at_10", "-10, 10")):
    wrong(
        f"scores_clamped{name}",
        "scores / math.sqrt(len(q))",
        f"(scores{SCALED}).clamp({limits})",
        "You cut off large scores (`clamp`), so two keys beyond that limit look the same. What can "
        "be done to all scores so that exponentials are safe and their differences stay?",
    )
wrong(
    "divided_by_number_of_keys",
    "return out",
    "return out / len(K)",
    "You also divide by the number of keys. The weights are already shares: what is their sum?",
)
wrong(
    "keys_mixed",
    "(weights, V",
    "(weights, K",
    "You mix the keys. A key says whether to look, a value says what there is to see: which of the "
    "two does the weight multiply?",
)
wrong(
    "weights_returned",
    "return out",
    "return weights",
    "You return the weights. What do they weight, and what is added up?",
)
wrong(
    "not_summed",
    "return out",
    "return weights[:, None] * V",
    "You return the weighted values as a list of vectors, one for each key. One step is missing: "
    "what does Σ_j ask for?",
)
wrong(
    "overwritten",
    "out + weight",
    "weight",
    "You return only one key's share: your sum starts again in each turn of the loop. Which line "
    "should add to the sum so far, and which should be before the loop?",
)
wrong(
    "last_value_left_out",
    "zip(weights, V, strict=True)",
    "zip(weights[:-1], V[:-1], strict=True)",
    "Your loop leaves out the last key: its value has no share. At which number does `range` stop?",
)
wrong(
    "starts_with_first_value",
    BEGIN,
    "out = V[0].clone()",
    "You start from the first value, so it counts once more than its weight says. What does an "
    "empty sum begin with?",
)
wrong(
    "scores_as_plain_numbers",
    SCORES,
    "scores = torch.tensor([(q * key).sum().item() for key in K], dtype=q.dtype)",
    "No gradient (or only part of it) gets back: `.item()`, `float(…)` and `torch.tensor([…])` "
    "make plain numbers, which torch cannot follow. How do you put tensors side by side instead?",
)
wrong(
    "detached",
    "return out",
    "return out.detach()",
    "Your result is not in torch's graph: no gradient gets back to query, keys or values. Which "
    "`.detach()`, `.data`, `no_grad` or trip through numpy or plain numbers cuts it?",
)
wrong.several(
    "sum_in_float32",
    {BEGIN: "out = torch.zeros(V.shape[1])", ADD: "out += (weight * value).to(out.dtype)"},
    "Your sum is in float32 (`torch.zeros` makes it so), so the digits of a float64 are lost. From "
    "which tensor can it take its dtype?",
)
wrong(
    "epsilon_in_denominator",
    f"weights = {SOFTMAX}",
    f"scores = scores{SCALED}\n"
    "    exp = (scores - scores.max()).exp()\n"
    "    weights = exp / (exp.sum() + 1e-6)",
    "A small number in the denominator makes the weights sum to a little less than one. Can the "
    "sum of exponentials be 0 at all, once the largest score is subtracted?",
)
wrong(
    "squeezed",
    "return out",
    "return out.squeeze()",
    "Your result loses its axis when a value has one number: `squeeze()` drops every axis of "
    "length 1. Which shape does the task promise?",
)
wrong.several(
    "keys_changed",
    {SCALED: "", SCORES: f"K /= math.sqrt(len(q))\n    {SCORES}"},
    "Your code writes into the keys that it was given (`/=`, `mul_`, `K[j] = …`), so the caller's "
    "keys are lost. What makes a new tensor?",
)
wrong.several(
    "query_changed",
    {SCALED: "", SCORES: f"q /= math.sqrt(len(q))\n    {SCORES}"},
    "Your code writes into the query that it was given (`/=`, `mul_`), so the caller's query is "
    "lost. What makes a new tensor?",
)
wrong.several(
    "values_weighted_in_place",
    {ADD: "value *= weight", "return out": "return V.sum(0)"},
    "Your code multiplies the caller's values by their weights in place (`V[j] *= …`). Where else "
    "can the products go?",
)


@exercise.mistake(
    "Your query takes the value of its best key and nothing of the others. Attention is soft: what "
    "do the other keys contribute?"
)
def best_key_only(q, K, V):
    return V[torch.stack([q @ key for key in K]).argmax()].clone()


@exercise.mistake(
    "You use the values as keys: your scores are computed from query and values. Which list of "
    "vectors is the query compared with?"
)
def query_meets_values(q, K, V):
    length = min(len(q), V.shape[-1])
    scores = V[:, :length] @ q[:length]
    return torch.softmax(scores / len(q) ** 0.5, 0) @ V


@exercise.mistake(
    "The loop runs over the numbers of the query, not over the keys. How many scores does one "
    "query have: d_k or Lk?"
)
def loop_over_features(q, K, V):
    weights = torch.softmax(K @ q / len(q) ** 0.5, 0)
    return sum(weights[j] * V[j] for j in range(len(q)))


@exercise.mistake(
    "Both of your loops run over the numbers of the query, not over the keys. How many scores does "
    "one query have: d_k or Lk?"
)
def both_loops_over_features(q, K, V):
    scores = torch.stack([(q * K[j]).sum() for j in range(len(q))])
    weights = torch.softmax(scores / len(q) ** 0.5, 0)
    return sum(weights[j] * V[j] for j in range(len(q)))


@exercise.mistake(
    "Your scores are in float32 (`torch.zeros` and `torch.empty` make it so), so the digits of a "
    "float64 are lost on the way. From which tensor can they take their dtype?"
)
def scores_in_float32(q, K, V):
    scores = torch.zeros(len(K))
    for j, key in enumerate(K):
        scores[j] = (q * key).sum() / len(q) ** 0.5
    return torch.softmax(scores, 0).to(V.dtype) @ V


@exercise.mistake(
    "You build your sum inside the first value (`out = V[0]` is not a copy), so the caller's "
    "values are changed. Which new tensor can the sum begin with?"
)
def values_changed(q, K, V):
    weights = torch.softmax(K @ q / len(q) ** 0.5, 0)
    out = V[0]
    out *= weights[0]
    for j in range(1, len(K)):
        out += weights[j] * V[j]
    return out


wrong.several(
    "keys_averaged",
    {"zip(weights, V, ": "zip(weights, K, ", "zeros_like(V[0])": "zeros_like(K[0])"},
    "You take the mean of the keys. A key only decides the weight: what is averaged with it?",
)
wrong(
    "zeros_of_the_default_dtype",
    BEGIN,
    "out = torch.zeros(V.shape[1])",
    "Your sum starts from `torch.zeros` of float32, so half precision becomes float32. From what "
    "can the zeros take their dtype?",
)
wrong(
    "sum_as_long_as_the_query",
    BEGIN,
    "out = torch.zeros_like(q)",
    "Your sum begins with a vector as long as the query. What is added to it, and how long is one "
    "of those?",
)
wrong(
    "table_of_one_row",
    "return out",
    "return out[None]",
    "Your result has two axes: it is a table with one row. How many axes does one query have, and "
    "how many does its result?",
)

LAYER_NORM = "torch.nn.functional.layer_norm"
for name, changed in (("query_and_key", "qK"), ("query", "q"), ("keys", "K")):
    wrong(
        f"{name}_standardised",
        SCORES,
        "\n    ".join(f"{x} = {LAYER_NORM}({x}, {x}.shape[-1:])" for x in changed)
        + f"\n    {SCORES}",
        "You bring vectors to mean 0 and variance 1 (a layer norm) before query and keys meet. "
        "Does the task change them first?",
    )

wrong = exercise.edits(one_pass)
for name, changes in (
    ("sum_of_values_not_adjusted", {"out * shrink": "out"}),
    ("sum_of_weights_not_adjusted", {"total * shrink": "total"}),
    ("neither_sum_adjusted", {"out * shrink": "out", "total * shrink": "total"}),
):
    wrong.several(
        name,
        changes,
        "You subtract the largest score so far, and a later key may have a larger one. What does "
        "that mean for the sums that you have added up before it?",
    )
