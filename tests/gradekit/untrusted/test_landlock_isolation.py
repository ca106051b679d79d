"""The level "landlock": its rights, and what remains when the grader is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gradekit.sandbox import bubblewrap
from gradekit.untrusted import landlock
from gradekit.untrusted.landlock_isolation import LandlockPolicy


def test_only_the_scratch_folder_may_be_written():
    policy = LandlockPolicy(("/usr",), ("/usr", "/opt"), "/scratch")
    rights = {str(path): allowed for path, allowed in policy.rights().items()}
    assert rights["/usr"] == landlock.RUN
    assert rights["/opt"] == landlock.LIST
    assert rights["/scratch"] == landlock.WRITE
    assert [path for path, allowed in rights.items() if allowed == landlock.WRITE] == ["/scratch"]


def test_a_policy_is_read_as_it_was_written():
    policy = LandlockPolicy(("/usr",), (), "/scratch")
    lists = {"readable": ["/usr"], "listable": [], "scratch": "/scratch"}
    assert LandlockPolicy.from_json(lists) == policy


@pytest.mark.needs("landlock")
def test_a_daemon_ends_with_the_trusted_process(tmp_path):
    """The end of its parents does not end it: it has another parent, and a session of its own."""
    student_library, mark = tmp_path / "attnlab", f"daemon-{os.getpid()}"
    (student_library / "checking").mkdir(parents=True)
    source = Path(bubblewrap.__file__).parents[3] / "lib" / "attnlab" / "checking"
    for path in source.glob("*.py"):
        (student_library / "checking" / path.name).write_text(path.read_text())
    (student_library / "__init__.py").write_text("")
    daemon = (
        "import ctypes, os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork(): os._exit(0)\n"
        f"    ctypes.CDLL(None).prctl(15, b'{mark[:15]}', 0, 0, 0)\n"
        "    time.sleep(60)\n"
        "os.wait(); time.sleep(60)\n"
    )
    script = (
        "from pathlib import Path\nfrom gradekit.untrusted.messages import Cell\n"
        "from gradekit.sandbox.sandbox import Sandbox\n"
        f"with Sandbox(Path({str(tmp_path)!r}), level='landlock') as sandbox:\n"
        f"    sandbox.run([Cell('a', {daemon!r})], [])\n"
    )

    def named() -> int:
        found = 0
        for path in Path("/proc").glob("[0-9]*/comm"):
            try:
                found += path.read_text().strip() == mark[:15]
            except OSError:
                continue
        return found

    with subprocess.Popen([sys.executable, "-c", script]) as trusted:
        give_up = time.monotonic() + 60
        while not named() and time.monotonic() < give_up:
            time.sleep(0.1)
        assert named() == 1
        trusted.send_signal(signal.SIGKILL)
        trusted.wait()
        give_up = time.monotonic() + 5
        while named() and time.monotonic() < give_up:
            time.sleep(0.05)
        assert named() == 0
