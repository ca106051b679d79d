import contextlib
import json
import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from safetensors.torch import save

from attnlab.checking.observation import (
    DTYPES,
    MAX_TEXT,
    Missing,
    ObservationError,
    Opaque,
    PackLimits,
    Raised,
    as_received,
    pack,
    unpack,
)
from tests.helpers.small_lab import same

texts = st.text(max_size=40)
tensors = st.sampled_from(sorted(DTYPES, key=str)).flatmap(
    lambda dtype: arrays(
        np.float64,
        array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
        elements=st.floats(-100, 100),
    ).map(lambda values: torch.from_numpy(np.array(values)).to(dtype))
)
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63) + 1, 2**63 - 1),
    st.floats(),
    texts,
    tensors,
    st.builds(Raised, texts, texts, texts),
    st.builds(Missing, texts),
    st.builds(Opaque, texts),
)
trees = st.recursive(
    leaves,
    lambda below: st.lists(below, max_size=4) | st.dictionaries(texts, below, max_size=4),
    max_leaves=12,
)


@pytest.fixture(params=["through bytes", "without bytes"])
def received(request):
    return as_received if request.param == "without bytes" else lambda value: unpack(pack(value))


@given(trees)
@settings(deadline=None)
def test_unpack_returns_what_was_packed(tree):
    data = pack(tree)
    assert same(unpack(data), tree)
    assert pack(tree) == data
    assert same(as_received(tree), tree)


@given(st.binary(max_size=300))
@settings(deadline=None)
def test_any_bytes_give_a_tree_or_one_kind_of_error(data):
    with contextlib.suppress(ObservationError):
        unpack(data)


@given(trees, st.data())
@settings(deadline=None)
def test_a_damaged_packing_gives_a_tree_or_one_kind_of_error(tree, data):
    packed = bytearray(pack(tree))
    for _ in range(data.draw(st.integers(1, 4))):
        packed[data.draw(st.integers(0, len(packed) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(ObservationError):
        unpack(bytes(packed))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["tensor", "int", "float", "str", "dict", "raised", "missing", "opaque"]
            )
            | texts,
            below,
            max_size=2,
        )
    ),
    max_leaves=10,
)


@given(json_values)
@settings(deadline=None)
def test_any_json_instead_of_the_tree_gives_a_tree_or_one_kind_of_error(value):
    data = save({"0": torch.zeros(2)}, metadata={"tree": json.dumps(value)})
    with contextlib.suppress(ObservationError):
        pack(unpack(data))


def test_equal_trees_have_equal_bytes_in_another_process():
    program = (
        "import sys, torch; from attnlab.checking.observation import pack;"
        "sys.stdout.buffer.write(pack({'a': [torch.ones(2), 1.5], 'b': torch.arange(3)}))"
    )
    there = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout
    assert there == pack({"a": [torch.ones(2), 1.5], "b": torch.arange(3)})


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        ({1, 2}, "set"),
        ({1: 2}, "dict"),
        (2**63, "a huge int"),
        (object(), "object"),
        (torch.zeros(2, dtype=torch.complex128), "torch.Tensor (complex128)"),
        (torch.zeros(2, dtype=torch.complex64), "torch.Tensor (complex64)"),
        (torch.eye(2).to_sparse(), "torch.Tensor (torch.sparse_coo, cpu)"),
        (torch.empty(2, device="meta"), "torch.Tensor (torch.strided, meta)"),
        (np.complex64(1), "numpy.complex64"),
        (np.datetime64("2026-01-01"), "numpy.datetime64"),
    ],
)
def test_other_values_keep_only_their_type(received, value, type_):
    assert received([value]) == [Opaque(type_)]


def test_numbers_of_numpy_become_numbers(received):
    seen = received([np.float32(0.5), np.int64(3), np.bool_(True), np.str_("a")])
    assert seen == [0.5, 3, True, "a"]
    assert [type(value) for value in seen] == [float, int, bool, str]


def test_a_tensor_subclass_becomes_a_plain_tensor_and_loses_its_graph(received):
    class Liar(torch.Tensor):
        def __eq__(self, other):
            return True

    tensor = torch.ones(2, requires_grad=True).mul(2).as_subclass(Liar)
    seen = received(tensor)
    assert type(seen) is torch.Tensor
    assert not seen.requires_grad


def test_long_text_is_clipped(received):
    seen = received("x" * (MAX_TEXT + 10))
    assert len(seen) == MAX_TEXT
    assert seen.endswith("…")


def test_limits_apply_to_packing_and_unpacking():
    tree = [[1.0] * 30, torch.zeros(100)]
    data = pack(tree)
    for limits in (
        PackLimits(nodes=20),
        PackLimits(depth=1),
        PackLimits(size=500),
        PackLimits(header=100),
    ):
        with pytest.raises(ObservationError, match="more than"):
            pack(tree, limits)
        with pytest.raises(ObservationError, match="more than"):
            as_received(tree, limits)
        with pytest.raises(ObservationError, match="more than"):
            unpack(data, limits)


def test_a_list_that_contains_itself_is_too_deep():
    endless = []
    endless.append(endless)
    with pytest.raises(ObservationError, match="deep"):
        pack(endless)


def test_a_tree_of_many_small_lists_is_refused_before_it_is_parsed():
    bomb = save({}, metadata={"tree": "[" + "[]," * 3_000_000 + "[]]"})
    with pytest.raises(ObservationError, match="a tree of more than"):
        unpack(bomb)


@pytest.mark.parametrize("dtype", [torch.complex64, torch.uint16, torch.float8_e4m3fn])
def test_a_tensor_of_an_unknown_dtype_is_refused(dtype):
    data = save({"0": torch.zeros(2, dtype=dtype)}, metadata={"tree": '{"tensor": "0"}'})
    with pytest.raises(ObservationError, match="a tensor of"):
        unpack(data)


def test_a_tensor_that_is_used_twice_is_refused():
    data = pack([torch.zeros(3), torch.ones(3)])
    with pytest.raises(ObservationError):
        unpack(data.replace(b'\\"tensor\\": \\"1\\"', b'\\"tensor\\": \\"0\\"'))
    assert unpack(data)[1].sum() == 3
