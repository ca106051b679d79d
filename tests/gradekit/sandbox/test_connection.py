"""What the trusted side makes of a process's messages, which a played server sends."""

from __future__ import annotations

import pytest

from gradekit.sandbox import connection
from gradekit.sandbox.connection import _limit_in
from gradekit.untrusted.limits import LimitKind, Limits
from gradekit.untrusted.messages import Cell, Probe, Stopped
from tests.helpers.scripted_server import Script, ScriptedSandbox, framed

STARTED = framed({"started": True})
RAN = framed({"cell": 0, "state": "ok", "outputs": []})
LIMITS = Limits(cell_seconds=1, submission_seconds=5, exercise_seconds=1)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Short waits."""
    monkeypatch.setattr(connection, "_GRACE_SECONDS", 0.1)


def play(*wires, probes=()):
    with ScriptedSandbox([Script(wire, hangs=True) for wire in wires], LIMITS) as sandbox:
        return sandbox.run([Cell("a", "def softmax(): ...")], [list(probes)] if probes else [])


def test_a_limit_is_named_in_this_sides_words_and_only_with_a_name_of_the_notebook():
    for where, location in (("softmax", " in `softmax`"), ("<script>", "")):
        limit = {"limit": "processes", "where": where}
        run = play(STARTED + framed({"cell": 0, "state": "error", "outputs": [], **limit}))
        expected = f"started more than 64 processes and threads at a time{location}: "
        assert run.cells[0].reason.startswith(expected)


@pytest.mark.parametrize("name", ["gravity", "", 7, None, ["time"], {"time": 1}])
def test_an_unknown_limit_is_no_limit(name):
    assert _limit_in({"limit": name}) is None
    run = play(STARTED + framed({"cell": 0, "state": "ok", "outputs": [], "limit": name}))
    assert (run.cells[0].state, run.cells[0].reason) == ("ok", "")


def test_every_limit_has_a_name_on_the_wire():
    assert [_limit_in({"limit": limit.value}) for limit in LimitKind] == list(LimitKind)


@pytest.mark.parametrize("state", ["done", "", 1, ["ok"]])
def test_an_unknown_state_of_a_cell_is_forged(state):
    run = play(STARTED + framed({"cell": 0, "state": state, "outputs": []}))
    assert run.cells[0].state == "stopped"
    assert "wrote something of its own" in run.cells[0].reason


def test_a_probe_without_an_answer_has_a_reason():
    probe = Probe("softmax", "rows", "def rows(lab, draw): ...", 1)
    run = play(STARTED + RAN + framed({"done": ""}), probes=[probe])
    assert run.observations["softmax", "rows"] == Stopped("ended its own process")


@pytest.mark.parametrize(
    "reported",
    [7, [7], [["softmax"]], [["other", "softmax", 0]], [["softmax", "x y", 0]],
     [["softmax", "hidden", 0]], [["softmax", "softmax", 5]], [["softmax", "softmax", "0"]]],
)  # fmt: skip
def test_a_report_of_a_change_is_believed_only_if_the_cell_contains_the_name(reported):
    for given, found in (
        (reported, 0),
        ([["softmax", "softmax", 0]] * 99, connection._MOST_CHANGES),
    ):
        ran = framed({"cell": 0, "state": "ok", "outputs": [], "changes": given})
        with ScriptedSandbox([Script(STARTED + ran, hangs=True)], LIMITS) as sandbox:
            cells, graded = [Cell("a", "def softmax(): ...")], {"softmax": {"softmax": "function"}}
            run = sandbox.run(cells, [], graded=graded)
        assert len(run.cells[0].changes) == found
