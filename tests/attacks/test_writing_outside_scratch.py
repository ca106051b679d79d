"""A notebook writes where others will read: over files, into start-up folders, for a later run."""

from __future__ import annotations

import os

from attack import run_cells, said


def write(path) -> str:
    return f"open({str(path)!r}, 'w').write('100')"


def test_files_of_others_cannot_be_changed(sandbox, unconfined, tmp_path):
    grades = tmp_path / "grades.csv"
    os.chmod(tmp_path, 0o777)
    grades.write_text("12")
    said(unconfined, write(grades))
    assert grades.read_text() == "100"
    grades.write_text("12")
    grades.chmod(0o666)
    said(sandbox, write(grades))
    assert grades.read_text() == "12"


def test_nothing_but_the_scratch_folders_can_be_written(namespaces):
    mounts = said(namespaces, "print(open('/proc/mounts').read())")
    writable = {
        line.split()[1]
        for line in mounts.splitlines()
        if len(line.split()) == 6 and line.split()[3].startswith("rw")
    }
    devices = {f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty")}
    assert writable - devices == {"/scratch", "/dev/shm", "/dev/pts", "/proc"}
    for place in ("/", "/lab", "/lab/attnlab", "/etc", "/usr", "/dev", "/tmp/.."):
        assert "Error" in said(namespaces, f"open({place!r} + '/planted', 'w')")


PLANT = """
import os, tempfile
from pathlib import Path
startup = os.path.expanduser("~/.ipython/profile_default/startup")
places = [tempfile.gettempdir(), startup, "/dev/shm"]
for place in places:
    try:
        os.makedirs(place, exist_ok=True)
        Path(place, "planted.py").write_text("answers = 42")
    except OSError as error:
        print(error)
"""
HARVEST = PLANT.partition("for place")[0] + """
found = [place for place in places if os.path.exists(os.path.join(place, "planted.py"))]
print("found", found)
"""


def test_nothing_is_left_for_a_later_submission(sandbox, unconfined):
    said(unconfined, PLANT)
    assert "found ['/" in said(unconfined, HARVEST)
    said(unconfined, "import os; os.remove('/dev/shm/planted.py')")
    said(sandbox, PLANT)
    assert "found []" in said(sandbox, HARVEST)


def test_what_is_patched_in_memory_is_not_there_for_the_next(sandbox):
    said(sandbox, "import torch, builtins\ntorch.allclose = builtins.answer = 42")
    assert "AttributeError" in said(sandbox, "import torch, builtins\nbuiltins.answer")
    assert "built-in" in said(sandbox, "import torch\nprint(torch.allclose)")


def test_keys_and_shared_memory_are_refused(sandbox):
    shared = "import ctypes\nprint(ctypes.CDLL(None).shmget(7, 4096, 0o1666))"
    file = "import os\nos.memfd_create('x')"
    key = "import ctypes\nprint(ctypes.CDLL(None).syscall(248, b'user', b'a', b'b', 1, -4))"
    first, second, third = run_cells(sandbox, shared, file, key).cells
    assert first.outputs[0]["text"] == "-1\n"
    assert second.outputs[0]["ename"] == "PermissionError"
    assert third.outputs[0]["text"] == "-1\n"
