"""Lab 5, masks: the source of its notebook (`lab build` makes the notebooks from it).

It runs as it is: `python solutions/lab05_masks.py`. An exercise's cell holds one import line if
the answer is a function of the library; its task is that function's docstring.
"""

# %% [markdown]
# # Lab 5: {{title}}
#
# A mask says **who may look at whom**. It takes a few lines of code and no model trains without it,
# but when it is wrong, nothing crashes: the loss just becomes impossibly good. At the end you will
# have every mask of a Transformer, a softmax that works with all of them, probes that find a leak
# in any model, and a number that proves that a loss is too good to be true.
#
# | | |
# |---|---|
# | due | {{due}} |
# | points | {{points}}, in twelve steps and one question |
# | time | about six hours; training takes seconds |
# | you need | torch: comparing, indexing, broadcasting; what a softmax is |

# %%
import torch
from torch import nn

from attnlab import check, plots
from attnlab.data.markov import course_source
from attnlab.models import leaky
from attnlab.models.markov_gpt import LENGTH, MarkovGPT, train_gpt
from attnlab.notebook.review import compare_predictions, try_versions
from attnlab.notebook.saved import trained

plots.masks.lab05_preview()

# %% [markdown]
# Each step has the same parts: *why* → *predict* → *write* → *check* → *look*. `check` shows the
# visible checks, about half of the points. The others run after you hand in, on other numbers; the
# docstring in the cell states everything they check. A wrong step costs no points in the next one.
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
# Letters name the lectures: **W** Waterloo CS480/680, **S** SFU CMPT 728, **N** NUS business
# analytics, **C** CMU 11868.

# %% [markdown]
# ## 5.1 No query looks ahead
# *10 points, 35 minutes*
#
# A decoder writes one word after another, so place i can use only words 0 … i. In training we have
# the whole sentence and train on all its words at once, so each place must not see the words that
# follow it. Lecture W crosses words out and feeds in "the masked sequence". That hides the answer
# to one question, so a sentence of T words would have to be fed in T times. In fact the table of
# scores is masked: **row i hides its own future**, and one triangle asks all T questions in one
# pass. Nothing is removed from the input.
#
# In generation, earlier keys are kept in a *cache*, and only a few queries are new. The last query
# is then at the place of the last key:
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
# diagonal. Or write the places of the queries as a column, the places of the keys as a row, and
# compare the two.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `x.tril(d)` keeps column j of row i where j ≤ i + d. `torch.arange(a, b, device=device)[:, None]`
# is a column of places.
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
# *8 points, 20 minutes*
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
# *8 points, 20 minutes*
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
# *10 points, 35 minutes*
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
# In half precision we add the lowest finite number instead, as many published models do: it hides a
# key just as well, and a row with only forbidden keys stays finite. In float32 and float64 we keep
# −∞, and such a row becomes NaN, which is easy to notice (5.5).
#
# **Predict.** A famous piece of code adds −1e9 instead. What is −1e9 in float16?
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
# ## 5.5 A row without an allowed key
# *12 points, 40 minutes*
#
# Generation pads in *front*, so that all sentences can end at the same place. Then the first query
# is padding, and so are the first keys: the causal and the padding mask together leave this query
# no key at all. All scores in its row are −∞, and softmax computes $-\infty - (-\infty)$ = **NaN**.
# In the next layer this row is a key of other queries, with weight 0. But 0 · NaN is NaN, so one
# row of padding has spoiled the batch.
#
# Our rule: a query without an allowed key gets **zeros**, and a gradient of 0. Repairing the NaN
# afterwards is not enough, because the backward step still goes through it. (torch has a function
# for this; do not use it, nor `scaled_dot_product_attention`.)
#
# **Predict.** With −1e9 instead of −∞, such a row has no NaN. What are its weights?
#
# <details><summary>Hint 1: a question</summary>
#
# NaN comes from infinities. Which finite number has the same effect as −∞ on a row that has allowed
# keys? What is then still wrong with a row that has none?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Fill before softmax, so that no gradient and no NaN can come from a forbidden score. Take the
# softmax. Fill again after it, so that forbidden weights will be exactly 0 in every row. One of the
# two fillings alone is not enough.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `masked_fill` takes any number. Which number is as low as any score that a dtype can hold? Is −1e9
# lower than an allowed score of −1e12?
# </details>

# %% exercise="safe_softmax"
from attnlab.masks import safe_softmax

# %%
check("safe_softmax")

# %% [markdown]
# **Look.** Two words with two padding tokens in front. Grey is NaN: the first two queries see no
# key. One of these pictures follows our rule.

# %%
padded = ["pad", "pad", "I", "am"]
scores = torch.randn(4, 4, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def visible():
    ids = torch.tensor([[0, 0, 5, 6]])
    return combine(causal_mask(4), padding_mask(ids, 0))[0, 0]


plots.heatmap.attention_maps(
    {
        "−∞": lambda: torch.softmax(scores.masked_fill(~visible(), -torch.inf), -1),
        "−1e9": lambda: torch.softmax(scores.masked_fill(~visible(), -1e9), -1),
        "safe_softmax": lambda: safe_softmax(scores, visible()),
    },
    padded,
    padded,
)

# %% [markdown]
# ## 5.6 Ask the model, not the code
# *12 points, 45 minutes*
#
# You can read the code of a mask and believe it. It is better to ask the model. **Write another
# token at place j; every output before j must stay unchanged.** If one of them changes, the model
# looks ahead, whatever its code says. Padding is tested in the same way: put some around a
# sentence, and the outputs of the sentence must not change.
#
# The details need care. A model may look ahead for one token in particular, or its outputs may
# change by only a few millionths. Dropout also changes outputs, so two runs must draw the same
# random numbers. And batch normalisation mixes places (and sequences) without any attention.
#
# **Predict.** A model with the causal mask of 5.1 has batch normalisation instead of layer
# normalisation. Which outputs change when the last token changes?
#
# <details><summary>Hint 1: a question</summary>
#
# If the token at place j changes, a change in which rows of the output is a leak, and which rows
# are allowed to change?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Run the model with some ids. For every place and every other token, copy the ids, make that one
# change, run again from the same seed, and take the largest difference at each earlier place. For
# padding, compare the outputs of the real tokens alone, with padding in front of them, and with
# padding behind them.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `(new - old).abs().amax((0, 2))` is one number for each place; compare it with `ROUNDING`.
# `(ids[:, j] + step) % vocab` is another token for step = 1 … vocab-1. `torch.cat([pads, ids], 1)`
# pads in front.
# </details>

# %% exercise="leaks"
from attnlab.causality import leaks, pad_invariant

# %%
check("leaks")

# %% [markdown]
# **Look.** Six people wrote the six models A to F, and each says that their model never looks
# ahead. Grey means allowed; a cross means that an output changed when a *later* token changed.

# %%
suspects = leaky.models()
plots.masks.leak_matrices(leaks, suspects, 8, leaky.VOCAB)

# %% [markdown]
# ## 5.7 What is wrong with them?
# *4 points, 25 minutes*
#
# A probe shows *that* something leaks; the pattern shows *what*. The list says what can be wrong
# with a model, in the words that the check accepts. Each of them is true of one of the six:
#
# - `"nothing"`: it keeps its promise and looks neither ahead nor at padding;
# - `"one token ahead"`: its triangle starts one diagonal too high;
# - `"mask inverted"`: it hides the keys that it should show, and shows those that it should hide;
# - `"wrong corner"`: its triangle starts at the top left if there are fewer keys than queries;
# - `"batch statistics"`: something takes a mean over all places, without any attention;
# - `"padding"`: it never looks ahead, but padding changes its outputs.
#
# Your picture and the lines below are the evidence. If you suspect something, read the code of that
# one model (`attnlab/models/leaky.py`), or test it further: with other lengths T, or after
# `eval()`.

# %%
for name, model in suspects.items():
    try:
        found = leaks(model, 8, leaky.VOCAB)
        kept = pad_invariant(model, 6, leaky.VOCAB, leaky.PAD)
        ahead = max((j - i for i, j in found), default=0)
        pad = "changes nothing" if kept else "changes its outputs"
        print(f"{name}: looks ahead by {ahead} at most; padding {pad}")
    except NotImplementedError:
        print(f"{name}: your probes are not written yet")

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
# *6 points, 25 minutes*
#
# There are four conventions for the same mask. Mixing them up raises no error: an inverted causal
# mask shows exactly the future, and hides the past and the word itself.
#
# | who | what it says | shape |
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
# **Look.** The attention of torch's own module, with your converted mask and with our mask
# unchanged. (Grey is NaN.)

# %%
torch.manual_seed(1)
module = nn.MultiheadAttention(8, 2, batch_first=True)
X = torch.randn(1, 5, 8)


def attended(mask):
    return module(X, X, X, attn_mask=mask)[1][0].detach()


plots.heatmap.attention_maps(
    {
        "converted": lambda: attended(to_mha_mask(causal_mask(5), 2)),
        "handed over as it is": lambda: attended(causal_mask(5)),
    },
    words,
    words,
)

# %% [markdown]
# ## 5.9 Too good to be true
# *12 points, 50 minutes*
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
# Which token do the scores at place t predict? For which places of a sequence is the answer known?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Loss: drop the last place of the scores and the first of the tokens, flatten both, and use lab 1's
# `cross_entropy`. Evaluate: remember the mode, switch, compute without gradients, switch back.
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
plots.masks.loss_curves(curves, source.entropies)

# %% [markdown]
# The loss of the honest model stays at two levels for a while before it comes close to the floor,
# the entropy rate. First the model learns how often each symbol occurs, then to use the last
# symbol, then to use the last two. (No model quite reaches the floor, because the second symbol of
# a sequence has only one before it.) The losses of the other two fall below the floor.
#
# Which losses are possible on sequences that no model has seen? And what has a leaking model
# learned if the future is hidden from it, as it will be when it must write?

# %%
fresh = source.sequences("validation", 1024, LENGTH)
for name, gpt in gpts.items():
    if gpt is None:
        continue
    try:
        own = evaluate(gpt, fresh, views[name]())
        honest = evaluate(gpt, fresh, views["past"]())
        word = "possible" if is_possible(own, source.entropy_rate, 0.05) else "impossible"
        print(f"{name:5}  as trained {own:6.3f} ({word});  with the future hidden {honest:6.3f}")
    except NotImplementedError:
        print(f"{name:5}  one of your functions is not written yet")
print(f"guessing blindly: {source.entropies[0]:.3f};  the floor: {source.entropy_rate:.3f}")

# %% [markdown]
# ## 5.10 Test somebody else's mask
# *6 points, 25 minutes*
#
# Now switch roles. Write a test that takes an implementation of `causal_mask`, lets a right one
# pass silently, and raises `AssertionError` for a wrong one. It is tried on about a dozen wrong
# versions of 5.1 and a few right ones. Your points are the share of wrong versions that it rejects;
# a test that rejects a right version gets no points.
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
        impl: called as ``impl(Lq)``, ``impl(Lq, Lk)`` or with ``device=…`` as well; it should keep
            every promise of 5.1.
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
    return torch.ones(Lq, Lk or Lq, dtype=torch.bool, device=device).tril()


def strictly_before(Lq, Lk=None, device=None):
    return causal_mask(Lq, Lk, device).tril((Lk or Lq) - Lq - 1)


try_versions(test_causal_mask, causal_mask, top_left, strictly_before)

# %% [markdown]
# ## 5.11 Errata hunt
# *4 points, 20 minutes*
#
# Three places where the slides on masks are wrong:
#
# - **N1** Lecture N, masked self-attention: the row for "am" holds the scores .1, .6, −∞, −∞, and
#   the slide prints **.37**, .62, 0, 0. *Slide*: the number for "I". *Right*: the right number, to
#   three digits or more.
# - **N2** The table before masking is called "attention score", and most of its rows sum to 1, as
#   if they were weights. The row for "a" is .1, .3, **.6**, .1. *Slide*: the number for "a" itself.
#   *Right*: the weight that softmax gives it without a mask.
# - **S2** Lecture S sums a decoder's self-attention over the outputs $j' < j$ (and puts the
#   attention to the inputs into the same sum, although a Transformer has two layers for this). Take
#   five outputs, and count the pairs (j, j') in which output j attends to output j'. *Slide*: the
#   number of pairs according to the slide, in all five rows together. *Right*: the number in a
#   decoder.

# %% exercise="errata"
from attnlab.data import apples

errata = {}
# TODO: write three lines such as errata["N1"] = (slide, right, "why, in four words or more").
# Let code compute the right numbers: the table of N1 and N2 is apples.attention_scores().
# (torch.softmax is fine here.)
### BEGIN SOLUTION
table = apples.attention_scores()
row_of_am = table[1].clone()
row_of_am[2:] = -torch.inf
pairs = torch.ones(5, 5).tril()
errata["N1"] = (0.37, torch.softmax(row_of_am, -1)[0], "0.3775 was cut off, not rounded")
errata["N2"] = (table[2, 2], torch.softmax(table[2], -1)[2], "these are scores before softmax")
errata["S2"] = (pairs.tril(-1).sum(), pairs.sum(), "an output sees itself, too")
### END SOLUTION

# %%
check("errata")

# %% [markdown]
# ## 5.12 Predict, then run
# *4 points, 15 minutes*
#
# Predict four numbers and write them down; then run the cell under **Look**. If a number was wrong,
# correct it and be able to say why. The numbers that you hand in count.
#
# - **P1** How many entries of the mask for three new queries are True if there are five keys in
#   all?
# - **P2** The row for "am" has the scores .1, .6, .2, .1. The two scores of the future are set to 0
#   instead of −∞. How much weight does the future get, both words together?
# - **P3** All four scores of a row are −1e9. What is each of its weights?
# - **P4** How low can the loss of 5.9 get for a model that sees one symbol ahead (in nats)?

# %% exercise="predictions"
predictions = {}
# TODO: write four lines such as predictions["P1"] = 7.
### BEGIN SOLUTION
predictions["P1"] = 12
predictions["P2"] = 0.406
predictions["P3"] = 0.25
predictions["P4"] = 0.0
### END SOLUTION

# %%
check("predictions")

# %% [markdown]
# **Look.** Your predictions next to the computed numbers:

# %%
scores_of_am = torch.tensor([0.1, 0.6, 0.2, 0.1])
answers = {
    "P1": lambda: causal_mask(3, 5).sum(),
    "P2": lambda: torch.softmax(scores_of_am * causal_mask(4)[1], -1)[2:].sum(),
    "P3": lambda: safe_softmax(torch.full((4,), -1e9), causal_mask(1, 4))[0, 0],
    "P4": lambda: curves["ahead"][-1] if len(curves.get("ahead", ())) else "nothing yet",
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
# to copy. First test: change the target's token at place j and look at the outputs before j; if one
# of them changes, the model looks ahead. Second test: use targets of random words, whose entropy is
# known to be log V. No honest model can have a loss below that on new targets, but this one will
# have a loss near 0.
# <!-- END SOLUTION -->
