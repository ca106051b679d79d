"""Lab 8, training for real: the source of its notebook (`lab build` makes it).

It runs as a script: `python solutions/lab08_training.py`. If the answer is a function of the
library, an exercise's cell holds one import line; its task is that function's docstring.
"""

# %% [markdown]
# # Lab 8: {{title}}
#
# In lab 7 you built a Transformer and trained it with an optimiser, a schedule and a limit for
# gradients that were given. In this lab you build them, and everything else that a training needs
# which runs for hours: batches without waste, a loss that does not ask for certainty, checkpoints
# and their mean, gradients from several small batches, a device that may be a GPU, and numbers of
# 16 bits. At the end a Trainer made of these parts trains lab 7's translator of numbers, and the
# same command would run on a cluster.
#
# | | |
# |---|---|
# | due | {{due}} |
# | points | {{points}}, in {{steps}} steps and one question |
# | time | about eight hours; the computer needs a few minutes of it |
# | you need | a training loop in PyTorch (7.8); cross-entropy (1.3) |

# %%
import torch

from attnlab import check, plots, submit

torch.manual_seed(8)  # every run of this notebook is the same

# %% [markdown]
# Each step has the same parts: *why* → *predict* → *write* → *check* → *look*. `check` shows the
# visible checks, about half of the points. The others run after you hand in, on other numbers; the
# docstring in the cell states everything they check. `check` runs on your own functions. When the
# lab is graded, a right version stands in for each earlier step, so a wrong step costs nothing in
# the next one. `check()` without a name shows where you stand.
#
# You need no GPU. Every graded step runs on the CPU of a laptop, and 8.8 works with a *pretended*
# GPU: the numbers stay on the CPU, but a tensor in the wrong place raises the error that a real GPU
# would raise.
#
# The letters **W**, **S**, **G**, **N** and **C** stand for five public lectures;
# [LECTURES.md](LECTURES.md) says which. You do not need them to do the labs.

# %% [markdown]
# ## 8.1 Adam
# *12 points, 55 minutes, difficulty 4 of 5, importance 5 of 5*
#
# Gradient descent multiplies every gradient by the same number. In a Transformer that is a poor
# choice: the gradients of an embedding are often a thousand times smaller than those of a norm, so
# a rate that suits one of them is useless or harmful for the other. **Adam** (lecture C) measures
# each weight's gradients and takes their size out. It keeps two averages per weight, one of the
# gradients and one of their squares, in which older values count less and less:
#
# $$m \leftarrow \beta_1 m + (1 - \beta_1)\, g, \qquad v \leftarrow \beta_2 v + (1 - \beta_2)\, g^2,
# \qquad p \leftarrow p - \text{lr} \cdot \frac{\hat m}{\sqrt{\hat v} + \varepsilon}$$
#
# Both averages start at 0, so at first they are too small: after one gradient, m is
# $(1 - \beta_1)\, g$. Dividing by $1 - \beta_1^t$ corrects exactly this, and the same holds for v.
# That is what the hats mean. A weight whose gradients agree in sign moves by about lr per update; a
# weight whose gradients contradict each other hardly moves.
#
# **Weight decay** pulls weights towards 0, in one of two forms. *Coupled*: add
# $\text{weight\_decay} \cdot p$ to the gradient. Then it is divided by $\sqrt{\hat v}$ like the
# rest of it, so weights with large gradients hardly decay. *Decoupled* (AdamW): multiply p by a
# number just below 1, and leave g alone. Today most models are trained with the second.
#
# An optimiser of torch is a class with groups of parameters (`self.param_groups`, dicts with
# `"params"` and numbers such as `"lr"`) and a dict for each parameter, empty at first
# (`self.state[p]`). The base class saves and loads both. You write what happens in `step`.
#
# **Predict.** Two weights have the gradients 1,000 and 0.001. How far does each of them go in the
# first update, with lr = 0.1? And a weight whose gradient is exactly 0?
#
# <details><summary>Hint 1: a question</summary>
#
# What must you remember of each parameter until the next update? Which of two parameters has made
# how many updates, if one of them had no gradient at first?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Two loops: groups, and the parameters of each. Skip a parameter without a gradient. Make its state
# if it has none yet. Count. Decay, in the form of the group. Then the two averages, their
# corrections, and the update, all in place.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `state = self.state[p]`; `if not state:` is true the first time; `torch.zeros_like(p)`.
# `m.mul_(b).add_(g, alpha=a)` computes $b\,m + a\,g$ in place, `v.addcmul_(g, g, value=a)` adds
# $a\,g^2$, and `p.addcdiv_(m, root, value=-a)` subtracts $a\,m/\text{root}$.
# </details>

# %% exercise="adam"
from attnlab.optimizers import Adam

# %%
check("adam")

# %% [markdown]
# **Look.** On the left, a bowl that is a hundred times as steep in one direction as in the other.
# Gradient descent has the largest rate that suits the steep one: it jumps from side to side and
# hardly moves along the flat one. Adam goes straight to the middle, and then too far: m has not yet
# forgotten the gradients of the way. On the right, your Adam with lr = 0.1 and four weights. Which
# of the lines lie on one another, and what is special about the fourth weight's gradients?

# %%
plots.optimizers.first_steps(Adam)

# %% [markdown]
# This is Adam's strength, and its danger. A gradient of 0.001 that is only noise moves a weight as
# far as one of 1,000 that is certain, as long as its sign stays the same. In the first updates no
# gradient had time to change its sign, so **every** weight of the model moves by about lr.

# %% [markdown]
# ## 8.2 The learning rate: `noam`
# *4 points, 20 minutes, difficulty 1 of 5, importance 4 of 5*
#
# Adam's updates have about the length lr whatever the gradients are (8.1). So the learning rate
# alone decides how far a weight goes, and one number for the whole training is a poor choice. At
# the start, a large update is a risk: Adam's two averages have seen a few batches only, and in
# post-norm the gradients of the last layers are large (6.8). At the end, large updates jump around
# the minimum. The paper's rate rises in a straight line for $t_0$ updates, then falls with the root
# of their number t (lecture C has the same formula):
#
# $$\text{lr}(t) = \frac{1}{\sqrt d}\,\min\left(\frac{1}{\sqrt t},\; \frac{t}{\sqrt{t_0}^{\,3}}
# \right)$$
#
# The first part falls, the second rises, and the smaller one counts. The factor in front makes a
# wider model take smaller steps. People call the rate *noam*, after Noam Shazeer, one of the
# authors.
#
# Updates count from 1. Torch's `LambdaLR` asks for number 0 first, so with it you write
# `lambda n: noam(n + 1, …)`, and an optimiser with lr = 1.
#
# **Predict.** At which update is the rate highest, and how high is it for d = 512 and
# $t_0$ = 4,000? What does a warm-up of twice the length do to the height?
#
# <details><summary>Hint 1: a question</summary>
#
# What are the two parts of the minimum at $t = t_0$?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# First the error for a step below 1. Then the two parts, the smaller of them, and the two factors.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# $\sqrt{t_0}^{\,3}$ is `warmup**1.5`, and `x**-0.5` is $1/\sqrt x$. `raise ValueError("…")`.
# </details>

# %% exercise="noam"
from attnlab.optimizers import noam

# %%
check("noam")

# %% [markdown]
# **Look.** Three curves: the paper's, one with twice the warm-up, and one for a model of half the
# width. A dot marks each peak. Which two curves are the same after their peaks, and why? And which
# of the two changes makes the rate higher?

# %%
plots.optimizers.warm_up_curves(noam)

# %% [markdown]
# ## 8.6 A limit for the gradient: `clip_global_norm`
# *6 points, 25 minutes, difficulty 2 of 5, importance 4 of 5*
#
# Now and then, a batch has a gradient that is ten or a thousand times as long as usual: a line of
# noise in the data, a sentence in another language, a mistake in a label. One update along such a
# gradient can undo an hour of training. The lectures leave the remedy out, but almost every large
# model is trained with it: measure the length of the gradient, and if it is above a limit, make it
# as long as the limit.
#
# $$g \leftarrow g \cdot \min\left(1, \frac{\text{limit}}{\lVert g \rVert}\right), \qquad
# \lVert g \rVert = \sqrt{\textstyle\sum_i g_i^2}$$
#
# Here g means the gradients of **all** parameters as one long vector. So the update becomes shorter
# and keeps its direction. With a limit for each tensor or for each number, the large parts would be
# cut and the small ones not: that is another direction.
#
# *Does Adam not do this already?* It divides by the size of recent gradients, so the one update
# with a long gradient is not long. But the gradient stays in Adam's average of squares for about
# $1 / (1 - \beta_2)$ updates, 1,000 of them by default, and makes all of these too short.
#
# The length itself is worth a line in the log. It grows before a training fails, and if it is
# infinite or NaN, the update must be skipped (8.9).
#
# **Predict.** The gradients of two tensors have the lengths 3 and 4. What are their lengths after
# clipping with a limit of 2.5? And with a limit of 6?
#
# <details><summary>Hint 1: a question</summary>
#
# You know the length of each tensor. How do you compute the length of all of them from these
# numbers? (Think of a right-angled triangle.)
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Collect the gradients in a list first: `parameters` may be an iterator, which you can use only
# once. Measure. Compute one factor. Multiply every gradient by it, in place.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `tensor.norm()` is the length of one tensor, whatever its shape; `torch.stack(lengths).norm()` is
# that of a list of numbers. Operations whose names end in `_` change the tensor itself.
# </details>

# %% exercise="clip_global_norm"
from attnlab.optimizers import clip_global_norm

# %%
check("clip_global_norm")

# %% [markdown]
# **Look.** A straight line is fitted to points by plain gradient descent, in batches of 8. In batch
# 60, a label is wrong by 3,000. How many updates does that cost without a limit, and with yours?
# And why is the training with a limit slower at the start?

# %%
plots.gradients.one_odd_batch(clip_global_norm)

# %% [markdown]
# ## 8.7 A batch that does not fit: `accumulate`
# *8 points, 35 minutes, difficulty 3 of 5, importance 5 of 5*
#
# The paper trained with 25,000 source tokens and 25,000 target tokens in a batch, on eight GPUs. If
# only 3,000 fit into the memory of yours, you can still make the same update: a gradient of a sum
# is the sum of the gradients. So cut the batch into **micro-batches**, compute their gradients one
# after the other, add them up, and update once. `backward` adds to `grad` by itself; this is why
# everybody has to call `zero_grad`.
#
# One thing goes wrong quietly. The loss of a batch is a mean over its **tokens**. Take a
# micro-batch of 7 tokens and one of 3, with sums of losses $s_7$ and $s_3$:
#
# $$\frac{s_7 + s_3}{10} \;\ne\; \frac12\left(\frac{s_7}{7} + \frac{s_3}{3}\right)$$
#
# On the right, the mean of the two means, each of the 3 tokens counts more than twice as much as
# each of the 7. The usual recipe, "divide every loss by the number of micro-batches", does just
# that. It is right only if all micro-batches have equally many tokens, and with padding they never
# do. (A widely used training library had this bug for years, until 2024: its losses were a bit
# worse, and nothing crashed.) This is why a `Loss` in this lab returns `Sums`: a sum, and how many
# tokens it is over.
#
# **Predict.** A model has one weight w, and the loss of a token x is w·x. The micro-batches are
# [1, 1, 1] and [5]. What is the gradient of the mean over all tokens, and what is the mean of the
# means?
#
# <details><summary>Hint 1: a question</summary>
#
# When do you know the number of all tokens? Which division can wait until then?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Drop old gradients. For each micro-batch: its loss, its gradients, and its sum and count without a
# graph. After the loop, divide every gradient once. Two cases need care: a parameter without a
# gradient, and no tokens at all.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `x.detach()` is x without its graph. `torch.stack(numbers).sum()` adds up tensors without
# dimensions. `count.clamp(min=1)` avoids a division by 0 and does not wait for the device.
# </details>

# %% exercise="accumulate"
from attnlab.train_step import accumulate

# %%
check("accumulate")

# %% [markdown]
# **Look.** Each dot is one number of a gradient: to the right, that of the whole batch of 10
# tokens; upwards, the one from micro-batches of 7 and 3. On the diagonal both are the same. On the
# left is your `accumulate`, on the right the mean of the two means. Is the right-hand one only
# longer or shorter, or does it point in another direction? What would clipping change about it?

# %%
plots.gradients.against_the_whole_batch(accumulate)

# %% [markdown]
# ## 8.11 How good is a translation? `corpus_bleu`
# *8 points, 45 minutes, difficulty 3 of 5, importance 4 of 5*
#
# Exact match is a harsh judge: for a long sentence, many translations are right. BLEU asks less:
# how many pieces of the translation are also in a translation by a person? The pieces are n-grams,
# n tokens in a row, for n from 1 to 4. The paper's 28.4 for English to German is such a number.
# Lecture G shows the idea with seven times *the*:
#
# | | |
# |---|---|
# | translation | the the the the the the the |
# | reference 1 | the cat is on the mat |
# | reference 2 | there is a cat on the mat |
#
# All seven words are in a reference, so a plain precision would be 7/7. But reference 1 has *the*
# twice, and reference 2 once. So only **two** are matched: $p_1 = 2/7$. The lectures stop here.
# Three decisions are left:
#
# $$\text{BLEU} = 100 \cdot \text{BP} \cdot \left(p_1\, p_2\, p_3\, p_4\right)^{1/4}, \qquad
# \text{BP} = \min\left(1,\; e^{\,1 - r/c}\right)$$
#
# - **The mean is geometric.** From n to n + 1, precisions fall by about the same factor; in an
#   arithmetic mean, $p_1$ would drown the others. If one precision is 0, so is the result.
# - **Short translations pay.** "the cat" alone would have $p_1 = p_2 = 1$. So c, the length of all
#   translations, is compared with r, that of their references. There is no penalty for long ones,
#   because each word too many already lowers $p_n$.
# - **Counts are added up over the corpus first.** A single sentence often has no matched 4-gram and
#   would count as 0. So the score of a corpus is not the mean of its sentences' scores, just as in
#   8.7 the loss of a batch is not the mean of means.
#
# (If you report a score, use `sacrebleu`. It cuts sentences into tokens in a fixed way, so that
# numbers of two papers can be compared. Your function agrees with it to the last digits.)
#
# **Predict.** Seven times *the* again: what is its BLEU with `max_n=4`? A translation has half the
# length of its reference and every word of it is right: what is its BLEU at most?
#
# <details><summary>Hint 1: a question</summary>
#
# Which numbers do you need from each sentence, so that everything else can wait until all
# sentences are counted?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# For each sentence and each n: count its n-grams, find for each of them the most that one reference
# has, and add the smaller of the two counts to the matches. Add up lengths: the sentence's own, and
# that of the closest reference. At the end: precisions, their mean, BP.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `Counter(tuple(s[i : i + n]) for i in range(len(s) - n + 1))` counts n-grams. For two Counters,
# `a & b` has the smaller counts and `a | b` the larger ones. `min(lengths, key=…)` with a key that
# returns a pair decides by its first number, and if that is equal, by its second.
# </details>

# %% exercise="corpus_bleu"
from attnlab.metrics import corpus_bleu

# %%
check("corpus_bleu")

# %% [markdown]
# **Look.** Left, the n-grams of one translation with repeated words: all of them, those that are
# somewhere in the reference, and those that your function counts as matched. Right, the score of
# 200 sentences in which more and more words are replaced by others. How many words in ten may be
# wrong for a BLEU of 30? And why is the curve for single words a straight line?

# %%
plots.bleu.matches_and_scores(corpus_bleu)

# %% [markdown]
# ## What you can now explain
#
# - why a training starts with small updates, and where its learning rate is highest;
# - what a single odd batch can do, and why the limit is one for all gradients;
# - why the mean of means is not the mean, for the gradients of micro-batches and for BLEU.

# %% [markdown] free_text="explain" points=4
# ## In your own words
# *4 points, marked by a TA*
#
# A friend trains lab 7's translator on a GPU for the first time. The loss falls as on your laptop
# for some hundred updates, then it is `nan` and stays so. A second run, with the same code on the
# CPU, never shows this. Explain in four to six sentences: which three numbers would you write to
# the log at every update to find the cause, and what would each of them tell you? Which parts of
# this lab guard against such a failure, and in which order do they act within one update?
#
# <!-- BEGIN SOLUTION -->
# The log should have the length of all gradients before clipping, the learning rate, and the scale
# of the loss scaler if there is one (or the largest activation). If the length of the gradients
# grows for some updates before the `nan`, the updates are too large: the warm-up is too short, the
# rate too high, or clipping does not work. If the length is inf at once while the weights are fine,
# numbers of 16 bits overflowed: the scaler should have skipped this update and halved its scale;
# without it, inf enters Adam's averages and every weight is `nan` from then on. The CPU run shows
# nothing because it computes in float32. The guards act in this order: the loss is multiplied by
# the scale, gradients are computed and divided by the scale again, an update with inf or nan is
# skipped, then gradients are clipped together, and then Adam makes an update whose length the
# schedule decides.
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
