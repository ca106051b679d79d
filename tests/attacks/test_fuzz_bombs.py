"""Replies that are small on the wire and large in memory, or slow to read."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
import torch

from attnlab.checking.judges import Close
from attnlab.checking.observation import ObservationError, pack, unpack
from attnlab.checking.verdict import PreparedCheck, judge_exercise
from gradekit.untrusted.limits import Limits
from gradekit.untrusted.messages import Cell, Probe
from tests.helpers.fuzz import cost
from tests.helpers.scripted_server import Script, ScriptedSandbox, framed

PROBE = Probe("a", "x", "def x(lab, draw):\n    return 1", seed=1)
POLITE = [
    framed({"started": True}),
    *(framed({"cell": i, "state": "ok", "outputs": []}) for i in range(2)),
]


def many(piece: bytes, size: int) -> bytes:
    """JSON text of about `size` bytes: a list of very many small values."""
    return b"[" + piece * (size // len(piece)) + b"0]"


def observation(tree: bytes, tensors: bytes = b"") -> bytes:
    """Bytes with a header that they make themselves."""
    text = b'{"__metadata__":{"tree":' + json.dumps(tree.decode()).encode() + b"}" + tensors + b"}"
    return len(text).to_bytes(8, "little") + text


REPLY, TREE = 4 * 2**20, 4 * 2**20 - 4000
EMPTY = ",".join(f'"{n}":{{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}' for n in range(65_000))
BOMBS: dict[str, bytes] = {
    **{
        f"a cell's reply of {name}": framed(b'{"cell":0,"state":"ok","outputs":' + many(p, REPLY)
                                            + b"}")
        for name, p in {
            "lists": b"[],", "objects": b'{"":0},', "text": '"\u0100",'.encode(),
            "streams": b'{"output_type":"stream","name":"stdout","text":""},',
        }.items()
    },
    **{
        f"an answer of {name}": framed({"check": 0}, observation(many(p, TREE // 2)))
        for name, p in {"lists": b"[],", "nulls": b"null,", "objects": b'{"":0},'}.items()
    },
    "an answer of empty tensors": framed({"check": 0}, observation(b"[]", b"," + EMPTY.encode())),
    "a large answer": framed({"check": 0}, pack(torch.zeros(3 * 2**20, dtype=torch.float64))),
    "an answer beyond the limits": framed({"check": 0}, bytes(60 * 2**20)),
}  # fmt: skip
MOST_MIB, MOST_SECONDS = 400, 10


@pytest.mark.parametrize("name", BOMBS)
def test_the_largest_replies_take_little_memory_and_time(name: str) -> None:
    seconds, grown = cost(lambda: _talk_over(BOMBS[name]))
    assert grown < MOST_MIB
    assert seconds < MOST_SECONDS


def test_without_the_limits_on_replies_memory_is_not_limited() -> None:
    text = many(b'{"":0},', 16 * REPLY // 4)
    assert cost(lambda: json.loads(text))[1] > MOST_MIB


def _talk_over(reply: bytes) -> None:
    """Read one reply as the trusted side does, as a cell's or as an answer, and judge it."""
    limits = Limits(cell_seconds=20, submission_seconds=60, exercise_seconds=20)
    is_answer = b'"check"' in reply[:64]
    begin = POLITE if is_answer else POLITE[:1]
    play = [Script(b"".join([*begin, reply, framed({"done": ""})]))]
    with ScriptedSandbox(play, limits) as sandbox:
        cells = [Cell("c0", "x = 1"), Cell("c1", "y = 2")]
        run = sandbox.run(cells, [[PROBE]])
    answer = run.observations["a", "x"]
    assert isinstance(answer, bytes) == is_answer
    if isinstance(answer, bytes):
        prepared = PreparedCheck("probe", "A check.", 2, True, Close(), torch.zeros(3), {})
        with suppress(ObservationError):
            judge_exercise([prepared], {"probe": unpack(answer)}, [])
