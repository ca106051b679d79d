"""Wrong fits that students write."""

from . import exercise
from .also_right import least_squares

wrong = exercise.edits(least_squares, of="fit_exponent")

LOGARITHMS = "x, y = sizes.log(), costs.log()"
CENTRED = "    x, y = x - x.mean(), y - y.mean()\n"
SLOPE = "return x @ y / (x @ x)"

wrong(
    "no_logarithms",
    LOGARITHMS,
    "x, y = sizes, costs",
    "You fit a line to sizes and costs as they are. What must be done to both axes so that a power "
    "becomes a straight line?",
)
wrong(
    "logarithm_of_costs_only",
    "sizes.log()",
    "sizes",
    "You take the logarithm of the costs only: there, a straight line is an exponential, not a "
    "power. What about the other axis?",
)
wrong(
    "through_the_origin",
    CENTRED,
    "",
    "Your line must go through (1, 1), which leaves no room for a constant in front of the power. "
    "What must be subtracted on both axes before you multiply and add?",
)
wrong(
    "ratio_of_logarithms",
    f"{CENTRED}    {SLOPE}",
    "    return (y / x).mean()",
    "You divide log cost by log size. That is the exponent only if the constant is 1. What does a "
    "constant do to the line in the plot?",
)
LOGARITHMS = "x, y = sizes.log(), costs.log()"
wrong(
    "logarithms_of_one_more",
    LOGARITHMS,
    "x, y = sizes.log1p(), costs.log1p()",
    "You take the logarithm of one more (`log1p`). Is log(1 + n²) a straight line over log(1 + n)?",
)
wrong(
    "ends_only",
    SLOPE,
    "return (y[-1] - y[0]) / (x[-1] - x[0])",
    "Two points make your line, the first and the last. What do the points between them say?",
)
wrong(
    "mean_of_slopes",
    SLOPE,
    "return (y.diff() / x.diff()).mean()",
    "You take the mean of the slopes between neighbours. Neighbours that are close together then "
    "count as much as distant ones: is that the line of least squares?",
)
wrong(
    "doubling_taken_for_granted",
    SLOPE,
    "return costs.log2().diff().mean()",
    "You assume that each size is twice the one before. What do the sizes say?",
)
wrong(
    "axes_exchanged",
    LOGARITHMS,
    "x, y = costs.log(), sizes.log()",
    "The axes are swapped: your slope says how the size grows with the cost. Which of the two "
    "depends on the other?",
)
for name, centred in (("", "    x = x - x.mean()\n"), ("_not_centred", "")):
    wrong.several(
        f"divided_by_squares_of_costs{name}",
        {CENTRED: centred, SLOPE: "return x @ y / (y @ y)"},
        "You divide by the sum of squares of the log costs. Which of the two axes is below the "
        "fraction line in a slope?",
    )
wrong(
    "costs_centred_only",
    CENTRED,
    "    y = y - y.mean()\n",
    "Only the log costs have lost their mean in your slope. Which of its two sums changes if the "
    "log sizes lose theirs, too?",
)
wrong(
    "upside_down",
    SLOPE,
    "return (x @ x) / (x @ y)",
    "Your fraction is upside down. How does the slope change if all log costs are twice as far "
    "apart?",
)
wrong(
    "intercept_returned",
    SLOPE,
    "return costs.log().mean() - x @ y / (x @ x) * sizes.log().mean()",
    "You return the other number of the fitted line, its intercept. In which order does your "
    "function return slope and intercept?",
)
wrong(
    "correlation",
    "(x @ x)",
    "(x.norm() * y.norm())",
    "You return a correlation: it says how close the points are to a line, not how steep it is. By "
    "what is the covariance divided for a slope?",
)
for name, slope in (
    ("over_a_deviation", "(x * y).mean() / x.std(correction=0)"),
    ("over_a_sample_deviation", "(x * y).sum() / (len(x) - 1) / x.std()"),
    ("over_a_length", "x @ y / x.norm()"),
):
    wrong(
        name,
        SLOPE,
        f"return {slope}",
        "You divide by the standard deviation of the log sizes, or by the length of their vector. "
        "By what is the covariance divided for a slope?",
    )
for name, ratio in (("of_samples", "y.std() / x.std()"), ("of_lengths", "y.norm() / x.norm()")):
    wrong(
        f"ratio_of_deviations_{name}",
        SLOPE,
        f"return {ratio}",
        "You divide one spread by the other. That is the slope only if all points are on a rising "
        "line. Which sum tells whether the two logarithms rise together?",
    )
wrong(
    "line_through_exchanged_axes",
    SLOPE,
    "return (y @ y) / (x @ y)",
    "You fit the sizes to the costs and invert the slope. That is another line if the points are "
    "not exactly on one. Along which axis does the line of least squares measure the errors?",
)
wrong(
    "biased_over_unbiased",
    SLOPE,
    "return (x * y).mean() / x.var()",
    "Covariance and variance are divided by different numbers (n - 1 and n): torch's `var` and "
    "your mean of products do not fit together. Which n does each of them use?",
)
wrong(
    "rounded_exponent",
    SLOPE,
    "return (x @ y / (x @ x)).round()",
    "You round the exponent to a whole number. Must it be one?",
)
wrong(
    "always_2",
    SLOPE,
    "return torch.tensor(2.0, dtype=torch.float64)",
    "Your answer is 2, whatever the points. What would it be for the projections?",
)
for name, x, y in (
    ("log2_and_log10", "log2", "log10"),
    ("log_and_log10", "log", "log10"),
    ("log2_and_log", "log2", "log"),
    ("log10_and_log", "log10", "log"),
):
    wrong(
        name,
        LOGARITHMS,
        f"x, y = sizes.{x}(), costs.{y}()",
        "The logarithms of sizes and costs have different bases, so your slope is off by a factor. "
        "What should the two axes have in common?",
    )
wrong.several(
    "centred_before_the_logarithms",
    {LOGARITHMS: "x, y = (sizes / sizes.mean()).log(), (costs / costs.mean()).log()", CENTRED: ""},
    "You take the mean of the numbers, not of their logarithms, so the line goes through a wrong "
    "point. Of what are x and y the logarithms when their means count?",
)
for name, logarithms in (
    ("inputs_changed", "x, y = sizes.log_(), costs.log_()"),
    ("sizes_changed", "x, y = sizes.log_(), costs.log()"),
    ("costs_changed", "x, y = sizes.log(), costs.log_()"),
):
    wrong(
        name,
        LOGARITHMS,
        logarithms,
        "Your code writes the logarithms into the tensors that it was given, so the caller's "
        "numbers are lost. Which call of yours changes a tensor in place?",
    )
