"""A browser and servers for it: all on this machine, all ended when the tests are."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from demo.course_folder import SMALL_LIMITS, copy_course
from gradekit.course import load_course
from gradekit.exercise.loader import CourseLabs
from tests.helpers.needs import browser

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.FoundFile]) -> None:
    """Mark these tests with what they need, and run them last.

    Playwright keeps an event loop in this process, beside which others cannot be started.
    """
    ours = [item for item in items if HERE in item.path.parents]
    for item in ours:
        item.add_marker(pytest.mark.needs("chromium"))
    items[:] = [item for item in items if item not in ours] + ours


@pytest.fixture(scope="session", autouse=True)
def patience() -> None:
    """A page may take its time on a busy machine; what never comes still fails."""
    from playwright.sync_api import expect

    expect.set_options(timeout=30_000)


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    """Debian's Chromium, which must not phone home; as root it cannot have its own sandbox."""
    quiet = ("gpu", "quic", "background-networking", "component-update", "sync")
    arguments = [f"--disable-{name}" for name in quiet] + ["--no-first-run"]
    if os.geteuid() == 0:
        arguments.append("--no-sandbox")
    return {"executable_path": browser(), "headless": True, "args": arguments}


@pytest.fixture(scope="session")
def browser_context_args() -> dict[str, Any]:
    """A window in which a notebook and its outputs have room."""
    return {"viewport": {"width": 1280, "height": 1000}}


@pytest.fixture
def context(context: Any) -> Any:
    """A browser's session that reaches nothing but this machine."""
    context.route(re.compile(r"^https?://(?!127\.0\.0\.1[:/])"), lambda route: route.abort())
    return context


@pytest.fixture
def private(tmp_path: Path) -> dict[str, str]:
    """An environment in which Jupyter and nbgrader write nothing into a person's home."""
    home = tmp_path / "home"
    settings = home / "config" / "lab" / "user-settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    # JupyterLab asks at its first start whether it may fetch news.
    (settings / "notification.jupyterlab-settings").write_text('{"fetchNews": "false"}')
    environment = {key: value for key, value in os.environ.items() if "JUPYTER" not in key}
    return environment | {
        "HOME": str(home),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTER_PLATFORM_DIRS": "1",
    }


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What ``lab release lab01`` gives to students, as a folder."""
    from gradekit.build import bundle

    root = copy_course(tmp_path_factory.mktemp("released") / "course", SMALL_LIMITS)
    with pytest.MonkeyPatch.context() as patch:
        # Building again would make the same files: tests/labs/test_committed.py compares them.
        patch.setattr(bundle, "build_labs", lambda labs, names: [])
        return bundle.make_bundle(CourseLabs(load_course(root)), "lab01").folder


@pytest.fixture
def released_lab(bundle: Path, tmp_path: Path) -> Path:
    """A student's own copy of the bundle."""
    return shutil.copytree(bundle, tmp_path / "lab01")
