"""``check()`` without a name: all steps of the lab in one table."""

import re
import xml.dom.minidom
from dataclasses import replace

import pytest

from attnlab import check
from attnlab.checking.progress import is_written
from attnlab.checking.visible import write
from tests.attnlab.notebook.test_check import defined_in, html, lab, on_softmax  # noqa: F401 - a fixture
from tests.helpers.small_lab import exercise, no_max, right, second_exercise


def where(**steps):
    names = {"__name__": "__main__", "check": check, **steps}
    return eval("check()", names)


def test_the_table_says_what_is_done_started_and_not_written(lab, capsys):  # noqa: F811
    assert where(softmax=no_max) == 4.0
    assert capsys.readouterr().out == (
        "Where you stand: 0 of 2 steps, 4 of 8.5 visible points\n"
        "  ◐ 1.1 Softmax  4 of 6.5     15 min left\n"
        "  ○ 1.2 Average  not written  20 min left\n"
        "\n"
        "Next: 1.1 Softmax. About 35 min left. 5.5 more points are decided after you hand in.\n"
    )


def test_a_step_that_fails_on_an_earlier_one_comes_after_it(lab, capsys):  # noqa: F811
    names = {"softmax": no_max}
    source = "def average(x):\n    return softmax(x) @ x.T * 0"
    where(**names, average=defined_in(names, source))
    assert "  ✗ 1.2 Average  0 of 2       after 1.1\n" in capsys.readouterr().out


def test_everything_done(lab, capsys):  # noqa: F811
    value = where(softmax=right, average=on_softmax({"softmax": right}))
    assert value == 8.5
    printed = capsys.readouterr().out
    assert "2 of 2 steps" in printed
    assert "All visible checks pass." in printed
    face = html(value)
    xml.dom.minidom.parseString(face)
    assert re.findall('href="([^"]*)"', face) == ["#cell-id=softmax", "#cell-id=average"]


def test_without_a_checks_file_it_is_one_sentence(lab, capsys):  # noqa: F811
    (lab / "checks.safetensors").unlink()
    assert where() == 0.0
    assert capsys.readouterr().out.startswith("There is no checks.safetensors next to")


def test_during_grading_it_runs_nothing(lab, capsys, monkeypatch):  # noqa: F811
    monkeypatch.setenv("ATTNLAB_GRADING", "1")
    assert where(softmax=lambda x, dim=-1: 1 / 0) == 0.0
    assert capsys.readouterr().out == ""


def blank():
    """A task."""
    raise NotImplementedError


class Blank:
    def forward(self):
        def inside():
            raise NotImplementedError

        return inside()


class Written:
    size = 3

    @property
    def area(self):
        return self.size

    @staticmethod
    def name():
        return "written"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, False), (blank, False), (Blank, False), ({}, False), ([], False),
        (Written, True), (len, True), ({"P1": 1}, True), (3, True), (right, True),
    ],
)  # fmt: skip
def test_what_counts_as_written(value, written):
    assert is_written(value) is written


def test_a_step_without_points_is_shown_and_need_not_be_done(lab, capsys):  # noqa: F811
    write(lab / "checks.safetensors", "lab01", [exercise(), ungraded(second_exercise())])
    assert where(softmax=right) == 6.5
    assert capsys.readouterr().out.splitlines()[:3] == [
        "Where you stand: 1 of 1 steps, 6.5 of 6.5 visible points",
        "  ✓ 1.1 Softmax  6.5 of 6.5",
        "  ○ 1.2 Average  not graded",
    ]
    assert where(softmax=right, average=on_softmax({"softmax": right})) == 6.5
    printed = capsys.readouterr().out
    assert "✓ 1.2 Average  passed" in printed
    assert "All visible checks pass." in printed


def test_the_report_of_a_step_without_points_shows_its_checks_and_no_points(lab, capsys):  # noqa: F811
    write(lab / "checks.safetensors", "lab01", [exercise(), ungraded(second_exercise())])
    names = {"__name__": "__main__", "check": check, "softmax": right}
    for average, mark, said in (
        (on_softmax({"softmax": right}), "✓", "all passed, not graded"),
        (lambda x: x, "✗", "not graded"),
    ):
        assert eval('check("average")', {**names, "average": average}) == 0.0
        printed = capsys.readouterr().out.splitlines()
        assert printed[0] == f"average: a mean of rows — {said}"
        assert printed[1] == f"  {mark} Is the mean of all rows."


def ungraded(step):
    """The same step without points."""
    checks = tuple(replace(c, prepared=replace(c.prepared, points=0.0)) for c in step.checks)
    return replace(step, points=0.0, hidden_points=0.0, checks=checks)
