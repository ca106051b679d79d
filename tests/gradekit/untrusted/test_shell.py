"""The shell's own functions; cells run in tests/gradekit/sandbox/test_sandbox.py."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from gradekit.untrusted.cell_output import Outputs
from gradekit.untrusted.limits import LimitKind
from gradekit.untrusted.shell import _when, _without_middle, collecting


def test_only_time_stops_a_cell():
    assert _when(LimitKind.TIME, 3.0) == "after 3 s"
    assert _when(LimitKind.CPU, 3.0) == "at its limit on CPU time"
    for limit in set(LimitKind) - {LimitKind.TIME, LimitKind.CPU}:
        with pytest.raises(ValueError, match="stops no cell"):
            _when(limit, 3.0)


def test_a_long_traceback_keeps_its_ends():
    entries = [str(number) for number in range(100)]
    short = _without_middle(entries)
    assert short[:10] == entries[:10]
    assert short[-10:] == entries[-10:]
    assert short[10] == "  … 80 more calls …\n"
    assert _without_middle(entries[:21]) == entries[:21]


def test_streams_are_collected_and_given_back():
    outputs, before = Outputs(1000, 1000), (sys.stdout, sys.stderr)
    with collecting(SimpleNamespace(), outputs):
        print("out")
        print("err", file=sys.stderr)
    assert (sys.stdout, sys.stderr) == before
    assert [entry["text"] for entry in outputs.finish()] == ["out\n", "err\n"]
