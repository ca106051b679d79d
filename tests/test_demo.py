"""`make demo` on a machine that cannot run it to its end; test_demo_class.py has the rest."""

from __future__ import annotations

import importlib
import sys

from gradekit.errors import SandboxUnavailableError


def test_without_any_sandbox_it_ends_at_once_with_one_sentence(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(sys, "path", list(sys.path))  # demo.run changes it
    run = importlib.import_module("demo.run")

    def refuse():
        raise SandboxUnavailableError("no [wall] here; get it with `sudo apt install bubblewrap`")

    monkeypatch.setattr("gradekit.sandbox.levels.choose", refuse)
    monkeypatch.setattr(run, "TARGET", tmp_path / "demo")
    assert run.main() == 1
    assert capsys.readouterr().out == "no [wall] here; get it with `sudo apt install bubblewrap`\n"
    assert list(tmp_path.iterdir()) == []
