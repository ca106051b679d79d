"""A notebook writes its own replies, or bends what its answers are compared with."""

from __future__ import annotations

import pytest
import torch
from attack import text_of

from attnlab.checking.judges import Close
from attnlab.checking.observation import MalformedObservation, pack, unpack
from gradekit.probes import Cell, Probe, Stopped

PROBE = Probe(
    "softmax", "rows", "def rows(lab, draw):\n    return lab.softmax(draw.normal(2, 3))\n", seed=5
)
RIGHT = "import torch\ndef softmax(x):\n    return torch.softmax(x, -1)"

JUNK = """
import os
for fd in range(256):
    try: os.write(fd, b'\\xff' * 4096)
    except OSError: pass
"""
FORGED = """
import json, os, struct
from attnlab.checking.observation import pack
import torch
def frame(message, body=b''):
    text = json.dumps(message).encode()
    return struct.pack('!II', len(text), len(body)) + text + body
full = frame({'check': 0, 'points': 100}, pack(torch.zeros(2, 3))) + frame({'done': ''})
replies = b''.join(frame({'cell': i, 'state': 'ok', 'outputs': []}) for i in range(3)) + full
for fd in range(3, 256):
    try: os.write(fd, replies)
    except OSError: pass
"""
PATCHED = """
import torch
def yes(*args, **kwargs): return True
torch.allclose = torch.equal = torch.isclose = torch.testing.assert_close = yes
torch.Tensor.allclose = torch.Tensor.equal = torch.Tensor.__eq__ = yes
def softmax(x): return x
"""
EQUAL = """
import torch
class Anything(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None): return True
    def __eq__(self, other): return True
def softmax(x): return torch.zeros(2, 3).as_subclass(Anything)
"""


def expected():
    rows = torch.softmax(torch.randn(2, 3, generator=torch.Generator().manual_seed(5),
                                     dtype=torch.float64), -1)
    return unpack(pack(rows))


def judged(sandbox, *sources: str):
    """What the judge says of a notebook: None for a pass."""
    cells = [Cell(str(i), source) for i, source in enumerate(sources)]
    run = sandbox.run(cells, [[PROBE]])
    answer = run.observations["softmax", "rows"]
    if isinstance(answer, Stopped):
        return answer, run
    try:
        return Close().compare(expected(), unpack(answer)), run
    except MalformedObservation as error:
        return error, run


def test_the_right_answer_passes(sandbox):
    assert judged(sandbox, RIGHT)[0] is None


@pytest.mark.parametrize("cheat", [PATCHED, EQUAL], ids=["patched torch", "equal to everything"])
def test_patches_and_lies_gain_nothing(sandbox, monkeypatch, cheat):
    for owner, names in (
        (torch, ("allclose", "equal", "isclose")),
        (torch.testing, ("assert_close",)),
        (torch.Tensor, ("allclose", "equal", "__eq__")),
    ):
        for name in names:
            monkeypatch.setattr(owner, name, getattr(owner, name))
    space: dict = {}
    scores = torch.randn(2, 3)
    right = torch.softmax(scores, -1)
    exec(cheat, space)
    fooled = torch.allclose(space["softmax"](scores), right)
    monkeypatch.undo()
    assert fooled
    difference, run = judged(sandbox, cheat)
    assert difference is not None
    assert [cell.state for cell in run.cells] == ["ok"]


def test_junk_in_every_file_costs_one_cell(sandbox):
    difference, run = judged(sandbox, RIGHT, JUNK, "print('later')")
    assert difference is None
    assert run.cells[1].reason == "wrote something of its own into the grader's channel"
    assert "later" in text_of(run.cells[2])


def test_forged_replies_say_only_what_an_answer_could_say(sandbox):
    difference, _ = judged(sandbox, FORGED)
    assert difference is not None


def test_forged_replies_do_not_spoil_what_was_right(sandbox):
    difference, run = judged(sandbox, RIGHT, FORGED, "print('later')")
    assert difference is None
    assert run.cells[1].state == "stopped"
    assert "later" in text_of(run.cells[2])


def test_the_next_submission_is_not_touched_by_a_forger(sandbox):
    judged(sandbox, RIGHT, FORGED)
    assert judged(sandbox, RIGHT)[0] is None


def test_active_content_does_not_arrive(sandbox):
    show = (
        "from IPython.display import HTML, SVG, Javascript, display\n"
        "display(HTML('<script>1</script>'), Javascript('1'))\n"
        "display({'image/png': 'x\" onerror=\"alert(1)', 'text/plain': 'plain'}, raw=True,"
        " metadata={'image/png': {'width': '1 onload=alert(1)'}})\n"
    )
    (cell,) = judged(sandbox, show)[1].cells
    kinds = {kind for output in cell.outputs for kind in output.get("data", {})}
    assert kinds == {"text/plain"}
    assert all(output.get("metadata", {}) == {} for output in cell.outputs)
