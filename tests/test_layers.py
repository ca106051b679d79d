"""Who imports whom: no package imports one above it, and the trust boundary is a folder."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from docs.draw_architecture import (
    LAYERS,
    PICTURE,
    PURPOSES,
    draw,
    imports_of,
    modules,
    package_imports,
    package_of,
)

LEVEL = {name: level for level, layer in enumerate(reversed(LAYERS)) for name in layer}
ROOT = Path(__file__).resolve().parents[1]


def test_every_package_has_its_layer_and_its_purpose():
    found = {package_of(module) for module, _ in modules()}
    changed = sorted((found ^ set(LEVEL)) | (found ^ set(PURPOSES)))
    assert changed == [], (
        "these are not the same in autograder/gradekit, LAYERS and PURPOSES; correct the last two "
        "in docs/draw_architecture.py and run it, and add a row to docs/architecture.md"
    )


def test_a_package_imports_only_what_is_below_it():
    upward = [
        f"{package} imports {other}"
        for package, others in package_imports().items()
        for other in sorted(others)
        if LEVEL[other] >= LEVEL[package]
    ]
    assert upward == []


def test_no_module_imports_itself_through_others():
    known = dict(modules())
    graph = {name: {_module(other, known) for other in imports_of(p)} for name, p in known.items()}
    for name in graph:
        graph[name].discard(name)
    assert [name for name in sorted(graph) if name in _reachable(name, graph)] == []


def _module(name: str, known: dict[str, Path]) -> str:
    """The module of an imported name: itself, or the one that defines it."""
    return name if name in known else name.rpartition(".")[0]


def _reachable(start: str, graph: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for other in graph.get(waiting.pop(), ()):
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return seen


def test_the_untrusted_folder_imports_nothing_of_gradekit_but_itself():
    for module, path in modules():
        if package_of(module) == "untrusted":
            assert all(package_of(name) == "untrusted" for name in imports_of(path)), path


def test_the_students_library_imports_nothing_of_the_grader():
    for path in sorted((ROOT / "lib").rglob("*.py")):
        assert list(imports_of(path)) == [], path


@pytest.mark.parametrize(
    ("folder", "allowed"), [("checking", {"checking"}), ("notebook", {"checking", "notebook"})]
)
def test_what_runs_with_a_students_code_knows_no_topic_of_a_lab(folder: str, allowed: set[str]):
    for path in sorted((ROOT / "lib" / "attnlab" / folder).rglob("*.py")):
        assert {package_of(name) for name in imports_of(path, "attnlab")} <= allowed, path


def test_every_package_says_what_it_is_for_and_where_it_is_tested():
    for name in LEVEL:
        path = ROOT / "autograder" / "gradekit" / name / "__init__.py"
        if path.exists():
            text = " ".join((ast.get_docstring(ast.parse(path.read_text())) or "").split())
            if name != "untrusted":
                assert "LAYERS in docs/draw_architecture.py says what it may import" in text, path
            assert f"tests/gradekit/{name}" in text, path


def test_the_picture_is_what_the_imports_say(tmp_path: Path):
    draw(tmp_path / "picture.svg")
    assert (tmp_path / "picture.svg").read_text() == PICTURE.read_text(), (
        "run `python docs/draw_architecture.py`"
    )


@pytest.mark.parametrize("folder", ["gradekit", "attnlab"])
def test_every_module_is_tested_beside_its_package_or_says_where(folder: str):
    base = ROOT / ("autograder" if folder == "gradekit" else "lib") / folder
    tests = {path.name for path in (ROOT / "tests" / folder).rglob("test_*.py")}
    untested = []
    for path in sorted(base.rglob("*.py")):
        if path.name.startswith("__") or f"test_{path.stem}.py" in tests:
            continue
        text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
        if "ested in" not in " ".join(text.split()):
            untested.append(str(path.relative_to(base)))
    assert untested == [], (
        f"write tests/{folder}/…/test_<name>.py, or say “Tested in …” in the module's docstring"
    )
