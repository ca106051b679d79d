"""A notebook reads tokens and passwords from the environment, its own or another process's."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.helpers.attack import TOKEN, said

SECRET = "k1e4-full-marks"


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


def test_the_graders_own_environment_is_not_inside(sandbox):
    look = f"import os\nprint(os.environ.get({TOKEN!r}))"
    line = [sys.executable, "-c", look]
    assert "full-marks" in subprocess.run(line, capture_output=True, text=True, check=True).stdout
    assert said(sandbox, look).strip() == "None"


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
