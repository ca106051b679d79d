"""States read without opening the journal are those that the journal has."""

from __future__ import annotations

from pathlib import Path

from gradekit.results.journal import Journal
from gradekit.results.records import ExerciseResult, State, SubmissionRecord
from gradekit.results.states import states_in

LAB = "lab01"


def test_they_are_those_of_the_journal(tmp_path: Path) -> None:
    path = tmp_path / "lab01.jsonl"
    with Journal(path) as journal:
        for student, state in (
            ("ada", State.OURS), ("bob", State.THEIRS), ("cyd", State.GRADED), ("ada", State.GRADED)
        ):  # fmt: skip
            record = SubmissionRecord(student, LAB, "digest", state)
            result = ExerciseResult('{"kind": "submission",', "", ())
            journal.append_graded(record, [result], {result.exercise: f"{student} {state}"})
        journal.withdraw("cyd")
        expected = {record.student: record.state for record in journal.submissions}
        assert states_in(path) == expected == {"ada": State.GRADED, "bob": State.THEIRS}, (
            "also while the journal is open"
        )


def test_damaged_lines_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "lab01.jsonl"
    with Journal(path) as journal:
        journal.append([SubmissionRecord("ada", LAB, "digest", State.GRADED)])
    whole = path.read_bytes()
    path.write_bytes(
        whole
        + b'{"kind": "submission", "student": "bob", "state": "lost"}\n'
        + b'{"kind": "submission", "student"\n'
        + b'{"kind": "withdrawn", "nobody": 1}\n'
        + whole.replace(b"ada", b"eve")[:-9]
    )
    assert states_in(path) == {"ada": State.GRADED}


def test_no_journal_has_no_states(tmp_path: Path) -> None:
    assert states_in(tmp_path / "lab01.jsonl") == {}
