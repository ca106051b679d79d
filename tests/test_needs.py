"""A test whose need the machine lacks is skipped with the package's name, or fails in .ci/run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gradekit.errors import SandboxUnavailableError
from tests.helpers import needs
from tests.helpers.needs import (
    INSTALLED,
    SKIP_NOTHING,
    at_one_place,
    missing,
    require,
    skipped_without_any_sandbox,
)

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


def test_skips_of_different_tests_are_reported_at_one_place(bare_machine):
    """pytest then folds them into one line; a fixture's would be at each of its tests."""
    places = set()
    for name in ("test_a", "test_b"):
        call = pytest.CallInfo.from_call(lambda: require("bubblewrap"), "setup")
        report = pytest.TestReport(
            f"{name}.py::{name}", (f"{name}.py", 1, name), {}, "skipped", (name, 1, "why"), "setup"
        )
        at_one_place(report, call)
        places.add(report.longrepr)
    ((path, _, reason),) = places
    assert path == needs.__file__
    assert "apt install bubblewrap" in reason


def test_a_refused_sandbox_is_skipped_only_if_there_is_no_other(bare_machine, monkeypatch):
    def stop():
        with skipped_without_any_sandbox():
            raise SandboxUnavailableError("it was refused")

    with pytest.raises(pytest.skip.Exception, match="so none is run"):
        stop()
    monkeypatch.setattr(needs, "missing", lambda need: None)
    with pytest.raises(SandboxUnavailableError, match="it was refused"):
        stop()


def test_ci_installs_every_package_and_skips_nothing():
    script = (ROOT / ".ci" / "run").read_text()
    assert re.search(rf"^{SKIP_NOTHING}=1 make test$", script, re.MULTILINE)
    for package in set(INSTALLED) - {"sandbox"}:
        assert f"packages+=({package})" in script
