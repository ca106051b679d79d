"""Which checks hold each sentence of the task."""

from __future__ import annotations

from . import exercise

exercise.promises(
    {
        "Stack three projections into one, so that one matrix product can replace three.": (
            "queries_keys_values"
        ),
        "The weights have the layout of `nn.Linear`, (out, in): a projection is x Wᵀ + b.": (
            "queries_keys_values same_as_three"
        ),
        "W_v: (d_v, d_model), the weight for values; the three may differ in their number of "
        "rows.": "queries_keys_values",
        "b_q: (d_q,), the bias for queries; None: no bias, even if the others have one (some "
        "models have no bias for keys).": "one_bias_missing some_biases",
        "b_k: (d_k,) or None, the bias for keys. b_v: (d_v,) or None, the bias for values.": (
            "some_biases"
        ),
        "The fused weight, (d_q + d_k + d_v, d_model), and the fused bias, (d_q + d_k + d_v,), "
        "or None if all three are None. The order is queries, keys, values.": (
            "queries_keys_values shapes_and_dtype"
        ),
        "In the dtype of the weights; gradients flow back to all arguments, and the arguments "
        "stay unchanged.": "shapes_and_dtype one_bias_missing way_back gradients_and_input",
        "Compute queries, keys and values with the projection of `fuse_qkv`: one matrix "
        "product.": "same_as_three one_product",
        "x: (..., T, d_model), the inputs.": "any_axes",
        "q (..., T, d_q), k (..., T, d_k) and v (..., T, d_v).": "widths same_as_three any_axes",
        "Gradients flow back to `x`, `W` and `b`.": "way_back gradients_and_input",
    },
    explained=[
        "W_q: (d_q, d_model), the weight for queries. W_k: (d_k, d_model), the weight for keys.",
        "W: (d_q + d_k + d_v, d_model), the fused weight: queries, keys, values. b: (d_q + d_k "
        "+ d_v,), the fused bias, or None. sizes: (d_q, d_k, d_v), the number of rows of `W` "
        "for queries, keys and values.",
    ],
)
