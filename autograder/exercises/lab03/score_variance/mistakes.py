"""Wrong versions of `score_variance` that students write; those of `saturation` are beside them."""

from .also_right import variance_of_pairs
from .mistakes_in_saturation import DIVIDE, SCALE, exercise

wrong = exercise.edits(variance_of_pairs, of="score_variance")

DRAW = "torch.randn(2, n, d, generator=generator)"
DOT = "(q * k).sum(-1)"
RETURN = "return scores.var()"

wrong(
    "standard_deviation_returned",
    ".var()",
    ".std()",
    "You return the standard deviation (or a root of it). Which number does the first line of the "
    "task ask for?",
)
wrong(
    "squares_summed",
    "scores.var()",
    "(scores - scores.mean()).square().sum()",
    "Your number grows with the number of pairs: you add up squares. Which step turns a sum of "
    "squares into a variance?",
)
wrong(
    "variance_divided_by_n",
    ".var()",
    ".var() / n",
    "Your number is near 0, and smaller still if n grows: a division by n that `var` has done "
    "already, or the variance of other numbers than the scores. Which numbers are your n scores?",
)
wrong(
    "distances_not_squared",
    "scores.var()",
    "(scores - scores.mean()).abs().mean()",
    "You return how far scores are from their mean on average. A variance is the mean of what?",
)
for name, statistic in (("length_of_the_scores", ".norm()"), ("largest_score_returned", ".amax()")):
    wrong(
        name,
        ".var()",
        statistic,
        "You return the largest score, or the length of the vector of scores. Which statistic of "
        "the scores does the task ask for?",
    )
wrong(
    "one_score_of_all_pairs",
    DOT,
    "(q * k).sum()",
    "You add up the products of all pairs to a single score, and the variance of one number is "
    "NaN. Over which axis does a dot product sum?",
)
wrong(
    "same_query_and_key",
    "q * k",
    "q * q",
    "Query and key are the same vector (two generators with one seed cause that, too): then q · k "
    "is a sum of squares and never negative. Where does the key come from?",
)
wrong(
    "sum_of_query_and_key",
    "q * k",
    "q + k",
    "Your scores add query and key. Which operation joins their numbers in q · k, before the sum?",
)
wrong(
    "scaling_squared",
    "math.sqrt(d)",
    "d",
    "With `scaled`, you divide the scores by d. What does that do to their variance, if dividing "
    "by √d should make it 1?",
)
for name, number in (("divided_by_eight", "8"), ("divided_by_root_of_n", "math.sqrt(n)")):
    wrong(
        name,
        "math.sqrt(d)",
        number,
        "With `scaled`, you divide by a number that does not change with d. Which argument says "
        "how many terms a score has?",
    )
for name, scale in (("half_of_d", "(d ** 1 / 2)"), ("d_and_2", "d ** 1 / 2")):
    wrong(
        f"divided_by_{name}",
        "math.sqrt(d)",
        scale,
        "Your scale has a 2 in it and no root: `d ** 1/2` is not √d. In which order does Python "
        "compute `**` and `/`?",
    )
wrong(
    "variance_scaled",
    DIVIDE,
    f"{RETURN} / math.sqrt(d)",
    "With `scaled`, you divide the variance by √d. If you divide scores by a number, by what is "
    "their variance divided?",
)
wrong(
    "scale_multiplied",
    "/ math",
    "* math",
    "With `scaled`, you multiply the scores. Should they spread more or less than before?",
)
wrong(
    "never_scaled",
    SCALE,
    "",
    "`scaled` makes no difference in your version: the scores are never divided. Where do you use "
    "the argument?",
)
wrong(
    "always_scaled",
    SCALE,
    f"    {DIVIDE}\n",
    "Your number is that of scores that are always divided by √d, or of single products q_i · k_i. "
    "What is the default of `scaled`, and how many products make one score?",
)
wrong(
    "scaled_by_default",
    "scaled=False",
    "scaled=True",
    "If `scaled` is not given, your scores are divided. Which default does the task give it?",
)
wrong(
    "scaled_inverted",
    "if scaled",
    "if not scaled",
    "`scaled` has the opposite effect in your version. When are scores divided?",
)
wrong(
    "theory_returned",
    RETURN,
    "return torch.tensor(1.0 if scaled else float(d))",
    "Your result is known in advance: it does not depend on any random number. The task asks for "
    "the variance of scores that were drawn. Which n scores are those?",
)
wrong(
    "mean_returned",
    ".var()",
    ".mean()",
    "You return the mean of the scores, which is about 0. How far from it are they?",
)
wrong(
    "queries_as_keys",
    "q * k",
    "q * q.roll(1, 0)",
    "Your keys are the queries in another order, so some scores appear twice. Where should each "
    "pair's key come from?",
)
wrong(
    "plus_or_minus_1",
    DRAW,
    "2.0 * torch.randint(0, 2, (2, n, d), generator=generator) - 1",
    "Your numbers have the right mean and variance but are not normal: too few of them are far "
    "from 0 (+1 and -1, or evenly spread ones). Which call makes standard normal ones?",
)
wrong(
    "generator_copied",
    "q, k =",
    "generator = generator.clone_state()\n    q, k =",
    "You draw from a copy of the generator (one with the same seed or state), so the generator "
    "itself does not advance, and the next call gives the same numbers again. Which of the two "
    "should advance?",
)
wrong(
    "one_number_in_a_list",
    ".var()",
    ".var()[None]",
    "Your number has an axis of length 1: `keepdim`, or a product that kept one. How many "
    "dimensions does the task ask for?",
)
wrong(
    "uniform_numbers",
    "torch.randn",
    "torch.rand",
    "`torch.rand` spreads numbers evenly from 0 to 1: their mean is not 0, their variance not 1. "
    "Which call makes standard normal ones?",
)
wrong(
    "mean_for_a_sum",
    ".sum(-1)",
    ".mean(-1)",
    "Your scores are means over the numbers of a pair. A dot product does not divide: what does it "
    "do with the d products?",
)
for name, old, new in (
    ("products_not_summed", DOT, "q * k"),
    ("variance_divided_by_d", ".var()", ".var() / d"),
):
    wrong(
        name,
        old,
        new,
        "Your variance is one over single products q_i · k_i: nothing is added up, or you divide "
        "by d once more. How many of these products make one score, and what does the task divide?",
    )
wrong(
    "summed_over_pairs",
    "2, n, d",
    "2, d, n",
    "Your sums run over the pairs, so n and d are swapped. Which axis is a dot product summed "
    "over, and how long must it be?",
)
wrong(
    "no_key",
    DOT,
    "q.norm(dim=-1)",
    "Your scores do not contain a key: they are sums over the query alone, or its length. What is "
    "multiplied by what in q · k?",
)
wrong(
    "one_query_for_all",
    DRAW,
    "torch.randn(d, generator=generator), torch.randn(n, d, generator=generator)",
    "One query meets all keys (or one key all queries), so your number depends on how long that "
    "one happens to be. How many queries do n pairs have?",
)
wrong(
    "all_with_all",
    DOT,
    "q @ k.T",
    "Every query meets every key: that is n × n scores, not n, and at n = 100,000 they take "
    "40 GB. Which product gives one score for each pair?",
)
wrong(
    "n_ignored",
    "2, n, d",
    "2, 6000, d",
    "The number of pairs is fixed in your code. What does the caller specify with n?",
)
wrong(
    "global_random_numbers",
    ", generator=generator",
    "",
    "Not all of your random numbers come from the given generator. Which argument of torch's "
    "random functions takes it?",
)
wrong(
    "seeds_again",
    "generator=generator",
    "generator=generator.manual_seed(0)",
    "You seed the generator yourself, so every call gives the same numbers. Which side should "
    "choose the generator's state, your function or its caller?",
)
wrong.several(
    "a_variance_for_each_axis",
    {DOT: "q * k", ".var()": ".var(0)"},
    "You return the variance of each single pair's (or each axis's) numbers: many numbers instead "
    "of one. What should the variance run over?",
)
