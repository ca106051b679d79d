"""Which check holds each sentence of the three tasks."""

from . import exercise

exercise.promises(
    {
        "The number of multiplications of two numbers in attention's two matrix products.": (
            "multiplications"
        ),
        "The projections, the scale, the softmax and all additions do not count. "
        "Lq: the number of queries. Lk: the number of keys. d_k": "multiplications",
        "d_k: the number of features of a query.": "multiplications",
        "d_v: the number of features of a value.": "multiplications",
        "The number of multiplications, a whole number, exact.": "large_and_random_sizes",
        "The number of bytes of the weights of one attention. "
        "Lq: the number of queries. Lk: the number of keys. dtype": "memory",
        "dtype: the dtype of the weights, such as torch.float32.": "memory",
        "The number of bytes of the tensor of all weights, a whole number, exact.": (
            "large_and_random_sizes memory"
        ),
        "The p for which costs ≈ constant × sizes^p fits best.": "exact_laws",
        "Best means: the line of least squares through all the points (log size, log cost).": (
            "points_off_the_line"
        ),
        "sizes: (n,), floating point, numbers above 0, not all equal.": (
            "exact_laws points_off_the_line"
        ),
        "costs: (n,), floating point, numbers above 0: the cost of each size.": (
            "exact_laws points_off_the_line"
        ),
        "The slope of that line: a tensor without dimensions, or a Python number.": "exact_laws",
        "Both inputs stay unchanged.": "inputs_kept",
    },
    explained=[
        "The products are q kᵀ and weights v, as written in the formula.",
        "In a picture with logarithmic axes such a law is a straight line, and p is its slope.",
    ],
)
