"""Lab 7, the encoder-decoder Transformer: the source of its notebook (`lab build` makes it).

It runs as a script: `python solutions/lab07_transformer.py`. If the answer is a function of the
library, an exercise's cell holds one import line; its task is that function's docstring.
"""

# %% [markdown]
# # Lab 7: {{title}}

# %%
import torch

from attnlab import check, submit

torch.manual_seed(0)

# %% [markdown]
# ## 7.1 The encoder layer

# %% [markdown]
# ## 7.2 The decoder layer

# %% [markdown]
# ## 7.3 The whole model

# %% [markdown]
# ## 7.4 What goes in, what comes out: `shift_right` and `make_batch`

# %% [markdown]
# ## 7.5 How many parameters?

# %% [markdown]
# ## 7.6 Before the first step

# %% [markdown]
# ## 7.7 Greedy decoding of a batch

# %% [markdown]
# ## 7.8 Training

# %% [markdown]
# ## 7.9 Two ways to measure

# %% [markdown]
# ## 7.10 Errata hunt
# *2.5 points, 20 minutes, difficulty 2 of 5, importance 3 of 5*
#
# Three slides to look at twice. For each, write the number that follows from the slide and the
# number that is right.
#
# - **C5** (something is missing) Lecture C's training loss is
#   $l = -\sum_n \sum_t \log f_\theta(x_n, y_{n,1}, \dots, y_{n,t-1})$. The model $f_\theta$
#   returns a probability for each of V = 37,000 words. *Slide*: how many numbers are in $l$ as it
#   is written? *Right*: how many are in a loss?
# - **W2** (what follows?) Lecture W: "Only three tunable hyper-parameters": N = 6 layers, d = 512
#   and h = 8 heads. (Its slides fix d_ff = 4d and heads of d/h.) Take the base model of 7.5 with
#   37,000 symbols. *Slide*: one of the three does not change its size: how many parameters are
#   added if **h** is doubled? *Right*: how many are added if the **vocabulary** is doubled, which
#   is not among the three?
# - **WM** (words or formula?) Lecture W on masking: "Input the masked sequence into the attention
#   layer", below the sentence "University of Waterloo locates at Waterloo", in which the last three
#   words are replaced by [Mask]. A decoder learns to predict all six words, the first one from the
#   start symbol. *Slide*: if later words are replaced **in the input**, how many times does the
#   decoder run? *Right*: how many times with the mask of 7.2, on the scores?

# %% exercise="errata"
errata = {}
# TODO: write three lines such as errata["C5"] = (slide, right, "why, in four words or more").
# Let code compute the numbers if it can.
### BEGIN SOLUTION
errata["C5"] = (37_000, 1, "log f is a vector; the entry of the true word y_t is not picked")
errata["W2"] = (0, 37_000 * 512, "the size of the vocabulary is chosen, too (and d_ff, dropout)")
errata["WM"] = (6, 1, "each row of the scores has a mask of its own, so one run is enough")
### END SOLUTION

# %%
check("errata")

# %% [markdown]
# ## 7.11 Predict, then run
# *2.5 points, 15 minutes, difficulty 2 of 5, importance 3 of 5*
#
# Predict five numbers and write them down; then run the cell under **Look**. If a number was wrong,
# correct it and be able to say why. The numbers that you hand in count.
#
# - **P1** A model has two encoder layers and three decoder layers. How many attentions
#   (`MultiHeadAttention`) does it have?
# - **P2** A target has nine symbols, the last is `eos`. In training, one call of `decode` is enough
#   for it. How many calls does the model need to write it?
# - **P3** In a model with d_ff = 4 d_model, how many times as many parameters as an encoder layer
#   has a decoder layer? Two digits after the point are enough.
# - **P4** A model's targets have 27 different symbols, and its logits are still close to 0. What
#   is its loss, in nats?
# - **P5** A half-trained model writes 0.402 of 500 sentences exactly right. Now it reads the true
#   symbols instead of its own (teacher forcing). What share of the 500 does it get exactly right?

# %% exercise="predictions"
predictions = {}
# TODO: write five lines such as predictions["P1"] = 7.
### BEGIN SOLUTION
predictions["P1"] = 8
predictions["P2"] = 9
predictions["P3"] = 1.33
predictions["P4"] = 3.296
predictions["P5"] = 0.402
### END SOLUTION

# %%
check("predictions")

# %% [markdown]
# ## What you can now explain
#
# - what each of the three attentions looks at, and what each mask is for;
# - why the decoder reads its target one place later, and what leaks if it does not;
# - where a model's parameters are, and which of its numbers change nothing about their count;
# - what a fresh model's loss must be, and what a tied model writes before it has learned anything;
# - why every sentence of a batch has a limit of its own when the model writes;
# - what teacher forcing hides, and in which measure you see it.
#
# Next week you train for real: optimiser, schedule, regularisation. Until then: give your decoder a
# target mask that allows one position too many. How low does its loss fall, and what does it write?

# %% [markdown] free_text="explain" points=4
# ## In your own words
# *4 points, marked by a TA*
#
# A friend has built a translator. Its training loss falls to 0.001 within an hour, and all symbols
# of the validation set are predicted right, with the true target as the decoder's input. But when
# it translates by itself, it writes the same word again and again. Explain in four to six
# sentences: which two mistakes would look like this, and why does the loss not show either of them?
# Which test, without any training, tells the two apart? And what does each of the decoder's two
# attentions read, in training and when the model writes?
#
# <!-- BEGIN SOLUTION -->
# Both mistakes let the model see the symbol that it should predict: the target mask is missing or
# off by one, so a position looks at later inputs; or the inputs are not shifted, so each position
# reads its own label. Then copying is enough, and the loss falls close to 0 although the model has
# learned nothing about the source; when it writes, there is no later symbol to copy from, and it
# repeats what it reads. The loss is computed with the true target as input, so it cannot show what
# happens without it. To tell the two apart, change one input symbol of an untrained model and look
# at the logits: if earlier positions move, the mask is wrong; if they do not, compare inputs and
# labels position by position: no input may be equal to its label (but by chance). The decoder's
# self-attention reads the target so far: the true symbols, shifted, in training, and the model's
# own symbols when it writes. The cross-attention takes its queries from the same positions, but its
# keys and values from the encoder's output, which is the same in both cases and is computed once.
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
