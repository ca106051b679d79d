"""Lab 5, masks: the source of its notebook (`lab build` makes the notebooks from it).

It runs as it is: `python solutions/lab05_masks.py`. An exercise's cell holds one import line if
the answer is a function of the library; its task is that function's docstring.
"""

# %% [markdown]
# # Lab 5: {{title}}
#
# A mask says **which word may look at which**. It takes a few lines of code and no model trains
# without it, but when it is wrong, nothing crashes: the loss just becomes impossibly good. At the
# end you will have every mask of a Transformer, a softmax that works with all of them, probes that
# find a leak in any model, and a number that proves that a loss is too good to be true.
#
# | | |
# |---|---|
# | due | {{due}} |
# | points | {{points}}, in {{steps}} steps and one question |
# | time | about six hours; training takes seconds |
# | you need | `softmax`, `cross_entropy` (1.1, 1.3), attention (3.3); torch: comparing, indexing |

# %%
import torch

from attnlab import check, plots, submit
from attnlab.data.markov import course_source
from attnlab.models import leaky
from attnlab.models.markov_gpt import LENGTH, MarkovGPT, print_losses, train_gpt
from attnlab.notebook.review import compare_predictions, try_versions
from attnlab.notebook.saved import trained

plots.masks.lab05_preview()

# %% [markdown]
# Each step has the same parts: *why* → *predict* → *write* → *check* → *look*. `check` shows the
# visible checks, about half of the points. The others run after you hand in, on other numbers; the
# docstring in the cell states everything they check. `check` runs on your own functions. When the
# lab is graded, a right version replaces each earlier step, so a wrong step costs nothing in the
# next one; 5.8 names the one exception. `check()` without a name shows where you stand.
#
# **One convention for the whole lab:** a mask is boolean, **True = may attend**, rows are queries,
# columns are keys, and its shape broadcasts to that of the scores, (B, heads, Lq, Lk). torch's
# `scaled_dot_product_attention` reads a mask in this way. Other code inverts it; 5.8 is about those
# conventions.
#
# **What comes from earlier labs** (you need not have done them): each word asks with a *query* and
# is found by its *key*; the score of query i at key j says how well the two fit. Softmax turns each
# row of scores into weights, and the weights average the *values* of the words. `softmax` and
# `cross_entropy` of lab 1 are imported where a step needs them.
#
# The letters **W**, **S**, **N** and **C** stand for lectures, which [LECTURES.md](LECTURES.md)
# lists. Every slide that a step needs is quoted there.

# %% [markdown]
# ## 5.1 No query looks ahead
# *10 points, 35 minutes, difficulty 2 of 5, importance 5 of 5*
#
# A decoder writes one word after another. Position i reads word i and predicts word i + 1, so it
# can use the words 0 … i: **its own word is known, the next one is not**. In training we have the
# whole sentence and train on all its words at once, so each position must not see the words that
# follow it. Lecture W replaces the future words by [Mask] and feeds "the masked sequence into the
# attention layer". That asks one question, so a sentence of T words would have to be fed in T
# times. In a Transformer the table of scores is masked: **row i hides its own future**, and one
# triangle asks all T questions in one pass. Nothing is removed from the input.
#
# In generation, earlier keys are kept in a *cache*, and only a few queries are new. The last query
# is then at the position of the last key:
#
# $$\text{query } i \text{ may attend to key } j \iff j \le i + (L_k - L_q)$$
#
# **Predict.** Five keys, two new queries. Which keys may the first of them see?
#
# <details><summary>Hint 1: a question</summary>
#
# With $L_q = L_k$, what shape do the True entries have? Which way does that shape move when there
# are two more keys than queries?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Start from a boolean (Lq, Lk) tensor of ones on the given device; keep the entries on or below one
# diagonal. Or write the positions of the queries as a column, the positions of the keys as a row,
# and compare the two.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `x.tril(d)` keeps column j of row i where j ≤ i + d. `torch.arange(a, b, device=device)[:, None]`
# is a column of positions.
# </details>

# %% exercise="causal_mask"
from attnlab.masks import causal_mask

# %%
check("causal_mask")

# %% [markdown]
# **Look.** Dark means allowed. The pictures show a sentence of five words, and its last two words
# with a cache of the first three. The second picture should equal the last two rows of the first.

# %%
words = ["I", "am", "a", "good", "student"]
plots.masks.causal_masks(causal_mask, words)

# %% [markdown]
# ## 5.2 No query looks at padding
# *8 points, 20 minutes, difficulty 1 of 5, importance 4 of 5*
#
# The sentences of a batch are padded to one length. No query may attend to padding, because
# otherwise a sentence would mean something else next to a longer one. This mask differs from the
# causal one in two ways. It depends on the *data*, so each sentence has its own. And it hides
# *keys* from all queries, so it is the same for every query and every head. Its shape says so:
# (B, 1, 1, Lk).
#
# Padding is still among the queries. That is harmless: its output is unused, since the loss ignores
# it (lab 1) and no query attends to it.
#
# **Predict.** Suppose you also hid every key from padded queries, with −∞. What would softmax make
# of their rows?
#
# <details><summary>Hint 1: a question</summary>
#
# Which entries of `ids` are real tokens, in one comparison?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Compare with the argument `pad`, not with a fixed number; insert two axes of length 1 between
# batch and keys.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# Indexing with `None` inserts an axis of length 1: `x[:, None]` is (B, 1, Lk).
# </details>

# %% exercise="padding_mask"
from attnlab.masks import padding_mask

# %%
check("padding_mask")

# %% [markdown]
# **Look.** Three sentences, one row each, padded with 9. Is there a 1 for every word, and a 0 for
# every padding token?

# %%
batch = torch.tensor([[4, 2, 7, 5], [3, 8, 9, 9], [1, 6, 2, 9]])
plots.words.tensor_cells(lambda: batch, "ids")
plots.words.tensor_cells(
    lambda: padding_mask(batch, 9)[:, 0, 0].long(), "padding_mask(ids, 9)[:, 0, 0]"
)

# %% [markdown]
# ## 5.3 Both at once
# *8 points, 20 minutes, difficulty 1 of 5, importance 4 of 5*
#
# A decoder must not look ahead *and* must not look at padding. Masks are combined by a logical
# *and*: a key is allowed if every mask allows it. Broadcasting does the rest: (Lq, Lk) and
# (B, 1, 1, Lk) give (B, 1, Lq, Lk).
#
# With booleans this cannot go wrong. With numbers it can: the sum of two masks of 0 and −65504, the
# lowest float16, contains −∞.
#
# **Predict.** Your padding mask has shape (B, Lk) by mistake, and B happens to be Lq. What does
# `mask & causal` do, and would there be an error?
#
# <details><summary>Hint 1: a question</summary>
#
# For two masks it is `a & b`. What should happen for three masks, for one, for none, and for None?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Leave out every None. If nothing is left, the answer is None. Otherwise go through the masks and
# keep the *and* of those so far, in a new tensor.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `result = mask if result is None else result & mask` in a loop. (`&=` would write into the first
# mask, which belongs to the caller.)
# </details>

# %% exercise="combine"
from attnlab.masks import combine

# %%
check("combine")

# %% [markdown]
# **Look.** The five masks that a Transformer needs, all made by your three functions. In the last
# one, the queries come from a decoder and the keys from an encoder: why does it have no triangle?
# (Your prediction: the shapes fit, so query i of every sentence gets the padding of sentence i, and
# there is no error.)

# %%
plots.masks.five_masks(causal_mask, padding_mask, combine)

# %% [markdown]
# ## 5.4 Why −∞, and why before softmax
# *10 points, 35 minutes, difficulty 2 of 5, importance 4 of 5*
#
# Lecture N adds a table of 0 and −∞ to the scores, lecture C says "before softmax (-inf)", and
# neither explains why. Try the alternatives. If you set scores to **0**, the future keeps its
# share, because $e^0 = 1$ and 0 is a score like any other. If you set weights to 0 **after
# softmax**, the future is gone, but it was in the denominator. So the row no longer sums to 1, and
# the missing part reveals something about the future. Only $e^{-\infty} = 0$, before the sum, has
# the same effect as if the key were not there:
#
# $$w = \operatorname{softmax}(\text{scores} + M), \qquad
# M_{ij} = \begin{cases} 0 & \text{may attend} \\ -\infty & \text{must not} \end{cases}$$
#
# In half precision we add the lowest finite number instead, as many published models do. It hides
# a key just as well. A row with only forbidden keys then stays finite, but **only while its scores
# are above −16**: float16 has a spacing of 32 near its lowest number, −65504, so −65504 − 16 is −∞
# and the row is NaN after all. (The authors of huggingface/transformers met this in their models:
# pull request 17306.) bfloat16 is coarser and has no such limit in practice. In float32 and float64
# we keep −∞, and such a row always becomes NaN, which is easy to notice (5.5).
#
# **Predict.** Much code adds −1e9 instead. What is −1e9 in float16? And what does softmax make of
# four forbidden keys in float16 if all their scores are 100?
#
# <details><summary>Hint 1: a question</summary>
#
# What is 0 · ∞? So can you compute M by multiplying the mask by something?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Choose the low number by the dtype. Start from zeros of the right shape, dtype and device; put the
# low number where the mask is False.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `torch.finfo(dtype).min` is the lowest finite number; `masked_fill(where, value)` writes a value
# where `where` is True; `~mask` swaps True and False.
# </details>

# %% exercise="to_additive"
from attnlab.masks import to_additive

# %%
check("to_additive")

# %% [markdown]
# **Look.** Lecture N's own table, "I am a student", from scores to weights. Compare the last table
# with the slide, which prints .37 and .62 for "am", and .26, .3, .43 for "a".

# %%
plots.masks.lecture_table(causal_mask, to_additive)
print("-1e9 in float16 is", torch.tensor(-1e9).to(torch.float16).item())

# %% [markdown]
# Now a row of four forbidden keys, all with the same score: the weight of each of them after your
# mask is added. Grey is NaN. No weight in this picture is right, because a row without an allowed
# key should get zeros. Which dtype hides the mistake best? Step 5.5 removes it.

# %%
plots.masks.forbidden_rows(to_additive)

# %% [markdown]
# ## 5.5 A row without an allowed key
# *12 points, 40 minutes, difficulty 4 of 5, importance 5 of 5*
#
# Generation pads in *front*, so that all sentences can end at the same position. Then the first
# query is padding, and so are the first keys: the causal and the padding mask together leave this
# query no key at all. All scores in its row are −∞, and softmax computes $-\infty - (-\infty)$ =
# **NaN**. In the next layer this row is a key of other queries, with weight 0. But 0 · NaN is NaN,
# so one row of padding has spoiled the batch.
#
# Our rule: a query without an allowed key gets **zeros**, and a gradient of 0. To replace the NaN
# in the weights afterwards may be too late for the gradient: if −∞ was *added* to the scores, the
# backward step still goes through the NaN. So look at the gradients, too. Filling with a large
# negative number is not enough either: the book *Dive into Deep Learning* fills with −1e6, which
# leaves no NaN but other weights than zero. (`torch.softmax` is allowed. `torch._safe_softmax`,
# which follows this rule, and `scaled_dot_product_attention` are not.)
#
# **Predict.** With −1e6 instead of −∞, such a row has no NaN. What are its weights?
#
# <details><summary>Hint 1: a question</summary>
#
# NaN comes only from rows that hold nothing but −∞. How do you find these rows, and may they hold
# something else while softmax runs?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Before softmax, replace forbidden scores by −∞, so that no NaN and no gradient can come from them.
# Replace the rows without an allowed key by any finite number, so that their softmax is not NaN.
# Take the softmax. Afterwards fill the forbidden weights with exactly 0.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `mask.any(-1, keepdim=True)` says for each row whether it has an allowed key, and `masked_fill`
# broadcasts. Is −1e9 lower than an allowed score of −1e12? What is lower than every finite number?
# </details>

# %% exercise="safe_softmax"
from attnlab.masks import safe_softmax

# %%
check("safe_softmax")

# %% [markdown]
# **Look.** Two words with two padding tokens in front. Grey is NaN: the first two queries see no
# key. One of these pictures follows our rule.

# %%
plots.masks.rows_without_keys(causal_mask, padding_mask, combine, safe_softmax)

# %% [markdown]
# ## 5.6 Ask the model, not the code
# *12 points, 45 minutes, difficulty 4 of 5, importance 5 of 5*
#
# You can read the code of a mask and believe it. It is better to ask the model. **Write another
# token at position j; every output before j must stay unchanged.** If one of them changes, the
# model looks ahead, whatever its code says. Padding is tested in the same way: put some around a
# sentence, and the outputs of the sentence must not change.
#
# The details need care. A model may look ahead for one token in particular, or its outputs may
# change by only a few millionths. Dropout also changes outputs, so two runs must draw the same
# random numbers. And batch normalisation mixes positions (and sequences) without any attention.
#
# **Predict.** A model with the causal mask of 5.1 has batch normalisation instead of layer
# normalisation. Which outputs change when the last token changes?
#
# <details><summary>Hint 1: a question</summary>
#
# If the token at position j changes, a change in which rows of the output is a leak, and which rows
# are allowed to change?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Run the model with many random sequences, because a leak may need certain words at other
# positions. For every position and every other token, copy the ids, make that one change, run again
# from the same seed, and take the largest difference at each earlier position. For padding, compare
# the outputs of the real tokens alone, with padding in front of them, and with padding behind them.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `(new - old).abs().amax((0, 2))` is one number for each position; compare it with `ROUNDING`.
# `(ids[:, j] + step) % vocab` is another token for step = 1 … vocab-1. `torch.cat([pads, ids], 1)`
# pads in front.
# </details>

# %% exercise="leaks"
from attnlab.causality import leaks, pad_invariant

# %%
check("leaks")

# %% [markdown]
# **Look.** Six people wrote the six models A to F, and each says that their model never looks
# ahead. A cross is a leak: output i changed when the *later* token j changed. A pale cell is not a
# leak: the output depends on an *earlier* token. (For that half, your probe runs again with every
# sequence reversed.) An empty cell means no dependence. Point at a cell to read what it says.

# %%
suspects = leaky.models()
plots.leaks.leak_matrices(leaks, suspects, 8, leaky.VOCAB, leaky.PAD)

# %% [markdown]
# D and E leak everywhere, but below the diagonal they differ: which of the two has lost its past?
# **To see too little is a mistake, too**, and `leaks` alone says nothing about it. An example from
# real code: in karpathy/nanochat (pull request 805), one of two attention paths always set
# `is_causal=True`. A model that asked to look both ways silently looked back only. That is the
# opposite of a leak: no output sees too much, so no loss looks too good.

# %% [markdown]
# ## 5.7 What is wrong with them?
# *4 points, 25 minutes, difficulty 3 of 5, importance 3 of 5*
#
# A probe shows *that* something leaks; the pattern shows *what*. The list says what can be wrong
# with a model, in the words that the check accepts. Each of them is true of one of the six:
#
# - `"nothing"`: it keeps its promise and looks neither ahead nor at padding;
# - `"one token ahead"`: its triangle starts one diagonal too high;
# - `"mask inverted"`: it hides the keys that it should show, and shows those that it should hide;
# - `"wrong corner"`: its triangle starts at the top left if there are fewer keys than queries;
# - `"batch statistics"`: something takes a mean over all positions, without any attention;
# - `"padding"`: it never looks ahead, but padding changes its outputs.
#
# Your picture and the lines below are the evidence. If you suspect something, read the code of that
# one model (`attnlab/models/leaky.py`), or test it further: with other lengths T, or after
# `eval()`.

# %%
leaky.print_evidence(leaks, pad_invariant, leaky.models(), 8)

# %% exercise="findings"
findings = {}
# TODO: write six lines such as findings["A"] = "nothing".
### BEGIN SOLUTION
findings["A"] = "one token ahead"
findings["B"] = "padding"
findings["C"] = "nothing"
findings["D"] = "batch statistics"
findings["E"] = "mask inverted"
findings["F"] = "wrong corner"
### END SOLUTION

# %%
check("findings")

# %% [markdown]
# ## 5.8 Other conventions
# *6 points, 25 minutes, difficulty 3 of 5, importance 4 of 5*
#
# There are four conventions for the same mask. Mixing them up raises no error: an inverted causal
# mask shows exactly the future, and hides the past and the word itself.
#
# | used by | what it says | shape |
# |---|---|---|
# | torch `scaled_dot_product_attention`, ours | True = may attend | fits (B, heads, Lq, Lk) |
# | torch `nn.MultiheadAttention`: `attn_mask` | True = must **not** | (Lq, Lk), (B·heads, Lq, Lk) |
# | the same, `key_padding_mask` | True = is padding | (B, Lk) |
# | lecture N, many published models | numbers to add: 0, or very low | as the scores |
#
# (The last check of this step runs on your own masks and your own softmax, all together.)
#
# **Predict.** You pass our `causal_mask(5)` to `nn.MultiheadAttention` unchanged. What does the
# last query see?
#
# <details><summary>Hint 1: a question</summary>
#
# Which of the three functions must do more than swap True and False?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# `to_mha_mask`: a mask with a head axis of length 1 or `num_heads` becomes one table for each
# sentence and head, sentence by sentence. `to_key_padding_mask`: drop two axes. `from_additive`:
# which entries are allowed, whatever the low number was?
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `x.expand(-1, num_heads, -1, -1)` repeats an axis of length 1; `flatten(0, 1)` merges the first
# two axes.
# </details>

# %% exercise="conventions"
from attnlab.masks import to_mha_mask, to_key_padding_mask, from_additive  # noqa: F401, I001

# %%
check("conventions")

# %% [markdown]
# **Look.** The attention of `nn.MultiheadAttention`, with your converted mask and with our mask
# unchanged. Grey is NaN: the last query of the second picture sees no key at all.

# %%
words = ["I", "am", "a", "good", "student"]
plots.masks.converted_mask(causal_mask, to_mha_mask, words)

# %% [markdown]
# ## 5.9 Too good to be true
# *12 points, 50 minutes, difficulty 3 of 5, importance 5 of 5*
#
# Is there a test for leaks that needs only the loss? If you know the **entropy** of the predicted
# symbols, there is. Our source writes eight symbols. Each is drawn from an urn that depends on the
# last two, so every probability is known. Even a perfect predictor has an average surprise equal to
# the entropy rate
#
# $$H = -\sum_{a,b} \pi(a, b) \sum_c p(c \mid a, b) \log p(c \mid a, b) = 1.373 \text{ nats}$$
#
# where π is the frequency of the pair a, b. No model of the past reaches a lower loss, however
# large it is and however long it trains. A lower loss has one explanation: the model has seen the
# answer.
#
# **Predict.** What loss does a model reach that sees one symbol too many?
#
# <details><summary>Hint 1: a question</summary>
#
# Which token do the scores at position t predict? For which positions of a sequence is the answer
# known?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Loss: drop the last position of the scores and the first of the tokens, flatten both, and use lab
# 1's `cross_entropy`. Evaluate: remember the mode, switch, compute without gradients, switch back.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `x.flatten(0, 1)` merges the first two axes. `model.training` is the mode, `model.train(mode)`
# sets it, `torch.no_grad()` is for a `with` block. Is NaN larger or smaller than any number?
# </details>

# %% exercise="entropy_floor"
from attnlab.evaluation import next_token_loss, evaluate, is_possible  # noqa: I001 - this order

# %%
check("entropy_floor")

# %% [markdown]
# **Look.** Now train the same small GPT three times, with three views. (Each takes a second or two;
# the weights are saved next to the notebook and are part of your hand-in. An existing file is
# loaded even if your code has changed since. So if you change `next_token_loss` or `causal_mask`
# later, delete the three files, or pass `again=True` to `trained` once, and run this cell again.)
# The second view is a bug that people really write: read its line. What does it let through?

# %%
source = course_source()
sequences = source.sequences("train", 4096, LENGTH)
views = {
    "past": lambda: causal_mask(LENGTH),
    "ahead": lambda: causal_mask(LENGTH, LENGTH + 1)[:, :LENGTH],
    "all": lambda: torch.ones(LENGTH, LENGTH, dtype=torch.bool),
}
gpts, curves = {}, {}
for name, view in views.items():
    gpts[name], curves[name] = trained(
        f"markov_{name}.safetensors",
        MarkovGPT,
        lambda model, view=view: train_gpt(model, sequences, view(), next_token_loss),
    )
plots.masks.loss_curves(curves, source.entropies, causal_mask, next_token_loss)

# %% [markdown]
# The loss of the honest model stays at two levels for a while before it comes close to the floor,
# the entropy rate. First the model learns how often each symbol occurs, then to use the last
# symbol, then to use the last two. (No model quite reaches the floor, because the second symbol of
# a sequence has only one before it.) The losses of the other two fall below the floor.
#
# Which losses are possible on sequences that no model has seen? And what has a leaking model
# learned if the future is hidden from it, as it will be when it must write?

# %%
print_losses(gpts, views, source, evaluate, is_possible)

# %% [markdown]
# ## 5.10 Test somebody else's mask
# *6 points, 25 minutes, difficulty 2 of 5, importance 4 of 5*
#
# Now switch roles. Write a test that takes an implementation of `causal_mask`, lets a right one
# pass silently, and raises `AssertionError` for a wrong one. It is tried on about fifteen wrong
# versions of 5.1 and a few right ones. Your points are the share of wrong versions that it rejects,
# times the share of right ones that it accepts.
#
# **Predict.** Which wrong version passes a test that looks at square masks only?
#
# <details><summary>Hint 1: a question</summary>
#
# Read the docstring of 5.1 as a list of promises. Which call shows that a promise is broken?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Make the right mask with two loops for a few pairs of lengths (equally many, more and fewer keys;
# some of them long). Compare shape, dtype and every entry. Also test a call without Lk, and another
# device.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `torch.equal(a, b)` compares shapes and entries (check the dtype separately). The device `"meta"`
# exists on every machine: `impl(3, device="meta").device.type`.
# </details>


# %% exercise="test_causal_mask"
def test_causal_mask(impl):
    """Let a right version of causal_mask pass, and raise AssertionError for a wrong one.

    Args:
        impl: called as ``impl(Lq)``, ``impl(Lq, Lk)`` or with ``device=…`` as well, by position or
            by name; it should keep every promise of 5.1. One promise needs no test: that there may
            be no keys at all.
    """
    ### BEGIN SOLUTION
    for Lq, Lk in ((1, 1), (4, 4), (9, 9), (2, 5), (1, 7), (3, 11), (5, 2)):
        right = torch.tensor([[j <= i + Lk - Lq for j in range(Lk)] for i in range(Lq)])
        mask = impl(Lq, Lk)
        assert mask.dtype == torch.bool, "a mask is boolean"
        assert torch.equal(mask, right), f"wrong for {Lq} queries and {Lk} keys"
    assert torch.equal(impl(6), impl(6, 6)), "as many keys as queries if Lk is not given"
    assert impl(3, 5, device="meta").device.type == "meta", "on another device"
    ### END SOLUTION


# %%
check("test_causal_mask")

# %% [markdown]
# **Look.** Your own mask should pass. Two wrong masks that people really write should not: what
# does your test say about them?


# %%
def top_left(Lq, Lk=None, device=None):
    return torch.ones_like(causal_mask(Lq, Lk, device)).tril()


def strictly_before(Lq, Lk=None, device=None):
    mask = causal_mask(Lq, Lk, device)
    return mask.tril(mask.shape[1] - Lq - 1)


try_versions(test_causal_mask, causal_mask, top_left, strictly_before)

# %% [markdown]
# ## 5.11 Errata hunt
# *4 points, 20 minutes, difficulty 3 of 5, importance 2 of 5*
#
# Two slides about what a decoder may see. Take each of them literally and count. **One of them is
# right as it stands**: for that one, both of your numbers are the same.
#
# - **W4** Lecture W hides the future like this: the sentence becomes "University of Waterloo [Mask]
#   [Mask] [Mask]", and "the masked sequence" goes into the attention layer. That makes six keys.
#   Let all scores be equal. *Slide*: the share of a query's weight that goes to the three [Mask]
#   keys, all together. *Right*: the share that must go to the future.
# - **S2** Lecture S computes output word j of a decoder from the output words $j' < j$, and the
#   causal mask of 5.1 is True *on* the diagonal. Number the output words 1 to 5, and do not count
#   the start token. *Slide*: the number of pairs (j, j′), in all five rows, in which word j is
#   computed from word j′. *Right*: the number of such pairs in a decoder without a leak.

# %% exercise="errata"
errata = {}
# TODO: write two lines such as errata["W4"] = (slide, right, "why, in four words or more").
# Let code count: torch.softmax (fine here), your causal_mask.
### BEGIN SOLUTION
equal = torch.zeros(6)
future = torch.arange(6) >= 3
literally = torch.softmax(equal, -1)[future].sum()
masked = torch.softmax(equal.masked_fill(future, -torch.inf), -1)[future].sum()
earlier = torch.ones(5, 5).tril(-1).sum()
errata["W4"] = (literally, masked, "a [Mask] token is still a key")
errata["S2"] = (earlier, earlier, "word j is predicted, so it is not known")
### END SOLUTION

# %%
check("errata")

# %% [markdown]
# ## 5.12 Predict, then run
# *4 points, 15 minutes, difficulty 2 of 5, importance 3 of 5*
#
# Predict five numbers and write them down; then run the cell under **Look**. If a number was wrong,
# correct it and be able to say why. The numbers that you hand in count.
#
# - **P1** How many entries of the mask for three new queries are True if there are six keys in
#   all?
# - **P2** The row for "am" has the scores .1, .6, .2, .1. The two scores of the future are set to 0
#   instead of −∞. How much weight does the future get, both words together?
# - **P3** All four scores of a row are −1e9. What is each of its weights?
# - **P4** How low can the loss of 5.9 get for a model that sees one symbol ahead (in nats)?
# - **P5** Float16: the three scores of a row are 8, −8 and −24. All its keys are forbidden, and the
#   lowest float16 is added to each score. How many of the three sums are −∞?

# %% exercise="predictions"
predictions = {}
# TODO: write five lines such as predictions["P1"] = 7.
### BEGIN SOLUTION
predictions["P1"] = 15
predictions["P2"] = 0.406
predictions["P3"] = 0.25
predictions["P4"] = 0.0
predictions["P5"] = 1
### END SOLUTION

# %%
check("predictions")

# %% [markdown]
# **Look.** Your predictions next to the computed numbers. Your own functions compute these,
# so a number is right only if the steps that it needs pass their checks. P4 is the last loss of
# a model that the cell under **Look** in 5.9 trains: run that cell first.

# %%
scores_of_am = torch.tensor([0.1, 0.6, 0.2, 0.1])
half = torch.tensor([8.0, -8.0, -24.0], dtype=torch.float16)
answers = {
    "P1": lambda: causal_mask(3, 6).sum(),
    "P2": lambda: torch.softmax(scores_of_am * causal_mask(4)[1], -1)[2:].sum(),
    "P3": lambda: safe_softmax(torch.full((4,), -1e9), causal_mask(1, 4))[0, 0],
    "P4": lambda: curves["ahead"][-1] if len(curves.get("ahead", ())) else "nothing yet",
    "P5": lambda: (half + to_additive(half > 99, half.dtype)).isinf().sum(),
}
compare_predictions(predictions, answers)

# %% [markdown]
# ## What you can now explain
#
# - why a decoder can learn from all its words in one pass, and what is masked there (not the
#   input);
# - why we mask with −∞ and not with 0, and before softmax and not after it;
# - how a padding mask differs from a causal one, and what a row without an allowed key should
#   return;
# - how to find out what a model looks at, without reading its code;
# - why a loss below the entropy of its source is not a success.
#
# Next week words learn their positions. Until then, try a *sliding window*, in which query i sees
# only the last w keys, or a *prefix*, whose words all see each other. For both you need only
# `combine` and an *or* somewhere. What does `leaks` say about each?

# %% [markdown] free_text="explain" points=4
# ## In your own words
# *4 points, marked by a TA*
#
# A friend trains a translator. After one epoch the training loss is .02, the validation loss is .02
# as well, but the translations that it writes are useless. Explain in four to six sentences: what
# has most likely happened, why does the validation loss not show it, why are the translations so
# bad, and which two tests would prove it (one that changes a token, and one that looks at a loss)?
#
# <!-- BEGIN SOLUTION -->
# The decoder sees the word that it should predict: its mask is missing, inverted or off by one, or
# the target was not shifted. So it has learned to copy and not to translate. The validation loss is
# computed with the whole target sentence as input and with the same mask, so it leaks in the same
# way. Only when the model writes by itself is the next word really hidden, and then it has nothing
# to copy. First test: change the target's token at position j and look at the outputs before j; if
# one of them changes, the model looks ahead. Second test: use targets of random words, whose
# entropy is known to be log V. No honest model can have a loss below that on new targets, but this
# one will have a loss near 0.
# <!-- BEGIN MARK SCHEME -->
# - 1: the decoder sees the word that it should predict (mask missing, inverted or off by one; no
#   shift)
# - 1: the validation loss is computed with the true target and the same mask, so it leaks, too
# - 1: when the model writes, nothing is there to copy
# - 1: two tests: change a later token and look at earlier outputs; a loss below the entropy of
#   random targets
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
