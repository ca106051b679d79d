"""Whatever happens while a class is graded: nothing is lost, and nothing is graded twice."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from gradekit.course import load_course
from gradekit.errors import GradebookError, JournalError, ResultNotKeptError
from gradekit.gradebook.address import address_of
from gradekit.grading import grade, pool
from gradekit.grading.grade import Settings
from gradekit.results.journal import Journal
from gradekit.results.records import State
from tests.helpers import tiny_class
from tests.helpers.interruptions import (
    KillsForkServer,
    empty_gradebook,
    kill_and_go_on,
    largest_file,
    length,
    other_writer,
    replay_as,
    run,
    same,
    stricter,
    wait_at_most,
)
from tests.helpers.tiny_class import LAB, LATE, NAME, autograded_of, gradebook_of, journal_of

STUDENTS = ("ada", "bob", "cyd", "eve")


@pytest.fixture
def fresh(undisturbed, tmp_path) -> Path:
    """The class before it is graded."""
    return Path(shutil.copytree(undisturbed.fresh, tmp_path / "course"))


@pytest.fixture
def graded(undisturbed, tmp_path) -> Path:
    """The class after it was graded."""
    return Path(shutil.copytree(undisturbed.root, tmp_path / "course"))


@pytest.fixture
def replay(undisturbed, monkeypatch):
    """No student code runs: what the workers brought back once, they bring back again.

    The list holds who was graded, and what was asked.
    """
    asked = []

    def played(function, tasks, *more):
        for task in tasks:
            asked.append((task.submitted.student, task.asked))
            done = undisturbed.done[task.submitted.student, task.submitted.digest]
            results = tuple(result for result in done.results if result.exercise in task.asked)
            yield task, replace(done, results=results)

    monkeypatch.setattr(pool, "run", played)
    return asked


# -- killed ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_killed_at_six_moments_nothing_is_lost_or_done_twice(undisturbed, tmp_path):
    kill_and_go_on(undisturbed, tmp_path, 6, random.randrange(10**6))


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_killed_at_fifty_moments_nothing_is_lost_or_done_twice(undisturbed, tmp_path):
    kill_and_go_on(undisturbed, tmp_path, 50, random.randrange(10**6))


PARENT = """
import sys, time, multiprocessing
from concurrent.futures import ProcessPoolExecutor
from gradekit.grading import pool
spawn = multiprocessing.get_context("spawn")
if __name__ == "__main__":
    pools = {"ours": pool.processes, "plain": lambda n: ProcessPoolExecutor(n, spawn)}
    kept = pools[sys.argv[1]](1)  # a pool that is no longer referred to ends its workers
    print(kept.submit(pool.os.getpid).result(), flush=True)
    time.sleep(60)
"""


def worker_ends(tmp_path, kind, seconds):
    """Whether a worker ends so soon after the process that started it was killed."""
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    line = [tiny_class.sys.executable, str(script), kind]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    try:
        worker.wait(seconds)
    except psutil.TimeoutExpired:
        worker.kill()
        return False
    return True


def test_workers_end_with_the_process_that_started_them(tmp_path):
    assert not worker_ends(tmp_path, "plain", 1)
    assert worker_ends(tmp_path, "ours", 30)


def test_a_secret_that_was_never_written_is_created_again(tmp_path):
    (tmp_path / "secret").touch()
    secret = grade.course_secret(tmp_path)
    assert len(secret) == 32
    assert grade.course_secret(tmp_path) == secret
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]


def test_a_fork_server_that_is_killed_costs_nothing_but_time(fresh, undisturbed):
    progress = KillsForkServer()
    summary = grade.grade_lab(load_course(fresh), LAB, Settings(1), progress)
    assert progress.killed
    assert not summary.broken_ours
    same(fresh, undisturbed)


# -- a full disk ----------------------------------------------------------------------------------


def test_a_journal_that_cannot_grow_has_no_half_line_and_the_next_run_continues(
    fresh, undisturbed, replay
):
    empty_gradebook(fresh, undisturbed)
    path = fresh / "results" / f"{LAB}.jsonl"
    # Longer than any notebook, so that the limit meets the journal alone.
    path.write_text(
        (
            json.dumps(
                {
                    "kind": "stored",
                    "student": "x",
                    "fingerprint": "f" * 200,
                    "book": "b",
                    "row": "r",
                    "answers": {},
                }
            )
            + "\n"
        )
        * 400
    )
    two_and_a_half = sum(length(undisturbed, s) for s in ("ada", "bob")) + 500
    full = path.stat().st_size + two_and_a_half
    with largest_file(full), pytest.raises(JournalError) as stopped:
        run(fresh)
    assert str(stopped.value).startswith(f"{path} cannot be written (File too large); fix that")
    assert "\n" not in str(stopped.value)
    assert path.read_bytes().endswith(b"}\n")
    before = journal_of(fresh)
    assert {values["student"] for values in before} == {"ada", "bob"}, "two fitted"
    assert path.stat().st_size == full - 500, "the half line was taken back"
    asked = len(replay)
    summary, _ = run(fresh)
    assert summary.graded == 2
    assert [student for student, _ in replay[asked:]] == ["cyd", "eve"]
    same(fresh, undisturbed)


def test_a_notebook_that_cannot_be_written_is_one_message_and_no_record(fresh, undisturbed, replay):
    empty_gradebook(fresh, undisturbed)
    with largest_file(3000), pytest.raises(ResultNotKeptError) as stopped:
        run(fresh)
    assert "the result of ada cannot be written to" in str(stopped.value)
    assert "File too large" in str(stopped.value)
    assert journal_of(fresh) == []
    assert autograded_of(fresh) == {}
    run(fresh)
    same(fresh, undisturbed)


def test_a_gradebook_that_cannot_grow_is_one_message_and_written_by_the_next_run(
    fresh, undisturbed, replay
):
    with largest_file(40_000), pytest.raises(GradebookError) as stopped:
        run(fresh)
    assert "graded work is recorded" in str(stopped.value)
    assert not list(fresh.glob("*gradebook*"))
    replay.clear()
    run(fresh)
    assert replay == []
    same(fresh, undisturbed)


FULL = """
set -e
mount -t tmpfs -o size=24k tmpfs results
printf %32s secret > results/secret
head -c 8192 /dev/zero > results/ballast
if "$@" 2> said; then exit 9; fi
cp results/lab01.jsonl half.jsonl
rm results/ballast
"$@"
cp results/lab01.jsonl whole.jsonl
"""


@pytest.mark.slow
def test_a_disk_that_is_really_full(fresh):
    """`lab grade` with its results on a file system of 24 KiB."""
    own = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    line = [*own, "sh", "-c"]
    if subprocess.run([*line, "mount -t tmpfs tmpfs /mnt"], check=False).returncode:
        pytest.skip("this machine lets nobody mount a file system")
    shutil.rmtree(fresh / "results")
    (fresh / "results").mkdir()
    lab = [tiny_class.sys.executable, "-m", "gradekit.cli", "grade", LAB, "--jobs", "1"]
    done = subprocess.run(
        [*line, FULL, "sh", *lab], cwd=fresh, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    said = " ".join((fresh / "said").read_text().split())  # its lines are those of a terminal
    assert "No space left on device" in said.partition(" lab: ")[2]
    half = (fresh / "half.jsonl").read_text()
    assert half.endswith("}\n"), "some were kept, and no half line"
    assert (fresh / "whole.jsonl").read_text().startswith(half)
    assert [row[0] for row in gradebook_of(fresh)[2]] == list(STUDENTS)


# -- two at once ----------------------------------------------------------------------------------


def test_a_second_lab_grade_says_who_holds_the_journal_and_waits(graded, undisturbed):
    with Journal(graded / "results" / f"{LAB}.jsonl"):
        second = tiny_class.start_lab(graded, "grade", LAB)
        assert second.stderr is not None
        assert second.stderr.readline().startswith("sandbox: ")
        said = second.stderr.readline()
        assert f"is being written by process {os.getpid()} on " in said
        assert "; waiting" in said
        assert second.poll() is None
    out, _ = second.communicate()
    assert second.returncode == 0
    assert "0 graded now, 4 as before" in out
    same(graded, undisturbed)


def test_a_gradebook_that_is_locked_is_waited_for(graded, undisturbed, replay):
    wait_at_most(graded, 20)
    tiny_class.hand_in(graded, "bob", tiny_class.notebook(graded))
    undisturbed_ada = next(d for (s, _), d in undisturbed.done.items() if s == "ada")
    with_digest = replay_as(undisturbed, graded, "bob", undisturbed_ada)
    other = other_writer(graded / "gradebook.db", 1)
    with with_digest:
        _, rows = run(graded)
    other.join()
    assert rows["bob"].earned == 6
    assert ("bob", "check_softmax", 5.0, None, None, 0, 5.0) in gradebook_of(graded)[0]


def test_a_gradebook_that_stays_locked_is_one_sentence(fresh, undisturbed, replay):
    address = address_of(load_course(fresh))
    empty_gradebook(fresh, undisturbed)
    wait_at_most(fresh, 0.2)
    other = other_writer(fresh / "gradebook.db", 4)
    with pytest.raises(GradebookError) as stopped:
        run(fresh)
    assert other.is_alive(), "it gave up while the lock was held"
    said = str(stopped.value)
    assert said.startswith(f"the gradebook {address.url}")
    assert "is locked: another program has been writing it for 0.2 s" in said
    other.join()
    replay.clear()
    run(fresh)
    assert replay == [], "what was graded is on record"
    same(fresh, undisturbed)


# -- new hand-ins, other clocks, changed exercises ------------------------------------------------


def test_an_old_score_never_counts_for_a_new_hand_in(graded, undisturbed, monkeypatch):
    def fails(function, tasks, *more):
        for task in tasks:
            yield task, RuntimeError("the power went off")

    assert ("bob", "check_softmax", 3.0, None, None, 0, 5.0) in gradebook_of(graded)[0]
    tiny_class.hand_in(graded, "bob", tiny_class.notebook(graded, softmax="softmax = 0"))
    monkeypatch.setattr(pool, "run", fails)
    summary, rows = run(graded)
    assert summary.graded == 1
    assert rows["bob"].state is State.OURS
    assert rows["bob"].earned is None
    marks = [row for row in gradebook_of(graded)[0] if row[0] == "bob"]
    assert [row[2] for row in marks] == [None, None, None]
    assert all(row[5] for row in marks), "somebody has to look"


def test_a_clock_that_jumps_changes_nothing(graded, undisturbed, replay, monkeypatch):
    """The journal is from the future, the machine's clock from the past, a hand-in from neither."""
    future = time.time() + 400 * 86400
    for path in (graded / "results").iterdir():
        os.utime(path, (future, future))
    monkeypatch.setattr(time, "time", lambda: 86400.0)
    summary, rows = run(graded)
    assert summary.graded == 0
    same(graded, undisturbed)

    ada = next(d for (s, _), d in undisturbed.done.items() if s == "ada")
    content = tiny_class.notebook(graded, explain="No idea.")
    tiny_class.hand_in(graded, "ada", content, "2031-01-01 00:00:00.000000 UTC")
    folder = graded / "submitted" / "ada" / LAB
    os.utime(folder / f"{NAME}.ipynb", (0, 0))
    tiny_class.hand_in(graded, "cyd", tiny_class.notebook(graded), "1999-01-01 00:00:00.0 UTC")
    with replay_as(undisturbed, graded, "ada", ada):
        summary, rows = run(graded)
    assert summary.graded == 1, "cyd's notebook is the same, only its time is another"
    assert (rows["ada"].state, rows["cyd"].state) == (State.LATE, State.GRADED)
    assert (rows["ada"].earned, rows["cyd"].earned) == (6, 6)
    penalties = {row[0]: row[3] for row in gradebook_of(graded)[2]}
    assert penalties == {"ada": 6.0, "bob": None, "cyd": None, "eve": None}


def test_a_regrade_touches_only_what_changed(graded, undisturbed, replay, monkeypatch):
    with closing(sqlite3.connect(graded / "gradebook.db")) as book:
        whose = (
            "(SELECT n.id FROM submitted_notebook n JOIN submitted_assignment s ON s.id = "
            "n.assignment_id WHERE s.student_id = ?)"
        )
        explain = "(SELECT id FROM base_cell WHERE name = 'explain' AND type = ?)"
        for student in ("ada", "cyd"):
            book.execute(
                "UPDATE grade SET manual_score = 3, needs_manual_grade = 0 WHERE notebook_id = "
                f"{whose} AND cell_id = {explain}",
                (student, "GradeCell"),
            )
            book.execute(
                "UPDATE comment SET manual_comment = 'Well put.' WHERE notebook_id = "
                f"{whose} AND cell_id = {explain}",
                (student, "SolutionCell"),
            )
        book.commit()
    by_hand, journal = gradebook_of(graded), journal_of(graded)
    exercise = graded / "autograder" / "exercises" / LAB / "guess.py"
    exercise.write_text(exercise.read_text().replace("Is the number right.", "Is it four?"))
    stricter(undisturbed, monkeypatch, "guess")
    run(graded)
    assert sorted(replay) == [(student, ("guess",)) for student in STUDENTS]
    fresh = [values for values in journal_of(graded) if values not in journal]
    assert {values["exercise"] for values in fresh if values["kind"] == "exercise"} == {"guess"}
    marks, comments, whole, *rest = gradebook_of(graded)
    assert [row for row in marks if row[1] != "check_guess"] == [
        row for row in by_hand[0] if row[1] != "check_guess"
    ], "people's marks stay"
    assert {row[2] for row in marks if row[1] == "check_guess"} == {0.0}
    assert [comments, *rest] == [by_hand[1], *by_hand[3:]]
    assert by_hand[2][2] == ("cyd", f"{LATE[:26]}", None, 1.2)
    assert whole[2] == ("cyd", f"{LATE[:26]}", None, 1.6), "20 % of 5 + 0 + 3 by hand"
    assert [whole[0], whole[1], whole[3]] == [by_hand[2][0], by_hand[2][1], by_hand[2][3]]
    replay.clear()
    assert run(graded)[0].graded == 0
    assert replay == []
