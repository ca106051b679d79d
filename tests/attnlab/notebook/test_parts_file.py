"""A notebook's functions in a file: the newest ones, with all that they use, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from attnlab.notebook import parts_file
from attnlab.notebook.parts_file import save_parts

CELLS = (
    "import math\nfrom torch import nn, Tensor\nimport json\nLIMIT = 3\ntable = print('made')",
    "def helper(x):\n    return min(x, LIMIT)  # as in the task\n",
    "def move(batch, device):\n    return 'old'\n",
    "move(1, 2)",
    "this is no Python",
    "def cached(f):\n    return f\n",
    "@cached\ndef move(batch, device):\n    return math.floor(helper(batch))\n",
    "class Adam(nn.Module):\n    pass\n",
    "def later():\n    raise NotImplementedError\n",
)


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(parts_file, "_cells", lambda: list(CELLS))


@pytest.mark.usefixtures("notebook")
def test_the_newest_definition_with_what_it_uses() -> None:
    path = save_parts("my_parts.py", ["move", "Adam"])
    assert path == Path("my_parts.py")
    text = path.read_text()
    names: dict[str, object] = {}
    exec(compile(text, "my_parts.py", "exec"), names)
    assert names["move"](7.5, None) == 3
    assert {"Adam", "helper", "LIMIT", "math", "nn", "cached"} <= set(names)
    assert "json" not in text
    assert "print" not in text
    assert "# as in the task" in text


@pytest.mark.usefixtures("notebook")
@pytest.mark.parametrize("name", ["later", "nowhere"])
def test_what_is_not_written_is_a_notice(capsys, name: str) -> None:
    assert save_parts("my_parts.py", ["move", name]) is None
    assert f"`{name}` is not written" in capsys.readouterr().out
    assert not Path("my_parts.py").exists()


def test_nothing_is_written_while_grading(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ATTNLAB_GRADING", "1")
    assert save_parts("my_parts.py", ["move"]) is None
    assert not list(tmp_path.iterdir())
