"""The text of an exercise's cell: the reference answer, another right one, or a mistake.

Nothing is written twice: reference answers come from the solved notebook, the others from the
exercise files, whose versions `lab verify` proves right or wrong.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from demo.notebook import Notebook
from gradekit.exercise.definition import Exercise, Version
from gradekit.exercise.loader import LabExercises
from gradekit.exercise.standalone import standalone_source


def right_answer(solved: Notebook, exercise: str) -> str:
    """The solved notebook's cell without nbgrader's marks and the students' TODO."""
    lines = solved.source(solved.answer_at(exercise)).split("\n")
    return "\n".join(line for line in lines if not _is_mark(line))


def in_style(solved: Notebook, exercise: Exercise, style: int) -> str:
    """A right answer in one of several styles: each function from another right version."""
    text = right_answer(solved, exercise.name)
    by_name: dict[str | None, list[Version]] = {}
    for version in exercise.right_versions:
        by_name.setdefault(version.of, []).append(version)
    for versions in by_name.values():
        text = put_in(text, exercise, versions[style % len(versions)])
    return text


def put_in(text: str, exercise: Exercise, version: Version) -> str:
    """The cell's text with `version` instead of the function that it is a version of."""
    if version.of is None:
        own = version.function.__name__
        lines = [f'{name} = {own}()["{name}"]' for name in exercise.names]
        return "\n".join([text, "", "", named(version, own), *lines])
    lines = text.split("\n")
    (old,) = (n for n in ast.parse(text).body if getattr(n, "name", None) == version.of)
    assert old.end_lineno is not None
    lines[old.lineno - 1 : old.end_lineno] = [named(version, version.of)]
    return "\n".join(lines)


def named(version: Version, name: str) -> str:
    """The version's text, its function renamed to `name`; helpers get names that cannot clash."""
    tree = ast.parse(standalone_source(version.function))
    own = version.function.__name__
    helpers = [n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    names = {helper: f"my_{helper}" for helper in helpers} | {own: name}
    tree.body = [node for node in tree.body if not _is_future(node)]
    return ast.unparse(_Renamed(names).visit(tree))


def all_right(released: Notebook, solved: Notebook, lab: LabExercises) -> Notebook:
    """The released notebook, every exercise answered as the reference does."""
    return answered(released, {e.name: right_answer(solved, e.name) for e in lab.exercises})


def answered(notebook: Notebook, answers: Mapping[str, str]) -> Notebook:
    """The notebook with `answers` in the cells of the exercises they are named after."""
    for exercise, text in answers.items():
        notebook = notebook.with_source(notebook.answer_at(exercise), text)
    return notebook


class _Renamed(ast.NodeTransformer):
    """Renames functions and classes in definitions and in uses."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._definition(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._definition(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._names.get(node.id, node.id)
        return node

    def _definition(self, node: ast.FunctionDef | ast.ClassDef) -> ast.AST:
        node.name = self._names.get(node.name, node.name)
        for part in _evaluated(node):
            self.visit(part)
        return node


def _evaluated(node: ast.FunctionDef | ast.ClassDef) -> Iterator[ast.AST]:
    """The parts of a definition that run. Annotations are removed: their names may be undefined."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.arg):
            inner.annotation = None
        elif isinstance(inner, ast.FunctionDef):
            inner.returns = None
    yield from ast.iter_child_nodes(node)


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _is_mark(line: str) -> bool:
    text = line.strip()
    return text.startswith(("### BEGIN SOLUTION", "### END SOLUTION", "# TODO:"))
