"""Lab 4, multi-head attention: the source of its notebook (`lab build` makes the notebooks).

It runs as a script: `python solutions/lab04_multihead.py`. If the answer is a function of the
library, an exercise's cell holds one import line; its task is that function's docstring.
"""

# %% [markdown]
# # Lab 4: {{title}}
#
# In this lab you write **multi-head attention**, the layer that every Transformer is made of, and
# measure why it has heads. On the same questions, one head gets both answers right in one case of
# ten; two heads, with exactly as many weights, always do.
#
# | | |
# |---|---|
# | due | {{due}} |
# | points | {{points}}, in {{steps}} steps and one question |
# | time | about six hours; training takes seconds |
# | you need | attention (3.3), `cross_entropy` (1.3); torch: `view`, `transpose`, `nn.Module` |

# %%
import math

import torch
from torch import Tensor

from attnlab import check, plots, submit
from attnlab.attention import scaled_dot_product_attention
from attnlab.data import retrieval as boxes
from attnlab.models import small_layers
from attnlab.models.retriever import (
    D_MODEL,
    FEATURES,
    Retriever,
    share_right,
    shares_right,
    train_retriever,
)
from attnlab.notebook.review import compare_predictions, try_versions
from attnlab.notebook.saved import trained
from attnlab.softmax import cross_entropy

plots.heads.lab04_preview()

# %% [markdown]
# Each step has the same parts: *why* → *predict* → *write* → *check* → *look*. `check` shows the
# visible checks, about half of the points; the others run after you hand in, on other numbers. The
# docstring states everything that they check. `check()` shows where you stand. In grading, a wrong
# step costs the next one nothing; 4.2 names the one exception. Together with the notebook, hand in
# the two files of weights that 4.6 saves.
#
# **What comes from earlier labs** (it is imported; you can do this lab without having done them):
# `scaled_dot_product_attention(q, k, v, mask)` of lab 3 takes queries (…, Lq, d_k), keys
# (…, Lk, d_k) and values (…, Lk, d_v). It returns the outputs (…, Lq, d_v) and the weights
# (…, Lq, Lk), the rows of softmax(q kᵀ / √d_k). It works on the last two axes, with any number of
# axes before them. A mask is True where a query may attend to a key, and broadcasts; a query with
# no allowed key gets zeros. `cross_entropy(logits, target)` of lab 1 takes (N, V) and (N,).
#
# The letters **W**, **S**, **G**, **N** and **C** stand for lectures: see
# [LECTURES.md](LECTURES.md). Below, lab 3's attention on 2 sentences and 3 heads at once, with 4
# queries and 7 keys:

# %%
q, k, v = torch.randn(2, 3, 4, 8), torch.randn(2, 3, 7, 8), torch.randn(2, 3, 7, 5)
out, weights = scaled_dot_product_attention(q, k, v)
print("output", tuple(out.shape), " weights", tuple(weights.shape))

# %% [markdown]
# ## 4.1 Split and merge
# *12 points, 40 minutes, difficulty 3 of 5, importance 5 of 5*
#
# Lecture C breaks "one vector for each token" into heads. Taken literally, that is half of the
# story: the word's *projections* are cut up, not the word. Every head sees the whole word through
# its own projection. One large projection makes the queries of all heads at once, and this step
# gives each head its part. Head $i$ gets a run of neighbouring features:
#
# $$\text{heads}[b, i, t, j] = x[b,\; t,\; i \cdot D/h + j]$$
#
# The heads' axis comes before time, because a matrix product works on the last two axes: there,
# words must meet words, once for each head. `merge_heads` is the way back.
#
# **Predict.** A word has the 12 features 0 … 11, and there are 3 heads. Which features does head 1
# get? And if you wrote `x.view(B, 3, T, 4)`, whose features would it get?
#
# <details><summary>Hint 1: a question</summary>
#
# `view` never moves a number in memory; it only groups the numbers differently. In memory, the
# features of one word are side by side. Which axis can you cut in two without mixing words up?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Cut the last axis in two, heads first: (B, T, h, D/h). Then swap two axes. On the way back, swap
# them again, and only then join two axes into one. (Two mistakes that undo each other pass every
# round trip, so look at single entries.)
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `x.unflatten(-1, (h, -1))` cuts, `transpose(1, 2)` swaps, `flatten(2)` joins. After a transpose,
# `view` can fail; `reshape` and `flatten` copy if they must.
# </details>

# %% exercise="split_heads"
from attnlab.multihead import split_heads, merge_heads  # noqa: I001 - in this order

# %%
check("split_heads")

# %% [markdown]
# **Look.** Four words with six features each, numbered from 0 to 23, for three heads. Word 0 holds
# 0 … 5: are its features in the first row of every head? (t is the word, j the feature.)

# %%
numbered = torch.arange(24).reshape(1, 4, 6)
plots.words.tensor_cells(lambda: split_heads(numbered, 3)[0], "heads", ("t", "j"))

# %% [markdown]
# And this is what `view(B, 3, T, 2)` makes of the same numbers: its "head" 0 holds all of word 0
# and a third of word 1. Words are cut up, and no error says so.

# %%
plots.words.tensor_cells(lambda: numbered.view(1, 3, 4, 2)[0], "view", ("t", "j"))

# %% [markdown]
# ## 4.2 Multi-head attention
# *26 points, 80 minutes, difficulty 5 of 5, importance 5 of 5*
#
# One softmax has one unit of attention to give away, and returns one mean. A verb that looks for
# its subject *and* its object gets half of each, and a mean does not say which half was which.
# Lecture N calls the solution "separate W matrices"; lectures G and C write it down:
#
# $$\text{head}_i = \operatorname{Attention}(Q W_i^Q,\; K W_i^K,\; V W_i^V), \qquad
# \text{MultiHead}(Q, K, V) = [\text{head}_1, \dots, \text{head}_h]\, W^O$$
#
# Lecture W's numbers, 512 → 8 heads of 64 → 512, show the cost: not one parameter and not one
# multiplication more than one head of 512. What does grow is the table of attention weights: h
# tables of T², and with them memory and time in a plain implementation. W's slide leaves out
# $W^O$, and it matters: cut into h pieces, it gives every head its own contribution,
# $\sum_i \text{head}_i W^O_i$. Lecture N compares a head with a filter of a convolution: same
# input, own weights, outputs stacked. The comparison has a limit: a filter's pattern is fixed, but
# a head's depends on the words.
#
# (Build it on your own `split_heads` and `merge_heads` and on lab 3's attention, without torch's
# `scaled_dot_product_attention` and `nn.MultiheadAttention`. Two points of this step are for your
# own steps together.)
#
# **Predict.** B = 2 sentences, 3 heads, 4 queries, 7 keys. What is the shape of the weights? Which
# mask shapes fit: (4, 7), (2, 7), (2, 1, 1, 7), (2, 4, 7)? And which of them fit if there are 2
# heads?
#
# <details><summary>Hint 1: a question</summary>
#
# Write down the shapes from (B, L, d_model) to the output, one per line, for Lq ≠ Lk and d_k ≠ d_v.
# If you give lab 3's attention (B, h, L, d_k), by the root of which number does it divide?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Four linear layers; three of them make h heads at once. Project each input with its own layer,
# split, attend, merge, project. Dropout acts on the weights, so with dropout you multiply by the
# values yourself; the weights that you return have no dropout. A mask (B, 1, 1, Lk) already fits.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `nn.Linear(d_model, num_heads * d_k, bias)`; `split_heads(self.q_proj(q), self.num_heads)`;
# `scaled_dot_product_attention` returns a pair, and its second part is the weights; `nn.Dropout`
# knows by itself whether the layer is training.
# </details>

# %% exercise="multi_head_attention"
from attnlab.multihead import MultiHeadAttention

# %%
check("multi_head_attention")

# %% [markdown]
# **Look.** The shapes of your own tensors, without the four projections. Where does the number of
# heads appear, and where does it disappear again?

# %%
plots.heads.shape_diagram(lambda: small_layers.steps(MultiHeadAttention, split_heads, merge_heads))
print(small_layers.which_masks_fit([(4, 7), (2, 7), (2, 1, 1, 7), (2, 4, 7)], heads=(3, 2)))

# %% [markdown]
# The last line above the picture is a trap. A mask (B, Lq, Lk) seems natural, and with 3 heads it
# is refused. With as many heads as sentences it fits, and its first axis means *heads*: no error,
# and a wrong output.

# %% [markdown]
# The heads of a layer that has learned nothing, on a sentence of random words (point at a cell to
# read its weight). Do they differ? How far are they from looking everywhere equally?

# %%
sentence = small_layers.SENTENCE
plots.heads.head_grid(lambda: small_layers.weights(MultiHeadAttention)[0], sentence, sentence)
plots.heads.head_entropy(lambda: small_layers.weights(MultiHeadAttention))

# %% [markdown]
# ## 4.3 Counting parameters
# *8 points, 25 minutes, difficulty 2 of 5, importance 3 of 5*
#
# Lecture N prints the shapes of Keras' layer for 16 features: with one head of size 2, it has (16,
# 1, 2), (1, 2), … Keras keeps an axis for the heads in every weight; torch stacks queries, keys and
# values into one matrix. It is the same layer, and if you can write down its shapes, you can read
# any library's checkpoint. N's slide also shows, without saying so, that `key_dim` is the size of
# *one* head. So three heads of 2 are 6 features, not 16; the last layer brings 6 back to 16.
#
# **Predict.** N's last slide asks what happens if `key_dim` goes from 2 to 5. How many of the eight
# shapes change?
#
# <details><summary>Hint 1: a question</summary>
#
# Which of d_model, h and key_dim go into a query's projection, and which come out of it? And for
# the last projection?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Keras: weight and bias for queries, keys, values and output, eight shapes. The bias of a
# projection has the axes that come out. torch: four shapes; the stacked ones have three times as
# many rows.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# A projection is `[(d_model, num_heads, key_dim), (num_heads, key_dim)]`, three times. In the
# output's weight, the heads come in and d_model comes out.
# </details>

# %% exercise="mha_param_shapes"
from attnlab.multihead import mha_param_shapes

# %%
check("mha_param_shapes")

# %% [markdown]
# **Look.** Lecture N's three slides, and how many numbers each layer holds. The slide for 5 printed
# the shapes of 2 again; here are the right ones.

# %%
print(small_layers.shapes_of_lecture_n(mha_param_shapes))

# %% [markdown]
# ## 4.4 Three projections in one
# *10 points, 30 minutes, difficulty 3 of 5, importance 2 of 5*
#
# Lectures W and C draw $W^q$, $W^k$ and $W^v$ as three matrices and three products. Graphics cards
# are faster with one large product than with three small ones, so many fast implementations stack
# the three (your layer and Keras' do not):
#
# $$\begin{bmatrix} q & k & v \end{bmatrix} = x
# \begin{bmatrix} W_q \\ W_k \\ W_v \end{bmatrix}^{\!\top} +
# \begin{bmatrix} b_q & b_k & b_v \end{bmatrix}$$
#
# torch calls the stack `in_proj_weight`, GPT-2 calls it `c_attn` and stores its transpose, (in,
# out). To load somebody else's weights, you must know their layout and their stacking order: a
# wrong order fits just as well.
#
# **Predict.** The weights are (6, 10), (6, 10) and (9, 10). Which axis grows, and to what size? Can
# `chunk(3)` separate the three again?
#
# <details><summary>Hint 1: a question</summary>
#
# `nn.Linear` keeps its weight as (out, in). Which of the two axes must be equal in all three, and
# which may differ?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Stack the rows. For the biases, stack either none or all three, with zeros for a missing one (as
# many as its weight has rows). Then apply one linear map, and cut the *features* of the result.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `torch.cat`, `weight.new_zeros(n)`, `nn.functional.linear(x, W, b)`, `split(sizes, dim=-1)`.
# </details>

# %% exercise="fuse_qkv"
from attnlab.multihead import fuse_qkv, project_fused

# %%
check("fuse_qkv")

# %% [markdown]
# **Look.** A fused weight: the queries' rows are all 1, the keys' rows 2 and the values' rows 3.
# (The one in the prediction has 21 rows, and `chunk(3)` would give each part 7.) The line above the
# picture says what happens if your functions run on the weights of torch's own layer.

# %%
plots.words.tensor_cells(
    lambda: fuse_qkv(torch.ones(2, 6), 2 * torch.ones(2, 6), 3 * torch.ones(3, 6))[0],
    "W",
    ("out", "in"),
    rows=["q 0", "q 1", "k 0", "k 1", "v 0", "v 1", "v 2"],
)
print(small_layers.through_torchs_weights(project_fused, split_heads, merge_heads))

# %% [markdown]
# Some models leave out the bias of the keys, and here is why: add random numbers to one bias of
# your layer after the other. One bias is idle. (Which term does it add to the scores of a query,
# and what did lab 1 say about the same number added to every score of a row?)

# %%
plots.heads.ablation_bars(
    lambda: small_layers.changes_by_bias(MultiHeadAttention),
    ["change"],
    "distance moved / length",
    "how far the output moves if a bias changes",
)

# %% [markdown]
# ## 4.5 What is a head worth?
# *10 points, 30 minutes, difficulty 3 of 5, importance 3 of 5*
#
# Lecture G says that heads attend to "different aspects". To find out whether a head matters,
# switch it off (**ablate** it) and see what is missing. The last projection makes that easy: the
# output is a sum with one term for each head, and an ablated head is a missing term:
#
# $$\text{MultiHead} = b^O + \sum_{i=1}^{h} \text{head}_i\, W^O_i$$
#
# **Predict.** You set a head's *queries* to zero instead. What are its scores then, what are its
# weights, and does it add nothing to the output?
#
# <details><summary>Hint 1: a question</summary>
#
# `out_proj.weight` is (d_model, h · d_v). Which axis belongs to the heads' features, and which run
# of that axis belongs to head i?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Refuse a head that does not exist. Copy the whole layer, because the given one must stay
# unchanged. Write zeros into the head's part of the copy's last projection. The bias does not
# belong to any head.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `copy.deepcopy(model)`; inside `with torch.no_grad():` an assignment to a slice of columns,
# `weight[:, start:stop] = 0`, with `start` a multiple of `model.d_v`.
# </details>

# %% exercise="ablate_head"
from attnlab.multihead import ablate_head

# %%
check("ablate_head")

# %% [markdown]
# **Look.** How far the output of the untrained layer moves when a head is ablated. Nothing has been
# learned yet, so no head is worth much more than another. That will change in 4.6. The last bars
# answer your prediction: a head with zero queries attends everywhere equally and still
# adds the mean of its values. The output moves less far, but the head is not off at all. (Why less
# far? Untrained heads look nearly everywhere equally anyway. 4.6 shows a head that has learned.)

# %%
plots.heads.ablation_bars(
    lambda: small_layers.changes_without_heads(MultiHeadAttention, ablate_head),
    ["change"],
    "distance moved / length",
    "how far the output moves",
)

# %% [markdown]
# ## 4.6 Two questions at once
# *8 points, 40 minutes, difficulty 3 of 5, importance 4 of 5*
#
# Lecture N says that heads "expand the ability to focus on different positions". Here is the
# smallest task that needs this ability. There are eight boxes on a shelf, each with a letter on its
# lid and a digit inside. The question names two boxes, and the answer is both digits, in order:

# %%
shelves = boxes.questions("validation", 2000)
for row in range(1, 4):
    print(boxes.as_text(shelves, row))

# %% [markdown]
# The model is given (`attnlab.models.retriever`, one page). The question attends to the boxes
# through *your* layer, and one linear readout turns the layer's output into two times ten scores.
# You write the loss that it learns from, and the table that you will look at afterwards.
#
# One head and two heads get the same 16 features in total, 1 × 16 or 2 × 8, so both models have
# exactly the same number of weights.
#
# **Predict.** There is one head, and there are ten digits. The head can look at one of the two
# boxes, or half at each. How often will it get both digits right: never, 1 in 10, 1 in 2, nearly
# always?
#
# <details><summary>Hint 1: a question</summary>
#
# In `logits` (B, 2, 10), which axis holds the options, and which two only count how many choices
# the model makes? And for `weight_on`: in `weights` (B, h, T), which axis do the `places` index?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Loss: make one long list of digits, (B · n, V) and (B · n,), in the same order, for lab 1's
# `cross_entropy`. Weights: for every head, look up row b's places in row b's weights, (B, h, n).
# Then take the mean over the batch.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `flatten(0, 1)` makes one axis of the first two. `gather(2, index)` looks up along the last axis;
# its index must have the shape of the result: `places[:, None].expand(-1, heads, -1)`.
# </details>

# %% exercise="retrieval"
from attnlab.retrieval import answer_loss, weight_on

# %%
check("retrieval")

# %% [markdown]
# **Train.** Train once with one head and once with two. Each takes a few seconds and saves its
# weights next to this notebook; hand in both files. An existing file is loaded even if your code
# has changed since: if you change your layer or your loss later, delete the two files (or pass
# `again=True` to `trained`, once) and run this cell again.


# %%
def build(num_heads: int) -> Retriever:
    torch.manual_seed(4)
    size = FEATURES // num_heads
    return Retriever(MultiHeadAttention(D_MODEL, num_heads, d_k=size, d_v=size))


def train(model: Retriever) -> list[float]:
    return train_retriever(model, answer_loss)


one, _ = trained("retrieval_1_head.safetensors", lambda: build(1), train)
two, _ = trained("retrieval_2_heads.safetensors", lambda: build(2), train)

# %% [markdown]
# **Look.** What share of the answers is right, and where do the heads look?


# %%
def looks(model: Retriever | None) -> Tensor | None:
    return None if model is None else weight_on(model(shelves)[1], shelves.places)


behind = (answer_loss, MultiHeadAttention)
plots.heads.heads_on_boxes(lambda: looks(one), lambda: looks(two), *behind)
plots.heads.ablation_bars(
    lambda: shares_right(one, two, ablate_head, shelves),
    ["first digit", "second digit", "both"],
    "share right",
    "one head, two heads, one lost",
    *behind,
)

# %% [markdown]
# With two heads, each has taken one of the two boxes, and without that head its digit is lost.
# These heads have learned where to look: if head 0 asks nothing, its digit is lost nearly as often
# as without the head (the untrained heads of 4.5 hardly noticed). One head returns a mean of both
# boxes: it knows the two digits, but not their order. Both answers get
# the same two candidates, and the one with the slightly larger weight wins both times. So one digit
# is always right, and both are right if the two boxes hold the same digit.
#
# (Is it the heads alone? No. With a hidden layer in the readout, `nn.Sequential(nn.Linear(D_MODEL,
# 96), nn.ReLU(), nn.Linear(96, 20))`, one head solves the task as well. It then looks at the boxes
# with weights like 0.7 and 0.2, and the hidden layer distinguishes the two shares. A *linear* map
# cannot undo a mean if the mixed parts do not say where they come from, and the $W^O$ that follows
# every attention is linear. With two heads, no hidden layer is needed. More room in one head does
# not help, either: try `d_k=64, d_v=64`.)
#
# (On paper: the keys of both boxes have length 1 and are orthogonal, and a query is
# $q = c\,(k_a + k_b)$ with a large c. Which weights does it get? Now the first key alone becomes
# twice as long. Which weights does the same query get? With two heads, each box has a query of its
# own.)

# %% [markdown]
# ## 4.7 Test somebody else's heads
# *10 points, 40 minutes, difficulty 4 of 5, importance 3 of 5*
#
# Write a test that takes a class, lets a right one pass silently, and raises `AssertionError` for a
# wrong one. It is tried on about thirty wrong versions of 4.2 and about ten right ones. Your points
# are the share of wrong versions that it rejects, times the share of right ones that it accepts.
#
# Right versions keep their weights under other names, or fused into one matrix, so you need help to
# compare them. `torch_equivalent(layer, d_model, num_heads, d_k, d_v)` finds the weights, wherever
# they are, and puts them into torch's own layer. It returns a function: `expected(q, k, v, mask)`
# gives the right output and each head's right weights. There are two conditions. Weights must not
# be square (choose d_model, h · d_k and h · d_v all different). Every query must have an allowed
# key (torch gives NaN otherwise; test that case separately).
#
# **Predict.** Your test uses one text for queries, keys and values. Which wrong versions pass?
#
# <details><summary>Hint 1: a question</summary>
#
# Read the docstring of 4.2 as a list of promises. Which input would break each of them? Do biases
# of 0 test biases well?
# </details>
# <details><summary>Hint 2: a plan</summary>
#
# Make a layer with unusual sizes in float64, with all its parameters random, and three different
# texts with more keys than queries. Compare output and weights with its results: with and without
# `need_weights`, without a mask and with masks of several shapes. Then test a query with no allowed
# key, dropout in `eval()` and while training, and a gradient at q.
# </details>
# <details><summary>Hint 3: nearly code</summary>
#
# `layer = impl(10, 3, d_k=4, d_v=5, dropout=0.5).double()`; `parameter.normal_()` under
# `torch.no_grad()`; `mask = torch.rand(2, 3, 4, 7) < 0.6` with `mask[..., 0] = True`; `(a -
# b).abs().max() < 1e-9`. While training, two runs differ, and no number of the output is exactly 0.
# </details>


# %% exercise="test_multi_head"
from attnlab.checking.torch_attention import torch_equivalent


def test_multi_head(impl):
    """Let a right version of multi-head attention pass; raise AssertionError for a wrong one.

    Args:
        impl: a class, called as ``impl(d_model, num_heads, d_k=…, d_v=…, bias=…, dropout=…)``; its
            layers should keep every promise of 4.2. (Neither what d_k and d_v are if they are left
            out, nor a layer without biases, needs a test.)

    Right versions differ in their last digits: allow 1e-9 in float64.
    """
    ### BEGIN SOLUTION
    random = torch.Generator().manual_seed(0)
    layer = impl(10, 3, d_k=4, d_v=5, dropout=0.5).double()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.normal_(generator=random)
    expected = torch_equivalent(layer, 10, 3, 4, 5)
    texts = [torch.randn(2, n, 10, generator=random, dtype=torch.float64) for n in (4, 7, 7)]
    mask = torch.rand(2, 3, 4, 7, generator=random) < 0.6
    mask[..., 0] = True

    layer.eval()
    for allowed in (None, mask, mask[:, :1], mask[:, :1, :1], mask[0], mask[0, 0]):
        right, right_weights = expected(*texts, allowed)
        out, weights = layer(*texts, allowed, need_weights=True)
        alone = layer(*texts, mask=allowed)
        assert isinstance(alone, Tensor), "the output should come alone"
        assert out.shape == alone.shape == (2, 4, 10), "the output has another shape"
        assert weights.shape == (2, 3, 4, 7), "the weights have another shape"
        assert (out - right).abs().max() < 1e-9, "the output is wrong"
        assert (alone - right).abs().max() < 1e-9, "the output is wrong without need_weights"
        assert (weights - right_weights).abs().max() < 1e-9, "the weights are wrong"

    no_keys = mask.clone()
    no_keys[:, :, 1] = False
    out, weights = layer(*texts, no_keys, need_weights=True)
    assert not weights[:, :, 1].any(), "a query with no allowed key has weights"
    assert (out[0, 1] - out[1, 1]).abs().max() < 1e-9, "such a query sees the values"

    leaf = texts[0].clone().requires_grad_()
    layer(leaf, *texts[1:])[0, 0, 0].backward()
    assert leaf.grad is not None, "no gradient reaches the queries"
    assert leaf.grad.abs().max() > 1e-9, "the gradient at the queries is 0"

    layer.train()
    once, again = layer(*texts), layer(*texts)
    assert not torch.equal(once, again), "nothing is dropped while training"
    assert once.all(), "the output itself is dropped"
    ### END SOLUTION


# %%
check("test_multi_head")


# %% [markdown]
# **Look.** Your own layer should pass. A layer with inverted masks, like torch's own, should not.
# The third one answers your prediction: with one text for keys and values, nothing gives it away.
# Does your test say why?


# %%
class MasksLikeTorch(MultiHeadAttention):
    def forward(self, q, k, v, mask=None, need_weights=False):
        return super().forward(q, k, v, None if mask is None else ~mask, need_weights)


class ValuesOfTheKeys(MultiHeadAttention):
    def forward(self, q, k, v, mask=None, need_weights=False):
        return super().forward(q, k, k, mask, need_weights)


try_versions(test_multi_head, MultiHeadAttention, MasksLikeTorch, ValuesOfTheKeys)

# %% [markdown]
# ## 4.8 Errata hunt
# *6 points, 20 minutes, difficulty 2 of 5, importance 2 of 5*
#
# Here are three places on slides about heads. Counting settles each of them.
#
# - **N4** Lecture N asks what changes when `key_dim` goes from 2 to 5 (3 heads, 16 features). It
#   prints (16, 3, 2), (3, 2), three times, then (3, 2, 16), (16). *Slide*: how many numbers a layer
#   with the printed shapes holds. *Right*: how many numbers a layer with `key_dim=5` holds.
# - **G4** Lecture G gives head h the queries $Q W_h^q$, the keys $K W_h^v$ and the values
#   $V W_h^v$. Take a layer for 512 features with 8 heads of 64, and no biases. *Slide*: according
#   to these formulas, how many numbers are in all its different matrices, including $W_o$. *Right*:
#   how many there really are.
# - **GT** Lecture G: "The multi-head can be computed in parallel, **each** with complexity
#   $O(T^2 d)$." Let d = 512 be the width of the layer, with 8 heads of 64, and T = 100 words. Count
#   the multiplications in all scores $q \cdot k$ of all heads. *Slide*: how many there are if each
#   head needs $T^2 d$. *Right*: how many your layer needs.

# %% exercise="errata"
errata = {}
# TODO: write three lines such as errata["N4"] = (slide, right, "why, in four words or more").
# Let code compute the numbers if it can: math.prod(shape) is how many numbers a shape holds.
### BEGIN SOLUTION
printed = [(16, 3, 2), (3, 2)] * 3 + [(3, 2, 16), (16,)]
wider = [(16, 3, 5), (3, 5)] * 3 + [(3, 5, 16), (16,)]
errata["N4"] = (
    sum(math.prod(shape) for shape in printed),
    sum(math.prod(shape) for shape in wider),
    "the shapes of key_dim 2 were not updated",
)
errata["G4"] = (
    3 * 512 * 8 * 64,
    4 * 512 * 8 * 64,
    "keys need their own matrix, W_h^k",
)
errata["GT"] = (
    8 * 100**2 * 512,
    8 * 100**2 * 64,
    "a head has only d / h features, so all heads together cost T² d",
)
### END SOLUTION

# %%
check("errata")

# %% [markdown]
# ## 4.9 Predict, then run
# *6 points, 15 minutes, difficulty 2 of 5, importance 3 of 5*
#
# Guess all five answers and write them down. Then run the cell under **Look**, in which your own
# code answers. If you were wrong, correct the answer and be able to say why. Only the answers that
# you hand in count.
#
# - **P1** A layer for 512 features has 8 heads instead of 1 (d_k and d_v not given). How many more
#   parameters does it have?
# - **P2** 2 sentences of 100 words attend to themselves. How many times as many numbers are in the
#   attention weights with 8 heads as with 1?
# - **P3** A word with 12 features is split into 3 heads. To which head does feature 7 go, and to
#   which position there (a pair, counted from 0)?
# - **P4** What is the entropy, in nats, of a head that looks at 8 boxes equally?
# - **P5** In 4.6, each box held one of ten digits. Suppose that it holds one of four (0 … 3), all
#   equally often. If one head always gives one of the two digits twice, how often does it get both
#   right?

# %% exercise="predictions"
predictions = {}
# TODO: write five lines such as predictions["P1"] = 512 (for P3 a pair such as [0, 7]).
### BEGIN SOLUTION
predictions["P1"] = 0
predictions["P2"] = 8
predictions["P3"] = [1, 3]
predictions["P4"] = 2.079
predictions["P5"] = 0.25
### END SOLUTION

# %%
check("predictions")

# %% [markdown]
# **Look.** Your predictions next to your code's answers. (For P5, this is the result of your model
# with one head on ten digits. What does your rule say for ten?)


# %%
def size_of(num_heads: int) -> int:
    return sum(p.numel() for p in MultiHeadAttention(512, num_heads).parameters())


def weights_of(num_heads: int) -> int:
    x = torch.randn(2, 100, 16)
    return MultiHeadAttention(16, num_heads)(x, x, x, need_weights=True)[1].numel()


answers = {
    "P1": lambda: size_of(8) - size_of(1),
    "P2": lambda: weights_of(8) / weights_of(1),
    "P3": lambda: (split_heads(torch.arange(12)[None, None], 3)[0, :, 0] == 7).nonzero()[0],
    "P4": lambda: cross_entropy(torch.zeros(1, 8), torch.tensor([3])),
    "P5": lambda: "nothing yet" if one is None else f"{share_right(one, shelves)[2]:.3f} for ten",
}
compare_predictions(predictions, answers)

# %% [markdown]
# ## What you can now explain
#
# - what a head is: a projection, a softmax and a part of the output, not a piece of a word;
# - why the heads' axis comes before time, and what a `view` without a transpose does;
# - what eight heads of 64 cost more than one of 512, and what they can do that it cannot;
# - how to read a layer's shapes in Keras and in torch, and how to find out what a head is worth.
#
# Next week: which query may look at which key. Until then, try grouped-query attention: let two
# heads of queries share one head of keys and values. Which of the shapes of 4.3 shrink?

# %% [markdown] free_text="explain" points=4
# ## In your own words
# *4 points, marked by a TA*
#
# A friend says: "One head with 512 features has more room than eight heads with 64 each. Why cut it
# up?" Answer in four to six sentences. What is the same in both? What can one softmax not do,
# however wide it is? What did 4.6 show (with your numbers)? And what does the last projection have
# to do with it?
#
# <!-- BEGIN SOLUTION -->
# Both have the same number of parameters and multiplications; only the tables of attention weights
# grow, from one to eight. One head has one softmax for each query: one unit of weight, and one mean
# of the values. If two words matter for different reasons, the mean holds both and does not say
# which was which. A linear map cannot undo that, however many features there are. In 4.6, one head
# put about half of its weight on each box. It got one of two digits right (99 % and 10 %), and both
# in 10 % of the cases, as often as the two digits are equal. Two heads of half the width put nearly
# all their weight on one box each and were right in 100 %. Switching one of them off cost exactly
# its digit. The heads' outputs stay separate because they are side by side. The last projection has
# its own part for each head, so it can use each head's output differently.
# <!-- BEGIN MARK SCHEME -->
# - 1: both have the same number of parameters or multiplications
# - 1: one softmax gives one mean of the values, in which two things cannot be distinguished
# - 1: numbers of 4.6: one head gets one digit right, two heads get both
# - 1: the last projection has its own part for each head, because the outputs are side by side
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
