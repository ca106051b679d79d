"""``check()`` without a name: all steps of the lab in one table."""

import re
import xml.dom.minidom

import pytest

from attnlab import check
from attnlab.checking.progress import is_written
from tests.attnlab.notebook.test_check import html, lab, on_softmax  # noqa: F401 - a fixture
from tests.helpers.small_lab import no_max, right


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
    where(**names, average=lambda x: names["softmax"](x) @ x.T * 0)
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
