"""Lab 10, pretrain once, use it many ways: the source of its notebook (`lab build` makes it).

It runs as a script: `python solutions/lab10_bert.py`. If the answer is a function of the library,
an exercise's cell holds one import line; its task is that function's docstring.
"""

# %% [markdown]
# # Lab 10: {{title}}
#
# Text without labels is everywhere; labels are rare, because somebody has to write each of them. So
# today a model is first trained on plain text, for a task that the text itself answers: which word
# was here? Do these two sentences belong together? That is **pretraining**. What the model learns
# on the way serves many other tasks. In this lab you build BERT, pretrain it, and then use
# pretrained models in three ways: with five labels, with inputs of another form, and with no
# training at all, only with examples in the input.
#
# | | |
# |---|---|
# | due | {{due}} |
# | points | {{points}}, in {{steps}} steps and one question |
# | time | about eight hours; the computer needs a few minutes of it |
# | you need | cross-entropy (1.3), padding masks (5.2), the encoder's layer (7.1) |

# %%
import torch

from attnlab import check, submit

torch.manual_seed(10)  # every run of this notebook is the same

# %% [markdown]
# Each step has the same parts: *why* → *predict* → *write* → *check* → *look*. `check` shows the
# visible checks, about half of the points. The others run after you hand in, on other numbers; the
# docstring in the cell states everything they check. `check` runs on your own functions. When the
# lab is graded, a right version stands in for each earlier step, so a wrong step costs nothing in
# the next one. `check()` without a name shows where you stand.
#
# The letters **W**, **S**, **G**, **N** and **C** stand for five public lectures;
# [LECTURES.md](LECTURES.md) says which. You do not need them to do the labs.

# %% [markdown]
# ## 10.1 Hide some words: `mask_tokens`
# *13 points, 50 minutes, difficulty 3 of 5, importance 5 of 5*
#
# A language model reads from left to right, so the vector of a word knows nothing of what follows.
# For many tasks that is a waste: whether *bank* is a place for money or for boats is often said
# later in the sentence. BERT (lectures G, N) looks in both directions. But then "predict the next
# word" is no task any more, because the model sees it. So BERT **hides** some words and asks for
# them: masked language modelling, MLM.
#
# - Each ordinary token is *chosen* with probability p = 0.15, independently of the others. Special
#   tokens ([CLS], [SEP], padding) are never chosen.
# - The loss counts at chosen tokens only. Everywhere else the label is −100, which torch's
#   `cross_entropy` leaves out by default (your own in 1.3 has `ignore_index`).
# - What the model sees at a chosen place: in 80 % of the cases [MASK], in 10 % a random ordinary
#   token, and in 10 % the token itself.
#
# Why not always [MASK]? Later, in real tasks, no input has a [MASK]. A model that was asked at
# [MASK] only could ignore all other places. If any token may be wrong, every place needs a good
# vector. And if some right tokens are asked for, too, the model cannot conclude that what it sees
# is wrong.
#
# **Predict.** Of 100 ordinary tokens, how many does the model see unchanged? At how many of these
# does the loss count?
#
# <details><summary>Hint 1: a question</summary>
#
# Which decisions are made for each token? Which of them must not depend on each other?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Find the ordinary tokens. Draw a number for each token, to choose. Labels: the old ids where a
# token is chosen, −100 elsewhere. Draw a second number for each token, which decides among the
# three cases, and a random token for each place. Put them together into a new tensor.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `torch.isin(ids, special)`; `torch.rand(ids.shape, generator=generator) < p`;
# `ids.masked_fill(where, value)` and `torch.where(condition, a, b)` make new tensors. A random
# ordinary token: `words[torch.randint(len(words), ids.shape, generator=generator)]`.
# </details>

# %% exercise="mask_tokens"
from attnlab.pretraining import mask_tokens

# %%
check("mask_tokens")

# %% [markdown]
# **Look.** Which tokens are asked for, and what the model sees in their place.

# %%
ids = torch.tensor([[1, *range(4, 14), 2, *range(34, 44), 2]])
masked, labels = mask_tokens(ids, torch.arange(4), 154, 3)
print(masked, labels, sep="\n")

# %% [markdown]
# ## 10.2 Do these two belong together? `make_nsp`
#
# BERT's second task: does one sentence follow another?

# %% [markdown]
# ## 10.3 The model: `Bert`
#
# Three tables, layers without a causal mask, and two heads.

# %% [markdown]
# ## 10.4 Pretraining
#
# Both losses together, on sentences about five topics whose entropy is known.

# %% [markdown]
# ## 10.5 Fine-tuning
#
# Five labels, and a model that has read sentences without any.

# %% [markdown]
# ## 10.6 Other tasks, the same model: the inputs of GPT-1
#
# Entailment, similarity and multiple choice, each written as one row of tokens.

# %% [markdown]
# ## 10.7 Zero, one, few examples
#
# No weight changes: the task is in the input.

# %% [markdown]
# ## 10.8 How much does size help?
#
# A power law, and a floor that is known.

# %% [markdown]
# ## What you can now explain
#
# - why BERT hides words instead of predicting the next one, and why some hidden words stay visible.

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
