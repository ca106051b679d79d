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

from attnlab import check, plots, submit
from attnlab.models import topics_bert
from attnlab.notebook.saved import trained

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
# *11 points, 60 minutes, difficulty 3 of 5, importance 5 of 5*
#
# Now both tasks together. The text is about five topics: kitchen, music, sea, space, garden. Each
# topic has 30 words, and a sentence is four random words of one topic. There is no grammar, so
# everything that can be known about a hidden word is known to us:
#
# - A model that knows nothing but the 150 words has a loss of ln 150 = 5.011 nats.
# - A model that finds the topic in the words around it has ln 30 = 3.401. **No model can do
#   better**: within a topic, all words are equally likely.
#
# Nobody tells the model that there are topics. Write the three steps of its training:
#
# - `pretraining_batches` (2.5 points) makes the batches of one epoch. In every epoch the same text
#   makes **new pairs, with other words hidden**. (The paper hid words once, before training, in ten
#   different ways; later models draw again in each epoch.)
# - `pretraining_loss` (2.5 points) is the mean over all *chosen* tokens, plus the mean over all
#   pairs. The two parts are returned apart; the run adds them up.
# - `pretraining_scores` (2 points) measures a model on new text: the share of pairs that it judges
#   correctly, and the loss at the places with **[MASK]** alone. Why not at all chosen tokens? Some
#   chosen words can be read, and a good model has learned how often what it reads is right. So over
#   all chosen tokens the lowest loss is 3.11, and 3.401 is the exact floor of the [MASK] places
#   only. A loss below *that* would mean that the answer leaks.
#
# One check, of 1 point, runs on your own 10.1, 10.2 and 10.3 together with this step; there, an
# earlier mistake counts. Three points are for what your trained model does on new text.
#
# **Predict.** The model has dropout. Your neighbour measures it without `model.eval()`. Are the
# scores too good or too bad? And in the middle of a training, what happens if somebody measures
# with `model.eval()` and forgets to undo it?
#
# <details><summary>Hint 1: a question</summary>
#
# Which tensors of `make_nsp` and `mask_tokens` go into which field of a `PretrainingBatch`? From
# which of them can you still see where the filling is? What is a mean over several batches, if they
# have different numbers of hidden words?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# The batches: pairs, hidden words with the same generator, five tensors, cut each of them. The
# loss: one call, rows of logits and a list of labels as in 7.8, and a second cross-entropy. The
# scores: remember the mode, evaluation mode, no gradients; for each batch collect the surprises at
# [MASK] and which pairs are right; at the end two means, and the old mode.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `torch.tensor(SPECIAL_IDS)`; `tensor.split(size)` cuts along the first axis, and the last piece
# may be shorter. `cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100)` is lab
# 1's; torch's own would be NaN if nothing was chosen. `model.training` is the mode, and
# `model.train(mode)` sets it. `logits[batch.ids == MASK]` is (number of places, V).
# </details>

# %% exercise="pretrain"
from attnlab.bert_training import pretraining_batches, pretraining_loss, pretraining_scores

# %%
check("pretrain")

# %% [markdown]
# Now train. The model has two layers of 64 features, 120,000 parameters in all, and the text is
# 5,125 sentences. Lab 8's `Trainer` does the rest: 400 updates of 64 pairs, ten to twenty seconds
# on one core. While it runs, decide: which of the two scores will get better first?


# %%
from attnlab.bert import Bert


def pretrain_and_save():
    return trained(
        "bert.safetensors",
        lambda: topics_bert.small_bert(Bert),
        lambda model: topics_bert.pretrain(
            model, pretraining_batches, pretraining_loss, pretraining_scores
        ),
    )


bert, curve = pretrain_and_save()

# %% [markdown]
# **Look.** Both scores on sentences that the model never saw, before the training and after every
# 20 updates. For a hundred updates nothing seems to happen. Then both scores change within a few
# dozen updates, and *together*. What does the model find out there?

# %%
plots.pretraining.staircase(curve)

# %% [markdown]
# It finds out which words belong together. That one discovery serves both tasks: it brings the loss
# at a hidden word from the upper line to the lower one, and it tells whether two sentences belong
# to one text. The next picture shows what was found: the vectors of all 150 words, each alone in a
# sentence, in the two directions in which they differ most. Colours show the topics, which the
# model was never told.

# %%
plots.pretraining.words_in_the_plane(
    {"before training": topics_bert.small_bert(Bert) if bert else None, "after training": bert}
)

# %% [markdown]
# What would the model write at [MASK]? Below the picture is what each topic gets in all. The topic
# is nearly certain, and within the topic no word should be likelier than 1/30, because there is
# nothing to know. Write sentences of your own with words of the five topics. What happens if a
# sentence has words of two topics?

# %%
plots.pretraining.guesses(bert, ["violin [MASK] flute drum", "[MASK] captain tide reef"])

# %% [markdown]
# The weights are in `bert.safetensors` next to the notebook, which is part of your hand-in. **The
# file does not update when you fix a step above**: delete it then, or pass `again=True` to
# `trained` once. In twelve runs of ours, with other first weights and other sentences, the model
# judged 99.2 % to 99.7 % of 4,000 new pairs correctly; its loss at [MASK] was from 3.46 to 3.52
# nats; and each run took about 10 seconds of processor time on a busy machine. A run in which no
# word was hidden (the model could read what it was asked for) ended with 5.76 nats at [MASK] and
# judged 54 % of the pairs correctly: it had learned to copy, and nothing about topics.

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
