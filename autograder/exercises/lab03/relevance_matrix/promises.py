"""Which check holds each sentence of the task."""

from . import exercise

exercise.promises(
    {
        "How relevant word j is to word i: query of i · key of j": "values in_proportion",
        "These are the scores of attention before the scale and before the softmax.": "values",
        "If queries and keys have different matrices": "symmetry",
        "X: (..., T, d_model), one vector for each of T words.": "batches_and_sizes",
        "W_q: (d_model, d_k), the matrix for queries, as in `qkv`.": "values batches_and_sizes",
        "W_k: (d_model, d_k), the matrix for keys.": "values batches_and_sizes",
        "in the dtype of `X`: entry (i, j) is query i · key j.": "shape_and_dtype values symmetry",
        "Not divided by √d_k, no softmax.": "values",
        "Gradients flow back to all three inputs, and the inputs stay unchanged.": (
            "way_back gradients_and_inputs"
        ),
    }
)
