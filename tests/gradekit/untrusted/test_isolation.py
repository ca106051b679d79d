"""The levels of isolation as classes: none of them is another one's default."""

from __future__ import annotations

import os
import time

import pytest

from gradekit.untrusted.isolation import Isolation, NamespaceIsolation, NoIsolation
from gradekit.untrusted.landlock_isolation import LandlockIsolation, LandlockPolicy
from gradekit.untrusted.limits import Limits


def test_a_level_must_say_how_it_confines():
    class Incomplete(Isolation):
        confined = True

    with pytest.raises(TypeError, match="enter_inner"):
        Incomplete()


def test_only_the_level_none_does_not_confine():
    landlock = LandlockIsolation(LandlockPolicy((), (), "/scratch"), Limits())
    assert [level.confined for level in (NamespaceIsolation(Limits()), landlock)] == [True, True]
    assert not NoIsolation().confined


def test_the_end_of_a_process_returns_its_cpu_time():
    ready, done = os.pipe()
    child = os.fork()
    if child == 0:
        start = time.process_time()
        while time.process_time() < start + 0.1:
            pass
        os.write(done, b"x")
        time.sleep(60)
        os._exit(0)
    os.read(ready, 1)
    assert 0.09 < NoIsolation().end(child) < 10
    with pytest.raises(ChildProcessError):
        os.waitpid(child, 0)
    os.close(ready)
    os.close(done)
