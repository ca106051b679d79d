import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from attnlab.checking.judges import Close, Kills
from attnlab.checking.observation import pack
from attnlab.checking.verdict import PreparedCheck
from attnlab.checking.visible import (
    VERSION,
    ChecksFileError,
    VisibleCheck,
    VisibleExercise,
    define,
    read,
    write,
)
from tests.helpers.small_lab import SHAPE, exercise, same, write_checks


def test_reading_returns_what_was_written(tmp_path):
    lab = read(write_checks(tmp_path))
    assert lab.lab == "lab01"
    assert [e.name for e in lab.exercises] == ["softmax", "average"]
    ours, theirs = exercise(), lab.exercise("softmax")
    assert dataclasses.replace(theirs, checks=()) == dataclasses.replace(ours, checks=())
    for mine, read_back in zip(ours.checks, theirs.checks, strict=True):
        assert read_back.source == mine.source
        assert read_back.seed == mine.seed
        assert read_back.prepared.judge == mine.prepared.judge
        assert same(read_back.prepared.expected, mine.prepared.expected)
        assert same(read_back.prepared.mistakes, mine.prepared.mistakes)
    assert lab.exercise("nothing") is None


def test_an_answer_that_several_mistakes_give_is_stored_once(tmp_path):
    right, wrong = torch.zeros(1000), torch.ones(1000)
    answers = {"a": right, "b": wrong, "c": right, "d": wrong, "e": wrong}
    answers = {name: {"out": tensor.clone()} for name, tensor in answers.items()}
    asked = PreparedCheck("q", "Q.", 1, False, Close(), {"out": right}, answers)
    path = tmp_path / "checks.safetensors"
    write(path, "lab01", [VisibleExercise("e", "E", 1, 0, (VisibleCheck(asked, SHAPE, 0),))])
    assert 2 * 4000 < path.stat().st_size < 3 * 4000
    (check,) = read(path).exercises[0].checks
    assert same(dict(sorted(check.prepared.mistakes.items())), answers)


def test_equal_labs_have_equal_bytes_in_another_process(tmp_path):
    here = write_checks(tmp_path).read_bytes()
    program = (
        "import sys; sys.path.append(sys.argv[2]); from pathlib import Path;"
        "from tests.helpers.small_lab import write_checks;"
        "write_checks(Path(sys.argv[1]))"
    )
    other = tmp_path / "other"
    other.mkdir()
    subprocess.run(
        [sys.executable, "-c", program, str(other), str(Path(__file__).parents[3])], check=True,
        env={**os.environ, "PYTHONHASHSEED": "7"},
    )  # fmt: skip
    assert (other / "checks.safetensors").read_bytes() == here


def test_a_hidden_check_is_never_written(tmp_path):
    hidden = PreparedCheck("q", "Q.", 1, True, Close(), 1.0, {})
    bad = VisibleExercise("e", "E", 1, 0, (VisibleCheck(hidden, SHAPE, 0),))
    with pytest.raises(ValueError, match="check q is hidden"):
        write(tmp_path / "checks", "lab01", [bad])
    assert not (tmp_path / "checks").exists()


def test_a_checks_own_question_is_kept(tmp_path):
    asked = PreparedCheck("q", "Q.", 1, False, Close(), 1, {}, about="f", question="Which one?")
    check = VisibleCheck(asked, SHAPE, 0)
    write(tmp_path / "c", "lab01", [VisibleExercise("e", "E", 1, 0, (check,))])
    (back,) = read(tmp_path / "c").exercises[0].checks
    assert (back.prepared.about, back.prepared.question) == ("f", "Which one?")


def test_versions_are_read_as_functions(tmp_path):
    asked = PreparedCheck("q", "Q.", 1, False, Kills((("a", True), ("b", False))), None, {})
    texts = ("def f(x):\n    return x\n", "def g(x):\n    return -x\n")
    check = VisibleCheck(asked, "def q(lab, draw):\n    return 1\n", 0, texts, ("f", "g"))
    write(tmp_path / "c", "lab01", [VisibleExercise("e", "E", 1, 0, (check,))])
    (back,) = read(tmp_path / "c").exercises[0].checks
    assert [f(2) for f in back.version_functions()] == [2, -2]
    lacking = dataclasses.replace(check, version_names=("f",))
    with pytest.raises(ValueError, match="one name for each"):
        write(tmp_path / "c", "lab01", [VisibleExercise("e", "E", 1, 0, (lacking,))])


def test_long_probes_are_not_clipped(tmp_path):
    source = "def q(lab, draw):\n" + "    x = 1\n" * 2000 + "    return x\n"
    check = VisibleCheck(PreparedCheck("q", "Q.", 1, False, Close(), 1, {}), source, 0)
    write(tmp_path / "c", "lab01", [VisibleExercise("e", "E", 1, 0, (check,))])
    assert read(tmp_path / "c").exercises[0].checks[0].probe()(None, None) == 1


@pytest.mark.parametrize(
    "data", [b"", b"nonsense", pack({"version": VERSION}), pack([1, 2]), pack(None), pack("text")]
)
def test_another_file_is_named(tmp_path, data):
    path = tmp_path / "checks.safetensors"
    path.write_bytes(data)
    with pytest.raises(ChecksFileError, match=r"checks\.safetensors is not a checks file"):
        read(path)


def test_another_version_is_named(tmp_path):
    path = tmp_path / "checks.safetensors"
    path.write_bytes(pack({"version": 99}))
    with pytest.raises(ChecksFileError, match="version 99"):
        read(path)


def test_a_probe_has_its_own_namespace():
    assert define("A = 2\ndef f():\n    return A\n", "f")() == 2
    assert "A" not in globals()
