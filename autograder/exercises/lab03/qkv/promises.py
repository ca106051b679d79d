"""Which check holds each sentence of the task."""

from . import exercise

exercise.promises(
    {
        "Give every word its query, its key and its value": "one_sentence a_batch other_sizes",
        "A word is a row of X, and it is multiplied by the matrices from the right": "one_sentence",
        "There is no bias and no scale.": "nothing_is_added one_sentence",
        "(..., T, d_model), one vector for each of T words": "a_batch other_sizes",
        "W_q: (d_model, d_k), the matrix for queries.": "one_sentence other_sizes",
        "W_k: (d_model, d_k), the matrix for keys.": "one_sentence other_sizes",
        "W_v: (d_model, d_v), the matrix for values.": "one_sentence other_sizes",
        "The queries (..., T, d_k), the keys (..., T, d_k) and the values (..., T, d_v), in this "
        "order": "shape_and_dtype one_sentence",
        "in the dtype of the inputs": "shape_and_dtype",
        "Gradients flow back to all four inputs, and the inputs stay unchanged.": (
            "way_back gradients_and_inputs"
        ),
    }
)
