"""Which check holds each sentence of the two tasks."""

from . import exercise

exercise.promises(
    {
        "How widely the scores q · k of random queries and keys are spread: their variance. "
        "Queries and keys consist of independent standard normal numbers. "
        "d: the number of features of a query (and of a key). n: the number of pairs": (
            "standard_deviation n_pairs"
        ),
        "each pair gives one score. generator: the source of all random numbers: equal generators "
        "give equal results.": "equal_generators generators",
        "equal results. scaled: whether each score is divided by √d, as attention does. The "
        "variance": "scaled_scores standard_deviation",
        "n: the number of pairs of a query and its own key; each pair gives one score.": "n_pairs",
        "The variance of the n scores: a tensor without dimensions, or a Python number. The "
        "squares may be those of distances from the scores' own mean, or from 0, the mean of all "
        "such scores; n or n - 1 stands below their sum.": "standard_deviation n_pairs",
        "How much of the attention goes to one key: the largest weight of a query, on average. "
        "Queries and keys consist of independent standard normal numbers. A query's": (
            "unscaled_saturation scaled_saturation"
        ),
        "d: the number of features of a query (and of a key). num_keys": "unscaled_saturation",
        "the mean. generator: the source of all random numbers: equal generators give equal "
        "results. scaled: whether each score is divided by √d, as attention does. The mean": (
            "generators unscaled_saturation scaled_saturation"
        ),
        "A query's weights are the softmax of its scores with `num_keys` keys.": (
            "unscaled_saturation scaled_saturation n_queries"
        ),
        "num_keys: the number of keys for each query; each query has its own keys.": (
            "scaled_saturation keys_of_their_own"
        ),
        "n: the number of queries in the mean.": "n_queries keys_of_their_own",
        "The mean over n queries of the largest of their weights: a tensor without dimensions, or "
        "a Python number.": "scaled_saturation n_queries",
    },
    explained=[
        "Near 1 the softmax is saturated: one key gets all the weight, and the gradients are "
        "almost 0.",
    ],
)
