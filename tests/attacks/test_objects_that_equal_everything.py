"""A notebook returns objects that claim to be equal to everything."""

from __future__ import annotations

import pytest

from tests.helpers.two_graders import BLANK, TEST, assert_gains_nothing, points_and_run

EXACT = """
import torch
def agree(one, other):
    same = one == other
    return same if isinstance(same, bool) else bool(same.all())
scores = torch.randn(2, 3)
assert agree(softmax(scores), scores.softmax(-1)) and softmax(scores).shape == (2, 3)
assert abs(float(softmax(scores, 0)[0, 0]) - float(scores.softmax(0)[0, 0])) <= 1
"""
TENSOR = """
import torch
class Anything(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None): return True
def softmax(x, dim=-1): return torch.zeros(2, 3).as_subclass(Anything)
"""
DUCK = """
class Anything:
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None): return True
def softmax(x, dim=-1): return Anything()
"""
EQUAL = """
class Anything:
    def __eq__(self, other): return True
    def __bool__(self): return True
    def __float__(self): return 0.5
    def __getitem__(self, key): return self
    def __getattr__(self, name): return self
    def __len__(self): return 2
    def __iter__(self): return iter([self, self])
    def __le__(self, other): return True
    __lt__ = __ge__ = __gt__ = __ne__ = __le__
    def __sub__(self, other): return self
    __add__ = __rsub__ = __radd__ = __abs__ = lambda self, *other: self
def softmax(x, dim=-1): return Anything()
"""
WORD = """
class Yes(str):
    def __eq__(self, other): return True
    __hash__ = str.__hash__
    def __getitem__(self, key): return 0.5
    shape = (2, 3)
def softmax(x, dim=-1): return Yes("yes")
"""
OBJECTS = {
    "tensor": (TENSOR, TEST),
    "duck": (DUCK, TEST),
    "equal": (EQUAL, EXACT),
    "word": (WORD, EXACT),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_objects_that_equal_everything_earn_nothing(sandbox, unconfined, name):
    assert_gains_nothing(sandbox, unconfined, *OBJECTS[name])


@pytest.mark.parametrize(
    "value",
    [
        "x",
        "type('T', (torch.Tensor,), {})()",
        "float('nan')",
        "torch.zeros(0)",
        "torch.zeros(2, 3).to_sparse()",
        "torch.zeros(2, 3, dtype=torch.complex64)",
        "torch.zeros(2, 3, device='meta')",
        "torch.quantize_per_tensor(torch.zeros(2, 3), 1.0, 0, torch.qint8)",
        "[[None] * 3] * 2",
        "{'rows': 1, 1: 2}",
        "(lambda: (yield))()",
        "10 ** 400",
        "softmax",
        "b'\\xff'",
        "object()",
    ],
)
def test_odd_values_are_plain_answers(sandbox, value):
    odd = f"import torch\ndef softmax(x, dim=-1):\n    return {value}"
    points, run = points_and_run(sandbox, BLANK, odd)
    assert points == 0
    assert [cell.state for cell in run.cells] == ["ok", "ok"]
