"""The documentation's site: every page is in it, every link leads somewhere, nothing is fetched."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs") / "site"
    line = [sys.executable, str(ROOT / "docs" / "make_site.py"), str(folder)]
    # Sphinx's warnings are errors: a link into nothing, a page in no part of the site.
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_and_every_lab_is_in_it(site: Path) -> None:
    pages = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    assert pages >= {f"{path.stem}.html" for path in (ROOT / "docs").glob("*.md")}
    assert pages >= {f"labs/{path.name}.html" for path in (ROOT / "labs").glob("lab*")}
    assert {"index.html", "contributing.html"} <= pages


def test_a_labs_page_shows_its_picture_and_its_steps(site: Path) -> None:
    page = (site / "labs" / "lab05.html").read_text("utf-8")
    assert "5.1 No query looks ahead" in page
    assert page.count('role="img"') == 1
    assert "which word may look at which" in page


def test_no_page_fetches_anything_from_elsewhere(site: Path) -> None:
    fetched = re.compile(r"""(?:<(?:script|img|iframe)[^>]+src|<link[^>]+href)=["']https?:""")
    for path in site.rglob("*.html"):
        assert not fetched.search(path.read_text("utf-8")), path
