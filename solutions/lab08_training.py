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
# ## What you can now explain
#
# - why a training starts with small updates, and where its learning rate is highest.

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
