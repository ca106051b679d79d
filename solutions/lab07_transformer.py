"""Lab 7, the encoder-decoder Transformer: the source of its notebook (`lab build` makes it).

It runs as a script: `python solutions/lab07_transformer.py`. If the answer is a function of the
library, an exercise's cell holds one import line; its task is that function's docstring.
"""

# %% [markdown]
# # Lab 7: {{title}}
#
# All parts are ready: attention, masks, positions, normalisation, residuals. In this lab you put
# them together as in *Attention Is All You Need*: an encoder that reads, a decoder that writes, and
# three attentions, each with a mask and a purpose of its own. Then you train your Transformer: on
# copying, on lab 2's dates, and on numbers in words, where **"eighty-one thousand two hundred"**
# becomes **quatre-vingt-un mille deux cents**.
#
# | | |
# |---|---|
# | due | {{due}} |
# | points | {{points}}, in {{steps}} steps and one question |
# | time | about eight hours; the computer needs about three minutes of it |
# | you need | multi-head attention (4.2), masks (5.1, 5.2), the residual (6.7); `nn.Module` |

# %%
import torch

from attnlab import check, plots, submit
from attnlab.data import places
from attnlab.models import fresh_transformer
from attnlab.models.small_transformers import names_in_file, small_transformer, train_on
from attnlab.multihead import MultiHeadAttention
from attnlab.notebook.review import compare_predictions, try_versions
from attnlab.notebook.saved import trained
from attnlab.transformer_config import TransformerConfig

plots.reading.lab07_preview()

# %% [markdown]
# Each row is a word that the lab's own model has written, each column a word that it read, and a
# dark cell shows where its decoder looked. (Point at a cell to read it.) In French, 81 is four
# times twenty and one, so three words come from one. This is the last picture of the lab, and there
# it is your model that writes.
#
# Each step has the same parts: *why* → *predict* → *write* → *check* → *look*. `check` shows the
# visible checks, about half of the points. The others run after you hand in, on other numbers; the
# docstring in the cell states everything they check. `check` runs on your own functions. When the
# lab is graded, a right version replaces each earlier step, so a wrong step costs nothing in the
# next one; 7.8 names the one exception. `check()` without a name shows where you stand.
#
# **What comes from earlier labs** (you need not have done them; `attnlab` has them all):
#
# - `MultiHeadAttention` (lab 4) is called with queries, keys, values and a mask. It compares each
#   query with all keys and returns the weighted mean of the values, for several heads in parallel.
# - A mask (lab 5) is boolean, and True means *may attend*. The causal mask lets a position see
#   itself and earlier ones; `source_valid` is True where a sentence has a symbol and not padding.
# - `PositionalEncoding` adds a vector for each position; `LayerNorm` brings a vector to mean 0 and
#   variance 1; `FeedForward` changes each vector alone; `Residual` adds what a part computes to
#   what the part was given (lab 6).
# - The words for data are lab 2's: BOS starts a target, EOS ends it, PAD fills up short rows.
#
# The letters **W**, **S**, **G**, **N** and **C** stand for five public lectures;
# [LECTURES.md](LECTURES.md) says which. You do not need them to do the labs.

# %% [markdown]
# ## 7.1 The encoder layer
# *10 points, 40 minutes, difficulty 3 of 5, importance 5 of 5*
#
# You have written all parts of a Transformer: attention with many heads (4.2), the feed-forward
# network (6.6), and the residual with its normalisation (6.7). An **encoder layer** puts them in
# order. First the words look at each other; then each word is worked on alone. Lectures W and G
# show the post-norm form, and lecture C shows both:
#
# $$\begin{aligned}
# \text{post:} && a &= \text{norm}_1(x + \text{attention}(x)), &
# y &= \text{norm}_2(a + \text{network}(a)) \\
# \text{pre:} && a &= x + \text{attention}(\text{norm}_1(x)), &
# y &= a + \text{network}(\text{norm}_2(a))
# \end{aligned}$$
#
# This attention is *self*-attention: queries, keys and values are all made from the same sentence.
# Each word sees every word, earlier and later, because the whole source is known from the start.
# The only thing to hide is **padding**, and its mask has the shape (B, 1, 1, S). Read it from the
# right: S keys; the same for all queries; the same for all heads; another one for each sentence.
#
# What goes in, (B, S, d_model), has the shape of what comes out, so layers can be stacked. All
# other sizes stay inside: weights (B, h, S, S) in the attention, (B, S, d_ff) in the network.
#
# Your layer is compared with torch's `nn.TransformerEncoderLayer` on the same weights: outputs and
# gradients. (In torch's own masks, True means *forbidden*.)
#
# **Predict.** The last word is padding, and the mask hides it. Is its own output 0? Does it change
# when another word changes? Does another output change when *it* changes?
#
# <details><summary>Hint 1: a question</summary>
#
# `Residual` calls its sublayer with one argument. In pre-norm, what is that argument? And how many
# arguments does your attention take?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Make four parts, and pass `dropout` and `norm` on to every part that takes them. In `forward`,
# write a small function of one argument that calls the attention. Send x through the first residual
# with that function, and the result through the second one with the network.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# A function inside `forward` sees `mask`; name its argument, and use that name for queries, keys
# and values. `MultiHeadAttention(d_model, num_heads, dropout=dropout)`, because its third argument
# is d_k.
# </details>

# %% exercise="encoder_layer"
from attnlab.encoder_decoder import EncoderLayer

# %%
check("encoder_layer")

# %% [markdown]
# **Look.** One word changes at a time; a 1 means that the output in that row changes. On the right,
# the last word is padding. Its column has a single 1: the mask says which words may be *seen*, and
# the padding itself still flows through its own residual. So its output is neither 0 nor constant.
# It is just never used: no word attends to it, in this layer and in all later ones.

# %%
words = ["she", "eats", "an", "apple", "pad"]
visible = torch.tensor([word != "pad" for word in words])  # (S,)


def with_padding():
    layer = EncoderLayer(16, 4, 64)
    return lambda x: layer(x, visible[None, None, None])  # the mask is (1, 1, 1, S)


plots.layers.who_moves(
    {"no mask": lambda: EncoderLayer(16, 4, 64), "the last word is padding": with_padding},
    words,
    16,
)

# %% [markdown]
# ## 7.2 The decoder layer
# *14 points, 55 minutes, difficulty 4 of 5, importance 5 of 5*
#
# The decoder writes the target, word by word. Its layer has three sublayers: 7.1's two, and between
# them an attention that looks at the source. So a Transformer has **three attentions** (lectures N,
# G and W). It is the same module each time. Only its inputs and its mask differ:
#
# | | what it is for | queries from | keys, values from | mask | weights |
# |---|---|---|---|---|---|
# | encoder, self | what does a source word mean here? | source | source | padding | (B, h, S, S) |
# | decoder, self | what has been written so far? | target | target | causal | (B, h, T, T) |
# | decoder, cross | which source words matter now? | target | *memory* | padding | (B, h, T, S) |
#
# **Memory** is the encoder's output, (B, S, d_model). Lecture S writes both attentions of the
# decoder into one sum; they are two sublayers, each with its own weights and its own residual.
#
# *Why the masks differ.* While the model learns, the decoder gets the whole target at once. If a
# word could see the next one, there would be nothing to learn (lab 5). So the decoder's
# self-attention is causal, and its mask is one triangle for all sentences, (T, T). The
# cross-attention needs no triangle: the source is complete before the first target word is written.
# It only hides the padding of the source, with 7.1's mask, (B, 1, 1, S): another row for each
# sentence, the same for all T queries. (And the padding of the target? It comes after all real
# words, so the causal mask hides it from them, and its own outputs are not counted: 7.4.)
#
# *Why memory has no norm here.* In pre-norm, a residual normalises the vectors that flow through
# it, so the queries. Memory is not this layer's stream. The encoder normalises it once, at its
# end (7.3), for all decoder layers.
#
# **Predict.** B = 2 sentence pairs, S = 7, T = 5, h = 4. Which shapes have the three tables of
# weights? The word at position 2 of the *target* changes: which outputs move? The vector at
# position 2 of *memory* changes: which outputs move?
#
# <details><summary>Hint 1: a question</summary>
#
# Write down the shapes of queries, keys and values in each of the two attentions, for S ≠ T. Which
# mask fits which?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Make six parts; no two of them share weights. In `forward`, write one function of one argument for
# each attention. Then x goes through three residuals, one after the other: self-attention,
# cross-attention, network.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# The function for the cross-attention uses its argument once and `memory` twice. `mask` is the
# fourth argument of `MultiHeadAttention`.
# </details>

# %% exercise="decoder_layer"
from attnlab.encoder_decoder import DecoderLayer

# %%
check("decoder_layer")

# %% [markdown]
# **Look.** Your two layers on one sentence pair, not trained yet, so all weights that are not
# forbidden are nearly equal. A dash marks a forbidden one. Point at a cell to read which word asks,
# which one answers and, if the weight is 0, which mask forbids it. Which of the three tables need
# not be square?

# %%
plots.three_attentions.three_attentions(
    lambda: EncoderLayer(16, 4, 64),
    lambda: DecoderLayer(16, 4, 64),
    ["elle", "mange", "une", "pomme", "pad"],
    ["start", "she", "eats", "an", "apple", "today"],
)

# %% [markdown]
# ## 7.3 The whole model
# *10 points, 60 minutes, difficulty 3 of 5, importance 5 of 5*
#
# Now put everything together. The **encoder** reads the source once; its output is called the
# **memory**. The **decoder** reads the target so far and looks at the memory, and a last linear
# layer, the **head**, gives a number for each symbol that could come next:
#
# $$M = \text{Enc}\left(\sqrt{d}\, E_s[x] + PE\right), \qquad
# \text{logits} = \text{Dec}\left(\sqrt{d}\, E_t[y] + PE,\; M\right) W^\top$$
#
# $E_s$ and $E_t$ are tables with a vector for each symbol. The source $x$ is (B, S), so the memory
# $M$ is (B, S, d_model). The target $y$ is (B, T), and the logits are (B, T, V): at each position
# of the target, one number for each of the V symbols. Four things are easily done wrong, and none
# of them raises an error:
#
# - **Each layer has parameters of its own.** `[layer] * 6` is one layer, six times. Six deep copies
#   are six layers, but they start equal.
# - **The memory is the output of the last encoder layer**, for every decoder layer: only there have
#   all layers worked on a source word. In the picture of the paper, it is tempting to connect layer
#   3 with layer 3.
# - **Tied tables.** Lecture C: "Shared (tied) input and output embedding". Then $W$ *is* $E_t$: one
#   parameter with two names, not two with equal numbers. It saves parameters, and what is learned
#   about a symbol when it is read helps to write it.
# - **Pre-norm needs one more normalisation after each stack**, because its stream was never
#   normalised (6.7). Post-norm has just done it.
#
# A `TransformerConfig` holds all numbers of the model; its docstring explains them:
# `help(TransformerConfig)`.
#
# **Predict.** `nn.ModuleList([layer] * 6)`: how many times the parameters of one layer does it
# have? And what does a loop over it compute?
#
# <details><summary>Hint 1: a question</summary>
#
# Which parts are made once, and which N times? Which axis of `source_valid` should become the axis
# of the keys in a mask (B, h, Lq, Lk)?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# When the model is made: two tables, positions, two lists of layers, two normalisations or
# `nn.Identity()`, the head; then tie. `encode`: look up, scale, add positions, go through the
# layers, normalise. `decode`: the same with two masks, and the head at the end.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `nn.ModuleList(EncoderLayer(…) for _ in range(cfg.num_encoder_layers))`;
# `self.head.weight = self.target_embedding.weight` gives one parameter a second name;
# `source_valid[:, None, None, :]`; `causal_mask` of lab 5 makes the target mask.
# </details>

# %% exercise="transformer"
from attnlab.encoder_decoder import Transformer

# %%
check("transformer")

# %% [markdown]
# **Look.** We change one word, in the source or in the target, and see which logits change: a
# fresh model, but everything that a mask can do is visible already. Which word of the source has no
# effect, and why? Why is the table on the right a triangle, and the one on the left not?

# %%
small = TransformerConfig(20, 20, d_model=32, num_heads=4, d_ff=64, dropout=0.0)
plots.before_training.who_reads_what(
    lambda: Transformer(small),
    source=["the", "road", "is", "long", "pad"],
    target=["START", "la", "route", "est", "longue"],
)

# %% [markdown]
# ## 7.4 What goes in, what comes out: `shift_right` and `make_batch`
# *10 points, 35 minutes, difficulty 2 of 5, importance 5 of 5*
#
# When the decoder writes, it produces one word after another, and each call needs the words before.
# Training does not have to wait: all words of the right answer are known. So the decoder reads the
# true words, and at **every position at once** it must write the word that comes next (lectures G,
# C and N call this teacher forcing). For lecture W's example:
#
# | position | 0 | 1 | 2 | 3 | 4 |
# |---|---|---|---|---|---|
# | the decoder reads (*inputs*) | START | It | is | at | Waterloo |
# | it must write (*labels*) | It | is | at | Waterloo | END |
#
# The causal mask hides later inputs. It cannot help if inputs and labels are not one position
# apart: then each position reads its own label. Nothing crashes, the loss falls to 0, and the model
# has learned to copy what it reads. START is the symbol `bos` (beginning of sentence), END is
# `eos`. In a batch they are BOS, 1, and EOS, 2; PAD is 0, and symbols begin at 3, as in lab 2.
#
# Write two functions. `shift_right` makes the first row of the table from the second (3 points).
# `make_batch` makes everything that a training step needs from pairs of sequences (7 points);
# lab 2's `pad_batch` is imported for you, and you may use it.
#
# **Predict.** Which symbol of the labels does the decoder never have to read? And what would the
# model learn to do at the end of a sentence if it were missing in the labels?
#
# <details><summary>Hint 1: a question</summary>
#
# A target has five symbols. How many columns do its labels have, with EOS, and how many do its
# inputs have, with BOS?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# `shift_right`: make a column of `bos`, and put it in front of the target without its last column.
# `make_batch`: pad the sources; add EOS to each target, then pad; the inputs are the shifted
# labels.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `target.new_full((rows, 1), bos)` is a column in the dtype of `target`; `torch.cat((a, b), 1)`
# puts tables side by side. `[*target, EOS]` is a new list, whether `target` is a list or a tuple.
# `pad_batch(lists, PAD)` returns three tensors: ids, lengths, mask.
# </details>

# %% exercise="make_batch"
from attnlab.batching import shift_right, make_batch  # noqa: F401, I001 - in this order

# %%
check("make_batch")

# %% [markdown]
# **Look.** Your function made one batch of two questions and their answers. Compare the second and
# the third row of a sentence: is every word read one position after it was written? And must the
# decoder write anything where it reads END?

# %%

plots.translation.reads_and_writes(
    make_batch, [places.LECTURE, places.Pair("Is Oslo in Italy ?", "No it is in Norway")]
)

# %% [markdown]
# ## 7.5 How many parameters?
# *8 points, 25 minutes, difficulty 2 of 5, importance 4 of 5*
#
# The paper says 65 million for its *base* model and 213 million for *big*. Where are they? One
# attention has four matrices of d × d, whatever the number of heads; a feed-forward network has two
# of d × d_ff; and a table has a row of d numbers for each symbol:
#
# $$\underbrace{4\,(d^2 + d)}_{\text{attention}}, \qquad
# \underbrace{2\,d\,d_{\text{ff}} + d_{\text{ff}} + d}_{\text{feed-forward}}, \qquad
# \underbrace{2\,d}_{\text{norm}}, \qquad \underbrace{V d}_{\text{table}}$$
#
# Write the sum as a **formula**. Then you can ask for the size of any model in no time, before you
# rent the machine for it. Count exactly: six different mistakes all print as 63.1 million. So the
# check compares whole numbers. (With 37,000 symbols in one table, base has 63,082,496 parameters
# and not 65 million; the paper does not say how it counted.)
#
# **Predict.** Lecture C's slide has d_ff = 2048 for both sizes; the paper has 4096 for *big*. Is
# the slide's model much smaller? And what changes with 16 heads instead of 8?
#
# <details><summary>Hint 1: a question</summary>
#
# How many attentions, networks and normalisations are in a layer of each kind? What is left outside
# the layers?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Count an attention, a network and a normalisation; put an encoder layer and a decoder layer
# together from them; multiply by the numbers of layers. Add what follows the stacks, and the tables
# that are parameters of their own.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# Compare with a model that needs no memory:
# `with torch.device("meta"): model = Transformer(cfg)`, then
# `sum(p.numel() for p in model.parameters())`. If the two differ, divide the difference by d.
# </details>

# %% exercise="count_params"
from attnlab.parameter_count import count_params

# %%
check("count_params")

# %% [markdown]
# **Look.** Three models, divided by your formula; point at a part to read its number. Which part is
# the largest in *base*, and which would grow if you translated into ten languages with one
# vocabulary of 370,000 symbols?

# %%
of_size = TransformerConfig.of_size
plots.before_training.parameter_bars(
    lambda cfg: count_params(cfg),
    {
        "base": of_size("base", 37_000),
        "big": of_size("big", 37_000),
        "big, d_ff = 2048": of_size("big", 37_000, d_ff=2048),
    },
)

# %% [markdown]
# ## 7.6 Before the first step
# *3 points, 20 minutes, difficulty 2 of 5, importance 4 of 5*
#
# A fresh model is worth a look: many bugs show before the first training step. What should its loss
# be? If all V symbols are equally likely, it is $-\ln \frac1V = \ln V$. Logits that differ make it
# larger: the model is sure of something, and wrong. For random logits with variance $\sigma^2$,
#
# $$\text{loss}_0 \approx \ln V + \frac{\sigma^2}{2}$$
#
# So a first loss of 58 says that the weights are too large. (A tied model with torch's own
# embeddings, of deviation 1, really starts like this.) Three sizes are enough. **Linear layers**
# get Xavier's: uniform between $\pm\sqrt{6 / (\text{in} + \text{out})}$, so that vectors keep their
# size, more or less, on the way up and gradients on the way down. **Tables** get the deviation
# $1/\sqrt{d}$; times √d, the stream starts with size 1. And the **head** gets 0.02, almost nothing,
# unless it is tied: then it is a table.
#
# **Predict.** The head of a fresh, tied model compares the stream with the vector of each symbol.
# In pre-norm, the stream is the vector of the symbol that was just read, plus what the layers add.
# So which symbol does the model write before it has learned anything?
#
# <details><summary>Hint 1: a question</summary>
#
# In which module do you find the table of a tied model first, and in which a second time?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# One loop over all modules for the linear layers, then one for the tables. Then the head, if its
# weight is not one of the tables.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `model.modules()` goes through all levels; `isinstance(module, nn.Linear)`;
# `nn.init.xavier_uniform_(…)`, `nn.init.normal_(…, std=…)` and `nn.init.zeros_(…)` work in place.
# </details>

# %% exercise="init_weights"
from attnlab.encoder_decoder import init_weights

# %%
check("init_weights")

# %% [markdown]
# **Look.** Four fresh models read random symbols, here as letters. Below: the symbol that each
# finds likeliest to come next, dark if it is the one that it has just read. Why do more layers hide
# the effect, and why does it disappear with a head of its own?


# %%
def fresh(**numbers):
    return fresh_transformer.fresh(Transformer, init_weights, **numbers)


plots.before_training.read_and_written(
    {
        "tied, 1 layer": lambda: fresh_transformer.written(fresh()),
        "tied, 6 layers": lambda: fresh_transformer.written(fresh(layers=6)),
        "tied, 6 layers, post-norm": lambda: fresh_transformer.written(
            fresh(layers=6, norm="post")
        ),
        "own head, 1 layer": lambda: fresh_transformer.written(fresh(tie="none")),
    }
)

# %% [markdown]
# Its own input is a wrong answer, and a tied model is rather sure of it: so its first loss is far
# above ln V. The formula is for random logits. With one layer, they are not random at all: one
# symbol stands out at every position, and the formula gives too little.

# %%
plots.before_training.first_losses(
    {
        "own head, 6 layers": lambda: fresh_transformer.first_loss(fresh(tie="none", layers=6)),
        "tied, 6 layers, post-norm": lambda: fresh_transformer.first_loss(
            fresh(layers=6, norm="post")
        ),
        "tied, 6 layers": lambda: fresh_transformer.first_loss(fresh(layers=6)),
        "tied, 1 layer": lambda: fresh_transformer.first_loss(fresh()),
    },
    fresh_transformer.SYMBOLS,
)

# %% [markdown]
# And Xavier's rule? The variance of the stream after each of six encoder layers, the mean over ten
# fresh models. Pre-norm adds about the same at each layer; post-norm begins again at 1 (6.8).


# %%
def mean_variances(norm):
    models = [fresh(layers=6, norm=norm, seed=seed) for seed in range(10)]
    return torch.stack([fresh_transformer.encoder_variances(model) for model in models]).mean(0)


plots.before_training.stream_variances(mean_variances)

# %% [markdown]
# ## 7.7 Greedy decoding of a batch
# *12 points, 50 minutes, difficulty 4 of 5, importance 5 of 5*
#
# Now the model writes by itself. Lecture W goes through it step by step: the decoder reads START
# and writes *It*; it reads START *It* and writes *is*; and so on, until it writes END. At each step
# it takes the likeliest word:
#
# $$y_t = \arg\max_v\; p_\theta(v \mid x,\; \text{START}, y_1, \dots, y_{t-1})$$
#
# The source does not change, so it is encoded once. Unlike lab 2's decoder, yours has no state, so
# it reads everything written so far at every step (lab 9 adds a cache). Three things make a batch
# harder than one sentence:
#
# - **Sentences end at different steps.** A sentence that has written `eos` gets `pad` from then on,
#   and the others go on. (Lecture N's slide says: "When the stop token is generated, repeat".)
# - **A model may never write `eos`.** So there is a limit. Lecture C, like the paper, takes the
#   length of the source plus 50. It is the length of *each* source, without its padding.
# - **Dropout must be off**, no gradients are needed, and at the end the model must be in its old
#   mode again.
#
# **Predict.** A batch has sources of 2 and of 5 words, and its model never writes `eos`. What is
# the shape of the result, and how many `pad` are in it?
#
# <details><summary>Hint 1: a question</summary>
#
# `decode` returns (B, T, V): logits at all T positions. At which position is the symbol that you
# do not have yet? What do you need to know about each row from one step to the next?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Remember the mode, switch to evaluation, encode. Start a table with one column of `bos`, and a row
# of booleans, none of them True. While some row has not ended: decode the table, take the argmax
# at its last position, replace it by `pad` in rows that had already ended, append the column. Then
# a row has ended if it had ended before, if it has just written `eos`, or if it is at its limit.
# Restore the mode.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `source_valid.sum(1) + max_extra` are the limits, one for each row. `logits[:, -1].argmax(-1)` has
# shape (B,); `masked_fill(ended, pad)` replaces entries; `torch.cat((table, column[:, None]), 1)`
# appends a column. The number of symbols written is one less than the number of columns.
# `model.train(mode)` sets a mode, True or False.
# </details>

# %% exercise="greedy_decode"
from attnlab.decoding import greedy_decode

# %%
check("greedy_decode")

# %% [markdown]
# **Look.** Lecture W's example, written by your `greedy_decode` with your `Transformer` of 7.3. Its
# weights come with the lab: one layer on each side, one head, 49 words, trained for eight seconds
# on 911 questions about university towns, but **not on this one**. Each row of the table is one
# step. Rest the pointer on a cell to read its number.
#
# - *Left*: what goes into the decoder. The last of these words asks; the darker a word, the more it
#   looks back at it. What is hatched is not written yet.
# - *Middle*: where the same word looks in the question. PAD is forbidden, as in a batch with a
#   longer question.
# - *Right*: the three likeliest words. The first is written, and is read at the next step.

# %%
plots.translation.decoding_trace(Transformer, greedy_decode, places.LECTURE.question)

# %% [markdown]
# To write *Waterloo*, the decoder looks at *Waterloo*: it copies a name that it has never written
# after "It is at". To write *at* it looks at *of*, which occurs only in questions about a
# university; for "Where is Waterloo ?" it would write *in*, and a country. Do not read too much
# into the rest. We trained the same model with six seeds, and all of them give this answer. Three
# look at *Waterloo* for it, and three at "?" or *University*, because the encoder's own attention
# has carried the town there. A vector of the memory knows more than its own word.

# %% [markdown]
# ## 7.8 Training
# *14 points, 60 minutes, difficulty 3 of 5, importance 4 of 5*
#
# Lab 2's decoder had to run symbol by symbol, even in training, because each step needed the state
# of the step before. This one has no state. The causal mask hides all later symbols, so **one**
# call predicts at all positions of all sentences, each from the true symbols before it (teacher
# forcing; lectures G, C and N). The loss is the mean surprise over all labels of the batch:
#
# $$\text{loss} = -\frac{1}{n} \sum_{b,\,t\,:\; y_{b,t} \ne \text{PAD}} \log p(y_{b,t} \mid
# y_{b,<t},\, x_b)$$
#
# where n is the number of labels that are not PAD. If padding were counted, the model would also
# train to write PAD after its end, and its loss would look better than it is.
#
# In the loop, each step clears the gradients, computes the loss, goes backward, clips and updates.
# The schedule is new. The learning rate **warms up**: it rises from nearly 0 during the first 60
# steps, and then falls to 0 again like half a cosine. Adam needs some steps until it knows which
# gradients are large by chance, and its first steps are all of full length; at a small rate they
# are safe. The schedule, the optimizer and the limit for clipping are given. (In lab 8 you build
# all three.)
#
# **Predict.** The rows of a batch have 5, 2 and 3 labels. Your neighbour leaves padding out of the
# sum, but divides by all positions. Which share of the right loss does that give?
#
# <details><summary>Hint 1: a question</summary>
#
# The model returns (B, T, V). What does lab 1's `cross_entropy` take, and which of its arguments
# leaves a label out? (And for the loop: if the optimizer's second step should use the second rate
# of the schedule, which of the two takes its step first?)
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# The loss: call the model once, with three fields of the batch. Make rows of logits, (B · T, V),
# and a list of labels in the same order; the fourth field has been shifted already (7.4). The loop:
# training mode; for each batch zero_grad, the loss, backward, clip all parameters together, step of
# the optimizer, step of the scheduler, and keep the loss as a number. At the end evaluation mode.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `logits.flatten(0, 1)`, `batch.labels.flatten()`, `ignore_index=pad`;
# `nn.utils.clip_grad_norm_(model.parameters(), max_norm)` between `backward()` and
# `optimizer.step()`; `loss.item()` is a number.
# </details>

# %% exercise="train_transformer"
from attnlab.seq2seq_training import sequence_loss, train_transformer  # noqa: F401

# %%
check("train_transformer")

# %% [markdown]
# Now train. The first task is **copying**: sequences of 4 to 12 symbols of twenty, which must be
# written again. It sounds too easy to be of use, but it is the best test of a new Transformer. A
# model that cannot learn to copy *all* of them has a fault in its masks, its positions or its
# shift. Then come lab 2's **dates**, read letter by letter, and **numbers in words**, from English
# to French. It is the same class each time; only the config differs.
#
# **Predict.** Copying has 23 symbols, and log 23 = 3.14. But this model's tables are tied, and in
# 7.6 you saw what a fresh tied model writes. Does its loss start above 3.14 or below?


# %%
def train_and_save(task):
    return trained(
        f"{task}.safetensors",
        lambda: small_transformer(task, Transformer, init_weights),
        lambda model: train_on(task, model, train_transformer, make_batch),
        names=names_in_file(task),
    )


copier, copy_losses = train_and_save("copy")

# %%
dater, date_losses = train_and_save("dates")
counter, number_losses = train_and_save("numbers")

# %% [markdown]
# **Look.** The loss of each step, on a scale of powers of ten; below it, how many of 500 new pairs
# each model writes without a mistake, by itself, with your `greedy_decode`. (At the start a tied
# model writes its own input again, which is hardly ever the next symbol, so the loss starts above
# log 23.)

# %%
plots.learning.losses({"copy": copy_losses, "dates": date_losses, "numbers": number_losses})
plots.learning.right_answers({"copy": copier, "dates": dater, "numbers": counter}, greedy_decode)

# %% [markdown]
# The weights are in three files next to the notebook: `copy.safetensors`, `dates.safetensors` and
# `numbers.safetensors`. They are part of your hand-in; four points are for what they write on data
# that you never see. **They do not update when you fix a step above**: delete them then, or pass
# `again=True` to `trained` once. (In the files, all weights have the names of the docstrings, even
# if your layers call their parts by other names.) One more check trains on a few batches with
# everything that *you* wrote in this lab; there, an earlier mistake counts.
#
# These are the means of ten of our own runs, each with other first weights and another order of
# the pairs; in brackets the lowest and the highest. Each took one core of a busy machine:
#
# | | parameters | pairs | steps of 64 | right, of 1,000 new ones | CPU seconds |
# |---|---|---|---|---|---|
# | copying | 22,240 | 5,000 | 800 | 100.0 % (99.9 % – 100.0 %) | 14 |
# | dates | 120,448 | 5,500 | 1,200 | 99.3 % (99.1 % – 99.7 %) | 53 |
# | numbers in words | 121,024 | 6,000 | 800 | 99.9 % (99.6 % – 100.0 %) | 26 |
#
# **Is it better than lab 2's translator?** No. Lab 2's GRU saw
# every date four times and translates 99.8 % of new ones (twelve runs). This model sees every date
# 14 times for 99.3 %, and it has twice as many parameters. Dates are short, and the GRU has their
# order built in: it reads neighbouring letters together from its first step. Attention has to learn
# from the positions which letters belong together. It gains something else. In training, the GRU
# needs up to 36 steps to read a date and 11 to write it, each waiting for the one before; here, all
# positions are computed at once. On one core that gains nothing. On a GPU, which can do thousands
# of multiplications at the same time, it is the reason why Transformers took over.
#
# ### What a low loss can hide
#
# Two parts are easily forgotten, and without them everything still runs: the causal mask and the
# positions. **Predict.** Which of the two models will have the lower loss, and what will it write
# by itself?

# %%
plots.learning.two_parts_missing(
    copier, copy_losses, Transformer, init_weights, train_transformer, make_batch, greedy_decode
)

# %% [markdown]
# After as many steps, the loss without the mask is as good as yours: each position can look at the
# next input, which is the label. So the model learns to look one position ahead, and nothing about
# the source. When it writes, there is no later position. Such a loss contradicts itself: if each of
# nine labels has a surprise of 0.01 nats, a whole sequence should be right with probability
# $e^{-9 \cdot 0.01} = 0.91$.
# **If a model writes far less than its loss promises, it has seen the answer.** (Lab 5 met the same
# leak.)
#
# Without positions the source is a bag of symbols, and so is the target so far. The model learns
# which symbols occur, and guesses the order; its loss gets stuck, and that is the honest kind of
# failure: you see it.

# %% [markdown]
# ## 7.9 Two ways to measure
# *6 points, 30 minutes, difficulty 3 of 5, importance 5 of 5*
#
# In training the model reads the true symbols (**forced**); when it is used, it reads its own
# (**free**). So it was never taught what to do after a mistake of its own. How much does that cost?
# It depends on what you count:
#
# - **exact match**: the share of rows in which every symbol is right;
# - **share of symbols** (token accuracy): the share of all symbols that are right.
#
# Measure both, in both ways, with one function for the counting and one that asks the model.
#
# **Predict.** Take a model that makes mistakes in more than half of its rows. Forced, it gets 38 of
# 100 rows exactly right. How many does it get right in free mode: fewer, as many, or more? And its
# share of symbols: lower, the same, or higher? Decide before you run anything.
#
# <details><summary>Hint 1: a question</summary>
#
# What a model writes freely may be narrower or wider than the labels. Which of its columns count,
# and what are the missing ones?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# `accuracy`: bring `written` to the width of `labels` (cut, or add PAD). A symbol counts where its
# label is not PAD. A row is right if it has as many right symbols as symbols that count.
# `forced_and_free`: one call of the model on `batch.inputs` and an argmax; one call of
# `greedy_decode`; the same counting for both.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `torch.nn.functional.pad(table, (0, n), value=PAD)` adds n columns on the right; `(a == b) & real`
# marks right symbols; `.all(1)` looks at rows; `.item()` makes a Python number of a tensor. BOS,
# EOS and PAD are imported for you.
# </details>

# %% exercise="forced_and_free"
from attnlab.evaluation import accuracy, forced_and_free  # noqa: F401

# %%
check("forced_and_free")

# %% [markdown]
# **Look.** A model that makes mistakes: it has half the width of your translator of dates and
# learned for only 400 steps. On the left, your two measures on 500 dates that it never saw. On the
# right, the share of right symbols at each position of a date; above, the first three dates in
# which the two ways differ. At which position does the gap open, and why there?

# %%
from attnlab.data import dates

plots.translation.forced_against_free(
    Transformer, make_batch, greedy_decode, forced_and_free, dates.validation()
)

# %% [markdown]
# **Exact match is the same in both ways, to the last digit.** As long as a row has no mistake, the
# model has read the same symbols forced and free, so it writes the same. So the *first* mistake, if
# there is one, is the same, too. All that teacher forcing hides happens **after** a first mistake:
# the third digit of the year is wrong in nearly half of the dates, and then the fourth is right in
# 94 of 100 dates forced, and in 55 free. The model learned to write what follows "198", and not
# what to do after a wrong "197".
#
# So which measure should you report? If one mistake spoils everything, as in a date, forced exact
# match is enough, and needs a single call. For a long text no row is without a mistake, and only
# what the model writes freely shows how good it is. (The loss of 7.8 is a forced measure.)

# %% [markdown]
# ## The translator at work
#
# Your Transformer translates now. Here is where its decoder looked, over the **words** of the date,
# while it wrote each symbol: the weights of the attention to the source, the mean over the four
# heads. (The model reads letters; the picture adds up those of each word. Point at a cell to see at
# which letter of the word most of it was.)

# %%
plots.reading.date(dater, greedy_decode, "thursday, march 5th 1998")

# %% [markdown]
# Type your own date below and run the cell again. It may be in any of the 27 formats of lab 2 or in
# one of your own invention. Where does it look for the month, and where for the two dashes? Try a
# wrong weekday: does the answer change?

# %%
my_date = "the 4th of july, 2026"
plots.reading.date(dater, greedy_decode, my_date)

# %% [markdown]
# The training had 27 formats. These eight were not among them; each line shows how many of 50 dates
# are right, and one of them. Which new formats does the model understand, and what do the others
# have that no date of the training has?

# %%
plots.reading.new_formats(dater, greedy_decode)

# %% [markdown]
# In our own run, a new separator or a new order costs some dates, but most are right. In the two
# lines without a single right date, the year is *after a word and before others*: in training, a
# year is either the very beginning of the text or its end. So the model has learned where years
# are, rather than what a year is.
#
# The third model has the same class. In its config only the two vocabularies are different. Follow
# the words of the picture: where does *quatre* look, and where does *-*? Then try your own number,
# up to nine hundred ninety-nine thousand nine hundred ninety-nine.

# %%
my_number = "eighty-one thousand two hundred"
plots.reading.number(counter, greedy_decode, my_number)

# %% [markdown]
# French has traps: *cents* has an s only if nothing follows, *quatre-vingts* too, 71 is
# *soixante-et-onze*, and 1,000 is *mille* without *un*. No line of your code contains these rules:
# the model found them in 6,000 of 999,999 numbers.

# %% [markdown]
# ## 7.10 Errata hunt
# *2 points, 20 minutes, difficulty 2 of 5, importance 3 of 5*
#
# Three slides to look at twice. For each, write the number that follows from the slide and the
# number that is right.
#
# - **C5** (something is missing) Lecture C's training loss is
#   $l = -\sum_n \sum_t \log f_\theta(x_n, y_{n,1}, \dots, y_{n,t-1})$. The model $f_\theta$
#   returns a probability for each of V = 37,000 words. *Slide*: how many numbers are in $l$ as it
#   is written? *Right*: how many are in a loss?
# - **W2** (what follows?) Lecture W: "Only three tunable hyper-parameters": N = 6 layers, d = 512
#   and h = 8 heads. (Its slides fix d_ff = 4d and heads of d/h.) Take the base model of 7.5 with
#   37,000 symbols. *Slide*: one of the three does not change its size: how many parameters are
#   added if **h** is doubled? *Right*: how many are added if the **vocabulary** is doubled, which
#   is not among the three?
# - **WM** (words or formula?) Lecture W on masking: "Input the masked sequence into the attention
#   layer", below the sentence "University of Waterloo locates at Waterloo", in which the last three
#   words are replaced by [Mask]. A decoder learns to predict all six words, the first one from the
#   start symbol. *Slide*: if later words are replaced **in the input**, how many times does the
#   decoder run? *Right*: how many times with the mask of 7.2, on the scores?

# %% exercise="errata"
errata = {}
# TODO: write three lines such as errata["C5"] = (slide, right, "why, in four words or more").
# Let code compute the numbers if it can.
### BEGIN SOLUTION
errata["C5"] = (37_000, 1, "log f is a vector; the entry of the true word y_t is not picked")
errata["W2"] = (0, 37_000 * 512, "the size of the vocabulary is chosen, too (and d_ff, dropout)")
errata["WM"] = (6, 1, "each row of the scores has a mask of its own, so one run is enough")
### END SOLUTION

# %%
check("errata")

# %% [markdown]
# ## 7.11 Predict, then run
# *3 points, 15 minutes, difficulty 2 of 5, importance 3 of 5*
#
# Predict five numbers and write them down; then run the cell under **Look**. If a number was wrong,
# correct it and be able to say why. The numbers that you hand in count.
#
# - **P1** A model has two encoder layers and three decoder layers. How many attentions
#   (`MultiHeadAttention`) does it have?
# - **P2** A target has nine symbols, the last is `eos`. In training, one call of `decode` is enough
#   for it. How many calls does the model need to write it?
# - **P3** In a model with d_ff = 4 d_model, a decoder layer has more parameters than an encoder
#   layer. How many times as many? Two digits after the point are enough.
# - **P4** A model's targets have 27 different symbols, and its logits are still close to 0. What
#   is its loss, in nats?
# - **P5** A half-trained model writes 0.402 of 500 sentences exactly right. Now it reads the true
#   symbols instead of its own (teacher forcing). What share of the 500 does it get exactly right?

# %% exercise="predictions"
predictions = {}
# TODO: write five lines such as predictions["P1"] = 7.
### BEGIN SOLUTION
predictions["P1"] = 8
predictions["P2"] = 9
predictions["P3"] = 1.33
predictions["P4"] = 3.296
predictions["P5"] = 0.402
### END SOLUTION

# %%
check("predictions")

# %% [markdown]
# **Look.** Your predictions next to the computed numbers (P5 is what 7.9 shows, on a trained
# model). P1 counts the modules of the two classes in `KINDS`: if your layers have an attention of
# another class, add that class.


# %%
KINDS = (MultiHeadAttention, torch.nn.MultiheadAttention)


def sized(encoder, decoder):
    return TransformerConfig(27, 27, num_encoder_layers=encoder, num_decoder_layers=decoder)


def attentions():
    with torch.device("meta"):
        modules = list(Transformer(sized(2, 3)).modules())
    return sum(isinstance(module, KINDS) for module in modules)


def decoder_by_encoder():
    one = count_params(sized(1, 1))
    return (count_params(sized(1, 2)) - one) / (count_params(sized(2, 1)) - one)


compare_predictions(
    predictions,
    {
        "P1": attentions,
        "P2": lambda: fresh_transformer.calls_to_write(fresh(), 9),
        "P3": decoder_by_encoder,
        "P4": lambda: fresh_transformer.first_loss(fresh(tie="none", symbols=27))[0],
    },
)

# %% [markdown]
# ## 7.12 Test somebody else's decoder
# *4 points, 35 minutes, difficulty 3 of 5, importance 4 of 5*
#
# A decoder that sees too much trains well and then writes nonsense; one that sees too little never
# learns why. Neither raises an error. Write a test that takes a class, lets a right `DecoderLayer`
# pass silently, and raises `AssertionError` for one in which a word sees what it must not, or does
# not see what it may. It is tried on more than twenty wrong versions of 7.2 and a few right ones.
# Your points are the share of wrong versions that it rejects, times the share of right ones that it
# accepts. Norms, residuals and dropout are right in all versions.
#
# You need no expected numbers. As in lab 5, change one word and look at which outputs move. Right
# versions call their parts by different names, so do not ask for any.
#
# **Predict.** A wrong version uses `target_mask` in its cross-attention. Your test has 4 target and
# 6 source words. What happens? And with 5 and 5?
#
# <details><summary>Hint 1: a question</summary>
#
# Each of the two masks can be there or not: how many cases is that? In each of them, which outputs
# may move if one target word changes, and which if one position of memory changes?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# For a few pairs of lengths, equal ones too, and for all four cases of masks: compute the output
# once. Then change one word at a time, of the target and of memory, and compare the outputs that
# moved with those that may. Hidden words must have no effect: leave them out and compare. Does a
# gradient reach memory?
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `layer = impl(12, 3, 20).double().eval()`; give all parameters small random numbers, because norms
# start with ones. `(after - before).abs().amax((0, 2)) > 1e-9` says for each output whether it
# moved.
# </details>


# %% exercise="test_decoder_layer"
def test_decoder_layer(impl):
    """Let a right version of DecoderLayer pass; raise AssertionError if it sees too much or little.

    Args:
        impl: a class, called as ``impl(d_model, num_heads, d_ff, dropout=…, norm=…)``; its layers
            should keep every promise of 7.2, but may call their parts by other names.

    Right versions differ in their last digits: allow 1e-9 in float64.
    """
    ### BEGIN SOLUTION
    random = torch.Generator().manual_seed(0)
    layer = impl(12, 3, 20).double().eval()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.normal_(std=0.4, generator=random)

    def numbers(*shape):
        return torch.randn(shape, generator=random, dtype=torch.float64)

    def moved(before, after):
        return ((after - before).abs().amax((0, 2)) > 1e-9).tolist()

    for T, S in ((4, 6), (5, 5)):
        x, memory = numbers(2, T, 12), numbers(2, S, 12)
        causal, visible = torch.ones(T, T).tril().bool(), torch.arange(S) < S - 2
        plain = layer(x, memory)
        for own in (None, causal):
            for cross in (None, visible[None, None, None]):
                masks = {"target_mask": own, "memory_mask": cross}
                out = layer(x, memory, **masks)
                for j in range(T):
                    other = x.clone()
                    other[:, j] = numbers(2, 12)
                    right = [own is None or i >= j for i in range(T)]
                    assert moved(out, layer(other, memory, **masks)) == right, "target words"
                for j in range(S):
                    other = memory.clone()
                    other[:, j] = numbers(2, 12)
                    right = [cross is None or j < S - 2] * T
                    assert moved(out, layer(x, other, **masks)) == right, "source words"
            cut = layer(x, memory[:, :-2], target_mask=own)
            assert not any(moved(cut, out)), "hidden source words have an effect"
        assert not any(moved(plain, layer(x, memory))), "an earlier mask is still used"

        leaf = memory.clone().requires_grad_()
        layer(x, leaf).square().sum().backward()
        assert leaf.grad is not None, "no gradient reaches memory"
        assert leaf.grad.any(), "the gradient at memory is 0"
    ### END SOLUTION


# %%
check("test_decoder_layer")


# %% [markdown]
# **Look.** Your own layer should pass. The second one hides nothing of the source, and the third
# answers your prediction. Does your test say why?


# %%


class SeesPadding(DecoderLayer):
    def forward(self, x, memory, *, target_mask=None, memory_mask=None):
        return super().forward(x, memory, target_mask=target_mask)


class WrongMask(DecoderLayer):
    def forward(self, x, memory, *, target_mask=None, memory_mask=None):
        return super().forward(x, memory, target_mask=target_mask, memory_mask=target_mask)


try_versions(test_decoder_layer, DecoderLayer, SeesPadding, WrongMask)

# %% [markdown]
# ## What you can now explain
#
# - what each of the three attentions looks at, and what each mask is for;
# - why the decoder reads its target one position later, and what leaks if it does not;
# - where a model's parameters are, and which of its numbers change nothing about their count;
# - what a fresh model's loss must be, and what a tied model writes before it has learned anything;
# - why every sentence of a batch has a limit of its own when the model writes;
# - what teacher forcing hides, and in which measure you see it.
#
# Next week you train for real: optimiser, schedule, regularisation. Until then: give your decoder a
# target mask that allows one position too many. How low does its loss fall, and what does it write?

# %% [markdown] free_text="explain" points=4
# ## In your own words
# *4 points, marked by a TA*
#
# A friend has built a translator. Its training loss falls to 0.001 within an hour, and all symbols
# of the validation set are predicted right, with the true target as the decoder's input. But when
# it translates by itself, it writes the same word again and again. Explain in four to six
# sentences: which two mistakes would look like this, and why does the loss not show either of them?
# Which test, without any training, distinguishes the two? And what does each of the decoder's two
# attentions read, in training and when the model writes?
#
# <!-- BEGIN SOLUTION -->
# Both mistakes let the model see the symbol that it should predict: the target mask is missing or
# off by one, so a position looks at later inputs; or the inputs are not shifted, so each position
# reads its own label. Then copying is enough, and the loss falls close to 0 although the model has
# learned nothing about the source; when it writes, there is no later symbol to copy from, and it
# repeats what it reads. The loss is computed with the true target as input, so it cannot show what
# happens without it. To distinguish the two, change one input symbol of an untrained model and look
# at the logits: if earlier positions move, the mask is wrong; if they do not, compare inputs and
# labels position by position: no input may be equal to its label (except by chance). The decoder's
# self-attention reads the target so far: the true symbols, shifted, in training, and the model's
# own symbols when it writes. The cross-attention takes its queries from the same positions, but its
# keys and values from the encoder's output, which is the same in both cases and is computed once.
# <!-- BEGIN MARK SCHEME -->
# - 1: a wrong mask and inputs that are not shifted, because both let the model see its label
# - 1: the loss is computed with the true target as input
# - 1: the test: change one input of an untrained model, look at earlier logits, then compare
#   inputs and labels
# - 1: what self-attention and cross-attention read, in training and when the model writes
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
