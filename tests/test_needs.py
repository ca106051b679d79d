"""A test whose need the machine lacks is skipped with the package's name, or fails in .ci/run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.helpers import needs
from tests.helpers.needs import INSTALLED, SKIP_NOTHING, missing, require

ROOT = Path(__file__).parents[1]


@pytest.fixture
def bare_machine(monkeypatch):
    """No program at all, and no Landlock."""
    missing.cache_clear()
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(needs, "postgresql_programs", lambda: None)
    monkeypatch.setattr("gradekit.untrusted.landlock.abi", lambda: 0)
    monkeypatch.delenv(SKIP_NOTHING, raising=False)
    yield
    missing.cache_clear()


@pytest.mark.parametrize("need", INSTALLED)
def test_a_skip_names_the_package(bare_machine, need):
    package = {"sandbox": "bubblewrap"}.get(need, need)
    with pytest.raises(pytest.skip.Exception, match=f"apt install {package}"):
        require(need)


@pytest.mark.parametrize("need", INSTALLED)
def test_where_nothing_may_be_skipped_it_fails(bare_machine, monkeypatch, need):
    monkeypatch.setenv(SKIP_NOTHING, "1")
    with pytest.raises(pytest.fail.Exception, match="apt install"):
        require(need)


def test_a_kernel_without_landlock_is_no_failure(bare_machine, monkeypatch):
    """No package can bring it."""
    monkeypatch.setenv(SKIP_NOTHING, "1")
    with pytest.raises(pytest.skip.Exception, match="no Landlock"):
        require("landlock")


def test_a_need_that_does_not_exist_is_an_error():
    with pytest.raises(ValueError, match="'bubblewarp'"):
        require("bubblewarp")


def test_ci_installs_every_package_and_skips_nothing():
    script = (ROOT / ".ci" / "run").read_text()
    assert re.search(rf"^{SKIP_NOTHING}=1 make test$", script, re.MULTILINE)
    for package in set(INSTALLED) - {"sandbox"}:
        assert f"packages+=({package})" in script
