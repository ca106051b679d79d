"""relevance_matrix: Korea matters to Korean more than Korean to Korea."""

from __future__ import annotations

import torch

from attnlab.attention import qkv, relevance_matrix
from attnlab.checking.observation import dtype_of
from gradekit.exercise import Exercise

exercise = Exercise(
    relevance_matrix,
    uses=[qkv],
    forbids=["torch.nn.functional.scaled_dot_product_attention"],
)


@exercise.check(points=1)
def shape_and_dtype(lab, draw):
    """Gives one number for each pair of words, in the dtype of the words."""
    X, W_q, W_k = draw.normal(2, 5, 7), draw.normal(7, 4), draw.normal(7, 4)
    out = lab.relevance_matrix(X.float(), W_q.float(), W_k.float())
    return {
        "shape of a sentence": list(lab.relevance_matrix(X[0], W_q, W_k).shape),
        "shape of a batch": list(lab.relevance_matrix(X, W_q, W_k).shape),
        "dtype of float32": dtype_of(out),
    }


@exercise.check(points=1.5)
def values(lab, draw):
    """Entry (i, j) is query i · key j."""
    X = draw.normal(5, 7)
    return lab.relevance_matrix(X, draw.normal(7, 4), draw.normal(7, 4))


@exercise.check(points=1.5)
def symmetry(lab, draw):
    """Is symmetric where queries and keys have one matrix, and not where they have two."""
    X, W_q, W_k = draw.normal(5, 7), draw.normal(7, 4), draw.normal(7, 4)
    one, two = lab.relevance_matrix(X, W_q, W_q), lab.relevance_matrix(X, W_q, W_k)
    return {
        "one matrix: distance from symmetry": (one - one.mT).abs().max(),
        "two matrices: i to j less j to i": two - two.mT,
        "the two matrices exchanged": lab.relevance_matrix(X, W_k, W_q),
    }


@exercise.check(points=2, hidden=True)
def batches_and_sizes(lab, draw):
    """Sentences of a batch do not see each other; any sizes, any memory layout."""
    X = draw.strided(draw.normal(2, 5, 7))
    wide = draw.normal(3, 8), draw.normal(3, 8)
    return {
        "a batch": lab.relevance_matrix(X, draw.normal(7, 4), draw.normal(7, 4)),
        "two batch axes": lab.relevance_matrix(draw.normal(2, 4, 6, 3), *wide),
        "one word": lab.relevance_matrix(draw.normal(1, 3), *wide),
    }


@exercise.check(points=1, hidden=True)
def in_proportion(lab, draw):
    """A word three times as long is three times as relevant, and a word of zeros not at all."""
    X, W_q, W_k = draw.normal(5, 7), draw.normal(7, 4), draw.normal(7, 4)
    longer = X * torch.tensor([1.0, 3.0, 0.0, 1.0, -2.0], dtype=torch.float64)[:, None]
    return lab.relevance_matrix(longer, W_q, W_k)


@exercise.check(points=1, hidden=True)
def gradients_and_inputs(lab, draw):
    """Lets gradients flow back to the words and both matrices; all stay as they were."""
    X, W_q, W_k = draw.normal(2, 5, 7), draw.normal(7, 4), draw.normal(7, 4)
    lab.relevance_matrix(X, W_q, W_k)
    return {
        "gradients": draw.gradients(lambda *args: lab.relevance_matrix(*args), X, W_q, W_k),
        "inputs as they were": draw.untouched(),
    }


@exercise.mistake(
    "Your matrix is turned round: entry (i, j) holds query j · key i. Whose query stands in row i?"
)
def turned_round(X, W_q, W_k):
    return (X @ W_k) @ (X @ W_q).mT


@exercise.mistake(
    "Both sides of your product are queries, so the result is symmetric whatever the matrices. "
    "Which matrix makes the other side?"
)
def queries_twice(X, W_q, W_k):
    return (X @ W_q) @ (X @ W_q).mT


@exercise.mistake(
    "Both sides of your product are keys, so the result is symmetric whatever the matrices. Who "
    "asks the keys?"
)
def keys_twice(X, W_q, W_k):
    return (X @ W_k) @ (X @ W_k).mT


@exercise.mistake(
    "These are the dot products of the words themselves: that is the symmetric similarity which "
    "the lecture starts from. What do the two matrices do to the words first?"
)
def words_not_projected(X, W_q, W_k):
    return X @ X.mT


@exercise.mistake(
    "Your scores are divided (by √d_k or the like). That comes with attention; here they are to "
    "stay as they are."
)
def scaled(X, W_q, W_k):
    return (X @ W_q) @ (X @ W_k).mT / W_q.shape[-1] ** 0.5


@exercise.mistake(
    "Your rows have gone through a softmax: they sum to one. What does the task say comes back?"
)
def softmax_on_top(X, W_q, W_k):
    return torch.softmax((X @ W_q) @ (X @ W_k).mT, -1)


@exercise.mistake(
    "You take the mean of the matrix and its transpose. Relevance from i to j and back then are "
    "equal: is that so for Korea and Korean?"
)
def made_symmetric(X, W_q, W_k):
    scores = (X @ W_q) @ (X @ W_k).mT
    return (scores + scores.mT) / 2


@exercise.mistake(
    "Signs are lost: your entries are never negative. Can a query point away from a key?"
)
def without_signs(X, W_q, W_k):
    return ((X @ W_q) @ (X @ W_k).mT).abs()


@exercise.mistake(
    "Your queries and keys were brought to length 1 (a cosine). Does a longer word then weigh "
    "more, as the dot product has it?"
)
def cosine(X, W_q, W_k):
    q, k = (torch.nn.functional.normalize(X @ W, dim=-1) for W in (W_q, W_k))
    return q @ k.mT


@exercise.mistake(
    "There are no words in your result: it has an entry for each pair of features. The product of "
    "the two matrices is the middle of the formula; what stands on its two sides?"
)
def matrices_alone(X, W_q, W_k):
    return W_q @ W_k.T


@exercise.mistake("Each word's query meets its own key only. How many pairs do T words make?")
def own_key_only(X, W_q, W_k):
    return ((X @ W_q) * (X @ W_k)).sum(-1)


@exercise.mistake(
    "The sizes inside your product do not agree. Write the shapes of queries and keys side by "
    "side: is a matrix to be transposed, and which? (X stands on the left of W_q.)"
)
def keys_not_transposed(X, W_q, W_k):
    return (X @ W_q) @ (X @ W_k)


@exercise.mistake(
    "`.T` (or `transpose(0, 1)`) changes the right two axes only where there are just two. With a "
    "batch in front, which two axes of the keys are to change places?"
)
def first_axes_transposed(X, W_q, W_k):
    keys = X @ W_k
    return (X @ W_q) @ keys.permute(*range(keys.ndim)[::-1])


ONE_RANK = (
    "Your code names or counts the axes of a batch (`bik,bjk->bij`, `transpose(1, 2)`), so a "
    "sentence alone does not fit. How do you name the last two axes, whatever stands before them?"
)


@exercise.mistake(ONE_RANK)
def einsum_of_a_batch(X, W_q, W_k):
    return torch.einsum("bik,bjk->bij", X @ W_q, X @ W_k)


@exercise.mistake(ONE_RANK)
def axes_of_a_batch(X, W_q, W_k):
    return (X @ W_q) @ (X @ W_k).transpose(1, 2)


@exercise.mistake(
    "The words of all sentences meet: the batch axis ran into the words. Which words may a word "
    "look at?"
)
def batch_flattened(X, W_q, W_k):
    X = X.reshape(-1, X.shape[-1])
    return (X @ W_q) @ (X @ W_k).T


@exercise.mistake(
    "The numbers are right, but no gradient gets back (or only part of it): a `.detach()`, "
    "`.data`, `no_grad` or numpy cuts torch's graph. Which line is it?"
)
def detached(X, W_q, W_k):
    return (X @ W_q).detach() @ (X @ W_k).mT


@exercise.mistake(
    "The gradient of the keys is missing: a `.detach()`, `.data` or `no_grad` cuts them out of "
    "torch's graph. Which side of your product is it?"
)
def keys_detached(X, W_q, W_k):
    return (X @ W_q) @ (X @ W_k).detach().mT


@exercise.mistake(
    "Your result has only the precision of float32, also when float64 came in. Where does your "
    "code fix the dtype?"
)
def always_float32(X, W_q, W_k):
    return (X.float() @ W_q.float()) @ (X.float() @ W_k.float()).mT


@exercise.also_right
def by_einsum(X, W_q, W_k):
    return torch.einsum("...id,de,fe,...jf->...ij", X, W_q, W_k, X)


@exercise.also_right
def one_bilinear_form(X, W_q, W_k):
    return X @ (W_q @ W_k.T) @ X.transpose(-2, -1)


@exercise.also_right
def by_qkv(X, W_q, W_k):
    q, k, _ = qkv(X, W_q, W_k, W_k)
    return torch.matmul(q, k.transpose(-1, -2))


@exercise.also_right
def pair_by_pair(X, W_q, W_k):
    words = X.unbind(-2)
    rows = [
        torch.stack([((one @ W_q) * (other @ W_k)).sum(-1) for other in words], -1) for one in words
    ]
    return torch.stack(rows, -2)
