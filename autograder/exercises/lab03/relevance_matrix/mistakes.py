"""Wrong versions of the scores that students write."""

from . import exercise
from .also_right import queries_times_keys

wrong = exercise.edits(queries_times_keys)

wrong(
    "transposed",
    "q @ k.mT",
    "k @ q.mT",
    "Your matrix is transposed: entry (i, j) holds query j · key i. Whose query belongs in row i?",
)
wrong(
    "features_with_features",
    "q @ k.mT",
    "q.mT @ k",
    "Your matrix has an entry for each pair of features, because the product adds up over the "
    "words. Each entry belongs to two words: which axis must it add up over?",
)
wrong(
    "queries_twice",
    "q @ k.mT",
    "q @ q.mT",
    "Both sides of your product are queries, so the result is symmetric whatever the matrices. "
    "Which matrix makes the other side?",
)
wrong(
    "keys_twice",
    "q @ k.mT",
    "k @ k.mT",
    "Both sides of your product are keys, so the result is symmetric whatever the matrices. What "
    "should the keys be compared with?",
)
wrong(
    "words_not_projected",
    "q @ k.mT",
    "X @ X.mT",
    "You return the dot products of the words themselves: that is the symmetric similarity which "
    "the lecture starts from. What do the two matrices do to the words first?",
)
wrong(
    "scaled",
    "k.mT",
    "k.mT / W_q.shape[-1] ** 0.5",
    "Your scores are divided (by √d_k or similar). That is a later part of attention: what does "
    "the task say about the scores here?",
)
ROOT = "W_q.shape[-1] ** 0.5"
for name, scores in (
    ("scaled", f"k @ q.mT / {ROOT}"),
    ("divided_by_d", "k @ q.mT / W_q.shape[-1]"),
    ("softmax_on_top", "torch.softmax(k @ q.mT, -1)"),
    ("weights_of_attention", f"torch.softmax(k @ q.mT / {ROOT}, -1)"),
    ("weights_of_attention_afterwards", f"torch.softmax(q @ k.mT / {ROOT}, -1).mT"),
):
    wrong(
        f"transposed_and_{name}",
        "q @ k.mT",
        scores,
        "Two things: your matrix is transposed, so row i belongs to key i; and its entries are not "
        "the scores themselves but divided, or put through a softmax. Whose query belongs in row "
        "i, and what does the task say about the scale and the softmax?",
    )
for name, scores in (
    ("softmax_on_top", "q @ k.mT"),
    ("weights_of_attention", "q @ k.mT / W_q.shape[-1] ** 0.5"),
):
    wrong(
        name,
        "q @ k.mT",
        f"torch.softmax({scores}, -1)",
        "Your rows sum to one: you apply a softmax to them. What should the entries be, according "
        "to the task?",
    )
wrong(
    "made_symmetric",
    "q @ k.mT",
    "(q @ k.mT + k @ q.mT) / 2",
    "You take the mean of the matrix and its transpose. Then the relevance from i to j equals the "
    "one from j to i: is that so for Korea and Korean?",
)
for name, number in (("no_word_sees_itself", "0.0"), ("itself_forbidden", "-torch.inf")):
    wrong(
        name,
        "q @ k.mT",
        f"(q @ k.mT).masked_fill(torch.eye(X.shape[-2]).bool(), {number})",
        "Your diagonal is overwritten, so that no word is relevant to itself. A word has a query "
        "and a key like all others: does the task leave any pair out?",
    )
for name, number in (("later_words_left_out", "0.0"), ("later_words_forbidden", "-torch.inf")):
    for side, later in (("", "triu(1)"), ("_below", "tril(-1)")):
        wrong(
            f"{name}{side}",
            "q @ k.mT",
            f"(q @ k.mT).masked_fill(torch.ones(2 * X.shape[-2:-1]).{later}.bool(), {number})",
            "One side of your diagonal is overwritten: a mask is built in, so each word meets only "
            "those before or after it. Does the task leave any pair out?",
        )
for name, shifted in (
    ("largest_of_each_row_subtracted", "q @ k.mT - (q @ k.mT).amax(-1, keepdim=True)"),
    ("largest_subtracted", "q @ k.mT - (q @ k.mT).max()"),
    ("mean_of_each_row_subtracted", "q @ k.mT - (q @ k.mT).mean(-1, keepdim=True)"),
):
    wrong(
        name,
        "q @ k.mT",
        shifted,
        "You subtract the same number from all entries of a row (its largest or its mean), as a "
        "softmax does for safety. What should each entry be, according to the task?",
    )
wrong(
    "without_signs",
    "q @ k.mT",
    "(q @ k.mT).abs()",
    "Signs are lost: your entries are never negative. Can a query point away from a key?",
)
wrong.several(
    "cosine",
    {
        "X @ W_q": "torch.nn.functional.normalize(X @ W_q, dim=-1)",
        "X @ W_k": "torch.nn.functional.normalize(X @ W_k, dim=-1)",
    },
    "You normalise your queries and keys to length 1 (a cosine). Does a longer word then count "
    "more, as in a dot product?",
)
for name, words in (
    ("words_made_equally_long", "X / X.norm(dim=-1, keepdim=True)"),
    ("words_after_a_layer_norm", "torch.nn.functional.layer_norm(X, X.shape[-1:])"),
    ("words_standardised", "(X - X.mean(-1, keepdim=True)) / X.std(-1, keepdim=True)"),
    ("words_centred", "X - X.mean(-1, keepdim=True)"),
):
    wrong(
        name,
        "q = X",
        f"X = {words}\n    q = X",
        "You normalise the words before you project them (their length, mean or variance). Does "
        "the task change the words first?",
    )
SQUARES = "(q.unsqueeze(-2) - k.unsqueeze(-3)).pow(2).sum(-1)"
for name, relevance in (
    ("half_squared_distance", f"-{SQUARES} / 2"),
    ("squared_distance", f"-{SQUARES}"),
    ("distance", f"-{SQUARES}.sqrt()"),
    ("squared_distance_without_minus", SQUARES),
    ("distance_without_minus", f"{SQUARES}.sqrt()"),
    ("one_over_distance", f"1 / (1 + {SQUARES}.sqrt())"),
):
    wrong(
        name,
        "q @ k.mT",
        relevance,
        "Your entries come from the distance between query and key. Is a key relevant because it "
        "is close to the query, or does the task compare them in another way?",
    )
wrong(
    "matrices_alone",
    "q @ k.mT",
    "W_q @ W_k.T",
    "Your result does not use the words: it has an entry for each pair of features. The product of "
    "the two matrices is the middle of the formula; what is on its two sides?",
)
wrong(
    "own_key_only",
    "q @ k.mT",
    "(q * k).sum(-1)",
    "Each word's query meets only its own key. How many pairs do T words make?",
)
wrong(
    "own_key_number_by_number",
    "q @ k.mT",
    "q * k",
    "You multiply number by number (`*`), and each word's query meets only its own key. How many "
    "pairs do T words make, and which operation adds up the products?",
)
for name, product in (
    ("keys_not_transposed", "q @ k"),
    ("keys_not_projected", "q @ X.mT"),
    ("queries_not_projected", "X @ k.mT"),
    ("matrices_multiplied_over_words", "X @ (W_q.mT @ W_k) @ X.mT"),
):
    wrong(
        name,
        "q @ k.mT",
        product,
        "The sizes inside your product do not fit. Write the shape of each factor below it: are "
        "both sides projected, and should a matrix be transposed, and which? (X is on the left of "
        "W_q.)",
    )
for name, product in (
    ("first_axes_transposed", "q @ k.permute(*range(k.ndim)[::-1])"),
    ("first_two_axes_transposed", "q @ k.transpose(0, 1)"),
    ("axes_of_the_words_transposed", "q @ W_k.T @ X.permute(*range(X.ndim)[::-1])"),
    ("first_two_axes_of_the_words_transposed", "q @ W_k.T @ X.transpose(0, 1)"),
    ("transposed_by_t", "q @ k.t()"),
    ("words_transposed_by_t", "q @ W_k.t() @ X.t()"),
):
    wrong(
        name,
        "q @ k.mT",
        product,
        "`.T` (or `.t()`, or `transpose(0, 1)`) swaps the right two axes only if there are just "
        "two. With a batch in front, which two axes of the keys or words should be swapped?",
    )
for name, product in (
    ("of_the_keys", "q @ k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])"),
    ("of_one_sentence", "q @ k.view(k.shape[-1], k.shape[-2])"),
    ("of_a_batch", "q @ k.reshape(k.shape[0], k.shape[2], k.shape[1])"),
):
    wrong(
        f"reshape{name[2:]}",
        "q @ k.mT",
        product,
        "`reshape` and `view` keep the order of the numbers and only cut rows of another length, "
        "so a column mixes several keys. Which call exchanges two axes instead?",
    )
for name, product in (
    ("einsum_of_a_batch", 'torch.einsum("bik,bjk->bij", q, k)'),
    ("axes_of_a_batch", "q @ k.transpose(1, 2)"),
):
    wrong(
        name,
        "q @ k.mT",
        product,
        "Your code names or counts the axes of a batch (`bik,bjk->bij`, `transpose(1, 2)`), so one "
        "sentence alone does not fit. How do you name the last two axes, whatever comes before "
        "them?",
    )
for name, transposed in (("looped_over_a_batch", "T"), ("looped_over_a_batch_by_mt", "mT")):
    wrong.several(
        name,
        {
            "q = X @ W_q\n    k = X @ W_k": "q, k = X @ W_q, X @ W_k",
            "q @ k.mT": f"torch.stack([one @ other.{transposed} for one, other in zip(q, k)])",
        },
        "Your code loops over the first axis as if it always were that of the sentences. What does "
        "the loop run over if one sentence comes alone?",
    )
for name, product in (
    ("one_sentence_or_a_batch", "torch.bmm(q, k.mT)"),
    ("einsum_for_a_batch", "torch.einsum('bid,bjd->bij', q, k)"),
):
    wrong(
        name,
        "q @ k.mT",
        f"q @ k.t() if X.ndim == 2 else {product}",
        "Your product takes two axes or three (`t`, `bmm`, an einsum that names each axis). How "
        "many axes may stand in front of the words, and which product works on the last two?",
    )
wrong(
    "batch_flattened",
    "q = X",
    "X = X.reshape(-1, X.shape[-1])\n    q = X",
    "The words of all sentences meet: the batch axis is merged with the words. Which words may a "
    "word look at?",
)
wrong(
    "squeezed",
    "q @ k.mT",
    "(q @ k.mT).squeeze()",
    "An axis of length 1 is missing: `squeeze()` drops every such axis, even a sentence of one "
    "word. Which shape does the task promise there?",
)
wrong(
    "matrix_transposed_if_square",
    "X @ W_k",
    "X @ (W_k.T if W_k.shape[0] == W_k.shape[1] else W_k)",
    "You transpose a matrix if it happens to be square. Does its shape say which axis of it is "
    "d_model?",
)
for name, part in (("detached", "X @ W_q"), ("result_detached", "q @ k.mT")):
    wrong(
        name,
        part,
        f"({part}).detach()",
        "The numbers are right, but no gradient gets back (or only part of it): a `.detach()`, "
        "`.data`, `no_grad` or numpy cuts torch's graph. Which line is it?",
    )
wrong(
    "keys_detached",
    "X @ W_k",
    "(X @ W_k).detach()",
    "The gradient of the keys is missing: a `.detach()`, `.data` or `no_grad` cuts them out of "
    "torch's graph. Which side of your product is it?",
)
wrong(
    "always_float32",
    "q = X",
    "X, W_q, W_k = X.float(), W_q.float(), W_k.float()\n    q = X",
    "Your result has only the precision of float32, even for float64 inputs. Where does your code "
    "fix the dtype?",
)
for name, triangle, rest in (("lower", "tril()", "tril(-1)"), ("upper", "triu()", "triu(1)")):
    wrong(
        f"{name}_triangle_mirrored",
        "return q @ k.mT",
        f"half = (q @ k.mT).{triangle}\n    return half + half.{rest}.mT",
        "You compute one triangle of the table and mirror it, so the table is symmetric. Does word "
        "i matter to word j as much as j to i?",
    )
wrong(
    "words_unsqueezed_in_place",
    "q = X",
    "X = X.unsqueeze_(0) if X.ndim == 2 else X\n    q = X",
    "You put an axis into the caller's X (`unsqueeze_`), and it stays there: the next call gets "
    "another shape. What gives a new view instead?",
)
