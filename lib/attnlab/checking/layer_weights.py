"""The weights of an encoder layer and of a decoder layer: their shapes, names and torch's layers.

A student's layer is compared with the reference, and with torch's own, on equal weights. The task
names the parts of a layer; the other names that people usually give them are found here. A layer
without `Residual` has its normalisations, and perhaps the two linear layers and an encoder's
projections, itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, lru_cache

import torch
from torch import Tensor, nn

from attnlab.checking import torch_attention
from attnlab.checking.row_orders import with_row_orders
from attnlab.checking.weights import MissingWeightError, Spellings, give_weights

Names = str | tuple[str, ...]

_SELF = (
    "self_attention self_attn self_att self_mha attention attn att mha mhsa sa slf_attn "
    "attention1 attn1 mha1 attention_1 attn_1 mha_1 masked_attention masked_attn masked_mha "
    "masked_self_attention masked_self_attn causal_attention causal_self_attention causal_attn"
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
# The part itself may be inside a module of such a name.
_INSIDE_AN_ATTENTION = (".mha", ".attention", ".attn", ".self", ".fn", ".sublayer")
_INSIDE_A_NETWORK = (".net", ".network", ".layers", ".mlp", ".linear_net", ".seq", ".ffn", ".fn")
_INSIDE_A_NORM = (".norm", ".ln", ".layer_norm", ".layernorm", ".norm_layer")
_LAYERS = (
    "linear1/linear2 linear_1/linear_2 lin1/lin2 lin_1/lin_2 fc1/fc2 fc_1/fc_2 w_1/w_2 w1/w2 "
    "W_1/W_2 W1/W2 dense1/dense2 dense_1/dense_2 layer1/layer2 layer_1/layer_2 c_fc/c_proj "
    "up/down up_proj/down_proj expand/contract wi/wo fc_in/fc_out inner/outer first/second "
    "ff1/ff2 ff_1/ff_2 ffn1/ffn2 intermediate/output intermediate.dense/output.dense"
)
_IN_A_SEQUENCE = "0/2 0/3 0/1"
_NUMBERED_NORMS = (
    "residual{} residual_{} res{} residuals.{} sublayer{} sublayer_{} sublayer.{} sublayers.{} "
    "addnorm{} addnorm_{} add_norm{} add_norm_{} add_and_norm{} norm{} norm_{} norms.{} ln{} ln_{} "
    "lns.{} layer_norm{} layer_norm_{} layer_norms.{} layernorm{} layernorm_{} connection{}"
)
_NORMS_BY_PART = (
    "{}_norm {}_layer_norm {}_layernorm {}_ln norm_{} ln_{} layer_norm_{} layernorm_{} "
    "{}_residual residual_{} {}_addnorm addnorm_{} {}_connection {}_sublayer {}"
)
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


def layer_spellings(layer: nn.Module, *, decoder: bool = False) -> Spellings:
    """Other names under which this layer may store its weights.

    Args:
        layer: of any class. Only names of its parameters are returned, because all usual ones would
            be tens of thousands.
        decoder: whether it is a decoder layer.

    Returns:
        For each name in the task (or several, if one tensor stores several weights) the other
        names, in the form that :mod:`attnlab.checking.weights` takes. If one tensor stores queries,
        keys and values, the layer is run to find the order of its rows.
    """
    keys = [name for name, _ in layer.named_parameters()]
    if layer_shapes(1, 1, decoder=decoder).keys() <= set(keys):
        return {}
    shapes = {n: tuple(p.shape) for n, p in layer.named_parameters(remove_duplicate=False)}
    modules = {name: is_norm(module) for name, module in layer.named_modules()}
    stored = _stored(tuple(shapes.items()), tuple(modules.items()), decoder)
    return with_row_orders(layer, stored, 1 + decoder)


@lru_cache(maxsize=64)  # one check may fill a hundred layers that differ only in their numbers
def _stored(
    shapes: tuple[tuple[str, tuple[int, ...]], ...],
    modules: tuple[tuple[str, bool], ...],
    decoder: bool,
) -> Spellings:
    """The other names under which a layer stores its weights, by names and shapes alone.

    Args:
        shapes: the name and the shape of each of its parameters.
        modules: the name of each of its modules, and whether it is a normalisation; in order.
        decoder: whether it is a decoder layer.
    """
    tensors, names_of_modules = dict(shapes), {name for name, _ in modules}
    found: dict[Names, tuple[str, ...]] = {}
    own = _SELF if decoder else f"{_SELF} {_ONLY}"
    # The projections of an encoder layer may also be its own, next to its linear layers.
    _add_attention(found, "self_attention", own, names_of_modules, alone=not decoder)
    if decoder:
        _add_attention(found, "cross_attention", _CROSS, names_of_modules)
    projection = _square(tensors, found["self_attention.out_proj.weight"])
    for number, linear in enumerate(("linear1", "linear2")):
        there = names_of_modules - {projection}
        names = [name for name in _linear_names(number) if name in there]
        for word in ("weight", "bias"):
            found[f"feed_forward.{linear}.{word}"] = tuple(f"{name}.{word}" for name in names)
    parts = (f"{own} self before", f"{_CROSS} cross", f"{_NETWORK} final out after")
    for number, names in enumerate(_norms(dict(modules), parts if decoder else parts[::2])):
        for kind, words in _WORDS.items():
            found[f"residual{number + 1}.norm.{kind}"] = tuple(
                f"{name}.{word}" for name in names for word in words.split()
            )
    return {
        names: tuple(other for other in others if other.format(i=0) in tensors)
        for names, others in found.items()
    }


def _square(tensors: Mapping[str, tuple[int, ...]], names: Sequence[str]) -> str:
    """The module of the first of these weights that is there and is square; empty if none is.

    Beside an attention's own `c_proj`, a network's second layer has another name: both have a bias
    of d_model numbers, so the shape of the bias tells nothing.
    """
    there = (name for name in names if name in tensors and len(tensors[name]) == 2)
    found = next((name for name in there if len(set(tensors[name])) == 1), "")
    return found.rpartition(".")[0]


def is_norm(module: nn.Module) -> bool:
    """Whether a module has two vectors of the same length itself, and no matrix."""
    own = [tuple(parameter.shape) for parameter in module.parameters(recurse=False)]
    return len(own) == 2 and len(own[0]) == 1 and own[0] == own[1]


def fill_layer(layer: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Give a layer these weights; all other parameters become 0.

    Args:
        layer: of any class.
        weights: by the names in the task. If there is a cross-attention, it is a decoder layer.

    Raises:
        MissingWeightError: the layer lacks one of them. If it also has fewer numbers in all, the
            message says so, because then a part is missing, or one serves twice.
    """
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.zero_()
    spellings = layer_spellings(layer, decoder="cross_attention.q_proj.weight" in weights)
    try:
        give_weights(layer, weights, spellings)
    except MissingWeightError as error:
        found = sum(parameter.numel() for parameter in layer.parameters())
        needed = sum(weight.numel() for weight in weights.values())
        if found < needed:
            raise MissingWeightError(
                f"the layer has {found} numbers in all its parameters, its parts need {needed}"
            ) from error
        raise


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
    found: dict[Names, tuple[str, ...]],
    part: str,
    aliases: str,
    modules: Collection[str],
    *,
    alone: bool = False,
) -> None:
    """Add the names of one attention: those of its own weights behind each name it may have.

    `alone`: also without any name before them.
    """
    prefixes = [
        f"{alias}{inside}."
        for alias in aliases.split()
        for inside in ("", *_INSIDE_AN_ATTENTION)
        if f"{alias}{inside}" in modules
    ]
    prefixes += [""] if alone else []
    for names, others in torch_attention.spellings().items():
        own = (names,) if isinstance(names, str) else names
        ours = tuple(f"{part}.{name}" for name in own)
        known = others if len(own) > 1 else (*own, *others)
        theirs = tuple(prefix + name for prefix in prefixes for name in known)
        found[ours if len(own) > 1 else ours[0]] = theirs


@cache
def _linear_names(number: int) -> tuple[str, ...]:
    """Names of the network's first (0) or second (1) linear layer."""
    alone = [pair.split("/")[number] for pair in _LAYERS.split()]
    in_a_network = [*alone, *(pair.split("/")[number] for pair in _IN_A_SEQUENCE.split())]
    networks = [f"{a}{b}" for a in _NETWORK.split() for b in ("", *_INSIDE_A_NETWORK)]
    return (*alone, *(f"{network}.{name}" for network in networks for name in in_a_network))


def _norms(modules: Mapping[str, bool], parts: Sequence[str]) -> list[list[str]]:
    """The names of each sublayer's normalisation.

    If there are as many normalisations as sublayers, those whose names say nothing are taken in the
    order in which the layer registers them.

    Args:
        modules: the name of each module, and whether it is a normalisation; in order.
        parts: names of each sublayer.
    """
    named = [
        [
            f"{norm}{inside}"
            for norm in _norm_names(number, part, modules)
            for inside in ("", *_INSIDE_A_NORM)
            if f"{norm}{inside}" in modules
        ]
        for number, part in enumerate(parts)
    ]
    inside = [name for name, is_one in modules.items() if is_one]
    known = [next((name for name in names if name in inside), None) for names in named]
    others = iter([name for name in inside if name not in known])
    if len(inside) != len(parts) or len({*known} - {None}) < len(known) - known.count(None):
        return named
    return [[next(others)] if name is None else [name] for name in known]


def _norm_names(number: int, part: str, modules: Collection[str]) -> Iterator[str]:
    """Names of a sublayer's normalisation, or of what it is in; `number` counts from 0."""
    for form in _NUMBERED_NORMS.split():
        from_zero = form.format(0) in modules
        yield form.format(number if from_zero else number + 1)
    for form in _NORMS_BY_PART.split():
        yield from (form.format(name) for name in part.split())
