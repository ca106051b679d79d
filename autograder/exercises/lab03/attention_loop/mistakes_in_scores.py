"""Wrong versions of the loop in which a score is not one number, or has another dtype."""

from itertools import product

from . import exercise
from .also_right import two_loops

wrong = exercise.edits(two_loops)

NOT_SUMMED = (
    "Your scores are vectors: the products of a query's numbers with a key's, side by side. What "
    "makes one number of these products?"
)
SOFTMAX = "softmax(scores / math.sqrt(len(q)))"
for name, weights in (
    ("", SOFTMAX),
    ("_over_keys", "torch.softmax(scores / math.sqrt(len(q)), 0)"),
):
    wrong.several(
        f"products_not_summed{name}",
        {"(q * key).sum()": "q * key", SOFTMAX: weights},
        NOT_SUMMED,
    )
wrong(
    "scores_as_plain_numbers_in_float32",
    "torch.stack([(q * key).sum() for key in K])",
    "torch.tensor([(q * key).sum().item() for key in K])",
    "`.item()`, `float(…)` and `torch.tensor([…])` make plain numbers: no gradient gets back, and "
    "the dtype of the scores is float32. How do you put tensors side by side instead?",
)
FLOAT32 = (
    "Your scores are float32, whatever the inputs are: `torch.zeros(…)` without a dtype, or a "
    "cast, makes them so. Which dtype should they have?"
)
EACH = "torch.stack([(q * key).sum() for key in K])"
wrong("scores_cast_to_float32", EACH, f"{EACH}.float()", FLOAT32)
wrong("scaled_scores_cast_to_float32", SOFTMAX, f"softmax(({SOFTMAX[8:-1]}).float())", FLOAT32)
BITS_16 = (
    "Your scores are float16 or bfloat16, whatever the inputs are: a cast (`.half()`, `.to(…)`) or "
    "a dtype that you name makes them so. Which dtype should they have?"
)
PRODUCT = "(q * key).sum()"
for bits, torchs in product(("float16", "bfloat16"), (False, True)):
    cast = f".to(torch.{bits})"
    for name, old, new in (
        ("scores", EACH, f"{EACH}{cast}"),
        ("products", PRODUCT, f"(q{cast} * key{cast}).sum()"),
        ("dot_products", PRODUCT, f"q{cast} @ key{cast}"),
    ):
        # torch's softmax rounds once, and that of lab 1 after each step.
        softmax = {SOFTMAX: f"torch.{SOFTMAX[:-1]}, 0)"} if torchs else {}
        by = "_by_torch" if torchs else ""
        wrong.several(f"{name}_in_{bits}{by}", {old: new, **softmax}, BITS_16)
wrong(
    "mean_of_products",
    PRODUCT,
    "(q * key).mean()",
    "Your score is a mean over the numbers of a key, so you divide by d_k, and then by its root, "
    "too. What does a dot product do with the products?",
)
wrong(
    "distances",
    PRODUCT,
    "((q - key) ** 2).sum()",
    "Your scores are distances: the key that is nearest to the query gets the least weight. What "
    "does q · k do with two numbers, before the sum?",
)
wrong(
    "opposite_sign",
    PRODUCT,
    "-(q * key).sum()",
    "Your scores have the opposite sign, so the key that fits best gets the least weight. Where "
    "does a minus come from?",
)
for name, scale in (
    ("length_of_the_query", "q.norm()"),
    ("all_numbers_of_the_keys", "math.sqrt(K.numel())"),
    ("logarithm", "math.log(len(q))"),
    ("root_of_the_length_of_the_query", "q.norm().sqrt()"),
):
    wrong(
        f"divided_by_{name}",
        "math.sqrt(len(q))",
        scale,
        "You divide by another number than √d_k: the length of q as a vector (`norm`), the root of "
        "how many numbers all keys have, or a logarithm. What is d_k?",
    )
wrong(
    "keys_from_the_values",
    "for key in K",
    "for key in V",
    "Your loop over the keys runs over the values. Which of the two does the formula compare with "
    "the query?",
)
