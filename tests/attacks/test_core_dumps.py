"""A notebook crashes on purpose, so the kernel writes its memory to a file, or starts a program.

The program that `/proc/sys/kernel/core_pattern` may name runs outside of every sandbox.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.attack import said

CRASH = """
import os, resource
_, most = resource.getrlimit(resource.RLIMIT_CORE)
resource.setrlimit(resource.RLIMIT_CORE, (most, most))
child = os.posix_spawn("/bin/sh", ["sh", "-c", "kill -ABRT $$"], {})
_, status = os.waitpid(child, 0)
print("crashed", os.WIFSIGNALED(status), "dumped", os.WCOREDUMP(status))
"""
LIMIT = "import resource; print(resource.getrlimit(resource.RLIMIT_CORE))"


def test_a_crash_leaves_no_dump(sandbox, unconfined):
    pattern = Path("/proc/sys/kernel/core_pattern").read_text()
    if pattern.startswith("|") or "/" in pattern:
        pytest.skip(f"this system's dumps do not stay in the scratch folder: {pattern.strip()}")
    if "crashed True dumped True" not in said(unconfined, CRASH):
        pytest.skip("this system writes no dumps")
    assert "crashed True dumped False" in said(sandbox, CRASH)


def test_a_crash_starts_no_program_outside(sandbox):
    """With the limit 1, and only with 1, the kernel does not start the program; see core(5)."""
    assert "(1, 1)" in said(sandbox, LIMIT)
