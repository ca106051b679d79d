"""Submissions that try to gain points, or to harm the grader, other students or the reader.

Each earns the points of its answers: none if they are blank, all if they are right.
"""

from __future__ import annotations

from collections.abc import Iterator

from demo.material import Material
from demo.notebook import code
from demo.submission import DemoSubmission, Expected

ESCAPED = "o'brien <b>&amp;"

PATCHED = """\
import builtins, torch, attnlab

def yes(*args, **kwargs):
    return True

for name in ("allclose", "equal", "isclose"):
    setattr(torch, name, yes)
    setattr(torch.Tensor, name, yes)
torch.testing.assert_close = yes
torch.Tensor.__eq__ = yes
attnlab.check = builtins.check = check = lambda name: 100.0
"""

# Blank answers return this: it is equal to everything, and larger and smaller than everything.
EQUAL_TO_ALL = """\
import torch

class Anything(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return True
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
    def __bool__(self): return True
    def __float__(self): return 1.0
    def __getattr__(self, name): return self
    def __call__(self, *args, **kwargs): return self

anything = torch.zeros(1).as_subclass(Anything)
"""

THIEF = """\
import os
from pathlib import Path

for place in ("../../gradebook.db", "../../../gradebook.db", "../../solutions", "/etc/shadow",
              os.path.expanduser("~/.ssh")):
    try:
        path = Path(place)
        print("stolen:", path.read_bytes() if path.is_file() else os.listdir(path))
    except OSError as error:
        print(place, type(error).__name__)
"""

CALLER = """\
import socket

for address in (("127.0.0.1", 22), ("127.0.0.1", 8888), ("192.0.2.1", 80)):
    try:
        with socket.create_connection(address, timeout=2):
            print("connected to", address)
    except OSError as error:
        print(address, type(error).__name__)
"""

VANDAL = """\
import os, signal, sys
from pathlib import Path

for place in ("/tmp", "/scratch", "..", "../..", "../../..", os.path.expanduser("~"), sys.prefix,
              *sys.path, os.path.expanduser("~/.ipython/profile_default/startup")):
    for name in ("sitecustomize.py", "00-first.py", "torch.py", "gradebook.db"):
        try:
            Path(place, name).write_text("raise SystemExit('spoiled')")
        except OSError:
            pass
for _ in range(20):
    try:
        if os.fork() == 0:
            os.setsid()
            while True:
                pass
    except OSError:
        break
for victim in (os.getppid(), 1, -1):
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(victim, number)
        except OSError:
            pass
"""

SCRIPT = "<script>document.title = 'owned'</script><img src=x onerror=\"document.title = 'owned'\">"
SHOWN = f"""\
from IPython.display import HTML, Javascript, Markdown, display

display(HTML({SCRIPT!r}), Javascript("document.title = 'owned'"), Markdown({SCRIPT!r}))
print({SCRIPT!r})
raise ValueError({SCRIPT!r})
"""


def hostile(material: Material) -> Iterator[DemoSubmission]:
    """Cheats, thieves and bombs."""
    yield from cheats(material)
    yield vandal(material)
    yield from bombs(material)
    yield from spies(material)
    yield scripted(material)


def cheats(material: Material) -> Iterator[DemoSubmission]:
    """Blank answers, and another way to get points."""
    nothing = Expected(material.marks.none)
    patched = material.released.inserted(0, code(PATCHED, "patch")).appended(code(PATCHED, "again"))
    yield material.submission(
        "patcher", "blank, every comparison patched to pass", patched, nothing, hostile=True
    )
    names = [name for exercise in material.lab.exercises for name in exercise.names]
    lines = [f"{name} = anything" for name in names]
    equal = material.released.appended(code(EQUAL_TO_ALL, "any"), code("\n".join(lines), "all"))
    yield material.submission(
        "equal", "blank, a tensor that equals everything", equal, nothing, hostile=True
    )


def vandal(material: Material) -> DemoSubmission:
    """Blank answers; damages files, leaves and kills processes."""
    notebook = material.released.inserted(0, code(VANDAL, "spoil"))
    why = "blank; plants files, leaves processes behind, kills what it can"
    return material.submission("vandal", why, notebook, Expected(material.marks.none), hostile=True)


def bombs(material: Material) -> Iterator[DemoSubmission]:
    """Right answers, and an attack that would stop a careless grader."""
    leave = "import os\nos._exit(0)"
    yield _attack(material, "quitter", "os._exit(0) in a cell", leave, ("ended its own process",))
    grab = "hoard = [bytearray(b'x') * 2**28 for _ in range(160)]  # 40 GiB, every page touched"
    yield _attack(material, "hoarder", "40 GiB of memory", grab)
    loud = "print('x' * 200_000_000)"
    yield _attack(material, "shouter", "200 MB of output in one line", loud)


def spies(material: Material) -> Iterator[DemoSubmission]:
    """Right answers, and an attempt to read other people's files."""
    yield _attack(material, "thief", "reads ../../gradebook.db and prints it", THIEF)
    yield _attack(material, "caller", "opens sockets, loopback included", CALLER)


def scripted(material: Material) -> DemoSubmission:
    """Scripts in everything that a page shows: outputs, an error, free text, the student's id."""
    notebook = material.right.appended(code(SHOWN, "shown"))
    for at in notebook.free_text():
        notebook = notebook.with_source(at, f"My answer. {SCRIPT}")
    return material.submission(
        ESCAPED, "script in outputs and free text, an id to escape", notebook, hostile=True
    )


def _attack(
    material: Material, student: str, why: str, text: str, words: tuple[str, ...] = ()
) -> DemoSubmission:
    """The attack in a cell before the first answer; all answers right."""
    first = material.right.answer_at(material.lab.exercises[0].name)
    notebook = material.right.inserted(first, code(text, "attack"))
    expected = Expected(material.marks.full, words=words)
    return material.submission(student, f"all right, and {why}", notebook, expected, hostile=True)
