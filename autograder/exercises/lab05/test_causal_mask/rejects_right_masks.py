"""Wrong tests that reject right masks: they demand what the task does not promise."""

from __future__ import annotations

import torch

from .also_right import FEWER_KEYS, LONG, MORE_KEYS, SQUARE, entry_by_entry, expected, right_for
from .loses_failures import DEVICE, EQUAL, exercise

wrong = exercise.edits(entry_by_entry)

LAYOUT = (
    "Your test rejects a right mask because of its layout in memory (`stride`, `is_contiguous`, or "
    "a `view`, which needs one layout). Which sentence of the task of 5.1 promises a layout?"
)
wrong("layout_demanded", DEVICE, DEVICE + "    assert impl(3, 5).is_contiguous()\n", LAYOUT)
VIEWS = "    assert impl(3, 5).view(-1).any() and impl(5, 3).view(-1).any()\n"
wrong("one_layout_viewed", DEVICE, DEVICE + VIEWS, LAYOUT)
ALONE = "    assert all(impl(*size)._base is None for size in ((3, 5), (5, 3), (4, 4)))\n"
for name, also in (("", ""), ("_in_one_layout", "    assert impl(3, 5).is_contiguous()\n")):
    wrong(f"own_memory_demanded{name}", DEVICE, DEVICE + ALONE + also, LAYOUT)


@exercise.mistake(
    "Your test rejects right masks: it expects False for a query's own place. According to the "
    "task of 5.1, may a token attend to itself?"
)
def strict_demanded(impl):
    assert torch.equal(impl(4), expected(4, 4).tril(-1))


@exercise.mistake(
    "Your test rejects right masks: it expects True for the keys that are hidden. What does True "
    "mean in the task of 5.1?"
)
def inverted_demanded(impl):
    assert torch.equal(impl(4), ~expected(4, 4))


LATER_KEYS_DEMANDED = (
    "Your test rejects right masks: it expects True for the later keys and False for the earlier "
    "ones. What does True mean in the task of 5.1?"
)


@exercise.mistake(LATER_KEYS_DEMANDED)
def later_keys_of_a_square_demanded(impl):
    assert torch.equal(impl(4), torch.ones(4, 4).triu().bool())


@exercise.mistake(LATER_KEYS_DEMANDED)
def later_keys_demanded(impl):
    for Lq, Lk in SQUARE + MORE_KEYS + FEWER_KEYS:
        assert torch.equal(impl(Lq, Lk), torch.ones(Lq, Lk).triu(Lk - Lq).bool())


DIFFERENCE_DEMANDED = (
    "Your test rejects right masks and accepts wrong ones: it asks for a difference "
    "(`assert not …`, or `!=`). When does its condition hold, and when should it?"
)


@exercise.mistake(DIFFERENCE_DEMANDED)
def difference_demanded(impl):
    assert not torch.equal(impl(4), expected(4, 4))


@exercise.mistake(DIFFERENCE_DEMANDED)
def difference_demanded_for_all_lengths(impl):
    for Lq, Lk in SQUARE + MORE_KEYS + FEWER_KEYS:
        assert not torch.equal(impl(Lq, Lk), expected(Lq, Lk))


@exercise.mistake(
    "Your test rejects right masks: it expects the triangle in the top left corner when there are "
    "more keys than queries. According to the task of 5.1, at which key does the last query stand?"
)
def top_left_demanded(impl):
    assert torch.equal(impl(4), expected(4, 4))
    assert torch.equal(impl(2, 5), torch.ones(2, 5).tril().bool())


@exercise.mistake(
    "Your test rejects right masks: where the numbers of keys and queries differ, it expects the "
    "triangle moved the wrong way. According to the task of 5.1, at which key does the last query "
    "stand?"
)
def other_way_demanded(impl):
    for Lq, Lk in SQUARE + MORE_KEYS + FEWER_KEYS:
        assert torch.equal(impl(Lq, Lk), torch.ones(Lq, Lk).tril(Lq - Lk).bool())


FIRST_KEY_DEMANDED = (
    "Your test rejects right masks: with fewer keys than queries, it expects every query to see a "
    "key. According to the task of 5.1, what do the first queries see there?"
)


@exercise.mistake(FIRST_KEY_DEMANDED)
def first_key_demanded(impl):
    right_for(impl, *SQUARE, *MORE_KEYS)
    for Lq, Lk in FEWER_KEYS:
        mask = expected(Lq, Lk)
        mask[:, 0] = True
        assert torch.equal(impl(Lq, Lk), mask)
    assert torch.equal(impl(4), expected(4, 4))
    assert impl(3, device="meta").device.type == "meta"


FEWER_KEYS_ELSEWHERE = (
    "Your test rejects right masks: with fewer keys than queries, it expects the triangle in "
    "another place. According to the task of 5.1, at which key does the last query stand?"
)
for name, demanded in (
    ("top_left_demanded_for_fewer_keys", "torch.ones(Lq, Lk).tril(max(0, Lk - Lq)).bool()"),
    ("blocked_queries_demanded_last", "expected(Lq, Lk).roll(min(0, Lk - Lq), 0)"),
):
    wrong(name, EQUAL, f"torch.equal(mask, {demanded})", FEWER_KEYS_ELSEWHERE)


@exercise.mistake(
    "Your test rejects every mask on a machine without the device that it asks for. Which device "
    "exists on every machine?"
)
def device_missing(impl):
    entry_by_entry(impl)
    assert impl(3, device="cuda:99").device.index == 99


@exercise.mistake(
    'A tensor on "meta" has a shape, a dtype and a device, but no entries. What can you ask it?'
)
def entries_read_on_meta(impl):
    entry_by_entry(impl)
    assert torch.equal(impl(3, device="meta"), expected(3, 3))


wrong(
    "device_compared_with_text",
    '.device.type == "meta"',
    '.device == "meta"',
    "Your test rejects right masks: it compares a device with text, and a device is not text "
    '(`torch.device("meta") == "meta"` is False). Which attribute of a device is its name?',
)


@exercise.mistake(
    "Your test rejects every version, right ones included. Run it on your own mask: what stops it, "
    "and does the task of 5.1 promise that, on every machine?"
)
def everything_rejected(impl):
    for Lq, Lk in SQUARE + MORE_KEYS + FEWER_KEYS:
        assert impl(Lq, Lk).any(-1).all()
    right_for(impl, *SQUARE, *MORE_KEYS, *FEWER_KEYS, *LONG)
