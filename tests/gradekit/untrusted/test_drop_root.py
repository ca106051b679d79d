"""What root needs before it can become another user."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from gradekit.untrusted import drop_root, namespaces
from gradekit.untrusted.libc import IsolationError


@pytest.mark.skipif(os.getuid() != 0, reason="only root becomes another user")
def test_without_mounts_the_error_names_the_closed_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(namespaces, "own_mounts", lambda: False)
    closed = tmp_path / "closed"
    (closed / "python").mkdir(parents=True)
    closed.chmod(0o700)
    tmp_path.chmod(0o700)
    with pytest.raises(IsolationError, match="only root can enter"):
        drop_root.drop_root([str(closed / "python")], tmp_path, 2**20)
    assert os.getuid() == 0


def test_closed_folders_are_the_outermost_ones():
    with tempfile.TemporaryDirectory() as name:
        inner = Path(name, "closed", "inner")
        inner.mkdir(parents=True)
        Path(name).chmod(0o755)
        assert list(drop_root.closed_folders([inner / "python"])) == []
        inner.parent.chmod(0o700)
        assert set(drop_root.closed_folders([inner / "python"])) == {inner.parent}
