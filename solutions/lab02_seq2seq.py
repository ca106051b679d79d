"""Lab 2, sequence to sequence: the source of its notebook (`lab build` makes it from this).

It runs as a script: `python solutions/lab02_seq2seq.py`. If an exercise's answer is a function of
the library, its cell holds one import line, and its task is that function's docstring.
"""

# %% [markdown]
# # Lab 2: {{title}}
#
# In this lab you build a machine that reads **"thursday, march 5th 1998"** letter by letter and
# writes **1998-03-05**: a decoder that looks back at its source, its training, and two ways to let
# it write. Attention made its name with this model (Bahdanau, Cho and Bengio, 2015). Transformers
# came later and do without the recurrence.
#
# | | |
# |---|---|
# | due | {{due}} |
# | points | {{points}}, in {{steps}} steps and one question |
# | time | about seven hours; the computer needs only one minute of it |
# | you need | `softmax`, `cross_entropy` (1.1, 1.3); `nn.Module`, `nn.Linear`, `nn.GRUCell` |

# %%
import torch

from attnlab import check, plots, submit
from attnlab.data import dates
from attnlab.models import small_searches
from attnlab.models.dates_translator import dates_translator, train_on_dates
from attnlab.notebook.review import compare_predictions, try_versions
from attnlab.notebook.saved import trained

plots.alignment.lab02_preview()

# %% [markdown]
# Left: each row is a symbol that is written, each column is a letter of the source, and a dark
# cell shows where the decoder looked. It was never told that "5" becomes "05". Right: the benefit
# of looking back, on a task that requires a memory of every symbol. (Point at a cell to read it.)
#
# As in lab 1: *why* → *predict* → *write* → *check* → *look*. The visible checks are about half of
# the points; the docstring states everything that the hidden ones check. `check()` shows where you
# stand. In grading, a wrong step costs no points in later steps; 2.6 names the one exception. Lab
# 1's `softmax` and `cross_entropy` are available in `attnlab.softmax`. The letters **W**, **S**,
# **G**, **N** and **C** stand for lectures: see [LECTURES.md](LECTURES.md).

# %% [markdown]
# ## 2.1 Sentences of unequal length
# *8 points, 25 minutes, difficulty 2 of 5, importance 5 of 5*
#
# A batch is one table, but sentences differ in length. So the short ones are padded, and a mask
# marks the real tokens: it is True at each of them. Every function in this course that reads a
# sequence will need that mask, and most of the mistakes that cause no error are made with one.
#
# The mask comes from the lengths and from nothing else. It is tempting to use `ids != pad`, but
# that is wrong as soon as a sentence contains that number itself.
#
# **Predict.** Three sentences have 5, 2 and 0 tokens. Which shape does the mask have, and how many
# of its entries are True?
#
# <details><summary>Hint 1: a question</summary>
#
# The mask has a True at (row, position) if position is smaller than something. Smaller than what?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Compute the lengths first; the longest is T. Make a table full of `pad`, and write each sentence
# over the beginning of its row. The mask is one comparison of positions with lengths. What happens
# in the row of an empty sentence?
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `torch.full((B, T), pad)`, `ids[row, :n] = torch.tensor(sequence)`. Comparing (T,) with (B, 1)
# broadcasts to (B, T): `torch.arange(T) < lengths[:, None]`. Return three things.
# </details>

# %% exercise="pad_batch"
from attnlab.seq2seq import pad_batch

# %%
check("pad_batch")

# %% [markdown]
# **Look.** The three sentences of your prediction: words of 5, 2 and 0 letters, each letter as a
# number, and their mask. What share of the table is padding? (In lab 8 you will reduce that share.)

# %%
plots.forcing.padded_table(pad_batch, ["query", "to", ""])

# %% [markdown]
# ## 2.2 How well does a position fit?
# *12 points, 45 minutes, difficulty 3 of 5, importance 4 of 5*
#
# An encoder reads the source and makes one vector $h_i$ for each position. The old way gave the
# decoder only the last one, as a summary of the whole sentence (the *context vector* of lecture G's
# recap; "RNN: summarize" in lecture S). The new way keeps all vectors and lets the decoder choose
# at every step. For this, every position gets a score against the decoder's state s (lecture G):
#
# $$e_i = \boldsymbol{a}^{\top} \tanh(W\,[\boldsymbol{s};\, \boldsymbol{h}_i])$$
#
# Lecture S begins with another kind: a fixed weight for each *pair of positions*. That needs a
# fixed window, and it ignores which word is at which position. A score of s and $h_i$ uses the
# content.
#
# The brackets put one vector below the other, so W has as many columns as both together. Thus s and
# h may have different widths; in a dot product they cannot. The score is a small network with one
# hidden layer; a is its last layer, of one row. A sentence has one state but many positions.
#
# **Predict.** Let s = (1), and let the vectors at three positions be (1, 0), (0, 1), (1, 1). With W
# = [[1, 0, 1], [0, 1, 0]] and a = (1, −1), what is the score of the first position?
#
# <details><summary>Hint 1: a question</summary>
#
# s has shape (B, d_state), the positions (B, T, d_hidden). Which axis does s lack, and what should
# s contain along it?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Give s the axis of positions and repeat it. Join the two along the features, then apply linear,
# tanh, linear, and at the end drop an axis of length 1. Or do not join them: W [s; h] is a sum of
# two products, one with each half of W.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `state[:, None, :].expand(-1, T, -1)` repeats without copying. `torch.cat([…, …], -1)` joins
# features. `nn.Linear(n, 1, bias=False)` gives (B, T, 1); `squeeze(-1)` turns it into (B, T).
# </details>

# %% exercise="additive_score"
from attnlab.seq2seq import AdditiveScore

# %%
check("additive_score")

# %% [markdown]
# **Look.** The vector of one position of the source gets longer and longer. A dot product grows
# with it and could outweigh all the others. What limits your score? Where do the two dotted lines
# come from?

# %%
plots.forcing.score_growth(AdditiveScore)

# %% [markdown]
# ## 2.3 Attend
# *10 points, 35 minutes, difficulty 3 of 5, importance 5 of 5*
#
# Scores become weights, and weights become a mean (lecture G):
#
# $$\boldsymbol{\alpha} = \operatorname{softmax}(\boldsymbol{e}), \qquad
# \boldsymbol{c} = \sum_i \alpha_i\, \boldsymbol{h}_i$$
#
# This is lab 1's apple again: a weighted mean of vectors. Two things are new: the weights, and
# padding, which must not get any weight. Remove padding *before* the exponentials: a softmax shares
# one unit among all its entries, and padding would take a part of it. Dividing the other shares by
# their sum fixes that, but only until padding has a huge score and nothing is left to divide.
#
# **Predict.** The scores are 0, .964 and .202, and their weights are .206, .541 and .253. Now let
# the third position be padding. By which factor does each of the other two weights grow?
#
# <details><summary>Hint 1: a question</summary>
#
# Which score becomes 0 after the exponential? And if every score of a sentence is that low, what
# does the softmax of equal scores give?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Put the lowest finite number where the mask is False, apply softmax along the positions, and then
# put 0 where the mask is False. The last step changes only sentences that are all padding. The mean
# is a row times a table, (1, T) by (T, d), for each sentence.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `scores.masked_fill(~mask, torch.finfo(scores.dtype).min)`. With $-\infty$ instead, a sentence of
# padding is 0/0. `(weights[:, None, :] @ hidden).squeeze(1)`.
# </details>

# %% exercise="attend"
from attnlab.seq2seq import attend

# %%
check("attend")

# %% [markdown]
# **Look.** The example by hand: the same scores twice, the second time with padding at the third
# position. Does each row sum to one? (The state that asks is the query, each position is a key. Lab
# 3 explains why.)

# %%
by_hand = torch.tensor([[0.0, 0.964028, 0.202433]] * 2)
places = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]] * 2)
real = torch.tensor([[True, True, True], [True, True, False]])
plots.heatmap.attention_map(
    lambda: attend(by_hand, places, real)[1], ["no padding", "3rd is padding"], ["1", "2", "3"]
)

# %% [markdown]
# ## 2.4 One step of the decoder
# *12 points, 45 minutes, difficulty 4 of 5, importance 4 of 5*
#
# The decoder writes one symbol after another, and a GRU carries its memory from step to step.
# Lecture G writes the whole step in one line:
#
# $$\boldsymbol{s}_t = \operatorname{GRU}(\boldsymbol{s}_{t-1},\, [\boldsymbol{y}_{t-1};\,
# \boldsymbol{c}_t]) \qquad \text{with } \boldsymbol{c}_t \text{ from } e_{t,i} \text{ of }
# \boldsymbol{s}_{t-1} \text{ and } \boldsymbol{h}_i$$
#
# Read it from the inside. The state that asks is the **old** one, $s_{t-1}$: the new one needs the
# context, so it cannot help to find it. The GRU's input is the last symbol's embedding and the
# context. Its output is the new state, and the logits of the next symbol depend on that state
# alone, as in lecture G. (Bahdanau's own output layer also sees the last symbol and the context.)
#
# **Predict.** Three statements: s_t depends on c_t; c_t depends on s_t; y_t depends on s_t. Which
# two of them would together make a circle?
#
# <details><summary>Hint 1: a question</summary>
#
# Four parts are given: `embedding`, `score`, `gru`, `out`. In which order do they need each other?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Compute the scores of the old state. Call `attend` with the mask. Join embedding and context in
# the order of the formula. Call the GRU, with its input first and the old state second. Compute the
# logits. Return three things; the weights are those of this step.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `self.score(state, hidden)` is (B, T), `self.embedding(y_prev)` is (B, d_embed), and
# `self.gru(torch.cat([…, …], -1), state)` is the new state.
# </details>

# %% exercise="decoder_cell"
from attnlab.seq2seq import AttentionDecoderCell

# %%
check("decoder_cell")

# %% [markdown]
# **Look.** The first step of a decoder that has learned nothing, on two dates in one batch. Where
# does it look, and where must it never look? (The circle: if s_t asked for c_t, then c_t would
# depend on s_t, and s_t on c_t. If the *old* state asks, there is none.)

# %%
plots.forcing.one_step(
    lambda: dates_translator(AttentionDecoderCell), ["5 march 1998", "thursday, march 5th 1998"]
)

# %% [markdown]
# ## 2.5 Teacher forcing
# *10 points, 40 minutes, difficulty 3 of 5, importance 5 of 5*
#
# How likely is a sequence? Lectures W, G and C give the same answer: the product of its symbols'
# probabilities, each given all earlier symbols. With logarithms it is a sum, and training uses the
# mean:
#
# $$\text{loss} = -\frac{1}{n} \sum_{t} \log p(y_t \mid y_{<t},\, x)$$
#
# "All earlier symbols" means the **true** ones. Lecture C: *pretend to know the ground truth for
# the prefix*. A decoder that is fed its own early guesses would learn to repair nonsense. The price
# is called **exposure bias**: in training it never meets its own mistakes, and 2.8 shows what they
# do. (*Scheduled sampling* pays less of this price: it sometimes feeds a guess on purpose.) So the
# target is used twice, shifted by one: as the inputs, from BOS on, and as the answers, up to EOS.
# Without EOS, the decoder never learns to stop; without the shift, it learns to copy.
#
# **Predict.** A date has ten symbols. How many predictions count for it?
#
# <details><summary>Hint 1: a question</summary>
#
# A row of `batch.target` is BOS, symbols, EOS, PAD. Which column is never fed, and which is never
# predicted?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Encode once. For every column except the last: feed it, keep the logits, pass the state on. Pair
# the logits with the columns from the second on, and let lab 1's cross-entropy leave PAD out of sum
# and count.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `torch.stack(steps, 1)` is (B, T−1, V); `flatten(0, 1)` turns it into rows, and
# `batch.target[:, 1:].flatten()` holds their targets. `ignore_index=PAD`.
# </details>

# %% exercise="teacher_forced_loss"
from attnlab.seq2seq import teacher_forced_loss

# %%
check("teacher_forced_loss")

# %% [markdown]
# **Look.** A recorder replaced the model and noted the inputs from your loss; its gradients show
# the symbols that it should predict. Is each symbol predicted one step before it is fed?

# %%
plots.forcing.fed_and_asked(
    teacher_forced_loss,
    [dates.Pair("5 march 1998", "1998-03-05"), dates.Pair("march 1998", "1998-03")],
)

# %% [markdown]
# ## 2.6 Train it
# *10 points, 30 minutes, difficulty 2 of 5, importance 3 of 5*
#
# All parts are ready. An encoder that reads in both directions is given
# (`attnlab.models.dates_translator`; read it, it is one page). In one pass over the batches, each
# step clears the gradients, computes the loss, goes backward, clips and updates. Recurrent networks
# need the clipping most: backpropagation through time multiplies, and now and then a gradient
# explodes. (Transformers are clipped as well.)
#
# The task is unambiguous: every human date has one ISO date. So the loss may fall to 0, and the
# important number is the share of new dates that are right to the last symbol. Three points are for
# that: your saved weights translate new dates. Two more points test all of your own steps together.
#
# **Predict.** Where does the loss start, if all 14 target symbols are equally likely?
#
# <details><summary>Hint 1: a question</summary>
#
# Which of the five lines would do harm in another order? What happens to gradients that are never
# cleared?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Switch to training mode. Then for each batch: zero_grad, the loss of 2.5, backward, clip all
# parameters together, step of the optimizer, step of the scheduler if there is one. Append the loss
# to the list as a number.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `nn.utils.clip_grad_norm_` takes all parameters of the model at once, and the norm. `loss.item()`
# is a number; a list of tensors would keep every batch's graph in memory.
# </details>

# %% exercise="train_translator"
from attnlab.seq2seq import train_translator

# %%
model, losses = trained(
    "dates.safetensors",
    lambda: dates_translator(AttentionDecoderCell),
    lambda model: train_on_dates(model, train_translator, pad_batch),
)

# %%
check("train_translator")

# %% [markdown]
# **Look.** Left, your training: four passes over 5,500 dates. Right, the loss of each symbol in the
# first 400 steps of our own training (measured once). In which order does the model learn? After
# 100 steps it knows what most dates share: the first dash, the end, the century. The year follows
# at about 200 steps, month and day at about 300.
#
# The weights are in `dates.safetensors` next to the notebook. They are part of your hand-in, and
# `python -m attnlab submit` packs them.
#
# From now on that file is loaded instead of training. **It does not update when you fix a step
# above**: delete it then (and `hurried.safetensors` of 2.8), or pass `again=True` once. Do so if
# the curve stays high or dates come out wrong in 2.7.

# %%
plots.forcing.training_curve(model, losses, train_translator)

# %% [markdown]
# ## 2.7 Let it write
# *8 points, 30 minutes, difficulty 3 of 5, importance 4 of 5*
#
# Now the answer is not known, so the decoder is fed its own output. The simplest way takes the
# likeliest symbol at every step: lecture W's table from [START] to "Waterloo [END]". Lecture N
# states the loop, with one word that inverts its condition (you will find it in 2.10). Decoding
# runs until **all** sentences have ended; a finished sentence's later tokens are ignored.
#
# **Predict.** "1998, march 5" and "the 5th of march, 1998" both become 1998-03-05. For which of the
# two does the decoder look along a diagonal?
#
# <details><summary>Hint 1: a question</summary>
#
# Which three things must a step know from the step before?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Without gradients: encode; start all sentences with `bos`. In the loop: call the cell, take the
# argmax along the vocabulary, and remember which sentences have reached `eos`. Stop when all have,
# or after `max_len` steps. Cut each row at its first `eos`.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# A (B,) tensor of booleans remembers which sentences are over: `|` adds those with `eos` at this
# step. Put `with torch.no_grad():` around everything. `tolist()` turns a (B, steps) tensor into
# rows, and `row[: row.index(eos)]` cuts a row that has an `eos`.
# </details>

# %% exercise="greedy"
from attnlab.decoding import greedy

# %%
check("greedy")

# %% [markdown]
# **Look.** Where the decoder looked while it wrote two dates. In the second, year, month and day
# come in another order; follow the dark cells from the top. For the month, no single letter
# decides. Some cells are dark where you would not look: $h_i$ has read its neighbours, too, so a
# position next to the "1" can tell of the "1". And the last dash asks whether there is a day at
# all.

# %%
plots.alignment.alignments(model, greedy, ["1998, march 5", "the 5th of march, 1998"])

# %% [markdown]
# And here are 500 dates that it never saw. Could you make the same mistakes?

# %%
print(plots.decoding.new_dates(model, greedy, dates.validation()))

# %% [markdown]
# ### Is the map the reason?
#
# It is tempting to read the dark cells as the reason for a symbol. Test it: at one step, replace
# the context, and see whether the symbol is still right. Which symbols need the position that they
# look at? Which ones need only *some* letters of the source, in any order?

# %%
plots.decoding.needed_context(model, dates.validation()[:200])

# %% [markdown]
# With the mean of all positions, the last two digits of the year are right in one date of six, and
# the day in one of three: for them, the position that the decoder looks at is the reason. The month
# hardly suffers. Its smear in the map does not point at a position: it is a bag of letters. Even
# without any context, its first digit is mostly right, because the decoder already knows it from
# the encoder's last state. A map of attention shows where a model looked, not why it answered as it
# did.

# %% [markdown]
# ## How much did looking back help?
#
# Dates are short and contain few facts, so a good summary would be enough. Random digits are
# different: every one of them must be remembered. So we trained two translators to copy strings of
# 2 to 16 digits. One has your decoder. The other gets one summary of the source at every step, the
# encoder's last states; nothing else differs. Lecture S states the contrast on one slide:
# *summarize*, or *random access*.
#
# **Predict.** The summary holds 64 numbers, far more than 16 digits need. Will it copy as many
# digits after the same training? After four times as much? And will attention still work on
# strings longer than any in training?

# %%
plots.alignment.copied_by_length()

# %% [markdown]
# There were five runs each; the bands go from the worst to the best run (measured once, by a script
# in the course's repository). After the same 1,500 steps attention copies everything, but the
# summary gets two of five strings right at 12 digits, and hardly any at 16. Given four times as
# long, the summary gets nearly all right at 12, and two of three at 16. So 64 numbers can hold 16
# digits; but packing and unpacking them is much harder to learn than looking. Attention has a limit
# of its own: four digits beyond its longest training strings it often loses its place, and six
# digits beyond nearly always.

# %% [markdown]
# ## 2.8 Several hypotheses at once
# *10 points, 50 minutes, difficulty 5 of 5, importance 3 of 5*
#
# Greedy never revises a choice. This is the smallest model that misleads it:
#
# | after | comes |
# |---|---|
# | START | A .6, B .4 |
# | A | x .55, y .45 |
# | B | x .95, y .05 |
#
# Beam search (lecture G: *keeps multiple high-probability sequences*) keeps the `width` best
# hypotheses after each step. For it, the model is only a function that takes a symbol and a state,
# so it works with every model of this course. Longer sequences have lower probability, so a short
# finished one may win only because it is short. Dividing by a power of the length compensates for
# that:
#
# $$\text{score} = \frac{\sum_t \log p_t}{n^{\alpha}}$$
#
# Write it in two rounds. First without ends: keep `width` hypotheses, each with its own state; the
# check on states needs no more. Then let hypotheses end, and divide by the length.
#
# **Predict.** Which sequence does greedy find above, and which one does a beam of width 2 find?
# What are their probabilities?
#
# <details><summary>Hint 1: a question</summary>
#
# What must a hypothesis store, so that it can be continued, compared and returned?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Keep a list of hypotheses: symbols, sum of log-probabilities, state. In each step, finished ones
# become candidates unchanged. All others are continued by every symbol, each with its own list and
# the state that `step` returned for its parent. Sort all candidates by score and keep the first
# `width`. When may the search end?
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `log_p, next_state = step(last, state)`. Then each `symbol, more in enumerate(log_p.tolist())`
# gives a candidate `([*symbols, symbol], total + more, next_state)`, unless `more` is $-\infty$.
# `sorted(candidates, key=…, reverse=True)[:width]`, with a key that divides by the length.
# </details>

# %% exercise="beam_search"
from attnlab.decoding import beam_search

# %%
check("beam_search")

# %% [markdown]
# **Look.** In the table above, greedy takes A and then x: .6 · .55 = .33. A beam of width 2 keeps
# B as well and finds B x: .4 · .95 = .38.
#
# After four passes your translator is almost always sure, and a beam does not improve it.
# So here is one that was trained for a single pass. Must a likelier sequence be a better one?

# %%
from attnlab.decoding import one_sentence

hurried, _ = trained(
    "hurried.safetensors",
    lambda: dates_translator(AttentionDecoderCell),
    lambda model: train_on_dates(model, train_translator, pad_batch, epochs=1),
)
plots.decoding.beam_widths(hurried, beam_search, one_sentence, dates.validation()[:60])

# %% [markdown]
# A wider beam finds likelier sequences, and on the whole more dates are right. But it also loses
# some that greedy had right: without normalisation a date that stops too soon is short, and
# therefore likely. With `alpha` = 1 hardly any date stops too soon.
#
# Look at the last line of the text, too. If the true date were likelier than the one that was
# found, the *search* would be to blame, and a wider beam could help. If it is less likely, the
# *model* prefers the wrong one, and no beam helps.
#
# The same hurried model shows the price of teacher forcing (2.5). These are dates in which it had
# already made a mistake in the year or the month. How much does its own mistake cost the day?

# %%
plots.decoding.own_mistakes(hurried, greedy, dates.validation())

# %% [markdown]
# ## 2.9 Test somebody else's attention
# *6 points, 30 minutes, difficulty 3 of 5, importance 3 of 5*
#
# Write a test that takes an implementation of 2.3, lets a right one pass silently, and raises
# `AssertionError` for a wrong one. It is run on about thirty wrong versions and a few right
# ones. Your points are the share of wrong versions that it rejects, times the share of right ones
# that it accepts.
#
# **Predict.** Which of 2.3's promises could you break without noticing it in training?
#
# <details><summary>Hint 1: a question</summary>
#
# Read the docstring of 2.3 as a list of promises. Which input would break each of them?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Use a batch with sentences of 2, 0 and 5 tokens, and None as a mask. Use huge numbers at padding,
# very low scores at tokens, and as many sentences as positions. Compare context and weights with
# your own version. Check exact zeros, dtype float32, gradients, and the inputs afterwards.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# Your own version may work sentence by sentence: a softmax over `scores[b, mask[b]]`, and a mean of
# `hidden[b, mask[b]]`. `torch.testing.assert_close(found, expected, atol=1e-9, rtol=1e-9)`. For
# gradients, weight the outputs at random, call `backward()` for both versions, compare the
# `.grad`s.
# </details>


# %% exercise="test_attend"
def test_attend(impl):
    """Let a right version of attend pass, and raise AssertionError for a wrong one.

    Args:
        impl: called as ``impl(scores, hidden)`` or ``impl(scores, hidden, mask)``, by position or
            by name; it should keep every promise of 2.3.

    Right versions differ in their last digits: allow 1e-9 in float64 (1e-6 in gradients), and 1e-5
    in float32.
    """
    ### BEGIN SOLUTION
    generator = torch.Generator().manual_seed(0)

    def normal(*shape):
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    def expected(scores, hidden, mask):
        weights = torch.zeros_like(scores)
        for b in range(len(scores)):
            if mask[b].any():
                shares = torch.softmax(scores[b, mask[b]], 0)
                weights = weights.index_put((torch.tensor(b), mask[b].nonzero()[:, 0]), shares)
        return torch.einsum("bt,bth->bh", weights, hidden), weights

    lengths = torch.tensor([[2], [0], [5], [3], [1]])
    mask = torch.arange(5) < lengths
    for at_padding, at_tokens in ((0.0, 0.0), (1e4, 0.0), (0.0, -3e4)):
        scores = (3 * normal(5, 5) + at_tokens).where(mask, at_padding)
        hidden = normal(5, 5, 3).where(mask[..., None], 1e3 * at_padding)
        for given in (mask, None, mask.roll(2, dims=1)):
            known = torch.ones(5, 5).bool() if given is None else given
            plain = scores.clone(), hidden.clone()
            call = () if given is None else (given.clone(),)
            found = impl(*plain, *call)
            torch.testing.assert_close(plain, (scores, hidden), atol=0, rtol=0)
            assert not call or torch.equal(call[0], given), "the mask was changed"
            right = expected(scores, hidden, known)
            torch.testing.assert_close(found, right, atol=1e-9, rtol=1e-9)
            assert bool((found[1][~known] == 0).all()), "padding has weight"
            grads, pulls = [], [normal(5, 3), normal(5, 5)]
            for version in (impl, lambda s, h, *_: expected(s, h, known)):  # noqa: B023
                s, h = scores.clone().requires_grad_(), hidden.clone().requires_grad_()
                out = version(s, h, *call)
                sum((part * pull).sum() for part, pull in zip(out, pulls, strict=True)).backward()
                grads.append((s.grad, h.grad))
            torch.testing.assert_close(*grads, atol=1e-6, rtol=1e-6)
    single = impl(scores.float(), hidden.float(), mask)
    assert all(part.dtype == torch.float32 for part in single), "the dtype was changed"
    ### END SOLUTION


# %%
check("test_attend")

# %% [markdown]
# **Look.** Your own attention should pass. The line below appears in many notebooks on the web;
# what does your test say about it? (Training would not have noticed: it goes on with weights that
# sum to less than one, and it has no sentence of padding and no huge score at padding.)


# %%
def masked_afterwards(scores, hidden, mask=None):
    weights = torch.softmax(scores, -1) * (1.0 if mask is None else mask)
    return torch.einsum("bt,bth->bh", weights, hidden), weights


try_versions(test_attend, attend, masked_afterwards)

# %% [markdown]
# ## 2.10 Errata hunt
# *6 points, 25 minutes, difficulty 2 of 5, importance 2 of 5*
#
# Take three slides literally. For each, give the number that follows from the slide, the right
# number, and the reason. Two are slips; S2 is a choice that has a consequence.
#
# - **G11** (a slip) Lecture G's recap writes $\alpha_{t,i} = \operatorname{softmax}(e_{t,i})$, a
#   softmax of one number; one slide later, it is written rightly. The scores are 0, .964028,
#   .202433. *Slide*: the weight of the second position, by a softmax of its score alone. *Right*:
#   its weight.
# - **S2** (a choice) Lecture S lets the decoder's output position j look at the values of the
#   earlier words, $j' < j$. *Slide*: how many terms has this sum for the first word, j = 1?
#   *Right*: how many terms must a softmax have at least, so that its weights can sum to one?
#   (Transformers shift instead: position j holds word j − 1, position 1 holds BOS and sees itself.)
# - **N5** (a slip) Lecture N on decoding: *when the stop token is generated, repeat*. Lecture W's
#   example writes It, is, at, Waterloo, [END]. *Slide*: the loop makes a first round; how many
#   tokens are generated in total if a further round follows only when the stop token has come?
#   *Right*: how many tokens, including [END]?

# %% exercise="errata"
errata = {}
# TODO: write three lines such as errata["N5"] = (slide, right, "why, in four words or more").
# Your `attend` can help with one of them.
### BEGIN SOLUTION
three = torch.tensor([0.0, 0.964028, 0.202433])
errata["G11"] = (torch.softmax(three[1:2], 0), torch.softmax(three, 0)[1], "it runs over all i")
errata["S2"] = (0, 1, "nothing comes before the first word")
errata["N5"] = (1, 5, "it must say until, not when")
### END SOLUTION

# %%
check("errata")

# %% [markdown]
# ## 2.11 Predict, then run
# *4 points, 15 minutes, difficulty 2 of 5, importance 2 of 5*
#
# Guess four numbers and write all of them down. Then run the cell under **Look**, in which your own
# functions answer. The numbers in the next cell when you hand in are graded.
#
# - **P1** Five positions have equal scores; the last two are padding. What is the weight of the
#   first?
# - **P2** A model's loss is 0.02 nats for each of a date's 11 predictions. How likely is it, then,
#   that it writes the whole date (a number from 0 to 1)?
# - **P3** A beam has width 3, the vocabulary 14 symbols, none of them impossible. One of the three
#   hypotheses has just finished. How many candidates does the next step have?
# - **P4** There are two finished hypotheses: three symbols with log-probabilities that sum to −1.2,
#   and five that sum to −1.5. What is the score of the winner with alpha = 1?

# %% exercise="predictions"
predictions = {}
# TODO: write four lines such as predictions["P1"] = 0.5.
### BEGIN SOLUTION
predictions["P1"] = 1 / 3
predictions["P2"] = 0.8
predictions["P3"] = 29
predictions["P4"] = -0.3
### END SOLUTION

# %%
check("predictions")

# %% [markdown]
# **Look.** Your guesses next to your functions' answers:

# %%
three_real = torch.arange(5)[None] < 3
answers = {
    "P1": lambda: attend(torch.zeros(1, 5), torch.ones(1, 5, 1), three_real)[1][0, 0],
    "P2": lambda: small_searches.chance_of_a_date(beam_search, 0.02),
    "P3": lambda: small_searches.candidates_of_a_step(beam_search),
    "P4": lambda: small_searches.winner_of_two(beam_search),
}
compare_predictions(predictions, answers)

# %% [markdown]
# ## What you can now explain
#
# - why one summary of a sentence is hard to learn with, and what a decoder gains by looking back;
# - which state asks, what a score is, and why padding must be removed before the softmax;
# - what teacher forcing feeds and predicts, and why EOS must be learned;
# - what a map of attention shows, and what it does not;
# - what greedy cannot revise, and how to tell a mistake of the search from one of the model.
#
# Next week we drop the recurrent network and keep only the attention. Until then, try this: replace
# `AdditiveScore` by a dot product of s and h. What must you change, and does it still learn? Or let
# the *new* state ask, as Luong does: his context joins only after the GRU. Why is that not a
# circle?

# %% [markdown] free_text="explain" points=4
# ## In your own words
# *4 points, marked by a TA*
#
# A friend's translator has a loss of 0.02 on new dates. Yet when it writes, one date in fifteen is
# wrong, and some become nonsense after one wrong symbol. Answer in four to six sentences. Why does
# the loss not show this? Why does one wrong symbol spoil the later ones? What could a beam repair,
# and what not? Which number would you use instead of the loss?
#
# <!-- BEGIN SOLUTION -->
# The loss is measured with teacher forcing: each step is fed the true symbols before it, so it
# never sees what the decoder does after its own mistake. It is also a mean over symbols: 0.02 nats
# per symbol are about 0.2 nats for a date of eleven predictions, which is consistent with several
# wrong dates in a hundred. When the decoder writes by itself, a wrong symbol is fed back. Its state
# then differs from all states in training, and the next choices depend on it. A beam can repair a
# symbol that was only slightly likelier than the right one, if the right one is still among the
# kept hypotheses and the whole sequence turns out likelier: a mistake of the search. It cannot help
# if the model itself finds the wrong sequence likelier. The share of dates that are right to the
# last symbol when the model writes by itself shows what users see.
# <!-- BEGIN MARK SCHEME -->
# - 1: teacher forcing: each step is fed the true symbols, so the loss never sees the model's own
#   mistakes
# - 1: a wrong symbol is fed back, and the state is then unlike all states in training
# - 1: a beam repairs a mistake of the search, and not a model that finds the wrong sequence
#   likelier
# - 1: the share of whole dates that are right when the model writes by itself
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
