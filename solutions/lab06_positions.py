"""x"""

# %%
import torch
from torch import nn

from attnlab import check

# %% exercise="sinusoidal_pe"
from attnlab.positions import sinusoidal_pe

# %%
check("sinusoidal_pe")

# %% exercise="shift_matrix"
from attnlab.positions import shift_matrix

# %%
check("shift_matrix")

# %% exercise="positional_encoding"
from attnlab.positions import PositionalEncoding

# %%
check("positional_encoding")

# %% exercise="learned_positions"
from attnlab.positions import LearnedPositions

# %%
check("learned_positions")

# %% exercise="layer_norm"
from attnlab.layers import LayerNorm

# %%
check("layer_norm")

# %% exercise="feed_forward"
from attnlab.layers import FeedForward

# %%
check("feed_forward")

# %% exercise="residual"
from attnlab.layers import Residual

# %%
check("residual")

# %% exercise="depth"
from attnlab.depth import stream_sizes, gradient_norms

# %%
check("depth")

# %% exercise="rms_norm"
from attnlab.layers import RMSNorm

# %%
check("rms_norm")

# %% exercise="rope"
from attnlab.positions import apply_rope

# %%
check("rope")

# %% exercise="alibi"
from attnlab.positions import alibi_bias

# %%
check("alibi")


# %% exercise="test_layer_norm"
def test_layer_norm(impl):
    """T."""
    ### BEGIN SOLUTION
    random = torch.Generator().manual_seed(0)
    layer = impl(7).double()
    weight, bias = layer.parameters()
    assert torch.equal(weight, torch.ones(7).double()), "the weight starts with ones"
    assert torch.equal(bias, torch.zeros(7).double()), "the bias starts with zeros"
    with torch.no_grad():
        weight.normal_(generator=random)
        bias.normal_(generator=random)
    x = torch.randn(3, 5, 7, generator=random, dtype=torch.float64)
    x[0, 1] = 3.0
    x[1] *= 1e-3
    before = x.clone()
    for mode in (True, False):
        right = torch.nn.functional.layer_norm(x, (7,), weight, bias, 1e-5)
        assert (layer.train(mode)(x) - right).abs().max() < 1e-9, "the output is wrong"
    assert torch.equal(x, before), "x has changed"
    mine, torchs = x.clone().requires_grad_(), x.clone().requires_grad_()
    layer(mine).square().sum().backward()
    torch.nn.functional.layer_norm(torchs, (7,), weight, bias, 1e-5).square().sum().backward()
    assert torch.allclose(mine.grad, torchs.grad, atol=1e-7), "the gradient is wrong"

    wide = torch.nn.functional.layer_norm(x, (7,), eps=0.5)
    assert (impl(7, eps=0.5).double()(x) - wide).abs().max() < 1e-9, "eps has no effect"
    far = 1e4 + torch.randn(20, 64, generator=random)
    assert (impl(64)(far) - torch.nn.functional.layer_norm(far, (64,))).abs().max() < 1e-2, (
        "far from 0"
    )
    ### END SOLUTION


# %%
check("test_layer_norm")

# %% exercise="errata"
errata = {}
### BEGIN SOLUTION
errata["C1"] = (
    2 * torch.pi * 1000 ** (510 / 512),
    2 * torch.pi * 10000 ** (510 / 512),
    "the paper's base is 10000, not 1000",
)
errata["G6"] = (5, 1, "the network sees one position at a time")
errata["W3"] = (1, 4, "only positions tell the orders apart")
### END SOLUTION

# %%
check("errata")

# %% exercise="predictions"
predictions = {}
### BEGIN SOLUTION
predictions["P1"] = 2
predictions["P2"] = float("nan")
predictions["P3"] = 16.0
predictions["P4"] = 5.0
### END SOLUTION

# %%
check("predictions")
