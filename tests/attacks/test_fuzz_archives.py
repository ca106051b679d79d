"""For any input, ``lab collect`` ends in a summary, and writes only to submitted/."""

from __future__ import annotations

import io
import json
import os
import struct
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradekit.course import Course, load_course
from gradekit.submissions import archives, collect, incoming
from tests.helpers.fuzz import cost, examples

LAB, NAME = "lab01", "lab01_softmax"
COURSE = f"""
[course]
name = "A course"
timezone = "Europe/Zurich"

[[lab]]
id = "{LAB}"
title = "Softmax"
release = 2026-09-14T08:00:00
due = 2026-09-20T23:59:00
"""
PARTS = st.sampled_from([
    "ada", "bob", LAB, "submitted", "..", ".", "", "x.ipynb", f"{NAME}.ipynb", "timestamp.txt",
    ".hidden", "a" * 199, "\U0001d160" * 50, "\u0958" * 60, "ex\u0301", "nul\x01", "\u202e", "C:",
    "ada_1_assignsubmission_file_", "ada_1_2_x.ipynb", "ada_1_2_x-3.ipynb", "inner.zip", "ada.zip",
    f"ada+{LAB}+2026-09-19 10:00:00 UTC", "__MACOSX", "a\\b", "..\\..\\x", "con", "data.csv", "-",
])  # fmt: skip
PATHS = st.lists(PARTS, min_size=1, max_size=4).map("/".join) | st.sampled_from([
    "/etc/passwd", "../../../evil", ".", "./", "/", "", "\\", "ada/.", "a/" * 40 + "x",
])  # fmt: skip
DATA = st.sampled_from([b"", b"{}", b"PK\x05\x06" + bytes(18), b"x" * 5000, bytes(200_000)])
MOMENTS = st.sampled_from([
    (1980, 1, 1, 0, 0, 0), (2026, 9, 19, 12, 0, 0), (2107, 12, 31, 23, 59, 58),
    (2026, 3, 29, 2, 30, 0),
])  # fmt: skip
# Offsets in a local or central header, and false values for them.
FIELDS = st.tuples(
    st.sampled_from([4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 36, 38, 40, 42]),
    st.sampled_from([0, 1, 2, 9, 12, 14, 93, 99, 0x41, 0x800, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF]),
)


@st.composite
def zips(draw: st.DrawFn, depth: int = 1) -> bytes:
    """A zip with names of all kinds, some of them twice, and then false headers."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name in draw(st.lists(PATHS, max_size=5)):
            about = zipfile.ZipInfo("x", draw(MOMENTS))
            about.filename = name
            about.external_attr = draw(st.sampled_from([0, 0o120777 << 16, 0o100644 << 16, 0x10]))
            about.compress_type = draw(st.sampled_from([0, 0, 8, 12, 14]))
            data = draw(DATA if depth == 0 or not name.endswith(".zip") else zips(depth=depth - 1))
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("warnings.warn", lambda *a, **k: None)  # of names that appear twice
                archive.writestr(about, data)
    raw = bytearray(whole.getvalue())
    for field, value in draw(st.lists(FIELDS, max_size=2)):
        heads = [
            at
            for mark in (b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06")
            for at in _places(raw, mark)
        ]
        at = draw(st.sampled_from(heads)) + field
        lie = struct.pack("<I", value)[: draw(st.sampled_from([2, 4]))]
        raw[at : at + len(lie)] = lie
    for at in draw(st.lists(st.integers(0, max(0, len(raw) - 1)), max_size=2)):
        raw[at] ^= 1 << draw(st.integers(0, 7))
    return bytes(raw[: len(raw) - draw(st.sampled_from([0] * 9 + [1, 22, 50]))])


def _places(raw: bytearray, mark: bytes) -> list[int]:
    found, at = [], raw.find(mark)
    while at >= 0:
        found.append(at)
        at = raw.find(mark, at + 1)
    return found


def tar_of(name: str, kind: bytes, packing: str) -> bytes:
    """A tar with one entry that leads out of its folder."""
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode=f"w:{packing}") as archive:
        about = tarfile.TarInfo(name or "x")
        about.type, about.linkname = kind, "/etc/passwd"
        archive.addfile(about)
    return whole.getvalue()


TARS = st.builds(
    tar_of, PATHS, st.sampled_from([tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE,
                                    tarfile.FIFOTYPE]), st.sampled_from(["", "gz", "bz2"]),
)  # fmt: skip


def course_in(root: Path) -> Course:
    (root / "solutions").mkdir(parents=True)
    (root / "solutions" / f"{NAME}.py").touch()
    (root / "course.toml").write_text(COURSE)
    return load_course(root)


def everything_below(root: Path) -> dict[str, Any]:
    return {
        str(path.relative_to(root)): path.lstat().st_mtime_ns
        for path in sorted(root.rglob("*"))
        if path.is_symlink() or not path.is_dir()
    }


@examples(120)
@given(
    raw=zips() | TARS | st.binary(max_size=60),
    name=st.sampled_from(["class.zip", "ada.zip", "x.tar", "ada-lab01-handin.zip"]),
)
def test_an_archive_ends_in_a_summary_and_writes_only_hand_ins(raw: bytes, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        course = course_in(root / "course")
        (root / name).write_bytes(raw)
        before = everything_below(root)
        summary = collect.collect_submissions(course, LAB, [root / name])
        assert all(map(str, summary.lines()))
        look_at(root, before)
        again = collect.collect_submissions(course, LAB, [root / name])
        assert not again.collected


@examples(60)
@given(files=st.dictionaries(PATHS, st.none() | zips(0) | DATA, max_size=5),
       times=st.sampled_from([0, 10**9, 2**31, 2**34, -(10**9)]))  # fmt: skip
def test_a_folder_ends_in_a_summary_and_writes_only_hand_ins(
    files: dict[str, bytes | None], times: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        course = course_in(root / "course")
        source = root / "downloads"
        source.mkdir()
        for name, data in files.items():
            path = source / name.strip("/").replace("..", "__")
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                if data is None:
                    path.symlink_to("/etc/passwd")
                else:
                    path.write_bytes(data)
                    os.utime(path, (times, times))
            except (OSError, ValueError):
                continue
        before = everything_below(root)
        collect.collect_submissions(course, LAB, [source])
        look_at(root, before)


def look_at(root: Path, before: dict[str, Any]) -> None:
    """All new files are in hand-ins' folders: no links, nothing hidden, none too large.

    Beside each of them is only the file that says where it came from.
    """
    after = everything_below(root)
    assert {name: after[name] for name in before} == before
    for name in after.keys() - before.keys():
        top, submitted, student, lab, *rest = name.split("/")
        if lab == f".{LAB}.json" and not rest:
            assert json.loads((root / name).read_text())["source"]
            continue
        assert (top, submitted, lab) == ("course", "submitted", LAB)
        assert student.strip(".")
        assert rest
        assert not any(part.startswith(".") for part in rest)
        assert not (root / name).is_symlink()
        assert (root / name).stat().st_size <= archives.MOST_FILE_BYTES


def packed(count: int, data: bytes, how: int, name: str = "ada/{}.csv") -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for number in range(count):
            archive.writestr(name.format(number), data, how)
    return whole.getvalue()


@lru_cache
def large_files() -> bytes:
    """More than the limit for one hand-in, in files that are each too large."""
    return packed(12, bytes(2**26 + 1), zipfile.ZIP_DEFLATED)


def many_names(count: int) -> bytes:
    """A zip that is only a list of names."""
    entry = struct.pack("<4s4B4HL2L5H2L", b"PK\x01\x02", *[20, 0, 20, 0], *[0] * 6, 0, 5, *[0] * 6)
    listed = b"".join(entry[:46] + b"%05x" % number for number in range(count))
    end = struct.pack(
        "<4s4H2LH", b"PK\x05\x06", 0, 0, count & 0xFFFF, count & 0xFFFF, len(listed), 0, 0
    )
    return listed + end


@lru_cache
def bomb_of_bzip2() -> bytes:
    """320 MiB in a few hundred bytes, which Python unpacks in one step."""
    return packed(1, bytes(5 * 2**26), zipfile.ZIP_BZIP2)


def zips_of_names(count: int) -> bytes:
    """Zips in a zip, each with as many names as one may have; 100 of them are a small file."""
    return packed(count, many_names(49_000), zipfile.ZIP_DEFLATED, "{}.zip")


BOMBS: dict[str, Callable[[], bytes]] = {
    "one large file": lambda: packed(1, bytes(2**28), zipfile.ZIP_DEFLATED),
    "many large files": lambda: large_files(),
    "many files": lambda: packed(3_000, b"", zipfile.ZIP_STORED),
    "a zip in a zip": lambda: packed(1, large_files(), zipfile.ZIP_STORED, "ada/{}.zip"),
    "bzip2": bomb_of_bzip2,
    "nothing but names": lambda: many_names(800_000),
    "zips of names": lambda: packed(1, zips_of_names(100), zipfile.ZIP_STORED, "ada/{}.zip"),
}
MOST_SECONDS, MOST_MIB = 8, 250


@pytest.mark.parametrize("name", BOMBS)
def test_unpacking_takes_little_time_and_memory(tmp_path: Path, name: str) -> None:
    course = course_in(tmp_path / "course")
    (tmp_path / "class.zip").write_bytes(BOMBS[name]())
    seconds, grown = cost(
        lambda: collect.collect_submissions(course, LAB, [tmp_path / "class.zip"])
    )
    assert seconds < MOST_SECONDS
    assert grown < MOST_MIB
    kept = [path.stat().st_size for path in (tmp_path / "course" / "submitted").rglob("*.csv")]
    assert sum(kept) <= incoming.MOST_STUDENT_BYTES
    assert len(kept) <= incoming.MOST_STUDENT_FILES


def test_without_limits_the_bombs_work() -> None:
    with zipfile.ZipFile(io.BytesIO(bomb_of_bzip2())) as archive:
        assert cost(lambda: archive.open("ada/0.csv").read(1))[1] > MOST_MIB
    names = io.BytesIO(many_names(800_000))
    assert cost(lambda: zipfile.ZipFile(names))[1] > MOST_MIB
