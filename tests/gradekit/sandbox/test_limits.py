"""Each limit is exceeded once; the student reads which it was, its value, and what to do."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from attnlab import checking
from attnlab.checking.observation import unpack
from gradekit.sandbox.levels import choose
from gradekit.sandbox.sandbox import Sandbox
from gradekit.untrusted.limits import MIB, ExerciseLimits, Limits
from gradekit.untrusted.messages import Cell, Probe, Stopped
from tests.helpers.needs import require

LIMITS = Limits(
    cell_seconds=20, submission_seconds=60, cpu_seconds=2, exercise_seconds=20,
    memory_bytes=640 * MIB, output_bytes=32 * 1024, cell_output_bytes=16 * 1024,
    answer_bytes=4 * MIB, file_bytes=4 * MIB, scratch_bytes=16 * MIB, processes=10, open_files=100,
)  # fmt: skip
SHORT = replace(LIMITS.of_an_exercise, seconds=0.7)
LOOP = "def attend(x=1):\n    while True:\n        x = x + 1\n"
CATCHES_ALL = (
    "def attend(x=1):\n    while True:\n        try:\n            while True: x = -x\n"
    "        except: pass\n"
)

FLOOD = """
import json, os, struct
text = json.dumps({"cell": 0, "limit": "cpu", "where": "x" * 9000}).encode()
while True:
    for fd in range(3, 20):
        try: os.write(fd, struct.pack("!II", len(text), 0) + text)
        except OSError: pass
"""


@pytest.fixture(scope="module")
def student_library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("edition")
    shutil.copytree(Path(checking.__file__).parent, folder / "attnlab" / "checking")
    (folder / "attnlab" / "__init__.py").write_text("")
    return folder


@pytest.fixture(scope="module")
def first_level(student_library):
    """For messages of the untrusted side itself, which are the same at each level."""
    require("bubblewrap")
    with Sandbox(student_library, LIMITS) as started:
        yield started


@pytest.fixture(scope="module")
def second_level(student_library):
    require("landlock")
    with Sandbox(student_library, LIMITS, "landlock") as started:
        yield started


@pytest.fixture(scope="module", params=["first_level", "second_level"])
def sandbox(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def hasty(student_library):
    """With little time for a cell."""
    limits = replace(LIMITS, cell_seconds=1.2, cpu_seconds=60)
    with Sandbox(student_library, limits, choose().level) as started:
        yield started


def cell(sandbox, *sources):
    """How the last of these cells ran."""
    return sandbox.run([Cell(str(i), text) for i, text in enumerate(sources)], []).cells[-1]


def ask(name, expression, check="ask", **fields):
    return Probe(name, check, f"def {check}(lab, draw):\n    return {expression}\n", 1, **fields)


def asked(sandbox, source, *groups):
    """The result of each probe after one cell."""
    run = sandbox.run([Cell("answers", source)], groups)
    return [
        seen.reason if isinstance(seen, Stopped) else unpack(seen)
        for seen in run.observations.values()
    ]


def too_slow(seconds, location=""):
    return f"stopped after {seconds:g} s{location}: is there an infinite loop?"


class TestTimeOfACell:
    @pytest.mark.parametrize(
        ("source", "location"),
        [
            (f"{LOOP}attend()", " in `attend`"),
            (f"{CATCHES_ALL}attend()", " in `attend`"),
            ("class Layer:\n    def forward(self):\n        while True: pass\nLayer().forward()",
             " in `Layer.forward`"),
            (f"{LOOP}def outer():\n    (lambda: attend())()\nouter()", " in `attend`"),
            ("import time\ndef wait(): time.sleep(60)\nwait()", " in `wait`"),
        ],
        ids=["function", "catches all", "method", "inner function", "in a library"],
    )  # fmt: skip
    def test_the_function_is_named(self, hasty, source, location):
        ran = cell(hasty, source)
        assert (ran.state, ran.reason) == ("stopped", too_slow(1.2, location))

    def test_a_function_that_the_notebook_does_not_define_is_not(self, hasty):
        code = "'def secret():\\n    while True: pass'".replace("def s", "d' + 'ef s")
        source = f"exec(compile({code}, '<ipython-input-1-x>', 'exec'))\nsecret()"
        assert cell(hasty, source).reason == too_slow(1.2)

    def test_endless_reports_count_as_forged(self, hasty):
        run = hasty.run([Cell("a", FLOOD), Cell("b", "print(1)")], [])
        assert run.cells[0].reason == "wrote something of its own into the grader's channel"
        assert run.cells[1].state == "ok"


class TestTimeOfAnExercise:
    @pytest.mark.parametrize("source", [LOOP, CATCHES_ALL], ids=["loop", "catches all"])
    def test_the_function_is_named_and_the_next_exercise_is_asked(self, sandbox, source):
        answers = f"{source}def fine(): return 7"
        calls = {"a": "lab.fine()", "b": "lab.attend()", "c": "lab.fine()"}
        group = [ask("first", call, check, limits=SHORT) for check, call in calls.items()]
        late = too_slow(0.7, " in `attend`")
        seen = asked(sandbox, answers, group, [ask("next", "lab.fine()")])
        assert seen == [7, late, late, 7]

    @pytest.mark.parametrize(
        "source",
        [
            f"{LOOP}import signal\ndef deaf():\n    signal.signal(signal.SIGALRM, signal.SIG_IGN)\n"
            "    attend()",
            "def deaf(): return sum(range(10**12))",
        ],
        ids=["ignores the alarm", "not in Python"],
    )
    def test_code_that_ignores_the_alarm_is_ended_without_a_name(self, first_level, source):
        answers = f"{source}\ndef fine(): return 7"
        deaf = ask("deaf", "lab.deaf()", limits=SHORT)
        seen = asked(first_level, answers, [deaf], [ask("next", "lab.fine()")])
        assert seen == [too_slow(0.7), 7]


# For each limit, code that exceeds it, and the message. The code is in a cell and in an answer.
MEMORY = (
    "used more than 640 MiB of memory{location}: which tensor or list is larger than necessary?"
)
ONE_FILE = "wrote a file of more than 4 MiB{location}: which of its contents are needed?"
ANY_FILE = (
    "wrote too large a file{location}: one may have 4 MiB, all together 16 MiB. "
    "Which of their contents are needed?"
)
PROCESSES = (
    "started more than 10 processes and threads at a time{location}: start fewer, or wait for some "
    "to end (`num_workers=0` needs none)"
)
OPEN = "had more than 100 open files{location}: open each in a `with` block, which closes it again"
EXCEEDING = {
    "tensor": ("torch.zeros(10**5, 10**5)", MEMORY),
    "array": ("numpy.ones((10**5, 10**5))", MEMORY),
    "bytes": ("bytearray(10**10)", MEMORY),
    "open": ("open('a', 'wb').write(bytes(5 * 2**20))", ONE_FILE),
    "torch.save": ("torch.save(torch.zeros(2 * 10**6), 'a.pt')", ANY_FILE),
    "numpy.save": ("numpy.save('a.npy', numpy.zeros(10**6))", ANY_FILE),
    "safetensors": ("save_file({'a': torch.zeros(2 * 10**6)}, 'a.safetensors')", ONE_FILE),
    "threads": ("[Thread(target=sleep, args=(9,), daemon=True).start() for _ in 'x' * 40]",
                PROCESSES),
    "processes": ("[Process(target=sleep, args=(9,)).start() for _ in 'x' * 40]", PROCESSES),
    "fork bomb": ("[os.fork() or sleep(9) for _ in 'x' * 40]", PROCESSES),
    "open files": ("[open(f'f{i}', 'w') for i in range(200)]", OPEN),
}  # fmt: skip
IMPORTS = (
    "import os, numpy, torch\nfrom threading import Thread\nfrom multiprocessing import Process\n"
    "from time import sleep\nfrom safetensors.torch import save_file\n"
)


@pytest.mark.parametrize(("does", "words"), EXCEEDING.values(), ids=EXCEEDING)
def test_a_limit_is_named_and_costs_only_what_exceeded_it(sandbox, does, words):
    function = f"def use():\n    {does}\n"
    in_a_cell = f"{IMPORTS}{function}use()"
    run = sandbox.run(
        [Cell("exceeds", in_a_cell), Cell("next", "def fine(): return 7")],
        [[ask("exceeds", "lab.use()")], [ask("next", "lab.fine()")]],
    )
    first, second = run.cells
    assert (first.state, first.reason) == ("error", words.format(location=" in `use`"))
    assert (second.state, second.reason) == ("ok", "")
    exceeded, following = run.observations.values()
    assert exceeded == Stopped(words.format(location=f" in the line `{does}`"))
    assert unpack(following) == 7


HOLD = "import os\nkept = []\ntry:\n    while True: kept.append(os.dup(0))\nexcept OSError: pass\n"


def test_open_files_of_cells_leave_room_for_the_questions(sandbox):
    assert asked(sandbox, f"{HOLD}def fine(): return len(kept) > 50", [ask("a", "lab.fine()")]) == [
        True
    ]


def test_without_that_room_the_limit_is_named(sandbox):
    """A cell takes the room that is left for us, as every cell could if there were none."""
    take = (
        "import resource\n_, most = resource.getrlimit(resource.RLIMIT_NOFILE)\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))\n"
    )
    seen = asked(sandbox, f"{take}{HOLD}def fine(): return 7", [ask("a", "lab.fine()")])
    assert seen == [OPEN.format(location="")]


def test_all_files_together_are_limited(sandbox):
    ran = cell(sandbox, "for i in range(9):\n    open(str(i), 'wb').write(bytes(3 * 2**20))")
    assert ran.state in ("error", "stopped")
    assert ran.reason.startswith("wrote more than 16 MiB of files, or too many: which of them")


def test_memory_is_freed_for_later_cells(sandbox):
    hoard = "import torch\ndef grow():\n    x = []\n    while True: x.append(torch.ones(10**6))\n"
    large = "import torch\nprint(len(torch.ones(5 * 10**7)))"
    first, second = sandbox.run([Cell("a", f"{hoard}grow()"), Cell("b", large)], []).cells
    assert first.reason == MEMORY.format(location=" in `grow`")
    assert second.outputs[0]["text"] == "50000000\n"


def test_cpu_time_of_many_processes_is_counted_together(sandbox):
    spend = (
        "import os, time\n"
        "for _ in range(6):\n"
        "    if os.fork() == 0:\n"
        "        while time.process_time() < 1.8: pass\n"
        "        time.sleep(60)\n"
        "time.sleep(19)"
    )
    first, second = sandbox.run([Cell("a", spend), Cell("b", "print(1)")], []).cells
    assert (first.state, second.state) == ("stopped", "ok")
    assert first.reason.startswith("used more than 2 s of CPU time: can it use fewer")


def test_cpu_time_that_nobody_waits_for_is_counted_too(sandbox):
    """The kernel adds a child's time to its parent's only if the parent waits for it."""
    spend = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "for _ in range(4):\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        while time.process_time() < 0.4: pass\n"
        "        os._exit(0)\n"
        "    try:\n"
        "        while True: os.kill(child, 0); time.sleep(0.01)\n"
        "    except ProcessLookupError: pass\n"
        "print('counted', sum(os.times()[:4]) < 1)"
    )
    run = sandbox.run([Cell("a", spend)], [])
    assert "counted True" in run.cells[0].outputs[0]["text"], "the attack does not even work"
    assert run.cpu_seconds > 1


def test_cut_output_says_how_much_and_which_limit(sandbox):
    loud, quiet = sandbox.run([Cell("a", "print('x' * 20_000)"), Cell("b", "print(1)")], []).cells
    assert loud.state == "ok"
    assert loud.reason.startswith("printed and drew more than can be shown, so its output was")
    assert "16 KiB for a cell, 32 KiB for all" in loud.reason
    assert loud.outputs[-1]["text"] == (
        "[3,617 more bytes of output were cut: the limit is 16,384 for a cell, 32,768 for all "
        "cells]\n"
    )
    assert quiet.reason == ""


def test_answers_that_are_too_large_say_how_much_they_may_be(sandbox):
    source = "import torch\ndef big(n): return torch.ones(n)\ndef many(): return [0] * 10**5"
    half, much = ask("a", "lab.big(10**6 // 2)"), ask("a", "lab.big(10**6)", "b")
    parts, fine = ask("b", "lab.many()"), ask("c", "lab.big(3)")
    seen = asked(sandbox, source, [half, much], [parts], [fine])
    words = (
        "its return value is too large to check: the answers of a step may have 4 MiB, "
        "those of all steps 4 MiB, and one of them 20,000 values in lists."
    )
    assert [len(seen[0]), len(seen[3])] == [500_000, 3]
    assert all(said.startswith(words) for said in seen[1:3])


def test_an_exercise_has_limits_of_its_own(sandbox):
    own = ExerciseLimits(0.4, 9, 520 * MIB, 4096)
    source = f"{LOOP}import torch\ndef big(n): return torch.ones(n)"
    line = " in the line `def big(n): return torch.ones(n)`"
    seen = asked(
        sandbox, source,
        [ask("a", "lab.attend()", limits=own)],
        [ask("b", "lab.big(10**8)[:2]", limits=own)], [ask("c", "lab.big(6 * 10**7)[:2].tolist()")],
        [ask("d", "lab.big(2000)", limits=own)], [ask("e", "len(lab.big(2000))")],
    )  # fmt: skip
    assert seen[0] == too_slow(0.4, " in `attend`")
    assert seen[1] == MEMORY.format(location=line).replace("640", "520")
    assert seen[2] == [1, 1]
    assert "the answers of a step may have 4 KiB" in seen[3]
    assert seen[4] == 2000


def test_cpu_time_is_named_with_the_function(first_level):
    words = "used more than 2 s of CPU time in `attend`: can it use fewer steps, or smaller ones?"
    cells = [Cell("a", f"{CATCHES_ALL}attend()"), Cell("b", f"{LOOP}def fine(): return 7")]
    groups = [[ask("a", "lab.attend()")], [ask("b", "lab.fine()")]]
    run = first_level.run(cells, groups)
    assert [ran.reason for ran in run.cells] == [words, ""]
    exceeded, fine = run.observations.values()
    assert (exceeded, unpack(fine)) == (Stopped(words), 7)


@pytest.mark.slow
def test_code_that_ignores_signals_is_ended_for_its_cpu_time(first_level):
    first, second = first_level.run([Cell("a", "sum(range(10**12))"), Cell("b", "1")], []).cells
    assert first.reason.startswith("used more than 2 s of CPU time: can it use")
    assert second.state == "ok"
