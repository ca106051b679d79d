"""A folder that hostile code has filled is measured and emptied."""

from __future__ import annotations

import os

from gradekit.untrusted import scratch


def test_files_and_folders_are_counted(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_bytes(b"x" * 100_000)
    size, count = scratch.used(tmp_path)
    assert count == 2
    assert 100_000 <= size < 200_000


def test_very_deep_folders_count_as_too_much(tmp_path):
    (tmp_path / "/".join("d" * 60)).mkdir(parents=True)
    assert scratch.used(tmp_path)[1] > scratch.MAX_INODES


def test_it_is_emptied_however_deep_and_links_are_not_followed(tmp_path):
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    for folder in (outside, inside):
        folder.mkdir()
    (outside / "kept").write_text("")
    here = os.open(inside, os.O_RDONLY)
    for _ in range(3000):  # deeper than a path can be long
        os.mkdir("d", dir_fd=here)
        os.symlink(outside, "link", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    scratch.empty(inside)
    assert list(inside.iterdir()) == []
    assert (outside / "kept").exists()
