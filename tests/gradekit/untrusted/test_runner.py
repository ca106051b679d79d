"""One probe's answer; whole sessions are in tests/gradekit/sandbox/test_sandbox.py."""

from __future__ import annotations

import pytest

from attnlab.checking.observation import Missing, Raised, unpack
from gradekit.untrusted.limits import LimitKind
from gradekit.untrusted.messages import Probe
from gradekit.untrusted.runner import answer_probe
from gradekit.untrusted.soft_limits import LimitReachedError


def ask(expression):
    return Probe("double", "ask", f"def ask(lab, draw):\n    return {expression}\n", seed=1)


def test_an_answer_is_the_return_value():
    names = {"double": lambda x: 2 * x}
    assert unpack(answer_probe(ask("lab.double(4)"), names)) == 8


def test_a_missing_name_and_an_error_are_answers():
    assert unpack(answer_probe(ask("lab.double(4)"), {})) == Missing("double")
    seen = unpack(answer_probe(ask("lab.double(4)"), {"double": lambda x: x.no_such_name}))
    assert isinstance(seen, Raised)
    assert seen.type == "AttributeError"


def test_an_exit_is_an_answer():
    def leave(x):
        raise SystemExit(x)

    assert unpack(answer_probe(ask("lab.double(4)"), {"double": leave})).type == "SystemExit"


def test_an_error_that_is_about_a_limit_is_not_an_answer():
    def hoard(x):
        raise MemoryError

    with pytest.raises(LimitReachedError) as reached:
        answer_probe(ask("lab.double(4)"), {"double": hoard})
    assert reached.value.limit is LimitKind.MEMORY
