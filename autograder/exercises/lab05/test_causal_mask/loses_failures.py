"""Wrong tests that compare and lose the failure: in a tuple, unread, in an `except`."""

from __future__ import annotations

import torch

from gradekit.exercise import FAILURES_CAUGHT, TUPLES_ASSERTED

from . import exercise
from .also_right import FEWER_KEYS, LONG, MORE_KEYS, SQUARE, entry_by_entry, expected, right_for

wrong = exercise.edits(entry_by_entry)

SHAPE = "        assert mask.shape == (Lq, Lk)\n"
EQUAL, WITHOUT_LK = "torch.equal(mask, expected(Lq, Lk))", "torch.equal(impl(4), expected(4, 4))"
DEVICE = '    assert impl(3, device="meta").device.type == "meta"\n'
ASSERTS_NOTHING = (
    "Your test calls `impl` and accepts every mask that was tried, however wrong. Does it reach an "
    "`assert` whose condition can be false?"
)

# A list is as true as a tuple, but Python does not warn of it here.
for name, dtype in (
    ("", "[mask.dtype == torch.bool, 'dtype']"),
    ("_of_entries", "mask.dtype == torch.bool"),
):
    wrong.several(
        f"tuple_asserted{name}",
        {
            "mask.dtype == torch.bool": dtype,
            SHAPE: "",
            EQUAL: f"[{EQUAL}, 'entries']",
            f"    assert {WITHOUT_LK}\n": "",
            DEVICE: "",
        },
        TUPLES_ASSERTED,
    )
ENTRIES_UNREAD = (
    "Your test accepts masks with wrong entries, although it looks at dtype, shape or device. "
    "Which `assert` of it, if any, can fail because of an entry?"
)
RESULT_UNREAD = (
    "Nothing reads the result of a comparison in your test: it stands alone on its line (such as "
    "`torch.equal(…)`), or its name is not read, or not before another result takes it. Which "
    "statement turns a False into an error?"
)
for name, dtype in (("", ""), ("_of_entries", "assert ")):
    wrong.several(
        f"result_unread{name}",
        {
            "assert mask.dtype == torch.bool": f"{dtype}mask.dtype == torch.bool",
            SHAPE: "",
            f"assert {EQUAL}": EQUAL,
            f"    assert {WITHOUT_LK}\n": "",
            DEVICE: "",
        },
        RESULT_UNREAD,
    )
wrong(
    "first_result_unread",
    f"assert {EQUAL}",
    f"same = {EQUAL}\n        same = mask.shape == (Lq, Lk)\n        assert same",
    RESULT_UNREAD,
)
# One line among good ones. What such a test accepts is what this line alone would reject.
ONE_LINE = {
    "dtype": "mask.dtype == torch.bool",
    "shape": "mask.shape == (Lq, Lk)",
    "entries_without_Lk": WITHOUT_LK,
    "device": 'impl(3, device="meta").device.type == "meta"',
}
for name, condition in ONE_LINE.items():
    line = f"assert {condition}\n"
    wrong(f"tuple_asserted_of_{name}", line, f"assert [{condition}, 'wrong']\n", TUPLES_ASSERTED)
    wrong(f"{name}_result_unread", line, f"{condition}\n", RESULT_UNREAD)
# These lose failures as the tests above do, but in a way that their code does not show.
for name, dtype in (("results", "same.append(mask.dtype == torch.bool)"), ("entries", "")):
    wrong.several(
        f"{name}_in_a_list",
        {
            "        mask = impl(Lq, Lk)\n": "        mask, same = impl(Lq, Lk), []\n",
            "assert mask.dtype == torch.bool": dtype or "assert mask.dtype == torch.bool",
            SHAPE: "",
            f"assert {EQUAL}": f"same.append({EQUAL})",
            f"    assert {WITHOUT_LK}\n": "",
            DEVICE: "",
        },
        ENTRIES_UNREAD if name == "entries" else ASSERTS_NOTHING,
    )


@exercise.mistake(FAILURES_CAUGHT)
def failures_caught(impl):
    try:  # noqa: SIM105
        right_for(impl, *SQUARE, *MORE_KEYS, *FEWER_KEYS, *LONG)
    except AssertionError:
        pass


@exercise.mistake(FAILURES_CAUGHT)
def all_errors_caught(impl):
    try:  # noqa: SIM105
        right_for(impl, *SQUARE, *MORE_KEYS, *FEWER_KEYS, *LONG)
    except Exception:
        pass


@exercise.mistake(FAILURES_CAUGHT)
def failures_returned(impl):
    try:
        right_for(impl, *SQUARE, *MORE_KEYS, *FEWER_KEYS, *LONG)
    except AssertionError:
        return False
    return True


@exercise.mistake(FAILURES_CAUGHT)
def all_errors_returned(impl):
    try:
        right_for(impl, *SQUARE, *MORE_KEYS, *FEWER_KEYS, *LONG)
    except Exception:
        return False
    return True


@exercise.mistake(FAILURES_CAUGHT)
def failures_of_entries_caught(impl):
    for Lq, Lk in SQUARE + MORE_KEYS + FEWER_KEYS + LONG:
        mask = impl(Lq, Lk)
        assert mask.dtype == torch.bool
        try:  # noqa: SIM105
            assert torch.equal(mask, expected(Lq, Lk))
        except AssertionError:
            pass


@exercise.mistake(FAILURES_CAUGHT)
def some_failures_caught(impl):
    entry_by_entry(impl)
    try:  # noqa: SIM105
        assert torch.equal(impl(2, 3), expected(2, 3))
    except AssertionError:
        pass
