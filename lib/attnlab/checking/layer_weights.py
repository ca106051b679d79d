"""The weights of an encoder layer and of a decoder layer: their shapes, names and torch's layers.

A student's layer is compared with the reference, and with torch's own, on equal weights. The task
names the parts of a layer; the other names that people usually give them are found here. A layer
without `Residual` has its normalisations, and perhaps the two linear layers, itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import torch
from torch import Tensor, nn

from attnlab.checking import torch_attention

Names = str | tuple[str, ...]

_SELF = (
    "self_attention self_attn self_att self_mha attention attn att mha mhsa sa slf_attn "
    "attention1 attn1 mha1 attention_1 attn_1 mha_1 masked_attention masked_attn masked_mha "
    "masked_self_attention masked_self_attn self_attention.attention self_attn.attn"
)
# Names of the only attention of an encoder layer; a decoder layer may mean its second one by them.
_ONLY = "multihead_attn multihead_attention multi_head_attention multi_head_attn multihead"
_CROSS = (
    "cross_attention cross_attn cross_att cross_mha ca encoder_attention encoder_attn enc_attn "
    "encoder_decoder_attention encoder_decoder_attn enc_dec_attention enc_dec_attn encdec_attn "
    "src_attn source_attention source_attn memory_attention memory_attn context_attention "
    "attention2 attn2 mha2 attention_2 attn_2 mha_2 multihead_attn multihead_attention "
    "multi_head_attention"
)
_NETWORK = (
    "feed_forward feedforward feed_fwd feedfwd ff ffn ffw fnn fc mlp pos_ffn pos_ff "
    "positionwise_feed_forward position_wise_feed_forward linear_net network net"
)
_INSIDE = ("", "net.", "network.", "layers.", "mlp.", "linear_net.", "seq.")
_LAYERS = (
    "linear1/linear2 linear_1/linear_2 lin1/lin2 lin_1/lin_2 fc1/fc2 fc_1/fc_2 w_1/w_2 w1/w2 "
    "W_1/W_2 W1/W2 dense1/dense2 dense_1/dense_2 layer1/layer2 layer_1/layer_2 c_fc/c_proj "
    "up/down up_proj/down_proj expand/contract wi/wo fc_in/fc_out inner/outer first/second "
    "ff1/ff2 ff_1/ff_2 ffn1/ffn2 intermediate.dense/output.dense"
)
_IN_A_SEQUENCE = "0/2 0/3 0/1"
_NUMBERED_NORMS = (
    "residual{} residual_{} res{} residuals.{} sublayer{} sublayer_{} sublayer.{} sublayers.{} "
    "addnorm{} addnorm_{} add_norm{} add_norm_{} add_and_norm{} norm{} norm_{} norms.{} ln{} ln_{} "
    "lns.{} layer_norm{} layer_norm_{} layer_norms.{} layernorm{} layernorm_{} connection{}"
)
_INSIDE_A_NORM = ("", "norm.", "ln.", "layer_norm.", "layernorm.", "norm_layer.")
_NORMS_BY_PART = {
    "self": "self_attn self_attention attn attention att self sa slf_attn mha",
    "cross": "cross_attn cross_attention encoder_attn enc_attn enc_dec_attn cross ca src_attn",
    "network": "final ff ffn feed_forward mlp out net feedforward fc",
}
_AROUND_A_PART = "{}_norm {}_layer_norm {}_ln norm_{} ln_{} layer_norm_{} {}_residual residual_{}"
_WORDS = {
    "weight": "weight gamma alpha a_2 scale g gain",
    "bias": "bias beta b_2 shift offset b",
}


def layer_shapes(d_model: int, d_ff: int, *, decoder: bool = False) -> dict[str, tuple[int, ...]]:
    """The shapes of all weights of a layer, by the names in the task.

    Args:
        d_model: features of a vector.
        d_ff: features inside the feed-forward network.
        decoder: whether it is a decoder layer.
    """
    shapes: dict[str, tuple[int, ...]] = {}
    for attention in ("self_attention", "cross_attention")[: 1 + decoder]:
        for layer in ("q_proj", "k_proj", "v_proj", "out_proj"):
            shapes[f"{attention}.{layer}.weight"] = (d_model, d_model)
            shapes[f"{attention}.{layer}.bias"] = (d_model,)
    shapes["feed_forward.linear1.weight"] = (d_ff, d_model)
    shapes["feed_forward.linear1.bias"] = (d_ff,)
    shapes["feed_forward.linear2.weight"] = (d_model, d_ff)
    shapes["feed_forward.linear2.bias"] = (d_model,)
    for number in range(1, 3 + decoder):
        for word in ("weight", "bias"):
            shapes[f"residual{number}.norm.{word}"] = (d_model,)
    return shapes


def layer_spellings(layer: nn.Module, *, decoder: bool = False) -> dict[Names, tuple[str, ...]]:
    """Other names under which this layer may store its weights.

    Args:
        layer: of any class. Only names that can occur in it are returned, because all usual ones
            would be tens of thousands.
        decoder: whether it is a decoder layer.

    Returns:
        For each name in the task (or several, if one tensor stores several weights) the other
        names, in the form that :mod:`attnlab.checking.weights` takes.
    """
    keys = [name for name, _ in layer.named_parameters()]
    if layer_shapes(1, 1, decoder=decoder).keys() <= set(keys):
        return {}
    found: dict[Names, tuple[str, ...]] = {}
    _add_attention(found, "self_attention", _SELF if decoder else f"{_SELF} {_ONLY}", keys)
    if decoder:
        _add_attention(found, "cross_attention", _CROSS, keys)
    for number, linear in enumerate(("linear1", "linear2")):
        for word in ("weight", "bias"):
            names = [f"{name}.{word}" for name in _linear_names(number)]
            found[f"feed_forward.{linear}.{word}"] = _present(names, keys)
    parts = ("self", "cross", "network") if decoder else ("self", "network")
    for number, part in enumerate(parts):
        for kind, words in _WORDS.items():
            names = [
                f"{norm}.{inside}{word}"
                for norm in _norm_names(number, part, keys)
                for inside in _INSIDE_A_NORM
                for word in words.split()
            ]
            found[f"residual{number + 1}.norm.{kind}"] = _present(names, keys)
    return found


def torch_layer(
    weights: Mapping[str, Tensor], num_heads: int, norm: str
) -> nn.TransformerEncoderLayer | nn.TransformerDecoderLayer:
    """torch's own layer with these weights, without dropout and not in training.

    Args:
        weights: all weights of a layer, by the names in the task. If there is a cross-attention,
            it is a decoder layer.
        num_heads: heads of each attention.
        norm: "pre" or "post".

    Returns:
        A layer that takes (B, T, d_model). In its boolean masks, True means forbidden.
    """
    decoder = "cross_attention.q_proj.weight" in weights
    d_ff, d_model = weights["feed_forward.linear1.weight"].shape
    kind = nn.TransformerDecoderLayer if decoder else nn.TransformerEncoderLayer
    layer = kind(
        d_model, num_heads, d_ff, 0.0, batch_first=True, norm_first=norm == "pre",
        dtype=weights["residual1.norm.weight"].dtype,
    )  # fmt: skip
    attentions = {"self_attention": "self_attn"}
    if decoder:
        attentions["cross_attention"] = "multihead_attn"
    state = {}
    for word in ("weight", "bias"):
        for ours, theirs in attentions.items():
            inputs = [weights[f"{ours}.{x}_proj.{word}"] for x in "qkv"]
            state[f"{theirs}.in_proj_{word}"] = torch.cat(inputs)
            state[f"{theirs}.out_proj.{word}"] = weights[f"{ours}.out_proj.{word}"]
        for linear in ("linear1", "linear2"):
            state[f"{linear}.{word}"] = weights[f"feed_forward.{linear}.{word}"]
        for number in range(1, 3 + decoder):
            state[f"norm{number}.{word}"] = weights[f"residual{number}.norm.{word}"]
    layer.load_state_dict(state)
    return layer.eval()


def _add_attention(
    found: dict[Names, tuple[str, ...]], part: str, aliases: str, keys: Iterable[str]
) -> None:
    """Add the names of one attention: those of its own weights behind each name it may have."""
    prefixes = [f"{a}." for a in aliases.split() if any(key.startswith(f"{a}.") for key in keys)]
    for names, others in torch_attention.spellings().items():
        own = (names,) if isinstance(names, str) else names
        ours = tuple(f"{part}.{name}" for name in own)
        known = others if len(own) > 1 else (*own, *others)
        theirs = tuple(prefix + name for prefix in prefixes for name in known)
        found[ours if len(own) > 1 else ours[0]] = theirs


def _linear_names(number: int) -> Iterator[str]:
    """Names of the network's first (0) or second (1) linear layer."""
    pairs = [pair.split("/")[number] for pair in _LAYERS.split()]
    in_a_sequence = [pair.split("/")[number] for pair in _IN_A_SEQUENCE.split()]
    yield from pairs
    for network in _NETWORK.split():
        for inside in _INSIDE:
            yield from (f"{network}.{inside}{name}" for name in (*pairs, *in_a_sequence))


def _norm_names(number: int, part: str, keys: Iterable[str]) -> Iterator[str]:
    """Names of the sublayer's normalisation, or of what it is in; `number` counts from 0."""
    for form in _NUMBERED_NORMS.split():
        from_zero = any(key.startswith(form.format(0) + ".") for key in keys)
        yield form.format(number if from_zero else number + 1)
    for form in _AROUND_A_PART.split():
        yield from (form.format(name) for name in _NORMS_BY_PART[part].split())


def _present(names: Iterable[str], keys: Iterable[str]) -> tuple[str, ...]:
    known = set(keys)
    return tuple(name for name in names if name in known)
