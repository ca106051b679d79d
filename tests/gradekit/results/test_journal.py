"""The journal: what is written is read again, after kills, damage and a full disk, too."""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gradekit.errors import JournalError, JournalLockedError
from gradekit.results.journal import GradebookRecord, Journal, plan
from gradekit.results.records import ExerciseResult, Record, State, SubmissionRecord, make_key
from tests.helpers.cpu_time import takes_less_than
from tests.helpers.submissions import LAB, result


def record(student: str, exercise: str, earned: float = 8, broken: str | None = None) -> Record:
    made = result(exercise, earned, 8, "Look at the axis.")
    if broken:
        made = ExerciseResult(exercise, exercise, (), broken=broken)
    return Record(student, LAB, f"digest of {student}", make_key(student, exercise), made)


def submission(student: str, state: State = State.GRADED, digest: str = "") -> SubmissionRecord:
    return SubmissionRecord(
        student,
        LAB,
        digest or f"digest of {student}",
        state,
        "",
        ("odd",),
        {"explain": "d1"},
        "2026-09-20T21:59:00+00:00",
        0.5,
    )


def keys(student: str, digest: str) -> dict[str, str]:
    return {name: make_key(student, name) for name in ("softmax", "entropy")}


def graded(student: str) -> list[Record | SubmissionRecord]:
    return [record(student, "softmax"), record(student, "entropy", 3), submission(student)]


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "results" / "lab01.jsonl"
    with Journal(path) as journal:
        journal.append(graded("ada"))
    with Journal(path) as journal:
        assert journal.record(make_key("ada", "entropy")) == record("ada", "entropy", 3)
        assert journal.earned(make_key("ada", "entropy")) == 3
        assert journal.submission("ada") == submission("ada")
        assert journal.submission("ada", "another") is None
        assert journal.submissions == (submission("ada"),)
        assert journal.record("unknown") is None
        assert journal.notes == ()


def test_a_submissions_exercises_are_read_together(tmp_path: Path) -> None:
    known = record("ada", "softmax", 2)
    known = replace(known, result=replace(known.result, mistakes=("wrong_axis",)))
    ours = record("ada", "entropy", broken="the disk was full")
    asked = keys("ada", "") | {"later": "a key without a record"}
    with Journal(tmp_path / "lab01.jsonl") as journal:
        journal.append([known, ours])
        assert journal.scores(asked) == {"softmax": 2, "entropy": None, "later": None}
        assert journal.mistakes(asked) == {"softmax": ("wrong_axis",)}
        assert journal.missing(asked) == ("entropy", "later")
        assert journal.recorded(asked, journal.missing(asked)) == {"softmax": known.result}


def test_a_later_line_replaces_an_earlier_one(tmp_path: Path) -> None:
    with Journal(tmp_path / "lab01.jsonl") as journal:
        journal.append([record("ada", "softmax", 2)])
        journal.append([record("ada", "softmax", 8)])
        assert journal.earned(make_key("ada", "softmax")) == 8
    with Journal(tmp_path / "lab01.jsonl") as journal:
        assert journal.earned(make_key("ada", "softmax")) == 8


def test_the_latest_results_of_a_submission_are_found_by_exercise(tmp_path: Path) -> None:
    second = Record("ada", LAB, "digest of ada", "another key", result("softmax", 8, 8))
    with Journal(tmp_path / "lab01.jsonl") as journal:
        journal.append([*graded("ada"), *graded("bob"), second])
        assert journal.results("ada", "digest of ada") == {
            "softmax": second,
            "entropy": record("ada", "entropy", 3),
        }
        assert journal.results("ada", "another") == {}


def test_records_are_plain_json_one_per_line(tmp_path: Path) -> None:
    path = tmp_path / "lab01.jsonl"
    with Journal(path) as journal:
        journal.append(graded("ad\ud800a\n"))
    lines = path.read_text("ascii").splitlines()
    assert len(lines) == 3
    first = json.loads(lines[0])
    assert first["kind"] == "exercise"
    assert (first["earned"], first["points"]) == (8, 8)
    assert first["checks"][1]["title"] == "Stays finite for large scores."


@pytest.mark.parametrize("cut", [1, 20, 200])
def test_a_line_cut_short_is_dropped_and_reported(cut: int, tmp_path: Path) -> None:
    path = tmp_path / "lab01.jsonl"
    with Journal(path) as journal:
        journal.append(graded("ada"))
        whole = path.stat().st_size
        journal.append([record("bob", "softmax")])
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - cut)
    with Journal(path) as journal:
        assert "cut short" in journal.notes[0]
        assert path.stat().st_size == whole
        assert journal.earned(make_key("bob", "softmax")) is None
        journal.append([record("bob", "softmax")])
    with Journal(path) as journal:
        assert journal.notes == ()
        assert journal.earned(make_key("bob", "softmax")) == 8
        assert journal.submission("ada") is not None


def test_a_damaged_line_inside_is_left_out_and_reported(tmp_path: Path) -> None:
    path = tmp_path / "lab01.jsonl"
    with Journal(path) as journal:
        journal.append(graded("ada"))
    lines = path.read_bytes().splitlines(keepends=True)
    lines[0:1] = [b"\x00\xff garbage\n", b'{"kind": "poem"}\n', b"[]\n", b'{"kind": "exercise"}\n']
    lines.insert(0, b"[" * 100_000 + b"\n")
    path.write_bytes(b"".join(lines))
    with Journal(path) as journal:
        assert len(journal.notes) == 5
        assert "line 1:" in journal.notes[0]
        assert journal.missing(keys("ada", "")) == ("softmax",)


@pytest.mark.parametrize(
    "change",
    [
        {"student": None},
        {"student": 7},
        {"key": ["k"]},
        {"title": 1},
        {"seconds": float("inf")},
        {"checks": [{"earned": "12"}]},
        {"checks": [{"earned": float("nan")}]},
        {"checks": [{"name": None}]},
    ],
)
def test_a_line_of_wrong_types_is_left_out_and_reported(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    path = tmp_path / "lab01.jsonl"
    with Journal(path) as journal:
        journal.append([record("ada", "softmax")])
    values = json.loads(path.read_text())
    checks = [{**values["checks"][0], **one} for one in change.get("checks", values["checks"])]
    path.write_text(json.dumps({**values, **change, "checks": checks}) + "\n")
    with Journal(path) as journal:
        assert "line 1: damaged and left out" in journal.notes[0]
        assert journal.earned(make_key("ada", "softmax")) is None


def test_an_unknown_kind_of_record_raises(tmp_path: Path) -> None:
    poem: Any = "a poem"
    with Journal(tmp_path / "lab01.jsonl") as journal:
        with pytest.raises(AssertionError, match="a poem"):
            journal.append([poem])
        with pytest.raises(ValueError, match="poem"):
            journal._index(0, "poem", {})
    assert (tmp_path / "lab01.jsonl").read_bytes() == b""


def test_an_unknown_state_is_not_planned_but_raises(tmp_path: Path) -> None:
    with Journal(tmp_path / "lab01.jsonl") as journal:
        journal.append(graded("ada"))
        lost: Any = "lost"
        journal._submissions["ada"] = submission("ada", lost)
        with pytest.raises(AssertionError, match="lost"):
            plan(journal, [("ada", "digest of ada")], keys)


def test_the_results_of_one_submission_are_written_together(tmp_path: Path) -> None:
    results = [result("softmax", 8, 8, "Look at the axis."), result("entropy", 3, 8)]
    with Journal(tmp_path / "lab01.jsonl") as journal:
        journal.append_graded(submission("ada"), results, keys("ada", ""))
        assert journal.missing(keys("ada", "")) == ()
        assert journal.earned(make_key("ada", "entropy")) == 3
    lines = (tmp_path / "lab01.jsonl").read_text().splitlines()
    assert [json.loads(line)["kind"] for line in lines] == ["exercise", "exercise", "submission"]


def test_the_plan_is_what_has_no_record(tmp_path: Path) -> None:
    submissions = [
        (name, f"digest of {name}") for name in ("ada", "bob", "cyd", "dan", "eve", "fay")
    ]
    with Journal(tmp_path / "lab01.jsonl") as journal:
        journal.append(graded("ada"))
        journal.append([record("bob", "softmax"), submission("bob")])
        journal.append([submission("cyd", State.THEIRS)])
        journal.append([record("dan", "softmax"), record("dan", "entropy", broken="no answer")])
        journal.append([submission("dan", State.OURS)])
        journal.append([record("fay", "softmax"), record("fay", "entropy")])
        todo = plan(journal, submissions, keys)
    assert todo == {
        "bob": ("entropy",),
        "dan": ("entropy",),
        "eve": ("softmax", "entropy"),
        "fay": (),
    }


def test_a_new_submission_or_a_changed_exercise_is_planned(tmp_path: Path) -> None:
    def changed(student: str, digest: str) -> dict[str, str]:
        return {**keys(student, digest), "entropy": make_key("entropy, second edition")}

    with Journal(tmp_path / "lab01.jsonl") as journal:
        journal.append(graded("ada"))
        assert plan(journal, [("ada", "digest of ada")], keys) == {}
        assert plan(journal, [("ada", "digest of ada")], changed) == {"ada": ("entropy",)}
        assert plan(journal, [("ada", "other")], keys) == {"ada": ()}


def test_stored_results_are_recorded(tmp_path: Path) -> None:
    stored = GradebookRecord("ada", "f1", "sqlite:///a.db", "row", {"explain": "d1"})
    with Journal(tmp_path / "lab01.jsonl") as journal:
        journal.mark_stored(stored)
    with Journal(tmp_path / "lab01.jsonl") as journal:
        assert journal.stored("ada", "sqlite:///a.db") == stored
        assert journal.stored("ada", "sqlite:///b.db") is None


def test_a_second_process_learns_which_one_has_the_journal(tmp_path: Path) -> None:
    path = tmp_path / "lab01.jsonl"
    with Journal(path), pytest.raises(JournalLockedError) as refused, Journal(path, wait=0):
        pass
    assert f"process {os.getpid()}" in str(refused.value)
    assert "since 20" in str(refused.value)
    with Journal(path):
        pass


def hold(path: Path, ready: multiprocessing.synchronize.Event, seconds: float) -> None:
    with Journal(path) as journal:
        ready.set()
        time.sleep(seconds)
        journal.append(graded("ada"))


def test_a_second_process_waits_for_the_first(tmp_path: Path) -> None:
    path, said = tmp_path / "lab01.jsonl", list[str]()
    ready = multiprocessing.get_context("spawn").Event()
    other = multiprocessing.get_context("spawn").Process(target=hold, args=(path, ready, 0.4))
    other.start()
    assert ready.wait(60)
    with Journal(path, wait=60, on_wait=said.append) as journal:
        assert journal.submission("ada") is not None
    other.join()
    assert len(said) == 1
    assert f"process {other.pid}" in said[0]


WRITER = """
import sys
from pathlib import Path
sys.path += {paths!r}
from test_journal import graded
from gradekit.results.journal import Journal
with Journal(Path(sys.argv[1])) as journal:
    for number in range(10**6):
        journal.append(graded(f"student {{number}}"))
        print(number, flush=True)
"""


def test_a_kill_at_any_moment_loses_nothing_that_was_reported_as_written(tmp_path: Path) -> None:
    path = tmp_path / "lab01.jsonl"
    script = WRITER.format(paths=[str(Path(__file__).parent), str(Path(__file__).parents[3])])
    done = -1
    for _ in range(2):
        writer = subprocess.Popen(
            [sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        for line in writer.stdout:
            done = int(line)
            if done >= 20:
                writer.send_signal(signal.SIGKILL)
                break
        writer.stdout.close()
        writer.wait()
        with Journal(path) as journal:
            assert all(journal.submission(f"student {number}") for number in range(done + 1))
            assert not journal.missing(keys("student 20", ""))


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file")
    with pytest.raises(JournalError, match="results"), Journal(tmp_path / "results" / "a.jsonl"):
        pass


@pytest.mark.parametrize("space", [0, 1, 200, 700])
def test_lines_without_space_on_the_disk_are_removed_again(space: int, tmp_path: Path) -> None:
    path = tmp_path / "lab01.jsonl"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Journal(path) as journal:
        journal.append(graded("ada"))
        size = path.stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + space, before[1]))
        try:
            with pytest.raises(JournalError, match=r"cannot be written \(File too large\)"):
                journal.append(graded("bob"))
            assert path.stat().st_size == size
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert journal.submission("bob") is None
        assert journal.missing(keys("bob", "")) == ("softmax", "entropy")
        assert journal.record(make_key("ada", "softmax")) == record("ada", "softmax")
        with pytest.raises(JournalError, match="not open"):
            journal.append(graded("bob"))
    with Journal(path) as journal:
        assert journal.notes == ()
        journal.append(graded("bob"))
    with Journal(path) as journal:
        assert len(journal.submissions) == 2


def test_a_line_without_a_field_is_not_a_result(tmp_path: Path) -> None:
    path = tmp_path / "lab01.jsonl"
    with Journal(path) as journal:
        journal.append(graded("ada"))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    del lines[0]["student"]
    del lines[1]["checks"]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with Journal(path) as journal:
        assert len(journal.notes) == 2
        assert journal.missing(keys("ada", "")) == ("softmax", "entropy")
        assert journal.results("ada", "digest of ada") == {}


def test_writing_outside_the_block_is_refused(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="not open"):
        Journal(tmp_path / "a.jsonl").append(graded("ada"))


def test_a_thousand_submissions_are_read_quickly(tmp_path: Path) -> None:
    path = tmp_path / "lab01.jsonl"
    with Journal(path) as journal:
        for number in range(1000):
            name = f"s{number}"
            lines = [record(name, f"exercise{e}") for e in range(10)]
            journal.append([*lines, submission(name)], durable=False)

    def read() -> None:
        with Journal(path) as journal:
            assert len(journal.submissions) == 1000

    assert takes_less_than(2, read)
