"""Wrong tests of softmax whose comparisons fail without an error."""

from __future__ import annotations

import torch

from gradekit.exercise import FAILURES_CAUGHT

from . import exercise


def compared(impl):
    """For each axis, whether the shares are right."""
    x = torch.randn(3, 5, 7, dtype=torch.float64)
    return [torch.allclose(impl(x.clone(), dim), torch.softmax(x, dim)) for dim in range(3)]


@exercise.mistake(
    "An `assert` in your test is followed by a tuple: `assert (condition, message)`. Is a tuple "
    "with two parts ever false?"
)
def tuple_asserted(impl):
    for dim, right in enumerate(compared(impl)):
        # A list is as true as a tuple, but Python does not warn of it here.
        assert [right, f"axis {dim}"]


UNREAD = (
    "Nothing reads the result of a comparison in your test: it stands alone on its line (such as "
    "`torch.allclose(…)`), or its name is not read, or not before another result takes it. Which "
    "statement turns a False into an error?"
)


@exercise.mistake(UNREAD)
def result_unread(impl):
    for dim, right in enumerate(compared(impl)):
        right == True  # noqa: B015, E712 - the mistake
        assert dim < 3


@exercise.mistake(UNREAD)
def only_the_last_result_read(impl):
    x = torch.randn(3, 5, 7, dtype=torch.float64)
    for dim in range(3):
        right = torch.allclose(impl(x.clone(), dim), torch.softmax(x, dim))
    assert right


@exercise.mistake(FAILURES_CAUGHT)
def failures_caught(impl):
    try:  # noqa: SIM105
        assert all(compared(impl))
    except AssertionError:
        pass


@exercise.mistake(FAILURES_CAUGHT)
def all_errors_caught(impl):
    try:  # noqa: SIM105
        assert all(compared(impl))
    except Exception:
        pass
