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
# ## 7.10 The lectures, once more

# %%
check()

# %%
submit()
