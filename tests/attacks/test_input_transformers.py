"""A notebook rewrites the cells that come after it: IPython's input and AST transformers."""

from __future__ import annotations

import pytest

from tests.helpers.two_graders import assert_gains_nothing

LINES = """
def without_tests(lines):
    return [line.replace("assert ", "None and ") for line in lines]
get_ipython().input_transformers_{}.append(without_tests)
def softmax(x, dim=-1): return x
"""
TREE = """
import ast
class WithoutTests(ast.NodeTransformer):
    def visit_Assert(self, node): return ast.copy_location(ast.Pass(), node)
get_ipython().ast_transformers.append(WithoutTests())
def softmax(x, dim=-1): return x
"""
COMPILER = """
import builtins
honest = builtins.compile
def compile_without_tests(source, *args, **kwargs):
    if isinstance(source, str): source = source.replace("assert ", "None and ")
    return honest(source, *args, **kwargs)
builtins.compile = compile_without_tests
get_ipython().compile.ast_parse = lambda source, filename='x', symbol='exec': honest(
    source.replace("assert ", "None and "), filename, symbol, 0x400)
def softmax(x, dim=-1): return x
"""


@pytest.mark.parametrize(
    "cheat",
    [LINES.format("cleanup"), LINES.format("post"), TREE, COMPILER],
    ids=["cleanup", "post", "tree", "compiler"],
)
def test_a_rewritten_test_gains_nothing(sandbox, unconfined, cheat):
    assert_gains_nothing(sandbox, unconfined, cheat)
