"""Which check holds each sentence of the task."""

from . import exercise

exercise.promises(
    {
        "The output of one query, computed key by key: Σ_j weight_j · value_j.": (
            "values hand_example a_mean_of_values"
        ),
        "weight_j is entry j of softmax over all keys of (q · K[j]) / √d_k.": "hand_example values",
        "q: (d_k,), one query.": "values other_sizes",
        "K: (Lk, d_k), the keys.": "values other_sizes",
        "V: (Lk, d_v), the values, one for each key.": "values other_sizes",
        "(d_v,), the weighted mean of the values, in the dtype of `V`.": (
            "shape_and_dtype other_sizes"
        ),
        "Scores in the thousands are safe": "large_scores",
        "gradients flow back to all three inputs, and the inputs stay unchanged": (
            "way_back gradients inputs_kept"
        ),
    }
)
