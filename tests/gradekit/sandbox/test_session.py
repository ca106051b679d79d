"""The order of probes, and the names of data files; whole sessions are in test_sandbox.py."""

from __future__ import annotations

import pytest

from gradekit.sandbox.session import check_file_names, in_safe_order
from gradekit.untrusted.messages import Probe


def probe(source, exercise="exercise", **fields):
    return Probe(exercise, "ask", source, **{"seed": 1, **fields})


def test_references_travel_after_all_that_they_could_answer():
    with_uses = {"uses": "def a(): ...", "replaces": ("a",)}
    first = probe("", "first")
    second = [probe("", "second", **with_uses), probe("", "second")]
    third = [probe("", "third")]
    groups = in_safe_order([[first], second, third])
    assert groups == [[first], [second[1]], third, [second[0]]]


def test_versions_for_a_students_test_travel_after_all_that_they_could_answer():
    tried = [probe("", "find"), probe("", "find", versions=("def version(): ...",), of=("f",))]
    fix = [probe("", "fix")]
    assert in_safe_order([tried, fix]) == [[tried[0]], fix, [tried[1]]]


def test_a_test_is_tried_before_a_reference_of_its_step_travels():
    step, other = [probe("", "step")], [probe("", "other")]
    builds = [probe("", "builds", uses="def g(): ...\n\ndef f(): ...", replaces=("g",))]
    brings = probe("", "test", uses="def f(): ...", tested=("f",))
    tried = probe("", "test", versions=("def version(): ...",), of=("f",))
    ordered = [step, other, [tried], builds, [brings]]
    assert in_safe_order([step, builds, [tried, brings], other]) == ordered
    unlike = [probe("", "builds", uses="def f_of_ours(): ...", replaces=("f_of_ours",))]
    assert in_safe_order([step, unlike, [tried]]) == [step, unlike, [tried]]


@pytest.mark.parametrize("name", ["/etc/x", "../x", "lab01.ipynb", "a/../../b", ""])
def test_no_notebook_and_nothing_outside_the_folder_is_a_data_file(name):
    with pytest.raises(ValueError, match="data file"):
        check_file_names([name])


def test_files_in_folders_are_data_files():
    check_file_names(["words.txt", "data/words.txt"])
