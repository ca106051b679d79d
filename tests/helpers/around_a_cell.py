"""A notebook with right answers around a hostile cell."""

from __future__ import annotations

from attnlab.checking.observation import unpack
from gradekit.untrusted.messages import Cell, Probe
from tests.helpers.attack import text_of

ASK = "def double(lab, draw):\n    return lab.double(draw.integers(0, 9, 3))\n"
ASKED = Probe("double", "double", ASK, seed=1)


def around(sandbox, hostile: str):
    """A notebook with a right answer before and after a hostile cell, probed."""
    cells = [
        Cell("before", "def double(x):\n    return 2 * x"),
        Cell("hostile", hostile),
        Cell("after", "print(double(21))"),
    ]
    return sandbox.run(cells, [[ASKED]])


def assert_only_the_cell_suffers(run, reason: str) -> None:
    before, hostile, after = run.cells
    assert before.state == "ok"
    assert (hostile.state, hostile.reason) == ("stopped", reason)
    assert "42" in text_of(after)
    (answer,) = run.observations.values()
    assert unpack(answer).shape == (3,)
