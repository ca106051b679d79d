"""A notebook reads what is not its own: the gradebook, the course, other people's secrets."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from attack import said

from gradekit import sandbox as trusted

SECRET = "k1e4-full-marks"


def read(path: Path) -> str:
    return f"print(open({str(path)!r}).read())"


def test_the_gradebook_cannot_be_read(sandbox, unconfined, tmp_path):
    gradebook = tmp_path / "gradebook.db"
    gradebook.write_text(SECRET)
    os.chmod(tmp_path, 0o755)
    assert SECRET in said(unconfined, read(gradebook))
    answer = said(sandbox, read(gradebook))
    assert SECRET not in answer
    assert ("FileNotFoundError" if sandbox.level == "bubblewrap" else "PermissionError") in answer


def test_the_project_is_not_there(sandbox):
    for folder in (Path(trusted.__file__).parent, Path(__file__).parents[2], Path.home()):
        listed = said(sandbox, f"import os\nprint(os.listdir({str(folder)!r}))")
        for name in ("paper.py", "catalog.py", "pyproject.toml", "course.toml", ".ssh"):
            assert name not in listed


def test_the_parts_that_know_answers_cannot_be_imported(sandbox):
    for module in ("gradekit.sandbox", "gradekit.talk", "gradekit.exercise", "gradekit.paper"):
        assert "ModuleNotFoundError" in said(sandbox, f"import {module}")


def test_other_processes_environments_cannot_be_read(sandbox, unconfined):
    steal = (
        "import glob\n"
        "for path in glob.glob('/proc/[0-9]*/environ'):\n"
        "    try: text = open(path).read()\n"
        "    except OSError: continue\n"
        "    print([word for word in text.split('\\0') if word.startswith('COURSE_TOKEN')])\n"
    )
    line = [sys.executable, "-c", "input()"]
    variables = {**os.environ, "COURSE_TOKEN": SECRET}
    with subprocess.Popen(line, env=variables, stdin=subprocess.PIPE) as bystander:
        try:
            assert SECRET in said(unconfined, steal)
            assert SECRET not in said(sandbox, steal)
        finally:
            bystander.kill()


def test_the_environment_is_clean(sandbox):
    answer = said(sandbox, "import os\nprint(' '.join(sorted(os.environ)))")
    known = {"HOME", "LANG", "LOGNAME", "PATH", "PWD", "TMPDIR", "USER"}
    prefixes = ("ATTNLAB_", "IPYTHON", "MPL", "PYTHON", "TORCH", "XDG_", "PIP_", "KMP_")
    left = [
        name
        for name in answer.split()
        if name not in known and not name.startswith(prefixes) and "_NUM_THREADS" not in name
    ]
    assert left == []
