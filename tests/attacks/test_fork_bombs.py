"""A notebook starts more and more processes."""

from __future__ import annotations

from tests.helpers.attack import said

BOMB = """
import os
made = 0
try:
    while made < 200:
        os.posix_spawn("/bin/sleep", ["sleep", "2"], {})
        made += 1
finally:
    print("made", made)
"""


def test_a_fork_bomb_stays_small_and_harms_no_other_process(sandbox, unconfined):
    assert "made 200" in said(unconfined, BOMB)
    answer = said(sandbox, BOMB)
    assert "BlockingIOError" in answer
    assert int(answer.partition("made ")[2].split()[0]) < sandbox.limits.processes
    assert said(sandbox, "print('still here')").strip() == "still here"
