"""Wrong versions of `causal_mask`, most of them edits of a right one."""

from __future__ import annotations

from itertools import product

import torch

from attnlab.masks import causal_mask

from . import exercise
from .also_right import by_comparing_places, last_rows_of_a_square, lower_triangle

wrong = exercise.edits(lower_triangle)

wrong(
    "transposed",
    ".tril(",
    ".triu(",
    "Your mask lets each query attend to its own and all later keys. Rows are queries and columns "
    "are keys: in row 0, which column may be True?",
)
wrong(
    "nothing_allowed",
    "torch.ones",
    "torch.zeros",
    "Your mask is False everywhere: a part of a table of zeros is still zero. What must a table "
    "hold before a part of it is set to zero?",
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
for length in ("Lq", "Lk"):
    wrong(
        f"length_for_the_diagonal_{length}",
        "tril(Lk - Lq)",
        f"tril({length})",
        "You tell `tril` a length, and so everything stays, or nearly everything. Its number says "
        "how far above the main diagonal the last one that stays is. How far is it, if there are "
        "as many keys as queries?",
    )
for name, start in (
    ("one_ahead_if_Lk_is_given", "more = 0 if Lk is None else 1"),
    ("one_ahead_with_a_cache", "more = 0 if Lk is None or Lk <= Lq else 1"),
):
    wrong.several(
        name,
        {"    Lk = Lq": f"    {start}\n    Lk = Lq", "tril(Lk - Lq)": "tril(Lk - Lq + more)"},
        "Without Lk your mask is right; with more keys than queries, each query sees one key too "
        "many. Counted from 0, at which place does the first query stand after Lk - Lq keys?",
    )
NUMBERS = (
    "Your mask holds numbers, not True and False. `~mask` and `scores.masked_fill(~mask, …)` need "
    "booleans: which dtype did you make it with?"
)
wrong("numbers", "dtype=torch.bool, device=device", "device=device", NUMBERS)
wrong("numbers_of_a_byte", "torch.bool", "torch.uint8", NUMBERS)
wrong("whole_numbers", "torch.bool", "torch.int64", NUMBERS)
for name, dtype in (("", ""), ("whole_", ", dtype=torch.int64"), ("byte_", ", dtype=torch.uint8")):
    wrong(
        f"{name}numbers_for_one_query",
        "    return",
        f"    if Lq == 1:\n        return torch.ones(1, Lk{dtype}, device=device)\n    return",
        "For a single query your mask holds numbers, not True and False; with more queries it is "
        "right. Which dtype does each of your calls make?",
    )
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
wrong(
    "on_the_cpu_by_default",
    "    return",
    '    device = device or "cpu"\n    return',
    "If no device is given, you choose the CPU yourself, but a program may have set another one "
    "with `torch.set_default_device`. What does `torch.ones` do if its device is None?",
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
    "empty_rows_last",
    "tril(Lk - Lq)",
    "tril(Lk - Lq).roll(min(Lk - Lq, 0), 0)",
    "With fewer keys than queries, your last queries see no key, and the first ones do. Which of "
    "the queries come before every key?",
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
# Each of these is right for fewer keys, too.
ZEROS = "torch.zeros(Lq - Lk, Lk, dtype=torch.bool, device=whole.device)"
CUTS = {
    "rows_below_zeros": f"(torch.cat([{ZEROS}, whole[:Lk, :Lk]]) if Lq > Lk "
    "else whole[Lk - Lq : Lk, :Lk])",
    "corner": "whole[max(0, len(whole) - Lq) :, max(0, len(whole) - Lk) :]",
    "corner_from_the_end": "whole[-Lq:, -Lk:]",
}
FIXED_SIZE_ON_THE_CPU = (
    "Your mask is cut from a mask of fixed size on the CPU: too small for longer sequences, and in "
    "the wrong place if torch's default device is another one. Where do its size and its place "
    "come from?"
)
for (name, cut), size in product(CUTS.items(), SIZES):
    for made, where, moved, advice in (
        ("made_there", "device", "", FIXED_SIZE),
        ("made_once", '"cpu"', '.to(device or "cpu")', FIXED_SIZE_ON_THE_CPU),
    ):
        wrong(
            f"{name}_of_{size}_{made}",
            f"    return torch.ones{TRIANGLE}",
            f"    whole = torch.ones({size}, {size}, dtype=torch.bool, device={where}).tril()\n"
            f"    return {cut}{moved}",
            advice,
        )

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


ADDITIVE = (
    "You return numbers to be added to scores (0 and -inf), which is the task of 5.4. Which dtype "
    "does this step ask for?"
)


@exercise.mistake(ADDITIVE)
def additive(Lq, Lk=None, device=None):
    mask = causal_mask(Lq, Lk, device)
    return torch.zeros(mask.shape, device=device).masked_fill(~mask, -torch.inf)


@exercise.mistake(ADDITIVE)
def additive_where_allowed(Lq, Lk=None, device=None):
    mask = causal_mask(Lq, Lk, device)
    return torch.zeros(mask.shape, device=device).masked_fill(mask, -torch.inf)


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


@exercise.mistake(
    "You make the mask of lists, and torch chooses its dtype: a list without a single True or "
    "False in it becomes floats. How do you tell `torch.tensor` which dtype you want?"
)
def of_lists_without_a_dtype(Lq, Lk=None):
    Lk = Lq if Lk is None else Lk
    return torch.tensor([[j <= i + Lk - Lq for j in range(Lk)] for i in range(Lq)])
