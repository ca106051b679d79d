"""Lab 3, scaled dot-product attention: the source of its notebook (`lab build` makes it from this).

It is also a plain script: `python solutions/lab03_attention.py`. If an exercise's answer is a
function of the library, its cell holds one import line, and its task is that function's docstring.
"""

# %% [markdown]
# # Lab 3: {{title}}
#
# By the end you will have built the one operation that every Transformer is made of: each word
# **asks**, each word **offers**, and the contents it asked for are mixed into a new vector. You
# will have measured why it divides by a square root, shown why queries and keys are two things, and
# computed why no model can read texts of any length.
#
# | | |
# |---|---|
# | due | {{due}} |
# | points | {{points}}, in {{steps}} steps and one question |
# | time | about five hours; no function takes more than a dozen lines |
# | you need | `softmax` (1.1) and its gradient (1.4); matrix products, broadcasting |

# %%
import math

import torch

from attnlab import check, plots, submit
from attnlab.data import korea
from attnlab.notebook.review import compare_predictions, try_versions

plots.attention.lab03_preview()

# %% [markdown]
# Left: six words, and how much each row looks at each column. Right: the result for *speak*. The
# vectors of the words it looks at, each scaled by its weight, are drawn one after the other. The
# numbers are chosen by hand, so that you can follow them; a model learns its own.
#
# As always: *why* → *predict* → *write* → *check* → *look*. The visible checks are about half of
# the points; the docstring states everything that the others check. `check` runs on your own
# functions. When the lab is graded, a right version replaces each earlier step, so a wrong step
# costs nothing in the next one; 3.3 names the one exception. `check()` without a name shows where
# you stand. The letters **W**, **S**, **G**, **N** and **C** stand for lectures, which
# [LECTURES.md](LECTURES.md) lists. Every slide that a step needs is quoted there.

# %% [markdown]
# ## 3.1 Queries, keys, values
# *10 points, 25 minutes, difficulty 1 of 5, importance 5 of 5*
#
# "In **Korea** most people speak **Korean**", "most people in **Korea** speak **Korean**". Lecture
# S begins with one weight for each pair of positions. In the next sentence, other words are at
# these positions, so the weights are useless. The weights must depend on the meaning of the words.
# Lab 1 took them from the word vectors themselves, and lecture N names the price: no parameters, so
# nothing to learn. Three matrices fix both. A word asks (query), offers (key) and contributes
# (value):
#
# $$Q = X W^Q, \qquad K = X W^K, \qquad V = X W^V$$
#
# A word is a **row** of X here, as in lecture W. Lectures N and S write $W x$, with a word as a
# column, and lecture G writes $X W^{\top}$, with transposed matrices. All three mean the same; in
# code, the shapes that fit distinguish them.
#
# **Predict.** X has 6 words of 5 numbers, W_q is (5, 3) and W_v is (5, 2). Which shapes do q, k and
# v have? Which axis of X can grow without any change to the matrices?
#
# <details><summary>Hint 1: a question</summary>
#
# Which axis of X and which axis of W_q have the same length, whatever the number of words? A
# product sums over that axis.
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Three products, one for each matrix, returned in the order of the docstring. In a batch of
# sentences, which axes of X does `@` leave unchanged?
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `X @ W` with X of shape (..., T, a) and W of shape (a, b) gives (..., T, b), for any number of
# axes in front. No transpose is needed.
# </details>

# %% exercise="qkv"
from attnlab.attention import qkv

# %%
check("qkv")

# %% [markdown]
# **Look.** The sentence, with numbers chosen by hand: a word's vector says whether it is a place, a
# language and so on. *Korean* mostly asks "where?", and *Korea* offers exactly that. Which words
# will *speak* look at?

# %%
plots.attention.projection_tables(qkv)

# %% [markdown]
# ## 3.2 One query, in slow motion
# *10 points, 30 minutes, difficulty 2 of 5, importance 3 of 5*
#
# Lecture S has the simplest formula, $\text{encode}(i) = \sum_j \text{weight}(i, j) \cdot
# \text{value}_j$: word i becomes a weighted mean of the values of all words. The five lectures
# define the weights in five ways. The paper defines them as
#
# $$\text{weight}(i, j) = \operatorname{softmax}_j \left( \frac{q_i \cdot k_j}{\sqrt{d_k}} \right),
# \qquad d_k = \text{how many numbers a query has}$$
#
# Write it for one query, with loops over the keys, as you would explain it to a friend. (Step 3.4
# says what the square root is for. Your softmax of lab 1 is already available here.)
#
# **Predict.** The query is all zeros. What is the result, whatever the keys are?
#
# <details><summary>Hint 1: a question</summary>
#
# The softmax needs all scores at once. How many passes over the keys does that make?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# First pass: one score for each key, divided by the square root of the query's length. Then
# softmax. Second pass: start from a zero vector as long as a value, and add each value times its
# weight.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `torch.stack([... for key in K])` makes one tensor of many numbers and lets gradients through.
# `torch.zeros_like(V[0])` has the length and the dtype of a value. `out = out + …` makes a new
# tensor in each pass, so autograd can always go back; `out += …` changes one in place, which
# autograd does not always allow.
# </details>

# %% exercise="attention_loop"
from attnlab.attention import attention_loop

# %%
check("attention_loop")

# %% [markdown]
# **Look.** Each value is a point; an arrow leads from a word's own value to its result. All arrows
# end inside the grey area: a mean of points never leaves it. Why does *Korean* end near *Korea*?

# %%
plots.attention.moved_words(qkv, attention_loop)

# %% [markdown]
# ## 3.3 Scaled dot-product attention
# *24 points, 60 minutes, difficulty 4 of 5, importance 5 of 5*
#
# All queries at once, in two matrix products (lectures W, G and C; the paper's equation 1):
#
# $$\text{Attention}(Q, K, V) = \operatorname{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V$$
#
# The score table has a **row for each query** and a **column for each key**, and softmax makes each
# row sum to one. There may be more keys than queries (a decoder that looks at a source), and
# several sentences or heads in the leading axes. A mask says which keys a query may look at: no
# padding, no future. Forbidden keys must have no effect at all. A query with no allowed key gets
# zeros, in its output and in its weights. Such rows are the hardest promise of this step, and they
# need care twice: softmax of a row of −∞ is NaN, and repairing the NaN afterwards may leave NaN in
# the gradients. (You build torch's own `scaled_dot_product_attention` here, so do not use it. The
# softmax can be yours or torch's.)
#
# One check of this step, 2 points, takes your own `qkv` (3.1), because it looks at both together,
# from words to outputs. It is not run if your `qkv` is wrong, and these points are then lost.
#
# **Predict.** Three keys have the weights .2, .3 and .5. The mask removes the last one. What are
# the weights of the other two: .2 and .3, or something else?
#
# <details><summary>Hint 1: a question</summary>
#
# Which score gets the weight 0 from softmax, so that the other weights still sum to one? And what
# does your softmax return for a row that holds only such scores?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Scores (which two axes of k are swapped?), scale, mask, softmax along the keys, product with the
# values. For a row without allowed keys: a large negative number that is finite keeps the softmax
# finite; what makes such a row zero afterwards?
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `k.mT` swaps the last two axes. `scores.masked_fill(~mask, number)` fills where the mask is False,
# and broadcasts; `torch.finfo(scores.dtype).min` is the lowest number of a dtype. Fill once before
# the softmax and once, with 0, after it.
# </details>

# %% exercise="scaled_dot_product_attention"
from attnlab.attention import scaled_dot_product_attention

# %%
check("scaled_dot_product_attention")

# %% [markdown]
# **Look.** Lecture S's two sentences. The words have changed places, and every word still looks at
# the same words: the weights come from content, and nothing here knows about position (lab 6 fixes
# that). Find *Korean* in both.

# %%
both = [korea.ONE_ORDER, korea.OTHER_ORDER]
plots.attention.sentence_attention(qkv, scaled_dot_product_attention, both)

# %% [markdown]
# The next plot shows the effect of a row of weights, lecture W's "convex combination of value
# rows": from the origin, each value times its weight, head to tail. Try other words:
# `word="Korea"`.

# %%
plots.attention.value_mixing(qkv, scaled_dot_product_attention, word="speak")

# %% [markdown]
# ## 3.4 Why the square root?
# *10 points, 35 minutes, difficulty 3 of 5, importance 4 of 5*
#
# A score is a sum of $d_k$ products. Lecture N does not divide it, W divides it by $\sqrt d$, G by
# $\sqrt{d_k}$, and C by either one at different points. A footnote of the paper says why. If the
# numbers of q and k are independent, with mean 0 and variance 1, each product has variance 1, and
# the variances of independent numbers add up:
#
# $$\operatorname{var}(q \cdot k) = d_k \qquad \Rightarrow \qquad
# \operatorname{var}\left(\frac{q \cdot k}{\sqrt{d_k}}\right) = 1$$
#
# Without the root, a wider model has larger scores, and a softmax of very different scores gives
# nearly everything to one key. There its gradient, $p_i (\delta_{ij} - p_j)$ of lab 1, is nearly
# zero: hardly anything is learned. Do not just believe it; measure it.
#
# **Predict.** With d = 64: how far from 0 is a score usually? And if the scores of 32 keys are so
# far apart, what share does the best one get?
#
# <details><summary>Hint 1: a question</summary>
#
# A variance needs many independent scores. How many queries and how many keys make n of them?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Variance: draw (n, d) queries and as many keys, compute one score for each pair, and scale the
# scores if asked. Saturation: compare each query with its own (num_keys, d) keys, take the softmax
# over these and the largest weight of each row, then the mean.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `torch.randn(n, d, generator=generator)` draws. `(q * k).sum(-1)` multiplies row by row, and
# broadcasts (n, 1, d) against (n, num_keys, d). `amax(-1)` is the largest of each row.
# </details>

# %% exercise="score_variance"
from attnlab.attention import score_variance, saturation  # noqa: I001 - in this order

# %%
check("score_variance")

# %% [markdown]
# **Look.** Left and right: the same random scores before and after the division. The lines are bell
# curves with the variance that you measured. Below, the effect on softmax: without the root, the
# best of 32 keys takes nearly all the weight for any d as large as in real models.

# %%
plots.scaling.score_histogram(score_variance)
plots.scaling.saturation_curves(saturation)

# %% [markdown]
# ## 3.5 Relevance is not symmetric
# *8 points, 20 minutes, difficulty 1 of 5, importance 3 of 5*
#
# Queries and keys are compared anyway, so why do we need two matrices? Lecture S gives an example:
# to understand *Korean* you need *Korea*, but to understand *Korea* you do not need *Korean*. A dot
# product of the word vectors cannot express this, because $x_i \cdot x_j = x_j \cdot x_i$. With
# two matrices it can:
#
# $$\text{relevance}(i, j) = q_i \cdot k_j = x_i\, W^Q (W^K)^\top x_j^\top$$
#
# The table is symmetric for every sentence if and only if $W^Q (W^K)^\top$ is.
#
# **Predict.** Is the table symmetric if W_k is W_q? And if W_k is twice W_q?
#
# <details><summary>Hint 1: a question</summary>
#
# Which row of which table belongs to the word that looks?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# The queries of all words, the keys of all words, and one product of the two tables. There is no
# scale and no softmax: those come later in attention.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# Two products with X on the left, and one in which the last two axes of the keys are swapped. In a
# batch, `.T` would reverse all axes; `.mT` swaps two.
# </details>

# %% exercise="relevance_matrix"
from attnlab.attention import relevance_matrix

# %%
check("relevance_matrix")

# %% [markdown]
# **Look.** The two framed numbers are *Korea* about *Korean* and *Korean* about *Korea*. In which
# table are they the same? Where is the largest entry of the left table, and why is it there?

# %%
plots.attention.relevance_tables(relevance_matrix)

# %% [markdown]
# ## 3.6 What it costs
# *8 points, 30 minutes, difficulty 2 of 5, importance 3 of 5*
#
# Lecture N asks why the reading range of a chat model is limited, and does not answer. Lecture S
# answers in a word, $O(n^2)$; lecture G writes $O(T^2 d)$. Count it: the table has a number for
# every pair of tokens, each number is a sum of $d_k$ products, and every number of the output is a
# sum over all keys. A law like that is a straight line in a plot with logarithmic axes, and its
# slope is the exponent:
#
# $$\text{cost} = c \cdot T^{\,p} \qquad \Rightarrow \qquad \log \text{cost} = \log c + p \log T$$
#
# **Predict.** A text is twice as long: by what factor does the number of multiplications grow? And
# from what number of tokens do the weights of one head, in float32, fill a memory of 16 GB?
#
# <details><summary>Hint 1: a question</summary>
#
# How many entries does q kᵀ have, and how many products does one of them need? Answer the same for
# weights times v.
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Multiplications: two products of three lengths each. Memory: the number of entries times the bytes
# of one entry. Exponent: the slope of the line of least squares through the logarithms of both.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `dtype.itemsize` is the number of bytes. If x and y are the logarithms, each minus its mean, the
# slope is $\sum x y / \sum x^2$.
# </details>

# %% exercise="cost"
from attnlab.attention import count_multiplications, weights_memory, fit_exponent  # noqa: I001

# %%
check("cost")

# %% [markdown]
# **Look.** Counted: for short texts the three projections cost more than attention; for long ones
# only attention matters. Measured, on this machine: for few tokens the line is flatter, because
# most of the time goes into function calls. Then it gets steep, even steeper than you counted when
# the table no longer fits into the processor's cache.

# %%
plots.scaling.cost_curves(count_multiplications, weights_memory, fit_exponent)
plots.scaling.time_against_length(scaled_dot_product_attention, fit_exponent)

# %% [markdown]
# ## 3.7 Test somebody else's attention
# *12 points, 40 minutes, difficulty 4 of 5, importance 4 of 5*
#
# Switch roles again: write a test that lets a right attention pass silently and raises
# `AssertionError` for a wrong one. It is run on more than fifty wrong versions of 3.3 and a few
# right ones. Your points are the share of wrong versions that it rejects, times the share of right
# ones that it accepts.
#
# **Predict.** Which mistakes would pass a test in which all lengths are 4?
#
# <details><summary>Hint 1: a question</summary>
#
# Read the docstring of 3.3 as a list of promises. Which input would break each of them?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Use float64, with Lq, Lk, d_k and d_v all different, and two, three and four axes. Compare weights
# and outputs with the formula, computed with torch's softmax. Do the same with a mask, in each
# shape that broadcasts. Then try: a forbidden key with an enormous score and an enormous value;
# allowed scores, millions below zero, next to a forbidden one; a query without allowed keys, and
# its gradients; the dtypes; the inputs afterwards.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `scores.masked_fill(~mask, -math.inf).softmax(-1).nan_to_num(0)` has the right values. Then
# `assert (weights - right).abs().max() < 1e-8`. For gradients, use `out.sum().backward()` and
# `assert q.grad.isfinite().all()`.
# </details>


# %% exercise="test_attention"
def test_attention(impl):
    """Let a right version of attention pass, and raise AssertionError for a wrong one.

    Args:
        impl: called as ``impl(q, k, v)`` or ``impl(q, k, v, mask)``, by position or by name; it
            returns the outputs and the weights, and should keep every promise of 3.3.

    Right versions differ in their last digits: in float64 allow 1e-8 for weights (scores in the
    millions cost that much) and for outputs 1e-8 times the largest value. Let d_k be 4 or 16,
    because a root computed in float32 is exact then. In float16 check only the dtype, without a
    mask. Neither that there may be no keys at all, nor that a second call gives the same results,
    needs a test.
    """
    ### BEGIN SOLUTION
    generator = torch.Generator().manual_seed(0)

    def normal(*shape):
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    def compare(q, k, v, mask=None):
        before = [x.clone() for x in (q, k, v)]
        out, weights = impl(q, k, v) if mask is None else impl(q, k, v, mask)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        right = torch.softmax(scores, -1).nan_to_num(0)
        assert weights.shape == right.shape, "the weights have another shape"
        assert (weights - right).abs().max() < 1e-8, "the weights are wrong"
        assert (weights[right == 0] == 0).all(), "a forbidden key has weight"
        assert out.shape == (right @ v).shape, "the output has another shape"
        allowed = 1e-8 * float(v.abs().max())
        assert (out - right @ v).abs().max() < allowed, "the output is wrong"
        for now, then in zip((q, k, v), before, strict=True):
            assert torch.equal(now, then), "an input was changed"
        again = impl(q, k, v) if mask is None else impl(q, k, v, mask)
        assert torch.equal(again[0], out), "the same call twice gives two results"

    for lead in ((), (2,), (2, 3)):
        q, k, v = normal(*lead, 3, 4), normal(*lead, 5, 4), normal(*lead, 5, 6)
        some = torch.rand(*lead, 3, 5, generator=generator) < 0.6
        some[..., 1, :] = False
        some[..., 2, :] = True
        row = torch.tensor([True, False, True, True, False])
        for mask in (None, some, some.reshape(-1, 3, 5)[-1], row):
            compare(q, k, v, mask)
            compare(100 * q, k, v, mask)
        loud_k, loud_v = k.clone(), v.clone()
        loud_k[..., 1, :] = 1e6
        loud_v[..., 1, :] = 1e6
        compare(q.abs(), loud_k, loud_v, row)
        compare(torch.ones_like(q), torch.full_like(k, -1e6), v, row)
        leaves = [x.clone().requires_grad_() for x in (q, k, v)]
        out, weights = impl(*leaves, some)
        ((out**2).sum() + (weights**2).sum()).backward()
        for leaf in leaves:
            assert leaf.grad is not None, "no gradient comes back"
            assert leaf.grad.isfinite().all(), "a gradient is not finite"
    small = [x.requires_grad_() for x in (normal(2, 4), normal(5, 4), normal(5, 3))]
    half = torch.tensor([[True, True, False, True, False], [False] * 5])
    assert torch.autograd.gradcheck(lambda *x: impl(*x, half), small), "the gradient is wrong"
    for dtype in (torch.float16, torch.float32):
        x = normal(2, 3, 4).to(dtype)
        for result in impl(x, x, x):
            assert result.dtype == dtype, "the dtype was changed"
    ### END SOLUTION


# %%
check("test_attention")

# %% [markdown]
# **Look.** Your own attention should pass. A version that takes the softmax over all keys and masks
# the weights afterwards should not pass: what does your test say about it?


# %%
def masked_afterwards(q, k, v, mask=None):
    weights = scaled_dot_product_attention(q, k, v)[1] * (1.0 if mask is None else mask)
    return torch.matmul(weights, v), weights


try_versions(test_attention, scaled_dot_product_attention, masked_afterwards)

# %% [markdown]
# ## 3.8 Predict, then run
# *6 points, 15 minutes, difficulty 2 of 5, importance 3 of 5*
#
# Five questions. Guess all the answers and write them down; then run the cell under **Look**, in
# which your own functions answer. If you were wrong, correct the number and be able to say why. The
# answers that are here when you hand in count.
#
# - **P1** Three keys are the same vector; their values are 0, 3 and 12. What does a query get?
# - **P2** Every number in q and in k is doubled. By what factor does a score grow?
# - **P3** d = 512, 32 keys, random numbers: what is the largest weight, on average, without the
#   scale and with it (a pair of numbers)?
# - **P4** How many gigabytes (10⁹ bytes) do the weights of one head take for a text of 100,000
#   tokens, in float32?
# - **P5** There are four keys; the mask leaves only the one with the score −50. What is its weight?

# %% exercise="predictions"
predictions = {}
# TODO: write five lines such as predictions["P1"] = 7.5 (for P3 a pair such as [0.5, 0.5]).
### BEGIN SOLUTION
predictions["P1"] = 5.0
predictions["P2"] = 4.0
predictions["P3"] = [0.93, 0.165]
predictions["P4"] = 40.0
predictions["P5"] = 1.0
### END SOLUTION

# %%
check("predictions")

# %% [markdown]
# **Look.** Your guesses next to the results of your functions:

# %%
X = korea.embed(korea.ONE_ORDER)
W_q, W_k, W_v = korea.projections()
dice = torch.Generator().manual_seed(3)
same_keys, values = torch.ones(3, 2), torch.tensor([[0.0], [3.0], [12.0]])
far_keys, only_first = torch.tensor([[-50.0], [1.0], [2.0], [3.0]]), torch.arange(4) == 0
answers = {
    "P1": lambda: scaled_dot_product_attention(torch.ones(1, 2), same_keys, values)[0],
    "P2": lambda: relevance_matrix(X, 2 * W_q, 2 * W_k)[5, 1] / relevance_matrix(X, W_q, W_k)[5, 1],
    "P3": lambda: [float(saturation(512, 32, 400, dice, scaled=s)) for s in (False, True)],
    "P4": lambda: weights_memory(100_000, 100_000, torch.float32) / 1e9,
    "P5": lambda: scaled_dot_product_attention(
        torch.ones(1, 1), far_keys, torch.zeros(4, 2), only_first
    )[1][0, 0],
}
compare_predictions(predictions, answers)

# %% [markdown]
# ## 3.9 Errata hunt
# *8 points, 30 minutes, difficulty 3 of 5, importance 2 of 5*
#
# Four lectures, one formula, and five places where the formula is wrong as written. For each, give
# the number that follows from the slide as it is, and the right number.
#
# - **C4** Lecture C repeats attention next to the feed-forward formula and divides by √d; before,
#   it was √d_k. Take the paper's model, 512 wide with eight heads. *Slide*: the number that a score
#   is divided by. *Right*: the number that it should be divided by.
# - **C9** The same line is Softmax((Qx)ᵀKx / √d), with matrices Q and K and a token in each
#   **column** of x; the next line is max(0, x·W₁ + b₁)·W₂ + b₂, with a token in each **row** of
#   the same x. Let x hold five tokens of seven numbers as the second line needs it. *Slide*: the
#   number of rows of (Qx)ᵀKx then, for any Q and K that fit. *Right*: that of a score table.
# - **G5** Lecture G writes softmax(K Qᵀ / √d_k) for the weights and, one line later,
#   softmax(Q Kᵀ / √d_k) V. Its first table has a column for each query. Take the Q and K of the
#   cell below. *Slide*: the weight of key 0 for query 0 in the first table, if softmax runs along
#   the rows (`dim=-1`), as the second table needs it. *Right*: that weight, computed correctly.
# - **N3** Lecture N feeds "unscaled attention scores" into softmax. Let q and k hold 64 independent
#   standard normal numbers. *Slide*: the variance of the scores. *Right*: their variance in 3.3.
# - **W1** Lecture W divides by √d, and its d is the width of Q, 512; but $Q W^q$, with a matrix of
#   512 × 64, goes into the product. Assume that its numbers and those of $K W^k$ are standard
#   normal. *Slide*: the standard deviation of the scores. *Right*: the value that it should have.

# %% exercise="errata"
Q = torch.tensor([[1.0, 0.0], [0.0, 2.0]])  # two queries
K = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])  # three keys
errata = {}
# TODO: write five lines such as errata["C4"] = (slide, right, "why, in four words or more").
# Let code show it: torch.softmax, a tensor of zeros and its shape, your score_variance.
### BEGIN SOLUTION
x, to_queries, to_keys = torch.zeros(5, 7), torch.zeros(3, 5), torch.zeros(3, 5)
slide_table = (to_queries @ x).T @ (to_keys @ x)  # (7, 7): features against features
scores = torch.randn(2, 40_000, 64, generator=torch.Generator().manual_seed(0)).prod(0).sum(-1)
along_rows = torch.softmax(K @ Q.T / math.sqrt(2), -1)
along_keys = torch.softmax(Q @ K.T / math.sqrt(2), -1)
errata["C4"] = (math.sqrt(512), math.sqrt(512 / 8), "each of eight heads has 64 numbers")
errata["C9"] = (len(slide_table), len(x), "with tokens in rows it compares features")
errata["G5"] = (along_rows[0, 0], along_keys[0, 0], "a column holds a query's weights there")
errata["N3"] = (scores.var(), (scores / 8).var(), "the division by the root is missing")
errata["W1"] = (
    (scores / math.sqrt(512)).std(),
    (scores / math.sqrt(64)).std(),
    "the product has 64 terms",
)
### END SOLUTION

# %%
check("errata")

# %% [markdown]
# ## What you can now explain
#
# - what a query, a key and a value are, and why a word needs all three;
# - why attention returns a mean, and why the mask must come before the softmax;
# - why the scores are divided by the square root of d_k: not of d_model, and not by d_k;
# - why relevance is not symmetric, and why twice the text costs four times as much.
#
# Next week, several attentions look at a sentence at once. Until then, try attention by distance
# from d2l's book, with $-\lVert q - k \rVert^2 / 2$ instead of $q \cdot k$. What does it become if
# all keys have the same length?

# %% [markdown] free_text="explain" points=4
# ## In your own words
# *4 points, marked by a TA*
#
# A friend trains attention with $d_k = 1024$ and omits the scale: "W_q and W_k are learned, so the
# model can learn the factor by itself." For a long time the loss hardly changes. Answer in four to
# six sentences: what do the scores look like at the start, what does softmax do to them, why can
# the model not simply learn the factor, and what would happen if your friend divided by $d_k$
# instead of its root?
#
# <!-- BEGIN SOLUTION -->
# A score is a sum of 1024 products, so its standard deviation is about 32, and the best of some
# dozens of keys leads the next by several units or tens. Softmax gives nearly all the weight to
# that one key, which is best by chance. The gradient of softmax has a factor p(1 − p) or p·p', and
# all of these are nearly 0: hardly any gradient reaches W_q and W_k, the very matrices that should
# shrink. So the model could represent the right factor, but does not get there. Divided by d_k, the
# scores have a standard deviation of 1/32: all weights are nearly equal, attention is a plain mean,
# and the differences that should be learned are very small; W_q and W_k must grow first. The root
# makes the deviation 1 for every d_k, so softmax prefers some keys and still has gradients.
# <!-- BEGIN MARK SCHEME -->
# - 1: the scores have a standard deviation of about 32
# - 1: softmax gives nearly all the weight to one key, chosen by chance
# - 1: in such a softmax nearly no gradient is left for W_q and W_k
# - 1: divided by d_k, the weights are nearly equal, and differences are too small to learn from
# <!-- END MARK SCHEME -->
# <!-- END SOLUTION -->

# %% [markdown]
# ## Where you stand
#
# Before you hand in, run all cells from the top once more (in JupyterLab: Run, Restart Kernel and
# Run All Cells). The table shows every step; click on one to go there.

# %%
check()

# %% [markdown]
# **Save the notebook, then run this cell.** It packs the notebook as it was saved, and says what is
# in the file that you hand in.

# %%
submit()
