"""`lab grade --cluster`: the same records as on one machine, whatever happens to a worker."""

from __future__ import annotations

import os
import re
import shutil
import signal

import psutil
import pytest

from gradekit.errors import CourseError
from gradekit.grading import grade
from gradekit.grading.grade import Settings
from gradekit.grading.progress import ProgressReporter
from gradekit.grading.view import progress_bar
from tests.helpers.tiny_class import LAB, hand_in, notebook, write_class, write_course

distributed = pytest.importorskip("distributed")

# What Dask itself leaves behind when it ends.
pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

STUDENTS = ("ada", "bob", "cyd", "eve", "torn", "vandal")
VANDAL = "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nos._exit(1)"


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        host="127.0.0.1",
    ) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A class of six, not yet graded; one hand-in is damaged, one hostile."""
    root = tmp_path_factory.mktemp("class") / "course"
    course = write_course(root)
    write_class(root)
    hand_in(root, "torn", notebook(root)[:500])
    hand_in(root, "vandal", notebook(root, softmax=VANDAL))
    return course


@pytest.fixture(scope="module")
def alone(course):
    """The journal of the class graded on this machine."""
    return graded(course, jobs=1)


def graded(course, progress=None, **settings):
    """Grade from nothing; the journal's records without what time it was and how long it took."""
    shutil.rmtree(course.root / "autograded", ignore_errors=True)
    (course.root / "results" / f"{LAB}.jsonl").unlink(missing_ok=True)
    with progress_bar(quiet=True) as silent:
        summary = grade.grade_lab(course, LAB, Settings(**settings), progress or silent)
    assert summary.graded == len(STUDENTS)
    text = (course.root / "results" / f"{LAB}.jsonl").read_text("utf-8")
    records = [line for line in text.splitlines() if '"stored"' not in line]
    return sorted(re.sub(r'"(seconds|at|when)": ?[^,}]+', "", line) for line in records)


def test_the_records_are_those_of_one_machine(course, alone, cluster):
    assert graded(course, cluster=cluster.scheduler_address) == alone


def sandboxes(cluster):
    """The sandboxes' processes: what the workers have started and not ended."""
    with distributed.Client(cluster, set_as_default=False) as client:
        workers = [psutil.Process(pid) for pid in client.run(os.getpid).values()]
    return {
        child.pid
        for worker in workers
        for child in worker.children()
        if "gradekit.untrusted.forkserver" in child.cmdline()
    }


def test_the_next_run_finds_the_workers_warm(course, alone, cluster):
    assert graded(course, cluster=cluster.scheduler_address) == alone
    warm = sandboxes(cluster)
    assert len(warm) == 2
    assert graded(course, cluster=cluster.scheduler_address) == alone
    assert sandboxes(cluster) == warm


def test_workers_of_another_version_are_refused_each_time(course, alone, cluster, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(
            "gradekit.grading.cluster._versions", lambda: ("Python 3.0", "torch 0", "none")
        )
        for _ in range(2):
            with pytest.raises(CourseError, match="that asks has Python 3"):
                graded(course, cluster=cluster.scheduler_address)
    assert graded(course, cluster=cluster.scheduler_address) == alone


class Reaper(ProgressReporter):
    """Kills a worker process as soon as a hand-in is done."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.killed = 0

    def say(self, sentence):
        pass

    def begin(self, count):
        pass

    def advance(self, student):
        if not self.killed:
            with distributed.Client(self.cluster, set_as_default=False) as client:
                self.killed = next(iter(client.run(os.getpid).values()))
            os.kill(self.killed, signal.SIGKILL)


@pytest.mark.slow
def test_a_worker_that_is_killed_costs_nothing_but_time(course, alone, cluster):
    reaper = Reaper(cluster)
    assert graded(course, reaper, cluster=cluster.scheduler_address) == alone
    assert reaper.killed


def test_an_address_without_a_scheduler_is_one_sentence(course, monkeypatch):
    monkeypatch.setattr("gradekit.grading.cluster.SECONDS_TO_CONNECT", 2)
    shutil.rmtree(course.root / "results", ignore_errors=True)
    with pytest.raises(CourseError, match="no Dask scheduler answers there"):
        graded(course, cluster="tcp://127.0.0.1:9")
    with pytest.raises(CourseError, match="write an address like tcp://HOST:8786"):
        graded(course, cluster="nowhere")
