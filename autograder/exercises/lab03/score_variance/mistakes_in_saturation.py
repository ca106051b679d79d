"""Wrong versions of `saturation` that students write."""

from . import exercise
from .also_right import mean_of_largest

# The same two lines in both right versions.
DIVIDE = "scores = scores / math.sqrt(d)"
SCALE = f"    if scaled:\n        {DIVIDE}\n"

wrong = exercise.edits(mean_of_largest, of="saturation")

for name, whole, part in (
    ("mean_weight", ".amax(-1)", ""),
    ("largest_of_means", ".amax(-1).mean()", ".mean(0).max()"),
):
    wrong(
        name,
        whole,
        part,
        "Your result is about one over the number of keys, as a mean of weights of all sizes is. "
        "Which weight of each query should count, before any mean is taken?",
    )
for name, largest in (("largest_of_all", ".max()"), ("largest_of_columns", ".amax(0).mean()")):
    wrong(
        name,
        ".amax(-1).mean()",
        largest,
        "Your largest weight is one over many queries: of all the weights, or of a column. Among "
        "which weights does the task look for the largest?",
    )
wrong(
    "saturation_mean_for_a_sum",
    ".sum(-1)",
    ".mean(-1)",
    "In your `saturation`, scores are means over the numbers of a pair. A dot product does not "
    "divide: what does it do with the d products?",
)
wrong(
    "saturation_products_not_summed",
    "(q * k).sum(-1)",
    "q * k",
    "In your `saturation`, the products of a query's and a key's numbers are not added up, so the "
    "softmax runs over the features. How many products make one score?",
)
wrong(
    "largest_score",
    "weights.amax",
    "scores.amax",
    "You take the largest scores, not the largest weights: scores can be above 1. What turns "
    "scores into weights?",
)
for name, old, new in (
    ("softmax_over_queries", "scores, -1", "scores, 0"),
    ("spread_of_the_largest", ".amax(-1).mean()", ".amax(-1).var()"),
    ("largest_divided_by_n", ".amax(-1).mean()", ".amax() / n"),
):
    wrong(
        name,
        old,
        new,
        "Your `saturation` is almost 0: a softmax over the queries, a division by n that `mean` "
        "has done already, or a variance of weights. Which weights sum to one, and of which "
        "numbers is the mean taken?",
    )
for name, statistic in (
    ("smallest_weight", ".amin(-1).mean()"),
    ("middle_weight", ".median(-1).values.mean()"),
    ("deviation_of_weights", ".std()"),
    ("middle_of_the_largest", ".amax(-1).median()"),
):
    wrong(
        name,
        ".amax(-1).mean()",
        statistic,
        "Your `saturation` is another statistic of the weights: the smallest, the middle one, or "
        "how far they are spread. Which weight of each query does the task ask for, and what is "
        "taken over the queries?",
    )
for name, weights in (
    ("sigmoid_for_softmax", "torch.sigmoid(scores)"),
    ("logarithm_of_weights", "torch.log_softmax(scores, -1)"),
    ("exponentials_not_divided", "scores.exp()"),
    ("absolute_scores_divided", "scores.abs() / scores.abs().sum(-1, keepdim=True)"),
):
    wrong(
        name,
        "torch.softmax(scores, -1)",
        weights,
        "The weights of your `saturation` are no softmax of the scores over a query's keys. Which "
        "function of attention makes weights that are above 0 and sum to one?",
    )
for name, distances in (
    ("distances_for_products", "-(q - k).norm(dim=-1)"),
    ("distances_with_the_wrong_sign", "(q - k).norm(dim=-1)"),
    ("squared_distances_for_products", "-(q - k).pow(2).sum(-1)"),
):
    wrong(
        name,
        "(q * k).sum(-1)",
        distances,
        "The scores of your `saturation` are distances between query and key. Which product of "
        "the two is a score of attention?",
    )
AFTER_SOFTMAX = (
    "With `scaled`, you divide the weights, or their mean, after the softmax, so the weights no "
    "longer sum to 1. Which numbers should be divided, and before which step?"
)
for name, number in (("root_of_d", "math.sqrt(d)"), ("d", "d")):
    wrong.several(
        f"weights_divided_by_{name}",
        {SCALE: "", ".mean()": f".mean() / ({number} if scaled else 1)"},
        AFTER_SOFTMAX,
    )
wrong(
    "saturation_never_scaled",
    SCALE,
    "",
    "`scaled` makes no difference in your `saturation`: the scores are never divided. Where do you "
    "use the argument?",
)
wrong(
    "saturation_unscaled_by_default",
    "scaled=True",
    "scaled=False",
    "If `scaled` is not given, your `saturation` does not divide its scores. Which default does "
    "the task give it?",
)
wrong(
    "saturation_scale_multiplied",
    "/ math",
    "* math",
    "With `scaled`, your `saturation` multiplies the scores. Should they spread more or less than "
    "before?",
)
for name, number in (
    ("saturation_divided_by_eight", "8"),
    ("saturation_divided_by_root_of_keys", "math.sqrt(num_keys)"),
):
    wrong(
        name,
        "math.sqrt(d)",
        number,
        "With `scaled`, your `saturation` divides by a number that does not change with d. Which "
        "argument says how many terms a score has?",
    )
wrong(
    "saturation_divided_by_half_of_d",
    "math.sqrt(d)",
    "(d ** 1 / 2)",
    "The scale of your `saturation` has a 2 in it and no root: `d ** 1/2` is not √d. In which "
    "order does Python compute `**` and `/`?",
)
wrong.several(
    "saturation_of_uniform_numbers",
    {"torch.randn(n, 1": "torch.rand(n, 1", "torch.randn(n, num": "torch.rand(n, num"},
    "In your `saturation`, `torch.rand` spreads numbers evenly from 0 to 1, so all scores are "
    "positive and close together. Which numbers does the task draw?",
)
wrong(
    "saturation_generator_copied",
    "    q = torch",
    "    generator = generator.clone_state()\n    q = torch",
    "`saturation` draws from a copy of the generator (one with the same seed or state), so the "
    "generator itself does not advance. What does the next call with it give?",
)
wrong.several(
    "saturation_seeds_again",
    {"1, d, generator=generator": "1, d, generator=generator.manual_seed(0)"},
    "`saturation` seeds the generator itself, so every call gives the same numbers. Which side "
    "should choose the generator's state, your function or its caller?",
)
wrong(
    "saturation_always_scaled",
    SCALE,
    f"    {DIVIDE}\n",
    "Your `saturation` divides the scores even if `scaled` is False. What should that argument "
    "show?",
)
wrong(
    "saturation_scaled_inverted",
    "if scaled",
    "if not scaled",
    "In your `saturation`, `scaled` has the opposite effect, or another default than in the task. "
    "When are scores divided?",
)
for name, number in (
    ("saturation_scaling_squared", "d"),
    ("saturation_divided_by_d_and_2", "d ** 1 / 2"),
    ("saturation_divided_by_root_of_n", "math.sqrt(n)"),
):
    wrong(
        name,
        "math.sqrt(d)",
        number,
        "You divide the scores of `saturation` by too large a number, such as d itself or twice d. "
        "What brings their standard deviation to 1?",
    )
wrong(
    "keys_shared",
    "n, num_keys, d",
    "num_keys, d",
    "Your queries share their keys, or one query meets all of them, so your number depends on "
    "those few vectors. Which queries and keys does the task draw?",
)
wrong(
    "largest_weights_listed",
    ".mean()",
    "",
    "You return a largest weight for each query: many numbers instead of one. Which step is left?",
)
wrong(
    "largest_weights_summed",
    ".mean()",
    ".sum()",
    "You add up the largest weights of all queries, so your number is above 1. What does the task "
    "ask for, over n queries?",
)
wrong.several(
    "number_of_queries_fixed",
    {"n, 1, d": "1000, 1, d", "n, num_keys, d": "1000, num_keys, d"},
    "`saturation` takes the mean over a fixed number of queries. What does the caller specify with "
    "n?",
)
wrong.several(
    "saturation_global_random_numbers",
    {"1, d, generator=generator": "1, d", "num_keys, d, generator=generator": "num_keys, d"},
    "Not all random numbers of `saturation` come from the given generator. Which argument of "
    "torch's random functions takes it?",
)
