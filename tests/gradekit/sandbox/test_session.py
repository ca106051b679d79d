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
    tried = [probe("", "find"), probe("", "find", versions=("def version(): ...",))]
    fix = [probe("", "fix")]
    assert in_safe_order([tried, fix]) == [[tried[0]], fix, [tried[1]]]


@pytest.mark.parametrize("name", ["/etc/x", "../x", "lab01.ipynb", "a/../../b", ""])
def test_no_notebook_and_nothing_outside_the_folder_is_a_data_file(name):
    with pytest.raises(ValueError, match="data file"):
        check_file_names([name])


def test_files_in_folders_are_data_files():
    check_file_names(["words.txt", "data/words.txt"])
