"""causal_mask: no query looks at a later key, with a cache of earlier keys or without."""

from __future__ import annotations

import torch

from attnlab.checking.observation import dtype_of
from attnlab.masks import causal_mask
from gradekit.exercise import Exercise

exercise = Exercise(causal_mask)


@exercise.check(points=1.5)
def shape_and_dtype(lab, draw):
    """Is a boolean tensor of shape (Lq, Lk), square if Lk is not given."""
    square, cached = lab.causal_mask(5), lab.causal_mask(3, 7)
    return {
        "shape, Lq=5": list(square.shape),
        "shape, Lq=3, Lk=7": list(cached.shape),
        "dtype": dtype_of(square),
        "dtype, Lq=3, Lk=7": dtype_of(cached),
    }


@exercise.check(points=2.5)
def as_many_keys_as_queries(lab, draw):
    """Each query may attend to its own place and to all before it, at any length."""
    lengths = (*draw.integers(3, 10, 2).tolist(), 1, 2)
    return {f"Lq={T}": lab.causal_mask(T) for T in lengths}


@exercise.check(points=2)
def with_a_cache(lab, draw):
    """With more keys than queries, the last query stands at the last key."""
    lengths = ((2, 5), (3, 7), (1, 4), (4, 5))
    return {f"Lq={Lq}, Lk={Lk}": lab.causal_mask(Lq, Lk) for Lq, Lk in lengths}


@exercise.check(points=0.5, hidden=True)
def other_lengths(lab, draw):
    """Is right for long sequences, and for as many keys as queries if Lk is given."""
    seen = {f"Lq={Lq}, Lk={Lk}": lab.causal_mask(Lq, Lk) for Lq, Lk in ((6, 6), (2, 11), (1, 1))}
    for Lq, Lk in ((300, 300), (2, 1100)):
        long = lab.causal_mask(Lq, Lk)
        seen[f"Lq={Lq}, Lk={Lk}"] = {"shape": list(long.shape), "True": int((long > 0).sum())}
    return seen


@exercise.check(points=1, hidden=True)
def nothing_later_gets_through(lab, draw):
    """In attention with this mask, another last token changes the last output only."""
    v = draw.normal(2, 6, 3)
    changed = v.clone()
    changed[:, -1] += 1e6
    seen = {}
    for Lq in (6, 4):
        scores = draw.normal(2, Lq, 6).masked_fill(~lab.causal_mask(Lq, 6).bool(), -1e300)
        weights = torch.softmax(scores, -1)
        moved = (weights @ changed - weights @ v).abs().amax((0, 2)) > 0
        seen[f"outputs that move, Lq={Lq}"] = moved
    return seen


@exercise.check(points=1, hidden=True)
def fewer_keys(lab, draw):
    """With fewer keys than queries, the first queries stand before every key and see none."""
    lengths = ((5, 3), (7, 2), (4, 1))
    return {f"Lq={Lq}, Lk={Lk}": lab.causal_mask(Lq, Lk) for Lq, Lk in lengths}


@exercise.check(points=0.5, hidden=True)
def no_keys(lab, draw):
    """Lk=0 means no keys: a mask without columns."""
    return {f"shape, Lq={Lq}, Lk=0": list(lab.causal_mask(Lq, 0).shape) for Lq in (1, 4)}


@exercise.check(points=1, hidden=True)
def on_a_device(lab, draw):
    """Is on the given device, or on the default one if none is given."""
    devices = ("meta", torch.device("meta"), "cpu", None)
    seen = {}
    for device in devices:
        mask = lab.causal_mask(3, 5, device=device)
        seen[f"asked for {device!r}"] = {"device": mask.device.type, "shape": list(mask.shape)}
    return seen


exercise.promises(
    {
        "No query looks ahead: each may attend to its own position and to all before it.": (
            "as_many_keys_as_queries nothing_later_gets_through"
        ),
        "The last query has the position of the last key.": "with_a_cache other_lengths",
        "With more keys than queries": "with_a_cache other_lengths",
        "With fewer keys, the first Lq - Lk queries come before every key": "fewer_keys",
        "Lq: number of queries.": "as_many_keys_as_queries other_lengths",
        "Lk: number of keys; None: the same as Lq.": "as_many_keys_as_queries no_keys",
        "device: the device of the mask, as in torch.ones.": "on_a_device",
        "(Lq, Lk), torch.bool: True where the query may attend to the key.": "shape_and_dtype",
    }
)


@exercise.also_right
def lower_triangle(Lq, Lk=None, device=None):
    Lk = Lq if Lk is None else Lk
    return torch.ones(Lq, Lk, dtype=torch.bool, device=device).tril(Lk - Lq)


@exercise.also_right
def by_comparing_places(Lq, Lk=None, device=None):
    Lk = Lk if Lk is not None else Lq
    queries = torch.arange(Lk - Lq, Lk, device=device).unsqueeze(-1)
    return torch.arange(Lk, device=device) <= queries


@exercise.also_right
def not_the_upper_triangle(Lq, Lk=None, device=None):
    if Lk is None:
        Lk = Lq
    return torch.triu(torch.ones((Lq, Lk), device=device), diagonal=Lk - Lq + 1) == 0


@exercise.also_right
def by_loops(Lq, Lk=None, device=None):
    Lk = Lq if Lk is None else Lk
    rows = [[j - Lk <= i - Lq for j in range(Lk)] for i in range(Lq)]
    return torch.tensor(rows, dtype=torch.bool).reshape(Lq, Lk).to(device)


@exercise.also_right
def last_rows_of_a_square(Lq, Lk=None, device=None):
    Lk = Lq if Lk is None else Lk
    side = max(Lq, Lk)
    square = torch.ones(side, side, device=device).tril().bool()
    return square[side - Lq :, side - Lk :] if Lq > Lk else square[Lk - Lq :]


wrong = exercise.edits(lower_triangle)

wrong(
    "transposed",
    ".tril(",
    ".triu(",
    "Your mask lets each query attend to its own and all later keys. Rows are queries and columns "
    "are keys: in row 0, which column may be True?",
)
wrong(
    "true_means_hidden",
    "return torch.ones",
    "return ~torch.ones",
    "Your mask is inverted: it is True for what is hidden. What does True mean here, as in torch's "
    "`scaled_dot_product_attention`?",
)
wrong(
    "diagonal_excluded",
    "tril(Lk - Lq)",
    "tril(Lk - Lq - 1)",
    "In your mask, no query may attend to its own place, and the first one to nothing at all. Does "
    "a token know itself?",
)
wrong(
    "one_ahead",
    "tril(Lk - Lq)",
    "tril(Lk - Lq + 1)",
    "Your mask lets each query see one key too many: the token that it should predict. The loss "
    "will look splendid. Which diagonal is the last that may be True?",
)
NUMBERS = (
    "Your mask holds numbers, not True and False. `~mask` and `scores.masked_fill(~mask, …)` need "
    "booleans: which dtype did you make it with?"
)
wrong("numbers", "dtype=torch.bool, device=device", "device=device", NUMBERS)
wrong("numbers_of_a_byte", "torch.bool", "torch.uint8", NUMBERS)
wrong("whole_numbers", "torch.bool", "torch.int64", NUMBERS)
wrong(
    "top_left",
    "tril(Lk - Lq)",
    "tril()",
    "Your triangle starts in the top left corner even with more keys than queries: the first query "
    "sees only the oldest key of the cache. At which key does the last query stand?",
)
wrong(
    "offset_reversed",
    "tril(Lk - Lq)",
    "tril(Lq - Lk)",
    "With as many keys as queries your mask is right; with more keys, the diagonal moves the wrong "
    "way. Which keys does the first of three queries see if there are seven keys?",
)
wrong(
    "everything_with_a_cache",
    "tril(Lk - Lq)",
    "tril(Lk if Lk > Lq else Lk - Lq)",
    "As soon as there are more keys than queries, your mask allows everything. Which keys come "
    "later than the first of two queries?",
)
wrong(
    "sizes_swapped",
    "(Lq, Lk, dtype",
    "(Lk, Lq, dtype",
    "Your mask has a row for each key and a column for each query. Which of the two are the rows?",
)
wrong(
    "keys_ignored",
    "Lq if Lk is None else Lk",
    "Lq",
    "The argument Lk is not used: your mask is always square. Which shape must it have, to fit "
    "scores of three queries and seven keys?",
)
wrong(
    "no_keys_taken_for_none",
    "Lq if Lk is None else Lk",
    "Lk or Lq",
    "`Lk or Lq` takes Lk=0 for a missing Lk, because 0 counts as False in Python. Which value "
    "stands for an argument that is not given?",
)
wrong(
    "keys_demanded",
    "Lk=None, device",
    "Lk, device",
    "Your function stops if it is called without Lk. What does the task say about an Lk that is "
    "not given?",
)
wrong(
    "queries_ignored",
    "(Lq, Lk, dtype=torch.bool, device=device).tril(Lk - Lq)",
    "(Lk, Lk, dtype=torch.bool, device=device).tril()",
    "Your mask is square even if Lk is given, with one row for each key. How many queries are "
    "there?",
)
wrong(
    "one_short_with_a_cache",
    "tril(Lk - Lq)",
    "tril(Lk - Lq - (Lk > Lq))",
    "Without a cache your mask is right; with one, the last query does not see its own place. "
    "By how much does the diagonal move when there are Lk - Lq keys more?",
)
wrong(
    "always_on_the_cpu",
    ", device=device)",
    ")",
    "Your mask is made on the CPU, whatever `device` says. Scores on a GPU cannot be masked with "
    "it: which call of yours decides where the tensor is?",
)
MORE_AXES = (
    "Your mask has axes for batch and heads, but a mask of shape (Lq, Lk) already broadcasts over "
    "them. Which shape does the task ask for?"
)
wrong("with_more_axes", "tril(Lk - Lq)", "tril(Lk - Lq)[None, None]", MORE_AXES)
wrong("with_a_batch_axis", "tril(Lk - Lq)", "tril(Lk - Lq)[None]", MORE_AXES)
wrong(
    "distance_without_sign",
    "tril(Lk - Lq)",
    "tril(abs(Lk - Lq))",
    "With fewer keys than queries, your queries see keys that come later. In which direction does "
    "the diagonal move when there are fewer keys?",
)
CACHE = "(torch.arange(Lk, device=device) < Lk - Lq)"
wrong(
    "cache_hidden",
    "tril(Lk - Lq)",
    f"tril(Lk - Lq).logical_and(~{CACHE})",
    "With a cache, your queries see new keys only, and none of the cached ones. Which of the two "
    "come before the first new query?",
)
wrong(
    "oldest_key_dropped",
    "tril(Lk - Lq)",
    "tril(Lk - Lq).triu(0 if Lk > Lq else -Lq)",
    "With a cache, each new query sees one old key less than the query before it. Which keys may a "
    "query attend to, according to the task?",
)
APART = {"cache_and_own_place": "triu(Lk - Lq)", "cache_alone": "triu(Lk)"}
for name, own in APART.items():
    wrong(
        name,
        "tril(Lk - Lq)",
        f"tril(Lk - Lq).logical_and({CACHE} | (torch.ones(Lq, Lk, device=device).{own} > 0)"
        " | torch.tensor(Lk <= Lq, device=device))",
        "With a cache, your new queries do not see the new words before them. Which keys come "
        "before the last of two new queries?",
    )
wrong(
    "everything_before_the_first_key",
    "tril(Lk - Lq)",
    "tril(Lk - Lq).logical_or(torch.arange(Lq, device=device)[:, None] < Lq - Lk)",
    "Queries that stand before every key see all of them in your mask, perhaps so that no row is "
    "all False. Which keys are in their past?",
)
wrong(
    "fewer_keys_refused",
    "    return",
    "    assert Lk >= Lq\n    return",
    "Your function stops if there are fewer keys than queries. What does the task say about the "
    "queries that come before every key?",
)
wrong(
    "first_key_for_all",
    "tril(Lk - Lq)",
    "tril(max(Lk - Lq, 0))",
    "With fewer keys than queries, your first queries see keys. The last query stands at the last "
    "key: where does that put the first ones?",
)
wrong(
    "first_key_always",
    "tril(Lk - Lq)",
    "tril(Lk - Lq).logical_or(torch.arange(Lk, device=device) == 0)",
    "You let every query see the first key, so that no row is all False. A query that stands "
    "before every key sees none. Which entries of its row may be True?",
)
FIXED_SIZE = (
    "Your mask is cut from a mask of fixed size, which is too small for longer sequences. Where "
    "does that size come from?"
)
TRIANGLE = "(Lq, Lk, dtype=torch.bool, device=device).tril(Lk - Lq)"
SIZES = (16, 32, 64, 128, 256, 512, 1024)
LAST_ROWS = {"fixed_size": 6} | {f"last_rows_of_{size}": size for size in SIZES}
FIRST_ROWS = {"small_fixed_size": 8} | {f"first_rows_of_{size}": size for size in SIZES}
for sizes, cut in (
    (LAST_ROWS, "tril()[Lk - Lq : Lk, :Lk]"),
    (FIRST_ROWS, "tril(Lk - Lq)[:Lq, :Lk]"),
):
    for name, size in sizes.items():
        square = f"({size}, {size}, dtype=torch.bool, device=device)"
        wrong(name, TRIANGLE, f"{square}.{cut}", FIXED_SIZE)

wrong = exercise.edits(last_rows_of_a_square)
for start in ("-Lq", "Lk - Lq"):
    wrong.several(
        f"square_of_the_keys_from_{start}",
        {
            "side = max(Lq, Lk)": "side = Lk",
            "square[side - Lq :, side - Lk :] if Lq > Lk else square[Lk - Lq :]": (
                f"square[{start}:]"
            ),
        },
        "Your mask is cut from a square with one row for each key. With more queries than keys it "
        "has too few rows: which queries are missing?",
    )
SMALL_POSITIONS = (
    "In long sequences your mask goes wrong, because its positions are numbers of 8 bits. Which is "
    "the largest number that they can hold?"
)
wrong = exercise.edits(by_comparing_places)
for name, call in (
    ("queries_on_the_default_device", "torch.arange(Lk - Lq, Lk"),
    ("keys_on_the_default_device", "torch.arange(Lk"),
):
    wrong(
        name,
        f"{call}, device=device)",
        f"{call})",
        "You make one tensor on the given device and another on the default one, and they meet in "
        "one operation. Which of your calls does not get the device?",
    )
for name in ("int8", "uint8"):
    wrong.several(
        f"positions_in_{name}",
        {
            "device=device).unsqueeze(-1)": f"device=device).unsqueeze(-1).to(torch.{name})",
            "torch.arange(Lk, device=device) <=": (
                f"torch.arange(Lk, device=device).to(torch.{name}) <="
            ),
        },
        SMALL_POSITIONS,
    )


@exercise.mistake(
    "You return numbers to be added to scores (0 and -inf), which is the task of 5.4. Which dtype "
    "does this step ask for?"
)
def additive(Lq, Lk=None, device=None):
    mask = causal_mask(Lq, Lk, device)
    return torch.zeros(mask.shape, device=device).masked_fill(~mask, -torch.inf)


@exercise.mistake(
    "With fewer keys than queries, the end of a slice becomes negative, and Python counts it from "
    "the right. What should a query that stands before every key see?"
)
def end_counted_from_the_right(Lq, Lk=None, device=None):
    Lk = Lq if Lk is None else Lk
    mask = torch.zeros(Lq, Lk, dtype=torch.bool, device=device)
    for i in range(Lq):
        mask[i, : i + Lk - Lq + 1] = True
    return mask
