"""Lab 5, masks: the source of its notebook (`lab build` makes the notebooks from it).

It runs as it stands: `python solutions/lab05_masks.py`. An exercise's cell holds one import line
where the answer is a function of the library; its task is that function's docstring.
"""

# %% [markdown]
# # Lab 5: {{title}}
#
# A mask says **who may look at whom**. It is a few lines of code, no model trains without it, and
# when it is wrong nothing crashes: the loss just gets better than it can be. At the end you will
# have every mask of a Transformer, a softmax that survives them, probes that find a leak in
# anybody's model, and a number that proves a loss too good to be true.
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

from attnlab import check
from attnlab.data.markov import course_source
from attnlab.models import leaky
from attnlab.models.markov_gpt import LENGTH, MarkovGPT, train_gpt
from attnlab.notebook.review import guesses_beside, try_versions
from attnlab.notebook.saved import trained
from attnlab.plots.heatmap import attention_maps
from attnlab.plots.masks import (
    causal_masks,
    five_masks,
    lab05_preview,
    leak_matrices,
    lecture_table,
    loss_curves,
)
from attnlab.plots.words import tensor_cells

lab05_preview()

# %% [markdown]
# Each step reads the same: *why* → *predict* → *write* → *check* → *look*. `check` shows the checks
# that you may see, about half of the points; the others run after you hand in, on other numbers,
# and the docstring in the cell says all that they ask for. A wrong step costs the next one nothing.
#
# **One convention for the whole lab:** a mask is boolean, **True = may attend**, rows are queries,
# columns are keys, and its shape broadcasts to that of the scores, (B, heads, Lq, Lk). That is how
# torch's `scaled_dot_product_attention` reads a mask. Others read it the other way round; 5.8 is
# about them.
#
# **What comes from earlier labs** (you need not have done them): each word asks, with a *query*,
# and is found by a *key*; the score of query i at key j says how well the two fit. Softmax makes
# weights of each row of scores, and the weights average the *values* of the words. `softmax` and
# `cross_entropy` of lab 1 are imported where a step needs them.
#
# Letters name the lectures: **W** Waterloo CS480/680, **S** SFU CMPT 728, **N** NUS business
# analytics, **C** CMU 11868.

# %% [markdown]
# ## 5.1 Nobody looks ahead
# *10 points, 35 minutes*
#
# A decoder writes one word after another, so word i can only go by words 0 … i. In training the
# whole sentence lies before us, and all its words are trained on at once: what is to come must be
# hidden from each of them. Lecture W crosses words out and feeds "the masked sequence" in. That is
# one question with its answer hidden; a sentence of T words would have to be fed in T times. What
# is really masked is the table of scores: **row i hides its own future**, and one triangle asks all
# T questions in one pass. Nothing is taken out of the input.
#
# In generation, earlier keys wait in a *cache*, and only a few queries are new. The last query then
# stands at the last key:
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
# A boolean (Lq, Lk) of ones on the device asked for; keep what lies on or below one diagonal. Or:
# the places of the queries as a column, those of the keys as a row, and one comparison.
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
# **Look.** Dark is allowed. A sentence of five words, and its last two words with a cache of the
# first three: the second picture should be the last two rows of the first.

# %%
words = ["I", "am", "a", "good", "student"]
causal_masks(causal_mask, words)

# %% [markdown]
# ## 5.2 Nobody looks at padding
# *8 points, 20 minutes*
#
# Sentences of a batch are filled up to one length. Padding must not be looked at, or a sentence
# would mean something else beside a longer neighbour. This mask differs from the causal one in two
# ways: it depends on the *data*, so each sentence has its own, and it hides *keys* from everybody,
# so it is the same for all queries and all heads. That is what its shape says: (B, 1, 1, Lk).
#
# Padding still stands among the queries. Let it ask: nobody reads its answer, since the loss leaves
# it out (lab 1) and nobody attends to it.
#
# **Predict.** Suppose you hid everything from padded queries as well, with −∞. What would softmax
# make of their rows?
#
# <details><summary>Hint 1: a question</summary>
#
# Which entries of `ids` are real tokens, in one comparison?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Compare with `pad`, the argument and not a number of your own; put two axes of length 1 between
# batch and keys.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# Indexing with `None` puts in an axis of length 1: `x[:, None]` is (B, 1, Lk).
# </details>

# %% exercise="padding_mask"
from attnlab.masks import padding_mask

# %%
check("padding_mask")

# %% [markdown]
# **Look.** Three sentences, one row each, padded with 9. Is the 1 of each row where a word is?

# %%
batch = torch.tensor([[4, 2, 7, 5], [3, 8, 9, 9], [1, 6, 2, 9]])
tensor_cells(lambda: batch, "ids")
tensor_cells(lambda: padding_mask(batch, 9)[:, 0, 0].long(), "padding_mask(ids, 9)[:, 0, 0]")

# %% [markdown]
# ## 5.3 Both at once
# *8 points, 20 minutes*
#
# A decoder must not look ahead *and* must not look at padding. Masks meet by logical and: a key is
# allowed where every mask allows it. Broadcasting does the rest: (Lq, Lk) and (B, 1, 1, Lk) give
# (B, 1, Lq, Lk).
#
# As booleans this cannot go wrong. As numbers it can: two masks of 0 and the lowest float16,
# −65504, add up to −∞.
#
# **Predict.** Your padding mask has shape (B, Lk) by mistake, and B happens to be Lq. What does
# `mask & causal` do, and who would notice?
#
# <details><summary>Hint 1: a question</summary>
#
# `a & b` for two masks. What is left to think of for three, for one, for none, for None?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Leave out every None. If nothing is left, the answer is None. Otherwise go through the masks and
# keep the and so far, in a new tensor.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `result = mask if result is None else result & mask` in a loop. (`&=` would write into the first
# mask, which is the caller's.)
# </details>

# %% exercise="combine"
from attnlab.masks import combine

# %%
check("combine")

# %% [markdown]
# **Look.** The five masks that a Transformer needs, all made by your three functions. In the last
# one the queries are a decoder's and the keys an encoder's: why is there no triangle in it? (As to
# your prediction: it fits, query i of every sentence gets the padding of sentence i, and nothing
# complains.)

# %%
five_masks(causal_mask, padding_mask, combine)

# %% [markdown]
# ## 5.4 Why −∞, and why before softmax
# *10 points, 35 minutes*
#
# Lecture N adds a table of 0 and −∞ to the scores, lecture C says "before softmax (-inf)", and
# neither says why. Try the other ways. Scores set to **0**: $e^0 = 1$, and 0 is a score like any
# other, so the future keeps its share. Weights set to 0 **after softmax**: the future is gone, but
# it stood in the denominator, so the row no longer sums to 1, and how much is missing tells what
# the future holds. Only $e^{-\infty} = 0$, before the sum, makes it as if the key had never been
# there:
#
# $$w = \operatorname{softmax}(\text{scores} + M), \qquad
# M_{ij} = \begin{cases} 0 & \text{may attend} \\ -\infty & \text{may not} \end{cases}$$
#
# In half precision we add the lowest finite number instead, as many published models do: it hides
# a key just as well, and a row with nothing but forbidden keys stays finite. In float32 and float64
# −∞ stays, and such a row becomes NaN: loud, so that somebody sees it (5.5).
#
# **Predict.** A famous piece of code adds −1e9 instead. What is −1e9 in float16?
#
# <details><summary>Hint 1: a question</summary>
#
# What is 0 · ∞? So can you get M by multiplying the mask with something?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Choose the low number by the dtype. Start from zeros of the right shape, dtype and device; put the
# low number where the mask says no.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `torch.finfo(dtype).min` is the lowest finite number; `masked_fill(where, value)` puts a value in;
# `~mask` turns True and False round.
# </details>

# %% exercise="to_additive"
from attnlab.masks import to_additive

# %%
check("to_additive")

# %% [markdown]
# **Look.** Lecture N's own table, "I am a student", from scores to weights. Compare the last table
# with the slide, which prints .37 and .62 for "am", and .26, .3, .43 for "a".

# %%
lecture_table(causal_mask, to_additive)
print("-1e9 in float16 is", torch.tensor(-1e9).to(torch.float16).item())

# %% [markdown]
# ## 5.5 A row with nothing to see
# *12 points, 40 minutes*
#
# Generation pads in *front*, so that all sentences end together. Then the first query is padding
# and the first keys are, too: causal and padding together leave it no key at all. Its row is −∞
# throughout, and softmax gives $-\infty - (-\infty)$ = **NaN**. In the next layer it is a key of
# others, with weight 0; but 0 · NaN is NaN, and one row of padding has spoiled the batch.
#
# The house rule: a query that may attend to nothing gets **zeros**, and a gradient of 0. Repairing
# the NaN afterwards is not enough: the backward step still goes through it. (torch has a function
# for this; do without it, and without `scaled_dot_product_attention`.)
#
# **Predict.** With −1e9 in the place of −∞, such a row has no NaN. What are its weights?
#
# <details><summary>Hint 1: a question</summary>
#
# NaN comes from infinities. Which finite number, put in place of forbidden scores, has the same
# effect on a row that has allowed keys? What is then still wrong with a row that has none?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Fill before softmax, so that no gradient and no NaN comes from a forbidden score; take the
# softmax; fill again after it, so that forbidden weights are exactly 0 in every row. Neither
# filling alone is enough.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `masked_fill` takes any number. Which is lower than every score that a dtype can hold? Is −1e9
# lower than an allowed score of −1e12?
# </details>

# %% exercise="safe_softmax"
from attnlab.masks import safe_softmax

# %%
check("safe_softmax")

# %% [markdown]
# **Look.** Two words with two paddings in front. Grey is NaN: the first two queries see nothing.
# One of these pictures keeps the house rule.

# %%
padded = ["pad", "pad", "I", "am"]
scores = torch.randn(4, 4, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def visible():
    ids = torch.tensor([[0, 0, 5, 6]])
    return combine(causal_mask(4), padding_mask(ids, 0))[0, 0]


attention_maps(
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
# You can read a mask and believe it. Better: ask the model. **Write another token at place j; every
# output before j must stay as it was.** If one moves, the model looks ahead, whatever its code
# says. The same for padding: put some around a sentence, and the sentence's outputs must not move.
#
# The care is in the details. A model may look ahead for one token in particular, or by a few
# millionths only. Dropout moves outputs by itself, so two runs must draw the same random numbers.
# And batch normalisation mixes places (and sequences) without any attention.
#
# **Predict.** A model with the causal mask of 5.1 has batch normalisation instead of layer
# normalisation. Which outputs move when the last token changes?
#
# <details><summary>Hint 1: a question</summary>
#
# For a change at place j, which rows of the output would be a leak, and which are allowed to move?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# One run with some ids. For every place and every other token: a copy of the ids with that one
# change, a second run from the same seed, the largest difference at each place before it. For
# padding: the outputs of the real tokens alone, behind padding, and before it.
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
# **Look.** Six models, A to F, by six people, each of whom says that theirs never looks ahead. Grey
# is allowed; a cross says that an output moved when a *later* token changed.

# %%
suspects = leaky.models()
leak_matrices(leaks, suspects, 8, leaky.VOCAB)

# %% [markdown]
# ## 5.7 What is wrong with them?
# *4 points, 25 minutes*
#
# A probe says *that* something leaks; the pattern says *what*. Here is what can be wrong with a
# model, in the words that the check knows. Each is true of one of the six:
#
# - `"nothing"`: it keeps its promise, never looks ahead and never at padding;
# - `"one token ahead"`: its triangle starts one diagonal too high;
# - `"mask inverted"`: it hides what it should show and shows what it should hide;
# - `"wrong corner"`: its triangle starts at the top left where there are fewer keys than queries;
# - `"batch statistics"`: something takes a mean over all places, without any attention;
# - `"padding"`: it never looks ahead, but padding changes what it says.
#
# Your picture and the lines below are the evidence. When you have a suspicion, read the one class
# in question (`attnlab/data/leaky_models.py`) or ask it more: other lengths T, or after `eval()`.

# %%
for name, model in suspects.items():
    try:
        found = leaks(model, 8, leaky.VOCAB)
        kept = pad_invariant(model, 6, leaky.VOCAB, leaky.PAD)
        ahead = max((j - i for i, j in found), default=0)
        pad = "changes nothing" if kept else "changes its outputs"
        print(f"{name}: looks ahead by {ahead} at most; padding {pad}")
    except NotImplementedError:
        print(f"{name}: your probes are still to be written")

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
# ## 5.8 Others say it differently
# *6 points, 25 minutes*
#
# The same mask, four ways. Mixing them up raises no error: a causal mask read the wrong way round
# shows exactly the future, and hides the past and the word itself.
#
# | who | what it says | shape |
# |---|---|---|
# | torch `scaled_dot_product_attention`, we | True = may attend | fits (B, heads, Lq, Lk) |
# | torch `nn.MultiheadAttention`: `attn_mask` | True = must **not** | (Lq, Lk), (B·heads, Lq, Lk) |
# | the same, `key_padding_mask` | True = is padding | (B, Lk) |
# | lecture N, many published models | numbers to add: 0, or very low | as the scores |
#
# (The last points of this step run on your own masks and your own softmax, all together.)
#
# **Predict.** You hand our `causal_mask(5)` to `nn.MultiheadAttention` as it is. What does the last
# query see?
#
# <details><summary>Hint 1: a question</summary>
#
# Which of the three functions has to do more than turn True and False round?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# to_mha_mask: a mask with a head axis of length 1 or num_heads becomes one table for each sentence
# and head, sentence by sentence. to_key_padding_mask: drop two axes. from_additive: which entries
# are allowed, whatever the low number was?
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `x.expand(-1, num_heads, -1, -1)` repeats an axis of length 1; `flatten(0, 1)` makes one axis of
# the first two.
# </details>

# %% exercise="conventions"
from attnlab.masks import to_mha_mask, to_key_padding_mask, from_additive  # noqa: F401, I001

# %%
check("conventions")

# %% [markdown]
# **Look.** What torch's own module attends to, given your converted mask, and given ours as it is.
# (Grey is NaN.)

# %%
torch.manual_seed(1)
module = nn.MultiheadAttention(8, 2, batch_first=True)
X = torch.randn(1, 5, 8)


def attended(mask):
    return module(X, X, X, attn_mask=mask)[1][0].detach()


attention_maps(
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
# Is there a test for leaks that needs nothing but the loss? If you know the **entropy** of what is
# predicted, there is. Our source writes eight symbols; each is drawn from an urn that depends on
# the last two, so every probability is known. Whoever knows the past perfectly is still surprised,
# on average, by the entropy rate
#
# $$H = -\sum_{a,b} \pi(a, b) \sum_c p(c \mid a, b) \log p(c \mid a, b) = 1.373 \text{ nats}$$
#
# where π says how often the pair a, b comes. No model of the past gets below that, however large it
# is and however long it trains. A lower loss has one explanation: it has seen the answer.
#
# **Predict.** What loss does the model reach that sees one symbol too many?
#
# <details><summary>Hint 1: a question</summary>
#
# The scores at place t are about which token? For which places of a sequence is the answer known?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Loss: drop the last place of the scores and the first of the tokens, flatten both, lab 1's
# `cross_entropy`. Evaluate: note the mode, switch, compute without gradients, switch back.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `x.flatten(0, 1)` makes one axis of the first two. `model.training` is the mode,
# `model.train(mode)` sets it, `torch.no_grad()` is for a `with` block. Is NaN larger than anything,
# or smaller?
# </details>

# %% exercise="entropy_floor"
from attnlab.evaluation import next_token_loss, evaluate, is_possible  # noqa: I001 - this order

# %%
check("entropy_floor")

# %% [markdown]
# **Look.** Now train the same small GPT three times, on three views. (Each takes a second or two;
# the weights are saved beside the notebook and are part of your hand-in. A file that is there is
# loaded, and knows nothing of what you have mended since: if you change `next_token_loss` or
# `causal_mask` later, delete the three files, or pass `again=True` to `trained` once, and run this
# cell again.) The second view is a bug that people write: read its line, and say what it lets
# through.

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
loss_curves(curves, source.entropies)

# %% [markdown]
# The honest model rests on two landings before it reaches the floor: how often each symbol comes,
# then what the last symbol says, then what the last two say. (Nobody quite gets down to the floor:
# the second symbol of a sequence has but one before it.) The other two fall through.
#
# Which losses are possible, on sequences that no model has seen? And what has a leaking model
# learned, once the future is hidden from it, as it will be when it has to write?

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
        print(f"{name:5}  one of your functions is still to be written")
print(f"guessing blindly: {source.entropies[0]:.3f};  the floor: {source.entropy_rate:.3f}")

# %% [markdown]
# ## 5.10 Test somebody else's mask
# *6 points, 25 minutes*
#
# Now change sides. Write a test that takes a causal mask, lets a right one pass in silence, and
# raises `AssertionError` for a wrong one. It meets about a dozen wrong versions of 5.1 and a few
# right ones. Points are the share of wrong ones that it catches; a test that rejects a right one
# gets none.
#
# **Predict.** Which wrong version passes a test that looks at square masks only?
#
# <details><summary>Hint 1: a question</summary>
#
# Read the docstring of 5.1 as a list of promises. Which call would break each of them?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# A table of what is right for a few pairs of lengths (as many, more and fewer keys; some long),
# made by two loops; shape, dtype and every entry; no Lk at all; another device.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `torch.equal(a, b)` compares shapes and entries (look at the dtype by itself). The device `"meta"`
# is there on every machine: `impl(3, device="meta").device.type`.
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
    assert torch.equal(impl(6), impl(6, 6)), "as many keys as queries where Lk is not given"
    assert impl(3, 5, device="meta").device.type == "meta", "on another device"
    ### END SOLUTION


# %%
check("test_causal_mask")

# %% [markdown]
# **Look.** Your own mask should pass. Two lines that people write should not: what does your test
# say about them?


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
# Three places where the slides on masks do not hold:
#
# - **N1** Lecture N, masked self-attention: the row for "am" holds the scores .1, .6, −∞, −∞, and
#   the slide prints **.37**, .62, 0, 0. *Slide*: the number for "I". *Right*: what it should be, to
#   three digits or more.
# - **N2** The table before masking is called "attention score", and most of its rows sum to 1, as
#   if they were weights. The row for "a" is .1, .3, **.6**, .1. *Slide*: the number for "a" itself.
#   *Right*: the weight that softmax gives it, with nothing masked.
# - **S2** Lecture S sums a decoder's self-attention over the outputs $j' < j$ (and puts the
#   attention to the inputs into the same sum, where a Transformer has two layers). Take five
#   outputs, and count the pairs (j, j') where output j attends to output j'. *Slide*: how many
#   pairs there are as written, in all five rows together. *Right*: how many in a decoder.

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
# Four numbers. Guess all of them and write them down; then run the cell under **Look**. Where you
# were wrong, correct the number and be able to say why. What stands here when you hand in counts.
#
# - **P1** How many entries of the mask for three new queries are True, when there are five keys in
#   all?
# - **P2** The row for "am" has the scores .1, .6, .2, .1. Somebody sets the two scores of the
#   future to 0 instead of −∞. How much weight does the future get, both words together?
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
# **Look.** Your guess beside what runs:

# %%
scores_of_am = torch.tensor([0.1, 0.6, 0.2, 0.1])
answers = {
    "P1": lambda: causal_mask(3, 5).sum(),
    "P2": lambda: torch.softmax(scores_of_am * causal_mask(4)[1], -1)[2:].sum(),
    "P3": lambda: safe_softmax(torch.full((4,), -1e9), causal_mask(1, 4))[0, 0],
    "P4": lambda: curves["ahead"][-1] if len(curves.get("ahead", ())) else "nothing yet",
}
guesses_beside(predictions, answers)

# %% [markdown]
# ## What you can now explain
#
# - why a decoder learns from all its words in one pass, and what is masked there (not the input);
# - why −∞ and not 0, and why before softmax and not after;
# - what tells a padding mask from a causal one, and what a row without a key should give;
# - how to find out what a model looks at without reading its code;
# - why a loss below the entropy of its source is no success.
#
# Next week words learn where they stand. To try until then: a *sliding window*, where query i sees
# the last w keys only, or a *prefix*, whose words all see each other. Both are one `combine` away,
# with an *or* somewhere. What does `leaks` say about each?

# %% [markdown] free_text="explain" points=4
# ## In your own words
# *4 points, marked by a person*
#
# A friend trains a translator. After one epoch the training loss is .02, the validation loss is .02
# as well, and the translations that it writes are rubbish. In four to six sentences: what has most
# likely happened, why does the validation loss not show it, why are the translations so bad, and
# which two tests would prove it (one that changes a token, one that looks at a loss)?
#
# <!-- BEGIN SOLUTION -->
# The decoder sees the word that it is asked for: its mask is missing, inverted or off by one, or
# the target was not shifted. So it has learned to copy and not to translate. The validation loss is
# computed with the whole target sentence as input and with the same mask, so it leaks in the same
# way; only when the model writes by itself is the next word really not there, and then it has
# nothing to copy. First test: change the target's token at place j and look at the outputs before
# j; if one moves, it looks ahead. Second test: targets of random words, whose entropy is known to
# be log V; no honest model can have a loss below that on fresh ones, and this one will have a loss
# near 0.
# <!-- END SOLUTION -->
