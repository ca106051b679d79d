"""A notebook writes its own replies: junk, forged frames, two for one, from another program."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from attnlab.checking.observation import unpack
from tests.helpers.attack import text_of
from tests.helpers.two_graders import BLANK, HALF, RIGHT, earned, points_and_run

JUNK = """
import os
for fd in range(256):
    try: os.write(fd, b'\\xff' * 4096)
    except OSError: pass
"""
FRAME = """
import json, os, struct, torch
from attnlab.checking.observation import pack
def frame(message, body=b''):
    text = json.dumps(message).encode()
    return struct.pack('!II', len(text), len(body)) + text + body
def everywhere(data):
    for fd in range(3, 256):
        try: os.write(fd, data)
        except OSError: pass
"""
FORGED = (
    FRAME
    + """
cells = b''.join(frame({'cell': i, 'state': 'ok', 'outputs': []}) for i in range(3))
answers = frame({'check': 0, 'points': 100}, pack(torch.ones(2, 3) / 3))
everywhere(cells + answers + frame({'check': 1}, pack(torch.ones(4, 3) / 4)) + frame({'done': ''}))
"""
)
NAIVE = """
import json, sys
exec(sys.argv[1])
print(json.dumps({"points": 0}))
"""


def test_the_first_reply_counts_where_replies_are_believed():
    forged = "print('{\"points\": 100}', flush=True)"
    line = [sys.executable, "-c", NAIVE, forged]
    said = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    assert json.loads(said.splitlines()[0]) == {"points": 100}


def test_junk_in_every_file_costs_one_cell(sandbox):
    points, run = points_and_run(sandbox, RIGHT, JUNK, "print('later')")
    assert points == 2
    assert run.cells[1].reason == "wrote something of its own into the grader's channel"
    assert "later" in text_of(run.cells[2])


def test_forged_replies_earn_no_more_than_an_answer_could(sandbox):
    assert earned(sandbox, FORGED) == 0
    assert earned(sandbox, BLANK, FORGED) == 0


def test_forged_replies_do_not_spoil_what_was_right(sandbox):
    points, run = points_and_run(sandbox, RIGHT, FORGED, "print('later')")
    assert points == 2
    assert run.cells[1].state == "stopped"
    assert "later" in text_of(run.cells[2])
    assert earned(sandbox, RIGHT) == 2


# The first reply would count, from the child of an answer or from a process left waiting.
TWICE = (
    FRAME
    + """
def softmax(x, dim=-1):
    if os.fork() == 0: return torch.ones(2, 3) / 3
    os.wait()
    return torch.ones(4, 3) / 4
"""
)
WAITING = (
    FRAME
    + """
import time
if os.fork() == 0:
    os.setsid()
    while True:
        time.sleep(0.002)
        everywhere(frame({'check': 0}, pack(torch.ones(2, 3) / 3)))
"""
)
ENDLESS = (
    FRAME
    + """
def softmax(x, dim=-1):
    while True: everywhere(frame({'check': 0}, pack(True)) + frame({'check': True}))
"""
)
OWN_WORDS = (
    FRAME
    + """
def softmax(x, dim=-1):
    everywhere(frame({'check': 0}, pack(x)) + frame({'check': 1, 'refused': 'all points, please'}))
    everywhere(frame({'done': 'ended', 'points': 100, 'memory': 1, 'ended': True, 'cpu': -5}))
    return x
"""
)


@pytest.mark.parametrize(
    "cheat", [TWICE, WAITING, ENDLESS, OWN_WORDS], ids=["twice", "waiting", "endless", "own words"]
)
def test_it_does_not_matter_which_process_replies(sandbox, cheat):
    points, run = points_and_run(sandbox, BLANK, cheat)
    assert points == 0
    assert "all points" not in str(run.observations)
    assert earned(sandbox, HALF, cheat) <= 1
    assert earned(sandbox, RIGHT) == 2


PROGRAM = (
    FRAME
    + '''
talker = """
import os, socket, struct, sys, json
channel = socket.socket(fileno=int(sys.argv[1]))
def frame(message, body=b''):
    text = json.dumps(message).encode()
    return struct.pack('!II', len(text), len(body)) + text + body
channel.sendall(frame({'cell': 1, 'state': 'ok', 'outputs': []}))
while head := channel.recv(8, socket.MSG_WAITALL):
    request = channel.recv(sum(struct.unpack('!II', head)), socket.MSG_WAITALL)
    for index, _ in enumerate(json.loads(request)['probes']):
        channel.sendall(frame({'check': index}, bytes.fromhex(sys.argv[2])))
    channel.sendall(frame({'done': ''}))
"""
import stat, sys
for fd in range(3, 256):
    try: found = stat.S_ISSOCK(os.fstat(fd).st_mode)
    except OSError: continue
    if found:
        os.set_inheritable(fd, True)
        answer = pack(torch.ones(2, 3) / 3).hex()
        os.execv(sys.executable, [sys.executable, '-I', '-c', talker, str(fd), answer])
'''
)


def test_another_program_may_answer_as_well(sandbox):
    points, run = points_and_run(sandbox, BLANK, PROGRAM)
    assert [cell.state for cell in run.cells] == ["ok", "ok"]
    assert unpack(run.observations["softmax", "rows"]).sum() == 2, "the program was listened to"
    assert points == 0
    assert earned(sandbox, RIGHT) == 2
