"""Lab 6, positions and layers: the source of its notebook (`lab build` makes the notebooks).

It runs as a script: `python solutions/lab06_positions.py`. If the answer is a function of the
library, an exercise's cell holds one import line; its task is that function's docstring.
"""

# %% [markdown]
# # Lab 6: {{title}}
#
# Attention has two gaps. It does not know which word comes first, and twenty attentions in a row do
# not train. This lab fills both: with **positions**, and with the three parts that are between two
# attentions in every Transformer: **normalisation**, the **feed-forward network** and the
# **residual**. At the end you will measure, on your own code, why deep models normalise *before* a
# layer and what that costs.
#
# | | |
# |---|---|
# | due | {{due}} |
# | points | {{points}}, in {{steps}} steps and one question; three more steps have no points |
# | time | about six hours; nothing is trained |
# | you need | attention (3.3, 4.2), that it ignores order (1.7); torch: slices, `nn.Module` |

# %%
import torch

from attnlab import check, plots, submit
from attnlab.data.chicken import SENTENCES, place_of
from attnlab.models import block_stack, word_order
from attnlab.models.minilm_positions import minilm_positions
from attnlab.multihead import MultiHeadAttention
from attnlab.notebook.review import compare_predictions, try_versions

plots.positions.lab06_preview()

# %% [markdown]
# Each step has the same parts: *why* → *predict* → *write* → *check* → *look*. `check` shows the
# visible checks, about half of the points. The others run after you hand in, on other numbers; the
# docstring in the cell states everything they check. `check` runs on your own functions. When the
# lab is graded, a right version replaces each earlier step, so a wrong step costs nothing in the
# next one; 6.8 names the one exception. `check()` without a name shows where you stand.
#
# **What comes from earlier labs** (you need not have done them): attention compares words, turns
# the scores into weights with softmax, and gives every word a weighted mean of the others'
# *values*. Multi-head attention does this several times in parallel. A causal mask lets a word see
# only itself and earlier words. Vectors come in batches, (B, T, d): B sentences of T words with d
# features.
#
# The letters **W**, **S**, **G**, **N** and **C** stand for five public lectures;
# [LECTURES.md](LECTURES.md) says which. You do not need them to do the labs.

# %% [markdown]
# ## 6.1 A vector for each position
# *14 points, 45 minutes, difficulty 3 of 5, importance 5 of 5*
#
# Lecture S says it plainly: "as described the encoding loses all information about the position of
# the word". The solution is to **add** a vector to each word that depends only on its position. It
# should be different at every position, keep the same size far from the start, and make distances
# easy to compute. All five lectures build it from waves:
#
# $$PE_{p,\,2i} = \sin\left(p / 10000^{2i/d}\right), \qquad
# PE_{p,\,2i+1} = \cos\left(p / 10000^{2i/d}\right)$$
#
# Think of the hands of a clock. Pair 0, columns 0 and 1, is a fast hand: it turns by one radian per
# position. Each later pair is slower; the last hardly moves in a thousand positions. Together they
# show any position. Each pair has length 1, because $\sin^2 + \cos^2 = 1$.
#
# (Positions reach thousands of radians, and float32 has seven digits. Compute the angles in
# float64 and round once, at the end.)
#
# **Predict.** Row 0: which numbers are in it? And which two columns are the same for base 10000 and
# for base 1000?
#
# <details><summary>Hint 1: a question</summary>
#
# For d = 6, write down the six exponents, one for each column. How many different ones are there?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Make a column of positions (n, 1) and a row of exponents, one for each *pair*. One division by a
# power gives all angles, (n, pairs). Put their sines into columns 0, 2, 4, … and their cosines into
# columns 1, 3, 5, …. If d is odd, there is one cosine fewer.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `torch.arange(0, d, 2, dtype=torch.float64) / d` are the exponents, because 2i runs over 0, 2, 4,
# …; `pe[:, 1::2]` is every second column from column 1 on, and has d // 2 columns;
# `torch.get_default_dtype()` is the dtype to return.
# </details>

# %% exercise="sinusoidal_pe"
from attnlab.positions import sinusoidal_pe

# %%
check("sinusoidal_pe")

# %% [markdown]
# **Look.** Each row of the picture is a position. Brown is 1, white is 0, violet is −1. Can you see
# the fast hands on the left and the slow ones on the right? Then compare two bases: lecture C's
# slide has 1000 where the other four have 10000. Where do the two tables begin to differ?

# %%
plots.positions.encoding_map(sinusoidal_pe)
plots.positions.two_bases(sinusoidal_pe)

# %% [markdown]
# ## 6.2 Moving by k positions
# *10 points, 35 minutes, difficulty 3 of 5, importance 3 of 5*
#
# Why waves, and not just random vectors? Because waves make distances simple. In k positions, the
# hand of pair i turns by $k\,\omega_i$ with $\omega_i = 1/10000^{2i/d}$, wherever it is. So **one
# matrix moves every position by k**, as lecture G states without a proof:
#
# $$M_k\, PE(p + k) = PE(p) \quad \text{for every } p, \qquad
# \text{pair } i \text{ of } M_k = \begin{bmatrix} \cos k\omega_i & -\sin k\omega_i \\
# \sin k\omega_i & \cos k\omega_i \end{bmatrix}$$
#
# Everything outside the 2 × 2 blocks on the diagonal is 0. A layer that learns such a matrix can
# look "three words back" without knowing where it is. (Many texts write the other direction, from p
# to p + k. A test of one position with k = 0 does not notice the difference.)
#
# **Predict.** What is $M_3 M_{-3}$? And does $M_k$ change the length of a vector?
#
# <details><summary>Hint 1: a question</summary>
#
# What are $\sin(a - b)$ and $\cos(a - b)$, with $a = (p + k)\omega$ and $b = k\omega$?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Refuse odd d. Compute one angle for each pair. Start from a (d, d) matrix of zeros and write four
# numbers for each pair, in rows and columns 2i and 2i + 1.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `k / base ** (2 * i / d)` is the angle of pair i; `torch.block_diag(*blocks)` puts small matrices
# on the diagonal of a large one.
# </details>

# %% exercise="shift_matrix"
from attnlab.positions import shift_matrix

# %%
check("shift_matrix")

# %% [markdown]
# **Look.** Three hands of the clock, with the positions 0 to 11 as dots. The arrows show where your
# matrix takes three of them. Do all arrows in one circle turn by the same angle? The second picture
# compares all positions with each other: the similarity of two depends only on how far apart they
# are, so the diagonals are all of one colour.

# %%
plots.positions.turns(shift_matrix, sinusoidal_pe)
plots.positions.gram_matrices({"waves, 64 columns": lambda: sinusoidal_pe(60, 64)})

# %% [markdown]
# ## 6.3 Into the model
# *8 points, 30 minutes, difficulty 2 of 5, importance 5 of 5*
#
# Now as a module that a model can use. "Simply add", says lecture W, and "NO parameter to be
# learned". Two things go wrong here again and again. The table must travel with the model to
# another dtype or device, although it is not a parameter: a module calls such a tensor a
# **buffer**. And the rows must be counted along time, not along the batch. Code for the layout
# (T, B, d) is all over the internet, and on (B, T, d) it runs without an error.
#
# How large is a position next to a word? At d = 512, a row of the table has length 16. A word
# vector drawn with variance 1/d has length 1. That is why models multiply their embeddings by
# $\sqrt{d} \approx 22.6$ first. Here this is the model's task (lab 7), so your module
# **only adds**.
#
# **Predict.** Your module adds `pe[:x.shape[0]]` by mistake, and the batch holds one sentence of
# five words. Is there an error? Which rows do the five words get?
#
# <details><summary>Hint 1: a question</summary>
#
# Which axis of x is time? Against which shape does (T, d) broadcast in (B, T, d)?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# When the module is made: compute the table once, register it, make a dropout. In `forward`: refuse
# sentences that are too long, add the first T rows, drop.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `self.register_buffer("pe", table)`; `nn.Dropout(dropout)` knows by itself whether the module is
# training; `raise ValueError(f"…")`.
# </details>

# %% exercise="positional_encoding"
from attnlab.positions import PositionalEncoding

# %%
check("positional_encoding")

# %% [markdown]
# **Look.** Two sentences of four words. All word vectors are 0, so only the positions are left.
# Are the two sentences the same, and the four rows different?

# %%
plots.words.tensor_cells(
    lambda: PositionalEncoding(4, 10)(torch.zeros(2, 4, 4)), "sentence", ("position", "feature")
)

# %% [markdown]
# ## 6.4 Learned positions, and a chicken
# *6 points, 25 minutes, difficulty 1 of 5, importance 4 of 5*
#
# Do positions matter? Lecture W has four sentences for this, with the same five words:
#
# > THE CHICKEN crossed the road · the road THE CHICKEN crossed · THE CHICKEN the road crossed ·
# > crossed the road THE CHICKEN
#
# Lecture G's GPT does not compute its positions, it **learns** them: a table with a vector for each
# position, like the table of words. It is simpler than waves and just as good, but it has no row
# for a position that training never reached.
#
# **Predict.** A model without positions reads the four sentences (in lower case). How many
# different vectors does it compute for *chicken*? And is a *decoder* without positions, in which a
# word sees only earlier words, blind to their order as well: with one layer? With two?
#
# <details><summary>Hint 1: a question</summary>
#
# Which module of torch turns whole numbers into vectors that are learned? Which whole numbers are
# the positions of T words?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Make a table with max_len rows. In `forward`, look up the rows of positions 0 to T − 1 and add
# them; broadcasting takes care of the batch.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `nn.Embedding(rows, features)`; `torch.arange(T, device=x.device)`.
# </details>

# %% exercise="learned_positions"
from attnlab.positions import LearnedPositions

# %%
check("learned_positions")

# %% [markdown]
# **Look.** How far are the four vectors of *chicken* apart, in an untrained model without
# positions, with waves, and with learned positions? Which two sentences stay close, and why?


# %%
def chicken_vectors(positions):
    return word_order.vectors_of(word_order.WordOrder(positions), place_of("chicken"))


for number, sentence in enumerate(SENTENCES):
    print(number, sentence)
plots.positions.distances_between(
    {
        "no positions": lambda: chicken_vectors(None),
        "waves": lambda: chicken_vectors(PositionalEncoding(word_order.D_MODEL, 5)),
        "learned": lambda: chicken_vectors(LearnedPositions(5, word_order.D_MODEL)),
    },
    names=["0", "1", "2", "3"],
)

# %% [markdown]
# And the decoder of your prediction? We exchange two earlier words and look at the last one:

# %%
for layers in (1, 2):
    print(
        f"causal layers: {layers}. The last word moves by {word_order.blind_to_order(layers):.2g}"
    )

# %% [markdown]
# One causal layer sees a bag of earlier words. From two layers on, the order shows: the earlier
# words have themselves seen different words, because the mask shows the first word only itself. So
# a causal model can work without positions. Still, all well-known ones add them.
#
# What is in such a table after training? MiniLM is a real model that reads sentences (lab 10 loads
# it). Its positions were learned from random numbers; nothing in its code says that 7 is next to 8.
# The picture compares its first 60 positions as in 6.2. What has it found that the waves have from
# the start? And which position is unlike all others?

# %%
plots.positions.gram_matrices(
    {
        "waves, 64 columns": lambda: sinusoidal_pe(60, 64),
        "learned: MiniLM": minilm_positions,
    }
)

# %% [markdown]
# Its diagonals have nearly one colour, too: near positions are similar, wherever they are. So the
# model has learned that distances matter. Position 0 is another case. Every text begins with the
# same special symbol, so this vector says nothing about order, and the model uses it for something
# else. It is more than five times as long as the others.

# %% [markdown]
# ## 6.5 Layer normalisation
# *14 points, 45 minutes, difficulty 3 of 5, importance 5 of 5*
#
# Each layer multiplies and adds, so vectors grow or shrink from layer to layer, and soon everything
# overflows or vanishes. The solution is to bring every vector back to mean 0 and variance 1.
# Batch normalisation does this for each feature, over the batch. Lecture W names one problem: with
# few sentences the statistics are poor. There is another: a word's result would depend on its
# neighbours (remember model D of lab 5). **Layer** normalisation computes its mean and variance
# over the features of *one vector*, so nothing else matters:
#
# $$y = \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} \cdot \text{weight} + \text{bias}, \qquad
# \mu = \frac{1}{d}\sum_j x_j, \quad \sigma^2 = \frac{1}{d}\sum_j (x_j - \mu)^2$$
#
# Weight and bias (lecture G's α and β) let the model undo it, feature by feature. Small details
# matter here: divide by d and not by d − 1, and add ε *under* the root. (Do not use torch's
# `layer_norm`.)
#
# **Predict.** The vector (3, 3, 3, 3) is normalised, with weight 1 and bias 0. What comes out, and
# what would come out without ε?
#
# <details><summary>Hint 1: a question</summary>
#
# For x of shape (B, T, d), how many means are there? Which shape must they have so that `x - mean`
# broadcasts?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Subtract the mean first, and compute the variance from the deviations: the mean of their squares.
# (The other formula, mean of squares minus squared mean, loses all digits far from 0.) Then divide
# by one root, scale, shift.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `x.mean(-1, keepdim=True)`; `nn.Parameter(torch.ones(d_model))` is a parameter. If you use
# `x.var`, read what it divides by.
# </details>

# %% exercise="layer_norm"
from attnlab.layers import LayerNorm

# %%
check("layer_norm")

# %% [markdown]
# **Look.** Five vectors with different means and spreads, before and after. Does any of them depend
# on the others?

# %%
plots.layers.before_and_after(lambda: LayerNorm(24))

# %% [markdown]
# ## 6.6 The feed-forward network
# *8 points, 25 minutes, difficulty 1 of 5, importance 4 of 5*
#
# Attention mixes words, and its output is a weighted mean of values, which is linear in them. So
# every block also has a small network with a ReLU, four times as wide inside (lectures W, S, G, C):
#
# $$\text{FFN}(x_t) = \max(0,\; x_t W_1 + b_1)\, W_2 + b_2$$
#
# There is one t on each side. **The same network is applied to every position alone**, as lecture S
# says. Two thirds of an encoder layer's parameters are in this network.
#
# **Predict.** The word at position 2 changes. Which outputs of the network change, and which
# outputs of an attention layer?
#
# <details><summary>Hint 1: a question</summary>
#
# To which axis does `nn.Linear` apply, however many axes come before it? So do you need to reshape?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Two linear layers with biases and one dropout. Linear, ReLU, dropout, linear.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `nn.Linear(d_model, d_ff)`, and one the other way round; `torch.relu(h)`.
# </details>

# %% exercise="feed_forward"
from attnlab.layers import FeedForward

# %%
check("feed_forward")

# %% [markdown]
# **Look.** One word changes at a time. A 1 means that the output in that row changes.

# %%
words = SENTENCES[0].split()
attention = MultiHeadAttention(16, 4)
plots.layers.who_moves(
    {
        "feed-forward": lambda: FeedForward(16, 64),
        "attention": lambda: lambda x: attention(x, x, x),
    },
    words,
    16,
)

# %% [markdown]
# ## 6.7 The residual
# *12 points, 30 minutes, difficulty 2 of 5, importance 5 of 5*
#
# A deep stack trains only if every layer *adds* to its input instead of replacing it. Then there is
# a path from the loss to every layer, the **residual stream**, that no layer blocks. Lecture C
# names two places for the normalisation:
#
# $$\text{post:}\;\; \text{norm}(x + \text{drop}(f(x))) \qquad
# \text{pre:}\;\; x + \text{drop}(f(\text{norm}(x)))$$
#
# The first Transformer was post-norm; GPT-2 and most models since are pre-norm. $f$ is any
# sublayer: attention or the feed-forward network. Dropout applies to what $f$ adds, never to the
# stream.
#
# **Predict.** A sublayer returns nothing but zeros. What does each of the two formulas return?
#
# <details><summary>Hint 1: a question</summary>
#
# In the pre-norm formula, how many times does x appear, and where is it normalised?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Refuse unknown modes when the module is made. Keep one normalisation and one dropout. In
# `forward`, write the two formulas as two lines; call the sublayer once.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `sublayer` is an argument that you call like a function: `sublayer(self.norm(x))`.
# </details>

# %% exercise="residual"
from attnlab.layers import Residual

# %%
check("residual")

# %% [markdown]
# **Look.** A stream of three vectors around a sublayer that returns zeros. Which mode lets the
# stream through, and what does the other one do to it?

# %%
stream = torch.tensor([[[4.0, 0.0, 2.0, -2.0], [1.0, 1.0, 1.0, 1.0], [-6.0, 2.0, 0.0, 0.0]]])
plots.layers.streams(
    {
        "x": lambda: stream[0],
        "pre-norm": lambda: Residual(4, mode="pre")(stream, torch.zeros_like)[0],
        "post-norm": lambda: Residual(4, mode="post")(stream, torch.zeros_like)[0],
    }
)

# %% [markdown]
# ## 6.8 What depth does
# *8 points, 40 minutes, difficulty 3 of 5, importance 4 of 5*
#
# Why did the field move from post- to pre-norm? You may have read that post-norm's gradient
# vanishes with depth. Do not believe it: **measure it**. You write two instruments. One follows the
# size of the stream from block to block, the other takes the length of each block's gradient. The
# stack of blocks that they measure is given (`attnlab/models/block_stack.py`, one page); it
# consists of your `Residual` and your `FeedForward`. Nothing is trained: this is the state in which
# training starts.
#
# (The last check of this step runs on your own classes, all together.)
#
# **Predict.** In pre-norm, every block adds something of about size 1 to a stream that is never
# normalised. How does the stream grow with the number of blocks: linearly, like a root, not at all?
#
# <details><summary>Hint 1: a question</summary>
#
# Which function of torch returns gradients without writing them into `.grad`?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Sizes: measure x, then step and measure in a loop, without gradients. Norms: get the gradients of
# a block's parameters, add the squares of all their numbers, take one root at the end.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `torch.autograd.grad(loss, parameters, retain_graph=True, allow_unused=True)` returns a tuple with
# None for a parameter that the loss does not depend on; `torch.no_grad()` is for a `with` block.
# </details>

# %% exercise="depth"
from attnlab.depth import stream_sizes, gradient_norms  # noqa: I001 - in this order

# %%
check("depth")

# %% [markdown]
# **Look.** Means over three seeds. Where is the gradient of the last block larger, and how does the
# difference grow with depth?


# %%
def measure(mode, depth):
    return block_stack.measured(mode, depth, Residual, FeedForward, stream_sizes, gradient_norms)


plots.layers.depth_curves(measure, depths=(2, 6, 12, 24))

# %% [markdown]
# Nothing vanishes. With pre-norm the stream grows like a root: block after block adds independent
# numbers, and variances add up. The last normalisation divides by the stream's size, so the
# gradient of the last blocks is divided by it, too. With post-norm the stream has size 1
# everywhere, and the last block gets three times the gradient at depth 12 and four times at 24.
# That is why post-norm models need a careful start: the learning rate must begin tiny and grow, the
# *warm-up* of lab 8. Pre-norm models start without it.

# %% [markdown]
# ## 6.9 Test somebody else's normalisation
# *8 points, 35 minutes, difficulty 3 of 5, importance 4 of 5*
#
# Now switch roles. Write a test that takes a class, lets a right `LayerNorm` pass silently, and
# raises `AssertionError` for a wrong one. It is tried on more than twenty wrong versions of 6.5 and
# a few right ones. Your points are the share of wrong versions that it rejects, times the share of
# right ones that it accepts.
#
# Right versions call their parameters by different names, but register the weight first and the
# bias second: `weight, bias = layer.parameters()`. Here you may use torch's own `layer_norm` to
# compute the right result.
#
# **Predict.** Which wrong versions pass a test with one batch of standard normal numbers and a
# tolerance of 0.001?
#
# <details><summary>Hint 1: a question</summary>
#
# For which vectors does it matter where ε is: tiny ones, huge ones, equal numbers? And for which
# parameters does it matter that the bias is added last?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Look at the parameters of a new layer, then fill them with random numbers. Compare in float64 on a
# batch with an ordinary sentence, one that is a thousand times smaller, and a vector of equal
# numbers; in training mode and after `eval()`. Then: another eps, the gradient at x, x itself
# afterwards, and float32 vectors far from 0.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `torch.nn.functional.layer_norm(x, (d,), weight, bias, eps)` is the right result;
# `(a - b).abs().max() < 1e-9` compares; `x.clone().requires_grad_()` makes a copy with a gradient.
# </details>


# %% exercise="test_layer_norm"
def test_layer_norm(impl):
    """Let a right version of LayerNorm pass, and raise AssertionError for a wrong one.

    Args:
        impl: a class, called as ``impl(d_model)`` or ``impl(d_model, eps=…)``; its layers should
            keep every promise of 6.5, but may call their two parameters by other names.

    Right versions differ in their last digits: allow 1e-9 in float64, and 0.01 far from 0 in
    float32.
    """
    ### BEGIN SOLUTION
    right = torch.nn.functional.layer_norm
    random = torch.Generator().manual_seed(0)
    layer = impl(7).double()
    weight, bias = layer.parameters()
    assert torch.equal(weight, torch.ones(7).double()), "the weight does not start with ones"
    assert torch.equal(bias, torch.zeros(7).double()), "the bias does not start with zeros"
    with torch.no_grad():
        weight.normal_(generator=random)
        bias.normal_(generator=random)

    x = torch.randn(3, 5, 7, generator=random, dtype=torch.float64)
    x[1] *= 1e-3
    x[0, 1] = 3.0
    before = x.clone()
    for mode in (True, False):
        difference = layer.train(mode)(x) - right(x, (7,), weight, bias, 1e-5)
        assert difference.abs().max() < 1e-9, "the output is wrong"
    assert torch.equal(x, before), "x has changed"

    mine, torchs = x.clone().requires_grad_(), x.clone().requires_grad_()
    layer(mine).square().sum().backward()
    right(torchs, (7,), weight, bias, 1e-5).square().sum().backward()
    assert torch.allclose(mine.grad, torchs.grad, atol=1e-7), "the gradient is wrong"

    other_eps = impl(7, eps=0.5).double()(x) - right(x, (7,), eps=0.5)
    assert other_eps.abs().max() < 1e-9, "eps has no effect, or another one"
    far = 1e4 + torch.randn(20, 64, generator=random)
    assert (impl(64)(far) - right(far, (64,))).abs().max() < 1e-2, "wrong far from 0"
    ### END SOLUTION


# %%
check("test_layer_norm")

# %% [markdown]
# **Look.** Your own layer should pass. `StdPlusEps`, from a well-known tutorial, should not. Does
# your test say why?


# %%
class StdPlusEps(LayerNorm):
    def forward(self, x):
        deviation = x - x.mean(-1, keepdim=True)
        return self.weight * deviation / (x.std(-1, keepdim=True) + self.eps) + self.bias


try_versions(test_layer_norm, LayerNorm, StdPlusEps)

# %% [markdown]
# ## 6.10 Errata hunt
# *5 points, 20 minutes, difficulty 2 of 5, importance 3 of 5*
#
# Three slides to look at twice. For each, write the number that follows from the slide and the
# number that follows from the code.
#
# - **C1** (a slip) Lecture C's encoding divides positions by $1000^{2i/d}$; the paper and the other
#   lectures by $10000^{2i/d}$. *Slide*: for d = 512, how many positions long is the longest wave?
#   *Right*: the same with the paper's base.
# - **G6** (words or formula?) Lecture G: "Feed-Forward Layer captures non-linear relationships
#   between tokens". Below it is the formula of 6.6. In a sentence of five words, one changes.
#   *Slide*: how many of the five outputs would change if the layer related each word to all words?
#   *Right*: how many change.
# - **W3** (what follows?) Lecture S says that without a position encoding all information about the
#   position is lost; lecture W says that word order matters. The four sentences of 6.4 have eight
#   "the" in all. *Slide*: without positions, how many different vectors does one attention layer
#   compute for the eight? *Right*: how many with positions?

# %% exercise="errata"
errata = {}
# TODO: write three lines such as errata["C1"] = (slide, right, "why, in four words or more").
# Let code compute the numbers if it can: three digits of C1 are enough.
### BEGIN SOLUTION
longest = {base: 2 * torch.pi * base ** (510 / 512) for base in (1000, 10000)}
errata["C1"] = (longest[1000], longest[10000], "the paper's base is 10000, not 1000")
errata["G6"] = (5, 1, "the formula has one position t, so no other word comes in")
errata["W3"] = (1, 8, "each of them sees its sentence from its own position")
### END SOLUTION

# %%
check("errata")

# %% [markdown]
# ## 6.11 Predict, then run
# *3 points, 15 minutes, difficulty 2 of 5, importance 3 of 5*
#
# Predict four numbers and write them down; then run the cell under **Look**. If a number was wrong,
# correct it and be able to say why. The numbers that you hand in count.
#
# - **P1** From which column on (counted from 0) do the encodings with base 1000 and base 10000
#   differ?
# - **P2** Lecture G's slide divides by σ, without an ε. What does torch compute for each entry of
#   the vector (3, 3, 3, 3)? (Write `float("nan")` or `float("inf")` if that is your answer.)
# - **P3** How long is a row of the encoding with 512 columns (the root of the sum of its squares)?
# - **P4** The numbers of a pre-norm stream have deviation 1 at first. 24 sublayers each add
#   independent numbers of deviation 1. What is the deviation at the end?

# %% exercise="predictions"
predictions = {}
# TODO: write four lines such as predictions["P1"] = 7.
### BEGIN SOLUTION
predictions["P1"] = 2
predictions["P2"] = float("nan")
predictions["P3"] = 16.0
predictions["P4"] = 5.0
### END SOLUTION

# %%
check("predictions")

# %% [markdown]
# **Look.** Your predictions next to the computed numbers:

# %%
row = torch.full((4,), 3.0)
additions = torch.randn(25, 100_000, generator=torch.Generator().manual_seed(0))
answers = {
    "P1": lambda: (sinusoidal_pe(9, 8, 1000.0) != sinusoidal_pe(9, 8)).any(0).nonzero()[0],
    "P2": lambda: ((row - row.mean()) / row.std(unbiased=False))[0],
    "P3": lambda: sinusoidal_pe(100, 512)[77].norm(),
    "P4": lambda: additions.sum(0).std(),
}
compare_predictions(predictions, answers)

# %% [markdown]
# ## 6.12 Without the mean: RMSNorm
# *0 points, 15 minutes, difficulty 1 of 5, importance 3 of 5*
#
# The next three steps are **not graded**. They are what the newest models use instead of 6.5 and
# 6.1, and they are checked like all others.
#
# Does subtracting the mean matter? Zhang and Sennrich left it out, and the bias too, and lost
# nothing. LLaMA and many others since use
#
# $$y = \frac{x}{\sqrt{\frac{1}{d}\sum_j x_j^2 + \varepsilon}} \cdot \text{weight}$$
#
# **Predict.** For which vectors do `LayerNorm` and `RMSNorm` give the same?
#
# <details><summary>Hint 1: a question</summary>
#
# Which lines of your 6.5 disappear?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Square, mean over the last axis, add ε, root, divide, scale.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `x.square().mean(-1, keepdim=True)`.
# </details>

# %% exercise="rms_norm"
from attnlab.layers import RMSNorm

# %%
check("rms_norm")

# %% [markdown]
# **Look.** The same five vectors as in 6.5. What stays that `LayerNorm` takes away?

# %%
plots.layers.before_and_after(lambda: RMSNorm(24))

# %% [markdown]
# ## 6.13 Turning instead of adding: RoPE
# *0 points, 30 minutes, difficulty 3 of 5, importance 4 of 5*
#
# Attention needs distances, but 6.1 adds positions, and the model must work out the distances from
# them. Rotary positions go straight to the goal: take the hands of the clock of 6.1 and **turn
# queries and keys** by them. A query at position m and a key at position n, turned by mω and nω,
# have the same scalar product as if only the key had been turned by (n − m)ω. So the score depends
# on the distance alone, even with gaps between the positions, as a cache or padding makes them.
#
# **Predict.** Do rotations change the length of a query? And the score of a word with itself?
#
# <details><summary>Hint 1: a question</summary>
#
# How does a pair (a, b) of features look after a turn by the angle φ from the first towards the
# second?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Compute the angles (T, d/2) in float64 and their cosines and sines in the dtype of x. Take the
# even and the odd features apart, turn all pairs at once, put them together again.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `x[..., 0::2]` and `x[..., 1::2]` are the two halves of all pairs; `torch.stack((a, b),
# -1).flatten(-2)` interleaves them again.
# </details>

# %% exercise="rope"
from attnlab.positions import apply_rope

# %%
check("rope")

# %% [markdown]
# **Look.** The same query and keys at two places of a text. Do the two curves agree?

# %%
plots.positions.rope_scores(apply_rope)

# %% [markdown]
# ## 6.14 A penalty for distance: ALiBi
# *0 points, 20 minutes, difficulty 2 of 5, importance 2 of 5*
#
# The shortest idea of all: leave the words as they are, and subtract from each score a number that
# grows with the distance. Each head has its own slope, so some heads look close and some far. Such
# a model works on texts longer than any that it was trained on, because a larger distance is
# nothing new: only a lower score.
#
# **Predict.** Eight heads have the slopes 1/2, 1/4, …, 1/256. At which distance has the score
# dropped by 1, in the first head and in the last?
#
# <details><summary>Hint 1: a question</summary>
#
# In lab 5, `causal_mask(Lq, Lk)` puts the last query at the last key. Which position does query i
# have?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# A column of the queries' positions, a row of the keys', their absolute difference; then times one
# slope for each head.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `torch.arange(Lk - Lq, Lk)[:, None]`; `slopes[:, None, None] * distance` is (h, Lq, Lk).
# </details>

# %% exercise="alibi"
from attnlab.positions import alibi_bias

# %%
check("alibi")

# %% [markdown]
# **Look.** Equal scores for all words, a causal mask, and the bias: the weights of three of eight
# heads. Which head looks at the last few words only?


# %%
def weights_of(head):
    scores = alibi_bias(8, 10)[head].masked_fill(torch.ones(10, 10).triu(1).bool(), -torch.inf)
    return torch.softmax(scores, -1)


places = [str(i) for i in range(10)]
plots.heatmap.attention_maps(
    {f"head {i}": lambda i=i: weights_of(i) for i in (0, 3, 7)}, places, places
)

# %% [markdown]
# ## What you can now explain
#
# - how a sum of waves tells a position, and why one matrix moves all positions by k;
# - what a model without positions can and cannot see, with and without a causal mask;
# - what layer normalisation averages over, where ε belongs, and what a vector of equal numbers
#   gives;
# - why the feed-forward network sees one position only, and why it is there;
# - what pre-norm and post-norm do to the stream and to the gradient, by your own measurement.
#
# Next week you put everything together: encoder, decoder, a whole Transformer. Until then: add
# positions *after* the first attention instead of before it. What does the chicken test say?

# %% [markdown] free_text="explain" points=4
# ## In your own words
# *4 points, marked by a TA*
#
# A friend has copied a Transformer block by block and forgotten two lines: the one that adds
# positions, and the one that adds the residual. He says: "Without positions it still reaches a
# decent loss, but with 24 layers and no residual it learns nothing." Explain in four to six
# sentences: what can an encoder without positions still learn, and which two sentences can it never
# distinguish? What does the residual give to a deep stack, at the start of training, that is
# missing without it? And where would you put the normalisation, and why?
#
# <!-- BEGIN SOLUTION -->
# Attention and the feed-forward network treat the words as a bag: if the words are shuffled, the
# outputs are shuffled in the same way. So the model still learns which words occur together, which
# is enough for a decent loss, but two orders of the same words, such as "dog bites man" and "man
# bites dog", give every word the same vector in both. With residuals, each block adds something to
# the stream; x itself reaches the output unchanged, and the gradient of the loss reaches every
# block on the same path. Without them, the signal and the gradient pass through 24 untrained layers
# one after the other, each of which mixes and distorts them, so the first layers learn hardly
# anything. I would normalise before each sublayer (pre-norm): the path of the stream stays free, so
# a deep model trains without a careful start; the price is a stream that grows like the root of the
# depth and smaller gradients in the last blocks. (Post-norm with warm-up is also a good answer if
# it is explained: the stream keeps size 1, and the last gradients are large.)
# <!-- BEGIN MARK SCHEME -->
# - 1: without positions the words are a bag, and which words occur together can be learned
# - 1: two orders of the same words cannot be distinguished, with an example
# - 1: with the residual, x and the gradient reach every block unchanged, also at the start
# - 1: a place for the normalisation, with a reason
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
