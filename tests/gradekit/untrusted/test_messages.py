"""Probes on the wire."""

from __future__ import annotations

import json

from gradekit.untrusted.limits import Limits
from gradekit.untrusted.messages import Probe


def test_a_probe_is_read_as_it_was_written_but_its_limits_are_sent_apart():
    probe = Probe("softmax", "rows", "def rows(lab, draw): ...", 7, ("torch.softmax",), "x = 1")
    wire = json.loads(json.dumps(probe.to_json()))
    assert Probe.from_json(wire) == probe
    limited = Probe("softmax", "rows", "", 7, limits=Limits().of_an_exercise)
    assert "limits" not in limited.to_json()
