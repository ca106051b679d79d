"""The retrieval model, what is measured of its heads, and torch's twin of a layer."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from attnlab.checking.torch_attention import spellings, torch_equivalent
from attnlab.checking.weights import MissingWeightError
from attnlab.data.retrieval import questions
from attnlab.models.retriever import D_MODEL, FEATURES, Retriever, share_right, train_retriever
from attnlab.multihead import MultiHeadAttention
from attnlab.retrieval import answer_loss, weight_on


def model_with(num_heads: int) -> Retriever:
    torch.manual_seed(0)
    size = FEATURES // num_heads
    return Retriever(MultiHeadAttention(D_MODEL, num_heads, d_k=size, d_v=size))


def test_a_hand_example_of_weights() -> None:
    weights = torch.tensor([[[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]], [[0.1, 0.2, 0.7], [1.0, 0, 0]]])
    table = weight_on(weights, torch.tensor([[0, 2], [2, 1]]))
    torch.testing.assert_close(table, torch.tensor([[0.6, 0.225], [0.0, 0.0]]))


def test_the_loss_is_torchs() -> None:
    logits = torch.randn(4, 2, 10, dtype=torch.float64, requires_grad=True)
    answers = torch.randint(0, 10, (4, 2))
    expected = nn.functional.cross_entropy(logits.mT, answers)
    torch.testing.assert_close(answer_loss(logits, answers), expected)
    assert torch.autograd.gradcheck(lambda x: answer_loss(x, answers), logits)


def test_models_with_one_and_two_heads_are_equally_large() -> None:
    sizes = [sum(p.numel() for p in model_with(heads).parameters()) for heads in (1, 2, 4)]
    assert len(set(sizes)) == 1


def test_two_heads_learn_in_a_few_steps_what_one_head_cannot() -> None:
    asked = questions("validation", 1000)
    models = {heads: model_with(heads) for heads in (1, 2)}
    for model in models.values():
        losses = train_retriever(model, answer_loss, steps=250, lr=0.02)
        assert len(losses) == 250
        assert losses[0] == pytest.approx(2.3, abs=0.5)
    assert float(share_right(models[2], asked)[2]) > 0.98
    assert float(share_right(models[1], asked)[2]) < 0.25
    logits, weights = models[2](asked)
    assert (logits.shape, weights.shape) == ((1000, 2, 10), (1000, 2, 8))
    table = weight_on(weights, asked.places)
    assert float(table.detach().amax(1).min()) > 0.8


@pytest.mark.parametrize("sizes", [(10, 3, 4, 5), (7, 2, 5, 1), (20, 2, 3, 4), (9, 1, 4, 2)])
@pytest.mark.parametrize("bias", [True, False])
def test_a_twin_gives_what_the_layer_gives(sizes: tuple[int, ...], bias: bool) -> None:
    torch.manual_seed(1)
    d_model, heads, *_ = sizes
    layer = MultiHeadAttention(*sizes, bias=bias).double()
    for parameter in layer.parameters():
        nn.init.normal_(parameter)
    torch_attention = torch_equivalent(layer, *sizes, bias=bias)
    q, k, v = (torch.randn(2, n, d_model, dtype=torch.float64) for n in (3, 5, 5))
    mask = torch.rand(2, heads, 3, 5) < 0.5
    mask[..., 1] = True
    for allowed in (None, mask, mask[:, :1], mask[:, :1, :1], mask[0, 0]):
        out, weights = layer(q, k, v, allowed, need_weights=True)
        torchs_out, torchs_weights = torch_attention(q, k, v, allowed)
        torch.testing.assert_close(out, torchs_out)
        torch.testing.assert_close(weights, torchs_weights)


def test_a_layer_without_a_weight_is_named() -> None:
    layer = MultiHeadAttention(10, 3, d_k=4, d_v=5)
    del layer.k_proj
    with pytest.raises(MissingWeightError, match=r"k_proj\.weight"):
        torch_equivalent(layer, 10, 3, 4, 5)


def test_a_prefix_stands_before_every_name() -> None:
    plain, inside = spellings(), spellings("attention.")
    assert inside["attention.q_proj.weight"] == tuple(
        f"attention.{name}" for name in plain["q_proj.weight"]
    )
