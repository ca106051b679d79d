"""Lab 0, setting up: the source of its notebook (`lab build` makes the notebooks from it).

It runs as it stands: `python solutions/lab00_setup.py`.
"""

# %% [markdown]
# # Lab 0: {{title}}
#
# In half an hour you will know that your machine is ready, what `check` tells you, and how to hand
# in your work.
#
# | | |
# |---|---|
# | due | {{due}} |
# | points | {{points}}, which do not count: they show how points work |
# | time | about half an hour |
# | you need | Python 3.11 or later, installed as HOW_TO_HAND_IN.md says; nothing else |
#
# Start here: click on the cell below and press Shift-Enter to run it. Do the same with each cell.
# All labs use the same Python environment; you set it up only once.

# %%
import sys

import torch
from torch import Tensor

from attnlab import check, plots, submit

print("Python", sys.version.split()[0], "and torch", torch.__version__, "are here.")
plots.words.lab00_preview()

# %% [markdown]
# If the cell printed two versions and drew four boxes, your kernel works. If it says
# `ModuleNotFoundError`, the notebook uses another Python than the one in which you installed the
# course: choose the kernel at the top right.

# %% [markdown]
# ## 0.1 Hello, tensor
# *2 points, 5 minutes, difficulty 1 of 5, importance 2 of 5*
#
# A tensor is a block of numbers with axes. Half of this course is reading a shape and knowing which
# axis is which. Make a tensor with three axes: the numbers from 0 to 23 as two pages of three rows
# by four columns.
#
# **Predict.** Which numbers are in the last row of the first page?
#
# <details><summary>Hint 1: a question</summary>
#
# Which torch function counts, and which method turns a line of numbers into pages?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Count from 0 to 23 in float32, then give the result the shape (2, 3, 4).
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `torch.arange(…, dtype=…)` and `.reshape(…)`.
# </details>

# %% exercise="hello_tensor"
from attnlab.warmup import hello_tensor

# %% [markdown]
# Run the cell with your code, then the next one. It shows one line for each check, and how many
# points are decided after you hand in.

# %%
check("hello_tensor")

# %% [markdown]
# **Look.** Your tensor, page by page.

# %%
plots.words.tensor_cells(hello_tensor, "hello_tensor()")

# %% [markdown]
# ## 0.2 A mistake on purpose
# *2 points, 10 minutes, difficulty 1 of 5, importance 4 of 5*
#
# In this course a batch of sentences has the shape (B, T, d): sentences, words, features. Make one
# vector for each sentence, the mean of its words:
#
# $$\text{mean}_b = \frac{1}{T} \sum_{t=1}^{T} x_{b,t}$$
#
# **Predict.** For x of shape (2, 3, 4), which shape does `x.mean(0)` have, and which is right?
#
# **First write it wrong**: `return x.mean(0)`. Run your cell and the one with `check`: it says what
# it looked at, what it saw, and where to look next, and draws what differs. Then fix it.
#
# <details><summary>Hint 1: a question</summary>
#
# Which of the three axes should disappear?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Axes are numbered from 0: B is 0, T is 1, d is 2. Reduce the axis of the words.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `mean` takes the axis as its first argument, and drops it by default.
# </details>

# %% exercise="sentence_means"
from attnlab.warmup import sentence_means

# %%
check("sentence_means")

# %% [markdown]
# **Look.** Two sentences of three words with two features each, and the mean of each sentence.

# %%
x: Tensor = torch.tensor([[[0, 3], [3, 3], [6, 9]], [[1, 0], [9, 8], [8, 1]]]).float()
plots.words.tensor_cells(lambda: x, "x")
plots.words.tensor_cells(lambda: sentence_means(x), "sentence_means(x)")

# %% [markdown]
# ## 0.3 Hand in, for practice
# *1 point, 10 minutes, difficulty 1 of 5, importance 5 of 5*
#
# 1. Save this notebook (Ctrl-S, or Cmd-S on a Mac).
# 2. Run its last cell, `submit()`. (In a terminal in this folder, `python -m attnlab submit` does
#    the same.)
# 3. Read its output: which file it packed, what is inside, and which steps are still open.
# 4. Write the name of that file below, save, and run the last cell once more, so that the zip will
#    contain this answer, too.
# 5. Hand in the zip in your course's system, as you will do every week.

# %% exercise="hand_in"
# TODO: write the name of the file that was packed, as text: packed = "…"
### BEGIN SOLUTION
packed = "lab00-handin.zip"
### END SOLUTION

# %%
check("hand_in")

# %% [markdown]
# ## What you can now do
#
# - read a shape, and say which axis is which;
# - run `check`, and use its advice;
# - hand in, and see what you handed in.
#
# When you get this lab back, look at the page: it shows points for each check, and advice if points
# are missing. Every lab's page looks like this.

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
