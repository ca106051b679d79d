"""Lab 11, the bug clinic: the source of its notebook (`lab build` makes it).

The cases are files of their own, autograder/exercises/lab11/case*.py; their sections stand where
the cell marked `cases` is.
"""

# %% [markdown]
# # Lab 11: {{title}}
#
# In ten labs you built models, and most of your mistakes were loud: a shape that does not fit, a
# name that does not exist. In this lab nothing is loud. You get models that run, train and print
# sensible numbers, and each of them is broken in one place or in two. Bugs like these were in
# public code, some of them for years.
#
# | | |
# |---|---|
# | due | {{due}} |
# | points | {{points}}, in {{steps}} steps and some sentences |
# | time | about twenty minutes for each case, {{minutes}} in all |
# | you need | labs 1 to 10, above all masks (5.1, 5.5), attention (3.3), Adam (8.1) |

# %%
import torch

from attnlab import check, submit

_ = torch.manual_seed(11)  # every run of this notebook is the same

# %% [markdown]
# A case has four parts, always in the same order:
#
# 1. **The symptom.** Somebody complains, and a cell shows what they see: a curve, a sample, a
#    number. You see the symptom before the code, as in life.
# 2. **A failing test.** You read the code and write a test that fails on it, and that every right
#    version passes. This is the harder half. A bug that you can make visible with ten lines is as
#    good as found; a bug that you "fixed" without a test may be another one.
# 3. **The smallest fix.** You change as few lines as you can. A fix that rewrites the function
#    hides what was wrong, and often brings a bug of its own.
# 4. **The cause**, in a sentence or two.
#
# The cases do not build on each other. Printing shapes alone will not help you: what goes in and
# what comes out has the right shape. What helps is to take the docstring at its word. Each of its
# sentences is a promise, and at least one of them is broken. Which small input would show it?
#
# `check` tries your test on the broken code and on a slow version that is right, and your fix on
# numbers. Grading tries both on more of them.

# %% [markdown] cases="all"

# %% [markdown] free_text="explain" points=4
# ## In your own words
# *4 points, marked by a TA*
#
# Choose the case that took you longest. Explain in four to six sentences: which symptom led you to
# the line, which tests or prints said nothing, and which test would have found the bug on the day
# when it was written? Would this test have been worth its time?
#
# <!-- BEGIN SOLUTION -->
# A good answer names one case and one observation that divided the code into a right and a wrong
# half: for example, that a change at position 3 moved the output at position 1, so the mask was
# wrong whatever the loss said. It says what did not help, and why (shapes are right, the loss
# falls, no exception). The test that finds the bug early is a property of the function alone,
# without training, and takes milliseconds: no leak, a first step of the length lr, a sentence that
# does not depend on its neighbours, cached equals uncached. It is worth its time, because the
# training that hid the bug takes hours each time.
# <!-- BEGIN MARK SCHEME -->
# - 1: names the observation that led to the line
# - 1: names something that said nothing, and why
# - 1: describes a test of a property, with its input and what it asserts
# - 1: judges its cost against that of the bug
# <!-- END MARK SCHEME -->
# <!-- END SOLUTION -->

# %% [markdown]
# ## Where you stand
#
# Before you hand in, run all cells from the top once more (in JupyterLab: Run, Restart Kernel and
# Run All Cells). The table shows every step; click on one to go there.

# %%
check()

# %%
submit()
