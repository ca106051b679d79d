"""The buttons of formgrader and JupyterLab, by their HTTP requests to Jupyter's server."""

from __future__ import annotations

import json
import os
import shutil
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from gradekit.course import load_course
from gradekit.grading.grade import Settings, grade_lab
from gradekit.grading.view import progress_bar
from tests.helpers import tiny_class
from tests.helpers.in_one_process import one_sandbox, without_workers
from tests.helpers.servers import serving
from tests.helpers.tiny_class import LAB, NAME, autograded_of, gradebook_of, journal_of

TOKEN = "a-token-for-this-test"
HOSTILE = """\
import os, signal
from pathlib import Path

for folder in ({harm!r}, "..", "../..", os.path.expanduser("~")):
    try:
        Path(folder, "harmed").write_text("x")
    except OSError:
        pass
try:  # in namespaces it is allowed and reaches nobody; Landlock refuses it
    os.kill(os.getppid(), signal.SIGKILL)
finally:
    os._exit(0)
"""
Ask = Callable[..., Any]


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The same class twice: ada is right, bob wrong, cyd late, dan hostile, eve's file is torn."""
    folder = tmp_path_factory.mktemp("formgrader")
    root = folder / "course"
    root.mkdir()
    tiny_class.write_course(root)
    tiny_class.write_class(root)
    content = json.loads(tiny_class.notebook(root))
    cell = {
        "cell_type": "code",
        "id": "first",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "source": HOSTILE.format(harm=str(folder)),
    }
    hostile = json.dumps({**content, "cells": [cell, *content["cells"]]}).encode()
    tiny_class.hand_in(root, "dan", hostile)
    tiny_class.hand_in(root, "eve", hostile[:900])
    return root, Path(shutil.copytree(root, folder / "ours"))


@pytest.fixture(scope="module")
def ask(classes: tuple[Path, Path]) -> Iterator[Ask]:
    """Sends a server in the course's folder the same requests as the buttons."""
    root, _ = classes
    home = root.with_name("home")
    (home / "runtime").mkdir(parents=True)
    environment = {key: value for key, value in os.environ.items() if "JUPYTER" not in key}
    environment |= {
        "HOME": str(home),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "PATH": f"{Path(tiny_class.sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    command = [
        "jupyterlab",
        "--no-browser",
        "--allow-root",
        "--ip=127.0.0.1",
        "--port=0",
        f"--IdentityProvider.token={TOKEN}",
    ]
    with serving(command, root, environment) as address:

        def asked(where: str, **fields: str) -> Any:
            request = urllib.request.Request(
                f"{address}{where}",
                data=json.dumps(fields).encode(),
                headers={"Authorization": f"token {TOKEN}"},
                method="POST",
            )
            with urllib.request.urlopen(request, timeout=240) as answer:
                return json.loads(answer.read())

        yield asked


@pytest.fixture(scope="module")
def logs(ask: Ask) -> dict[str, str]:
    """The log of formgrader's button "Autograde" for each student."""
    found = {}
    for student in ("ada", "bob", "cyd", "dan", "eve"):
        said = ask(f"formgrader/api/submission/{LAB}/{quote(student)}/autograde")
        assert said["success"], said
        found[student] = said["log"]
    return found


def test_the_button_gives_the_results_of_lab_grade(
    classes: tuple[Path, Path], logs: dict[str, str]
) -> None:
    theirs, ours = classes
    shutil.copy(theirs / "results" / "secret", tiny_results(ours))
    with one_sandbox(), without_workers(), progress_bar(quiet=True) as progress:
        grade_lab(load_course(ours), LAB, Settings(1), progress)
    assert gradebook_of(theirs) == gradebook_of(ours)
    assert journal_of(theirs) == journal_of(ours)
    assert {n for n in autograded_of(theirs) if n.endswith(".ipynb")} == {
        n for n in autograded_of(ours) if n.endswith(".ipynb")
    }


def tiny_results(root: Path) -> Path:
    folder = root / "results"
    folder.mkdir(exist_ok=True)
    return folder


def test_the_log_names_what_needs_a_ta(logs: dict[str, str]) -> None:
    assert "[WARNING] dan: " in logs["dan"]
    assert "ended its own process" in logs["dan"]
    assert "is damaged" in logs["eve"]
    assert "129660.0 seconds late" in logs["cyd"]
    assert "our fault" not in "".join(logs.values())


def test_a_hostile_hand_in_did_no_harm(classes: tuple[Path, Path], logs: dict[str, str]) -> None:
    root = classes[0]
    assert not list(root.parent.rglob("harmed"))
    assert logs["eve"], "the server lives"


def test_a_fixed_exercise_counts_without_a_new_server(
    classes: tuple[Path, Path], ask: Ask, logs: dict[str, str]
) -> None:
    root = classes[0]
    before = [row for row in gradebook_of(root)[0] if row[0] != "ada"]
    exercise = root / "autograder" / "exercises" / LAB / "guess.py"
    text = exercise.read_text()
    exercise.write_text(text.replace("points=1", "points=0.5"))
    assert text != exercise.read_text()
    try:
        said = ask(f"formgrader/api/submission/{LAB}/ada/autograde")
    finally:
        exercise.write_text(text)
    assert said["success"], said
    marks = {(row[0], row[1]): row[2] for row in gradebook_of(root)[0]}
    assert marks["ada", "check_guess"] == 0.5
    assert [row for row in gradebook_of(root)[0] if row[0] != "ada"] == before


def test_jupyterlabs_validate_button_uses_the_sandbox(
    classes: tuple[Path, Path], ask: Ask, logs: dict[str, str]
) -> None:
    verdicts = {}
    for student in ("ada", "bob", "dan"):
        said = ask("assignments/validate", path=f"submitted/{student}/{LAB}/{NAME}.ipynb")
        assert said["success"], said
        verdicts[student] = said["value"]
    assert verdicts["ada"] == {}
    assert verdicts["dan"] == {}, "its answers are right"
    (failed,) = verdicts["bob"]["failed"]
    assert failed["raw_error"].startswith("3 of 5 points\n✗ Along the first axis.")
    assert not list(classes[0].parent.rglob("harmed"))
