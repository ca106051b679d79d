"""A notebook changes other programs' files, or writes outside its own scratch folder."""

from __future__ import annotations

import os

from tests.helpers.attack import said


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
