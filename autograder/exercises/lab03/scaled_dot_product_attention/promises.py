"""Which check holds each sentence of the task."""

from . import exercise

exercise.promises(
    {
        "Each query takes the mean of all values, weighted by how well their keys match": (
            "values a_mean_of_values"
        ),
        "The weights are softmax(q kᵀ / √d_k), one row for each query, one column for each key.": (
            "hand_example values"
        ),
        "A forbidden key has no effect: its weight is exactly 0": (
            "masks a_forbidden_key_fits_best forbidden_keys_have_no_influence"
        ),
        "A query that may attend to no key gets zeros, in its output and in its weights.": (
            "nothing_to_attend_to"
        ),
        "q: (..., Lq, d_k), queries.": "values other_sizes",
        "k: (..., Lk, d_k), keys": "values other_sizes",
        "v: (..., Lk, d_v), values.": "values other_sizes",
        "mask: boolean, True where the query may attend to the key": "masks masks_that_broadcast",
        "None: every query may attend to every key.": "values",
        "The outputs (..., Lq, d_v) and the weights (..., Lq, Lk), both in the dtype of `q`.": (
            "shape_and_dtype other_sizes"
        ),
        "The same inputs give the same result each time.": "again",
        "Scores in the millions are safe": "forbidden_keys_have_no_influence",
        "Gradients flow back to q, k and v and are finite, even if a query may attend to no key; "
        "the inputs stay unchanged.": ("gradients nothing_to_attend_to no_keys_at_all inputs_kept"),
        "Lk may be 0.": "no_keys_at_all",
    },
    explained=[
        "(torch's function of this name returns the outputs alone, and calls the mask",
        "All three have one floating dtype.",
    ],
)
