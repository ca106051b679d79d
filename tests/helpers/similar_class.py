"""A class that works alone, and copies that hide it, for ``lab similar``.

Each student answers each step with one of the right versions that the exercise files have, drawn at
random, and writes it down with some habits of the moment: the order of a sum, a method or a
function, a name for a result.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Mapping
from functools import cache

from demo.answers import put_in, right_answer
from demo.classroom import material_of
from demo.material import Material
from gradekit.course import load_course
from gradekit.exercise.definition import Version
from gradekit.similarity.hand_ins import ClassTexts, HandInTexts
from tests.helpers.small_course import PROJECT

Change = Callable[[str], str]
Answers = Mapping[str, str]  # texts by step


@cache
def material_of_lab(lab: str) -> Material:
    """The notebooks and exercises of a lab of this repository."""
    return material_of(load_course(PROJECT), lab)


def alone(material: Material, seed: float) -> Answers:
    """One student's answers."""
    chance = random.Random(seed)
    answers = {}
    for exercise in material.lab.exercises:
        kinds = dict.fromkeys(v.of for v in exercise.right_versions if not v.saved)
        chosen = tuple(
            chance.choice([None, *(v for v in exercise.right_versions if v.of == of)])
            for of in kinds
        )
        text = _with_versions(material.lab.lab, exercise.name, chosen)
        answers[exercise.name] = in_own_words(text, chance)
    return answers


@cache
def _with_versions(lab: str, step: str, versions: tuple[Version | None, ...]) -> str:
    material = material_of_lab(lab)
    text = right_answer(material.solved, step)
    for version in versions:
        text = put_in(text, material.lab[step], version) if version else text
    return text


def copied(answers: Answers, *changes: Change) -> Answers:
    """The answers of somebody who took all of another one's and changed each of them."""
    made = {}
    for step, text in answers.items():
        for change in changes:
            text = change(text)
        made[step] = text
    return made


def texts(lab: str, students: Mapping[str, Answers]) -> ClassTexts:
    """A class as ``lab similar`` reads it, without files."""
    material = material_of_lab(lab)
    return ClassTexts(
        lab,
        {exercise.name: exercise.name for exercise in material.lab.exercises},
        tuple(HandInTexts(student, "", answers) for student, answers in students.items()),
        tuple(str(cell["source"]) for cell in material.released.cells),
        tuple(str(cell["source"]) for cell in material.solved.cells),
    )


class _OwnWords(ast.NodeTransformer):
    """Expressions that mean the same, each written in one of two ways."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Add | ast.Mult) and self._chance.random() < 0.5:
            node.left, node.right = node.right, node.left
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node.func:
            case ast.Attribute(value=ast.expr() as value, attr=name) if (
                ast.unparse(value) != "torch"
                and name in _ALSO_FUNCTIONS
                and self._chance.random() < 0.5
            ):
                function = ast.Attribute(ast.Name("torch", ast.Load()), name, ast.Load())
                return ast.Call(function, [value, *node.args], node.keywords)
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        if node.value is None or isinstance(node.value, ast.Name) or self._chance.random() < 0.5:
            return node
        name = self._chance.choice(["result", "out", "y"])
        stored = ast.Assign([ast.Name(name, ast.Store())], node.value)
        return [stored, ast.Return(ast.Name(name, ast.Load()))]


_ALSO_FUNCTIONS = {"exp", "log", "sum", "mean", "softmax", "log_softmax", "where", "gather", "amax"}


def in_own_words(text: str, chance: random.Random) -> str:
    """The same code with some choices of its own; comments are lost."""
    tree = _OwnWords(chance).visit(ast.parse(text))
    return ast.unparse(ast.fix_missing_locations(tree))


def renamed(text: str) -> str:
    """Every name that the cell binds, but those of its functions, is another one."""
    tree = ast.parse(text)
    bound = {
        n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    names = {name: f"my_{name}_2" for name in bound - {"self"}}
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) if name in names:
                node.id = names[name]
            case ast.arg(arg=name) if name in names:
                node.arg = names[name]
    return ast.unparse(tree)


def recommented(text: str) -> str:
    """Comments and docstrings of one's own, and other line breaks."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node):
            node.body[0] = ast.Expr(ast.Constant("I wrote this."))
    lines = ast.unparse(tree).split("\n")
    return "\n".join(f"{line}  # mine" if line.strip() else line for line in lines)


def one_line_changed(text: str) -> str:
    """There is one more statement before the last line."""
    lines = text.rstrip().split("\n")
    indent = lines[-1][: len(lines[-1]) - len(lines[-1].lstrip())]
    return "\n".join([*lines[:-1], f"{indent}print('done', {len(text)})", lines[-1]])


def reordered(text: str) -> str:
    """The definitions of a cell in the opposite order."""
    tree = ast.parse(text)
    first = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    rest = [n for n in tree.body if n not in first]
    return "\n\n".join(map(ast.unparse, [*first, *reversed(rest)]))
