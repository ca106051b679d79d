"""A notebook reads the home of the grader's user: keys, tokens, history."""

from __future__ import annotations

import os
import sys
from ast import literal_eval
from pathlib import Path

import pytest

from tests.helpers.attack import assert_unreadable, said

SECRET = "-----BEGIN A PRIVATE KEY-----"


@pytest.mark.parametrize("name", [".ssh/id_ed25519", ".netrc", ".config/gh/hosts.yml"])
def test_a_home_cannot_be_read(sandbox, unconfined, tmp_path, name):
    path = tmp_path / "home" / "ta" / name
    path.parent.mkdir(parents=True)
    path.write_text(SECRET)
    assert_unreadable(sandbox, unconfined, path, SECRET)


def test_the_home_of_this_account_shows_at_most_the_path_to_python(sandbox, unconfined):
    home = Path.home()
    if not os.access(home, os.R_OK):
        pytest.skip(f"this account's home, {home}, is not there or cannot be listed")
    look = f"import os\nprint(os.listdir({str(home)!r}))"
    assert set(literal_eval(said(unconfined, look).strip())) == set(os.listdir(home))
    way = {
        Path(path).relative_to(home).parts[0]
        for path in (sys.prefix, sys.base_prefix)
        if Path(path).is_relative_to(home)
    }
    answer = said(sandbox, look).strip()
    assert "Error" in answer or set(literal_eval(answer)) <= way


def test_its_own_home_is_its_scratch_folder(sandbox):
    look = "import os\nprint(os.listdir(os.path.expanduser('~')))"
    assert set(said(sandbox, look).strip("[]\n").replace("'", "").split(", ")) <= {
        "lab",
        ".cache",
        ".ipython",
        ".matplotlib",
    }
