"""The state that table and page show."""

from __future__ import annotations

import pytest

from gradekit.feedback.shown_state import shown_state
from gradekit.late import Lateness
from gradekit.results.records import State, SubmissionRecord

LATE = Lateness(seconds=90_000, days=2, percent=20)


@pytest.mark.parametrize(
    ("state", "late", "shown"),
    [
        (State.GRADED, Lateness(), State.GRADED),
        (State.GRADED, LATE, State.LATE),
        (State.THEIRS, LATE, State.THEIRS),
        (State.OURS, LATE, State.OURS),
    ],
)
def test_only_a_graded_submission_is_shown_as_late(
    state: State, late: Lateness, shown: State
) -> None:
    assert shown_state(SubmissionRecord("ada", "lab01", "digest", state), late) is shown


@pytest.mark.parametrize("state", [State.LATE, "lost"])
def test_any_other_state_is_an_error(state: State) -> None:
    with pytest.raises(ValueError, match="a record of ada has the state"):
        shown_state(SubmissionRecord("ada", "lab01", "digest", state), Lateness())
