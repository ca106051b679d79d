"""Lab 8, training for real: the source of its notebook (`lab build` makes it).

It runs as a script: `python solutions/lab08_training.py`. If the answer is a function of the
library, an exercise's cell holds one import line; its task is that function's docstring.
"""

# %% [markdown]
# # Lab 8: {{title}}
#
# In lab 7 you built a Transformer and trained it with an optimiser, a schedule and a limit for
# gradients that were given. In this lab you build them, and everything else that a training of many
# hours needs: batches without waste, a loss that does not ask for certainty, checkpoints and their
# mean, gradients from several small batches, a device that may be a GPU, and numbers of 16 bits. At
# the end a Trainer made of these parts trains lab 7's translator of numbers, and the same command
# would run on a cluster.
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
from attnlab.metrics import mfu
from attnlab.notebook.review import compare_predictions, try_versions
from attnlab.parameter_count import count_params
from attnlab.transformer_config import TransformerConfig

torch.manual_seed(8)  # every run of this notebook is the same

plots.one_update.one_update()

# %% [markdown]
# What happens in one update of a training, and what happens around it. Each box is a step of this
# lab. (Point at a box to read what it is for.) You build the parts one by one, each small and
# exact: most mistakes in a training raise no error, they only make the model a little worse than it
# could be. The last part of the lab puts the boxes together.
#
# Each step has the same parts: *why* → *predict* → *write* → *check* → *look*. `check` shows the
# visible checks, about half of the points. The others run after you hand in, on other numbers; the
# docstring in the cell states everything they check. `check` runs on your own functions. When the
# lab is graded, a right version replaces each earlier step, so a wrong step costs nothing in the
# next one; 8.7 names the one exception. `check()` without a name shows where you stand.
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
# of the lines are on top of each other, and what is special about the fourth weight's gradients?

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
# ## 8.3 Targets with room for doubt: `smooth_targets`
# *12 points, 45 minutes, difficulty 3 of 5, importance 4 of 5*
#
# Cross-entropy against a one-hot target is never satisfied. The right symbol has probability 0.999?
# Then 0.9999 is better, and the logits can grow for ever. For language this asks too much: often
# several words would be right, and a model that is certain of everything pays dearly when it is
# wrong. **Label smoothing** (lecture C; the paper takes $\varepsilon = 0.1$) takes $\varepsilon$
# from the right symbol and divides it among others. Then the loss compares two distributions:
#
# $$\text{loss} = -\sum_v q_v \log p_v, \qquad p = \text{softmax}(\text{logits})$$
#
# Among *which* others? Three answers are in use, and a paper that says "smoothing of 0.1" rarely
# says which one is meant:
#
# | style | the right symbol | each of the others | seen in |
# |---|---|---|---|
# | `"deck"` | $1 - \varepsilon$ | $\varepsilon / (n - 1)$ | lecture C |
# | `"torch"` | $1 - \varepsilon + \varepsilon / n$ | $\varepsilon / n$ | torch, the paper's code |
# | `"pad"` | $1 - \varepsilon$ | $\varepsilon / (n - 2)$; padding 0 | the Annotated Transformer |
#
# Here n is the number of symbols (V in the code). In `"torch"`, *all* n symbols share
# $\varepsilon$, and the right one is one of them. Two things are easily missed:
#
# - **Padding as a target** teaches nothing. Its row of q is 0 throughout, so it adds nothing to the
#   sum; and it must not count in the number that you divide by, either.
# - **The loss has a floor.** The best that a model can do is p = q, and then its loss is the
#   entropy of q, not 0. The divergence $\sum q \log (q/p)$, which some toolkits use, is smaller by
#   exactly that entropy and has the same gradients. So losses of two toolkits can be compared only
#   if you know both conventions. (Validation losses are therefore reported without smoothing.)
#
# Write two functions: the targets, and the loss of a batch.
#
# **Predict.** n = 5 and $\varepsilon = 0.1$. A model gives the right symbol probability 0.9 and the
# others 0.025 each. Training goes on, and it gives 0.999 to the right one. In the style `"deck"`,
# does its loss fall or rise?
#
# <details><summary>Hint 1: a question</summary>
#
# What do the rows of q sum to, in each style? And which entries of a row are equal to each other?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# The targets: errors first. Fill a table (N, V) with the share of the others, then correct what is
# different: in `"pad"` one column, in every row one entry, and at the end whole rows. The loss:
# lab 1's `log_softmax` times the targets, a sum over symbols, a sum over targets, one division.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `torch.full((N, V), share)`; `table.scatter_(1, y[:, None], right)` writes one entry into each
# row; `table[y == pad] = 0` writes rows. `if pad is not None`, because 0 is false.
# `(y != pad).sum().clamp(min=1)` is a number that you can divide by.
# </details>

# %% exercise="smooth_targets"
from attnlab.losses import smooth_targets, label_smoothing_loss  # noqa: F401, I001 - in this order

# %%
check("smooth_targets")

# %% [markdown]
# **Look.** One prediction among five symbols. To the right, the model is more certain of the right
# one: its logit is larger than the others by that much. Without smoothing the line falls for ever.
# With it, each line has a lowest point (a dot; point at it to read its numbers), and after it, more
# certainty costs. How far to the right may a logit grow before it is punished, for
# $\varepsilon = 0.1$ and for 0.4? And why are the lowest points of the three styles not at the same
# height?

# %%
plots.smoothing.penalty(label_smoothing_loss)

# %% [markdown]
# ## 8.4 Batches without waste: `bucket_batches`
# *8 points, 40 minutes, difficulty 3 of 5, importance 4 of 5*
#
# A batch is a rectangle: every row is padded to the longest. If sentences are drawn at random, a
# short one is often next to a long one, and the computer multiplies padding. Lecture C has the
# remedy in half a sentence: group sentences by approximate length, **but still shuffle**. The two
# halves pull in opposite directions:
#
# - *Sorted* batches waste nearly nothing. But training would see all short sentences first and all
#   long ones last, in every epoch, and always the same sentences together. Neighbouring updates
#   would pull in the same direction, and the model would forget the short ones meanwhile.
# - *Shuffled* sentences give good updates and a lot of padding.
#
# You can have both, because the order *of* batches and the order *in* which batches are filled are
# two things. And lengths have many ties: sentences of the same length can be swapped at no cost.
#
# The size of a batch is counted in **tokens**, padding included, and not in sentences: a batch
# costs rows × longest, and memory and time depend on that. So a batch of short sentences has many
# rows, a batch of long ones has few, and all updates are about equally large.
#
# The order comes from a seed, so that a training can be repeated, and each epoch takes another
# seed. Use a generator of your own: if you seed the global one at each epoch, dropout draws the
# same numbers again, too.
#
# **Predict.** Six sentences have the lengths 2, 9, 3, 10, 2, 10. In batches of two, in this order,
# which share of the tokens is padding? And if they are sorted first?
#
# <details><summary>Hint 1: a question</summary>
#
# If sentences come in the order of their lengths, which one is the longest of a batch so far? What
# does a batch cost after the next sentence has joined it?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# An error for a sentence that fits in no batch. Put the indices in random order, then sort them by
# length with a *stable* sort, which leaves equal ones in their random order. Go through them and
# begin a new batch whenever the next sentence would make this one too expensive. Shuffle the
# finished batches.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `generator = torch.Generator().manual_seed(seed)` and `torch.randperm(n, generator=generator)`, or
# `random.Random(seed)` with its `shuffle`. `numbers.sort(key=lambda i: lengths[i])` is stable.
# </details>

# %% exercise="bucket_batches"
from attnlab.buckets import bucket_batches

# %%
check("bucket_batches")

# %% [markdown]
# **Look.** Three thousand of lab 2's dates, as people write them, in batches of at most 512 tokens:
# above in random order, below in your buckets. Each rectangle is one batch with its longest
# sentence on top, dark where there is a symbol and light where there is padding. (You see twelve
# batches of each; the numbers are those of all.) Why are all rectangles about equally large, and
# why are only those below tall and narrow? In which order do wide and narrow ones come?

# %%
plots.buckets.before_and_after(bucket_batches)

# %% [markdown]
# ## 8.5 The mean of the last checkpoints: `average_checkpoints`
# *8 points, 30 minutes, difficulty 2 of 5, importance 3 of 5*
#
# At the end of a training the weights keep moving. Each batch pulls them somewhere else, and they
# wander around a good place, at a distance that the learning rate decides. Every checkpoint is a
# point of this walk, and the *mean* of several is nearer to its middle than any of them:
#
# $$\bar\theta = \frac{1}{k} \sum_{i=1}^{k} \theta_i$$
#
# Lecture C: the last five checkpoints, written every ten minutes. It costs nothing in training and
# nothing in use, because the result is one model. It works for points of *one* walk: two models
# that were trained from different first weights have their features in different places, and the
# mean of the two is neither.
#
# It looks like one line. In practice four things go wrong:
#
# - A state dict's tensors **are** the model's, not copies. `total += x` on the first one adds into
#   that checkpoint.
# - Not everything in it is a weight. The mean of the step counters 100, 200 and 300 says nothing
#   about the newest weights.
# - In **half precision** a sum overflows long before a mean does: float16 ends at 65,504.
# - **Tied** tables (7.3) are one tensor with two names. (What does a deep copy make of them?)
#
# **Predict.** A friend keeps one running result and does `mean = (mean + new) / 2` for each new
# checkpoint. A weight is 1, then 2, then 6. What does the friend get, and how much does each of the
# three count?
#
# <details><summary>Hint 1: a question</summary>
#
# Which of your tensors did you make yourself, and which belong to the caller? Which operations
# write into the tensor on their left?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Errors first: none, other names, other shapes. Then for each name: not a floating-point tensor?
# Take a copy of the last. Otherwise start with zeros in a wide dtype, add all, divide, and go back
# to the dtype of the weights.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `x.is_floating_point()`; `torch.promote_types(x.dtype, torch.float32)` is float32 or wider;
# `torch.zeros_like(x, dtype=wide)`; `x.clone()`.
# </details>

# %% exercise="average_checkpoints"
from attnlab.checkpoints import average_checkpoints

# %%
check("average_checkpoints")

# %% [markdown]
# **Look.** A small network learns which word follows three others in lab 7's French numbers, at a
# constant learning rate. The thin line is the validation loss of each checkpoint: it stops falling
# and begins to jump. The thick one is the loss of the mean of the last five, made by your function.
# Where does averaging help, and where does it hurt? Why?

# %%
plots.averaging.loss_of_the_mean(average_checkpoints)

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
# every loop must call `zero_grad`.
#
# One thing goes wrong quietly. The loss of a batch is a mean over its **tokens**. Take a
# micro-batch of 7 tokens and one of 3, with sums of losses $s_7$ and $s_3$:
#
# $$\frac{s_7 + s_3}{10} \;\ne\; \frac12\left(\frac{s_7}{7} + \frac{s_3}{3}\right)$$
#
# On the right, the mean of the two means, each of the 3 tokens counts more than twice as much as
# each of the 7. The usual recipe, "divide every loss by the number of micro-batches", does just
# that. It is right only if all micro-batches have equally many tokens, and with padding they never
# do. (Hugging Face's `transformers` did that until October 2024, when its pull request 34191 fixed
# it; nothing had crashed.) This is why a `Loss` in this lab returns `Sums`: a sum, and how many
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
# One more check, in grading, makes three updates with everything that you have written so far:
# `noam`, `accumulate`, `clip_global_norm` and `Adam`, in this order. There, an earlier mistake
# counts.
#
# **Look.** Each dot is one number of a gradient: to the right, that of the whole batch of 10
# tokens; upwards, the one from micro-batches of 7 and 3. On the diagonal both are the same. On the
# left is your `accumulate`, on the right the mean of the two means. Is the right-hand one only
# longer or shorter, or does it point in another direction? What would clipping change about it?

# %%
plots.gradients.against_the_whole_batch(accumulate)

# %% [markdown]
# ## 8.8 On any device
# *8 points, 60 minutes, difficulty 3 of 5, importance 5 of 5*
#
# A GPU has a memory of its own. A tensor is in that memory or in the CPU's, and an operation needs
# all its tensors in one place; the lectures show a GPU as a faster CPU, and leave this out. Three
# kinds of mistakes follow from it:
#
# - **Something stays behind.** `module.to(device)` moves parameters and *buffers*
#   (`self.register_buffer(name, tensor)`: part of the module, and not trained). A plain attribute
#   stays where it was, and so does a mask that is made on the CPU.
# - **Something travels too often.** A copy from one memory to the other is slow. A model is moved
#   once, a batch once, and what stays the same is not copied in every call.
# - **Python waits.** The CPU only writes down what the GPU should do, and runs ahead. As soon as it
#   needs a number (`loss.item()`, `print(loss)`, `if loss > 3`), it waits until the GPU has
#   finished everything, and the GPU has nothing to do until Python catches up.
#
# Code that is *device-agnostic* names no device. It gets one as an argument, or asks a tensor that
# it was given: `x.device`. So it runs on a CPU, an NVIDIA GPU ("cuda") or an Apple GPU ("mps").
#
# You write three things: `move` brings a batch to a device (2 points); `PositionalAttention` has a
# table and a mask (2.5 points); `train_on` is a training loop (3.5 points).
#
# **No GPU? A pretended one.** `with PretendGPU() as gpu:` lets torch say that there is one. Each
# tensor has a place there, mixing places raises torch's own error, and `gpu.counts` has the number
# of copies and waits. The numbers themselves stay on the CPU. Here is a first loop as many people
# write it. It runs without an error on a GPU.


# %%
from attnlab.attention import scaled_dot_product_attention
from attnlab.devices import PretendGPU, map_tensors  # noqa: F401
from attnlab.masks import causal_mask
from attnlab.positions import sinusoidal_pe


class FirstAttention(torch.nn.Module):
    def __init__(self, d_model, max_len=100):
        super().__init__()
        self.qkv = torch.nn.Linear(d_model, 3 * d_model, bias=False)
        self.table = sinusoidal_pe(max_len, d_model)

    def forward(self, x):
        count = x.shape[1]
        words = x + self.table[:count].to(x.device)
        mask = causal_mask(count).to(x.device)
        return scaled_dot_product_attention(*self.qkv(words).chunk(3, -1), mask)[0]


def first_loop(device, network, loss, batches, make_optimizer):
    adam = make_optimizer(list(network.parameters()))
    curve = []
    for words in batches:
        network.to(device)
        value = loss(network, map_tensors(words, lambda tensor: tensor.to(device)))
        adam.zero_grad()
        value.backward()
        adam.step()
        curve.append(value.item())
        network.to("cpu")
    return curve


# %% [markdown]
# **Predict.** A batch has two tensors; the model has one weight, and its gradient travels with it.
# How many copies to the GPU does `first_loop` make for each update, how many back, and how often
# does it wait? Write the three numbers down; the picture below counts.
#
# <details><summary>Hint 1: a question</summary>
#
# For each tensor that your code makes: on which device is it made, and who decides that?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# `move`: `map_tensors(batch, change)` opens every structure; write `change` for one tensor.
# `PositionalAttention`: register the table; take the mask's device from `x`. `train_on`: model,
# optimizer, state, in this order; then the loop, which keeps each loss as a tensor without its
# graph; one call at the end makes numbers of all of them.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `tensor.pin_memory()` returns a copy in memory that a GPU can read by itself, and
# `tensor.to(device, non_blocking=True)` does not wait. `optimizer.load_state_dict(state)` puts the
# state where the parameters are *now*. `torch.stack(losses).tolist()` waits once.
# </details>

# %% exercise="device_agnostic"
from attnlab.device_agnostic import move, PositionalAttention, train_on  # noqa: F401, I001

# %%
check("device_agnostic")

# %% [markdown]
# **Look.** Copies and waits for each update, before and after. Both train the same weights.

# %%
plots.devices.copies_and_waits(
    {"first loop": (FirstAttention, first_loop), "yours": (PositionalAttention, train_on)}
)

# %% [markdown]
# The first loop copies four tensors to the GPU that have not changed at all, or only there. Its
# waits are worse: after each of them the GPU does nothing until Python has sent the next piece of
# work. (A copy to the CPU waits, too, because Python might read it.) The two copies that are left
# are the batch, and they run while the GPU computes.
#
# What a pretended GPU cannot show is time. docs/pretend-gpu.md in the course's repository lists
# what it does and what it does not.

# %% [markdown]
# ## 8.9 Sixteen bits
# *14 points, 75 minutes, difficulty 4 of 5, importance 4 of 5*
#
# A product of matrices in 16 bits needs half the memory, and on a GPU a fraction of the time. Two
# formats divide their 16 bits differently:
#
# | | exponent | digits | largest | smallest above 0 | step after 1 |
# |---|---|---|---|---|---|
# | float32 | 8 bits | 23 bits | 3.4e38 | 1.4e-45 | 1.2e-7 |
# | bfloat16 | 8 bits | 7 bits | 3.4e38 | 9.2e-41 | 0.0078 |
# | float16 | 5 bits | 10 bits | 65,504 | 6.0e-8 | 0.00098 |
#
# **Few digits: mixed precision.** The lectures train in 32 bits; 16 have been usual since 2018. In
# bfloat16, a weight of 1 that gets an update of 0.003 stays 1. So the weights, their gradients and
# Adam's averages stay float32. Only inside the context `torch.autocast(kind, dtype)`, torch
# converts the *inputs of matrix products* on the way, and leaves what needs digits, such as the
# loss, in float32. The model is never converted.
#
# **A small range: the loss scaler.** In float16, a gradient below 3e-8 becomes 0, and gradients
# shrink while a model learns. They are proportional to the loss. So the loss is multiplied by a
# large number, the *scale*, before the backward pass, and the gradients are divided by it
# afterwards, in float32. But which number? If it is too large, some gradients become inf. Then this
# update is **skipped**, the scale is halved, and training goes on; after 2,000 good updates it is
# doubled.
# `torch.amp.GradScaler` does all of this:
#
# | method | what it does |
# |---|---|
# | `scale(loss)` | the loss times the scale |
# | `unscale_(…)` | divides the gradients by the scale, and looks for inf and nan |
# | `step(…)` | the optimizer's step if it found none, or else nothing |
# | `update()` | halves the scale if it found some, or counts a good update |
#
# bfloat16 has float32's range: there, `enabled=False` makes a scaler that never scales or skips.
# Write `scaler_for` (1.5 points), `update` (8.5 points), which also clips (8.6), and `mixed_step`
# (4 points), which puts everything together with a schedule. All of it runs on a CPU.
#
# **Predict.** The limit for clipping is 1, the true length of the gradients 0.5, and the scale
# 65,536. What does the update look like if somebody clips *before* `unscale_`?
#
# <details><summary>Hint 1: a question</summary>
#
# After `scaler.step`, nothing tells you whether it did anything. Which number of the scaler changes
# if, and only if, inf was found?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# `update`: remember the scale; true size; clip; step; update of the scale; compare the two scales.
# (Think of a scale that has just doubled.) `mixed_step`: clear gradients; model and loss inside
# `autocast`; the rest outside; the schedule last, under one condition.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `torch.amp.GradScaler(device.type, scale, enabled=…)`, `scaler.get_scale()`,
# `scaler.unscale_` and `scaler.step` want the optimizer; a limit of `math.inf` limits nothing.
# `autocast(precision, device)` is imported for you; a parameter of the model knows the device.
# </details>

# %% exercise="mixed_precision"
from attnlab.train_step import scaler_for, update, mixed_step  # noqa: F401, I001

# %%
check("mixed_precision")

# %% [markdown]
# **Look.** Twelve updates with your functions; the fourth and the eighth meet a gradient that is
# inf. The weights do not change there, the scale has halved, and the learning rate waits one
# update.

# %%
plots.precision.skipped_updates(mixed_step, scaler_for)

# %% [markdown]
# ## 8.10 Predict, then run: what a training costs
# *3 points, 25 minutes, difficulty 2 of 5, importance 4 of 5*
#
# Lecture W says that the base model cost $3.3 \cdot 10^{18}$ operations. Where does such a number
# come from? There are two ways to count, and they answer different questions.
#
# **From the device**: number of devices × seconds × operations per second. The paper took 8 P100
# for 12 hours, at $9.5 \cdot 10^{12}$ operations per second each: $3.28 \cdot 10^{18}$. This is
# what the devices *had time for*, whatever they did.
#
# **From the model**: a token costs 6 operations for each parameter that it passes, an addition and
# a multiplication on the way forward and twice as many on the way back. Divided by the first
# number, this is the **MFU** (model FLOPs utilisation), the share of the devices' speed that the
# training really used:
#
# $$\text{MFU} = \frac{6 \cdot \text{parameters} \cdot \text{tokens per second}}{\text{operations
# per second that the devices can do}}$$
#
# Say what a token is! In a model with a decoder only, each token passes all parameters. In the
# paper's, a *source* token passes the encoder alone (18.9 million parameters), and a *target* token
# the decoder (25.2 million) and the head (18.9 million). A batch has 25,000 of each, and there are
# 100,000 updates.
#
# Predict five numbers and write them down; then run the cell under **Look**. If a number was wrong,
# correct it and be able to say why. The numbers that you hand in count.
#
# - **P1** The *big* model trained for 3.5 days on the same eight devices. How many operations did
#   they have time for, in units of $10^{18}$?
# - **P2** What was the MFU of the base model's training, from 0 to 1? Two digits are enough.
# - **P3** A model trains in float32 with your Adam. Between `backward()` and the end of `step()`,
#   how many bytes are kept for each parameter? (Not for activations.)
# - **P4** The paper's rate has no value at t = 0: in Python, `0**-0.5` is an error. In torch, `t`
#   is `torch.tensor(0.0)`. What is `torch.minimum(t**-0.5, t * 4000**-1.5)`?
# - **P5** Lecture C: the base model is the mean of "the last 5 checkpoints, which were written at
#   10-minute interval", in a run of 12 hours. Which share of the run, from 0 to 1, is between the
#   first of the five and the last?

# %% exercise="predictions"
predictions = {}
# TODO: write five lines such as predictions["P1"] = 7.
### BEGIN SOLUTION
predictions["P1"] = 23.0
predictions["P2"] = 0.29
predictions["P3"] = 16
predictions["P4"] = 0.0
predictions["P5"] = 0.056
### END SOLUTION

# %%
check("predictions")

# %% [markdown]
# **Look.** Your predictions next to the computed numbers. (For P3, torch's own Adam says what it
# keeps.)

# %%
base = TransformerConfig.of_size("base", 37_000)


def share_used():
    per_second = 25_000 * 100_000 / (12 * 3600)  # pairs of a source and a target token
    return mfu(per_second, count_params(base), 8 * 9.5e12)


def bytes_kept():
    weight = torch.nn.Parameter(torch.ones(1000))
    weight.sum().backward()
    optimizer = Adam([weight])
    optimizer.step()
    state = [x for x in optimizer.state[weight].values() if torch.is_tensor(x) and x.numel() > 1]
    return sum(x.nbytes for x in [weight, weight.grad, *state]) / weight.numel()


t = torch.tensor(0.0)
compare_predictions(
    predictions,
    {
        "P1": lambda: 8 * 3.5 * 24 * 3600 * 9.5e12 / 1e18,
        "P2": share_used,
        "P3": bytes_kept,
        "P4": lambda: torch.minimum(t**-0.5, t * 4000**-1.5),
        "P5": lambda: 4 * 10 / (12 * 60),
    },
)

# %% [markdown]
# If you let all 50,000 tokens pass all parameters, you get twice the right share: each half of the
# batch is then counted in both halves of the model. The authors of PaLM, who made the measure
# known, report 0.46 for theirs. The rest is waiting: for memory, for other devices, and for padding
# that is computed and never used (8.4).

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
# - **Short translations are penalised.** "the cat" alone would have $p_1 = p_2 = 1$. So c, the
#   length of all translations, is compared with r, that of their references. There is no penalty
#   for long ones, because each extra word already lowers $p_n$.
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
# ## 8.12 Errata hunt
# *2 points, 20 minutes, difficulty 2 of 5, importance 3 of 5*
#
# Three slides of lecture C to look at twice. For each, write the number that follows from the slide
# and the other number that is asked for.
#
# - **C2** (a slip) Adam's first line is $m_{t+1} = \beta_1 m_t - (1 - \beta_1) \nabla\ell(x_t)$;
#   the other lines are those of 8.1. Take $f(x) = x^2$ from x = 1 with lr = 0.1. *Slide*: where is
#   x after one update? *Right*: where is it with your Adam?
# - **C3** (a slip) "Token Embedding: 512 (base), 1024 (large)", and "FFN dim=2048" for both. Take
#   the big model of 7.5, with 37,000 symbols in one table. *Slide*: how many **million** parameters
#   does it have? *Right*: how many with lecture W's rule, d_ff = 4 d? (`attnlab.parameter_count`
#   counts.)
# - **C6** (what follows?) The slide's targets have $1 - \varepsilon$ at the true word and
#   $\varepsilon / (n - 1)$ at each other one. Take $\varepsilon$ = 0.1 and n = 5 words. *Slide*:
#   what does the true word get? *Right*: torch's `cross_entropy(…, label_smoothing=e)` gives $e/n$
#   to *every* word, and $1 - e$ besides to the true one. Which `e` makes the slide's targets?

# %% exercise="errata"
errata = {}
# TODO: write three lines such as errata["C2"] = (slide, right, "why, in four words or more").
# Let code compute the numbers if it can.
### BEGIN SOLUTION
errata["C2"] = (1.1, 0.9, "an average adds the new gradient; with the minus, x goes uphill")
errata["C3"] = (163.9, 214.2, "the big model of the paper has d_ff = 4096")
errata["C6"] = (0.9, 0.125, "a convention: torch gives the true word a share of e, too")
### END SOLUTION

# %%
check("errata")

# %% [markdown]
# ## 8.13 Test somebody else's Adam
# *3 points, 30 minutes, difficulty 3 of 5, importance 3 of 5*
#
# A wrong optimiser trains, too, only worse, and its owner never learns that it could be better. The
# starter code of a public course once had $1 - \beta_1$ in both averages. Write a test that takes a
# class, lets a right `Adam` pass silently, and raises `AssertionError` for a wrong one. It is tried
# on more than twenty wrong versions of 8.1 and a few right ones. Your points are the share of wrong
# versions that it rejects, times the share of right ones that it accepts.
#
# You have something to compare with: `torch.optim.Adam`, and `torch.optim.AdamW` for decoupled
# decay. (The default of its `weight_decay` is 0.01.) So the question is not *what* is right, but
# **which inputs distinguish right from wrong**. The usual ones do not: with gradients of size 1 and
# `eps` = 1e-8, nothing shows where `eps` is added.
#
# **Predict.** A wrong version adds `eps` inside the root. With `eps` = 1e-8, which gradients show
# it: large ones, tiny ones, or both?
#
# <details><summary>Hint 1: a question</summary>
#
# Which numbers can you choose? Name a wrong version for each of them that nothing else would find.
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# A function that makes both optimisers with the same numbers, gives them the same gradients for a
# few updates, and compares. Call it for both forms of decay, several `eps`, and gradients of
# several sizes, zeros too. Let one parameter have no gradient at first, and another one later. Use
# two groups, and change a number between two updates.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `[torch.nn.Parameter(p.detach().clone()) for p in mine]` makes copies to compare with;
# `impl(params, lr, betas, eps, weight_decay, decoupled_weight_decay=True)`;
# `torch.allclose(a, b, rtol=1e-9, atol=1e-9)`.
# </details>


# %% exercise="test_adam"
def test_adam(impl):
    """Let a right version of Adam pass; raise AssertionError if one of its updates is wrong.

    Args:
        impl: a class, called as ``impl(params, lr, betas, eps, weight_decay,
            decoupled_weight_decay=…)``; it should keep every promise of 8.1.

    Right versions differ in their last digits: allow 1e-9 in float64.
    """
    ### BEGIN SOLUTION
    random = torch.Generator().manual_seed(0)

    def compare(kind, decoupled, eps, decay, size):
        first = [torch.randn(n, generator=random, dtype=torch.float64) for n in (3, 4, 5)]
        mine, theirs = ([torch.nn.Parameter(x.clone()) for x in first] for _ in range(2))
        groups = [[{"params": p[:2], "lr": 0.03}, {"params": p[2:]}] for p in (mine, theirs)]
        numbers = (0.1, (0.7, 0.9), eps, decay)
        ours = impl(groups[0], *numbers, decoupled_weight_decay=decoupled)
        torchs = kind(groups[1], *numbers)
        for number in range(6):
            for place, (p, q) in enumerate(zip(mine, theirs, strict=True)):
                grad = size * torch.randn(p.shape, generator=random, dtype=torch.float64)
                missing = (place == 0 and number < 3) or (place == 1 and number == 4)
                p.grad, q.grad = (None, None) if missing else (grad, grad.clone())
            ours.step()
            torchs.step()
            for p, q in zip(mine, theirs, strict=True):
                assert torch.allclose(p, q, rtol=1e-9, atol=1e-9), f"eps {eps}, decay {decay}"
            for optimizer in (ours, torchs):
                optimizer.param_groups[0]["lr"] *= 1.5

    for kind, decoupled in ((torch.optim.Adam, False), (torch.optim.AdamW, True)):
        for eps in (1e-8, 1e-3, 0.1):
            for decay in (0.0, 0.2):
                for size in (0.0, 1e-6, 1.0):
                    compare(kind, decoupled, eps, decay, size)
    ### END SOLUTION


# %%
check("test_adam")


# %% [markdown]
# **Look.** Your own class should pass. The second one goes uphill, and the third has an `eps` of
# its own, whatever it is given. Does your test say why?


# %%
class Uphill(Adam):
    def step(self, closure=None):
        for weight in [w for numbers in self.param_groups for w in numbers["params"]]:
            if weight.grad is not None:
                weight.grad.neg_()
        return super().step(closure)


class OwnEps(Adam):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, *args, **kwargs):
        super().__init__(params, lr, betas, 1e-8, *args, **kwargs)


try_versions(test_adam, Adam, Uphill, OwnEps)

# %% [markdown]
# ## The Trainer, with your parts
#
# `attnlab.training.Trainer` is a file of about 350 lines. It has a loop, checkpoints and a log, and
# everything else it gets as functions: yours. The next cell writes them to a file, `my_parts.py`,
# with whatever they use. From then on they are a program for any machine:
#
#     python -m attnlab.train numbers --parts my_parts.py
#     python -m attnlab.train numbers --parts my_parts.py --set device=cuda --set dtype=bf16
#     torchrun --nproc-per-node 2 -m attnlab.train numbers --parts my_parts.py
#
# `numbers` is lab 7's third task, numbers in English and French words. (`--help` lists all
# settings.) With `torchrun`, several processes train one model. Each takes its share of every
# batch, and before the update they add up their gradients, which is 8.7 with several processes
# instead of several micro-batches. So the weights are the same, and on a cluster with two GPUs the
# time is nearly halved.
#
# **Predict.** Four trainings of 400 updates follow, on this machine's CPU: float32, bfloat16,
# compiled (`torch.compile` writes a program in C++ for your model, if there is a compiler), and in
# two processes. Which of them will end with exactly the same loss as the first? Which need more
# memory, and which will be faster?

# %%
from attnlab.models import number_words
from attnlab.notebook.parts_file import save_parts

my_parts = save_parts(
    "my_parts.py",
    ["Adam", "bucket_batches", "clip_global_norm", "accumulate", "move", "scaler_for", "update"],
)
trainings = number_words.train_all(my_parts)  # one to three minutes

# %%
plots.training.ways(trainings, corpus_bleu)

# %% [markdown]
# In our own run, on two cores that others used as well, the four trainings took 111 seconds of CPU
# time. All of them end with 97.6 % to 97.8 % of the numbers right and with BLEU above 99. But no
# two losses are equal: they were from 0.0071 to 0.0100. The first updates agree to the last digits.
# Then each sum in another order is a rounding error, and training makes small differences larger.
# So two right trainings agree in what they can do, and not in their weights.
#
# And the speed? On our CPU, float32 was the fastest: 19,000 tokens per second, against 12,000 to
# 13,000. In bfloat16, the products were faster, and torch's attention for the CPU was much slower.
# A compiler works for some seconds first, which 400 updates do not pay back. Two processes had to
# share two cores with other programs, and they wait for each other at every update. A GPU has units
# for products in 16 bits, and a cluster has a GPU for each process: these three were invented for
# them. Lecture C trains for 12 hours on 8 GPUs; with this Trainer, that would be the last of the
# commands above.
#
# **If this machine has a GPU**, the next cell trains on it. If not, it says what it would show; no
# point depends on it.

# %%
on_a_gpu = number_words.train_all(my_parts, torch.device("cuda"))

# %%
plots.training.ways(on_a_gpu, corpus_bleu)

# %% [markdown]
# ## What you can now explain
#
# - what Adam's two averages are for, and why its first updates are all of one length;
# - why a training starts with small updates, and where its learning rate is highest;
# - what label smoothing takes from the right symbol, which symbols get it, and why the loss is
#   never 0;
# - how batches can be full, nearly without padding, and still come in random order;
# - when the mean of some checkpoints is better than each of them;
# - what a single odd batch can do, and why the limit is one for all gradients;
# - why the mean of means is not the mean, for the gradients of micro-batches and for BLEU;
# - what must be on the device, what makes Python wait, and why neither shows on a CPU;
# - which numbers may have 16 bits, and what happens to an update that meets inf.

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
# <!-- BEGIN MARK SCHEME -->
# - 1: logs the length of the gradients before clipping, and says what it tells: it grows for some
#   updates before the `nan` (updates too large), or it is inf at once (an overflow in 16 bits)
# - 1: logs two more numbers, each with what it tells: learning rate, scale of the loss or number of
#   skipped updates, largest activation, loss of each batch
# - 1: names the guards: scaler that skips and halves, clipping, warm-up; and that inf in Adam's
#   averages spoils every later update
# - 1: their order: true size (unscale), skip if not finite, clip all together, Adam with the
#   schedule's rate
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
