"""Makes the documentation's site in build/site, which opens from disk, without a server.

    python docs/make_site.py [FOLDER]

Its pages are the files in docs/, the README, and one for each lab, made of the notebook that
students get. Sphinx makes the site; a page that is in no part of it, or a link that leads nowhere,
is an error. Tested in tests/test_docs_site.py.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sphinx.cmd.build import build_main

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "build" / "site"
# The parts of the site and their pages. The labs follow.
PARTS: Mapping[str, tuple[str, ...]] = {
    "Students": ("student",),
    "TAs": ("ta", "collecting", "marking", "reporting", "similar", "gradebook", "trust", "cluster"),
    "Instructors": (
        "instructor",
        "term",
        "exporting",
        "jupyterhub",
        "contributing",
        "architecture",
    ),
    "GPUs": ("gpu", "pretend-gpu"),
}
# Pages of the repository's top, and what they are called in the site.
TOP = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md"}
# Figures take a page's colours from JupyterLab's names for them; the theme has others.
_COLOURS = (
    "--jp-content-font-color1: var(--color-foreground-primary);"
    "--jp-layout-color0: var(--color-background-primary)"
)
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")
_STEP = re.compile(r"^## (?P<title>\d+\.\d+ .+)\n\*(?P<points>\d+) points?, (?P<minutes>\d+)", re.M)


def main(target: Path = SITE) -> int:
    """Make the site in `target`, replacing an older one; 0 if nothing is wrong."""
    shutil.rmtree(target, ignore_errors=True)
    with TemporaryDirectory() as place:
        write_pages(Path(place))
        return build_main(["-q", "-W", "--keep-going", "-b", "html", place, str(target)])


def write_pages(folder: Path) -> None:
    """Write the pages' sources, as Sphinx reads them."""
    shutil.copy(ROOT / "docs" / "conf.py", folder)
    shutil.copytree(ROOT / "docs" / "img", folder / "img")
    for path in (ROOT / "docs").glob("*.md"):
        (folder / path.name).write_text(with_links(path.read_text("utf-8"), top=False), "utf-8")
    labs = folder / "labs"
    labs.mkdir()
    for path in notebooks():
        (labs / f"{path.parent.name}.md").write_text(page_of_lab(path), "utf-8")
    for name, page in TOP.items():
        (folder / page).write_text(with_links((ROOT / name).read_text("utf-8"), top=True), "utf-8")
    parts = {**PARTS, "Labs": tuple(f"labs/{path.stem}" for path in sorted(labs.iterdir()))}
    with (folder / "index.md").open("a", encoding="utf-8") as index:
        for caption, pages in parts.items():
            lines = ["", "```{toctree}", ":hidden:", f":caption: {caption}", *pages, "```", ""]
            index.write("\n".join(lines))


def with_links(text: str, *, top: bool) -> str:
    """Lead links to the site's own pages; of links to other files, only their words stay.

    Args:
        top: the text is of a file at the repository's top, not of one in docs/.
    """
    text = text.replace("](docs/img/", "](img/")
    return _LINK.sub(lambda link: _link(link[1], link[2], top), text)


def _link(words: str, target: str, top: bool) -> str:
    if target.startswith(("http", "#")) or not (top or target.startswith("../")):
        return f"[{words}]({target})"
    path, mark, anchor = target.removeprefix("../").partition("#")
    if path.startswith("labs/lab"):
        path += ".md"
    elif path.startswith("docs/"):
        path = path.removeprefix("docs/")
    elif path in TOP:
        path = TOP[path]
    else:
        return words
    return f"[{words}]({path}{mark}{anchor})"


def notebooks() -> list[Path]:
    """The labs' notebooks as students get them, in order."""
    return sorted((ROOT / "labs").glob("lab*/*.ipynb"))


def page_of_lab(path: Path) -> str:
    """A lab's page: the beginning of its notebook, its first picture, and a table of its steps."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    code = next("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    table = ["| step | points | minutes |", "|---|---|---|", *_rows(texts)]
    return "\n\n".join([texts[0], _picture(code), "## Steps", "\n".join(table), ""])


def _rows(texts: list[str]) -> Iterator[str]:
    for step in _STEP.finditer("\n\n".join(texts)):
        yield f"| {step['title']} | {step['points']} | {step['minutes']} |"


def _picture(code: str) -> str:
    """The figure `…_preview()` of a lab's first code cell, as inline SVG, if it has one."""
    body = ast.parse(code).body
    is_preview = [ast.unparse(line).endswith("_preview()") for line in body]
    if not any(is_preview):
        return ""
    place = is_preview.index(True)
    names: dict[str, Any] = {}
    # The cell is the course's own, as students get it.
    exec(compile(ast.Module(body[:place], []), "<first cell>", "exec"), names)  # noqa: S102
    drawn = eval(ast.unparse(body[place]), names)  # noqa: S307
    html = drawn.axes[0].figure._repr_mimebundle_()["text/html"]
    return f'```{{raw}} html\n<div style="{_COLOURS}">{html}</div>\n```'


if __name__ == "__main__":
    sys.exit(main(*(Path(folder) for folder in sys.argv[1:2])))
