"""Which checks hold each sentence of the task."""

from __future__ import annotations

from . import exercise

exercise.promises(
    {
        "Attend with h heads, each with its own projections, and mix their outputs. Each head "
        "projects queries, keys and values for itself and runs scaled dot-product attention on "
        "them.": "self_attention cross_attention one_head",
        "The heads' outputs, one after the other, go through one last projection.": (
            "self_attention"
        ),
        "Call the four `nn.Linear` layers: q_proj, k_proj d_model → h · d_k (rows i·d_k … "
        "(i+1)·d_k - 1 belong to head i) v_proj d_model → h · d_v out_proj h · d_v → d_model": (
            "parameters self_attention"
        ),
        "Other usual names are accepted, and so are one fused layer, raw `nn.Parameter`s and "
        "layers for each head.": "self_attention",
        "The attributes `num_heads`, `d_k` and `d_v` are the numbers that the layer uses.": (
            "attributes"
        ),
        "d_k: features of one head's queries and keys; None: d_model / h. d_v: features of one "
        "head's values; None: d_model / h.": "parameters attributes",
        "bias: whether the four layers have a bias.": "parameters without_bias",
        "dropout: the probability that an attention weight is dropped in training (the others "
        "are multiplied by 1 / (1 - dropout), as in `nn.Dropout`); nothing else is dropped.": (
            "dropout_in_training dropout_of_weights no_dropout_unless_training"
        ),
        "ValueError: d_k or d_v is None, and h does not divide d_model.": (
            "refuses_sizes sizes_that_do_not_fit"
        ),
        "mask: boolean, True where a query may attend to a key; of any shape that broadcasts "
        "to (B, h, Lq, Lk), such as (Lq, Lk), (B, 1, Lq, Lk) or (B, 1, 1, Lk).": (
            "looking_back one_mask_for_all mask_of_each_head masks_of_their_own"
        ),
        "Three axes are (h, Lq, Lk): a mask for each sentence needs the axis": (
            "mask_of_each_head masks_of_their_own"
        ),
        "A query that may attend to no key gets zeros from its heads.": "one_mask_for_all",
        "None: all may attend to all.": "one_mask_for_all cross_attention",
        "need_weights: whether to return the attention weights, too.": "shapes_and_dtype",
        "The output, (B, Lq, d_model), alone; with `need_weights` the pair of the output and "
        "the weights of each head, (B, h, Lq, Lk)": "shapes_and_dtype other_sizes cross_attention",
        ", before dropout.": "weights_before_dropout",
        "Gradients flow back to the inputs and to all parameters; the inputs stay unchanged.": (
            "way_back gradients inputs_kept"
        ),
    },
    explained=[
        "d_model: features of the inputs and of the output.",
        "num_heads: h, the number of heads, 1 or more.",
        "torch's nn.MultiheadAttention differs in four ways",
        "Attend with every head.",
        "q: (B, Lq, d_model), the input that is projected to queries. k: (B, Lk, d_model), the "
        "input that is projected to keys. v: (B, Lk, d_model), the input that is projected to "
        "values.",
    ],
)
