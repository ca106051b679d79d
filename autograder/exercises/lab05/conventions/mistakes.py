"""Wrong versions of the three functions, each an edit of a right one."""

from __future__ import annotations

from .also_right import expanded_and_flattened, first_of_two_axes, zero_is_allowed
from .mistakes_in_dtypes import exercise  # that module has an `attn_mask` of numbers

wrong = exercise.edits(expanded_and_flattened, of="to_mha_mask")

wrong(
    "attn_mask_not_inverted",
    "~mask",
    "mask",
    "Your `attn_mask` is True where a query may attend, which is right for "
    "`scaled_dot_product_attention`. What does True mean for `nn.MultiheadAttention`?",
)
RESCUED = (
    "A query or a sentence that may attend to no key gets all keys in your mask, perhaps so that "
    "torch gives no NaN. What does the task say about True, and does it leave any row out?"
)
wrong("queries_without_keys_rescued", "~mask", "~(mask | ~mask.any(-1, keepdim=True))", RESCUED)
exercise.edits(first_of_two_axes, of="to_key_padding_mask")(
    "sentences_of_padding_rescued",
    "~mask[:, 0, 0]",
    "~(mask | ~mask.any(-1, keepdim=True))[:, 0, 0]",
    RESCUED,
)
SENTENCES_FIRST = (
    "Heads and sentences are in the wrong order: the first `num_heads` masks should belong to the "
    "first sentence. What do `repeat` and `repeat_interleave` make of (a, b)?"
)
EXPANDED = "mask.expand(-1, num_heads, -1, -1).flatten(0, 1)"
wrong("sentences_first", ".flatten", ".transpose(0, 1).flatten", SENTENCES_FIRST)
wrong("first_heads_repeated", EXPANDED, "mask[:, 0].repeat(num_heads, 1, 1)", SENTENCES_FIRST)
wrong(
    "sentences_repeated",
    EXPANDED,
    "mask.repeat(num_heads, 1, 1, 1).flatten(0, 1)",
    SENTENCES_FIRST,
)
wrong(
    "heads_forgotten",
    EXPANDED,
    "mask[:, 0]",
    "Your result has one mask for each sentence, but torch expects (B * num_heads, Lq, Lk). How "
    "many masks does each sentence need?",
)
SQUEEZED = (
    "`squeeze()` without an axis drops every axis of length 1, also that of a batch with one "
    "sentence, or of a single query. Which axis do you mean?"
)
wrong(
    "squeezed",
    "if mask.ndim == 4:",
    "mask = mask.squeeze()\n    if mask.ndim == 3:\n        mask = mask[:, None]\n"
    "    if mask.ndim == 4:",
    SQUEEZED,
)
wrong(
    "squeezed_if_there_are_four_axes",
    "mask.expand(-1, num_heads, -1, -1)",
    "mask.squeeze()[:, None].expand(-1, num_heads, -1, -1)",
    SQUEEZED,
)
wrong(
    "four_axes",
    ".flatten(0, 1)",
    "",
    "Your mask still has four axes. `nn.MultiheadAttention` takes two or three: which two become "
    "one?",
)
wrong(
    "axes_joined_by_view",
    ".flatten(0, 1)",
    ".view(-1, *mask.shape[2:])",
    "`view` cannot join these axes: after `expand` (or a transposition) their entries do not "
    "follow one another in memory. Which call joins axes in any layout?",
)
wrong(
    "first_head_for_all",
    "mask.expand",
    "mask[:, :1].expand",
    "You use the masks of the first head (or sentence) for all. Which of them may differ?",
)
for name, call in (
    ("heads_repeated_again", "repeat(1, num_heads, 1, 1)"),
    ("each_head_repeated_again", "repeat_interleave(num_heads, 1)"),
):
    wrong(
        name,
        "expand(-1, num_heads, -1, -1)",
        call,
        "A mask that already has its own entry for each head becomes `num_heads` times as long. "
        "What does `expand` do with an axis that is not 1, and what does `repeat`?",
    )
wrong.several(
    "three_axes_not_inverted",
    {"        mask = mask.expand": "        return mask.expand"},
    "Your `attn_mask` is inverted for masks of shape (Lq, Lk), but not for those with four axes. "
    "What does True mean for `nn.MultiheadAttention`, in both cases?",
)
wrong.several(
    "two_axes_not_inverted",
    {
        "        mask = mask.expand": "        return ~mask.expand",
        "return ~mask\n": "return mask\n",
    },
    "Your `attn_mask` is inverted for masks with four axes, but not for those of shape (Lq, Lk). "
    "What does True mean for `nn.MultiheadAttention`, in both cases?",
)
FOUR_AXES_ONLY = (
    "Your code stops at a mask of shape (Lq, Lk). Which shapes may a mask have, according to the "
    "task?"
)
BRANCH = "    if mask.ndim == 4:\n        mask = "
wrong("expands_every_mask", BRANCH, "    mask = ", FOUR_AXES_ONLY)
wrong("expects_four_axes", BRANCH, "    B, h, Lq, Lk = mask.shape\n    mask = ", FOUR_AXES_ONLY)
wrong(
    "always_three_axes",
    "return ~mask",
    "return ~mask if mask.ndim == 3 else ~mask.expand(num_heads, -1, -1)",
    "A mask of shape (Lq, Lk) already fits all sentences and heads, but yours gets more axes. "
    "Which shape does the task ask for?",
)
IN_PLACE = (
    "Your code writes into the mask that it was given (`logical_not_`), but the caller still needs "
    "it. What does the same and makes a new tensor?"
)
wrong.several(
    "mask_inverted_in_place",
    {"    if mask": "    mask.logical_not_()\n    if mask", "~mask": "mask"},
    IN_PLACE,
)
wrong(
    "two_axes_inverted_in_place",
    "return ~mask",
    "return ~mask if mask.ndim == 3 else mask.logical_not_()",
    IN_PLACE,
)

wrong(
    "inverted_in_place_at_the_end",
    """        mask = mask.expand(-1, num_heads, -1, -1).flatten(0, 1)  # (B * h, Lq, Lk)
    return ~mask""",
    """        mask = mask.expand(-1, num_heads, -1, -1).flatten(0, 1)  # (B * h, Lq, Lk)
    return mask.logical_not_()""",
    IN_PLACE,
)

wrong = exercise.edits(first_of_two_axes, of="to_key_padding_mask")

wrong("key_padding_inverted_in_place", "~mask[:, 0, 0]", "mask.logical_not_()[:, 0, 0]", IN_PLACE)
wrong(
    "key_padding_not_inverted",
    "~mask",
    "mask",
    "Your `key_padding_mask` is True for real tokens. What does its name say that True stands for?",
)
WITH_AXES = (
    "Your `key_padding_mask` still has axes of length 1. Which shape does `nn.MultiheadAttention` "
    "expect?"
)
wrong("key_padding_with_axes", "[:, 0, 0]", "", WITH_AXES)
wrong("key_padding_with_an_axis", "[:, 0, 0]", "[:, 0]", WITH_AXES)
wrong(
    "key_padding_as_floats",
    "~mask[:, 0, 0]",
    "(~mask[:, 0, 0]).float()",
    "Your `key_padding_mask` holds 1.0 and 0.0. torch takes floating-point numbers for numbers to "
    "be added to the scores: which dtype does the task ask for?",
)
wrong(
    "key_padding_of_the_first",
    "[:, 0, 0]",
    "[0, 0]",
    "Your `key_padding_mask` has lost its batch or key axis: which index belongs to which axis of "
    "(B, 1, 1, Lk)?",
)
wrong(
    "key_padding_squeezed",
    "[:, 0, 0]",
    ".squeeze()",
    "`squeeze()` without an axis drops every axis of length 1, even the batch axis if there is "
    "only one sentence. Which axes do you mean?",
)
wrong(
    "key_padding_flattened",
    "[:, 0, 0]",
    ".flatten()",
    "All axes of your `key_padding_mask` are merged into one. Which axes of (B, 1, 1, Lk) should "
    "it keep?",
)
wrong(
    "key_padding_of_whole_numbers",
    "~mask[:, 0, 0]",
    "(~mask[:, 0, 0]).long()",
    "Your `key_padding_mask` holds whole numbers, 1 and 0. Which dtype does the task ask for?",
)
wrong(
    "key_padding_of_numbers",
    "~mask[:, 0, 0]",
    "torch.zeros(mask[:, 0, 0].shape).masked_fill(~mask[:, 0, 0], -math.inf)",
    "Your `key_padding_mask` holds numbers to be added (0 and -inf). Which dtype does the task ask "
    "for?",
)

wrong = exercise.edits(zero_is_allowed, of="from_additive")

wrong(
    "lowest_is_forbidden",
    "bias == 0",
    "bias != bias.min()",
    "You take the lowest number in the tensor for the forbidding one, but if nothing is forbidden, "
    "that is 0. What do all conventions add where a query may attend?",
)
wrong(
    "highest_is_allowed",
    "bias == 0",
    "bias == bias.max()",
    "You take the highest number (of the tensor, or of a row) for the allowing one, but if nothing "
    "is allowed, that is the forbidding one. What do all conventions add where a query may attend?",
)
wrong(
    "infinity_only",
    "bias == 0",
    "~bias.isinf()",
    "You check whether a number is -inf, but some code forbids with -1e9, and some with the lowest "
    "finite number. What do all of them add where a query may attend?",
)
wrong(
    "below_a_billion",
    "bias == 0",
    "bias > -1e9",
    "You take numbers below -1e9, or below another limit, for forbidden, but nothing in float16 is "
    "that low. What do all conventions add where a query may attend?",
)
for name, half in (("lowest_of_the_dtype_only", ""), ("near_the_lowest_only", " / 2")):
    wrong(
        name,
        "bias == 0",
        f"bias > torch.finfo(bias.dtype).min{half}",
        "You take only the dtype's lowest number, or what is near it, for forbidden, but some code "
        "uses -1e9 or -1e4. What do all conventions add where a query may attend?",
    )
wrong(
    "numbers_overwritten",
    "return bias == 0",
    "bias[bias == 0] = 1\n    return bias.clamp_(min=0).bool()",
    "Your code writes into the numbers that it was given (an assignment to `[…]`, a call that ends "
    "in `_`), but the caller still adds them to scores. What does the same and makes a new tensor?",
)
wrong(
    "nothing_allowed",
    "bias == 0",
    "bias > 0",
    "Your result is False for every number, so no query may attend to any key. For which numbers "
    "is your comparison true?",
)
wrong(
    "additive_not_inverted",
    "bias == 0",
    "bias.bool()",
    "Your result is True for low numbers (so is `.bool()`: every number but 0 is True). What does "
    "True mean in our masks?",
)
wrong(
    "exponentials",
    "bias == 0",
    "bias.exp()",
    "Your result holds numbers (perhaps exp of the bias), which are right to multiply with. Which "
    "dtype does the task ask for?",
)
