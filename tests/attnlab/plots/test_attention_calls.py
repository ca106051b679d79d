"""The weights of all attentions in a layer are recorded, by class or by name."""

import torch
from torch import nn

from attnlab.encoder_decoder import DecoderLayer
from attnlab.multihead import MultiHeadAttention
from attnlab.plots.attention_calls import recorded


def test_each_call_adds_the_weights_of_its_heads() -> None:
    layer = DecoderLayer(12, 3, 20).eval()
    x, memory = torch.randn(1, 4, 12), torch.randn(1, 6, 12)
    with recorded(layer) as tables:
        layer(x, memory)
        layer(x, memory)
    assert [tuple(table.shape) for table in tables] == 2 * [(1, 3, 4, 4), (1, 3, 4, 6)]
    layer(x, memory)
    assert len(tables) == 4


class Own(nn.Module):
    """An attention without `need_weights`."""

    def forward(self, x):
        return x


class OwnWithWeights(nn.Module):
    def forward(self, x, need_weights=False):
        return (x, torch.ones(1, 1, 2, 2)) if need_weights else x


def test_an_attention_of_ones_own_is_known_by_its_name_and_may_lack_weights() -> None:
    layer = nn.ModuleDict(
        {"self_attention": OwnWithWeights(), "cross_attention": Own(), "attn": OwnWithWeights()}
    )
    x = torch.randn(1, 2, 4)
    with recorded(layer, nn.Sequential(MultiHeadAttention(4, 2))) as tables:
        for part in layer.values():
            part(x)
    assert [tuple(table.shape) for table in tables] == [(1, 1, 2, 2)]
