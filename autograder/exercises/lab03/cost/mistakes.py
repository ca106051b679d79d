"""Wrong counts that students write; wrong fits are in another file."""

from . import exercise, mistakes_in_fits  # noqa: F401 - to register them
from .also_right import entries_times_bytes, two_products

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
BOTH = "Lq * Lk * (d_k + d_v)"
for name, pairs in (("", "Lq * (Lq + 1) // 2"), ("_of_the_keys", "Lk * (Lk + 1) // 2")):
    wrong(
        f"pairs_below_the_diagonal{name}",
        BOTH,
        f"{pairs} * (d_k + d_v)",
        "You count only pairs on one side of a diagonal, as if later keys were hidden. Which "
        "entries of q kᵀ does the product of the formula compute?",
    )
ADDITIONS = (
    "Your count includes additions (two operations for each product and sum, as FLOPs are "
    "counted). What does the task leave out?"
)
for name, count in (
    ("additions_counted", f"2 * {BOTH}"),
    ("one_addition_less_than_products", "Lq * Lk * (2 * d_k - 1) + Lq * d_v * (2 * Lk - 1)"),
    ("one_addition_less_in_scores", "Lq * Lk * (2 * d_k - 1) + 2 * Lq * Lk * d_v"),
):
    wrong(name, BOTH, count, ADDITIONS)
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
    ("scores_for_each_key", BOTH, "Lk * Lk * d_k + Lq * Lk * d_v"),
    ("scores_for_each_query", BOTH, "Lq * Lq * d_k + Lq * Lk * d_v"),
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
    "multiplied_in_floats",
    "Lq * Lk * (d_k + d_v)",
    "int(1.0 * Lq * Lk * d_k) + int(1.0 * Lq * Lk * d_v)",
    "You multiply floats, which hold every whole number only up to 2^53, and make whole numbers of "
    "the result. Where do the last digits get lost?",
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
for name, count in (
    ("d_k_for_the_queries", "Lq * Lk * d_k + Lk * d_v * d_k"),
    ("d_k_for_the_keys", "Lq * Lk * d_k + Lq * d_v * d_k"),
):
    wrong(
        name,
        BOTH,
        count,
        "The second product in your count takes d_k, but no axis of the weights or of v has that "
        "length. What are the shapes of these two?",
    )
for name, count in (
    ("d_v_for_the_queries", "Lk * d_k * d_v + Lq * Lk * d_v"),
    ("d_v_for_the_keys", "Lq * d_k * d_v + Lq * Lk * d_v"),
):
    wrong(
        name,
        BOTH,
        count,
        "The first product in your count takes d_v, but no axis of q or of k has that length. What "
        "are the shapes of these two?",
    )
for name, times in (("", 1), ("_and_softmax", 2)):
    wrong(
        f"scale{name}_counted",
        "d_k + d_v",
        f"d_k + d_v + {times}",
        "Your count includes the scale or the softmax, or both: it is Lq · Lk too large, once or "
        "twice. Which steps does the task count?",
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
for name, known in (
    ("", "torch.float32: 4, torch.float64: 8, torch.float16: 2, torch.int64: 8"),
    ("_of_floats", "torch.float16: 2, torch.float32: 4, torch.float64: 8"),
    ("_of_two", "torch.float32: 4, torch.float16: 2"),
):
    wrong(
        f"dtypes_listed{name}",
        "dtype.itemsize",
        f"{{{known}}}[dtype]",
        "Your list of dtypes lacks one that people use (or you know only some by name). Who can "
        "tell the size of a number, for every dtype?",
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
    "bytes_as_a_float",
    "dtype.itemsize",
    "dtype.itemsize * 8 / 8",
    "Your number of bytes is a float (`/` gives one, even for whole numbers), which holds about 16 "
    "digits. Which division keeps whole numbers?",
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
