"""What the fuzz tests draw: JSON that is hard on its reader, observations that were tampered with.

Each test tries the same few examples in every run. ``FUZZ_TIMES=100`` tries a hundred times as
many, and others in each run.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

import torch
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from attnlab.checking.observation import Missing, Opaque, Raised, pack

TIMES = int(os.environ.get("FUZZ_TIMES", "1"))
TEXTS = st.one_of(
    st.text(st.characters(), max_size=12),
    st.sampled_from(
        [
            "",
            "\0",
            "\ud800",
            "a\udfffb",
            "\u202egro.elpmaxe",
            "\x1b]0;x\x07",
            "<script>PWN()</script>",
            "`" * 50,
            "](javascript:PWN())",
            "{{ 7 * 7 }}",
            "{% raw %}",
            "\r\n# PWN",
            "9" * 5000,
            "é" * 2000,
            "\N{COMBINING ACUTE ACCENT}" * 300,
            "nan",
            "__class__",
            "$\\href{PWN}{x}$",
        ]
    ),
)
NUMBERS = st.one_of(
    st.integers(-3, 12),
    st.sampled_from([2**31, 2**63, -(2**63), 2**64, 10**40]),
    st.floats(),
    st.booleans(),
)
VALUES = st.recursive(
    st.none() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)
# JSON text that no writer would write.
RAW_JSON = st.sampled_from(
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"5",
        b'"text"',
        b"{}",
        b"\xff\xfe",
        b'{"a": NaN, "b": -Infinity}',
        b'{"cell": 0, "cell": 1}',
        b'{"a": "\\ud800"}',
        b'{"a": ' + b"9" * 100_000 + b"}",
        b'{"a": 1e999999}',
        b'{"a": ' + b"[" * 20_000 + b"]" * 20_000 + b"}",
        b'{"a":' * 20_000 + b"1" + b"}" * 20_000,
        b"[" * 100_000,
        '{"cell": 0}'.encode("utf-16"),
        '{"cell": 0}'.encode("utf-32"),
        b'\xef\xbb\xbf{"cell": 0}',
        b'{"a": "\xed\xa0\x80"}',
    ]
)
RAW_JSON |= st.binary(max_size=60) | VALUES.map(lambda value: json.dumps(value).encode())


def examples(number: int) -> Callable[[Any], Any]:
    """Settings of a fuzz test that tries `number` examples in the usual run."""
    return settings(
        max_examples=number * TIMES,
        derandomize=TIMES == 1,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def cost(work: Callable[[], object]) -> tuple[float, float]:
    """The CPU seconds that `work` takes, and the MiB by which the process grows meanwhile.

    It runs in a fork of this process, so that what was measured before does not count.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            with open("/proc/self/statm") as file:
                before = int(file.read().split()[1]) * resource.getpagesize()
            began = time.process_time()
            work()
            seconds = time.process_time() - began
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
            os.write(writing, json.dumps([seconds, grown / 2**20]).encode())
            code = 0
        except BaseException:
            traceback.print_exc(file=sys.__stderr__)
        finally:
            os._exit(code)
    os.close(writing)
    with open(reading) as file:
        said = file.read()
    os.waitpid(child, 0)
    assert said, "the work ended in an exception, which stands above"
    seconds, grown = json.loads(said)
    return seconds, grown


def _half(shape: tuple[int, ...]) -> torch.Tensor:
    return torch.full(shape, 0.5, dtype=torch.float64)


TREES = [
    _half((2, 3)),
    _half(()),
    {"shape": [2, 3], "values": _half((3, 5, 7))},
    [1, 2.5, "text", None],
    [True, False],
    {"a": torch.arange(6).reshape(2, 3), "b": torch.zeros(4, dtype=torch.bool)},
    True,
    Raised("ValueError", "no", "x = 1"),
    Missing("softmax"),
    Missing("w.safetensors"),
    Opaque("torch.return_types.max"),
    {"w": torch.zeros(3, dtype=torch.bfloat16)},
    _half((0, 5)),
    torch.tensor([float("nan"), float("inf"), 1.0]),
    "no gradient",
    {},
    [],
]
PACKED = [pack(tree) for tree in TREES]

_DTYPES = st.sampled_from(
    [
        "F64",
        "F32",
        "F16",
        "BF16",
        "I64",
        "U8",
        "BOOL",
        "F8_E4M3",
        "F4",
        "C64",
        "U64",
        "",
        "F9",
        5,
    ]
)
_SIZES = st.sampled_from([0, 1, 2, 3, 5, 7, 2**31, 2**32, 2**62, 2**63, 2**64, -1, 1.5, None])
_FIELDS = {
    "dtype": _DTYPES,
    "shape": st.lists(_SIZES, max_size=40) | VALUES,
    "data_offsets": st.lists(st.integers(0, 64) | _SIZES, max_size=3) | VALUES,
}
_NODES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.sampled_from(
            ["int", "float", "str", "tensor", "missing", "opaque", "raised", "dict"]
        ).flatmap(
            lambda kind: st.one_of(NUMBERS, TEXTS, st.just("0"), VALUES).map(
                lambda content: {kind: content}
            )
        ),
        st.just({"tensor": "0"}),
        NUMBERS.map(lambda n: {"int": n}),
        VALUES,
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(st.tuples(TEXTS, inner).map(list), max_size=4).map(lambda pairs: {"dict": pairs}),
    ),
    max_leaves=8,
)


@st.composite
def observations(draw: st.DrawFn) -> bytes:
    """The bytes of an observation, mostly tampered with: bits, lengths, header or tree."""
    data = draw(st.sampled_from(PACKED))
    match draw(st.sampled_from(["none", "bits", "cut", "header", "tree", "junk"])):
        case "bits":
            spoilt = bytearray(data)
            for place in draw(st.lists(st.integers(0, 8 * len(data) - 1), min_size=1, max_size=4)):
                spoilt[place // 8] ^= 1 << place % 8
            return bytes(spoilt)
        case "cut":
            return data[: draw(st.integers(0, len(data)))] + draw(st.binary(max_size=9))
        case "header":
            header, rest = _opened(data)
            for name in draw(st.lists(st.sampled_from([*header, "0", "1", "x"]), max_size=3)):
                entry = header.setdefault(name, dict(header.get("0", {})))
                field = draw(st.sampled_from([*_FIELDS]))
                if isinstance(entry, dict):
                    entry[field] = draw(_FIELDS[field])
            return _closed(header, rest, draw(st.sampled_from([0, 0, 0, 1, -1, 2**40])))
        case "tree":
            header, rest = _opened(data)
            tree = draw(_NODES.map(json.dumps) | RAW_JSON.map(lambda raw: raw.decode("latin-1")))
            header["__metadata__"] = draw(
                st.sampled_from([{"tree": tree}, {"tree": 5}, [], {}])
                if draw(st.integers(0, 9)) == 0
                else st.just({"tree": tree})
            )
            return _closed(header, rest, 0)
        case "junk":
            return draw(st.binary(max_size=40))
    return data


def _opened(data: bytes) -> tuple[dict[str, Any], bytes]:
    end = 8 + int.from_bytes(data[:8], "little")
    return json.loads(data[8:end]), data[end:]


def _closed(header: Any, rest: bytes, lie: int) -> bytes:
    text = json.dumps(header).encode()
    return max(0, len(text) + lie).to_bytes(8, "little") + text + rest
