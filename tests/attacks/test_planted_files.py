"""A notebook plants files that a later run would import: start-up files, settings, caches."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.helpers.attack import said
from tests.helpers.two_graders import BLANK, RIGHT, earned, points_and_run

EVIL = "import builtins; builtins.planted = print('planted') or 42\n"
PYTHON = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
PLACES = (
    f".local/{PYTHON}/usercustomize.py",
    f".local/{PYTHON}/sitecustomize.py",
    f".local/{PYTHON}/planted.pth",
    ".ipython/profile_default/startup/00-planted.py",
    ".jupyter/jupyter_notebook_config.py",
    ".config/matplotlib/matplotlibrc",
    ".cache/torch_extensions/planted.py",
    ".pythonrc",
    "course/nbgrader_config.py",
    "course/sitecustomize.py",
    "course/torch.py",
)
PLANT = f"""
import os
from pathlib import Path
for place in {PLACES!r}:
    path = Path(home, place)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text({EVIL!r})
    except OSError as error: print(error)
"""


def test_nothing_is_planted_in_a_home_or_a_course(sandbox, unconfined, tmp_path):
    homes = [tmp_path / "careless", tmp_path / "guarded"]
    os.chmod(tmp_path, 0o755)
    for home, chosen in zip(homes, (unconfined, sandbox), strict=True):
        home.mkdir()
        home.chmod(0o777)
        said(chosen, f"home = {str(home)!r}\n{PLANT}")
    assert all((homes[0] / place).exists() for place in PLACES)
    assert [python_at(home) for home in homes] == [True, False]
    assert list(homes[1].iterdir()) == []


def python_at(home) -> bool:
    """Whether a Python that starts in this home runs the planted files."""
    variables = {"HOME": str(home), "PATH": os.environ["PATH"]}
    line = [sys._base_executable, "-c", ""]
    done = subprocess.run(line, env=variables, capture_output=True, text=True, check=True)
    return "planted" in done.stdout


def test_nothing_is_planted_in_the_folders_of_python_and_the_grader(sandbox):
    everywhere = (
        "import os, sys, site\n"
        "from pathlib import Path\n"
        "places = [*sys.path, sys.prefix, sys.base_prefix, '/etc', '/usr/lib', '/tmp', '/run',\n"
        "          *site.getsitepackages(), os.path.dirname(sys.executable)]\n"
        "elsewhere = set(filter(os.path.isabs, places)) - {os.getcwd()}\n"
        "for place in elsewhere:\n"
        "    for name in ('sitecustomize.py', 'usercustomize.py', 'planted.pth', 'torch.py'):\n"
        "        path = Path(place, name)\n"
        "        try: path.write_text(''); print('planted', path)\n"
        "        except OSError: pass\n"
    )
    planted = [line for line in said(sandbox, everywhere).splitlines() if "planted" in line]
    # Behind bubblewrap /tmp is another name of the scratch folder.
    assert all(line.split()[1].startswith("/tmp/") for line in planted)
    assert all(not os.path.exists(line.split()[1]) for line in planted)


LEAVE = """
import os, tempfile
from pathlib import Path
startup = os.path.expanduser("~/.ipython/profile_default/startup")
places = [tempfile.gettempdir(), startup, "/dev/shm", os.environ["MPLCONFIGDIR"], os.getcwd(),
          os.path.expanduser("~/.cache/torch_extensions"), os.path.expanduser("~")]
for place in places:
    try:
        os.makedirs(place, exist_ok=True)
        Path(place, "planted.py").write_text("answers = 42")
    except OSError as error:
        print(error)
"""
HARVEST = (
    LEAVE.partition("for place")[0]
    + """
found = [place for place in places if os.path.exists(os.path.join(place, "planted.py"))]
print("found", found)
"""
)


def test_nothing_is_left_for_a_later_submission(sandbox, unconfined):
    said(unconfined, LEAVE)
    assert "found ['/" in said(unconfined, HARVEST)
    said(unconfined, "import os; os.remove('/dev/shm/planted.py')")
    said(sandbox, LEAVE)
    assert "found []" in said(sandbox, HARVEST)


HANDED_IN = {
    name: EVIL.encode()
    for name in (
        "sitecustomize.py",
        "usercustomize.py",
        "torch.py",
        "random.py",
        "json.py",
        "matplotlibrc",
        "nbgrader_config.py",
        "attnlab/__init__.py",
        "gradekit/probe.py",
        "planted.pth",
        ".ipython/profile_default/startup/00.py",
        "../lab/numpy.py"[3:],
    )
}


def test_a_module_that_is_handed_in_is_found_and_only_by_its_own_hand_in(sandbox):
    uses = "from helpers import softmax\nfrom more.parts import nothing"
    files = {
        "helpers.py": b"import torch\ndef softmax(x, dim=-1): return torch.softmax(x, dim)",
        "more/parts.py": b"nothing = None",
    }
    assert points_and_run(sandbox, uses, files=files)[0] == 2
    points, run = points_and_run(sandbox, uses)
    assert (points, run.cells[0].state) == (0, "error")


def test_files_that_are_handed_in_replace_no_module(sandbox, tmp_path):
    for name, data in HANDED_IN.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    line = [sys._base_executable, "-c", "import json"]
    naive = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "planted" in naive.stdout, "a folder like this one is searched first"
    look = "import builtins, json, torch\nprint(hasattr(builtins, 'planted'), torch.__file__)"
    points, run = points_and_run(sandbox, BLANK, look, files=HANDED_IN)
    assert points == 0
    assert run.cells[1].outputs[0]["text"].startswith("False")
    assert points_and_run(sandbox, RIGHT, files=HANDED_IN)[0] == 2
    assert earned(sandbox, BLANK) == 0
