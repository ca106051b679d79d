"""What `lab grade` says to people while programs read its other stream."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gradekit.grading.view import progress_bar
from gradekit.results.journal import Journal
from tests.helpers import tiny_class
from tests.helpers.tiny_class import LAB


def test_json_waits_for_a_lock_in_words_on_the_error_stream(tmp_path: Path) -> None:
    tiny_class.write_course(tmp_path)
    with Journal(tmp_path / "results" / f"{LAB}.jsonl"):
        second = tiny_class.lab(tmp_path, "grade", LAB, "--json")
        assert second.stderr is not None
        said = second.stderr.readline()
        assert f"is being written by process {os.getpid()} on " in said
        assert "; waiting" in said
        assert second.poll() is None
    out, error = second.communicate()
    assert second.returncode == 0, error
    assert json.loads(out) == []


def test_quiet_is_without_a_bar(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar(quiet=True) as progress:
        progress.begin(2)
        progress.advance("ada")
        progress.say("line 3: [b]damaged[/b]\x1b[2J and left out")
    out, error = capsys.readouterr()
    assert out == ""
    assert error == "line 3: [b]damaged[/b]\ufffd[2J and left out\n"
