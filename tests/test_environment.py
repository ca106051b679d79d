"""environment.yml, the conda door, asks for the same as pyproject.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path

import yaml

PROJECT = Path(__file__).resolve().parents[1]


def test_conda_and_pip_ask_for_the_same():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    environment = yaml.safe_load((PROJECT / "environment.yml").read_text())
    python, _, pip = environment["dependencies"]
    assert environment["name"] == project["name"]
    assert python == f"python{project['requires-python']}"
    assert pip == {
        "pip": [*project["dependencies"], *project["optional-dependencies"]["staff"], "-e ."]
    }
