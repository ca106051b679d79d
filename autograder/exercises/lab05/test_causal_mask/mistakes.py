"""Wrong tests, most of them edits of a right one."""

from __future__ import annotations

from itertools import product

import torch

from .also_right import FEWER_KEYS, LONG, MORE_KEYS, SQUARE, entry_by_entry, expected
from .loses_failures import (
    ASSERTS_NOTHING,
    DEVICE,
    ENTRIES_UNREAD,
    EQUAL,
    SHAPE,
    WITHOUT_LK,
)
from .rejects_right_masks import exercise

wrong = exercise.edits(entry_by_entry)

# The lines of the right test that are weakened.
LENGTHS = "SQUARE + MORE_KEYS + FEWER_KEYS + LONG"
DTYPE = "        assert mask.dtype == torch.bool\n"
BY_ENTRY = {
    EQUAL: "(mask == expected(Lq, Lk)).all()",
    WITHOUT_LK: "(impl(4) == expected(4, 4)).all()",
}
SHAPE_ALONE = {WITHOUT_LK: "impl(4).shape == (4, 4)"}


@exercise.mistake(ASSERTS_NOTHING)
def asserts_nothing(impl):
    impl(4)


@exercise.mistake(
    "Your test accepts even a version that stops with an error. Does it call `impl`, its argument, "
    "or always your own function?"
)
def never_calls_it(impl):
    assert expected(4, 4).any()


@exercise.mistake(
    "Your test returns its verdict, True or False, but nothing reads it. A test reports by "
    "raising: which statement turns a False into an error?"
)
def returns_its_verdict(impl):
    if impl(4).shape != (4, 4):
        raise AssertionError("shape")
    return torch.equal(impl(4), expected(4, 4)) and torch.equal(impl(2, 5), expected(2, 5))


SQUARE_ONLY = (
    "Your test tries only square masks: as many keys as queries. What does the task of 5.1 promise "
    "of masks with more or fewer keys?"
)

SQUARE_ONLY_AND_NUMBERS = (
    "Your test tries only square masks, and accepts masks of numbers (1.0 equals True). What does "
    "the task of 5.1 promise of the dtype, and of masks with more or fewer keys than queries?"
)


@exercise.mistake(SQUARE_ONLY)
def square_only(impl):
    mask = impl(5)
    assert mask.dtype == torch.bool
    assert torch.equal(mask, expected(5, 5))


CALL = "mask = impl(Lq, Lk)"
for square, device, call in product(
    ("SQUARE", "SQUARE + LONG[:1]"), (True, False), (CALL, "mask = impl(Lq)")
):
    wrong.several(
        "squares_only"
        + ("" if call == CALL else "_without_Lk")
        + ("_and_short" if square == "SQUARE" else "")
        + ("" if device else "_nor_device"),
        {LENGTHS: square}
        | ({} if call == CALL else {CALL: call})
        | ({} if device else {DEVICE: ""}),
        SQUARE_ONLY,
    )


WHAT_ELSE_IS_MISSING = {
    "nor_dtype": {DTYPE: ""},
    "nor_shape": {SHAPE: "", **BY_ENTRY},
    "nor_dtype_and_shape": {DTYPE: "", SHAPE: "", **BY_ENTRY},
}
for (name, missing), device in product(WHAT_ELSE_IS_MISSING.items(), (True, False)):
    wrong.several(
        f"squares_only_{name}" + ("" if device else "_nor_device"),
        missing | {LENGTHS: "SQUARE"} | ({} if device else {DEVICE: ""}),
        SQUARE_ONLY_AND_NUMBERS if DTYPE in missing else SQUARE_ONLY,
    )


@exercise.mistake(ENTRIES_UNREAD)
def shape_only(impl):
    for Lq, Lk in ((5, None), (2, 7), (4, 2)):
        mask = impl(Lq, Lk)
        assert mask.shape == (Lq, Lk or Lq)
        assert mask.dtype == torch.bool


WITHOUT_ENTRIES = {f"        assert {EQUAL}\n": ""}
for name, lines in {
    "shape": {DTYPE: "", DEVICE: ""} | SHAPE_ALONE,
    "shape_and_device": {DTYPE: ""} | SHAPE_ALONE,
    "device": {DTYPE: "", SHAPE: "", f"    assert {WITHOUT_LK}\n": ""},
    "dtype_and_device": {SHAPE: "", f"    assert {WITHOUT_LK}\n": ""},
    "dtype_shape_and_device": SHAPE_ALONE,
}.items():
    wrong.several(f"{name}_alone", WITHOUT_ENTRIES | lines, ENTRIES_UNREAD)
wrong.several(
    "no_entry_asserted",
    {EQUAL: "(mask == expected(Lq, Lk)).all", f"    assert {WITHOUT_LK}\n": ""},
    ENTRIES_UNREAD,
)
OTHER_LENGTHS_NOT_COMPARED = (
    "Your test rejects wrong entries in square masks only. What must all other masks be like to "
    "pass: is it enough if the shape, or one entry (`any`), is right?"
)
for device in (True, False):
    for name, line in (("", ""), ("_by_any", "        assert (mask == expected(Lq, Lk)).any()\n")):
        wrong.several(
            f"other_lengths_not_compared{name}" + ("" if device else "_nor_device"),
            {f"        assert {EQUAL}\n": line} | ({} if device else {DEVICE: ""}),
            OTHER_LENGTHS_NOT_COMPARED,
        )


FUTURE_ONLY = (
    "Your test rejects a mask that looks ahead, but accepts one that hides all earlier keys. What "
    "must every place be able to see?"
)


@exercise.mistake(FUTURE_ONLY)
def future_only(impl):
    for Lq, Lk in ((5, 5), (2, 7)):
        mask = impl(Lq, Lk)
        assert mask.shape == (Lq, Lk)
        assert not (mask & ~expected(Lq, Lk)).any()
        assert mask.any()


wrong.several(
    "future_only_at_all_lengths",
    {EQUAL: "not (mask & ~expected(Lq, Lk)).any()"} | SHAPE_ALONE,
    FUTURE_ONLY,
)
wrong.several(
    "past_only",
    {EQUAL: "mask[expected(Lq, Lk)].all()"} | SHAPE_ALONE,
    "Your test rejects a mask that hides earlier keys, but accepts one that shows all later ones. "
    "What must no place be able to see?",
)
for (name, axis), (missing, lines), device in product(
    {"": "", "_in_rows": "-1"}.items(),
    {"": SHAPE_ALONE, "_nor_dtype": SHAPE_ALONE | {DTYPE: ""}}.items(),
    (True, False),
):
    wrong.several(
        f"entries_counted{name}{missing}" + ("" if device else "_nor_device"),
        {EQUAL: f"mask.sum({axis}).equal(expected(Lq, Lk).sum({axis}))"}
        | lines
        | ({} if device else {DEVICE: ""}),
        "Your test accepts a mask with as many True entries as the right one, but in other places. "
        "Does it only count them? Which entries must be True?",
    )
ANY_ENTRY = (
    "Your test is content if one entry is right (`any`), or a few that you chose. How many entries "
    "of a mask must be right?"
)
ONE_RIGHT = {EQUAL: "(mask == expected(Lq, Lk)).any()"}
for (name, lines), device in product(
    {"": {}, "_nor_shape": {SHAPE: ""}, "_nor_dtype": {SHAPE: "", DTYPE: ""}}.items(), (True, False)
):
    wrong.several(
        f"any_entry_and_call_compared_with_call{name}" + ("" if device else "_nor_device"),
        ONE_RIGHT
        | {WITHOUT_LK: "torch.equal(impl(4), impl(4, 4))"}
        | lines
        | ({} if device else {DEVICE: ""}),
        ANY_ENTRY,
    )
    wrong.several(
        f"any_entry{name}" + ("" if device else "_nor_device"),
        ONE_RIGHT
        | {f"    assert {WITHOUT_LK}\n": "", LENGTHS: "SQUARE + MORE_KEYS"}
        | lines
        | ({} if device else {DEVICE: ""}),
        ANY_ENTRY,
    )


@exercise.mistake(
    "Your test rejects wrong masks with another error than AssertionError. Which error does the "
    "task ask for?"
)
def another_error(impl):
    for Lq, Lk in SQUARE + MORE_KEYS + FEWER_KEYS + LONG:
        if impl(Lq, Lk).dtype != torch.bool or not torch.equal(impl(Lq, Lk), expected(Lq, Lk)):
            raise ValueError(f"wrong for {Lq} queries and {Lk} keys")
    if impl(4).shape != (4, 4) or impl(3, device="meta").device.type != "meta":
        raise ValueError("wrong without Lk, or on another device")


# The visible checks see no more than this of several such tests, so they share the advice.
ON_THE_CPU = (
    "Your test accepts a mask that is on the CPU, whatever `device` says. Which device exists on "
    "every machine, so that your test always asks for it?"
)
wrong("device_not_tested", DEVICE, "", ON_THE_CPU)
FEWER_LENGTHS = {
    "fewer_keys": "SQUARE + MORE_KEYS + LONG[:2]",
    "more_keys": "SQUARE + FEWER_KEYS + LONG[::2]",
    "long_sequences": "SQUARE + MORE_KEYS + FEWER_KEYS",
}
wrong(
    "fewer_keys_not_tried",
    LENGTHS,
    FEWER_LENGTHS["fewer_keys"],
    "Your test accepts masks that are wrong only with fewer keys than queries. According to the "
    "task of 5.1, what do the first queries see there?",
)
for name, tried in (("", FEWER_LENGTHS["fewer_keys"]), ("_nor_long_ones", "SQUARE + MORE_KEYS")):
    for without_lk in (True, False):
        wrong.several(
            f"fewer_keys_and_device_not_tried{name}" + ("" if without_lk else "_nor_without_Lk"),
            {LENGTHS: tried, DEVICE: ""}
            | ({} if without_lk else {f"    assert {WITHOUT_LK}\n": ""}),
            "Your test accepts masks that are wrong with fewer keys than queries only, or on "
            "another device only. Which calls does the task of 5.1 allow?",
        )
wrong(
    "more_keys_not_tried",
    LENGTHS,
    FEWER_LENGTHS["more_keys"],
    "Your test accepts masks that are wrong only with more keys than queries. According to the "
    "task of 5.1, at which key does the last query stand?",
)
wrong(
    "short_sequences_only",
    LENGTHS,
    FEWER_LENGTHS["long_sequences"],
    "Your test accepts a mask that is right for short sequences only. How long are the longest "
    "that you try?",
)
for name in ("more_keys", "long_sequences"):
    wrong.several(
        f"{name}_and_device_not_tried",
        {LENGTHS: FEWER_LENGTHS[name], DEVICE: ""},
        ON_THE_CPU,
    )
wrong.several(
    "keys_always_given",
    {f"    assert {WITHOUT_LK}\n": "", "impl(3, device": "impl(3, 3, device"},
    "Your test accepts a function that cannot be called without Lk. Which calls does the task of "
    "5.1 allow?",
)
wrong.several(
    "two_lengths_in_each_call",
    {f"    assert {WITHOUT_LK}\n": "", DEVICE: ""},
    ON_THE_CPU,
)
NUMBERS = (
    "Your test accepts masks of numbers: 1.0 equals True. What does the task promise about the "
    "dtype?"
)
MORE_AXES = (
    "Your test accepts a mask with axes for batch and heads: `==` and `allclose` broadcast before "
    "they compare. What does the task promise that no comparison of entries shows?"
)
NUMBERS_AND_AXES = (
    "Your test accepts masks of numbers and masks with more axes: what you do with the entries "
    "converts and broadcasts them. Which promises of the task are not about single entries?"
)
WHICH = {"": LENGTHS} | {f"_nor_{name}": tried for name, tried in FEWER_LENGTHS.items()}
for (lengths, tried), device in product(WHICH.items(), (True, False)):
    for missing, lines, advice in (
        ("dtype", {DTYPE: ""}, NUMBERS),
        ("shape", {SHAPE: ""}, MORE_AXES),
        ("dtype_and_shape", {DTYPE: "", SHAPE: ""}, NUMBERS_AND_AXES),
    ):
        name = f"{missing}_not_tested{lengths}" + ("" if device else "_nor_device")
        edits = BY_ENTRY | lines | {LENGTHS: tried} | ({} if device else {DEVICE: ""})
        wrong.several(name, edits, advice)


COMPARED_WITH_ITSELF = (
    "Your test compares masks of `impl` only with one another, so it accepts a version that is "
    "wrong in the same way everywhere. Which entries do you know without calling it?"
)


@exercise.mistake(COMPARED_WITH_ITSELF)
def compared_with_itself(impl):
    assert impl(4).dtype == torch.bool
    assert torch.equal(impl(4), impl(4, 4))
    assert torch.equal(impl(2, 5), impl(5)[-2:])
    assert torch.equal(impl(5, 2)[3:], impl(2))
    assert impl(3, device="meta").device.type == "meta"


@exercise.mistake(COMPARED_WITH_ITSELF)
def one_call_compared_with_another(impl):
    for Lq, Lk in SQUARE + MORE_KEYS + FEWER_KEYS:
        assert torch.equal(impl(Lq, Lk), impl(Lq, Lk))


@exercise.mistake(COMPARED_WITH_ITSELF)
def rows_compared_with_the_square(impl):
    for Lq, Lk in MORE_KEYS + LONG[:1]:
        assert torch.equal(impl(Lq, Lk), impl(Lk)[Lk - Lq :])


@exercise.mistake(NUMBERS_AND_AXES)
def entries_only(impl):
    for Lq, Lk in ((4, 4), (8, 8), (2, 7), (5, 3)):
        assert (impl(Lq, Lk) == expected(Lq, Lk)).all()
