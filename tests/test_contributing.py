"""The steps of CONTRIBUTING.md, followed word for word in a copy of the repository."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STEP = re.compile(r"<!-- ([a-z-]+):? ?(\S*) -->\n```\w*\n(.*?)```", re.DOTALL)
LAST_PART = "# %% [markdown]\n# ## What you can now explain\n"
TITLE = 'title = "Softmax, cross-entropy and a first attention"\n'


@pytest.fixture(scope="module")
def newcomers_copy(tmp_path_factory):
    copy = tmp_path_factory.mktemp("newcomer") / "repository"
    kept = [
        "course.toml",
        "nbgrader_config.py",
        "pyproject.toml",
        "environment.yml",
        "lib",
        "autograder",
        "solutions",
        "labs",
    ]
    for name in kept:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            copy.mkdir(exist_ok=True)
            shutil.copy(source, copy / name)
    return copy


def lab(copy, *arguments):
    path = os.pathsep.join([str(copy / "lib"), str(copy / "autograder")])
    return subprocess.run(
        [sys.executable, "-m", "gradekit.cli", *arguments],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )


def test_an_exercise_is_added_by_the_steps_alone(newcomers_copy):
    commands = []
    for kind, path, text in STEP.findall((ROOT / "CONTRIBUTING.md").read_text("utf-8")):
        target = newcomers_copy / path
        match kind:
            case "file":
                target.write_text(text)
            case "above-the-last-part":
                above, last_part, below = target.read_text().partition(LAST_PART)
                target.write_text(f"{above}{text}\n{last_part}{below}")
                assert last_part
            case "below-its-title":
                above, title, below = target.read_text().partition(TITLE)
                target.write_text(f"{above}{title}{text}{below}")
                assert title
            case "run":
                commands += [line.split()[1:] for line in text.splitlines()]
            case _:
                raise ValueError(f"CONTRIBUTING.md has a step of the kind {kind!r}")
    assert commands == [["verify", "lab01", "perplexity"], ["build", "lab01"], ["doctor"]]

    proof = lab(newcomers_copy, *commands[0], "--json")
    assert proof.returncode == 0, proof.stdout + proof.stderr
    (row,) = json.loads(proof.stdout)["exercises"]
    assert row["points"] == row["reference"] == 5
    assert row["blank"] == 0
    assert [m["lost"] > 0 and m["advised"] for m in row["mistakes"]] == [True, True]

    built = lab(newcomers_copy, "build", "lab01")
    assert built.returncode == 0, built.stderr
    text = (newcomers_copy / "labs/lab01/lab01_softmax.ipynb").read_text()
    assert "def perplexity" in text
    assert "cross_entropy(logits, target).exp()" not in text

    health = lab(newcomers_copy, "doctor")
    assert "solutions/lab01_softmax.py" not in health.stdout, health.stdout
