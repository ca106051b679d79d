"""`lab doctor`: what this machine has, and what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradekit import doctor
from gradekit.doctor import Finding, examine
from tests.helpers.three_weeks import write_three_weeks
from tests.helpers.tiny_class import COURSE


def sentences(folder: Path, ok: bool) -> str:
    return "\n".join(finding.sentence for finding in examine(folder) if finding.ok is ok)


def test_a_course_is_named_with_its_labs(tmp_path: Path) -> None:
    (tmp_path / "course.toml").write_text(COURSE)
    assert f"{tmp_path}/course.toml: labs lab01" in sentences(tmp_path, ok=True)


def test_a_folder_without_a_course_is_missing_one(tmp_path: Path) -> None:
    assert "no course.toml" in sentences(tmp_path, ok=False)


def test_a_missing_package_is_named_with_its_purpose_and_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "NEEDED", {"no_such_package": "the labs"})
    assert "no_such_package, needed for the labs: pip install" in sentences(tmp_path, ok=False)


@pytest.mark.needs("landlock")
def test_a_machine_without_bubblewrap_can_still_grade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    (absent,) = (f for f in examine(tmp_path) if "bubblewrap is not installed" in f.sentence)
    assert (absent.label, absent.needed) == ("absent", False)
    assert "--sandbox landlock" in sentences(tmp_path, ok=True)


def test_a_long_sentence_is_broken_between_words() -> None:
    lines = Finding(False, "word " * 40).lines(80).splitlines()
    assert lines[0].startswith("MISSING  word word")
    assert all(len(line) <= 80 for line in lines)
    assert all(line.startswith(" " * 9 + "word") for line in lines[1:])


def test_what_is_wrong_in_the_course_is_named(tmp_path: Path) -> None:
    (tmp_path / "course.toml").write_text(COURSE)
    (wrong,) = (finding for finding in examine(tmp_path) if finding.label == "WRONG")
    assert wrong.sentence == "solutions/: lab01 needs one source lab01_….py, found none"
    (tmp_path / "course.toml").write_text(COURSE.replace("due =", "until ="))
    (wrong,) = (finding for finding in examine(tmp_path) if finding.label == "WRONG")
    assert "course.toml, line" in wrong.sentence


def test_a_conflict_of_dates_is_named(tmp_path: Path) -> None:
    course = write_three_weeks(tmp_path)
    text = (course.root / "course.toml").read_text()
    (course.root / "course.toml").write_text(text.replace("last_day = 0", "last_day = 2"))
    wrong = [finding.sentence for finding in examine(tmp_path) if finding.label == "WRONG"]
    assert any("lab02: its bundle of Mon 21 Sep 2026, 08:00 needs softmax" in one for one in wrong)


def test_a_browser_is_optional(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "BROWSERS", ("no-such-browser",))
    (absent,) = (f for f in examine(tmp_path) if "browser tests are skipped" in f.sentence)
    assert not absent.needed
