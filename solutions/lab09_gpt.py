"""Lab 9, text in, text out: the source of its notebook (`lab build` makes it).

It runs as a script: `python solutions/lab09_gpt.py`. If the answer is a function of the library, an
exercise's cell holds one import line; its task is that function's docstring.
"""

# %% [markdown]
# # Lab 9: {{title}}
#
# A language model reads numbers and writes numbers. In this lab you build the whole way from a text
# to a new text: a tokeniser that learns its vocabulary, a GPT, its training on the manuals of
# Python, the choice of the next token, and a cache that makes writing fast. At the end, your
# tokeniser works in the package that OpenAI's models use, and your model continues a sentence of a
# manual.
#
# | | |
# |---|---|
# | due | {{due}} |
# | points | {{points}}, in {{steps}} steps and one question |
# | time | about eight hours; the computer needs a few minutes of it |
# | you need | causal masks (5.1); multi-head attention (4.2); layers (6.7); a training loop (7.8) |

# %%
import math
from dataclasses import replace

import torch

from attnlab import check, plots, submit
from attnlab.gpt import GPTConfig
from attnlab.models import continuations, own_tokens, small_gpts
from attnlab.notebook.review import compare_predictions, try_versions
from attnlab.notebook.saved import trained

torch.manual_seed(9)  # every run of this notebook is the same

plots.text_to_text.text_to_text()

# %% [markdown]
# The way from a text to a new one. Blue boxes are used for every token that is written; orange ones
# are made before, or help. (Point at a box to read what it is for.)
#
# Each step has the same parts: *why* → *predict* → *write* → *check* → *look*. `check` shows the
# visible checks, about half of the points. The others run after you hand in, on other texts and
# numbers; the docstring in the cell states everything they check. `check` runs on your own
# functions. When the lab is graded, a right version replaces each earlier step, so a wrong step
# costs nothing in the next one; 9.6 names the one exception. `check()` without a name shows where
# you stand.
#
# The letters **W**, **S**, **G**, **N** and **C** stand for five public lectures;
# [LECTURES.md](LECTURES.md) says which. You do not need them to do the labs.

# %% [markdown]
# ## 9.1 Learning a vocabulary: `train_bpe`
# *12 points, 60 minutes, difficulty 3 of 5, importance 5 of 5*
#
# What should a model read: words? There are too many, and tomorrow there is a new one. Single
# bytes? There are only 256, and every text can be written with them, but texts become long, and a
# model's work grows with their length. **Byte-pair encoding** (lectures C and N; the paper's
# translator, GPT and most models since use it) is between the two, and a text itself decides where:
# parts that are often side by side become one token.
#
# 1. Cut every word into its bytes.
# 2. Count all pairs of neighbours. A pair in a word that occurs six times counts six times.
# 3. Join the most frequent pair, everywhere, into one part. This is a **merge**.
# 4. Go back to 2, as often as the vocabulary should grow by one token.
#
# The merges, *in their order*, are all that is learned. Here is the example of the paper that
# brought the method from compression into translation (Sennrich et al. 2016). A mark `_` at the end
# of a word lets *est* at an end be another token than *est* in *estate*:
#
# | word | occurs |
# |---|---|
# | `low_` | 5 |
# | `lower_` | 2 |
# | `newest_` | 6 |
# | `widest_` | 3 |
#
# In this table (e, s), (s, t) and (t, _) occur 9 times each. Which one is joined? Texts on
# byte-pair encoding often leave this open, and then two right programs learn different merges. So
# the task has two **rules for ties**: the pair that you meet first, as in the paper's own program,
# or the greatest, as in some courses.
#
# You write two functions: `merge_pair` joins one pair in one word (3 points), `train_bpe` learns (9
# points). A part is of type `bytes`. Python shows it as `b"est"`, and a loop over it gives
# *numbers*.
#
# **Predict.** Do steps 2 and 3 by hand for the table above, twice, with the rule "first". Which
# parts does `newest_` have then? And which ones with the rule "greatest"?
#
# <details><summary>Hint 1: a question</summary>
#
# `a a a` holds the pair (a, a) at two places. At how many of them can it be joined? For
# `merge_pair`: where do you go on after a place where you joined, and where after one where you did
# not?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Keep for every word a list of its parts, and how often it occurs. In a loop: a new, empty table of
# counts; all pairs of all words; the largest count; the pairs that have it; one of them by the
# rule; all words joined. Where can a loop over the words find no pair at all?
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `bytes([number])` makes one byte of a number; `itertools.pairwise(parts)` gives pairs of
# neighbours. A dictionary keeps the order in which its keys came in. `max` of several tuples is the
# one that you want for "greatest".
# </details>

# %% exercise="train_bpe"
from attnlab.tokenizer import merge_pair, train_bpe

# %%
check("train_bpe")

# %% [markdown]
# **Look.** Twelve merges of the four words under both rules: each bracket joins two parts, and its
# height is the number of the merge. (Point at a bracket to read the pair, and how often it
# occurred.) Which tokens does only one of the two vocabularies hold? The counts are 9 9 9 7 7 6 6 6
# 5 3 3 3 under both rules. So is one of the rules better than the other?

# %%
plots.tokens.merge_trees(train_bpe, merge_pair)

# %% [markdown]
# ## 9.2 Text to tokens and back: `encode` and `decode`
# *12 points, 60 minutes, difficulty 3 of 5, importance 5 of 5*
#
# With the merges, any text becomes tokens, even words that the training never saw. GPT-2 does it in
# three steps:
#
# 1. **Special tokens** such as `<|endoftext|>` are cut out. Each of them is one token, and no merge
#    touches it.
# 2. The rest is cut into **pieces**, by a pattern. `GPT2_PATTERN` takes a word *with the space
#    before it* as a piece, and numbers, other signs and runs of white space. Each character is in
#    exactly one piece, so nothing is lost. No token reaches from one piece into the next: otherwise
#    a vocabulary would fill up with pairs of words such as *of the*.
# 3. Each piece is cut into bytes, and the merges are made **in the order in which they were
#    learned**.
#
# Why the order? The first merges were made first in training, too, and later ones were counted in
# words in which they were already made. With the merges (b, c) and then (a, b), `abc` becomes `a
# bc`. If you took the leftmost pair, or the longest token that fits, you could get `ab c`. (BERT's
# WordPiece does take the longest; you will meet it in lab 10.)
#
# Every token has a number. A byte has its value, 0 to 255. The product of merge i has 256 + i, with
# i from 0. Special tokens follow.
#
# The way back has one trap: the bytes of **one character may be in several tokens**. An emoji has
# four bytes, and perhaps no merge has joined them. So bytes are joined first, and only then become
# text. A model can also write half a character; then there is a sign for it, U+FFFD, �.
#
# You write `tokens_of` for one piece (4 points), `encode` (5 points) and `decode` (3 points).
#
# **Predict.** The merges are (a, b), (b, c), (ab, c), in this order. What becomes of `abcbc`? And
# of `bcabc`?
#
# <details><summary>Hint 1: a question</summary>
#
# Of all neighbours in a piece, which are merges at all? Which of these was learned first? When are
# you done?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# `tokens_of`: while some pair of neighbours has a rank, join the one with the lowest, with 9.1's
# `merge_pair`. `encode`: a table from bytes to numbers; split at special tokens; a number for each
# special one; for each other part its pieces, and for each piece its tokens. `decode`: a table from
# numbers to bytes.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `regex.findall(pattern, text)` gives the pieces. `regex.split("(one|two)", text)` keeps what it
# splits at, because of the brackets; `regex.escape` removes the special meaning of signs such as
# `|`. `data.decode("utf-8", errors="replace")`. `-1` is a valid index of a list, but not the number
# of a token.
# </details>

# %% exercise="encode"
from attnlab.tokenizer import tokens_of, encode, decode  # noqa: F401, I001 - in this order

# %%
check("encode")

# %% [markdown]
# **A vocabulary of your own.** The next cell learns 300 merges from the first 150,000 characters of
# Python's manuals, with your `train_bpe` and the rule "first" (about ten seconds: every count is
# made 300 times). Then it makes a real `tiktoken.Encoding` of them. The package `tiktoken` is the
# tokeniser of OpenAI's models, written in Rust. It knows nothing of your functions: it gets your
# merges as a table from tokens to numbers, and the pattern. On 1,000 strings (prose, code, white
# space, emoji, Chinese, an empty one), does it say the same as your `encode`?

# %%
merges = own_tokens.learn_from_manuals(train_bpe)
own_tokens.compare_with_tiktoken(encode, merges)

# %% [markdown]
# **Look.** One sentence, cut without merges, with some of yours, and with all of them; `␣` is a
# space, and each `·` is a byte of the emoji. (Point at a box to read the bytes and the number.) If
# GPT-2's vocabulary is on this machine, its tokens come last. Which of the words does your
# vocabulary hold whole, and what does that say about the text that it was learned from?

# %%
plots.tokens.one_sentence(encode, merges)

# %% [markdown]
# ## 9.3 How many tokens is a word? `compression_curve`
# *4 points, 25 minutes, difficulty 1 of 5, importance 3 of 5*
#
# Lecture N says that 4,000 tokens are about 3,000 words. You need such a number to know what fits
# into a context, or what a request costs. But is it a property of the method? It depends on three
# things: on the **vocabulary** (with more merges, tokens are longer), on the **text** (is it like
# the one that the merges were learned from?), and on what counts as a **word**. Here, as in most
# such statements, a word is what is between white space: `text.split()`.
#
# Tokens per word can be compared only between texts of one kind. Bytes per token compare
# vocabularies on one text, and say how much longer the same context becomes.
#
# **Predict.** How many tokens per word does a text of plain English have with no merges at all?
# (Think of the length of a word, and of its space.) And can more merges ever make more tokens?
#
# <details><summary>Hint 1: a question</summary>
#
# Which of the four counts (words, bytes, tokens, merges) changes from one size to the next?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Count words and bytes once. For each size: encode with the first merges, count, divide twice.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `merges[:size]`, `len(text.split())`, `len(text.encode())`.
# </details>

# %% exercise="compression_curve"
from attnlab.compression import compression_curve

# %%
check("compression_curve")

# %% [markdown]
# **Look.** Your 300 merges on three texts: plain sentences, a part of the manuals that was not used
# for learning, and a module of Python. The grey line is lecture N's number. On which text would you
# promise 4,000 tokens for 3,000 words, after some more merges? Why are the three curves so far
# apart on the left, and so close on the right? (Without 9.1 there are no merges, and the figure
# stays empty.)

# %%
plots.tokens.compression(compression_curve, merges, own_tokens.texts_of_three_kinds())

# %% [markdown]
# With GPT-2's 50,000 merges we measured 1.11 tokens per word on the plain sentences, 2.08 on the
# manuals and 3.72 on the module. So 4/3 is the number of a text between the first two, and not a
# property of byte pairs: a "word" such as `textwrap.dedent(text),` has many parts for any
# vocabulary.

# %% [markdown]
# ## 9.4 The model: `GPT`
# *12 points, 75 minutes, difficulty 3 of 5, importance 5 of 5*
#
# Lab 7's Transformer had two halves. A **decoder-only** model keeps one of them: there is no
# source, so there is no encoder, no second attention, and only one mask. What is left is short
# (lecture G):
#
# $$h^0 = x\,W_e + W_p, \qquad h^{l} = \text{block}(h^{l-1}), \qquad
# P(\text{next}) = \text{softmax}(\text{norm}(h^L)\, W_e^\top)$$
#
# A block is pre-norm: each of its two sublayers reads the *normalised* stream and adds its output
# to the stream *as it is*:
#
# $$a = h + \text{attention}(\text{norm}_1(h)), \qquad
# \text{block}(h) = a + W_2\, \text{GELU}(W_1\, \text{norm}_2(a) + b_1) + b_2$$
#
# Four things are different from lab 7. Positions are **learned**: a table with one row for each
# position, so a text cannot be longer than this table. The middle of the network is **GELU**, a
# smooth ReLU. Embeddings are **not** multiplied by √d. And one norm follows the last block, because
# the stream has grown with every sum.
#
# The **first weights** are small, all of the deviation 0.02. A stream that is a sum of 2L branches
# would still grow with the depth. So the last layer of each branch starts smaller, by √(2L). The
# cell imports `init_normal(model, std=0.02, *, generator=None)` of the library. It draws every
# weight of a model with one deviation, and sets biases and norms as the task says. You may call it
# and then draw the last layers again, or write the loop over `model.modules()` yourself.
#
# **Predict.** GPT-2 has 50,257 tokens, 1,024 positions, 768 features and 12 blocks. Which share of
# its parameters is in the table of tokens: a tenth, a third, or two thirds?
#
# <details><summary>Hint 1: a question</summary>
#
# Which tensors go into the attention of a block: the stream, or what the norm makes of it? And
# which of the two is the attention's output added to?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# The block: norm, attention with a causal mask, sum; norm, linear, GELU, linear, sum. The model: a
# ValueError if there are too many tokens; two look-ups and their sum; the blocks; the norm; the
# head. The first weights: all modules (or `init_normal`), then a loop over the blocks. The count:
# the parameters of one block, times L; then the two tables, and the last norm.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `causal_mask(T)` goes in as fourth argument, after three times the same tensor. The first T rows
# of the table of positions are `self.positions.weight[:T]`. To tie: `self.head.weight =
# self.tokens.weight`. `nn.init.normal_(tensor, std=…, generator=generator)` works in place. A block
# has 4 matrices of d × d and 4 biases in its attention, 2 · 4d² weights and 5d biases in its
# network, and 2 norms of 2d.
# </details>

# %% exercise="gpt"
from attnlab.decoder_only import Block, GPT, init_gpt, count_gpt_params  # noqa: F401, I001

# %%
check("gpt")

# %% [markdown]
# **Look.** On the left, lab 5's question to your model: a 1 in row *i* and column *j* says that the
# logits at position *i* change if token *j* does. On the right, the stream of a fresh model of 12
# blocks, with your first weights and with 0.02 for all layers.

# %%
plots.language_models.before_training(GPT, init_gpt)

# %% [markdown]
# Now the sizes. All four models of the GPT-2 paper have the same vocabulary and the same context.

# %%
plots.language_models.sizes(count_gpt_params)

# %% [markdown]
# The table of tokens is a third of the smallest model and a twentieth of the largest. (9.11 has a
# question about the numbers that lecture G prints for these models.)

# %% [markdown]
# ## 9.5 Windows of a long text: `get_batch`
# *4 points, 20 minutes, difficulty 2 of 5, importance 4 of 5*
#
# A text is one long row of tokens; the model reads windows of it. The windows need no labels,
# because the text labels itself: the answer at each position is the token that comes next.
#
# $$x = (w_s, \dots, w_{s+T-1}), \qquad y = (w_{s+1}, \dots, w_{s+T})$$
#
# So a window of T tokens gives T predictions at once, and it needs T + 1 tokens of the text. Each
# row of a batch starts at a position *s* of its own, drawn at random.
#
# **Predict.** A text has 6 tokens, and T is 4. How many windows are there, and where do they start?
#
# <details><summary>Hint 1: a question</summary>
#
# Which is the last start that still has a token *after* its window?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Refuse a text that is too short. Draw B starts. Cut a window at each start, and another one
# position later. Make both int64.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `torch.randint(high, (batch,), generator=generator)` draws from 0 to high - 1. Indexing with a
# tensor of shape (B, T) gives (B, T): `starts[:, None] + torch.arange(context)` has this shape.
# </details>

# %% exercise="get_batch"
from attnlab.language_modeling import get_batch

# %%
check("get_batch")

# %% [markdown]
# **Look.** Two windows of a text of twelve tokens, whose numbers are their positions. Under each
# token of x is the one to predict.

# %%
plots.language_models.windows(get_batch)

# %% [markdown]
# ## 9.6 Pretraining
# *14 points, 75 minutes, difficulty 3 of 5, importance 5 of 5*
#
# Model, batches and text are ready, and lab 8's `Trainer` does the rest. Four small functions
# decide whether the number at the end is true.
#
# **The split.** Validation must be on documents that the model has never read. If a text is in both
# parts, a good memory looks like understanding. So whole documents are divided, copies are dropped,
# and the side of a document depends on its own bytes (its SHA-256) and on nothing else: if the
# collection grows tomorrow, nothing moves to the other side.
#
# **The loss.** Lab 8's Trainer wants a *sum* and a *count*, because batches of different sizes can
# be added then, and means cannot.
#
# **The measure.** Cut the new text into windows, predict each token once, and divide the sum of all
# surprises by their number. The last window may be shorter: a mean of the windows' means would
# count its tokens more than all others.
#
# **Its unit.** Is 3.3 nats per token good? That depends on the tokens: longer ones are fewer, and
# each is harder. A byte is a byte, so we compare
#
# $$\text{bits per byte} = \frac{\text{nats per token} \cdot \text{tokens}}
# {\text{bytes} \cdot \ln 2}$$
#
# **Predict.** A tokeniser cuts a text of 1,000 bytes into 400 tokens, and a model has a loss of 3.5
# nats. Does it need more or fewer bits than gzip, which makes 380 bytes of the text?
#
# <details><summary>Hint 1: a question</summary>
#
# Which of these would you notice if it were wrong: a sum instead of a mean, dropout while you
# measure, a logarithm of base e for one of base 2?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# The split: go through the different texts; hash, compare, append. The loss: call the model,
# flatten logits and labels, sum. The measure: remember the mode, switch to evaluation and no
# gradients; for each window add its sum; divide by N - 1 once, at the end; restore the mode.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `dict.fromkeys(documents)` has each text once, in order. `hashlib.sha256(text.encode()).digest()`
# are 32 bytes, and `int.from_bytes(four_bytes, "big")` is their number. `F.cross_entropy(…,
# reduction="sum")`, and `Sums(loss, torch.tensor(y.numel()))`. Windows start at
# `range(0, len(ids) - 1, context)`.
# </details>

# %% exercise="train_gpt"
from attnlab.language_modeling import split_documents, lm_loss, text_loss, bits_per_byte  # noqa: I001

# %%
check("train_gpt")

# %% [markdown]
# ### A source whose floor is known
#
# Before a model costs you an hour, let it learn something whose best loss you know. Lab 5's source
# draws each of 8 symbols by the two before it. A model that knows neither of the two cannot be
# better than 2.064 nats. If it knows the last one, it cannot be better than 1.930; if it knows
# both, than **1.373**, and no model is better than that. Three seconds of training test the whole
# pipeline: a loss that stays at 1.93 has lost the second symbol, and one *below* 1.37 has seen the
# answer.


# %%
def train_and_save(task, tokens):
    return trained(
        f"{task}_gpt.safetensors",
        lambda: small_gpts.small_gpt(task, GPT, init_gpt),
        lambda model: small_gpts.train_gpt(task, model, tokens(), lm_loss, get_batch),
        names=small_gpts.names_in_file(task),
    )


source = small_gpts.source()
markov_gpt, markov_losses = train_and_save("markov", lambda: small_gpts.markov_tokens("train"))

# %%
plots.language_models.loss_and_staircase(markov_losses, source.entropies)

# %% [markdown]
# **Look.** The loss goes down a staircase: first the model learns how frequent each symbol is, then
# which symbol follows which, and at last pairs. It ends a little above the floor. Some of that
# cannot be avoided: the first position of each window knows only one symbol.
#
# ### The manuals of Python
#
# Now real English: every Python brings along the topics of its manual and the docstrings of its
# library, 1.6 MB. Nothing is downloaded. Your `split_documents` divides them; then lines of the
# validation part that are also in the training part are left out, because docstrings copy from each
# other.
#
# The tokens are 512 merges, learned from these texts by the rule of 9.1 (ties: the greatest pair).
# Your own `train_bpe` counts everything again after each merge and would need a minute, so they
# come with the lab. The first of them should look familiar (`␣` is a space):

# %%
print(*((a + b).decode().replace(" ", "␣") for a, b in small_gpts.merges()[:24]))
manuals = small_gpts.corpus_or_none(split_documents)

# %%
manuals_gpt, manuals_losses = None, torch.empty(0)
if manuals is not None:
    manuals_gpt, manuals_losses = train_and_save("manuals", lambda: manuals.train)

# %% [markdown]
# **Look.** On the left, your training. On the right, what a byte of new text costs: for gzip, for a
# table of all pairs of tokens in the training text, and for your model.

# %%
plots.language_models.bits_per_byte(
    {
        "gzip": small_gpts.gzip_bits(manuals),
        "pairs of tokens": small_gpts.pair_bits(manuals, bits_per_byte),
        "your GPT": small_gpts.gpt_bits(manuals, manuals_gpt, text_loss, bits_per_byte),
    },
    manuals_losses,
)

# %% [markdown]
# Our own runs with ten seeds needed 2.29 to 2.32 bits per byte, on the manuals of Python 3.11, and
# 44 to 53 CPU seconds each; gzip needs 3.07, and pairs of tokens 2.51. (On the source, ten seeds
# ended 0.02 to 0.04 nats above the floor.) So a minute of training beats both, though the table not
# by much: it knows one token of the past, and your model up to 64. Is the comparison with gzip
# fair? gzip begins each text knowing nothing, while the other two have read 1.6 MB of the same
# kind.
#
# What does it write? The simplest way to choose a token is to draw it with the probability that the
# model gives it. (9.7 does better.)

# %%
print(small_gpts.written(manuals_gpt, "Return the "))

# %% [markdown]
# Words are half right, the tone is a manual's, and no sentence makes sense: a minute of training
# has taught it which letters make words, and which words are neighbours. A model with one block
# more and a context of 128, which was trained for 200 CPU seconds on the same texts (2.05 bits per
# byte), comes with the lab as `small_gpts.pretrained()`. It writes:

# %%
print(small_gpts.written(small_gpts.pretrained(), "Return the ", 100))

# %% [markdown]
# The weights are in `markov_gpt.safetensors` and `manuals_gpt.safetensors` next to the notebook.
# They are part of your hand-in: 3.5 points are for what they predict of texts that you did not
# train on. (If your model's parts have other usual names than in 9.4, they get those of 9.4 in the
# file.) Half a point more, in grading, is for a short training with everything that you wrote in
# 9.4, 9.5 and here; there, an earlier mistake counts. **They do not update when you fix a step
# above**: delete them then, or pass `again=True` to `trained` once.
#
# **And a real GPT-2?** It is the same loop with other numbers: `GPTConfig.of_size("gpt2")`, and
# `TrainerConfig(device="cuda", dtype="bf16", batch_tokens=32768, accumulate=4)`. In a terminal,
# `python -m attnlab.train gpt2` trains it on the manuals, and `python -m attnlab.train manuals`
# trains the small one. The Trainer's code for GPUs is lab 8's. We have not trained a GPT-2 to the
# end, neither on a GPU nor without one.

# %% [markdown]
# ## 9.7 Choosing the next token: `sample`
# *14 points, 60 minutes, difficulty 3 of 5, importance 5 of 5*
#
# The model returns a number for every token of its vocabulary. Something must choose one of them,
# and this choice shapes the text more than people expect. Always taking the likeliest token gives
# dull text that soon repeats itself. Drawing from the model's own probabilities gives strange text:
# each single unlikely token is rare, but there are hundreds of them, and together they get a large
# share of the draws. After one of them, the rest of the text follows it.
#
# So three numbers change the distribution before the draw:
#
# - The **temperature** divides the logits, as in lab 1. Below 1, likely tokens get more.
# - **Top-k** keeps the k likeliest tokens. But how many tokens are sensible? After "import" there
#   may be hundreds, after "isinsta" there is one. One k cannot suit both.
# - **Top-p** (also called nucleus sampling) therefore keeps a *share of the probability*: the
#   smallest set of likeliest tokens whose total reaches p. Where the model is certain, that is one
#   token; where it is not, there are many.
#
# Two details are often wrong in public code. *The order counts*: the temperature changes the
# probabilities that top-p adds up. And *the token that crosses p stays*: without it, the set does
# not reach p.
#
# Random draws cannot be compared one by one: there are several right ways to draw from the same
# distribution, and they give different tokens. So the checks draw thousands of times, and compare
# how often each token comes. Differences that chance can explain are accepted.
#
# **Predict.** Five tokens have the probabilities .5, .2, .15, .1 and .05. How many of them does
# `top_p=0.9` keep? How many with a temperature of 0.5, and with one of 2? And how many do `top_k=3`
# and `top_p=0.8` keep together?
#
# <details><summary>Hint 1: a question</summary>
#
# The tokens are sorted, likeliest first. What must you know of the tokens *before* one of them, to
# decide whether it stays? And which token is at a given position of the sorted row?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# First the errors, then the temperature 0. Divide, sort, and remember the order. Cut at k. Softmax.
# For each position the total before it; what stays is where this total is below p. Draw a position
# for each row, and translate it into a token.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `scores.sort(-1, descending=True)` returns values and indices. `p.cumsum(-1) - p` is the total
# before each position. `torch.multinomial(p, 1, generator=generator)` takes one or two axes, and
# weights that need not add up to 1. `tokens.gather(-1, position)` looks up.
# </details>

# %% exercise="sample"
from attnlab.sampling import sample

# %%
check("sample")

# %% [markdown]
# **Look.** Two predictions of a model, and what your function draws from them with each filter.
# A dashed line is after the last token that was drawn. Which filter takes too many tokens on the
# left, or too few on the right? And why are the bars of the tokens that stay higher than the
# model's own?

# %%
plots.sampling.filters(sample)

# %% [markdown]
# ## 9.8 Writing with a cache
# *12 points, 75 minutes, difficulty 4 of 5, importance 4 of 5*
#
# A GPT writes one token at a time, and each token depends on all before it. The simple way reads
# the whole text again for every new token. Almost all of this work is repeated: no token sees a
# later one, so the keys and values of a token are the same in every reading. If you keep them, the
# model needs to read only the newest token. It makes one query, one key and one value per layer,
# and compares its query with all keys that were kept. These keys and values are called the **KV
# cache**. Every model that you can talk to uses one.
#
# The idea is simple, but three things that were free before must now be right:
#
# - **Positions.** The newest token comes alone, but it is not at position 0.
# - **The mask.** It is no longer square. One new query may attend to *all* keys; a mask that is
#   aligned at the top left (in torch, `is_causal=True` is) lets it see the first key alone. But a
#   part of several new tokens, such as a prompt, still needs its triangle.
# - **Filling.** Prompts of a batch have different lengths. They are filled up on the *left*, so all
#   rows are continued at their right end. The filling stays in the cache, and must never count.
#
# Such mistakes raise no error, and the first new token often is right. So the test of a cache is
# that it changes nothing: with and without it, the logits are equal, at *every* step.
#
# You write three functions. `positions_and_mask` and `cached_attention` are the two parts of a
# reading that a cache changes; the checks put them into a GPT. (`attnlab.kv_cache.read_on` does,
# in ten lines; read it.) `generate` is the loop around it. It gets a model with a cache inside,
# `attnlab.gpt.GPT`. Its layers have the names of 9.4, so weights can be loaded from one into the
# other.
#
# A cache has one price besides its memory: with learned positions a window cannot move along the
# text, because old keys hold old positions. So prompt and new tokens must fit into the context.
#
# **Predict.** A model writes 256 tokens, beginning with one. In each call, every query is compared
# with every key. How many such products does one head make in all, with a cache and without? (The
# call for token t reads t tokens, or has t keys.) And how many tokens go through the layers?
#
# <details><summary>Hint 1: a question</summary>
#
# The cache holds 5 tokens, and 2 new ones come. What are the positions of the two, and what is the
# shape of the mask? Which of its entries are False?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Positions: a running count of the valid tokens, of which you need the last T. Mask: causal, and
# the key is valid. Attention: three projections, split into heads, append to what was kept along
# the axis of the text, attend, join, project. Loop: read the prompt; then sample, remember, read
# the new token alone.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `valid.cumsum(1)` counts from 1. `causal_mask(T, L)` of 5.1 aligns at the bottom right.
# `split_heads` and `merge_heads` are in `attnlab.multihead`, and `scaled_dot_product_attention` in
# `attnlab.attention`. `torch.cat((old, new), 2)` makes a new tensor and leaves both as they are.
# `try: … finally: model.train(was_training)` restores the mode even after an error.
# </details>

# %% exercise="generation"
from attnlab.kv_cache import positions_and_mask, cached_attention, generate  # noqa: I001

# %%
check("generation")

# %% [markdown]
# **Look.** Left, the mask of a prompt of five tokens, and of each token after it, for a row without
# filling and for one with two positions of filling. Right, what each new token costs: the products
# of queries and keys, counted in your own functions. How do the two lines grow, and what does that
# mean for a text of 1,000 tokens?

# %%
plots.caching.masks_and_products(positions_and_mask, cached_attention)

# %% [markdown]
# In all, 256 tokens from a prompt of one need 32,896 products per head and layer with a cache, and
# 5,625,216 without. And 256 tokens go through the layers instead of 32,896. The next cell measures
# what is left of this on your machine. A small model spends much time outside the layers, so the
# gain is smaller than the count; it grows with the text.

# %%
plots.caching.time_per_token(generate)

# %% [markdown]
# And the text? A GPT of the manuals, trained for longer than yours in 9.6, continues one beginning
# with your `sample` and your `generate`. Where does it repeat itself, and from which setting on are
# there words that do not exist?

# %%
texts = continuations.by_temperature(generate)

# %% [markdown]
# ## 9.9 Test somebody else's sampler
# *6 points, 40 minutes, difficulty 3 of 5, importance 3 of 5*
#
# How do you test a function whose result is random? Comparing its draws with those of a right one
# does not work: two right functions use the same random numbers in different ways. Setting a seed
# and writing down what comes out tests only that nothing has changed. What both have in common is
# the *distribution*, and that can be counted: in n draws, a token of probability p comes about
# $n p$ times, and the standard deviation of this number is $\sqrt{n p (1 - p)}$. Further than five
# standard deviations from $n p$ is not chance (it happens once in 1.7 million counts). A token of
# probability 0 must not come at all.
#
# Write a test that takes a function, lets a right `sample` pass silently, and raises
# `AssertionError` for a wrong one. It is tried on more than fifty wrong versions of 9.7 and on some
# right ones. Your points are the share of wrong versions that it rejects, times the share of right
# ones that it accepts.
#
# A test that fails by chance is worse than none, because people learn to ignore it. So choose the
# number of draws and the tolerance together. A few thousand draws show every wrong version, if the
# probabilities are chosen well. (One right version has a loop over rows: a hundred thousand draws
# take it several seconds.)
#
# **Predict.** A wrong version leaves out the token that crosses `top_p`. Its probability is 0.1
# where it should be kept. How many of 2,000 draws should be this token, and within which limits?
#
# <details><summary>Hint 1: a question</summary>
#
# Which five probabilities, and which settings, give different sets for each mistake that you can
# think of? What else does the docstring of 9.7 promise, besides shares?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# A function `shares(logits, n, **settings)` that repeats one row and counts; another one that
# compares counts with probabilities that you wrote down. Call both for the temperature, each
# filter, and filters together, with tokens that are *not* in order of probability. Then: rows that
# differ, several axes, large logits, temperature 0, no generator, inputs unchanged, errors.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `p.log().repeat(n, 1)` makes n equal rows; `drawn.bincount(minlength=5)` counts.
# `assert ((count - n * p).abs() <= 5 * (n * p * (1 - p)).sqrt()).all()` is exact for p = 0, too.
# `try: impl(…)`, `except ValueError: return`, and after both `raise AssertionError("…")`.
# </details>


# %% exercise="test_sample"
def test_sample(impl):
    """Let a right version of `sample` pass; raise AssertionError if it is wrong.

    Args:
        impl: called as ``impl(logits, temperature, top_k, top_p, generator=…)``; it should keep
            every promise of 9.7.
    """
    ### BEGIN SOLUTION
    generator = torch.Generator().manual_seed(0)

    def compare(p, expected, *settings, n=3000):
        logits = p.log() + 800  # the same softmax, but exp(800) is inf
        drawn = impl(logits.repeat(n, 1), *settings, generator=generator)
        count = drawn.flatten().bincount(minlength=len(p))
        expected = expected / expected.sum()
        allowed = 5 * (n * expected * (1 - expected)).sqrt()
        assert ((count - n * expected).abs() <= allowed + 1e-6).all(), f"shares with {settings}"

    p = torch.tensor([0.15, 0.5, 0.05, 0.2, 0.1], dtype=torch.float64)
    compare(p, p)
    for temperature in (0.5, 2.0):
        compare(p, p ** (1 / temperature), temperature)
    for top_k, least in ((1, 0.5), (2, 0.2), (4, 0.1), (5, 0.0), (9, 0.0)):
        compare(p, p * (p >= least), 1.0, top_k)
    for top_p, least in ((0.9, 0.1), (0.6, 0.2), (0.4, 0.5), (1e-6, 0.5), (1.0, 0.0)):
        compare(p, p * (p >= least), 1.0, None, top_p)
    compare(p, p * (p >= 0.2), 1.0, 3, 0.8)
    compare(p, p**2 * (p >= 0.15), 0.5, None, 0.9)
    compare(p, p**0.5, 2.0, None, 0.9)
    rows = torch.stack((p, p.flip(0) ** 3, p.roll(1)))[:, None].log().repeat(1, 3000, 1)
    drawn = impl(rows, 1.0, 2, None, generator=generator)
    assert drawn.shape == (3, 3000), "one token for each row"
    assert drawn.dtype == torch.int64, "tokens are int64"
    for row, tokens in zip(rows, drawn, strict=True):
        kept = row[0].exp() * (row[0] >= row[0].topk(2).values[-1])
        share = tokens.bincount(minlength=5) / 3000
        assert (share - kept / kept.sum()).abs().max() < 0.05, "each row has its own distribution"
    same = (drawn[0, 1:] == drawn[0, :-1]).double().mean()
    assert same < 0.75, "rows are drawn independently"
    flat = impl(torch.zeros(500, 2, 5), 1.0, None, None, generator=generator)
    assert (flat[:, 0] == flat[:, 1]).double().mean() < 0.5, "rows are drawn independently"
    for top_k, top_p in ((None, None), (3, 0.9)):
        logits = torch.randn(4, 3, 5, generator=generator)
        before, state = logits.clone(), torch.get_rng_state()
        assert torch.equal(impl(logits, 0, top_k, top_p), logits.argmax(-1)), "temperature 0"
        first = [
            impl(logits, 1.5, top_k, top_p, generator=torch.Generator().manual_seed(s))
            for s in (1, 1, 2)
        ]
        assert torch.equal(first[0], first[1]), "the generator decides"
        assert torch.equal(torch.get_rng_state(), state), "only the given generator is used"
        assert torch.equal(logits, before), "logits are not changed"
    zeros = torch.zeros(100, 5)
    assert not torch.equal(*(impl(zeros, generator=generator) for _ in range(2))), "new draws"
    assert impl(zeros).shape == (100,), "no generator"
    wrong = [(-1.0, None, None), (1.0, 0, None), (1.0, -1, None), (1.0, None, 0.0)]
    for settings in [*wrong, (1.0, None, 1.5), (0, 0, None), (0, None, 1.5)]:
        try:
            impl(zeros, *settings)
        except ValueError:
            continue
        raise AssertionError(f"{settings} should be refused")
    ### END SOLUTION


# %%
check("test_sample")


# %% [markdown]
# **Look.** Your own function should pass. The second one leaves out the crossing token; the third
# draws only once for all rows. Does your test say why?


# %%
def without_the_crossing_token(logits, temperature=1.0, top_k=None, top_p=None, **generator):
    if top_p is None or temperature == 0:
        return sample(logits, temperature, top_k, top_p, **generator)
    p, tokens = (logits / temperature).softmax(-1).sort(-1, descending=True)
    p = p.masked_fill(p.cumsum(-1) > max(top_p, float(p[..., 0].max())), 0)
    return sample(torch.zeros_like(p).scatter(-1, tokens, p).log(), 1.0, top_k, **generator)


def one_draw_for_all(logits, temperature=1.0, top_k=None, top_p=None, **generator):
    first = logits.reshape(-1, logits.shape[-1])[0]
    return sample(first, temperature, top_k, top_p, **generator).expand(logits.shape[:-1])


try_versions(test_sample, sample, without_the_crossing_token, one_draw_for_all)

# %% [markdown]
# ## 9.10 Predict, then run: sizes and costs
# *3 points, 25 minutes, difficulty 2 of 5, importance 4 of 5*
#
# Some numbers decide what a model costs before anything is trained. Predict five of them and write
# them down; then run the cell under **Look**. If a number was wrong, correct it and be able to say
# why. The numbers that you hand in count.
#
# The *smallest GPT-2* has 12 layers and 12 heads, d = 768, 50,257 tokens and 1,024 positions.
#
# - **P1** Its tokens are those of 9.2: bytes, products of merges, and one special token,
#   `<|endoftext|>`. How many merges were learned?
# - **P2** If its tokens were the 256 bytes alone, and all else the same: how many **million**
#   parameters would it have? (Four digits.)
# - **P3** The loss of a model is 3.0 nats per token, and a token stands for 2.5 bytes on average.
#   How many bits per byte is that? (Three digits.)
# - **P4** Five tokens have the probabilities .5 .2 .15 .1 .05 at temperature 1. Which share of all
#   draws, from 0 to 1, is the first of them with `temperature=0.5` and `top_k=2`?
# - **P5** The smallest GPT-2 has read 1,024 tokens of one text and kept their keys and values, in
#   float32. How many megabytes ($10^6$ bytes) is the cache?

# %% exercise="predictions"
predictions = {}
# TODO: write five lines such as predictions["P1"] = 7.
### BEGIN SOLUTION
predictions["P1"] = 50_000
predictions["P2"] = 86.04
predictions["P3"] = 1.73
predictions["P4"] = 0.862
predictions["P5"] = 75.5
### END SOLUTION

# %%
check("predictions")

# %% [markdown]
# **Look.** Your predictions next to the computed numbers.

# %%
smallest = GPTConfig.of_size("gpt2")


def share_of_the_first():
    logits = torch.tensor([0.5, 0.2, 0.15, 0.1, 0.05]).log().expand(100_000, 5)
    return (sample(logits, temperature=0.5, top_k=2) == 0).double().mean()


compare_predictions(
    predictions,
    {
        "P1": lambda: smallest.vocab_size - 256 - 1,
        "P2": lambda: count_gpt_params(replace(smallest, vocab_size=256)) / 1e6,
        "P3": lambda: 3.0 / math.log(2) / 2.5,
        "P4": share_of_the_first,
        "P5": lambda: 2 * smallest.num_layers * smallest.context * smallest.d_model * 4 / 1e6,
    },
)

# %% [markdown]
# Almost a third of the smallest GPT-2 is its table of tokens. A table grows with d, a layer with
# d², so in large models it hardly counts. Small models are given small vocabularies, as yours was.
# (The share in P4 comes from 100,000 draws; its third digit is chance.)

# %% [markdown]
# ## 9.11 Errata hunt
# *3 points, 20 minutes, difficulty 2 of 5, importance 3 of 5*
#
# Two slides of lecture G to look at twice. For each, write the two numbers that are asked for. Both
# concern GPT-2, with its vocabulary of 50,257 tokens and 1,024 positions; GPT-1 had 40,478 tokens.
#
# **G1** (a slip) The slide's bullets: "12-layer decoder", "1600 hidden", "25 heads", "1.5 billion
# parameters". The table on the next slide has 48 layers for this width. How many **million**
# parameters does the model of the bullets have with 12 layers? And with 48?
#
# **G10** (which follows?) The table's four models:
#
# | parameters | layers | d |
# |---|---|---|
# | 117 M | 12 | 768 |
# | 345 M | 24 | 1024 |
# | 762 M | 36 | 1280 |
# | 1542 M | 48 | 1600 |
#
# With one of the two vocabularies, 9.4's formula gives all four numbers. How many **tokens** does
# that vocabulary have? And how many **million** parameters does the smallest model have with the
# other one?

# %% exercise="errata"
errata = {}
# TODO: write two lines such as errata["G1"] = (first number, second, "why, in four words or more").
# Let code compute the numbers if it can.
### BEGIN SOLUTION
errata["G1"] = (450.9, 1557.6, "1.5 billion parameters need 48 layers of this width")
errata["G10"] = (40_478, 124.4, "the table was counted with the tokens of GPT-1")
### END SOLUTION

# %%
check("errata")

# %% [markdown]
# ## 9.12 A small model drafts: speculative decoding
# *0 points, 30 minutes, difficulty 3 of 5, importance 3 of 5*
#
# This step is **not graded**, and checked like all others.
#
# With a cache, each call of a model reads one token, and on a GPU it spends most of its time on
# loading the weights. Reading five tokens in one call takes nearly the same time. But which five?
# A small model can guess: it drafts some tokens, and the large model reads all of them in **one**
# call, which gives its own distribution at each position. Many tokens are easy (the end of a word,
# a closing bracket), so many guesses are good, and the large model is called less often.
#
# Keeping only guesses that are the likeliest token would change what is written. This rule does
# not: a token x that was drawn from q stays with the probability $\min(1, p(x)/q(x))$; if it is
# refused, a draw in proportion to $\max(0, p - q)$ replaces it. Then x comes with the probability
#
# $$\min(q(x), p(x)) + \max(0, p(x) - q(x)) = p(x)$$
#
# so the text is a draw of the large model, whatever the small one drafts. A poor draft costs time
# and nothing else.
#
# **Predict.** The two models are equal. How many of four drafted tokens stay, and how many tokens
# does one call of the large model write?
#
# <details><summary>Hint 1: a question</summary>
#
# After a refused token, may a later drafted one stay? On which text was it drafted?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# One token after the other: a random number, a comparison. At the first refusal, draw once more
# and return. After the loop, draw from the last row.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `(p[i] - q[i]).clamp(min=0)` are weights for `torch.multinomial`; they need not add up to 1.
# </details>

# %% exercise="accept"
from attnlab.speculative import accept

# %%
check("accept")

# %% [markdown]
# **Look.** Left, a large model's distribution, that of a small one, and the first tokens of 3,000
# calls of your function. Right, how many tokens one call of the large model writes, for drafts of
# several lengths. Which draft is worth six tokens, and which hardly one?

# %%
plots.sampling.speculation(accept)

# %% [markdown]
# ## What you can now explain
#
# - how a vocabulary is learned from a text, and what decides between equally frequent pairs;
# - why merges are made in the order in which they were learned, and why bytes are joined before
#   they become text;
# - of which texts 3,000 words are 4,000 tokens;
# - what a GPT consists of, where its parameters are, and what its first weights are for;
# - what the loss of a language model can never fall below, and how models with different tokens are
#   compared;
# - what temperature, top-k and top-p do to a distribution, and in which order;
# - what a cache keeps, what it saves, and what it costs.

# %% [markdown] free_text="explain" points=4
# ## In your own words
# *4 points, marked by a TA*
#
# A friend trains two models of the same size on the same letters. Model A reads bytes, 256 tokens,
# and has a validation loss of 0.95 nats per token. Model B reads tokens of its own 512 merges,
# which stand for 2.1 bytes on average, and has a validation loss of 1.90 nats per token. "A is
# twice as good," says your friend, "and its vocabulary is smaller, too." Explain in four to six
# sentences: which model predicts the letters better, and by which numbers? What else differs if
# both have a context of 64 tokens and write a letter of 1,000 bytes? And which price does B pay for
# its tokens?
#
# <!-- BEGIN SOLUTION -->
# A loss per token cannot be compared between vocabularies, because B predicts 2.1 bytes with each
# token. For each byte, A needs 0.95 / ln 2 = 1.37 bits, and B needs 1.90 / ln 2 / 2.1 = 1.31 bits.
# So B predicts the letters a little better, although its loss is twice as high. In 64 tokens, A
# sees 64 bytes of what was written before, and B about 134, so B can use more of the letter. For
# 1,000 bytes, A makes 1,000 steps and B about 476, each through the whole model. B pays with a
# larger table of tokens (768 rows instead of 256), many of which are rare and get few updates, and
# with merges that fit its own letters: on another kind of text its tokens are shorter.
# <!-- BEGIN MARK SCHEME -->
# - 1: says that a loss per token cannot be compared between the two, and why
# - 1: computes both per byte (1.37 and 1.31 bits, or 0.95 and 0.90 nats) and says that B is better
# - 1: says that B sees more text in 64 tokens, or needs about half as many steps for the letter
# - 1: names a price of B: a larger table, rare tokens, or merges that fit one kind of text
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
