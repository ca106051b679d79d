"""Which check holds each sentence of the three tasks."""

from . import exercise

exercise.promises(
    {
        "N: how many numbers of a model are trained.": "every_parameter_once",
        "Embeddings and positions count, a table that is used twice counts once, and buffers do "
        "not count; nor do parameters that take no gradient.": "every_parameter_once",
        "model: it stays unchanged.": "every_parameter_once",
        "The loss that a power law predicts: floor + A · n^(-alpha).": (
            "the_formula without_the_floor"
        ),
        "n: (K,), numbers of parameters, whole or not.": "the_formula",
        "(K,), float64.": "the_formula",
        "so that floor + A · n^(-alpha) is close to the losses": "exact_points",
        "Its height and slope are those with the least sum of squared distances between "
        "logarithms.": "points_beside_a_line",
        "On points of an exact power law, A and alpha are exact.": "exact_points",
        "numbers of parameters, whole or not, above 0; at least two different ones": (
            "other_kinds refused"
        ),
        "it may have any floating dtype, and the fit is made in float64": "other_kinds",
        "floor: the loss that no model can go below": "exact_points without_the_floor",
        "A and alpha, two Python numbers; alpha is above 0 if the loss falls.": (
            "other_kinds exact_points"
        ),
        "ValueError: a loss is not above the floor; or there are fewer than two different n.": (
            "refused"
        ),
    },
    explained=[
        "A: how far above the floor the loss is at n = 1.",
        "alpha: how fast it falls.",
        "floor: the loss of an infinitely large model.",
        "log(loss - floor) is a straight line in log n.",
    ],
)
