"""A Landlock domain, as the kernel enforces it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gradekit.untrusted import landlock


@pytest.mark.needs("landlock")
def test_only_the_named_paths_can_be_read(tmp_path):
    for name in ("open", "closed"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    script = (
        "from pathlib import Path\nfrom gradekit.untrusted import landlock, libc\n"
        f"folder = Path({str(tmp_path)!r})\n"
        "both = lambda: [read(n) for n in ('open', 'closed')]\n"
        "def read(name):\n"
        "    try: return (folder / name / 'file').read_text()\n"
        "    except PermissionError: return 'refused'\n"
        "before = both()\n"
        "libc.prctl(38, 1)\n"
        "landlock.enter_domain({folder / 'open': landlock.READ, folder / 'none': 1})\n"
        "print(before, both())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "['open', 'closed'] ['open', 'refused']", done.stderr


def test_each_gives_all_paths_the_same_rights():
    rights = landlock.each(["/a", "/b"], landlock.READ)
    assert {str(path): allowed for path, allowed in rights.items()} == {
        "/a": landlock.READ,
        "/b": landlock.READ,
    }
