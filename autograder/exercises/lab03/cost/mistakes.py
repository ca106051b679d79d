"""Wrong counts and fits that students write."""

from . import exercise
from .also_right import entries_times_bytes, least_squares, two_products

IN_32_BITS = (
    "Your count passes through numbers of 32 bits (float32, int32), which cannot hold large ones. "
    "Python's own whole numbers can be of any size: what converts them?"
)

wrong = exercise.edits(two_products, of="count_multiplications")

wrong(
    "scores_only",
    "(d_k + d_v)",
    "d_k",
    "You count only q kᵀ. Which second product follows the softmax?",
)
wrong(
    "mixing_only",
    "(d_k + d_v)",
    "d_v",
    "You count only the product of weights and values. What is multiplied before the softmax?",
)
wrong(
    "additions_counted",
    "return Lq",
    "return 2 * Lq",
    "Your count includes additions (two operations for each product and sum, as FLOPs are "
    "counted). What does the task leave out?",
)
BOTH = "Lq * Lk * (d_k + d_v)"
for name, count in (
    ("down", "2 * Lq * Lk * ((d_k + d_v) // 2)"),
    ("up", "2 * Lq * Lk * ((d_k + d_v + 1) // 2)"),
    ("each_half_down", "2 * Lq * Lk * (d_k // 2 + d_v // 2)"),
):
    wrong(
        f"mean_rounded_{name}",
        BOTH,
        count,
        "You halve features and round to a whole number (`//` or `int`), so odd numbers lose or "
        "gain a part. Do you need a mean of d_k and d_v to add the two counts?",
    )
wrong(
    "mean_for_a_sum",
    BOTH,
    "Lq * Lk * (d_k + d_v) // 2",
    "Your count is half of the right one, as a mean of the two products is. How many products does "
    "attention compute?",
)
for name, length in (
    ("d_k", "d_k"),
    ("d_v", "d_v"),
    ("longer", "max(d_k, d_v)"),
    ("shorter", "min(d_k, d_v)"),
):
    wrong(
        f"{name}_twice",
        "(d_k + d_v)",
        f"2 * {length}",
        "You count both products with the same number of features. Which of them needs d_k, and "
        "which needs d_v?",
    )
for name, old, new in (
    ("as_many_keys_as_queries", "Lq * Lk", "Lq * Lq"),
    ("as_many_queries_as_keys", "Lq * Lk", "Lk * Lk"),
    ("outputs_for_each_key", BOTH, "Lq * Lk * d_k + Lk * Lk * d_v"),
    ("outputs_for_each_query", BOTH, "Lq * Lk * d_k + Lq * Lq * d_v"),
):
    wrong(
        name,
        old,
        new,
        "There may be more keys than queries, but your count contains the square of one length. "
        "How many rows and how many columns do the scores have?",
    )
wrong(
    "counted_in_float32",
    "Lq * Lk * (d_k + d_v)",
    "int(torch.tensor(float(Lq * Lk * (d_k + d_v)), dtype=torch.float32))",
    IN_32_BITS,
)
wrong(
    "counted_in_floats",
    "return Lq",
    "return 1.0 * Lq",
    "Your count is a float, which holds about 16 digits. Which operation of yours gives a float, "
    "and which one keeps whole numbers?",
)
wrong(
    "one_value_for_each_query",
    "Lq * Lk * (d_k + d_v)",
    "Lq * Lk * d_k + Lq * d_v",
    "Your second product has only one multiplication for each number of the result. Over what does "
    "the sum of weights times values run?",
)
wrong(
    "scale_counted",
    "d_k + d_v",
    "d_k + d_v + 1",
    "Your count includes the scale or the softmax: it is Lq · Lk too large. Which steps does the "
    "task count?",
)
for name, lengths in (
    ("products_multiplied", "d_k * d_v"),
    ("counts_multiplied", "d_k * Lq * Lk * d_v"),
):
    wrong(
        name,
        "(d_k + d_v)",
        lengths,
        "You multiply the counts of the two products. One product comes after the other: what "
        "happens to their costs?",
    )
wrong(
    "one_less_in_each_sum",
    BOTH,
    "Lq * Lk * (d_k - 1) + Lq * d_v * (Lk - 1)",
    "Your count has one less for each number of the results: so many additions make a sum. What "
    "does the task count?",
)
wrong(
    "numbers_counted",
    "Lq * Lk * (d_k + d_v)",
    "Lq * d_k + Lk * d_k + Lk * d_v",
    "You count the numbers in q, k and v, or in the result. How many multiplications make one "
    "number of a matrix product?",
)
wrong(
    "entries_counted",
    "Lq * Lk * (d_k + d_v)",
    "Lq * Lk + Lq * d_v",
    "You count the entries of scores and outputs: one multiplication for each. How many terms does "
    "the sum for one entry have?",
)
for name, count in (
    ("values_meet_keys_first", "(Lq + Lk) * d_k * d_v"),
    ("cheaper_order", "min(Lq * Lk * (d_k + d_v), (Lq + Lk) * d_k * d_v)"),
):
    wrong(
        name,
        BOTH,
        count,
        "You count another order of the two products: keys with values first, at least where that "
        "is cheaper. In which order does the formula of attention need them?",
    )
wrong(
    "projections_counted",
    "(d_k + d_v)",
    "(d_k + d_v) + Lq * d_k**2 + Lk * d_k**2 + Lk * d_v**2",
    "Your count includes the projections (X W_q and so on). Where does attention itself begin?",
)

wrong = exercise.edits(entries_times_bytes, of="weights_memory")

wrong(
    "weights_counted",
    " * dtype.itemsize",
    "",
    "You return the number of weights. How many bytes does one of them take?",
)
wrong(
    "always_four_bytes",
    "dtype.itemsize",
    "4",
    "You count four bytes for a number whose dtype takes another size. What does the third "
    "argument say about that?",
)
wrong(
    "bits",
    "dtype.itemsize",
    "dtype.itemsize * 8",
    "You count bits. How many of them make a byte?",
)
for name, unit in (
    ("kibibytes", "/ 1024"),
    ("whole_kibibytes", "// 1024"),
    ("kilobytes", "/ 1000"),
    ("gigabytes", "/ 10**9"),
):
    wrong(
        name,
        "dtype.itemsize",
        f"dtype.itemsize {unit}",
        "Your unit is not bytes: you divide by 1024, 1000 or a power of it. Which unit does the "
        "task name?",
    )
wrong(
    "table_made",
    "Lq * Lk * dtype.itemsize",
    "torch.zeros(Lq, Lk, dtype=dtype).nbytes",
    "You make the whole table in order to measure it, and a book's table does not fit into memory. "
    "What do you know about its size without making it?",
)
wrong(
    "lengths_added",
    "Lq * Lk",
    "(Lq + Lk)",
    "You add the two lengths. How many rows and how many columns do the weights have?",
)
for name, length in (("square", "Lk"), ("square_of_queries", "Lq")):
    wrong(
        name,
        "Lq * Lk",
        f"{length} * {length}",
        "You compute the memory of a square table. How many rows do the weights have, and how many "
        "columns?",
    )
wrong(
    "bytes_in_float32",
    "Lq * Lk * dtype.itemsize",
    "int(torch.tensor(float(Lq * Lk * dtype.itemsize), dtype=torch.float32))",
    IN_32_BITS,
)

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
