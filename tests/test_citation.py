"""CITATION.cff names the version that is here."""

from pathlib import Path

import yaml

import attnlab


def test_the_citation_is_of_this_version() -> None:
    path = Path(__file__).resolve().parents[1] / "CITATION.cff"
    cited = yaml.safe_load(path.read_text("utf-8"))
    assert cited["version"] == attnlab.__version__
    assert {"title", "message", "authors", "license", "cff-version"} <= set(cited)
