"""`lab doctor`: what this machine has, and what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradekit import doctor
from gradekit.doctor import examine
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


def test_a_browser_is_optional(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "BROWSERS", ("no-such-browser",))
    (absent,) = (f for f in examine(tmp_path) if "browser tests are skipped" in f.sentence)
    assert not absent.needed
