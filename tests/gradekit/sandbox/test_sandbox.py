"""Whole submissions in a real sandbox, at both levels."""

import base64
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from attnlab import checking
from attnlab.checking.observation import Missing, Raised, unpack
from gradekit.exercise.standalone import anonymous_version
from gradekit.sandbox.sandbox import Sandbox, SandboxFailedError
from gradekit.untrusted.limits import Limits
from gradekit.untrusted.messages import Cell, Probe
from tests.helpers.needs import level_here

DOUBLE = "def ask(lab, draw):\n    return lab.double(draw.integers(0, 9, 3))\n"


@pytest.fixture(scope="module")
def student_library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("edition")
    shutil.copytree(Path(checking.__file__).parent, folder / "attnlab" / "checking")
    (folder / "attnlab" / "__init__.py").write_text("")
    return folder


LEVELS = ["bubblewrap", "landlock"]


@pytest.fixture(scope="module", params=LEVELS)
def sandbox(student_library, request):
    with Sandbox(student_library, Limits(exercise_seconds=5), level_here(request.param)) as started:
        yield started


def run(sandbox, *sources, probes=(), files=None, seed=0):
    cells = [Cell(str(i), source) for i, source in enumerate(sources)]
    return sandbox.run(cells, probes, files, seed)


def outputs(sandbox, source):
    (cell,) = run(sandbox, source).cells
    return list(cell.outputs)


def answers(sandbox, source, *probes):
    """What each probe saw of a one-cell notebook, in the order of the probes."""
    seen = run(sandbox, source, probes=[[probe] for probe in probes]).observations
    return [unpack(seen[probe.exercise, probe.check]) for probe in probes]


def probe(source, exercise="exercise", **fields):
    return Probe(exercise, "ask", source, **{"seed": 1, **fields})


BUSY = """
import time
def busy(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
"""


def test_the_time_of_all_processes_counts(sandbox):
    asked = probe("def ask(lab, draw):\n    lab.busy(0.6)\n")
    assert run(sandbox, BUSY, probes=[[asked]]).cpu_seconds > 0.6
    assert run(sandbox, BUSY + "busy(0.6)").cpu_seconds > 0.6


class TestCells:
    def test_outputs_are_a_notebooks(self, sandbox):
        source = "import sys\nprint('a')\nprint('b')\nprint('c', file=sys.stderr)\n[1, 2]"
        assert outputs(sandbox, source) == [
            {"output_type": "stream", "name": "stdout", "text": "a\nb\n"},
            {"output_type": "stream", "name": "stderr", "text": "c\n"},
            {
                "output_type": "execute_result",
                "data": {"text/plain": "[1, 2]"},
                "metadata": {},
                "execution_count": 1,
            },
        ]

    def test_cells_are_counted_as_in_jupyter(self, sandbox):
        cells = run(sandbox, "1", "x = 2", "x").cells
        assert [c.outputs[0]["execution_count"] for c in cells if c.outputs] == [1, 3]

    def test_figures_become_pictures(self, sandbox):
        shown = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\nprint('after')"
        unshown = "plt.plot([1, 2]);"
        first, second = run(sandbox, shown, unshown).cells
        assert [output["output_type"] for output in first.outputs] == ["display_data", "stream"]
        for cell in (first, second):
            picture = base64.b64decode(cell.outputs[0]["data"]["image/png"])
            assert picture.startswith(b"\x89PNG")

    def test_errors_have_a_traceback_and_the_rest_runs(self, sandbox):
        bad, syntax, after = run(sandbox, "1 / 0", "len(", "print('after')").cells
        assert (bad.state, syntax.state, after.state) == ("error", "error", "ok")
        assert bad.outputs[0]["ename"] == "ZeroDivisionError"
        assert "ZeroDivisionError" in "".join(bad.outputs[0]["traceback"])
        assert syntax.outputs[0]["ename"] == "SyntaxError"

    def test_text_too_deep_for_pythons_parser_exceeds_no_limit(self, sandbox):
        (deep,) = run(sandbox, "x = " + "not " * 50_000 + "1").cells
        assert (deep.state, deep.reason) == ("error", "")
        assert deep.outputs[0]["ename"] == "MemoryError"  # what Python calls it

    def test_an_infinite_recursion_is_reported_soon_and_briefly(self, sandbox):
        ran = run(sandbox, "def deeper(x):\n    return deeper(x + 1)\ndeeper(0)")
        (error,) = ran.cells[0].outputs
        assert error["ename"] == "RecursionError"
        assert "more calls …" in "".join(error["traceback"])
        assert len(error["traceback"]) < 30
        assert ran.cpu_seconds < 2  # IPython's own traceback with its context took six

    @pytest.mark.parametrize(
        ("source", "text"),
        [
            ("%time 1 + 1", "Wall time"),
            ("%matplotlib inline\nprint('drawn')", "drawn"),
            ("!echo from the shell", "from the shell"),
            ("lines = !echo one; echo two\nprint(lines)", "['one', 'two']"),
            ("%%writefile note.txt\nhello", "Writing note.txt"),
            ("import os\nos.system('echo from C')", "from C"),
            ("import subprocess\nsubprocess.run(['echo', 'child'])", "child"),
            ("import warnings\nwarnings.warn('careful')", "UserWarning: careful"),
            ("import asyncio\nawait asyncio.sleep(0)\nprint('awaited')", "awaited"),
            ("%%javascript\nalert(1)", ""),
            ("exit()\nprint('still here')", "still here"),
        ],
    )
    def test_common_code_of_notebooks_works(self, sandbox, source, text):
        (cell,) = run(sandbox, source).cells
        assert cell.state == "ok"
        assert text in "".join(output.get("text", "") for output in cell.outputs)

    @pytest.mark.parametrize(
        ("source", "error"),
        [
            ("input('name? ')", "EOFError"),
            ("%no_such_magic", "UsageError"),
            ("import sys\nsys.exit(1)", "SystemExit"),
            ("raise KeyboardInterrupt", "KeyboardInterrupt"),
            ("raise BaseException('odd')", "BaseException"),
        ],
    )
    def test_an_error_stops_a_cell_and_not_the_notebook(self, sandbox, source, error):
        cell, after = run(sandbox, source, "print('after')").cells
        assert cell.state == "error"
        assert error in str(cell.outputs)
        assert after.outputs[0]["text"] == "after\n"

    def test_random_numbers_depend_only_on_the_seed(self, sandbox):
        draw = (
            "import torch, numpy, random\n"
            "print(torch.rand(1), numpy.random.rand(), random.random())"
        )
        first, again, other = (run(sandbox, draw, seed=s).cells[0].outputs for s in (3, 3, 4))
        assert first == again != other

    def test_data_files_are_in_the_working_folder(self, sandbox):
        source = "print(open('data/words.txt').read())"
        (cell,) = run(sandbox, source, files={"data/words.txt": b"uno dos"}).cells
        assert cell.outputs[0]["text"] == "uno dos\n"

    def test_files_that_cannot_be_written_cost_nothing(self, sandbox):
        files = {"a": b"1", "a/b": b"2", "n" * 300: b"3", "nul\0": b"4", "large": bytes(2**27)}
        (cell,) = run(sandbox, "import os\nprint(sorted(os.listdir()))", files=files).cells
        assert cell.outputs[0]["text"] in ("['a']\n", "['a', 'large']\n")

    def test_a_notebook_too_large_to_send_is_its_own_fault(self, sandbox):
        result = run(sandbox, "x = 1", "#" * 2**24, probes=[[probe(DOUBLE)]])
        assert "too large" in result.observations["exercise", "ask"].reason
        assert run(sandbox, "1").cells[0].state == "ok"

    @pytest.mark.parametrize("name", ["/etc/x", "../x", "lab01.ipynb", "a/../../b", ""])
    def test_no_notebook_and_nothing_outside_is_written(self, sandbox, name):
        with pytest.raises(ValueError, match="data file"):
            run(sandbox, "1", files={name: b""})

    def test_training_works(self, sandbox):
        train = (
            "import torch\n"
            "model = torch.nn.Linear(3, 1)\n"
            "optimiser = torch.optim.Adam(model.parameters())\n"
            "for _ in range(3):\n"
            "    loss = model(torch.ones(2, 3)).square().mean()\n"
            "    optimiser.zero_grad(); loss.backward(); optimiser.step()\n"
            "torch.save(model.state_dict(), 'model.pt')\n"
            "loaders = torch.utils.data.DataLoader(list(range(4)), num_workers=2)\n"
            "print(len(list(loaders)), loss.item() < 100)\n"
        )
        assert outputs(sandbox, train)[-1]["text"] == "4 True\n"


class TestProbes:
    def test_an_answer_is_the_functions_return_value(self, sandbox):
        (seen,) = answers(sandbox, "def double(x):\n    return 2 * x", probe(DOUBLE))
        (again,) = answers(sandbox, "def double(x):\n    return x + x", probe(DOUBLE))
        assert seen.equal(again)

    def test_a_missing_name_and_an_error_are_answers(self, sandbox):
        source = "def double(x):\n    return x.no_such_thing()"
        missing, raised = answers(
            sandbox,
            source,
            probe("def ask(lab, draw): return lab.triple(1)", "a"),
            probe(DOUBLE, "b"),
        )
        assert missing == Missing("triple")
        assert isinstance(raised, Raised)
        assert raised.type == "AttributeError"
        assert raised.source_line == "return x.no_such_thing()"

    def test_forbidden_functions_stop_the_probe(self, sandbox):
        source = "import torch\ndef double(x):\n    return torch.add(x, x)"
        (seen,) = answers(sandbox, source, probe(DOUBLE, forbids=("torch.add",)))
        assert seen.type == "ForbiddenCallError"

    def test_references_replace_names_for_only_one_exercise(self, sandbox):
        source = "def one(): return 'mine'\ndef two(): return one()"
        ask = "def ask(lab, draw): return [lab.one(), lab.two()]"
        reference = {"uses": "def one(): return 'reference'", "replaces": ("one",)}
        seen = answers(
            sandbox,
            source,
            probe(ask, "before"),
            probe(ask, "replaced", **reference),
            probe(ask, "chained"),
        )
        mine, given = ["mine", "mine"], ["reference", "reference"]
        assert seen == [mine, given, mine]

    def test_a_missing_step_is_replaced(self, sandbox):
        reference = {"uses": "def one(): return 'reference'", "replaces": ("one",)}
        ask = "def ask(lab, draw): return lab.two()"
        (seen,) = answers(sandbox, "def two(): return one()", probe(ask, **reference))
        assert seen == "reference"

    def test_versions_are_tried_without_their_names(self, sandbox):
        right = anonymous_version("def right(x):\n    'Right.'\n    return 2 * x", "right")
        wrong = anonymous_version("def forgets_to_double(x):\n    return x", "forgets_to_double")
        source = (
            "def check_it(f):\n    assert f(2) == 4\ndef name(f):\n    return f.__name__, f.__doc__"
        )
        tried, names = answers(
            sandbox,
            source,
            probe(
                "def ask(lab, draw): return draw.accepts(lab.check_it)",
                "a",
                versions=(wrong, right),
            ),
            probe(
                "def ask(lab, draw): return [lab.name(f) for f in draw.versions]",
                "b",
                versions=(wrong, right),
            ),
        )
        assert tried == [False, True]
        assert names == [["version", None]] * 2

    def test_a_cell_that_started_threads_does_not_hang_the_probes(self, sandbox):
        source = (
            "import torch, threading, time\n"
            "torch.set_num_threads(2)\n"
            "torch.randn(500, 500) @ torch.randn(500, 500)\n"
            "threading.Thread(target=time.sleep, args=(60,)).start()\n"
            "def double(x): return (torch.ones(500, 500) @ torch.ones(500, 500))[:1, :1]\n"
        )
        (seen,) = answers(sandbox, source, probe(DOUBLE))
        assert seen.item() == 500

    def test_an_answer_that_is_too_large_costs_only_that_check(self, sandbox):
        source = "import torch\ndef big(): return torch.zeros(10**7)\ndef small(): return 1"
        probes = [
            Probe("e", name, f"def {name}(lab, draw): return lab.{name}()", 0)
            for name in ("big", "small")
        ]
        seen = run(sandbox, source, probes=[probes]).observations
        assert "too large" in seen["e", "big"].reason
        assert unpack(seen["e", "small"]) == 1


def descendants(pid):
    found = subprocess.run(
        ["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False
    ).stdout.split()
    return [int(child) for child in found] + [d for c in found for d in descendants(int(c))]


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def alive_after(pids, seconds=5):
    """Those of the processes `pids` that are still there after `seconds`: ends take a moment."""
    give_up = time.monotonic() + seconds
    while any(map(alive, pids)) and time.monotonic() < give_up:
        time.sleep(0.05)
    return [pid for pid in pids if alive(pid)]


class TestFailures:
    @pytest.mark.parametrize("level", LEVELS)
    def test_a_killed_server_is_started_again_and_nothing_is_left(
        self, student_library, tmp_path, monkeypatch, level
    ):
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        before = descendants(os.getpid())
        with Sandbox(student_library, level=level_here(level)) as sandbox:
            started = [pid for pid in descendants(os.getpid()) if pid not in before]
            os.kill(started[-1], signal.SIGKILL)
            assert outputs(sandbox, "print(1)")[0]["text"] == "1\n"
            assert list(tmp_path.iterdir())
        # The kernel ends the processes of a process namespace just after their first one.
        assert alive_after(started) == []
        assert list(tmp_path.iterdir()) == []

    def test_a_server_that_fails_twice_is_our_fault(self, student_library, monkeypatch):
        class Broken:
            def __init__(self, *_):
                self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                theirs.close()

            def last_error(self):
                return "it broke"

            def close(self):
                self.control.close()

        monkeypatch.setattr("gradekit.sandbox.sandbox._Server", Broken)
        with pytest.raises(SandboxFailedError, match="it broke"):
            run(Sandbox(student_library), "1")

    @pytest.mark.parametrize("level", LEVELS)
    def test_all_of_it_ends_when_the_trusted_process_is_killed(
        self, student_library, tmp_path, level
    ):
        script = (
            "import sys\nfrom pathlib import Path\n"
            "from gradekit.untrusted.messages import Cell\n"
            "from gradekit.sandbox.sandbox import Sandbox\n"
            f"with Sandbox(Path({str(student_library)!r}), level={level_here(level)!r}) as s:\n"
            "    s.run([Cell('a', '1')], [])\n"
            "    print('up', flush=True)\n"
            "    s.run([Cell('a', 'while True: pass')], [])\n"
        )
        paths = os.pathsep.join(path for path in sys.path if path)
        variables = {**os.environ, "PYTHONPATH": paths, "TMPDIR": str(tmp_path)}
        line = [sys.executable, "-c", script]
        with subprocess.Popen(line, env=variables, stdout=subprocess.PIPE) as trusted:
            assert trusted.stdout.readline() == b"up\n"
            time.sleep(0.3)
            below = descendants(trusted.pid)
            assert len(below) >= 3
            trusted.kill()
            trusted.wait()
            assert alive_after(below) == []
