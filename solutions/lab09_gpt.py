"""Lab 9, text in, text out: the source of its notebook (`lab build` makes it).

It runs as a script: `python solutions/lab09_gpt.py`. If the answer is a function of the library, an
exercise's cell holds one import line; its task is that function's docstring.
"""

# %% [markdown]
# # Lab 9: {{title}}
#
# A language model reads numbers and writes numbers. In this lab you build the whole way from a text
# to a new text: a tokeniser that learns its vocabulary, a GPT, its training on the manuals of
# Python, the choice of the next token, and a cache that makes writing fast. At the end your model
# continues a sentence of a manual, with tokens of your own.
#
# | | |
# |---|---|
# | due | {{due}} |
# | points | {{points}}, in {{steps}} steps and one question |
# | time | about eight hours; the computer needs a few minutes of it |
# | you need | causal masks (5.1); layers of a Transformer (7.1); a training loop (8.7, 7.8) |

# %%
import torch

from attnlab import check, submit

torch.manual_seed(9)  # every run of this notebook is the same

# %% [markdown]
# Each step has the same parts: *why* → *predict* → *write* → *check* → *look*. `check` shows the
# visible checks, about half of the points. The others run after you hand in, on other texts and
# numbers; the docstring in the cell states everything they check. `check` runs on your own
# functions. When the lab is graded, a right version stands in for each earlier step, so a wrong
# step costs nothing in the next one. `check()` without a name shows where you stand.
#
# The letters **W**, **S**, **G**, **N** and **C** stand for five public lectures;
# [LECTURES.md](LECTURES.md) says which. You do not need them to do the labs.

# %% [markdown]
# ## 9.1 Learning a vocabulary: `train_bpe`
# *12 points, 60 minutes, difficulty 3 of 5, importance 5 of 5*
#
# **Predict.** Which two letters are joined first?
#
# <details><summary>Hint 1: a question</summary>
#
# Which pairs does a word of three parts hold?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Cut, count, choose, join; again.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `Counter` counts, and `itertools.pairwise` makes pairs of neighbours.
# </details>

# %% exercise="train_bpe"
from attnlab.tokenizer import merge_pair, train_bpe  # noqa: F401

# %%
check("train_bpe")

# %% [markdown]
# **Look.**

# %% [markdown]
# ## 9.2 Text to tokens and back: `encode` and `decode`
#
# The merges of 9.1 cut any text into tokens, in the order in which they were learned.

# %% exercise="encode"
from attnlab.tokenizer import tokens_of, encode, decode  # noqa: F401, I001 - in this order

# %%
check("encode")

# %% [markdown]
# ## 9.3 How many tokens is a word?
#
# Lecture N says that 3,000 words are about 4,000 tokens. Of which text?

# %% [markdown]
# ## 9.4 The model: `GPT`
# *12 points, 75 minutes, difficulty 3 of 5, importance 5 of 5*
#
# A decoder without an encoder, which scores each token as the next one.

# %% [markdown]
# ## 9.5 Windows of a long text: `get_batch`
# *4 points, 20 minutes, difficulty 2 of 5, importance 4 of 5*
#
# A training needs many short pieces of one long list of tokens.

# %% [markdown]
# ## 9.6 Pretraining
# *14 points, 60 minutes, difficulty 3 of 5, importance 5 of 5*
#
# First a source whose entropy is known, then the manuals of Python.

# %% [markdown]
# ## 9.7 Choosing the next token: `sample`
# *14 points, 60 minutes, difficulty 3 of 5, importance 5 of 5*
#
# The model gives a probability to every token; something must choose one.

# %% [markdown]
# ## 9.8 Writing with a cache
# *12 points, 60 minutes, difficulty 4 of 5, importance 4 of 5*
#
# Without a cache, every new token costs as much as reading the whole text again.

# %% [markdown]
# ## 9.9 Test somebody else's code
# *6 points, 30 minutes, difficulty 3 of 5, importance 3 of 5*
#
# Write a test that rejects wrong versions and lets right ones pass.

# %% [markdown]
# ## 9.10 Predict, then run: sizes and costs
#
# Numbers that you can compute before any model is trained.

# %% [markdown]
# ## 9.11 Errata hunt
#
# Slides of lecture G to look at twice.

# %% [markdown]
# ## What you can now explain
#
# - how a vocabulary is learned from text, and what decides between two equally frequent pairs;

# %% [markdown] free_text="explain" points=4
# ## In your own words
# *4 points, marked by a TA*
#
# Two models are trained on the same text with different tokenisers.

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
