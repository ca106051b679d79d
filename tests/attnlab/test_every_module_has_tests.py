"""Each module of attnlab has a test file of the same name, or its docstring names its tests."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import attnlab

LIBRARY = Path(attnlab.__file__).parent
TESTS = Path(__file__).parent
MODULES = sorted(
    path.relative_to(LIBRARY) for path in LIBRARY.rglob("*.py") if path.name != "__init__.py"
)


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_a_module_has_tests(module: Path) -> None:
    own = TESTS / module.with_name(f"test_{module.name}")
    docstring = ast.get_docstring(ast.parse((LIBRARY / module).read_text("utf-8"))) or ""
    assert own.is_file() or "Tested " in docstring
