"""Lab 1, softmax: the source of its notebook (`lab build` makes the notebooks from it).

It runs as it is: `python solutions/lab01_softmax.py`. An exercise's cell holds one import line if
the answer is a function of the library; its task is that function's docstring.
"""

# %% [markdown]
# # Lab 1: {{title}}
#
# At the end you will have written, and tested to the last digit, the three lines of arithmetic that
# every Transformer runs on: **scores → probabilities → a loss and its gradient**. You will also
# have a first attention layer, built with them, that gives one word two meanings.
#
# | | |
# |---|---|
# | due | {{due}} |
# | points | {{points}}, in {{steps}} steps and one question |
# | time | about five hours; no step needs more than one screen of code |
# | you need | Python; a little torch: indexing, broadcasting, `sum(dim)` (lab 0 tries the set-up) |

# %%
import math

import torch
from torch import Tensor

from attnlab import check, plots, submit
from attnlab.data import apples
from attnlab.notebook.review import compare_predictions, try_versions

fruits = ["apple", "pear", "plum", "stone"]
scores: Tensor = torch.tensor([2.0, 1.0, 0.2, -1.0], dtype=torch.float64)
plots.words.lab01_preview()

# %% [markdown]
# Each step has the same parts: *why* → *predict* → *write* → *check* → *look*. Predict on paper,
# before you write; the picture at the end of the step, or your code, shows whether you were right.
# Run the cell with `check` as often as you like: it shows the visible checks, more than half of
# the points. The others run after you hand in, on other numbers; the docstring in the cell states
# everything they check. `check()` without a name shows where you stand. Stuck? Open a hint, or go
# on: in grading, a wrong step costs the next one nothing; 1.7 names the one exception.
#
# The letters **W**, **S**, **G**, **N** and **C** stand for five public lectures;
# [LECTURES.md](LECTURES.md) says which. You do not need them to do the labs.

# %% [markdown]
# ## 1.1 Softmax
# *14 points, 40 minutes, difficulty 2 of 5, importance 5 of 5*
#
# A model gives every word a score, any real number. To choose a word, or to be judged, it needs
# probabilities. Softmax computes them (lectures W, N and C):
#
# $$p_i = \frac{e^{x_i}}{\sum_j e^{x_j}}$$
#
# On paper that is all. In a computer $e^{710}$ is already infinite in double precision, and scores
# are along one axis of a larger tensor. (Here you build torch's own `softmax` and `log_softmax`, so
# do not use them.)
#
# **Predict.** Every score of a row grows by 1000. What happens to its probabilities on paper? What
# happens if a computer evaluates the formula as it is?
#
# <details><summary>Hint 1: a question</summary>
#
# Which number may you subtract from all scores of a slice without changing $p$? Which choice of it
# makes the largest exponent exactly 0?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Three lines: shift each slice, take the exponential, divide by the sum of the slice. Both the
# shift and the sum reduce the axis `dim`. For x of shape (3, 5, 7) and `dim=1` they must have the
# shape (3, 1, 7), so that broadcasting can align them with x.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `x.amax(dim, keepdim=True)` is the largest score of each slice with its axis kept. `sum` accepts
# `keepdim`, too. torch's `exp` turns whole numbers into floats; a tensor that you make with
# `empty_like(x)` does not.
# </details>

# %% exercise="softmax"
from attnlab.softmax import softmax

# %%
check("softmax")

# %% [markdown]
# **Look.** Four scores, and the same four 1000 higher. Are the two sets of bars the same height?
# Where a bar is missing, the picture names the number that cannot be drawn.

# %%
plots.scores.softmax_bars(softmax, scores)

# %% [markdown]
# ## 1.2 Log-softmax
# *8 points, 30 minutes, difficulty 3 of 5, importance 4 of 5*
#
# Losses are computed from logarithms of probabilities (lectures W, G, C). A probability of
# $e^{-800}$ is rounded to 0, and its logarithm is $-\infty$; yet the number we want is just −800.
# If you take the logarithm on paper first, the exponential of the score disappears:
#
# $$\log p_i = x_i - \operatorname{logsumexp}(x), \qquad
# \operatorname{logsumexp}(x) = \log \sum_j e^{x_j}$$
#
# (Here you build torch's `log_softmax` and `logsumexp`. You may use your own softmax if it helps.)
#
# **Predict.** Take two scores, 0 and −g. At which gap g does `log(softmax(x))` break in double
# precision: 75, 750 or 7500?
#
# <details><summary>Hint 1: a question</summary>
#
# In $\log \sum_j e^{x_j}$, which factor can you move out of the sum, and what is its logarithm?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# logsumexp: the maximum m of each slice, then $m + \log \sum_j e^{x_j - m}$. What is m for a slice
# that is all −∞, and which finite number could replace it? log_softmax: one subtraction; which axis
# must you restore first? Between two numbers around 20,000, a difference has lost its last digits:
# from which smaller scores, with the same log-probabilities, could you subtract?
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `clamp(min=torch.finfo(x.dtype).min)` raises −∞ to the lowest finite number and leaves all other
# numbers unchanged. `squeeze(dim)` removes an axis of length 1, `unsqueeze(dim)` inserts one.
# </details>

# %% exercise="log_softmax"
from attnlab.softmax import logsumexp, log_softmax  # noqa: F401, I001 - in this order

# %%
check("log_softmax")

# %% [markdown]
# **Look.** Two ways to the same logarithm. At which gap does the way through probabilities fail?
# That is where its *value* fails. In 1.4 you will see that its gradient fails earlier.

# %%
plots.scores.log_softmax_gap(softmax, log_softmax)

# %% [markdown]
# ## 1.3 Cross-entropy
# *14 points, 45 minutes, difficulty 3 of 5, importance 5 of 5*
#
# How good were the probabilities? Look at the probability of the right word, and take its surprise
# (lecture W writes it $-\langle Y, \log \hat Y \rangle$; over a sentence, lecture G averages it and
# lecture C sums it):
#
# $$\text{loss} = -\frac{1}{n} \sum_{t \text{ counts}} \log p_{t,\,y_t}$$
#
# Sentences differ in length, so batches are filled up with padding. Padding teaches nothing, so it
# must not count, either in the sum or in n. (You may use your own functions so far, but not torch's
# `cross_entropy`, `nll_loss`, `softmax` and `log_softmax`.)
#
# **Predict.** A model that knows nothing gives the same score to V words. What is its loss for
# V = 1000?
#
# <details><summary>Hint 1: a question</summary>
#
# From (N, V) log-probabilities you need one number for each row. Which number is it, and what can
# you look up in a row whose target is −100?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Which rows count (a boolean mask; None is not 0)? In the other rows, replace the target by a
# column that is safe to look up. Pick one log-probability for each row, change the sign, set the
# ignored rows to 0, then reduce. How large must the divisor be at least?
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `log_p.gather(1, column[:, None])[:, 0]` picks entry `column[i]` of row i.
# `losses.where(mask, 0.0)` keeps the losses where the mask is True.
# </details>

# %% exercise="cross_entropy"
from attnlab.softmax import cross_entropy

# %%
check("cross_entropy")

# %% [markdown]
# **Look.** One set of logits, made larger and larger: the model gets surer of "apple". What is its
# loss if it is right, and what is its loss if the right answer is another word?

# %%
plots.scores.loss_against_scale(cross_entropy, scores, fruits)

# %% [markdown]
# ## 1.4 The gradient of softmax
# *8 points, 30 minutes, difficulty 3 of 5, importance 3 of 5*
#
# Learning goes the same way backwards. The derivative of one probability by one score is
#
# $$\frac{\partial p_j}{\partial x_i} = p_j\,(\delta_{ij} - p_i)$$
#
# with $\delta_{ij} = 1$ if $i = j$ and 0 otherwise. For V words that is a table of V × V numbers
# for each token, and it is never written down: given the gradient at p, a sum along the row is
# enough. (Write it yourself, without `backward()`.)
#
# **Predict.** Every probability of a row has the same gradient, 3. What is the gradient at the
# scores?
#
# <details><summary>Hint 1: a question</summary>
#
# Put the formula into $\sum_j g_j \, \partial p_j / \partial x_i$, with $g$ for `grad_p`. What is
# left of the part of the sum that holds $\delta_{ij}$?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Two terms are left, with a common factor $p_i$. One of them holds a sum that is the same for all i
# of a row: compute it once, and keep its axis.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# A product, a `sum(-1, keepdim=True)`, a difference, a product.
# </details>

# %% exercise="softmax_backward"
from attnlab.softmax import softmax_backward

# %%
check("softmax_backward")

# %% [markdown]
# **Look.** The whole table for four words; your function computed each row. Raising a score raises
# its own probability and lowers all the others. What does each row sum to, and why? The last row
# answers your prediction.

# %%
plots.scores.softmax_jacobian(softmax_backward, torch.softmax(scores, -1))

# %% [markdown]
# The gradient also explains why a loss takes logits. Below, a model in float32 gives the right word
# a score that is g below the best one. The two curves are two ways to compute one loss, with torch
# going backwards. As g grows, which fails first on the way through probabilities: the loss or its
# gradient?

# %%
plots.scores.loss_and_gradient_gap(softmax, log_softmax)

# %% [markdown]
# ## 1.5 Temperature and entropy
# *8 points, 25 minutes, difficulty 2 of 5, importance 3 of 5*
#
# Always taking the likeliest word is dull; taking any word at all is chaos. One setting, T, moves
# between the two, and one number says where you are:
#
# $$p = \operatorname{softmax}(x / T), \qquad H(p) = -\sum_i p_i \log p_i$$
#
# **Predict.** Which entropy do you get at T = 0, and which when T is very large?
#
# <details><summary>Hint 1: a question</summary>
#
# What do the differences between scores become when T is small? Can you write down the limit
# without dividing by T? What should $0 \cdot \log 0$ be, if a word that never comes adds no
# surprise?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Handle T = 0 separately: zeros everywhere, and a one at the largest score. In entropy, keep the
# zeros away from the logarithm, or repair their product; do not change the other entries.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `argmax(-1, keepdim=True)` with `scatter(-1, …, 1.0)` on zeros, or `one_hot`. `torch.xlogy(a, b)`
# is a·log b, and 0 where a is 0; `torch.where` does it, too.
# </details>

# %% exercise="temperature"
from attnlab.softmax import temperature, entropy  # noqa: I001 - in this order

# %%
check("temperature")

# %% [markdown]
# **Look.** The curves spread from one winner to equal shares; the entropy rises from 0 to log V.

# %%
plots.scores.temperature_fan(temperature, scores, fruits)
plots.scores.entropy_curve(temperature, entropy, scores)

# %% [markdown]
# ## 1.6 A first attention
# *10 points, 35 minutes, difficulty 2 of 5, importance 4 of 5*
#
# "My favourite **fruit** is apple", "my favourite **brand** is apple": one word, two meanings.
# Lecture N gives apple the vector [5, 7], fruit [0, 8] and brand [6, 0], and moves each word
# towards the words it resembles. Lecture S writes the same as
#
# $$\text{encode}(i) = \sum_j \text{weight}(i, j)\; x_j$$
#
# The weights of word i are its similarities to all words, normalised. Lecture N divides them by
# their sum; every Transformer uses softmax. (Do not use torch's `scaled_dot_product_attention`.)
#
# **Predict.** Apple's similarities are 1 to itself, .25 to fruit and 0 to the others. To which
# vector does dividing by the sum move apple = [5, 7]?
#
# <details><summary>Hint 1: a question</summary>
#
# The weights are a (T, T) table. Which of its axes belongs to the word that looks, and along which
# axis must it sum to one?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Similarities (given, or a product of X with itself), weights (two ways), weighted sum (another
# product). In a batch, which two axes of X are swapped in the first product? Which rows cannot be
# divided by their sum?
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `X.mT` swaps the last two axes. Divide by `total.masked_fill(total == 0, 1)`: 0 / 1 is 0, and
# unlike 0 / 0 it has a gradient.
# </details>

# %% exercise="basic_self_attention"
from attnlab.attention import basic_self_attention

# %%
check("basic_self_attention")

# %% [markdown]
# **Look.** Your attention on lecture N's two sentences. Only related words move, and apple ends up
# in two places. Try `mode="softmax"` as well: which words move now, and why?

# %%
plots.words.apple_arrows(basic_self_attention, mode="sum")

# %% [markdown]
# ## 1.7 Does it notice the order?
# *8 points, 20 minutes, difficulty 2 of 5, importance 4 of 5*
#
# Lecture N calls self-attention permutation equivariant: if you shuffle the words, the results are
# shuffled the same way and otherwise unchanged. So "dog bites man" and "man bites dog" give the
# same vectors. Measure this for any layer f:
#
# $$\text{gap} = \max \big|\, f(X[\pi]) - f(X)[\pi] \,\big|$$
#
# (The last point of this step uses your own softmax and your own attention together.)
#
# **Predict.** Which of these has gap 0: your attention; your attention after each word's position
# was added to its vector; a running sum over the words?
#
# <details><summary>Hint 1: a question</summary>
#
# With $\pi$ = (2, 0, 1), which word comes first on each side of the minus sign?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Call f twice: once on reordered words, once on the words as they are. Reorder the second result.
# Return one number.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# Indexing with a tensor of positions, `X[perm]`, reorders rows and makes a new tensor.
# </details>

# %% exercise="equivariance_gap"
from attnlab.equivariance import equivariance_gap

# %%
check("equivariance_gap")

# %% [markdown]
# **Look.** Three layers, five random words. Which layer cannot see the order of the words without
# something like positions?

# %%
words = torch.randn(5, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
order = torch.tensor([2, 4, 1, 0, 3])
places = torch.arange(5.0)[:, None]
layers = {
    "attention": lambda X: basic_self_attention(X),
    "attention, places added": lambda X: basic_self_attention(X + places),
    "running sum": lambda X: X.cumsum(0),
}
plots.words.equivariance_bars(equivariance_gap, layers, words, order)

# %% [markdown]
# ## 1.8 Test somebody else's softmax
# *12 points, 35 minutes, difficulty 3 of 5, importance 4 of 5*
#
# You have seen how many ways there are to get softmax wrong. Now switch roles: write a test that
# takes an implementation, lets a right one pass silently, and raises `AssertionError` for a wrong
# one. Your test is run on more than twenty wrong versions of 1.1 and a few right ones. Some are
# wrong for a few shapes only, and the docstring says *any shape*, so unusual ones count, too. Your
# points are the share of wrong versions that it rejects, times the share of right ones that it
# accepts.
#
# **Predict.** Which wrong version would pass a test that only asks whether the sums are one?
#
# <details><summary>Hint 1: a question</summary>
#
# Read the docstring of 1.1 as a list of promises. For each of them, which input shows that a wrong
# version breaks it?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Compare with `torch.softmax` on a 3-D float64 tensor along each axis, and again with slices
# thousands apart. Then test a −∞; whole numbers; the dtypes of float16 and float32; the sums; the
# gradient; the input afterwards.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `assert (p - expected).abs().max() < 1e-10`, `assert torch.equal(x, before)`, and, on a small
# float64 x, `torch.autograd.gradcheck(lambda t: impl(t, 1), x.requires_grad_())`.
# </details>


# %% exercise="test_softmax"
def test_softmax(impl):
    """Let a right version of softmax pass, and raise AssertionError for a wrong one.

    Args:
        impl: called as ``impl(x, dim)`` or ``impl(x)``, by position or by name; it should keep
            every promise of 1.1.

    Right versions differ in their last digits: allow 1e-10 in float64 and 1e-5 in float32. In
    float16, look only at the dtype. These promises need no test: a `dim` that is negative or not
    given, more than three axes, and integers of 8 bits.
    """
    ### BEGIN SOLUTION
    generator = torch.Generator().manual_seed(0)
    tame = torch.randn(3, 5, 7, generator=generator, dtype=torch.float64)
    far = torch.tensor([0.0, 1e3, -1e4], dtype=torch.float64)
    wild = tame + far[:, None, None]
    wild[0, 1, 2] = -math.inf
    for x in (tame, wild, tame[:, :1]):
        for dim in (0, 1, 2, -1, -2, -3):
            before = x.clone()
            p = impl(x, dim)
            assert torch.equal(x, before), "the input was changed"
            assert p.shape == x.shape, "the shape was changed"
            assert (p - torch.softmax(x, dim)).abs().max() < 1e-10, "the numbers are wrong"
    assert torch.equal(impl(tame), impl(tame, -1)), "the default is the last axis"
    for dtype in (torch.float16, torch.float32, torch.float64):
        assert impl(tame.to(dtype), 1).dtype == dtype, "the dtype was changed"
    small = torch.tensor([[3, 1, 2], [127, 0, -128]], dtype=torch.int8)
    for whole in (small, small.long()):
        error = impl(whole, 1).double() - torch.softmax(whole.double(), 1)
        assert error.abs().max() < 1e-6, "whole numbers give something else"
    leaf = tame[:2, :, :2].clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda t: impl(t, 1), leaf), "the gradient is wrong"
    ### END SOLUTION


# %%
check("test_softmax")

# %% [markdown]
# **Look.** Your own softmax should pass. The formula of 1.1 as it is should not pass: which line of
# your test finds its overflow? And `equal_shares` answers your prediction: all its sums are one.


# %%
def formula(x, dim=-1):
    return x.exp() / x.exp().sum(dim, keepdim=True)


def equal_shares(x, dim=-1):
    return torch.ones_like(x) / x.shape[dim]


try_versions(test_softmax, softmax, formula, equal_shares)

# %% [markdown]
# ## 1.9 Predict, then run
# *6 points, 15 minutes, difficulty 2 of 5, importance 3 of 5*
#
# Five numbers. Guess all of them and write them down; then run the cell under **Look**, in which
# your own functions answer. If you were wrong, correct the number and be able to say why. Your
# points depend on the numbers that are here when you hand in.
#
# - **P1** Each entry of `softmax` of four scores of 1000.
# - **P2** The loss of a GPT-2 that has learned nothing: equal logits for V = 50,257 words.
# - **P3** All scores are doubled. Which temperature T has the same effect, `temperature(x, T) =
#   softmax(2x)`?
# - **P4** Every logit of a batch grows by 5. By how much does the cross-entropy grow?
# - **P5** Lecture N asks: to which vector does *fruit* move in the first sentence (a pair of
#   numbers)? Its similarities are 1 to itself and .25 to apple, divided by their sum.

# %% exercise="predictions"
predictions = {}
# TODO: write five lines such as predictions["P1"] = 0.5 (for P5 a pair such as [1.5, 2.5]).
### BEGIN SOLUTION
predictions["P1"] = 0.25
predictions["P2"] = 10.82
predictions["P3"] = 0.5
predictions["P4"] = 0.0
predictions["P5"] = [1.0, 7.8]
### END SOLUTION

# %%
check("predictions")

# %% [markdown]
# **Look.** Your guesses next to the results of your functions:

# %%
first = apples.fruit_sentence()
logits, target = torch.randn(6, 9, dtype=torch.float64), torch.arange(6)
some_T = [0.25, 0.5, 1.0, 2.0, 4.0]
answers = {
    "P1": lambda: softmax(torch.full((4,), 1000.0))[0],
    "P2": lambda: cross_entropy(torch.zeros(2, 50257), torch.tensor([7, 42])),
    "P3": lambda: min(some_T, key=lambda T: (temperature(scores, T) - softmax(2 * scores)).norm()),
    "P4": lambda: cross_entropy(logits + 5, target) - cross_entropy(logits, target),
    "P5": lambda: basic_self_attention(first.vectors, "sum", first.similarity)[2],
}
compare_predictions(predictions, answers)

# %% [markdown]
# ## 1.10 Errata hunt
# *8 points, 25 minutes, difficulty 2 of 5, importance 2 of 5*
#
# Here are four numbers to look at twice. Two are **slips**: the slide should print another number.
# The other two hold on the slide's own terms, but are easily misread. Code can show which is which.
#
# - **N1** (a slip) Lecture N, masked self-attention: the row for "a" holds the scores .1, .3, .6,
#   −∞, and the slide prints .26, **0.3**, .43, 0 as their softmax. *Slide*: the number for "am".
#   *Right*: the number that should be there.
# - **N2** (scores or weights?) Lecture N heads the table on the left below with "attention score",
#   and applies softmax only on the next slide. The numbers look like shares of one; one row shows
#   that they are not. *Slide*: the sum of that row. *Right*: the sum of any row of weights.
# - **N6** (which normalisation?) Lecture N gives fruit the weight **.2** when apple looks, because
#   it normalises the similarities along the sentence. *Slide*: that weight. *Right*: the weight of
#   fruit if apple's whole row (0, 0, .25, 0, 1) goes through softmax instead.
# - **S1** (a slip) Lecture S prints the toy attention weights on the right below, one row for each
#   output. *Slide*: the sum of the row for output 2. *Right*: the sum that makes the output a
#   weighted mean.

# %%
plots.words.number_tables(
    {
        "N2: attention score": apples.attention_scores(),
        "S1: attention weights": apples.toy_alignment(),
    },
    rows=(["I", "am", "a", "student"], ["1", "2", "3", "4"]),
    columns=(["I", "am", "a", "student"], ["1", "2", "3"]),
)

# %% exercise="errata"
from attnlab.data import apples

errata = {}
# TODO: write four lines such as errata["N1"] = (slide, right, "why, in four words or more").
# Let code compute the right numbers: the tables are apples.attention_scores(),
# apples.toy_alignment() and apples.fruit_sentence().similarity. (torch.softmax is fine here.)
### BEGIN SOLUTION
scores_of_a = apples.attention_scores()[2].clone()
scores_of_a[3] = -math.inf
row_of_apple = apples.fruit_sentence().similarity[4]
errata["N1"] = (0.3, torch.softmax(scores_of_a, -1)[1], "0.3156 was cut to 0.3")
errata["N2"] = (apples.attention_scores().sum(1).max(), 1.0, "these are scores before any softmax")
errata["N6"] = (0.2, torch.softmax(row_of_apple, -1)[2], "the slide divides by the sum instead")
errata["S1"] = (apples.toy_alignment()[1].sum(), 1.0, "its weights share only two thirds of one")
### END SOLUTION

# %%
check("errata")

# %% [markdown]
# ## What you can now explain
#
# - why subtracting a slice's maximum changes nothing on paper and everything in a computer;
# - why a loss takes logits, and what padding does to a mean;
# - which gradient a softmax passes back, and why it needs no V × V table;
# - how a word gets a meaning from its neighbours, and why attention alone cannot tell who bites
#   whom.
#
# Next week a network with a memory learns where to look. Until then, try your `cross_entropy` on
# float16 logits. How large a gap can it handle?

# %% [markdown] free_text="explain" points=4
# ## In your own words
# *4 points, marked by a TA*
#
# A friend writes `loss = -torch.log(softmax(logits)[range(N), target]).mean()`. It works all
# morning; then, from one step to the next, everything is `nan`. Once, in another run, he saw an
# `inf` just before. Explain in four to six sentences: what happened, and why did it take a while?
# Why can the gradient be `nan` while the loss is still a number? What should the line be?
#
# <!-- BEGIN SOLUTION -->
# Training moves the logits of a row further and further apart, until a right word's probability p
# is tiny; that takes a while. The gradient of −log p is −1/p. In float32, from a gap of about 88.8
# on, p is so small that 1/p overflows to ∞. Softmax's backward step multiplies it by p and
# subtracts a sum that is ∞, too: ∞ − ∞ is nan. The loss, say 90, is still a number, so nothing
# shows until one step of the optimiser has put nan into the parameters; then every result is nan.
# From a gap of about 104 on, p itself is rounded to 0, and the loss is inf; a run shows this inf
# only if its gap jumps past 104 in one step. (Both orders are right answers.) The line should not
# compute the probabilities: `loss = -log_softmax(logits)[range(N), target].mean()`.
# <!-- BEGIN MARK SCHEME -->
# - 1: the logits move apart during training, so it takes a while until a probability is tiny
# - 1: the gradient has 1/p, which overflows while −log p is still a number
# - 1: inf appears in the softmax's backward step or in log(0), and nan follows in all parameters
# - 1: the line uses `log_softmax`, or a loss that takes logits
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
