"""For any reply from the sandbox, the trusted side ends as promised, before its deadline."""

from __future__ import annotations

import json
import socket
import struct
import time
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradekit.course import Course, load_course
from gradekit.feedback.page import page_of, render
from gradekit.grading.grader import LabGrader
from gradekit.grading.task import GraderSpec
from gradekit.grading.worker import grade_submission
from gradekit.late import Lateness
from gradekit.results.records import State, digest_of
from gradekit.sandbox import connection
from gradekit.sandbox.result import SubmissionRun
from gradekit.sandbox.sandbox import SandboxFailedError
from gradekit.submissions.folder import SubmittedFiles
from gradekit.submissions.notebook import open_notebook, runnable_cells
from gradekit.untrusted import frames
from gradekit.untrusted.limits import Limits
from gradekit.untrusted.messages import Cell, Probe, Stopped
from tests.helpers.fuzz import NUMBERS, PACKED, RAW_JSON, TEXTS, VALUES, examples, observations
from tests.helpers.scripted_server import ENDED, Script, ScriptedSandbox, framed

PROJECT = Path(__file__).resolve().parents[2]
LAB, EXERCISES = "lab01", ("softmax", "entropy")
LIMITED = Limits(cell_seconds=0.05, submission_seconds=1.0, exercise_seconds=0.05)
# Every wait of the trusted side that a hostile peer can cause, and spare time for a slow machine.
SECONDS = 1.0 + 2 * 0.3 + 5


def cut_up(data: bytes, head: tuple[int, int] | None) -> bytes:
    """A frame with its true lengths, or with the given ones."""
    return data if head is None else struct.pack("!II", *head) + data[8:]


FRAMES = st.builds(
    cut_up,
    st.builds(framed, st.one_of(RAW_JSON, VALUES, st.dictionaries(TEXTS, VALUES, max_size=3)),
              observations()),
    st.none() | st.tuples(st.integers(0, 2**32 - 1) | st.integers(0, 40), st.integers(0, 80)),
)  # fmt: skip


@examples(300)
@given(wire=st.lists(FRAMES | st.binary(max_size=30), min_size=1, max_size=3).map(b"".join))
def test_a_reader_of_frames_gets_frames_or_its_three_errors(wire: bytes) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**20)
        theirs.sendall(wire)
        theirs.shutdown(socket.SHUT_WR)
        try:
            for _ in range(4):
                frame = frames.receive(ours, 2**18, 2**12, time.monotonic() + 2)
                assert isinstance(frame.message, dict)
                assert isinstance(frame.body, bytes)
                assert len(frame.body) <= 2**12
        except (frames.FrameError, frames.ChannelClosedError, frames.ChannelTimeoutError):
            pass


STREAM = {"output_type": "stream", "name": "stdout", "text": "<script>PWN()</script>"}
SHOWN = {
    "output_type": "execute_result",
    "execution_count": 1,
    "metadata": {"PWN": "x"},
    "data": {"text/plain": "1", "text/html": "<script>PWN()</script>", "image/png": "iVBORw0KGgo="},
}
ERROR = {
    "output_type": "error",
    "ename": "E",
    "evalue": "v",
    "traceback": ["\x1b[31mPWN", "\ud800"],
}


@st.composite
def outputs(draw: st.DrawFn) -> Any:
    """Outputs of a cell, with wrong values in some fields."""
    listed = []
    for given_ in draw(st.lists(st.sampled_from([STREAM, SHOWN, ERROR]), max_size=4)):
        output: dict[str, Any] = json.loads(json.dumps(given_))
        for field in draw(st.lists(st.sampled_from([*output]), max_size=2)):
            output[field] = draw(VALUES | st.just([STREAM["text"]] * 3))
        listed.append(output)
    return listed if draw(st.integers(0, 5)) else draw(VALUES)


REPLIES = st.one_of(
    st.builds(
        lambda cell, state, shown, more: {"cell": cell, "state": state, "outputs": shown, **more},
        st.integers(0, 2) | VALUES,
        st.sampled_from(["ok", "error", "stopped"]) | VALUES, outputs(),
        st.sampled_from(
            [{}, {"limit": "time"}, {"limit": "memory", "where": "softmax"}, {"where": []}]
        )
        | st.dictionaries(st.sampled_from(["limit", "where"]), VALUES),
    ).map(framed),
    st.builds(
        lambda check, body, more: framed({"check": check, **more}, body),
        st.integers(-1, 6) | NUMBERS, observations(),
        st.just({}) | st.dictionaries(st.sampled_from(["refused", "limit", "where"]), VALUES),
    ),
    st.sampled_from([{"done": ""}, {"done": "late"}, {"done": 5}, {"started": True}, {}])
    .map(framed),
    FRAMES, st.binary(max_size=20),
)  # fmt: skip
CORRECT = [
    framed({"started": True}),
    *(framed({"cell": i, "state": "ok", "outputs": [STREAM, SHOWN, ERROR]}) for i in range(2)),
]
CONTROL = RAW_JSON.map(lambda raw: raw[:4000] or b"0") | VALUES.map(
    lambda value: json.dumps({"ended": True, "cpu": value, "peak": value}).encode()[:4000]
)


@st.composite
def scripts(draw: st.DrawFn) -> Script:
    """The messages of one process: a correct beginning of some length, then anything."""
    begin = CORRECT[: draw(st.sampled_from([0, 1, 2, 3, 3, 3]))]
    answers = [
        framed({"check": check}, draw(observations()))
        for check in range(draw(st.integers(0, 6)) if len(begin) == 3 else 0)
    ]
    rest = draw(st.lists(REPLIES, max_size=4))
    hostile_server = draw(st.integers(0, 9)) == 0
    control = tuple(draw(st.lists(CONTROL, max_size=2))) if hostile_server else ()
    last = draw(CONTROL | st.just(b"")) if hostile_server else json.dumps(ENDED).encode()
    wire = b"".join([*begin, *answers, *rest])
    return Script(wire, draw(st.integers(0, 7)) == 0, control, last)


@pytest.fixture(scope="module")
def quick() -> Any:
    """Shorter waits for the trusted side."""
    with pytest.MonkeyPatch.context() as patch:
        for name, seconds in (("GRACE", 0.02), ("START", 0.3), ("SEND", 0.3), ("END", 0.3)):
            patch.setattr(connection, f"_{name}_SECONDS", seconds)
        yield


@examples(100)
@given(play=st.lists(scripts(), min_size=1, max_size=3))
def test_a_session_ends_in_a_run_or_in_the_sandboxs_own_failure(
    quick: Any, play: list[Script]
) -> None:
    probes = [[probe("a", "x"), probe("a", "y")], [probe("b", "x")]]
    sandbox, started = ScriptedSandbox(play, LIMITED), time.monotonic()
    with sandbox:
        try:
            run = sandbox.run([Cell("c0", "x = 1"), Cell("c1", "y = 2")], probes, {"d": b"1"}, 7)
        except SandboxFailedError:
            assert not all(script.is_sound for script in play)
            return
    assert time.monotonic() - started < SECONDS
    assert isinstance(run, SubmissionRun)
    assert [cell.id for cell in run.cells] == ["c0", "c1"]
    assert {cell.state for cell in run.cells} <= {"ok", "error", "stopped"}
    assert run.observations.keys() == {("a", "x"), ("a", "y"), ("b", "x")}
    for answer in run.observations.values():
        assert isinstance(answer, bytes) or (isinstance(answer, Stopped) and answer.reason)


def probe(exercise: str, check: str) -> Probe:
    return Probe(exercise, check, f"def {check}(lab, draw):\n    return 1", seed=1)


@pytest.fixture(scope="module")
def course() -> Course:
    return load_course(PROJECT)


@pytest.fixture(scope="module")
def grader(course: Course) -> LabGrader:
    return LabGrader(GraderSpec(course, LAB, "none", b"secret"))


@pytest.fixture(scope="module")
def submitted(course: Course) -> SubmittedFiles:
    (path,) = (PROJECT / "labs" / LAB).glob("*.ipynb")
    raw = path.read_bytes()
    return SubmittedFiles("ada", LAB, {path.name: raw}, {path.name: 0.0}, (), digest_of(raw), None)


@examples(35)
@given(play=st.lists(scripts(), min_size=1, max_size=2))
def test_hostile_replies_end_in_a_grade_a_notebook_and_a_page(
    quick: Any, course: Course, grader: LabGrader, submitted: SubmittedFiles, play: list[Script]
) -> None:
    with ScriptedSandbox(play, LIMITED) as sandbox, pytest.MonkeyPatch.context() as patch:
        patch.setitem(grader.__dict__, "sandbox", sandbox)
        done = grade_submission(grader, submitted, EXERCISES, {})
    assert done.record.state in (State.GRADED, State.OURS)
    assert (done.record.state is State.OURS) == (not done.results)
    for result in done.results:
        assert result.earned is not None
        assert 0 <= result.earned <= result.points
    notebook = nbformat.from_dict(json.loads(done.notebook))
    nbformat.validate(notebook)
    judged = {id(cell) for cell in notebook.cells if "check(" in cell.source}
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            kinds = set(output.get("data", {}))
            assert kinds <= {"text/plain", "image/png", "image/jpeg"} or id(cell) in judged
            assert "<script" not in output.get("data", {}).get("text/html", "")
    results = {result.exercise: result for result in done.results}
    json.dumps(done.record.to_json()).encode()
    page = render(page_of(course, grader.released, done.record, results, None, Lateness(), {}))
    page.encode()
    assert "<script" not in page


def test_a_correct_script_is_graded(
    quick: Any, course: Course, grader: LabGrader, submitted: SubmittedFiles
) -> None:
    """The fuzzing starts from a script that an honest process could send."""
    (asked, *_) = (e for e in grader.exercises.exercises if e.name == "softmax")
    answers = [framed({"check": i}, PACKED[0]) for i in range(len(asked.checks))]
    begin = [CORRECT[0]] + [
        framed({"cell": i, "state": "ok", "outputs": []}) for i in range(len(_cells(submitted)))
    ]
    wire = b"".join([*begin, *answers, framed({"done": ""})])
    with ScriptedSandbox([Script(wire, hangs=True)], LIMITED) as sandbox:
        run = sandbox.run(_cells(submitted), [grader.variants.probes(asked, 0)])
    assert {cell.state for cell in run.cells} == {"ok"}
    assert set(run.observations.values()) == {PACKED[0]}
    assert run.cpu_seconds == ENDED["cpu"]


def _cells(submitted: SubmittedFiles) -> list[Cell]:
    (raw,) = submitted.files.values()
    return list(runnable_cells(open_notebook(raw)[0]))
