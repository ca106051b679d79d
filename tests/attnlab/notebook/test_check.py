import linecache
import os
import random
import re
import subprocess
import sys
import textwrap
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

import attnlab
from attnlab import check
from attnlab.checking import visible
from attnlab.checking.draw import Draw, seed_everything
from attnlab.checking.judges import Close
from attnlab.checking.lab import Lab, observe
from attnlab.checking.lookup import find_exercise
from attnlab.checking.observation import Raised, unpack
from attnlab.checking.verdict import KnownMistake, PreparedCheck
from attnlab.checking.visible import FILE_NAME, NotRunHere, VisibleCheck, define, write
from tests.helpers.small_lab import (
    SEED,
    exercise,
    no_max,
    right,
    second_exercise,
    third_exercise,
    write_checks,
)

VISIBLE = 6.5


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """The current folder, with a checks file."""
    write_checks(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ATTNLAB_CHECKS", raising=False)
    monkeypatch.delenv("ATTNLAB_GRADING", raising=False)
    monkeypatch.setattr("attnlab.checking.lookup._checkout", lambda: None)
    return tmp_path


def checked(function, name="softmax"):
    """The value of ``check(name)`` if the notebook's softmax is `function`."""
    names = {"__name__": "__main__", "softmax": function, "check": check}
    return eval(f'check("{name}")', names)


def html(value):
    return value._repr_mimebundle_()["text/html"]


def test_a_right_answer_passes(lab, capsys):
    value = checked(right)
    assert value == VISIBLE
    printed = capsys.readouterr().out
    assert printed.startswith(
        "softmax: scores become probabilities — 6.5 of 6.5 visible points\n"
        "  ✓ Returns the shape of its input.  1 / 1\n"
    )
    assert printed.endswith(
        "5.5 more points are decided after you hand in, by checks that are not run here:\n"
        "  · Leaves its input unchanged.\n"
        "  · Fits your own mask. (It runs on your own earlier steps.)\n"
    )
    assert '<details style="margin-top:8px;font-size:12px" open="">' in html(value)
    assert "✗" not in printed
    assert "\x1b" not in printed, "colours are for terminals"
    assert "<img" not in html(value)


def test_a_known_mistake_gets_its_advice_and_a_picture(lab, capsys):
    value = checked(no_max)
    assert value == 4.0
    printed = capsys.readouterr().out
    assert "  ✗ Stays finite for scores in the thousands.  0 / 2.5\n" in printed
    advice, seen = printed.index("What can you subtract first?"), printed.index("entries are NaN")
    assert advice < seen
    face = html(value)
    assert "What can you subtract first?" in face
    assert face.count('<img alt="Heat maps of the expected tensor, yours and their') == 1
    assert 'src="data:image/png;base64,' in face


def test_the_value_of_check_is_a_number(lab):
    value = checked(no_max)
    assert isinstance(value, float)
    assert repr(value) == str(value) == "4.0"
    assert value + 1 == 5.0


@pytest.mark.parametrize(
    "source",
    [
        "def softmax(x, dim=-1): return softmax(x, dim)",
        "def softmax(x, dim=-1): exit(1)",
        "def softmax(x, dim=-1): 1 / 0",
        "def softmax(x, dim=-1): return {1, 2}",
        "def softmax(x, dim=-1): return Odd()",
        "def softmax(x, dim=-1): raise Mute",
        "def softmax(x, dim=-1): raise Lowest",
        "def softmax(x, dim=-1): return Liar(x.numpy())",
        "def softmax(x, dim=-1): return x.new_zeros(3_000, 3_000)",
        "def softmax(x, dim=-1): return [[0] * 300] * 300",
        "def softmax(x): return x",
        "softmax = 3",
    ],
)
def test_no_code_of_a_student_makes_check_raise(lab, source):
    class Odd(dict):
        def items(self):
            raise RuntimeError

    class Mute(Exception):
        def __str__(self):
            raise RuntimeError

    class Lowest(BaseException):
        pass

    class Liar(Tensor):
        @property
        def layout(self):
            raise RuntimeError

    names = {"__name__": "__main__", "check": check, "torch": torch}
    names |= {"Odd": Odd, "Mute": Mute, "Lowest": Lowest, "Liar": Liar}
    exec(source, names)
    value = eval('check("softmax")', names)
    assert value in (0.0, 1.0), "the shape may be right"
    assert "of 6.5 visible points" in html(value)


def both(softmax, average):
    """The value of ``check("average")`` in a notebook with these two steps."""
    names = {"__name__": "__main__", "softmax": softmax, "check": check}
    return eval('check("average")', names | {"average": average(names)})


def defined_in(names, source):
    """The function `average` that a cell with this text defines in the notebook `names`."""
    names |= {"__name__": "__main__"}
    exec(source, names)
    return names["average"]


def on_softmax(names):
    """A right second step, which calls the notebook's own softmax."""
    return defined_in(names, "def average(x):\n    return softmax(x) @ x.T")


def on_a_helper(names):
    """The same, through a function of the student's own."""
    text = "def shares(x):\n    return softmax(x)\n\ndef average(x):\n    return shares(x) @ x.T"
    return defined_in(names, text)


def on_a_method(names):
    """A wrong second step, which calls another function of the same name."""
    return defined_in(names, "def average(x):\n    return x.softmax(0) @ x.T")


def on_columns(names):
    """A wrong second step, which calls a softmax that is wrong in another way and uses nothing."""
    return defined_in(names, "def average(x):\n    softmax(x)\n    return x.softmax(0) @ x.T")


@pytest.mark.parametrize("average", [on_softmax, on_a_helper])
def test_a_right_step_on_a_wrong_one_is_not_blamed(lab, capsys, average):
    value = both(lambda x, dim=-1: right(x, 0), average)
    assert value == 0.0
    printed = capsys.readouterr().out
    first = (
        "  This ran on your own `softmax` (step 1.1), and that step does not pass its checks yet: "
    )
    assert first.split()[:8] == printed.splitlines()[3].split()[:8]
    assert "Grading uses correct versions" in printed
    assert printed.index("This ran on your own") < printed.index("What the checks of this step saw")
    face = html(value)
    assert face.index("This ran on your own") < face.index("What the checks of this step saw")
    assert both(right, average) == 2.0
    assert "your own" not in capsys.readouterr().out


@pytest.mark.parametrize("average", [on_softmax, on_columns])
def test_a_known_mistake_on_a_wrong_step_is_said_too_and_second(lab, capsys, average):
    value = both(lambda x, dim=-1: right(x, 0), average)  # both make the same numbers
    for shown in (capsys.readouterr().out, html(value)):
        earlier, own = (
            shown.index("This ran on your own"),
            shown.index("This step may well be right"),
        )
        assert earlier < own < shown.index("What the checks of this step saw")


def doubling():
    """A step with two checks, of which the second runs on the notebook's softmax."""
    second = second_exercise()
    sources = {
        "alone": "def alone(lab, draw):\n    return lab.double(draw.normal(3))",
        "together": "def together(lab, draw):\n    return lab.double(lab.softmax(draw.normal(3)))",
    }
    checks = []
    for name, source in sources.items():
        lab = Lab({"softmax": right, "double": lambda x: 2 * x})
        expected = observe(define(source, name), lab, Draw(SEED))
        asked = PreparedCheck(name, f"Doubles, {name}.", 1.0, False, Close(), expected, {})
        checks.append(VisibleCheck(asked, source, SEED))
    return replace(
        second, name="double", checks=tuple(checks), mistakes=(), names=("double",),
        not_run_here=(NotRunHere("Works on your softmax.", True),),
    )  # fmt: skip


@pytest.mark.parametrize(
    "text", ["return softmax(x) @ x.T.bool()", "return softmax(x) @ x.T[1:]", "softmax(x) @ x.T"]
)
def test_a_line_that_stops_in_this_step_blames_no_earlier_one(lab, capsys, text):
    cell, file = f"def average(x):\n    {text}\n", "<student's cell>"
    linecache.cache[file] = (len(cell), None, cell.splitlines(True), file)
    names = {"__name__": "__main__", "check": check, "softmax": right}
    exec(compile(cell, file, "exec"), names)
    assert eval('check("average")', names) == 0.0
    printed = capsys.readouterr().out
    assert "Error" in printed or "None" in printed
    assert "your own" not in printed


def own_test():
    """A step in which a test of softmax is written; its check runs on the notebook's softmax."""
    source = "def own(lab, draw):\n    return draw.accepted(lab.test_softmax, lab.softmax)"
    known = KnownMistake("too_strict", "Your test is too strict.")
    rejected = Raised("AssertionError", "", "")
    asked = PreparedCheck(
        "own", "Accepts yours.", 1.0, False, Close(), True, {known.name: rejected}
    )
    return replace(
        second_exercise(), name="test_softmax", names=("test_softmax",), mistakes=(known,),
        checks=(VisibleCheck(asked, source, SEED),),
    )  # fmt: skip


def test_a_test_on_a_wrong_step_is_sent_there_even_if_it_passes(lab, capsys):
    write(lab / FILE_NAME, "lab01", [exercise(), own_test()])
    names = {"__name__": "__main__", "check": check, "softmax": lambda x, dim=-1: -right(x, dim)}

    def printed(test):
        exec(f"def test_softmax(impl):\n    {test}", names)
        eval('check("test_softmax")', names)
        return " ".join(capsys.readouterr().out.split())

    names["torch"] = torch
    same = printed("assert (impl(torch.zeros(2)) < 0).all()")
    assert "1 of 1 visible points" in same
    assert "This ran on your own `softmax` (step 1.1)" in same
    right_test = printed("assert (impl(torch.zeros(2)) > 0).all()")
    assert "This ran on your own `softmax` (step 1.1)" in right_test
    assert "too strict" not in right_test, "the test may be right"
    names["softmax"] = right
    assert "your own `softmax`" not in printed("assert (impl(torch.zeros(2)) > 0).all()")
    assert "too strict" in printed("assert False")


def test_a_test_that_cannot_compare_blames_no_step(lab, capsys):
    source = (
        "def own(lab, draw):\n"
        "    return {'accepts your own': draw.accepted(lab.test_softmax, lab.softmax)}"
    )
    asked = PreparedCheck(
        "own", "Accepts yours.", 1, False, Close(), {"accepts your own": True}, {}
    )
    step = replace(own_test(), mistakes=(), checks=(VisibleCheck(asked, source, SEED),))
    write(lab / FILE_NAME, "lab01", [exercise(), step])
    cell = "def test_softmax(impl):\n    p = impl(torch.zeros(2))\n    assert p == torch.zeros(2)\n"
    linecache.cache["<student's test>"] = (len(cell), None, cell.splitlines(True), "")
    names = {"__name__": "__main__", "check": check, "softmax": right, "torch": torch}
    exec(compile(cell, "<student's test>", "exec"), names)
    assert eval('check("test_softmax")', names) == 0.0
    printed = " ".join(capsys.readouterr().out.split())
    assert "A tensor with several entries is neither true nor false" in printed
    assert "your own `softmax`" not in printed


def test_a_test_that_accepts_the_own_version_and_no_other_blames_no_step(lab, capsys):
    source = (
        "def own(lab, draw):\n"
        "    accepts = draw.accepted(lab.test_softmax, lab.softmax)\n"
        "    other = draw.accepted(lab.test_softmax, lambda x: lab.softmax(x) + 1e-12)\n"
        "    return {'accepts your own': accepts, 'accepts another': other}"
    )
    right_test = {"accepts your own": True, "accepts another": True}
    asked = PreparedCheck("own", "Accepts both.", 1, False, Close(), right_test, {})
    step = replace(own_test(), mistakes=(), checks=(VisibleCheck(asked, source, SEED),))
    write(lab / FILE_NAME, "lab01", [exercise(), step])
    names = {"__name__": "__main__", "check": check, "softmax": right, "torch": torch}

    def blamed(expected):
        cell = (
            f"def test_softmax(impl):\n    assert impl(torch.zeros(2).double())[0] == {expected}\n"
        )
        exec(cell, names)
        assert eval('check("test_softmax")', names) == 0.0
        return "your own `softmax`" in " ".join(capsys.readouterr().out.split())

    assert blamed(0.25), "it rejects the own version, which may be wrong"
    assert not blamed(0.5)


FIX_FIRST = (
    "This ran on your own `softmax` (step 1.1), and that step does not pass its checks yet: fix it "
    "first."
)
LOOK_THERE_NEXT = (
    "Look in this step first. Only if you find no fault in it, compare your own `softmax` (step "
    "1.1), which passes its visible checks, with every sentence of its docstring."
)


@pytest.mark.parametrize(
    ("softmax", "double", "named"),
    [
        (right, lambda x: 3 * x, ""),  # the first failed check does not run on it
        (lambda x, dim=-1: -right(x, dim), lambda x: 2 * x, FIX_FIRST),
        (lambda x, dim=-1: -right(x, dim), lambda x: 3 * x, FIX_FIRST),
        (right, lambda x: 2 * x if x.min() < 0 else x, LOOK_THERE_NEXT),
    ],
)
def test_an_earlier_step_is_named_if_the_failed_checks_run_on_it(
    lab, capsys, softmax, double, named
):
    write(lab / FILE_NAME, "lab01", [exercise(), doubling()])
    eval('check("double")', {"check": check, "softmax": softmax, "double": double})
    printed = " ".join(capsys.readouterr().out.split())
    assert ("your own `softmax` (step 1.1)" in printed) is bool(named)
    assert named in printed
    if named == FIX_FIRST:
        assert (
            "correct versions instead, except in the check that runs on your own steps." in printed
        )


def test_a_right_step_between_a_wrong_one_and_this_one_is_not_blamed(lab, capsys):
    steps = [exercise(), second_exercise(), third_exercise()]
    write(lab / FILE_NAME, "lab01", steps)
    names = {"__name__": "__main__", "check": check, "softmax": lambda x, dim=-1: right(x, 0)}
    exec("def average(x):\n    return softmax(x) @ x.T", names)
    exec("def twice(x):\n    return average(x)", names)
    assert eval('check("twice")', names) == 0.0
    printed = capsys.readouterr().out
    assert "This ran on your own `softmax` (step 1.1)" in printed
    assert "`average` (step 1.2)" not in printed
    exec("def softmax(x):\n    raise NotImplementedError", names)
    assert eval('check("twice")', names) == 0.0
    printed = capsys.readouterr().out
    assert "This step calls `softmax` (step 1.1), not written yet" in printed
    assert "`average` (step 1.2)" not in printed


def test_a_step_on_one_that_only_hidden_checks_would_reject_is_sent_there_last(lab, capsys):
    def clamped(x, dim=-1):
        return right(x.clamp(min=-50), dim)

    shifted = "def average(x):\n    return softmax(x - 100) @ x.T"
    value = both(clamped, lambda names: defined_in(names, shifted))
    assert value == 0.0
    for shown in (capsys.readouterr().out, html(value)):
        assert "(step 1.1), which passes its visible checks" in " ".join(shown.split())
    assert both(right, lambda names: defined_in(names, shifted)) == 2.0


def test_a_named_mistake_does_not_send_to_a_step_that_passes(lab, capsys):
    assert both(right, on_a_method) == 0.0
    assert "your own" not in capsys.readouterr().out


@pytest.mark.parametrize("average", [on_a_method, lambda names: lambda x: x @ x.T])
def test_a_step_that_calls_no_earlier_one_is_not_sent_there(lab, capsys, average):
    assert both(lambda x, dim=-1: right(x, 0), average) == 0.0
    assert "step 1.1" not in capsys.readouterr().out


def test_a_step_on_a_blank_one_says_which_is_blank(lab, capsys):
    def softmax(x, dim=-1):
        """The task."""
        raise NotImplementedError

    assert both(softmax, on_softmax) == 0.0
    printed = capsys.readouterr().out
    assert "This step calls `softmax` (step 1.1), not written yet: write that step" in printed
    assert "Nothing is written here yet" not in printed
    assert "What the checks" not in printed


def test_a_blank_step_says_so_whatever_is_wrong_above(lab, capsys):
    def average(x):
        raise NotImplementedError

    assert both(lambda x, dim=-1: right(x, 0), lambda names: average) == 0.0
    printed = capsys.readouterr().out
    assert "Nothing is written here yet" in printed
    assert "your own" not in printed


def test_a_wrong_step_on_a_right_one_is_blamed_itself(lab, capsys):
    assert both(right, lambda names: lambda x: x @ x.T) == 0.0
    assert "step 1.1" not in capsys.readouterr().out


def test_an_interrupt_passes_through(lab):
    def stopped(x, dim=-1):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="does every loop of yours end") as caught:
        checked(stopped)
    assert caught.traceback[-1].name == "check"
    assert caught.value.__suppress_context__


def test_a_changed_default_device_does_not_reach_the_next_cell(lab):
    def changes(x, dim=-1):
        torch.set_default_device("meta")
        return x

    changes(torch.ones(1))  # without check(), it stays
    try:
        assert torch.ones(1).device.type == "meta"
    finally:
        torch.set_default_device(None)
    checked(changes)
    assert torch.ones(1).device.type == "cpu"


def test_a_name_that_is_not_defined_yet(lab, capsys):
    assert eval('check("softmax")', {"__name__": "__main__", "check": check}) == 0.0
    assert "Your notebook does not define `softmax`." in capsys.readouterr().out


def test_what_students_write_is_escaped(lab):
    def evil(x, dim=-1):
        raise ValueError("<script>alert('`<b>`')</script>")

    face = html(checked(evil))
    assert "<script" not in face
    assert "<b>" not in face
    assert "&lt;script&gt;" in face


def test_a_warning_that_names_a_file_of_ours_is_not_shown(lab):
    def warned(module):
        def function(x, dim=-1):
            warnings.warn_explicit("careful", UserWarning, "a.py", 1, module=module)
            return right(x, dim)

        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            assert checked(function) == VISIBLE
        return len(seen)

    assert warned("attnlab.checking.lab") == 0
    assert warned("__main__") > 0, "the student's own warnings are shown"


def test_what_the_code_prints_is_in_a_fold_below_the_result(lab, capsys):
    def chatty(x, dim=-1):
        print("<b>shape</b>", tuple(x.shape))
        return right(x, dim)

    face = html(checked(chatty))
    printed = capsys.readouterr().out
    assert printed.startswith("softmax: scores become probabilities")
    assert printed.index("decided after you hand in") < printed.index("<b>shape</b> (2, 3)")
    fold = face[face.index("What your code printed") :]
    assert "&lt;b&gt;shape&lt;/b&gt; (2, 3)" in fold
    assert "What your code printed" not in html(checked(right))


def test_a_debugger_in_the_code_is_seen(lab, capsys, monkeypatch):
    def debugger():
        print("(Pdb)")

    def stops(x, dim=-1):
        breakpoint()
        return right(x, dim)

    monkeypatch.setattr(sys, "breakpointhook", debugger)
    face = html(checked(stops))
    printed = capsys.readouterr().out
    assert printed.index("(Pdb)") < printed.index("softmax: scores become")
    assert "(Pdb)" not in face
    assert sys.breakpointhook is debugger


def test_a_million_lines_of_output_are_cut(lab, capsys):
    def endless(x, dim=-1):
        for _ in range(1000):
            print("x" * 1000)
        return right(x, dim)

    assert len(html(checked(endless))) < 20_000
    assert "x…" in capsys.readouterr().out


def test_a_picture_that_cannot_be_drawn_leaves_the_advice(lab, monkeypatch):
    def broken(difference):
        raise RuntimeError("no LaTeX")

    monkeypatch.setattr("attnlab.checking.render.picture", broken)
    face = html(checked(no_max))
    assert "What can you subtract first?" in face
    assert "The picture cannot be drawn here." in face
    assert "no LaTeX" not in face


def test_the_students_settings_of_matplotlib_do_not_reach_the_picture(lab):
    import matplotlib as mpl

    def picture_of(**settings):
        with mpl.rc_context(settings):
            found = html(checked(no_max)).partition(";base64,")[2].partition('"')[0]
            assert all(mpl.rcParams[name] == value for name, value in settings.items())
        return found

    usual = picture_of()
    assert usual
    assert picture_of(**{"text.usetex": True, "savefig.dpi": 900, "font.size": 30}) == usual


def test_a_narrow_page_scrolls_the_picture_and_does_not_make_it_smaller(lab):
    face = html(checked(no_max))
    assert '<div style="overflow-x:auto"><img' in face
    assert "max-width:100%" not in face


def test_a_deleted_working_folder_is_one_sentence(lab, tmp_path_factory, monkeypatch, capsys):
    gone = tmp_path_factory.mktemp("gone")
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert checked(right) == 0.0
    assert "has been deleted: restart the kernel" in capsys.readouterr().out
    monkeypatch.setenv("ATTNLAB_CHECKS", str(lab / FILE_NAME))
    assert checked(right) == VISIBLE


def test_the_checks_file_is_read_once_and_again_after_a_change(lab, monkeypatch):
    monkeypatch.setattr("attnlab.checking.visible.unpack", counted := Counted(unpack))
    visible._read.cache_clear()
    checked(right)
    checked(right)
    assert counted.calls == 1
    write(lab / FILE_NAME, "lab01", [replace(exercise(), title="another title")])
    os.utime(lab / FILE_NAME, ns=(1, 1))
    assert "another title" in html(checked(right))


class Counted:
    """A function that counts its calls."""

    def __init__(self, function):
        self.function, self.calls = function, 0

    def __call__(self, *arguments):
        self.calls += 1
        return self.function(*arguments)


def test_nothing_is_written_to_stderr(lab, capfd):
    def noisy(x, dim=-1):
        print("to stderr", file=sys.stderr)
        return right(x, dim)

    assert checked(noisy) == VISIBLE
    out, err = capfd.readouterr()
    assert err == ""
    assert "to stderr" in out


def three_random_numbers():
    return [float(torch.rand(())), random.random(), np.random.random()]


def test_the_students_random_numbers_do_not_change(lab):
    seed_everything(0)
    expected = three_random_numbers()
    seed_everything(0)
    checked(lambda x, dim=-1: sum(three_random_numbers()) * right(x, dim).sum())
    assert three_random_numbers() == expected


def test_random_numbers_are_those_of_grading(lab):
    drawn = []

    def noisy(x, dim=-1):
        drawn.append(three_random_numbers())
        return right(x, dim)

    checked(noisy)
    first, drawn[:] = drawn[:], []
    checked(noisy)
    assert drawn == first
    seed_everything(SEED)
    assert drawn[0] == three_random_numbers()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("sofmax", 'There is no exercise "sofmax" here; did you mean "softmax"?'),
        ("zzz", 'There is no exercise "zzz" here; this lab has softmax, average'),
    ],
)
def test_an_unknown_exercise_is_one_sentence(lab, capsys, name, sentence):
    value = checked(right, name)
    assert value == 0.0
    assert capsys.readouterr().out.startswith(sentence)
    assert name in html(value)


def test_no_checks_file_is_one_sentence(lab, capsys, monkeypatch):
    (lab / FILE_NAME).unlink()
    assert checked(right) == 0.0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(f"There is no {FILE_NAME} next to this notebook (searched {lab})")


def test_a_damaged_checks_file_is_one_sentence(lab, capsys):
    (lab / FILE_NAME).write_bytes(b"version https://git-lfs.github.com/spec/v1")
    assert checked(right) == 0.0
    assert "is not a checks file, or is damaged" in capsys.readouterr().out


def test_an_environment_variable_names_the_file(lab, tmp_path_factory, monkeypatch, capsys):
    there = tmp_path_factory.mktemp("there")
    monkeypatch.setenv("ATTNLAB_CHECKS", str((lab / FILE_NAME).rename(there / "mine")))
    assert checked(right) == VISIBLE
    monkeypatch.setenv("ATTNLAB_CHECKS", str(there / "other"))
    assert checked(right) == 0.0
    assert "cannot be read" in capsys.readouterr().out


def test_a_file_next_to_a_script_is_found_from_another_folder(lab, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    names = {"__name__": "__main__", "__file__": str(lab / "a.py"), "softmax": right}
    assert eval('check("softmax")', names | {"check": check}) == VISIBLE


def test_in_a_checkout_the_lab_that_has_the_exercise_is_found(lab, tmp_path_factory, monkeypatch):
    course = tmp_path_factory.mktemp("course")
    (course / "labs" / "lab01").mkdir(parents=True)
    (course / "course.toml").touch()
    (lab / FILE_NAME).rename(course / "labs" / "lab01" / FILE_NAME)
    monkeypatch.setattr("attnlab.checking.lookup._checkout", lambda: course)
    assert checked(right) == VISIBLE


def test_in_a_checkout_the_lab_that_a_folder_is_called_after_comes_first(
    lab, tmp_path_factory, monkeypatch
):
    course = tmp_path_factory.mktemp("course")
    (course / "course.toml").touch()
    for name, points in (("lab01", 1.0), ("lab02", 2.0)):
        (course / "labs" / name).mkdir(parents=True)
        errata = replace(exercise("errata"), points=points)
        write(course / "labs" / name / FILE_NAME, name, [errata])
    monkeypatch.setattr("attnlab.checking.lookup._checkout", lambda: course)
    for folder, points in (("lab02", 2.0), ("lab01", 1.0)):
        found = find_exercise("errata", [course / "solutions" / folder])
        assert found.exercise.points == points


def test_during_grading_check_prints_nothing_and_runs_nothing(lab, capfd, monkeypatch):
    monkeypatch.setenv("ATTNLAB_GRADING", "1")
    assert checked(lambda x, dim=-1: 1 / 0) == 0.0
    assert capfd.readouterr() == ("", "")


def test_importing_attnlab_does_not_load_torch():
    program = "import sys, attnlab; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_names_are_suggested_from_the_nearest_lab(lab, tmp_path_factory, monkeypatch, capsys):
    course = tmp_path_factory.mktemp("course")
    (course / "labs" / "lab00").mkdir(parents=True)
    write(course / "labs" / "lab00" / FILE_NAME, "lab00", [exercise("sofmax2")])
    monkeypatch.setattr("attnlab.checking.lookup._checkout", lambda: course)
    assert checked(right, "sofmax") == 0.0
    assert 'did you mean "softmax"?' in capsys.readouterr().out
    (lab / FILE_NAME).unlink()
    assert checked(right, "sofmax") == 0.0
    assert 'did you mean "sofmax2"?' in capsys.readouterr().out


def test_check_works_in_a_script(lab):
    (lab / "work.py").write_text(
        "import torch\nfrom attnlab import check\n"
        "def softmax(x, dim=-1):\n    return (x - x.logsumexp(dim, True)).exp()\n"
        "print(check('softmax'))\n"
    )
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [sys.executable, "work.py"], cwd=lab, env=environment, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert done.stderr == ""
    assert "6.5 of 6.5 visible points" in done.stdout
    assert done.stdout.splitlines()[-1] == "6.5"
    assert "+ Returns the shape" in done.stdout, "for a terminal without check marks"


def run_notebook(folder, *cells):
    """Run cells in a real kernel and return the notebook with their outputs."""
    nbformat = pytest.importorskip("nbformat")
    book = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(textwrap.dedent(cell)) for cell in cells]
    )
    nbformat.write(book, folder / "book.ipynb")
    program = (
        "import nbclient, nbformat; book = nbformat.read('book.ipynb', 4);"
        "nbclient.NotebookClient(book, timeout=60, kernel_name='python3').execute();"
        "nbformat.write(book, 'book.ipynb')"
    )
    # The kernel must find the package of a checkout, too.
    paths = [str(Path(attnlab.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    subprocess.run(
        [sys.executable, "-c", program], cwd=folder, check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )  # fmt: skip
    return nbformat.read(folder / "book.ipynb", 4)


@pytest.mark.timeout(120)
def test_in_a_kernel_a_card_is_shown_wherever_check_is_called(lab):
    pytest.importorskip("nbclient")
    book = run_notebook(
        lab,
        "from attnlab import check\ndef softmax(x, dim=-1):\n    return x.softmax(dim)",
        'check("softmax")\nx = 1',
        'check("softmax"); check("average")',
        "x",
        "check()",
    )
    (alone,), (last, other), (number,), (table,) = (cell.outputs for cell in book.cells[1:])
    assert alone.output_type == "display_data"
    assert "softmax: scores" in alone.data["text/html"]
    assert (last.output_type, other.output_type) == ("execute_result", "display_data")
    assert "average: a mean" in last.data["text/html"]
    assert "softmax: scores" in other.data["text/html"]
    assert number.data["text/plain"] == "1", "a card is shown once"
    assert "Where you stand" in table.data["text/html"]


@pytest.mark.timeout(120)
def test_in_a_kernel_nbgrader_nbgrader_reads_the_points(lab):
    pytest.importorskip("nbclient")
    utils = pytest.importorskip("nbgrader.utils")
    book = run_notebook(
        lab,
        "from attnlab import check",
        """
        def softmax(x, dim=-1):
            exp = x.exp()
            return exp / exp.sum(dim, keepdim=True)
        """,
        'check("softmax")',
        "def softmax(x, dim=-1):\n    return x @ x",
        'check("softmax")',
        "import matplotlib.pyplot as plt; plt.get_fignums()",
        """
        def softmax(x, dim=-1):
            import warnings
            warnings.warn("careful")
            return (x - x.logsumexp(dim, keepdim=True)).exp()
        """,
        'check("softmax")',
    )
    wrong, stopped = book.cells[2], book.cells[4]
    for cell, points in ((wrong, 4.0), (stopped, 0.0)):
        cell.metadata["nbgrader"] = {"grade": True, "solution": False, "points": 12}
        (output,) = cell.outputs
        assert output.output_type == "execute_result"
        assert output.data["text/plain"] == str(points)
        assert utils.determine_grade(cell) == (points, 12.0)
    assert "image/png;base64" in wrong.outputs[0].data["text/html"]
    face = stopped.outputs[0].data["text/html"]
    assert re.search(r"in the line <code[^>]*>return x @ x</code>", face)
    warned = book.cells[7]
    warned.metadata["nbgrader"] = {"grade": True, "solution": False, "points": 12}
    assert utils.determine_grade(warned) == (6.5, 12.0), "a warning costs nothing"
    (shown,) = warned.outputs
    assert "careful" in shown.data["text/html"].partition("What your code printed")[2]
    assert book.cells[5].outputs[0].data["text/plain"] == "[]", "no figure is left in pyplot"
