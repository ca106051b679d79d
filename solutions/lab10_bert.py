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

# %% exercise="make_nsp"
from attnlab.pretraining import make_nsp  # noqa: F401

# %%
check("make_nsp")

# %% [markdown]
# ## 10.3 The model: `Bert`
#
# Three tables, layers without a causal mask, and two heads.

# %% exercise="bert"
from attnlab.bert import BertLayer, MLMHead, Bert  # noqa: F401, I001 - in this order

# %%
check("bert")

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
# *7 points, 40 minutes, difficulty 2 of 5, importance 3 of 5*
#
# BERT has a place for a second sentence: segments. GPT has none. It reads one row of tokens from
# left to right, and nothing else. GPT-1 (lecture G) shows that this is enough. **The task is
# written into the row**, with three new tokens, and the model stays as it is:
#
# - **Entailment** (does the second text follow from the first?) is one row: *start*, premise,
#   *delim*, hypothesis, *extract*.
# - **Similarity** (do two texts mean the same?) is two rows, one in each order.
# - **Multiple choice** is a row for each choice: *start*, context, *delim*, choice, *extract*. The
#   context is repeated in each.
#
# Only the last token of a row has seen all of it, so its vector goes to the one new layer. A pair
# has no natural order, so both are read and their two vectors are **added**. A question has a row
# for each choice, and softmax runs over the choices.
#
# A batch needs rows of one length, and here is a trap in which real programs were caught. GPT has
# no padding token, so people fill up with one that also occurs in texts, such as the end of a text.
# Then `ids != pad` does not say what belongs to a row; only the lengths do. And the last *place* of
# a row is often not its last *token*.
#
# (`Marks` holds the numbers of the three new tokens.)
#
# **Predict.** A question about a text of 100 words has four choices of 5 words each. How many
# tokens does the model read? Which part of this work is done four times?
#
# <details><summary>Hint 1: a question</summary>
#
# Which index of `valid` is the largest one that holds True, if a row was filled up on the left? And
# on the right?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# The rows are lists. For the batch, note the lengths first, then fill up each list. For the last
# place, give every valid place its own number and every other place a smaller one, and take the
# largest; first raise the error for rows without any. The two heads are one or two lines each.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `[a, *words, b]` puts the items of a list into another. `torch.arange(T) < lengths[:, None]` is a
# table of booleans. `table.amax(1)` is the largest number of each row, and
# `hidden[torch.arange(B), places]` takes one vector from each. `squeeze(-1)` drops an axis of 1.
# </details>

# %% exercise="gpt_inputs"
from attnlab.gpt_inputs import (  # noqa: I001 - in this order
    join_texts,
    similarity_rows,
    choice_rows,
    fill_up,
    last_valid,
    similarity_logits,  # noqa: F401
    choice_probabilities,  # noqa: F401
)

# %%
check("gpt_inputs")

# %% [markdown]
# **Look.** Your rows for three small tasks in one batch. A frame is around the place that your
# `last_valid` finds, and grey places were filled up. In which rows is the framed place not the last
# one of the batch? What would the layer get there if you took the last place of every row?

# %%
plots.gpt_inputs.rows_of_three_tasks(join_texts, similarity_rows, choice_rows, fill_up, last_valid)

# %% [markdown]
# ## 10.7 Zero, one, few examples
# *11 points, 50 minutes, difficulty 3 of 5, importance 4 of 5*
#
# Fine-tuning changes the weights for every task. GPT-3 (lecture G) asks whether that is needed: the
# task can stand **in the input**, and the model only reads. *Zero-shot* is a description alone,
# *one-shot* a description and one example, *few-shot* several examples. Nothing is trained, so
# nothing is forgotten, and the next question may be about another task.
#
# GPT-3 has 175 billion parameters, and nobody knows all that it has read. Here is a model with
# 103,744 of which you know everything. Sixteen **tables** give each of ten letters another digit.
# In training it has seen rows about them, a quarter with the table's name and the others with "?":
#
# - `F a7 d2 h`: which digit has h in table F? The name says it all, like a description.
# - `? a7 d2 h`: which digit has h in the table that gives a the digit 7, and d the digit 2?
#
# The tokens are numbers: letter x is the token x (0 to 9), the digits are 10 to 19. You write the
# prompts, and count the right answers. Four rules decide whether such a count means anything:
#
# - **A query is never among its own examples**, otherwise copying is enough.
# - **Each query gets examples of its own.** With the same examples for all, one lucky draw decides.
# - The answer is read **after the last token of the prompt**, and only possible answers count.
# - **No weight changes**, and dropout is off.
#
# The best possible accuracy is known (Bayes' ceiling): after the examples, some tables are still
# possible, and the best answer is the digit that most of them give.
#
# **Predict.** For a table that the model has never seen, with another assignment of digits, how
# good is it after five examples? How good would you be?
#
# <details><summary>Hint 1: a question</summary>
#
# If every row sorts random numbers to get an order of the letters, which number makes sure that the
# query comes last?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Prompts: for each row an order of the other letters, cut to `shots`; the digits by indexing the
# table; letters and digits alternately; the name in front, the query at the end. Accuracy: mode,
# no gradients, logits at the last token of the choices alone, the best choice *as a token*, mode
# again. Curve: a loop over numbers of examples and, in it, over tables.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `torch.rand(B, N, generator=generator).argsort(1)` is a random order in each row;
# `x.scatter_(1, queries[:, None], torch.inf)` writes one entry of each row.
# `torch.stack((a, b), 2).flatten(1)` takes from a and b alternately. `logits[:, -1, choices]` has
# the shape (B, C), and `choices[best]` turns places into tokens.
# </details>

# %% exercise="few_shot"
from attnlab.few_shot import make_prompts, answer_accuracy, shots_curve  # noqa: F401, I001

# %%
check("few_shot")

# %% [markdown]
# **Look.** First some prompts as people would write them, and a checksum of all weights, before and
# after.

# %%
from attnlab.data.mappings import NAMES, UNNAMED, as_text, course_tables
from attnlab.models.reads_examples import checksum, reads_examples

reader = reads_examples()
before = checksum(reader)
try:
    generator = torch.Generator().manual_seed(10)
    for name in (NAMES[5], UNNAMED):
        some = make_prompts(name, course_tables()[5], torch.arange(3), 2, generator=generator)
        print(*map(as_text, some.tolist()), sep="\n")
except NotImplementedError:
    print("make_prompts is not written yet")

# %%
plots.few_shot.accuracy_by_examples(shots_curve, reader)

# %%
print(before, checksum(reader), "no weight has changed" if checksum(reader) == before else "!")

# %% [markdown]
# Three lines, each with its ceiling. With the name, examples add nothing. Without it, the model
# uses nearly all that its examples tell, and after four of them it is as good as with the name. For
# tables that it has never seen it stays near chance, and so would you: the digit of one letter says
# nothing about another, except that this digit is taken.
#
# The lesson is the middle line. Here examples **select** a task that the model already knows; they
# do not teach a new one. How much of GPT-3's few-shot learning is selecting, and how much is
# learning, is still discussed.

# %% [markdown]
# ## 10.8 How much does size help?
# *7 points, 35 minutes, difficulty 2 of 5, importance 4 of 5*
#
# Larger models have lower losses, and the surprise (Kaplan and others, 2020; lecture G) is how
# regular this is. With N parameters the loss follows a **power law** above a floor E:
#
# $$L(N) = E + A\,N^{-\alpha}$$
#
# E is what no model can predict: the entropy of the text. So $\log(L - E)$ is a straight line in
# $\log N$, with the slope $-\alpha$, and four small trainings tell what a large one would reach.
# That is how the money for large models is planned.
#
# For English nobody knows E. People estimate it from the same points, or take E = 0, and a wrong
# floor changes every prediction. Here you can see by how much, because the text is a Markov source
# with 24 symbols whose entropy rate is known: 0.989 nats. Its 576 pairs of symbols are too many for
# a small model, so size helps.
#
# What is N? Some papers count the embeddings, others leave them out, and then their curves cannot
# be compared: in a small model the tables are most of it. Here all trained numbers count, a tied
# table once.
#
# **Predict.** A line through $\log L$ (so E = 0) passes about as close to the points as one through
# $\log(L - E)$. What does it say about a model of ten million parameters?
#
# <details><summary>Hint 1: a question</summary>
#
# Which two quantities lie on a straight line, and what are its height and its slope in terms of A
# and $\alpha$?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Subtract the floor; raise the error unless all differences are above 0. Logarithms of both, in
# float64. The slope is the covariance of the two divided by the variance of $\log N$, and the line
# goes through both means. Then back from logarithms.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `(above > 0).all()` is False for NaN, too. With deviations from the means dx and dy,
# `slope = (dx * dy).sum() / dx.square().sum()`. The height at $\log N = 0$ is
# `y.mean() - slope * x.mean()`, and `exp` undoes `log`.
# </details>

# %% exercise="fit_power_law"
from attnlab.scaling import num_parameters, power_law, fit_power_law  # noqa: I001 - in this order

# %%
check("fit_power_law")

# %% [markdown]
# **Look.** Four GPTs of one layer, 8 to 64 features wide, trained equally long (this takes about
# ten seconds), and your two fits. Which of the two lines is closer to its points on the left? On
# the right, which one says something impossible, and from what size on?

# %%
plots.power_law.own_runs(num_parameters, fit_power_law, power_law)

# %% [markdown]
# Points alone cannot tell which floor is right; what lies far outside of them can. Be careful with
# $\alpha$, too: with three times as many steps the same four models give about 0.95 instead of
# 0.67, because the large ones had not finished. A scaling law holds for one way of training.

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
