"""The state that table and page show: the record's own, and late if the due date had passed.

Tested in tests/gradekit/feedback/test_shown_state.py.
"""

from __future__ import annotations

from gradekit.late import Lateness
from gradekit.results.records import State, SubmissionRecord


def shown_state(record: SubmissionRecord, late: Lateness) -> State:
    """The state of a submission as people read it.

    Raises:
        ValueError: the record has a state that records do not have.
    """
    match record.state:
        case State.GRADED:
            return State.LATE if late.is_late else State.GRADED
        case State.THEIRS | State.OURS:
            return record.state
        case state:
            raise ValueError(f"a record of {record.student} has the state {state!r}")
